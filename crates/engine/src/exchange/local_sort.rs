//! Sorts within partitions that the optimiser must leave where they are.

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result as DfResult, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// Rows sorted within their partitions.
#[derive(Debug)]
pub(crate) struct LocalSortExec {
    sort: SortExec,
    properties: Arc<PlanProperties>,
}

impl LocalSortExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, keys: LexOrdering) -> Self {
        let sort = SortExec::new(keys, input).with_preserve_partitioning(true);
        let properties = sort.properties().clone();
        Self { sort, properties }
    }
}

impl DisplayAs for LocalSortExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalSortExec: [{}]", self.sort.expr())
    }
}

impl ExecutionPlan for LocalSortExec {
    fn name(&self) -> &str {
        "LocalSortExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.sort.schema()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![self.sort.input()]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        for key in self.sort.expr() {
            if f(&key.expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let input = children.pop().ok_or_else(|| internal_datafusion_err!("a sort has one input"))?;
        Ok(Arc::new(Self::new(input, self.sort.expr().clone())))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        self.sort.execute(partition, context)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.sort.metrics()
    }
}
