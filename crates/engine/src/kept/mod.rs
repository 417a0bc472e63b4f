//! Relations that the server keeps: checkpoints, cached tables and frames.

mod checkpoint;
pub(crate) mod persist;
mod source;
mod spill;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use checkpoint::checkpoint;
pub use persist::{PersistKey, Persisted};
pub use source::{KeptSource, KeptTable, PlanOnly};
pub use spill::{BatchFile, Batches, Budget, Partition, StoredPartition};
pub use store::{KeptStore, Level};

use crate::session::panic_text;
use arrow::datatypes::SchemaRef;
use datafusion::execution::TaskContext;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, execute_stream_partitioned};
use firesteel_analyzer::Resolved;
use firesteel_analyzer::attribute;
use firesteel_analyzer::resolved::{engine_error, project};
use firesteel_error::{Result, SparkError};
use firesteel_types::StructType;
use futures::StreamExt;
use parking_lot::Mutex;
use spill::{PartitionWriter, Place, SpillFolder};
use std::fmt;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

/// The rows of a kept relation, as they came out of its plan.
#[derive(Debug)]
pub struct KeptRows {
    pub partitions: Vec<StoredPartition>,
}

impl KeptRows {
    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.partitions.iter().map(|p| p.rows).sum()
    }

    /// Bytes of the rows when they are in memory.
    pub fn bytes(&self) -> usize {
        self.partitions.iter().map(|p| p.bytes).sum()
    }
}

/// A kept relation. Its plan runs at most once to the end, at the first use,
/// however many uses there are at that moment; then its rows are fixed.
pub struct KeptRelation {
    schema: StructType,
    arrow_schema: SchemaRef,
    /// What it is called in explanations.
    label: &'static str,
    place: Place,
    budget: Arc<Budget>,
    folder: Arc<SpillFolder>,
    /// None when the rows are there.
    pending: Mutex<Option<Pending>>,
    rows: OnceCell<Arc<KeptRows>>,
}

/// What makes the rows.
#[derive(Clone)]
struct Pending {
    state: SessionState,
    plan: LogicalPlan,
}

impl fmt::Debug for KeptRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptRelation")
            .field("label", &self.label)
            .field("rows", &self.rows.get())
            .finish_non_exhaustive()
    }
}

impl KeptRelation {
    /// The columns, with Spark's types.
    pub fn schema(&self) -> &StructType {
        &self.schema
    }

    /// The columns as they are stored. Their names are each once.
    pub fn arrow_schema(&self) -> &SchemaRef {
        &self.arrow_schema
    }

    /// The rows, where they are there already.
    pub fn stored(&self) -> Option<&Arc<KeptRows>> {
        self.rows.get()
    }

    /// The rows. The first call makes them; others at that time wait for it.
    /// When it fails or is dropped, the next one tries again.
    pub async fn rows(&self) -> Result<Arc<KeptRows>> {
        self.rows.get_or_try_init(|| self.run()).await.cloned()
    }

    async fn run(&self) -> Result<Arc<KeptRows>> {
        let pending = self.pending.lock().clone();
        let Some(Pending { state, plan }) = pending else {
            return Err(SparkError::internal("a kept relation has neither rows nor a plan"));
        };
        let physical = crate::execution::plan_partitions(&state, &plan).await?;
        self.store(physical, state.task_ctx()).await
    }

    /// The rows of a physical plan of the relation, unless they are there already.
    pub(crate) async fn fill(
        &self,
        physical: Arc<dyn ExecutionPlan>,
        context: Arc<TaskContext>,
    ) -> Result<Arc<KeptRows>> {
        self.rows.get_or_try_init(|| self.store(physical, context)).await.cloned()
    }

    async fn store(&self, physical: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<Arc<KeptRows>> {
        if let Place::Folder(folder) = &self.place {
            std::fs::create_dir_all(folder).map_err(|e| spill::cannot("make the folder", folder, &e))?;
        }
        let streams = execute_stream_partitioned(physical, context).map_err(engine_error)?;
        let mut tasks = JoinSet::new();
        let count = streams.len();
        for (number, stream) in streams.into_iter().enumerate() {
            let writer = PartitionWriter::new(
                self.arrow_schema.clone(),
                self.budget.clone(),
                self.folder.clone(),
                self.place.clone(),
                number,
            );
            tasks.spawn(async move { Ok::<_, SparkError>((number, written(stream, writer).await?)) });
        }
        let mut partitions: Vec<Option<StoredPartition>> = (0..count).map(|_| None).collect();
        while let Some(done) = tasks.join_next().await {
            let (number, partition) = match done {
                Ok(result) => result?,
                Err(error) => {
                    return Err(match error.try_into_panic() {
                        Ok(panic) => SparkError::internal(panic_text(panic.as_ref())),
                        Err(_) => SparkError::new("OPERATION_CANCELED").with("operationId", ""),
                    });
                }
            };
            partitions[number] = Some(partition);
        }
        self.pending.lock().take();
        Ok(Arc::new(KeptRows { partitions: partitions.into_iter().flatten().collect() }))
    }
}

async fn written(mut stream: SendableRecordBatchStream, mut writer: PartitionWriter) -> Result<StoredPartition> {
    while let Some(batch) = stream.next().await {
        writer.push(&batch.map_err(engine_error)?)?;
    }
    writer.finish()
}

/// The plan whose columns are the relation's output, one by one, and what they are called.
fn stored_plan(resolved: &Resolved) -> Result<(LogicalPlan, StructType, SchemaRef)> {
    let schema = attribute::schema_of(&resolved.output);
    let expressions =
        resolved.output.iter().enumerate().map(|(i, a)| a.expr().alias(format!("{}#{i}", a.name))).collect();
    let plan = project(resolved.plan.clone(), expressions)?;
    let arrow_schema = Arc::new(plan.schema().as_arrow().clone());
    Ok((plan, schema, arrow_schema))
}
