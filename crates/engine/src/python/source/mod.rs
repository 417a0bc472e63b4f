//! Data sources in Python: a class that the user registers, whose instances make readers and writers.

mod filter;
mod table;
mod write;

pub(crate) use write::{Target, write};

use super::session::WorkerContext;
use crate::Session;
use bytes::Bytes;
use firesteel_analyzer::environment::Scan;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{DataSource, Options};
use firesteel_python::planner::PlannerError;
use firesteel_python::planner::data_source::{Planner, SourceSchema};
use firesteel_types::{DataType, StructType, ddl};
use std::sync::Arc;
use table::SourceTable;

/// Names that no data source of a user may take.
const BUILT_IN: &[&str] = &[
    "parquet",
    "csv",
    "json",
    "text",
    "orc",
    "avro",
    "xml",
    "jdbc",
    "binaryfile",
    "noop",
    "console",
    "socket",
    "rate",
    "rate-micro-batch",
    "statestore",
    "state-metadata",
];

/// A registered class.
#[derive(Debug, Clone)]
pub(crate) struct PythonSource {
    pub name: String,
    /// The pickled class.
    pub class: Bytes,
    /// The Python that pickled it, `3.11`.
    pub python_version: String,
}

/// Whether a table is a data source in Python.
pub(crate) fn is_source(table: &dyn std::any::Any) -> bool {
    table.is::<SourceTable>()
}

/// Keeps a data source for a session, in place of one of the same name.
pub(crate) fn register(session: &Session, source: PythonSource) -> Result<()> {
    if BUILT_IN.contains(&source.name.to_lowercase().as_str()) {
        return Err(SparkError::new("DATA_SOURCE_ALREADY_EXISTS").with("provider", source.name));
    }
    session.python().add_source(source);
    Ok(())
}

/// A scan of `spark.read.format(…).load()`.
pub(crate) async fn scan(session: &Arc<Session>, source: Arc<PythonSource>, asked: &DataSource) -> Result<Scan> {
    let schema = asked.schema.as_deref().filter(|text| !text.trim().is_empty()).map(schema_of).transpose()?;
    let mut options = asked.options.clone();
    match asked.paths.as_slice() {
        [] => {}
        [path] => set(&mut options, "path", path.clone()),
        paths => {
            let list = serde_json::to_string(paths).map_err(|e| SparkError::internal(e.to_string()))?;
            set(&mut options, "paths", list);
        }
    }
    table(session, source, schema, &options).await
}

/// A scan with options of the user's, and a schema where the user gives one.
pub(crate) async fn table(
    session: &Arc<Session>,
    source: Arc<PythonSource>,
    schema: Option<StructType>,
    options: &Options,
) -> Result<Scan> {
    let context = context(session).await?;
    let (instance, schema) = source.instance(&context, schema, options).await?;
    let name = source.name.clone();
    let table = SourceTable::new(session.python().clone(), source, instance, schema.clone(), context.pushes_filters);
    Ok(Scan { provider: Arc::new(table), schema, name, metadata_columns: Vec::new() })
}

/// What the session's workers are given now.
async fn context(session: &Arc<Session>) -> Result<WorkerContext> {
    let session = session.clone();
    crate::session::blocking(move || session.python().context()).await
}

fn set(options: &mut Options, key: &str, value: String) {
    options.retain(|(other, _)| !other.eq_ignore_ascii_case(key));
    options.push((key.to_string(), value));
}

/// The schema of a JSON or DDL text.
fn schema_of(text: &str) -> Result<StructType> {
    match ddl::parse_schema(text)? {
        DataType::Struct(schema) => Ok(schema.as_ref().clone()),
        other => Err(SparkError::new("INVALID_SCHEMA.NON_STRUCT_TYPE")
            .with("inputSchema", text)
            .with("dataType", format!("\"{}\"", other.sql()))),
    }
}

/// The error of a data source that failed at something, in the text of Python.
fn failed(action: &'static str, kind: &'static str) -> impl Fn(PlannerError) -> SparkError {
    move |error| match error {
        PlannerError::Python(text) => source_error(action, kind, text),
        PlannerError::Partitions(text) => source_error("generate", "read partitions", text),
        PlannerError::Other(error) => error,
    }
}

fn source_error(action: &str, kind: &str, text: String) -> SparkError {
    SparkError::new("PYTHON_DATA_SOURCE_ERROR").with("action", action).with("type", kind).with("msg", text)
}

impl PythonSource {
    fn planner<'a>(&'a self, context: &'a WorkerContext) -> Planner<'a> {
        Planner {
            pool: &context.pool,
            environment: &context.environment,
            python_version: &self.python_version,
            settings: &context.planning,
            batch_rows: context.settings.batch_rows,
            binary_as_bytes: context.settings.binary_as_bytes,
        }
    }

    /// A pickled instance for these options, and the schema of its rows.
    pub async fn instance(
        &self,
        context: &WorkerContext,
        schema: Option<StructType>,
        options: &Options,
    ) -> Result<(Bytes, StructType)> {
        let given = schema.as_ref().map(StructType::json);
        let made = self.planner(context).create(&self.class, &self.name, given.as_deref(), options).await;
        let made = made.map_err(failed("create", "instance"))?;
        context.note(made.accumulators);
        let schema = match (schema, made.schema) {
            (Some(schema), _) => schema,
            (None, SourceSchema::Ddl(text) | SourceSchema::Json(text)) => schema_of(&text)?,
        };
        Ok((made.instance, schema))
    }
}
