//! Arrow streams, message by message, as they come from a socket.

use crate::wire::{broken, internal, read_exactly, read_text, special};
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::root_as_message;
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use firesteel_error::Result;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Ends a stream.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Starts each message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The largest message of metadata.
const MAX_METADATA: usize = 1 << 28;

/// Writes one Arrow stream into bytes that are taken out as they grow.
pub struct ArrowEncoder {
    writer: StreamWriter<Vec<u8>>,
    schema: SchemaRef,
    has_batches: bool,
}

impl ArrowEncoder {
    /// Begins a stream; its schema is in the bytes at once.
    pub fn new(schema: &SchemaRef) -> Result<Self> {
        let writer = StreamWriter::try_new(Vec::new(), schema).map_err(internal)?;
        Ok(Self { writer, schema: schema.clone(), has_batches: false })
    }

    /// Adds a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.has_batches = true;
        self.writer.write(batch).map_err(internal)
    }

    /// Ends a stream that is a frame: one without rows has a batch all the same.
    pub fn finish_frame(&mut self) -> Result<()> {
        if !self.has_batches {
            self.write(&RecordBatch::new_empty(self.schema.clone()))?;
        }
        self.finish()
    }

    /// Ends the stream.
    pub fn finish(&mut self) -> Result<()> {
        self.writer.finish().map_err(internal)
    }

    /// The bytes since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(self.writer.get_mut())
    }
}

/// Reads one Arrow stream.
pub struct ArrowDecoder {
    decoder: StreamDecoder,
    /// Bytes that are still to be decoded: a batch without a body comes out before the message behind it.
    pending: Buffer,
    is_ended: bool,
}

impl Default for ArrowDecoder {
    fn default() -> Self {
        Self { decoder: StreamDecoder::new(), pending: Buffer::from_vec(Vec::<u8>::new()), is_ended: false }
    }
}

impl ArrowDecoder {
    /// The next batch; none at the stream's end.
    pub async fn next(&mut self, reader: &mut (impl AsyncRead + Unpin)) -> Result<Option<RecordBatch>, ReadError> {
        loop {
            while !self.pending.is_empty() {
                if let Some(batch) =
                    self.decoder.decode(&mut self.pending).map_err(|e| ReadError::Content(broken(e)))?
                {
                    return Ok(Some(batch));
                }
            }
            if self.is_ended {
                return Ok(None);
            }
            let message = message(reader).await?;
            self.is_ended = message.is_none();
            self.pending = Buffer::from_vec(message.unwrap_or_else(|| END.to_vec()));
        }
    }
}

/// Why nothing could be read.
#[derive(Debug)]
pub enum ReadError {
    /// The worker is gone.
    Io(io::Error),
    /// What came makes no sense.
    Content(firesteel_error::SparkError),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// One whole message with its prefix; none at the end marker.
async fn message(reader: &mut (impl AsyncRead + Unpin)) -> Result<Option<Vec<u8>>, ReadError> {
    let content = |text: String| ReadError::Content(broken(text));
    let mut prefix = [0; 4];
    reader.read_exact(&mut prefix).await?;
    let mut bytes = Vec::new();
    if prefix == CONTINUATION {
        bytes.extend_from_slice(&prefix);
        reader.read_exact(&mut prefix).await?;
    }
    if prefix == special::PYTHON_EXCEPTION_THROWN.to_be_bytes() {
        // The function failed in the middle of its output.
        return Err(ReadError::Content(crate::run::exception(&read_text(reader).await?)));
    }
    let length = u32::from_le_bytes(prefix) as usize;
    if length == 0 {
        return Ok(None);
    }
    if length > MAX_METADATA {
        return Err(content(format!("an Arrow message of {length} bytes")));
    }
    bytes.extend_from_slice(&prefix);
    let start = bytes.len();
    bytes.extend(read_exactly(reader, length).await?);
    let body = match root_as_message(&bytes[start..]) {
        Ok(message) => usize::try_from(message.bodyLength()).unwrap_or(usize::MAX),
        Err(error) => return Err(content(error.to_string())),
    };
    if body > 0 {
        bytes.reserve(body.min(1 << 26));
        let read = reader.take(body as u64).read_to_end(&mut bytes).await?;
        if read < body {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int64Array;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_stream_comes_back_and_what_follows_stays() {
        let batch = RecordBatch::try_from_iter([("_0", Arc::new(Int64Array::from(vec![1, 2])) as _)]).unwrap();
        let mut encoder = ArrowEncoder::new(&batch.schema()).unwrap();
        encoder.write(&batch).unwrap();
        encoder.write(&batch.slice(0, 0)).unwrap();
        encoder.write(&batch.slice(1, 1)).unwrap();
        encoder.finish().unwrap();
        let mut bytes = encoder.take();
        bytes.push(42);
        let mut reader = bytes.as_slice();
        let mut decoder = ArrowDecoder::default();
        assert_eq!(decoder.next(&mut reader).await.unwrap().unwrap(), batch);
        assert_eq!(decoder.next(&mut reader).await.unwrap().unwrap().num_rows(), 0);
        assert_eq!(decoder.next(&mut reader).await.unwrap().unwrap().num_rows(), 1);
        assert!(decoder.next(&mut reader).await.unwrap().is_none());
        assert_eq!(reader, [42]);
    }
}
