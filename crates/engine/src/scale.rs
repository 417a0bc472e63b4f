//! Plans over few rows run in one partition.
//!
//! Splitting work costs more than it gains there, and rows keep the order that
//! users of Spark see in examples: groups by first appearance, joins by their left side.

use crate::kept::PlanOnly;
use datafusion::catalog::TableProvider;
use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::{MemTable, source_as_provider};
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SessionStateBuilder, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Plans whose leaves have at most this many rows are small.
const SMALL_ROWS: usize = 16_384;

/// True where all leaves are known to have few rows in sum.
pub(crate) fn is_small(plan: &LogicalPlan) -> bool {
    let mut rows = 0usize;
    let mut is_known = true;
    let visited = plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::TableScan(scan) => {
                let count = source_as_provider(&scan.source).ok().and_then(|p| row_count(&p));
                match count {
                    Some(n) => rows = rows.saturating_add(n),
                    None => is_known = false,
                }
            }
            LogicalPlan::RecursiveQuery(_) => is_known = false,
            _ => {}
        }
        Ok(if is_known && rows <= SMALL_ROWS { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    visited.is_ok() && is_known && rows <= SMALL_ROWS
}

fn row_count(provider: &Arc<dyn TableProvider>) -> Option<usize> {
    let any: &dyn std::any::Any = provider.as_ref();
    if let Some(table) = any.downcast_ref::<MemTable>() {
        let mut rows = 0;
        for partition in &table.batches {
            let batches = partition.try_read().ok()?;
            rows += batches.iter().map(arrow::record_batch::RecordBatch::num_rows).sum::<usize>();
        }
        return Some(rows);
    }
    provider.statistics().and_then(|s| s.num_rows.get_value().copied())
}

/// What is made once of a state, as it holds lists of all functions: kept in its configuration.
struct Prepared {
    small: SessionState,
    context: Arc<TaskContext>,
}

/// The state with what queries need of it made in advance.
pub(crate) fn prepared(mut state: SessionState) -> SessionState {
    let prepared = Prepared { small: small(&state), context: state.task_ctx() };
    state.config_mut().set_extension(Arc::new(prepared));
    state
}

/// What was made in advance, where it holds for this state.
fn prepared_of(state: &SessionState) -> Option<Arc<Prepared>> {
    let is_own = state.config().get_extension::<PlanOnly>().is_none();
    state.config().get_extension::<Prepared>().filter(|_| is_own)
}

/// The context that plans of a state run in.
pub(crate) fn context(state: &SessionState) -> Arc<TaskContext> {
    prepared_of(state).map_or_else(|| state.task_ctx(), |prepared| prepared.context.clone())
}

/// The plan of a small plan.
pub(crate) async fn plan_small(state: &SessionState, plan: &LogicalPlan) -> DfResult<Arc<dyn ExecutionPlan>> {
    match prepared_of(state) {
        Some(prepared) => prepared.small.create_physical_plan(plan).await,
        None => small(state).create_physical_plan(plan).await,
    }
}

/// The state with one partition and joins left as they stand.
fn small(state: &SessionState) -> SessionState {
    let mut config = state.config().clone().with_target_partitions(1);
    config.options_mut().optimizer.join_reordering = false;
    SessionStateBuilder::new_from_existing(state.clone()).with_config(config).build()
}
