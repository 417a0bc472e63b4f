//! What the analyzer needs from outside.

use crate::{Attribute, Frame, Resolved};
use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use datafusion::catalog::TableProvider;
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_functions::function::{QueryTime, SessionFacts};
use firesteel_plan::{CatalogRequest, DataSource, Expr, Options, PythonFunction, Relation, Statement, TimeTravel};
use firesteel_python::planner::table_function::TableAnalysis;
use firesteel_types::{DataType, Literal, StructField, StructType};
use std::sync::Arc;

/// The session as the analyzer sees it. Calls may block (schema inference reads files).
pub trait Environment: Send + Sync {
    fn conf(&self) -> &SqlConf;
    /// A setting by its key, for `${key}` in SQL text.
    fn setting(&self, key: &str) -> Option<String> {
        let _ = key;
        None
    }
    fn facts(&self) -> &SessionFacts;
    /// When the request came.
    fn query_time(&self) -> &QueryTime;
    /// Partitions that the engine works on at once.
    fn parallelism(&self) -> usize;
    /// A table or view by its name's parts; fails with `TABLE_OR_VIEW_NOT_FOUND`.
    fn table(&self, name: &[String], options: &Options, time_travel: Option<&TimeTravel>) -> Result<TableLookup>;
    /// A table, or a temporary view of a stream, whose rows keep coming, by its name's parts.
    fn streaming_table(&self, name: &[String], options: &Options) -> Result<TableLookup>;
    /// A scan of files or another source, for a relation with this id of the client's.
    fn data_source(&self, source: &DataSource, plan_id: Option<i64>) -> Result<Scan>;
    /// A kept relation (`cached_remote_relation`).
    fn kept(&self, relation_id: &str) -> Result<Scan>;
    /// A function that the user defined, by name.
    fn user_function(&self, name: &[String]) -> Result<Option<UserFunction>>;
    /// The environment under settings that something kept when it was made; None: there are no others.
    fn recalling(&self, settings: &[(String, String)]) -> Option<Box<dyn Environment>> {
        let _ = settings;
        None
    }
    /// A session variable's value.
    fn variable(&self, name: &[String]) -> Result<Option<Literal>>;
    /// The answer of the catalog API to a relation with this id of the client's.
    fn catalog(&self, request: &CatalogRequest, plan_id: Option<i64>) -> Result<LocalRows>;
    /// Runs a statement that is not a query, for its rows.
    fn statement(&self, statement: &Statement) -> Result<LocalRows>;
    /// Runs an analysed relation now: for relations whose columns depend on data
    /// (pivot without values, transpose, crosstab). The batches have exactly the
    /// output columns.
    fn run(&self, resolved: &Resolved) -> Result<Vec<RecordBatch>>;
    /// Rows of a format that stand as texts in the only column of batches, one text a record.
    fn parse_texts(
        &self,
        format: &str,
        texts: &[RecordBatch],
        schema: Option<&StructType>,
        options: &Options,
    ) -> Result<LocalRows>;
    /// What a Python table function's own `analyze` says of a call.
    fn analyze_table_function(&self, call: AnalyzeCall) -> Result<TableAnalysis>;
    /// A relation's persisted rows, if it is persisted. Asked for every relation, so it must be cheap.
    fn cached(&self, _relation: &Relation) -> Option<PersistedFrame> {
        None
    }
    /// What an earlier analysis made of the relation, if that still holds. Asked for every relation that is not
    /// persisted, so it must be cheap.
    fn analysed(&self, _relation: &Relation) -> Option<Resolved> {
        None
    }
}

/// What a table's name stands for.
pub enum TableLookup {
    /// Stored data. `qualifier` is what may stand before a column's name.
    Scan { scan: Scan, qualifier: Vec<String> },
    /// A view made of an analysed relation.
    Analysed { resolved: Arc<Resolved>, qualifier: Vec<String> },
    /// A view made of SQL text, to be analysed in its own database with its own settings.
    Text { view: Box<ViewText>, qualifier: Vec<String> },
}

/// A persistent view.
pub struct ViewText {
    pub relation: Relation,
    /// The columns that the view declares; the query's output is cast to them.
    pub schema: StructType,
    pub catalog_and_database: Vec<String>,
}

/// Something that can be scanned.
#[derive(Clone)]
pub struct Scan {
    pub provider: Arc<dyn TableProvider>,
    /// Columns of the provider in order, with Spark types.
    pub schema: StructType,
    /// A name for explain.
    pub name: String,
    /// The first `schema.fields.len()` columns of the provider are the schema's; these follow, hidden
    /// (`_metadata`). Fields that the provider's struct lacks are its last columns.
    pub metadata_columns: Vec<StructField>,
}

/// A persisted relation: its rows, and what its analysis gave when it was persisted.
pub struct PersistedFrame {
    /// One column for each of `output`, in order.
    pub scan: Scan,
    pub output: Vec<Attribute>,
    pub frame: Arc<Frame>,
}

/// Rows at hand.
#[derive(Clone)]
pub struct LocalRows {
    pub schema: StructType,
    pub arrow_schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

/// A function made by the user.
#[derive(Clone)]
pub enum UserFunction {
    /// A SQL function that gives a value.
    SqlScalar {
        /// What it is called in the names of columns.
        name: String,
        parameters: Vec<Parameter>,
        returns: Option<DataType>,
        body: Expr,
        /// Settings that the body is analysed under.
        settings: Vec<(String, String)>,
    },
    /// A SQL function that gives rows.
    SqlTable {
        /// Its full name.
        name: String,
        parameters: Vec<Parameter>,
        columns: Vec<StructField>,
        body: Relation,
        /// Settings that the body is analysed under.
        settings: Vec<(String, String)>,
    },
    Python(PythonFunction),
}

/// A call of a Python table function that says itself which rows it makes.
pub struct AnalyzeCall {
    pub name: String,
    /// The pickled class.
    pub handler: Bytes,
    /// The Python that pickled it, `3.11`.
    pub python_version: String,
    pub arguments: Vec<AnalyzeValue>,
}

/// An argument of such a call.
pub struct AnalyzeValue {
    /// The type; that of a table's rows where the argument is a table.
    pub data_type: DataType,
    /// The one value of a constant.
    pub value: Option<ArrayRef>,
    pub is_table: bool,
    pub name: Option<String>,
}

/// A parameter of a SQL function.
#[derive(Clone)]
pub struct Parameter {
    pub name: String,
    pub data_type: DataType,
    pub default: Option<Expr>,
}

impl Scan {
    /// The attributes of the scan, with fresh ids.
    pub fn attributes(&self, qualifier: &[String]) -> Vec<Attribute> {
        self.schema.fields.iter().map(|f| Attribute::from_field(f).with_qualifier(qualifier)).collect()
    }
}
