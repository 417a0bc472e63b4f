//! Calls whose results nobody needs are not made.

use super::{PythonKind, PythonOperator};
use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::collections::HashSet;

/// Removes functions from a [`PythonOperator`] whose columns the operator above does not use.
#[derive(Debug, Default)]
pub struct RemoveUnusedPython;

impl OptimizerRule for RemoveUnusedPython {
    fn name(&self) -> &str {
        "remove_unused_python"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> DfResult<Transformed<LogicalPlan>> {
        if !matches!(plan, LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_)) {
            return Ok(Transformed::no(plan));
        }
        let inputs = plan.inputs();
        let [LogicalPlan::Extension(extension)] = inputs.as_slice() else { return Ok(Transformed::no(plan)) };
        let Some(operator) = extension.node.as_any().downcast_ref::<PythonOperator>() else {
            return Ok(Transformed::no(plan));
        };
        let PythonKind::Eval { chains } = &operator.kind else { return Ok(Transformed::no(plan)) };
        let expressions = plan.expressions();
        let used: HashSet<&str> =
            expressions.iter().flat_map(Expr::column_refs).map(|column| column.name.as_str()).collect();
        let kept: Vec<_> = chains.iter().filter(|chain| used.contains(chain.output.as_str())).cloned().collect();
        if kept.len() == chains.len() {
            return Ok(Transformed::no(plan));
        }
        let Some(input) = operator.inputs.first().cloned() else { return Ok(Transformed::no(plan)) };
        let input =
            if kept.is_empty() { input } else { PythonOperator::new(PythonKind::Eval { chains: kept }, input)? };
        Ok(Transformed::yes(plan.with_new_exprs(expressions, vec![input])?))
    }
}
