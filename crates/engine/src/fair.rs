//! Exchanges whose consumers let each other run.
//!
//! A task that takes rows from an exchange finds some nearly always, and so would not
//! give its thread back for a long time. A task that it woke waits in a place that
//! other threads cannot take it from: without a pause partitions run one after another.

use crate::one_input::over_one_input;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// The name of the operator.
pub(crate) const NAME: &str = "FairExec";

/// Batches that a task takes at once.
const TURN: usize = 4;

/// The plan with pauses after its exchanges.
pub(crate) fn paused(plan: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        if !any.is::<RepartitionExec>() {
            return Ok(Transformed::no(node));
        }
        Ok(Transformed::yes(Arc::new(FairExec { input: node }) as _))
    })
    .map(|t| t.data)
}

/// The rows of its input, with pauses.
#[derive(Debug)]
struct FairExec {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for FairExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl ExecutionPlan for FairExec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    over_one_input!(input, |_this, input| Self { input });

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let batches = stream::unfold((input, 0), |(mut input, taken)| async move {
            if taken % TURN == TURN - 1 {
                tokio::task::yield_now().await;
            }
            let batch = input.next().await?;
            Some((batch, (input, taken + 1)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}
