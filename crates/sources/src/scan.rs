//! From a request to a table of files.

use crate::csv::reader::CsvReader;
use crate::csv::{self, CsvOptions};
use crate::error::{from_datafusion, illegal};
use crate::json::{self, JsonOptions, JsonReader};
use crate::listing::{self, DataFile};
use crate::metadata::metadata_field;
use crate::options::SourceOptions;
use crate::orc::{self, OrcReader};
use crate::packing::Packing;
use crate::parquet::{self, ParquetFormat};
use crate::partition::{self, Discovery, Partitions};
use crate::path;
use crate::records::{RecordFormat, RecordReader, Tolerance};
use crate::request::{ScanRequest, SourceScan};
use crate::store::{self, Address, Stores};
use crate::table::{FilesTable, Format};
use crate::text::{BinaryReader, TextReader, any_compressed, binary_schema, text_schema};
use crate::write::validate::{check_times, check_types};
use crate::xml::{self, XmlOptions, XmlReader};
use datafusion::common::ScalarValue;
use datafusion::execution::session_state::SessionState;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, StructType};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::runtime::Handle;

/// Plans a scan of files. Reads folders, and files as far as the schema asks for it.
pub async fn scan(request: &ScanRequest, state: &SessionState) -> Result<SourceScan> {
    if !request.paths.iter().any(|path| matches!(Address::parse(path), Ok(Some(_)))) {
        return planned(request, state).await;
    }
    // Requests to other machines are waited for on a thread that may block.
    let (request, state) = (request.clone(), state.clone());
    let task = tokio::task::spawn_blocking(move || Handle::current().block_on(planned(&request, &state)));
    task.await.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => Err(SparkError::internal(error.to_string())),
    })
}

async fn planned(request: &ScanRequest, state: &SessionState) -> Result<SourceScan> {
    check_format(&request.format)?;
    let conf = &request.conf;
    let options = SourceOptions::new(&request.options);
    options.check_reader(&request.format)?;
    let stores = Stores::new(conf, &request.options);
    let listing = listing::list(&request.paths, &options, conf, &stores)?;
    let roots = listing.roots.iter().map(|root| root.path.clone()).collect();
    let discovery = Discovery {
        conf,
        stores: &stores,
        base: options.get("basePath"),
        recursive: options.boolean("recursiveFileLookup", false)?,
        schema: request.schema.as_ref(),
        names: request.partition_columns.as_deref(),
    };
    let mut partitions = partition::discover(listing, &discovery)?;
    let (schema, format) = read_schema(request, &options, &mut partitions, state).await?;
    let same = |a: &str, b: &str| if conf.case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) };
    let schema = with_partitions(schema, &mut partitions, request.schema.is_some(), &same);
    check_names(&schema, conf.case_sensitive)?;
    check_inner_names(&schema, conf.case_sensitive)?;
    check_times(&schema, conf)?;
    let files = partitions.files.iter().map(|(file, _)| path::uri(&file.path)).collect();
    let views = request.format == "parquet" && state.config_options().execution.parquet.schema_force_view_types;
    let metadata = metadata_field(format.counts_rows());
    let packing = Packing::new(conf);
    let table = FilesTable::new(format, &schema, &partitions.columns, roots, partitions.files, views, packing)
        .listed_for(request, &partitions.columns);
    let metadata_columns = if table.has_metadata() { vec![metadata] } else { Vec::new() };
    Ok(SourceScan { provider: Arc::new(table), schema, metadata_columns, files })
}

/// The files of a scan as they are now, each with the values of partition columns that are known.
pub(crate) fn relist(request: &ScanRequest, columns: &[StructField]) -> Result<Vec<(DataFile, Vec<ScalarValue>)>> {
    let options = SourceOptions::new(&request.options);
    let stores = Stores::new(&request.conf, &request.options);
    let listing = listing::list(&request.paths, &options, &request.conf, &stores)?;
    let schema = StructType::new(columns.to_vec());
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let discovery = Discovery {
        conf: &request.conf,
        stores: &stores,
        base: options.get("basePath"),
        recursive: options.boolean("recursiveFileLookup", false)?,
        schema: Some(&schema),
        names: Some(&names),
    };
    let partitions = partition::discover(listing, &discovery)?;
    if partitions.columns.len() != columns.len() && !partitions.files.is_empty() {
        return Err(SparkError::unsupported("files of which the partition columns have changed"));
    }
    Ok(partitions.files)
}

fn check_format(format: &str) -> Result<()> {
    match format {
        "parquet" | "csv" | "json" | "text" | "binaryfile" | "orc" | "xml" => Ok(()),
        "avro" => Err(SparkError::new("_LEGACY_ERROR_TEMP_1139").with("provider", format)),
        "kafka" => Err(SparkError::new("_LEGACY_ERROR_TEMP_1140").with("provider", format)),
        "jdbc" | "socket" | "rate" | "noop" | "console" => {
            Err(SparkError::unsupported(format!("the data source {format}")))
        }
        other => Err(SparkError::new("DATA_SOURCE_NOT_FOUND").with("provider", other)),
    }
}

/// The columns of the files and how they are read.
async fn read_schema(
    request: &ScanRequest,
    options: &SourceOptions,
    partitions: &mut Partitions,
    state: &SessionState,
) -> Result<(StructType, Arc<dyn Format>)> {
    match request.format.as_str() {
        "parquet" => parquet_files(request, options, partitions, state).await,
        _ => text_files(request, options, partitions),
    }
}

async fn parquet_files(
    request: &ScanRequest,
    options: &SourceOptions,
    partitions: &mut Partitions,
    state: &SessionState,
) -> Result<(StructType, Arc<dyn Format>)> {
    let conf = &request.conf;
    let mut files: Vec<DataFile> = partitions.files.iter().map(|(file, _)| file.clone()).collect();
    let count = files.len();
    let schema = match &request.schema {
        Some(schema) => {
            if options.boolean("ignoreCorruptFiles", conf.ignore_corrupt_files)? {
                let store = store::reader(state.runtime_env(), files.iter()).map_err(from_datafusion)?;
                parquet::drop_corrupt(&mut files, state, store.as_ref()).await;
            }
            schema.as_nullable()
        }
        None => parquet::infer(&mut files, state, options, conf).await?,
    };
    if files.len() != count {
        let good: HashSet<_> = files.iter().map(|file| &file.path).collect();
        partitions.files.retain(|(file, _)| good.contains(&file.path));
    }
    let is_declared = request.schema.is_some() || options.boolean("mergeSchema", conf.parquet_merge_schema)?;
    let ignores_missing = options.boolean("ignoreMissingFiles", conf.ignore_missing_files)?;
    Ok((schema, Arc::new(ParquetFormat::new(conf, is_declared || count > 1, ignores_missing))))
}

fn text_files(
    request: &ScanRequest,
    options: &SourceOptions,
    partitions: &Partitions,
) -> Result<(StructType, Arc<dyn Format>)> {
    let conf = &request.conf;
    let files: Vec<DataFile> = partitions.files.iter().map(|(file, _)| file.clone()).collect();
    let is_compressed = any_compressed(&files);
    let is_partition = |f: &StructField| {
        partitions
            .columns
            .iter()
            .any(|p| if conf.case_sensitive { p.name == f.name } else { p.name.eq_ignore_ascii_case(&f.name) })
    };
    let declared = request.schema.as_ref().map(|schema| {
        StructType::new(schema.fields.iter().filter(|f| !is_partition(f)).cloned().collect()).as_nullable()
    });
    let inferred = |infer: &dyn Fn() -> Result<StructType>| match &declared {
        Some(schema) => Ok(schema.clone()),
        None if files.is_empty() => Err(SparkError::new("UNABLE_TO_INFER_SCHEMA")
            .with("format", crate::write::validate::display_name(&request.format))),
        None => crate::inferred::schema(&request.format, &files, &request.options, conf, infer),
    };
    let (schema, reader): (StructType, Arc<dyn RecordReader>) = match request.format.as_str() {
        "csv" => {
            let options = CsvOptions::new(options, conf)?;
            let schema = inferred(&|| csv::infer::infer(&files, &options))?;
            if let Some(field) = schema.fields.iter().find(|f| is_partition(f)) {
                let name = &field.name;
                return Err(SparkError::unsupported(format!(
                    "a column of CSV files that is a partition column: {name}"
                )));
            }
            check_types("csv", &schema)?;
            check_corrupt(&schema, &options.corrupt_column)?;
            (schema.clone(), Arc::new(CsvReader::new(options, schema, is_compressed)))
        }
        "json" => {
            let corrupt = options.get("columnNameOfCorruptRecord").unwrap_or(&conf.corrupt_record_column).to_string();
            let options = JsonOptions::new(options, &request.options, conf)?;
            let mut schema = inferred(&|| json::infer(&files, &options))?;
            schema.fields.retain(|f| !is_partition(f));
            check_types("json", &schema)?;
            check_corrupt(&schema, &corrupt)?;
            (schema.clone(), Arc::new(JsonReader::new(options, schema, is_compressed)))
        }
        "xml" => {
            let options = XmlOptions::new(options, &request.options, conf)?;
            let schema = inferred(&|| xml::infer(&files, &options))?;
            check_types("xml", &schema)?;
            check_corrupt(&schema, &options.corrupt_column)?;
            (schema.clone(), Arc::new(XmlReader::new(options, schema)))
        }
        "orc" => {
            let schema = match declared.clone() {
                Some(schema) => schema,
                None => orc::infer(&files, options, conf)?,
            };
            (schema.clone(), Arc::new(OrcReader::new(schema, conf)))
        }
        "text" => {
            let schema = declared.unwrap_or_else(text_schema);
            check_types("text", &schema)?;
            (schema, Arc::new(TextReader::new(options, is_compressed)?))
        }
        _ => {
            if declared.as_ref().is_some_and(|schema| *schema != binary_schema()) {
                return Err(illegal("requirement failed: files that are read whole have columns of their own"));
            }
            (binary_schema(), Arc::new(BinaryReader { max_length: conf.binary_file_max_length }))
        }
    };
    let tolerance = Tolerance {
        missing: options.boolean("ignoreMissingFiles", conf.ignore_missing_files)?,
        corrupt: options.boolean("ignoreCorruptFiles", conf.ignore_corrupt_files)?,
    };
    Ok((schema, Arc::new(RecordFormat { reader, tolerance })))
}

/// The column of corrupt records holds text.
fn check_corrupt(schema: &StructType, name: &str) -> Result<()> {
    match schema.fields.iter().find(|f| f.name == name) {
        Some(field) if !field.data_type.is_string() => Err(SparkError::new("INVALID_CORRUPT_RECORD_TYPE")
            .with("columnName", firesteel_types::text::quote_identifier(name))
            .with("actualType", format!("\"{}\"", field.data_type.sql()))),
        _ => Ok(()),
    }
}

/// The schema of the table: partition columns come last, but keep their place in files that have them too.
fn with_partitions(
    mut schema: StructType,
    partitions: &mut Partitions,
    is_declared: bool,
    same: &impl Fn(&str, &str) -> bool,
) -> StructType {
    if is_declared {
        schema.fields.retain(|f| !partitions.columns.iter().any(|p| same(&p.name, &f.name)));
    }
    let mut last: Vec<StructField> = Vec::new();
    for column in &mut partitions.columns {
        match schema.fields.iter_mut().find(|f| same(&f.name, &column.name)) {
            Some(field) => {
                column.name.clone_from(&field.name);
                *field = column.clone();
            }
            None => last.push(column.clone()),
        }
    }
    schema.fields.extend(last);
    schema
}

/// Fails where two fields of a struct have the same name.
fn check_inner_names(schema: &StructType, case_sensitive: bool) -> Result<()> {
    schema.fields.iter().try_for_each(|field| check_type(&field.data_type, case_sensitive))
}

fn check_type(data_type: &DataType, case_sensitive: bool) -> Result<()> {
    match data_type {
        DataType::Struct(inner) => {
            check_names(inner, case_sensitive)?;
            check_inner_names(inner, case_sensitive)
        }
        DataType::Array { element, .. } => check_type(element, case_sensitive),
        DataType::Map { key, value, .. } => {
            check_type(key, case_sensitive)?;
            check_type(value, case_sensitive)
        }
        _ => Ok(()),
    }
}

/// Fails where two columns have the same name.
pub(crate) fn check_names(schema: &StructType, case_sensitive: bool) -> Result<()> {
    let mut seen: HashMap<String, ()> = HashMap::new();
    for field in &schema.fields {
        let key = if case_sensitive { field.name.clone() } else { field.name.to_lowercase() };
        if seen.insert(key.clone(), ()).is_some() {
            let name = firesteel_types::text::quote_identifier(&key);
            return Err(SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", name));
        }
    }
    Ok(())
}
