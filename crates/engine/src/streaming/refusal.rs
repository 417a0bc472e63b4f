//! Operators of streams in plans that are none.

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use firesteel_analyzer::streaming::{StreamingKind, StreamingOperator, refused};
use firesteel_error::SparkError;
use std::sync::Arc;

/// Refuses [`StreamingOperator`]s: a running stream has put others in their place.
pub(crate) struct StreamingPlanner;

#[async_trait]
impl ExtensionPlanner for StreamingPlanner {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        _physical_inputs: &[Arc<dyn ExecutionPlan>],
        _session: &dyn Session,
        _planning_ctx: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let Some(operator) = node.as_any().downcast_ref::<StreamingOperator>() else { return Ok(None) };
        let error = match &operator.kind {
            StreamingKind::Refused(message) => refused(message.clone()),
            StreamingKind::Missing(what) => SparkError::unsupported(what.clone()),
            StreamingKind::Watermark { .. } | StreamingKind::Deduplicate { .. } | StreamingKind::Aggregate { .. } => {
                SparkError::internal("an operator of streams was planned")
            }
        };
        Err(DataFusionError::External(Box::new(error)))
    }
}
