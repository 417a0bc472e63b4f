//! What operators of streams remember from batch to batch, in the checkpoint.

mod aggregate;
mod deduplicate;
mod store;

use super::check::{OutputMode, event_key, watermark};
use super::progress::StateProgress;
use crate::session::Session;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result as DfResult};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::functions_aggregate::expr_fn::{avg, max, min};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast};
use datafusion::physical_plan::ExecutionPlan;
use firesteel_analyzer::Attribute;
use firesteel_analyzer::analyzer::Observation;
use firesteel_analyzer::observe::Observe;
use firesteel_analyzer::resolved::engine_error;
use firesteel_analyzer::streaming::{StreamingKind, is_streaming, operator, operator_of};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::path::PathBuf;
use std::sync::Arc;
use store::Store;

/// The observation of the times of events.
const EVENT_TIMES: &str = "__event_times";

/// How far the times of events have come, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Watermarks {
    /// Rows up to here are late: the watermark of the batch before.
    pub late: i64,
    /// What is up to here is finished.
    pub now: i64,
}

impl Watermarks {
    /// True where something may be finished that was not in the batch before.
    pub fn has_moved(self) -> bool {
        self.now > self.late
    }

    /// The watermarks after a batch with these times of events.
    pub fn after(self, event_times: &[(&'static str, i64)], delay: Option<i64>) -> Self {
        let latest = event_times.iter().find(|(name, _)| *name == "max").map(|(_, time)| *time);
        let reached = latest.zip(delay).map_or(0, |(latest, delay)| latest.saturating_sub(delay));
        Self { late: self.now, now: self.now.max(reached) }
    }
}

/// The operators of a query that remember, and the column of times.
pub(super) struct State {
    /// The column of times, and how late they may be in milliseconds.
    watermark: Option<(String, i64)>,
    observation: Option<Observation>,
    /// How many operators remember.
    operators: usize,
    stores: Vec<Store>,
    progress: Vec<StateProgress>,
}

/// A batch as operators see it.
pub(super) struct Turn<'a> {
    pub session: &'a Arc<Session>,
    pub batch: i64,
    pub mode: OutputMode,
    pub watermarks: Watermarks,
    /// How late events may be in milliseconds, where they have a watermark.
    pub delay_millis: Option<i64>,
}

/// What an operator gives.
pub(super) struct Outcome {
    pub schema: SchemaRef,
    pub rows: Vec<RecordBatch>,
    /// The plan of its input, which has run.
    pub ran: Arc<dyn ExecutionPlan>,
    pub progress: StateProgress,
}

impl State {
    /// The state of a plan below a folder.
    pub fn open(plan: &LogicalPlan, folder: PathBuf) -> Result<Self> {
        let mut operators = 0;
        let visited = plan.apply(|node| {
            operators += usize::from(is_remembering(node));
            Ok(TreeNodeRecursion::Continue)
        });
        visited.map_err(engine_error)?;
        let watermark = watermark(plan);
        let observation = watermark.as_ref().map(|_| Observation {
            name: EVENT_TIMES.to_string(),
            plan_id: -1,
            attributes: vec![
                Attribute::new("max", DataType::Long, true),
                Attribute::new("min", DataType::Long, true),
                Attribute::new("avg", DataType::Double, true),
            ],
        });
        let stores = (0..operators).map(|i| Store::new(folder.join(i.to_string()))).collect();
        Ok(Self { watermark, observation, operators, stores, progress: Vec::new() })
    }

    /// True where anything is remembered and may be finished by time.
    pub fn is_there(&self) -> bool {
        self.operators > 0 && self.watermark.is_some()
    }

    /// The observation of the times of events.
    pub fn observation(&self) -> Option<&Observation> {
        self.observation.as_ref()
    }

    /// How late events may be, in milliseconds.
    pub fn delay_millis(&self) -> Option<i64> {
        self.watermark.as_ref().map(|(_, delay)| *delay)
    }

    /// What the operators of the last batch said.
    pub fn take_progress(&mut self) -> Vec<StateProgress> {
        std::mem::take(&mut self.progress)
    }

    /// Runs the operators of a batch that remember, from the sources on: their results stand in their places.
    /// Gives the plans that have run, too.
    pub async fn run(
        &mut self,
        session: &Arc<Session>,
        plan: LogicalPlan,
        batch: i64,
        mode: OutputMode,
        watermarks: Watermarks,
    ) -> Result<(LogicalPlan, Vec<Arc<dyn ExecutionPlan>>)> {
        let mut plan = self.timed(plan)?;
        let mut ran = Vec::new();
        self.progress.clear();
        let turn = Turn { session, batch, mode, watermarks, delay_millis: self.delay_millis() };
        for number in 0..self.operators {
            let Some(node) = lowest(&plan)? else {
                return Err(SparkError::internal("an operator of a stream is gone"));
            };
            let store = self.stores.get(number).ok_or_else(|| SparkError::internal("an operator without state"))?;
            let outcome = match operator_of(&node).map(|operator| (&operator.input, &operator.kind)) {
                Some((LogicalPlan::Aggregate(aggregate), StreamingKind::Aggregate { time })) => {
                    aggregate::run(&turn, store, aggregate, *time).await?
                }
                Some((input, StreamingKind::Deduplicate { keys, time, within_watermark })) => {
                    deduplicate::run(&turn, store, input, keys, time.as_deref(), *within_watermark).await?
                }
                _ => return Err(SparkError::internal("an operator of a stream that is not known")),
            };
            ran.push(outcome.ran);
            self.progress.push(outcome.progress);
            let rows = at_hand(node.schema(), outcome.schema, outcome.rows)?;
            plan = replaced(plan, &node, &rows)?;
        }
        Ok((plan, ran))
    }

    /// The plan with an observation of the times in the place of the watermark.
    fn timed(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let place = |node: LogicalPlan| {
            let Some(operator) = operator_of(&node) else { return Ok(Transformed::no(node)) };
            let StreamingKind::Watermark { column, .. } = &operator.kind else { return Ok(Transformed::no(node)) };
            let time = Expr::Column(datafusion::common::Column::new_unqualified(column));
            let micros = || cast(time.clone(), arrow::datatypes::DataType::Int64);
            let mean = avg(cast(micros(), arrow::datatypes::DataType::Float64));
            let metrics = vec![max(micros()).alias("max"), min(micros()).alias("min"), mean.alias("avg")];
            let observe = Observe { name: EVENT_TIMES.to_string(), input: operator.input.clone(), metrics };
            let node = Arc::new(observe);
            Ok(Transformed::yes(LogicalPlan::Extension(datafusion::logical_expr::Extension { node })))
        };
        plan.transform_up(place).data().map_err(engine_error)
    }
}

/// The operator that remembers below which there is none.
fn lowest(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let mut found = None;
    let visited = plan.apply(|node| {
        if is_remembering(node) {
            found = Some(node.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.map_err(engine_error)?;
    Ok(found)
}

/// True for operators that remember.
fn is_remembering(node: &LogicalPlan) -> bool {
    let kind = operator_of(node).map(|operator| &operator.kind);
    matches!(kind, Some(StreamingKind::Deduplicate { .. } | StreamingKind::Aggregate { .. }))
}

/// The plan with a mark over each aggregation of a stream.
pub(super) fn marked(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mark = |node: LogicalPlan| {
        let time = match &node {
            LogicalPlan::Aggregate(aggregate) if is_streaming(&node) => event_key(aggregate),
            _ => return Ok(Transformed::no(node)),
        };
        Ok(Transformed::yes(operator(node, StreamingKind::Aggregate { time })))
    };
    plan.transform_up(mark).data().map_err(engine_error)
}

fn replaced(plan: LogicalPlan, old: &LogicalPlan, new: &LogicalPlan) -> Result<LogicalPlan> {
    let mut is_done = false;
    let place = |node: LogicalPlan| {
        if !is_done && node == *old {
            is_done = true;
            return Ok(Transformed::new(new.clone(), true, TreeNodeRecursion::Jump));
        }
        Ok(Transformed::no(node))
    };
    plan.transform_down(place).data().map_err(engine_error)
}

/// A plan of rows at hand, under the names of an operator's columns.
fn at_hand(names: &DFSchema, schema: SchemaRef, rows: Vec<RecordBatch>) -> Result<LogicalPlan> {
    let build = || -> DfResult<LogicalPlan> {
        let table = MemTable::try_new(schema, vec![rows])?;
        let scan = LogicalPlanBuilder::scan("state", provider_as_source(Arc::new(table)), None)?.build()?;
        let columns: Vec<Expr> = scan
            .schema()
            .columns()
            .into_iter()
            .zip(names.iter())
            .map(|(column, (qualifier, field))| Expr::Column(column).alias_qualified(qualifier.cloned(), field.name()))
            .collect();
        LogicalPlanBuilder::from(scan).project(columns)?.build()
    };
    build().map_err(engine_error)
}
