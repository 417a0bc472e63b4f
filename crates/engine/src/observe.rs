//! Observations (`df.observe`): rows pass, and aggregates over them are kept aside.

use crate::ObservedMetrics;
use crate::one_input::over_one_input;
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result as DfResult, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Accumulator, Expr, LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{LoweredAggregate, LoweredAggregateBuilder};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use firesteel_analyzer::analyzer::Observation;
use firesteel_analyzer::observe::Observe;
use firesteel_error::{Result, SparkError};
use firesteel_types::Literal;
use futures::StreamExt;
use parking_lot::Mutex;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Plans [`Observe`].
pub struct ObservePlanner;

#[async_trait]
impl ExtensionPlanner for ObservePlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        planning_ctx: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let Some(observe) = node.as_any().downcast_ref::<Observe>() else {
            return Ok(None);
        };
        let ([logical], [physical]) = (logical_inputs, physical_inputs) else {
            return Err(internal_datafusion_err!("an observation has one input"));
        };
        let physical_schema = physical.schema();
        let mut calls = Vec::new();
        let mut outputs = Vec::with_capacity(observe.metrics.len());
        for metric in &observe.metrics {
            outputs.push(split(metric.clone(), &mut calls)?);
        }
        let mut aggregates = Vec::with_capacity(calls.len());
        let mut fields = Vec::with_capacity(calls.len());
        for (i, call) in calls.iter().enumerate() {
            let lowered = LoweredAggregateBuilder::new(
                call,
                logical.schema(),
                &physical_schema,
                session.execution_props(),
                planning_ctx,
            )
            .with_name(aggregate_name(i))
            .build()?;
            fields.push(lowered.aggregate.field().as_ref().clone().with_name(aggregate_name(i)));
            aggregates.push(lowered);
        }
        let schema = Arc::new(Schema::new(fields));
        let df_schema = DFSchema::try_from(schema.as_ref().clone())?;
        let outputs = outputs
            .iter()
            .map(|o| planner.create_physical_expr(o, &df_schema, session, planning_ctx))
            .collect::<DfResult<_>>()?;
        let program = Arc::new(Program { aggregates, outputs, schema });
        Ok(Some(Arc::new(ObserveExec::new(observe.name.clone(), physical.clone(), program, Arc::default()))))
    }
}

/// The metric over columns that stand for its aggregates.
fn split(metric: Expr, calls: &mut Vec<Expr>) -> DfResult<Expr> {
    metric
        .transform_down(|e| {
            if !matches!(e, Expr::AggregateFunction(_)) {
                return Ok(Transformed::no(e));
            }
            let position = calls.iter().position(|c| *c == e).unwrap_or_else(|| {
                calls.push(e);
                calls.len() - 1
            });
            let column = Expr::Column(Column::new_unqualified(aggregate_name(position)));
            Ok(Transformed::new(column, true, TreeNodeRecursion::Jump))
        })
        .data()
}

fn aggregate_name(position: usize) -> String {
    format!("aggregate{position}")
}

/// How metrics are computed: aggregates over rows, then expressions over these.
#[derive(Debug)]
struct Program {
    aggregates: Vec<LoweredAggregate>,
    outputs: Vec<Arc<dyn PhysicalExpr>>,
    /// Of the aggregates' results.
    schema: SchemaRef,
}

type Accumulators = Vec<Box<dyn Accumulator>>;

impl Program {
    fn start(&self) -> DfResult<Accumulators> {
        self.aggregates.iter().map(|a| a.aggregate.create_accumulator()).collect()
    }

    fn update(&self, accumulators: &mut Accumulators, batch: &RecordBatch) -> DfResult<()> {
        for (lowered, accumulator) in self.aggregates.iter().zip(accumulators) {
            let mask = match &lowered.filter {
                Some(filter) => Some(filter.evaluate(batch)?.into_array(batch.num_rows())?),
                None => None,
            };
            let order = lowered.aggregate.order_bys().iter().map(|o| &o.expr);
            let expressions = lowered.aggregate.expressions();
            let mut arguments = Vec::with_capacity(expressions.len());
            for expression in expressions.iter().chain(order) {
                let argument = expression.evaluate(batch)?.into_array(batch.num_rows())?;
                arguments.push(match &mask {
                    Some(mask) => arrow::compute::filter(&argument, mask.as_boolean())?,
                    None => argument,
                });
            }
            accumulator.update_batch(&arguments)?;
        }
        Ok(())
    }

    /// The metrics over the rows of all partitions.
    fn finish(&self, partitions: Vec<Accumulators>) -> DfResult<Vec<ArrayRef>> {
        let mut all = self.start()?;
        for partition in partitions {
            for (accumulator, mut partial) in all.iter_mut().zip(partition) {
                let state = partial.state()?.iter().map(|s| s.to_array()).collect::<DfResult<Vec<_>>>()?;
                accumulator.merge_batch(&state)?;
            }
        }
        let results = all.iter_mut().map(|a| a.evaluate()?.to_array()).collect::<DfResult<Vec<_>>>()?;
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(1));
        let row = RecordBatch::try_new_with_options(self.schema.clone(), results, &options)?;
        self.outputs.iter().map(|o| o.evaluate(&row)?.into_array(1)).collect()
    }
}

/// The accumulators of a running partition; None when its metrics have been read.
type Running = Arc<Mutex<Option<Accumulators>>>;

/// What an execution has gathered.
#[derive(Default)]
struct Gathered {
    running: Vec<Running>,
    metrics: Option<Vec<ArrayRef>>,
}

impl fmt::Debug for Gathered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gathered").field("metrics", &self.metrics).finish_non_exhaustive()
    }
}

/// Passes rows on and feeds them to aggregates, each partition to its own.
#[derive(Debug)]
pub struct ObserveExec {
    observation: String,
    input: Arc<dyn ExecutionPlan>,
    program: Arc<Program>,
    /// Shared by the copies that optimizers make.
    gathered: Arc<Mutex<Gathered>>,
}

impl ObserveExec {
    fn new(
        observation: String,
        input: Arc<dyn ExecutionPlan>,
        program: Arc<Program>,
        gathered: Arc<Mutex<Gathered>>,
    ) -> Self {
        Self { observation, input, program, gathered }
    }

    /// The metrics, when the rows have passed.
    fn metrics_now(&self) -> DfResult<Vec<ArrayRef>> {
        let mut gathered = self.gathered.lock();
        if let Some(metrics) = &gathered.metrics {
            return Ok(metrics.clone());
        }
        let partitions = gathered.running.drain(..).filter_map(|r| r.lock().take()).collect();
        let metrics = self.program.finish(partitions)?;
        gathered.metrics = Some(metrics.clone());
        Ok(metrics)
    }
}

impl DisplayAs for ObserveExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CollectMetrics {}", self.observation)
    }
}

impl ExecutionPlan for ObserveExec {
    fn name(&self) -> &'static str {
        "CollectMetrics"
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

    over_one_input!(input, |this, input| Self::new(
        this.observation.clone(),
        input,
        this.program.clone(),
        this.gathered.clone()
    ));

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let running: Running = Arc::new(Mutex::new(Some(self.program.start()?)));
        self.gathered.lock().running.push(running.clone());
        let program = self.program.clone();
        let schema = input.schema();
        let batches = input.map(move |batch| {
            let batch = batch?;
            if let Some(accumulators) = running.lock().as_mut() {
                program.update(accumulators, &batch)?;
            }
            Ok(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// The metrics that an ended plan gathered.
pub(crate) fn observed(plan: &Arc<dyn ExecutionPlan>, observations: &[Observation]) -> Vec<ObservedMetrics> {
    let mut all = Vec::new();
    if observations.is_empty() {
        return all;
    }
    let mut stack = vec![plan.clone()];
    while let Some(plan) = stack.pop() {
        let any: &dyn Any = plan.as_ref();
        if let Some(exec) = any.downcast_ref::<ObserveExec>()
            && let Some(observation) = observations.iter().find(|o| o.name == exec.observation)
            && !all.iter().any(|m: &ObservedMetrics| m.name == observation.name)
        {
            match values(exec, observation) {
                Ok(values) => all.push(ObservedMetrics {
                    name: observation.name.clone(),
                    keys: observation.attributes.iter().map(|a| a.name.clone()).collect(),
                    values,
                    plan_id: observation.plan_id,
                }),
                Err(error) => tracing::warn!("the observation {} has no metrics: {error}", observation.name),
            }
        }
        stack.extend(plan.children().into_iter().cloned());
    }
    all
}

fn values(exec: &ObserveExec, observation: &Observation) -> Result<Vec<Literal>> {
    let metrics = exec.metrics_now().map_err(firesteel_analyzer::resolved::engine_error)?;
    if metrics.len() != observation.attributes.len() {
        return Err(SparkError::internal("an observation has other metrics than were analysed"));
    }
    metrics
        .iter()
        .zip(&observation.attributes)
        .map(|(array, attribute)| Literal::from_array(array.as_ref(), 0, &attribute.data_type))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{Engine, EngineOptions, RunContext};
    use firesteel_plan::{Expr, Relation, RelationKind};
    use firesteel_types::Literal;
    use futures::StreamExt;

    #[tokio::test(flavor = "multi_thread")]
    async fn metrics_are_aggregates_over_the_rows_of_all_partitions() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::new(EngineOptions {
            cores: Some(2),
            memory_limit: Some(1 << 26),
            spill_directory: Some(folder.path().to_path_buf()),
            ..EngineOptions::default()
        })
        .unwrap();
        let session = engine.create_session("user", "session").unwrap();
        let input = Relation::new(RelationKind::Range { start: 0, end: 100_000, step: 1, num_partitions: Some(3) });
        let id = || Expr::column("id");
        let metrics = vec![
            Expr::call("count", vec![id()]).alias("rows"),
            Expr::call("+", vec![Expr::call("max", vec![id()]), Expr::literal(Literal::Long(1))]).alias("next"),
        ];
        let kind = RelationKind::CollectMetrics { input, name: "facts".into(), metrics };
        let run = RunContext {
            operation_id: "operation".into(),
            tags: Vec::new(),
            cancel: tokio_util::sync::CancellationToken::new(),
        };
        let mut execution = session.execute(Relation::with_plan_id(kind, Some(4)), run).await.unwrap();
        while let Some(batch) = execution.batches.next().await {
            batch.unwrap();
        }
        for _ in 0..2 {
            let observed = execution.status.observed();
            assert_eq!(observed.len(), 1);
            assert_eq!((observed[0].name.as_str(), observed[0].plan_id), ("facts", 4));
            assert_eq!(observed[0].keys, ["rows", "next"]);
            assert_eq!(observed[0].values, [Literal::Long(100_000), Literal::Long(100_000)]);
        }
    }
}
