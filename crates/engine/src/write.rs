//! Reading and writing of files for a session.

use crate::session::Session;
use firesteel_analyzer::environment::Scan;
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_plan::DataSource;
use firesteel_sources::ScanRequest;
use firesteel_types::{DataType, StructType};
use std::sync::Arc;

/// A scan of `spark.read…load()`.
pub(crate) async fn scan(session: &Arc<Session>, conf: &SqlConf, source: &DataSource) -> Result<Scan> {
    let format = format_name(source.format.as_deref().unwrap_or(&conf.default_source));
    if source.is_streaming {
        return Err(SparkError::unsupported(format!("the streaming source {format}")));
    }
    if format == "jdbc" || !source.predicates.is_empty() {
        return Err(SparkError::unsupported("the data source jdbc"));
    }
    let schema = source.schema.as_deref().filter(|text| !text.trim().is_empty()).map(schema_of).transpose()?;
    let mut paths = source.paths.clone();
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
    Ok(Scan {
        provider: scan.provider,
        schema: scan.schema,
        name: format,
        metadata_columns: scan.metadata_columns,
    })
}

/// The schema of a JSON or DDL text.
fn schema_of(text: &str) -> Result<StructType> {
    match firesteel_types::ddl::parse_schema(text)? {
        DataType::Struct(schema) => Ok(schema.as_ref().clone()),
        other => Err(SparkError::new("INVALID_SCHEMA.NON_STRUCT_TYPE")
            .with("inputSchema", firesteel_types::text::quote_string(text))
            .with("dataType", format!("\"{}\"", other.sql()))),
    }
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
