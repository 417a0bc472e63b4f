//! The bounds of the service, read once from the server's settings.

use firesteel_config::{Reader, ServerConfig, keys};
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
        let timeout = config.integer(keys::SESSION_TIMEOUT);
        Self {
            session_timeout: u64::try_from(timeout).ok().map(Duration::from_millis),
            session_check: interval(keys::SESSION_MAINTENANCE_INTERVAL),
            session_tombstones: config.count(keys::SESSION_TOMBSTONES),
            detached_timeout: time(keys::OPERATION_DETACHED_TIMEOUT),
            operation_check: interval(keys::OPERATION_MAINTENANCE_INTERVAL),
            operation_tombstones: config.count(keys::OPERATION_TOMBSTONES),
            status_expiry: minutes(config, keys::OPERATION_CACHE_EXPIRATION),
            stream_duration: Some(time(keys::MAX_STREAM_DURATION)).filter(|span| !span.is_zero()),
            stream_size: Some(config.count(keys::MAX_STREAM_SIZE)).filter(|bytes| *bytes > 0),
            retry_buffer: config.count(keys::RETRY_BUFFER_SIZE),
            ahead_buffer: AHEAD,
            message_size: config.count(keys::MAX_INBOUND_MESSAGE_SIZE).max(64 * 1024),
            batch_size: config.count(keys::MAX_BATCH_SIZE),
            metadata_size: config.count(keys::MAX_METADATA_SIZE),
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
