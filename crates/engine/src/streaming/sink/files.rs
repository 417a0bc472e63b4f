//! Files of a folder, with a log of those that batches have written.

use crate::session::{Session, blocking};
use crate::streaming::log::{CompactLog, cannot};
use datafusion::physical_plan::ExecutionPlan;
use firesteel_analyzer::{Resolved, attribute};
use firesteel_error::Result;
use firesteel_plan::Options;
use firesteel_sources::{SaveMode, WriteRequest, path};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The folder of the log.
const LOG: &str = "_spark_metadata";

/// Writes files. Each batch's are there as a whole or not at all: they are written aside, noted, and moved.
pub(in crate::streaming) struct FileSink {
    folder: PathBuf,
    format: String,
    partition_by: Vec<String>,
    options: Options,
    log: CompactLog,
}

impl FileSink {
    pub fn open(location: &str, format: String, partition_by: Vec<String>, options: Options) -> Result<Self> {
        let folder = path::local_path(location)?;
        let log = CompactLog::open(folder.join(LOG))?;
        let options = options.into_iter().filter(|(key, _)| !key.eq_ignore_ascii_case("path")).collect();
        Ok(Self { folder, format, partition_by, options, log })
    }

    /// What progress calls it.
    pub fn description(&self) -> String {
        format!("FileSink[file:{}]", self.folder.display())
    }

    fn aside(&self, batch: i64) -> PathBuf {
        self.folder.join(format!("_streaming-batch-{batch}"))
    }

    /// Writes a batch, unless it has been.
    pub async fn add(
        &mut self,
        session: &Arc<Session>,
        batch: i64,
        rows: &Resolved,
        physical: Arc<dyn ExecutionPlan>,
    ) -> Result<()> {
        let (aside, folder, log) = (self.aside(batch), self.folder.clone(), self.log.clone());
        if !log.has(batch)? {
            // What an earlier try left is of no use.
            remove(&aside)?;
            let request = WriteRequest {
                format: self.format.clone(),
                path: Some(aside.to_string_lossy().into_owned()),
                mode: SaveMode::Append,
                partition_by: self.partition_by.clone(),
                schema: attribute::schema_of(&rows.output),
                options: self.options.clone(),
                conf: session.conf().as_ref().clone(),
            };
            let summary = firesteel_sources::write(request, physical, session.state().task_ctx()).await?;
            let (from, to) = (aside.clone(), folder.clone());
            blocking(move || {
                let entries = summary.files.iter().map(|file| entry(file, &from, &to)).collect::<Result<Vec<_>>>()?;
                log.write(batch, &entries)
            })
            .await?;
        }
        let target = self.folder.to_string_lossy().into_owned();
        blocking(move || {
            move_all(&aside, &aside, &folder)?;
            remove(&aside)
        })
        .await?;
        session.engine().kept().invalidate(&target);
        Ok(())
    }
}

/// The log's entry of a file that was written aside.
fn entry(file: &Path, from: &Path, to: &Path) -> Result<String> {
    let facts = fs::metadata(file).map_err(|error| cannot("read", file, &error))?;
    let modified = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let place = to.join(file.strip_prefix(from).unwrap_or(file));
    let value: Value = json!({
        "path": path::uri(&place),
        "size": facts.len(),
        "isDir": false,
        "modificationTime": u64::try_from(modified.as_millis()).unwrap_or(u64::MAX),
        "blockReplication": 1,
        "blockSize": 33_554_432,
        "action": "add",
    });
    Ok(value.to_string())
}

/// Moves the files below a folder to their places; those that were moved before are not there any more.
fn move_all(folder: &Path, from: &Path, to: &Path) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot("read the folder", folder, &error)),
    };
    for entry in entries {
        let path = entry.map_err(|error| cannot("read the folder", folder, &error))?.path();
        let place = to.join(path.strip_prefix(from).unwrap_or(&path));
        if path.is_dir() {
            fs::create_dir_all(&place).map_err(|error| cannot("make the folder", &place, &error))?;
            move_all(&path, from, to)?;
        } else if path.file_name().is_some_and(|name| name != "_SUCCESS") {
            fs::rename(&path, &place).map_err(|error| cannot("write", &place, &error))?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot("remove", folder, &error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_written_aside_come_to_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let aside = folder.path().join("_streaming-batch-0");
        fs::create_dir_all(aside.join("p=1")).unwrap();
        fs::write(aside.join("p=1/a.csv"), "1").unwrap();
        fs::write(aside.join("_SUCCESS"), "").unwrap();
        move_all(&aside, &aside, folder.path()).unwrap();
        remove(&aside).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("p=1/a.csv")).unwrap(), "1");
        assert!(!folder.path().join("_SUCCESS").exists());
        assert!(!aside.exists());
        move_all(&aside, &aside, folder.path()).unwrap();
    }
}
