//! Hints: partitioning hints move rows, BROADCAST decides what joins hold, other join
//! strategies are left to the engine, unknown ones are ignored as in Spark.

use super::unary::{repartition, repartition_by};
use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, ExprKind, Relation, SortOrder};
use firesteel_types::Literal;

/// A relation with a hint.
pub(crate) fn hint(a: &mut Analyzer<'_>, input: &Relation, name: &str, parameters: &[Expr]) -> Result<Resolved> {
    let name = name.to_ascii_uppercase();
    match name.as_str() {
        "COALESCE" => match parameters {
            [only] => match number(only) {
                Some(count) => repartition(a, input, count, false),
                None => Err(SparkError::new("_LEGACY_ERROR_TEMP_1048").with("hintName", name)),
            },
            _ => Err(SparkError::new("_LEGACY_ERROR_TEMP_1048").with("hintName", name)),
        },
        "REPARTITION" | "REBALANCE" | "REPARTITION_BY_RANGE" => {
            let count = parameters.first().and_then(number);
            let keys = if count.is_some() { &parameters[1..] } else { parameters };
            let keys = columns(a, &name, keys)?;
            match (name.as_str(), count, keys.as_slice()) {
                ("REPARTITION", Some(count), []) => repartition(a, input, count, true),
                ("REPARTITION_BY_RANGE", count, keys) => {
                    let ordered = keys.iter().map(|key| {
                        Expr::new(ExprKind::Sort(Box::new(SortOrder::ascending(key.clone())))).at(key.origin.clone())
                    });
                    repartition_by(a, input, &ordered.collect::<Vec<_>>(), count)
                }
                (_, count, keys) => repartition_by(a, input, keys, count),
            }
        }
        "BROADCAST" | "BROADCASTJOIN" | "MAPJOIN" => broadcast(a, input, parameters),
        _ => a.relation(input),
    }
}

/// Joins hold the whole input, or those relations within it that the hint names.
fn broadcast(a: &mut Analyzer<'_>, input: &Relation, parameters: &[Expr]) -> Result<Resolved> {
    if parameters.is_empty() {
        let input = a.relation(input)?;
        let plan = crate::broadcast::broadcast(input.plan.clone());
        return Ok(input.with_plan(plan));
    }
    let names = parameters.iter().filter_map(|parameter| match &parameter.kind {
        ExprKind::Attribute { name, .. } => name.last().cloned(),
        ExprKind::Literal(Literal::String(name)) => Some(name.clone()),
        _ => None,
    });
    let around = a.broadcast.len();
    a.broadcast.extend(names);
    let resolved = a.relation(input);
    a.broadcast.truncate(around);
    resolved
}

/// The relation of a name, with the hint that names it.
pub(super) fn named(a: &Analyzer<'_>, resolved: Resolved, name: &str) -> Resolved {
    if !a.broadcast.iter().any(|hinted| hinted.eq_ignore_ascii_case(name)) {
        return resolved;
    }
    let plan = crate::broadcast::broadcast(resolved.plan.clone());
    resolved.with_plan(plan)
}

fn number(parameter: &Expr) -> Option<i32> {
    match parameter.kind {
        ExprKind::Literal(Literal::Integer(n)) => Some(n),
        ExprKind::Literal(Literal::Long(n)) => i32::try_from(n).ok(),
        _ => None,
    }
}

/// The columns that a hint names: the DataFrame API sends their names as strings.
fn columns(a: &mut Analyzer<'_>, hint: &str, parameters: &[Expr]) -> Result<Vec<Expr>> {
    let mut columns = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        match &parameter.kind {
            ExprKind::Literal(Literal::String(name)) => {
                columns.push(Expr::attribute(firesteel_sql::parse_attribute_name(name)?).at(parameter.origin.clone()));
            }
            ExprKind::Attribute { .. } => columns.push(parameter.clone()),
            ExprKind::Literal(_) => {
                let text = a.constant(parameter)?.name;
                return Err(SparkError::new("_LEGACY_ERROR_TEMP_1047")
                    .with("hintName", hint)
                    .with("invalidParams", format!("\"{text}\"")));
            }
            _ => columns.push(parameter.clone()),
        }
    }
    Ok(columns)
}
