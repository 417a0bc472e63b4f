//! The operator that streams rows to workers and back.

use super::gate::Gate;
use super::session::{PythonSession, WorkerContext};
use super::work::{Work, external};
use super::{cogroup, eval, group, map, table, window};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result as DfResult, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::execution::session_state::SessionState;
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexOrdering, LexRequirement, OrderingRequirements, Partitioning, PhysicalExpr,
    PhysicalSortExpr,
};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements,
    PlanProperties, SendableRecordBatchStream,
};
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::fmt;
use std::sync::Arc;

/// Rows that Python functions make.
pub(crate) struct PythonExec {
    work: Work,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    /// The session's workers, from when the plan is bound to a session.
    context: Option<Arc<WorkerContext>>,
    gate: Arc<Gate>,
    metrics: ExecutionPlanMetricsSet,
    /// The id under which the profile of its one function is reported.
    result_id: i64,
}

/// One partition's run.
pub(crate) struct Run {
    pub context: Arc<WorkerContext>,
    pub schema: SchemaRef,
    pub partition: usize,
    /// The id under which a profile of the one function is reported.
    pub result_id: i64,
}

impl PythonExec {
    pub fn new(work: Work, inputs: Vec<Arc<dyn ExecutionPlan>>, schema: SchemaRef) -> Self {
        Self::with_context(work, inputs, schema, None)
    }

    fn with_context(
        work: Work,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        schema: SchemaRef,
        context: Option<Arc<WorkerContext>>,
    ) -> Self {
        let properties = Arc::new(properties(&work, &inputs, &schema));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let metrics = ExecutionPlanMetricsSet::new();
        let gate = Arc::new(Gate::new(cores * 2));
        Self { work, inputs, schema, properties, context, gate, metrics, result_id: super::work::fresh_id() }
    }

    fn is_by_row(&self) -> bool {
        matches!(self.work, Work::Eval { .. })
    }

    /// Keys by which the rows of an input are grouped, and the order within groups.
    fn grouping(&self, input: usize) -> Option<(&[Arc<dyn PhysicalExpr>], Option<&LexOrdering>)> {
        match &self.work {
            Work::GroupMap { frame, .. } => Some((&frame.grouping, None)),
            Work::CoGroupMap { frames, .. } => frames.get(input).map(|frame| (frame.grouping.as_slice(), None)),
            Work::Aggregate { keys, .. } => Some((keys, None)),
            Work::Window { partition, order, .. } => Some((partition, order.as_ref())),
            Work::Eval { .. } | Work::Map { .. } | Work::Table(_) => None,
        }
    }
}

fn properties(work: &Work, inputs: &[Arc<dyn ExecutionPlan>], schema: &SchemaRef) -> PlanProperties {
    let equivalences = EquivalenceProperties::new(schema.clone());
    let Some(input) = inputs.first() else {
        return PlanProperties::new(
            equivalences,
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            datafusion::physical_plan::execution_plan::Boundedness::Bounded,
        );
    };
    let count = input.output_partitioning().partition_count();
    // Columns of the input keep their places, so what holds for them still does.
    let (equivalences, partitioning) = match work {
        Work::Eval { .. } => {
            let equivalences = match input.output_ordering() {
                Some(order) => EquivalenceProperties::new_with_orderings(schema.clone(), [order.clone()]),
                None => equivalences,
            };
            (equivalences, input.output_partitioning().clone())
        }
        _ => (equivalences, Partitioning::UnknownPartitioning(count)),
    };
    PlanProperties::new(equivalences, partitioning, input.pipeline_behavior(), input.boundedness())
}

impl fmt::Debug for PythonExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonExec").field("work", &self.work).finish_non_exhaustive()
    }
}

impl DisplayAs for PythonExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: [{}]", self.name(), self.work.names().join(", "))
    }
}

impl Work {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Eval { chains, .. } | Self::Aggregate { chains, .. } => {
                chains.iter().filter_map(|c| c.functions.last()).map(|call| call.name.as_str()).collect()
            }
            Self::Window { windows, .. } => {
                windows.iter().filter_map(|(c, _)| c.functions.last()).map(|call| call.name.as_str()).collect()
            }
            Self::Table(table) => vec![table.call.name.as_str()],
            Self::Map { call, .. } | Self::GroupMap { call, .. } | Self::CoGroupMap { call, .. } => {
                vec![call.name.as_str()]
            }
        }
    }
}

impl ExecutionPlan for PythonExec {
    fn name(&self) -> &str {
        match self.work {
            Work::Eval { .. } => "PythonEvalExec",
            Work::Map { .. } => "PythonMapExec",
            Work::GroupMap { .. } => "PythonGroupMapExec",
            Work::CoGroupMap { .. } => "PythonCoGroupMapExec",
            Work::Aggregate { .. } => "PythonAggregateExec",
            Work::Table(_) => "PythonTableExec",
            Work::Window { .. } => "PythonWindowExec",
        }
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.is_by_row(); self.inputs.len()]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.inputs.len()]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        let children: Vec<Distribution> = (0..self.inputs.len())
            .map(|i| match self.grouping(i) {
                Some(([], _)) => Distribution::SinglePartition,
                Some((keys, _)) => Distribution::KeyPartitioned(keys.to_vec()),
                None => Distribution::UnspecifiedDistribution,
            })
            .collect();
        let is_pair = children.iter().filter(|c| matches!(c, Distribution::KeyPartitioned(_))).count() == 2;
        if is_pair {
            InputDistributionRequirements::co_partitioned(children)
        } else {
            InputDistributionRequirements::new(children)
        }
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        let of_input = |(i, input): (usize, &Arc<dyn ExecutionPlan>)| {
            let (keys, order) = self.grouping(i)?;
            let mut sort: Vec<PhysicalSortExpr> =
                keys.iter().map(|key| PhysicalSortExpr::new_default(key.clone())).collect();
            sort.extend(order.into_iter().flatten().cloned());
            // Rows of a group stay in the order of the input: their numbers are its last column.
            let last = input.schema().fields().len().checked_sub(1)?;
            let number = Column::new(super::planner::ROW_NUMBER, last);
            sort.push(PhysicalSortExpr::new_default(Arc::new(number)));
            LexOrdering::new(sort).map(LexRequirement::from).map(OrderingRequirements::new)
        };
        self.inputs.iter().enumerate().map(of_input).collect()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        for expr in self.work.expressions() {
            if f(expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        let (work, schema, context) = (self.work.clone(), self.schema.clone(), self.context.clone());
        Ok(Arc::new(Self::with_context(work, children, schema, context)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let workers = self
            .context
            .clone()
            .ok_or_else(|| external(SparkError::internal("a Python operator that belongs to no session")))?;
        let run = Run { context: workers, schema: self.schema.clone(), partition, result_id: self.result_id };
        let (work, inputs, gate) = (self.work.clone(), self.inputs.clone(), self.gate.clone());
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let start = async move {
            // Inputs begin when the partition may run: those below never wait for one that stands still.
            let pass = gate.enter().await;
            let streams = inputs.iter().map(|i| i.execute(partition, context.clone())).collect::<DfResult<Vec<_>>>()?;
            let rows = match work {
                Work::Eval { chains, columns } => eval::run(run, chains, columns, streams),
                Work::Table(table) => table::run(run, table, streams),
                Work::Map { call, columns, is_barrier } => map::run(run, call, columns, is_barrier, streams),
                Work::GroupMap { call, frame } => group::map(run, call, frame, streams),
                Work::CoGroupMap { call, frames } => cogroup::run(run, call, *frames, streams),
                Work::Aggregate { keys, chains, columns } => group::aggregate(run, keys, chains, columns, streams),
                Work::Window { partition, order, windows, columns } => {
                    window::run(run, partition, order, windows, columns, streams)
                }
            };
            Ok::<_, DataFusionError>(as_rows(rows, pass))
        };
        let rows = stream::once(start).flat_map(|started: Result<_, DataFusionError>| match started {
            Ok(rows) => rows,
            Err(error) => stream::iter([Err(error)]).boxed(),
        });
        let counted = rows.map(move |batch| batch.record_output(&metrics));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), counted)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

type Rows = BoxStream<'static, Result<RecordBatch>>;

/// A stream of ours as DataFusion's; the partition counts as busy while somebody waits for it.
fn as_rows(rows: Rows, pass: super::gate::Pass) -> BoxStream<'static, DfResult<RecordBatch>> {
    stream::unfold((rows, pass), |(mut rows, pass)| async move {
        pass.set(true);
        let next = rows.next().await;
        pass.set(false);
        next.map(|batch| (batch.map_err(external), (rows, pass)))
    })
    .boxed()
}

impl Work {
    fn expressions(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        let mut all = Vec::new();
        match self {
            Self::Eval { columns, .. } | Self::Map { columns, .. } => all.extend(columns.iter().map(|c| &c.expr)),
            Self::Table(table) => all.extend(table.columns.iter().map(|c| &c.expr)),
            Self::GroupMap { frame, .. } => {
                all.extend(frame.grouping.iter().chain(frame.columns.iter().map(|c| &c.expr)));
            }
            Self::CoGroupMap { frames, .. } => {
                for frame in frames.iter() {
                    all.extend(frame.grouping.iter().chain(frame.columns.iter().map(|c| &c.expr)));
                }
            }
            Self::Aggregate { keys, columns, .. } => all.extend(keys.iter().chain(columns.iter().map(|c| &c.expr))),
            Self::Window { partition, order, columns, .. } => {
                all.extend(partition.iter().chain(columns.iter().map(|c| &c.expr)));
                all.extend(order.iter().flatten().map(|key| &key.expr));
            }
        }
        all
    }
}

/// Gives the operators of a plan the session's workers.
pub(crate) async fn bind(plan: Arc<dyn ExecutionPlan>, state: &SessionState) -> Result<Arc<dyn ExecutionPlan>> {
    // A plan that is only looked at needs no workers.
    if !has_python(&plan) || state.config().get_extension::<crate::kept::PlanOnly>().is_some() {
        return Ok(plan);
    }
    let session = state
        .config()
        .get_extension::<PythonSession>()
        .ok_or_else(|| SparkError::internal("Python functions outside a session"))?;
    let context = Arc::new(crate::session::blocking(move || session.context()).await?);
    plan.transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        let Some(python) = any.downcast_ref::<PythonExec>() else { return Ok(Transformed::no(node)) };
        let (work, inputs, schema) = (python.work.clone(), python.inputs.clone(), python.schema.clone());
        Ok(Transformed::yes(
            Arc::new(PythonExec::with_context(work, inputs, schema, Some(context.clone()))) as Arc<dyn ExecutionPlan>
        ))
    })
    .map(|t| t.data)
    .map_err(engine_error)
}

fn has_python(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.exists(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        Ok(any.is::<PythonExec>())
    })
    .unwrap_or(true)
}

/// The one input of an operator.
pub(crate) fn one(mut inputs: Vec<SendableRecordBatchStream>) -> DfResult<SendableRecordBatchStream> {
    inputs.pop().ok_or_else(|| internal_datafusion_err!("a Python operator has one input"))
}
