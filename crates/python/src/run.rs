//! One task at one worker: input and output stream at the same time.

use crate::daemon::Writer;
use crate::eval_type::Shape;
use crate::frame::{ArrowDecoder, ArrowEncoder, ReadError};
use crate::wire::{self, Encode, broken, internal, special};
use crate::{Environment, Task, Worker, WorkerPool, WorkerVersion};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use firesteel_error::{ExceptionClass, Result, SparkError};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The module of PySpark that runs tasks.
const MODULE: &str = "pyspark.worker";

/// Bytes that are gathered before they are written.
const WRITE_SIZE: usize = 1 << 16;

/// How long the writing half may take to finish when the worker has.
const FINISH_TIME: Duration = Duration::from_millis(200);

/// A piece of a task's input.
pub enum Input {
    /// A batch of the one stream.
    Batch(RecordBatch),
    /// A part of a group; the last part ends it.
    GroupPart { batch: RecordBatch, is_last: bool },
    /// A group of two frames.
    CoGroup([Vec<RecordBatch>; 2]),
    /// A pickled batch of rows.
    Pickled(Vec<u8>),
}

/// The form of the input.
#[derive(Debug, Clone)]
pub struct InputFormat {
    pub shape: Shape,
    /// Of the stream, or of each frame of a group.
    pub schemas: Vec<SchemaRef>,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    Arrow,
    Pickled,
}

/// A piece of a task's output.
pub enum Output {
    Batch(RecordBatch),
    Pickled(Vec<u8>),
    /// The last piece of a task that ended well.
    Report(Report),
}

/// What a worker says at its end.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Pickled pairs of id and value.
    pub accumulators: Vec<Bytes>,
}

/// Runs a task. The worker is taken when the stream is first polled, and killed when the stream is dropped before its end.
pub fn run(
    pool: Arc<WorkerPool>,
    environment: Environment,
    task: Task,
    format: InputFormat,
    output: OutputFormat,
    input: BoxStream<'static, Result<Input>>,
) -> BoxStream<'static, Result<Output>> {
    let start = async move {
        let mut init = Vec::with_capacity(1024);
        init.put_text(MODULE);
        init.append(&mut task.encode(&environment)?);
        let mut worker = pool.worker(&environment).await?;
        let version = environment.interpreter.version;
        let failure = Arc::new(Failure::default());
        let silence = task.patience.map(Silence::new);
        let Some(writer) = worker.writer.take() else {
            return Err(SparkError::internal("a worker without its socket"));
        };
        let encoder = InputEncoder::new(format, version)?;
        let writing = tokio::spawn(write(writer, init, encoder, input, failure.clone(), silence.clone()));
        let (worker, writing) = (Some(worker), Writing(Some(writing)));
        Ok(Running { worker, writing, failure, silence, version, output, arrow: None })
    };
    stream::once(start)
        .flat_map(|started| match started {
            Ok(running) => stream::unfold(Some(running), |state| async move {
                let mut running = state?;
                match running.next().await {
                    Ok(output @ Output::Report(_)) => Some((Ok(output), None)),
                    Ok(output) => Some((Ok(output), Some(running))),
                    Err(error) => Some((Err(error), None)),
                }
            })
            .boxed(),
            Err(error) => stream::iter([Err(error)]).boxed(),
        })
        .boxed()
}

/// An error of the input, which the reading half waits for.
#[derive(Default)]
struct Failure {
    error: Mutex<Option<SparkError>>,
    notify: Notify,
}

/// How long a worker that has input has said nothing.
#[derive(Debug, Clone)]
struct Silence {
    patience: Duration,
    state: Arc<Mutex<SilenceState>>,
}

#[derive(Debug)]
struct SilenceState {
    since: Instant,
    /// Nobody expects a word of a worker whose input is still being made.
    is_without_input: bool,
}

impl Silence {
    fn new(patience: Duration) -> Self {
        let state = SilenceState { since: Instant::now(), is_without_input: true };
        Self { patience, state: Arc::new(Mutex::new(state)) }
    }

    fn restart(&self) {
        self.state.lock().since = Instant::now();
    }

    /// Notes whether the worker has to wait for its input.
    fn set_without_input(&self, is_without_input: bool) {
        *self.state.lock() = SilenceState { since: Instant::now(), is_without_input };
    }

    /// Waits until the silence has lasted too long.
    async fn lasts(&self) {
        loop {
            let left = {
                let state = self.state.lock();
                let passed = if state.is_without_input { Duration::ZERO } else { state.since.elapsed() };
                self.patience.saturating_sub(passed)
            };
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }
}

/// Waits until a worker has been silent for too long; for ever where nobody minds.
async fn silent(silence: Option<Silence>) {
    match silence {
        Some(silence) => silence.lasts().await,
        None => std::future::pending().await,
    }
}

/// The task that writes; it ends with its owner.
struct Writing(Option<JoinHandle<Option<Writer>>>);

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.abort();
        }
    }
}

struct Running {
    worker: Option<Worker>,
    writing: Writing,
    failure: Arc<Failure>,
    silence: Option<Silence>,
    version: WorkerVersion,
    output: OutputFormat,
    arrow: Option<ArrowDecoder>,
}

impl Running {
    async fn next(&mut self) -> Result<Output> {
        let (failure, silence) = (self.failure.clone(), self.silence.clone());
        if let Some(silence) = &silence {
            silence.restart();
        }
        let result = tokio::select! {
            biased;
            () = failure.notify.notified() => Err(ReadError::Io(io::ErrorKind::Interrupted.into())),
            result = self.read() => result,
            () = silent(silence.clone()) => Err(ReadError::Content(gave_up(silence))),
        };
        match result {
            Ok(output) => {
                if let Output::Report(_) = output {
                    self.finish().await?;
                }
                Ok(output)
            }
            Err(error) => Err(match (self.failure.error.lock().take(), error) {
                (Some(error), _) | (None, ReadError::Content(error)) => error,
                (None, ReadError::Io(error)) => crashed(&error, self.worker.as_ref().and_then(Worker::fault)),
            }),
        }
    }

    async fn read(&mut self) -> Result<Output, ReadError> {
        let Some(worker) = self.worker.as_mut() else {
            return Err(ReadError::Content(SparkError::internal("a worker that has ended")));
        };
        let reader = &mut worker.reader;
        loop {
            if let Some(decoder) = &mut self.arrow {
                match decoder.next(reader).await? {
                    Some(batch) => return Ok(Output::Batch(batch)),
                    None => self.arrow = None,
                }
            }
            match wire::read_int(reader).await? {
                special::START_ARROW_STREAM if self.output == OutputFormat::Arrow => {
                    self.arrow = Some(ArrowDecoder::default());
                }
                special::PYTHON_EXCEPTION_THROWN => {
                    return Err(ReadError::Content(exception(&wire::read_text(reader).await?)));
                }
                special::TIMING_DATA => {
                    let longs = if self.version >= WorkerVersion::V4_2 { 6 } else { 5 };
                    for _ in 0..longs {
                        wire::read_long(reader).await?;
                    }
                }
                special::END_OF_DATA_SECTION => {
                    let count = wire::read_int(reader).await?;
                    let mut accumulators = Vec::new();
                    for _ in 0..count {
                        accumulators.push(Bytes::from(wire::read_bytes(reader).await?));
                    }
                    return Ok(Output::Report(Report { accumulators }));
                }
                length if self.output == OutputFormat::Pickled && length >= 0 => {
                    let length = usize::try_from(length).unwrap_or(0);
                    return Ok(Output::Pickled(wire::read_exactly(reader, length).await?));
                }
                other => return Err(ReadError::Content(broken(format!("the number {other} where output begins")))),
            }
        }
    }

    /// Gives the worker back where it has taken all its input. Fails where the input broke off: the worker
    /// may have taken that for its end.
    async fn finish(&mut self) -> Result<()> {
        let (Some(mut worker), Some(mut writing)) = (self.worker.take(), self.writing.0.take()) else {
            return Ok(());
        };
        match tokio::time::timeout(FINISH_TIME, &mut writing).await {
            Ok(Ok(Some(writer))) => {
                let end = tokio::time::timeout(FINISH_TIME, wire::read_int(&mut worker.reader)).await;
                if matches!(end, Ok(Ok(special::END_OF_STREAM))) {
                    worker.release(writer);
                }
            }
            Ok(Ok(None)) => {
                if let Some(error) = self.failure.error.lock().take() {
                    return Err(error);
                }
            }
            Ok(Err(error)) => {
                return Err(SparkError::internal(format!("the input of a Python function broke off ({error})")));
            }
            Err(_) => writing.abort(),
        }
        Ok(())
    }
}

/// The error of a worker that is gone, with what it has left of a fault where such are kept.
pub(crate) fn crashed(error: &io::Error, fault: Option<String>) -> SparkError {
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => String::new(),
        _ => format!(" ({error})"),
    };
    let rest = match fault {
        Some(fault) => format!(": {}", fault.trim_end()),
        None => ". The function ended the process, used more memory than it may, or ran into a fault of native code. \
                 Consider setting 'spark.sql.execution.pyspark.udf.faulthandler.enabled' to 'true' for the better \
                 Python traceback."
            .to_string(),
    };
    SparkError::plain(ExceptionClass::Spark, format!("Python worker exited unexpectedly (crashed){reason}{rest}"))
}

/// The error of a worker that was silent for too long.
fn gave_up(silence: Option<Silence>) -> SparkError {
    let seconds = silence.map_or(0, |silence| silence.patience.as_secs());
    SparkError::plain(
        ExceptionClass::Spark,
        format!("Python worker process terminated due to idle timeout (timeout: {seconds} seconds)"),
    )
}

/// The error of an exception in user code.
pub fn exception(traceback: &str) -> SparkError {
    SparkError::new("PYTHON_EXCEPTION")
        .with("msg", "An exception was thrown from the Python worker")
        .with("traceback", traceback)
}

/// Writes all input; gives the socket back where all was written.
async fn write(
    mut writer: Writer,
    init: Vec<u8>,
    mut encoder: InputEncoder,
    mut input: BoxStream<'static, Result<Input>>,
    failure: Arc<Failure>,
    silence: Option<Silence>,
) -> Option<Writer> {
    let mut pending = init;
    // The worker begins to load the function while the first rows are made.
    writer.write_all(&pending).await.ok()?;
    writer.flush().await.ok()?;
    pending.clear();
    loop {
        note_input(&silence, false);
        let piece = input.next().await;
        note_input(&silence, true);
        let step = match piece {
            Some(Ok(piece)) => encoder.add(piece, &mut pending).map(|()| true),
            Some(Err(error)) => Err(error),
            None => encoder.finish(&mut pending).map(|()| false),
        };
        match step {
            Ok(true) => {
                if pending.len() >= WRITE_SIZE {
                    writer.write_all(&pending).await.ok()?;
                    pending.clear();
                }
            }
            Ok(false) => {
                writer.write_all(&pending).await.ok()?;
                writer.flush().await.ok()?;
                return Some(writer);
            }
            Err(error) => {
                *failure.error.lock() = Some(error);
                failure.notify.notify_one();
                return None;
            }
        }
    }
}

/// Notes whether the worker has all input that there is.
fn note_input(silence: &Option<Silence>, is_there: bool) {
    if let Some(silence) = silence {
        silence.set_without_input(!is_there);
    }
}

/// Turns input into bytes.
struct InputEncoder {
    format: InputFormat,
    /// The one stream, or the group's that is open.
    open: Option<ArrowEncoder>,
    /// Parts of the open group, for versions that take a group as one batch.
    parts: Option<Vec<RecordBatch>>,
}

impl InputEncoder {
    fn new(format: InputFormat, version: WorkerVersion) -> Result<Self> {
        let is_whole = format.shape == Shape::Groups && version < WorkerVersion::V4_1;
        let is_one = matches!(format.shape, Shape::Columns | Shape::Struct) || is_whole;
        let open = match format.schemas.first() {
            Some(schema) if is_one => Some(ArrowEncoder::new(schema)?),
            _ => None,
        };
        Ok(Self { format, open, parts: is_whole.then(Vec::new) })
    }

    fn schema(&self, frame: usize) -> Result<&SchemaRef> {
        self.format.schemas.get(frame).ok_or_else(|| SparkError::internal("a frame without a schema"))
    }

    fn add(&mut self, input: Input, out: &mut Vec<u8>) -> Result<()> {
        match input {
            Input::Pickled(bytes) => out.put_bytes(&bytes),
            Input::Batch(batch) => {
                let Some(open) = &mut self.open else { return Err(SparkError::internal("no stream is open")) };
                open.write(&batch)?;
                out.append(&mut open.take());
            }
            Input::GroupPart { batch, is_last } => self.add_part(batch, is_last, out)?,
            Input::CoGroup(frames) => {
                out.put_int(2);
                for (i, batches) in frames.iter().enumerate() {
                    let mut encoder = ArrowEncoder::new(self.schema(i)?)?;
                    for batch in batches {
                        encoder.write(batch)?;
                    }
                    encoder.finish_frame()?;
                    out.append(&mut encoder.take());
                }
            }
        }
        Ok(())
    }

    fn add_part(&mut self, batch: RecordBatch, is_last: bool, out: &mut Vec<u8>) -> Result<()> {
        if let Some(parts) = &mut self.parts {
            parts.push(batch);
            if is_last {
                let whole = concat_batches(&parts[0].schema(), parts.iter()).map_err(internal)?;
                parts.clear();
                return self.add(Input::Batch(whole), out);
            }
            return Ok(());
        }
        let mut encoder = match self.open.take() {
            Some(encoder) => encoder,
            None => {
                out.put_int(1);
                ArrowEncoder::new(self.schema(0)?)?
            }
        };
        if batch.num_rows() > 0 {
            encoder.write(&batch)?;
        }
        if is_last {
            encoder.finish_frame()?;
        }
        out.append(&mut encoder.take());
        if !is_last {
            self.open = Some(encoder);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if let Some(mut open) = self.open.take() {
            open.finish()?;
            out.append(&mut open.take());
        }
        match self.format.shape {
            Shape::Rows => out.put_int(special::END_OF_DATA_SECTION),
            Shape::Groups if self.parts.is_none() => out.put_int(0),
            Shape::CoGroups => out.put_int(0),
            _ => {}
        }
        out.put_int(special::END_OF_STREAM);
        Ok(())
    }
}
