//! Statements of SQL that are not queries, and requests of the catalog API.

use crate::{Expr, Merge, Name, Options, Origin, PythonFunction, Relation, SortOrder, StorageLevel, TableName};
use firesteel_types::{DataType, StructField};

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Statement {
    Query(Relation),
    // ---- data ----
    Insert(Insert),
    Update {
        table: TableName,
        alias: Option<String>,
        assignments: Vec<(Expr, Expr)>,
        condition: Option<Expr>,
    },
    Delete {
        table: TableName,
        alias: Option<String>,
        condition: Option<Expr>,
    },
    Merge(Box<Merge>),
    Truncate {
        table: TableName,
        partition: Option<PartitionSpec>,
    },
    /// `FROM t INSERT INTO a SELECT … INSERT INTO b SELECT …`.
    MultiInsert(Vec<Statement>),
    // ---- definitions ----
    CreateNamespace {
        name: TableName,
        if_not_exists: bool,
        comment: Option<String>,
        location: Option<String>,
        properties: Options,
    },
    DropNamespace {
        name: TableName,
        if_exists: bool,
        cascade: bool,
    },
    AlterNamespace {
        name: TableName,
        action: NamespaceAction,
    },
    CreateTable(Box<CreateTable>),
    CreateTableLike {
        name: TableName,
        source: TableName,
        if_not_exists: bool,
        provider: Option<String>,
        location: Option<String>,
        properties: Options,
    },
    DropTable {
        name: TableName,
        if_exists: bool,
        purge: bool,
    },
    AlterTable {
        name: TableName,
        action: Box<TableAction>,
    },
    CreateView(Box<CreateView>),
    DropView {
        name: TableName,
        if_exists: bool,
    },
    AlterView {
        name: TableName,
        action: ViewAction,
    },
    CreateFunction(Box<CreateFunction>),
    DropFunction {
        name: TableName,
        if_exists: bool,
        is_temporary: bool,
    },
    RefreshFunction {
        name: Name,
    },
    // ---- session ----
    Use {
        name: TableName,
        is_namespace: bool,
    },
    SetCatalog {
        name: Expr,
    },
    Set(SetStatement),
    Reset {
        key: Option<String>,
    },
    DeclareVariable {
        names: Vec<Name>,
        data_type: Option<DataType>,
        default: Option<Expr>,
        replace: bool,
    },
    DropVariable {
        name: Name,
        if_exists: bool,
    },
    SetVariable {
        targets: Vec<Name>,
        source: SetVariableSource,
    },
    ExecuteImmediate {
        query: Expr,
        into: Vec<Name>,
        using: Vec<Expr>,
    },
    AddResource {
        kind: String,
        paths: Vec<String>,
    },
    ListResources {
        kind: String,
        paths: Vec<String>,
    },
    // ---- cache and statistics ----
    CacheTable {
        name: TableName,
        query: Option<Relation>,
        is_lazy: bool,
        options: Options,
    },
    UncacheTable {
        name: TableName,
        if_exists: bool,
    },
    ClearCache,
    RefreshTable {
        name: TableName,
    },
    RefreshPath {
        path: String,
    },
    AnalyzeTable {
        name: TableName,
        partition: Option<PartitionSpec>,
        columns: Option<Vec<String>>,
        all_columns: bool,
        no_scan: bool,
    },
    AnalyzeTables {
        namespace: Option<Name>,
        no_scan: bool,
    },
    RepairTable {
        name: TableName,
        add: bool,
        drop: bool,
    },
    // ---- questions ----
    Explain {
        mode: ExplainMode,
        statement: Box<Statement>,
    },
    Describe(Describe),
    Show(Show),
    /// `COMMENT ON`: no comment is `IS NULL`.
    Comment {
        on: CommentTarget,
        comment: Option<String>,
    },
    // ---- scripts ----
    Script(Box<Script>),
    // ---- what no catalog of files can do: refused once the names are right ----
    /// CALL and DESCRIBE PROCEDURE.
    Procedure {
        name: Name,
        origin: Origin,
    },
    ShowProcedures,
    LoadData {
        table: TableName,
    },
    /// CREATE INDEX and DROP INDEX, by `CreateIndex` and `DropIndex`.
    Index {
        table: TableName,
        operation: String,
    },
    /// CREATE of a dataset that a pipeline has, by its kind.
    PipelineDataset(String),
    /// Something that is parsed, and refused by this name when run.
    Unsupported(String),
}

/// `PARTITION (a = 1, b)`: a column without a value is dynamic.
pub type PartitionSpec = Vec<(String, Option<Expr>)>;

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Insert {
    pub table: TableName,
    pub columns: Vec<String>,
    pub partition: PartitionSpec,
    pub if_partition_not_exists: bool,
    pub query: Relation,
    pub overwrite: bool,
    pub by_name: bool,
    /// `REPLACE WHERE`.
    pub replace_where: Option<Expr>,
    /// `INSERT OVERWRITE DIRECTORY`: the target is a folder.
    pub directory: Option<InsertDirectory>,
    pub with_schema_evolution: bool,
    pub options: Options,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct InsertDirectory {
    pub path: Option<String>,
    pub provider: Option<String>,
    pub options: Options,
    pub is_local: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum NamespaceAction {
    SetProperties(Options),
    UnsetProperties(Vec<String>),
    SetLocation(String),
    SetCollation(String),
}

#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub struct TableSpec {
    pub provider: Option<String>,
    pub options: Vec<(String, Expr)>,
    pub partitioning: Vec<PartitionField>,
    pub bucket: Option<BucketSpec>,
    pub cluster_by: Vec<Name>,
    pub location: Option<String>,
    pub comment: Option<String>,
    pub collation: Option<String>,
    pub properties: Options,
    /// Hive's `ROW FORMAT`/`STORED AS`, as text.
    pub serde: Option<String>,
    pub is_external: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct BucketSpec {
    pub num_buckets: i64,
    pub columns: Vec<String>,
    pub sort: Vec<SortOrder>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum PartitionField {
    /// A column's name, or a transform such as `bucket(4, a)`, `years(ts)`.
    Transform(Expr),
    /// A new column (Hive style).
    Column(ColumnDefinition),
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct ColumnDefinition {
    pub field: StructField,
    /// Text and expression.
    pub default: Option<(String, Expr)>,
    pub generated: Option<(String, Expr)>,
    pub identity: Option<Identity>,
    pub constraints: Vec<TableConstraint>,
    pub comment: Option<String>,
    pub position: Option<ColumnPosition>,
}

impl ColumnDefinition {
    /// A column without options.
    pub fn new(field: StructField) -> Self {
        Self {
            field,
            default: None,
            generated: None,
            identity: None,
            constraints: Vec::new(),
            comment: None,
            position: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    pub always: bool,
    pub start: i64,
    pub step: i64,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ColumnPosition {
    First,
    After(String),
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct TableConstraint {
    pub name: Option<String>,
    pub kind: ConstraintKind,
    /// `NOT ENFORCED`, `RELY` and so on, as written.
    pub characteristics: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ConstraintKind {
    Check { text: String, condition: Expr },
    PrimaryKey(Vec<String>),
    Unique(Vec<String>),
    ForeignKey { columns: Vec<String>, table: Name, references: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct CreateTable {
    pub name: TableName,
    pub columns: Vec<ColumnDefinition>,
    pub constraints: Vec<TableConstraint>,
    pub spec: TableSpec,
    pub query: Option<Relation>,
    pub if_not_exists: bool,
    pub replace: bool,
    /// `REPLACE TABLE` without `CREATE OR`: the table must exist.
    pub must_exist: bool,
    pub is_temporary: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum TableAction {
    Rename(Name),
    SetProperties(Options),
    UnsetProperties { keys: Vec<String>, if_exists: bool },
    SetLocation { partition: Option<PartitionSpec>, location: String },
    SetSerde { class: Option<String>, properties: Options, partition: Option<PartitionSpec> },
    AddColumns(Vec<(Name, ColumnDefinition)>),
    ReplaceColumns(Vec<(Name, ColumnDefinition)>),
    DropColumns { columns: Vec<Name>, if_exists: bool },
    RenameColumn { column: Name, to: String },
    AlterColumns(Vec<(Name, Vec<ColumnChange>)>),
    AddPartitions { partitions: Vec<(PartitionSpec, Option<String>)>, if_not_exists: bool },
    DropPartitions { partitions: Vec<PartitionSpec>, if_exists: bool, purge: bool },
    RenamePartition { from: PartitionSpec, to: PartitionSpec },
    RecoverPartitions,
    AddConstraint(TableConstraint),
    DropConstraint { name: String, if_exists: bool, cascade: bool },
    ClusterBy(Vec<Name>),
    SetCollation(String),
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ColumnChange {
    Type(DataType),
    Comment(String),
    Position(ColumnPosition),
    SetNotNull,
    DropNotNull,
    SetDefault(String, Expr),
    DropDefault,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewKind {
    Persistent,
    Temporary,
    GlobalTemporary,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct CreateView {
    pub name: TableName,
    pub kind: ViewKind,
    /// Names with their comments.
    pub columns: Vec<(String, Option<String>)>,
    pub comment: Option<String>,
    pub collation: Option<String>,
    pub properties: Options,
    /// `WITH SCHEMA BINDING | COMPENSATION | TYPE EVOLUTION | EVOLUTION`.
    pub schema_mode: Option<String>,
    pub if_not_exists: bool,
    pub replace: bool,
    /// The query and its text.
    pub query: Relation,
    pub query_text: String,
    /// `CREATE TEMPORARY VIEW … USING`: a data source instead of a query.
    pub using: Option<ViewUsing>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct ViewUsing {
    pub provider: String,
    pub options: Options,
    pub schema: Vec<ColumnDefinition>,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ViewAction {
    /// New query and its text.
    As(Relation, String),
    Rename(Name),
    SetProperties(Options),
    UnsetProperties {
        keys: Vec<String>,
        if_exists: bool,
    },
    SchemaMode(String),
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub struct CreateFunction {
    pub name: TableName,
    pub is_temporary: bool,
    pub if_not_exists: bool,
    pub replace: bool,
    pub body: FunctionBody,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum FunctionBody {
    /// A JVM class and its resources (kind, path).
    Class { class: String, resources: Vec<(String, String)> },
    /// A Python function, registered by its client.
    Python { function: Box<PythonFunction>, is_table: bool },
    Sql {
        parameters: Vec<ColumnDefinition>,
        returns: Option<DataType>,
        /// `RETURNS TABLE (…)`; empty columns: taken from the query.
        returns_table: Option<Vec<ColumnDefinition>>,
        /// The body's text, and what it is.
        text: String,
        expression: Option<Expr>,
        query: Option<Relation>,
        language: Option<String>,
        deterministic: Option<bool>,
        comment: Option<String>,
        contains_sql: Option<bool>,
    },
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum SetStatement {
    /// `SET`, `SET -v`.
    ShowAll {
        verbose: bool,
    },
    Show {
        key: String,
    },
    Assign {
        key: String,
        value: String,
    },
    /// None: `LOCAL`.
    TimeZone {
        zone: Option<Expr>,
    },
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum SetVariableSource {
    Expressions(Vec<Expr>),
    Query(Relation),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExplainMode {
    Simple,
    Extended,
    Codegen,
    Cost,
    Formatted,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Describe {
    Table { name: TableName, is_extended: bool, partition: Option<PartitionSpec>, as_json: bool },
    Column { table: TableName, column: Name, is_extended: bool },
    Namespace { name: TableName, is_extended: bool },
    Function { name: TableName, is_extended: bool },
    Query(Relation),
    Catalog { name: Name },
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Show {
    Catalogs {
        pattern: Option<String>,
    },
    Namespaces {
        parent: Option<TableName>,
        pattern: Option<String>,
    },
    Tables {
        namespace: Option<TableName>,
        pattern: Option<String>,
    },
    TableExtended {
        namespace: Option<TableName>,
        pattern: String,
        partition: Option<PartitionSpec>,
    },
    Views {
        namespace: Option<TableName>,
        pattern: Option<String>,
    },
    Columns {
        table: TableName,
        namespace: Option<Name>,
    },
    /// `scope` is `USER`, `SYSTEM` or `ALL`.
    Functions {
        scope: String,
        namespace: Option<TableName>,
        pattern: Option<String>,
    },
    Partitions {
        table: TableName,
        partition: Option<PartitionSpec>,
    },
    TableProperties {
        table: TableName,
        key: Option<String>,
    },
    CreateTable {
        table: TableName,
        as_serde: bool,
    },
    CurrentNamespace,
    Collations {
        pattern: Option<String>,
    },
    Variables {
        pattern: Option<String>,
    },
    CachedTables,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum CommentTarget {
    Namespace(TableName),
    Table(TableName),
    Column(Name),
}

/// `BEGIN … END`.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Script {
    pub label: Option<String>,
    pub body: Vec<ScriptStatement>,
    pub not_atomic: bool,
}

#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ScriptStatement {
    Statement(Statement),
    Block(Script),
    DeclareCondition { name: String, sql_state: Option<String> },
    DeclareHandler { is_exit: bool, conditions: Vec<String>, body: Vec<ScriptStatement> },
    DeclareCursor { name: String, query: Relation },
    Open { cursor: String },
    Fetch { cursor: String, into: Vec<Name> },
    Close { cursor: String },
    If { branches: Vec<(Expr, Vec<ScriptStatement>)>, otherwise: Vec<ScriptStatement> },
    Case { operand: Option<Expr>, branches: Vec<(Expr, Vec<ScriptStatement>)>, otherwise: Option<Vec<ScriptStatement>> },
    While { label: Option<String>, condition: Expr, body: Vec<ScriptStatement> },
    Repeat { label: Option<String>, body: Vec<ScriptStatement>, until: Expr },
    Loop { label: Option<String>, body: Vec<ScriptStatement> },
    For { label: Option<String>, variable: Option<String>, query: Relation, body: Vec<ScriptStatement> },
    Leave { label: String },
    Iterate { label: String },
}

/// A request of the catalog API; its rows are the answer.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum CatalogRequest {
    CurrentDatabase,
    SetCurrentDatabase {
        name: String,
    },
    ListDatabases {
        pattern: Option<String>,
    },
    ListTables {
        database: Option<String>,
        pattern: Option<String>,
    },
    ListViews {
        database: Option<String>,
        pattern: Option<String>,
    },
    ListFunctions {
        database: Option<String>,
        pattern: Option<String>,
    },
    ListColumns {
        table: String,
        database: Option<String>,
    },
    GetDatabase {
        name: String,
    },
    GetTable {
        table: String,
        database: Option<String>,
    },
    GetFunction {
        function: String,
        database: Option<String>,
    },
    DatabaseExists {
        name: String,
    },
    TableExists {
        table: String,
        database: Option<String>,
    },
    FunctionExists {
        function: String,
        database: Option<String>,
    },
    CreateTable {
        table: String,
        path: Option<String>,
        source: Option<String>,
        description: Option<String>,
        schema: Option<DataType>,
        options: Options,
        is_external: bool,
    },
    DropTempView {
        name: String,
    },
    DropGlobalTempView {
        name: String,
    },
    RecoverPartitions {
        table: String,
    },
    IsCached {
        table: String,
    },
    CacheTable {
        table: String,
        storage_level: Option<StorageLevel>,
    },
    UncacheTable {
        table: String,
    },
    ClearCache,
    RefreshTable {
        table: String,
    },
    RefreshByPath {
        path: String,
    },
    CurrentCatalog,
    SetCurrentCatalog {
        name: String,
    },
    ListCatalogs {
        pattern: Option<String>,
    },
    /// Requests added in 4.2, by name, that map to SQL statements.
    Statement(Box<Statement>),
}
