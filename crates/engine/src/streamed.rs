//! Outer joins that keep the order of their streamed side.
//!
//! DataFusion hands on the rows without a match after those with one, unless the
//! streamed side has an order. Spark's rows come in the order of that side.

use crate::one_input::over_one_input;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinType, Result as DfResult};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// The join itself, or one that keeps the order of its streamed (right) side.
pub(crate) fn in_streamed_order(join: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    let any: &dyn std::any::Any = join.as_ref();
    let Some(hash_join) = any.downcast_ref::<HashJoinExec>() else { return Ok(join) };
    let has_order = hash_join.right().output_ordering().is_some();
    if *hash_join.join_type() != JoinType::Right || has_order || hash_join.right().schema().fields().is_empty() {
        return Ok(join);
    }
    let left = hash_join.left().clone();
    let right = Arc::new(AsOrderedExec::new(hash_join.right().clone()));
    let run = hash_join.builder().with_new_children(vec![left, right])?.build_exec()?;
    Ok(Arc::new(StreamedJoinExec { join, run }))
}

/// A join that runs with its streamed side taken for ordered. Its properties
/// say nothing of that order: no operator above may rely on it.
#[derive(Debug)]
struct StreamedJoinExec {
    join: Arc<dyn ExecutionPlan>,
    run: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for StreamedJoinExec {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.join.fmt_as(t, f)
    }
}

impl ExecutionPlan for StreamedJoinExec {
    fn name(&self) -> &str {
        self.join.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.join.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.join.schema()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.join.children()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        self.join.apply_expressions(f)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        in_streamed_order(crate::partitioned::replaced(&self.join, children)?)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        self.run.execute(partition, context)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.run.metrics()
    }
}

/// Rows that are taken for ordered by their first column.
#[derive(Debug)]
struct AsOrderedExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl AsOrderedExec {
    fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let schema = input.schema();
        let order = schema.fields().first().map(|f| PhysicalSortExpr::new_default(Arc::new(Column::new(f.name(), 0))));
        let properties = PlanProperties::new(
            EquivalenceProperties::new_with_orderings(schema, order.map(|o| [o])),
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self { input, properties: Arc::new(properties) }
    }
}

impl DisplayAs for AsOrderedExec {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.input.fmt_as(t, f)
    }
}

impl ExecutionPlan for AsOrderedExec {
    fn name(&self) -> &str {
        "AsOrderedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    over_one_input!(input, |_this, input| Self::new(input));

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
