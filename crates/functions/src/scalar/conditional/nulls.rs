//! Values to and from NULL.

use super::choice::first_not_null;
use crate::coercion;
use crate::function::{Body, Documentation, Function, Group};
use crate::scalar::predicate::comparison::{Comparison, compare};
use crate::scalar::predicate::lazy;
use crate::{ArgType, BuildContext, Param, Signature, TypedExpr};
use datafusion::logical_expr::{Expr, lit};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};

const ONE: &[Param] = &[Param { name: "expr", arg_type: ArgType::Any }];
const TWO: &[Param] =
    &[Param { name: "expr1", arg_type: ArgType::Any }, Param { name: "expr2", arg_type: ArgType::Any }];

pub(super) static NULLIF: Function = Function {
    name: "nullif",
    aliases: &[],
    group: Group::Conditional,
    signature: Signature::of(TWO),
    body: Body::Build(|context, arguments| {
        let [value, other] =
            <[TypedExpr; 2]>::try_from(arguments).map_err(|_| SparkError::internal("nullif takes two arguments"))?;
        null_if_equal(value, other, context)
    }),
    deterministic: true,
    text: None,
    documentation: Documentation {
        usage: "NULL if both values are equal, else the first.",
        examples: &[("SELECT nullif(2, 2)", "NULL")],
        since: "2.0.0",
        ..Documentation::EMPTY
    },
};

pub(super) static NULLIFZERO: Function = Function {
    name: "nullifzero",
    aliases: &[],
    group: Group::Conditional,
    signature: Signature::of(ONE),
    body: Body::Build(|context, mut arguments| {
        let value = arguments.pop().ok_or_else(|| SparkError::internal("nullifzero takes an argument"))?;
        null_if_equal(value, zero(), context)
    }),
    deterministic: true,
    text: None,
    documentation: Documentation {
        usage: "NULL if the value is zero, else the value.",
        examples: &[("SELECT nullifzero(0)", "NULL")],
        since: "4.0.0",
        ..Documentation::EMPTY
    },
};

pub(super) static ZEROIFNULL: Function = Function {
    name: "zeroifnull",
    aliases: &[],
    group: Group::Conditional,
    signature: Signature::of(ONE),
    body: Body::Build(|context, mut arguments| {
        arguments.push(zero());
        let call = format!("coalesce({}, 0)", arguments.first().map_or("", |a| a.name.as_str()));
        Ok(first_not_null(coercion::to_common_type(arguments, "coalesce", &call, context)?))
    }),
    deterministic: true,
    text: None,
    documentation: Documentation {
        usage: "Zero if the value is NULL, else the value.",
        examples: &[("SELECT zeroifnull(NULL)", "0")],
        since: "4.0.0",
        ..Documentation::EMPTY
    },
};

fn zero() -> TypedExpr {
    TypedExpr::new(lit(0_i32), DataType::Integer, false, "0")
}

fn null_if_equal(value: TypedExpr, other: TypedExpr, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    let data_type = value.data_type.clone();
    let null =
        ScalarValue::try_from(&arrow_mapping::to_arrow(&data_type)).map_err(|e| SparkError::internal(e.to_string()))?;
    let result = value.expr.clone();
    let equal = compare(Comparison::Equal, value, other, context)?;
    let branches = vec![(Box::new(equal.expr), Box::new(Expr::Literal(null, None)))];
    let expr = lazy::case(branches, Some(Box::new(result)), &data_type);
    Ok(TypedExpr::new(expr, data_type, true, ""))
}
