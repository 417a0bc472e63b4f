//! Commands: what they do and give back.

use crate::execution::{self, RunContext, cancellable};
use crate::kept::KeptRows;
use crate::session::Session;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::physical_plan::ExecutionPlanProperties;
use firesteel_analyzer::attribute;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Checkpoint, Command, Relation, RelationKind, Statement, StorageLevel};
use std::sync::Arc;
use uuid::Uuid;

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

/// Runs a command.
pub(crate) async fn run(session: &Arc<Session>, command: Command, run: RunContext) -> Result<CommandOutput> {
    match command {
        Command::CreateView { name, input, is_global, replace } => {
            create_view(session, name, input, is_global, replace).await?;
            Ok(CommandOutput::None)
        }
        Command::Sql(relation) => sql(session, relation, &run).await,
        Command::Checkpoint(checkpoint) => {
            let relation_id = cancellable(&run, self::checkpoint(session, checkpoint)).await?;
            Ok(CommandOutput::Checkpoint { relation_id })
        }
        Command::RemoveCachedRemoteRelation { relation_id } => {
            session.engine().kept().remove(&session.key(), &relation_id);
            Ok(CommandOutput::None)
        }
        Command::Write(_) | Command::WriteV2(_) => Err(SparkError::unsupported("writes")),
        Command::RegisterFunction(f) => Err(SparkError::unsupported(format!("the Python function {}", f.name))),
        Command::RegisterTableFunction { name, .. } => {
            Err(SparkError::unsupported(format!("the Python table function {name}")))
        }
        Command::RegisterDataSource { name } => Err(SparkError::unsupported(format!("the Python data source {name}"))),
        Command::MergeInto(_) => Err(SparkError::unsupported("MERGE INTO")),
        Command::Statement(statement) => {
            statement_rows(session, &statement).await?;
            Ok(CommandOutput::None)
        }
        Command::Unsupported(what) => Err(SparkError::unsupported(what)),
    }
}

async fn create_view(session: &Arc<Session>, name: String, input: Relation, is_global: bool, replace: bool) -> Result<()> {
    let analysed = session.analyse(input).await?;
    let key = name.to_lowercase();
    let exists = || SparkError::new("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS").with("relationName", attribute::quote(&name));
    let resolved = Arc::new(analysed.resolved);
    if is_global {
        let mut views = session.engine().global_views().write();
        if !replace && views.contains_key(&key) {
            return Err(exists());
        }
        views.insert(key, resolved);
    } else {
        let mut views = session.temp_views().write();
        if !replace && views.contains_key(&key) {
            return Err(exists());
        }
        views.insert(key, (name.clone(), resolved));
    }
    Ok(())
}

/// Parses SQL text: queries are only checked, statements run.
async fn sql(session: &Arc<Session>, relation: Relation, run: &RunContext) -> Result<CommandOutput> {
    let inner = match relation.kind() {
        RelationKind::WithRelations { input, .. } => input,
        _ => &relation,
    };
    let RelationKind::Sql { text, .. } = inner.kind() else {
        return Err(SparkError::internal("an SQL command without SQL text"));
    };
    let conf = session.conf();
    let options = firesteel_sql::ParserOptions {
        ansi: conf.ansi_enabled,
        enforce_reserved_keywords: conf.enforce_reserved_keywords,
        double_quoted_identifiers: conf.double_quoted_identifiers,
        ..Default::default()
    };
    let statement = firesteel_sql::parse_statement(text, &options)?;
    if let Statement::Query(_) = statement {
        session.analyse(relation).await?;
        return Ok(CommandOutput::Sql(SqlResult::Query));
    }
    let (schema, batches) = cancellable(run, statement_rows(session, &statement)).await?;
    Ok(CommandOutput::Sql(SqlResult::Rows { schema, batches }))
}

async fn statement_rows(session: &Arc<Session>, statement: &Statement) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let _ = (session, statement);
    Err(SparkError::unsupported("this statement"))
}

/// Runs a frame and keeps its rows.
async fn checkpoint(session: &Arc<Session>, checkpoint: Checkpoint) -> Result<String> {
    let analysed = session.analyse(checkpoint.input).await?;
    let schema = attribute::schema_of(&analysed.resolved.output);
    let logical = analysed.resolved.exact()?;
    let physical = execution::plan(session.state(), &logical).await?;
    let arrow_schema = physical.schema();
    let partitions = if physical.output_partitioning().partition_count() == 1 {
        vec![datafusion::physical_plan::collect(physical, session.state().task_ctx()).await.map_err(engine_error)?]
    } else {
        datafusion::physical_plan::collect_partitioned(physical, session.state().task_ctx()).await.map_err(engine_error)?
    };
    let id = Uuid::new_v4().to_string();
    session.engine().kept().put(&session.key(), &id, Arc::new(KeptRows { schema, arrow_schema, partitions }));
    Ok(id)
}
