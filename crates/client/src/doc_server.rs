//! A server for the examples of the documentation and for tests.
//!
//! `FIRESTEEL_TEST_URL` names a server that runs; else the binary of
//! `FIRESTEEL_BIN`, or of the release build, is started. Without either the
//! examples are only compiled.

use crate::{Result, SparkSession};
use std::future::Future;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server process that ends with this value.
pub struct Server {
    process: Option<Child>,
    url: String,
}

impl Server {
    /// The server to test with, or None if there is none.
    pub fn find() -> Option<Self> {
        match std::env::var("FIRESTEEL_TEST_URL") {
            Ok(url) if !url.is_empty() => Some(Server { process: None, url }),
            _ => Self::start(&[]),
        }
    }

    /// A new server on a free port, with more arguments.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let mut process = Command::new(binary()?)
            .arg("server")
            .args(if arguments.contains(&"--port") { &[][..] } else { &["--port", "0"][..] })
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let lines = BufReader::new(process.stdout.take()?).lines();
        let url = lines.map_while(std::result::Result::ok).find_map(|line| {
            let start = line.find("sc://")?;
            line[start..].split_whitespace().next().map(str::to_string)
        });
        let mut server = Server { process: Some(process), url: String::new() };
        server.url = url?;
        Some(server)
    }

    /// The connection string.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the process is ours to stop.
    pub fn is_own(&self) -> bool {
        self.process.is_some()
    }

    /// The process, if it is ours.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Stops the server at once, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // A process that is gone already is as good.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The binary of the server, if there is one.
fn binary() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("FIRESTEEL_BIN") {
        return Some(PathBuf::from(path));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")));
    Some(target.join("release/firesteel")).filter(|path| path.is_file())
}

/// Runs an example with a session.
pub fn doc_test<F: Future<Output = Result<()>>>(example: impl FnOnce(SparkSession) -> F) {
    let Some(server) = Server::find() else {
        return;
    };
    let outcome = tokio::runtime::Runtime::new().map_err(crate::Error::Io).and_then(|runtime| {
        runtime.block_on(async {
            let spark = SparkSession::builder().remote(server.url()).without_progress_bar().connect().await?;
            example(spark.clone()).await?;
            spark.stop().await
        })
    });
    expect(outcome);
}

/// Runs an example with the connection string of a server.
pub fn doc_test_url(example: impl FnOnce(&str) -> Result<()>) {
    if let Some(server) = Server::find() {
        expect(example(server.url()));
    }
}

/// Ends the process of an example that failed.
fn expect(outcome: Result<()>) {
    if let Err(error) = outcome {
        eprintln!("{error:#?}");
        std::process::exit(1);
    }
}
