//! `AND`, `OR` and `NOT`.

use crate::coercion::{self, mismatch};
use crate::function::{Body, Documentation, Function, Group};
use crate::{ArgType, BuildContext, Param, Signature, TypedExpr};
use datafusion::logical_expr::{Expr, Operator, binary_expr};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

const PAIR: &[Param] =
    &[Param { name: "left", arg_type: ArgType::Any }, Param { name: "right", arg_type: ArgType::Any }];
const ONE: &[Param] = &[Param { name: "expr", arg_type: ArgType::Boolean }];

pub(super) static AND: Function = Function {
    name: "and",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::of(PAIR),
    body: Body::Build(|context, arguments| connect("AND", Operator::And, context, arguments)),
    deterministic: true,
    text: Some(|arguments| format!("({})", arguments.join(" AND "))),
    documentation: Documentation {
        usage: "True if both operands are, false if one is false.",
        examples: &[("SELECT true AND false", "false"), ("SELECT true AND NULL", "NULL")],
        ..Documentation::EMPTY
    },
};

pub(super) static OR: Function = Function {
    name: "or",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::of(PAIR),
    body: Body::Build(|context, arguments| connect("OR", Operator::Or, context, arguments)),
    deterministic: true,
    text: Some(|arguments| format!("({})", arguments.join(" OR "))),
    documentation: Documentation {
        usage: "True if an operand is, false if both are false.",
        examples: &[("SELECT true OR NULL", "true")],
        ..Documentation::EMPTY
    },
};

pub(super) static NOT: Function = Function {
    name: "not",
    aliases: &["!"],
    group: Group::Predicate,
    signature: Signature::of(ONE),
    body: Body::Build(|_, mut arguments| match arguments.pop() {
        Some(operand) => Ok(TypedExpr::new(Expr::Not(Box::new(operand.expr)), DataType::Boolean, operand.nullable, "")),
        None => Err(SparkError::internal("not takes an operand")),
    }),
    deterministic: true,
    text: Some(|arguments| format!("(NOT {})", arguments.join(", "))),
    documentation: Documentation {
        usage: "Turns a truth value round.",
        examples: &[("SELECT NOT true", "false")],
        ..Documentation::EMPTY
    },
};

fn connect(
    word: &str,
    operator: Operator,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let [left, right] = <[TypedExpr; 2]>::try_from(arguments)
        .map_err(|_| SparkError::internal(format!("{word} takes two operands")))?;
    let ansi = context.conf.ansi_enabled;
    let call = format!("({} {word} {})", left.name, right.name);
    let (l, r) = (left.data_type.clone(), right.data_type.clone());
    let boolean = |t: &DataType, other: &DataType| {
        *t == DataType::Boolean || t.is_null() || (ansi && t.is_string() && *other == DataType::Boolean)
    };
    if !boolean(&l, &r) || !boolean(&r, &l) {
        let string_and_null = ansi && ((l.is_null() && r.is_string()) || (r.is_null() && l.is_string()));
        let shown = if l.is_null() { &r } else { &l };
        return Err(if l.same_type(&r) || string_and_null {
            mismatch::binary_wrong(&call, "\"BOOLEAN\"", shown)
        } else {
            mismatch::binary_different(&call, &l, &r)
        });
    }
    let left = coercion::implicitly(left, &DataType::Boolean, context)?;
    let right = coercion::implicitly(right, &DataType::Boolean, context)?;
    let nullable = left.nullable || right.nullable;
    let guarded = super::lazy::guarded(&left.expr, right.expr, operator);
    Ok(TypedExpr::new(binary_expr(left.expr, operator, guarded), DataType::Boolean, nullable, call))
}
