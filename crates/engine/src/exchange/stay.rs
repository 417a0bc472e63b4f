//! What stands over projections of nondeterministic expressions while a plan is optimised.

use crate::one_input::over_one_input;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result as DfResult, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// Hides which columns the optimiser takes for constants: it holds every call of constants for one,
/// `rand(5)` too, and drops sorts by it.
#[derive(Debug)]
pub(crate) struct StayExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl StayExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let orderings = input.equivalence_properties().oeq_class().iter().cloned();
        let properties = PlanProperties::new(
            EquivalenceProperties::new_with_orderings(input.schema(), orderings),
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self { input, properties: Arc::new(properties) }
    }
}

/// The plan without these operators: none is left once it is optimised.
pub(crate) fn without_stays(plan: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let any: &dyn std::any::Any = node.as_ref();
        Ok(match any.downcast_ref::<StayExec>() {
            Some(stay) => Transformed::yes(stay.input.clone()),
            None => Transformed::no(node),
        })
    })
    .map(|t| t.data)
}

impl DisplayAs for StayExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StayExec")
    }
}

impl ExecutionPlan for StayExec {
    fn name(&self) -> &str {
        "StayExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    over_one_input!(input, |_this, input| Self::new(input));

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> DfResult<Arc<Statistics>> {
        Ok(inputs.first().cloned().unwrap_or_else(|| Arc::new(Statistics::new_unknown(&self.schema()))))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
