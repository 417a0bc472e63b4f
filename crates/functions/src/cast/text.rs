//! Casts from and to strings.

use super::Mode;
use super::array::{CastOptions, downcast, invalid_input};
use super::boolean::finish_decimal;
use super::decimal::out_of_range;
use super::parse_datetime::{parse_date, parse_time, parse_timestamp, parse_timestamp_ntz};
use super::parse_interval::{parse_calendar_interval, parse_day_time, parse_year_month};
use super::parse_number::{BigDigits, parse_boolean, parse_double, parse_float, parse_integral};
use arrow::array::{Array, ArrayRef, BooleanArray, Decimal128Array, PrimitiveArray, StringArray};
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalYearMonthType, Time64NanosecondType,
    TimestampMicrosecondType,
};
use firesteel_error::{Result, SparkError};
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, arrow_mapping};
use std::sync::Arc;

/// Casts strings to a type that is one value.
pub(super) fn from_string(array: &ArrayRef, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    let texts = downcast::<StringArray>(array)?;
    let cut = options.mode == Mode::Legacy;
    let zone = options.zone;
    match to {
        DataType::Boolean => {
            let mut out = BooleanArray::builder(texts.len());
            for text in texts {
                out.append_option(attempt(text, to, options, parse_boolean)?);
            }
            Ok(Arc::new(out.finish()))
        }
        DataType::Byte => parsed::<Int8Type>(texts, to, options, |t| parse_integral(t, cut)?.try_into().ok()),
        DataType::Short => parsed::<Int16Type>(texts, to, options, |t| parse_integral(t, cut)?.try_into().ok()),
        DataType::Integer => parsed::<Int32Type>(texts, to, options, |t| parse_integral(t, cut)?.try_into().ok()),
        DataType::Long => parsed::<Int64Type>(texts, to, options, |t| parse_integral(t, cut)),
        DataType::Float => parsed::<Float32Type>(texts, to, options, parse_float),
        DataType::Double => parsed::<Float64Type>(texts, to, options, parse_double),
        DataType::Decimal(p, s) => to_decimal(texts, to, (*p, *s), options),
        DataType::Date => parsed::<Date32Type>(texts, to, options, parse_date),
        DataType::Timestamp => {
            let made = parse_all::<TimestampMicrosecondType>(texts, to, options, |t| parse_timestamp(t, zone))?;
            Ok(Arc::new(made.with_timezone(arrow_mapping::ENGINE_TIME_ZONE)))
        }
        DataType::TimestampNtz => parsed::<TimestampMicrosecondType>(texts, to, options, parse_timestamp_ntz),
        DataType::Time(precision) => {
            let unit = 10_i64.pow(u32::from(6_u8.saturating_sub(*precision)));
            parsed::<Time64NanosecondType>(texts, to, options, |t| parse_time(t).map(|v| (v - v % unit) * 1000))
        }
        // Text that is no calendar interval is null in every mode.
        DataType::CalendarInterval => {
            let quiet = CastOptions { mode: Mode::Try, zone };
            parsed::<IntervalMonthDayNanoType>(texts, to, &quiet, |t| {
                let (months, days, micros) = parse_calendar_interval(t).ok()?;
                Some(IntervalMonthDayNano::new(months, days, micros.checked_mul(1000)?))
            })
        }
        DataType::YearMonthInterval(start, end) => {
            strict::<IntervalYearMonthType>(texts, options, |t| parse_year_month(t, *start, *end))
        }
        DataType::DayTimeInterval(start, end) => {
            strict::<DurationMicrosecondType>(texts, options, |t| parse_day_time(t, *start, *end))
        }
        other => Err(SparkError::internal(format!("no cast from a string to {other}"))),
    }
}

fn attempt<T>(
    text: Option<&str>,
    to: &DataType,
    options: &CastOptions,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    let Some(text) = text else { return Ok(None) };
    match parse(text) {
        None if options.fails() => Err(invalid_input(&string_literal(text), "STRING", to)),
        parsed => Ok(parsed),
    }
}

/// A string as a SQL literal.
pub(super) fn string_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn parse_all<T: ArrowPrimitiveType>(
    texts: &StringArray,
    to: &DataType,
    options: &CastOptions,
    parse: impl Fn(&str) -> Option<T::Native>,
) -> Result<PrimitiveArray<T>> {
    let mut out = PrimitiveArray::<T>::builder(texts.len());
    for text in texts {
        out.append_option(attempt(text, to, options, &parse)?);
    }
    Ok(out.finish())
}

fn parsed<T: ArrowPrimitiveType>(
    texts: &StringArray,
    to: &DataType,
    options: &CastOptions,
    parse: impl Fn(&str) -> Option<T::Native>,
) -> Result<ArrayRef> {
    Ok(Arc::new(parse_all::<T>(texts, to, options, parse)?))
}

/// Parses with errors of its own, which only a `TRY_CAST` survives.
fn strict<T: ArrowPrimitiveType>(
    texts: &StringArray,
    options: &CastOptions,
    parse: impl Fn(&str) -> Result<T::Native>,
) -> Result<ArrayRef> {
    let mut out = PrimitiveArray::<T>::builder(texts.len());
    for text in texts {
        match text.map(&parse).transpose() {
            Ok(value) => out.append_option(value),
            Err(_) if options.mode == Mode::Try => out.append_null(),
            Err(error) => return Err(error),
        }
    }
    Ok(Arc::new(out.finish()))
}

fn to_decimal(texts: &StringArray, to: &DataType, (p, s): (u8, i8), options: &CastOptions) -> Result<ArrayRef> {
    let mut out = Decimal128Array::builder(texts.len());
    for text in texts {
        let Some(text) = text else {
            out.append_null();
            continue;
        };
        let digits = attempt(Some(text), to, options, BigDigits::parse)?;
        let value = match &digits {
            None => None,
            Some(digits) if digits.integral_digits() > 38 => {
                if options.fails() {
                    return Err(SparkError::new("NUMERIC_OUT_OF_SUPPORTED_RANGE").with("value", text));
                }
                None
            }
            Some(digits) => match digits.to_decimal(p, s) {
                None if options.fails() => return Err(out_of_range(digits.plain_text(), p, s)),
                value => value,
            },
        };
        out.append_option(value);
    }
    finish_decimal(out.finish(), p, s)
}

/// Casts anything to strings.
pub(super) fn to_string(array: &ArrayRef, from: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    let style = TextStyle::Cast { plain_decimals: options.mode != Mode::Legacy };
    Ok(Arc::new(ValueFormatter::in_zone(from, options.zone, style).to_strings(array)?))
}
