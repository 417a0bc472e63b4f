//! `input_file_name()` and the like.

use super::get_field;
use crate::analyzer::Analyzer;
use crate::files::Files;
use crate::resolved::engine_error;
use crate::scope::Scope;
use datafusion::logical_expr::when;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::Origin;
use firesteel_types::Literal;

/// A fact of the file that a row is read from; empty or -1 where it is not read from one.
pub(super) fn file_fact(a: &mut Analyzer<'_>, name: &str, origin: &Origin, scope: &Scope) -> Result<TypedExpr> {
    let text = format!("{name}()");
    let attribute = match &scope.files {
        Files::Column(attribute) => attribute.clone(),
        Files::Unknown => {
            let none = if name == "input_file_name" { Literal::String(String::new()) } else { Literal::Long(-1) };
            return Ok(super::literal(&none)?.named(text));
        }
        Files::Joined => return Err(SparkError::unsupported(format!("{name} over a join"))),
        Files::Several => {
            return Err(SparkError::new("MULTI_SOURCES_UNSUPPORTED_FOR_EXPRESSION").with("expr", format!("\"{text}\"")));
        }
    };
    let position = match name {
        "input_file_name" => 0,
        "input_file_block_start" => 3,
        _ => 4,
    };
    a.file_used = Some(attribute.clone());
    let fact = get_field(a, attribute.typed(), position)?;
    if position > 0 {
        return Ok(TypedExpr { nullable: false, ..fact.named(text) });
    }
    // A local path is `file:/a` in `_metadata`, `file:///a` here; those of other stores are the same.
    let mut context = a.build_context(origin);
    let constant = |text: &str| super::literal(&Literal::String(text.into()));
    let is_local = context.call("startswith", vec![fact.clone(), constant("file:")?])?;
    let path = context.call("substring", vec![fact.clone(), super::literal(&Literal::Integer(6))?])?;
    let local = context.call("concat", vec![constant("file://")?, path])?;
    let expr = when(is_local.expr, local.expr.clone()).otherwise(fact.expr).map_err(engine_error)?;
    Ok(TypedExpr { expr, nullable: false, ..local.named(text) })
}
