//! A table of a database.

use super::batches::Batches;
use super::cell::Column;
use super::filter::Writer;
use super::options::JdbcOptions;
use super::session::Session;
use crate::error::external;
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session as PlanSession, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use firesteel_types::arrow_mapping::to_arrow_schema;
use firesteel_types::{StructType, TimeZone};
use std::fmt;
use std::sync::Arc;

/// What is the same for all scans of a table.
#[derive(Debug)]
pub(super) struct Source {
    pub options: JdbcOptions,
    pub zone: TimeZone,
    pub zone_name: String,
    /// The condition of each partition; None for all rows.
    pub conditions: Vec<Option<String>>,
}

/// A table of a database, or the result of a query there.
#[derive(Debug)]
pub struct JdbcTable {
    source: Arc<Source>,
    schema: StructType,
    arrow_schema: SchemaRef,
    columns: Vec<Column>,
}

impl JdbcTable {
    pub(super) fn new(source: Source, schema: StructType, columns: Vec<Column>) -> Self {
        let arrow_schema = Arc::new(to_arrow_schema(&schema));
        Self { source: Arc::new(source), schema, arrow_schema, columns }
    }

    fn writer(&self) -> Writer<'_> {
        Writer { database: self.source.options.address.database, schema: &self.schema, zone: self.source.zone }
    }

    /// The queries of the partitions.
    fn queries(&self, columns: &[usize], filters: &[Expr], limit: Option<usize>) -> Vec<String> {
        let options = &self.source.options;
        let names: Vec<String> = columns
            .iter()
            .filter_map(|i| self.schema.fields.get(*i))
            .map(|field| options.address.database.quoted(&field.name))
            .collect();
        let names = if names.is_empty() { "1".to_string() } else { names.join(",") };
        let writer = self.writer();
        let pushed: Vec<String> = filters.iter().filter_map(|filter| writer.condition(filter)).collect();
        let query = |condition: &Option<String>| {
            let all: Vec<String> = pushed.iter().chain(condition).map(|text| format!("({text})")).collect();
            let mut query = format!("{}SELECT {names} FROM {}", options.prepare, options.table);
            if !all.is_empty() {
                query.push_str(&format!(" WHERE {}", all.join(" AND ")));
            }
            if let Some(limit) = limit {
                query.push_str(&format!(" LIMIT {limit}"));
            }
            query
        };
        self.source.conditions.iter().map(query).collect()
    }
}

#[async_trait]
impl TableProvider for JdbcTable {
    fn schema(&self) -> SchemaRef {
        self.arrow_schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        let writer = self.writer();
        let is_pushed = |filter: &&Expr| self.source.options.pushes_predicates && writer.condition(filter).is_some();
        Ok(filters
            .iter()
            .map(|filter| match is_pushed(filter) {
                true => TableProviderFilterPushDown::Exact,
                false => TableProviderFilterPushDown::Unsupported,
            })
            .collect())
    }

    async fn scan(
        &self,
        _state: &dyn PlanSession,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let positions: Vec<usize> = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.columns.len()).collect(),
        };
        let schema = Arc::new(self.arrow_schema.project(&positions)?);
        if self.source.conditions.is_empty() {
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let queries = self.queries(&positions, filters, limit);
        let columns = positions.iter().filter_map(|i| self.columns.get(*i).cloned()).collect();
        Ok(Arc::new(JdbcExec::new(self.source.clone(), queries, columns, schema)))
    }
}

/// The operator that reads: a connection for each partition.
struct JdbcExec {
    source: Arc<Source>,
    queries: Vec<String>,
    columns: Arc<Vec<Column>>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl JdbcExec {
    fn new(source: Arc<Source>, queries: Vec<String>, columns: Vec<Column>, schema: Arc<Schema>) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            Partitioning::UnknownPartitioning(queries.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { source, queries, columns: Arc::new(columns), schema, properties }
    }
}

impl fmt::Debug for JdbcExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JdbcExec").field("table", &self.source.options.table).finish_non_exhaustive()
    }
}

impl DisplayAs for JdbcExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JDBCRelation({}) [numPartitions={}]", self.source.options.table, self.queries.len())
    }
}

impl ExecutionPlan for JdbcExec {
    fn name(&self) -> &str {
        "JdbcExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
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

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let query = self
            .queries
            .get(partition)
            .cloned()
            .ok_or_else(|| DataFusionError::Internal(format!("partition {partition} of a JDBC source")))?;
        let (source, schema, columns) = (self.source.clone(), self.schema.clone(), self.columns.clone());
        let size = context.session_config().batch_size();
        let mut builder = RecordBatchReceiverStream::builder(self.schema.clone(), 2);
        let sender = builder.tx();
        builder.spawn(async move {
            let options = &source.options;
            let mut session = Session::open(options, source.zone, &source.zone_name).await.map_err(external)?;
            if let Some(statement) = &options.init_statement {
                session.execute(statement).await.map_err(|fault| external(fault.while_running(statement)))?;
            }
            let zone = session.server_zone(source.zone);
            let columns = columns.iter().map(|column| column.of_server(zone)).collect();
            let batches = Batches::new(schema, Arc::new(columns), size, sender);
            session.read(&query, batches).await.map_err(|fault| external(fault.while_running(&query)))?;
            session.close().await;
            Ok(())
        });
        Ok(builder.build())
    }
}
