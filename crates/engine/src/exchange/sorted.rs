//! Orders that the optimiser must keep, though no operator above asks for them, and rows that it must not change
//! for the sake of an order.

use crate::one_input::over_one_input;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result as DfResult;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexOrdering, LexRequirement, OrderingRequirements, Partitioning,
};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements,
    PlanProperties, SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// The rows of its input, which the optimiser sorts.
#[derive(Debug)]
pub(crate) struct SortedExec {
    input: Arc<dyn ExecutionPlan>,
    order: LexOrdering,
}

impl SortedExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, order: LexOrdering) -> Self {
        Self { input, order }
    }
}

impl DisplayAs for SortedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SortedExec")
    }
}

impl ExecutionPlan for SortedExec {
    fn name(&self) -> &'static str {
        "SortedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![Some(OrderingRequirements::new(LexRequirement::from(self.order.clone())))]
    }

    over_one_input!(input, |this, input| Self { input, order: this.order.clone() });

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}

/// The rows of a limit. It tells of no order, so that an order which is asked for is made above it: below it, the
/// limit would take other rows.
#[derive(Debug)]
pub(crate) struct FirstExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl FirstExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let count = input.output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(count),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self { input, properties: Arc::new(properties) }
    }
}

impl DisplayAs for FirstExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FirstExec")
    }
}

impl ExecutionPlan for FirstExec {
    fn name(&self) -> &'static str {
        "FirstExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    over_one_input!(input, |_this, input| Self::new(input));

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
