//! Joins that may not be cartesian products, where `spark.sql.crossJoin.enabled` is off.
//!
//! The analyzer marks them; whether one is a product shows only when conditions have
//! been pushed into joins.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Join, JoinType, LogicalPlan};
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use std::collections::HashSet;

/// A marked join: the columns of its sides.
struct Marked {
    left: HashSet<String>,
    right: HashSet<String>,
}

impl Marked {
    /// True for a join of columns of both sides.
    fn is_joined_by(&self, join: &Join) -> bool {
        let (left, right) = (columns(&join.left), columns(&join.right));
        // A side that only counts has lost its columns.
        let meets = |a: &HashSet<String>, b: &HashSet<String>| a.is_empty() || !a.is_disjoint(b);
        (meets(&left, &self.left) && meets(&right, &self.right))
            || (meets(&left, &self.right) && meets(&right, &self.left))
    }
}

/// Fails where a marked join of a plan is a cartesian product.
pub(crate) fn check(state: &SessionState, plan: &LogicalPlan) -> Result<()> {
    let mut marked = Vec::new();
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Join(join) = node
            && firesteel_analyzer::may_not_be_cartesian(join)
        {
            marked.push(Marked { left: columns(&join.left), right: columns(&join.right) });
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .map_err(engine_error)?;
    if marked.is_empty() {
        return Ok(());
    }
    let optimised = state.optimize(plan).map_err(engine_error)?;
    let mut error = None;
    optimised
        .apply_with_subqueries(|node| {
            if let LogicalPlan::Join(join) = node
                && is_product(join)
                && marked.iter().any(|m| m.is_joined_by(join))
            {
                error = Some(implicit_product(join));
                return Ok(TreeNodeRecursion::Stop);
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .map_err(engine_error)?;
    error.map_or(Ok(()), Err)
}

fn columns(plan: &LogicalPlan) -> HashSet<String> {
    plan.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// True where no condition of a join has columns of both sides.
fn is_product(join: &Join) -> bool {
    let is_kind = matches!(join.join_type, JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full);
    let has_both = |filter| {
        split_conjunction(filter).iter().any(|condition| {
            let used = condition.column_refs();
            used.iter().any(|c| join.left.schema().has_column(c))
                && used.iter().any(|c| join.right.schema().has_column(c))
        })
    };
    is_kind && join.on.is_empty() && !join.filter.as_ref().is_some_and(has_both)
}

fn implicit_product(join: &Join) -> SparkError {
    let join_type = match join.join_type {
        JoinType::Left => "LEFT OUTER",
        JoinType::Right => "RIGHT OUTER",
        JoinType::Full => "FULL OUTER",
        _ => "INNER",
    };
    SparkError::new("_LEGACY_ERROR_TEMP_1211")
        .with("joinType", join_type)
        .with("leftPlan", join.left.display_indent().to_string())
        .with("rightPlan", join.right.display_indent().to_string())
}
