//! Keys of sorts, windows and exchanges that differ from row to row by themselves, such as
//! `rand()`, become columns below the operator: each row has one value, for all who ask.

use crate::attribute::AttributeId;
use crate::exchange::{Exchange, LocalSort, Scheme, exchange, local_sort};
use crate::resolved::built;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result as DfResult};
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Sort, SortExpr, Window};
use firesteel_error::Result;
use std::any::Any;
use std::sync::Arc;

/// The plan with such keys as columns.
pub fn pull_out(plan: LogicalPlan) -> Result<LogicalPlan> {
    built(plan.transform_up_with_subqueries(below).map(|t| t.data))
}

fn below(plan: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Sort(sort) if are_volatile(&sort.expr) => {
            let mut pulled = Vec::new();
            let expr = keys(sort.expr, &mut pulled);
            let input = with_columns(sort.input.as_ref().clone(), pulled)?;
            let sorted = LogicalPlan::Sort(Sort { expr, input: Arc::new(input), fetch: sort.fetch });
            columns_of(sorted, &sort.input).map(Transformed::yes)
        }
        LogicalPlan::Window(window) if window.window_expr.iter().any(has_volatile_keys) => {
            of_window(window).map(Transformed::yes)
        }
        LogicalPlan::Extension(extension) => {
            let node = extension.node.clone();
            let changed = below_exchange(node.as_any())?;
            Ok(match changed {
                Some(changed) => Transformed::yes(changed),
                None => Transformed::no(LogicalPlan::Extension(extension)),
            })
        }
        other => Ok(Transformed::no(other)),
    }
}

fn below_exchange(node: &dyn Any) -> DfResult<Option<LogicalPlan>> {
    let mut pulled = Vec::new();
    if let Some(sort) = node.downcast_ref::<LocalSort>()
        && are_volatile(&sort.keys)
    {
        let sort_keys = keys(sort.keys.clone(), &mut pulled);
        let sorted = local_sort(with_columns(sort.input.clone(), pulled)?, sort_keys);
        return columns_of(sorted, &sort.input).map(Some);
    }
    let Some(moved) = node.downcast_ref::<Exchange>() else { return Ok(None) };
    let scheme = match &moved.scheme {
        Scheme::ById(id) if id.is_volatile() => Scheme::ById(column(id.clone(), &mut pulled)),
        Scheme::Range(range) if are_volatile(range) => Scheme::Range(keys(range.clone(), &mut pulled)),
        _ => return Ok(None),
    };
    let spread = exchange(with_columns(moved.input.clone(), pulled)?, scheme, moved.partitions);
    columns_of(spread, &moved.input).map(Some)
}

fn are_volatile(keys: &[SortExpr]) -> bool {
    keys.iter().any(|key| key.expr.is_volatile())
}

/// The expression, or the column that it becomes.
fn column(expr: Expr, pulled: &mut Vec<Expr>) -> Expr {
    if !expr.is_volatile() {
        return expr;
    }
    let name = format!("_nondeterministic#{}", AttributeId::fresh().0);
    pulled.push(expr.alias(name.clone()));
    Expr::Column(Column::new_unqualified(name))
}

fn keys(keys: Vec<SortExpr>, pulled: &mut Vec<Expr>) -> Vec<SortExpr> {
    keys.into_iter().map(|key| SortExpr { expr: column(key.expr, pulled), ..key }).collect()
}

/// The rows with further columns; nothing moves past them.
fn with_columns(input: LogicalPlan, pulled: Vec<Expr>) -> DfResult<LogicalPlan> {
    let mut expressions: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
    expressions.extend(pulled);
    let projected = Projection::try_new(expressions, Arc::new(input)).map(LogicalPlan::Projection)?;
    Ok(exchange(projected, Scheme::Stay, 1))
}

/// Only the columns that another plan has.
fn columns_of(plan: LogicalPlan, other: &LogicalPlan) -> DfResult<LogicalPlan> {
    let expressions: Vec<Expr> = other.schema().columns().into_iter().map(Expr::Column).collect();
    Projection::try_new(expressions, Arc::new(plan)).map(LogicalPlan::Projection)
}

fn has_volatile_keys(expr: &Expr) -> bool {
    expr.exists(|e| {
        Ok(match e {
            Expr::WindowFunction(call) => {
                are_volatile(&call.params.order_by) || call.params.partition_by.iter().any(Expr::is_volatile)
            }
            _ => false,
        })
    })
    .unwrap_or(false)
}

fn of_window(window: Window) -> DfResult<LogicalPlan> {
    let whole = LogicalPlan::Window(window.clone());
    let mut pulled = Vec::new();
    let mut expressions = Vec::with_capacity(window.window_expr.len());
    for expr in window.window_expr {
        // The operator's columns are named by its expressions.
        let name = expr.schema_name().to_string();
        let changed = expr.transform_down(|e| {
            Ok(match e {
                Expr::WindowFunction(mut call) => {
                    let partition_by = std::mem::take(&mut call.params.partition_by);
                    call.params.partition_by = partition_by.into_iter().map(|key| column(key, &mut pulled)).collect();
                    call.params.order_by = keys(std::mem::take(&mut call.params.order_by), &mut pulled);
                    Transformed::yes(Expr::WindowFunction(call))
                }
                other => Transformed::no(other),
            })
        })?;
        expressions.push(match changed.data {
            named @ Expr::Alias(_) => named,
            other => other.alias(name),
        });
    }
    let input = with_columns(window.input.as_ref().clone(), pulled)?;
    let plan = Window::try_new(expressions, Arc::new(input)).map(LogicalPlan::Window)?;
    columns_of(plan, &whole)
}
