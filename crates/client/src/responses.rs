//! The stream of responses of one operation, mended where it breaks.

use crate::SparkSession;
use crate::chores::{Chore, Chores};
use crate::error::{Error, Failure, Result};
use crate::plan::Plan;
use crate::retry::Retries;
use crate::session::copied;
use crate::transport::Transport;
use firesteel_proto::connect as proto;
use proto::execute_plan_response::ResponseType;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tonic::Streaming;
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
    request: proto::ExecutePlanRequest,
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
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(
                open(&self.transport, &mut self.request, &mut self.sent, self.reattachable, &self.last_response)
                    .await?,
            ),
        };
        match stream.message().await {
            Ok(Some(response)) => Ok(Step::Response(response)),
            Ok(None) => Ok(Step::End),
            Err(status) => Err(Failure::new(status)),
        }
    }

    /// Remembers where to go on, and lets the server forget what was read.
    fn note(&mut self, response: &proto::ExecutePlanResponse) {
        if !self.reattachable {
            return;
        }
        self.last_response = Some(response.response_id.clone());
        match &response.response_type {
            Some(ResponseType::ResultComplete(_)) => return self.release(),
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

/// Sends the plan, or comes back for the rest of its results.
async fn open(
    transport: &Transport,
    request: &mut proto::ExecutePlanRequest,
    sent: &mut bool,
    reattachable: bool,
    last_response: &Option<String>,
) -> Result<Streaming<proto::ExecutePlanResponse>, Failure> {
    let mut stub = transport.stub();
    let opened = if *sent && reattachable {
        let reattach = proto::ReattachExecuteRequest {
            session_id: request.session_id.clone(),
            client_observed_server_side_session_id: transport.observed_session(),
            user_context: request.user_context.clone(),
            operation_id: request.operation_id.clone().unwrap_or_default(),
            client_type: request.client_type.clone(),
            last_response_id: last_response.clone(),
        };
        stub.reattach_execute(transport.request(reattach)).await
    } else {
        *sent = true;
        request.client_observed_server_side_session_id = transport.observed_session();
        stub.execute_plan(transport.request(copied(request))).await
    };
    opened.map(tonic::Response::into_inner).map_err(Failure::new)
}
