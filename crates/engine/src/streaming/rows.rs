//! The rows of a batch in the place of a stream.

use super::source::Rows;
use crate::one_input::over_one_input;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result as DfResult, internal_datafusion_err};
use datafusion::datasource::{MemTable, provider_as_source, source_as_provider};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, TableScan, TableType,
};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use firesteel_analyzer::resolved::engine_error;
use firesteel_analyzer::streaming::{StreamingTable, operator_of, with_table};
use firesteel_error::Result;
use futures::StreamExt;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many rows came out of a source.
pub(super) type Count = Arc<AtomicU64>;

/// The streaming tables of a plan, each once, in order.
pub(super) fn tables(plan: &LogicalPlan) -> Result<Vec<Arc<dyn TableProvider>>> {
    let mut all: Vec<Arc<dyn TableProvider>> = Vec::new();
    let visited = plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && with_table(node, |_| ()).is_some()
        {
            let provider = source_as_provider(&scan.source)?;
            if !all.iter().any(|other| is_same(other, &provider)) {
                all.push(provider);
            }
        }
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    });
    visited.map_err(engine_error)?;
    Ok(all)
}

/// The streaming table that a provider is.
pub(super) fn table_of(provider: &Arc<dyn TableProvider>) -> Option<&StreamingTable> {
    let any: &dyn Any = provider.as_ref();
    any.downcast_ref::<StreamingTable>()
}

fn is_same(a: &Arc<dyn TableProvider>, b: &Arc<dyn TableProvider>) -> bool {
    Arc::as_ptr(a).cast::<()>() == Arc::as_ptr(b).cast::<()>()
}

/// The plan with rows in the place of each of its streaming tables, and with counts of them.
pub(super) fn placed(
    plan: &LogicalPlan,
    tables: &[Arc<dyn TableProvider>],
    rows: &[Rows],
    counts: &[Count],
) -> Result<LogicalPlan> {
    let place = |node: LogicalPlan| {
        let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
        if with_table(&node, |_| ()).is_none() {
            return Ok(Transformed::no(node));
        }
        let provider = source_as_provider(&scan.source)?;
        let position = tables.iter().position(|table| is_same(table, &provider));
        let found = position.and_then(|position| rows.get(position).zip(counts.get(position)));
        let (rows, count) = found.ok_or_else(|| internal_datafusion_err!("a stream without a source"))?;
        place_one(scan, rows, count).map(Transformed::yes)
    };
    plan.clone().transform_up(place).data().map_err(engine_error)
}

fn place_one(scan: &TableScan, rows: &Rows, count: &Count) -> DfResult<LogicalPlan> {
    let name = scan.table_name.clone();
    let wanted = scan.source.schema();
    let plan = match rows {
        Rows::Plan(plan, number) => {
            count.store(*number, Ordering::Relaxed);
            plan.clone()
        }
        Rows::Empty => {
            let table = MemTable::try_new(wanted.clone(), vec![Vec::new()])?;
            LogicalPlanBuilder::scan("rows", provider_as_source(Arc::new(table)), None)?.build()?
        }
        Rows::Table(table) => {
            let counted = Counted { inner: table.clone(), count: count.clone() };
            LogicalPlanBuilder::scan("rows", provider_as_source(Arc::new(counted)), None)?.build()?
        }
    };
    let columns = wanted.fields().iter().map(|field| {
        let found = plan.schema().columns().into_iter().find(|column| column.name == *field.name());
        match found {
            Some(column) => Ok(Expr::Column(column).alias(field.name())),
            None => Err(internal_datafusion_err!("a batch of a stream without the column {}", field.name())),
        }
    });
    let columns = columns.collect::<DfResult<Vec<_>>>()?;
    LogicalPlanBuilder::from(plan).project(columns)?.alias(name)?.build()
}

/// A table that counts the rows that are read of it.
#[derive(Debug)]
struct Counted {
    inner: Arc<dyn TableProvider>,
    count: Count,
}

#[async_trait]
impl TableProvider for Counted {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn table_type(&self) -> TableType {
        self.inner.table_type()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        self.inner.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let inner = self.inner.scan(state, projection, filters, limit).await?;
        Ok(Arc::new(CountExec { input: inner, count: self.count.clone() }))
    }
}

/// Passes rows on, and counts them.
#[derive(Debug)]
struct CountExec {
    input: Arc<dyn ExecutionPlan>,
    count: Count,
}

impl DisplayAs for CountExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MicroBatchScan")
    }
}

impl ExecutionPlan for CountExec {
    fn name(&self) -> &'static str {
        "MicroBatchScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    over_one_input!(input, |this, input| Self { input, count: this.count.clone() });

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let (schema, count) = (input.schema(), self.count.clone());
        let batches = input.inspect(move |batch| {
            if let Ok(batch) = batch {
                count.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// The plan as explanations show it: streams are leaves of their own, operators of streams are left out.
pub(crate) fn shown(plan: &LogicalPlan) -> Result<LogicalPlan> {
    let show = |node: LogicalPlan| {
        if let Some(operator) = operator_of(&node) {
            let input = operator.input.clone();
            return Ok(Transformed::yes(input));
        }
        let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
        let Some(label) = with_table(&node, |table| table.label.clone()) else { return Ok(Transformed::no(node)) };
        let table = ShownTable { label, schema: scan.source.schema() };
        let plan = LogicalPlanBuilder::scan(scan.table_name.clone(), provider_as_source(Arc::new(table)), None)?;
        plan.build().map(Transformed::yes)
    };
    plan.clone().transform_up(show).data().map_err(engine_error)
}

/// A stream in an explanation.
#[derive(Debug)]
struct ShownTable {
    label: String,
    schema: SchemaRef,
}

#[async_trait]
impl TableProvider for ShownTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => self.schema.clone(),
        };
        Ok(Arc::new(ShownExec { label: self.label.clone(), input: Arc::new(EmptyExec::new(schema)) }))
    }
}

/// A stream in the explanation of a physical plan.
#[derive(Debug)]
struct ShownExec {
    label: String,
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for ShownExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.input.schema().fields().iter().map(|field| field.name().clone()).collect();
        write!(f, "StreamingRelation {}, [{}]", self.label, names.join(", "))
    }
}

impl ExecutionPlan for ShownExec {
    fn name(&self) -> &'static str {
        "StreamingRelation"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(
            &Arc<dyn datafusion::physical_expr::PhysicalExpr>,
        ) -> DfResult<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> DfResult<datafusion::common::tree_node::TreeNodeRecursion> {
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
