//! `IN` and `BETWEEN`.

use super::comparison::{Comparison, compare};
use super::equality;
use crate::coercion::{self, mismatch, wider_common_type};
use crate::function::{Body, Documentation, Function, Group};
use crate::{ArgType, BuildContext, Param, Signature, TypedExpr};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Expr, Operator, binary_expr};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

pub(super) static IN: Function = Function {
    name: "in",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::variadic(&[Param { name: "expr", arg_type: ArgType::Any }], ArgType::Any),
    body: Body::Build(is_in),
    deterministic: true,
    text: Some(|arguments| match arguments.split_first() {
        Some((value, list)) => format!("({value} IN ({}))", list.join(", ")),
        None => String::new(),
    }),
    documentation: Documentation {
        usage: "True if the first value equals one of the others.",
        examples: &[("SELECT 1 IN (1, 2)", "true"), ("SELECT 3 IN (1, NULL)", "NULL")],
        ..Documentation::EMPTY
    },
};

pub(super) static BETWEEN: Function = Function {
    name: "between",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::of(&[
        Param { name: "input", arg_type: ArgType::Any },
        Param { name: "lower", arg_type: ArgType::Any },
        Param { name: "upper", arg_type: ArgType::Any },
    ]),
    body: Body::Build(is_between),
    deterministic: true,
    text: None,
    documentation: Documentation {
        usage: "True if the input is neither less than the lower nor greater than the upper bound.",
        examples: &[("SELECT 1 BETWEEN 0 AND 2", "true")],
        since: "4.0.0",
        ..Documentation::EMPTY
    },
};

fn is_in(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = IN.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let types: Vec<DataType> = arguments.iter().map(|a| a.data_type.clone()).collect();
    let Some(common) = wider_common_type(&types, context.conf.ansi_enabled) else {
        let shown: Vec<String> = types.iter().map(mismatch::quoted_type).collect();
        return Err(SparkError::new("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("functionName", "`in`")
            .with("dataType", format!("[{}]", shown.join(", "))));
    };
    if !common.is_orderable() {
        return Err(mismatch::no_ordering(&call, "in", &common));
    }
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(coercion::implicitly(argument, &common, context)?);
    }
    let nullable = values.iter().any(|v| v.nullable);
    let list = values.split_off(1.min(values.len()));
    let value = values.pop().ok_or_else(|| SparkError::internal("in takes a value"))?;
    if common.is_null() {
        let null = datafusion::scalar::ScalarValue::Boolean(None);
        return Ok(TypedExpr::new(Expr::Literal(null, None), DataType::Boolean, true, ""));
    }
    let expr = if list.is_empty() {
        datafusion::logical_expr::lit(false)
    } else if equality::needs_kernel(&common) {
        let mut any: Option<Expr> = None;
        for item in list {
            let equal = compare(Comparison::Equal, value.clone(), item, context)?.expr;
            any = Some(match any {
                Some(before) => binary_expr(before, Operator::Or, equal),
                None => equal,
            });
        }
        any.ok_or_else(|| SparkError::internal("in takes a list"))?
    } else {
        let list = list.iter().map(|v| equality::normalized(v, context)).collect::<Result<_>>()?;
        Expr::InList(InList::new(Box::new(equality::normalized(&value, context)?), list, false))
    };
    Ok(TypedExpr::new(expr, DataType::Boolean, nullable, ""))
}

fn is_between(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [input, lower, upper] =
        <[TypedExpr; 3]>::try_from(arguments).map_err(|_| SparkError::internal("between takes three operands"))?;
    let from = compare(Comparison::GreaterOrEqual, input.clone(), lower, context)?;
    let to = compare(Comparison::LessOrEqual, input, upper, context)?;
    let nullable = from.nullable || to.nullable;
    Ok(TypedExpr::new(binary_expr(from.expr, Operator::And, to.expr), DataType::Boolean, nullable, ""))
}
