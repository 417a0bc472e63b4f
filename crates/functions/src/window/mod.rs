//! Window functions.
//!
//! The expressions hold an `Expr::WindowFunction` with an empty specification,
//! for the analyzer to fill in. Aggregates over windows are in
//! [`aggregate`](crate::aggregate).

mod nth_value;
pub mod offset;
pub mod pandas;
mod ranking;

use crate::{Body, BuildContext, Documentation, Function, Group, Signature, TypedExpr, WindowCall};
use datafusion::logical_expr::expr::{NullTreatment, WindowFunction};
use datafusion::logical_expr::{Expr, WindowUDF};
use datafusion::scalar::ScalarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use std::sync::Arc;

/// The families' lists.
pub fn families() -> Vec<&'static [&'static Function]> {
    vec![nth_value::FUNCTIONS, offset::FUNCTIONS, pandas::FUNCTIONS, ranking::FUNCTIONS]
}

type Build = fn(&mut BuildContext<'_>, WindowCall) -> Result<TypedExpr>;

/// Declares a window function.
const fn declare(name: &'static str, signature: Signature, build: Build, usage: &'static str) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Window,
        signature,
        body: Body::Window(build),
        deterministic: true,
        text: None,
        documentation: Documentation { usage, ..Documentation::EMPTY },
    }
}

/// Declares a window function that only clients call.
const fn declare_internal(name: &'static str, signature: Signature, build: Build, usage: &'static str) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Internal,
        signature,
        body: Body::Window(build),
        deterministic: true,
        text: None,
        documentation: Documentation { usage, ..Documentation::EMPTY },
    }
}

/// Whether nulls are passed over: as the clause says, else as the call's own argument says.
fn passes_over_nulls(function: &str, flag: Option<&TypedExpr>, clause: Option<bool>) -> Result<bool> {
    let by_argument = match flag {
        None => false,
        Some(flag) => match flag.literal() {
            Some(ScalarValue::Boolean(Some(ignore))) => *ignore,
            _ => {
                return Err(SparkError::new("INVALID_PARAMETER_VALUE.BOOLEAN")
                    .with_class(ExceptionClass::Analysis)
                    .with("functionName", format!("`{function}`"))
                    .with("parameter", "`ignoreNulls`")
                    .with("invalidValue", format!("\"{}\"", flag.name)));
            }
        },
    };
    Ok(clause.unwrap_or(by_argument))
}

/// A window function without its window.
fn over_nothing(function: Arc<WindowUDF>, arguments: Vec<Expr>, ignore_nulls: bool) -> Expr {
    let mut call = WindowFunction::new(function, arguments);
    if ignore_nulls {
        call.params.null_treatment = Some(NullTreatment::IgnoreNulls);
    }
    Expr::WindowFunction(Box::new(call))
}

/// Fails for `IGNORE NULLS` where it means nothing.
fn check_syntax(name: &str, call: &WindowCall) -> Result<()> {
    if call.ignore_nulls != Some(true) {
        return Ok(());
    }
    Err(SparkError::new("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
        .with("prettyName", format!("`{name}`"))
        .with("syntax", "IGNORE NULLS"))
}
