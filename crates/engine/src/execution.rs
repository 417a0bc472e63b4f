//! A running query.

use crate::kept::PlanOnly;
use crate::session::{Analysed, Session};
use crate::show;
use crate::slices::Slicing;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use firesteel_analyzer::Resolved;
use firesteel_analyzer::analyzer::Observation;
use firesteel_analyzer::attribute::{self, Attribute};
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Relation, RelationKind};
use firesteel_sources::write::validate::check_times;
use firesteel_types::client::{client_batch, client_schema};
use firesteel_types::{Literal, StructType};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a query or command runs under.
#[derive(Debug, Clone)]
pub struct RunContext {
    pub operation_id: String,
    pub tags: Vec<String>,
    /// Cancelled by interrupts, client loss, session end and shutdown. The
    /// execution's stream then ends with `OPERATION_CANCELED`.
    pub cancel: CancellationToken,
}

/// A query whose rows are made as the stream is polled.
pub struct Execution {
    pub schema: StructType,
    /// The schema of the batches: Spark's Arrow types for clients, with the session's time zone.
    pub arrow_schema: SchemaRef,
    /// Batches as clients expect them, of any number of rows; slicing to messages is the server's.
    pub batches: BoxStream<'static, Result<RecordBatch>>,
    /// Facts to be read while it runs and when it has ended.
    pub status: Arc<dyn ExecutionStatus>,
}

/// What can be asked of a query while it runs and after.
pub trait ExecutionStatus: Send + Sync {
    /// How far it is.
    fn progress(&self) -> Progress;
    /// Metrics of the operators, complete when the stream has ended.
    fn metrics(&self) -> Vec<OperatorMetrics>;
    /// Observations (`df.observe`), complete when the stream has ended.
    fn observed(&self) -> Vec<ObservedMetrics>;
}

#[derive(Debug, Clone, Default)]
pub struct Progress {
    pub stages: Vec<Stage>,
    pub tasks_in_flight: i64,
}

#[derive(Debug, Clone, Default)]
pub struct Stage {
    pub id: i64,
    pub tasks: i64,
    pub completed_tasks: i64,
    pub input_bytes: i64,
    pub is_done: bool,
}

#[derive(Debug, Clone)]
pub struct OperatorMetrics {
    pub name: String,
    pub plan_id: i64,
    pub parent: i64,
    pub metrics: Vec<Metric>,
}

#[derive(Debug, Clone)]
pub struct Metric {
    pub name: String,
    pub value: i64,
    pub kind: MetricKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Sum,
    Timing,
    Size,
}

#[derive(Debug, Clone)]
pub struct ObservedMetrics {
    pub name: String,
    pub keys: Vec<String>,
    pub values: Vec<Literal>,
    pub plan_id: i64,
}

/// Starts a query of a session.
pub(crate) async fn execute(session: &Arc<Session>, relation: Relation, run: RunContext) -> Result<Execution> {
    match relation.kind() {
        RelationKind::ShowString { .. } | RelationKind::HtmlString { .. } => {
            return show::execute(session, relation, run).await;
        }
        _ => {}
    }
    let analysed = cancellable(&run, session.analyse(relation)).await?;
    // Schemas may have times; rows only where the session has them.
    check_times(&attribute::schema_of(&analysed.resolved.output), &session.conf())?;
    execute_analysed(session, analysed, run).await
}

/// Starts a query whose rows are shown as texts: they may have times.
pub(crate) async fn execute_any(session: &Arc<Session>, relation: Relation, run: RunContext) -> Result<Execution> {
    let analysed = cancellable(&run, session.analyse(relation)).await?;
    execute_analysed(session, analysed, run).await
}

/// Starts an analysed query.
pub(crate) async fn execute_analysed(session: &Arc<Session>, analysed: Analysed, run: RunContext) -> Result<Execution> {
    let schema = attribute::schema_of(&analysed.resolved.output);
    let conf = session.conf();
    let arrow_schema: SchemaRef = Arc::new(client_schema(&schema, &conf.time_zone_text, conf.arrow_large_var_types));
    let columns = column_positions(&analysed.resolved.output);
    let physical = cancellable(&run, plan(session.state(), &analysed.resolved.exact()?)).await?;
    let stream = start(session.state(), physical.clone())?;
    let schema_of_batches = arrow_schema.clone();
    let token = run.cancel.clone();
    let operation_id = run.operation_id.clone();
    let batches = stream
        .map(move |batch| {
            let batch = batch.map_err(engine_error)?;
            let batch = match &columns {
                Some(positions) => batch.project(positions).map_err(|e| SparkError::internal(e.to_string()))?,
                None => batch,
            };
            client_batch(&batch, &schema_of_batches)
        })
        .boxed();
    let batches = until_cancelled(batches, token, operation_id);
    let status = Arc::new(PlanStatus { plan: physical, observations: analysed.observations });
    Ok(Execution { schema, arrow_schema, batches, status })
}

/// Output columns in terms of the exact plan's, where a column stands more than once.
fn column_positions(output: &[Attribute]) -> Option<Vec<usize>> {
    let mut places = HashMap::with_capacity(output.len());
    let mut positions = Vec::with_capacity(output.len());
    for attribute in output {
        let next = places.len();
        positions.push(*places.entry(attribute.id).or_insert(next));
    }
    (places.len() != output.len()).then_some(positions)
}

/// The rows of a relation, of exactly its output columns.
pub(crate) async fn rows(session: &Arc<Session>, resolved: &Resolved) -> Result<Vec<RecordBatch>> {
    let batches = collect(session, resolved.exact()?).await?;
    match column_positions(&resolved.output) {
        Some(positions) => {
            let project =
                |batch: RecordBatch| batch.project(&positions).map_err(|e| SparkError::internal(e.to_string()));
            batches.into_iter().map(project).collect()
        }
        None => Ok(batches),
    }
}

/// Optimises and plans.
pub(crate) async fn plan(state: &SessionState, plan: &LogicalPlan) -> Result<Arc<dyn ExecutionPlan>> {
    let physical = crate::python::bind(unfinished(state, plan, Slicing::Seen).await?, state).await?;
    finished(physical)
}

/// Optimises and plans what is written or kept by partitions.
pub(crate) async fn plan_partitions(state: &SessionState, plan: &LogicalPlan) -> Result<Arc<dyn ExecutionPlan>> {
    let physical = crate::python::bind(unfinished(state, plan, Slicing::Always).await?, state).await?;
    finished(physical)
}

/// Optimises and plans, but for the finishing touches, which other processes make themselves.
pub(crate) async fn unfinished(
    state: &SessionState,
    plan: &LogicalPlan,
    slicing: Slicing,
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = firesteel_analyzer::unnest(plan.clone())
        .and_then(firesteel_analyzer::pull_out)
        .and_then(firesteel_analyzer::python::extract)?;
    let plan = crate::sorts::kept(plan).map_err(engine_error)?;
    let plan = crate::slices::placed(state, plan, slicing).await?;
    crate::cartesian::check(state, &plan)?;
    let physical = if crate::scale::is_small(&plan) {
        let is_run = state.config().get_extension::<PlanOnly>().is_none();
        let plan = if is_run { crate::steady::steady(plan).map_err(engine_error)? } else { plan };
        crate::scale::plan_small(state, &plan).await
    } else {
        crate::huge_pages::allow();
        state.create_physical_plan(&plan).await
    };
    physical.map_err(engine_error)
}

/// The plan with the operators that give rows Spark's order, bounds and partitions.
pub(crate) fn finished(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    crate::soft_limit::without_misplaced(plan)
        .and_then(crate::adaptive_filter::placed)
        .and_then(crate::fair::paused)
        .and_then(crate::partitioned::by_partition)
        .and_then(crate::ordered::in_order)
        .and_then(crate::recursion::limited)
        .map_err(engine_error)
}

/// Starts a physical plan.
pub(crate) fn start(state: &SessionState, plan: Arc<dyn ExecutionPlan>) -> Result<SendableRecordBatchStream> {
    crate::ordered::execute(plan, crate::scale::context(state)).map_err(engine_error)
}

/// Runs a plan to its end. Its rows count as memory of queries, so that too many are an error.
pub(crate) async fn collect(session: &Arc<Session>, logical: LogicalPlan) -> Result<Vec<RecordBatch>> {
    let physical = plan(session.state(), &logical).await?;
    let context = session.state().task_ctx();
    let reservation = MemoryConsumer::new("collected rows").register(context.memory_pool());
    let mut rows = crate::ordered::execute(physical, context).map_err(engine_error)?;
    let mut batches = Vec::new();
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(engine_error)?;
        reservation.try_grow(crate::ordered::bytes(&batch)).map_err(engine_error)?;
        batches.push(batch);
    }
    Ok(batches)
}

/// The work, or the error of an interrupted operation.
pub(crate) async fn cancellable<T>(run: &RunContext, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        biased;
        () = run.cancel.cancelled() => Err(cancelled(&run.operation_id)),
        result = work => result,
    }
}

pub(crate) fn cancelled(operation_id: &str) -> SparkError {
    SparkError::new("OPERATION_CANCELED").with("operationId", operation_id)
}

/// Ends the stream with an error when the operation is interrupted.
fn until_cancelled(
    batches: BoxStream<'static, Result<RecordBatch>>,
    token: CancellationToken,
    operation_id: String,
) -> BoxStream<'static, Result<RecordBatch>> {
    stream::unfold(Some(batches), move |state| {
        let token = token.clone();
        let operation_id = operation_id.clone();
        async move {
            let mut batches = state?;
            tokio::select! {
                biased;
                () = token.cancelled() => Some((Err(cancelled(&operation_id)), None)),
                next = batches.next() => match next {
                    Some(Ok(batch)) => Some((Ok(batch), Some(batches))),
                    Some(Err(error)) => Some((Err(error), None)),
                    None => None,
                },
            }
        }
    })
    .boxed()
}

/// The status of a physical plan.
struct PlanStatus {
    plan: Arc<dyn ExecutionPlan>,
    observations: Vec<Observation>,
}

impl ExecutionStatus for PlanStatus {
    fn progress(&self) -> Progress {
        crate::progress::progress(&self.plan)
    }

    fn metrics(&self) -> Vec<OperatorMetrics> {
        let mut all = Vec::new();
        let mut stack = vec![(self.plan.clone(), 0i64)];
        while let Some((plan, parent)) = stack.pop() {
            let id = i64::try_from(all.len()).unwrap_or(0) + 1;
            let mut metrics = Vec::new();
            if let Some(set) = plan.metrics() {
                let set = set.aggregate_by_name();
                if let Some(rows) = set.output_rows() {
                    metrics.push(Metric {
                        name: "number of output rows".into(),
                        value: to_i64(rows),
                        kind: MetricKind::Sum,
                    });
                }
                if let Some(nanos) = set.elapsed_compute() {
                    metrics.push(Metric {
                        name: "duration".into(),
                        value: to_i64(nanos / 1_000_000),
                        kind: MetricKind::Timing,
                    });
                }
                if let Some(bytes) = set.spilled_bytes() {
                    metrics.push(Metric { name: "spill size".into(), value: to_i64(bytes), kind: MetricKind::Size });
                }
            }
            all.push(OperatorMetrics { name: plan.name().to_string(), plan_id: id, parent, metrics });
            stack.extend(plan.children().into_iter().map(|c| (c.clone(), id)));
        }
        all
    }

    fn observed(&self) -> Vec<ObservedMetrics> {
        crate::observe::observed(&self.plan, &self.observations)
    }
}

fn to_i64(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
