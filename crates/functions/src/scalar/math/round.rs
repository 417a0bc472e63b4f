//! `round` and `bround`.

use super::abs::overflow;
use super::decimal::{Rounding, divide, power_of_ten, round_double, round_unscaled};
use crate::scalar::string::constant::{integer_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, downcast, finish, internal};
use crate::{ArgType, Body, KernelArgs, Nullability, Returns, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, Decimal128Array, Float32Array, Float64Array, PrimitiveArray, new_null_array};
use arrow::datatypes::{ArrowPrimitiveType, DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use num_traits::AsPrimitive;
use std::sync::Arc;

const SIGNATURE: Signature =
    Signature::with_optional(&[param("expr", ArgType::Numeric), param("d", ArgType::Foldable(&ArgType::Integer))], 1);

const fn body(kernel: crate::KernelFn) -> Body {
    Body::Scalar { returns: Returns::Of(result_type), nullable: Nullability::Always, kernel }
}

function! {
    /// `round(expr[, d])`
    ROUND = "round" in Math, SIGNATURE => body(|args| round(args, Rounding::HalfUp));
    text |a| if a.len() == 1 { format!("round({}, 0)", a[0]) } else { format!("round({})", a.join(", ")) };
    usage "`expr` rounded to `d` digits after the point, halves away from zero.";
    since "1.5.0";
    example "SELECT round(2.5, 0)" => "3";
}
function! {
    /// `bround(expr[, d])`
    BROUND = "bround" in Math, SIGNATURE => body(|args| round(args, Rounding::HalfEven));
    text |a| if a.len() == 1 { format!("bround({}, 0)", a[0]) } else { format!("bround({})", a.join(", ")) };
    usage "`expr` rounded to `d` digits after the point, halves to the even digit.";
    since "2.0.0";
    example "SELECT bround(2.5, 0)" => "2";
    example "SELECT bround(25, -1)" => "20";
}

/// The decimal type that holds a decimal rounded to `digits`.
pub fn rounded_decimal(precision: u8, scale: i8, digits: i32) -> DataType {
    let whole = i32::from(precision) - i32::from(scale) + 1;
    if digits < 0 {
        let precision = whole.max(digits.saturating_neg().saturating_add(1)).min(38);
        DataType::Decimal(precision as u8, 0)
    } else {
        let scale = i32::from(scale).min(digits);
        DataType::Decimal((whole + scale).min(38) as u8, scale as i8)
    }
}

fn result_type(arguments: &[TypedExpr], _: &SqlConf) -> Result<DataType> {
    match arguments {
        [number, rest @ ..] => match (&number.data_type, rest.first()) {
            (DataType::Decimal(precision, scale), digits) => {
                let digits = match digits {
                    Some(argument) => value_of(argument)?.as_ref().and_then(integer_of).unwrap_or(0),
                    None => 0,
                };
                Ok(rounded_decimal(*precision, *scale, digits.clamp(-1000, 1000) as i32))
            }
            (other, _) => Ok(other.clone()),
        },
        [] => Err(SparkError::internal("round without arguments")),
    }
}

/// The constant number of digits; None for null.
pub fn digits(args: &KernelArgs<'_>) -> Result<Option<i32>> {
    if args.values.len() < 2 {
        return Ok(Some(0));
    }
    let (array, _) = array_or_constant(args, 1)?;
    let array = downcast::<PrimitiveArray<Int32Type>>(&array)?;
    Ok(if array.is_empty() || array.is_null(0) { None } else { Some(array.value(0)) })
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef, digits: i32, rounding: Rounding, ansi: bool) -> Result<ArrayRef>
where
    T::Native: AsPrimitive<i128> + num_traits::NumCast,
    i128: AsPrimitive<T::Native>,
{
    if digits >= 0 {
        return Ok(Arc::clone(array));
    }
    let array = downcast::<PrimitiveArray<T>>(array)?;
    let divisor = power_of_ten(digits.unsigned_abs());
    let result: PrimitiveArray<T> = array.try_unary(|x| {
        let rounded = match divisor {
            Some(divisor) => divide(x.as_(), divisor, rounding) * divisor,
            None => 0,
        };
        match <T::Native as num_traits::NumCast>::from(rounded) {
            Some(value) => Ok(value),
            None if ansi => Err(overflow("Overflow", true)),
            None => Ok(rounded.as_()),
        }
    })?;
    Ok(Arc::new(result))
}

fn round(args: &KernelArgs<'_>, rounding: Rounding) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let Some(digits) = digits(args)? else {
        let arrow_type = firesteel_types::arrow_mapping::to_arrow(args.return_type);
        return finish(args, new_null_array(&arrow_type, array.len()));
    };
    let ansi = args.settings.ansi;
    let result: ArrayRef = match (array.data_type(), args.return_type) {
        (ArrowType::Int8, _) => integers::<Int8Type>(&array, digits, rounding, ansi)?,
        (ArrowType::Int16, _) => integers::<Int16Type>(&array, digits, rounding, ansi)?,
        (ArrowType::Int32, _) => integers::<Int32Type>(&array, digits, rounding, ansi)?,
        (ArrowType::Int64, _) => integers::<Int64Type>(&array, digits, rounding, ansi)?,
        (ArrowType::Float64, _) => {
            let doubles: Float64Array = downcast::<Float64Array>(&array)?.unary(|x| round_double(x, digits, rounding));
            Arc::new(doubles)
        }
        (ArrowType::Float32, _) => {
            let floats: Float32Array =
                downcast::<Float32Array>(&array)?.unary(|x| round_double(f64::from(x), digits, rounding) as f32);
            Arc::new(floats)
        }
        (ArrowType::Decimal128(_, from), DataType::Decimal(precision, to)) => {
            decimals(&array, i32::from(*from), digits, (*precision, *to), rounding, ansi)?
        }
        (other, _) => return Err(SparkError::internal(format!("round of {other}"))),
    };
    finish(args, result)
}

/// Rounds decimals into the type `to`; what does not fit is an error, or null without ANSI.
pub fn decimals(
    array: &ArrayRef,
    from: i32,
    digits: i32,
    to: (u8, i8),
    rounding: Rounding,
    ansi: bool,
) -> Result<ArrayRef> {
    let (precision, scale) = to;
    let array = downcast::<Decimal128Array>(array)?;
    let bound = power_of_ten(u32::from(precision)).unwrap_or(i128::MAX);
    let mut builder = Decimal128Array::builder(array.len());
    for value in array {
        let Some(value) = value else {
            builder.append_null();
            continue;
        };
        match round_unscaled(value, from, digits, i32::from(scale), rounding) {
            Some(rounded) if rounded.abs() < bound => builder.append_value(rounded),
            _ if ansi => {
                return Err(SparkError::new("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION")
                    .with(
                        "value",
                        <arrow::datatypes::Decimal128Type as arrow::datatypes::DecimalType>::format_decimal(
                            value, 38, from as i8,
                        ),
                    )
                    .with("precision", precision.to_string())
                    .with("scale", scale.to_string())
                    .with("config", "\"spark.sql.ansi.enabled\""));
            }
            _ => builder.append_null(),
        }
    }
    let result = builder.finish().with_precision_and_scale(precision, scale).map_err(internal)?;
    Ok(Arc::new(result))
}
