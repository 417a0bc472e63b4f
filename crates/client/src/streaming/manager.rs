//! All running queries of a session.

use super::StreamingQuery;
use crate::SparkSession;
use crate::batches::BatchStream;
use crate::error::{Error, Result};
use firesteel_proto::connect as proto;
use proto::command::CommandType;
use proto::execute_plan_response::ResponseType;
use proto::streaming_query_listener_bus_command::Command as Bus;
use proto::streaming_query_manager_command::{AwaitAnyTerminationCommand, Command};
use proto::streaming_query_manager_command_result::{ResultType, StreamingQueryInstance};
use std::collections::VecDeque;
use std::time::Duration;

/// The running queries of a session.
#[derive(Debug, Clone)]
pub struct StreamingQueryManager {
    session: SparkSession,
}

/// What happened to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamingQueryEvent {
    /// `progress`, `terminated` or `idle`.
    pub kind: &'static str,
    /// What happened, as JSON.
    pub json: String,
}

/// What happens to the queries of a session, as it happens.
pub struct StreamingQueryEvents {
    responses: BatchStream,
    ready: VecDeque<StreamingQueryEvent>,
}

impl StreamingQueryManager {
    pub(crate) fn new(session: SparkSession) -> Self {
        StreamingQueryManager { session }
    }

    async fn call(&self, command: Command) -> Result<Option<ResultType>> {
        let command = proto::StreamingQueryManagerCommand { command: Some(command) };
        for response in self.session.run(CommandType::StreamingQueryManagerCommand(command)).await? {
            if let ResponseType::StreamingQueryManagerCommandResult(result) = response {
                return Ok(result.result_type);
            }
        }
        Ok(None)
    }

    fn query(&self, instance: StreamingQueryInstance) -> Option<StreamingQuery> {
        let StreamingQueryInstance { id, name } = instance;
        id.map(|id| StreamingQuery::new(self.session.clone(), id, name.unwrap_or_default()))
    }

    /// The queries that run.
    pub async fn active(&self) -> Result<Vec<StreamingQuery>> {
        match self.call(Command::Active(true)).await? {
            Some(ResultType::Active(result)) => {
                Ok(result.active_queries.into_iter().filter_map(|instance| self.query(instance)).collect())
            }
            _ => Err(Error::protocol("no queries in the answer")),
        }
    }

    /// The running query of an id.
    pub async fn get(&self, id: impl Into<String>) -> Result<Option<StreamingQuery>> {
        match self.call(Command::GetQuery(id.into())).await? {
            Some(ResultType::Query(instance)) => Ok(self.query(instance)),
            _ => Ok(None),
        }
    }

    /// Waits until a query ends, or for a time; whether one ended.
    pub async fn await_any_termination(&self, timeout: Option<Duration>) -> Result<bool> {
        let timeout_ms = timeout.map(|timeout| i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX));
        match self.call(Command::AwaitAnyTermination(AwaitAnyTerminationCommand { timeout_ms })).await? {
            Some(ResultType::AwaitAnyTermination(result)) => Ok(result.terminated),
            _ => Err(Error::protocol("no end in the answer")),
        }
    }

    /// Forgets queries that ended, so that [`await_any_termination`](Self::await_any_termination) waits for new ends.
    pub async fn reset_terminated(&self) -> Result<()> {
        self.call(Command::ResetTerminated(true)).await.map(drop)
    }

    /// Listens to what happens to the queries of the session, until the events are dropped.
    pub async fn listen(&self) -> Result<StreamingQueryEvents> {
        let bus = proto::StreamingQueryListenerBusCommand { command: Some(Bus::AddListenerBusListener(true)) };
        let command = proto::Command { command_type: Some(CommandType::StreamingQueryListenerBusCommand(bus)) };
        let responses = self.session.responses(proto::plan::OpType::Command(command), None)?;
        let mut responses = BatchStream::new(self.session.clone(), responses);
        // The first answer says that the server listens.
        responses.next_answer().await?;
        Ok(StreamingQueryEvents { responses, ready: VecDeque::new() })
    }

    /// Stops the server's listening for the session.
    pub async fn stop_listening(&self) -> Result<()> {
        let bus = proto::StreamingQueryListenerBusCommand { command: Some(Bus::RemoveListenerBusListener(true)) };
        self.session.run(CommandType::StreamingQueryListenerBusCommand(bus)).await.map(drop)
    }
}

impl StreamingQueryEvents {
    /// The next event, or None when there are no more.
    pub async fn next(&mut self) -> Result<Option<StreamingQueryEvent>> {
        use proto::StreamingQueryEventType as Kind;
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            match self.responses.next_answer().await? {
                None => return Ok(None),
                Some(ResponseType::StreamingQueryListenerEventsResult(result)) => {
                    self.ready.extend(result.events.into_iter().map(|event| StreamingQueryEvent {
                        kind: match event.event_type() {
                            Kind::QueryTerminatedEvent => "terminated",
                            Kind::QueryIdleEvent => "idle",
                            Kind::QueryProgressEvent | Kind::QueryProgressUnspecified => "progress",
                        },
                        json: event.event_json,
                    }));
                }
                Some(_) => {}
            }
        }
    }
}
