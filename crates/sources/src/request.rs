//! What is asked of a source, and what it gives.

use datafusion::catalog::TableProvider;
use firesteel_config::SqlConf;
use firesteel_types::{StructField, StructType};
use std::path::PathBuf;
use std::sync::Arc;

/// What to scan.
#[derive(Debug, Clone)]
pub struct ScanRequest {
    /// Lower case: `parquet`, `csv`, `json`, `text`, …
    pub format: String,
    /// Files, folders or globs.
    pub paths: Vec<String>,
    /// The schema that the user gives; None: taken from the data.
    pub schema: Option<StructType>,
    /// Reader options; keys in any letter case.
    pub options: Vec<(String, String)>,
    /// Partition columns, where a catalog knows them; None: discovered from the paths.
    pub partition_columns: Option<Vec<String>>,
    pub conf: SqlConf,
}

/// A scan, ready to be planned.
#[derive(Clone)]
pub struct SourceScan {
    /// Its first columns are the schema's in order, then the metadata columns, then what fields of theirs
    /// differ from row to row: a metadata column of the provider may lack its last fields, which follow.
    pub provider: Arc<dyn TableProvider>,
    pub schema: StructType,
    pub metadata_columns: Vec<StructField>,
    /// Absolute URIs of the files, sorted.
    pub files: Vec<String>,
}

/// What a write does with data that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveMode {
    ErrorIfExists,
    Append,
    Overwrite,
    Ignore,
}

/// What to write.
#[derive(Debug, Clone)]
pub struct WriteRequest {
    /// Lower case: `parquet`, `csv`, `json`, `text`, `noop`.
    pub format: String,
    /// A folder; only `noop` needs none.
    pub path: Option<String>,
    pub mode: SaveMode,
    pub partition_by: Vec<String>,
    /// The columns of the plan, in order, with Spark types.
    pub schema: StructType,
    /// Writer options; keys in any letter case.
    pub options: Vec<(String, String)>,
    pub conf: SqlConf,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteSummary {
    pub rows: u64,
    pub bytes: u64,
    /// The new files.
    pub files: Vec<PathBuf>,
}
