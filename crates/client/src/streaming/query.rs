//! A running query.

use crate::SparkSession;
use crate::error::{Error, Result};
use firesteel_proto::connect as proto;
use proto::command::CommandType;
use proto::execute_plan_response::ResponseType;
use proto::streaming_query_command::{AwaitTerminationCommand, Command, ExplainCommand};
use proto::streaming_query_command_result::ResultType;
use serde_json::Value;
use std::time::Duration;

/// A query over rows that keep coming.
#[derive(Debug, Clone)]
pub struct StreamingQuery {
    session: SparkSession,
    id: proto::StreamingQueryInstanceId,
    name: Option<String>,
}

/// What a query does at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamingQueryStatus {
    pub message: String,
    pub is_data_available: bool,
    pub is_trigger_active: bool,
}

/// Why a query ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamingQueryException {
    pub message: String,
    pub condition: Option<String>,
    pub stack_trace: Option<String>,
}

impl StreamingQuery {
    pub(super) fn new(session: SparkSession, id: proto::StreamingQueryInstanceId, name: String) -> Self {
        StreamingQuery { session, id, name: Some(name).filter(|name| !name.is_empty()) }
    }

    /// The id, the same after a restart from a checkpoint.
    pub fn id(&self) -> &str {
        &self.id.id
    }

    /// The id of this run.
    pub fn run_id(&self) -> &str {
        &self.id.run_id
    }

    /// The name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    async fn call(&self, command: Command) -> Result<Option<ResultType>> {
        let command = proto::StreamingQueryCommand { query_id: Some(self.id.clone()), command: Some(command) };
        for response in self.session.run(CommandType::StreamingQueryCommand(command)).await? {
            if let ResponseType::StreamingQueryCommandResult(result) = response {
                return Ok(result.result_type);
            }
        }
        Ok(None)
    }

    async fn full_status(&self) -> Result<proto::streaming_query_command_result::StatusResult> {
        match self.call(Command::Status(true)).await? {
            Some(ResultType::Status(status)) => Ok(status),
            _ => Err(Error::protocol("no status in the answer")),
        }
    }

    /// What the query does at the moment.
    pub async fn status(&self) -> Result<StreamingQueryStatus> {
        let status = self.full_status().await?;
        Ok(StreamingQueryStatus {
            message: status.status_message,
            is_data_available: status.is_data_available,
            is_trigger_active: status.is_trigger_active,
        })
    }

    /// Whether the query runs.
    pub async fn is_active(&self) -> Result<bool> {
        Ok(self.full_status().await?.is_active)
    }

    async fn progress(&self, command: Command) -> Result<Vec<Value>> {
        let texts = match self.call(command).await? {
            Some(ResultType::RecentProgress(progress)) => progress.recent_progress_json,
            _ => Vec::new(),
        };
        let parse = |text: &String| serde_json::from_str(text).map_err(|error| Error::protocol(error.to_string()));
        texts.iter().map(parse).collect()
    }

    /// The progress of the last batches, as JSON.
    pub async fn recent_progress(&self) -> Result<Vec<Value>> {
        self.progress(Command::RecentProgress(true)).await
    }

    /// The progress of the last batch, as JSON.
    pub async fn last_progress(&self) -> Result<Option<Value>> {
        Ok(self.progress(Command::LastProgress(true)).await?.pop())
    }

    /// Waits until the rows that are there now are done.
    pub async fn process_all_available(&self) -> Result<()> {
        self.call(Command::ProcessAllAvailable(true)).await.map(drop)
    }

    /// Stops the query.
    pub async fn stop(&self) -> Result<()> {
        self.call(Command::Stop(true)).await.map(drop)
    }

    /// Waits until the query ends, or for a time; whether it ended.
    pub async fn await_termination(&self, timeout: Option<Duration>) -> Result<bool> {
        let timeout_ms = timeout.map(|timeout| i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX));
        match self.call(Command::AwaitTermination(AwaitTerminationCommand { timeout_ms })).await? {
            Some(ResultType::AwaitTermination(result)) => Ok(result.terminated),
            _ => Err(Error::protocol("no end in the answer")),
        }
    }

    /// The plan of the last batch.
    pub async fn explain_string(&self, extended: bool) -> Result<String> {
        match self.call(Command::Explain(ExplainCommand { extended })).await? {
            Some(ResultType::Explain(result)) => Ok(result.result),
            _ => Err(Error::protocol("no plan in the answer")),
        }
    }

    /// Prints the plan of the last batch.
    pub async fn explain(&self, extended: bool) -> Result<()> {
        println!("{}", self.explain_string(extended).await?);
        Ok(())
    }

    /// Why the query ended, if it failed.
    pub async fn exception(&self) -> Result<Option<StreamingQueryException>> {
        match self.call(Command::Exception(true)).await? {
            Some(ResultType::Exception(result)) => Ok(result.exception_message.map(|message| {
                StreamingQueryException { message, condition: result.error_class, stack_trace: result.stack_trace }
            })),
            _ => Ok(None),
        }
    }
}
