//! Casts from and to decimals.

use super::Mode;
use super::array::{CastOptions, downcast, overflow, primitive};
use super::boolean::finish_decimal;
use super::number::double_text;
use super::parse_number::BigDigits;
use arrow::array::{Array, ArrayRef, Decimal128Array, Float32Array, Float64Array, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::MICROS_PER_SECOND;
use firesteel_types::number_text::write_plain_decimal;
use firesteel_types::{DataType, arrow_mapping};
use num_traits::AsPrimitive;
use std::sync::Arc;

/// Casts where one side is a decimal and the other a number, a timestamp or an interval.
pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    match (from, to) {
        (DataType::Decimal(_, s), DataType::Decimal(p, t)) => rescale_array(array, *s, (*p, *t), options),
        (DataType::Decimal(_, scale), _) => from_decimal(array, *scale, from, to, options),
        (_, DataType::Decimal(p, s)) => to_decimal(array, from, (*p, *s), options),
        _ => Err(SparkError::internal("a decimal was expected")),
    }
}

/// Ten to a power, up to the 38th.
pub fn power_of_ten(exponent: u32) -> i128 {
    10_i128.checked_pow(exponent).unwrap_or(i128::MAX)
}

/// An unscaled value at another scale, rounded half away from zero; None when it is too large.
///
/// ```
/// use firesteel_functions::cast::decimal::rescale;
/// assert_eq!(rescale(125, 2, 1), Some(13));
/// assert_eq!(rescale(-125, 2, 3), Some(-1250));
/// ```
pub fn rescale(value: i128, from: i8, to: i8) -> Option<i128> {
    if to >= from {
        let factor = 10_i128.checked_pow(u32::from((to - from).unsigned_abs()))?;
        return value.checked_mul(factor);
    }
    let Some(divisor) = 10_i128.checked_pow(u32::from((from - to).unsigned_abs())) else {
        return Some(0);
    };
    let quotient = value / divisor;
    let rest = value % divisor;
    if rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2) {
        Some(quotient + value.signum())
    } else {
        Some(quotient)
    }
}

/// The unscaled value, if it has no more digits than the precision.
pub fn within(value: i128, precision: u8) -> Option<i128> {
    (value.unsigned_abs() < power_of_ten(u32::from(precision)).unsigned_abs()).then_some(value)
}

/// A decimal written out without an exponent.
pub fn plain_text(value: i128, scale: i8) -> String {
    let mut out = String::new();
    write_plain_decimal(&mut out, value, scale);
    out
}

/// A decimal that does not fit its type.
pub fn out_of_range(value: impl Into<String>, precision: u8, scale: i8) -> SparkError {
    SparkError::new("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION")
        .with("value", value)
        .with("precision", precision.to_string())
        .with("scale", scale.to_string())
        .with("config", "\"spark.sql.ansi.enabled\"")
}

/// The nearest double.
pub fn to_double(value: i128, scale: i8) -> f64 {
    const EXACT: u128 = 1 << 53;
    if value.unsigned_abs() <= EXACT && scale <= 22 {
        // Both are exact, so the quotient is rounded once.
        #[allow(clippy::cast_precision_loss)]
        return value as f64 / 10_f64.powi(i32::from(scale));
    }
    format!("{value}e{}", -i32::from(scale)).parse().unwrap_or(f64::NAN)
}

fn to_float(value: i128, scale: i8) -> f32 {
    format!("{value}e{}", -i32::from(scale)).parse().unwrap_or(f32::NAN)
}

fn rescale_array(array: &ArrayRef, from: i8, (p, s): (u8, i8), options: &CastOptions) -> Result<ArrayRef> {
    let values = primitive::<Decimal128Type>(array)?;
    let convert = |v: i128| rescale(v, from, s).and_then(|v| within(v, p));
    let result: Decimal128Array = if options.fails() {
        values.try_unary::<_, Decimal128Type, SparkError>(|v| {
            convert(v).ok_or_else(|| out_of_range(plain_text(v, from), p, s))
        })?
    } else {
        values.unary_opt(convert)
    };
    finish_decimal(result, p, s)
}

fn from_decimal(
    array: &ArrayRef,
    scale: i8,
    from: &DataType,
    to: &DataType,
    options: &CastOptions,
) -> Result<ArrayRef> {
    let values = primitive::<Decimal128Type>(array)?;
    let one = power_of_ten(u32::try_from(scale).unwrap_or(0));
    Ok(match to {
        DataType::Double => Arc::new(values.unary::<_, arrow::datatypes::Float64Type>(|v| to_double(v, scale))),
        DataType::Float => Arc::new(values.unary::<_, arrow::datatypes::Float32Type>(|v| to_float(v, scale))),
        DataType::Byte => integral::<Int8Type>(values, scale, from, to, options)?,
        DataType::Short => integral::<Int16Type>(values, scale, from, to, options)?,
        DataType::Integer => integral::<Int32Type>(values, scale, from, to, options)?,
        DataType::Long => integral::<Int64Type>(values, scale, from, to, options)?,
        DataType::Timestamp => {
            let micros = |v: i128| match v.checked_mul(i128::from(MICROS_PER_SECOND)) {
                Some(scaled) => AsPrimitive::<i64>::as_(scaled / one),
                None => (v / one).wrapping_mul(i128::from(MICROS_PER_SECOND)).as_(),
            };
            Arc::new(values.unary::<_, TimestampMicrosecondType>(micros).with_timezone(arrow_mapping::ENGINE_TIME_ZONE))
        }
        t if t.is_ansi_interval() => super::interval::from_decimal(values, scale, from, to, options)?,
        _ => return Err(SparkError::internal(format!("no cast from {from} to {to}"))),
    })
}

fn integral<T>(
    values: &Decimal128Array,
    scale: i8,
    from: &DataType,
    to: &DataType,
    options: &CastOptions,
) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: AsPrimitive<i128>,
    i128: AsPrimitive<T::Native>,
{
    let one = power_of_ten(u32::try_from(scale).unwrap_or(0));
    let exact = |v: i128| {
        let whole = v / one;
        let narrowed: T::Native = whole.as_();
        (narrowed.as_() == whole).then_some(narrowed)
    };
    Ok(match options.mode {
        Mode::Legacy => Arc::new(values.unary::<_, T>(|v| (v / one).as_())),
        Mode::Try => Arc::new(values.unary_opt::<_, T>(exact)),
        Mode::Ansi => Arc::new(values.try_unary::<_, T, SparkError>(|v| {
            exact(v).ok_or_else(|| overflow(plain_text(v, scale) + "BD", from, to))
        })?),
    })
}

fn to_decimal(array: &ArrayRef, from: &DataType, (p, s): (u8, i8), options: &CastOptions) -> Result<ArrayRef> {
    let result = match from {
        DataType::Byte => whole::<Int8Type>(array, 0, (p, s), options)?,
        DataType::Short => whole::<Int16Type>(array, 0, (p, s), options)?,
        DataType::Integer => whole::<Int32Type>(array, 0, (p, s), options)?,
        DataType::Long => whole::<Int64Type>(array, 0, (p, s), options)?,
        DataType::Timestamp => whole::<TimestampMicrosecondType>(array, 6, (p, s), options)?,
        DataType::Double => {
            let values = downcast::<Float64Array>(array)?;
            collect(values.iter().map(|v| v.map(|v| double_digits(v, (p, s), options))), array.len())?
        }
        DataType::Float => {
            let values = downcast::<Float32Array>(array)?;
            collect(values.iter().map(|v| v.map(|v| double_digits(f64::from(v), (p, s), options))), array.len())?
        }
        // Outside ANSI mode a date has no number.
        DataType::Date => Decimal128Array::new_null(array.len()),
        interval if interval.is_ansi_interval() => {
            let (values, scale) = super::interval::to_unscaled(array, interval)?;
            let array: ArrayRef = Arc::new(values);
            return rescale_array(&array, scale, (p, s), &always_fails(options));
        }
        other => return Err(SparkError::internal(format!("no cast from {other} to a decimal"))),
    };
    finish_decimal(result, p, s)
}

/// Intervals that do not fit are errors outside ANSI mode too.
pub(super) fn always_fails(options: &CastOptions) -> CastOptions {
    let mode = if options.mode == Mode::Try { Mode::Try } else { Mode::Ansi };
    CastOptions { mode, zone: options.zone }
}

fn whole<F>(array: &ArrayRef, scale: i8, (p, s): (u8, i8), options: &CastOptions) -> Result<Decimal128Array>
where
    F: ArrowPrimitiveType,
    F::Native: AsPrimitive<i128>,
{
    let values: &PrimitiveArray<F> = primitive::<F>(array)?;
    let convert = |v: F::Native| rescale(v.as_(), scale, s).and_then(|v| within(v, p));
    if options.fails() {
        values.try_unary::<_, Decimal128Type, SparkError>(|v| {
            convert(v).ok_or_else(|| out_of_range(plain_text(v.as_(), scale), p, s))
        })
    } else {
        Ok(values.unary_opt(convert))
    }
}

fn collect(values: impl Iterator<Item = Option<Result<Option<i128>>>>, rows: usize) -> Result<Decimal128Array> {
    let mut out = Decimal128Array::builder(rows);
    for value in values {
        out.append_option(value.transpose()?.flatten());
    }
    Ok(out.finish())
}

/// A double by its shortest digits; NaN and infinities have none.
fn double_digits(value: f64, (p, s): (u8, i8), options: &CastOptions) -> Result<Option<i128>> {
    if !value.is_finite() {
        return Ok(None);
    }
    let digits = BigDigits::parse(&double_text(value)).ok_or_else(|| SparkError::internal("a double has digits"))?;
    match digits.to_decimal(p, s) {
        None if options.fails() => {
            let text = digits.plain_text();
            Err(out_of_range(text.strip_suffix(".0").unwrap_or(&text), p, s))
        }
        result => Ok(result),
    }
}
