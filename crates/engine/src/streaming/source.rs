//! Where the rows of streams come from.

pub(super) mod files;
mod rate;

use crate::Session;
use async_trait::async_trait;
use datafusion::catalog::TableProvider;
use datafusion::logical_expr::LogicalPlan;
use files::FileSource;
use firesteel_analyzer::streaming::StreamingTable;
use firesteel_error::{Result, SparkError};
use rate::{MicroBatchRate, Rate};
use std::path::PathBuf;
use std::sync::Arc;

/// The rows between two offsets.
pub(super) enum Rows {
    /// None.
    Empty,
    /// A table with the source's columns, by name.
    Table(Arc<dyn TableProvider>),
    /// A plan with the source's columns, and how many rows it gives.
    Plan(LogicalPlan, u64),
}

/// How much of what is there a batch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    /// As much as the source's options say.
    Limited,
    /// Everything.
    All,
}

/// A source of rows. Offsets are texts of JSON; none is the beginning.
#[async_trait]
pub(super) trait Source: Send {
    /// What progress calls it.
    fn description(&self) -> String;

    /// Where the next batch ends; the same as `start` where there is nothing new.
    async fn next(&mut self, start: Option<&str>, amount: Amount) -> Result<Option<String>>;

    /// Notes that nothing that comes from now on is wanted.
    async fn freeze(&mut self, start: Option<&str>) -> Result<()>;

    /// Where the source ends, as far as it says so.
    fn latest(&self) -> Option<String> {
        None
    }

    /// The rows after `start`, up to `end`.
    async fn rows(&mut self, start: Option<&str>, end: &str) -> Result<Rows>;
}

/// The source of a table, which keeps its own notes in a folder.
pub(super) fn open(session: &Arc<Session>, table: &StreamingTable, folder: PathBuf) -> Result<Box<dyn Source>> {
    match table.source.format.as_deref() {
        Some("rate") => Ok(Box::new(Rate::open(&table.source.options, folder)?)),
        Some("rate-micro-batch") => Ok(Box::new(MicroBatchRate::new(&table.source.options)?)),
        Some(_) => Ok(Box::new(FileSource::open(session, table, folder)?)),
        None => Err(SparkError::internal("a streaming source without a format")),
    }
}
