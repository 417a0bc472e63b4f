//! The time at which the query started.

use super::moment::argument;
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, param};
use crate::{ArgType, Body, BuildContext, Signature, TypedExpr};
use datafusion::logical_expr::Expr;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::MICROS_PER_DAY;
use firesteel_types::{DataType, TimeZone, arrow_mapping};

function! {
    /// `current_date()`
    CURRENT_DATE = "current_date" or "curdate" in DateTime, Signature::NONE => Body::Build(current_date);
    usage "The date at the start of the query, in the session's time zone.";
    since "1.5.0";
}
function! {
    /// `current_timestamp()`
    CURRENT_TIMESTAMP = "current_timestamp" in DateTime, Signature::NONE => Body::Build(current_timestamp);
    usage "The moment of the start of the query.";
    since "1.5.0";
}
function! {
    /// `now()`
    NOW = "now" in DateTime, Signature::NONE => Body::Build(current_timestamp);
    usage "The moment of the start of the query.";
    since "1.6.0";
}
function! {
    /// `localtimestamp()`
    LOCALTIMESTAMP = "localtimestamp" in DateTime, Signature::NONE => Body::Build(local_timestamp);
    usage "The wall clock's time at the start of the query, in the session's time zone.";
    since "3.4.0";
}
function! {
    /// `current_timezone()`
    CURRENT_TIMEZONE = "current_timezone" in DateTime, Signature::NONE => Body::Build(current_timezone);
    usage "The session's time zone.";
    since "3.1.0";
    example "SELECT current_timezone()" => "Asia/Shanghai";
}
function! {
    /// `current_time([precision])`
    CURRENT_TIME = "current_time" in DateTime, Signature::with_optional(&[param("precision", ArgType::Integer)], 1)
        => Body::Build(current_time);
    text |a| format!("current_time({})", a.first().map_or("6", String::as_str));
    usage "The time of day at the start of the query, in the session's time zone, with so many digits of a second.";
    since "4.1.0";
}

fn local(context: &BuildContext<'_>) -> Result<i64> {
    Ok(TimeZone::parse(&context.conf.time_zone)?.to_local(context.query_time.micros()))
}

fn constant(value: ScalarValue, data_type: DataType) -> TypedExpr {
    TypedExpr::new(Expr::Literal(value, None), data_type, false, "")
}

fn current_date(context: &mut BuildContext<'_>, _: Vec<TypedExpr>) -> Result<TypedExpr> {
    let day = local(context)?.div_euclid(MICROS_PER_DAY);
    Ok(constant(ScalarValue::Date32(Some(day as i32)), DataType::Date))
}

fn current_timestamp(context: &mut BuildContext<'_>, _: Vec<TypedExpr>) -> Result<TypedExpr> {
    let zone = Some(arrow_mapping::ENGINE_TIME_ZONE.into());
    Ok(constant(ScalarValue::TimestampMicrosecond(Some(context.query_time.micros()), zone), DataType::Timestamp))
}

fn local_timestamp(context: &mut BuildContext<'_>, _: Vec<TypedExpr>) -> Result<TypedExpr> {
    Ok(constant(ScalarValue::TimestampMicrosecond(Some(local(context)?), None), DataType::TimestampNtz))
}

fn current_timezone(context: &mut BuildContext<'_>, _: Vec<TypedExpr>) -> Result<TypedExpr> {
    Ok(constant(ScalarValue::Utf8(Some(context.conf.time_zone_text.clone())), DataType::STRING))
}

fn current_time(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let precision = match argument(&arguments, 0) {
        Err(_) => 6,
        Ok(given) => constant::value_of(&given)?.as_ref().and_then(constant::integer_of).unwrap_or(-1),
    };
    let Some(digits) = u8::try_from(precision).ok().filter(|d| *d <= 6) else {
        return Err(SparkError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
            .with("sqlExpr", format!("\"current_time({precision})\""))
            .with("exprName", "precision")
            .with("valueRange", "[0, 6]")
            .with("currentValue", precision.to_string()));
    };
    let unit = 10_i64.pow(u32::from(6 - digits));
    let micros = local(context)?.rem_euclid(MICROS_PER_DAY);
    let nanos = micros / unit * unit * 1000;
    Ok(constant(ScalarValue::Time64Nanosecond(Some(nanos)), DataType::Time(digits)))
}
