//! Checkpoints: frames that are kept under an id.

use super::{Level, PlanOnly};
use crate::execution;
use crate::session::Session;
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
        execution::plan(&PlanOnly::of(session.state()), &analysed.resolved.exact()?).await?;
    }
    Ok(store.put(&session.key(), relation))
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
