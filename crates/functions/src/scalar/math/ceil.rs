//! `ceil` and `floor`.

use super::decimal::Rounding;
use super::round::{decimals, digits, rounded_decimal};
use crate::kernel::kernel;
use crate::scalar::string::constant::{integer_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, downcast, finish};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::{ArrayRef, Float64Array, Int64Array};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

const SIGNATURE: Signature = Signature::with_optional(
    &[
        param("expr", ArgType::OneOf(&[ArgType::Double, ArgType::Decimal, ArgType::Long])),
        param("scale", ArgType::Integer),
    ],
    1,
);
const SCALED: Signature = Signature::of(&[param("expr", ArgType::Decimal), param("scale", ArgType::Integer)]);

function! {
    /// `ceil(expr[, scale])`
    CEIL = "ceil" in Math, ANY => Body::Build(|context, arguments| build(&CEIL, context, arguments, up));
    text |a| if a.len() == 1 { format!("CEIL({})", a[0]) } else { format!("ceil({})", a.join(", ")) };
    usage "The smallest whole number not below `expr`, or the smallest one with `scale` digits after the point.";
    since "3.3.0";
    example "SELECT ceil(-0.1)" => "0";
    example "SELECT ceil(3.1411, 3)" => "3.142";
    example "SELECT ceil(3.1411, -3)" => "1000";
}
function! {
    /// `ceiling(expr[, scale])`
    CEILING = "ceiling" in Math, ANY => Body::Build(|context, arguments| build(&CEILING, context, arguments, up));
    usage "The smallest whole number not below `expr`, or the smallest one with `scale` digits after the point.";
    since "3.3.0";
    example "SELECT ceiling(-0.1)" => "0";
    example "SELECT ceiling(3.1411, 3)" => "3.142";
}
function! {
    /// `floor(expr[, scale])`
    FLOOR = "floor" in Math, ANY => Body::Build(|context, arguments| build(&FLOOR, context, arguments, down));
    text |a| if a.len() == 1 { format!("FLOOR({})", a[0]) } else { format!("floor({})", a.join(", ")) };
    usage "The largest whole number not above `expr`, or the largest one with `scale` digits after the point.";
    since "3.3.0";
    example "SELECT floor(-0.1)" => "-1";
    example "SELECT floor(3.1411, 3)" => "3.141";
}

/// The coercion depends on the number of arguments: see [`build`].
const ANY: Signature = Signature::with_optional(&[param("expr", ArgType::Any), param("scale", ArgType::Any)], 1);

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("ceil", up), &kernel("ceiling", up), &kernel("floor", down)];

fn build(
    function: &Function,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
    kernel: KernelFn,
) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = function.call_text(&names);
    let signature = if arguments.len() == 1 { SIGNATURE } else { SCALED };
    let arguments = signature.apply(function.name, &text, arguments, context)?;
    let data_type = match (arguments.first().map(|a| &a.data_type), arguments.get(1)) {
        (Some(DataType::Decimal(precision, 0)), None) => DataType::Decimal(*precision, 0),
        (Some(DataType::Decimal(precision, scale)), None) => rounded_decimal(*precision, *scale, 0),
        (Some(DataType::Decimal(precision, scale)), Some(digits)) => {
            let Some(digits) = value_of(digits)?.as_ref().and_then(integer_of) else {
                return Err(SparkError::new("NON_FOLDABLE_ARGUMENT")
                    .with("funcName", format!("`{}`", function.name))
                    .with("paramName", "`scale`")
                    .with("paramType", "\"INT\""));
            };
            rounded_decimal(*precision, *scale, digits.clamp(-1000, 1000) as i32)
        }
        _ => DataType::Long,
    };
    let expr = crate::kernel::call(function, kernel, &arguments, &data_type, true, context)?;
    Ok(TypedExpr::new(expr, data_type, true, text))
}

fn up(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    whole(args, Rounding::Ceiling)
}

fn down(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    whole(args, Rounding::Floor)
}

fn whole(args: &KernelArgs<'_>, rounding: Rounding) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let result: ArrayRef = match (array.data_type(), args.return_type) {
        (ArrowType::Int64, _) => array,
        (ArrowType::Float64, _) => {
            // `as` takes NaN to zero and what is too big to the bounds, as Java's casts do.
            let longs: Int64Array = downcast::<Float64Array>(&array)?.unary(|x| match rounding {
                Rounding::Ceiling => x.ceil() as i64,
                _ => x.floor() as i64,
            });
            Arc::new(longs)
        }
        (ArrowType::Decimal128(_, from), DataType::Decimal(precision, scale)) => {
            let digits = digits(args)?.unwrap_or(0);
            decimals(&array, i32::from(*from), digits, (*precision, *scale), rounding, args.settings.ansi)?
        }
        (other, _) => return Err(SparkError::internal(format!("rounding of {other}"))),
    };
    finish(args, result)
}
