//! Dates, timestamps and times cut to a unit.

use super::civil::civil;
use super::moment::{Dates, Moments, argument, session_zone, timestamps};
use crate::scalar::array::typing::unexpected;
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, lenient, param};
use crate::scalar::string::rows::{Rows, Texts, primitives};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::Time64NanosecondArray;
use arrow::datatypes::{Date32Type, Time64NanosecondType};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use firesteel_types::calendar::{
    MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, days_from_civil, weekday,
};

function! {
    /// `trunc(date, unit)`
    TRUNC = "trunc" in DateTime, Signature::of(&[param("date", ArgType::Date), param("fmt", ArgType::String)])
        => lenient(DataType::Date, trunc);
    usage "The first date of the year, quarter, month or week of a date; NULL for other units.";
    since "1.5.0";
    example "SELECT trunc('2009-02-12', 'MM')" => "2009-02-01";
    example "SELECT trunc('2019-08-04', 'week')" => "2019-07-29";
}
function! {
    /// `date_trunc(unit, timestamp)`
    DATE_TRUNC = "date_trunc" in DateTime,
        Signature::of(&[param("fmt", ArgType::String), param("ts", ArgType::Timestamp)])
        => lenient(DataType::Timestamp, date_trunc);
    usage "The first moment of a timestamp's year, month, hour or other unit; NULL for unknown units.";
    since "2.3.0";
    example "SELECT date_trunc('YEAR', '2015-03-05T09:32:05.359')" => "2015-01-01 00:00:00";
    example "SELECT date_trunc('HOUR', '2015-03-05T09:32:05.359')" => "2015-03-05 09:00:00";
}
function! {
    /// `time_trunc(unit, time)`
    TIME_TRUNC = "time_trunc" in DateTime, Signature::of(&[param("unit", ArgType::String), param("time", ArgType::Any)])
        => Body::Build(time_trunc);
    usage "The first moment of a time's hour, minute or other unit.";
    since "4.1.0";
    example "SELECT time_trunc('HOUR', TIME'09:32:05.359')" => "09:00:00";
}

/// Units of time, from fine to coarse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Unit {
    /// The unit that `trunc` and `date_trunc` call so.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "MICROSECOND" => Self::Microsecond,
            "MILLISECOND" => Self::Millisecond,
            "SECOND" => Self::Second,
            "MINUTE" => Self::Minute,
            "HOUR" => Self::Hour,
            "DAY" | "DD" => Self::Day,
            "WEEK" => Self::Week,
            "MON" | "MONTH" | "MM" => Self::Month,
            "QUARTER" => Self::Quarter,
            "YEAR" | "YYYY" | "YY" => Self::Year,
            _ => return None,
        })
    }

    /// The first day of the unit, which is a week or longer; shorter ones leave the day.
    pub fn first_day(self, day: i32) -> i32 {
        let (year, month, _) = civil(day);
        let first = |month: u32| days_from_civil(i64::from(year), month, 1) as i32;
        match self {
            Self::Week => day.wrapping_sub(weekday(i64::from(day)) as i32),
            Self::Month => first(month),
            Self::Quarter => first((month - 1) / 3 * 3 + 1),
            Self::Year => first(1),
            _ => day,
        }
    }

    /// The length of a unit shorter than a day, in microseconds.
    pub fn micros(self) -> Option<i64> {
        Some(match self {
            Self::Microsecond => 1,
            Self::Millisecond => 1000,
            Self::Second => MICROS_PER_SECOND,
            Self::Minute => MICROS_PER_MINUTE,
            Self::Hour => MICROS_PER_HOUR,
            _ => return None,
        })
    }
}

/// The unit in each row; a constant is read once.
fn unit_at(names: &Texts) -> impl Fn(usize) -> Option<Unit> + '_ {
    let constant = names.constant().map(|name| name.and_then(Unit::parse));
    move |row| match constant {
        Some(unit) => unit,
        None => names.get(row).and_then(Unit::parse),
    }
}

fn trunc(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (dates, names): (Dates, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let unit = unit_at(&names);
    primitives::<Date32Type>(args, |row| {
        Ok(match (dates.get(row), unit(row)) {
            (Some(date), Some(unit)) if unit >= Unit::Week => Some(unit.first_day(date)),
            _ => None,
        })
    })
}

fn date_trunc(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (names, moments): (Texts, Moments) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let unit = unit_at(&names);
    let mut zone = session_zone(args)?.cursor();
    timestamps(args, |row| {
        let (Some(moment), Some(unit)) = (moments.get(row), unit(row)) else { return Ok(None) };
        if unit <= Unit::Second {
            return Ok(unit.micros().map(|m| moment - moment.rem_euclid(m)));
        }
        let local = zone.to_local(moment);
        if let Some(micros) = unit.micros() {
            // The distance on the wall clock, so that hours of zones off by minutes are cut at theirs.
            return Ok(Some(moment - local.rem_euclid(micros)));
        }
        let day = unit.first_day(local.div_euclid(MICROS_PER_DAY) as i32);
        Ok(zone.to_utc(i64::from(day) * MICROS_PER_DAY))
    })
}

fn time_trunc(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (unit, time) = (argument(&arguments, 0)?, argument(&arguments, 1)?);
    let call = TIME_TRUNC.call_text(&[unit.name.clone(), time.name.clone()]);
    if !matches!(time.data_type, DataType::Time(_)) {
        return Err(unexpected(&call, 1, "\"TIME\"", &time));
    }
    super::time::check_enabled(context)?;
    if let Some(value) = constant::value_of(&unit)?
        && let Some(name) = constant::text_of(&value)
        && Unit::parse(name).and_then(Unit::micros).is_none()
    {
        return Err(unknown_unit(TIME_TRUNC.name, name));
    }
    let data_type = time.data_type.clone();
    let expr = crate::kernel::call(&TIME_TRUNC, cut_time, &[unit, time], &data_type, true, context)?;
    Ok(TypedExpr::new(expr, data_type, true, call))
}

/// The error of a unit that times of day do not have.
pub fn unknown_unit(function: &str, name: &str) -> SparkError {
    SparkError::new("INVALID_PARAMETER_VALUE.TIME_UNIT")
        .with("functionName", format!("`{function}`"))
        .with("parameter", "`unit`")
        .with("invalidValue", format!("'{name}'"))
}

fn cut_time(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (names, times): (Texts, Rows<Time64NanosecondArray>) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Time64NanosecondType>(args, |row| {
        let (Some(name), Some(time)) = (names.get(row), times.get(row)) else { return Ok(None) };
        let micros = Unit::parse(name).and_then(Unit::micros).ok_or_else(|| unknown_unit(TIME_TRUNC.name, name))?;
        Ok(Some(time - time.rem_euclid(micros * 1000)))
    })
}
