//! A TCP proxy that breaks connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Stands between a client and a server; breaks a connection after a number of bytes of answers.
pub struct Proxy {
    pub url: String,
    state: Arc<State>,
}

struct State {
    /// Bytes of answers until the next break; negative: none.
    until_break: AtomicI64,
    breaks: AtomicU64,
}

impl Proxy {
    pub async fn start(server: &str) -> Proxy {
        let target = server.trim_start_matches("sc://").split('/').next().unwrap().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("sc://{}", listener.local_addr().unwrap());
        let state = Arc::new(State { until_break: AtomicI64::new(-1), breaks: AtomicU64::new(0) });
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, target.clone(), Arc::clone(&shared)));
            }
        });
        Proxy { url, state }
    }

    /// Breaks the connection after so many bytes of answers.
    pub fn break_after(&self, bytes: i64) {
        self.state.until_break.store(bytes, Ordering::SeqCst);
    }

    pub fn never_break(&self) {
        self.break_after(-1);
    }

    /// How often a connection was broken.
    pub fn breaks(&self) -> u64 {
        self.state.breaks.load(Ordering::SeqCst)
    }
}

async fn relay(client: TcpStream, target: String, state: Arc<State>) {
    let Ok(server) = TcpStream::connect(target).await else {
        return;
    };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
    let mut buffer = vec![0; 4096];
    while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
        if state.until_break.load(Ordering::SeqCst) >= 0 {
            let left = state.until_break.fetch_sub(read as i64, Ordering::SeqCst) - read as i64;
            if left < 0 {
                state.until_break.store(-1, Ordering::SeqCst);
                state.breaks.fetch_add(1, Ordering::SeqCst);
                break;
            }
        }
        if to_client.write_all(&buffer[..read]).await.is_err() {
            break;
        }
    }
    requests.abort();
}
