//! Requests of one session: headers, ids, retries, errors with their details.

use crate::Connection;
use crate::error::{Error, Failure, Result};
use crate::observation::Observations;
use crate::progress::ProgressHandlers;
use crate::retry::{Retries, RetryPolicies};
use firesteel_proto::connect as proto;
use proto::spark_connect_service_client::SparkConnectServiceClient;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tonic::client::Grpc;
use tonic::metadata::{Ascii, MetadataKey, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Response, Status};
use uuid::Uuid;

pub(crate) type Stub = SparkConnectServiceClient<Channel>;

/// Largest message in either direction, as servers have it.
const MAX_MESSAGE_SIZE: usize = 128 * 1024 * 1024;
/// Room for results in flight; the protocol's default of 64 KiB starves fast links.
const STREAM_WINDOW: u32 = 8 * 1024 * 1024;
/// Large results in few frames.
const FRAME: u32 = 1024 * 1024;

/// What the builder of a session says beyond its connection string.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub(crate) retries: RetryPolicies,
    pub(crate) deadline: Option<Duration>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) detached: bool,
    pub(crate) certificate_authority: Option<Vec<u8>>,
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
    pub(crate) domain_name: Option<String>,
}

/// The state that all requests of a session share.
pub(crate) struct Transport {
    stub: Stub,
    grpc: Grpc<Channel>,
    headers: Vec<(MetadataKey<Ascii>, MetadataValue<Ascii>)>,
    user: proto::UserContext,
    client_type: String,
    pub(crate) session_id: String,
    server_session: OnceLock<String>,
    stopped: AtomicBool,
    pub(crate) options: Options,
    tags: Mutex<BTreeSet<String>>,
    /// What the server said about the builder's settings.
    pub(crate) warnings: OnceLock<Vec<String>>,
    pub(crate) progress: ProgressHandlers,
    pub(crate) observations: Observations,
    pub(crate) connection: Connection,
    /// Where background work runs.
    pub(crate) runtime: Handle,
}

impl Transport {
    pub(crate) async fn connect(connection: Connection, options: Options) -> Result<Self> {
        let runtime = Handle::try_current();
        let runtime = runtime.map_err(|_| Error::Connect("a Tokio runtime is needed".to_string()))?;
        let channel = channel(&connection, &options).await?;
        let largest = connection.max_message_size.unwrap_or(MAX_MESSAGE_SIZE);
        let grpc = Grpc::new(channel.clone()).max_decoding_message_size(largest).max_encoding_message_size(usize::MAX);
        let stub = Stub::new(channel).max_decoding_message_size(largest).max_encoding_message_size(usize::MAX);
        Self::over(stub, grpc, connection, options, runtime)
    }

    /// The same connection, for another session.
    pub(crate) fn sibling(&self, session_id: Uuid) -> Result<Self> {
        let connection = Connection { session_id: Some(session_id), ..self.connection.clone() };
        Self::over(self.stub.clone(), self.grpc.clone(), connection, self.options.clone(), self.runtime.clone())
    }

    fn over(
        stub: Stub,
        grpc: Grpc<Channel>,
        connection: Connection,
        options: Options,
        runtime: Handle,
    ) -> Result<Self> {
        let mut headers = Vec::new();
        for (key, value) in &connection.headers {
            headers.push(header(key, value)?);
        }
        if let Some(token) = &connection.token {
            headers.push(header("authorization", &format!("Bearer {token}"))?);
        }
        let user = connection.user_id.clone().or_else(|| std::env::var("USER").ok()).unwrap_or_default();
        let agent = connection.user_agent.clone().or_else(|| std::env::var("SPARK_CONNECT_USER_AGENT").ok());
        let agent = agent.as_deref().unwrap_or("firesteel-client");
        Ok(Transport {
            stub,
            grpc,
            headers,
            user: proto::UserContext { user_id: user.clone(), user_name: user, extensions: Vec::new() },
            client_type: format!("{agent} firesteel/{} os/{}", env!("CARGO_PKG_VERSION"), std::env::consts::OS),
            session_id: connection.session_id.unwrap_or_else(Uuid::new_v4).to_string(),
            server_session: OnceLock::new(),
            stopped: AtomicBool::new(false),
            options,
            tags: Mutex::default(),
            warnings: OnceLock::new(),
            progress: ProgressHandlers::default(),
            observations: Observations::default(),
            connection,
            runtime,
        })
    }

    pub(crate) fn user(&self) -> Option<proto::UserContext> {
        Some(self.user.clone())
    }

    pub(crate) fn client_type(&self) -> Option<String> {
        Some(self.client_type.clone())
    }

    /// The server's id of the session, once it has answered.
    pub(crate) fn observed_session(&self) -> Option<String> {
        self.server_session.get().cloned()
    }

    pub(crate) fn tags(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.tags.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stop(&self) -> bool {
        !self.stopped.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// A request with the session's headers.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        for (key, value) in &self.headers {
            request.metadata_mut().insert(key.clone(), value.clone());
        }
        request
    }

    /// For calls with [encoded](crate::encoded) requests.
    pub(crate) fn grpc(&self) -> Grpc<Channel> {
        self.grpc.clone()
    }

    pub(crate) fn stub(&self) -> Stub {
        self.stub.clone()
    }

    /// A call with one answer, tried again as the policy says.
    pub(crate) async fn call<Q, R, F>(&self, message: Q, method: impl Fn(Stub, Request<Q>) -> F) -> Result<R>
    where
        Q: Clone,
        R: Answer,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        if self.is_stopped() {
            return Err(Error::SessionStopped);
        }
        let mut retries = Retries::new(&self.options.retries);
        loop {
            match method(self.stub(), self.request(message.clone())).await {
                Ok(answer) => {
                    let answer = answer.into_inner();
                    self.verify(answer.session_id(), answer.server_session_id())?;
                    return Ok(answer);
                }
                Err(status) => {
                    let failure = Failure::new(status);
                    if !retries.pause(&failure).await {
                        return Err(self.explain(failure).await);
                    }
                }
            }
        }
    }

    /// Checks that an answer is this session's, on the server we began with.
    pub(crate) fn verify(&self, session: &str, server_session: &str) -> Result<()> {
        if session != self.session_id {
            return Err(Error::protocol(format!("an answer for session {session}, not {}", self.session_id)));
        }
        if server_session.is_empty() {
            return Ok(());
        }
        let known = self.server_session.get_or_init(|| server_session.to_string());
        if known == server_session {
            return Ok(());
        }
        self.stop();
        Err(Error::SessionChanged(format!("it was {known} and is {server_session} now; connect again")))
    }

    /// The error of a failed call, with what the server knows about it.
    pub(crate) async fn explain(&self, failure: Failure) -> Error {
        let details = match failure.error_id() {
            Some(id) => self.details(id.to_string()).await,
            None => None,
        };
        let error = failure.into_error(details);
        if matches!(error, Error::SessionChanged(_)) {
            self.stop();
        }
        error
    }

    async fn details(&self, error_id: String) -> Option<proto::FetchErrorDetailsResponse> {
        let request = proto::FetchErrorDetailsRequest {
            session_id: self.session_id.clone(),
            client_observed_server_side_session_id: self.observed_session(),
            user_context: self.user(),
            error_id,
            client_type: self.client_type(),
        };
        // The status tells the failure too, only shorter.
        self.stub().fetch_error_details(self.request(request)).await.ok().map(Response::into_inner)
    }
}

async fn channel(connection: &Connection, options: &Options) -> Result<Channel> {
    let scheme = if connection.is_secure() { "https" } else { "http" };
    let connect = |error: tonic::transport::Error| Error::Connect(innermost(&error));
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{}", connection.authority))
        .map_err(connect)?
        .tcp_nodelay(true)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(2 * STREAM_WINDOW)
        .max_frame_size(FRAME)
        .http2_keep_alive_interval(Duration::from_secs(60))
        .keep_alive_timeout(Duration::from_secs(60))
        .connect_timeout(options.connect_timeout.unwrap_or(Duration::from_secs(20)));
    if connection.is_secure() {
        let mut tls = ClientTlsConfig::new().with_enabled_roots();
        if let Some(pem) = &options.certificate_authority {
            tls = tls.ca_certificate(Certificate::from_pem(pem));
        }
        if let Some((certificate, key)) = &options.identity {
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        if let Some(name) = &options.domain_name {
            tls = tls.domain_name(name);
        }
        endpoint = endpoint.tls_config(tls).map_err(connect)?;
    }
    let reached = endpoint.connect().await;
    reached.map_err(|error| Error::Connect(format!("{}: {}", connection.authority, innermost(&error))))
}

fn header(key: &str, value: &str) -> Result<(MetadataKey<Ascii>, MetadataValue<Ascii>)> {
    let name = key.to_ascii_lowercase().parse();
    let name = name.map_err(|_| Error::invalid(format!("not the name of a header: {key}")))?;
    let value = value.parse().map_err(|_| Error::invalid(format!("not the value of a header: {key}")))?;
    Ok((name, value))
}

/// The text of the innermost reason.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// An answer that says which session it belongs to.
pub(crate) trait Answer {
    fn session_id(&self) -> &str;
    fn server_session_id(&self) -> &str;
}

macro_rules! answers {
    ($($message:ident),* $(,)?) => {
        $(impl Answer for proto::$message {
            fn session_id(&self) -> &str {
                &self.session_id
            }
            fn server_session_id(&self) -> &str {
                &self.server_side_session_id
            }
        })*
    };
}

answers! {
    AddArtifactsResponse, AnalyzePlanResponse, ArtifactStatusesResponse, CloneSessionResponse, ConfigResponse,
    ExecutePlanResponse, GetStatusResponse, InterruptResponse, ReleaseExecuteResponse, ReleaseSessionResponse,
}
