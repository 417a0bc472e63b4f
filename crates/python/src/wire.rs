//! Numbers and texts as the worker protocol writes them: big-endian, with lengths before them.

use firesteel_error::{Result, SparkError};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Numbers that stand in place of lengths.
pub mod special {
    /// No more rows follow.
    pub const END_OF_DATA_SECTION: i32 = -1;
    /// A traceback follows.
    pub const PYTHON_EXCEPTION_THROWN: i32 = -2;
    /// Times follow.
    pub const TIMING_DATA: i32 = -3;
    /// The task has ended.
    pub const END_OF_STREAM: i32 = -4;
    /// A value that is not there.
    pub const NULL: i32 = -5;
    /// An Arrow stream follows.
    pub const START_ARROW_STREAM: i32 = -6;
    /// The length of an init message and the message follow.
    pub const START_OF_INIT_MESSAGE: i32 = -8;
}

/// The largest text or value that a worker may send.
const MAX_LENGTH: usize = 1 << 31;

/// Appends values to bytes.
pub trait Encode {
    /// An `int`.
    fn put_int(&mut self, value: i32);
    /// A `long`.
    fn put_long(&mut self, value: i64);
    /// A `bool`.
    fn put_bool(&mut self, value: bool);
    /// Bytes with their length.
    fn put_bytes(&mut self, value: &[u8]);
    /// Text with its length.
    fn put_text(&mut self, value: &str);
    /// A number of things.
    fn put_count(&mut self, count: usize);
    /// Pairs of texts with their number.
    fn put_pairs(&mut self, pairs: &[(String, String)]);
}

impl Encode for Vec<u8> {
    fn put_int(&mut self, value: i32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_long(&mut self, value: i64) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_bool(&mut self, value: bool) {
        self.push(u8::from(value));
    }

    fn put_bytes(&mut self, value: &[u8]) {
        self.put_count(value.len());
        self.extend_from_slice(value);
    }

    fn put_text(&mut self, value: &str) {
        self.put_bytes(value.as_bytes());
    }

    fn put_count(&mut self, count: usize) {
        self.put_int(i32::try_from(count).unwrap_or(i32::MAX));
    }

    fn put_pairs(&mut self, pairs: &[(String, String)]) {
        self.put_count(pairs.len());
        for (key, value) in pairs {
            self.put_text(key);
            self.put_text(value);
        }
    }
}

/// Reads an `int`.
pub async fn read_int(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<i32> {
    reader.read_i32().await
}

/// Reads a `long`.
pub async fn read_long(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<i64> {
    reader.read_i64().await
}

/// Reads as many bytes as were announced.
pub async fn read_exactly(reader: &mut (impl AsyncRead + Unpin), length: usize) -> io::Result<Vec<u8>> {
    if length > MAX_LENGTH {
        return Err(io::Error::other(format!("a length of {length} bytes")));
    }
    let mut bytes = Vec::with_capacity(length.min(1 << 20));
    let read = reader.take(length as u64).read_to_end(&mut bytes).await?;
    if read < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

/// Reads bytes with their length before them.
pub async fn read_bytes(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let length = read_int(reader).await?;
    let length = usize::try_from(length).map_err(|_| io::Error::other(format!("a length of {length}")))?;
    read_exactly(reader, length).await
}

/// Reads text with its length before it.
pub async fn read_text(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&read_bytes(reader).await?).into_owned())
}

/// The error of a worker that does not follow the protocol.
pub fn broken(what: impl std::fmt::Display) -> SparkError {
    SparkError::internal(format!("the Python worker broke the protocol: {what}"))
}

/// A fault of ours while data are prepared for a worker.
pub fn internal(error: impl std::fmt::Display) -> SparkError {
    SparkError::internal(error.to_string())
}

/// A count that the protocol can carry.
pub fn index(value: usize) -> Result<i32> {
    i32::try_from(value).map_err(|_| SparkError::internal("too many columns for a Python function"))
}
