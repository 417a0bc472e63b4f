//! Sorts and limits that stay where they stand.
//!
//! DataFusion drops a sort that no operator above asks for. In Spark rows keep the order of a sort
//! below a union, a window or an aggregation such as `collect_list`; it drops sorts
//! below sorts, joins and aggregations to which the order means nothing. DataFusion also moves a sort
//! below a limit that no sort is under, since any rows would do there; in Spark a limit takes the first.

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

/// The plan with sorts and limits that the optimiser keeps.
pub(crate) fn kept(plan: LogicalPlan) -> DfResult<LogicalPlan> {
    let mut has_any = false;
    plan.apply(|node| {
        has_any |= matches!(node, LogicalPlan::Sort(_) | LogicalPlan::Limit(_));
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !has_any {
        return Ok(plan);
    }
    // The order of the whole plan's rows is kept anyway.
    let top = Place { is_shown: false, is_inner: false };
    plan.rewrite(&mut Keeper { places: vec![top] }).map(|t| t.data)
}

/// Where an operator stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// An operator above shows the order of its rows.
    is_shown: bool,
    /// An operator above may ask for another order.
    is_inner: bool,
}

/// Replaces sorts that operators above them show, and guards limits.
struct Keeper {
    /// The places of the operators on the way to the one that is visited, and that of its inputs.
    places: Vec<Place>,
}

impl Keeper {
    fn place(&self) -> Place {
        self.places.last().copied().unwrap_or(Place { is_shown: true, is_inner: true })
    }
}

impl TreeNodeRewriter for Keeper {
    type Node = LogicalPlan;

    fn f_down(&mut self, node: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
        let place = self.place();
        let is_plain = matches!(
            node,
            LogicalPlan::Projection(_) | LogicalPlan::Filter(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Limit(_)
        );
        let is_shown = shows_order(&node, place.is_shown)?;
        self.places.push(Place { is_shown, is_inner: place.is_inner || !is_plain });
        Ok(Transformed::no(node))
    }

    fn f_up(&mut self, node: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
        self.places.pop();
        let place = self.place();
        Ok(match node {
            LogicalPlan::Sort(sort) if place.is_shown && sort.fetch.is_none() => {
                let input = Arc::unwrap_or_clone(sort.input);
                Transformed::yes(exchange(input, Scheme::Sorted(sort.expr), 1))
            }
            LogicalPlan::Limit(limit) if place.is_inner && !is_over_sort(&limit.input) => {
                Transformed::yes(exchange(LogicalPlan::Limit(limit), Scheme::First, 1))
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
