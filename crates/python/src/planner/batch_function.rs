//! A worker that calls one function with frames, each by its id, for as long as a streaming query runs.

use super::PlannerError;
use crate::run::crashed;
use crate::wire::{self, Encode, broken, special};
use crate::{Environment, Worker, WorkerPool, WorkerVersion};
use firesteel_error::SparkError;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// The module of PySpark that such workers run.
const MODULE: &str = "pyspark.sql.connect.streaming.worker.foreach_batch_worker";

/// A worker with its function. It is killed when it is dropped.
pub struct BatchWorker {
    worker: Worker,
    session_id: String,
    version: WorkerVersion,
}

impl BatchWorker {
    /// Starts a worker, whose client finds the session at the address in `SPARK_CONNECT_LOCAL_URL`.
    pub async fn start(
        pool: &Arc<WorkerPool>,
        environment: &Environment,
        python_version: &str,
        session_id: &str,
        command: &[u8],
    ) -> Result<Self, PlannerError> {
        let version = environment.interpreter.version;
        let worker = pool.fresh_worker(environment).await?;
        let mut started = Self { worker, session_id: session_id.to_string(), version };
        let mut message = Vec::with_capacity(command.len() + 256);
        message.put_text(MODULE);
        message.put_text(python_version);
        message.put_text(session_id);
        message.put_bytes(command);
        started.exchange(&message).await?;
        Ok(started)
    }

    /// Calls the function with the frame of an id and the number of its batch.
    pub async fn call(&mut self, frame: &str, batch: i64) -> Result<(), PlannerError> {
        let mut message = Vec::with_capacity(128);
        message.put_text(frame);
        message.put_long(batch);
        if self.version >= WorkerVersion::V4_3 {
            let session_id = self.session_id.clone();
            message.put_text(&session_id);
        }
        self.exchange(&message).await
    }

    async fn exchange(&mut self, message: &[u8]) -> Result<(), PlannerError> {
        let Some(writer) = self.worker.writer.as_mut() else {
            return Err(SparkError::internal("a worker without its socket").into());
        };
        let written = match writer.write_all(message).await {
            Ok(()) => writer.flush().await,
            Err(error) => Err(error),
        };
        written.map_err(|error| PlannerError::from(crashed(&error, None)))?;
        let reader = &mut self.worker.reader;
        match wire::read_int(reader).await.map_err(|error| PlannerError::from(crashed(&error, None)))? {
            0 => Ok(()),
            special::PYTHON_EXCEPTION_THROWN => {
                let text = wire::read_text(reader).await.map_err(|error| PlannerError::from(crashed(&error, None)))?;
                Err(PlannerError::Python(text))
            }
            other => Err(broken(format!("the number {other} where a batch has ended")).into()),
        }
    }
}
