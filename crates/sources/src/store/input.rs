//! The bytes of a file, wherever it lies.

use super::fault::io_error;
use super::network::{self, Request};
use super::remote::{Remote, located};
use bytes::Bytes;
use object_store::path::Path as Key;
use orc_rust::reader::ChunkReader;
use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are asked for at first, and once a file is read on.
const FIRST: u64 = 1 << 20;
const NEXT: u64 = 8 << 20;

/// Where a file lies.
#[derive(Debug, Clone)]
pub enum Origin {
    /// On this machine.
    Local,
    /// In a store of another machine.
    Remote { remote: Arc<Remote>, key: Key },
}

impl Origin {
    /// Where the file lies that a scan has located.
    pub fn of(location: &Key) -> Self {
        match located(location) {
            Some((remote, key)) => Self::Remote { remote, key },
            None => Self::Local,
        }
    }

    /// True where requests to another machine read the file.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Remote { .. })
    }

    /// The file's bytes from a position on.
    pub fn open(&self, path: &Path, size: u64, start: u64) -> Result<Input> {
        match self {
            Self::Local => {
                let mut file = File::open(path)?;
                if start > 0 {
                    file.seek(SeekFrom::Start(start))?;
                }
                Ok(Input::Local(file))
            }
            Self::Remote { remote, key } => Ok(Input::Remote(Download::new(remote.clone(), key.clone(), size, start))),
        }
    }

    /// All of the file's bytes.
    pub fn whole(&self, path: &Path, size: u64) -> Result<Vec<u8>> {
        match self {
            Self::Local => std::fs::read(path),
            Self::Remote { .. } => {
                let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
                self.open(path, size, 0)?.read_to_end(&mut bytes)?;
                Ok(bytes)
            }
        }
    }

    /// True where the file is not there any more; waits for the answer.
    pub fn is_gone(&self, path: &Path) -> bool {
        match self {
            Self::Local => !path.exists(),
            Self::Remote { remote, key } => {
                let (remote, key) = (remote.clone(), key.clone());
                let found = network::wait(async move { remote.head(&key).await });
                matches!(found, Err(object_store::Error::NotFound { .. }))
            }
        }
    }
}

/// A file that is being read.
pub enum Input {
    Local(File),
    Remote(Download),
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        match self {
            Self::Local(file) => file.read(out),
            Self::Remote(download) => download.read(out),
        }
    }

    fn read_to_end(&mut self, out: &mut Vec<u8>) -> Result<usize> {
        match self {
            Self::Local(file) => file.read_to_end(out),
            Self::Remote(download) => download.read_to_end(out),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        match self {
            Self::Local(file) => file.seek(to),
            Self::Remote(download) => download.seek(to),
        }
    }
}

/// Reads a file of another machine piece by piece, the next one while one is parsed.
pub struct Download {
    remote: Arc<Remote>,
    key: Key,
    size: u64,
    /// The piece at hand, and how much of it was read.
    piece: Bytes,
    at: usize,
    /// The position after the piece.
    end: u64,
    ahead: Option<Request<Bytes>>,
    length: u64,
}

impl Download {
    fn new(remote: Arc<Remote>, key: Key, size: u64, start: u64) -> Self {
        Self { remote, key, size, piece: Bytes::new(), at: 0, end: start.min(size), ahead: None, length: FIRST }
    }

    /// Asks for the piece that follows.
    fn request(&self, start: u64) -> Option<Request<Bytes>> {
        let end = start.saturating_add(self.length).min(self.size);
        let (remote, key) = (self.remote.clone(), self.key.clone());
        (start < end).then(|| network::begin(async move { remote.range(&key, start..end).await }))
    }

    fn fill(&mut self) -> Result<()> {
        let is_first = self.piece.is_empty();
        let request = self.ahead.take().or_else(|| self.request(self.end));
        let Some(request) = request else {
            self.piece = Bytes::new();
            self.at = 0;
            return Ok(());
        };
        self.piece = request.wait().map_err(|e| io_error(&e))?;
        self.at = 0;
        if self.piece.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.end += self.piece.len() as u64;
        if !is_first {
            self.length = NEXT;
            self.ahead = self.request(self.end);
        }
        Ok(())
    }
}

impl Read for Download {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if self.at == self.piece.len() && !out.is_empty() {
            self.fill()?;
        }
        let rest = self.piece.get(self.at..).unwrap_or_default();
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

impl Seek for Download {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let unread = (self.piece.len() - self.at) as u64;
        let target = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => (self.end - unread).checked_add_signed(offset),
        };
        let target = target.ok_or_else(|| Error::from(ErrorKind::InvalidInput))?;
        let start = self.end - self.piece.len() as u64;
        if target >= start && target < self.end {
            self.at = usize::try_from(target - start).unwrap_or(self.piece.len());
        } else if target != self.end || unread > 0 {
            self.piece = Bytes::new();
            self.at = 0;
            self.end = target.min(self.size);
            self.ahead = None;
        }
        Ok(target)
    }
}

/// A file of which parts are read by position.
pub enum Random {
    Local(File),
    Remote { remote: Arc<Remote>, key: Key, path: PathBuf, size: u64 },
}

impl Random {
    /// Opens a file.
    pub fn open(origin: &Origin, path: &Path, size: u64) -> Result<Self> {
        Ok(match origin {
            Origin::Local => Self::Local(File::open(path)?),
            Origin::Remote { remote, key } => {
                Self::Remote { remote: remote.clone(), key: key.clone(), path: path.to_path_buf(), size }
            }
        })
    }
}

impl ChunkReader for Random {
    type T = BufReader<Input>;

    fn len(&self) -> u64 {
        match self {
            Self::Local(file) => ChunkReader::len(file),
            Self::Remote { size, .. } => *size,
        }
    }

    fn get_read(&self, start: u64) -> Result<Self::T> {
        match self {
            Self::Local(file) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(start))?;
                Ok(BufReader::new(Input::Local(file)))
            }
            Self::Remote { remote, key, path, size } => {
                let origin = Origin::Remote { remote: remote.clone(), key: key.clone() };
                Ok(BufReader::new(origin.open(path, *size, start)?))
            }
        }
    }

    fn get_bytes(&self, start: u64, length: u64) -> Result<Bytes> {
        match self {
            Self::Local(file) => file.get_bytes(start, length),
            Self::Remote { .. } if length == 0 => Ok(Bytes::new()),
            Self::Remote { remote, key, size, .. } => {
                let end = start.checked_add(length).filter(|end| end <= size);
                let end = end.ok_or_else(|| Error::from(ErrorKind::UnexpectedEof))?;
                let (remote, key) = (remote.clone(), key.clone());
                let bytes = network::wait(async move { remote.range(&key, start..end).await });
                let bytes = bytes.map_err(|e| io_error(&e))?;
                if bytes.len() as u64 == length { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
            }
        }
    }
}
