//! The task of an operation: runs the plan and pushes the responses.

use crate::decode::{DecodedCommand, Decoder, not_set};
use crate::operations::{Delivery, Operation};
use crate::response_buffer::Closed;
use crate::result::{BatchEncoder, Slicing, whole_stream};
use crate::sessions::ServerSession;
use crate::{decompress, encode, errors, streaming};
use firesteel_config::{Reader, keys};
use firesteel_engine::{CommandOutput, Execution, Progress, RunContext, SqlResult, StreamingEvents};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Command, Relation};
use firesteel_proto::connect as proto;
use futures::{FutureExt, StreamExt};
use proto::execute_plan_response::{ArrowBatch, ResponseType, ResultComplete, SqlCommandResult};
use proto::plan::OpType;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior};

/// How long rows wait for more before they are sent.
const LINGER: Duration = Duration::from_millis(20);

/// How long an operation works before progress is told for the first time.
const FIRST_PROGRESS: Duration = Duration::from_millis(100);

/// How long a cancelled command may take to clean up.
const GRACE: Duration = Duration::from_secs(10);

/// Runs the operation to its end. A panic fails this operation only.
pub async fn run(session: Arc<ServerSession>, operation: Arc<Operation>, plan: Arc<proto::Plan>) {
    let task = Task { session, operation: operation.clone() };
    let result = AssertUnwindSafe(task.run(&plan)).catch_unwind().await;
    drop(plan);
    operation.finish(result.unwrap_or_else(|payload| Err(errors::panicked(payload.as_ref()))));
    drop(task);
}

struct Task {
    session: Arc<ServerSession>,
    operation: Arc<Operation>,
}

/// The client is gone or the operation was stopped: what we say is not heard.
impl From<Closed> for SparkError {
    fn from(_: Closed) -> Self {
        SparkError::new("OPERATION_CANCELED")
    }
}

impl Task {
    async fn run(&self, plan: &proto::Plan) -> Result<()> {
        let unpacked = match plan.op_type.as_ref() {
            Some(OpType::CompressedOperation(operation)) => Some(decompress::operation(operation)?),
            _ => None,
        };
        let mut last = match unpacked.as_ref().or(plan.op_type.as_ref()) {
            Some(OpType::Root(relation)) => {
                let relation = self.decoder().relation(relation)?;
                self.query(relation).await?
            }
            Some(OpType::Command(command)) => {
                let command = self.decoder().command(command)?;
                self.command(command).await?;
                proto::ExecutePlanResponse::default()
            }
            Some(OpType::CompressedOperation(_)) | None => {
                return Err(not_set("Plan", "op_type"));
            }
        };
        let accumulators = self.session.engine.take_accumulators();
        last.observed_metrics.extend(encode::observed(accumulators.as_slice()));
        // Clients acknowledge each response by a request: what belongs together comes as one.
        if self.operation.delivery.is_reattachable {
            last.response_type = Some(ResponseType::ResultComplete(ResultComplete {}));
        }
        if last != proto::ExecutePlanResponse::default() { self.send_before(last).await } else { Ok(()) }
    }

    fn decoder(&self) -> Decoder<'_> {
        Decoder::new(self.session.as_ref())
    }

    fn context(&self) -> RunContext {
        RunContext {
            operation_id: self.operation.id.clone(),
            tags: self.operation.tags.clone(),
            cancel: self.operation.cancel.clone(),
        }
    }

    /// Runs a query; what is to be said after its last row is given back.
    async fn query(&self, relation: Relation) -> Result<proto::ExecutePlanResponse> {
        let mut ticks = self.ticks();
        let starting = self.session.engine.execute(relation, self.context());
        let execution = self.with_progress(starting, &mut ticks).await?;
        self.rows(execution, &mut ticks).await
    }

    /// Sends the schema, with the first rows if they come soon, and the rows.
    async fn rows(&self, execution: Execution, ticks: &mut Option<Interval>) -> Result<proto::ExecutePlanResponse> {
        let Execution { schema, arrow_schema, mut batches, status } = execution;
        let mut schema = Some(encode::schema(&schema));
        let mut encoder = BatchEncoder::new(arrow_schema, self.slicing(self.operation.delivery))?;
        loop {
            let batch = tokio::select! {
                biased;
                () = self.operation.cancel.cancelled() => return Err(SparkError::new("OPERATION_CANCELED")),
                batch = batches.next() => batch,
                () = tick(ticks) => {
                    self.report(&status.progress()).await?;
                    continue;
                }
                () = tokio::time::sleep(LINGER), if schema.is_some() || encoder.has_waiting() => {
                    self.push_batches(encoder.flush()?, &mut schema).await?;
                    if schema.is_some() {
                        self.send(proto::ExecutePlanResponse { schema: schema.take(), ..Default::default() }).await?;
                    }
                    continue;
                }
            };
            match batch {
                Some(batch) => self.push_batches(encoder.add(batch?)?, &mut schema).await?,
                None => break,
            }
        }
        for batch in encoder.finish()? {
            self.send_before(batch_response(batch, &mut schema)).await?;
        }
        Ok(proto::ExecutePlanResponse {
            metrics: Some(encode::metrics(&status.metrics())),
            observed_metrics: encode::observed(&status.observed()),
            ..Default::default()
        })
    }

    fn slicing(&self, delivery: Delivery) -> Slicing {
        Slicing::new(&self.session.engine.config().read(), self.session.limits.batch_size, delivery)
    }

    /// Sends rows, the first of them with the schema.
    async fn push_batches(&self, batches: Vec<ArrowBatch>, schema: &mut Option<proto::DataType>) -> Result<()> {
        for batch in batches {
            self.send(batch_response(batch, schema)).await?;
        }
        Ok(())
    }

    async fn command(&self, command: DecodedCommand) -> Result<()> {
        match command {
            DecodedCommand::Engine(command) => {
                let is_quiet = matches!(command, Command::RemoveCachedRemoteRelation { .. });
                match self.engine_command(command, is_quiet).await? {
                    CommandOutput::Checkpoint { relation_id } => {
                        let relation = Some(proto::CachedRemoteRelation { relation_id });
                        self.push_result(ResponseType::CheckpointCommandResult(proto::CheckpointCommandResult {
                            relation,
                        }))
                        .await?;
                    }
                    CommandOutput::Streaming(reply) => self.push_result(streaming::response(reply)).await?,
                    CommandOutput::None | CommandOutput::Sql(_) => {}
                }
            }
            DecodedCommand::Sql { relation, request } => {
                let relation = match self.engine_command(Command::Sql(relation), false).await? {
                    CommandOutput::Sql(SqlResult::Rows { schema, batches }) => {
                        let local = proto::LocalRelation { data: Some(whole_stream(&schema, &batches)?), schema: None };
                        proto::Relation { common: None, rel_type: Some(proto::relation::RelType::LocalRelation(local)) }
                    }
                    _ => *request,
                };
                self.push_result(ResponseType::SqlCommandResult(SqlCommandResult { relation: Some(relation) })).await?;
            }
            DecodedCommand::GetResources => {
                self.push_result(ResponseType::GetResourcesCommandResult(Default::default())).await?;
            }
            DecodedCommand::Listen => self.listen().await?,
            DecodedCommand::Unlisten => self.session.engine.streaming().unlisten(),
            DecodedCommand::ForgetModels => {
                self.push_result(ResponseType::MlCommandResult(Default::default())).await?;
            }
        }
        Ok(())
    }

    /// Tells the events of streaming queries until nobody listens any more.
    async fn listen(&self) -> Result<()> {
        let Some(mut events) = self.session.engine.streaming().listen() else {
            return Err(SparkError::unsupported("several buses of listeners in one session"));
        };
        let told = self.tell(&mut events).await;
        // The client may be gone without a word.
        self.session.engine.streaming().unlisten();
        told
    }

    async fn tell(&self, events: &mut StreamingEvents) -> Result<()> {
        self.send(streaming::listening()).await?;
        loop {
            let event = tokio::select! {
                biased;
                () = self.operation.cancel.cancelled() => return Err(SparkError::new("OPERATION_CANCELED")),
                event = events.next() => event,
            };
            match event {
                Some(event) => self.send(streaming::event(event)).await?,
                None => return Ok(()),
            }
        }
    }

    async fn engine_command(&self, command: Command, is_quiet: bool) -> Result<CommandOutput> {
        let running = self.session.engine.run_command(command, self.context());
        if is_quiet {
            return running.await;
        }
        let mut ticks = self.ticks();
        self.with_progress(running, &mut ticks).await
    }

    /// Waits for the engine, says from time to time that it works, and stops when told to.
    async fn with_progress<T>(&self, work: impl Future<Output = Result<T>>, ticks: &mut Option<Interval>) -> Result<T> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                () = self.operation.cancel.cancelled() => {
                    // The engine has been told as well; a command may want to undo what it has begun.
                    let _ = tokio::time::timeout(GRACE, work).await;
                    return Err(SparkError::new("OPERATION_CANCELED"));
                }
                result = &mut work => return result,
                () = tick(ticks) => self.report(&Progress::default()).await?,
            }
        }
    }

    /// Ticks at which progress is told; none where the user wants none.
    fn ticks(&self) -> Option<Interval> {
        let millis = self.session.engine.config().read().integer(keys::PROGRESS_INTERVAL);
        let period = Duration::from_millis(u64::try_from(millis).ok().filter(|millis| *millis > 0)?);
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + period.min(FIRST_PROGRESS), period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Some(ticks)
    }

    /// Tells progress, unless the client does not even keep up with the rows.
    async fn report(&self, progress: &Progress) -> Result<()> {
        if self.operation.buffer.is_full() {
            return Ok(());
        }
        let response_type = Some(ResponseType::ExecutionProgress(encode::progress(progress)));
        self.send(proto::ExecutePlanResponse { response_type, ..Default::default() }).await
    }

    /// Sends what a command gives: the end follows it.
    async fn push_result(&self, response: ResponseType) -> Result<()> {
        self.send_before(proto::ExecutePlanResponse { response_type: Some(response), ..Default::default() }).await
    }

    async fn send(&self, response: proto::ExecutePlanResponse) -> Result<()> {
        Ok(self.operation.buffer.push(self.addressed(response)).await?)
    }

    /// Sends a response together with what follows it at once.
    async fn send_before(&self, response: proto::ExecutePlanResponse) -> Result<()> {
        Ok(self.operation.buffer.push_before(self.addressed(response)).await?)
    }

    fn addressed(&self, response: proto::ExecutePlanResponse) -> proto::ExecutePlanResponse {
        proto::ExecutePlanResponse {
            session_id: self.session.key.session_id.clone(),
            server_side_session_id: self.session.server_side_id.clone(),
            operation_id: self.operation.id.clone(),
            ..response
        }
    }
}

/// A response with rows, and with the schema where that has not been sent.
fn batch_response(batch: ArrowBatch, schema: &mut Option<proto::DataType>) -> proto::ExecutePlanResponse {
    let response_type = Some(ResponseType::ArrowBatch(batch));
    proto::ExecutePlanResponse { response_type, schema: schema.take(), ..Default::default() }
}

async fn tick(ticks: &mut Option<Interval>) {
    match ticks {
        Some(ticks) => {
            ticks.tick().await;
        }
        None => std::future::pending().await,
    }
}
