//! Adding and counting units of time.

use super::moment::{Moments, argument, timestamps, zone_of};
use crate::coercion::{coerce_argument, implicitly, mismatch};
use crate::kernel::kernel;
use crate::scalar::operator::datetime::move_timestamp;
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Longs, Rows, primitives};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::datatypes::Int64Type;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::{
    MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, civil_from_days,
};
use firesteel_types::{DataType, TimeZone, moment_text};
use std::sync::Arc;

function! {
    /// `timestampadd(unit, quantity, timestamp)`
    TIMESTAMPADD = "timestampadd" in Internal,
        Signature::of(&[param("unit", ArgType::String), param("quantity", ArgType::Long), param("timestamp", ArgType::Any)])
        => Body::Build(|context, arguments| build(true, context, arguments));
    usage "The timestamp that many units later.";
    since "3.3.0";
    example "SELECT timestampadd(HOUR, 8, timestamp_ntz'2022-02-11 20:30:00')" => "2022-02-12 04:30:00";
}
function! {
    /// `timestampdiff(unit, start, end)`
    TIMESTAMPDIFF = "timestampdiff" in Internal,
        Signature::of(&[param("unit", ArgType::String), param("start", ArgType::Any), param("end", ArgType::Any)])
        => Body::Build(|context, arguments| build(false, context, arguments));
    usage "The number of whole units from the start to the end.";
    since "3.3.0";
    example "SELECT timestampdiff(MONTH, timestamp'2021-01-01 00:00:00', timestamp'2021-03-02 00:00:00')" => "2";
}

const UNITS: [&str; 10] =
    ["MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"];

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("timestampadd", add), &kernel("timestampdiff", difference)];

fn unit_of(name: &str) -> Option<&'static str> {
    match name.to_ascii_uppercase().as_str() {
        "DAYOFYEAR" => Some("DAY"),
        upper => UNITS.into_iter().find(|u| *u == upper),
    }
}

fn build(adds: bool, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let function = if adds { &TIMESTAMPADD } else { &TIMESTAMPDIFF };
    let call = function.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let unit = argument(&arguments, 0)?;
    let value = constant::value_of(&unit)?;
    let name = value.as_ref().and_then(constant::text_of).unwrap_or_default();
    let Some(unit) = unit_of(name) else {
        return Err(SparkError::new("INVALID_PARAMETER_VALUE.DATETIME_UNIT")
            .with("functionName", format!("`{}`", function.name))
            .with("parameter", "`unit`")
            .with("invalidValue", format!("'{name}'")));
    };
    let payload = Some(Arc::from(unit));
    if adds {
        let quantity = argument(&arguments, 1)?;
        let start = match argument(&arguments, 2)? {
            date if date.data_type == DataType::Date => implicitly(date, &DataType::Timestamp, context)?,
            other => coerce_argument(other, ArgType::AnyTimestamp, 2, &call, context)?,
        };
        let data_type = start.data_type.clone();
        let nullable = quantity.nullable || start.nullable;
        let arguments = [quantity, start];
        let expr = crate::kernel::call_with_payload(function, add, &arguments, &data_type, nullable, context, payload)?;
        return Ok(TypedExpr::new(expr, data_type, nullable, call));
    }
    let (start, end) = (argument(&arguments, 1)?, argument(&arguments, 2)?);
    for (index, side) in [(1, &start), (2, &end)] {
        if side.data_type != DataType::TimestampNtz
            && crate::coercion::implicit_cast(&side.data_type, ArgType::Timestamp, context.conf.ansi_enabled).is_none()
        {
            return Err(mismatch::unexpected_input(&call, index, ArgType::Timestamp, side));
        }
    }
    // Without zones on both sides, no zone counts.
    let wanted = if start.data_type == DataType::TimestampNtz && end.data_type == DataType::TimestampNtz {
        DataType::TimestampNtz
    } else {
        DataType::Timestamp
    };
    let start = crate::coercion::implicitly(start, &wanted, context)?;
    let end = crate::coercion::implicitly(end, &wanted, context)?;
    let nullable = start.nullable || end.nullable;
    let arguments = [start, end];
    let data_type = DataType::Long;
    let expr =
        crate::kernel::call_with_payload(function, difference, &arguments, &data_type, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, nullable, call))
}

/// Months, days and microseconds of so many units.
fn step(unit: &str, quantity: i64) -> Option<(i64, i64, i64)> {
    let months = |n: i64| quantity.checked_mul(n).filter(|m| i32::try_from(*m).is_ok()).map(|m| (m, 0, 0));
    let days = |n: i64| quantity.checked_mul(n).filter(|d| i32::try_from(*d).is_ok()).map(|d| (0, d, 0));
    let micros = |n: i64| quantity.checked_mul(n).map(|m| (0, 0, m));
    match unit {
        "YEAR" => months(12),
        "QUARTER" => months(3),
        "MONTH" => months(1),
        "WEEK" => days(7),
        "DAY" => days(1),
        "HOUR" => micros(MICROS_PER_HOUR),
        "MINUTE" => micros(MICROS_PER_MINUTE),
        "SECOND" => micros(MICROS_PER_SECOND),
        "MILLISECOND" => micros(1000),
        _ => micros(1),
    }
}

fn add(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let unit = args.settings.payload.clone().unwrap_or_else(|| Arc::from(""));
    let (quantities, starts): (Longs, Moments) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let zone = zone_of(args, 1)?;
    timestamps(args, |row| {
        let (Some(quantity), Some(start)) = (quantities.get(row), starts.get(row)) else { return Ok(None) };
        match step(&unit, quantity).and_then(|step| move_timestamp(start, step, zone)) {
            Some(moved) => Ok(Some(moved)),
            None => {
                let mut text = String::new();
                moment_text::write_timestamp(&mut text, zone.to_local(start));
                let kind =
                    if args.types.get(1) == Some(&DataType::TimestampNtz) { "TIMESTAMP_NTZ" } else { "TIMESTAMP" };
                Err(SparkError::new("DATETIME_OVERFLOW")
                    .with("operation", format!("add {quantity}L {unit} to {kind} '{text}'")))
            }
        }
    })
}

/// Whole months between two wall-clock times.
fn months_between(start: i64, end: i64) -> i64 {
    let month_of = |local: i64| {
        let (year, month, day) = civil_from_days(local.div_euclid(MICROS_PER_DAY));
        (year * 12 + i64::from(month), i64::from(day) * MICROS_PER_DAY + local.rem_euclid(MICROS_PER_DAY))
    };
    let ((m1, rest1), (m2, rest2)) = (month_of(start), month_of(end));
    let months = m2 - m1;
    match months {
        m if m > 0 && rest2 < rest1 => m - 1,
        m if m < 0 && rest2 > rest1 => m + 1,
        m => m,
    }
}

fn difference(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let unit = args.settings.payload.clone().unwrap_or_else(|| Arc::from(""));
    let (starts, ends): (Moments, Moments) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let zone: TimeZone = zone_of(args, 0)?;
    let mut zone = zone.cursor();
    let unit = unit.as_ref();
    primitives::<Int64Type>(args, |row| {
        let (Some(start), Some(end)) = (starts.get(row), ends.get(row)) else { return Ok(None) };
        let (start, end) = (zone.to_local(start), zone.to_local(end));
        let micros = end.wrapping_sub(start);
        Ok(Some(match unit {
            "YEAR" => months_between(start, end) / 12,
            "QUARTER" => months_between(start, end) / 3,
            "MONTH" => months_between(start, end),
            "WEEK" => micros / (7 * MICROS_PER_DAY),
            "DAY" => micros / MICROS_PER_DAY,
            "HOUR" => micros / MICROS_PER_HOUR,
            "MINUTE" => micros / MICROS_PER_MINUTE,
            "SECOND" => micros / MICROS_PER_SECOND,
            "MILLISECOND" => micros / 1000,
            _ => micros,
        }))
    })
}
