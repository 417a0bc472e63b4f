//! Commands: plans that change something.

use crate::{
    Expr, Name, Options, PythonFunction, Relation, Statement, StreamWrite, StreamingManagerCommand,
    StreamingQueryCommand, StreamingQueryId, TableName,
};
use bytes::Bytes;

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Command {
    /// `createOrReplaceTempView` and its kin.
    CreateView {
        name: String,
        input: Relation,
        is_global: bool,
        replace: bool,
    },
    Write(WriteOperation),
    WriteV2(WriteOperationV2),
    /// `spark.sql(…)`: run at once when it is not a query.
    Sql(Relation),
    Checkpoint(Checkpoint),
    RemoveCachedRemoteRelation {
        relation_id: String,
    },
    RegisterFunction(PythonFunction),
    RegisterTableFunction {
        name: String,
        function: PythonFunction,
    },
    /// A data source in Python: its name, the pickled class, and the Python that pickled it.
    RegisterDataSource {
        name: String,
        class: Bytes,
        python_version: String,
    },
    MergeInto(Merge),
    Statement(Box<Statement>),
    WriteStream(Box<StreamWrite>),
    StreamingQuery {
        query: StreamingQueryId,
        command: StreamingQueryCommand,
    },
    StreamingManager(StreamingManagerCommand),
    /// Something that is decoded, and refused by this name when run.
    Unsupported(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SaveMode {
    /// Fail when there is something already (`error`, `errorifexists`).
    ErrorIfExists,
    Append,
    Overwrite,
    Ignore,
}

/// `df.write`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct WriteOperation {
    pub input: Relation,
    pub format: Option<String>,
    pub target: WriteTarget,
    /// None: not said; ErrorIfExists for saves, Append for `insertInto`.
    pub mode: Option<SaveMode>,
    pub sort_columns: Vec<String>,
    pub partition_columns: Vec<String>,
    pub bucket: Option<(i32, Vec<String>)>,
    pub clustering_columns: Vec<String>,
    pub options: Options,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum WriteTarget {
    Path(String),
    /// Neither path nor table: the options may hold `path`, or the format needs none (`noop`).
    None,
    SaveAsTable(Name),
    InsertInto(Name),
}

/// `df.writeTo`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct WriteOperationV2 {
    pub input: Relation,
    pub table: Name,
    pub provider: Option<String>,
    pub partitioning: Vec<Expr>,
    pub clustering_columns: Vec<String>,
    pub options: Options,
    pub table_properties: Options,
    pub mode: WriteModeV2,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum WriteModeV2 {
    Create,
    Replace,
    CreateOrReplace,
    Append,
    Overwrite(Expr),
    OverwritePartitions,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Checkpoint {
    pub input: Relation,
    pub is_local: bool,
    pub is_eager: bool,
    pub storage_level: Option<StorageLevel>,
}

/// Where the rows of a kept relation live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StorageLevel {
    pub use_disk: bool,
    pub use_memory: bool,
    pub use_off_heap: bool,
    pub deserialized: bool,
    pub replication: i32,
}

impl StorageLevel {
    pub const NONE: Self =
        Self { use_disk: false, use_memory: false, use_off_heap: false, deserialized: false, replication: 1 };
    pub const MEMORY_AND_DISK_DESER: Self =
        Self { use_disk: true, use_memory: true, use_off_heap: false, deserialized: true, replication: 1 };
}

/// `MERGE INTO`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Merge {
    pub target: TableName,
    pub target_alias: Option<String>,
    pub source: Relation,
    pub condition: Expr,
    pub matched: Vec<MergeAction>,
    pub not_matched: Vec<MergeAction>,
    pub not_matched_by_source: Vec<MergeAction>,
    pub with_schema_evolution: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct MergeAction {
    pub condition: Option<Expr>,
    pub kind: MergeActionKind,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum MergeActionKind {
    Delete,
    UpdateAll,
    InsertAll,
    Update(Vec<(Expr, Expr)>),
    Insert(Vec<(Expr, Expr)>),
}
