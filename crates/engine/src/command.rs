//! What commands give back.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use firesteel_plan::StorageLevel;

/// The result of a command.
pub enum CommandOutput {
    None,
    Sql(SqlResult),
    /// A kept relation's id.
    Checkpoint { relation_id: String },
}

/// The result of `spark.sql(…)`.
pub enum SqlResult {
    /// A query: nothing has run, the client gets its own relation back.
    Query,
    /// A statement: it has run, and these are its rows (no columns where it gives none).
    Rows { schema: SchemaRef, batches: Vec<RecordBatch> },
}

/// Shown for frames that are not persisted.
pub const NOT_PERSISTED: StorageLevel = StorageLevel::NONE;
