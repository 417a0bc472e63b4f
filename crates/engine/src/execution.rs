//! A running query.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use firesteel_error::Result;
use firesteel_types::{Literal, StructType};
use futures::stream::BoxStream;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a query or command runs under.
#[derive(Debug, Clone)]
pub struct RunContext {
    pub operation_id: String,
    pub tags: Vec<String>,
    /// Cancelled by interrupts, client loss, session end and shutdown. The
    /// execution's stream then ends with `OPERATION_CANCELED`.
    pub cancel: CancellationToken,
}

/// A query whose rows are made as the stream is polled.
pub struct Execution {
    pub schema: StructType,
    /// The schema of the batches: Spark's Arrow types for clients, with the session's time zone.
    pub arrow_schema: SchemaRef,
    /// Batches as clients expect them, of any number of rows; slicing to messages is the server's.
    pub batches: BoxStream<'static, Result<RecordBatch>>,
    /// Facts to be read while it runs and when it has ended.
    pub status: Arc<dyn ExecutionStatus>,
}

/// What can be asked of a query while it runs and after.
pub trait ExecutionStatus: Send + Sync {
    /// How far it is.
    fn progress(&self) -> Progress;
    /// Metrics of the operators, complete when the stream has ended.
    fn metrics(&self) -> Vec<OperatorMetrics>;
    /// Observations (`df.observe`), complete when the stream has ended.
    fn observed(&self) -> Vec<ObservedMetrics>;
}

#[derive(Debug, Clone, Default)]
pub struct Progress {
    pub stages: Vec<Stage>,
    pub tasks_in_flight: i64,
}

#[derive(Debug, Clone, Default)]
pub struct Stage {
    pub id: i64,
    pub tasks: i64,
    pub completed_tasks: i64,
    pub input_bytes: i64,
    pub is_done: bool,
}

#[derive(Debug, Clone)]
pub struct OperatorMetrics {
    pub name: String,
    pub plan_id: i64,
    pub parent: i64,
    pub metrics: Vec<Metric>,
}

#[derive(Debug, Clone)]
pub struct Metric {
    pub name: String,
    pub value: i64,
    pub kind: MetricKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Sum,
    Timing,
    Size,
}

#[derive(Debug, Clone)]
pub struct ObservedMetrics {
    pub name: String,
    pub keys: Vec<String>,
    pub values: Vec<Literal>,
    pub plan_id: i64,
}
