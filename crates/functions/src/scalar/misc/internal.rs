//! Functions that clients and the analyzer call, and that are not listed.

use super::poisson::Poisson;
use crate::aggregate::ordering::{converter, normalized};
use crate::kernel::kernel;
use crate::scalar::string::constant::{integer_of, value_of};
use crate::scalar::string::declare::{call_without_arguments, function, param, strict};
use crate::scalar::string::rows::{array_or_constant, finish, internal};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array};
use arrow::datatypes::TimestampMicrosecondType;
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{ColumnarValue, Expr, WindowFrame, WindowFunctionDefinition, cast, lit};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use parking_lot::Mutex;
use std::sync::Arc;

function! {
    /// `distributed_sequence_id()`; clients may send a column along
    DISTRIBUTED_SEQUENCE_ID = "distributed_sequence_id" in Internal,
        Signature::with_optional(&[param("expr", ArgType::Any)], 1) => Body::Build(|_, _| Ok(row_index()));
    volatile true;
    usage "The number of the row, from 0, in the order of the partitions.";
    since "4.0.0";
}
function! {
    /// `poisson_sample(fraction, seed)`
    POISSON_SAMPLE = "poisson_sample" in Internal,
        Signature::of(&[param("fraction", ArgType::Double), param("seed", ArgType::Long)])
        => Body::Build(build_poisson);
    volatile true;
    usage "How often a sample with replacement takes the row.";
    since "4.0.0";
}

function! {
    /// `distributed_id()`
    DISTRIBUTED_ID = "distributed_id" in Internal, Signature::NONE
        => Body::Build(|context, _| context.call("monotonically_increasing_id", Vec::new()));
    volatile true;
    usage "A number that grows from row to row, and differs between partitions.";
    since "4.0.0";
}
function! {
    /// `timestamp_ntz_to_long(expr)`
    TIMESTAMP_NTZ_TO_LONG = "timestamp_ntz_to_long" in Internal,
        Signature::of(&[param("expr", ArgType::TimestampNtz)])
        => strict(DataType::Long, timestamp_ntz_to_long);
    text |arguments| format!("cast_timestamp_ntz_to_long({})", arguments.join(", "));
    usage "The seconds since the epoch of a time without zone.";
    since "4.0.0";
}
function! {
    /// `array_binary_search(array, value)`
    ARRAY_BINARY_SEARCH = "array_binary_search" in Internal,
        Signature::of(&[param("array", ArgType::Array), param("value", ArgType::Any)])
        => strict(DataType::Integer, array_binary_search);
    usage "The place of a value in a sorted array; where it is missing, the place where it would be, as -(place + 1).";
    since "4.0.0";
}
function! {
    /// `unwrap_udt(expr)`
    UNWRAP_UDT = "unwrap_udt" in Internal, Signature::of(&[param("expr", ArgType::Any)]) => Body::Build(unwrap_udt);
    usage "The value of a user's type as the type that it is kept in.";
    since "3.4.0";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("poisson_sample", poisson_sample)];

fn timestamp_ntz_to_long(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let micros = array.as_primitive::<TimestampMicrosecondType>();
    let seconds: Int64Array = micros.unary(|value| value.div_euclid(1_000_000));
    finish(args, Arc::new(seconds))
}

fn array_binary_search(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (lists, values) = (args.array(0)?, args.array(1)?);
    let lists = lists.as_list::<i32>();
    let converter = converter(values.data_type()).map_err(internal)?;
    let encode = |array: &ArrayRef| -> datafusion::common::Result<arrow::row::Rows> {
        Ok(converter.convert_columns(&[normalized(array)?])?)
    };
    let elements = arrow::compute::cast(lists.values(), values.data_type()).map_err(internal)?;
    let (elements, wanted) = (encode(&elements).map_err(internal)?, encode(&values).map_err(internal)?);
    let places = (0..args.number_rows).map(|row| {
        if lists.is_null(row) || values.is_null(row) {
            return None;
        }
        let (mut low, mut high) = (lists.value_offsets()[row] as usize, lists.value_offsets()[row + 1] as usize);
        let start = low;
        let key = wanted.row(row);
        while low < high {
            let middle = low + (high - 1 - low) / 2;
            match elements.row(middle).cmp(&key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some((middle - start) as i32),
            }
        }
        Some(-((low - start) as i32) - 1)
    });
    Ok(ColumnarValue::Array(Arc::new(places.collect::<Int32Array>())))
}

fn unwrap_udt(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.into_iter().next() else {
        return Err(SparkError::internal("unwrap_udt takes one argument"));
    };
    let data_type = match &argument.data_type {
        DataType::Udt { sql_type, .. } => sql_type.as_ref().clone(),
        _ => {
            return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
                .with("sqlExpr", format!("\"unwrap_udt({})\"", argument.name))
                .with("paramIndex", "first")
                .with("requiredType", "\"USERDEFINEDTYPE\"")
                .with("inputSql", format!("\"{}\"", argument.name))
                .with("inputType", format!("\"{}\"", argument.data_type.sql())));
        }
    };
    Ok(TypedExpr { data_type, ..argument })
}

fn row_index() -> TypedExpr {
    let window = WindowFunction {
        fun: WindowFunctionDefinition::WindowUDF(row_number_udwf()),
        params: WindowFunctionParams {
            args: Vec::new(),
            partition_by: Vec::new(),
            order_by: Vec::new(),
            window_frame: WindowFrame::new(None),
            filter: None,
            null_treatment: None,
            distinct: false,
        },
    };
    let number = cast(Expr::WindowFunction(Box::new(window)), arrow::datatypes::DataType::Int64);
    TypedExpr::new(number - lit(1i64), DataType::Long, false, "distributed_sequence_id()")
}

fn build_poisson(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [fraction, seed] = arguments.as_slice() else {
        return Err(SparkError::internal("poisson_sample takes two arguments"));
    };
    let (Some(ScalarValue::Float64(Some(fraction))), Some(seed)) = (value_of(fraction)?, value_of(seed)?) else {
        return Err(SparkError::internal("poisson_sample takes constants"));
    };
    let payload = format!("{fraction} {}", integer_of(&seed).unwrap_or(0));
    call_without_arguments(&POISSON_SAMPLE, poisson_sample, DataType::Integer, Some(Arc::from(payload)), context)
}

fn poisson_sample(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let generator = args.prepared(|| {
        let payload = args.settings.payload.as_deref().unwrap_or_default();
        let (fraction, seed) = payload.split_once(' ').unwrap_or_default();
        let seed = partition_seed(seed.parse().unwrap_or(0), args.partition);
        Ok(Mutex::new(Poisson::new(fraction.parse().unwrap_or(0.0), seed)))
    })?;
    let mut generator = generator.lock();
    let counts: Int32Array = (0..args.number_rows).map(|_| Some(generator.next_count())).collect();
    Ok(ColumnarValue::Array(Arc::new(counts)))
}

/// The seed of a partition: as many draws of `java.util.Random` as there are partitions up to it.
pub(super) fn partition_seed(seed: i64, partition: i32) -> i64 {
    const MULTIPLIER: i64 = 0x5_DEEC_E66D;
    const MASK: i64 = (1 << 48) - 1;
    let mut state = (seed ^ MULTIPLIER) & MASK;
    let mut next = || {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        (state >> 16) as i32
    };
    let mut value = 0;
    for _ in 0..=partition.max(0) {
        let high = i64::from(next());
        value = (high << 32).wrapping_add(i64::from(next()));
    }
    value
}
