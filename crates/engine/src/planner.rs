//! Physical planning of our own logical operators.

use crate::broadcast::BroadcastPlanner;
use crate::exchange::ExchangePlanner;
use crate::observe::ObservePlanner;
use crate::python::PythonPlanner;
use crate::streaming::StreamingPlanner;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result as DfResult;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use std::sync::Arc;

/// DataFusion's planner with the planners of our operators.
#[derive(Debug)]
pub struct Planner;

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, state: &dyn Session) -> DfResult<Arc<dyn ExecutionPlan>> {
        DefaultPhysicalPlanner::with_extension_planners(vec![
            Arc::new(ObservePlanner),
            Arc::new(ExchangePlanner),
            Arc::new(BroadcastPlanner),
            Arc::new(PythonPlanner),
            Arc::new(StreamingPlanner),
        ])
        .create_physical_plan(plan, state)
        .await
    }
}
