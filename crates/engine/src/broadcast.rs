//! Joins that a hint wants to hold one side whole.

use crate::one_input::over_one_input;
use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinType, Result as DfResult, Statistics};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use firesteel_analyzer::broadcast::Broadcast;
use std::fmt;
use std::sync::Arc;

/// Plans [`Broadcast`].
pub(crate) struct BroadcastPlanner;

#[async_trait]
impl ExtensionPlanner for BroadcastPlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let ([input], true) = (inputs, node.as_any().is::<Broadcast>()) else { return Ok(None) };
        Ok(Some(Arc::new(HintedExec { input: input.clone() })))
    }
}

/// DataFusion's rules for physical plans, with the one that follows hints after that which chooses joins.
pub(crate) fn optimizer_rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules = PhysicalOptimizer::new().rules;
    let after = rules.iter().position(|rule| rule.name() == "join_selection").map_or(0, |i| i + 1);
    rules.insert(after, Arc::new(FollowHints));
    rules
}

/// Makes joins hold their hinted side, and takes the hints out of the plan.
#[derive(Debug)]
struct FollowHints;

impl PhysicalOptimizerRule for FollowHints {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        if !plan.exists(|node| Ok(as_hint(node).is_some()))? {
            return Ok(plan);
        }
        let joined = plan.transform_up(|node| {
            let any: &dyn std::any::Any = node.as_ref();
            let changed = any.downcast_ref::<HashJoinExec>().map(holding_hinted).transpose()?.flatten();
            Ok(changed.map_or_else(|| Transformed::no(node), Transformed::yes))
        })?;
        let bare = joined.data.transform_up(|node| {
            Ok(match as_hint(&node) {
                Some(hinted) => Transformed::yes(hinted.input.clone()),
                None => Transformed::no(node),
            })
        })?;
        Ok(bare.data)
    }

    fn name(&self) -> &str {
        "follow_hints"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn as_hint(plan: &Arc<dyn ExecutionPlan>) -> Option<&HintedExec> {
    let any: &dyn std::any::Any = plan.as_ref();
    any.downcast_ref::<HintedExec>()
}

/// True where a hint stands over the rows of a plan: operators over one input let it through.
fn is_hinted(plan: &Arc<dyn ExecutionPlan>) -> bool {
    as_hint(plan).is_some() || matches!(plan.children().as_slice(), [child] if is_hinted(child))
}

/// The join that holds its hinted side, unless it must give all rows of that side.
fn holding_hinted(join: &HashJoinExec) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
    let holds_left = matches!(join.join_type(), JoinType::Inner | JoinType::Right | JoinType::RightSemi);
    let may_hold_right = matches!(join.join_type(), JoinType::Inner | JoinType::Left | JoinType::LeftSemi);
    if is_hinted(join.left()) && holds_left {
        let held = join.builder().with_partition_mode(PartitionMode::CollectLeft).build()?;
        return Ok(Some(Arc::new(held)));
    }
    if is_hinted(join.right()) && may_hold_right {
        return join.swap_inputs(PartitionMode::CollectLeft).map(Some);
    }
    Ok(None)
}

/// Rows with a hint, while joins are chosen.
#[derive(Debug)]
struct HintedExec {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for HintedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HintedExec")
    }
}

impl ExecutionPlan for HintedExec {
    fn name(&self) -> &str {
        "HintedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }

    over_one_input!(input, |_this, input| Self { input });

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
