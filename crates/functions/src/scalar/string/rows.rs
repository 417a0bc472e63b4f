//! Loops over the rows of a kernel's arguments.
//!
//! A constant argument is kept as one value, and a call of constants only is
//! worked out once, whatever the number of rows.

use crate::KernelArgs;
use arrow::array::builder::{BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow::array::{
    Array, ArrayAccessor, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, Float64Array, Int32Array,
    Int64Array, StringArray,
};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use std::fmt::Write;
use std::sync::Arc;

/// An argument, row by row.
pub struct Rows<A> {
    array: A,
    is_constant: bool,
}

/// An argument of strings.
pub type Texts = Rows<StringArray>;
/// An argument of binaries.
pub type Binaries = Rows<BinaryArray>;
/// An argument of `int`.
pub type Integers = Rows<Int32Array>;
/// An argument of `bigint`.
pub type Longs = Rows<Int64Array>;
/// An argument of `double`.
pub type Doubles = Rows<Float64Array>;
/// An argument of `boolean`.
pub type Booleans = Rows<BooleanArray>;

impl<A> Rows<A>
where
    A: Array + Clone + 'static,
    for<'a> &'a A: ArrayAccessor,
{
    /// The argument at `index`.
    pub fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        let (array, is_constant) = array_or_constant(args, index)?;
        Ok(Self { array: downcast::<A>(&array)?.clone(), is_constant })
    }

    /// The value in a row; None for null.
    #[inline]
    pub fn get(&self, row: usize) -> Option<<&A as ArrayAccessor>::Item> {
        let row = if self.is_constant { 0 } else { row };
        let array = &self.array;
        if array.is_null(row) { None } else { Some(array.value(row)) }
    }

    /// True where every row has the same value.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// The value of a constant: None where the argument is no constant, `Some(None)` for a constant null.
    pub fn constant(&self) -> Option<Option<<&A as ArrayAccessor>::Item>> {
        self.is_constant.then(|| self.get(0))
    }
}

/// Reads an argument as bytes, of a string or of a binary.
pub enum Bytes {
    Text(Texts),
    Binary(Binaries),
}

impl Bytes {
    /// The argument at `index`.
    pub fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        match args.types.get(index) {
            Some(firesteel_types::DataType::Binary) => Ok(Self::Binary(Rows::of(args, index)?)),
            _ => Ok(Self::Text(Rows::of(args, index)?)),
        }
    }

    /// The bytes in a row; None for null.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Text(rows) => rows.get(row).map(str::as_bytes),
            Self::Binary(rows) => rows.get(row),
        }
    }
}

/// True for an argument of type `binary`.
pub fn is_binary(args: &KernelArgs<'_>, index: usize) -> bool {
    matches!(args.types.get(index), Some(firesteel_types::DataType::Binary))
}

/// The argument as a plain array: one row for a constant (then true), else all rows.
pub fn array_or_constant(args: &KernelArgs<'_>, index: usize) -> Result<(ArrayRef, bool)> {
    let Some(value) = args.values.get(index) else {
        return Err(SparkError::internal(format!("kernel argument {index} is missing")));
    };
    let (array, is_constant) = match value {
        ColumnarValue::Array(array) => (Arc::clone(array), false),
        ColumnarValue::Scalar(scalar) => (scalar.to_array().map_err(internal)?, true),
    };
    let plain = match array.data_type() {
        ArrowType::Utf8View | ArrowType::LargeUtf8 => ArrowType::Utf8,
        ArrowType::BinaryView | ArrowType::LargeBinary => ArrowType::Binary,
        ArrowType::Dictionary(_, value) => value.as_ref().clone(),
        _ => return Ok((array, is_constant)),
    };
    Ok((arrow::compute::cast(&array, &plain).map_err(internal)?, is_constant))
}

/// The array as the type that it must have.
pub fn downcast<A: 'static>(array: &ArrayRef) -> Result<&A> {
    array
        .as_any()
        .downcast_ref::<A>()
        .ok_or_else(|| SparkError::internal(format!("a kernel got an array of {}", array.data_type())))
}

/// A failure that no input of a user can cause.
pub fn internal(error: impl std::fmt::Display) -> SparkError {
    SparkError::internal(error.to_string())
}

fn is_constant_call(args: &KernelArgs<'_>) -> bool {
    !args.values.is_empty() && args.values.iter().all(|v| matches!(v, ColumnarValue::Scalar(_)))
}

/// How many rows to work out: at most one where all arguments are constant, and none
/// where none are asked for, as a value that fails must not fail then.
pub fn row_count(args: &KernelArgs<'_>) -> usize {
    if is_constant_call(args) { args.number_rows.min(1) } else { args.number_rows }
}

/// The result of [`row_count`] rows.
pub fn finish(args: &KernelArgs<'_>, array: ArrayRef) -> Result<ColumnarValue> {
    if is_constant_call(args) && array.len() == 1 {
        return Ok(ColumnarValue::Scalar(crate::kernel::value_at(&array, 0).map_err(internal)?));
    }
    Ok(ColumnarValue::Array(array))
}

/// The most bytes that one array of strings holds: Spark's bound of arrays.
const MOST_BYTES: usize = i32::MAX as usize - 15;

fn too_large(bytes: usize) -> SparkError {
    SparkError::new("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER")
        .with("numberOfElements", bytes.to_string())
        .with("functionName", "`string`")
        .with("parameter", "`length`")
        .with("maxRoundedArrayLength", MOST_BYTES.to_string())
}

/// Fails where a batch of strings would need more than its bytes, or more than the process has.
pub fn check_bytes(bytes: usize) -> Result<()> {
    if bytes > MOST_BYTES { Err(too_large(bytes)) } else { crate::room::check(bytes as u64) }
}

/// Writes a text so many times, long runs of it in large pieces.
pub fn write_times(out: &mut StringBuilder, text: &str, count: usize) -> Result<()> {
    /// Bytes of a piece.
    const PIECE: usize = 1 << 16;
    check_bytes(text.len().saturating_mul(count).saturating_add(out.values_slice().len()))?;
    if text.is_empty() {
        return Ok(());
    }
    let mut left = count;
    let in_piece = PIECE / text.len();
    if in_piece > 1 && left > in_piece {
        let piece = text.repeat(in_piece);
        while left >= in_piece {
            let _ = out.write_str(&piece);
            left -= in_piece;
        }
    }
    for _ in 0..left {
        let _ = out.write_str(text);
    }
    Ok(())
}

/// A number's text with zeros before it up to a width.
pub fn zeros_before(text: &str, width: usize) -> String {
    format!("{}{text}", "0".repeat(width.saturating_sub(text.chars().count())))
}

/// Makes strings: `write` writes a row's text, or gives None for null before it wrote anything.
pub fn texts(
    args: &KernelArgs<'_>,
    mut write: impl FnMut(usize, &mut StringBuilder) -> Result<Option<()>>,
) -> Result<ColumnarValue> {
    let count = row_count(args);
    let mut builder = StringBuilder::with_capacity(count, count * 16);
    for row in 0..count {
        match write(row, &mut builder)? {
            Some(()) => {
                check_bytes(builder.values_slice().len())?;
                builder.append_value("");
            }
            None => builder.append_null(),
        }
    }
    finish(args, Arc::new(builder.finish()))
}

/// Makes binaries: `make` gives a row's bytes.
pub fn binaries<B: AsRef<[u8]>>(
    args: &KernelArgs<'_>,
    mut make: impl FnMut(usize) -> Result<Option<B>>,
) -> Result<ColumnarValue> {
    let count = row_count(args);
    let mut builder = BinaryBuilder::with_capacity(count, count * 16);
    for row in 0..count {
        match make(row)? {
            Some(bytes) => {
                check_bytes(builder.values_slice().len() + bytes.as_ref().len())?;
                builder.append_value(bytes);
            }
            None => builder.append_null(),
        }
    }
    finish(args, Arc::new(builder.finish()))
}

/// Makes numbers, dates or times.
pub fn primitives<T: ArrowPrimitiveType>(
    args: &KernelArgs<'_>,
    mut make: impl FnMut(usize) -> Result<Option<T::Native>>,
) -> Result<ColumnarValue> {
    let count = row_count(args);
    let mut builder = PrimitiveBuilder::<T>::with_capacity(count);
    for row in 0..count {
        builder.append_option(make(row)?);
    }
    finish(args, Arc::new(builder.finish()))
}

/// Makes booleans.
pub fn booleans(args: &KernelArgs<'_>, mut make: impl FnMut(usize) -> Result<Option<bool>>) -> Result<ColumnarValue> {
    let count = row_count(args);
    let mut builder = BooleanBuilder::with_capacity(count);
    for row in 0..count {
        builder.append_option(make(row)?);
    }
    finish(args, Arc::new(builder.finish()))
}
