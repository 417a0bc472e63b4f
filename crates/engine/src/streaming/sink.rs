//! Where the rows of streams go.

mod files;
mod function;

pub(super) use files::FileSink;
pub(super) use function::{BatchFunction, RowFunction};

use super::check::OutputMode;
use super::memory::{MemoryTable, piece, piece_plan};
use crate::execution;
use crate::session::Session;
use crate::show::Table;
use datafusion::physical_plan::ExecutionPlan;
use firesteel_analyzer::resolved::engine_error;
use firesteel_analyzer::{Resolved, attribute};
use firesteel_error::Result;
use firesteel_types::client::{client_batch, client_schema};
use futures::StreamExt;
use std::io::Write;
use std::sync::Arc;

/// A sink.
pub(super) enum Sink {
    /// Nowhere.
    Noop,
    /// The server's standard output.
    Console { rows: usize, truncate: i32 },
    /// A table in memory.
    Memory { table: Arc<MemoryTable>, mode: OutputMode },
    /// Files of a folder.
    Files(FileSink),
    /// A Python function for the rows of each partition.
    Rows(RowFunction),
    /// A Python function for a whole batch.
    Batch(BatchFunction),
}

/// What a sink did with a batch.
pub(super) struct Written {
    /// -1 where the sink does not count.
    pub rows: i64,
    /// The plan that ran.
    pub physical: Arc<dyn ExecutionPlan>,
}

impl Sink {
    /// What progress calls it.
    pub fn description(&self) -> String {
        match self {
            Self::Noop => "NoopTable".to_string(),
            Self::Console { .. } => "org.apache.spark.sql.execution.streaming.ConsoleTable$".to_string(),
            Self::Memory { .. } => "MemorySink".to_string(),
            Self::Files(sink) => sink.description(),
            Self::Rows(_) => "ForeachWriterTable".to_string(),
            Self::Batch(_) => "ForeachBatchSink".to_string(),
        }
    }

    /// Writes a batch. It may have been written before, as a whole or not.
    pub async fn add(&mut self, session: &Arc<Session>, batch: i64, rows: &Resolved) -> Result<Written> {
        if let Self::Batch(function) = self {
            return function.call(session, batch, rows).await;
        }
        let physical = execution::plan(session.state(), &piece_plan(rows)?).await?;
        let count = match self {
            Self::Noop => drained(session, physical.clone()).await?,
            Self::Console { rows: most, truncate } => {
                shown(session, batch, rows, physical.clone(), *most, *truncate).await?
            }
            Self::Memory { table, mode } => {
                let piece = piece(session, rows, "MemorySink")?;
                let stored = piece.fill(physical.clone(), session.state().task_ctx()).await?;
                let schema = attribute::schema_of(&rows.output);
                table.add(session, &schema, piece, *mode == OutputMode::Complete).await?;
                i64::try_from(stored.count()).unwrap_or(i64::MAX)
            }
            Self::Files(sink) => {
                sink.add(session, batch, rows, physical.clone()).await?;
                -1
            }
            Self::Rows(function) => function.call(session, batch, rows, physical.clone()).await?,
            Self::Batch(_) => -1,
        };
        Ok(Written { rows: count, physical })
    }
}

/// Runs a plan for its count of rows.
async fn drained(session: &Arc<Session>, physical: Arc<dyn ExecutionPlan>) -> Result<i64> {
    let mut stream = execution::start(session.state(), physical)?;
    let mut count = 0i64;
    while let Some(batch) = stream.next().await {
        count += i64::try_from(batch.map_err(engine_error)?.num_rows()).unwrap_or(0);
    }
    Ok(count)
}

/// Prints the first rows of a batch.
async fn shown(
    session: &Arc<Session>,
    number: i64,
    rows: &Resolved,
    physical: Arc<dyn ExecutionPlan>,
    most: usize,
    truncate: i32,
) -> Result<i64> {
    let (schema, conf) = (attribute::schema_of(&rows.output), session.conf());
    let arrow_schema = Arc::new(client_schema(&schema, &conf.time_zone_text, conf.arrow_large_var_types));
    let mut stream = execution::start(session.state(), physical)?;
    let (mut count, mut kept, mut batches) = (0i64, 0usize, Vec::new());
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(engine_error)?;
        count += i64::try_from(batch.num_rows()).unwrap_or(0);
        let taken = batch.num_rows().min((most + 1).saturating_sub(kept));
        if taken > 0 {
            kept += taken;
            batches.push(client_batch(&batch.slice(0, taken), &arrow_schema)?);
        }
    }
    let table = Table::new(&schema, &batches, most, truncate, &conf.time_zone)?.plain(truncate);
    let line = "-------------------------------------------";
    // A closed output is no reason to end the query.
    let _ = writeln!(std::io::stdout().lock(), "{line}\nBatch: {number}\n{line}\n{table}");
    Ok(count)
}
