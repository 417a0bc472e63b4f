//! The twelve calls of Spark Connect.

use crate::artifacts::{self, Upload};
use crate::operations::{Admission, Delivery};
use crate::sessions::{ServerSession, SessionKey, SessionManager};
use crate::{analyze, config_rpc, errors, interrupt, run, status, stream};
use firesteel_error::{ExceptionClass, SparkError};
use firesteel_proto::connect as proto;
use futures::FutureExt;
use futures::stream::BoxStream;
use proto::execute_plan_request::{RequestOption, request_option};
use proto::release_execute_request::Release;
use proto::spark_connect_service_server::SparkConnectService;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

/// The service: sessions, and the runtime that queries run on.
pub struct SparkConnect {
    sessions: Arc<SessionManager>,
    queries: Handle,
    /// Cancelled when the server goes down.
    closing: CancellationToken,
}

type Answer<T> = Result<Response<T>, Status>;
type Responses = BoxStream<'static, Result<proto::ExecutePlanResponse, Status>>;

fn key(user: Option<proto::UserContext>, session_id: String) -> SessionKey {
    SessionKey { user_id: user.map(|user| user.user_id).unwrap_or_default(), session_id }
}

impl SparkConnect {
    /// A service that runs queries on the given runtime.
    pub fn new(sessions: Arc<SessionManager>, queries: Handle, closing: CancellationToken) -> Self {
        Self { sessions, queries, closing }
    }

    fn session(
        &self,
        user: Option<proto::UserContext>,
        session_id: String,
        observed: Option<&str>,
    ) -> Result<Arc<ServerSession>, Status> {
        if self.closing.is_cancelled() {
            return self.existing(user, session_id, observed);
        }
        self.sessions.get_or_create(key(user, session_id), observed)
    }

    fn existing(
        &self,
        user: Option<proto::UserContext>,
        session_id: String,
        observed: Option<&str>,
    ) -> Result<Arc<ServerSession>, Status> {
        self.sessions.get(&key(user, session_id), observed)
    }

    /// Fails where the server goes down: it takes no work any more, but answers what clients ask about their own.
    fn check_open(&self) -> Result<(), Status> {
        if self.closing.is_cancelled() { Err(Status::unavailable("the server is shutting down")) } else { Ok(()) }
    }

    /// A panic in a call fails that call only.
    async fn guarded<T>(&self, call: impl Future<Output = Answer<T>>) -> Answer<T> {
        match AssertUnwindSafe(call).catch_unwind().await {
            Ok(answer) => answer,
            Err(payload) => Err(self.sessions.status(&errors::panicked(payload.as_ref()))),
        }
    }

    async fn analyze(&self, request: proto::AnalyzePlanRequest) -> Answer<proto::AnalyzePlanResponse> {
        self.check_open()?;
        let observed = request.client_observed_server_side_session_id.as_deref();
        let session = self.session(request.user_context, request.session_id, observed)?;
        // The client may go away meanwhile: then nobody waits for the answer.
        let question = analyze::analyze(session.clone(), request.analyze);
        let mut task = Attended(self.queries.spawn(AssertUnwindSafe(question).catch_unwind()));
        let result = match (&mut task.0).await {
            Ok(Ok(result)) => result,
            Ok(Err(payload)) => Err(errors::panicked(payload.as_ref())),
            Err(error) if error.is_cancelled() => Err(SparkError::new("OPERATION_CANCELED")),
            Err(error) => Err(SparkError::internal(error.to_string())),
        };
        let result = result.map_err(|error| session.status(&error))?;
        Ok(Response::new(proto::AnalyzePlanResponse {
            session_id: session.key.session_id.clone(),
            server_side_session_id: session.server_side_id.clone(),
            result: Some(result),
        }))
    }

    async fn execute(&self, request: proto::ExecutePlanRequest) -> Answer<Responses> {
        self.check_open()?;
        let observed = request.client_observed_server_side_session_id.as_deref();
        let session = self.session(request.user_context, request.session_id, observed)?;
        let plan = Arc::new(request.plan.unwrap_or_default());
        let delivery = delivery(&request.request_options);
        let admission = session
            .operations
            .admit(request.operation_id, request.tags, plan.clone(), delivery)
            .map_err(|error| session.status(&error))?;
        let (operation, consumer) = match admission {
            Admission::Attached(operation, consumer) => (operation, consumer),
            Admission::Started(operation, consumer) => {
                self.queries.spawn(run::run(session.clone(), operation.clone(), plan));
                (operation, consumer)
            }
        };
        Ok(Response::new(stream::responses(session, operation, consumer)))
    }

    async fn reattach(&self, request: proto::ReattachExecuteRequest) -> Answer<Responses> {
        let observed = request.client_observed_server_side_session_id.as_deref();
        let session = self.existing(request.user_context, request.session_id, observed)?;
        let (operation, consumer) = session
            .operations
            .reattach(&request.operation_id, request.last_response_id.as_deref())
            .map_err(|error| session.status(&error))?;
        Ok(Response::new(stream::responses(session, operation, consumer)))
    }

    async fn release(&self, request: proto::ReleaseExecuteRequest) -> Answer<proto::ReleaseExecuteResponse> {
        let observed = request.client_observed_server_side_session_id.as_deref();
        let session = self.existing(request.user_context, request.session_id, observed)?;
        let operation = session.operations.get(&request.operation_id);
        let result = match (&request.release, operation) {
            (None, _) => Err(SparkError::plain(ExceptionClass::UnsupportedOperation, "Unknown ReleaseExecute type!")),
            (_, None) => Ok(None),
            (_, Some(operation)) if !operation.delivery.is_reattachable => {
                Err(SparkError::new("INVALID_CURSOR.NOT_REATTACHABLE"))
            }
            (Some(Release::ReleaseAll(_)), Some(operation)) => {
                session.operations.release(&operation.id);
                Ok(Some(operation.id.clone()))
            }
            (Some(Release::ReleaseUntil(until)), Some(operation)) => {
                operation.buffer.release_until(&until.response_id).map(|()| Some(operation.id.clone()))
            }
        };
        let operation_id = result.map_err(|error| session.status(&error))?;
        Ok(Response::new(proto::ReleaseExecuteResponse {
            session_id: session.key.session_id.clone(),
            server_side_session_id: session.server_side_id.clone(),
            operation_id,
        }))
    }

    async fn upload(&self, mut requests: Streaming<proto::AddArtifactsRequest>) -> Answer<proto::AddArtifactsResponse> {
        let Some(first) = requests.message().await? else {
            return Err(Status::unknown("the stream of artifacts is empty"));
        };
        let observed = first.client_observed_server_side_session_id.as_deref();
        self.check_open()?;
        let session = self.session(first.user_context, first.session_id, observed)?;
        let to_status = |error: SparkError| session.status(&error);
        let mut upload = Upload::new(&session).map_err(to_status)?;
        upload.receive(first.payload).map_err(to_status)?;
        while let Some(request) = requests.message().await? {
            upload.receive(request.payload).map_err(to_status)?;
        }
        Ok(Response::new(proto::AddArtifactsResponse {
            session_id: session.key.session_id.clone(),
            server_side_session_id: session.server_side_id.clone(),
            artifacts: upload.complete().map_err(to_status)?,
        }))
    }

    async fn fetch_error(&self, request: proto::FetchErrorDetailsRequest) -> Answer<proto::FetchErrorDetailsResponse> {
        let session = self.sessions.peek(&key(request.user_context, request.session_id));
        let session = session.map_err(|error| self.sessions.status(&error))?;
        let error = session.and_then(|session| session.errors.take(&request.error_id));
        let (root_error_idx, errors) =
            error.map(|error| errors::fetch(&error, request.client_type.as_deref())).unwrap_or_default();
        Ok(Response::new(proto::FetchErrorDetailsResponse { root_error_idx, errors, ..Default::default() }))
    }
}

/// A task that ends with the call that waits for it.
struct Attended<T>(JoinHandle<T>);

impl<T> Drop for Attended<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What the options of a request say; unknown ones say nothing.
fn delivery(options: &[RequestOption]) -> Delivery {
    let mut delivery = Delivery::default();
    for option in options {
        match &option.request_option {
            Some(request_option::RequestOption::ReattachOptions(reattach)) => {
                delivery.is_reattachable = reattach.reattachable;
            }
            Some(request_option::RequestOption::ResultChunkingOptions(chunking)) => {
                delivery.chunking = chunking.allow_arrow_batch_chunking.then_some(chunking.preferred_arrow_chunk_size);
            }
            Some(request_option::RequestOption::Extension(_)) | None => {}
        }
    }
    delivery
}

#[tonic::async_trait]
impl SparkConnectService for SparkConnect {
    type ExecutePlanStream = Responses;
    type ReattachExecuteStream = Responses;

    async fn execute_plan(&self, request: Request<proto::ExecutePlanRequest>) -> Answer<Responses> {
        self.guarded(self.execute(request.into_inner())).await
    }

    async fn analyze_plan(&self, request: Request<proto::AnalyzePlanRequest>) -> Answer<proto::AnalyzePlanResponse> {
        self.guarded(self.analyze(request.into_inner())).await
    }

    async fn config(&self, request: Request<proto::ConfigRequest>) -> Answer<proto::ConfigResponse> {
        let request = request.into_inner();
        self.guarded(async {
            let observed = request.client_observed_server_side_session_id.as_deref();
            let session = self.session(request.user_context, request.session_id, observed)?;
            let answer = config_rpc::apply(&session, request.operation.as_ref());
            let answer = answer.map_err(|error| session.status(&error))?;
            Ok(Response::new(proto::ConfigResponse {
                session_id: session.key.session_id.clone(),
                server_side_session_id: session.server_side_id.clone(),
                pairs: answer.pairs,
                warnings: answer.warnings,
            }))
        })
        .await
    }

    async fn add_artifacts(
        &self,
        request: Request<Streaming<proto::AddArtifactsRequest>>,
    ) -> Answer<proto::AddArtifactsResponse> {
        self.guarded(self.upload(request.into_inner())).await
    }

    async fn artifact_status(
        &self,
        request: Request<proto::ArtifactStatusesRequest>,
    ) -> Answer<proto::ArtifactStatusesResponse> {
        let request = request.into_inner();
        let observed = request.client_observed_server_side_session_id.as_deref();
        let session = self.session(request.user_context, request.session_id, observed)?;
        Ok(Response::new(proto::ArtifactStatusesResponse {
            session_id: session.key.session_id.clone(),
            server_side_session_id: session.server_side_id.clone(),
            statuses: artifacts::statuses(&session, &request.names),
        }))
    }

    async fn interrupt(&self, request: Request<proto::InterruptRequest>) -> Answer<proto::InterruptResponse> {
        let mut request = request.into_inner();
        let observed = request.client_observed_server_side_session_id.take();
        let session =
            self.session(request.user_context.take(), std::mem::take(&mut request.session_id), observed.as_deref())?;
        let interrupted_ids = interrupt::interrupt(&session, &request).map_err(|error| session.status(&error))?;
        Ok(Response::new(proto::InterruptResponse {
            session_id: session.key.session_id.clone(),
            server_side_session_id: session.server_side_id.clone(),
            interrupted_ids,
        }))
    }

    async fn reattach_execute(&self, request: Request<proto::ReattachExecuteRequest>) -> Answer<Responses> {
        self.guarded(self.reattach(request.into_inner())).await
    }

    async fn release_execute(
        &self,
        request: Request<proto::ReleaseExecuteRequest>,
    ) -> Answer<proto::ReleaseExecuteResponse> {
        self.guarded(self.release(request.into_inner())).await
    }

    async fn release_session(
        &self,
        request: Request<proto::ReleaseSessionRequest>,
    ) -> Answer<proto::ReleaseSessionResponse> {
        let request = request.into_inner();
        let key = key(request.user_context, request.session_id);
        let session = self.sessions.release(&key, request.allow_reconnect)?;
        Ok(Response::new(proto::ReleaseSessionResponse {
            session_id: key.session_id,
            server_side_session_id: session.map(|session| session.server_side_id.clone()).unwrap_or_default(),
        }))
    }

    async fn fetch_error_details(
        &self,
        request: Request<proto::FetchErrorDetailsRequest>,
    ) -> Answer<proto::FetchErrorDetailsResponse> {
        self.guarded(self.fetch_error(request.into_inner())).await
    }

    async fn clone_session(&self, request: Request<proto::CloneSessionRequest>) -> Answer<proto::CloneSessionResponse> {
        let request = request.into_inner();
        self.guarded(async {
            let observed = request.client_observed_server_side_session_id.as_deref();
            let session = self.existing(request.user_context, request.session_id, observed)?;
            let copy = self.sessions.clone_session(&session, request.new_session_id);
            let copy = copy.map_err(|error| session.status(&error))?;
            Ok(Response::new(proto::CloneSessionResponse {
                session_id: session.key.session_id.clone(),
                server_side_session_id: session.server_side_id.clone(),
                new_session_id: copy.key.session_id.clone(),
                new_server_side_session_id: copy.server_side_id.clone(),
            }))
        })
        .await
    }

    async fn get_status(&self, request: Request<proto::GetStatusRequest>) -> Answer<proto::GetStatusResponse> {
        let request = request.into_inner();
        let observed = request.client_observed_server_side_session_id.as_deref();
        let session = self.existing(request.user_context, request.session_id, observed)?;
        Ok(Response::new(proto::GetStatusResponse {
            session_id: session.key.session_id.clone(),
            server_side_session_id: session.server_side_id.clone(),
            operation_statuses: status::statuses(&session, request.operation_status.as_ref()),
            extensions: Vec::new(),
        }))
    }
}
