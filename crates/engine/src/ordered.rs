//! Partitions run at once, and their rows come out in the partitions' order.

use datafusion::common::Result as DfResult;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, SendableRecordBatchStream};
use futures::{StreamExt, stream};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Batches that a partition may be ahead of its turn.
const AHEAD: usize = 64;

/// Starts a plan. As in Spark, the first partition's rows come first.
pub(crate) fn execute(plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
    let partitions = plan.output_partitioning().partition_count();
    if partitions <= 1 {
        return if partitions == 0 {
            Ok(Box::pin(datafusion::physical_plan::EmptyRecordBatchStream::new(plan.schema())))
        } else {
            plan.execute(0, context)
        };
    }
    let mut receivers = Vec::with_capacity(partitions);
    for partition in 0..partitions {
        let mut input = plan.execute(partition, context.clone())?;
        let (sender, receiver) = mpsc::channel(AHEAD);
        let task = SpawnedTask::spawn(async move {
            while let Some(batch) = input.next().await {
                let is_error = batch.is_err();
                if sender.send(batch).await.is_err() || is_error {
                    return;
                }
            }
        });
        receivers.push((receiver, task));
    }
    let schema = plan.schema();
    let batches = stream::iter(receivers).flat_map(|(receiver, task)| {
        // A task is aborted when its partition's stream is dropped; a panic in it goes on here.
        stream::unfold(Some((receiver, task)), |state| async move {
            let (mut receiver, task) = state?;
            match receiver.recv().await {
                Some(batch) => Some((batch, Some((receiver, task)))),
                None => match task.join_unwind().await {
                    Ok(()) => None,
                    Err(error) => {
                        Some((Err(datafusion::common::DataFusionError::ExecutionJoin(Box::new(error))), None))
                    }
                },
            }
        })
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
}
