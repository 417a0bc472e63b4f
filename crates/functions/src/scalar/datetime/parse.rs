//! Dates and timestamps from text.

use super::format::{DEFAULT_PATTERN, Patterns, default_pattern, policy_mark, policy_of};
use super::moment::{Moments, argument, labelled, session_zone};
use super::pattern::Use;
use super::scan::Scanned;
use crate::cast::{Mode, cast};
use crate::coercion::{coerce_argument, implicitly, mismatch};
use crate::kernel::kernel;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, Texts, finish, primitives, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Date32Array, Int64Array, TimestampMicrosecondArray};
use arrow::datatypes::Int64Type;
use datafusion::logical_expr::{ColumnarValue, Expr};
use datafusion::scalar::ScalarValue;
use firesteel_config::{TimeParserPolicy, TimestampType};
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::MICROS_PER_SECOND;
use firesteel_types::{DataType, TimeZone};
use std::sync::Arc;

const TIME_OR_TEXT: ArgType =
    ArgType::OneOf(&[ArgType::String, ArgType::Date, ArgType::Timestamp, ArgType::TimestampNtz]);
const TEXT_AND_PATTERN: Signature =
    Signature::with_optional(&[param("expr", ArgType::Any), param("fmt", ArgType::String)], 1);

function! {
    /// `to_date(text[, pattern])`
    TO_DATE = "to_date" in DateTime, TEXT_AND_PATTERN
        => Body::Build(|c, a| convert(&TO_DATE, DataType::Date, false, c, a));
    usage "The date that text says, by a pattern or as in a cast.";
    since "1.5.0";
    example "SELECT to_date('2009-07-30 04:17:52')" => "2009-07-30";
    example "SELECT to_date('2016-12-31', 'yyyy-MM-dd')" => "2016-12-31";
}
function! {
    /// `try_to_date(text[, pattern])`
    TRY_TO_DATE = "try_to_date" in DateTime, TEXT_AND_PATTERN
        => Body::Build(|c, a| convert(&TRY_TO_DATE, DataType::Date, true, c, a));
    usage "As `to_date`, but NULL where the text says no date.";
    since "4.0.0";
    example "SELECT try_to_date('foo', 'yyyy-MM-dd')" => "NULL";
}
function! {
    /// `to_timestamp(text[, pattern])`
    TO_TIMESTAMP = "to_timestamp" in DateTime, TEXT_AND_PATTERN
        => Body::Build(|c, a| { let t = default_type(c); convert(&TO_TIMESTAMP, t, false, c, a) });
    usage "The timestamp that text says, by a pattern or as in a cast.";
    since "2.2.0";
    example "SELECT to_timestamp('2016-12-31 00:12:00')" => "2016-12-31 00:12:00";
    example "SELECT to_timestamp('2016-12-31', 'yyyy-MM-dd')" => "2016-12-31 00:00:00";
}
function! {
    /// `try_to_timestamp(text[, pattern])`
    TRY_TO_TIMESTAMP = "try_to_timestamp" in DateTime, TEXT_AND_PATTERN
        => Body::Build(|c, a| { let t = default_type(c); convert(&TRY_TO_TIMESTAMP, t, true, c, a) });
    usage "As `to_timestamp`, but NULL where the text says no timestamp.";
    since "3.5.0";
    example "SELECT try_to_timestamp('foo', 'yyyy-MM-dd')" => "NULL";
}
function! {
    /// `to_timestamp_ltz(text[, pattern])`
    TO_TIMESTAMP_LTZ = "to_timestamp_ltz" in DateTime, TEXT_AND_PATTERN
        => Body::Build(|c, a| convert(&TO_TIMESTAMP_LTZ, DataType::Timestamp, false, c, a));
    usage "The moment that text says, by a pattern or as in a cast.";
    since "3.4.0";
    example "SELECT to_timestamp_ltz('2016-12-31', 'yyyy-MM-dd')" => "2016-12-31 00:00:00";
}
function! {
    /// `to_timestamp_ntz(text[, pattern])`
    TO_TIMESTAMP_NTZ = "to_timestamp_ntz" in DateTime, TEXT_AND_PATTERN
        => Body::Build(|c, a| convert(&TO_TIMESTAMP_NTZ, DataType::TimestampNtz, false, c, a));
    usage "The wall clock's time that text says, by a pattern or as in a cast.";
    since "3.4.0";
    example "SELECT to_timestamp_ntz('2016-12-31', 'yyyy-MM-dd')" => "2016-12-31 00:00:00";
}
function! {
    /// `unix_timestamp([time[, pattern]])`
    UNIX_TIMESTAMP = "unix_timestamp" in DateTime,
        Signature::with_optional(&[param("timeExp", ArgType::Any), param("fmt", ArgType::TEXT)], 2)
        => Body::Build(|c, a| seconds(&UNIX_TIMESTAMP, c, a));
    text |a| seconds_text("unix_timestamp", a);
    usage "The seconds since 1970-01-01 00:00:00 UTC of a time, or of now.";
    since "1.5.0";
    example "SELECT unix_timestamp('2016-04-08', 'yyyy-MM-dd')" => "1460041200";
}
function! {
    /// `to_unix_timestamp(time[, pattern])`
    TO_UNIX_TIMESTAMP = "to_unix_timestamp" in DateTime,
        Signature::with_optional(&[param("timeExp", ArgType::Any), param("fmt", ArgType::TEXT)], 1)
        => Body::Build(|c, a| seconds(&TO_UNIX_TIMESTAMP, c, a));
    text |a| seconds_text("to_unix_timestamp", a);
    usage "The seconds since 1970-01-01 00:00:00 UTC of a time.";
    since "1.6.0";
    example "SELECT to_unix_timestamp('2016-04-08', 'yyyy-MM-dd')" => "1460098800";
}

fn seconds_text(name: &str, arguments: &[String]) -> String {
    match arguments {
        [] => format!("{name}(current_timestamp(), {DEFAULT_PATTERN})"),
        [time] => format!("{name}({time}, {DEFAULT_PATTERN})"),
        all => format!("{name}({})", all.join(", ")),
    }
}

fn default_type(context: &BuildContext<'_>) -> DataType {
    match context.conf.timestamp_type {
        TimestampType::Ltz => DataType::Timestamp,
        TimestampType::Ntz => DataType::TimestampNtz,
    }
}

/// What a failure to read text does.
fn mode(is_try: bool, context: &BuildContext<'_>) -> Mode {
    if is_try { Mode::Try } else { Mode::of_session(context.conf) }
}

/// The payload of a call that reads text: the mode, and the policy. Wall clocks' times have one way only.
fn payload(mode: Mode, target: &DataType, context: &BuildContext<'_>) -> Arc<str> {
    match target {
        DataType::TimestampNtz => Arc::from(mode.name()),
        _ => Arc::from(format!("{}{}", mode.name(), policy_mark(context))),
    }
}

fn convert(
    function: &Function,
    target: DataType,
    is_try: bool,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let value = argument(&arguments, 0)?;
    let takes_numbers = target == DataType::Timestamp;
    let is_kept = value.data_type.is_datetime()
        || value.data_type.is_string()
        || value.data_type.is_null()
        || (takes_numbers && value.data_type.is_numeric() && arguments.len() == 1);
    let value = if is_kept {
        value
    } else {
        let call = function.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
        coerce_argument(value, TIME_OR_TEXT, 0, &call, context)?
    };
    let mode = mode(is_try, context);
    let is_text = value.data_type.is_string() || value.data_type.is_null();
    if arguments.len() == 1 || (!is_text && target == DataType::Date) {
        let mode = if value.data_type.is_string() { mode } else { Mode::of_session(context.conf) };
        let made = cast(value, &target, mode, context)?;
        let nullable = made.nullable || (arguments.len() > 1 && (is_try || mode != Mode::Ansi));
        return Ok(TypedExpr { nullable, ..made });
    }
    let pattern = argument(&arguments, 1)?;
    if !is_text {
        return relabelled(value, &pattern, target, mode, context);
    }
    let value = implicitly(value, &DataType::STRING, context)?;
    let nullable = mode != Mode::Ansi || value.nullable || pattern.nullable;
    let payload = Some(payload(mode, &target, context));
    let arguments = [value, pattern];
    let expr = crate::kernel::call_with_payload(function, read, &arguments, &target, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, target, nullable, ""))
}

/// The kernel of timestamps that take another type as they are.
pub static SAME_MICROS: Function = kernel("relabelled_timestamp", same_micros);

/// A timestamp beside a pattern: its microseconds are kept, whichever of the two types it has; dates begin in the
/// session's zone.
fn relabelled(
    value: TypedExpr,
    pattern: &TypedExpr,
    target: DataType,
    mode: Mode,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    let nullable = mode != Mode::Ansi || value.nullable || pattern.nullable;
    let value = match value.data_type {
        DataType::Date => implicitly(value, &DataType::Timestamp, context)?,
        _ => value,
    };
    let expr = crate::kernel::call(&SAME_MICROS, same_micros, &[value], &target, nullable, context)?;
    Ok(TypedExpr::new(expr, target, nullable, ""))
}

fn same_micros(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let moments: Moments = Rows::of(args, 0)?;
    super::moment::timestamps(args, |row| Ok(moments.get(row)))
}

fn cannot_parse(message: String, return_type: &DataType) -> SparkError {
    let function = if *return_type == DataType::Date { "`try_to_date`" } else { "`try_to_timestamp`" };
    SparkError::new("CANNOT_PARSE_TIMESTAMP").with("message", message).with("func", function)
}

/// The zone of text without one.
fn zone(args: &KernelArgs<'_>) -> Result<TimeZone> {
    session_zone(args)
}

/// What each row's text says, by its pattern.
fn scanned(args: &KernelArgs<'_>, mut take: impl FnMut(Option<Scanned>) -> Result<bool>) -> Result<()> {
    let values: Texts = Rows::of(args, 0)?;
    let is_local = *args.return_type == DataType::TimestampNtz;
    let mut patterns = Patterns::of(args, 1, if is_local { Use::ParsingLocal } else { Use::Parsing })?;
    let mode = args.settings.payload.as_deref().and_then(|payload| payload.split('/').next());
    let fails = mode == Some(Mode::Ansi.name());
    let is_watched = policy_of(args) == TimeParserPolicy::Exception;
    let beyond = || super::moment::long_overflow();
    for row in 0..row_count(args) {
        let (Some(text), Some(pattern)) = (values.get(row), patterns.get(row)?) else {
            take(None)?;
            continue;
        };
        match pattern.scan(text) {
            Ok(found) => {
                if !take(Some(found))? {
                    if fails {
                        return Err(beyond());
                    }
                    take(None)?;
                }
            }
            Err(_) if is_watched && patterns.would_be_read(row, text) => {
                return Err(SparkError::new("INCONSISTENT_BEHAVIOR_CROSS_VERSION.PARSE_DATETIME_BY_NEW_PARSER")
                    .with("datetime", format!("'{text}'"))
                    .with("config", "\"spark.sql.legacy.timeParserPolicy\""));
            }
            Err(message) if fails => return Err(cannot_parse(message, args.return_type)),
            Err(_) => {
                take(None)?;
            }
        }
    }
    Ok(())
}

fn read(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let zone = zone(args)?;
    if *args.return_type == DataType::Date {
        let mut out = Date32Array::builder(row_count(args));
        scanned(args, |found| {
            let day = found.map(|f| i32::try_from(f.day));
            match day {
                Some(Err(_)) => return Ok(false),
                Some(Ok(day)) => out.append_value(day),
                None => out.append_null(),
            }
            Ok(true)
        })?;
        return finish(args, Arc::new(out.finish()));
    }
    let is_local = *args.return_type == DataType::TimestampNtz;
    let mut out = TimestampMicrosecondArray::builder(row_count(args));
    scanned(args, |found| {
        match found.map(|f| if is_local { f.local() } else { f.instant(zone) }) {
            Some(None) => return Ok(false),
            Some(Some(micros)) => out.append_value(micros),
            None => out.append_null(),
        }
        Ok(true)
    })?;
    finish(args, labelled(out.finish(), args.return_type))
}

fn seconds(function: &Function, context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if arguments.is_empty() {
        let now = ScalarValue::Int64(Some(context.query_time.micros().div_euclid(MICROS_PER_SECOND)));
        return Ok(TypedExpr::new(Expr::Literal(now, None), DataType::Long, false, ""));
    }
    if arguments.len() == 1 {
        arguments.push(default_pattern());
    }
    let call = function.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let (value, pattern) = (argument(&arguments, 0)?, argument(&arguments, 1)?);
    if !(value.data_type.is_string() || value.data_type.is_datetime() || value.data_type.is_null()) {
        return Err(mismatch::unexpected_input(&call, 0, TIME_OR_TEXT, &value));
    }
    let value = if value.data_type.is_null() { implicitly(value, &DataType::STRING, context)? } else { value };
    let value = match value.data_type {
        DataType::Date => coerce_argument(value, ArgType::Timestamp, 0, &call, context)?,
        _ => value,
    };
    let mode = Mode::of_session(context.conf);
    let nullable = mode != Mode::Ansi || value.nullable || pattern.nullable;
    let payload = Some(payload(mode, &DataType::Timestamp, context));
    let kernel: crate::KernelFn = if value.data_type.is_string() { read_seconds } else { seconds_of };
    let arguments = [value, pattern];
    let data_type = DataType::Long;
    let expr = crate::kernel::call_with_payload(function, kernel, &arguments, &data_type, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, nullable, call))
}

fn read_seconds(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let zone = zone(args)?;
    let mut out = Int64Array::builder(row_count(args));
    scanned(args, |found| {
        match found.map(|f| f.instant(zone)) {
            Some(None) => return Ok(false),
            Some(Some(micros)) => out.append_value(micros.div_euclid(MICROS_PER_SECOND)),
            None => out.append_null(),
        }
        Ok(true)
    })?;
    finish(args, Arc::new(out.finish()))
}

fn seconds_of(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let moments: Moments = Rows::of(args, 0)?;
    primitives::<Int64Type>(args, |row| Ok(moments.get(row).map(|m| m / MICROS_PER_SECOND)))
}
