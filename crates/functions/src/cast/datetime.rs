//! Casts between dates, timestamps and numbers.

use super::Mode;
use super::array::{CastOptions, invalid_input, overflow, primitive};
use super::number::double_text;
use arrow::array::{Array, ArrayRef, PrimitiveArray, new_null_array};
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time64NanosecondType, TimestampMicrosecondType,
};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_SECOND};
use firesteel_types::moment_text::write_timestamp;
use firesteel_types::{DataType, arrow_mapping};
use num_traits::AsPrimitive;
use std::sync::Arc;

type Timestamps = PrimitiveArray<TimestampMicrosecondType>;

fn moments(array: Timestamps) -> ArrayRef {
    Arc::new(array.with_timezone(arrow_mapping::ENGINE_TIME_ZONE))
}

/// Casts where a side is a date or a timestamp and the other is one too, or a number.
pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    use DataType as T;
    let zone = options.zone;
    match (from, to) {
        (T::Date, T::TimestampNtz) => {
            let days = primitive::<Date32Type>(array)?;
            Ok(Arc::new(days.unary::<_, TimestampMicrosecondType>(|d| i64::from(d).wrapping_mul(MICROS_PER_DAY))))
        }
        (T::Date, T::Timestamp) => {
            let days = primitive::<Date32Type>(array)?;
            let mut cursor = zone.cursor();
            let mut out = Timestamps::builder(days.len());
            for day in days {
                let moment = match day {
                    None => None,
                    Some(day) => Some(
                        i64::from(day)
                            .checked_mul(MICROS_PER_DAY)
                            .and_then(|local| cursor.to_utc(local))
                            .ok_or_else(|| SparkError::plain(ExceptionClass::Arithmetic, "long overflow"))?,
                    ),
                };
                out.append_option(moment);
            }
            Ok(moments(out.finish()))
        }
        (T::Timestamp, T::TimestampNtz) => {
            let mut cursor = zone.cursor();
            Ok(Arc::new(each::<TimestampMicrosecondType>(array, |v| cursor.to_local(v))?))
        }
        (T::TimestampNtz, T::Timestamp) => {
            let mut cursor = zone.cursor();
            Ok(moments(each(array, |v| cursor.to_utc(v).unwrap_or(v))?))
        }
        (T::Timestamp, T::Date) => {
            let mut cursor = zone.cursor();
            Ok(Arc::new(each::<Date32Type>(array, |v| day_of(cursor.to_local(v)))?))
        }
        (T::TimestampNtz, T::Date) => Ok(Arc::new(each::<Date32Type>(array, day_of)?)),
        // Outside ANSI mode a date has neither a number nor a truth.
        (T::Date, t) if t.is_numeric() => Ok(new_null_array(&arrow_mapping::to_arrow(t), array.len())),
        (T::Timestamp, t) => to_number(array, t, options),
        (f, T::Timestamp) => from_number(array, f, options),
        _ => Err(SparkError::internal(format!("no cast from {from} to {to}"))),
    }
}

/// Maps the slots of a timestamp array, nulls too.
fn each<T: ArrowPrimitiveType>(array: &ArrayRef, mut map: impl FnMut(i64) -> T::Native) -> Result<PrimitiveArray<T>> {
    let values = primitive::<TimestampMicrosecondType>(array)?;
    let mapped: Vec<T::Native> = values.values().iter().map(|v| map(*v)).collect();
    Ok(PrimitiveArray::new(mapped.into(), values.nulls().cloned()))
}

fn day_of(local: i64) -> i32 {
    local.div_euclid(MICROS_PER_DAY).as_()
}

/// Times of day with no more digits of a second than the precision.
pub(super) fn cut_time(array: &ArrayRef, precision: u8) -> Result<ArrayRef> {
    let unit = 10_i64.pow(u32::from(9_u8.saturating_sub(precision)));
    let values = primitive::<Time64NanosecondType>(array)?;
    Ok(Arc::new(values.unary::<_, Time64NanosecondType>(|v| v - v % unit)))
}

/// Times of day as seconds.
pub(super) fn time_to_number(array: &ArrayRef, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    let times = primitive::<Time64NanosecondType>(array)?;
    if let DataType::Decimal(..) = to {
        let nanos: arrow::array::Decimal128Array = times.iter().map(|t| t.map(i128::from)).collect();
        let nanos = nanos.with_precision_and_scale(14, 9).map_err(|e| SparkError::internal(e.to_string()))?;
        return super::decimal::cast(&(Arc::new(nanos) as ArrayRef), &DataType::Decimal(14, 9), to, options);
    }
    fn whole<T>(times: &PrimitiveArray<Time64NanosecondType>, to: &DataType, options: &CastOptions) -> Result<ArrayRef>
    where
        T: ArrowPrimitiveType,
        T::Native: TryFrom<i64>,
    {
        let exact = |v: i64| T::Native::try_from(v / 1_000_000_000).ok();
        if !options.fails() {
            return Ok(Arc::new(times.unary_opt::<_, T>(exact)));
        }
        Ok(Arc::new(times.try_unary::<_, T, SparkError>(|v| {
            exact(v).ok_or_else(|| {
                let mut text = String::new();
                firesteel_types::moment_text::write_time(&mut text, v);
                overflow(format!("TIME '{text}'"), &DataType::Time(6), to)
            })
        })?))
    }
    match to {
        DataType::Byte => whole::<Int8Type>(times, to, options),
        DataType::Short => whole::<Int16Type>(times, to, options),
        DataType::Integer => whole::<Int32Type>(times, to, options),
        DataType::Long => whole::<Int64Type>(times, to, options),
        other => Err(SparkError::internal(format!("no cast from a time to {other}"))),
    }
}

fn to_number(array: &ArrayRef, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    let values = primitive::<TimestampMicrosecondType>(array)?;
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    match to {
        DataType::Double => Ok(Arc::new(values.unary::<_, Float64Type>(|v| v as f64 / MICROS_PER_SECOND as f64))),
        DataType::Float => {
            Ok(Arc::new(values.unary::<_, Float32Type>(|v| (v as f64 / MICROS_PER_SECOND as f64) as f32)))
        }
        DataType::Long => Ok(Arc::new(values.unary::<_, Int64Type>(|v| v.div_euclid(MICROS_PER_SECOND)))),
        DataType::Integer => seconds::<Int32Type>(values, to, options),
        DataType::Short => seconds::<Int16Type>(values, to, options),
        DataType::Byte => seconds::<Int8Type>(values, to, options),
        other => Err(SparkError::internal(format!("no cast from a timestamp to {other}"))),
    }
}

fn seconds<T>(values: &Timestamps, to: &DataType, options: &CastOptions) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i64>,
{
    let exact = |v: i64| T::Native::try_from(v.div_euclid(MICROS_PER_SECOND)).ok();
    if !options.fails() {
        return Ok(Arc::new(values.unary_opt::<_, T>(exact)));
    }
    Ok(Arc::new(values.try_unary::<_, T, SparkError>(|v| {
        exact(v).ok_or_else(|| overflow(timestamp_literal(v, options), &DataType::Timestamp, to))
    })?))
}

/// A timestamp as a SQL literal.
pub(super) fn timestamp_literal(micros: i64, options: &CastOptions) -> String {
    let mut out = String::from("TIMESTAMP '");
    write_timestamp(&mut out, options.zone.to_local(micros));
    out.push('\'');
    out
}

fn from_number(array: &ArrayRef, from: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    fn whole<T>(array: &ArrayRef) -> Result<ArrayRef>
    where
        T: ArrowPrimitiveType,
        T::Native: AsPrimitive<i64>,
    {
        let values = primitive::<T>(array)?;
        Ok(moments(values.unary::<_, TimestampMicrosecondType>(|v| v.as_().saturating_mul(MICROS_PER_SECOND))))
    }
    match from {
        DataType::Byte => whole::<Int8Type>(array),
        DataType::Short => whole::<Int16Type>(array),
        DataType::Integer => whole::<Int32Type>(array),
        DataType::Long => whole::<Int64Type>(array),
        DataType::Float => fractional(&primitive::<Float32Type>(array)?.unary(f64::from), options),
        DataType::Double => fractional(primitive::<Float64Type>(array)?, options),
        other => Err(SparkError::internal(format!("no cast from {other} to a timestamp"))),
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn fractional(values: &PrimitiveArray<Float64Type>, options: &CastOptions) -> Result<ArrayRef> {
    let scaled = |v: f64| v * MICROS_PER_SECOND as f64;
    if options.mode != Mode::Ansi {
        let try_mode = options.mode == Mode::Try;
        return Ok(moments(values.unary_opt::<_, TimestampMicrosecondType>(|v| {
            let micros = scaled(v);
            let lost = !v.is_finite() || (try_mode && !fits_long(micros));
            (!lost).then_some(micros as i64)
        })));
    }
    Ok(moments(values.try_unary::<_, TimestampMicrosecondType, SparkError>(|v| {
        if !v.is_finite() {
            return Err(invalid_input(&double_text(v), "DOUBLE", &DataType::Timestamp));
        }
        let micros = scaled(v);
        if fits_long(micros) {
            return Ok(micros as i64);
        }
        let text = double_text(micros);
        let literal = if micros.is_finite() { text + "D" } else { text };
        Err(overflow(literal, &DataType::Double, &DataType::Long))
    })?))
}

#[allow(clippy::cast_precision_loss)]
fn fits_long(value: f64) -> bool {
    value.floor() <= i64::MAX as f64 && value.ceil() >= i64::MIN as f64
}
