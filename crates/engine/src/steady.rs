//! Sorts of few rows leave rows of equal keys in their order, as Spark's sorts do.
//!
//! DataFusion's sorts do not: here the number of a row is the last key.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result as DfResult};
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, Projection, Sort, SortExpr, Window};
use firesteel_analyzer::attribute::AttributeId;
use firesteel_analyzer::exchange::{Exchange, Scheme, exchange};
use std::sync::Arc;

/// The plan with the numbers of rows as last keys of its sorts.
pub(crate) fn steady(plan: LogicalPlan) -> DfResult<LogicalPlan> {
    plan.transform_up(|node| {
        Ok(match node {
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
                let input = Arc::unwrap_or_clone(sort.input);
                Transformed::yes(sorted(input, sort.expr, |input, expr| {
                    LogicalPlan::Sort(Sort { expr, input: Arc::new(input), fetch: None })
                })?)
            }
            LogicalPlan::Extension(extension) => match keys_of(&extension) {
                Some((input, keys)) => {
                    Transformed::yes(sorted(input, keys, |input, keys| exchange(input, Scheme::Sorted(keys), 1))?)
                }
                None => Transformed::no(LogicalPlan::Extension(extension)),
            },
            other => Transformed::no(other),
        })
    })
    .map(|t| t.data)
}

/// The input and the keys of a sort that stays where it is.
fn keys_of(extension: &Extension) -> Option<(LogicalPlan, Vec<SortExpr>)> {
    let exchange = extension.node.as_any().downcast_ref::<Exchange>()?;
    match &exchange.scheme {
        Scheme::Sorted(keys) => Some((exchange.input.clone(), keys.clone())),
        _ => None,
    }
}

/// A sort by keys and then by the number of the row, which is dropped again.
fn sorted(
    input: LogicalPlan,
    mut keys: Vec<SortExpr>,
    sort: impl FnOnce(LogicalPlan, Vec<SortExpr>) -> LogicalPlan,
) -> DfResult<LogicalPlan> {
    let columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
    let name = format!("_number#{}", AttributeId::fresh().0);
    let window = row_number().alias(&name);
    let numbered = Window::try_new(vec![window], Arc::new(input)).map(LogicalPlan::Window)?;
    keys.push(SortExpr::new(Expr::Column(Column::new_unqualified(name)), true, false));
    let sorted = sort(numbered, keys);
    Projection::try_new(columns, Arc::new(sorted)).map(LogicalPlan::Projection)
}
