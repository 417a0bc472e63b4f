//! Commands: what they do and give back.

use crate::execution::{RunContext, cancellable};
use crate::python::source::PythonSource;
use crate::session::{Session, blocking};
use crate::streaming::{self, StreamingReply};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use firesteel_analyzer::attribute;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Command, Relation, RelationKind, Statement, WriteTarget};
use firesteel_sql::ParameterValues;
use std::sync::Arc;

/// The result of a command.
pub enum CommandOutput {
    None,
    Sql(SqlResult),
    /// What is said of streaming queries.
    Streaming(StreamingReply),
    /// A kept relation's id.
    Checkpoint {
        relation_id: String,
    },
}

/// The result of `spark.sql(…)`.
pub enum SqlResult {
    /// A query: nothing has run, the client gets its own relation back.
    Query,
    /// A statement: it has run, and these are its rows (no columns where it gives none).
    Rows { schema: SchemaRef, batches: Vec<RecordBatch> },
}

/// Runs a command. A stream cannot be written like a relation at hand.
pub(crate) async fn run(session: &Arc<Session>, command: Command, run: RunContext) -> Result<CommandOutput> {
    let method = match &command {
        Command::Write(_) => Some("`write`"),
        Command::WriteV2(_) => Some("`writeTo`"),
        Command::MergeInto(_) => Some("`mergeInto`"),
        _ => None,
    };
    let not_started = firesteel_analyzer::streaming::not_started();
    run_any(session, command, run).await.map_err(|error| match method {
        Some(method) if error.is("_LEGACY_ERROR_TEMP_3102") && error.parameters() == not_started.parameters() => {
            SparkError::new("CALL_ON_STREAMING_DATASET_UNSUPPORTED").with("methodName", method)
        }
        _ => error,
    })
}

async fn run_any(session: &Arc<Session>, command: Command, run: RunContext) -> Result<CommandOutput> {
    match command {
        Command::CreateView { name, input, is_global, replace } => {
            create_view(session, name, input, is_global, replace).await?;
            Ok(CommandOutput::None)
        }
        Command::Sql(relation) => sql(session, relation, &run).await,
        Command::Checkpoint(checkpoint) => {
            let relation_id = cancellable(&run, crate::kept::checkpoint(session, checkpoint)).await?;
            Ok(CommandOutput::Checkpoint { relation_id })
        }
        Command::RemoveCachedRemoteRelation { relation_id } => {
            session.engine().kept().remove(&session.key(), &relation_id);
            Ok(CommandOutput::None)
        }
        Command::Write(operation) => {
            match operation.target.clone() {
                WriteTarget::SaveAsTable(name) => {
                    let session = session.clone();
                    let work = blocking(move || crate::statement::save::save_as_table(&session, &operation, &name));
                    cancellable(&run, work).await?;
                }
                WriteTarget::InsertInto(name) => {
                    let session = session.clone();
                    let work = blocking(move || crate::statement::save::insert_into(&session, &operation, &name));
                    cancellable(&run, work).await?;
                }
                WriteTarget::Path(_) | WriteTarget::None => {
                    cancellable(&run, crate::write::write(session, operation)).await?;
                }
            }
            Ok(CommandOutput::None)
        }
        Command::WriteV2(operation) => {
            let session = session.clone();
            let work = blocking(move || crate::statement::save::write_to(&session, &operation));
            cancellable(&run, work).await?;
            Ok(CommandOutput::None)
        }
        Command::RegisterFunction(function) => {
            crate::statement::function::register(session, function.name.clone(), function, false);
            Ok(CommandOutput::None)
        }
        Command::RegisterTableFunction { name, function } => {
            crate::statement::function::register(session, name, function, true);
            Ok(CommandOutput::None)
        }
        Command::RegisterDataSource { name, class, python_version } => {
            crate::python::source::register(session, PythonSource { name, class, python_version })?;
            Ok(CommandOutput::None)
        }
        Command::MergeInto(merge) => {
            if merge.matched.is_empty() && merge.not_matched.is_empty() && merge.not_matched_by_source.is_empty() {
                return Err(SparkError::new("NO_MERGE_ACTION_SPECIFIED"));
            }
            statement_rows(session, Statement::Merge(Box::new(merge)), &run).await?;
            Ok(CommandOutput::None)
        }
        Command::Statement(statement) => {
            cancellable(&run, statement_rows(session, *statement, &run)).await?;
            Ok(CommandOutput::None)
        }
        Command::WriteStream(write) => {
            let reply = cancellable(&run, streaming::start(session, *write, &run)).await?;
            Ok(CommandOutput::Streaming(reply))
        }
        Command::StreamingQuery { query, command } => {
            streaming::of_query(session, &query, command, &run).await.map(CommandOutput::Streaming)
        }
        Command::StreamingManager(command) => {
            streaming::of_manager(session, command, &run).await.map(CommandOutput::Streaming)
        }
        Command::Unsupported(what) => Err(SparkError::unsupported(what)),
    }
}

async fn create_view(
    session: &Arc<Session>,
    name: String,
    input: Relation,
    is_global: bool,
    replace: bool,
) -> Result<()> {
    let name = view_name(session, name)?;
    let analysed = session.analyse(input).await?;
    let key = name.to_lowercase();
    let exists = || SparkError::new("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS").with("relationName", attribute::quote(&name));
    let resolved = Arc::new(analysed.resolved);
    let qualifier = if is_global { format!("{}.", session.conf().global_temp_database) } else { String::new() };
    if replace {
        let persisted = crate::kept::PersistKey::Table(format!("{qualifier}{key}"));
        session.engine().kept().unpersist(&session.key(), &persisted);
    }
    if is_global {
        let mut views = session.engine().global_views().write();
        if !replace && views.contains_key(&key) {
            return Err(exists());
        }
        session.engine().global_view_queries().write().remove(&key);
        views.insert(key, resolved);
    } else {
        let mut views = session.temp_views().write();
        if !replace && views.contains_key(&key) {
            return Err(exists());
        }
        session.catalog_state().view_queries.write().remove(&key);
        views.insert(key, (name.clone(), resolved));
    }
    Ok(())
}

/// The name of a temporary view; a database before it tells nothing.
fn view_name(session: &Session, name: String) -> Result<String> {
    if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Ok(name);
    }
    let options = firesteel_sql::ParserOptions::from(session.conf().as_ref());
    let parts = firesteel_sql::parse_identifier_parts(&name, &options).unwrap_or_default();
    match parts.as_slice() {
        [view] | [_, view] => Ok(view.clone()),
        _ => Err(SparkError::new("_LEGACY_ERROR_TEMP_1321").with("viewName", name)),
    }
}

/// Parses SQL text: queries are only checked, statements run.
async fn sql(session: &Arc<Session>, relation: Relation, run: &RunContext) -> Result<CommandOutput> {
    let inner = match relation.kind() {
        RelationKind::WithRelations { input, .. } => input,
        _ => &relation,
    };
    let RelationKind::Sql { text, named_arguments, position_arguments } = inner.kind() else {
        return Err(SparkError::internal("an SQL command without SQL text"));
    };
    let values =
        ParameterValues { named: named_arguments.iter().cloned().collect(), positions: position_arguments.clone() };
    let statement = session.parse(text, values)?;
    if let Statement::Query(_) = statement {
        session.analyse(relation).await?;
        return Ok(CommandOutput::Sql(SqlResult::Query));
    }
    let (schema, batches) = cancellable(run, statement_rows(session, statement, run)).await?;
    Ok(CommandOutput::Sql(SqlResult::Rows { schema, batches }))
}

/// Runs a statement on a thread that may block; its rows are as clients expect them.
async fn statement_rows(
    session: &Arc<Session>,
    statement: Statement,
    run: &RunContext,
) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let conf = session.conf();
    let session = session.clone();
    let cancel = run.cancel.clone();
    let rows = blocking(move || crate::statement::run(&session, &statement, cancel)).await?;
    let schema: SchemaRef = Arc::new(firesteel_types::client::client_schema(
        &rows.schema,
        &conf.time_zone_text,
        conf.arrow_large_var_types,
    ));
    let batches = rows
        .batches
        .iter()
        .map(|batch| firesteel_types::client::client_batch(batch, &schema))
        .collect::<Result<_>>()?;
    Ok((schema, batches))
}
