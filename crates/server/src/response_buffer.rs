//! The responses of one operation, numbered, between its task and its client.
//!
//! The task pushes; at most one consumer takes. What the client has not taken
//! is bounded in bytes: a slow client makes the task wait. What it has taken is
//! kept for a while, so that a client whose stream broke can come back.

use crate::limits::Limits;
use firesteel_error::SparkError;
use firesteel_proto::connect::ExecutePlanResponse;
use parking_lot::Mutex;
use prost::Message;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use uuid::Uuid;

/// How the sequence of responses ended.
#[derive(Debug, Clone)]
enum End {
    Complete,
    Failed(SparkError),
}

#[derive(Debug)]
struct Stored {
    response: ExecutePlanResponse,
    bytes: usize,
}

#[derive(Debug)]
struct State {
    /// The number of `responses[0]`; numbers begin with 1.
    first: u64,
    responses: VecDeque<Stored>,
    end: Option<End>,
    /// The highest number that a consumer has taken.
    taken: u64,
    /// Bytes of responses after and up to `taken`.
    ahead_bytes: usize,
    behind_bytes: usize,
    /// Grows with each attachment: an older consumer is disconnected.
    generation: u64,
    /// Since when there is no consumer.
    detached: Option<Instant>,
}

impl State {
    /// The number of the response that comes next.
    fn next(&self) -> u64 {
        self.first + self.responses.len() as u64
    }

    fn drop_first(&mut self) {
        if let Some(stored) = self.responses.pop_front() {
            if self.first <= self.taken {
                self.behind_bytes -= stored.bytes;
            } else {
                self.ahead_bytes -= stored.bytes;
            }
            self.first += 1;
        }
    }

    fn take(&mut self, number: u64) -> Option<(ExecutePlanResponse, usize)> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let stored = self.responses.get(index)?;
        let taken = (stored.response.clone(), stored.bytes);
        if number > self.taken {
            self.taken = number;
            self.ahead_bytes -= taken.1;
            self.behind_bytes += taken.1;
        }
        Some(taken)
    }
}

/// The buffer of an operation.
#[derive(Debug)]
pub struct ResponseBuffer {
    state: Mutex<State>,
    /// Something for the consumer has changed.
    arrived: Notify,
    /// Something for the producer has changed.
    drained: Notify,
    /// The first half of all response ids; the second half is the number.
    prefix: u64,
    keep_behind: Option<usize>,
    keep_ahead: usize,
}

/// The buffer takes no more responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// Bits of a UUID's second half that are free: the rest is its variant.
const NUMBER_BITS: u64 = (1 << 62) - 1;

impl ResponseBuffer {
    /// An empty buffer. One that is not reattachable keeps nothing that was taken.
    pub fn new(is_reattachable: bool, limits: &Limits) -> Arc<Self> {
        // Version 8: bits by our own rule.
        let prefix = (Uuid::new_v4().as_u64_pair().0 & !0xf000) | 0x8000;
        Arc::new(Self {
            state: Mutex::new(State {
                first: 1,
                responses: VecDeque::new(),
                end: None,
                taken: 0,
                ahead_bytes: 0,
                behind_bytes: 0,
                generation: 0,
                detached: Some(Instant::now()),
            }),
            arrived: Notify::new(),
            drained: Notify::new(),
            prefix,
            keep_behind: is_reattachable.then_some(limits.retry_buffer),
            keep_ahead: limits.ahead_buffer,
        })
    }

    fn id(&self, number: u64) -> String {
        Uuid::from_u64_pair(self.prefix, (1 << 63) | number).to_string()
    }

    /// The number in an id of a response that this buffer has produced.
    fn number(&self, id: &str, state: &State) -> Option<u64> {
        let (prefix, number) = Uuid::parse_str(id).ok()?.as_u64_pair();
        let number = number & NUMBER_BITS;
        (prefix == self.prefix && (1..state.next()).contains(&number)).then_some(number)
    }

    /// Adds a response, when the client is not too far behind.
    pub async fn push(&self, response: ExecutePlanResponse) -> Result<(), Closed> {
        self.push_before(response).await?;
        self.arrived.notify_waiters();
        Ok(())
    }

    /// Adds a response that another one, or the end, follows at once: the consumer hears of both together, so that
    /// they leave in one piece.
    pub async fn push_before(&self, mut response: ExecutePlanResponse) -> Result<(), Closed> {
        let bytes = response.encoded_len();
        loop {
            let mut drained = std::pin::pin!(self.drained.notified());
            drained.as_mut().enable();
            {
                let mut state = self.state.lock();
                if state.end.is_some() {
                    return Err(Closed);
                }
                if state.ahead_bytes == 0 || state.ahead_bytes + bytes <= self.keep_ahead {
                    response.response_id = self.id(state.next());
                    state.ahead_bytes += bytes;
                    state.responses.push_back(Stored { response, bytes });
                    return Ok(());
                }
            }
            self.arrived.notify_waiters();
            drained.await;
        }
    }

    /// Whether a push would wait for the client.
    pub fn is_full(&self) -> bool {
        self.state.lock().ahead_bytes >= self.keep_ahead
    }

    /// Ends the sequence. Only the first end counts.
    pub fn complete(&self) {
        self.end(End::Complete);
    }

    /// Ends the sequence with an error, after the responses that are there.
    pub fn fail(&self, error: SparkError) {
        self.end(End::Failed(error));
    }

    fn end(&self, end: End) {
        {
            let mut state = self.state.lock();
            if state.end.is_some() {
                return;
            }
            state.end = Some(end);
        }
        self.arrived.notify_waiters();
        self.drained.notify_waiters();
    }

    /// Whether the sequence has ended.
    pub fn is_ended(&self) -> bool {
        self.state.lock().end.is_some()
    }

    /// Disconnects the consumer, if there is one.
    pub fn disconnect(&self) {
        self.state.lock().generation += 1;
        self.arrived.notify_waiters();
    }

    /// How long there has been no consumer.
    pub fn detached_for(&self) -> Option<Duration> {
        self.state.lock().detached.map(|since| since.elapsed())
    }

    /// A consumer from the response after `last`, or from the first. It takes
    /// the place of any other.
    pub fn attach(self: &Arc<Self>, last: Option<&str>) -> Result<Consumer, SparkError> {
        let consumer = {
            let mut state = self.state.lock();
            let next = match last {
                None => 1,
                Some(id) => 1 + self.number(id, &state).ok_or_else(|| not_found(id))?,
            };
            if next < state.first {
                return Err(SparkError::new("INVALID_CURSOR.POSITION_NOT_AVAILABLE")
                    .with("responseId", self.id(next))
                    .with("index", next.to_string()));
            }
            state.generation += 1;
            state.detached = None;
            Consumer { buffer: self.clone(), generation: state.generation, next }
        };
        self.arrived.notify_waiters();
        Ok(consumer)
    }

    /// Frees the responses up to and including one.
    pub fn release_until(&self, id: &str) -> Result<(), SparkError> {
        {
            let mut state = self.state.lock();
            let number = self.number(id, &state).ok_or_else(|| not_found(id))?;
            while state.first <= number && !state.responses.is_empty() {
                state.drop_first();
            }
        }
        self.drained.notify_waiters();
        Ok(())
    }

    fn detach(&self, generation: u64) {
        let mut state = self.state.lock();
        if state.generation == generation {
            state.detached = Some(Instant::now());
        }
    }
}

fn not_found(id: &str) -> SparkError {
    SparkError::new("INVALID_CURSOR.POSITION_NOT_FOUND").with("responseId", id)
}

/// What a consumer gets next.
#[derive(Debug)]
pub enum Next {
    /// A response and its size.
    Response(Box<ExecutePlanResponse>, usize),
    /// There are no more.
    Complete,
    /// The operation failed.
    Failed(SparkError),
    /// Another consumer took over.
    Disconnected,
}

/// A client's place in a buffer.
#[derive(Debug)]
pub struct Consumer {
    buffer: Arc<ResponseBuffer>,
    generation: u64,
    next: u64,
}

impl Consumer {
    /// Waits for what comes next.
    pub async fn next(&mut self) -> Next {
        let buffer = self.buffer.clone();
        loop {
            let mut arrived = std::pin::pin!(buffer.arrived.notified());
            arrived.as_mut().enable();
            if let Some(next) = self.poll() {
                return next;
            }
            arrived.await;
        }
    }

    fn poll(&mut self) -> Option<Next> {
        let mut state = self.buffer.state.lock();
        if state.generation != self.generation {
            return Some(Next::Disconnected);
        }
        self.next = self.next.max(state.first);
        if let Some((response, bytes)) = state.take(self.next) {
            match self.buffer.keep_behind {
                None => {
                    while state.first <= self.next {
                        state.drop_first();
                    }
                }
                Some(limit) => {
                    while state.behind_bytes > limit && state.first < state.taken {
                        state.drop_first();
                    }
                }
            }
            self.next += 1;
            drop(state);
            self.buffer.drained.notify_waiters();
            return Some(Next::Response(Box::new(response), bytes));
        }
        match state.end.clone()? {
            End::Complete => Some(Next::Complete),
            End::Failed(error) => Some(Next::Failed(error)),
        }
    }

    /// Whether the consumer is still the buffer's.
    pub fn is_current(&self) -> bool {
        self.buffer.state.lock().generation == self.generation
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.buffer.detach(self.generation);
    }
}

#[cfg(test)]
#[path = "response_buffer_tests.rs"]
mod tests;
