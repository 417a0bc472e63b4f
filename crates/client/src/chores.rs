//! What the server is told in the background: results read, operations and relations no longer needed.

use crate::error::Failure;
use crate::retry::Retries;
use crate::transport::Transport;
use firesteel_proto::connect as proto;
use futures::StreamExt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tonic::Status;

/// Requests under way at once.
const CONCURRENCY: usize = 8;
/// Operations that are over are released together: after this time, or when there are so many of them.
/// Requests that travel together cost a fraction of as many single ones.
const LINGER: Duration = Duration::from_millis(50);
const TOGETHER: usize = 64;
/// Chores taken from the queue at once.
const BATCH: usize = 1024;
/// Second tries of a chore.
const TRIES: u32 = 4;

/// One thing to tell the server.
#[derive(Debug)]
pub(crate) enum Chore {
    /// Responses up to this one are read.
    ReleaseUntil { operation_id: String, response_id: String },
    /// The operation is not wanted any more.
    ReleaseAll { operation_id: String },
    /// There are operations that are over; release them soon, or at once.
    ReleaseFinished { at_once: bool },
    /// No frame uses the relation any more.
    RemoveRelation { relation_id: String },
    /// Says when all chores before it are done.
    Flush(oneshot::Sender<()>),
}

/// The queue of chores of a session.
///
/// Adding never blocks and never fails, on any thread and while the runtime
/// shuts down: a chore that nobody does any more is dropped, and the server
/// sweeps when the session ends.
#[derive(Debug, Clone)]
pub(crate) struct Chores {
    queue: mpsc::UnboundedSender<Chore>,
    finished: Finished,
}

/// Operations that are over, and not released yet.
#[derive(Debug, Clone, Default)]
struct Finished(Arc<Mutex<Vec<String>>>);

impl Finished {
    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock())
    }
}

impl Chores {
    /// Starts the task that does the chores; it ends after the last clone of the queue is dropped.
    pub(crate) fn start(transport: Arc<Transport>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let runtime = transport.runtime.clone();
        let finished = Finished::default();
        runtime.spawn(Worker { transport, finished: finished.clone() }.work(receiver));
        Chores { queue: sender, finished }
    }

    pub(crate) fn add(&self, chore: Chore) {
        let _ = self.queue.send(chore);
    }

    /// Lets the server forget an operation that is over; there is no hurry.
    pub(crate) fn add_finished(&self, operation_id: String) {
        let waiting = {
            let mut finished = self.finished.lock();
            finished.push(operation_id);
            finished.len()
        };
        if waiting == 1 || waiting == TOGETHER {
            self.add(Chore::ReleaseFinished { at_once: waiting == TOGETHER });
        }
    }

    /// Waits until the chores added so far are done.
    pub(crate) async fn flush(&self) {
        let (sender, receiver) = oneshot::channel();
        self.add(Chore::Flush(sender));
        let _ = receiver.await;
    }
}

/// Does the chores of a session.
struct Worker {
    transport: Arc<Transport>,
    finished: Finished,
}

impl Worker {
    async fn work(self, mut queue: mpsc::UnboundedReceiver<Chore>) {
        let mut batch = Vec::new();
        let mut due: Option<Instant> = None;
        loop {
            let received = match due {
                None => queue.recv_many(&mut batch, BATCH).await,
                Some(due_at) => match tokio::time::timeout_at(due_at, queue.recv_many(&mut batch, BATCH)).await {
                    Ok(received) => received,
                    Err(_) => {
                        due = None;
                        self.release_finished().await;
                        continue;
                    }
                },
            };
            if received == 0 {
                return self.release_finished().await;
            }
            let (chores, flushed) = merged(batch.drain(..));
            let is_marker = |chore: &Chore| matches!(chore, Chore::ReleaseFinished { .. });
            let at_once = |chore: &Chore| matches!(chore, Chore::ReleaseFinished { at_once: true });
            if chores.iter().any(at_once) || !flushed.is_empty() {
                due = None;
                self.release_finished().await;
            } else if due.is_none() && chores.iter().any(is_marker) {
                due = Some(Instant::now() + LINGER);
            }
            self.perform_all(chores, CONCURRENCY).await;
            for sender in flushed {
                let _ = sender.send(());
            }
        }
    }

    async fn release_finished(&self) {
        let release = |operation_id| Chore::ReleaseAll { operation_id };
        self.perform_all(self.finished.take().into_iter().map(release), TOGETHER).await;
    }

    async fn perform_all(&self, chores: impl IntoIterator<Item = Chore>, at_once: usize) {
        let transport = &self.transport;
        futures::stream::iter(chores).for_each_concurrent(at_once, |chore| perform(transport, chore)).await;
    }
}

/// The chores without those that a later one makes needless, and who waits for them.
fn merged(batch: impl Iterator<Item = Chore>) -> (Vec<Chore>, Vec<oneshot::Sender<()>>) {
    let mut releases: HashMap<String, Option<String>> = HashMap::new();
    let mut chores = Vec::new();
    let mut flushed = Vec::new();
    for chore in batch {
        match chore {
            Chore::ReleaseUntil { operation_id, response_id } => {
                let release = releases.entry(operation_id).or_insert_with(|| Some(String::new()));
                if let Some(last) = release {
                    *last = response_id;
                }
            }
            Chore::ReleaseAll { operation_id } => {
                releases.insert(operation_id, None);
            }
            Chore::RemoveRelation { .. } | Chore::ReleaseFinished { .. } => chores.push(chore),
            Chore::Flush(sender) => flushed.push(sender),
        }
    }
    chores.extend(releases.into_iter().map(|(operation_id, until)| match until {
        Some(response_id) => Chore::ReleaseUntil { operation_id, response_id },
        None => Chore::ReleaseAll { operation_id },
    }));
    (chores, flushed)
}

/// Does one chore; failures are left to the server's own sweeping.
async fn perform(transport: &Transport, chore: Chore) {
    if transport.is_stopped() {
        return;
    }
    let mut retries = Retries::at_most(&transport.options.retries, TRIES);
    loop {
        let Err(status) = attempt(transport, &chore).await else {
            return;
        };
        if !retries.pause(&Failure::new(status)).await {
            return;
        }
    }
}

async fn attempt(transport: &Transport, chore: &Chore) -> Result<(), Status> {
    use proto::release_execute_request::{Release, ReleaseAll, ReleaseUntil};
    match chore {
        Chore::ReleaseUntil { operation_id, response_id } => {
            let until = ReleaseUntil { response_id: response_id.clone() };
            release(transport, operation_id, Release::ReleaseUntil(until)).await
        }
        Chore::ReleaseAll { operation_id } => {
            release(transport, operation_id, Release::ReleaseAll(ReleaseAll {})).await
        }
        Chore::RemoveRelation { relation_id } => remove(transport, relation_id).await,
        Chore::Flush(_) | Chore::ReleaseFinished { .. } => Ok(()),
    }
}

async fn release(
    transport: &Transport,
    operation_id: &str,
    release: proto::release_execute_request::Release,
) -> Result<(), Status> {
    let request = proto::ReleaseExecuteRequest {
        session_id: transport.session_id.clone(),
        client_observed_server_side_session_id: transport.observed_session(),
        user_context: transport.user(),
        operation_id: operation_id.to_string(),
        client_type: transport.client_type(),
        release: Some(release),
    };
    transport.stub().release_execute(transport.request(request)).await.map(drop)
}

/// A command without reattaching: the answer is an empty stream.
async fn remove(transport: &Transport, relation_id: &str) -> Result<(), Status> {
    use proto::command::CommandType::RemoveCachedRemoteRelationCommand as Remove;
    let relation = proto::CachedRemoteRelation { relation_id: relation_id.to_string() };
    let remove = Remove(proto::RemoveCachedRemoteRelationCommand { relation: Some(relation) });
    let command = proto::Command { command_type: Some(remove) };
    let request = proto::ExecutePlanRequest {
        session_id: transport.session_id.clone(),
        client_observed_server_side_session_id: transport.observed_session(),
        user_context: transport.user(),
        plan: Some(proto::Plan { op_type: Some(proto::plan::OpType::Command(command)) }),
        client_type: transport.client_type(),
        ..Default::default()
    };
    let mut stream = transport.stub().execute_plan(transport.request(request)).await?.into_inner();
    while stream.message().await?.is_some() {}
    Ok(())
}
