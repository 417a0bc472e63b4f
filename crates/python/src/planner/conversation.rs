//! One question to a worker, and its answer piece by piece.

use crate::daemon::Writer;
use crate::run::crashed;
use crate::wire::{self, Encode, broken, special};
use crate::{Environment, Worker, WorkerPool, WorkerVersion, task};
use bytes::Bytes;
use firesteel_error::SparkError;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinHandle;

/// How long a worker may take to say that it is free.
const FINISH_TIME: Duration = Duration::from_secs(1);

/// Why a worker gave no answer.
#[derive(Debug)]
pub enum PlannerError {
    /// User code, or the worker's checks of it, failed with this text.
    Python(String),
    /// A data source that was ready failed with this text when it was asked for its partitions.
    Partitions(String),
    Other(SparkError),
}

impl PlannerError {
    /// An error for users, given that of Python's text.
    pub fn into_error(self, of_python: impl FnOnce(String) -> SparkError) -> SparkError {
        match self {
            Self::Python(text) | Self::Partitions(text) => of_python(text),
            Self::Other(error) => error,
        }
    }
}

impl From<SparkError> for PlannerError {
    fn from(error: SparkError) -> Self {
        Self::Other(error)
    }
}

/// What is asked.
pub(super) struct Question<'a> {
    /// The module of PySpark that answers.
    pub module: &'static str,
    /// The Python of the pickled functions, `3.11`.
    pub python_version: &'a str,
    /// Settings for the worker; workers before 4.2 take none.
    pub settings: &'a [(String, String)],
    /// What the module reads after the files.
    pub body: Vec<u8>,
}

/// An answer being read. The worker is killed where the answer is not read to its end.
pub(super) struct Conversation {
    worker: Worker,
    writing: Writing,
}

/// The task that writes; it ends with its owner.
struct Writing(Option<JoinHandle<io::Result<Writer>>>);

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.abort();
        }
    }
}

impl Conversation {
    pub async fn ask(
        pool: &Arc<WorkerPool>,
        environment: &Environment,
        question: Question<'_>,
    ) -> Result<Self, PlannerError> {
        let version = environment.interpreter.version;
        if version < WorkerVersion::V4_0 {
            let what = format!("{} in workers of PySpark 3.5", question.module);
            return Err(SparkError::unsupported(what).into());
        }
        let mut message = Vec::with_capacity(question.body.len() + 1024);
        message.put_text(question.module);
        message.put_text(question.python_version);
        task::files(&mut message, environment);
        if version >= WorkerVersion::V4_2 {
            message.put_pairs(question.settings);
        }
        message.extend(question.body);
        // The worker keeps its answer back until it has seen the end.
        message.put_int(special::END_OF_STREAM);
        let mut worker = pool.worker(environment).await?;
        let Some(mut writer) = worker.writer.take() else {
            return Err(SparkError::internal("a worker without its socket").into());
        };
        // The worker may answer before it has read all.
        let writing = tokio::spawn(async move {
            writer.write_all(&message).await?;
            writer.flush().await?;
            Ok::<_, io::Error>(writer)
        });
        Ok(Self { worker, writing: Writing(Some(writing)) })
    }

    /// A number, which is not negative.
    pub async fn count(&mut self) -> Result<usize, PlannerError> {
        let number = wire::read_int(&mut self.worker.reader).await.map_err(gone)?;
        if number == special::PYTHON_EXCEPTION_THROWN {
            let text = wire::read_text(&mut self.worker.reader).await.map_err(gone)?;
            return Err(PlannerError::Python(text));
        }
        usize::try_from(number).map_err(|_| broken(format!("the number {number} in an answer")).into())
    }

    pub async fn flag(&mut self) -> Result<bool, PlannerError> {
        Ok(self.count().await? != 0)
    }

    pub async fn bytes(&mut self) -> Result<Bytes, PlannerError> {
        let length = self.count().await?;
        wire::read_exactly(&mut self.worker.reader, length).await.map(Bytes::from).map_err(gone)
    }

    pub async fn text(&mut self) -> Result<String, PlannerError> {
        Ok(String::from_utf8_lossy(&self.bytes().await?).into_owned())
    }

    /// Reads the end of the answer: pickled updates of accumulators. The worker is free then.
    pub async fn finish(mut self) -> Result<Vec<Bytes>, PlannerError> {
        let mut accumulators = Vec::new();
        for _ in 0..self.count().await? {
            accumulators.push(self.bytes().await?);
        }
        let Some(writing) = self.writing.0.take() else { return Ok(accumulators) };
        let Ok(Ok(writer)) = writing.await else { return Ok(accumulators) };
        let end = wire::read_int(&mut self.worker.reader);
        if matches!(tokio::time::timeout(FINISH_TIME, end).await, Ok(Ok(special::END_OF_STREAM))) {
            self.worker.release(writer);
        }
        Ok(accumulators)
    }
}

fn gone(error: io::Error) -> PlannerError {
    crashed(&error, None).into()
}
