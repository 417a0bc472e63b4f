//! Results as they come.

use crate::error::{Error, Result};
use crate::progress::{Progress, progress};
use crate::responses::Responses;
use crate::rows::{Row, records};
use crate::{SparkSession, types};
use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::ipc::reader::StreamDecoder;
use bytes::{Bytes, BytesMut};
use firesteel_proto::connect as proto;
use firesteel_types::StructType;
use futures::{Stream, StreamExt, TryStreamExt};
use proto::execute_plan_response::{ArrowBatch, Metrics, ResponseType};
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What the server told about an execution.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ExecutionInfo {
    /// Metrics of the operators of the executed plan.
    pub metrics: Option<Metrics>,
}

/// The batches of a result, as the server sends them.
///
/// The server waits for a slow reader, and a dropped stream cancels the
/// operation. Lost connections are mended underneath.
///
/// ```
/// # use futures::TryStreamExt;
/// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
/// let mut batches = spark.range(0, 100_000).stream()?;
/// let mut rows = 0;
/// while let Some(batch) = batches.try_next().await? {
///     rows += batch.num_rows();
/// }
/// assert_eq!(rows, 100_000);
/// # Ok(()) }
/// # firesteel_client::doc_test(run);
/// ```
pub struct BatchStream {
    /// Away while a read is under way.
    reader: Option<Box<Reader>>,
    read: Option<Pin<Box<dyn Future<Output = (Box<Reader>, Result<Option<RecordBatch>>)> + Send>>>,
    operation_id: String,
}

/// Reads responses and puts them together.
struct Reader {
    session: SparkSession,
    responses: Responses,
    schema: Option<StructType>,
    info: ExecutionInfo,
    chunks: Vec<Bytes>,
    ready: VecDeque<RecordBatch>,
    rows: i64,
    told: bool,
}

impl BatchStream {
    pub(crate) fn new(session: SparkSession, responses: Responses) -> Self {
        let operation_id = responses.operation_id().to_string();
        let reader = Reader {
            session,
            responses,
            schema: None,
            info: ExecutionInfo::default(),
            chunks: Vec::new(),
            ready: VecDeque::new(),
            rows: 0,
            told: false,
        };
        BatchStream { reader: Some(Box::new(reader)), read: None, operation_id }
    }

    /// The operation's id, to interrupt it.
    pub fn operation_id(&self) -> &str {
        &self.operation_id
    }

    /// The schema in Spark's types; known once the first batch has come.
    pub fn schema(&self) -> Option<&StructType> {
        self.reader.as_ref().and_then(|reader| reader.schema.as_ref())
    }

    /// What the server told about the execution; complete after the last batch.
    pub fn execution_info(&self) -> Option<&ExecutionInfo> {
        self.reader.as_ref().map(|reader| &reader.info)
    }

    /// The next batch, or None after the last one.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        std::future::poll_fn(|context| self.poll_batch(context)).await
    }

    /// The rows left, as values of a type, one by one; batches are fetched as they are needed.
    pub fn records<T: DeserializeOwned + Send + 'static>(self) -> impl Stream<Item = Result<T>> + Send + Unpin {
        let rows =
            |batch: RecordBatch| records::<T>(&batch).map(|rows| futures::stream::iter(rows.into_iter().map(Ok)));
        self.map(move |batch| batch.and_then(rows)).try_flatten()
    }

    /// The rows left, one by one.
    pub fn rows(self) -> impl Stream<Item = Result<Row>> + Send + Unpin {
        self.map_ok(|batch| futures::stream::iter(Row::of_batch(&batch).map(Ok).collect::<Vec<_>>())).try_flatten()
    }

    /// All batches left.
    pub async fn collect_batches(mut self) -> Result<(Vec<RecordBatch>, Option<StructType>, ExecutionInfo)> {
        let mut batches = Vec::new();
        while let Some(batch) = self.next_batch().await? {
            batches.push(batch);
        }
        let mut reader = self.reader.ok_or_else(|| Error::protocol("the result is being read"))?;
        Ok((batches, reader.schema.take(), std::mem::take(&mut reader.info)))
    }

    /// The next answer of a command.
    pub(crate) async fn next_answer(&mut self) -> Result<Option<ResponseType>> {
        match &mut self.reader {
            Some(reader) => reader.next_answer().await,
            None => Ok(None),
        }
    }

    fn poll_batch(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<RecordBatch>>> {
        if self.read.is_none() {
            let Some(mut reader) = self.reader.take() else {
                return Poll::Ready(Ok(None));
            };
            if let Some(batch) = reader.ready.pop_front() {
                self.reader = Some(reader);
                return Poll::Ready(Ok(Some(batch)));
            }
            self.read = Some(Box::pin(async move {
                let batch = reader.next_batch().await;
                (reader, batch)
            }));
        }
        let Some(read) = &mut self.read else {
            return Poll::Ready(Ok(None));
        };
        let (reader, batch) = std::task::ready!(read.as_mut().poll(context));
        self.read = None;
        self.reader = Some(reader);
        Poll::Ready(batch)
    }
}

impl Stream for BatchStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_batch(context).map(Result::transpose)
    }
}

impl Reader {
    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            match self.next_answer().await? {
                Some(ResponseType::ArrowBatch(batch)) => self.take(batch)?,
                Some(_) => {}
                None if self.chunks.is_empty() => return Ok(None),
                None => return Err(Error::protocol("the result ends within a batch")),
            }
        }
    }

    /// The next response that is not about the execution itself.
    async fn next_answer(&mut self) -> Result<Option<ResponseType>> {
        loop {
            let response = match self.responses.next().await {
                Ok(Some(response)) => response,
                end => {
                    self.tell_end();
                    return end.map(|_| None);
                }
            };
            if let Some(schema) = &response.schema {
                self.schema = Some(types::schema_from_proto(schema)?);
            }
            if response.metrics.is_some() {
                self.info.metrics = response.metrics;
            }
            for metrics in &response.observed_metrics {
                self.session.transport.observations.tell(metrics)?;
            }
            match response.response_type {
                Some(ResponseType::ExecutionProgress(of)) => {
                    let progress = progress(self.responses.operation_id(), &of);
                    self.session.transport.progress.tell(&progress);
                }
                Some(ResponseType::ResultComplete(_)) | None => {}
                Some(answer) => return Ok(Some(answer)),
            }
        }
    }

    /// Adds a batch, or a part of one.
    fn take(&mut self, batch: ArrowBatch) -> Result<()> {
        let chunks = batch.num_chunks_in_batch.unwrap_or(1);
        if self.chunks.is_empty() && batch.start_offset.is_some_and(|offset| offset != self.rows) {
            return Err(Error::protocol(format!("rows begin at {:?} instead of {}", batch.start_offset, self.rows)));
        }
        if batch.chunk_index.is_some_and(|index| usize::try_from(index) != Ok(self.chunks.len())) {
            return Err(Error::protocol("parts of a batch out of order"));
        }
        self.chunks.push(batch.data);
        if usize::try_from(chunks).is_ok_and(|chunks| self.chunks.len() < chunks) {
            return Ok(());
        }
        let bytes = joined(std::mem::take(&mut self.chunks));
        let mut rows = 0;
        let mut buffer = Buffer::from(bytes);
        let mut decoder = StreamDecoder::new();
        while !buffer.is_empty() {
            if let Some(batch) = decoder.decode(&mut buffer)? {
                rows += i64::try_from(batch.num_rows()).unwrap_or(i64::MAX);
                self.ready.push_back(batch);
            }
        }
        decoder.finish()?;
        if rows != batch.row_count {
            return Err(Error::protocol(format!("{rows} rows in a batch of {}", batch.row_count)));
        }
        self.rows += rows;
        Ok(())
    }

    /// Tells progress handlers, once, that it is over.
    fn tell_end(&mut self) {
        if !std::mem::replace(&mut self.told, true) {
            let operation_id = self.responses.operation_id().to_string();
            self.session.transport.progress.tell(&Progress { operation_id, done: true, ..Progress::default() });
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.tell_end();
    }
}

/// The parts of a batch in one piece; one part is not copied.
fn joined(mut chunks: Vec<Bytes>) -> Bytes {
    if let [_] = chunks.as_slice() {
        return chunks.pop().unwrap_or_default();
    }
    let mut bytes = BytesMut::with_capacity(chunks.iter().map(Bytes::len).sum());
    for chunk in chunks {
        bytes.extend_from_slice(&chunk);
    }
    bytes.freeze()
}
