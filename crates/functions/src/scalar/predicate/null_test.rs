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

const TRUTH: &[Param] = &[Param { name: "expr", arg_type: ArgType::Exactly(&ArgType::Boolean) }];

type Build = fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>;

const fn test(
    name: &'static str,
    group: Group,
    params: &'static [Param],
    build: Build,
    text: fn(&[String]) -> String,
    documentation: Documentation,
) -> Function {
    Function {
        name,
        aliases: &[],
        group,
        signature: Signature::of(params),
        body: Body::Build(build),
        deterministic: true,
        text: Some(text),
        documentation,
    }
}

fn is_null(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    Ok(boolean(Expr::IsNull(Box::new(only(arguments)?.expr))))
}

fn is_not_null(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    Ok(boolean(Expr::IsNotNull(Box::new(only(arguments)?.expr))))
}

pub(super) static IS_NULL: Function = test(
    "isnull",
    Group::Predicate,
    ANY,
    is_null,
    |arguments| format!("({} IS NULL)", arguments.join(", ")),
    Documentation {
        usage: "True if the value is NULL.",
        examples: &[("SELECT isnull(1)", "false")],
        ..Documentation::EMPTY
    },
);

pub(super) static IS_NOT_NULL: Function = test(
    "isnotnull",
    Group::Predicate,
    ANY,
    is_not_null,
    |arguments| format!("({} IS NOT NULL)", arguments.join(", ")),
    Documentation {
        usage: "True if the value is not NULL.",
        examples: &[("SELECT isnotnull(1)", "true")],
        ..Documentation::EMPTY
    },
);

/// `expr IS UNKNOWN`: a test for NULL that takes truth values only.
pub(super) static IS_UNKNOWN: Function = test(
    "is unknown",
    Group::Internal,
    TRUTH,
    is_null,
    |arguments| format!("({} IS NULL)", arguments.join(", ")),
    Documentation::EMPTY,
);

/// `expr IS NOT UNKNOWN`.
pub(super) static IS_NOT_UNKNOWN: Function = test(
    "is not unknown",
    Group::Internal,
    TRUTH,
    is_not_null,
    |arguments| format!("({} IS NOT NULL)", arguments.join(", ")),
    Documentation::EMPTY,
);

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
