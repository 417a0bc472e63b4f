//! Writing of query results to files.
//!
//! A task per partition of the plan writes files below a temporary folder;
//! when all have ended they move to their places at once (see [`commit`]).

pub mod commit;
pub mod csv;
mod dictionary;
pub mod file;
pub mod json;
pub mod orc;
pub mod parquet;
pub mod task;
pub mod text;
pub mod validate;
pub mod xml;

use crate::error::from_datafusion;
use crate::options::SourceOptions;
use crate::path::{place, short_uri};
use crate::request::{SaveMode, WriteRequest, WriteSummary};
use crate::store::{Found, Stores};
use commit::Workplace;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use file::Encoder;
use firesteel_config::PartitionOverwriteMode;
use firesteel_error::{Result, SparkError};
use futures::StreamExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use task::{Layout, TaskWriter};
use tokio::task::{JoinError, JoinSet};

/// The path whose data a write replaces as a whole.
pub fn replaced(request: &WriteRequest) -> Result<Option<PathBuf>> {
    let options = SourceOptions::new(&request.options);
    if request.mode != SaveMode::Overwrite || request.format == "noop" || replaces_partitions(request, &options) {
        return Ok(None);
    }
    request.path.as_deref().or_else(|| options.get("path")).map(place).transpose()
}

/// True where only partitions that get rows lose their old ones.
fn replaces_partitions(request: &WriteRequest, options: &SourceOptions) -> bool {
    let is_dynamic = match options.get("partitionOverwriteMode") {
        Some(mode) => mode.eq_ignore_ascii_case("dynamic"),
        None => request.conf.partition_overwrite_mode == PartitionOverwriteMode::Dynamic,
    };
    is_dynamic && !request.partition_by.is_empty()
}

/// Runs a plan and writes its rows. On failure, or when the future is dropped, nothing changes.
pub async fn write(
    request: WriteRequest,
    plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
) -> Result<WriteSummary> {
    if request.format == "noop" {
        let mode = match request.mode {
            SaveMode::ErrorIfExists => "\"ErrorIfExists\"",
            SaveMode::Ignore => "\"Ignore\"",
            SaveMode::Append | SaveMode::Overwrite => return discard(plan, context).await,
        };
        return Err(SparkError::new("UNSUPPORTED_DATA_SOURCE_SAVE_MODE")
            .with("source", "noop")
            .with("createMode", mode));
    }
    let options = SourceOptions::new(&request.options);
    options.check_writer(&request.format)?;
    let layout = Arc::new(Layout::new(&request, &options)?);
    let encoder = Arc::new(Encoder::new(&request, &options, &layout)?);
    let text = request.path.as_deref().or_else(|| options.get("path"));
    let text = text.ok_or_else(|| SparkError::new("_LEGACY_ERROR_TEMP_2047"))?;
    let path = place(text)?;
    let stores = Stores::new(&request.conf, &request.options);
    if exists(&path, &stores).await? {
        match request.mode {
            SaveMode::ErrorIfExists => {
                return Err(SparkError::new("PATH_ALREADY_EXISTS").with("outputPath", short_uri(&path)));
            }
            SaveMode::Ignore => return Ok(WriteSummary::default()),
            SaveMode::Append | SaveMode::Overwrite => {}
        }
    }
    let replaces = match (request.mode, replaces_partitions(&request, &options)) {
        (SaveMode::Overwrite, true) => commit::Replace::Partitions,
        (SaveMode::Overwrite, false) => commit::Replace::All,
        _ => commit::Replace::Nothing,
    };
    let workplace = Workplace::new(&path, &stores, replaces == commit::Replace::All).await?;
    let desk = workplace.desk();
    let mut tasks = JoinSet::new();
    let job = uuid::Uuid::new_v4();
    for partition in 0..plan.output_partitioning().partition_count() {
        let mut stream = plan.execute(partition, context.clone()).map_err(from_datafusion)?;
        let mut writer = TaskWriter::new(layout.clone(), encoder.clone(), desk.clone(), job, partition);
        let blocks = desk.blocks();
        tasks.spawn(async move {
            while let Some(batch) = stream.next().await {
                let batch = batch.map_err(from_datafusion)?;
                waiting(blocks, || writer.write(&batch))?;
            }
            waiting(blocks, || writer.finish())
        });
    }
    let mut summary = WriteSummary::default();
    while let Some(result) = tasks.join_next().await {
        let part = joined(result)??;
        summary.rows += part.rows;
        summary.files.extend(part.files);
    }
    if plan.output_partitioning().partition_count() == 0 {
        let writer = TaskWriter::new(layout.clone(), encoder.clone(), desk.clone(), job, 0);
        summary.files.extend(waiting(desk.blocks(), || writer.finish())?.files);
    }
    let mut files = std::mem::take(&mut summary.files);
    files.sort();
    (summary.files, summary.bytes) = workplace.commit(files, replaces).await?;
    Ok(summary)
}

/// True where something is at the target.
async fn exists(path: &Path, stores: &Stores) -> Result<bool> {
    match stores.place(path)? {
        None => Ok(path.exists()),
        Some(target) => Ok(crate::store::found(&target).await? != Found::Nothing),
    }
}

/// Runs what may wait for other machines so that other tasks go on.
fn waiting<T>(blocks: bool, work: impl FnOnce() -> T) -> T {
    if blocks { tokio::task::block_in_place(work) } else { work() }
}

/// Runs a plan for nothing.
async fn discard(plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<WriteSummary> {
    let mut tasks: JoinSet<datafusion::common::Result<u64>> = JoinSet::new();
    for partition in 0..plan.output_partitioning().partition_count() {
        let mut stream = plan.execute(partition, context.clone()).map_err(from_datafusion)?;
        tasks.spawn(async move {
            let mut rows = 0;
            while let Some(batch) = stream.next().await {
                rows += batch?.num_rows() as u64;
            }
            Ok(rows)
        });
    }
    let mut summary = WriteSummary::default();
    while let Some(result) = tasks.join_next().await {
        summary.rows += joined(result)?.map_err(from_datafusion)?;
    }
    Ok(summary)
}

/// What a task gave. A panic in it goes on here.
fn joined<T>(result: std::result::Result<T, JoinError>) -> Result<T> {
    result.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => SparkError::internal(error.to_string()),
    })
}
