//! Correlated subqueries as joins.
//!
//! The analyzer leaves subqueries where they stand: in expressions, and to the
//! right of lateral joins. Here each becomes a join of the operator's input
//! with the subquery's own plan, whose references to the input are pulled out of
//! it ([`pull`]) until they are conditions of that join. Where an operator lets no
//! condition through, the subquery is computed once for every combination of
//! the columns it refers to: its [`domain`].

mod attach;
mod domain;
mod pull;
mod single;

use crate::attribute::AttributeId;
use crate::resolved::{built, project};
use attach::{attach, lateral, restrict};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result as DfResult};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Subquery};
use firesteel_error::{Result, SparkError};
use std::sync::Arc;

pub use single::{AT_MOST_ONE, at_most_one};

/// The plan without correlated subqueries, and without lateral joins.
///
/// Scalar subqueries that refer to nothing outside stay: they are run before the plan.
pub fn unnest(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !has_subqueries(&plan) {
        return Ok(plan);
    }
    rewrite(plan)
}

/// Whether there is anything to do.
fn has_subqueries(plan: &LogicalPlan) -> bool {
    let mut found = false;
    // A failure means the same: there may be some.
    let visited = plan.apply(|node| {
        found = matches!(node, LogicalPlan::Subquery(_))
            || node.apply_expressions(|e| any(e, is_subquery)).is_ok_and(|r| r == TreeNodeRecursion::Stop);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || visited.is_err()
}

fn any(expr: &Expr, is: fn(&Expr) -> bool) -> DfResult<TreeNodeRecursion> {
    let found = expr.exists(|e| Ok(is(e)))?;
    Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
}

fn is_subquery(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_))
}

/// A column name that nothing else has.
fn fresh(name: &str) -> String {
    format!("{name}#{}", AttributeId::fresh().0)
}

fn rewrite(plan: LogicalPlan) -> Result<LogicalPlan> {
    stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, || {
        let mut failure = None;
        let plan = built(plan.map_children(|child| match rewrite(child) {
            Ok(child) => Ok(Transformed::yes(child)),
            Err(error) => {
                failure.get_or_insert(error);
                Ok(Transformed::no(LogicalPlan::default()))
            }
        }));
        if let Some(error) = failure {
            return Err(error);
        }
        let plan = match plan?.data {
            LogicalPlan::Join(join) if matches!(join.right.as_ref(), LogicalPlan::Subquery(_)) => lateral(join)?,
            LogicalPlan::Subquery(subquery) => return Ok(LogicalPlan::Subquery(subquery)),
            plan => plan,
        };
        let plan = subplans(plan)?;
        if !plan.expressions().iter().any(|e| e.exists(|e| Ok(is_pending(e))).unwrap_or(false)) {
            return Ok(plan);
        }
        match plan {
            LogicalPlan::Filter(filter) => in_filter(filter),
            LogicalPlan::Join(join) => in_join(join),
            plan => in_expressions(plan),
        }
    })
}

/// A subquery in an expression that is still to be joined.
fn is_pending(expr: &Expr) -> bool {
    match expr {
        Expr::ScalarSubquery(subquery) => has_outer(&subquery.subquery),
        Expr::Exists(_) | Expr::InSubquery(_) => true,
        // NOT IN has a meaning of its own where there are nulls.
        Expr::Not(inner) => matches!(inner.as_ref(), Expr::InSubquery(_)),
        _ => false,
    }
}

/// Whether a plan refers to anything outside of it.
fn has_outer(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let visited = plan.apply_with_subqueries(|node| {
        found = node.contains_outer_reference();
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || visited.is_err()
}

/// Rewrites the plans of the subqueries in a node's expressions.
fn subplans(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut failure = None;
    let mut inner = |subquery: Subquery| match rewrite(subquery.subquery.as_ref().clone()) {
        Ok(plan) => Subquery { subquery: Arc::new(plan), ..subquery },
        Err(error) => {
            failure.get_or_insert(error);
            subquery
        }
    };
    let mapped = plan.map_expressions(|expr| {
        expr.transform_up(|e| {
            Ok(match e {
                Expr::ScalarSubquery(subquery) => Transformed::yes(Expr::ScalarSubquery(inner(subquery))),
                Expr::Exists(Exists { subquery, negated }) => {
                    Transformed::yes(Expr::Exists(Exists { subquery: inner(subquery), negated }))
                }
                Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
                    Transformed::yes(Expr::InSubquery(InSubquery { expr, subquery: inner(subquery), negated }))
                }
                other => Transformed::no(other),
            })
        })
    });
    let plan = built(mapped)?.data;
    match failure {
        Some(error) => Err(error),
        None => Ok(plan),
    }
}

/// Joins the subqueries of an expression to its input; their values are columns then.
fn joined(input: LogicalPlan, expr: Expr) -> Result<(LogicalPlan, Expr)> {
    let mut plan = input;
    let mut failure = None;
    let mut known: Vec<(Expr, Expr)> = Vec::new();
    let expr = built(expr.transform_down(|e| {
        if failure.is_some() || !is_pending(&e) {
            return Ok(Transformed::no(e));
        }
        if let Some((_, value)) = known.iter().find(|(k, _)| *k == e) {
            return Ok(Transformed::new(value.clone(), true, TreeNodeRecursion::Jump));
        }
        match attach(plan.clone(), &e) {
            Ok((attached, value)) => {
                plan = attached;
                known.push((e, value.clone()));
                Ok(Transformed::new(value, true, TreeNodeRecursion::Jump))
            }
            Err(error) => {
                failure.get_or_insert(error);
                Ok(Transformed::no(e))
            }
        }
    }))?
    .data;
    match failure {
        Some(error) => Err(error),
        None => Ok((plan, expr)),
    }
}

/// Only the columns of a schema.
fn columns_of(plan: LogicalPlan, schema: &DFSchemaRef) -> Result<LogicalPlan> {
    project(plan, schema.columns().into_iter().map(Expr::Column).collect())
}

/// WHERE: conditions that are subqueries become semi joins.
fn in_filter(filter: Filter) -> Result<LogicalPlan> {
    let schema = filter.input.schema().clone();
    let mut plan = Arc::unwrap_or_clone(filter.input);
    let mut rest = Vec::new();
    let mut direct = Vec::new();
    for condition in split_conjunction_owned(filter.predicate) {
        match attach::as_restriction(&condition) {
            Some(_) => direct.push(condition),
            None => rest.push(condition),
        }
    }
    // Plain conditions first: they leave fewer rows to join.
    let (later, plain): (Vec<Expr>, Vec<Expr>) =
        rest.into_iter().partition(|e| e.exists(|e| Ok(is_pending(e))).unwrap_or(true));
    if let Some(predicate) = conjunction(plain) {
        plan = built(LogicalPlanBuilder::from(plan).filter(predicate).and_then(LogicalPlanBuilder::build))?;
    }
    for condition in direct {
        plan = restrict(plan, condition)?;
    }
    if later.is_empty() {
        return Ok(plan);
    }
    for condition in later {
        let (attached, condition) = joined(plan, condition)?;
        plan = built(LogicalPlanBuilder::from(attached).filter(condition).and_then(LogicalPlanBuilder::build))?;
    }
    columns_of(plan, &schema)
}

/// ON: in an inner join it is a filter; in others the subqueries are joined to the side they refer to.
fn in_join(join: Join) -> Result<LogicalPlan> {
    let schema = join.schema.clone();
    if join.join_type == JoinType::Inner {
        let mut conditions: Vec<Expr> = join.on.iter().map(|(l, r)| l.clone().eq(r.clone())).collect();
        conditions.extend(join.filter.clone());
        let plain = built(
            LogicalPlanBuilder::from(Arc::unwrap_or_clone(join.left)).cross_join(Arc::unwrap_or_clone(join.right)),
        )?;
        let plain = built(plain.build())?;
        let Some(predicate) = conjunction(conditions) else { return Ok(plain) };
        let filter = built(Filter::try_new(predicate, Arc::new(plain)))?;
        return rewrite(LogicalPlan::Filter(filter));
    }
    let (mut left, mut right) = (join.left.as_ref().clone(), join.right.as_ref().clone());
    let mut conditions: Vec<Expr> = join.on.iter().map(|(l, r)| l.clone().eq(r.clone())).collect();
    conditions.extend(join.filter.clone().into_iter().flat_map(split_conjunction_owned));
    let mut rewritten = Vec::new();
    for condition in conditions {
        let uses = |plan: &LogicalPlan| attach::refers_to(&condition, plan);
        let condition = if uses(&right) {
            if uses(&left) {
                return Err(SparkError::unsupported("a subquery in ON that refers to both sides of an outer join"));
            }
            let (plan, condition) = joined(right, condition)?;
            right = plan;
            condition
        } else {
            let (plan, condition) = joined(left, condition)?;
            left = plan;
            condition
        };
        rewritten.push(condition);
    }
    let builder = LogicalPlanBuilder::from(left).join_on(right, join.join_type, rewritten);
    columns_of(built(builder.and_then(LogicalPlanBuilder::build))?, &schema)
}

/// Subqueries in the expressions of an operator with one input.
fn in_expressions(plan: LogicalPlan) -> Result<LogicalPlan> {
    let schema = plan.schema().clone();
    let [input] = plan.inputs()[..] else {
        return Err(SparkError::unsupported(format!("a correlated subquery in {}", plan.display())));
    };
    let mut input = input.clone();
    let mut expressions = Vec::new();
    for expr in plan.expressions() {
        let name = match &expr {
            Expr::Alias(_) | Expr::Column(_) => None,
            other => Some(other.schema_name().to_string()),
        };
        let (attached, expr) = joined(input, expr)?;
        input = attached;
        // The name of a computed column is its text: it must stay.
        expressions.push(match name {
            Some(name) if matches!(plan, LogicalPlan::Projection(_)) => expr.alias(name),
            _ => expr,
        });
    }
    let rebuilt = built(plan.with_new_exprs(expressions, vec![input]))?;
    if rebuilt.schema().fields().len() == schema.fields().len() {
        return Ok(rebuilt);
    }
    columns_of(rebuilt, &schema)
}
