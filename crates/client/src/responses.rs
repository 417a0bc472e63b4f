//! The stream of responses of one operation, mended where it breaks.

use crate::SparkSession;
use crate::chores::{Chore, Chores};
use crate::encoded;
use crate::error::{Error, Failure, Result};
use crate::plan::{Plan, UNKNOWN_LEVELS, with_stack};
use crate::retry::Retries;
use crate::transport::Transport;
use bytes::{Bytes, BytesMut};
use firesteel_proto::connect as proto;
use prost::Message;
use proto::execute_plan_response::ResponseType;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tonic::{Response, Status, Streaming};
use uuid::Uuid;

/// Bytes of results after which the server may forget what was read.
const RELEASE_EVERY: usize = 1024 * 1024;
/// Wait before going back for a stream that ended without a word.
const EMPTY_STREAM_PAUSE: Duration = Duration::from_millis(50);

/// Responses of an operation in order, each once.
///
/// When the connection breaks, or the server ends a stream early, the operation
/// goes on there; this comes back for what follows the last response seen.
/// Dropping it cancels the operation.
pub(crate) struct Responses {
    transport: Arc<Transport>,
    chores: Chores,
    /// The request, but for what may change from try to try.
    request: Bytes,
    operation_id: String,
    reattachable: bool,
    stream: Option<Streaming<proto::ExecutePlanResponse>>,
    /// ExecutePlan was sent, so that the server may know the operation.
    sent: bool,
    last_response: Option<String>,
    unreleased: usize,
    deadline: Option<(Instant, Duration)>,
    done: bool,
    /// What the plan refers to; it may be sent again.
    _held: Option<Arc<Plan>>,
}

/// What one try to read gave.
enum Step {
    Response(proto::ExecutePlanResponse),
    /// The stream ended.
    End,
}

impl Responses {
    pub(crate) fn new(session: &SparkSession, plan: proto::plan::OpType, held: Option<Arc<Plan>>) -> Self {
        let transport = Arc::clone(&session.transport);
        let reattachable = !transport.options.detached;
        let operation_id = Uuid::new_v4().to_string();
        let option = |option| proto::execute_plan_request::RequestOption { request_option: Some(option) };
        use proto::execute_plan_request::request_option::RequestOption as Choice;
        let mut request_options = vec![option(Choice::ResultChunkingOptions(proto::ResultChunkingOptions {
            allow_arrow_batch_chunking: true,
            preferred_arrow_chunk_size: None,
        }))];
        if reattachable {
            request_options.push(option(Choice::ReattachOptions(proto::ReattachOptions { reattachable })));
        }
        let request = proto::ExecutePlanRequest {
            session_id: transport.session_id.clone(),
            client_observed_server_side_session_id: None,
            user_context: transport.user(),
            operation_id: Some(operation_id.clone()),
            plan: Some(proto::Plan { op_type: Some(plan) }),
            client_type: transport.client_type(),
            request_options,
            tags: session.tags().into_iter().collect(),
        };
        let levels = held.as_ref().map_or(UNKNOWN_LEVELS, |plan| plan.depth());
        let request = with_stack(levels, move || Bytes::from(request.encode_to_vec()));
        let deadline = session.deadline().map(|limit| (Instant::now() + limit, limit));
        Responses {
            transport,
            chores: session.chores.clone(),
            request,
            operation_id,
            reattachable,
            stream: None,
            sent: false,
            last_response: None,
            unreleased: 0,
            deadline,
            done: false,
            _held: held,
        }
    }

    /// The server's name of the operation.
    pub(crate) fn operation_id(&self) -> &str {
        &self.operation_id
    }

    /// The next response, or None after the last one.
    pub(crate) async fn next(&mut self) -> Result<Option<proto::ExecutePlanResponse>> {
        if self.done {
            return Ok(None);
        }
        let next = match self.deadline {
            None => self.mended().await,
            Some((end, limit)) => match tokio::time::timeout_at(end, self.mended()).await {
                Ok(next) => next,
                Err(_) => Err(Error::DeadlineExceeded(limit)),
            },
        };
        match &next {
            Ok(Some(response)) => self.note(response),
            Ok(None) => self.done = true,
            Err(_) => self.release(),
        }
        next
    }

    /// Reads on until something comes, over as many streams as it takes.
    async fn mended(&mut self) -> Result<Option<proto::ExecutePlanResponse>> {
        let transport = Arc::clone(&self.transport);
        let mut retries = Retries::new(&transport.options.retries);
        loop {
            match self.step().await {
                Ok(Step::Response(response)) => {
                    transport.verify(&response.session_id, &response.server_side_session_id)?;
                    return Ok(Some(response));
                }
                Ok(Step::End) if !self.reattachable => return Ok(None),
                Ok(Step::End) => {
                    self.stream = None;
                    tokio::time::sleep(EMPTY_STREAM_PAUSE).await;
                }
                Err(failure) => {
                    self.stream = None;
                    if self.is_lost(&failure) {
                        if self.last_response.is_some() {
                            return Err(Error::protocol("the server lost the operation after part of its result"));
                        }
                        // It never got the plan, so it is sent again.
                        self.sent = false;
                        if !retries.pause_for_loss().await {
                            return Err(transport.explain(failure).await);
                        }
                        continue;
                    }
                    let may_retry = self.reattachable || self.last_response.is_none();
                    if !(may_retry && retries.pause(&failure).await) {
                        return Err(transport.explain(failure).await);
                    }
                }
            }
        }
    }

    /// The server does not know an operation that it was asked to continue.
    fn is_lost(&self, failure: &Failure) -> bool {
        self.reattachable
            && (failure.names("INVALID_HANDLE.OPERATION_NOT_FOUND")
                || failure.names("INVALID_HANDLE.SESSION_NOT_FOUND"))
    }

    async fn step(&mut self) -> Result<Step, Failure> {
        if self.stream.is_none() {
            self.stream = Some(self.open().await.map_err(Failure::new)?);
        }
        let Some(stream) = &mut self.stream else {
            return Ok(Step::End);
        };
        match stream.message().await {
            Ok(Some(response)) => Ok(Step::Response(response)),
            Ok(None) => Ok(Step::End),
            Err(status) => Err(Failure::new(status)),
        }
    }

    /// Sends the plan, or comes back for the rest of its results.
    async fn open(&mut self) -> Result<Streaming<proto::ExecutePlanResponse>, Status> {
        let transport = &self.transport;
        let observed = transport.observed_session();
        let opened = if self.sent && self.reattachable {
            let reattach = proto::ReattachExecuteRequest {
                session_id: transport.session_id.clone(),
                client_observed_server_side_session_id: observed,
                user_context: transport.user(),
                operation_id: self.operation_id.clone(),
                client_type: transport.client_type(),
                last_response_id: self.last_response.clone(),
            };
            transport.stub().reattach_execute(transport.request(reattach)).await
        } else {
            self.sent = true;
            // Fields of a message may follow it: they are read as part of it.
            let rest =
                proto::ExecutePlanRequest { client_observed_server_side_session_id: observed, ..Default::default() };
            let mut request = BytesMut::with_capacity(self.request.len() + rest.encoded_len());
            request.extend_from_slice(&self.request);
            request.extend_from_slice(&rest.encode_to_vec());
            encoded::execute_plan(transport.grpc(), transport.request(request.freeze())).await
        };
        opened.map(Response::into_inner)
    }

    /// Remembers where to go on, and lets the server forget what was read.
    fn note(&mut self, response: &proto::ExecutePlanResponse) {
        if !self.reattachable {
            return;
        }
        self.last_response = Some(response.response_id.clone());
        match &response.response_type {
            Some(ResponseType::ResultComplete(_)) => {
                self.done = true;
                self.stream = None;
                return self.chores.add_finished(self.operation_id.clone());
            }
            Some(ResponseType::ArrowBatch(batch)) => self.unreleased += batch.data.len(),
            _ => {}
        }
        if self.unreleased >= RELEASE_EVERY {
            self.unreleased = 0;
            self.chores.add(Chore::ReleaseUntil {
                operation_id: self.operation_id.clone(),
                response_id: response.response_id.clone(),
            });
        }
    }

    /// Ends the operation on the server, whether it is finished or not.
    fn release(&mut self) {
        if !std::mem::replace(&mut self.done, true) && self.reattachable {
            self.chores.add(Chore::ReleaseAll { operation_id: self.operation_id.clone() });
        }
        self.stream = None;
    }
}

impl Drop for Responses {
    fn drop(&mut self) {
        // Nothing to release where nothing was asked.
        if self.sent {
            self.release();
        }
    }
}
