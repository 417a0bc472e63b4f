//! The functions of linear regression that are other aggregates over pairs without nulls.

use super::{AggregateContext, TWO_DOUBLES, any, avg, declare, moments};
use crate::coercion::coerce_argument;
use crate::{AggregateCall, ArgType, BuildContext, Function, Signature, TypedExpr};
use datafusion::functions::core::expr_fn::named_struct;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::{lit, when};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

const PAIR: Signature = Signature::of(&[any("y"), any("x")]);

pub static FUNCTIONS: &[&Function] = &[
    &declare("regr_count", &[], PAIR, regr_count, "regr_count(y, x) - Returns the number of pairs without nulls."),
    &declare(
        "regr_avgx",
        &[],
        PAIR,
        |c, a| average("regr_avgx", 1, c, a),
        "regr_avgx(y, x) - Returns the mean of x over pairs without nulls.",
    ),
    &declare(
        "regr_avgy",
        &[],
        PAIR,
        |c, a| average("regr_avgy", 0, c, a),
        "regr_avgy(y, x) - Returns the mean of y over pairs without nulls.",
    ),
    &declare(
        "regr_sxx",
        &[],
        TWO_DOUBLES,
        |c, a| squares("regr_sxx", 1, c, a),
        "regr_sxx(y, x) - Returns count times population variance of x over pairs without nulls.",
    ),
    &declare(
        "regr_syy",
        &[],
        TWO_DOUBLES,
        |c, a| squares("regr_syy", 0, c, a),
        "regr_syy(y, x) - Returns count times population variance of y over pairs without nulls.",
    ),
];

/// The argument of that number where no argument is null.
fn paired(call: &AggregateContext, index: usize) -> Result<TypedExpr> {
    let (y, x) = (call.argument(0)?, call.argument(1)?);
    let value = call.argument(index)?;
    let both = y.expr.clone().is_not_null().and(x.expr.clone().is_not_null());
    let expr = when(both, value.expr.clone()).end().map_err(|e| SparkError::internal(e.to_string()))?;
    Ok(TypedExpr::new(expr, value.data_type.clone(), true, value.name.clone()))
}

/// Both arguments are numbers.
fn numbers(call: &mut AggregateContext, context: &mut BuildContext<'_>) -> Result<()> {
    for index in 0..2 {
        let value = coerce_argument(call.argument(index)?.clone(), ArgType::Numeric, index, &call.text, context)?;
        if let Some(argument) = call.call.arguments.get_mut(index) {
            *argument = value;
        }
    }
    Ok(())
}

fn regr_count(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("regr_count", call);
    numbers(&mut call, context)?;
    let (y, x) = (call.argument(0)?.expr.clone(), call.argument(1)?.expr.clone());
    let value =
        if call.call.is_distinct { named_struct(vec![lit("y"), y.clone(), lit("x"), x.clone()]) } else { lit(true) };
    let pair =
        when(y.is_not_null().and(x.is_not_null()), value).end().map_err(|e| SparkError::internal(e.to_string()))?;
    call.native(count_udaf(), vec![pair], DataType::Long, false)
}

fn average(name: &'static str, index: usize, c: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    numbers(&mut call, c)?;
    call.call.arguments = vec![paired(&call, index)?];
    Ok(avg::build(name, c, call.call)?.named(call.text))
}

fn squares(name: &'static str, index: usize, c: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    call.call.arguments = vec![paired(&call, index)?];
    call.aggregate(&moments::KERNEL, c, DataType::Double, true, Some("sum_of_squares"))
}
