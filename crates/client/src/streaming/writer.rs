//! Starting queries over rows that keep coming.

use super::StreamingQuery;
use crate::DataFrame;
use crate::dataframe::names;
use crate::error::{Error, Result};
use firesteel_proto::connect as proto;
use proto::command::CommandType;
use proto::execute_plan_response::ResponseType;
use proto::write_stream_operation_start::{SinkDestination, Trigger as Choice};

/// Which rows of the result go to the sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputMode {
    /// New rows.
    Append,
    /// All rows.
    Complete,
    /// New and changed rows.
    Update,
}

/// When a query looks for new rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// At an interval, such as `10 seconds`.
    ProcessingTime(String),
    /// Until all rows there are now are done.
    AvailableNow,
    /// Once.
    Once,
    /// Without batches, with checkpoints at an interval.
    Continuous(String),
    /// As rows come, in batches of a duration.
    RealTime(String),
}

/// Starts a query that writes rows as they come.
#[derive(Debug, Clone)]
pub struct DataStreamWriter {
    frame: DataFrame,
    start: proto::WriteStreamOperationStart,
}

impl DataStreamWriter {
    pub(crate) fn new(frame: DataFrame) -> Self {
        DataStreamWriter { frame, start: proto::WriteStreamOperationStart::default() }
    }

    /// The name of the sink, such as `memory`.
    #[must_use]
    pub fn format(mut self, format: impl Into<String>) -> Self {
        self.start.format = format.into();
        self
    }

    /// Which rows go to the sink.
    #[must_use]
    pub fn output_mode(mut self, mode: OutputMode) -> Self {
        let text = match mode {
            OutputMode::Append => "append",
            OutputMode::Complete => "complete",
            OutputMode::Update => "update",
        };
        self.start.output_mode = text.to_string();
        self
    }

    /// When to look for new rows.
    #[must_use]
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.start.trigger = Some(match trigger {
            Trigger::ProcessingTime(interval) => Choice::ProcessingTimeInterval(interval),
            Trigger::AvailableNow => Choice::AvailableNow(true),
            Trigger::Once => Choice::Once(true),
            Trigger::Continuous(interval) => Choice::ContinuousCheckpointInterval(interval),
            Trigger::RealTime(duration) => Choice::RealTimeBatchDuration(duration),
        });
        self
    }

    /// The name of the query; of the table, for the sink `memory`.
    #[must_use]
    pub fn query_name(mut self, name: impl Into<String>) -> Self {
        self.start.query_name = name.into();
        self
    }

    /// An option of the sink, such as `checkpointLocation`.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.start.options.insert(key.into(), value.to_string());
        self
    }

    /// Options of the sink.
    #[must_use]
    pub fn options(mut self, options: impl IntoIterator<Item = (impl Into<String>, impl ToString)>) -> Self {
        self.start.options.extend(options.into_iter().map(|(key, value)| (key.into(), value.to_string())));
        self
    }

    /// A directory for each value of columns.
    #[must_use]
    pub fn partition_by(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.start.partitioning_column_names = names(columns);
        self
    }

    /// Rows with near values of columns near each other.
    #[must_use]
    pub fn cluster_by(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.start.clustering_column_names = names(columns);
        self
    }

    /// Hands each row to a function that is sent along.
    #[must_use]
    pub fn foreach(mut self, function: proto::StreamingForeachFunction) -> Self {
        self.start.foreach_writer = Some(function);
        self
    }

    /// Hands each batch to a function that is sent along.
    #[must_use]
    pub fn foreach_batch(mut self, function: proto::StreamingForeachFunction) -> Self {
        self.start.foreach_batch = Some(function);
        self
    }

    /// Starts the query.
    pub async fn start(self) -> Result<StreamingQuery> {
        self.run(None).await
    }

    /// Starts the query, which writes under a path.
    pub async fn start_to(self, path: impl Into<String>) -> Result<StreamingQuery> {
        self.run(Some(SinkDestination::Path(path.into()))).await
    }

    /// Starts the query, which writes to a table.
    pub async fn to_table(self, name: impl Into<String>) -> Result<StreamingQuery> {
        self.run(Some(SinkDestination::TableName(name.into()))).await
    }

    async fn run(mut self, destination: Option<SinkDestination>) -> Result<StreamingQuery> {
        self.start.input = Some(self.frame.to_proto());
        self.start.sink_destination = destination;
        let session = self.frame.session().clone();
        for response in session.run(CommandType::WriteStreamOperationStart(self.start)).await? {
            if let ResponseType::WriteStreamOperationStartResult(started) = response
                && let Some(id) = started.query_id
            {
                return Ok(StreamingQuery::new(session, id, started.name));
            }
        }
        Err(Error::protocol("no query in the answer"))
    }
}
