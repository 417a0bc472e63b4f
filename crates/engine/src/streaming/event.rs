//! What happens to streaming queries, for listeners.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;

/// Events that wait for a slow listener at most; the oldest are dropped then.
pub(super) const WAITING: usize = 1024;

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    Progress,
    Terminated,
    Idle,
}

/// An event, as JSON.
#[derive(Debug, Clone)]
pub struct StreamingEvent {
    pub kind: EventKind,
    pub json: String,
}

/// The events of a session's queries from now on.
pub struct StreamingEvents {
    pub(super) events: broadcast::Receiver<StreamingEvent>,
    /// Cancelled when nobody listens any more.
    pub(super) end: CancellationToken,
}

impl StreamingEvents {
    /// The next event; none when nobody listens any more and what was waiting is told.
    pub async fn next(&mut self) -> Option<StreamingEvent> {
        loop {
            let received = tokio::select! {
                biased;
                received = self.events.recv() => received,
                () = self.end.cancelled() => match self.events.try_recv() {
                    Ok(event) => Ok(event),
                    Err(TryRecvError::Lagged(count)) => Err(RecvError::Lagged(count)),
                    Err(TryRecvError::Empty | TryRecvError::Closed) => Err(RecvError::Closed),
                },
            };
            match received {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(count)) => tracing::warn!("a listener missed {count} events"),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
