//! Rows to messages: batches are cut or joined to a good size, and encoded as Arrow streams.

use crate::operations::Delivery;
use arrow::array::Array;
use arrow::buffer::Buffer;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{IpcWriteOptions, StreamEncoder};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use firesteel_config::{Reader, SessionConfig, keys};
use firesteel_error::{Result, SparkError};
use firesteel_proto::connect::execute_plan_response::ArrowBatch;

/// Bytes of rows that a message aims at.
const TARGET: usize = 4 * 1024 * 1024;

/// The smallest piece that a client may ask for.
const MIN_CHUNK: i64 = 1024;

/// Part of the largest batch that is used, as sizes are estimates.
const FILL: f64 = 0.7;

/// How rows are cut into messages.
#[derive(Debug, Clone)]
pub struct Slicing {
    /// Rows of a message, where the user has set a number.
    max_rows: Option<usize>,
    /// Bytes of a message.
    max_bytes: usize,
    /// Bytes of a piece, for clients that take pieces.
    chunk: Option<usize>,
    compression: Option<CompressionType>,
}

impl Slicing {
    /// The slicing that the session's settings and the request say.
    pub fn new(config: &SessionConfig, batch_size: usize, delivery: Delivery) -> Self {
        let is_set = config.explicit(keys::ARROW_MAX_RECORDS).is_some();
        let max_rows = is_set.then(|| config.count(keys::ARROW_MAX_RECORDS)).filter(|rows| *rows > 0);
        let ceiling = config.count(keys::RESULT_CHUNK_SIZE).max(1);
        let chunk = delivery.chunking.map(|preferred| match preferred {
            Some(bytes) if bytes >= MIN_CHUNK => usize::try_from(bytes).unwrap_or(ceiling).min(ceiling),
            _ => ceiling,
        });
        let compression = match config.text(keys::ARROW_COMPRESSION).to_ascii_lowercase().as_str() {
            "zstd" => Some(CompressionType::ZSTD),
            "lz4" => Some(CompressionType::LZ4_FRAME),
            _ => None,
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let bound = (batch_size as f64 * FILL) as usize;
        let max_bytes = if max_rows.is_some() { bound } else { bound.min(TARGET) };
        Self { max_rows, max_bytes: max_bytes.max(1), chunk, compression }
    }
}

/// Turns the batches of a query into messages.
#[derive(Debug)]
pub struct BatchEncoder {
    schema: SchemaRef,
    slicing: Slicing,
    options: IpcWriteOptions,
    /// Batches too small for a message of their own.
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
    /// Rows sent so far.
    offset: i64,
    is_started: bool,
}

fn failed(error: ArrowError) -> SparkError {
    SparkError::internal(format!("rows cannot be encoded: {error}"))
}

impl BatchEncoder {
    /// An encoder of batches of one schema.
    pub fn new(schema: SchemaRef, slicing: Slicing) -> Result<Self> {
        let options = IpcWriteOptions::default().try_with_compression(slicing.compression).map_err(failed)?;
        Ok(Self {
            schema,
            slicing,
            options,
            waiting: Vec::new(),
            waiting_rows: 0,
            waiting_bytes: 0,
            offset: 0,
            is_started: false,
        })
    }

    /// Takes a batch, and gives the messages that are ready.
    pub fn add(&mut self, batch: RecordBatch) -> Result<Vec<ArrowBatch>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        self.waiting_rows += batch.num_rows();
        self.waiting_bytes += size(&batch);
        self.waiting.push(batch);
        let is_enough = match self.slicing.max_rows {
            Some(rows) => self.waiting_rows >= rows,
            None => false,
        };
        // Half a message is enough: to wait for more would copy it.
        if is_enough || self.waiting_bytes >= self.slicing.max_bytes / 2 {
            return self.cut(false);
        }
        Ok(Vec::new())
    }

    /// Whether rows wait for more.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The messages of the rows that wait.
    pub fn flush(&mut self) -> Result<Vec<ArrowBatch>> {
        if self.waiting.is_empty() { Ok(Vec::new()) } else { self.cut(true) }
    }

    /// The last messages; a result without rows has one without rows.
    pub fn finish(&mut self) -> Result<Vec<ArrowBatch>> {
        let mut messages = self.flush()?;
        if !self.is_started {
            messages.extend(self.encode(&RecordBatch::new_empty(self.schema.clone()))?);
        }
        Ok(messages)
    }

    /// Cuts the waiting rows into messages. What is less than a full number of rows may wait on.
    fn cut(&mut self, all: bool) -> Result<Vec<ArrowBatch>> {
        let batches = std::mem::take(&mut self.waiting);
        let (rows, bytes) = (self.waiting_rows, self.waiting_bytes);
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        let batch = match batches.as_slice() {
            [one] => one.clone(),
            _ => concat_batches(&self.schema, &batches).map_err(failed)?,
        };
        // An estimate by the mean size of a row; each slice is looked at again.
        let by_bytes = (rows * self.slicing.max_bytes).checked_div(bytes).unwrap_or(rows).clamp(1, rows);
        let mut step = rows.div_ceil(rows.div_ceil(by_bytes));
        if let Some(max_rows) = self.slicing.max_rows {
            step = by_bytes.min(max_rows);
        }
        let mut messages = Vec::with_capacity(rows.div_ceil(step));
        let mut start = 0;
        while start < rows {
            let length = step.min(rows - start);
            if !all && self.slicing.max_rows.is_some() && length < step {
                let rest = batch.slice(start, length);
                (self.waiting_rows, self.waiting_bytes) = (length, size(&rest));
                self.waiting.push(rest);
                break;
            }
            self.encode_bounded(&batch.slice(start, length), &mut messages)?;
            start += length;
        }
        Ok(messages)
    }

    /// Halves a slice until it is small enough or one row.
    fn encode_bounded(&mut self, batch: &RecordBatch, messages: &mut Vec<ArrowBatch>) -> Result<()> {
        // Values of very different sizes may make a slice larger than estimated.
        if batch.num_rows() > 1 && size(batch) > self.slicing.max_bytes.saturating_mul(2) {
            let half = batch.num_rows() / 2;
            self.encode_bounded(&batch.slice(0, half), messages)?;
            return self.encode_bounded(&batch.slice(half, batch.num_rows() - half), messages);
        }
        messages.extend(self.encode(batch)?);
        Ok(())
    }

    /// The message of a batch, or its pieces.
    fn encode(&mut self, batch: &RecordBatch) -> Result<Vec<ArrowBatch>> {
        let data = stream(batch, &self.schema, &self.options).map_err(failed)?;
        let row_count = i64::try_from(batch.num_rows()).unwrap_or(i64::MAX);
        let start_offset = Some(self.offset);
        self.offset += row_count;
        self.is_started = true;
        let Some(chunk) = self.slicing.chunk else {
            return Ok(vec![ArrowBatch {
                row_count,
                data,
                start_offset,
                chunk_index: None,
                num_chunks_in_batch: None,
            }]);
        };
        let count = data.len().div_ceil(chunk).max(1);
        let piece = |index: usize| ArrowBatch {
            row_count,
            data: data.slice(index * chunk..data.len().min((index + 1) * chunk)),
            start_offset,
            chunk_index: i64::try_from(index).ok(),
            num_chunks_in_batch: i64::try_from(count).ok(),
        };
        Ok((0..count).map(piece).collect())
    }
}

/// The bytes of a batch's rows, without what its buffers hold beside them.
fn size(batch: &RecordBatch) -> usize {
    let column = |array: &arrow::array::ArrayRef| array.to_data().get_slice_memory_size().unwrap_or(0);
    batch.columns().iter().map(column).sum()
}

/// A whole Arrow IPC stream of one batch.
fn stream(batch: &RecordBatch, schema: &SchemaRef, options: &IpcWriteOptions) -> Result<Bytes, ArrowError> {
    let mut encoder = StreamEncoder::try_new_with_options(schema, options.clone())?;
    let mut buffers = encoder.encode(batch)?;
    buffers.extend(encoder.finish()?);
    let mut data = Vec::with_capacity(buffers.iter().map(Buffer::len).sum());
    for buffer in &buffers {
        data.extend_from_slice(buffer);
    }
    Ok(data.into())
}

/// A whole result as one Arrow IPC stream, for the rows of statements.
pub fn whole_stream(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Bytes> {
    let batch = concat_batches(schema, batches).map_err(failed)?;
    stream(&batch, schema, &IpcWriteOptions::default()).map_err(failed)
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;
