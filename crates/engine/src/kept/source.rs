//! The scan of a kept relation.

use super::spill::Batches;
use super::{KeptRelation, KeptRows};
use arrow::array::RecordBatchOptions;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result as DfResult, Statistics};
use datafusion::datasource::source::{DataSource, DataSourceExec};
use datafusion::execution::TaskContext;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::projection::{ProjectionExprs, all_alias_free_columns, new_projections_for_columns};
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan, Partitioning, SendableRecordBatchStream};
use futures::stream;
use std::fmt;
use std::sync::Arc;

/// In a session's DataFusion configuration: the plan is only looked at, so
/// kept relations without rows need not run for it.
#[derive(Debug, Clone, Copy)]
pub struct PlanOnly;

impl PlanOnly {
    /// The state for plans that do not run.
    pub fn of(state: &SessionState) -> SessionState {
        let mut state = state.clone();
        state.config_mut().set_extension(Arc::new(PlanOnly));
        state
    }
}

/// A kept relation as a table. Planning a scan makes its rows, if they are not there.
#[derive(Debug)]
pub struct KeptTable {
    relation: Arc<KeptRelation>,
}

impl KeptTable {
    pub fn new(relation: Arc<KeptRelation>) -> Self {
        Self { relation }
    }

    /// A number that other relations do not have while this one lives.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.relation).addr()
    }
}

#[async_trait]
impl TableProvider for KeptTable {
    fn schema(&self) -> SchemaRef {
        self.relation.arrow_schema().clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let is_plan_only = state.config().get_extension::<PlanOnly>().is_some();
        let rows = match self.relation.stored() {
            Some(rows) => Some(rows.clone()),
            None if is_plan_only => None,
            None => Some(self.relation.rows().await.map_err(|e| DataFusionError::External(Box::new(e)))?),
        };
        let schema = self.relation.arrow_schema();
        let projected = match projection {
            Some(columns) => Arc::new(schema.project(columns)?),
            None => schema.clone(),
        };
        let source = KeptSource {
            label: self.relation.label,
            rows,
            schema: projected,
            projection: projection.cloned().unwrap_or_else(|| (0..schema.fields().len()).collect()),
            fetch: limit,
        };
        Ok(DataSourceExec::from_data_source(source))
    }

    fn statistics(&self) -> Option<Statistics> {
        let rows = self.relation.stored()?;
        let mut statistics = Statistics::new_unknown(self.relation.arrow_schema());
        statistics.num_rows = Precision::Exact(rows.count());
        statistics.total_byte_size = Precision::Inexact(rows.bytes());
        Some(statistics)
    }
}

/// Reads stored partitions, one for one.
#[derive(Debug, Clone)]
pub struct KeptSource {
    label: &'static str,
    /// None where the plan is only looked at.
    rows: Option<Arc<KeptRows>>,
    schema: SchemaRef,
    projection: Vec<usize>,
    fetch: Option<usize>,
}

impl KeptSource {
    fn count(&self, partition: Option<usize>) -> Option<usize> {
        let rows = self.rows.as_ref()?;
        let at_most = |count: usize| self.fetch.map_or(count, |f| count.min(f));
        match partition {
            Some(partition) => rows.partitions.get(partition).map(|p| at_most(p.rows)),
            None => Some(rows.partitions.iter().map(|p| at_most(p.rows)).sum()),
        }
    }
}

impl DataSource for KeptSource {
    fn open(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let empty =
            || Ok(Box::pin(MemoryStream::try_new(Vec::new(), self.schema.clone(), None)?) as SendableRecordBatchStream);
        let Some(stored) = self.rows.as_ref().and_then(|r| r.partitions.get(partition)) else {
            return empty();
        };
        if self.projection.is_empty() {
            let total = self.fetch.map_or(stored.rows, |f| stored.rows.min(f));
            let step = context.session_config().batch_size().max(1);
            let schema = self.schema.clone();
            let batches = (0..total).step_by(step).map(move |from| {
                let options = RecordBatchOptions::new().with_row_count(Some(step.min(total - from)));
                Ok(RecordBatch::try_new_with_options(schema.clone(), Vec::new(), &options)?)
            });
            return Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream::iter(batches))));
        }
        match &stored.batches {
            Batches::Memory(batches) => Ok(Box::pin(
                MemoryStream::try_new(batches.clone(), self.schema.clone(), Some(self.projection.clone()))?
                    .with_fetch(self.fetch),
            )),
            Batches::File(file) => {
                let file = file.clone();
                let projection = self.projection.clone();
                let schema = self.schema.clone();
                let mut left = self.fetch.unwrap_or(usize::MAX);
                let mut builder = RecordBatchReceiverStreamBuilder::new(self.schema.clone(), 2);
                let sender = builder.tx();
                builder.spawn_blocking(move || {
                    // The reader wants each column once, in the file's order.
                    let mut wanted = projection.clone();
                    wanted.sort_unstable();
                    wanted.dedup();
                    let positions: Vec<usize> =
                        projection.iter().map(|c| wanted.binary_search(c).unwrap_or(0)).collect();
                    let reader = file.open(Some(wanted)).map_err(|e| DataFusionError::External(Box::new(e)))?;
                    for batch in reader {
                        if left == 0 {
                            break;
                        }
                        let batch = batch.map_err(|e| DataFusionError::External(Box::new(file.damaged(&e))))?;
                        let count = batch.num_rows().min(left);
                        left -= count;
                        let columns = positions.iter().map(|p| batch.column(*p).slice(0, count)).collect();
                        let options = RecordBatchOptions::new().with_row_count(Some(count));
                        let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
                        if sender.blocking_send(Ok(batch)).is_err() {
                            break;
                        }
                    }
                    Ok(())
                });
                Ok(builder.build())
            }
        }
    }

    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scan {}", self.label)?;
        match &self.rows {
            Some(rows) => write!(f, ", partitions={}", rows.partitions.len())?,
            None => f.write_str(", not run yet")?,
        }
        if let Some(fetch) = self.fetch {
            write!(f, ", fetch={fetch}")?;
        }
        Ok(())
    }

    fn output_partitioning(&self) -> Partitioning {
        // A relation of no partitions is read as one without rows.
        Partitioning::UnknownPartitioning(self.rows.as_ref().map_or(1, |r| r.partitions.len()).max(1))
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        EquivalenceProperties::new(self.schema.clone())
    }

    fn partition_statistics(&self, partition: Option<usize>) -> DfResult<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        if let Some(count) = self.count(partition) {
            statistics.num_rows = Precision::Exact(count);
        }
        Ok(Arc::new(statistics))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        Some(Arc::new(Self { fetch: limit, ..self.clone() }))
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn try_swapping_with_projection(&self, projection: &ProjectionExprs) -> DfResult<Option<Arc<dyn DataSource>>> {
        let expressions: Vec<_> = projection.iter().cloned().collect();
        if !all_alias_free_columns(&expressions) {
            return Ok(None);
        }
        let all: Vec<usize> = (0..self.projection.len()).collect();
        let positions = new_projections_for_columns(&expressions, &all);
        let schema = Arc::new(self.schema.project(&positions)?);
        let projection = new_projections_for_columns(&expressions, &self.projection);
        Ok(Some(Arc::new(Self { schema, projection, ..self.clone() })))
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}
