//! The server: a listener, its runtimes, and the way down.

use crate::auth::BearerToken;
use crate::limits::Limits;
use crate::service::SparkConnect;
use crate::sessions::SessionManager;
use firesteel_config::ServerConfig;
use firesteel_engine::Engine;
use firesteel_error::SparkError;
use firesteel_proto::FILE_DESCRIPTOR_SET;
use firesteel_proto::connect::spark_connect_service_server::SparkConnectServiceServer;
use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::CancellationToken;
use tonic::codec::CompressionEncoding;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, ServerTlsConfig};

/// Stack of threads that run queries and handle calls: plans may nest deep.
pub const STACK: usize = 64 * 1024 * 1024;

/// Bytes a client may send before it waits for us: plans and artifacts come in large messages.
const STREAM_WINDOW: u32 = 8 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;
const FRAME: u32 = 1024 * 1024;

/// How long sessions have to let go of what they hold at the end.
const CLOSING: Duration = Duration::from_secs(10);
/// Time that streams have to end when the server goes down.
const FAREWELL: Duration = Duration::from_secs(4);

/// Time that clients have to hear why their operations ended: they ask for it in calls of their own.
const EXPLANATION: Duration = Duration::from_secs(1);

/// A certificate and its private key, as PEM text.
#[derive(Clone)]
pub struct Tls {
    /// The chain of certificates.
    pub certificate: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

/// How a server is set up.
pub struct ServerBuilder {
    engine: Arc<Engine>,
    address: SocketAddr,
    tls: Option<Tls>,
    token: Option<String>,
    limits: Option<Limits>,
}

impl ServerBuilder {
    /// Where to listen; port 0 picks a free one. Default: 127.0.0.1:15002.
    #[must_use]
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    /// Encrypts all connections.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Admits only calls that carry this token.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Other limits than the engine's settings say.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Binds the address. Clients can connect, but are served from [`Server::serve`] on.
    pub async fn bind(self) -> io::Result<Server> {
        let options = self.engine.options();
        let limits = match self.limits {
            Some(limits) => limits,
            None => Limits::new(&ServerConfig::new(options.configuration.iter().cloned()).map_err(invalid)?),
        };
        let cores = options.cores.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
        let queries = Builder::new_multi_thread()
            .worker_threads(cores.max(1))
            .thread_stack_size(STACK)
            .thread_name("query")
            .enable_all()
            .build()?;
        let queries = QueryRuntime(Some(queries));
        let listener = TcpListener::bind(self.address).await?;
        let address = listener.local_addr()?;
        if self.tls.is_none() && self.token.is_none() {
            self.engine.set_client_address(address);
        }
        Ok(Server {
            address,
            listener,
            tls: self.tls,
            token: self.token,
            sessions: Arc::new(SessionManager::new(self.engine, Arc::new(limits))),
            queries,
        })
    }
}

fn invalid(error: SparkError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
}

/// The runtime of the queries. It may be dropped anywhere: its threads end by themselves.
struct QueryRuntime(Option<Runtime>);

impl QueryRuntime {
    fn handle(&self) -> io::Result<Handle> {
        let runtime = self.0.as_ref().ok_or_else(|| io::Error::other("the runtime of the queries is gone"))?;
        Ok(runtime.handle().clone())
    }
}

impl Drop for QueryRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A bound server.
pub struct Server {
    address: SocketAddr,
    listener: TcpListener,
    tls: Option<Tls>,
    token: Option<String>,
    sessions: Arc<SessionManager>,
    queries: QueryRuntime,
}

impl Server {
    /// A server for an engine.
    pub fn builder(engine: Arc<Engine>) -> ServerBuilder {
        let address = SocketAddr::from(([127, 0, 0, 1], 15002));
        ServerBuilder { engine, address, tls: None, token: None, limits: None }
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The sessions.
    pub fn sessions(&self) -> &Arc<SessionManager> {
        &self.sessions
    }

    /// Serves until `shutdown` is ready, then ends running operations, and returns within seconds.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (closing, ending) = (CancellationToken::new(), CancellationToken::new());
        let limits = self.sessions.limits().clone();
        let auth = BearerToken::new(self.token.as_deref());

        let service = SparkConnect::new(self.sessions.clone(), self.queries.handle()?, closing.clone());
        let service = SparkConnectServiceServer::new(service)
            .max_decoding_message_size(limits.message_size)
            .max_encoding_message_size(usize::MAX)
            .accept_compressed(CompressionEncoding::Gzip)
            .accept_compressed(CompressionEncoding::Zstd);
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_serving::<SparkConnectServiceServer<SparkConnect>>().await;
        let reflection =
            || tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET);

        let mut server = tonic::transport::Server::builder()
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_frame_size(FRAME)
            .http2_keepalive_interval(Some(Duration::from_secs(60)))
            .http2_keepalive_timeout(Some(Duration::from_secs(60)))
            // Clients cancel many calls, such as streams that they have read to the end.
            .http2_max_pending_accept_reset_streams(Some(10_000));
        if let Some(tls) = &self.tls {
            let identity = Identity::from_pem(&tls.certificate, &tls.key);
            server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
        }
        let incoming =
            TcpIncoming::from(self.listener).with_nodelay(Some(true)).with_keepalive(Some(Duration::from_secs(60)));
        let serving = server
            .add_service(InterceptedService::new(service, auth.clone()))
            .add_service(health_service)
            .add_service(InterceptedService::new(reflection().build_v1()?, auth.clone()))
            .add_service(InterceptedService::new(reflection().build_v1alpha()?, auth))
            .serve_with_incoming_shutdown(incoming, ending.clone().cancelled_owned());

        let housekeeping = housekeeping(self.sessions.clone(), closing.clone());
        let stopping = async {
            shutdown.await;
            tracing::info!("shutting down");
            closing.cancel();
            if self.sessions.cancel_all() > 0 {
                tokio::time::sleep(EXPLANATION).await;
            }
            ending.cancel();
            tokio::time::sleep(FAREWELL).await;
        };
        let result = tokio::select! {
            result = async { tokio::join!(serving, housekeeping).0 } => result,
            // Clients that keep their streams open do not keep us.
            () = stopping => Ok(()),
        };
        // Something that hangs in a session does not keep the process.
        let sessions = self.sessions.clone();
        let closed = tokio::task::spawn_blocking(move || sessions.close_all());
        if tokio::time::timeout(CLOSING, closed).await.is_err() {
            tracing::warn!("not all sessions could be closed");
        }
        Ok(result?)
    }
}

/// Closes idle sessions and drops abandoned operations from time to time.
async fn housekeeping(sessions: Arc<SessionManager>, closing: CancellationToken) {
    let mut session_check = tokio::time::interval(sessions.limits().session_check);
    let mut operation_check = tokio::time::interval(sessions.limits().operation_check);
    loop {
        tokio::select! {
            () = closing.cancelled() => return,
            _ = session_check.tick() => sessions.expire_idle(),
            _ = operation_check.tick() => sessions.drop_abandoned_operations(),
        }
    }
}
