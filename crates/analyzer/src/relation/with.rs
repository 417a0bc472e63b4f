//! CTEs, and relations that a plan refers to.

use super::set_operation;
use crate::analyzer::{Analyzer, Cte};
use crate::attribute::{Attribute, quote};
use crate::expression::implicit_cast;
use crate::recursion::RecursionLimits;
use crate::resolved::{Resolved, built, project};
use datafusion::logical_expr::LogicalPlanBuilder;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Cte as CteDefinition, Relation, RelationKind, SetOperation, SetOperator};
use std::collections::HashMap;
use std::sync::Arc;

/// `WITH …`: each definition sees those before it.
pub(crate) fn with(
    a: &mut Analyzer<'_>,
    input: &Relation,
    ctes: &[CteDefinition],
    is_recursive: bool,
) -> Result<Resolved> {
    let depth = a.ctes.len();
    for (i, cte) in ctes.iter().enumerate() {
        if ctes[..i].iter().any(|c| c.name.eq_ignore_ascii_case(&cte.name)) {
            a.ctes.truncate(depth);
            return Err(SparkError::new("DUPLICATED_CTE_NAMES").with("duplicateNames", quote(&cte.name)));
        }
        let definition = if is_recursive && refers_to(&cte.query, &cte.name) {
            match recursive(a, cte) {
                Ok(resolved) => Cte::Working(Arc::new(resolved)),
                Err(error) => {
                    a.ctes.truncate(depth);
                    return Err(error);
                }
            }
        } else {
            Cte::Defined { query: cte.query.clone(), columns: cte.columns.clone(), depth: a.ctes.len() }
        };
        a.ctes.push(HashMap::from([(cte.name.clone(), definition)]));
    }
    let result = check_unused(a, ctes, depth).and_then(|()| a.relation(input));
    a.ctes.truncate(depth);
    result
}

/// A definition that nobody uses must be right all the same.
fn check_unused(a: &mut Analyzer<'_>, ctes: &[CteDefinition], depth: usize) -> Result<()> {
    for (i, _) in ctes.iter().enumerate() {
        let definition = a.ctes.get(depth + i).and_then(|m| m.values().next().cloned());
        if let Some(Cte::Defined { query, columns, depth }) = definition {
            let later = a.ctes.split_off(depth);
            let resolved = a.relation(&query);
            a.ctes.extend(later);
            super::unary::rename_columns(resolved?, &columns, &ctes[i].name)?;
        }
    }
    Ok(())
}

fn refers_to(query: &Relation, name: &str) -> bool {
    // The text of the plan is enough: a false hit only costs the attempt.
    format!("{query:?}").contains(&format!("{name:?}"))
}

/// A recursive CTE: `anchor UNION [ALL] step`.
fn recursive(a: &mut Analyzer<'_>, cte: &CteDefinition) -> Result<Resolved> {
    let (query, columns) = match cte.query.kind() {
        RelationKind::SubqueryAlias { input, columns, .. } if !columns.is_empty() => (input, columns.clone()),
        _ => (&cte.query, cte.columns.clone()),
    };
    let RelationKind::SetOperation(SetOperation { left, right, operator: SetOperator::Union, is_all, .. }) =
        query.kind()
    else {
        return Err(SparkError::new("INVALID_RECURSIVE_CTE"));
    };
    if !is_all {
        return Err(SparkError::new("UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE"));
    }
    let anchor = a.relation(left)?;
    let anchor = super::unary::rename_columns(anchor, &columns, &cte.name)?;
    // The working table has the anchor's columns under names of its own.
    let working: Vec<Attribute> = anchor.output.iter().map(|c| Attribute { nullable: true, ..c.renewed() }).collect();
    let conf = a.env.conf();
    let levels = cte.max_recursion.unwrap_or(conf.cte_recursion_level_limit);
    let limits = RecursionLimits::new(levels, conf.cte_recursion_row_limit);
    let table_name = limits.name(working.first().map_or(0, |c| c.id.0));
    let anchor_plan = project(
        anchor.plan.clone(),
        anchor.output.iter().zip(&working).map(|(o, w)| o.expr().alias(w.column_name())).collect(),
    )?;
    let schema: arrow::datatypes::SchemaRef = Arc::clone(anchor_plan.schema().inner());
    let worktable = datafusion::catalog::cte_worktable::CteWorkTable::new(&table_name, schema);
    let source = datafusion::datasource::provider_as_source(Arc::new(worktable));
    let scan = built(LogicalPlanBuilder::scan(table_name.as_str(), source, None).and_then(LogicalPlanBuilder::build))?;
    let output: Vec<Attribute> = working.iter().map(Attribute::renewed).collect();
    let renamed = project(
        scan.clone(),
        scan.schema()
            .columns()
            .into_iter()
            .zip(&output)
            .map(|(c, o)| datafusion::logical_expr::Expr::Column(c).alias(o.column_name()))
            .collect(),
    )?;
    let working_relation = Resolved::leaf(renamed, output);
    a.ctes.push(HashMap::from([(cte.name.clone(), Cte::Working(Arc::new(working_relation)))]));
    let step = a.relation(right);
    a.ctes.pop();
    let step = step?;
    if step.output.len() != working.len() {
        return Err(set_operation::column_count_error("UNION", working.len(), step.output.len()));
    }
    let mut expressions = Vec::new();
    for (column, w) in step.output.iter().zip(&working) {
        let typed = implicit_cast(a, column.typed(), &w.data_type)?;
        expressions.push(typed.expr.alias(w.column_name()));
    }
    let step_plan = project(step.plan.clone(), expressions)?;
    let plan = built(
        LogicalPlanBuilder::from(anchor_plan)
            .to_recursive_query(table_name, step_plan, false)
            .and_then(LogicalPlanBuilder::build),
    )?;
    Resolved::leaf(plan, working).renewed()
}

/// SQL text whose names mean relations sent with it.
pub(crate) fn with_relations(a: &mut Analyzer<'_>, input: &Relation, references: &[Relation]) -> Result<Resolved> {
    let before = a.references.len();
    for reference in references {
        if let RelationKind::SubqueryAlias { alias, .. } = reference.kind() {
            a.references.push((alias.clone(), reference.clone()));
        }
    }
    let result = a.relation(input);
    a.references.truncate(before);
    result
}
