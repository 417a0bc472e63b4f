//! Arithmetic of dates.

use super::civil::civil;
use super::moment::{Dates, Moments, argument, day_overflow, integer_overflow, session_zone};
use crate::scalar::array::typing::unexpected;
use crate::scalar::string::declare::{function, lenient, param, strict};
use crate::scalar::string::rows::{Booleans, Integers, Rows, Texts, primitives};
use crate::{ArgType, Body, BuildContext, KernelArgs, Nullability, Returns, Signature, TypedExpr};
use arrow::datatypes::{Date32Type, Float64Type, Int32Type};
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use firesteel_types::calendar::{
    MICROS_PER_DAY, MICROS_PER_SECOND, add_months, checked_days_from_civil, civil_from_days, days_in_month, weekday,
};

const DATES: Signature = Signature::of(&[param("endDate", ArgType::Date), param("startDate", ArgType::Date)]);

function! {
    /// `date_add(date, days)`
    DATE_ADD = "date_add" or "dateadd" in DateTime,
        Signature::of(&[param("startDate", ArgType::Date), param("days", ArgType::Any)])
        => Body::Build(|context, arguments| shift("date_add", context, arguments));
    usage "The date that many days later.";
    since "1.5.0";
    example "SELECT date_add('2016-07-30', 1)" => "2016-07-31";
}
function! {
    /// `date_sub(date, days)`
    DATE_SUB = "date_sub" in DateTime,
        Signature::of(&[param("startDate", ArgType::Date), param("days", ArgType::Any)])
        => Body::Build(|context, arguments| shift("date_sub", context, arguments));
    usage "The date that many days before.";
    since "1.5.0";
    example "SELECT date_sub('2016-07-30', 1)" => "2016-07-29";
}
function! {
    /// `datediff(end, start)`
    DATEDIFF = "datediff" in DateTime, DATES => strict(DataType::Integer, difference);
    usage "The number of days from the start to the end.";
    since "1.5.0";
    example "SELECT datediff('2009-07-31', '2009-07-30')" => "1";
}
function! {
    /// `date_diff(end, start)`
    DATE_DIFF = "date_diff" in DateTime, DATES => strict(DataType::Integer, difference);
    usage "The number of days from the start to the end.";
    since "3.4.0";
    example "SELECT date_diff('2009-07-31', '2009-07-30')" => "1";
}
function! {
    /// `add_months(date, months)`
    ADD_MONTHS = "add_months" in DateTime,
        Signature::of(&[param("startDate", ArgType::Date), param("numMonths", ArgType::Integer)])
        => strict(DataType::Date, months_later);
    usage "The date that many months later; where the month is too short, its last day.";
    since "1.5.0";
    example "SELECT add_months('2016-08-31', 1)" => "2016-09-30";
}
function! {
    /// `months_between(timestamp1, timestamp2[, roundOff])`
    MONTHS_BETWEEN = "months_between" in DateTime,
        Signature::with_optional(&[
            param("timestamp1", ArgType::Timestamp), param("timestamp2", ArgType::Timestamp), param("roundOff", ArgType::Boolean),
        ], 1)
        => Body::Build(months_between);
    text |a| if a.len() == 2 { format!("months_between({}, {}, true)", a[0], a[1]) }
        else { format!("months_between({})", a.join(", ")) };
    usage "The number of months from the second to the first timestamp, a month's rest counted in 31st parts, rounded to 8 digits.";
    since "1.5.0";
    example "SELECT months_between('1997-02-28 10:30:00', '1996-10-30')" => "3.94959677";
}
function! {
    /// `next_day(date, day of week)`
    NEXT_DAY = "next_day" in DateTime,
        Signature::of(&[param("startDate", ArgType::Date), param("dayOfWeek", ArgType::String)])
        => lenient(DataType::Date, next_day);
    usage "The first date after the given one that falls on a day of the week.";
    since "1.5.0";
    example "SELECT next_day('2015-01-14', 'TU')" => "2015-01-20";
}
function! {
    /// `last_day(date)`
    LAST_DAY = "last_day" in DateTime, Signature::of(&[param("date", ArgType::Date)]) => strict(DataType::Date, last_day);
    usage "The last date of the month.";
    since "1.5.0";
    example "SELECT last_day('2009-01-12')" => "2009-01-31";
}
function! {
    /// `make_date(year, month, day)`
    MAKE_DATE = "make_date" in DateTime,
        Signature::of(&[param("year", ArgType::Integer), param("month", ArgType::Integer), param("day", ArgType::Integer)])
        => Body::Scalar {
            returns: Returns::Type(DataType::Date),
            nullable: Nullability::Of(|a, conf| !conf.ansi_enabled || a.iter().any(|x| x.nullable)),
            kernel: make_date,
        };
    usage "The date of a year, month and day.";
    since "3.0.0";
    example "SELECT make_date(2013, 7, 15)" => "2013-07-15";
}
function! {
    /// `date_from_unix_date(days)`
    DATE_FROM_UNIX_DATE = "date_from_unix_date" in DateTime, Signature::of(&[param("days", ArgType::Integer)])
        => strict(DataType::Date, |args| super::moment::map_first::<Int32Type, Date32Type>(args, |d| d));
    usage "The date that many days after 1970-01-01.";
    since "3.1.0";
    example "SELECT date_from_unix_date(1)" => "1970-01-02";
}
function! {
    /// `unix_date(date)`
    UNIX_DATE = "unix_date" in DateTime, Signature::of(&[param("date", ArgType::Any)]) => Body::Build(unix_date);
    usage "The number of days since 1970-01-01.";
    since "3.1.0";
    example "SELECT unix_date(DATE('1970-01-02'))" => "1";
}

fn shift(name: &str, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (function, kernel): (_, crate::KernelFn) =
        if name == "date_add" { (&DATE_ADD, later) } else { (&DATE_SUB, earlier) };
    let (date, days) = (argument(&arguments, 0)?, argument(&arguments, 1)?);
    let call = function.call_text(&[date.name.clone(), days.name.clone()]);
    let fits = matches!(days.data_type, DataType::Byte | DataType::Short | DataType::Integer | DataType::Null)
        || days.data_type.is_string();
    if !fits {
        return Err(unexpected(&call, 1, "(\"INT\" or \"SMALLINT\" or \"TINYINT\")", &days));
    }
    let is_text = days.data_type.is_string() && !context.conf.ansi_enabled;
    let mut days = crate::coercion::implicitly(days, &DataType::Integer, context)?;
    // Outside of ANSI mode, a constant text must be a number.
    if let Some(value) = days.literal().filter(|_| is_text) {
        if value.is_null() {
            return Err(SparkError::new("SECOND_FUNCTION_ARGUMENT_NOT_INTEGER").with("functionName", name));
        }
        days.nullable = false;
    }
    let nullable = date.nullable || days.nullable;
    let expr = crate::kernel::call(function, kernel, &[date, days], &DataType::Date, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Date, nullable, call))
}

/// Only dates count, without a cast.
fn unix_date(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let date = argument(&arguments, 0)?;
    let call = UNIX_DATE.call_text(&[date.name.clone()]);
    if !matches!(date.data_type, DataType::Date | DataType::Null) {
        return Err(crate::coercion::mismatch::unexpected_input(&call, 0, ArgType::Date, &date));
    }
    let date = crate::coercion::implicitly(date, &DataType::Date, context)?;
    let nullable = date.nullable;
    let kernel: crate::KernelFn = |args| super::moment::map_first::<Date32Type, Int32Type>(args, |d| d);
    let expr = crate::kernel::call(&UNIX_DATE, kernel, &[date], &DataType::Integer, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Integer, nullable, call))
}

fn later(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (dates, days): (Dates, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Date32Type>(args, |row| Ok(dates.get(row).zip(days.get(row)).map(|(d, n)| d.wrapping_add(n))))
}

fn earlier(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (dates, days): (Dates, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Date32Type>(args, |row| Ok(dates.get(row).zip(days.get(row)).map(|(d, n)| d.wrapping_sub(n))))
}

fn difference(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (ends, starts): (Dates, Dates) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Int32Type>(args, |row| Ok(ends.get(row).zip(starts.get(row)).map(|(e, s)| e.wrapping_sub(s))))
}

fn months_later(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (dates, months): (Dates, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Date32Type>(args, |row| {
        let Some((date, months)) = dates.get(row).zip(months.get(row)) else { return Ok(None) };
        let moved = add_months(i64::from(date), i64::from(months));
        i32::try_from(moved).map(Some).map_err(|_| day_overflow())
    })
}

fn months_between(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if arguments.len() == 2 {
        arguments.push(TypedExpr::new(lit(true), DataType::Boolean, false, "true"));
    }
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call(&MONTHS_BETWEEN, months, &arguments, &DataType::Double, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Double, nullable, ""))
}

fn months(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (firsts, seconds, rounds): (Moments, Moments, Booleans) =
        (Rows::of(args, 0)?, Rows::of(args, 1)?, Rows::of(args, 2)?);
    let session = session_zone(args)?;
    let mut zone = session.cursor();
    primitives::<Float64Type>(args, |row| {
        let (Some(first), Some(second), Some(round)) = (firsts.get(row), seconds.get(row), rounds.get(row)) else {
            return Ok(None);
        };
        let day1 = zone.to_local(first).div_euclid(MICROS_PER_DAY);
        let day2 = zone.to_local(second).div_euclid(MICROS_PER_DAY);
        let ((y1, m1, d1), (y2, m2, d2)) = (civil_from_days(day1), civil_from_days(day2));
        let whole = ((y1 * 12 + i64::from(m1)) - (y2 * 12 + i64::from(m2))) as f64;
        let is_last = |y: i64, m: u32, d: u32| d == days_in_month(y, m);
        if d1 == d2 || (is_last(y1, m1, d1) && is_last(y2, m2, d2)) {
            return Ok(Some(whole));
        }
        // Time that has passed since midnight: a change of the clock counts.
        let seconds_of = |moment: i64, day: i64| {
            let midnight = session.to_utc(day.saturating_mul(MICROS_PER_DAY)).unwrap_or(moment);
            moment.saturating_sub(midnight).div_euclid(MICROS_PER_SECOND)
        };
        let rest = (i64::from(d1) - i64::from(d2)) * 86_400 + seconds_of(first, day1) - seconds_of(second, day2);
        let months = whole + rest as f64 / (31.0 * 86_400.0);
        Ok(Some(if round { (months * 1e8).round() / 1e8 } else { months }))
    })
}

/// Monday is 0.
fn day_by_name(name: &str) -> Option<u32> {
    const NAMES: [[&str; 3]; 7] = [
        ["MO", "MON", "MONDAY"],
        ["TU", "TUE", "TUESDAY"],
        ["WE", "WED", "WEDNESDAY"],
        ["TH", "THU", "THURSDAY"],
        ["FR", "FRI", "FRIDAY"],
        ["SA", "SAT", "SATURDAY"],
        ["SU", "SUN", "SUNDAY"],
    ];
    let name = name.trim().to_ascii_uppercase();
    NAMES.iter().position(|names| names.contains(&name.as_str())).map(|p| p as u32)
}

fn next_day(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (dates, names): (Dates, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Date32Type>(args, |row| {
        let Some((date, name)) = dates.get(row).zip(names.get(row)) else { return Ok(None) };
        match day_by_name(name) {
            Some(wanted) => {
                let today = weekday(i64::from(date));
                let ahead = (wanted + 6 - today) % 7 + 1;
                Ok(Some(date.wrapping_add(ahead as i32)))
            }
            None if args.settings.ansi => Err(SparkError::new("ILLEGAL_DAY_OF_WEEK").with("string", name)),
            None => Ok(None),
        }
    })
}

fn last_day(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    super::moment::map_first::<Date32Type, Date32Type>(args, |date| {
        let (year, month, day) = civil(date);
        date.wrapping_add((days_in_month(i64::from(year), month) - day) as i32)
    })
}

/// A day, or Java's message of why there is none.
pub fn checked_date(year: i64, month: i64, day: i64) -> std::result::Result<i64, String> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    if !(-999_999_999..=999_999_999).contains(&year) {
        return Err(format!("Invalid value for Year (valid values -999999999 - 999999999): {year}"));
    }
    if !(1..=12).contains(&month) {
        return Err(format!("Invalid value for MonthOfYear (valid values 1 - 12): {month}"));
    }
    if !(1..=31).contains(&day) {
        return Err(format!("Invalid value for DayOfMonth (valid values 1 - 28/31): {day}"));
    }
    checked_days_from_civil(year, month as u32, day as u32).ok_or_else(|| {
        if day == 29 {
            format!("Invalid date 'February 29' as '{year}' is not a leap year")
        } else {
            format!("Invalid date '{} {day}'", MONTHS[(month - 1) as usize].to_uppercase())
        }
    })
}

/// Spark's error of a field out of its range.
pub fn out_of_bounds(message: impl Into<String>) -> SparkError {
    SparkError::new("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION")
        .with("rangeMessage", message)
        .with("ansiConfig", "\"spark.sql.ansi.enabled\"")
}

fn make_date(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (years, months, days): (Integers, Integers, Integers) =
        (Rows::of(args, 0)?, Rows::of(args, 1)?, Rows::of(args, 2)?);
    primitives::<Date32Type>(args, |row| {
        let (Some(year), Some(month), Some(day)) = (years.get(row), months.get(row), days.get(row)) else {
            return Ok(None);
        };
        let made = checked_date(i64::from(year), i64::from(month), i64::from(day))
            .map_err(out_of_bounds)
            .and_then(|days| i32::try_from(days).map_err(|_| integer_overflow()));
        match made {
            Ok(date) => Ok(Some(date)),
            Err(error) if args.settings.ansi => Err(error),
            Err(_) => Ok(None),
        }
    })
}
