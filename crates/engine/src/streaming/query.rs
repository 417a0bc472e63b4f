//! A streaming query as others see it while it runs and after.

use super::progress::Progress;
use firesteel_error::{Result, SparkError};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What names a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFacts {
    pub id: String,
    pub run_id: String,
    pub name: Option<String>,
}

/// What a query is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryStatus {
    pub message: String,
    pub is_data_available: bool,
    pub is_trigger_active: bool,
    pub is_active: bool,
}

/// Why a query has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryException {
    pub message: String,
    pub condition: String,
}

/// A streaming query.
pub struct StreamingQuery {
    facts: QueryFacts,
    state: Mutex<State>,
    changed: watch::Sender<u64>,
    cancel: CancellationToken,
    progress_limit: usize,
}

struct State {
    status: QueryStatus,
    failure: Option<(SparkError, QueryException)>,
    progress: VecDeque<Progress>,
    explained: Option<(String, String)>,
    /// How many times sources were asked for new rows.
    looks: u64,
    /// Which time nothing was there last.
    idle_look: u64,
}

impl StreamingQuery {
    pub(super) fn new(facts: QueryFacts, progress_limit: usize) -> Self {
        let status = QueryStatus {
            message: "Initializing StreamExecution".into(),
            is_data_available: false,
            is_trigger_active: false,
            is_active: true,
        };
        Self {
            facts,
            state: Mutex::new(State {
                status,
                failure: None,
                progress: VecDeque::new(),
                explained: None,
                looks: 0,
                idle_look: 0,
            }),
            changed: watch::Sender::new(0),
            cancel: CancellationToken::new(),
            progress_limit: progress_limit.max(1),
        }
    }

    pub(super) fn facts(&self) -> &QueryFacts {
        &self.facts
    }

    pub(super) fn status(&self) -> QueryStatus {
        self.state.lock().status.clone()
    }

    /// Progress as JSON, the oldest first.
    pub(super) fn progress(&self) -> Vec<String> {
        self.state.lock().progress.iter().map(Progress::json).collect()
    }

    pub(super) fn explained(&self, extended: bool) -> String {
        match &self.state.lock().explained {
            Some((_, text)) if extended => text.clone(),
            Some((text, _)) => text.clone(),
            None => "No physical plan. Waiting for data.".to_string(),
        }
    }

    pub(super) fn exception(&self) -> Option<QueryException> {
        self.state.lock().failure.as_ref().map(|(_, exception)| exception.clone())
    }

    /// The error that ended the query.
    pub(super) fn failure(&self) -> Option<SparkError> {
        self.state.lock().failure.as_ref().map(|(error, _)| error.clone())
    }

    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(super) fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Ends the query, and waits until it has.
    pub(super) async fn stop(&self) {
        self.cancel();
        self.until(|state| !state.status.is_active).await;
    }

    /// Waits until it has ended; fails where it failed.
    pub(super) async fn await_termination(&self, timeout: Option<Duration>) -> Result<bool> {
        let ended = self.until(|state| !state.status.is_active);
        let has_ended = match timeout {
            Some(timeout) => tokio::time::timeout(timeout, ended).await.is_ok(),
            None => {
                ended.await;
                true
            }
        };
        match self.failure() {
            Some(error) => Err(error),
            None => Ok(has_ended),
        }
    }

    /// Waits until all that is there now has been written.
    pub(super) async fn process_all_available(&self) -> Result<()> {
        // What came before this call may be missed by a look that has begun.
        let wanted = self.state.lock().looks + 1;
        self.until(move |state| state.idle_look >= wanted || !state.status.is_active).await;
        self.failure().map_or(Ok(()), Err)
    }

    async fn until(&self, is_so: impl Fn(&State) -> bool) {
        let mut changed = self.changed.subscribe();
        loop {
            if is_so(&self.state.lock()) {
                return;
            }
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock());
        self.tell();
    }

    /// Says what it is doing.
    pub(super) fn say(&self, message: impl Into<String>, is_trigger_active: bool, is_data_available: bool) {
        let message = message.into();
        let mut state = self.state.lock();
        state.status = QueryStatus { message, is_data_available, is_trigger_active, is_active: state.status.is_active };
    }

    /// Notes that sources are asked, and tells which time it is.
    pub(super) fn look(&self) -> u64 {
        let mut state = self.state.lock();
        state.looks += 1;
        state.looks
    }

    /// Notes that nothing new was there at a look.
    pub(super) fn idle(&self, look: u64) {
        self.change(|state| {
            state.idle_look = look;
            state.status.message = "Waiting for data to arrive".into();
            state.status.is_trigger_active = false;
            state.status.is_data_available = false;
        });
    }

    pub(super) fn add_progress(&self, progress: Progress) {
        self.change(|state| {
            state.progress.push_back(progress);
            while state.progress.len() > self.progress_limit {
                state.progress.pop_front();
            }
        });
    }

    pub(super) fn set_explained(&self, simple: String, extended: String) {
        self.state.lock().explained = Some((simple, extended));
    }

    /// Notes that it has ended. Those who wait are told by [`StreamingQuery::tell`].
    pub(super) fn end(&self, failure: Option<(SparkError, QueryException)>) {
        let message = match &failure {
            Some((error, _)) => {
                let cause = error.cause().map_or_else(|| error.to_string(), ToString::to_string);
                format!("Terminated with exception: {cause}")
            }
            None => "Stopped".to_string(),
        };
        let mut state = self.state.lock();
        state.status = QueryStatus { message, is_data_available: false, is_trigger_active: false, is_active: false };
        state.failure = failure;
    }

    /// Wakes those who wait for something to change.
    pub(super) fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}
