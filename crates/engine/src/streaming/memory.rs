//! The table of a memory sink: the rows of all batches so far.

use crate::Session;
use crate::kept::{KeptRelation, KeptTable, Level};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session as DfSession, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{Result as DfResult, Statistics};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use firesteel_analyzer::resolved::{built, project};
use firesteel_analyzer::{Attribute, Resolved};
use firesteel_error::Result;
use firesteel_plan::StorageLevel;
use firesteel_types::{StructType, arrow_mapping};
use parking_lot::RwLock;
use std::sync::Arc;

/// Batches that are kept apart at most.
const PIECES: usize = 32;

/// Rows that grow with each batch.
#[derive(Debug)]
pub(super) struct MemoryTable {
    schema: SchemaRef,
    pieces: RwLock<Vec<Arc<KeptRelation>>>,
}

impl MemoryTable {
    pub fn new(schema: &StructType) -> Arc<Self> {
        let schema = Arc::new(arrow_mapping::to_arrow_schema(&schema.as_nullable()));
        Arc::new(Self { schema, pieces: RwLock::default() })
    }

    /// The table as a relation, whose columns have fresh ids.
    pub fn resolved(self: &Arc<Self>, columns: &StructType) -> Result<Resolved> {
        let attributes: Vec<Attribute> = columns.fields.iter().map(Attribute::from_field).collect();
        let plan = built(
            LogicalPlanBuilder::scan("memory", provider_as_source(self.clone()), None)
                .and_then(LogicalPlanBuilder::build),
        )?;
        let named = plan.schema().columns().into_iter().zip(&attributes);
        let expressions = named.map(|(column, a)| Expr::Column(column).alias(a.column_name())).collect();
        Ok(Resolved::leaf(project(plan, expressions)?, attributes))
    }

    /// Adds the rows of a batch, or takes them in place of all others.
    pub async fn add(
        self: &Arc<Self>,
        session: &Arc<Session>,
        columns: &StructType,
        rows: Arc<KeptRelation>,
        replaces: bool,
    ) -> Result<()> {
        let is_full = {
            let mut pieces = self.pieces.write();
            if replaces {
                pieces.clear();
            }
            pieces.push(rows);
            pieces.len() > PIECES
        };
        if !is_full {
            return Ok(());
        }
        let all = self.resolved(columns)?;
        let level = Level::Storage(StorageLevel::MEMORY_AND_DISK_DESER);
        let joined = session.engine().kept().relation(session.state(), &all, level, "MemorySink")?;
        joined.rows().await?;
        *self.pieces.write() = vec![joined];
        Ok(())
    }

    fn count(&self) -> usize {
        let pieces = self.pieces.read();
        pieces.iter().filter_map(|piece| piece.stored()).map(|rows| rows.count()).sum()
    }
}

#[async_trait]
impl TableProvider for MemoryTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn DfSession,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let pieces = self.pieces.read().clone();
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let inner = KeptTable::new(piece).scan(state, projection, filters, limit).await?;
            parts.push(renamed(inner, &self.schema, projection)?);
        }
        if parts.is_empty() {
            let empty = MemTable::try_new(self.schema.clone(), vec![Vec::new()])?;
            return empty.scan(state, projection, filters, limit).await;
        }
        UnionExec::try_new(parts)
    }

    fn statistics(&self) -> Option<Statistics> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        statistics.num_rows = Precision::Exact(self.count());
        Some(statistics)
    }
}

/// The columns of a piece under the table's names.
fn renamed(
    input: Arc<dyn ExecutionPlan>,
    schema: &SchemaRef,
    projection: Option<&Vec<usize>>,
) -> DfResult<Arc<dyn ExecutionPlan>> {
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{CastExpr, Column};
    use datafusion::physical_plan::projection::ProjectionExec;
    let positions: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..schema.fields().len()).collect());
    let stored = input.schema();
    let mut columns: Vec<(Arc<dyn PhysicalExpr>, String)> = Vec::with_capacity(positions.len());
    for (i, position) in positions.iter().enumerate() {
        let (field, wanted) = (stored.field(i), schema.field(*position));
        let mut column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), i));
        if field.data_type() != wanted.data_type() {
            column = Arc::new(CastExpr::new(column, wanted.data_type().clone(), None));
        }
        columns.push((column, wanted.name().clone()));
    }
    Ok(Arc::new(ProjectionExec::try_new(columns, input)?))
}

/// Rows of a batch that are not there yet.
pub(super) fn piece(session: &Arc<Session>, resolved: &Resolved, label: &'static str) -> Result<Arc<KeptRelation>> {
    let level = Level::Storage(StorageLevel::MEMORY_AND_DISK_DESER);
    session.engine().kept().relation(session.state(), resolved, level, label)
}

/// The plan of a piece, whose columns are the relation's output one by one.
pub(super) fn piece_plan(resolved: &Resolved) -> Result<datafusion::logical_expr::LogicalPlan> {
    let expressions =
        resolved.output.iter().enumerate().map(|(i, a)| a.expr().alias(format!("{}#{i}", a.name))).collect();
    project(resolved.plan.clone(), expressions)
}
