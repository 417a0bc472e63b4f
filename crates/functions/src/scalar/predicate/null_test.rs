//! Tests for NULL and NaN.

use crate::function::{Body, Documentation, Function, Group};
use crate::{ArgType, BuildContext, Param, Signature, TypedExpr};
use datafusion::logical_expr::{Expr, Operator, binary_expr, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

const ANY: &[Param] = &[Param { name: "expr", arg_type: ArgType::Any }];
const NUMBER: &[Param] = &[Param { name: "expr", arg_type: ArgType::OneOf(&[ArgType::Double, ArgType::Float]) }];

fn only(mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    arguments.pop().ok_or_else(|| SparkError::internal("an operand is missing"))
}

fn boolean(expr: Expr) -> TypedExpr {
    TypedExpr::new(expr, DataType::Boolean, false, "")
}

pub(super) static IS_NULL: Function = Function {
    name: "isnull",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::of(ANY),
    body: Body::Build(|_, arguments| Ok(boolean(Expr::IsNull(Box::new(only(arguments)?.expr))))),
    deterministic: true,
    text: Some(|arguments| format!("({} IS NULL)", arguments.join(", "))),
    documentation: Documentation {
        usage: "True if the value is NULL.",
        examples: &[("SELECT isnull(1)", "false")],
        ..Documentation::EMPTY
    },
};

pub(super) static IS_NOT_NULL: Function = Function {
    name: "isnotnull",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::of(ANY),
    body: Body::Build(|_, arguments| Ok(boolean(Expr::IsNotNull(Box::new(only(arguments)?.expr))))),
    deterministic: true,
    text: Some(|arguments| format!("({} IS NOT NULL)", arguments.join(", "))),
    documentation: Documentation {
        usage: "True if the value is not NULL.",
        examples: &[("SELECT isnotnull(1)", "true")],
        ..Documentation::EMPTY
    },
};

pub(super) static IS_NAN: Function = Function {
    name: "isnan",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::of(NUMBER),
    body: Body::Build(is_nan),
    deterministic: true,
    text: None,
    documentation: Documentation {
        usage: "True if the value is NaN; false for NULL.",
        examples: &[("SELECT isnan(cast('NaN' as double))", "true")],
        since: "1.5.0",
        ..Documentation::EMPTY
    },
};

fn is_nan(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let value = only(arguments)?;
    let test = datafusion::functions::math::expr_fn::isnan(value.expr);
    // `IS TRUE` would be planned as this, and then be null for the engine where it is not for its planner.
    let expr = if value.nullable { binary_expr(test, Operator::IsNotDistinctFrom, lit(true)) } else { test };
    Ok(boolean(expr))
}
