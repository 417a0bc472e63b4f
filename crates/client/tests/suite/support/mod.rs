//! What the tests share: a server, and sessions on it.

pub mod frames;
pub mod proxy;

use firesteel_client::doc_server::Server;
use firesteel_client::{Result, RetryPolicy, SparkSession};
use std::sync::OnceLock;
use std::time::Duration;

/// The server that all tests of a process share; the one of `FIRESTEEL_TEST_URL`, or a new one.
pub fn server() -> &'static Server {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let server = Server::find();
        if let Some(server) = &server
            && let Some(pid) = server.pid()
        {
            stop_with_us(pid);
        }
        server
    });
    server.as_ref().expect("a server: build the binary, or set FIRESTEEL_TEST_URL")
}

/// Statics are never dropped, so that a child of ours watches for our end and stops the server then.
fn stop_with_us(server: u32) {
    let script = format!("while kill -0 {} 2>/dev/null; do sleep 0.2; done; kill {server}", std::process::id());
    let _ = std::process::Command::new("sh").args(["-c", &script]).spawn();
}

pub async fn session() -> SparkSession {
    connect(server().url()).await
}

pub async fn connect(url: &str) -> SparkSession {
    SparkSession::builder().remote(url).without_progress_bar().connect().await.unwrap()
}

/// A session that tries again at once, for tests that break connections.
pub async fn stubborn(url: &str) -> Result<SparkSession> {
    let policy =
        RetryPolicy { initial_backoff: Duration::from_millis(10), backoff_multiplier: 1.5, ..RetryPolicy::default() };
    SparkSession::builder().remote(url).retry_policy(policy).without_progress_bar().connect().await
}
