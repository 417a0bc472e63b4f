//! Timestamps from and to numbers since 1970-01-01 00:00:00 UTC.

use super::moment::{Moments, argument, long_overflow, timestamps};
use crate::coercion::mismatch;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Doubles, Longs, Rows, primitives};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::Decimal128Array;
use arrow::datatypes::Int64Type;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::DataType;

const TIMESTAMP: Signature = Signature::of(&[param("timestamp", ArgType::Any)]);
const NUMBER: Signature = Signature::of(&[param("number", ArgType::Integral)]);

function! {
    /// `unix_seconds(timestamp)`
    UNIX_SECONDS = "unix_seconds" in DateTime, TIMESTAMP => Body::Build(|c, a| since_epoch(&UNIX_SECONDS, |args| whole(args, 1_000_000), c, a));
    usage "The whole seconds since 1970-01-01 00:00:00 UTC.";
    since "3.1.0";
    example "SELECT unix_seconds(TIMESTAMP('1970-01-01 00:00:01Z'))" => "1";
}
function! {
    /// `unix_millis(timestamp)`
    UNIX_MILLIS = "unix_millis" in DateTime, TIMESTAMP => Body::Build(|c, a| since_epoch(&UNIX_MILLIS, |args| whole(args, 1000), c, a));
    usage "The whole milliseconds since 1970-01-01 00:00:00 UTC.";
    since "3.1.0";
    example "SELECT unix_millis(TIMESTAMP('1970-01-01 00:00:01Z'))" => "1000";
}
function! {
    /// `unix_micros(timestamp)`
    UNIX_MICROS = "unix_micros" in DateTime, TIMESTAMP => Body::Build(|c, a| since_epoch(&UNIX_MICROS, |args| whole(args, 1), c, a));
    usage "The microseconds since 1970-01-01 00:00:00 UTC.";
    since "3.1.0";
    example "SELECT unix_micros(TIMESTAMP('1970-01-01 00:00:01Z'))" => "1000000";
}
function! {
    /// `timestamp_seconds(seconds)`
    TIMESTAMP_SECONDS = "timestamp_seconds" in DateTime, Signature::of(&[param("seconds", ArgType::Any)])
        => Body::Build(timestamp_seconds);
    usage "The timestamp so many seconds, possibly with a fraction, after 1970-01-01 00:00:00 UTC.";
    since "3.1.0";
    example "SELECT timestamp_seconds(1230219000)" => "2008-12-25 07:30:00";
}
function! {
    /// `timestamp_millis(milliseconds)`
    TIMESTAMP_MILLIS = "timestamp_millis" in DateTime, NUMBER => Body::Build(|c, a| of_integral(c, a, "timestamp_millis"));
    usage "The timestamp so many milliseconds after 1970-01-01 00:00:00 UTC.";
    since "3.1.0";
    example "SELECT timestamp_millis(1230219000123)" => "2008-12-25 07:30:00.123";
}
function! {
    /// `timestamp_micros(microseconds)`
    TIMESTAMP_MICROS = "timestamp_micros" in DateTime, NUMBER => Body::Build(|c, a| of_integral(c, a, "timestamp_micros"));
    usage "The timestamp so many microseconds after 1970-01-01 00:00:00 UTC.";
    since "3.1.0";
    example "SELECT timestamp_micros(1230219000123123)" => "2008-12-25 07:30:00.123123";
}

/// A number since the epoch; only timestamps have one, without a cast.
fn since_epoch(
    function: &Function,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let moment = argument(&arguments, 0)?;
    let call = function.call_text(&[moment.name.clone()]);
    if !matches!(moment.data_type, DataType::Timestamp | DataType::Null) {
        return Err(mismatch::unexpected_input(&call, 0, ArgType::Timestamp, &moment));
    }
    let moment = crate::coercion::implicitly(moment, &DataType::Timestamp, context)?;
    let nullable = moment.nullable;
    let expr = crate::kernel::call(function, kernel, &[moment], &DataType::Long, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Long, nullable, call))
}

fn whole(args: &KernelArgs<'_>, unit: i64) -> Result<ColumnarValue> {
    let moments: Moments = Rows::of(args, 0)?;
    primitives::<Int64Type>(args, |row| Ok(moments.get(row).map(|m| m.div_euclid(unit))))
}

fn of_integral(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>, name: &str) -> Result<TypedExpr> {
    let number = crate::coercion::implicitly(argument(&arguments, 0)?, &DataType::Long, context)?;
    let (function, kernel): (_, crate::KernelFn) = match name {
        "timestamp_millis" => (&TIMESTAMP_MILLIS, |args| scaled(args, 1000)),
        "timestamp_micros" => (&TIMESTAMP_MICROS, |args| scaled(args, 1)),
        _ => (&TIMESTAMP_SECONDS, |args| scaled(args, 1_000_000)),
    };
    let nullable = number.nullable;
    let expr = crate::kernel::call(function, kernel, &[number], &DataType::Timestamp, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Timestamp, nullable, ""))
}

fn scaled(args: &KernelArgs<'_>, unit: i64) -> Result<ColumnarValue> {
    let numbers: Longs = Rows::of(args, 0)?;
    timestamps(args, |row| numbers.get(row).map(|n| n.checked_mul(unit).ok_or_else(long_overflow)).transpose())
}

fn timestamp_seconds(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let seconds = argument(&arguments, 0)?;
    let (seconds, kernel): (_, crate::KernelFn) = match seconds.data_type {
        DataType::Float | DataType::Double => {
            (crate::coercion::implicitly(seconds, &DataType::Double, context)?, of_double)
        }
        DataType::Decimal(..) => (seconds, of_decimal),
        DataType::Null => (crate::coercion::implicitly(seconds, &DataType::Double, context)?, of_double),
        ref t if t.is_integral() => return of_integral(context, vec![seconds], "timestamp_seconds"),
        _ => {
            let call = TIMESTAMP_SECONDS.call_text(&[seconds.name.clone()]);
            return Err(mismatch::unexpected_input(&call, 0, ArgType::Numeric, &seconds));
        }
    };
    let nullable = seconds.nullable || seconds.data_type == DataType::Double;
    let expr = crate::kernel::call(&TIMESTAMP_SECONDS, kernel, &[seconds], &DataType::Timestamp, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Timestamp, nullable, ""))
}

fn of_double(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let seconds: Doubles = Rows::of(args, 0)?;
    timestamps(args, |row| Ok(seconds.get(row).filter(|s| s.is_finite()).map(|s| (s * 1e6) as i64)))
}

fn of_decimal(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let seconds: Rows<Decimal128Array> = Rows::of(args, 0)?;
    let scale = match args.types.first() {
        Some(DataType::Decimal(_, scale)) => i32::from(*scale),
        _ => 0,
    };
    timestamps(args, |row| {
        let Some(value) = seconds.get(row) else { return Ok(None) };
        let micros = if scale <= 6 {
            value.checked_mul(10_i128.pow((6 - scale).unsigned_abs()))
        } else {
            let unit = 10_i128.pow((scale - 6).unsigned_abs());
            if value % unit != 0 {
                return Err(SparkError::plain(ExceptionClass::Arithmetic, "Rounding necessary"));
            }
            Some(value / unit)
        };
        micros
            .and_then(|m| i64::try_from(m).ok())
            .map(Some)
            .ok_or_else(|| SparkError::plain(ExceptionClass::Arithmetic, "Overflow"))
    })
}
