//! Timestamps made of their fields.

use super::day::{checked_date, out_of_bounds};
use super::moment::{Dates, argument, long_overflow, session_zone, timestamps};
use crate::coercion::{coerce_argument, implicitly};
use crate::scalar::array::typing::unexpected;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Integers, Rows, Texts};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Decimal128Array, Time64NanosecondArray};
use datafusion::logical_expr::ColumnarValue;
use firesteel_config::TimestampType;
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE};
use firesteel_types::{DataType, TimeZone};
use std::sync::Arc;

const FIELDS: Signature = Signature::with_optional(
    &[
        param("year", ArgType::Any),
        param("month", ArgType::Any),
        param("day", ArgType::Any),
        param("hour", ArgType::Any),
        param("min", ArgType::Any),
        param("sec", ArgType::Any),
        param("timezone", ArgType::Any),
    ],
    6,
);

/// Seconds with their microseconds.
const SECONDS: DataType = DataType::Decimal(16, 6);

function! {
    /// `make_timestamp(year, month, day, hour, minute, second[, zone])`, `make_timestamp(date[, time[, zone]])`
    MAKE_TIMESTAMP = "make_timestamp" in DateTime, FIELDS
        => Body::Build(|c, a| { let t = default_type(c, &a); build(&MAKE_TIMESTAMP, t, false, c, a) });
    usage "The timestamp of the fields, read in the session's or the given time zone.";
    since "3.0.0";
    example "SELECT make_timestamp(2014, 12, 28, 6, 30, 45.887)" => "2014-12-28 06:30:45.887";
}
function! {
    /// `make_timestamp_ltz(…)`
    MAKE_TIMESTAMP_LTZ = "make_timestamp_ltz" in DateTime, FIELDS
        => Body::Build(|c, a| build(&MAKE_TIMESTAMP_LTZ, DataType::Timestamp, false, c, a));
    text |a| if a.len() < 4 { format!("make_timestamp({})", a.join(", ")) } else { format!("make_timestamp_ltz({})", a.join(", ")) };
    usage "The moment of the fields, read in the session's or the given time zone.";
    since "3.4.0";
    example "SELECT make_timestamp_ltz(2014, 12, 28, 6, 30, 45.887)" => "2014-12-28 06:30:45.887";
}
function! {
    /// `make_timestamp_ntz(…)`
    MAKE_TIMESTAMP_NTZ = "make_timestamp_ntz" in DateTime, FIELDS
        => Body::Build(|c, a| build(&MAKE_TIMESTAMP_NTZ, DataType::TimestampNtz, false, c, a));
    usage "The wall clock's time of the fields.";
    since "3.4.0";
    example "SELECT make_timestamp_ntz(2014, 12, 28, 6, 30, 45.887)" => "2014-12-28 06:30:45.887";
}
function! {
    /// `try_make_timestamp(…)`
    TRY_MAKE_TIMESTAMP = "try_make_timestamp" in DateTime, FIELDS
        => Body::Build(|c, a| { let t = default_type(c, &a); build(&TRY_MAKE_TIMESTAMP, t, true, c, a) });
    text |a| format!("try_make_timestamp({})", a[..a.len().min(6)].join(", "));
    usage "As `make_timestamp`, but NULL where a field is out of its range.";
    since "4.0.0";
    example "SELECT try_make_timestamp(2024, 13, 22, 15, 30, 0)" => "NULL";
}
function! {
    /// `try_make_timestamp_ltz(…)`
    TRY_MAKE_TIMESTAMP_LTZ = "try_make_timestamp_ltz" in DateTime, FIELDS
        => Body::Build(|c, a| build(&TRY_MAKE_TIMESTAMP_LTZ, DataType::Timestamp, true, c, a));
    text |a| if a.len() < 4 { format!("make_timestamp({})", a.join(", ")) } else { format!("try_make_timestamp_ltz({})", a.join(", ")) };
    usage "As `make_timestamp_ltz`, but NULL where a field is out of its range.";
    since "4.0.0";
    example "SELECT try_make_timestamp_ltz(2024, 13, 22, 15, 30, 0)" => "NULL";
}
function! {
    /// `try_make_timestamp_ntz(…)`
    TRY_MAKE_TIMESTAMP_NTZ = "try_make_timestamp_ntz" in DateTime, FIELDS
        => Body::Build(|c, a| build(&TRY_MAKE_TIMESTAMP_NTZ, DataType::TimestampNtz, true, c, a));
    text |a| if a.len() == 2 { format!("try_make_timestamp_ntz(make_timestamp_ntz({}))", a.join(", ")) }
        else { format!("try_make_timestamp_ntz({})", a.join(", ")) };
    usage "As `make_timestamp_ntz`, but NULL where a field is out of its range.";
    since "4.0.0";
    example "SELECT try_make_timestamp_ntz(2024, 13, 22, 15, 30, 0)" => "NULL";
}

/// The session's kind of timestamp for those made of fields; dates and times of day make moments always.
fn default_type(context: &BuildContext<'_>, arguments: &[TypedExpr]) -> DataType {
    match context.conf.timestamp_type {
        TimestampType::Ntz if arguments.len() > 3 => DataType::TimestampNtz,
        _ => DataType::Timestamp,
    }
}

/// A number as seconds with microseconds.
pub fn as_seconds(
    value: TypedExpr,
    to: &DataType,
    index: usize,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    let value = coerce_argument(value, ArgType::Decimal, index, call, context)?;
    implicitly(value, to, context)
}

fn build(
    function: &Function,
    target: DataType,
    is_try: bool,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let call = function.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let ntz = target == DataType::TimestampNtz;
    let mut typed = Vec::with_capacity(arguments.len());
    let kernel: crate::KernelFn = match arguments.len() {
        6 | 7 => {
            for (index, value) in arguments.iter().cloned().enumerate() {
                typed.push(match index {
                    0..=4 => coerce_argument(value, ArgType::Integer, index, &call, context)?,
                    5 => as_seconds(value, &SECONDS, index, &call, context)?,
                    _ => coerce_argument(value, ArgType::String, index, &call, context)?,
                });
            }
            of_fields
        }
        count if count <= if ntz { 2 } else { 3 } => {
            typed.push(coerce_argument(argument(&arguments, 0)?, ArgType::Exactly(&ArgType::Date), 0, &call, context)?);
            if let Ok(time) = argument(&arguments, 1) {
                if !matches!(time.data_type, DataType::Time(_) | DataType::Null) {
                    return Err(unexpected(&call, 1, "\"TIME\"", &time));
                }
                typed.push(implicitly(time, &DataType::Time(6), context)?);
            }
            if let Ok(zone) = argument(&arguments, 2) {
                typed.push(coerce_argument(zone, ArgType::TEXT, 2, &call, context)?);
            }
            of_date_and_time
        }
        count => {
            return Err(SparkError::new("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
                .with("functionName", format!("`{}`", function.name))
                .with("expectedNum", "[1, 2, 3, 6, 7]")
                .with("actualNum", count.to_string())
                .with("docroot", "https://spark.apache.org/docs/latest"));
        }
    };
    let fails = context.conf.ansi_enabled && !is_try;
    let can_fail = match typed.len() {
        0..=3 => ntz && typed.len() == 2,
        _ => is_try || !context.conf.ansi_enabled,
    };
    let nullable = can_fail || typed.iter().any(|t| t.nullable);
    let payload = fails.then(|| Arc::from("fails"));
    let expr = crate::kernel::call_with_payload(function, kernel, &typed, &target, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, target, nullable, call))
}

/// The zone in which a row's fields are read.
struct Zones {
    session: TimeZone,
    given: Option<Texts>,
    /// A wall clock's time has no zone, but none where the zone is null.
    is_local: bool,
}

impl Zones {
    fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        let given = if args.values.len() > index { Some(Rows::of(args, index)?) } else { None };
        let is_local = *args.return_type == DataType::TimestampNtz;
        Ok(Self { session: if is_local { TimeZone::UTC } else { session_zone(args)? }, given, is_local })
    }

    fn get(&self, row: usize) -> Result<Option<TimeZone>> {
        match &self.given {
            None => Ok(Some(self.session)),
            Some(names) if self.is_local => Ok(names.get(row).map(|_| self.session)),
            Some(names) => names.get(row).map(TimeZone::parse).transpose(),
        }
    }
}

/// Microseconds of a day, or Spark's error.
fn time_of(hour: i32, minute: i32, micros: i64) -> Result<i64> {
    let second = micros.div_euclid(1_000_000);
    let within = |value: i64, name: &str, most: i64| {
        if (0..=most).contains(&value) {
            return Ok(());
        }
        Err(out_of_bounds(format!("Invalid value for {name} (valid values 0 - {most}): {value}")))
    };
    within(i64::from(hour), "HourOfDay", 23)?;
    within(i64::from(minute), "MinuteOfHour", 59)?;
    // A leap second without a fraction is the next minute's first.
    if second == 60 && micros % 1_000_000 != 0 {
        let text = crate::cast::decimal::plain_text(i128::from(micros), 6);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        return Err(SparkError::new("INVALID_FRACTION_OF_SECOND").with("secAndMicros", text));
    }
    if second != 60 {
        within(second, "SecondOfMinute", 59)?;
    }
    Ok(i64::from(hour) * MICROS_PER_HOUR + i64::from(minute) * MICROS_PER_MINUTE + micros)
}

fn of_fields(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let fields = (0..5).map(|i| Rows::of(args, i)).collect::<Result<Vec<Integers>>>()?;
    let seconds: Rows<Decimal128Array> = Rows::of(args, 5)?;
    let zones = Zones::of(args, 6)?;
    let fails = args.settings.payload.is_some();
    timestamps(args, |row| {
        let mut values = [0_i32; 5];
        for (value, field) in values.iter_mut().zip(&fields) {
            match field.get(row) {
                Some(v) => *value = v,
                None => return Ok(None),
            }
        }
        let (Some(seconds), Some(zone)) = (seconds.get(row), zones.get(row)?) else { return Ok(None) };
        let [year, month, day, hour, minute] = values;
        let made = i64::try_from(seconds).map_err(|_| long_overflow()).and_then(|micros| {
            let day = checked_date(i64::from(year), i64::from(month), i64::from(day)).map_err(out_of_bounds)?;
            let time = time_of(hour, minute, micros)?;
            let local = day.checked_mul(MICROS_PER_DAY).and_then(|d| d.checked_add(time)).ok_or_else(long_overflow)?;
            zone.to_utc(local).ok_or_else(long_overflow)
        });
        match made {
            Ok(moment) => Ok(Some(moment)),
            Err(error) if fails => Err(error),
            Err(_) => Ok(None),
        }
    })
}

fn of_date_and_time(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let dates: Dates = Rows::of(args, 0)?;
    let times: Option<Rows<Time64NanosecondArray>> =
        if args.values.len() > 1 { Some(Rows::of(args, 1)?) } else { None };
    let zones = Zones::of(args, 2)?;
    timestamps(args, |row| {
        let time = match &times {
            None => Some(0),
            Some(times) => times.get(row),
        };
        let (Some(date), Some(time), Some(zone)) = (dates.get(row), time, zones.get(row)?) else { return Ok(None) };
        zone.to_utc(i64::from(date) * MICROS_PER_DAY + time / 1000).map(Some).ok_or_else(long_overflow)
    })
}
