//! Reading and writing of files for a session.

use crate::python::source::{PythonSource, Target};
use crate::session::{Analysed, Session};
use crate::{execution, python};
use firesteel_analyzer::attribute;
use firesteel_analyzer::environment::Scan;
use firesteel_config::{SqlConf, keys};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{DataSource, Options, Relation, SaveMode, WriteOperation, WriteTarget};
use firesteel_sources::{ScanRequest, WriteRequest, WriteSummary};
use firesteel_types::{DataType, StructType};
use std::sync::Arc;

/// A scan of `spark.read…load()`.
pub(crate) async fn scan(session: &Arc<Session>, conf: &SqlConf, source: &DataSource) -> Result<Scan> {
    let format = format_name(source.format.as_deref().unwrap_or(&conf.default_source));
    if source.is_streaming {
        return crate::streaming::table::scan(session, conf, source, &format).await;
    }
    if let Some(registered) = session.python().source(&format) {
        return python::source::scan(session, registered, source).await;
    }
    let schema = source.schema.as_deref().filter(|text| !text.trim().is_empty()).map(schema_of).transpose()?;
    let schema = schema.map(|schema| without_lengths(schema, conf)).transpose()?;
    if format == crate::jdbc::JDBC {
        return crate::jdbc::scan(conf, &source.options, &source.predicates, schema.as_ref()).await;
    }
    if !source.predicates.is_empty() {
        return Err(SparkError::unsupported(format!("predicates of the data source {format}")));
    }
    let mut paths = source.paths.clone();
    let has_path = source.options.iter().any(|(key, _)| key.eq_ignore_ascii_case("path"));
    if has_path && !paths.is_empty() && !conf.legacy_path_option {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1306").with("config", keys::LEGACY_PATH_OPTION));
    }
    for (key, value) in &source.options {
        if key.eq_ignore_ascii_case("path") && paths.is_empty() {
            paths.push(value.clone());
        } else if key.eq_ignore_ascii_case("paths")
            && paths.is_empty()
            && let Ok(list) = serde_json::from_str::<Vec<String>>(value)
        {
            paths.extend(list);
        }
    }
    let request = ScanRequest {
        format: format.clone(),
        paths,
        schema,
        options: source.options.clone(),
        partition_columns: None,
        conf: conf.clone(),
    };
    let scan = firesteel_sources::scan(&request, session.state()).await?;
    Ok(Scan { provider: scan.provider, schema: scan.schema, name: format, metadata_columns: scan.metadata_columns })
}

/// The schema of a JSON or DDL text.
pub(crate) fn schema_of(text: &str) -> Result<StructType> {
    match firesteel_types::ddl::parse_schema(text)? {
        DataType::Struct(schema) => Ok(schema.as_ref().clone()),
        other => Err(SparkError::new("INVALID_SCHEMA.NON_STRUCT_TYPE")
            .with("inputSchema", firesteel_types::text::quote_string(text))
            .with("dataType", format!("\"{}\"", other.sql()))),
    }
}

/// The schema of a reader, which has no types of strings with lengths.
pub(crate) fn without_lengths(schema: StructType, conf: &SqlConf) -> Result<StructType> {
    let plain = schema.char_varchar_as_string();
    if plain != schema && !conf.char_varchar_as_string {
        return Err(SparkError::new("UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING"));
    }
    Ok(plain)
}

/// The short name of a format, in lower case; class names of Spark's own formats are known.
pub(crate) fn format_name(name: &str) -> String {
    let lower = name.to_lowercase();
    let known = ["parquet", "csv", "json", "text", "orc", "avro", "xml", "jdbc"];
    if lower.starts_with("org.apache.spark.") || lower.starts_with("com.databricks.spark.") {
        let parts: Vec<&str> = lower.split('.').collect();
        if let Some(short) = known.iter().find(|known| parts.contains(known)) {
            return (*short).to_string();
        }
    }
    lower
}

/// Runs `df.write.save(…)`.
pub(crate) async fn write(session: &Arc<Session>, operation: WriteOperation) -> Result<()> {
    let conf = session.conf();
    let format = format_name(operation.format.as_deref().unwrap_or(&conf.default_source));
    let path = match operation.target {
        WriteTarget::Path(path) => Some(path),
        WriteTarget::None => None,
        WriteTarget::SaveAsTable(name) => {
            return Err(SparkError::unsupported(format!("saveAsTable of {}", attribute::quote_parts(&name))));
        }
        WriteTarget::InsertInto(name) => {
            return Err(SparkError::unsupported(format!("insertInto {}", attribute::quote_parts(&name))));
        }
    };
    if operation.bucket.is_none() && !operation.sort_columns.is_empty() {
        return Err(SparkError::new("SORT_BY_WITHOUT_BUCKETING"));
    }
    if operation.bucket.is_some() {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1312").with("operation", "save"));
    }
    if let Some(source) = session.python().source(&format) {
        let (mode, options) = (operation.mode.unwrap_or(SaveMode::ErrorIfExists), operation.options);
        return save(session, &source, operation.input, mode, path, &operation.partition_columns, options).await;
    }
    // Clustering columns are a property of tables: as in Spark, files have none.
    let analysed = session.analyse(operation.input).await?;
    let mode = operation.mode.unwrap_or(SaveMode::ErrorIfExists);
    let partition_by = operation.partition_columns;
    write_to_path(session, &analysed, &format, path, mode, partition_by, operation.options).await?;
    Ok(())
}

/// Writes a relation into a data source in Python.
async fn save(
    session: &Arc<Session>,
    source: &PythonSource,
    input: Relation,
    mode: SaveMode,
    path: Option<String>,
    partition_by: &[String],
    mut options: Options,
) -> Result<()> {
    let overwrite = match mode {
        SaveMode::Append => false,
        SaveMode::Overwrite => true,
        SaveMode::ErrorIfExists | SaveMode::Ignore => {
            return Err(SparkError::new("UNSUPPORTED_DATA_SOURCE_SAVE_MODE")
                .with("source", &source.name)
                .with("createMode", format!("\"{mode:?}\"")));
        }
    };
    if !partition_by.is_empty() {
        return Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!(
                "requirement failed: The data source {} has no partitions to write to: {partition_by:?}",
                source.name
            ),
        ));
    }
    let analysed = session.analyse(input).await?;
    let schema = attribute::schema_of(&analysed.resolved.output);
    if let Some(path) = path {
        options.retain(|(key, _)| !key.eq_ignore_ascii_case("path"));
        options.push(("path".to_string(), path));
    }
    let target = Target { overwrite, options };
    python::source::write(session, source, analysed.resolved.exact()?, schema, target).await
}

/// Writes an analysed relation as files of a format. `path` may stand in the options.
pub(crate) async fn write_to_path(
    session: &Arc<Session>,
    analysed: &Analysed,
    format: &str,
    path: Option<String>,
    mode: SaveMode,
    partition_by: Vec<String>,
    options: Vec<(String, String)>,
) -> Result<WriteSummary> {
    let schema = attribute::schema_of(&analysed.resolved.output);
    let logical = analysed.resolved.exact()?;
    if logical.schema().fields().len() != schema.fields.len() {
        let mut seen = std::collections::HashSet::new();
        let double = schema.fields.iter().find(|f| !seen.insert(&f.name)).map_or("", |f| f.name.as_str());
        return Err(SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", attribute::quote(double)));
    }
    let mode = match mode {
        SaveMode::ErrorIfExists => firesteel_sources::SaveMode::ErrorIfExists,
        SaveMode::Append => firesteel_sources::SaveMode::Append,
        SaveMode::Overwrite => firesteel_sources::SaveMode::Overwrite,
        SaveMode::Ignore => firesteel_sources::SaveMode::Ignore,
    };
    if format == crate::jdbc::JDBC {
        crate::jdbc::write(session, &logical, &schema, mode, &options).await?;
        return Ok(WriteSummary::default());
    }
    let request = WriteRequest {
        format: format.to_string(),
        path,
        mode,
        partition_by,
        schema,
        options,
        conf: session.conf().as_ref().clone(),
    };
    if let Some(target) = firesteel_sources::write::replaced(&request)? {
        crate::files::check_not_read(&logical, &target)?;
    }
    let of_options = request.options.iter().find(|(key, _)| key.eq_ignore_ascii_case("path")).map(|(_, path)| path);
    let target = request.path.as_ref().or(of_options).cloned();
    let plan = execution::plan_partitions(session.state(), &logical).await?;
    let summary = firesteel_sources::write(request, plan, session.state().task_ctx()).await?;
    if let Some(path) = target.and_then(|path| firesteel_sources::path::place(&path).ok()) {
        session.engine().kept().invalidate(&path.to_string_lossy());
    }
    Ok(summary)
}
