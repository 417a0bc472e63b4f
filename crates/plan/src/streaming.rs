//! Streaming queries: starting them, and asking about them.

use crate::{Name, Options, Relation};
use bytes::Bytes;

/// `df.writeStream…start()`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct StreamWrite {
    pub input: Relation,
    /// None: `spark.sql.sources.default`.
    pub format: Option<String>,
    pub options: Options,
    pub partition_columns: Vec<String>,
    pub clustering_columns: Vec<String>,
    pub trigger: Trigger,
    /// `append` where it is not said.
    pub output_mode: Option<String>,
    pub query_name: Option<String>,
    pub target: StreamTarget,
    pub function: Option<StreamFunction>,
}

/// When a streaming query looks for new rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// As soon as the batch before has ended.
    Immediate,
    /// At multiples of an interval, as text.
    ProcessingTime(String),
    /// All that is there now, in as many batches as the sources make of it.
    AvailableNow,
    /// All that is there now, in one batch.
    Once,
    /// Row by row, with marks at an interval.
    Continuous(String),
    /// Batches of long duration whose rows leave at once.
    RealTime(String),
}

/// Where a streaming query writes to, besides its format.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StreamTarget {
    None,
    Path(String),
    Table(Name),
}

/// A function that takes the rows of a streaming query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StreamFunction {
    pub kind: StreamFunctionKind,
    /// The pickled function.
    pub command: Bytes,
    /// The Python that pickled it, `3.11`.
    pub python_version: String,
}

/// What such a function takes at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamFunctionKind {
    /// Rows, in a worker for each partition.
    Rows,
    /// A batch as a DataFrame, and its number.
    Batch,
}

/// A streaming query: its id stays over restarts from a checkpoint, that of the run does not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StreamingQueryId {
    pub id: String,
    pub run_id: String,
}

/// A question or an order to a streaming query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StreamingQueryCommand {
    Status,
    LastProgress,
    RecentProgress,
    Stop,
    ProcessAllAvailable,
    Explain { extended: bool },
    Exception,
    AwaitTermination { timeout_millis: Option<i64> },
}

/// A question or an order to all streaming queries of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StreamingManagerCommand {
    Active,
    Get { id: String },
    AwaitAnyTermination { timeout_millis: Option<i64> },
    ResetTerminated,
    ListListeners,
}
