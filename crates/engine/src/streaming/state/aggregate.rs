//! Aggregates over all rows so far: their states are merged with those of each batch.

use super::store::{Store, bytes, count};
use super::{Outcome, Turn};
use crate::execution;
use crate::session::blocking;
use crate::streaming::check::OutputMode;
use crate::streaming::progress::StateProgress;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBuilder};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{AggregateFunctionExpr, LoweredAggregateBuilder};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use firesteel_analyzer::resolved::{engine_error, project};
use firesteel_error::{Result, SparkError};
use futures::StreamExt;
use std::collections::HashSet;
use std::sync::Arc;

/// The aggregation of a batch, with its operators over the states of aggregates.
struct Program {
    input_schema: SchemaRef,
    keys: PhysicalGroupBy,
    aggregates: Vec<Arc<AggregateFunctionExpr>>,
    filters: Vec<Option<Arc<dyn PhysicalExpr>>>,
}

/// Merges a batch into the state, and gives the rows that the output mode wants.
pub(super) async fn run(turn: &Turn<'_>, store: &Store, aggregate: &Aggregate, time: Option<usize>) -> Result<Outcome> {
    let keys = aggregate.group_expr.len();
    let (input, ran) = input(turn, aggregate).await?;
    let program = Program::new(turn, aggregate, &input, &ran)?;
    let partial = program.over(AggregateMode::Partial, single(ran.clone()))?;
    let state_schema = partial.schema();
    let fresh = collected(turn, partial).await?;
    // All groups stay where all are written each time.
    let time = time.filter(|_| turn.mode != OutputMode::Complete);
    let (fresh, dropped) = match time {
        Some(key) => split(fresh, key, turn.watermarks.late)?,
        None => (fresh, Vec::new()),
    };
    let before = store.read(turn.batch - 1)?;
    let before = before.into_iter().map(|batch| of_schema(&batch, &state_schema)).collect::<Result<Vec<_>>>()?;
    let changed = (turn.mode == OutputMode::Update).then(|| rows_of(&fresh, keys)).transpose()?;
    let updated = count(&fresh);
    let merged: Vec<RecordBatch> = before.into_iter().chain(fresh).collect();
    let reduced = program.over(AggregateMode::PartialReduce, source(merged, &state_schema)?)?;
    let all = collected(turn, reduced).await?;
    let all = all.iter().map(|batch| of_schema(batch, &state_schema)).collect::<Result<Vec<_>>>()?;
    let (kept, finished) = match time {
        Some(key) => split(all.clone(), key, turn.watermarks.now)?,
        None => (all.clone(), Vec::new()),
    };
    let wanted = match turn.mode {
        OutputMode::Complete => all,
        OutputMode::Append => finished.clone(),
        OutputMode::Update => chosen(all, keys, &changed.unwrap_or_default())?,
    };
    let last = program.over(AggregateMode::Final, source(wanted, &state_schema)?)?;
    let (schema, rows) = (last.schema(), collected(turn, last).await?);
    // Without keys there is a row for no rows at all, which no batch has asked for.
    let rows = if keys == 0 && turn.mode == OutputMode::Append { Vec::new() } else { rows };
    let progress = StateProgress {
        operator: "stateStoreSave",
        total: count(&kept),
        updated,
        removed: count(&finished),
        dropped: count(&dropped),
        bytes: bytes(&kept),
    };
    save(store, turn.batch, state_schema, kept).await?;
    Ok(Outcome { schema, rows, ran, progress })
}

async fn save(store: &Store, batch: i64, schema: SchemaRef, rows: Vec<RecordBatch>) -> Result<()> {
    let store = store.clone();
    blocking(move || store.write(batch, &schema, &rows)).await
}

/// The input with its keys as its first columns, and its physical plan.
async fn input(turn: &Turn<'_>, aggregate: &Aggregate) -> Result<(LogicalPlan, Arc<dyn ExecutionPlan>)> {
    let mut expressions: Vec<Expr> =
        aggregate.group_expr.iter().enumerate().map(|(i, key)| key.clone().unalias().alias(key_name(i))).collect();
    expressions.extend(aggregate.input.schema().columns().into_iter().map(Expr::Column));
    let input = project(aggregate.input.as_ref().clone(), expressions)?;
    let physical = execution::plan(turn.session.state(), &input).await?;
    Ok((input, physical))
}

fn key_name(position: usize) -> String {
    format!("key {position}")
}

impl Program {
    fn new(
        turn: &Turn<'_>,
        aggregate: &Aggregate,
        input: &LogicalPlan,
        physical: &Arc<dyn ExecutionPlan>,
    ) -> Result<Self> {
        let input_schema = physical.schema();
        let keys = (0..aggregate.group_expr.len()).map(|i| {
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(&key_name(i), i));
            (column, key_name(i))
        });
        let keys = PhysicalGroupBy::new_single(keys.collect());
        let context = PhysicalPlanningContext::default();
        let (mut aggregates, mut filters) = (Vec::new(), Vec::new());
        for (i, call) in aggregate.aggr_expr.iter().enumerate() {
            let call = call.clone().unalias();
            let lowered = LoweredAggregateBuilder::new(
                &call,
                input.schema(),
                &input_schema,
                turn.session.state().execution_props(),
                &context,
            )
            .with_name(format!("aggregate {i}"))
            .build()
            .map_err(engine_error)?;
            aggregates.push(lowered.aggregate);
            filters.push(lowered.filter);
        }
        Ok(Self { input_schema, keys, aggregates, filters })
    }

    fn over(&self, mode: AggregateMode, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let (keys, filters) = match mode {
            AggregateMode::Partial => (self.keys.clone(), self.filters.clone()),
            _ => (self.keys.as_final(), vec![None; self.filters.len()]),
        };
        let exec =
            AggregateExec::try_new(mode, keys, self.aggregates.clone(), filters, input, self.input_schema.clone());
        exec.map(|exec| Arc::new(exec) as Arc<dyn ExecutionPlan>).map_err(engine_error)
    }
}

/// All partitions as one.
fn single(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}

fn source(rows: Vec<RecordBatch>, schema: &SchemaRef) -> Result<Arc<dyn ExecutionPlan>> {
    let exec = MemorySourceConfig::try_new_exec(&[rows], schema.clone(), None).map_err(engine_error)?;
    Ok(exec)
}

/// The rows of a plan of one partition. They count as memory of queries.
async fn collected(turn: &Turn<'_>, plan: Arc<dyn ExecutionPlan>) -> Result<Vec<RecordBatch>> {
    let context = turn.session.state().task_ctx();
    let reservation = datafusion::execution::memory_pool::MemoryConsumer::new("state of a streaming query")
        .register(context.memory_pool());
    let mut stream = plan.execute(0, context).map_err(engine_error)?;
    let mut rows = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(engine_error)?;
        reservation.try_grow(crate::ordered::bytes(&batch)).map_err(engine_error)?;
        rows.push(batch);
    }
    Ok(rows)
}

/// The rows under the state's own schema: plans differ in names and in what may be null.
fn of_schema(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    RecordBatch::try_new(schema.clone(), batch.columns().to_vec())
        .map_err(|_| SparkError::unsupported("a query whose aggregates are not those of its checkpoint"))
}

/// Rows whose key is after a moment, and those whose key is not.
fn split(rows: Vec<RecordBatch>, key: usize, moment: i64) -> Result<(Vec<RecordBatch>, Vec<RecordBatch>)> {
    let fails = |error: arrow::error::ArrowError| SparkError::internal(error.to_string());
    let (mut after, mut before) = (Vec::new(), Vec::new());
    for batch in rows {
        let column: &ArrayRef = batch.column(key);
        let times = match column.data_type() {
            DataType::Struct(_) => column.as_struct().column(1).clone(),
            _ => column.clone(),
        };
        let micros = cast(&times, &DataType::Int64).map_err(fails)?;
        let micros = micros.as_primitive::<Int64Type>();
        let limit = moment.saturating_mul(1000);
        let mut is_before = BooleanBuilder::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let is_known = !micros.is_null(row) && !column.is_null(row);
            is_before.append_value(is_known && micros.value(row) <= limit);
        }
        let is_before = is_before.finish();
        let is_after: BooleanArray = is_before.iter().map(|b| b.map(|b| !b)).collect();
        before.push(filter_record_batch(&batch, &is_before).map_err(fails)?);
        after.push(filter_record_batch(&batch, &is_after).map_err(fails)?);
    }
    Ok((after, before))
}

/// The keys of rows as values that can be compared.
fn rows_of(rows: &[RecordBatch], keys: usize) -> Result<HashSet<OwnedRow>> {
    let mut all = HashSet::new();
    for batch in rows {
        all.extend(encoded(batch, keys)?);
    }
    Ok(all)
}

fn encoded(batch: &RecordBatch, keys: usize) -> Result<Vec<OwnedRow>> {
    let fails = |error: arrow::error::ArrowError| SparkError::internal(error.to_string());
    let columns = &batch.columns()[..keys];
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
    let converter = RowConverter::new(fields).map_err(fails)?;
    let rows = converter.convert_columns(columns).map_err(fails)?;
    Ok(rows.iter().map(|row| row.owned()).collect())
}

/// The rows whose keys are among those that have changed.
fn chosen(rows: Vec<RecordBatch>, keys: usize, changed: &HashSet<OwnedRow>) -> Result<Vec<RecordBatch>> {
    if keys == 0 {
        return Ok(rows);
    }
    let mut all = Vec::with_capacity(rows.len());
    for batch in rows {
        let mask: BooleanArray = encoded(&batch, keys)?.iter().map(|row| Some(changed.contains(row))).collect();
        all.push(filter_record_batch(&batch, &mask).map_err(|error| SparkError::internal(error.to_string()))?);
    }
    Ok(all)
}
