//! Casts between integers and floating-point numbers.

use super::Mode;
use super::array::{CastOptions, native, overflow, primitive};
use arrow::array::{Array, ArrayRef, BinaryBuilder};
use arrow::datatypes::{ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use firesteel_error::{Result, SparkError};
use firesteel_types::number_text::{write_double, write_float};
use firesteel_types::{DataType, arrow_mapping};
use num_traits::AsPrimitive;
use std::sync::Arc;

/// The text of a double.
pub(super) fn double_text(value: f64) -> String {
    let mut out = String::new();
    write_double(&mut out, value);
    out
}

fn float_text(value: f32) -> String {
    let mut out = String::new();
    write_float(&mut out, value);
    out
}

/// Casts a number that is no decimal to another.
pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    match (from, to) {
        (_, DataType::Float | DataType::Double) => native(array, &arrow_mapping::to_arrow(to)),
        (DataType::Byte, _) => integral::<Int8Type>(array, from, to, options),
        (DataType::Short, _) => integral::<Int16Type>(array, from, to, options),
        (DataType::Integer, _) => integral::<Int32Type>(array, from, to, options),
        (DataType::Long, _) => integral::<Int64Type>(array, from, to, options),
        (DataType::Float, _) => floating::<Float32Type>(array, from, to, options, f64::from, float_text),
        _ => floating::<Float64Type>(
            array,
            from,
            to,
            options,
            |v| v,
            |v| {
                if v.is_finite() { double_text(v) + "D" } else { double_text(v) }
            },
        ),
    }
}

/// An integer as a SQL literal.
pub(super) fn integral_literal(value: i64, from: &DataType) -> String {
    let suffix = match from {
        DataType::Byte => "Y",
        DataType::Short => "S",
        DataType::Long => "L",
        _ => "",
    };
    format!("{value}{suffix}")
}

fn integral<F>(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef>
where
    F: ArrowPrimitiveType,
    F::Native: AsPrimitive<i64>,
{
    match to {
        DataType::Byte => narrow::<F, Int8Type>(array, from, to, options),
        DataType::Short => narrow::<F, Int16Type>(array, from, to, options),
        DataType::Integer => narrow::<F, Int32Type>(array, from, to, options),
        DataType::Long => narrow::<F, Int64Type>(array, from, to, options),
        _ => Err(SparkError::internal(format!("no cast from {from} to {to}"))),
    }
}

fn narrow<F, T>(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef>
where
    F: ArrowPrimitiveType,
    T: ArrowPrimitiveType,
    F::Native: AsPrimitive<i64>,
    T::Native: AsPrimitive<i64>,
    i64: AsPrimitive<T::Native>,
{
    let values = primitive::<F>(array)?;
    let exact = |value: F::Native| {
        let wide: i64 = value.as_();
        let narrowed: T::Native = wide.as_();
        (narrowed.as_() == wide).then_some(narrowed)
    };
    Ok(match options.mode {
        Mode::Legacy => Arc::new(values.unary::<_, T>(|v| v.as_().as_())),
        Mode::Try => Arc::new(values.unary_opt::<_, T>(exact)),
        Mode::Ansi => Arc::new(values.try_unary::<_, T, SparkError>(|v| {
            exact(v).ok_or_else(|| overflow(integral_literal(v.as_(), from), from, to))
        })?),
    })
}

fn floating<F>(
    array: &ArrayRef,
    from: &DataType,
    to: &DataType,
    options: &CastOptions,
    widen: fn(F::Native) -> f64,
    literal: fn(F::Native) -> String,
) -> Result<ArrayRef>
where
    F: ArrowPrimitiveType,
{
    /// Java's narrowing: to a byte and a short by way of an integer.
    fn cut<F: ArrowPrimitiveType, T: ArrowPrimitiveType>(
        array: &ArrayRef,
        options: &CastOptions,
        bounds: (f64, f64),
        convert: impl Fn(F::Native) -> T::Native,
        widen: fn(F::Native) -> f64,
        error: impl Fn(F::Native) -> SparkError,
    ) -> Result<ArrayRef> {
        let values = primitive::<F>(array)?;
        let fits = |v: F::Native| {
            let wide = widen(v);
            wide.floor() <= bounds.1 && wide.ceil() >= bounds.0
        };
        Ok(match options.mode {
            Mode::Legacy => Arc::new(values.unary::<_, T>(convert)),
            Mode::Try => Arc::new(values.unary_opt::<_, T>(|v| fits(v).then(|| convert(v)))),
            Mode::Ansi => Arc::new(
                values.try_unary::<_, T, SparkError>(|v| if fits(v) { Ok(convert(v)) } else { Err(error(v)) })?,
            ),
        })
    }
    let error = |v: F::Native| overflow(literal(v), from, to);
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    match to {
        DataType::Byte => cut::<F, Int8Type>(array, options, (-128.0, 127.0), |v| widen(v) as i32 as i8, widen, error),
        DataType::Short => {
            cut::<F, Int16Type>(array, options, (-32_768.0, 32_767.0), |v| widen(v) as i32 as i16, widen, error)
        }
        DataType::Integer => {
            let bounds = (f64::from(i32::MIN), f64::from(i32::MAX));
            cut::<F, Int32Type>(array, options, bounds, |v| widen(v) as i32, widen, error)
        }
        _ => {
            let bounds = (i64::MIN as f64, i64::MAX as f64);
            cut::<F, Int64Type>(array, options, bounds, |v| widen(v) as i64, widen, error)
        }
    }
}

/// The bytes of an integer, highest first.
pub(super) fn to_binary(array: &ArrayRef) -> Result<ArrayRef> {
    use arrow::datatypes::DataType as ArrowType;
    let mut out = BinaryBuilder::with_capacity(array.len(), array.len() * 8);
    macro_rules! bytes_of {
        ($type:ty) => {
            for value in primitive::<$type>(array)?.iter() {
                out.append_option(value.map(|v| v.to_be_bytes()));
            }
        };
    }
    match array.data_type() {
        ArrowType::Int8 => bytes_of!(Int8Type),
        ArrowType::Int16 => bytes_of!(Int16Type),
        ArrowType::Int32 => bytes_of!(Int32Type),
        _ => bytes_of!(Int64Type),
    }
    Ok(Arc::new(out.finish()))
}
