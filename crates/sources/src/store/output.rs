//! A file that is being written, wherever it will lie.

use super::fault::{io_error, plain};
use super::network::{self, Request};
use super::remote::Remote;
use object_store::path::Path as Key;
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Result, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a part of an upload.
const PART: usize = 8 << 20;
/// How many parts of a file are under way at once.
const MOST_UNDER_WAY: usize = 3;
/// Bytes of small files that a write keeps until its commit, rather than upload them before.
const KEPT: u64 = 64 << 20;

/// A file that is being written.
pub enum Output {
    Local(File),
    Remote(Upload),
}

impl Output {
    /// Ends the file. In a store it is to be seen only once the write is committed.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::Local(_) => Ok(()),
            Self::Remote(upload) => upload.finish(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Self::Local(file) => file.write(bytes),
            Self::Remote(upload) => upload.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Self::Local(file) => file.flush(),
            Self::Remote(_) => Ok(()),
        }
    }
}

/// The content of a file that is not there yet.
enum Content {
    Bytes(Vec<u8>),
    /// Given up where it is dropped before its end.
    Parts(Parts),
}

/// An upload in parts. Dropped, it leaves nothing behind.
struct Parts(Option<Box<dyn MultipartUpload>>);

impl Parts {
    async fn complete(mut self) -> std::result::Result<(), Error> {
        let Some(mut upload) = self.0.take() else { return Ok(()) };
        match upload.complete().await {
            Ok(_) => Ok(()),
            Err(error) => {
                self.0 = Some(upload);
                Err(plain(&error))
            }
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if let Some(mut upload) = self.0.take() {
            network::detach(async move {
                let _ = upload.abort().await;
            });
        }
    }
}

/// A file that is written and will be there once it is placed.
pub(crate) struct Finished {
    pub key: Key,
    pub size: u64,
    content: Content,
}

impl Finished {
    /// Puts the file into its place.
    pub async fn place(self, store: &Arc<dyn ObjectStore>) -> std::result::Result<(), Error> {
        match self.content {
            Content::Bytes(bytes) => {
                store.put(&self.key, PutPayload::from(bytes)).await.map(|_| ()).map_err(|e| plain(&e))
            }
            Content::Parts(parts) => parts.complete().await,
        }
    }
}

/// What the tasks of a write have finished.
#[derive(Default)]
pub(crate) struct Ledger {
    pub files: Mutex<Vec<Finished>>,
    kept: AtomicU64,
}

/// A file on its way into a store.
pub struct Upload {
    remote: Arc<Remote>,
    key: Key,
    ledger: Arc<Ledger>,
    buffer: Vec<u8>,
    size: u64,
    parts: Parts,
    under_way: VecDeque<Request<()>>,
}

impl Upload {
    pub(crate) fn new(remote: Arc<Remote>, key: Key, ledger: Arc<Ledger>) -> Self {
        Self { remote, key, ledger, buffer: Vec::new(), size: 0, parts: Parts(None), under_way: VecDeque::new() }
    }

    /// Sends what is gathered as a part.
    fn send(&mut self) -> Result<()> {
        let mut upload = match self.parts.0.take() {
            Some(upload) => upload,
            None => {
                let (remote, key) = (self.remote.clone(), self.key.clone());
                let begun =
                    network::wait(async move { remote.objects()?.put_multipart(&key).await.map_err(|e| plain(&e)) });
                begun.map_err(|e| io_error(&e))?
            }
        };
        let part = upload.put_part(PutPayload::from(std::mem::take(&mut self.buffer)));
        self.parts.0 = Some(upload);
        self.under_way.push_back(network::begin(async move { part.await.map_err(|e| plain(&e)) }));
        self.settle(MOST_UNDER_WAY)
    }

    /// Waits until no more parts than these are under way.
    fn settle(&mut self, most: usize) -> Result<()> {
        while self.under_way.len() > most {
            if let Some(request) = self.under_way.pop_front() {
                request.wait().map_err(|e| io_error(&e))?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        let left = self.buffer.len() as u64;
        let kept = || self.ledger.kept.fetch_add(left, Ordering::Relaxed).saturating_add(left);
        let is_kept = self.parts.0.is_none() && (left == 0 || kept() <= KEPT);
        let content = if is_kept {
            Content::Bytes(std::mem::take(&mut self.buffer))
        } else {
            if !self.buffer.is_empty() {
                self.send()?;
            }
            self.settle(0)?;
            Content::Parts(Parts(self.parts.0.take()))
        };
        let finished = Finished { key: self.key.clone(), size: self.size, content };
        self.ledger.files.lock().push(finished);
        Ok(())
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.size += bytes.len() as u64;
        if self.buffer.len() >= PART {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
