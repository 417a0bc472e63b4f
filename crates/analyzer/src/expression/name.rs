//! Columns by name.

use super::extract::extract_field;
use crate::analyzer::{AliasScope, Analyzer, OutputScope};
use crate::attribute::{Attribute, quote_parts, quoted_as_needed};
use crate::scope::{Found, Scope};
use arrow::datatypes::Field;
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, ExprKind, FunctionCall, Origin};
use firesteel_types::arrow_mapping;
use std::sync::Arc;

/// A column, a field of one, a lambda's parameter, an alias of the select list,
/// a column of an enclosing query, or a session variable: in this order.
pub(crate) fn attribute(
    a: &mut Analyzer<'_>,
    name: &[String],
    plan_id: Option<i64>,
    scope: &Scope,
) -> Result<TypedExpr> {
    if let Some(found) = lambda_variable(a, name, scope)? {
        return Ok(found);
    }
    if let Some(plan_id) = plan_id {
        if let Some(found) = scope.find_by_plan_id(plan_id, name)? {
            return take(a, found).map(|typed| respelled(typed, name));
        }
        if let Some(found) = in_outer_by_plan_id(a, plan_id, name)? {
            return Ok(found);
        }
        // The relation may be one whose columns have been replaced since: Spark
        // fails here rather than guess.
        return Err(SparkError::new("CANNOT_RESOLVE_DATAFRAME_COLUMN").with("name", quoted_as_needed(name)));
    }
    if let Some(found) = preferred_output(a, name)? {
        return Ok(found);
    }
    let in_scope = match scope.find(name) {
        // What means several columns of the input can mean an output still.
        Err(error) if error.is("AMBIGUOUS_REFERENCE") => match a.aliases.last() {
            Some(AliasScope::Outputs(outputs)) if matches!(outputs.scope.find(name), Ok(Some(_))) => None,
            _ => return Err(error),
        },
        found => found?,
    };
    if let Some(found) = in_scope {
        note_taken(a, name, &found);
        return take(a, found).map(|typed| respelled(typed, name));
    }
    if let Some(found) = alias(a, name, scope)? {
        return Ok(found);
    }
    if let Some(found) = in_outer(a, name)? {
        return Ok(found);
    }
    if let Some(found) = super::sql_function::parameter(a, name, scope)? {
        return Ok(found);
    }
    if let [one] = name
        && let Some(function) = bare_function(one)
    {
        // `grouping__id` stands for the call under this name.
        let function = if function == "grouping__id" { "grouping_id" } else { function };
        let call = FunctionCall::new(vec![function.to_string()], Vec::new());
        return super::call::function(a, &call, &Origin::Unknown, scope);
    }
    if let Some(value) = a.env.variable(name)? {
        let text = name.join(".");
        return Ok(super::literal(&value)?.named(text));
    }
    Err(super::sql_function::unresolved(a, name, scope))
}

/// Functions that may be called without parentheses.
pub(super) fn bare_function(name: &str) -> Option<&'static str> {
    const BARE: [&str; 8] = [
        "current_date",
        "current_timestamp",
        "current_time",
        "current_user",
        "user",
        "session_user",
        "localtimestamp",
        "grouping__id",
    ];
    let found = BARE.into_iter().find(|b| b.eq_ignore_ascii_case(name))?;
    Some(if matches!(found, "user" | "session_user") { "current_user" } else { found })
}

fn take(a: &mut Analyzer<'_>, found: Found) -> Result<TypedExpr> {
    if found.is_below {
        a.below_used.push(found.attribute.clone());
    }
    if found.is_file {
        a.file_used = Some(found.attribute.clone());
    }
    let typed = found.attribute.typed();
    fields(a, typed, &found.fields)
}

/// A column under its name as the query spells it.
fn respelled(typed: TypedExpr, name: &[String]) -> TypedExpr {
    match name.last() {
        Some(last) if *last != typed.name && last.eq_ignore_ascii_case(&typed.name) => typed.named(last),
        _ => typed,
    }
}

pub(super) fn fields(a: &Analyzer<'_>, mut typed: TypedExpr, fields: &[String]) -> Result<TypedExpr> {
    for field in fields {
        typed = extract_field(a, typed, field)?;
    }
    Ok(typed)
}

fn lambda_variable(a: &Analyzer<'_>, name: &[String], scope: &Scope) -> Result<Option<TypedExpr>> {
    let Some((first, rest)) = name.split_first() else { return Ok(None) };
    for frame in a.lambdas.iter().rev() {
        if let Some((_, typed)) = frame.iter().find(|(n, _)| scope.same_name(n, first)) {
            return fields(a, typed.clone(), rest).map(Some);
        }
    }
    Ok(None)
}

/// An output that a clause's name means before the input's columns.
fn preferred_output(a: &Analyzer<'_>, name: &[String]) -> Result<Option<TypedExpr>> {
    let Some(AliasScope::Outputs(outputs)) = a.aliases.last() else { return Ok(None) };
    let is_reached = outputs.within_aggregates || a.aggregates == 0;
    if is_reached && outputs.outputs_only.iter().any(|n| n == name) {
        let found = match outputs.scope.find(name) {
            Err(_) if outputs.come_first => None,
            found => found?,
        };
        return match found {
            Some(found) => fields(a, found.attribute.typed(), &found.fields).map(Some),
            None => Err(outputs.scope.unresolved(name)),
        };
    }
    if !outputs.come_first {
        return Ok(None);
    }
    // A name of several outputs may still be one of the input's.
    match outputs.scope.find(name) {
        Ok(Some(found)) => fields(a, found.attribute.typed(), &found.fields).map(Some),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Notes a name of a clause that means a column of the input.
fn note_taken(a: &mut Analyzer<'_>, name: &[String], found: &Found) {
    let is_within = a.aggregates > 0;
    if let Some(AliasScope::Outputs(outputs)) = a.aliases.last_mut()
        && (outputs.within_aggregates || !is_within)
    {
        outputs.taken.push((name.to_vec(), found.attribute.column_name()));
    }
}

/// An alias of the select list, where the input has no such column.
fn alias(a: &Analyzer<'_>, name: &[String], scope: &Scope) -> Result<Option<TypedExpr>> {
    let names = match a.aliases.last() {
        Some(AliasScope::Lateral(names)) => names,
        Some(AliasScope::Outputs(outputs)) => {
            return match outputs.scope.find(name)? {
                Some(found) => fields(a, found.attribute.typed(), &found.fields).map(Some),
                None if outputs.come_first && a.outer.is_empty() && a.function.is_none() => {
                    output_error(a, name, outputs)
                }
                None => Ok(None),
            };
        }
        None => return Ok(None),
    };
    let Some((first, rest)) = name.split_first() else { return Ok(None) };
    let mut matches = names.iter().filter(|(n, _)| scope.same_name(n, first));
    let Some((_, typed)) = matches.next() else { return Ok(None) };
    let others = matches.count();
    if others > 0 {
        return Err(SparkError::new("AMBIGUOUS_LATERAL_COLUMN_ALIAS")
            .with("name", quote_parts(name))
            .with("n", (others + 1).to_string()));
    }
    let found = fields(a, typed.clone(), rest)?;
    // Spark shows where a select list refers to itself.
    Ok(Some(found.named(format!("lateralAliasReference({})", name.last().unwrap_or(first)))))
}

/// The error of a name that is neither an output nor a column, a function or a variable.
fn output_error(a: &Analyzer<'_>, name: &[String], outputs: &OutputScope) -> Result<Option<TypedExpr>> {
    let is_function = matches!(name, [one] if bare_function(one).is_some());
    if is_function || a.env.variable(name)?.is_some() {
        return Ok(None);
    }
    Err(outputs.scope.unresolved(name))
}

pub(super) fn outer_reference(attribute: &Attribute) -> DfExpr {
    let field = Field::new(attribute.column_name(), arrow_mapping::to_arrow(&attribute.data_type), attribute.nullable);
    DfExpr::OuterReferenceColumn(Arc::new(field), attribute.column())
}

fn in_outer(a: &mut Analyzer<'_>, name: &[String]) -> Result<Option<TypedExpr>> {
    // A query sees the columns of the one around it and no further, the body of a function none of its caller's.
    let outermost = a.function.as_ref().map_or(0, |f| f.depth);
    let Some(level) = a.outer.len().checked_sub(1).filter(|level| *level >= outermost) else { return Ok(None) };
    // A name of several columns there is none of them.
    match a.outer[level].scope.find(name) {
        Ok(Some(found)) => use_outer(a, level, &found).map(Some),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// The columns that `target.*` means in the query around this one.
pub(super) fn outer_star(a: &mut Analyzer<'_>, target: &[String]) -> Vec<(String, TypedExpr)> {
    let Some(query) = a.outer.last_mut() else { return Vec::new() };
    let mut columns = Vec::new();
    for attribute in query.scope.star(target) {
        let expr = outer_reference(&attribute);
        if !query.used.contains(&expr) {
            query.used.push(expr.clone());
        }
        let typed = TypedExpr::new(expr, attribute.data_type.clone(), attribute.nullable, attribute.name.clone());
        columns.push((attribute.name, typed));
    }
    columns
}

fn in_outer_by_plan_id(a: &mut Analyzer<'_>, plan_id: i64, name: &[String]) -> Result<Option<TypedExpr>> {
    for level in (0..a.outer.len()).rev() {
        if let Some(found) = a.outer[level].scope.find_by_plan_id(plan_id, name)? {
            return use_outer(a, level, &found).map(Some);
        }
    }
    Ok(None)
}

fn use_outer(a: &mut Analyzer<'_>, level: usize, found: &Found) -> Result<TypedExpr> {
    let expr = outer_reference(&found.attribute);
    for query in &mut a.outer[level..] {
        if !query.used.contains(&expr) {
            query.used.push(expr.clone());
        }
    }
    let attribute = &found.attribute;
    let full: Vec<&str> = attribute.qualifier.iter().chain([&attribute.name]).map(String::as_str).collect();
    let text = format!("outer({})", full.join("."));
    let typed = TypedExpr::new(expr, attribute.data_type.clone(), attribute.nullable, text);
    fields(a, typed, &found.fields)
}

/// `Column.outer()`: names belong to the enclosing query.
pub(crate) fn outer(a: &mut Analyzer<'_>, child: &Expr, scope: &Scope) -> Result<TypedExpr> {
    if let ExprKind::Attribute { name, plan_id, .. } = &child.kind {
        let found = match plan_id {
            Some(id) => in_outer_by_plan_id(a, *id, name)?,
            None => in_outer(a, name)?,
        };
        if let Some(found) = found {
            return Ok(found);
        }
    }
    a.expression(child, scope)
}
