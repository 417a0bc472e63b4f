//! `nth_value`.

use super::{declare, over_nothing, passes_over_nulls};
use crate::aggregate::constant;
use crate::{ArgType, BuildContext, Function, Param, Signature, TypedExpr, WindowCall};
use arrow::datatypes::DataType as ArrowType;
use datafusion::functions_window::nth_value::nth_value_udwf;
use datafusion::logical_expr::lit;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};

const SIGNATURE: Signature = Signature::with_optional(
    &[
        Param { name: "input", arg_type: ArgType::Any },
        Param { name: "offset", arg_type: ArgType::Any },
        Param { name: "ignoreNulls", arg_type: ArgType::Any },
    ],
    1,
);

pub static FUNCTIONS: &[&Function] = &[&declare(
    "nth_value",
    SIGNATURE,
    build,
    "nth_value(input, offset) - The value of the frame's row of that number, counted from 1; null where there is none.",
)];

fn build(_: &mut BuildContext<'_>, call: WindowCall) -> Result<TypedExpr> {
    let [input, offset, flag @ ..] = call.arguments.as_slice() else {
        return Err(SparkError::internal("nth_value takes two arguments"));
    };
    let mut text = format!("nth_value({}, {})", input.name, offset.name);
    let value = constant::required(&text, "offset", "\"INT\"", offset)?;
    let number = match value.cast_to(&ArrowType::Int64) {
        _ if value.is_null() => return Err(constant::unexpected_null(&text, "offset")),
        Ok(ScalarValue::Int64(Some(number))) if offset.data_type.is_integral() => number,
        _ => return Err(crate::coercion::mismatch::unexpected_input(&text, 1, ArgType::Integer, offset)),
    };
    if number < 1 {
        return Err(constant::out_of_range(&text, "offset", "(0, 9223372036854775807]", format!("{number}L")));
    }
    let ignore_nulls = passes_over_nulls("nth_value", flag.first(), call.ignore_nulls)?;
    if ignore_nulls {
        text.push_str(" ignore nulls");
    }
    let expr = over_nothing(nth_value_udwf(), vec![input.expr.clone(), lit(number)], ignore_nulls);
    Ok(TypedExpr::new(expr, input.data_type.clone(), true, text))
}
