//! Sorts that stay where they stand.
//!
//! DataFusion drops a sort that no operator above asks for. In Spark rows keep the order of a sort
//! below a union, a window or an aggregation such as `collect_list`; it drops sorts
//! below sorts, joins and aggregations to which the order means nothing.

use arrow::datatypes::DataType;
use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion, TreeNodeRewriter};
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, FetchType, LogicalPlan};
use firesteel_analyzer::exchange::{Exchange, Scheme, exchange};
use std::any::Any;
use std::sync::Arc;

/// Aggregates to which the order of rows means nothing, at least where they add no floating point numbers.
const ORDERLESS: [&str; 12] =
    ["count", "min", "max", "sum", "avg", "try_sum", "try_avg", "bit_and", "bit_or", "bit_xor", "bool_and", "bool_or"];

/// The plan with sorts that the optimiser keeps.
pub(crate) fn kept(plan: LogicalPlan) -> DfResult<LogicalPlan> {
    let mut has_sorts = false;
    plan.apply(|node| {
        has_sorts |= matches!(node, LogicalPlan::Sort(_));
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !has_sorts {
        return Ok(plan);
    }
    // The order of the whole plan's rows is kept anyway.
    plan.rewrite(&mut Keeper { shown: vec![false] }).map(|t| t.data)
}

/// Replaces sorts that operators above them show.
struct Keeper {
    /// Whether the order of an operator's rows is shown: for the operators on the way to the one that is visited.
    shown: Vec<bool>,
}

impl TreeNodeRewriter for Keeper {
    type Node = LogicalPlan;

    fn f_down(&mut self, node: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
        let is_shown = self.shown.last().copied().unwrap_or_default();
        self.shown.push(shows_order(&node, is_shown)?);
        Ok(Transformed::no(node))
    }

    fn f_up(&mut self, node: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
        self.shown.pop();
        let is_shown = self.shown.last().copied().unwrap_or_default();
        Ok(match node {
            LogicalPlan::Sort(sort) if is_shown && sort.fetch.is_none() => {
                let input = Arc::unwrap_or_clone(sort.input);
                Transformed::yes(exchange(input, Scheme::Sorted(sort.expr), 1))
            }
            other => Transformed::no(other),
        })
    }
}

/// Whether an operator, or one above it, shows the order of its input.
fn shows_order(plan: &LogicalPlan, is_shown: bool) -> DfResult<bool> {
    Ok(match plan {
        LogicalPlan::Projection(_) | LogicalPlan::Filter(_) => {
            is_shown || plan.expressions().iter().any(Expr::is_volatile)
        }
        LogicalPlan::SubqueryAlias(_) => is_shown,
        LogicalPlan::Limit(limit) => {
            // A limit becomes part of a sort right below it.
            let is_top =
                matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(_)))) && is_over_sort(&limit.input);
            is_shown || !is_top
        }
        LogicalPlan::Sort(_) | LogicalPlan::Join(_) | LogicalPlan::Distinct(_) => false,
        LogicalPlan::Aggregate(aggregate) => depends_on_order(aggregate)?,
        LogicalPlan::Extension(extension) => {
            let any: &dyn Any = extension.node.as_any();
            !any.downcast_ref::<Exchange>().is_some_and(|e| matches!(e.scheme, Scheme::ById(_) | Scheme::Range(_)))
        }
        _ => true,
    })
}

fn is_over_sort(plan: &LogicalPlan) -> bool {
    let mut node = plan;
    loop {
        node = match node {
            LogicalPlan::Sort(_) => return true,
            LogicalPlan::Projection(projection) => &projection.input,
            LogicalPlan::SubqueryAlias(alias) => &alias.input,
            _ => return false,
        }
    }
}

fn depends_on_order(aggregate: &Aggregate) -> DfResult<bool> {
    let schema = aggregate.input.schema();
    for expr in &aggregate.aggr_expr {
        let depends = expr.exists(|e| {
            let Expr::AggregateFunction(call) = e else { return Ok(false) };
            if !ORDERLESS.contains(&call.func.name()) {
                return Ok(true);
            }
            let adds = matches!(call.func.name(), "sum" | "avg" | "try_sum" | "try_avg");
            for argument in call.params.args.iter().filter(|_| adds) {
                if matches!(argument.get_type(schema)?, DataType::Float32 | DataType::Float64) {
                    return Ok(true);
                }
            }
            Ok(false)
        })?;
        if depends {
            return Ok(true);
        }
    }
    Ok(false)
}
