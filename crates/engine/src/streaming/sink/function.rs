//! Functions in Python that take the rows of streams.

use super::Written;
use crate::execution;
use crate::python::WorkerContext;
use crate::session::{Session, blocking};
use crate::streaming::memory::{piece, piece_plan};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use firesteel_analyzer::resolved::engine_error;
use firesteel_analyzer::{Resolved, attribute};
use firesteel_error::{Result, SparkError};
use firesteel_plan::StreamFunction;
use firesteel_python::eval_type::Shape;
use firesteel_python::planner::PlannerError;
use firesteel_python::planner::batch_function::BatchWorker;
use firesteel_python::rows::RowPickler;
use firesteel_python::task::Payload;
use firesteel_python::{EvalType, Input, InputFormat, Output, OutputFormat, Task, TaskContext};
use firesteel_types::client::{client_batch, client_schema};
use futures::{StreamExt, stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Calls a function with each batch as a DataFrame.
pub(in crate::streaming) struct BatchFunction {
    function: StreamFunction,
    worker: Option<BatchWorker>,
}

impl BatchFunction {
    pub fn new(function: StreamFunction) -> Self {
        Self { function, worker: None }
    }

    /// Keeps the rows of the batch while the function runs: its own client asks for them.
    pub async fn call(&mut self, session: &Arc<Session>, batch: i64, rows: &Resolved) -> Result<Written> {
        let physical = execution::plan(session.state(), &piece_plan(rows)?).await?;
        let piece = piece(session, rows, "ForeachBatch")?;
        piece.fill(physical.clone(), session.state().task_ctx()).await?;
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Self::start(&self.function, session).await?,
        };
        let kept = Kept { session: session.clone(), id: session.engine().kept().put(&session.key(), piece) };
        session.check_open()?;
        let called = worker.call(&kept.id, batch).await;
        drop(kept);
        called.map_err(|error| failed(session, error))?;
        self.worker = Some(worker);
        Ok(Written { rows: -1, physical })
    }

    async fn start(function: &StreamFunction, session: &Arc<Session>) -> Result<BatchWorker> {
        let url = session.engine().client_url(session.user_id())?;
        let mut context = context(session).await?;
        context.environment.variables.push(("SPARK_CONNECT_LOCAL_URL".to_string(), url));
        context.environment.variables.push(("USER".to_string(), session.user_id().to_string()));
        let started = BatchWorker::start(
            &context.pool,
            &context.environment,
            &function.python_version,
            session.session_id(),
            &function.command,
        );
        started.await.map_err(|error| failed(session, error))
    }
}

/// Rows under an id, for as long as this lives.
struct Kept {
    session: Arc<Session>,
    id: String,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.session.engine().kept().remove(&self.session.key(), &self.id);
    }
}

fn failed(session: &Session, error: PlannerError) -> SparkError {
    error.into_error(|text| {
        let place = format!(
            "[session: {}] [userId: {}] Found error inside foreachBatch Python process",
            session.session_id(),
            session.user_id()
        );
        SparkError::new("PYTHON_EXCEPTION").with("msg", place).with("traceback", text)
    })
}

/// What workers are given now.
async fn context(session: &Arc<Session>) -> Result<WorkerContext> {
    let session = session.clone();
    blocking(move || session.python().context()).await
}

/// Calls a function with the rows of each partition.
pub(in crate::streaming) struct RowFunction {
    function: StreamFunction,
}

impl RowFunction {
    pub fn new(function: StreamFunction) -> Self {
        Self { function }
    }

    /// Partitions follow each other. Gives the number of rows.
    pub async fn call(
        &self,
        session: &Arc<Session>,
        batch: i64,
        rows: &Resolved,
        physical: Arc<dyn ExecutionPlan>,
    ) -> Result<i64> {
        let context = context(session).await?;
        let schema = attribute::schema_of(&rows.output);
        let sent = Arc::new(client_schema(&schema, &context.settings.time_zone, false));
        let pickler = Arc::new(RowPickler::of_schema(schema, context.settings.binary_as_bytes).with_names());
        let mut count = 0;
        for partition in 0..physical.output_partitioning().partition_count() {
            let stream = physical.execute(partition, session.state().task_ctx()).map_err(engine_error)?;
            let counted = Arc::new(AtomicI64::new(0));
            let size = context.settings.pickled_rows.max(1);
            let (pickler, sent, counter) = (pickler.clone(), sent.clone(), counted.clone());
            let pickled = stream.map(move |found| {
                let found = client_batch(&found.map_err(engine_error)?, &sent)?;
                counter.fetch_add(i64::try_from(found.num_rows()).unwrap_or(0), Ordering::Relaxed);
                pickler.batches(found.columns(), found.num_rows(), size)
            });
            let input = pickled
                .flat_map(|pieces| match pieces {
                    Ok(pieces) => stream::iter(pieces.into_iter().map(|p| Ok(Input::Pickled(p))).collect::<Vec<_>>()),
                    Err(error) => stream::iter(vec![Err(error)]),
                })
                .boxed();
            let format = InputFormat { shape: Shape::Rows, schemas: Vec::new() };
            let task = self.task(&context, batch, partition);
            let (pool, environment) = (context.pool.clone(), context.environment.clone());
            let mut output = firesteel_python::run(pool, environment, task, format, OutputFormat::Pickled, input);
            while let Some(piece) = output.next().await {
                if let Output::Report(report) = piece? {
                    context.note(report.accumulators);
                }
            }
            count += counted.load(Ordering::Relaxed);
        }
        Ok(count)
    }

    fn task(&self, context: &WorkerContext, batch: i64, partition: usize) -> Task {
        Task {
            eval_type: EvalType::BARE,
            context: TaskContext {
                partition: i32::try_from(partition).unwrap_or(i32::MAX),
                properties: vec![("streaming.sql.batchId".to_string(), batch.to_string())],
                ..TaskContext::default()
            },
            python_version: self.function.python_version.clone(),
            runner: context.settings.runner.clone(),
            evaluation: Vec::new(),
            payload: Payload::Bare(self.function.command.clone()),
            profiler: None,
            patience: context.settings.patience,
        }
    }
}
