//! The rows of an exchange by input and output partition, in memory or on disk.

use super::{Routing, range};
use arrow::array::{AsArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Int32Type, SchemaRef};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result as DfResult, internal_datafusion_err};
use datafusion::execution::SpillFile;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, SendableRecordBatchStream, SpillManager};
use firesteel_functions::scalar::math::random::XorShift;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// Rows of a batch that is worth handing on.
const BATCH_ROWS: usize = 8192;

/// Consecutive rows.
#[derive(Clone)]
enum Piece {
    Memory(RecordBatch),
    File(Arc<dyn SpillFile>),
}

/// Rows of one input partition, by output partition.
pub(crate) struct Side {
    buckets: Vec<Vec<Piece>>,
    reservation: MemoryReservation,
    spill: SpillManager,
    /// Rows taken in.
    pub(super) rows: usize,
}

impl Side {
    pub(super) fn new(
        partitions: usize,
        schema: SchemaRef,
        context: &TaskContext,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Self {
        let reservation = MemoryConsumer::new("Exchange").with_can_spill(true).register(context.memory_pool());
        let spill = SpillManager::new(context.runtime_env(), SpillMetrics::new(metrics, 0), schema);
        Self { buckets: vec![Vec::new(); partitions], reservation, spill, rows: 0 }
    }

    /// Adds rows to a bucket; beyond the budget all in memory goes to disk.
    pub(super) fn push(&mut self, partition: usize, batch: RecordBatch) -> DfResult<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let size = batch.get_array_memory_size();
        if self.reservation.try_grow(size).is_err() {
            self.spill_all()?;
            if self.reservation.try_grow(size).is_err() {
                self.rows += batch.num_rows();
                let file = self.spill.spill_record_batch_and_finish(&[batch], "Exchange")?;
                self.bucket(partition)?.extend(file.map(Piece::File));
                return Ok(());
            }
        }
        self.rows += batch.num_rows();
        self.bucket(partition)?.push(Piece::Memory(batch));
        Ok(())
    }

    fn bucket(&mut self, partition: usize) -> DfResult<&mut Vec<Piece>> {
        self.buckets.get_mut(partition).ok_or_else(|| internal_datafusion_err!("there is no partition {partition}"))
    }

    fn spill_all(&mut self) -> DfResult<()> {
        for bucket in &mut self.buckets {
            let mut kept = Vec::with_capacity(bucket.len());
            let mut pending = Vec::new();
            for piece in bucket.drain(..) {
                match piece {
                    Piece::Memory(batch) => pending.push(batch),
                    file @ Piece::File(_) => {
                        kept.extend(self.spill.spill_record_batch_and_finish(&pending, "Exchange")?.map(Piece::File));
                        pending.clear();
                        kept.push(file);
                    }
                }
            }
            kept.extend(self.spill.spill_record_batch_and_finish(&pending, "Exchange")?.map(Piece::File));
            *bucket = kept;
        }
        self.reservation.free();
        Ok(())
    }

    /// The rows of a bucket, in the order in which they came.
    pub(super) fn read(&self, partition: usize) -> BoxStream<'static, DfResult<RecordBatch>> {
        let pieces = self.buckets.get(partition).cloned().unwrap_or_default();
        let spill = self.spill.clone();
        stream::iter(pieces)
            .map(move |piece| match piece {
                Piece::Memory(batch) => Ok(stream::once(async { Ok(batch) }).boxed()),
                Piece::File(file) => Ok::<_, DataFusionError>(spill.read_spill_as_stream(file, None)?.boxed()),
            })
            .try_flatten()
            .boxed()
    }
}

/// All rows of an exchange.
pub(crate) struct Buckets {
    sides: Vec<Side>,
    schema: SchemaRef,
}

impl Buckets {
    /// The rows of an output partition: those of the first input partition first.
    pub(super) fn read(self: &Arc<Self>, partition: usize) -> BoxStream<'static, DfResult<RecordBatch>> {
        let this = self.clone();
        let rows = stream::iter(0..self.sides.len()).flat_map(move |side| match this.sides.get(side) {
            Some(side) => side.read(partition),
            None => stream::empty().boxed(),
        });
        merge_small(rows.boxed(), self.schema.clone())
    }
}

/// Small batches put together.
fn merge_small(
    rows: BoxStream<'static, DfResult<RecordBatch>>,
    schema: SchemaRef,
) -> BoxStream<'static, DfResult<RecordBatch>> {
    stream::unfold((rows, Vec::new(), schema), |(mut rows, mut pending, schema)| async move {
        let mut count = 0usize;
        loop {
            match rows.next().await {
                Some(Ok(batch)) => {
                    count += batch.num_rows();
                    pending.push(batch);
                    if count < BATCH_ROWS {
                        continue;
                    }
                }
                Some(Err(error)) => return Some((Err(error), (rows, Vec::new(), schema))),
                None if pending.is_empty() => return None,
                None => {}
            }
            let merged = match pending.as_slice() {
                [one] => Ok(one.clone()),
                many => concat_batches(&schema, many).map_err(DataFusionError::from),
            };
            return Some((merged, (rows, Vec::new(), schema)));
        }
    })
    .boxed()
}

/// Reads all input and spreads it.
pub(super) async fn fill(
    input: Arc<dyn ExecutionPlan>,
    routing: Routing,
    partitions: usize,
    context: Arc<TaskContext>,
    metrics: &ExecutionPlanMetricsSet,
) -> DfResult<Buckets> {
    let schema = input.schema();
    let mut tasks = Vec::new();
    for number in 0..input.output_partitioning().partition_count() {
        let rows = input.execute(number, context.clone())?;
        let side = Side::new(partitions, schema.clone(), &context, metrics);
        let task: SpawnedTask<DfResult<(Side, Vec<range::Sample>)>> = match &routing {
            Routing::RoundRobin => {
                SpawnedTask::spawn(async move { Ok((round_robin(rows, side, number, partitions).await?, Vec::new())) })
            }
            Routing::ById(id) => {
                let id = id.clone();
                SpawnedTask::spawn(async move { Ok((by_id(rows, side, partitions, id).await?, Vec::new())) })
            }
            Routing::Range(keys) => {
                let keys = keys.clone();
                SpawnedTask::spawn(async move {
                    let (side, sample) = range::take_in(rows, side, &keys, partitions).await?;
                    Ok((side, vec![sample]))
                })
            }
        };
        tasks.push(task);
    }
    let mut sides = Vec::with_capacity(tasks.len());
    let mut samples = Vec::new();
    for task in tasks {
        let (side, sample) = task.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))??;
        sides.push(side);
        samples.extend(sample);
    }
    if let Routing::Range(keys) = &routing {
        let bounds = range::bounds(samples, partitions);
        let mut spread = Vec::with_capacity(sides.len());
        for side in sides {
            let fresh = Side::new(partitions, schema.clone(), &context, metrics);
            spread.push(range::spread(side, fresh, keys, &bounds).await?);
        }
        sides = spread;
    }
    Ok(Buckets { sides, schema })
}

/// Rows in turn, from a partition that depends on the input partition's number.
async fn round_robin(
    mut rows: SendableRecordBatchStream,
    mut side: Side,
    number: usize,
    partitions: usize,
) -> DfResult<Side> {
    let bound = i32::try_from(partitions).unwrap_or(i32::MAX);
    let first = XorShift::new(i64::try_from(number).unwrap_or(0)).next_below(bound);
    let mut next = (usize::try_from(first).unwrap_or(0) + 1) % partitions;
    while let Some(batch) = rows.try_next().await? {
        let targets: Vec<usize> = (0..batch.num_rows()).map(|row| (next + row) % partitions).collect();
        next = (next + batch.num_rows()) % partitions;
        split(&batch, &targets, partitions, &mut side)?;
    }
    Ok(side)
}

async fn by_id(
    mut rows: SendableRecordBatchStream,
    mut side: Side,
    partitions: usize,
    id: Arc<dyn datafusion::physical_expr::PhysicalExpr>,
) -> DfResult<Side> {
    while let Some(batch) = rows.try_next().await? {
        let ids = id.evaluate(&batch)?.into_array(batch.num_rows())?;
        let ids =
            ids.as_primitive_opt::<Int32Type>().ok_or_else(|| internal_datafusion_err!("a partition id is an INT"))?;
        let targets: Vec<usize> =
            ids.iter().map(|id| id.and_then(|id| usize::try_from(id).ok()).unwrap_or(0) % partitions).collect();
        split(&batch, &targets, partitions, &mut side)?;
    }
    Ok(side)
}

/// Hands each row to the bucket of its target.
pub(super) fn split(batch: &RecordBatch, targets: &[usize], partitions: usize, side: &mut Side) -> DfResult<()> {
    if partitions == 1 {
        return side.push(0, batch.clone());
    }
    let mut indices: Vec<Vec<u32>> = vec![Vec::new(); partitions];
    for (row, target) in (0u32..).zip(targets) {
        if let Some(list) = indices.get_mut(*target) {
            list.push(row);
        }
    }
    for (partition, rows) in indices.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        let part = if batch.num_columns() == 0 {
            batch.slice(0, rows.len())
        } else {
            take_record_batch(batch, &UInt32Array::from(rows))?
        };
        side.push(partition, part)?;
    }
    Ok(())
}
