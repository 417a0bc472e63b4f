//! Arrow IPC streams from clients: no length in them is believed before it is looked at.

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::{RecordBatch as BatchHeader, root_as_message};
use bytes::Bytes;
use firesteel_error::{ExceptionClass, Result, SparkError};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What comes before a message's length.
const CONTINUATION: [u8; 4] = [0xFF; 4];

/// What ends a stream.
const END: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

/// Bytes to which the buffers of one compressed batch may unpack.
const MAX_UNPACKED: i64 = 1 << 31;

/// Rows of one batch: as many as an array of Spark's can have.
const MAX_ROWS: usize = i32::MAX as usize;

/// The schema and the batches of a stream.
pub(super) fn read(data: &Bytes) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let messages = data.slice(..check(data)?);
    // The decoder asserts some of what it expects.
    match catch_unwind(AssertUnwindSafe(|| decode(messages))) {
        Ok(decoded) => decoded.map_err(bad_data),
        Err(_) => Err(bad_data("a message's parts do not fit each other")),
    }
}

/// Decodes messages, of which the batches share the memory.
fn decode(messages: Bytes) -> std::result::Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let mut decoder = StreamDecoder::new();
    let mut batches = Vec::new();
    for mut data in [Buffer::from(messages), Buffer::from(END.as_slice())] {
        while !data.is_empty() {
            let Some(batch) = decoder.decode(&mut data)? else { continue };
            if batch.num_rows() > MAX_ROWS {
                return Err(ArrowError::IpcError(format!("a batch of {} rows", batch.num_rows())));
            }
            batches.push(batch);
        }
    }
    let schema = decoder.schema().ok_or_else(|| ArrowError::IpcError("no schema".into()))?;
    decoder.finish()?;
    Ok((schema, batches))
}

/// Fails where a message says that it is longer than the data are: the decoder
/// allocates memory by what messages say. Gives the bytes of all messages, without the stream's end.
fn check(data: &[u8]) -> Result<usize> {
    let mut rest = data;
    while let Some((length, after)) = message_length(rest) {
        let truncated = || bad_data("the stream ends within a message");
        let length = usize::try_from(length).map_err(|_| bad_data(format!("a message of {length} bytes")))?;
        if length == 0 {
            break;
        }
        let (header, after) = after.split_at_checked(length).ok_or_else(truncated)?;
        let message = root_as_message(header).map_err(|e| bad_data(format!("{e:?}")))?;
        let body_length = message.bodyLength();
        let body_length =
            usize::try_from(body_length).map_err(|_| bad_data(format!("a body of {body_length} bytes")))?;
        let (body, after) = after.split_at_checked(body_length).ok_or_else(truncated)?;
        let dictionary = message.header_as_dictionary_batch().and_then(|d| d.data());
        if let Some(batch) = message.header_as_record_batch().or(dictionary) {
            check_unpacked(&batch, body)?;
        }
        rest = after;
    }
    Ok(data.len() - rest.len())
}

/// A message's length and what comes after it; None at the end of the data.
fn message_length(data: &[u8]) -> Option<(i32, &[u8])> {
    let (first, after) = data.split_first_chunk::<4>()?;
    if *first != CONTINUATION {
        return Some((i32::from_le_bytes(*first), after));
    }
    let (second, after) = after.split_first_chunk::<4>()?;
    Some((i32::from_le_bytes(*second), after))
}

/// Fails where compressed buffers say that they unpack to very much.
fn check_unpacked(batch: &BatchHeader<'_>, body: &[u8]) -> Result<()> {
    if batch.compression().is_none() {
        return Ok(());
    }
    let mut total = 0i64;
    for buffer in batch.buffers().into_iter().flatten() {
        let Some(start) = usize::try_from(buffer.offset()).ok().and_then(|at| body.get(at..)) else {
            return Err(bad_data("a buffer lies outside of its message"));
        };
        // A compressed buffer begins with the length of what it unpacks to.
        let unpacked = start.first_chunk::<8>().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        total = total.saturating_add(unpacked.max(0));
    }
    if total > MAX_UNPACKED {
        return Err(bad_data(format!("a compressed batch of {total} bytes")));
    }
    Ok(())
}

fn bad_data(cause: impl Display) -> SparkError {
    SparkError::plain(
        ExceptionClass::IllegalArgument,
        format!("The local relation's data are not a valid Arrow IPC stream: {cause}"),
    )
}
