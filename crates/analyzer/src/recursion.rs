//! How far recursive queries may go, and what their steps read.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result as DfResult, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// The limits of a recursive query. They travel in its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecursionLimits {
    /// Steps; None: any number.
    pub levels: Option<u64>,
    /// Rows; None: any number.
    pub rows: Option<u64>,
}

impl RecursionLimits {
    /// The limits that settings say: numbers below zero stand for none.
    pub fn new(levels: i64, rows: i64) -> Self {
        Self { levels: u64::try_from(levels).ok(), rows: u64::try_from(rows).ok() }
    }

    /// The name of the recursive query with an id.
    pub fn name(&self, id: u64) -> String {
        let text = |limit: Option<u64>| limit.map_or_else(|| "any".to_string(), |n| n.to_string());
        format!("cte#{id}#{}#{}", text(self.levels), text(self.rows))
    }

    /// The limits in a recursive query's name.
    ///
    /// ```
    /// use firesteel_analyzer::recursion::RecursionLimits;
    ///
    /// let limits = RecursionLimits::new(100, -1);
    /// assert_eq!(RecursionLimits::of_name(&limits.name(7)), limits);
    /// ```
    pub fn of_name(name: &str) -> Self {
        let mut parts = name.rsplit('#').map(|part| part.parse().ok());
        let rows = parts.next().flatten();
        let levels = parts.next().flatten();
        Self { levels, rows }
    }
}

/// The rows of the step before, as the step of a recursive query reads them: as often as it likes.
#[derive(Debug)]
pub struct WorkTable {
    query: String,
    schema: SchemaRef,
}

impl WorkTable {
    /// The rows of the recursive query of a name.
    pub fn new(query: &str, schema: SchemaRef) -> Self {
        Self { query: query.to_string(), schema }
    }
}

#[async_trait]
impl TableProvider for WorkTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let columns = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let schema = Arc::new(self.schema.project(&columns)?);
        Ok(Arc::new(WorkExec::new(self.query.clone(), schema, columns, None)))
    }
}

/// The rows of the step before, where all that read them find them.
pub type WorkRows = Arc<Mutex<Vec<RecordBatch>>>;

/// Reads rows of the step before.
#[derive(Debug)]
pub struct WorkExec {
    query: String,
    schema: SchemaRef,
    columns: Vec<usize>,
    /// None until the recursive query around is known.
    rows: Option<WorkRows>,
    properties: Arc<PlanProperties>,
}

impl WorkExec {
    fn new(query: String, schema: SchemaRef, columns: Vec<usize>, rows: Option<WorkRows>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { query, schema, columns, rows, properties: Arc::new(properties) }
    }

    /// The name of the recursive query.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// The operator that finds the rows there.
    #[must_use]
    pub fn reading(&self, rows: WorkRows) -> Self {
        Self::new(self.query.clone(), self.schema.clone(), self.columns.clone(), Some(rows))
    }
}

impl DisplayAs for WorkExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkTableExec: name={}", self.query)
    }
}

impl ExecutionPlan for WorkExec {
    fn name(&self) -> &'static str {
        "WorkTableExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let rows = self.rows.as_ref().ok_or_else(|| internal_datafusion_err!("a step without a recursive query"))?;
        let batches = rows.lock().iter().map(|batch| Ok(batch.project(&self.columns)?)).collect::<DfResult<_>>()?;
        Ok(Box::pin(MemoryStream::try_new(batches, self.schema.clone(), None)?))
    }
}
