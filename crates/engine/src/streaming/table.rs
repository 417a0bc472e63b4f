//! Streaming sources as tables: what can be said of them before rows come.

use crate::Session;
use crate::write::{format_name, schema_of, without_lengths};
use firesteel_analyzer::environment::Scan;
use firesteel_analyzer::streaming::StreamingTable;
use firesteel_catalog::CatalogTable;
use firesteel_config::{Reader, SqlConf, keys};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{DataSource, Options};
use firesteel_sources::ScanRequest;
use firesteel_sources::options::SourceOptions;
use firesteel_types::{DataType, StructField, StructType, arrow_mapping};
use std::sync::Arc;

/// Formats of files that come one after the other.
const FILES: &[&str] = &["csv", "json", "parquet", "text", "orc", "xml", "binaryfile"];

/// Options of numbers that rates have.
pub(super) struct RateOptions<'a>(pub &'a Options);

impl RateOptions<'_> {
    /// A number; `least` is the smallest that makes sense.
    pub fn number(&self, key: &str, default: i64, least: i64) -> Result<i64> {
        let value = match self.text(key) {
            Some(text) => text.trim().parse().map_err(|_| {
                SparkError::plain(ExceptionClass::NumberFormat, format!("For input string: \"{text}\""))
            })?,
            None => default,
        };
        self.check(key, value, least)
    }

    /// Seconds: a number, or an interval such as `5s`.
    pub fn seconds(&self, key: &str) -> Result<i64> {
        let Some(text) = self.text(key) else { return Ok(0) };
        let seconds = text.trim().parse::<i64>().ok().or_else(|| short_time(text)).ok_or_else(|| {
            let message = format!("Time must be specified as seconds (s), minutes (m), hours (h) or days (d): {text}");
            SparkError::plain(ExceptionClass::NumberFormat, message)
        })?;
        self.check(key, seconds, 0)
    }

    fn check(&self, key: &str, value: i64, least: i64) -> Result<i64> {
        if value >= least {
            return Ok(value);
        }
        let must = if least > 0 { "be positive" } else { "not be negative" };
        Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!("Invalid value '{value}'. The option '{key}' must {must}"),
        ))
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
    }
}

/// Seconds of a time such as `5s`, `2m`.
fn short_time(text: &str) -> Option<i64> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let number: i64 = number.trim().parse().ok()?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "ms" => return Some(number / 1000),
        _ => return None,
    };
    number.checked_mul(factor)
}

/// The table of `spark.readStream…load()`.
pub(crate) async fn scan(session: &Arc<Session>, conf: &SqlConf, source: &DataSource, format: &str) -> Result<Scan> {
    match format {
        "rate" | "rate-micro-batch" => rate(source, format),
        _ if session.python().source(format).is_some() => {
            Err(SparkError::unsupported("streams of data sources in Python"))
        }
        _ if FILES.contains(&format) => files(session, conf, source, format).await,
        "noop" | "console" | "jdbc" => {
            Err(SparkError::new("_LEGACY_ERROR_TEMP_2049").with("className", format).with("operator", "reading"))
        }
        "kafka" => Err(SparkError::new("_LEGACY_ERROR_TEMP_1140").with("provider", format)),
        "avro" => Err(SparkError::new("_LEGACY_ERROR_TEMP_1139").with("provider", format)),
        "socket" | "delta" | "iceberg" | "statestore" | "state-metadata" => {
            Err(SparkError::unsupported(format!("the streaming source {format}")))
        }
        _ => Err(SparkError::new("DATA_SOURCE_NOT_FOUND").with("provider", source.format.as_deref().unwrap_or(format))),
    }
}

fn rate(source: &DataSource, format: &str) -> Result<Scan> {
    let provider = if format == "rate" { "RateStreamProvider" } else { "RatePerMicroBatchProvider" };
    if source.schema.is_some() {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_2242").with("provider", provider));
    }
    let options = RateOptions(&source.options);
    if format == "rate" {
        options.number("rowsPerSecond", 1, 1)?;
        options.seconds("rampUpTime")?;
    } else {
        options.number("rowsPerBatch", 0, 1)?;
        options.number("startTimestamp", 0, 0)?;
        options.number("advanceMillisPerBatch", 1000, 0)?;
    }
    options.number("numPartitions", 1, 1)?;
    let columns = StructType::new(vec![
        StructField::new("timestamp", DataType::Timestamp, true),
        StructField::new("value", DataType::Long, true),
    ]);
    let schema = Arc::new(arrow_mapping::to_arrow_schema(&columns));
    let source = DataSource { format: Some(format.to_string()), ..source.clone() };
    let table = StreamingTable::new(source, columns.clone(), format, schema);
    Ok(Scan { provider: Arc::new(table), schema: columns, name: format.to_string(), metadata_columns: Vec::new() })
}

async fn files(session: &Arc<Session>, conf: &SqlConf, source: &DataSource, format: &str) -> Result<Scan> {
    let of_options = source.options.iter().find(|(key, _)| key.eq_ignore_ascii_case("path")).map(|(_, path)| path);
    if of_options.is_some() && !source.paths.is_empty() && !conf.legacy_path_option {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1188")
            .with("method", "load")
            .with("config", keys::LEGACY_PATH_OPTION));
    }
    let path = source.paths.first().or(of_options).cloned();
    let path = path.ok_or_else(|| SparkError::new("_LEGACY_ERROR_TEMP_2047"))?;
    let schema = source.schema.as_deref().filter(|text| !text.trim().is_empty()).map(schema_of).transpose()?;
    let schema = schema.map(|schema| without_lengths(schema, conf)).transpose()?;
    let has_own = matches!(format, "text" | "binaryfile");
    if schema.is_none() && !has_own && !session.config().read().boolean(keys::STREAMING_SCHEMA_INFERENCE) {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_2048"));
    }
    let mut options = source.options.clone();
    options.retain(|(key, _)| !key.eq_ignore_ascii_case("path"));
    super::source::files::check_options(&SourceOptions::new(&options))?;
    let request = ScanRequest {
        format: format.to_string(),
        paths: vec![path.clone()],
        schema,
        options: options.clone(),
        partition_columns: None,
        conf: conf.clone(),
    };
    let found = firesteel_sources::scan(&request, session.state()).await?;
    let source = DataSource {
        format: Some(format.to_string()),
        schema: None,
        options,
        paths: vec![path.clone()],
        predicates: Vec::new(),
        is_streaming: true,
    };
    let table =
        StreamingTable::new(source, found.schema.clone(), format!("FileSource[{path}]"), found.provider.schema());
    Ok(Scan {
        provider: Arc::new(table),
        schema: found.schema,
        name: format.to_string(),
        metadata_columns: found.metadata_columns,
    })
}

/// The table of `spark.readStream.table(…)`, given its scan.
pub(crate) fn of_catalog(conf: &SqlConf, table: &CatalogTable, options: &Options, scan: Scan) -> Result<Scan> {
    let format = format_name(table.provider.as_deref().unwrap_or(&conf.default_source));
    if !FILES.contains(&format.as_str()) {
        return Err(SparkError::unsupported(format!("reading a table of {format} as a stream")));
    }
    let location = table.location.clone().unwrap_or_default();
    let mut all: Options = table.options.clone().into_iter().collect();
    all.extend(options.iter().cloned());
    let source = DataSource {
        format: Some(format),
        schema: None,
        options: all,
        paths: vec![location.clone()],
        predicates: Vec::new(),
        is_streaming: true,
    };
    let partition_columns = (!table.partition_columns.is_empty()).then(|| table.partition_columns.clone());
    let streaming =
        StreamingTable::new(source, scan.schema.clone(), format!("FileSource[{location}]"), scan.provider.schema())
            .with_partition_columns(partition_columns);
    Ok(Scan { provider: Arc::new(streaming), ..scan })
}
