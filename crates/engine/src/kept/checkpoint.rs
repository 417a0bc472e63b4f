//! Checkpoints: frames that are kept under an id.

use super::{Level, PlanOnly};
use crate::execution;
use crate::session::Session;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use firesteel_analyzer::resolved::engine_error;
use firesteel_config::keys;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Checkpoint, StorageLevel};
use std::path::PathBuf;
use std::sync::Arc;

/// Keeps a frame, and gives its id. An eager one runs now, others at the first use.
pub(crate) async fn checkpoint(session: &Arc<Session>, checkpoint: Checkpoint) -> Result<String> {
    let level = if checkpoint.is_local {
        Level::Storage(checkpoint.storage_level.unwrap_or(StorageLevel::MEMORY_AND_DISK_DESER))
    } else {
        Level::Reliable(reliable_folder(session)?)
    };
    let analysed = session.analyse(checkpoint.input).await?;
    let store = session.engine().kept();
    let relation = store.relation(session.state(), &analysed.resolved, level, "ExistingRDD")?;
    if checkpoint.is_eager {
        relation.rows().await?;
    } else {
        // What cannot be planned fails at once.
        let (state, plan) = (PlanOnly::of(session.state()), analysed.resolved.exact()?);
        check_constants(&state, &plan)?;
        execution::plan(&state, &plan).await?;
    }
    let id = store.put(&session.key(), relation);
    session.check_open()?;
    Ok(id)
}

/// Fails where a constant of the plan cannot be worked out: Spark does that when it optimises.
fn check_constants(state: &SessionState, plan: &LogicalPlan) -> Result<()> {
    let optimised = state.optimize(plan).map_err(engine_error)?;
    let columns = DFSchema::empty();
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)
        .map_err(|e| SparkError::internal(e.to_string()))?;
    let evaluated = optimised.apply(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if is_constant(part) {
                    state.create_physical_expr(part.clone(), &columns)?.evaluate(&row)?;
                    return Ok(TreeNodeRecursion::Jump);
                }
                Ok(if evaluates_all(part) { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Jump })
            })?;
            Ok(TreeNodeRecursion::Continue)
        })
    });
    evaluated.map(|_| ()).map_err(engine_error)
}

/// Functions of constants that fail when rows are made, not before.
const FAIL_LATE: [&str; 2] = ["raise_error", "assert_true"];

/// True where an expression works out all of its parts for each row.
fn evaluates_all(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(_)
        | Expr::BinaryExpr(_)
        | Expr::Not(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::Negative(_)
        | Expr::Between(_)
        | Expr::Cast(_) => true,
        // Operators; among the others are some that choose.
        Expr::ScalarFunction(call) => !call.func.name().contains(|c: char| c.is_ascii_alphabetic()),
        _ => false,
    }
}

/// True where an expression needs no row.
fn is_constant(expr: &Expr) -> bool {
    if matches!(expr, Expr::Literal(..)) || expr.is_volatile() {
        return false;
    }
    let needs_row = expr.exists(|e| {
        Ok(match e {
            Expr::ScalarFunction(call) => FAIL_LATE.contains(&call.func.name()),
            Expr::Alias(_)
            | Expr::Literal(..)
            | Expr::BinaryExpr(_)
            | Expr::Not(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::Negative(_)
            | Expr::Between(_)
            | Expr::Case(_)
            | Expr::Cast(_)
            | Expr::TryCast(_)
            | Expr::InList(_) => false,
            _ => true,
        })
    });
    matches!(needs_row, Ok(false))
}

/// The server's folder for reliable checkpoints.
fn reliable_folder(session: &Session) -> Result<PathBuf> {
    let config = session.engine().server_config();
    let setting = config.settings().find(|(key, _)| *key == keys::CHECKPOINT_DIR).map(|(_, value)| value.trim());
    match setting {
        Some(folder) if !folder.is_empty() => firesteel_sources::path::local_path(folder),
        _ => Err(SparkError::new("_LEGACY_ERROR_TEMP_3016")),
    }
}
