//! A server for the examples of the documentation and for tests.
//!
//! `FIRESTEEL_TEST_URL` names a server that runs; else the binary of
//! `FIRESTEEL_BIN`, or of the release build, is started. Without either the
//! examples are only compiled.

use crate::{Result, SparkSession};
use std::future::Future;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A server process that ends with this value.
pub struct Server {
    process: Option<Child>,
    /// Stays open, so that the server may write to it.
    _output: Option<BufReader<ChildStdout>>,
    url: String,
}

impl Server {
    /// The server to test with, or None if there is none.
    pub fn find() -> Option<Self> {
        match std::env::var("FIRESTEEL_TEST_URL") {
            Ok(url) if !url.is_empty() => Some(Server { process: None, _output: None, url }),
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
        let mut output = BufReader::new(process.stdout.take()?);
        let mut server = Server { process: Some(process), _output: None, url: String::new() };
        let mut line = String::new();
        while server.url.is_empty() {
            line.clear();
            if output.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let url = line.find("sc://").and_then(|start| line[start..].split_whitespace().next());
            server.url = url.unwrap_or_default().to_string();
        }
        server._output = Some(output);
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
