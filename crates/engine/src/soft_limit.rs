//! Limits in aggregates that DataFusion's optimiser put there too early.

use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use std::sync::Arc;

/// Takes a limit out of aggregates that became ordered after they got it: they would take it for a limit of the
/// first groups in some order, which nobody gave. The limit above them stays.
pub(crate) fn without_misplaced(plan: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        let unlimited = any
            .downcast_ref::<AggregateExec>()
            .filter(|aggregate| is_misplaced(aggregate))
            .map(|aggregate| aggregate.with_new_limit_options(None));
        Ok(match unlimited {
            Some(aggregate) => Transformed::yes(Arc::new(aggregate) as _),
            None => Transformed::no(node),
        })
    })
    .map(|t| t.data)
}

fn is_misplaced(aggregate: &AggregateExec) -> bool {
    aggregate.limit_options().is_some_and(|limit| limit.descending().is_none())
        && !aggregate.is_unordered_unfiltered_group_by_distinct()
        && aggregate.get_minmax_desc().is_none()
}
