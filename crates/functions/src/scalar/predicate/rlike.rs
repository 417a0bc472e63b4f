//! `RLIKE`: whether a text matches a regular expression somewhere.

use super::like::matches;
use crate::function::{Body, Documentation, Function, Group, Nullability, Returns};
use crate::scalar::regexp::pattern::{Pattern, under_collation};
use crate::{ArgType, BuildContext, KernelArgs, Param, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;

const PARAMS: &[Param] =
    &[Param { name: "str", arg_type: ArgType::String }, Param { name: "regexp", arg_type: ArgType::String }];

type Build = fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>;

const fn declare(name: &'static str, text: fn(&[String]) -> String, build: Build, since: &'static str) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Predicate,
        signature: Signature::of(PARAMS),
        body: Body::Build(build),
        deterministic: true,
        text: Some(text),
        documentation: Documentation {
            usage: "True if a part of the text matches a regular expression of Java.",
            arguments: &[],
            examples: &[("SELECT rlike('Spark', 'p.r')", "true")],
            note: "",
            since,
        },
    }
}

pub(super) static RLIKE: Function =
    declare("rlike", |a| format!("RLIKE({})", a.join(", ")), |c, a| build(None, c, a), "1.0.0");
pub(super) static REGEXP: Function =
    declare("regexp", |a| format!("REGEXP({})", a.join(", ")), |c, a| build(Some("regexp"), c, a), "3.2.0");
pub(super) static REGEXP_LIKE: Function = declare(
    "regexp_like",
    |a| format!("REGEXP_LIKE({})", a.join(", ")),
    |c, a| build(Some("regexp_like"), c, a),
    "3.2.0",
);

/// The name is the function's in errors, where it is not `rlike`.
fn build(name: Option<&str>, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call_with_payload(
        &KERNEL,
        run,
        &arguments,
        &DataType::Boolean,
        nullable,
        context,
        name.map(Into::into),
    )?;
    Ok(TypedExpr::new(expr, DataType::Boolean, nullable, ""))
}

/// A text and an expression in.
pub(super) static KERNEL: Function = Function {
    name: "matches_regexp",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::NONE,
    body: Body::Scalar { returns: Returns::Type(DataType::Boolean), nullable: Nullability::IfAnyArgument, kernel: run },
    deterministic: true,
    text: None,
    documentation: Documentation::EMPTY,
};

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let function = args.settings.payload.as_deref().unwrap_or("rlike");
    let compile = |pattern: &str| Pattern::compile(&under_collation(args.types, pattern), function);
    matches(args, compile, Pattern::is_match)
}
