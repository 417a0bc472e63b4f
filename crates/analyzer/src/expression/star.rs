//! Stars and regular expressions over column names.

use super::{extract_field, get_field};
use crate::analyzer::Analyzer;
use crate::attribute::{Attribute, quote_parts};
use crate::scope::Scope;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, ExprKind, Name};
use firesteel_types::DataType;

/// The columns that a star or regular expression means; None for other expressions.
/// A struct's fields (`s.*`) are expressions, others plain columns.
pub(crate) fn expand(a: &mut Analyzer<'_>, expr: &Expr, scope: &Scope) -> Result<Option<Vec<(String, TypedExpr)>>> {
    match &expr.kind {
        ExprKind::Star { target, except, plan_id } => {
            let columns = star(a, target.as_deref(), *plan_id, scope)?;
            Ok(Some(without(a, columns, except, scope)?))
        }
        ExprKind::Regex { pattern, plan_id } => {
            let attributes = match plan_id {
                Some(id) => scope.star_by_plan_id(*id).unwrap_or_default(),
                None => scope.attributes.clone(),
            };
            let (qualifier, pattern) = match pattern.rsplit_once(".`") {
                Some((q, p)) => (Some(q.trim_matches('`').to_string()), p.trim_matches('`').to_string()),
                None => (None, pattern.trim_matches('`').to_string()),
            };
            let flags = if a.case_sensitive() { "" } else { "(?i)" };
            let regex = fancy_regex::Regex::new(&format!("{flags}^(?:{pattern})$"))
                .map_err(|_| SparkError::new("INVALID_REGEXP_REPLACE").with("pattern", pattern.clone()))?;
            let matching = attributes.iter().filter(|c| {
                regex.is_match(&c.name).unwrap_or(false)
                    && qualifier.as_ref().is_none_or(|q| c.qualifier.last().is_some_and(|x| scope.same_name(x, q)))
            });
            Ok(Some(matching.map(|c| (c.name.clone(), c.typed())).collect()))
        }
        _ => Ok(None),
    }
}

fn star(
    a: &mut Analyzer<'_>,
    target: Option<&[String]>,
    plan_id: Option<i64>,
    scope: &Scope,
) -> Result<Vec<(String, TypedExpr)>> {
    let all = |attributes: &[Attribute]| attributes.iter().map(|c| (c.name.clone(), c.typed())).collect();
    if let Some(plan_id) = plan_id
        && target.is_none()
    {
        let attributes = scope
            .star_by_plan_id(plan_id)
            .ok_or_else(|| SparkError::new("CANNOT_RESOLVE_DATAFRAME_COLUMN").with("name", "\"*\""))?;
        return Ok(all(&attributes));
    }
    let Some(target) = target else { return Ok(all(&scope.attributes)) };
    let columns = scope.star(target);
    if !columns.is_empty() {
        return Ok(all(&columns));
    }
    if let Some(found) = scope.find(target)? {
        let mut typed = found.attribute.typed();
        for field in &found.fields {
            typed = extract_field(a, typed, field)?;
        }
        if let DataType::Struct(schema) = typed.data_type.clone() {
            let fields = schema.fields.iter().enumerate();
            return fields
                .map(|(index, f)| {
                    let text = format!("{}.{}", typed.name, f.name);
                    Ok((f.name.clone(), get_field(a, typed.clone(), index)?.named(text)))
                })
                .collect();
        }
    }
    let outer = super::name::outer_star(a, target);
    if !outer.is_empty() {
        return Ok(outer);
    }
    let names: Vec<String> = scope.attributes.iter().map(|c| c.name.clone()).collect();
    Err(SparkError::new("CANNOT_RESOLVE_STAR_EXPAND")
        .with("targetString", quote_parts(target))
        .with("columns", names.iter().map(|n| crate::attribute::quote(n)).collect::<Vec<_>>().join(", ")))
}

fn without(
    a: &mut Analyzer<'_>,
    columns: Vec<(String, TypedExpr)>,
    except: &[Name],
    scope: &Scope,
) -> Result<Vec<(String, TypedExpr)>> {
    if except.is_empty() {
        return Ok(columns);
    }
    let mut left = columns;
    for name in except {
        let found = scope.find(name)?.ok_or_else(|| scope.unresolved(name))?;
        if !found.fields.is_empty() {
            return Err(SparkError::unsupported("EXCEPT of a struct's fields"));
        }
        let expr = found.attribute.expr();
        let before = left.len();
        left.retain(|(_, typed)| typed.expr != expr);
        if left.len() == before {
            return Err(SparkError::new("EXCEPT_OVERLAPPING_COLUMNS").with("columns", quote_parts(name)));
        }
    }
    let _ = a;
    Ok(left)
}
