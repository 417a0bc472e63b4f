//! CTEs, and relations that a plan refers to.

use super::set_operation;
use crate::analyzer::{Analyzer, Cte};
use crate::attribute::{Attribute, quote};
use crate::expression::implicit_cast;
use crate::recursion::{RecursionLimits, WorkTable};
use crate::resolved::{Resolved, built, project};
use datafusion::logical_expr::LogicalPlanBuilder;
use firesteel_config::CtePrecedence;
use firesteel_error::{Result, SparkError};
use firesteel_functions::cast::can_up_cast;
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
    let begins_query = std::mem::take(&mut a.begins_query);
    within(a, ctes, is_recursive, begins_query, |a| a.relation(input))
}

/// Analyses something that may use definitions.
fn within(
    a: &mut Analyzer<'_>,
    ctes: &[CteDefinition],
    is_recursive: bool,
    begins_query: bool,
    analyse: impl FnOnce(&mut Analyzer<'_>) -> Result<Resolved>,
) -> Result<Resolved> {
    let depth = a.ctes.len();
    let result = define(a, ctes, is_recursive, begins_query)
        .and_then(|()| check_unused(a, ctes, depth))
        .and_then(|()| analyse(a));
    a.ctes.truncate(depth);
    result
}

/// `begins_query`: a definition or an expression's subquery begins here. Elsewhere names may be used again.
fn define(a: &mut Analyzer<'_>, ctes: &[CteDefinition], is_recursive: bool, begins_query: bool) -> Result<()> {
    let outer = a.ctes.len();
    for (i, cte) in ctes.iter().enumerate() {
        if ctes[..i].iter().any(|c| c.name.eq_ignore_ascii_case(&cte.name)) {
            return Err(SparkError::new("DUPLICATED_CTE_NAMES").with("duplicateNames", quote(&cte.name)));
        }
        let is_outer = |names: &HashMap<String, Cte>| names.keys().any(|n| n.eq_ignore_ascii_case(&cte.name));
        if begins_query
            && a.env.conf().cte_precedence == CtePrecedence::Exception
            && a.ctes[..outer].iter().any(is_outer)
        {
            return Err(SparkError::new("AMBIGUOUS_ALIAS_IN_NESTED_CTE")
                .with("name", quote(&cte.name))
                .with("config", "\"spark.sql.legacy.ctePrecedencePolicy\"")
                .with("docroot", "https://spark.apache.org/docs/latest"));
        }
        let depth = a.ctes.len();
        let definition = if is_recursive && refers_to(&cte.query, &cte.name) && !redefines(&cte.query, &cte.name) {
            Cte::Recursive { definition: cte.clone(), depth }
        } else {
            Cte::Defined { query: cte.query.clone(), columns: cte.columns.clone(), depth }
        };
        a.ctes.push(HashMap::from([(cte.name.clone(), definition)]));
    }
    Ok(())
}

/// A definition that nobody uses must be right all the same.
fn check_unused(a: &mut Analyzer<'_>, ctes: &[CteDefinition], depth: usize) -> Result<()> {
    for (i, _) in ctes.iter().enumerate() {
        match a.ctes.get(depth + i).and_then(|m| m.values().next().cloned()) {
            Some(Cte::Defined { query, columns, depth }) => {
                let later = a.ctes.split_off(depth);
                a.begins_query = true;
                let resolved = a.relation(&query);
                a.ctes.extend(later);
                super::unary::rename_columns(resolved?, &columns, &ctes[i].name)?;
            }
            Some(Cte::Recursive { definition, depth }) => {
                recursive_at(a, &definition, depth)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether the name means a definition of the query's own.
fn redefines(query: &Relation, name: &str) -> bool {
    match query.kind() {
        RelationKind::With { ctes, .. } => ctes.iter().any(|cte| cte.name.eq_ignore_ascii_case(name)),
        RelationKind::SubqueryAlias { input, .. } => redefines(input, name),
        _ => false,
    }
}

fn refers_to(query: &Relation, name: &str) -> bool {
    // The text of the plan is enough: a false hit only costs the attempt.
    format!("{query:?}").contains(&format!("{name:?}"))
}

/// A recursive CTE where it is used: its definition sees the CTEs before it.
pub(crate) fn recursive_at(a: &mut Analyzer<'_>, cte: &CteDefinition, depth: usize) -> Result<Resolved> {
    let later = a.ctes.split_off(depth);
    let (references, outer) = (std::mem::take(&mut a.self_references), std::mem::take(&mut a.aggregates));
    let resolved = recursive(a, cte, &cte.query);
    (a.self_references, a.aggregates) = (references, outer);
    a.ctes.truncate(depth);
    a.ctes.extend(later);
    resolved
}

/// `anchor UNION [ALL] step`, with definitions of its own before it or without.
fn recursive(a: &mut Analyzer<'_>, cte: &CteDefinition, query: &Relation) -> Result<Resolved> {
    let (query, columns) = match query.kind() {
        RelationKind::SubqueryAlias { input, columns, .. } if !columns.is_empty() => (input, columns.clone()),
        _ => (query, cte.columns.clone()),
    };
    if let RelationKind::With { input, ctes, is_recursive } = query.kind() {
        // Definitions before the union are no part of the recursion.
        a.ctes.push(HashMap::from([(cte.name.clone(), Cte::Anchor)]));
        let resolved = within(a, ctes, *is_recursive, false, |a| recursive(a, cte, input));
        a.ctes.pop();
        return resolved;
    }
    let RelationKind::SetOperation(SetOperation { left, right, operator: SetOperator::Union, is_all, .. }) =
        query.kind()
    else {
        return Err(SparkError::new("INVALID_RECURSIVE_CTE"));
    };
    if !is_all {
        return Err(SparkError::new("UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE"));
    }
    a.ctes.push(HashMap::from([(cte.name.clone(), Cte::Anchor)]));
    let anchor = a.relation(left);
    a.ctes.pop();
    let anchor = anchor?;
    let anchor = super::unary::rename_columns(anchor, &columns, &cte.name)?;
    // The working table has the anchor's columns under names of its own.
    let working: Vec<Attribute> = anchor.output.iter().map(|c| Attribute { nullable: true, ..c.renewed() }).collect();
    let conf = a.env.conf();
    let levels = cte.max_recursion.unwrap_or(conf.cte_recursion_level_limit);
    let rows = match (a.row_limit, conf.cte_recursion_row_limit) {
        (Some(wanted), limit) if wanted < 0 || (limit >= 0 && wanted > limit) => wanted,
        (_, limit) => limit,
    };
    let limits = RecursionLimits::new(levels, rows);
    let table_name = limits.name(working.first().map_or(0, |c| c.id.0));
    let anchor_plan = project(
        anchor.plan.clone(),
        anchor.output.iter().zip(&working).map(|(o, w)| o.expr().alias(w.column_name())).collect(),
    )?;
    let schema: arrow::datatypes::SchemaRef = Arc::clone(anchor_plan.schema().inner());
    let source = datafusion::datasource::provider_as_source(Arc::new(WorkTable::new(&table_name, schema)));
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
        if !can_up_cast(&column.data_type, &w.data_type) {
            return Err(SparkError::new("CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE")
                .with("left", format!("\"{}\"", w.data_type.sql()))
                .with("right", format!("\"{}\"", column.data_type.sql())));
        }
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

/// The error where a recursive reference stands below an operator that cannot have it.
pub(crate) fn refuse_self_reference(a: &Analyzer<'_>, before: usize) -> Result<()> {
    if a.self_references > before {
        return Err(SparkError::new("INVALID_RECURSIVE_REFERENCE.PLACE"));
    }
    Ok(())
}

/// True where a limit over the relation is one of the rows of a named relation below.
pub(crate) fn limits_source(relation: &Relation) -> bool {
    match relation.kind() {
        RelationKind::Table(_) => true,
        RelationKind::Project { input, .. }
        | RelationKind::SubqueryAlias { input, .. }
        | RelationKind::With { input, .. } => limits_source(input),
        _ => false,
    }
}
