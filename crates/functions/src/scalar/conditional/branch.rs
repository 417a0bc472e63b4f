//! `IF` and `CASE`.

use crate::coercion::{self, mismatch, wider_common_type};
use crate::function::{Body, Documentation, Function, Group};
use crate::scalar::predicate::lazy;
use crate::{ArgType, BuildContext, Param, Signature, TypedExpr};
use datafusion::logical_expr::Expr;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

pub(super) static IF: Function = Function {
    name: "if",
    aliases: &[],
    group: Group::Conditional,
    signature: Signature::of(&[
        Param { name: "expr1", arg_type: ArgType::Any },
        Param { name: "expr2", arg_type: ArgType::Any },
        Param { name: "expr3", arg_type: ArgType::Any },
    ]),
    body: Body::Build(|context, arguments| {
        let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
        let call = IF.call_text(&names);
        let [mut condition, yes, no] =
            <[TypedExpr; 3]>::try_from(arguments).map_err(|_| SparkError::internal("if takes three arguments"))?;
        if condition.data_type.is_null() {
            condition = coercion::implicitly(condition, &DataType::Boolean, context)?;
        }
        check_condition(&condition, &call)?;
        case(vec![(condition, yes)], Some(no), "if", &call, context)
    }),
    deterministic: true,
    text: Some(|arguments| format!("(IF({}))", arguments.join(", "))),
    documentation: Documentation {
        usage: "The second value if the condition is true, else the third.",
        examples: &[("SELECT if(1 < 2, 'a', 'b')", "a")],
        ..Documentation::EMPTY
    },
};

fn case_text(arguments: &[String]) -> String {
    let mut out = String::from("CASE");
    for pair in arguments.chunks(2) {
        match pair {
            [condition, value] => out.push_str(&format!(" WHEN {condition} THEN {value}")),
            [otherwise] => out.push_str(&format!(" ELSE {otherwise}")),
            _ => {}
        }
    }
    out + " END"
}

const fn case_when(name: &'static str) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Conditional,
        signature: Signature::variadic(
            &[Param { name: "condition", arg_type: ArgType::Any }, Param { name: "value", arg_type: ArgType::Any }],
            ArgType::Any,
        ),
        body: Body::Build(build_case),
        deterministic: true,
        text: Some(case_text),
        documentation: Documentation {
            usage: "The value after the first condition that is true, else the last value, else NULL.",
            examples: &[("SELECT CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END", "b")],
            since: "1.0.1",
            ..Documentation::EMPTY
        },
    }
}

pub(super) static WHEN: Function = case_when("when");
pub(super) static CASE: Function = case_when("case");

fn build_case(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let call = case_text(&names);
    let mut branches = Vec::new();
    let mut otherwise = None;
    let mut arguments = arguments.into_iter();
    let mut position = 0;
    while let Some(first) = arguments.next() {
        match arguments.next() {
            Some(value) => {
                if first.data_type != DataType::Boolean {
                    return Err(not_boolean(&first, position, &call));
                }
                branches.push((first, value));
            }
            None => otherwise = Some(first),
        }
        position += 2;
    }
    case(branches, otherwise, "casewhen", &call, context)
}

fn not_boolean(condition: &TypedExpr, position: usize, call: &str) -> SparkError {
    mismatch::unexpected_input(call, position, ArgType::Boolean, condition)
}

fn check_condition(condition: &TypedExpr, call: &str) -> Result<()> {
    if condition.data_type == DataType::Boolean { Ok(()) } else { Err(not_boolean(condition, 0, call)) }
}

fn is_true(condition: &TypedExpr) -> bool {
    matches!(condition.literal(), Some(datafusion::scalar::ScalarValue::Boolean(Some(true))))
}

/// A `CASE` over branches that are cast to their common type.
pub(super) fn case(
    branches: Vec<(TypedExpr, TypedExpr)>,
    otherwise: Option<TypedExpr>,
    function: &str,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    let types: Vec<DataType> =
        branches.iter().map(|(_, value)| value).chain(&otherwise).map(|v| v.data_type.clone()).collect();
    let Some(common) = wider_common_type(&types, context.conf.ansi_enabled) else {
        return Err(mismatch::different_branches(call, function, &types));
    };
    // CASE WHEN true THEN 1 END has a value for every row.
    let always = branches.iter().any(|(condition, _)| is_true(condition));
    let mut nullable = otherwise.is_none() && !always;
    let mut reachable = true;
    let mut pairs = Vec::with_capacity(branches.len());
    for (condition, value) in branches {
        let value = coercion::implicitly(value, &common, context)?;
        nullable |= reachable && value.nullable;
        reachable &= !is_true(&condition);
        pairs.push((Box::new(condition.expr), Box::new(value.expr)));
    }
    let otherwise = match otherwise {
        Some(value) => {
            let value = coercion::implicitly(value, &common, context)?;
            nullable |= reachable && value.nullable;
            Some(Box::new(value.expr))
        }
        None => None,
    };
    if common.is_null() {
        return Ok(TypedExpr::new(Expr::Literal(datafusion::scalar::ScalarValue::Null, None), common, true, call));
    }
    Ok(TypedExpr::new(lazy::case(pairs, otherwise, &common), common, nullable, call))
}
