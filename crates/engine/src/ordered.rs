//! Partitions run at once, and their rows come out in the partitions' order.

use crate::one_input::over_one_input;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::limit::LimitStream;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};

/// Batches that a partition may be ahead of its turn.
const AHEAD: usize = 64;
/// Kibibytes that these batches may take: one batch may be ahead whatever its size.
const AHEAD_SIZE: usize = 16 << 10;

/// Bytes of a batch's own rows, not of buffers that it shares with others.
pub(crate) fn bytes(batch: &RecordBatch) -> usize {
    let column = |array: &ArrayRef| {
        let views = match array.data_type() {
            DataType::Utf8View => array.as_string_view().total_buffer_bytes_used(),
            DataType::BinaryView => array.as_binary_view().total_buffer_bytes_used(),
            _ => 0,
        };
        array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size()) + views
    };
    batch.columns().iter().map(column).sum()
}

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
        let free = Arc::new(Semaphore::new(AHEAD_SIZE));
        let task = SpawnedTask::spawn(async move {
            while let Some(batch) = input.next().await {
                let is_error = batch.is_err();
                let size = batch.as_ref().map_or(0, |b| bytes(b) >> 10).clamp(1, AHEAD_SIZE);
                let size = u32::try_from(size).unwrap_or(1);
                let Ok(claim) = free.clone().acquire_many_owned(size).await else { return };
                if sender.send((batch, claim)).await.is_err() || is_error {
                    return;
                }
                // Others, interrupts among them, get in between batches.
                tokio::task::yield_now().await;
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
                // What the batch claimed is free when it has left.
                Some((batch, _claim)) => Some((batch, Some((receiver, task)))),
                None => match task.join_unwind().await {
                    Ok(()) => None,
                    Err(error) => Some((Err(DataFusionError::ExecutionJoin(Box::new(error))), None)),
                },
            }
        })
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
}

/// Replaces the operators that bring partitions together in whatever order they come.
pub(crate) fn in_order(plan: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        let (input, fetch) = if let Some(coalesce) = any.downcast_ref::<CoalescePartitionsExec>() {
            (coalesce.input(), coalesce.fetch())
        } else if let Some(exchange) = any.downcast_ref::<RepartitionExec>()
            && exchange.partitioning().partition_count() == 1
            && !exchange.preserve_order()
        {
            (exchange.input(), None)
        } else {
            return Ok(Transformed::no(node));
        };
        Ok(Transformed::yes(Arc::new(OrderedExec::new(input.clone(), fetch)) as _))
    })
    .map(|t| t.data)
}

/// All partitions as one, in their order.
#[derive(Debug)]
pub(crate) struct OrderedExec {
    input: Arc<dyn ExecutionPlan>,
    fetch: Option<usize>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl OrderedExec {
    /// All partitions of `input` as one; at most `fetch` rows.
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, fetch: Option<usize>) -> Self {
        let properties = CoalescePartitionsExec::new(input.clone()).properties().clone();
        Self { input, fetch, properties, metrics: ExecutionPlanMetricsSet::new() }
    }
}

impl DisplayAs for OrderedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fetch {
            Some(fetch) => write!(f, "OrderedExec: fetch={fetch}"),
            None => write!(f, "OrderedExec"),
        }
    }
}

impl ExecutionPlan for OrderedExec {
    fn name(&self) -> &str {
        "OrderedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    over_one_input!(input, |this, input| Self::new(input, this.fetch));

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let rows = execute(self.input.clone(), context)?;
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        Ok(match self.fetch {
            Some(fetch) => Box::pin(LimitStream::new(rows, 0, Some(fetch), metrics)),
            None => rows,
        })
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
