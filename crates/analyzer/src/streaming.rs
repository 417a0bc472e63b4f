//! Streaming relations: tables whose rows keep coming, and operators that need to know what came before.
//!
//! They are analysed like others. A plan over such a table runs batch by batch only: whoever runs it
//! puts the rows of a batch in the table's place, and its own operators in the place of [`StreamingOperator`].

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, DataFusionError, Result as DfResult};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, TableType, UserDefinedLogicalNodeCore};
use datafusion::physical_plan::ExecutionPlan;
use firesteel_error::SparkError;
use firesteel_plan::DataSource;
use firesteel_types::StructType;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The metadata of a column with a watermark: how late rows may be, in milliseconds.
pub const WATERMARK_DELAY: &str = "spark.watermarkDelayMs";

/// A table whose rows keep coming. It cannot be scanned.
#[derive(Debug)]
pub struct StreamingTable {
    /// What is read; the format is in lower case.
    pub source: DataSource,
    /// The columns, with Spark's types.
    pub columns: StructType,
    /// Partition columns, where a catalog knows them.
    pub partition_columns: Option<Vec<String>>,
    /// What explanations call it: `rate`, `FileSource[/path]`.
    pub label: String,
    schema: SchemaRef,
}

impl StreamingTable {
    /// A table whose first columns are `columns`; metadata columns follow in `schema`.
    pub fn new(source: DataSource, columns: StructType, label: impl Into<String>, schema: SchemaRef) -> Self {
        Self { source, columns, partition_columns: None, label: label.into(), schema }
    }

    #[must_use]
    pub fn with_partition_columns(mut self, columns: Option<Vec<String>>) -> Self {
        self.partition_columns = columns;
        self
    }
}

#[async_trait]
impl TableProvider for StreamingTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        _projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Err(DataFusionError::External(Box::new(not_started())))
    }
}

/// What is special about rows of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd)]
pub enum StreamingKind {
    /// Rows whose time is this much below the latest time seen are late.
    Watermark { column: String, delay_millis: i64 },
    /// The first row of each key. `time` is the column with a watermark.
    Deduplicate { keys: Vec<String>, time: Option<String>, within_watermark: bool },
    /// The aggregates over all rows so far: the input is the aggregation. `time` is the position of the
    /// key that tells when a group is finished.
    Aggregate { time: Option<usize> },
    /// Spark has no such operator for this kind of relation, and says so.
    Refused(String),
    /// This server has none.
    Missing(String),
}

/// An operator over a stream. Its columns are its input's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StreamingOperator {
    pub kind: StreamingKind,
    pub input: LogicalPlan,
}

impl PartialOrd for StreamingOperator {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.kind.partial_cmp(&other.kind)
    }
}

impl UserDefinedLogicalNodeCore for StreamingOperator {
    fn name(&self) -> &str {
        "StreamingOperator"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StreamingKind::Watermark { column, delay_millis } => {
                write!(f, "EventTimeWatermark {column}, {delay_millis} ms")
            }
            StreamingKind::Deduplicate { keys, within_watermark: false, .. } => {
                write!(f, "Deduplicate [{}]", keys.join(", "))
            }
            StreamingKind::Deduplicate { keys, within_watermark: true, .. } => {
                write!(f, "DeduplicateWithinWatermark [{}]", keys.join(", "))
            }
            StreamingKind::Aggregate { .. } => write!(f, "StateStoreSave"),
            StreamingKind::Refused(_) | StreamingKind::Missing(_) => write!(f, "NotForStreams"),
        }
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> DfResult<Self> {
        let input = inputs.pop().unwrap_or_else(|| self.input.clone());
        Ok(Self { kind: self.kind.clone(), input })
    }
}

/// Puts an operator over a stream.
pub fn operator(input: LogicalPlan, kind: StreamingKind) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(StreamingOperator { kind, input }) })
}

/// The streaming operator that a node is.
pub fn operator_of(plan: &LogicalPlan) -> Option<&StreamingOperator> {
    match plan {
        LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref(),
        _ => None,
    }
}

/// The streaming table that a node scans; `wanted` sees it where it is one.
pub fn with_table<T>(plan: &LogicalPlan, wanted: impl FnOnce(&StreamingTable) -> T) -> Option<T> {
    let LogicalPlan::TableScan(scan) = plan else { return None };
    let provider = source_as_provider(&scan.source).ok()?;
    let any: &dyn Any = provider.as_ref();
    any.downcast_ref::<StreamingTable>().map(wanted)
}

/// True where rows of the plan come from a stream. Subqueries of expressions do not count.
pub fn is_streaming(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let visited = plan.apply(|node| {
        found |= with_table(node, |_| ()).is_some();
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    visited.is_ok() && found
}

/// The error of a streaming relation that is run like another one.
pub fn not_started() -> SparkError {
    refused(
        "Queries with streaming sources must be executed with writeStream.start(), or from a streaming table or flow \
         definition within a Spark Declarative Pipeline.",
    )
}

/// The error of an operator that streams, or relations at hand, do not have.
pub fn refused(message: impl Into<String>) -> SparkError {
    SparkError::new("_LEGACY_ERROR_TEMP_3102").with("msg", message)
}
