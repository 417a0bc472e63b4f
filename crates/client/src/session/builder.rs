//! What a new session shall be like.

use super::SparkSession;
use crate::error::Result;
use crate::retry::RetryPolicy;
use crate::transport::{Options, Transport};
use crate::{Connection, progress};
use std::time::Duration;
use uuid::Uuid;

/// Builds a [`SparkSession`].
///
/// ```no_run
/// use firesteel_client::{RetryPolicy, SparkSession};
/// use std::time::Duration;
/// # async fn run() -> firesteel_client::Result<()> {
/// let spark = SparkSession::builder()
///     .remote("sc://db.example/;use_ssl=true")
///     .token("secret")
///     .config("spark.sql.session.timeZone", "UTC")
///     .deadline(Duration::from_secs(600))
///     .connect()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct SparkSessionBuilder {
    url: Option<String>,
    changes: Connection,
    configs: Vec<(String, String)>,
    options: Options,
    quiet: bool,
}

impl std::fmt::Debug for SparkSessionBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparkSessionBuilder").field("connection", &self.changes).finish_non_exhaustive()
    }
}

impl SparkSessionBuilder {
    /// The server's connection string; else it is `SPARK_REMOTE` of the environment, else `sc://localhost`.
    pub fn remote(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// The bearer token; else it is `SPARK_CONNECT_AUTHENTICATE_TOKEN` of the environment.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.changes.token = Some(token.into());
        self
    }

    /// Speaks TLS.
    pub fn use_ssl(mut self) -> Self {
        self.changes.use_ssl = true;
        self
    }

    /// Trusts the certificates of an authority (PEM) beside the machine's own; speaks TLS.
    pub fn certificate_authority(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.options.certificate_authority = Some(pem.into());
        self.use_ssl()
    }

    /// Shows a certificate of one's own (PEM, with its key) to the server; speaks TLS.
    pub fn identity(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.options.identity = Some((certificate.into(), key.into()));
        self.use_ssl()
    }

    /// The name that the server's certificate must have, where it differs from the host's.
    pub fn domain_name(mut self, name: impl Into<String>) -> Self {
        self.options.domain_name = Some(name.into());
        self
    }

    /// As whom to work; else it is `USER` of the environment.
    pub fn user_id(mut self, user: impl Into<String>) -> Self {
        self.changes.user_id = Some(user.into());
        self
    }

    /// Joins or makes the session of an id.
    pub fn session_id(mut self, id: Uuid) -> Self {
        self.changes.session_id = Some(id);
        self
    }

    /// Names the program in the server's records; else it is `SPARK_CONNECT_USER_AGENT` of the environment.
    pub fn user_agent(mut self, agent: impl Into<String>) -> Self {
        self.changes.user_agent = Some(agent.into());
        self
    }

    /// A gRPC header of every request.
    pub fn header(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.changes.headers.push((key.into(), value.into()));
        self
    }

    /// A setting of the session; what the server refuses is left as it is, and [told](SparkSession::warnings).
    pub fn config(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.configs.push((key.into(), value.into()));
        self
    }

    /// The name of the application.
    pub fn app_name(self, name: impl Into<String>) -> Self {
        self.config("spark.app.name", name)
    }

    /// When to try again, in the place of the default policy.
    pub fn retry_policy(self, policy: RetryPolicy) -> Self {
        self.retry_policies([policy])
    }

    /// When to try again: the first policy that is for a failure, and has tries left, says how long to wait.
    pub fn retry_policies(mut self, policies: impl IntoIterator<Item = RetryPolicy>) -> Self {
        self.options.retries = policies.into_iter().collect();
        self
    }

    /// The time that an operation may take; after it the operation is cancelled.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.options.deadline = Some(limit);
        self
    }

    /// The time that a connection may take to be made.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.options.connect_timeout = Some(limit);
        self
    }

    /// Runs operations so that they end with their connection, which saves a request for each.
    pub fn without_reattach(mut self) -> Self {
        self.options.detached = true;
        self
    }

    /// Shows no progress bar.
    pub fn without_progress_bar(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// The connection that the builder describes.
    fn connection(&self) -> Result<Connection> {
        let url =
            self.url.clone().or_else(|| set_variable("SPARK_REMOTE")).unwrap_or_else(|| "sc://localhost".to_string());
        let mut connection: Connection = url.parse()?;
        let changes = self.changes.clone();
        connection.use_ssl |= changes.use_ssl;
        connection.token =
            changes.token.or(connection.token).or_else(|| set_variable("SPARK_CONNECT_AUTHENTICATE_TOKEN"));
        connection.user_id = changes.user_id.or(connection.user_id);
        connection.session_id = changes.session_id.or(connection.session_id);
        connection.user_agent = changes.user_agent.or(connection.user_agent);
        connection.headers.extend(changes.headers);
        Ok(connection)
    }

    /// Connects, and sets the session's settings.
    ///
    /// A server that cannot be reached is an error at once; later, a lost
    /// connection is made again as the retry policy says.
    pub async fn connect(self) -> Result<SparkSession> {
        let transport = Transport::connect(self.connection()?, self.options).await?;
        if !self.quiet
            && let Some(bar) = progress::bar()
        {
            transport.progress.add(bar);
        }
        let session = SparkSession::over(transport);
        if !self.configs.is_empty() {
            let warnings = session.conf().set_all_silently(self.configs).await?;
            let _ = session.transport.warnings.set(warnings);
        }
        Ok(session)
    }
}

fn set_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
