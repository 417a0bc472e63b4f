//! Casts from and to ANSI intervals.

use super::Mode;
use super::array::{CastOptions, native, overflow, primitive};
use super::decimal::{plain_text, rescale};
use super::number::integral_literal;
use arrow::array::{ArrayRef, Decimal128Array, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, Decimal128Type, DurationMicrosecondType, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalYearMonthType,
};
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND};
use firesteel_types::interval_text::{write_day_time, write_year_month};
use firesteel_types::{DataType, DayTimeField, YearMonthField, arrow_mapping};
use num_traits::AsPrimitive;
use std::sync::Arc;

/// How many months or microseconds the finest field of an interval type has.
fn unit_of(data_type: &DataType) -> i64 {
    match data_type {
        DataType::YearMonthInterval(_, YearMonthField::Year) => 12,
        DataType::DayTimeInterval(_, DayTimeField::Day) => MICROS_PER_DAY,
        DataType::DayTimeInterval(_, DayTimeField::Hour) => MICROS_PER_HOUR,
        DataType::DayTimeInterval(_, DayTimeField::Minute) => MICROS_PER_MINUTE,
        DataType::DayTimeInterval(_, DayTimeField::Second) => MICROS_PER_SECOND,
        _ => 1,
    }
}

/// Casts between intervals of one family, and from and to integers.
pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    use DataType as T;
    match (from, to) {
        (T::YearMonthInterval(..), T::YearMonthInterval(_, YearMonthField::Year)) => {
            let values = primitive::<IntervalYearMonthType>(array)?;
            Ok(Arc::new(values.unary::<_, IntervalYearMonthType>(|v| v - v % 12)))
        }
        (T::YearMonthInterval(..), T::YearMonthInterval(..)) => Ok(array.clone()),
        (T::DayTimeInterval(..), T::DayTimeInterval(_, end)) => {
            let unit = if *end == DayTimeField::Second { 1 } else { unit_of(to) };
            let values = primitive::<DurationMicrosecondType>(array)?;
            Ok(Arc::new(values.unary::<_, DurationMicrosecondType>(|v| v - v % unit)))
        }
        (f, t) if t.is_ansi_interval() && f.is_integral() => {
            let values = native(array, &arrow_mapping::to_arrow(&T::Long))?;
            let values = primitive::<Int64Type>(&values)?;
            let unit = unit_of(t);
            make(values, t, options, |v| v.checked_mul(unit), |v| overflow(integral_literal(v, f), f, t))
        }
        (f, T::Byte) => to_integral::<Int8Type>(array, f, to, options),
        (f, T::Short) => to_integral::<Int16Type>(array, f, to, options),
        (f, T::Integer) => to_integral::<Int32Type>(array, f, to, options),
        (f, T::Long) => to_integral::<Int64Type>(array, f, to, options),
        _ => Err(SparkError::internal(format!("no cast from {from} to {to}"))),
    }
}

/// Makes intervals of months or microseconds. What does not fit is an error in every mode but `Try`.
fn make<T: ArrowPrimitiveType>(
    values: &PrimitiveArray<T>,
    to: &DataType,
    options: &CastOptions,
    convert: impl Fn(T::Native) -> Option<i64>,
    error: impl Fn(T::Native) -> SparkError,
) -> Result<ArrayRef> {
    let months = |v| convert(v).and_then(|m| i32::try_from(m).ok());
    Ok(match (to, options.mode) {
        (DataType::YearMonthInterval(..), Mode::Try) => Arc::new(values.unary_opt::<_, IntervalYearMonthType>(months)),
        (DataType::YearMonthInterval(..), _) => {
            Arc::new(values.try_unary::<_, IntervalYearMonthType, SparkError>(|v| months(v).ok_or_else(|| error(v)))?)
        }
        (_, Mode::Try) => Arc::new(values.unary_opt::<_, DurationMicrosecondType>(convert)),
        _ => Arc::new(
            values.try_unary::<_, DurationMicrosecondType, SparkError>(|v| convert(v).ok_or_else(|| error(v)))?,
        ),
    })
}

/// Decimals as numbers of the type's finest field, rounded half up.
pub(super) fn from_decimal(
    values: &Decimal128Array,
    scale: i8,
    from: &DataType,
    to: &DataType,
    options: &CastOptions,
) -> Result<ArrayRef> {
    let unit = i128::from(unit_of(to));
    let convert = |v: i128| {
        let scaled = v.checked_mul(unit)?;
        i64::try_from(rescale(scaled, scale, 0)?).ok()
    };
    make::<Decimal128Type>(values, to, options, convert, |v| overflow(plain_text(v, scale) + "BD", from, to))
}

/// An interval as a decimal number of its finest field: unscaled values and their scale.
pub(super) fn to_unscaled(array: &ArrayRef, from: &DataType) -> Result<(Decimal128Array, i8)> {
    let unit = i128::from(unit_of(from));
    Ok(match from {
        DataType::YearMonthInterval(..) => {
            let values = primitive::<IntervalYearMonthType>(array)?;
            (values.unary::<_, Decimal128Type>(|v| i128::from(v) / unit), 0)
        }
        DataType::DayTimeInterval(_, DayTimeField::Second) => {
            (primitive::<DurationMicrosecondType>(array)?.unary::<_, Decimal128Type>(i128::from), 6)
        }
        _ => {
            let values = primitive::<DurationMicrosecondType>(array)?;
            (values.unary::<_, Decimal128Type>(|v| i128::from(v) / unit), 0)
        }
    })
}

fn to_integral<T>(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i64>,
{
    fn run<F, T>(
        array: &ArrayRef,
        unit: i64,
        options: &CastOptions,
        error: impl Fn(i64) -> SparkError,
    ) -> Result<ArrayRef>
    where
        F: ArrowPrimitiveType,
        F::Native: AsPrimitive<i64>,
        T: ArrowPrimitiveType,
        T::Native: TryFrom<i64>,
    {
        let values = primitive::<F>(array)?;
        let convert = |v: F::Native| T::Native::try_from(v.as_() / unit).ok();
        if options.mode == Mode::Try {
            return Ok(Arc::new(values.unary_opt::<_, T>(convert)));
        }
        Ok(Arc::new(values.try_unary::<_, T, SparkError>(|v| convert(v).ok_or_else(|| error(v.as_())))?))
    }
    let unit = unit_of(from);
    match from {
        DataType::YearMonthInterval(start, end) => run::<IntervalYearMonthType, T>(array, unit, options, |v| {
            let mut text = String::new();
            write_year_month(&mut text, v.as_(), *start, *end);
            overflow(text, from, to)
        }),
        DataType::DayTimeInterval(start, end) => run::<DurationMicrosecondType, T>(array, unit, options, |v| {
            let mut text = String::new();
            write_day_time(&mut text, v, *start, *end);
            overflow(text, from, to)
        }),
        _ => Err(SparkError::internal(format!("no cast from {from} to {to}"))),
    }
}
