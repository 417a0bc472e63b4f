//! Operations: plans being run, and what is remembered of those that are gone.

use crate::limits::Limits;
use crate::response_buffer::{Consumer, ResponseBuffer};
use crate::tombstones::Tombstones;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_proto::connect as proto;
use parking_lot::Mutex;
use proto::get_status_response::operation_status::OperationState;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// An operation's state, as GetStatus tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its task runs.
    Running,
    /// Its task has been told to stop.
    Terminating,
    /// It ended well.
    Succeeded,
    /// It ended with an error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl State {
    fn is_final(self) -> bool {
        matches!(self, State::Succeeded | State::Failed | State::Cancelled)
    }
}

impl From<State> for OperationState {
    fn from(state: State) -> Self {
        match state {
            State::Running => OperationState::Running,
            State::Terminating => OperationState::Terminating,
            State::Succeeded => OperationState::Succeeded,
            State::Failed => OperationState::Failed,
            State::Cancelled => OperationState::Cancelled,
        }
    }
}

/// What a client asks of the way its results are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The client may come back for the responses.
    pub is_reattachable: bool,
    /// The client takes batches in pieces, of this many bytes where it says so.
    pub chunking: Option<Option<i64>>,
}

/// One plan being run.
#[derive(Debug)]
pub struct Operation {
    /// The id, of the client's choice or ours.
    pub id: String,
    /// The client's tags.
    pub tags: Vec<String>,
    /// How the client wants its results.
    pub delivery: Delivery,
    /// The responses.
    pub buffer: Arc<ResponseBuffer>,
    /// Cancelled when the operation is to stop.
    pub cancel: CancellationToken,
    plan: Arc<proto::Plan>,
    state: Mutex<State>,
}

impl Operation {
    /// The state.
    pub fn state(&self) -> State {
        *self.state.lock()
    }

    /// Stops the task. True if that was news.
    pub fn cancel(&self) -> bool {
        {
            let mut state = self.state.lock();
            if *state != State::Running {
                return false;
            }
            *state = State::Terminating;
        }
        self.cancel.cancel();
        self.buffer.fail(SparkError::new("OPERATION_CANCELED"));
        true
    }

    /// The task has ended.
    pub fn finish(&self, result: Result<()>) {
        let ended = match &result {
            Ok(()) => State::Succeeded,
            Err(_) => State::Failed,
        };
        {
            let mut state = self.state.lock();
            *state = if *state == State::Terminating { State::Cancelled } else { ended };
        }
        match result {
            Ok(()) => self.buffer.complete(),
            Err(error) => self.buffer.fail(error),
        }
    }
}

/// Why an operation is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    /// The client released it, or had all of it.
    Released,
    /// Nobody came for it.
    Abandoned,
}

/// The operations of one session.
#[derive(Debug)]
pub struct OperationTable {
    inner: Mutex<Inner>,
    limits: Arc<Limits>,
}

#[derive(Debug)]
struct Inner {
    live: HashMap<String, Arc<Operation>>,
    gone: Tombstones<String, Gone>,
    /// States of operations that are gone, oldest first.
    ended: VecDeque<(Instant, String, State)>,
    is_closed: bool,
}

/// What became of an ExecutePlan request.
pub enum Admission {
    /// A new operation, to be started, and its consumer.
    Started(Arc<Operation>, Consumer),
    /// The same request came before: the consumer replays its responses.
    Attached(Arc<Operation>, Consumer),
}

impl OperationTable {
    /// An empty table.
    pub fn new(limits: Arc<Limits>) -> Self {
        let inner = Inner {
            live: HashMap::new(),
            gone: Tombstones::new(limits.operation_tombstones),
            ended: VecDeque::new(),
            is_closed: false,
        };
        Self { inner: Mutex::new(inner), limits }
    }

    /// Makes an operation for a request, or finds the one that an equal request made.
    pub fn admit(
        &self,
        id: Option<String>,
        tags: Vec<String>,
        plan: Arc<proto::Plan>,
        delivery: Delivery,
    ) -> Result<Admission> {
        check_tags(&tags)?;
        let id = match id {
            None => Uuid::new_v4().to_string(),
            Some(id) if is_uuid(&id) => id,
            Some(id) => return Err(handle("INVALID_HANDLE.FORMAT", &id)),
        };
        let found = self.inner.lock().live.get(&id).cloned();
        if let Some(operation) = found {
            if operation.plan != plan {
                return Err(handle("INVALID_HANDLE.OPERATION_ALREADY_EXISTS", &id));
            }
            let consumer = operation.buffer.attach(None)?;
            return Ok(Admission::Attached(operation, consumer));
        }
        let mut inner = self.inner.lock();
        if inner.is_closed {
            return Err(SparkError::new("OPERATION_CANCELED"));
        }
        if inner.gone.get(&id).is_some() {
            return Err(handle("INVALID_HANDLE.OPERATION_ABANDONED", &id));
        }
        if inner.live.contains_key(&id) {
            return Err(handle("INVALID_HANDLE.OPERATION_ALREADY_EXISTS", &id));
        }
        let buffer = ResponseBuffer::new(delivery.is_reattachable, &self.limits);
        let consumer = buffer.attach(None)?;
        let operation = Arc::new(Operation {
            id: id.clone(),
            tags,
            delivery,
            buffer,
            cancel: CancellationToken::new(),
            plan,
            state: Mutex::new(State::Running),
        });
        inner.live.insert(id, operation.clone());
        Ok(Admission::Started(operation, consumer))
    }

    /// A consumer for a client that comes back.
    pub fn reattach(&self, id: &str, last: Option<&str>) -> Result<(Arc<Operation>, Consumer)> {
        let (found, gone) = {
            let inner = self.inner.lock();
            (inner.live.get(id).cloned(), inner.gone.get(&id.to_string()))
        };
        let Some(operation) = found else {
            let condition = match gone {
                Some(Gone::Abandoned) => "INVALID_HANDLE.OPERATION_ABANDONED",
                _ => "INVALID_HANDLE.OPERATION_NOT_FOUND",
            };
            return Err(handle(condition, id));
        };
        if !operation.delivery.is_reattachable {
            return Err(SparkError::new("INVALID_CURSOR.NOT_REATTACHABLE"));
        }
        let consumer = operation.buffer.attach(last)?;
        Ok((operation, consumer))
    }

    /// A live operation.
    pub fn get(&self, id: &str) -> Option<Arc<Operation>> {
        self.inner.lock().live.get(id).cloned()
    }

    /// Drops an operation that its client needs no more; stops it if it runs.
    pub fn release(&self, id: &str) -> Option<Arc<Operation>> {
        self.bury(id, Gone::Released)
    }

    fn bury(&self, id: &str, why: Gone) -> Option<Arc<Operation>> {
        let operation = {
            let mut inner = self.inner.lock();
            let operation = inner.live.remove(id)?;
            inner.gone.insert(id.to_string(), why);
            // Under the same lock, so that GetStatus finds it in one of the lists at any time.
            let state = operation.state();
            // Its task is told to stop, and nobody will look again.
            let state = if state.is_final() { state } else { State::Cancelled };
            inner.ended.push_back((Instant::now(), id.to_string(), state));
            if inner.ended.len() > self.limits.operation_tombstones {
                inner.ended.pop_front();
            }
            operation
        };
        operation.buffer.disconnect();
        operation.cancel();
        Some(operation)
    }

    /// Stops the operations that `wanted` picks, and tells which of them ran.
    pub fn cancel(&self, wanted: impl Fn(&Operation) -> bool) -> Vec<String> {
        let operations: Vec<_> = self.inner.lock().live.values().filter(|found| wanted(found)).cloned().collect();
        operations.iter().filter(|operation| operation.cancel()).map(|operation| operation.id.clone()).collect()
    }

    /// Stops all operations, disconnects their clients, and admits no more.
    pub fn close(&self) {
        let operations: Vec<_> = {
            let mut inner = self.inner.lock();
            inner.is_closed = true;
            inner.live.drain().map(|(_, operation)| operation).collect()
        };
        for operation in operations {
            operation.buffer.disconnect();
            operation.cancel();
        }
    }

    /// Whether an operation is running.
    pub fn is_busy(&self) -> bool {
        self.inner.lock().live.values().any(|operation| !operation.state().is_final())
    }

    /// Drops operations whose clients have been away for too long.
    pub fn drop_abandoned(&self) {
        let abandoned: Vec<_> = {
            let inner = self.inner.lock();
            let is_old = |operation: &&Arc<Operation>| {
                operation.buffer.detached_for().is_some_and(|away| away >= self.limits.detached_timeout)
            };
            inner.live.values().filter(is_old).map(|operation| operation.id.clone()).collect()
        };
        for id in abandoned {
            self.bury(&id, Gone::Abandoned);
        }
    }

    /// The states of all operations that are remembered.
    pub fn states(&self) -> Vec<(String, State)> {
        let mut inner = self.inner.lock();
        let expiry = self.limits.status_expiry;
        while inner.ended.front().is_some_and(|(ended, ..)| ended.elapsed() > expiry) {
            inner.ended.pop_front();
        }
        let live = inner.live.values().map(|operation| (operation.id.clone(), operation.state()));
        let ended = inner.ended.iter().map(|(_, id, state)| (id.clone(), *state));
        live.chain(ended).collect()
    }
}

/// An error about a session or operation by its id.
pub fn handle(condition: &'static str, handle: &str) -> SparkError {
    SparkError::new(condition).with("handle", handle)
}

/// Whether an id has the form that all ids must have.
pub fn is_uuid(id: &str) -> bool {
    id.len() == 36 && Uuid::try_parse(id).is_ok()
}

fn check_tags(tags: &[String]) -> Result<()> {
    for tag in tags {
        if tag.is_empty() {
            return Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                "Spark Connect tag cannot be an empty string.",
            ));
        }
        if tag.contains(',') {
            return Err(SparkError::plain(ExceptionClass::IllegalArgument, "Spark Connect tag cannot contain ','."));
        }
    }
    Ok(())
}
