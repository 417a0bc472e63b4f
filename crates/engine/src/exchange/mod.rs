//! Rows moved between partitions on the user's demand.
//!
//! All input is read before the first row comes out, as in Spark's shuffle: each
//! partition's rows then come in the order of the input's partitions, however
//! fast these were. What does not fit into memory waits on disk.

mod buckets;
mod local_sort;
mod range;
mod sorted;

pub(crate) use local_sort::LocalSortExec;
pub(crate) use sorted::{FirstExec, SortedExec};

use crate::one_input::over_one_input;
use buckets::Buckets;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result as DfResult, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, SortExpr, UserDefinedLogicalNode};
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr, create_physical_sort_exprs,
};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use firesteel_analyzer::exchange::{Exchange, LocalSort, Scheme};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Plans [`Exchange`] and [`LocalSort`].
pub(crate) struct ExchangePlanner;

#[async_trait]
impl ExtensionPlanner for ExchangePlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let exchange = node.as_any().downcast_ref::<Exchange>();
        let sort = node.as_any().downcast_ref::<LocalSort>();
        if exchange.is_none() && sort.is_none() {
            return Ok(None);
        }
        let ([logical], [physical]) = (logical_inputs, physical_inputs) else {
            return Err(internal_datafusion_err!("an exchange has one input"));
        };
        let sort_keys = |keys: &[SortExpr]| {
            let keys = create_physical_sort_exprs(keys, logical.schema(), session.execution_props(), context)?;
            LexOrdering::new(keys).ok_or_else(|| internal_datafusion_err!("an order needs keys"))
        };
        if let Some(sort) = sort {
            return Ok(Some(Arc::new(LocalSortExec::new(physical.clone(), sort_keys(&sort.keys)?))));
        }
        let Some(exchange) = exchange else { return Ok(None) };
        let partitions = match exchange.partitions {
            0 => session.config().target_partitions().max(1),
            given => given,
        };
        let routing = match &exchange.scheme {
            Scheme::Coalesce => {
                return Ok(Some(Arc::new(CoalesceExec::new(physical.clone(), partitions))));
            }
            Scheme::Stay | Scheme::Spread => return Ok(Some(physical.clone())),
            Scheme::Sorted(keys) => {
                return Ok(Some(Arc::new(SortedExec::new(physical.clone(), sort_keys(keys)?))));
            }
            Scheme::First => return Ok(Some(Arc::new(FirstExec::new(physical.clone())))),
            Scheme::RoundRobin => Routing::RoundRobin,
            Scheme::ById(id) => Routing::ById(planner.create_physical_expr(id, logical.schema(), session, context)?),
            Scheme::Range(keys) => Routing::Range(sort_keys(keys)?),
        };
        Ok(Some(Arc::new(ExchangeExec::new(physical.clone(), routing, partitions))))
    }
}

/// How a row finds its partition.
#[derive(Debug, Clone)]
pub(crate) enum Routing {
    RoundRobin,
    ById(Arc<dyn PhysicalExpr>),
    Range(LexOrdering),
}

type Moved = Shared<BoxFuture<'static, Result<Arc<Buckets>, Arc<DataFusionError>>>>;

/// Rows moved between partitions.
pub(crate) struct ExchangeExec {
    input: Arc<dyn ExecutionPlan>,
    routing: Routing,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
    /// The move that all partitions wait for, begun by the first.
    moved: Mutex<Option<Moved>>,
}

impl ExchangeExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, routing: Routing, partitions: usize) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Final,
            input.boundedness(),
        );
        Self {
            input,
            routing,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
            moved: Mutex::new(None),
        }
    }

    fn partitions(&self) -> usize {
        self.properties.partitioning.partition_count()
    }
}

impl fmt::Debug for ExchangeExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExchangeExec").field("routing", &self.routing).field("partitions", &self.partitions()).finish()
    }
}

impl DisplayAs for ExchangeExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.partitions();
        match &self.routing {
            Routing::RoundRobin => write!(f, "ExchangeExec: RoundRobinPartitioning({n})"),
            Routing::ById(id) => write!(f, "ExchangeExec: partitioning({id}, {n})"),
            Routing::Range(keys) => write!(f, "ExchangeExec: rangepartitioning({keys}, {n})"),
        }
    }
}

impl ExecutionPlan for ExchangeExec {
    fn name(&self) -> &str {
        "ExchangeExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        match &self.routing {
            Routing::RoundRobin => Ok(TreeNodeRecursion::Continue),
            Routing::ById(id) => f(id),
            Routing::Range(keys) => {
                for key in keys {
                    if f(&key.expr)? == TreeNodeRecursion::Stop {
                        return Ok(TreeNodeRecursion::Stop);
                    }
                }
                Ok(TreeNodeRecursion::Continue)
            }
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let input = children.pop().ok_or_else(|| internal_datafusion_err!("an exchange has one input"))?;
        Ok(Arc::new(Self::new(input, self.routing.clone(), self.partitions())))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let moved = self
            .moved
            .lock()
            .get_or_insert_with(|| {
                let input = self.input.clone();
                let (routing, partitions, metrics) = (self.routing.clone(), self.partitions(), self.metrics.clone());
                let context = context.clone();
                async move {
                    buckets::fill(input, routing, partitions, context, &metrics).await.map(Arc::new).map_err(Arc::new)
                }
                .boxed()
                .shared()
            })
            .clone();
        let rows = async move {
            let buckets = moved.await.map_err(DataFusionError::Shared)?;
            Ok::<_, DataFusionError>(buckets.read(partition))
        };
        let stream = stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// Neighbouring partitions run one after another as one.
#[derive(Debug)]
pub(crate) struct CoalesceExec {
    input: Arc<dyn ExecutionPlan>,
    partitions: usize,
    properties: Arc<PlanProperties>,
}

impl CoalesceExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, partitions: usize) -> Self {
        let count = partitions.min(input.output_partitioning().partition_count()).max(1);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(count),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self { input, partitions, properties: Arc::new(properties) }
    }
}

impl DisplayAs for CoalesceExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoalesceExec: {}", self.partitions)
    }
}

impl ExecutionPlan for CoalesceExec {
    fn name(&self) -> &str {
        "CoalesceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    over_one_input!(input, |this, input| Self::new(input, this.partitions));

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let inputs = self.input.output_partitioning().partition_count();
        let outputs = self.properties.partitioning.partition_count();
        let from = partition * inputs / outputs;
        let to = (partition + 1) * inputs / outputs;
        if to == from + 1 {
            return self.input.execute(from, context);
        }
        let input = self.input.clone();
        let rows = stream::iter(from..to).map(move |p| input.execute(p, context.clone())).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
