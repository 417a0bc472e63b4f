//! TLS and tokens. Certificates are made by `openssl`; without it, TLS is not tested.

use firesteel_client::doc_server::Server;
use firesteel_client::{Error, SparkSession, SparkSessionBuilder};
use std::path::Path;
use std::process::Command;

/// Makes an authority, and a certificate of it for this machine, in a folder; false without `openssl`.
fn make_certificates(folder: &Path) -> bool {
    let steps = [
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 \
         -subj /CN=tests -addext basicConstraints=critical,CA:TRUE",
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.csr -subj /CN=localhost",
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    ];
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    steps.iter().all(|step| {
        let run = Command::new("openssl").args(step.split_whitespace()).current_dir(folder).output();
        run.is_ok_and(|output| output.status.success())
    })
}

fn builder(server: &Server) -> SparkSessionBuilder {
    let authority = server.url().trim_start_matches("sc://").split('/').next().unwrap();
    SparkSession::builder().remote(format!("sc://{authority}")).without_progress_bar()
}

#[tokio::test]
async fn encrypted_connections_trust_an_authority() {
    if !crate::support::server().is_own() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    if !make_certificates(folder.path()) {
        eprintln!("skipped: no openssl");
        return;
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (cert, key) = (path("server.pem"), path("server.key"));
    let authority = std::fs::read(path("ca.pem")).unwrap();
    let server = Server::start(&["--tls-cert", &cert, "--tls-key", &key]).unwrap();
    let spark = builder(&server).certificate_authority(authority).connect().await.unwrap();
    assert_eq!(spark.range(0, 3).count().await.unwrap(), 3);
    spark.stop().await.unwrap();
    // The machine's own authorities did not sign it.
    let error = builder(&server).use_ssl().connect().await.unwrap_err();
    assert!(matches!(error, Error::Connect(_)), "{error:?}");
}

#[tokio::test]
async fn tokens_open_the_server() {
    if !crate::support::server().is_own() {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "secret").unwrap();
    let server = Server::start(&["--token-file", file.path().to_str().unwrap()]).unwrap();
    let spark = builder(&server).token("secret").connect().await.unwrap();
    assert_eq!(spark.range(0, 3).count().await.unwrap(), 3);
    spark.stop().await.unwrap();
    let stranger = builder(&server).token("wrong").connect().await.unwrap();
    match stranger.range(0, 3).count().await.unwrap_err() {
        Error::Transport(status) => assert_eq!(status.code(), tonic::Code::Unauthenticated),
        other => panic!("{other:?}"),
    }
}
