//! `firesteel server`.

use crate::Failure;
use crate::arguments::ServerArguments;
use firesteel_engine::{Engine, EngineOptions};
use firesteel_server::{Server, Tls};
use std::fs;
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Serves until the process gets SIGTERM or SIGINT.
pub fn serve(arguments: &ServerArguments) -> Result<(), Failure> {
    let runtime = crate::runtime(None)?;
    let result = runtime.block_on(run(arguments));
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

async fn run(arguments: &ServerArguments) -> Result<(), Failure> {
    let address = resolve(&arguments.host, arguments.port)?;
    let options = arguments.engine.options();
    let token = token(arguments, &options)?;
    let tls = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls { certificate: read(certificate)?, key: read(key)? }),
        _ => None,
    };
    warn_if_open(address, tls.is_some(), token.is_some());

    let mut builder = Server::builder(Engine::new(options)?).address(address);
    if let Some(token) = token {
        builder = builder.token(token);
    }
    if let Some(tls) = tls {
        builder = builder.tls(tls);
    }
    let server = builder.bind().await.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);

    // A closed stdout must not keep the server from working.
    let _ = writeln!(
        std::io::stdout(),
        "Firesteel {}: Spark Connect on sc://{}",
        env!("CARGO_PKG_VERSION"),
        server.address()
    );
    let shutdown = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    server.serve(shutdown).await
}

fn resolve(host: &str, port: u16) -> Result<SocketAddr, Failure> {
    let mut addresses = (host, port).to_socket_addrs().map_err(|error| format!("unknown host {host}: {error}"))?;
    addresses.next().ok_or_else(|| format!("unknown host {host}").into())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

/// The token of the file, of Spark's setting, or of the environment.
fn token(arguments: &ServerArguments, options: &EngineOptions) -> Result<Option<String>, Failure> {
    if let Some(path) = &arguments.token_file {
        let token = String::from_utf8(read(path)?)?.trim().to_string();
        if token.is_empty() {
            return Err(format!("{} holds no token", path.display()).into());
        }
        return Ok(Some(token));
    }
    let setting = options.configuration.iter().rev().find(|(key, _)| key == firesteel_config::keys::AUTHENTICATE_TOKEN);
    let setting = setting.map(|(_, token)| token.clone()).filter(|token| !token.is_empty());
    let variable = || std::env::var("SPARK_CONNECT_AUTHENTICATE_TOKEN").ok().filter(|token| !token.is_empty());
    Ok(setting.or_else(variable))
}

/// Anybody who reaches an open server can run anything as its user.
fn warn_if_open(address: SocketAddr, is_encrypted: bool, has_token: bool) {
    if address.ip().is_loopback() || (is_encrypted && has_token) {
        return;
    }
    let missing = match (is_encrypted, has_token) {
        (false, false) => "without encryption and without a token: anybody who reaches it can read and change data",
        (false, true) => "without encryption: the token and all data can be read on the network",
        (true, _) => "without a token: anybody who reaches it can read and change data",
    };
    eprintln!("WARNING: {address} is open to other machines {missing}.");
    eprintln!("WARNING: use --tls-cert, --tls-key and --token-file, or listen on 127.0.0.1.");
}
