//! Functions that give times of day, which Spark 4.2 has switched off.

use crate::scalar::string::declare::{function, param};
use crate::{ArgType, Body, BuildContext, Signature, TypedExpr};
use firesteel_error::{Result, SparkError};

function! {
    /// `make_time(hour, minute, second)`
    MAKE_TIME = "make_time" in DateTime,
        Signature::of(&[param("hour", ArgType::Any), param("minute", ArgType::Any), param("second", ArgType::Any)])
        => Body::Build(switched_off);
    usage "The time of day of an hour, minute and second.";
    since "4.1.0";
}
function! {
    /// `to_time(text[, pattern])`
    TO_TIME = "to_time" in DateTime,
        Signature::with_optional(&[param("str", ArgType::Any), param("format", ArgType::Any)], 1)
        => Body::Build(switched_off);
    usage "The time of day that text says.";
    since "4.1.0";
}
function! {
    /// `try_to_time(text[, pattern])`
    TRY_TO_TIME = "try_to_time" in DateTime,
        Signature::with_optional(&[param("str", ArgType::Any), param("format", ArgType::Any)], 1)
        => Body::Build(switched_off);
    usage "The time of day that text says; NULL where it says none.";
    since "4.1.0";
}
function! {
    /// `time_diff(unit, start, end)`
    TIME_DIFF = "time_diff" in DateTime,
        Signature::of(&[param("unit", ArgType::Any), param("start", ArgType::Any), param("end", ArgType::Any)])
        => Body::Build(switched_off);
    usage "The number of whole units between two times of day.";
    since "4.1.0";
}

fn switched_off(_: &mut BuildContext<'_>, _: Vec<TypedExpr>) -> Result<TypedExpr> {
    Err(SparkError::new("UNSUPPORTED_TIME_TYPE"))
}
