//! Projections stay above operators that drop rows, where they compute.

use datafusion::common::Result as DfResult;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::{
    ProjectionExec, all_columns, remove_unnecessary_projections, try_embed_projection,
};
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// DataFusion's rule that moves projections down, except those that compute below a filter or a limit:
/// rows that are dropped must not fail, nor cost anything.
#[derive(Debug)]
struct ProjectionPushdown;

impl PhysicalOptimizerRule for ProjectionPushdown {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        plan.transform_down(|plan| {
            if !computes_above_dropped_rows(&plan) {
                return remove_unnecessary_projections(plan);
            }
            // The filter may still leave out columns that nothing reads.
            let narrowed = plan.downcast_ref::<ProjectionExec>().and_then(|projection| {
                let filter = projection.input().downcast_ref::<FilterExec>()?;
                try_embed_projection(projection, filter).transpose()
            });
            match narrowed {
                Some(narrowed) => Ok(Transformed::yes(narrowed?)),
                None => Ok(Transformed::no(plan)),
            }
        })
        .data()
    }

    fn name(&self) -> &str {
        "ProjectionPushdown"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// True for projections, perhaps several, with an expression that is no column, above a filter or a limited sort.
fn computes_above_dropped_rows(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut below = plan;
    let mut computes = false;
    while let Some(projection) = below.downcast_ref::<ProjectionExec>() {
        computes |= !all_columns(projection.expr());
        below = projection.input();
    }
    computes && (below.is::<FilterExec>() || below.downcast_ref::<SortExec>().is_some_and(|s| s.fetch().is_some()))
}

/// Physical rules, with ours in place of DataFusion's for projections.
pub(crate) fn replaced(
    rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>,
) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let replaced =
        |rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>| -> Arc<dyn PhysicalOptimizerRule + Send + Sync> {
            if rule.name() == "ProjectionPushdown" { Arc::new(ProjectionPushdown) } else { rule }
        };
    rules.into_iter().map(replaced).collect()
}
