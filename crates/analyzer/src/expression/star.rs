//! Stars and regular expressions over column names.

use super::{extract_field, get_field};
use crate::analyzer::{Analyzer, at};
use crate::attribute::{Attribute, quote_parts, quoted_as_needed};
use crate::scope::Scope;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, ExprKind, Name, Origin};
use firesteel_types::{DataType, Literal, StructField};

/// The columns that a star or regular expression means; None for other expressions.
/// A struct's fields (`s.*`) are expressions, others plain columns.
pub(crate) fn expand(a: &mut Analyzer<'_>, expr: &Expr, scope: &Scope) -> Result<Option<Vec<(String, TypedExpr)>>> {
    match &expr.kind {
        ExprKind::Star { target, except, plan_id } => star(a, target.as_deref(), *plan_id, scope)
            .and_then(|columns| without(a, columns, except, scope))
            .map(Some)
            .map_err(|error| at(error, &expr.origin)),
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
        return Err(
            SparkError::new("_LEGACY_ERROR_TEMP_1050").with("attributes", format!("List({})", target.join(", ")))
        );
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
    let mut found = Vec::with_capacity(except.len());
    for name in except {
        let column = scope.find(name)?.ok_or_else(|| scope.unresolved(name))?;
        let mut typed = column.attribute.typed();
        for field in &column.fields {
            typed = extract_field(a, typed, field)?;
        }
        found.push((column.attribute.expr(), column.fields));
    }
    let overlapping = || {
        let names: Vec<String> = except.iter().map(|name| quoted_as_needed(name)).collect();
        SparkError::new("EXCEPT_OVERLAPPING_COLUMNS").with("columns", names.join(", "))
    };
    let mut left = Vec::with_capacity(columns.len());
    for (name, typed) in columns {
        let paths: Vec<&[String]> =
            found.iter().filter(|(expr, _)| *expr == typed.expr).map(|(_, fields)| fields.as_slice()).collect();
        if let Some(typed) = without_fields(a, typed, &paths).ok_or_else(overlapping)?? {
            left.push((name, typed));
        }
    }
    Ok(left)
}

/// A struct without the fields at some paths, under its name; no value is left where a path is empty.
/// None where paths overlap.
fn without_fields(a: &Analyzer<'_>, typed: TypedExpr, paths: &[&[String]]) -> Option<Result<Option<TypedExpr>>> {
    match paths {
        [] => return Some(Ok(Some(typed))),
        [[]] => return Some(Ok(None)),
        several if several.iter().any(|path| path.is_empty()) => return None,
        _ => {}
    }
    let DataType::Struct(schema) = typed.data_type.clone() else { return Some(Ok(Some(typed))) };
    let same = |f: &StructField, name: &str| {
        if a.case_sensitive() { f.name == name } else { f.name.eq_ignore_ascii_case(name) }
    };
    let mut arguments = Vec::new();
    for (index, field) in schema.fields.iter().enumerate() {
        let inner: Vec<&[String]> = paths
            .iter()
            .filter_map(|path| path.split_first())
            .filter(|(first, _)| same(field, first))
            .map(|(_, rest)| rest)
            .collect();
        let value = match get_field(a, typed.clone(), index) {
            Ok(value) => value.named(format!("{}.{}", typed.name, field.name)),
            Err(error) => return Some(Err(error)),
        };
        match without_fields(a, value, &inner)? {
            Ok(None) => {}
            Ok(Some(value)) => match super::literal(&Literal::String(field.name.clone())) {
                Ok(name) => arguments.extend([name, value]),
                Err(error) => return Some(Err(error)),
            },
            Err(error) => return Some(Err(error)),
        }
    }
    let rebuilt = a.build_context(&Origin::Unknown).call("named_struct", arguments);
    Some(rebuilt.map(|rebuilt| Some(rebuilt.named(typed.name))))
}
