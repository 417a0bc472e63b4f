//! Magnitude and sign.

use crate::scalar::string::declare::{function, lenient, param, same_type};
use crate::scalar::string::rows::{array_or_constant, downcast, finish, internal};
use crate::{ArgType, KernelArgs, Signature};
use arrow::array::types::{ArrowPrimitiveType, DurationMicrosecondType, IntervalYearMonthType};
use arrow::array::{ArrayRef, Decimal128Array, Float32Array, Float64Array, PrimitiveArray};
use arrow::datatypes::{DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type, IntervalUnit, TimeUnit};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

const MAGNITUDE: Signature = Signature::of(&[param("expr", ArgType::OneOf(&[ArgType::Numeric, ArgType::AnyInterval]))]);
const SIGN: Signature = Signature::of(&[param("expr", ArgType::OneOf(&[ArgType::Double, ArgType::AnyInterval]))]);

function! {
    /// `abs(expr)`
    ABS = "abs" in Math, MAGNITUDE => same_type(abs);
    usage "The magnitude of a number or an interval.";
    since "1.2.0";
    example "SELECT abs(-1)" => "1";
}
function! {
    /// `sign(expr)`
    SIGN_OF = "sign" in Math, SIGN => lenient(DataType::Double, sign);
    usage "-1, 0 or 1 as `expr` is negative, zero or positive.";
    since "1.4.0";
    example "SELECT sign(40)" => "1.0";
}
function! {
    /// `signum(expr)`
    SIGNUM = "signum" in Math, SIGN => lenient(DataType::Double, sign);
    text |a| format!("SIGNUM({})", a.join(", "));
    usage "-1, 0 or 1 as `expr` is negative, zero or positive.";
    since "1.4.0";
    example "SELECT signum(40)" => "1.0";
}

/// The error of an arithmetic result that does not fit.
pub fn overflow(message: &str, ansi: bool) -> SparkError {
    let error = SparkError::new("ARITHMETIC_OVERFLOW").with("message", message).with("alternative", "");
    if ansi { error.with("config", "\"spark.sql.ansi.enabled\"") } else { error }
}

fn integers<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    wraps: bool,
    abs: impl Fn(T::Native) -> (T::Native, bool),
) -> Result<ArrayRef> {
    let array = downcast::<PrimitiveArray<T>>(array)?;
    let result: PrimitiveArray<T> = array.try_unary(|x| match abs(x) {
        (value, overflowed) if wraps || !overflowed => Ok(value),
        _ => Err(overflow("overflow", true)),
    })?;
    Ok(Arc::new(result))
}

fn abs(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let wraps = !args.settings.ansi;
    let result: ArrayRef = match array.data_type() {
        ArrowType::Int8 => {
            integers::<Int8Type>(&array, wraps, |x| if x < 0 { x.overflowing_neg() } else { (x, false) })?
        }
        ArrowType::Int16 => {
            integers::<Int16Type>(&array, wraps, |x| if x < 0 { x.overflowing_neg() } else { (x, false) })?
        }
        ArrowType::Int32 => {
            integers::<Int32Type>(&array, wraps, |x| if x < 0 { x.overflowing_neg() } else { (x, false) })?
        }
        ArrowType::Int64 => {
            integers::<Int64Type>(&array, wraps, |x| if x < 0 { x.overflowing_neg() } else { (x, false) })?
        }
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            integers::<IntervalYearMonthType>(&array, false, |x| if x < 0 { x.overflowing_neg() } else { (x, false) })?
        }
        ArrowType::Duration(TimeUnit::Microsecond) => {
            integers::<DurationMicrosecondType>(
                &array,
                false,
                |x| if x < 0 { x.overflowing_neg() } else { (x, false) },
            )?
        }
        ArrowType::Float32 => {
            let floats: Float32Array = downcast::<Float32Array>(&array)?.unary(f32::abs);
            Arc::new(floats)
        }
        ArrowType::Float64 => {
            let doubles: Float64Array = downcast::<Float64Array>(&array)?.unary(f64::abs);
            Arc::new(doubles)
        }
        ArrowType::Decimal128(precision, scale) => {
            let decimals: Decimal128Array = downcast::<Decimal128Array>(&array)?.unary(i128::abs);
            Arc::new(decimals.with_precision_and_scale(*precision, *scale).map_err(internal)?)
        }
        other => return Err(SparkError::internal(format!("abs of {other}"))),
    };
    finish(args, result)
}

fn sign(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let result: Float64Array = match array.data_type() {
        ArrowType::Float64 => {
            downcast::<Float64Array>(&array)?.unary(|x| if x.is_nan() || x == 0.0 { x } else { x.signum() })
        }
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            downcast::<PrimitiveArray<IntervalYearMonthType>>(&array)?.unary(|x| f64::from(x.signum()))
        }
        ArrowType::Duration(TimeUnit::Microsecond) => {
            downcast::<PrimitiveArray<DurationMicrosecondType>>(&array)?.unary(|x| x.signum() as f64)
        }
        other => return Err(SparkError::internal(format!("sign of {other}"))),
    };
    finish(args, Arc::new(result))
}
