//! The streaming queries of a session.

use super::event::{StreamingEvent, StreamingEvents, WAITING};
use super::query::{QueryFacts, StreamingQuery};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::StreamingQueryId;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

/// Queries that have ended and can still be asked about.
const REMEMBERED: usize = 100;

/// The streaming queries of a session: those that run, and some that have ended.
pub struct StreamingManager {
    inner: Mutex<Inner>,
    events: broadcast::Sender<StreamingEvent>,
    /// Changes when a query ends.
    ended: watch::Sender<u64>,
}

#[derive(Default)]
struct Inner {
    active: Vec<Arc<StreamingQuery>>,
    ended: VecDeque<Arc<StreamingQuery>>,
    /// The query that ended last since it was last asked for.
    last_terminated: Option<Arc<StreamingQuery>>,
    listener: Option<CancellationToken>,
    is_closed: bool,
}

impl Default for StreamingManager {
    fn default() -> Self {
        Self { inner: Mutex::default(), events: broadcast::Sender::new(WAITING), ended: watch::Sender::new(0) }
    }
}

impl StreamingManager {
    /// Takes a query that is about to run; its name must be its own.
    pub(super) fn add(&self, query: &Arc<StreamingQuery>) -> Result<()> {
        let mut inner = self.inner.lock();
        if inner.is_closed {
            return Err(SparkError::new("OPERATION_CANCELED").with("operationId", ""));
        }
        if let Some(name) = query.facts().name.as_deref()
            && inner.active.iter().any(|other| other.facts().name.as_deref() == Some(name))
        {
            return Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                format!(
                    "Cannot start query with name {name} as a query with that name is already active in this \
                     SparkSession"
                ),
            ));
        }
        inner.active.push(query.clone());
        Ok(())
    }

    /// Forgets a query that did not start.
    pub(super) fn forget(&self, query: &Arc<StreamingQuery>) {
        self.inner.lock().active.retain(|other| !Arc::ptr_eq(other, query));
    }

    /// Notes that a query has ended.
    pub(super) fn remove(&self, query: &Arc<StreamingQuery>) {
        {
            let mut inner = self.inner.lock();
            inner.active.retain(|other| !Arc::ptr_eq(other, query));
            if !inner.is_closed {
                inner.ended.push_back(query.clone());
                if inner.ended.len() > REMEMBERED {
                    inner.ended.pop_front();
                }
                // A query that failed is not hidden by others.
                let is_failed = |query: &Arc<StreamingQuery>| query.failure().is_some();
                if !inner.last_terminated.as_ref().is_some_and(is_failed) {
                    inner.last_terminated = Some(query.clone());
                }
            }
        }
        self.ended.send_modify(|count| *count += 1);
    }

    /// The running query of an id.
    pub(super) fn running(&self, id: &str) -> Option<Arc<StreamingQuery>> {
        self.inner.lock().active.iter().find(|query| query.facts().id == id).cloned()
    }

    /// A query that runs or has ended lately.
    pub(super) fn find(&self, id: &StreamingQueryId) -> Result<Arc<StreamingQuery>> {
        let inner = self.inner.lock();
        let is_it = |query: &&Arc<StreamingQuery>| query.facts().id == id.id && query.facts().run_id == id.run_id;
        let found = inner.active.iter().chain(&inner.ended).find(is_it).cloned();
        found.ok_or_else(|| SparkError::new("CONNECT_INVALID_PLAN.STREAMING_QUERY_NOT_FOUND").with("id", &id.id))
    }

    /// The running queries.
    pub fn active(&self) -> Vec<QueryFacts> {
        self.inner.lock().active.iter().map(|query| query.facts().clone()).collect()
    }

    /// True while queries run.
    pub fn is_busy(&self) -> bool {
        !self.inner.lock().active.is_empty()
    }

    /// The query of an id, which is the running one where there are several.
    pub fn get(&self, id: &str) -> Result<Option<QueryFacts>> {
        let parsed = uuid::Uuid::parse_str(id)
            .map_err(|_| SparkError::plain(ExceptionClass::IllegalArgument, format!("Invalid UUID string: {id}")))?;
        let id = parsed.to_string();
        let inner = self.inner.lock();
        let found = inner.active.iter().chain(inner.ended.iter().rev()).find(|query| query.facts().id == id);
        Ok(found.map(|query| query.facts().clone()))
    }

    /// Waits until any query has ended since the last reset; fails where it failed.
    pub(super) async fn await_any_termination(&self, timeout: Option<Duration>) -> Result<bool> {
        let mut ended = self.ended.subscribe();
        let wait = async {
            loop {
                let last = self.inner.lock().last_terminated.clone();
                if let Some(query) = last {
                    return query.failure().map_or(Ok(true), Err);
                }
                if ended.changed().await.is_err() {
                    return Ok(true);
                }
            }
        };
        match timeout {
            Some(timeout) => tokio::time::timeout(timeout, wait).await.unwrap_or(Ok(false)),
            None => wait.await,
        }
    }

    /// Forgets which queries have ended.
    pub fn reset_terminated(&self) {
        self.inner.lock().last_terminated = None;
    }

    /// Tells listeners.
    pub(super) fn post(&self, event: StreamingEvent) {
        // Nobody needs to listen.
        let _ = self.events.send(event);
    }

    /// True where somebody listens.
    pub fn has_listener(&self) -> bool {
        self.inner.lock().listener.is_some()
    }

    /// The events from now on, until nobody listens any more; none where somebody listens already.
    pub fn listen(&self) -> Option<StreamingEvents> {
        let mut inner = self.inner.lock();
        if inner.listener.is_some() || inner.is_closed {
            return None;
        }
        let end = CancellationToken::new();
        inner.listener = Some(end.clone());
        Some(StreamingEvents { events: self.events.subscribe(), end })
    }

    /// Ends the events.
    pub fn unlisten(&self) {
        if let Some(listener) = self.inner.lock().listener.take() {
            listener.cancel();
        }
    }

    /// Ends all queries.
    pub(crate) fn close(&self) {
        let queries = {
            let mut inner = self.inner.lock();
            inner.is_closed = true;
            inner.ended.clear();
            inner.last_terminated = None;
            std::mem::take(&mut inner.active)
        };
        queries.iter().for_each(|query| query.cancel());
        self.unlisten();
        self.ended.send_modify(|count| *count += 1);
    }
}
