//! Streaming queries: batch after batch of rows from sources that keep growing, through a plan, to a sink.
//!
//! [`start`] checks a query and sets it going; `batch` runs its batches, one at a time, and notes in the
//! checkpoint what it is about to read and what is written, so that a query that is started again goes on where
//! the last one ended. All queries of a session belong to its [`StreamingManager`] and end with it.

mod batch;
mod check;
mod event;
mod log;
mod manager;
mod memory;
mod progress;
mod query;
mod refusal;
mod rows;
mod sink;
mod source;
mod start;
mod state;
pub(crate) mod table;
mod trigger;

pub use event::{EventKind, StreamingEvent, StreamingEvents};
pub use manager::StreamingManager;
pub use query::{QueryException, QueryFacts, QueryStatus};
pub(crate) use refusal::StreamingPlanner;
pub(crate) use rows::shown;
pub(crate) use start::start;

use crate::execution::RunContext;
use crate::session::Session;
use firesteel_error::Result;
use firesteel_plan::{StreamingManagerCommand, StreamingQueryCommand, StreamingQueryId};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The answer to a command about streaming queries.
#[derive(Debug, Clone)]
pub enum StreamingReply {
    /// A query was started.
    Started {
        facts: QueryFacts,
        event: Option<String>,
    },
    Status(QueryStatus),
    /// Progress as JSON, the oldest first.
    Progress(Vec<String>),
    Explained(String),
    Exception(Option<QueryException>),
    /// Whether the query has ended.
    Terminated(bool),
    /// There is nothing to say.
    Done,
    Queries(Vec<QueryFacts>),
    Query(Option<QueryFacts>),
    AnyTerminated(bool),
    Reset,
    Listeners(Vec<String>),
}

/// Answers a question about one query.
pub(crate) async fn of_query(
    session: &Arc<Session>,
    id: &StreamingQueryId,
    command: StreamingQueryCommand,
    run: &RunContext,
) -> Result<StreamingReply> {
    let query = session.streaming().find(id)?;
    Ok(match command {
        StreamingQueryCommand::Status => StreamingReply::Status(query.status()),
        StreamingQueryCommand::LastProgress => StreamingReply::Progress(query.progress().pop().into_iter().collect()),
        StreamingQueryCommand::RecentProgress => StreamingReply::Progress(query.progress()),
        StreamingQueryCommand::Stop => {
            query.stop().await;
            StreamingReply::Done
        }
        StreamingQueryCommand::ProcessAllAvailable => {
            crate::execution::cancellable(run, query.process_all_available()).await?;
            StreamingReply::Done
        }
        StreamingQueryCommand::Explain { extended } => StreamingReply::Explained(query.explained(extended)),
        StreamingQueryCommand::Exception => StreamingReply::Exception(query.exception()),
        StreamingQueryCommand::AwaitTermination { timeout_millis } => {
            let waiting = query.await_termination(timeout_millis.map(span));
            StreamingReply::Terminated(crate::execution::cancellable(run, waiting).await?)
        }
    })
}

/// Answers a question about all queries of a session.
pub(crate) async fn of_manager(
    session: &Arc<Session>,
    command: StreamingManagerCommand,
    run: &RunContext,
) -> Result<StreamingReply> {
    let manager = session.streaming();
    Ok(match command {
        StreamingManagerCommand::Active => StreamingReply::Queries(manager.active()),
        StreamingManagerCommand::Get { id } => StreamingReply::Query(manager.get(&id)?),
        StreamingManagerCommand::AwaitAnyTermination { timeout_millis } => {
            let waiting = manager.await_any_termination(timeout_millis.map(span));
            StreamingReply::AnyTerminated(crate::execution::cancellable(run, waiting).await?)
        }
        StreamingManagerCommand::ResetTerminated => {
            manager.reset_terminated();
            StreamingReply::Reset
        }
        StreamingManagerCommand::ListListeners => StreamingReply::Listeners(Vec::new()),
    })
}

fn span(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// Milliseconds since the epoch.
pub(crate) fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A moment as events tell it: `2026-01-31T12:00:00.000Z`.
pub(crate) fn iso(millis: i64) -> String {
    match arrow::temporal_conversions::timestamp_ms_to_datetime(millis) {
        Some(moment) => moment.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        None => millis.to_string(),
    }
}
