//! Fields of dates and times.

use super::civil::civil;
use super::moment::{Moments, argument, map_first, zone_of};
use crate::coercion::{coerce_argument, implicitly};
use crate::scalar::string::declare::{function, param, strict};
use crate::scalar::string::rows::{Rows, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::{Int32Array, StringBuilder, Time64NanosecondArray};
use arrow::datatypes::{Date32Type, Int32Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use firesteel_types::calendar::{MICROS_PER_SECOND, days_from_civil, weekday as weekday_of};
use std::sync::Arc;

const DATE: Signature = Signature::of(&[param("date", ArgType::Date)]);
const MOMENT: Signature = Signature::of(&[param("timestamp", ArgType::Any)]);

fn of_date(args: &KernelArgs<'_>, f: impl Fn(i32) -> i32) -> Result<ColumnarValue> {
    map_first::<Date32Type, Int32Type>(args, f)
}

function! {
    /// `year(date)`
    YEAR = "year" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, |d| civil(d).0));
    usage "The year of a date.";
    since "1.5.0";
    example "SELECT year('2016-07-30')" => "2016";
}
function! {
    /// `month(date)`
    MONTH = "month" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, |d| civil(d).1 as i32));
    usage "The month of a date, from 1 to 12.";
    since "1.5.0";
    example "SELECT month('2016-07-30')" => "7";
}
function! {
    /// `day(date)`
    DAY = "day" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, |d| civil(d).2 as i32));
    usage "The day of the month of a date.";
    since "1.5.0";
    example "SELECT day('2009-07-30')" => "30";
}
function! {
    /// `dayofmonth(date)`
    DAYOFMONTH = "dayofmonth" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, |d| civil(d).2 as i32));
    usage "The day of the month of a date.";
    since "1.5.0";
    example "SELECT dayofmonth('2009-07-30')" => "30";
}
function! {
    /// `dayofweek(date)`
    DAYOFWEEK = "dayofweek" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, day_of_week));
    usage "The day of the week of a date: 1 is Sunday, 7 is Saturday.";
    since "2.3.0";
    example "SELECT dayofweek('2009-07-30')" => "5";
}
function! {
    /// `dayofyear(date)`
    DAYOFYEAR = "dayofyear" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, day_of_year));
    usage "The day of the year of a date, from 1.";
    since "1.5.0";
    example "SELECT dayofyear('2016-04-09')" => "100";
}
function! {
    /// `weekday(date)`
    WEEKDAY = "weekday" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, |d| weekday_of(i64::from(d)) as i32));
    usage "The day of the week of a date: 0 is Monday, 6 is Sunday.";
    since "2.4.0";
    example "SELECT weekday('2009-07-30')" => "3";
}
function! {
    /// `weekofyear(date)`
    WEEKOFYEAR = "weekofyear" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, |d| iso_week(d).1));
    usage "The week of the year of a date. Weeks start on Monday, and the first has more than 3 days of the year.";
    since "1.5.0";
    example "SELECT weekofyear('2008-02-20')" => "8";
}
function! {
    /// `quarter(date)`
    QUARTER = "quarter" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, |d| (civil(d).1 as i32 + 2) / 3));
    usage "The quarter of the year of a date, from 1 to 4.";
    since "1.5.0";
    example "SELECT quarter('2016-08-31')" => "3";
}
function! {
    /// `year_of_week(date)`
    YEAR_OF_WEEK = "year_of_week" in DateTime, DATE => strict(DataType::Integer, |args| of_date(args, |d| iso_week(d).0));
    usage "The year that the week of a date belongs to.";
    since "3.0.0";
}
function! {
    /// `dayname(date)`
    DAYNAME = "dayname" in DateTime, DATE => strict(DataType::STRING, |args| names(args, day_name));
    usage "The three-letter name of a date's day of the week.";
    since "4.0.0";
    example "SELECT dayname(DATE'2008-02-20')" => "Wed";
}
function! {
    /// `monthname(date)`
    MONTHNAME = "monthname" in DateTime, DATE => strict(DataType::STRING, |args| names(args, month_name));
    usage "The three-letter name of a date's month.";
    since "4.0.0";
    example "SELECT monthname('2008-02-20')" => "Feb";
}
function! {
    /// `hour(timestamp or time)`
    HOUR = "hour" in DateTime, MOMENT => Body::Build(|context, arguments| clock(&HOUR, hour_kernel, context, arguments));
    usage "The hour of a timestamp or a time.";
    since "1.5.0";
    example "SELECT hour('2009-07-30 12:58:59')" => "12";
}
function! {
    /// `minute(timestamp or time)`
    MINUTE = "minute" in DateTime, MOMENT => Body::Build(|context, arguments| clock(&MINUTE, minute_kernel, context, arguments));
    usage "The minute of a timestamp or a time.";
    since "1.5.0";
    example "SELECT minute('2009-07-30 12:58:59')" => "58";
}
function! {
    /// `second(timestamp or time)`
    SECOND = "second" in DateTime, MOMENT => Body::Build(|context, arguments| clock(&SECOND, second_kernel, context, arguments));
    usage "The second of a timestamp or a time.";
    since "1.5.0";
    example "SELECT second('2009-07-30 12:58:59')" => "59";
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

fn day_name(day: i32) -> &'static str {
    DAYS[weekday_of(i64::from(day)) as usize % 7]
}

fn month_name(day: i32) -> &'static str {
    MONTHS[(civil(day).1 as usize + 11) % 12]
}

fn names(args: &KernelArgs<'_>, name: fn(i32) -> &'static str) -> Result<ColumnarValue> {
    let dates: super::moment::Dates = Rows::of(args, 0)?;
    let count = row_count(args);
    let mut out = StringBuilder::with_capacity(count, count * 3);
    for row in 0..count {
        out.append_option(dates.get(row).map(name));
    }
    finish(args, Arc::new(out.finish()))
}

/// 1 is Sunday.
pub fn day_of_week(day: i32) -> i32 {
    (i64::from(day) + 4).rem_euclid(7) as i32 + 1
}

/// The day of the year, from 1.
pub fn day_of_year(day: i32) -> i32 {
    (i64::from(day) - days_from_civil(i64::from(civil(day).0), 1, 1)) as i32 + 1
}

/// The year and the week that a day belongs to by ISO 8601.
pub fn iso_week(day: i32) -> (i32, i32) {
    // The week belongs to the year of its Thursday.
    let thursday = i64::from(day) - i64::from(weekday_of(i64::from(day))) + 3;
    let year = firesteel_types::calendar::civil_from_days(thursday).0;
    let start = days_from_civil(year, 1, 1);
    (year as i32, ((thursday - start) / 7) as i32 + 1)
}

/// A field of the wall clock: of a TIME as it is, of anything else as a timestamp.
fn clock(
    function: &Function,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let value = argument(&arguments, 0)?;
    let call = function.call_text(&[value.name.clone()]);
    let value = match value.data_type {
        DataType::Time(_) => {
            super::time::check_enabled(context)?;
            value
        }
        DataType::Date => implicitly(value, &DataType::Timestamp, context)?,
        _ => coerce_argument(value, ArgType::AnyTimestamp, 0, &call, context)?,
    };
    let nullable = value.nullable;
    let expr = crate::kernel::call(function, kernel, &[value], &DataType::Integer, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Integer, nullable, call))
}

/// Seconds of the day of each value, as a field.
fn of_clock(args: &KernelArgs<'_>, field: impl Fn(i64) -> i64) -> Result<ColumnarValue> {
    const DAY: i64 = 86_400;
    if matches!(args.types.first(), Some(DataType::Time(_))) {
        let times: Rows<Time64NanosecondArray> = Rows::of(args, 0)?;
        let made: Int32Array =
            (0..row_count(args)).map(|row| times.get(row).map(|t| field(t / 1_000_000_000) as i32)).collect();
        return finish(args, Arc::new(made));
    }
    let moments: Moments = Rows::of(args, 0)?;
    let mut zone = zone_of(args, 0)?.cursor();
    let made: Int32Array = (0..row_count(args))
        .map(|row| {
            let seconds = moments.get(row)?.div_euclid(MICROS_PER_SECOND);
            let local = seconds + i64::from(zone.offset_at(seconds));
            Some(field(local.rem_euclid(DAY)) as i32)
        })
        .collect();
    finish(args, Arc::new(made))
}

fn hour_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    of_clock(args, |s| s / 3600)
}

fn minute_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    of_clock(args, |s| s / 60 % 60)
}

fn second_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    of_clock(args, |s| s % 60)
}
