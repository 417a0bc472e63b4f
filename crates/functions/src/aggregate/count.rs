//! `count` and `count_if`.

use super::{AggregateContext, declare};
use crate::scalar::predicate::equality;
use crate::{AggregateCall, ArgType, BuildContext, Function, Param, Signature, TypedExpr};
use datafusion::functions::core::expr_fn::named_struct;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::{Expr, lit, when};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "count",
        &[],
        Signature::variadic(&[], ArgType::Any),
        count,
        "count(*) - Returns the number of rows; count([DISTINCT] expr[, ...]) - the number of rows, or of distinct \
         ones, for which no expression is null.",
    ),
    &declare(
        "count_if",
        &[],
        Signature::of(&[Param { name: "expr", arg_type: ArgType::Boolean }]),
        count_if,
        "count_if(expr) - Returns the number of rows for which the expression is true.",
    ),
];

fn count(build: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    if call.is_star && !call.is_distinct {
        let mut context = AggregateContext::new("count", call);
        context.text = "count(1)".into();
        return context.native(count_udaf(), vec![lit(1i64)], DataType::Long, false);
    }
    if call.arguments.is_empty() && build.conf.allow_parameterless_count {
        let context = AggregateContext::new("count", call);
        return context.native(count_udaf(), vec![lit(ScalarValue::Int64(None))], DataType::Long, false);
    }
    if call.arguments.is_empty() {
        return Err(SparkError::new("WRONG_NUM_ARGS.WITH_SUGGESTION")
            .with("functionName", "`count`")
            .with("expectedNum", " >= 1")
            .with("actualNum", "0")
            .with("legacyNum", "0")
            .with("legacyConfKey", "\"spark.sql.legacy.allowParameterlessCount\"")
            .with("legacyConfValue", "\"true\""));
    }
    let context = AggregateContext::new("count", call);
    let is_distinct = context.call.is_distinct;
    let arguments =
        context.call.arguments.iter().map(|a| counted(a, is_distinct, build)).collect::<Result<Vec<Expr>>>()?;
    let argument = match arguments.as_slice() {
        [single] => single.clone(),
        several => {
            let nullable: Vec<&Expr> = context
                .call
                .arguments
                .iter()
                .zip(several)
                .filter(|(typed, _)| typed.nullable)
                .map(|(_, expr)| expr)
                .collect();
            let value = if context.call.is_distinct {
                let fields = several.iter().enumerate();
                named_struct(fields.flat_map(|(i, e)| [lit(format!("c{i}")), e.clone()]).collect())
            } else {
                lit(true)
            };
            match nullable.into_iter().map(|e| e.clone().is_not_null()).reduce(Expr::and) {
                None => value,
                Some(all_set) => when(all_set, value).end().map_err(|e| SparkError::internal(e.to_string()))?,
            }
        }
    };
    context.native(count_udaf(), vec![argument], DataType::Long, false)
}

/// Zeros and NaNs are one value each when distinct ones are counted.
fn counted(argument: &TypedExpr, is_distinct: bool, build: &BuildContext<'_>) -> Result<Expr> {
    match argument.data_type {
        // A typed NULL, as DataFusion counts no void.
        DataType::Null => Ok(lit(ScalarValue::Boolean(None))),
        _ if is_distinct => equality::key(argument, build),
        _ => Ok(argument.expr.clone()),
    }
}

fn count_if(_: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let context = AggregateContext::new("count_if", call);
    let condition = context.argument(0)?.expr.clone();
    let null = lit(ScalarValue::Boolean(None));
    let value = when(condition, lit(true)).otherwise(null).map_err(|e| SparkError::internal(e.to_string()))?;
    context.native(count_udaf(), vec![value], DataType::Long, false)
}
