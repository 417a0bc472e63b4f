//! Window functions that have become the same: computed once.
//!
//! Simplification makes `count(a)` and `count(b)` of columns that are never null one call. The
//! elimination of common expressions would put it into a projection, where no window function can stand.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result as DfResult};
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Window};
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// DataFusion's rules, with this one where it is needed.
pub(crate) fn optimizer_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    let before = rules.iter().position(|rule| rule.name() == "common_sub_expression_eliminate");
    rules.insert(before.unwrap_or(0), Arc::new(UniqueWindows));
    rules
}

#[derive(Debug)]
struct UniqueWindows;

impl OptimizerRule for UniqueWindows {
    fn name(&self) -> &str {
        "unique_windows"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> DfResult<Transformed<LogicalPlan>> {
        let LogicalPlan::Window(window) = plan else { return Ok(Transformed::no(plan)) };
        let name = |expr: &Expr| expr.schema_name().to_string();
        let mut kept: Vec<Expr> = Vec::with_capacity(window.window_expr.len());
        let mut copies: Vec<(String, String)> = Vec::new();
        for expr in &window.window_expr {
            match kept.iter().find(|first| bare(first) == bare(expr)) {
                Some(first) => copies.push((name(expr), name(first))),
                None => kept.push(expr.clone()),
            }
        }
        if copies.is_empty() {
            return Ok(Transformed::no(LogicalPlan::Window(window)));
        }
        let columns = window.schema.columns();
        let computed = Arc::new(LogicalPlan::Window(Window::try_new(kept, window.input)?));
        let expressions =
            columns.into_iter().map(|column| match copies.iter().find(|(copy, _)| *copy == column.name) {
                Some((copy, first)) => Expr::Column(Column::new_unqualified(first)).alias(copy),
                None => Expr::Column(column),
            });
        let expressions = expressions.collect();
        Projection::try_new(expressions, computed).map(|p| Transformed::yes(LogicalPlan::Projection(p)))
    }
}

fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => bare(&alias.expr),
        other => other,
    }
}
