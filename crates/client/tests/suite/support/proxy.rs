//! A TCP proxy that breaks connections.

use super::frames::Frames;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Stands between a client and a server, and breaks connections.
pub struct Proxy {
    pub url: String,
    state: Arc<State>,
}

/// Where connections break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    Never,
    /// Once, at a response of an operation, counted from 0: before it is whole, or after it.
    Before(u64),
    After(u64),
    /// After every response of an operation.
    AfterEach,
}

struct State {
    /// Bytes of answers until the next break; negative: none.
    until_break: AtomicI64,
    at: Mutex<Break>,
    /// Responses of operations since the last order.
    responses: AtomicU64,
    breaks: AtomicU64,
}

impl Proxy {
    pub async fn start(server: &str) -> Proxy {
        let target = server.trim_start_matches("sc://").split('/').next().unwrap().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("sc://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            until_break: AtomicI64::new(-1),
            at: Mutex::new(Break::Never),
            responses: AtomicU64::new(0),
            breaks: AtomicU64::new(0),
        });
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

    /// Breaks connections at responses, which are counted from now.
    pub fn break_at(&self, at: Break) {
        self.state.responses.store(0, Ordering::SeqCst);
        *self.state.at.lock().unwrap() = at;
    }

    pub fn never_break(&self) {
        self.break_after(-1);
        self.break_at(Break::Never);
    }

    /// How often a connection was broken.
    pub fn breaks(&self) -> u64 {
        self.state.breaks.load(Ordering::SeqCst)
    }
}

impl State {
    /// Whether the connection breaks within so many bytes.
    fn breaks_within(&self, bytes: usize) -> bool {
        if self.until_break.load(Ordering::SeqCst) < 0 {
            return false;
        }
        let bytes = bytes as i64;
        let broken = self.until_break.fetch_sub(bytes, Ordering::SeqCst) < bytes;
        if broken {
            self.until_break.store(-1, Ordering::SeqCst);
        }
        broken
    }

    /// Whether the connection breaks at the next response, and whether before it.
    fn breaks_at_next(&self) -> Option<bool> {
        let number = self.responses.fetch_add(1, Ordering::SeqCst);
        let mut at = self.at.lock().unwrap();
        match *at {
            Break::Before(wanted) | Break::After(wanted) if wanted == number => {
                let before = matches!(*at, Break::Before(_));
                *at = Break::Never;
                Some(before)
            }
            Break::AfterEach => Some(false),
            _ => None,
        }
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
    let mut frames = Frames::default();
    'relayed: while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
        if state.breaks_within(read) {
            state.breaks.fetch_add(1, Ordering::SeqCst);
            break;
        }
        for frame in frames.take(&buffer[..read]) {
            let broken = if frame.ends_response { state.breaks_at_next() } else { None };
            if broken != Some(true) && to_client.write_all(&frame.bytes).await.is_err() {
                break 'relayed;
            }
            if broken.is_some() {
                state.breaks.fetch_add(1, Ordering::SeqCst);
                break 'relayed;
            }
        }
    }
    requests.abort();
}
