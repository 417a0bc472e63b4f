//! Intervals made of their fields.

use crate::coercion::coerce_argument;
use crate::scalar::datetime::make::as_seconds;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Integers, Rows, primitives};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::Decimal128Array;
use arrow::datatypes::{
    DurationMicrosecondType, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalYearMonthType,
};
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE};
use std::sync::Arc;

const CALENDAR: Signature = Signature::with_optional(
    &[
        param("years", ArgType::Any),
        param("months", ArgType::Any),
        param("weeks", ArgType::Any),
        param("days", ArgType::Any),
        param("hours", ArgType::Any),
        param("mins", ArgType::Any),
        param("secs", ArgType::Any),
    ],
    7,
);

/// As `CALENDAR`, with one field at least.
const SOME_CALENDAR: Signature = Signature { optional: 6, ..CALENDAR };

/// Seconds with their microseconds.
const SECONDS: DataType = DataType::Decimal(18, 6);

function! {
    /// `make_interval([years[, months[, weeks[, days[, hours[, minutes[, seconds]]]]]]])`
    MAKE_INTERVAL = "make_interval" in DateTime, CALENDAR => Body::Build(|c, a| calendar(&MAKE_INTERVAL, false, c, a));
    text |a| with_defaults("make_interval", a, 6, true);
    usage "The interval of the fields.";
    since "3.0.0";
    example "SELECT make_interval(100, 11, 1, 1, 12, 30, 01.001001)" => "100 years 11 months 8 days 12 hours 30 minutes 1.001001 seconds";
}
function! {
    /// `try_make_interval(years[, …])`
    TRY_MAKE_INTERVAL = "try_make_interval" in DateTime, SOME_CALENDAR
        => Body::Build(|c, a| calendar(&TRY_MAKE_INTERVAL, true, c, a));
    text |a| with_defaults("try_make_interval", a, 6, true);
    usage "As `make_interval`, but NULL where a field overflows.";
    since "4.0.0";
    example "SELECT try_make_interval(2147483647)" => "NULL";
}
function! {
    /// `make_dt_interval([days[, hours[, minutes[, seconds]]]])`
    MAKE_DT_INTERVAL = "make_dt_interval" in DateTime,
        Signature::with_optional(&[
            param("days", ArgType::Any), param("hours", ArgType::Any), param("mins", ArgType::Any), param("secs", ArgType::Any),
        ], 4)
        => Body::Build(day_time);
    text |a| with_defaults("make_dt_interval", a, 3, true);
    usage "The interval of days, hours, minutes and seconds.";
    since "3.2.0";
    example "SELECT make_dt_interval(1, 12, 30, 01.001001)" => "1 12:30:01.001001000";
}
function! {
    /// `make_ym_interval([years[, months]])`
    MAKE_YM_INTERVAL = "make_ym_interval" in DateTime,
        Signature::with_optional(&[param("years", ArgType::Any), param("months", ArgType::Any)], 2)
        => Body::Build(year_month);
    text |a| with_defaults("make_ym_interval", a, 2, false);
    usage "The interval of years and months.";
    since "3.2.0";
    example "SELECT make_ym_interval(1, 2)" => "1-2";
}

fn with_defaults(name: &str, arguments: &[String], integers: usize, has_seconds: bool) -> String {
    let mut all = arguments.to_vec();
    while all.len() < integers {
        all.push("0".to_string());
    }
    if has_seconds && all.len() == integers {
        all.push("0.000000".to_string());
    }
    format!("{name}({})", all.join(", "))
}

/// Integers and perhaps seconds, zeros in place of those left out.
fn fields(
    function: &Function,
    arguments: Vec<TypedExpr>,
    integers: usize,
    has_seconds: bool,
    context: &mut BuildContext<'_>,
) -> Result<Vec<TypedExpr>> {
    let call = function.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let mut given = arguments.into_iter();
    let zero = || TypedExpr::new(lit(0_i32), DataType::Integer, false, "0");
    let mut typed = Vec::with_capacity(integers + 1);
    for index in 0..integers {
        typed.push(coerce_argument(given.next().unwrap_or_else(zero), ArgType::Integer, index, &call, context)?);
    }
    if has_seconds {
        typed.push(as_seconds(given.next().unwrap_or_else(zero), &SECONDS, integers, &call, context)?);
    }
    Ok(typed)
}

fn calendar(
    function: &Function,
    is_try: bool,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let typed = fields(function, arguments, 6, true, context)?;
    let fails = context.conf.ansi_enabled && !is_try;
    let nullable = !fails || typed.iter().any(|t| t.nullable);
    let payload = fails.then(|| Arc::from("fails"));
    let data_type = DataType::CalendarInterval;
    let expr =
        crate::kernel::call_with_payload(function, make_calendar, &typed, &data_type, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

/// The integers of a row and the microseconds of its seconds; None where one is null.
struct Fields {
    integers: Vec<Integers>,
    seconds: Option<Rows<Decimal128Array>>,
}

impl Fields {
    fn of(args: &KernelArgs<'_>, integers: usize) -> Result<Self> {
        let seconds = if args.values.len() > integers { Some(Rows::of(args, integers)?) } else { None };
        Ok(Self { integers: (0..integers).map(|i| Rows::of(args, i)).collect::<Result<_>>()?, seconds })
    }

    fn get<const N: usize>(&self, row: usize) -> Option<([i64; N], i64)> {
        let mut values = [0_i64; N];
        for (value, field) in values.iter_mut().zip(&self.integers) {
            *value = i64::from(field.get(row)?);
        }
        let micros = match &self.seconds {
            None => 0,
            Some(seconds) => i64::try_from(seconds.get(row)?).ok()?,
        };
        Some((values, micros))
    }
}

fn make_calendar(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let fields = Fields::of(args, 6)?;
    let fails = args.settings.payload.is_some();
    primitives::<IntervalMonthDayNanoType>(args, |row| {
        let Some(([years, months, weeks, days, hours, minutes], micros)) = fields.get::<6>(row) else {
            return Ok(None);
        };
        let months = i32::try_from(years * 12 + months).ok();
        let days = i32::try_from(weeks * 7 + days).ok();
        let nanos = (hours * MICROS_PER_HOUR)
            .checked_add(minutes * MICROS_PER_MINUTE)
            .and_then(|m| m.checked_add(micros))
            .and_then(|m| m.checked_mul(1000));
        match (months, days, nanos) {
            (Some(months), Some(days), Some(nanos)) => Ok(Some(IntervalMonthDayNano::new(months, days, nanos))),
            _ if fails => Err(SparkError::new("ARITHMETIC_OVERFLOW")
                .with("message", "overflow")
                .with("alternative", "")
                .with("config", "\"spark.sql.ansi.enabled\"")),
            _ => Ok(None),
        }
    })
}

fn overflow() -> SparkError {
    SparkError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION")
}

fn day_time(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let typed = fields(&MAKE_DT_INTERVAL, arguments, 3, true, context)?;
    let nullable = typed.iter().any(|t| t.nullable);
    let expr = crate::kernel::call(&MAKE_DT_INTERVAL, make_day_time, &typed, &DataType::DAY_TIME, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::DAY_TIME, nullable, ""))
}

fn make_day_time(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let fields = Fields::of(args, 3)?;
    primitives::<DurationMicrosecondType>(args, |row| {
        let Some(([days, hours, minutes], micros)) = fields.get::<3>(row) else { return Ok(None) };
        let total = days
            .checked_mul(MICROS_PER_DAY)
            .and_then(|d| d.checked_add(hours * MICROS_PER_HOUR))
            .and_then(|t| t.checked_add(minutes * MICROS_PER_MINUTE))
            .and_then(|t| t.checked_add(micros));
        total.map(Some).ok_or_else(overflow)
    })
}

fn year_month(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let typed = fields(&MAKE_YM_INTERVAL, arguments, 2, false, context)?;
    let nullable = typed.iter().any(|t| t.nullable);
    let data_type = DataType::YEAR_MONTH;
    let expr = crate::kernel::call(&MAKE_YM_INTERVAL, make_year_month, &typed, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn make_year_month(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let fields = Fields::of(args, 2)?;
    primitives::<IntervalYearMonthType>(args, |row| {
        let Some(([years, months], _)) = fields.get::<2>(row) else { return Ok(None) };
        i32::try_from(years * 12 + months).map(Some).map_err(|_| overflow())
    })
}
