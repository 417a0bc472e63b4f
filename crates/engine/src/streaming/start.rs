//! The start of a query: what it is to do is checked before it runs.

use super::batch::{Batches, Checkpoint, Parts};
use super::check::{OutputMode, check, event_key};
use super::log::{Log, put};
use super::memory::MemoryTable;
use super::query::{QueryFacts, StreamingQuery};
use super::rows::{table_of, tables};
use super::sink::{BatchFunction, FileSink, RowFunction, Sink};
use super::state::{State, marked};
use super::trigger::Schedule;
use super::{StreamingReply, progress, source};
use crate::catalog_state::Locals;
use crate::execution::RunContext;
use crate::session::{Analysed, Session, blocking};
use crate::statement::Runner;
use crate::statement::create_table::NewTable;
use crate::write::format_name;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use firesteel_analyzer::attribute;
use firesteel_analyzer::resolved::engine_error;
use firesteel_analyzer::streaming::is_streaming;
use firesteel_config::{Reader, keys};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{Name, Options, StreamFunctionKind, StreamTarget, StreamWrite};
use firesteel_sources::path::local_path;
use firesteel_types::StructType;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use uuid::Uuid;

/// Formats of files that streams can write.
const FILES: &[&str] = &["csv", "json", "parquet", "text", "orc", "xml"];

/// Sinks that do not need a checkpoint of the user's.
const LOOSE: &[&str] = &["memory", "console", "noop", "foreach", "foreachBatch"];

/// Starts a query.
pub(crate) async fn start(session: &Arc<Session>, write: StreamWrite, run: &RunContext) -> Result<StreamingReply> {
    let conf = session.conf();
    let mode = OutputMode::parse(write.output_mode.as_deref())?;
    let schedule = Schedule::of(&write.trigger)?;
    let analysed = session.analyse(write.input.clone()).await?;
    if !is_streaming(&analysed.resolved.plan) {
        return Err(SparkError::new("WRITE_STREAM_NOT_ALLOWED"));
    }
    let format = match &write.function {
        Some(function) if function.kind == StreamFunctionKind::Rows => "foreach".to_string(),
        Some(_) => "foreachBatch".to_string(),
        None => format_name(write.format.as_deref().unwrap_or(&conf.default_source)),
    };
    let name = write.query_name.clone().filter(|name| !name.is_empty());
    check_sink(session, &write, &format, name.as_deref(), mode, &attribute::schema_of(&analysed.resolved.output))?;
    check(&analysed.resolved.plan, mode)?;
    check_groups(&analysed.resolved.plan, mode)?;
    let (session, tags) = (session.clone(), run.tags.clone());
    let operation = run.operation_id.clone();
    blocking(move || begin(&session, write, analysed, Start { format, name, mode, schedule }, &operation, &tags)).await
}

struct Start {
    format: String,
    name: Option<String>,
    mode: OutputMode,
    schedule: Schedule,
}

/// Groups that are written once must have a time at which they are finished.
fn check_groups(plan: &LogicalPlan, mode: OutputMode) -> Result<()> {
    if mode != OutputMode::Append {
        return Ok(());
    }
    let mut is_endless = false;
    let visited = plan.apply(|node| {
        if let LogicalPlan::Aggregate(group) = node
            && is_streaming(node)
        {
            is_endless |= event_key(group).is_none();
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.map_err(engine_error)?;
    match is_endless {
        true => Err(SparkError::new("STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION")
            .with("outputMode", mode.name())
            .with("operation", "streaming aggregations without watermark")),
        false => Ok(()),
    }
}

fn check_sink(
    session: &Session,
    write: &StreamWrite,
    format: &str,
    name: Option<&str>,
    mode: OutputMode,
    schema: &StructType,
) -> Result<()> {
    for column in &write.partition_columns {
        if write.function.is_some() {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1197").with("operation", format));
        }
        if !schema.fields.iter().any(|field| field.name.eq_ignore_ascii_case(column)) {
            let names: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1196")
                .with("columnType", "Partition")
                .with("columnName", column)
                .with("validColumnNames", names.join(", ")));
        }
    }
    // Clustering columns are a property of tables: as in Spark, files have none.
    let is_table = matches!(write.target, StreamTarget::Table(_));
    if is_table && !write.clustering_columns.is_empty() {
        return Err(SparkError::unsupported("clusterBy of a streaming write into a table"));
    }
    match format {
        _ if is_table && mode != OutputMode::Append => {
            Err(SparkError::new("STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE")
                .with("className", format)
                .with("outputMode", mode.name()))
        }
        "memory" if name.is_none() => Err(SparkError::new("_LEGACY_ERROR_TEMP_1194")),
        "memory" | "console" | "noop" | "foreach" | "foreachBatch" => Ok(()),
        _ if session.python().source(format).is_some() => {
            Err(SparkError::unsupported("streaming writes to data sources in Python"))
        }
        _ if FILES.contains(&format) && mode != OutputMode::Append => {
            Err(SparkError::new("STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE")
                .with("className", format)
                .with("outputMode", mode.name()))
        }
        _ if FILES.contains(&format) => Ok(()),
        "rate" | "rate-micro-batch" | "jdbc" | "socket" | "binaryfile" => {
            Err(SparkError::new("_LEGACY_ERROR_TEMP_2049").with("className", format).with("operator", "writing"))
        }
        "kafka" => Err(SparkError::new("_LEGACY_ERROR_TEMP_1140").with("provider", format)),
        "delta" | "iceberg" | "avro" => Err(SparkError::unsupported(format!("the streaming sink {format}"))),
        _ => Err(SparkError::new("DATA_SOURCE_NOT_FOUND").with("provider", write.format.as_deref().unwrap_or(format))),
    }
}

/// Opens what the query works with, and sets it going.
fn begin(
    session: &Arc<Session>,
    write: StreamWrite,
    analysed: Analysed,
    start: Start,
    operation: &str,
    tags: &[String],
) -> Result<StreamingReply> {
    let Start { format, name, mode, schedule } = start;
    let mut resolved = analysed.resolved;
    resolved.plan = marked(resolved.plan)?;
    let table = match &write.target {
        StreamTarget::Table(name) => Some(target(session, &write, name, &attribute::schema_of(&resolved.output))?),
        _ => None,
    };
    let (folder, temporary) = folder(session, &write, &format, name.as_deref(), table.is_some())?;
    if format == "memory" && mode != OutputMode::Complete && has_batches(&folder) {
        let path = folder.join("offsets");
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1299").with("checkpointPath", path.to_string_lossy()));
    }
    let id = identity(&folder)?;
    let facts = QueryFacts { id, run_id: Uuid::new_v4().to_string(), name: name.clone() };
    let limit = session.config().read().integer(keys::STREAMING_RECENT_PROGRESS);
    let query = Arc::new(StreamingQuery::new(facts.clone(), usize::try_from(limit).unwrap_or(100)));
    let manager = session.streaming();
    if let Some(running) = manager.running(&facts.id) {
        // As in Spark, a query that is started again takes the place of its earlier run.
        tokio::runtime::Handle::current().block_on(running.stop());
    }
    manager.add(&query)?;
    let open = || {
        let providers = tables(&resolved.plan)?;
        let mut sources = Vec::with_capacity(providers.len());
        for (i, provider) in providers.iter().enumerate() {
            let table = table_of(provider).ok_or_else(|| SparkError::internal("a stream without a source"))?;
            sources.push(source::open(session, table, folder.join("sources").join(i.to_string()))?);
        }
        let sink = match table {
            Some(sink) => Sink::Files(sink),
            None => sink(session, &write, &format, name.as_deref(), mode, &attribute::schema_of(&resolved.output))?,
        };
        let state = State::open(&resolved.plan, folder.join("state"))?;
        let checkpoint = Checkpoint {
            offsets: Log::open(folder.join("offsets"))?,
            commits: Log::open(folder.join("commits"))?,
            temporary,
        };
        Batches::new(Parts {
            session: session.clone(),
            query: query.clone(),
            resolved,
            timed: analysed.uses_time.then(|| write.input.clone()),
            observations: analysed.observations,
            tables: providers,
            sources,
            sink,
            checkpoint,
            state,
            mode,
            schedule,
        })
    };
    let batches = match open() {
        Ok(batches) => batches,
        Err(error) => {
            query.end(None);
            manager.forget(&query);
            return Err(error);
        }
    };
    let mut tags: Vec<String> = tags.to_vec();
    tags.push(format!(
        "SparkConnect_OperationTag_User_{}_Session_{}_Operation_{operation}",
        session.user_id(),
        session.session_id()
    ));
    let event = manager.has_listener().then(|| progress::started(&facts, &tags));
    tokio::spawn(batches.run());
    Ok(StreamingReply::Started { facts, event })
}

/// The sink that a write names.
fn sink(
    session: &Arc<Session>,
    write: &StreamWrite,
    format: &str,
    name: Option<&str>,
    mode: OutputMode,
    schema: &StructType,
) -> Result<Sink> {
    if let Some(function) = &write.function {
        return Ok(match function.kind {
            StreamFunctionKind::Rows => Sink::Rows(RowFunction::new(function.clone())),
            StreamFunctionKind::Batch => Sink::Batch(BatchFunction::new(function.clone())),
        });
    }
    match format {
        "noop" => Ok(Sink::Noop),
        "console" => {
            let rows = option(&write.options, "numRows").and_then(|text| text.trim().parse().ok()).unwrap_or(20);
            let is_cut = option(&write.options, "truncate").is_none_or(|text| !text.eq_ignore_ascii_case("false"));
            Ok(Sink::Console { rows, truncate: if is_cut { 20 } else { 0 } })
        }
        "memory" => {
            let table = MemoryTable::new(schema);
            let name = name.ok_or_else(|| SparkError::new("_LEGACY_ERROR_TEMP_1194"))?;
            session.put_view(name, table.resolved(schema)?);
            Ok(Sink::Memory { table, mode })
        }
        _ => {
            let of_options = option(&write.options, "path");
            let path = match &write.target {
                StreamTarget::Path(path) => Some(path.as_str()),
                _ => of_options,
            };
            let path = path.ok_or_else(|| SparkError::new("_LEGACY_ERROR_TEMP_2047"))?;
            let options = write.options.clone();
            FileSink::open(path, format.to_string(), write.partition_columns.clone(), options).map(Sink::Files)
        }
    }
}

fn option<'a>(options: &'a Options, key: &str) -> Option<&'a str> {
    options.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
}

/// The files of a table, which is made where it is not there.
fn target(session: &Arc<Session>, write: &StreamWrite, name: &Name, schema: &StructType) -> Result<FileSink> {
    let runner = Runner::new(session.clone(), Locals::default());
    let qualified = runner.qualify(name)?;
    let found = runner.catalog().table(&qualified);
    let table = match found {
        Some(table) => table,
        None => {
            let keeps = |key: &str| !["path", "checkpointLocation"].iter().any(|own| own.eq_ignore_ascii_case(key));
            let own = write.options.iter().filter(|(key, _)| keeps(key)).cloned();
            runner.add_table(NewTable {
                name: qualified.clone(),
                provider: write.format.clone().unwrap_or_else(|| runner.conf().default_source.clone()),
                schema: schema.as_nullable(),
                partition_columns: write.partition_columns.clone(),
                bucketing: None,
                location: option(&write.options, "path").map(str::to_string),
                comment: None,
                properties: BTreeMap::new(),
                options: own.collect(),
                collation: None,
            })?;
            let made = runner.catalog().table(&qualified);
            made.ok_or_else(|| firesteel_catalog::catalog::table_not_found(&qualified.quoted()))?
        }
    };
    if table.is_view() {
        return Err(SparkError::unsupported("streaming writes into a view"));
    }
    let provider = format_name(table.provider.as_deref().unwrap_or_default());
    if !FILES.contains(&provider.as_str()) {
        return Err(SparkError::unsupported(format!("streaming writes into a table of {provider}")));
    }
    let names = |schema: &StructType| schema.fields.iter().map(|f| f.name.to_lowercase()).collect::<Vec<_>>();
    let (mut own, mut given) = (names(&table.schema), names(schema));
    if provider == "parquet" || provider == "json" || provider == "orc" {
        own.sort();
        given.sort();
    }
    if own != given {
        return Err(SparkError::unsupported("streaming writes into a table of other columns"));
    }
    let location = table.location.clone().unwrap_or_default();
    let mut options: Options = table.options.clone().into_iter().collect();
    options.extend(write.options.iter().cloned());
    FileSink::open(&location, provider, table.partition_columns.clone(), options)
}

/// The folder of the checkpoint, and the folder that ends with the query where it is such a one.
fn folder(
    session: &Session,
    write: &StreamWrite,
    format: &str,
    name: Option<&str>,
    is_table: bool,
) -> Result<(PathBuf, Option<TempDir>)> {
    if let Some(path) = option(&write.options, "checkpointLocation") {
        return Ok((made(local_path(path)?)?, None));
    }
    let setting = session.config().read().get_option(keys::STREAMING_CHECKPOINT_LOCATION);
    if let Some(path) = setting.filter(|path| !path.is_empty()) {
        let own = name.map_or_else(|| Uuid::new_v4().to_string(), str::to_string);
        return Ok((made(local_path(&path)?.join(own))?, None));
    }
    if is_table || !LOOSE.contains(&format) {
        if !is_table && matches!(write.target, StreamTarget::None) && option(&write.options, "path").is_none() {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_2047"));
        }
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1298").with("config", keys::STREAMING_CHECKPOINT_LOCATION));
    }
    let temporary = tempfile::Builder::new()
        .prefix("streaming-")
        .tempdir_in(session.engine().spill_directory())
        .map_err(|error| super::log::cannot("make a folder in", session.engine().spill_directory(), &error))?;
    Ok((temporary.path().to_path_buf(), Some(temporary)))
}

fn made(folder: PathBuf) -> Result<PathBuf> {
    std::fs::create_dir_all(&folder).map_err(|error| super::log::cannot("make the folder", &folder, &error))?;
    Ok(folder)
}

fn has_batches(folder: &Path) -> bool {
    std::fs::read_dir(folder.join("offsets")).is_ok_and(|mut entries| entries.next().is_some())
}

/// The id of the query whose checkpoint lies in a folder.
fn identity(folder: &Path) -> Result<String> {
    let path = folder.join("metadata");
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            value["id"].as_str().map(str::to_string).ok_or_else(|| {
                SparkError::plain(
                    ExceptionClass::IllegalState,
                    format!("The checkpoint's file {} names no query", path.display()),
                )
            })
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let id = Uuid::new_v4().to_string();
            put(&path, &serde_json::json!({ "id": id }).to_string())?;
            Ok(id)
        }
        Err(error) => Err(super::log::cannot("read", &path, &error)),
    }
}
