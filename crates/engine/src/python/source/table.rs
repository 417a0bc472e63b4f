//! A data source in Python as a table.

use super::filter::{self, SourceFilter};
use super::{PythonSource, failed};
use crate::python::exec::PythonExec;
use crate::python::session::{PythonSession, WorkerContext};
use crate::python::work::{SentColumn, Work, external};
use arrow::array::BinaryArray;
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result as DfResult};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::expressions::{Column, is_not_null};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use firesteel_analyzer::python::PythonCall;
use firesteel_error::{Result, SparkError};
use firesteel_python::EvalType;
use firesteel_python::planner::data_source::SourceRead;
use firesteel_types::{DataType, StructType, arrow_mapping};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};

/// The name of the column of partitions.
const PARTITION: &str = "partition";

/// An instance of a data source, to be read.
pub(super) struct SourceTable {
    session: Arc<PythonSession>,
    source: Arc<PythonSource>,
    /// The pickled instance.
    instance: Bytes,
    schema: StructType,
    arrow_schema: SchemaRef,
    pushes_filters: bool,
    /// Readers that know their filters, and wait for the scan.
    asked: Mutex<Vec<Asked>>,
}

/// A reader that was given filters.
#[derive(Clone)]
struct Asked {
    filters: Vec<SourceFilter>,
    /// Whether the reader applies each of them itself.
    supported: Vec<bool>,
    /// Columns whose nulls the reader leaves to us.
    nullable: Vec<String>,
    read: SourceRead,
}

impl Asked {
    /// Whether it was given just these filters.
    fn is_for(&self, filters: &[SourceFilter]) -> bool {
        filters.len() == self.filters.len() && filters.iter().all(|filter| self.filters.contains(filter))
    }

    fn supports(&self, filter: &SourceFilter) -> Option<bool> {
        let at = self.filters.iter().position(|known| known == filter)?;
        self.supported.get(at).copied()
    }
}

impl fmt::Debug for SourceTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceTable").field("source", &self.source.name).finish_non_exhaustive()
    }
}

impl SourceTable {
    pub fn new(
        session: Arc<PythonSession>,
        source: Arc<PythonSource>,
        instance: Bytes,
        schema: StructType,
        pushes_filters: bool,
    ) -> Self {
        let arrow_schema = Arc::new(arrow_mapping::to_arrow_schema(&schema));
        Self { session, source, instance, schema, arrow_schema, pushes_filters, asked: Mutex::default() }
    }

    async fn context(&self) -> Result<WorkerContext> {
        let session = self.session.clone();
        crate::session::blocking(move || session.context()).await
    }

    /// Makes a reader that knows these filters, which are at least one.
    async fn ask(&self, filters: Vec<SourceFilter>) -> Result<Asked> {
        let context = self.context().await?;
        let (text, added) = filter::json(&filters)?;
        let planner = self.source.planner(&context);
        let mut read = planner
            .read_filtered(&self.instance, &self.schema.json(), &text)
            .await
            .map_err(failed("initialize", "reader"))?;
        context.note(std::mem::take(&mut read.accumulators));
        let is_supported = |i: usize| read.supported_filters.contains(&i);
        let supported = (0..filters.len()).map(|i| is_supported(i + added.len())).collect();
        // Who finds a value within a struct has left its nulls out.
        let is_left = |(i, path): (usize, Vec<String>)| match <[String; 1]>::try_from(path) {
            Ok([column]) if !is_supported(i) => Some(column),
            _ => None,
        };
        let nullable = added.into_iter().enumerate().filter_map(is_left).collect();
        Ok(Asked { filters, supported, nullable, read })
    }

    /// Makes a reader that knows no filters.
    async fn ask_plainly(&self) -> Result<SourceRead> {
        let context = self.context().await?;
        let planner = self.source.planner(&context);
        let mut read = planner
            .read(&self.instance, &self.schema.json(), self.pushes_filters)
            .await
            .map_err(failed("initialize", "reader"))?;
        context.note(std::mem::take(&mut read.accumulators));
        Ok(read)
    }

    /// The reader for a scan with these filters: one that waits, or a new one.
    async fn reader(&self, filters: Vec<SourceFilter>) -> Result<Asked> {
        if filters.is_empty() {
            let read = self.ask_plainly().await?;
            return Ok(Asked { filters, supported: Vec::new(), nullable: Vec::new(), read });
        }
        let waiting = {
            let mut asked = self.asked.lock();
            // A reader serves one scan: what it reads may have changed by the next.
            asked.iter().position(|one| one.is_for(&filters)).map(|at| asked.remove(at))
        };
        match waiting {
            Some(asked) => Ok(asked),
            None => self.ask(filters).await,
        }
    }

    /// What the reader says of filters; the thread waits for it.
    fn support(&self, filters: Vec<SourceFilter>) -> Result<Asked> {
        {
            let asked = self.asked.lock();
            if let Some(known) = asked.iter().rev().find(|one| one.is_for(&filters)) {
                return Ok(known.clone());
            }
            // Those that a reader leaves to us are asked about again.
            let is_left = |one: &&Asked| filters.iter().all(|filter| one.supports(filter) == Some(false));
            if let Some(known) = asked.iter().rev().find(is_left) {
                return Ok(known.clone());
            }
        }
        let handle = Handle::try_current().map_err(|e| SparkError::internal(e.to_string()))?;
        if handle.runtime_flavor() != RuntimeFlavor::MultiThread {
            return Err(SparkError::internal("a data source is asked where nothing may wait"));
        }
        let asked = tokio::task::block_in_place(|| handle.block_on(self.ask(filters)))?;
        self.asked.lock().push(asked.clone());
        Ok(asked)
    }

    /// The operator that reads: a task for each partition.
    fn rows(&self, read: SourceRead) -> DfResult<Arc<dyn ExecutionPlan>> {
        let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new(PARTITION, ArrowType::Binary, true)]));
        let mut partitions = Vec::with_capacity(read.partitions.len());
        for partition in &read.partitions {
            let value = BinaryArray::from_vec(vec![partition.as_ref()]);
            partitions.push(vec![RecordBatch::try_new(schema.clone(), vec![Arc::new(value)])?]);
        }
        let input = MemorySourceConfig::try_new_exec(&partitions, schema, None)?;
        let column = SentColumn {
            expr: Arc::new(Column::new(PARTITION, 0)),
            name: PARTITION.to_string(),
            data_type: DataType::Binary,
            nullable: true,
        };
        let call = PythonCall {
            name: self.source.name.clone(),
            command: read.function,
            python_version: self.source.python_version.clone(),
            eval_type: EvalType::MAP_ARROW_ITER,
            deterministic: true,
            parameters: Vec::new(),
            returns: DataType::Struct(Arc::new(self.schema.clone())),
            instance: 0,
        };
        let work = Work::Map { call: Arc::new(call), columns: vec![column], is_barrier: false };
        Ok(Arc::new(PythonExec::new(work, vec![input], self.arrow_schema.clone())))
    }
}

#[async_trait]
impl TableProvider for SourceTable {
    fn schema(&self) -> SchemaRef {
        self.arrow_schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        let known: Vec<Option<SourceFilter>> = filters
            .iter()
            .map(|filter| SourceFilter::of(filter, &self.schema).filter(|_| self.pushes_filters))
            .collect();
        let mut sent: Vec<SourceFilter> = Vec::new();
        for filter in known.iter().flatten() {
            if !sent.contains(filter) {
                sent.push(filter.clone());
            }
        }
        if sent.is_empty() {
            return Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()]);
        }
        let asked = self.support(sent).map_err(external)?;
        let support = |filter: &Option<SourceFilter>| match filter.as_ref().and_then(|filter| asked.supports(filter)) {
            Some(true) => TableProviderFilterPushDown::Exact,
            // The scan has to know what its reader was told.
            Some(false) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(known.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let mut sent: Vec<SourceFilter> = Vec::new();
        for filter in filters.iter().filter_map(|filter| SourceFilter::of(filter, &self.schema)) {
            if !sent.contains(&filter) {
                sent.push(filter);
            }
        }
        let Asked { filters: known, supported, nullable, read } = self.reader(sent).await.map_err(external)?;
        let mut plan = self.rows(read)?;
        let is_applied = |expr: &Expr| {
            let filter = SourceFilter::of(expr, &self.schema);
            known.iter().zip(&supported).any(|(known, is_supported)| *is_supported && Some(known) == filter.as_ref())
        };
        let schema = DFSchema::try_from(self.arrow_schema.as_ref().clone())?;
        for filter in filters.iter().filter(|filter| !is_applied(filter)) {
            plan = Arc::new(FilterExec::try_new(state.create_physical_expr(filter.clone(), &schema)?, plan)?);
        }
        for column in &nullable {
            let column = self.arrow_schema.index_of(column)?;
            let value = Arc::new(Column::new(self.arrow_schema.field(column).name(), column));
            plan = Arc::new(FilterExec::try_new(is_not_null(value)?, plan)?);
        }
        let Some(columns) = projection else { return Ok(plan) };
        let expressions = columns
            .iter()
            .map(|i| {
                let field = self.arrow_schema.field(*i);
                ProjectionExpr { expr: Arc::new(Column::new(field.name(), *i)), alias: field.name().clone() }
            })
            .collect::<Vec<_>>();
        Ok(Arc::new(ProjectionExec::try_new(expressions, plan)?))
    }
}
