//! The bounds of the service, read once from the server's settings.

use firesteel_config::{Reader, ServerConfig};
use std::time::Duration;

/// How much the service keeps, for how long.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Idle time after which a session is closed; `None`: never.
    pub session_timeout: Option<Duration>,
    /// How often idle sessions are looked for.
    pub session_check: Duration,
    /// Closed sessions that are remembered.
    pub session_tombstones: usize,
    /// Time without a client after which an operation is dropped.
    pub detached_timeout: Duration,
    /// How often abandoned operations are looked for.
    pub operation_check: Duration,
    /// Dropped operations that are remembered, per session.
    pub operation_tombstones: usize,
    /// How long the states of ended operations are remembered.
    pub status_expiry: Duration,
    /// Time after which a reattachable stream is cut; `None`: never.
    pub stream_duration: Option<Duration>,
    /// Bytes after which a reattachable stream is cut; `None`: never.
    pub stream_size: Option<usize>,
    /// Bytes of sent responses that are kept for clients that come back.
    pub retry_buffer: usize,
    /// Bytes of responses made ahead of the client.
    pub ahead_buffer: usize,
    /// Bytes of a message, in both directions.
    pub message_size: usize,
    /// Bytes of a batch of rows.
    pub batch_size: usize,
    /// Bytes of error details in the trailer.
    pub metadata_size: usize,
    /// Parts of the error's class that are kept.
    pub error_count: usize,
}

/// Responses made ahead of a slow client, in bytes.
const AHEAD: usize = 32 * 1024 * 1024;

/// Errors kept per session until they are fetched.
const ERRORS: usize = 100;

impl Limits {
    /// The limits that the settings say.
    pub fn new(config: &ServerConfig) -> Self {
        let time = |key: &str| Duration::from_millis(u64::try_from(config.integer(key)).unwrap_or_default());
        let interval = |key: &str| time(key).max(Duration::from_millis(10));
        let timeout = config.integer("spark.connect.session.manager.defaultSessionTimeout");
        Self {
            session_timeout: u64::try_from(timeout).ok().map(Duration::from_millis),
            session_check: interval("spark.connect.session.manager.maintenanceInterval"),
            session_tombstones: config.count("spark.connect.session.manager.closedSessionsTombstonesSize"),
            detached_timeout: time("spark.connect.execute.manager.detachedTimeout"),
            operation_check: interval("spark.connect.execute.manager.maintenanceInterval"),
            operation_tombstones: config.count("spark.connect.execute.manager.abandonedTombstonesSize"),
            status_expiry: minutes(config, "spark.connect.session.inactiveOperations.cacheExpiration"),
            stream_duration: Some(time("spark.connect.execute.reattachable.senderMaxStreamDuration"))
                .filter(|span| !span.is_zero()),
            stream_size: Some(config.count("spark.connect.execute.reattachable.senderMaxStreamSize"))
                .filter(|bytes| *bytes > 0),
            retry_buffer: config.count("spark.connect.execute.reattachable.observerRetryBufferSize"),
            ahead_buffer: AHEAD,
            message_size: config.count("spark.connect.grpc.maxInboundMessageSize").max(64 * 1024),
            batch_size: config.count("spark.connect.grpc.arrow.maxBatchSize"),
            metadata_size: config.count("spark.connect.grpc.maxMetadataSize"),
            error_count: ERRORS,
        }
    }
}

/// A span whose key is declared in minutes.
fn minutes(config: &ServerConfig, key: &str) -> Duration {
    Duration::from_secs(60 * u64::try_from(config.integer(key)).unwrap_or_default())
}

impl Default for Limits {
    fn default() -> Self {
        Self::new(&ServerConfig::default())
    }
}
