//! Functions of times of day, which exist where `spark.sql.timeType.enabled` says so.

use super::format::Patterns;
use super::make::as_seconds;
use super::moment::argument;
use super::pattern::Use;
use super::truncate::{Unit, unknown_unit};
use crate::cast::parse_datetime::parse_time;
use crate::coercion::{coerce_argument, implicitly};
use crate::scalar::array::typing::unexpected;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Integers, Longs, Rows, Texts, primitives};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::{Decimal128Array, Float64Array, Time64NanosecondArray};
use arrow::datatypes::{Int64Type, Time64NanosecondType};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE};

const TEXT_AND_PATTERN: Signature =
    Signature::with_optional(&[param("str", ArgType::TEXT), param("format", ArgType::TEXT)], 1);
const ONE: Signature = Signature::of(&[param("expr", ArgType::Any)]);

/// Times of day have microseconds.
const TIME: DataType = DataType::Time(6);

function! {
    /// `make_time(hour, minute, second)`
    MAKE_TIME = "make_time" in DateTime,
        Signature::of(&[param("hour", ArgType::Integer), param("minute", ArgType::Integer), param("second", ArgType::Any)])
        => Body::Build(make_time);
    usage "The time of day of an hour, minute and second.";
    since "4.1.0";
    example "SELECT make_time(6, 30, 45.887)" => "06:30:45.887";
}
function! {
    /// `to_time(text[, pattern])`
    TO_TIME = "to_time" in DateTime, TEXT_AND_PATTERN => Body::Build(|c, a| read(&TO_TIME, to_time, c, a));
    usage "The time of day that text says, by a pattern or as in a cast.";
    since "4.1.0";
    example "SELECT to_time('00:12:00')" => "00:12:00";
    example "SELECT to_time('12.10.05', 'HH.mm.ss')" => "12:10:05";
}
function! {
    /// `try_to_time(text[, pattern])`
    TRY_TO_TIME = "try_to_time" in DateTime, TEXT_AND_PATTERN
        => Body::Build(|c, a| read(&TRY_TO_TIME, try_to_time, c, a));
    text |a| format!("try_to_time(to_time({}))", a.join(", "));
    usage "As `to_time`, but NULL where the text says no time.";
    since "4.1.0";
    example "SELECT try_to_time('foo', 'HH:mm:ss')" => "NULL";
}
function! {
    /// `time_diff(unit, start, end)`
    TIME_DIFF = "time_diff" in DateTime,
        Signature::of(&[param("unit", ArgType::String), param("start", ArgType::Any), param("end", ArgType::Any)])
        => Body::Build(time_diff);
    usage "The number of whole units between two times of day.";
    since "4.1.0";
    example "SELECT time_diff('HOUR', TIME'20:30:29', TIME'21:30:28')" => "0";
}

macro_rules! conversions {
    ($($id:ident $name:literal, $build:expr, $usage:literal, $sql:literal => $answer:literal;)+) => {
        $(function! {
            #[doc = $usage]
            $id = $name in DateTime, ONE => Body::Build($build);
            usage $usage;
            since "4.2.0";
            example $sql => $answer;
        })+
    };
}

conversions! {
    TIME_FROM_SECONDS "time_from_seconds", time_from_seconds,
        "The time of day so many seconds after midnight.", "SELECT time_from_seconds(52200.5)" => "14:30:00.5";
    TIME_FROM_MILLIS "time_from_millis", |c, a| time_from_units(&TIME_FROM_MILLIS, of_millis, c, a),
        "The time of day so many milliseconds after midnight.", "SELECT time_from_millis(52200500)" => "14:30:00.5";
    TIME_FROM_MICROS "time_from_micros", |c, a| time_from_units(&TIME_FROM_MICROS, of_micros, c, a),
        "The time of day so many microseconds after midnight.", "SELECT time_from_micros(52200500000)" => "14:30:00.5";
    TIME_TO_SECONDS "time_to_seconds", |c, a| time_to(&TIME_TO_SECONDS, in_seconds, DataType::Decimal(14, 6), c, a),
        "The seconds from midnight to a time of day.", "SELECT time_to_seconds(TIME'14:30:00.5')" => "52200.500000";
    TIME_TO_MILLIS "time_to_millis", |c, a| time_to(&TIME_TO_MILLIS, in_millis, DataType::Long, c, a),
        "The milliseconds from midnight to a time of day.", "SELECT time_to_millis(TIME'14:30:00.5')" => "52200500";
    TIME_TO_MICROS "time_to_micros", |c, a| time_to(&TIME_TO_MICROS, in_micros, DataType::Long, c, a),
        "The microseconds from midnight to a time of day.", "SELECT time_to_micros(TIME'14:30:00.5')" => "52200500000";
}

fn out_of_bounds(message: String) -> SparkError {
    SparkError::new("DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION").with("rangeMessage", message)
}

/// Fails where there are no times of day.
pub fn check_enabled(context: &BuildContext<'_>) -> Result<()> {
    if context.conf.time_type_enabled { Ok(()) } else { Err(SparkError::new("UNSUPPORTED_TIME_TYPE")) }
}

fn call(
    function: &'static Function,
    kernel: KernelFn,
    arguments: &[TypedExpr],
    data_type: DataType,
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let expr = crate::kernel::call(function, kernel, arguments, &data_type, true, context)?;
    Ok(TypedExpr::new(expr, data_type, true, ""))
}

type Times = Rows<Time64NanosecondArray>;

fn make_time(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    check_enabled(context)?;
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = MAKE_TIME.call_text(&names);
    let seconds = as_seconds(argument(&arguments, 2)?, &DataType::Decimal(16, 6), 2, &text, context)?;
    let arguments = [argument(&arguments, 0)?, argument(&arguments, 1)?, seconds];
    call(&MAKE_TIME, of_fields, &arguments, TIME, context)
}

fn of_fields(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (hours, minutes): (Integers, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let seconds: Rows<Decimal128Array> = Rows::of(args, 2)?;
    let within = |value: i64, name: &str, most: i64| match value {
        v if (0..=most).contains(&v) => Ok(()),
        v => Err(out_of_bounds(format!("Invalid value for {name} (valid values 0 - {most}): {v}"))),
    };
    primitives::<Time64NanosecondType>(args, |row| {
        let (Some(hour), Some(minute), Some(micros)) = (hours.get(row), minutes.get(row), seconds.get(row)) else {
            return Ok(None);
        };
        let micros = i64::try_from(micros).map_err(|_| super::moment::long_overflow())?;
        within(i64::from(hour), "HourOfDay", 23)?;
        within(i64::from(minute), "MinuteOfHour", 59)?;
        within(micros.div_euclid(1_000_000), "SecondOfMinute", 59)?;
        let time = i64::from(hour) * MICROS_PER_HOUR + i64::from(minute) * MICROS_PER_MINUTE + micros;
        Ok(Some(time * 1000))
    })
}

fn read(
    function: &'static Function,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    check_enabled(context)?;
    call(function, kernel, &arguments, TIME, context)
}

fn to_time(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    read_times(args, true)
}

fn try_to_time(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    read_times(args, false)
}

fn read_times(args: &KernelArgs<'_>, fails: bool) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let names: Option<Texts> = if args.values.len() > 1 { Some(Rows::of(args, 1)?) } else { None };
    let mut patterns = match &names {
        Some(_) => Some(Patterns::of(args, 1, Use::Parsing)?),
        None => None,
    };
    primitives::<Time64NanosecondType>(args, |row| {
        let Some(text) = values.get(row) else { return Ok(None) };
        let (micros, format) = match (&mut patterns, &names) {
            (Some(patterns), Some(names)) => {
                let (Some(pattern), Some(name)) = (patterns.get(row)?, names.get(row)) else { return Ok(None) };
                (pattern.scan(text).ok().map(|found| found.micros_of_day), name)
            }
            _ => (parse_time(text), "HH:mm:ss.SSSSSS"),
        };
        match micros {
            Some(micros) => Ok(Some(micros * 1000)),
            None if fails => Err(SparkError::new("CANNOT_PARSE_TIME")
                .with("input", format!("'{text}'"))
                .with("format", format!("'{format}'"))),
            None => Ok(None),
        }
    })
}

/// An argument that is a time, or text that a cast makes one.
pub(super) fn as_time(value: TypedExpr, index: usize, text: &str, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    match &value.data_type {
        DataType::Time(_) => Ok(value),
        t if t.is_string() || t.is_null() => implicitly(value, &TIME, context),
        // There is no such cast, which is what the error says.
        t if t.is_datetime() && context.conf.ansi_enabled => implicitly(value, &TIME, context),
        _ => Err(unexpected(text, index, "\"TIME\"", &value)),
    }
}

fn time_diff(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    check_enabled(context)?;
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = TIME_DIFF.call_text(&names);
    let start = as_time(argument(&arguments, 1)?, 1, &text, context)?;
    let end = as_time(argument(&arguments, 2)?, 2, &text, context)?;
    call(&TIME_DIFF, difference, &[argument(&arguments, 0)?, start, end], DataType::Long, context)
}

fn difference(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let units: Texts = Rows::of(args, 0)?;
    let (starts, ends): (Times, Times) = (Rows::of(args, 1)?, Rows::of(args, 2)?);
    primitives::<Int64Type>(args, |row| {
        let (Some(unit), Some(start), Some(end)) = (units.get(row), starts.get(row), ends.get(row)) else {
            return Ok(None);
        };
        let micros = Unit::parse(unit).and_then(Unit::micros).ok_or_else(|| unknown_unit(TIME_DIFF.name, unit))?;
        Ok(Some((end / 1000 - start / 1000) / micros))
    })
}

/// Nanoseconds after midnight as a time of microseconds.
fn time_of(nanos: i128) -> Result<i64> {
    const MOST: i128 = MICROS_PER_DAY as i128 * 1000;
    match i64::try_from(nanos) {
        Ok(time) if (0..MOST).contains(&nanos) => Ok(time / 1000 * 1000),
        _ => Err(out_of_bounds(format!(
            "Invalid TIME value: must be between 00:00:00 and 23:59:59.999999999, but got {nanos} nanoseconds"
        ))),
    }
}

fn time_from_seconds(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    check_enabled(context)?;
    let value = argument(&arguments, 0)?;
    let text = TIME_FROM_SECONDS.call_text(&[value.name.clone()]);
    match &value.data_type {
        DataType::Float | DataType::Double => {
            let value = coerce_argument(value, ArgType::Double, 0, &text, context)?;
            call(&TIME_FROM_SECONDS, of_real_seconds, &[value], TIME, context)
        }
        t if t.is_numeric() || t.is_null() => {
            let value = implicitly(value, &DataType::Decimal(38, 9), context)?;
            call(&TIME_FROM_SECONDS, of_seconds, &[value], TIME, context)
        }
        _ => Err(unexpected(&text, 0, "\"NUMERIC\"", &value)),
    }
}

fn of_seconds(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Rows<Decimal128Array> = Rows::of(args, 0)?;
    primitives::<Time64NanosecondType>(args, |row| values.get(row).map(time_of).transpose())
}

#[allow(clippy::cast_possible_truncation)]
fn of_real_seconds(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Rows<Float64Array> = Rows::of(args, 0)?;
    primitives::<Time64NanosecondType>(args, |row| values.get(row).map(|v| time_of((v * 1e9) as i128)).transpose())
}

fn time_from_units(
    function: &'static Function,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    check_enabled(context)?;
    let value = argument(&arguments, 0)?;
    if !value.data_type.is_integral() && !value.data_type.is_null() {
        return Err(unexpected(&function.call_text(&[value.name.clone()]), 0, "\"INTEGRAL\"", &value));
    }
    let value = implicitly(value, &DataType::Long, context)?;
    call(function, kernel, &[value], TIME, context)
}

fn of_millis(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Longs = Rows::of(args, 0)?;
    primitives::<Time64NanosecondType>(args, |row| {
        values.get(row).map(|v| time_of(i128::from(v) * 1_000_000)).transpose()
    })
}

fn of_micros(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Longs = Rows::of(args, 0)?;
    primitives::<Time64NanosecondType>(args, |row| values.get(row).map(|v| time_of(i128::from(v) * 1000)).transpose())
}

fn time_to(
    function: &'static Function,
    kernel: KernelFn,
    data_type: DataType,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    check_enabled(context)?;
    let value = argument(&arguments, 0)?;
    let value = match &value.data_type {
        DataType::Time(_) => value,
        DataType::Null => implicitly(value, &TIME, context)?,
        _ => return Err(unexpected(&function.call_text(&[value.name.clone()]), 0, "\"TIME\"", &value)),
    };
    call(function, kernel, &[value], data_type, context)
}

fn in_seconds(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    use crate::scalar::string::rows::{finish, internal, row_count};
    let times: Times = Rows::of(args, 0)?;
    let micros: Decimal128Array =
        (0..row_count(args)).map(|row| times.get(row).map(|t| i128::from(t / 1000))).collect();
    finish(args, std::sync::Arc::new(micros.with_precision_and_scale(14, 6).map_err(internal)?))
}

fn in_millis(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let times: Times = Rows::of(args, 0)?;
    primitives::<Int64Type>(args, |row| Ok(times.get(row).map(|t| t / 1_000_000)))
}

fn in_micros(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let times: Times = Rows::of(args, 0)?;
    primitives::<Int64Type>(args, |row| Ok(times.get(row).map(|t| t / 1000)))
}
