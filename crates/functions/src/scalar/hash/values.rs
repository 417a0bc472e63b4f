//! `hash` and `xxhash64` over columns of any type.

use super::algorithm::{Algorithm, Murmur3, XxHash64};
use crate::coercion::mismatch::quoted;
use crate::scalar::string::declare::function;
use crate::scalar::string::rows::{array_or_constant, downcast, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, IntervalYearMonthType, Time64NanosecondType,
    TimestampMicrosecondType,
};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, Int64Array, MapArray, PrimitiveArray, StructArray,
};
use arrow::datatypes::{DataType as ArrowType, IntervalUnit, TimeUnit};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{Collation, DataType};
use std::sync::Arc;

const SEED: i32 = 42;

function! {
    /// `hash(expr1, expr2, …)`
    HASH = "hash" in Hash, Signature::variadic(&[crate::scalar::string::declare::param("expr", ArgType::Any)], ArgType::Any)
        => Body::Build(|context, arguments| build(&HASH, murmur3, &DataType::Integer, context, arguments));
    usage "A hash of the arguments by Murmur3.";
    since "2.0.0";
    example "SELECT hash('Spark', array(123), 2)" => "-1321691492";
}
function! {
    /// `xxhash64(expr1, expr2, …)`
    XXHASH64 = "xxhash64" in Hash, Signature::variadic(&[crate::scalar::string::declare::param("expr", ArgType::Any)], ArgType::Any)
        => Body::Build(|context, arguments| build(&XXHASH64, xxhash64, &DataType::Long, context, arguments));
    usage "A hash of 64 bits of the arguments by xxHash.";
    since "3.0.0";
    example "SELECT xxhash64('Spark', array(123), 2)" => "5602566077635097486";
}

fn build(
    function: &'static Function,
    kernel: KernelFn,
    data_type: &DataType,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = function.call_text(&names);
    for argument in &arguments {
        if argument.data_type.exists(&|t| matches!(t, DataType::Map { .. })) {
            return Err(SparkError::new("DATATYPE_MISMATCH.HASH_MAP_TYPE")
                .with("sqlExpr", quoted(&text))
                .with("functionName", format!("`{}`", function.name)));
        }
        if argument.data_type.exists(&|t| *t == DataType::Variant) {
            return Err(SparkError::new("DATATYPE_MISMATCH.HASH_VARIANT_TYPE")
                .with("sqlExpr", quoted(&text))
                .with("functionName", format!("`{}`", function.name)));
        }
        if argument.data_type.exists(&|t| matches!(t, DataType::String(Collation::Named(_)))) {
            return Err(SparkError::unsupported("hashes of strings with a collation"));
        }
    }
    let expr = crate::kernel::call(function, kernel, &arguments, data_type, false, context)?;
    Ok(TypedExpr::new(expr, data_type.clone(), false, text))
}

fn murmur3(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let mut hashes = vec![SEED; row_count(args)];
    hash_arguments::<Murmur3>(args, &mut hashes)?;
    finish(args, Arc::new(Int32Array::from(hashes)))
}

fn xxhash64(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let mut hashes = vec![i64::from(SEED); row_count(args)];
    hash_arguments::<XxHash64>(args, &mut hashes)?;
    finish(args, Arc::new(Int64Array::from(hashes)))
}

fn hash_arguments<A: Algorithm>(args: &KernelArgs<'_>, hashes: &mut [A::Hash]) -> Result<()> {
    for index in 0..args.values.len() {
        let (array, is_constant) = array_or_constant(args, index)?;
        hash_column::<A>(&array, hashes, &|row| if is_constant { 0 } else { row })?;
    }
    Ok(())
}

fn primitive<A: Algorithm, T: ArrowPrimitiveType>(
    array: &ArrayRef,
    hashes: &mut [A::Hash],
    at: &dyn Fn(usize) -> usize,
    hash: impl Fn(T::Native, A::Hash) -> A::Hash,
) -> Result<()> {
    let array = downcast::<PrimitiveArray<T>>(array)?;
    for (row, state) in hashes.iter_mut().enumerate() {
        let row = at(row);
        if array.is_valid(row) {
            *state = hash(array.value(row), *state);
        }
    }
    Ok(())
}

/// The bits of a float as Java tells them: minus zero is zero, and there is one NaN.
fn float_bits(x: f32) -> i32 {
    if x == 0.0 {
        0
    } else if x.is_nan() {
        0x7fc0_0000
    } else {
        x.to_bits() as i32
    }
}

/// The bits of a double as Java tells them: minus zero is zero, and there is one NaN.
fn double_bits(x: f64) -> i64 {
    if x == 0.0 {
        0
    } else if x.is_nan() {
        0x7ff8_0000_0000_0000
    } else {
        x.to_bits() as i64
    }
}

/// A whole number as the fewest bytes that hold it and its sign, most significant first.
fn shortest_bytes(value: i128) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let filler = if value < 0 { 0xff } else { 0 };
    let mut from = 0;
    while from < 15 && bytes[from] == filler && (bytes[from + 1] ^ filler) & 0x80 == 0 {
        from += 1;
    }
    bytes[from..].to_vec()
}

/// Goes on with the hashes of rows from the values of a column, of which `at` tells the row.
fn hash_column<A: Algorithm>(array: &ArrayRef, hashes: &mut [A::Hash], at: &dyn Fn(usize) -> usize) -> Result<()> {
    match array.data_type() {
        ArrowType::Null => Ok(()),
        ArrowType::Boolean => {
            let array = downcast::<BooleanArray>(array)?;
            for (row, state) in hashes.iter_mut().enumerate() {
                let row = at(row);
                if array.is_valid(row) {
                    *state = A::int(i32::from(array.value(row)), *state);
                }
            }
            Ok(())
        }
        ArrowType::Int8 => primitive::<A, Int8Type>(array, hashes, at, |x, h| A::int(x.into(), h)),
        ArrowType::Int16 => primitive::<A, Int16Type>(array, hashes, at, |x, h| A::int(x.into(), h)),
        ArrowType::Int32 => primitive::<A, Int32Type>(array, hashes, at, A::int),
        ArrowType::Int64 => primitive::<A, Int64Type>(array, hashes, at, A::long),
        ArrowType::Date32 => primitive::<A, Date32Type>(array, hashes, at, A::int),
        ArrowType::Float32 => primitive::<A, Float32Type>(array, hashes, at, |x, h| A::int(float_bits(x), h)),
        ArrowType::Float64 => primitive::<A, Float64Type>(array, hashes, at, |x, h| A::long(double_bits(x), h)),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive::<A, TimestampMicrosecondType>(array, hashes, at, A::long)
        }
        ArrowType::Time64(TimeUnit::Nanosecond) => primitive::<A, Time64NanosecondType>(array, hashes, at, A::long),
        ArrowType::Duration(TimeUnit::Microsecond) => {
            primitive::<A, DurationMicrosecondType>(array, hashes, at, A::long)
        }
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            primitive::<A, IntervalYearMonthType>(array, hashes, at, A::int)
        }
        ArrowType::Interval(IntervalUnit::MonthDayNano) => {
            primitive::<A, IntervalMonthDayNanoType>(array, hashes, at, |x, h| {
                A::int(x.months, A::int(x.days, A::long(x.nanoseconds / 1000, h)))
            })
        }
        ArrowType::Decimal128(precision, _) if *precision <= 18 => {
            primitive::<A, Decimal128Type>(array, hashes, at, |x, h| A::long(x as i64, h))
        }
        ArrowType::Decimal128(..) => {
            primitive::<A, Decimal128Type>(array, hashes, at, |x, h| A::bytes(&shortest_bytes(x), h))
        }
        ArrowType::Utf8 | ArrowType::Binary | ArrowType::Utf8View | ArrowType::BinaryView => {
            hash_bytes::<A>(array, hashes, at)
        }
        ArrowType::List(_) => {
            let lists = array.as_list::<i32>();
            let offsets = lists.value_offsets();
            for (row, state) in hashes.iter_mut().enumerate() {
                let row = at(row);
                if lists.is_valid(row) {
                    hash_range::<A>(lists.values(), offsets[row] as usize..offsets[row + 1] as usize, state)?;
                }
            }
            Ok(())
        }
        ArrowType::Struct(_) => {
            let structs = downcast::<StructArray>(array)?;
            for (row, state) in hashes.iter_mut().enumerate() {
                let row = at(row);
                if structs.is_valid(row) {
                    for column in structs.columns() {
                        hash_column::<A>(column, std::slice::from_mut(state), &|_| row)?;
                    }
                }
            }
            Ok(())
        }
        ArrowType::Map(..) => {
            let maps = downcast::<MapArray>(array)?;
            let offsets = maps.value_offsets();
            for (row, state) in hashes.iter_mut().enumerate() {
                let row = at(row);
                if maps.is_valid(row) {
                    for entry in offsets[row] as usize..offsets[row + 1] as usize {
                        hash_column::<A>(maps.keys(), std::slice::from_mut(state), &|_| entry)?;
                        hash_column::<A>(maps.values(), std::slice::from_mut(state), &|_| entry)?;
                    }
                }
            }
            Ok(())
        }
        other => Err(SparkError::unsupported(format!("hashes of {other}"))),
    }
}

fn hash_range<A: Algorithm>(values: &ArrayRef, range: std::ops::Range<usize>, state: &mut A::Hash) -> Result<()> {
    for element in range {
        hash_column::<A>(values, std::slice::from_mut(state), &|_| element)?;
    }
    Ok(())
}

fn hash_bytes<A: Algorithm>(array: &ArrayRef, hashes: &mut [A::Hash], at: &dyn Fn(usize) -> usize) -> Result<()> {
    fn each<'a, A: Algorithm>(
        hashes: &mut [A::Hash],
        at: &dyn Fn(usize) -> usize,
        value: impl Fn(usize) -> Option<&'a [u8]>,
    ) {
        for (row, state) in hashes.iter_mut().enumerate() {
            if let Some(bytes) = value(at(row)) {
                *state = A::bytes(bytes, *state);
            }
        }
    }
    match array.data_type() {
        ArrowType::Utf8 => {
            let array = array.as_string::<i32>();
            each::<A>(hashes, at, |row| array.is_valid(row).then(|| array.value(row).as_bytes()));
        }
        ArrowType::Utf8View => {
            let array = array.as_string_view();
            each::<A>(hashes, at, |row| array.is_valid(row).then(|| array.value(row).as_bytes()));
        }
        ArrowType::Binary => {
            let array = array.as_binary::<i32>();
            each::<A>(hashes, at, |row| array.is_valid(row).then(|| array.value(row)));
        }
        _ => {
            let array = array.as_binary_view();
            each::<A>(hashes, at, |row| array.is_valid(row).then(|| array.value(row)));
        }
    }
    Ok(())
}
