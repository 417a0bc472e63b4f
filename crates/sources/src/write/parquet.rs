//! Parquet files as Spark writes them.

use super::dictionary;
use super::file::FileWriter;
use super::task::Layout;
use crate::error::{from_arrow, unwritable};
use crate::options::SourceOptions;
use crate::parquet::ROW_METADATA_KEY;
use crate::store::Output;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, RecordBatch};
use arrow::datatypes::{
    DataType as ArrowType, DurationMicrosecondType, Field, FieldRef, IntervalUnit, IntervalYearMonthType, Schema,
    SchemaRef, TimeUnit,
};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How Parquet files are written.
pub struct ParquetEncoding {
    schema: SchemaRef,
    properties: WriterProperties,
    extension: &'static str,
}

impl ParquetEncoding {
    /// The encoding that options and settings ask for.
    pub fn new(options: &SourceOptions, conf: &SqlConf, layout: &Layout) -> Result<Self> {
        let codec = options.any(&["compression", "parquet.compression"]).unwrap_or(&conf.parquet_compression);
        let (compression, extension) = codec_of(codec)?;
        let in_millis = conf.parquet_output_timestamp_type == "TIMESTAMP_MILLIS";
        let schema = stored_schema(layout.file_schema()?.as_ref(), in_millis)?;
        let pair = |key: &str, value: String| KeyValue::new(key.to_string(), value);
        let metadata = vec![
            pair("org.apache.spark.version", "4.2.1".into()),
            pair(ROW_METADATA_KEY, layout.schema.as_nullable().json()),
        ];
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_created_by(format!("Firesteel version {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(metadata))
            .set_coerce_types(true)
            .build();
        Ok(Self { schema: Arc::new(schema), properties, extension })
    }

    /// The end of a file's name.
    pub fn extension(&self) -> String {
        self.extension.to_string()
    }

    /// Begins a file.
    pub fn open(&self, path: &Path, file: Output) -> Box<dyn FileWriter> {
        Box::new(ParquetFile {
            state: State::Waiting(file),
            properties: self.properties.clone(),
            schema: self.schema.clone(),
            path: path.to_path_buf(),
        })
    }
}

fn codec_of(name: &str) -> Result<(Compression, &'static str)> {
    let name = name.to_lowercase();
    Ok(match name.as_str() {
        "none" | "uncompressed" => (Compression::UNCOMPRESSED, ".parquet"),
        "snappy" => (Compression::SNAPPY, ".snappy.parquet"),
        "gzip" => (Compression::GZIP(Default::default()), ".gz.parquet"),
        "zstd" => (Compression::ZSTD(ZstdLevel::default()), ".zstd.parquet"),
        "lz4_raw" => (Compression::LZ4_RAW, ".lz4raw.parquet"),
        // The blocks of Hadoop's own LZ4 are longer than its readers take.
        "lz4" => (Compression::LZ4_RAW, ".lz4hadoop.parquet"),
        "brotli" => (Compression::BROTLI(Default::default()), ".br.parquet"),
        "lzo" => return Err(SparkError::unsupported("the compression lzo")),
        _ => {
            return Err(SparkError::new("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION")
                .with("codecName", name)
                .with("availableCodecs", "brotli, uncompressed, lzo, snappy, lz4_raw, none, zstd, lz4, gzip"));
        }
    })
}

/// The Arrow types that stand in files: intervals are numbers, times have microseconds.
fn stored_schema(schema: &Schema, in_millis: bool) -> Result<Schema> {
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| {
            let data_type = match field.data_type() {
                ArrowType::Interval(IntervalUnit::YearMonth) => ArrowType::Int32,
                ArrowType::Duration(_) => ArrowType::Int64,
                ArrowType::Time64(_) => ArrowType::Time64(TimeUnit::Microsecond),
                other if has_interval(other) => {
                    return Err(SparkError::unsupported("intervals and times within other types in Parquet files"));
                }
                other if in_millis => with_millis(other),
                other => other.clone(),
            };
            Ok(Field::new(field.name(), data_type, true))
        })
        .collect::<Result<_>>()?;
    Ok(Schema::new(fields))
}

/// The type with moments of milliseconds.
fn with_millis(data_type: &ArrowType) -> ArrowType {
    let within = |field: &FieldRef| -> FieldRef {
        Arc::new(field.as_ref().clone().with_data_type(with_millis(field.data_type())))
    };
    match data_type {
        ArrowType::Timestamp(TimeUnit::Microsecond, Some(zone)) => {
            ArrowType::Timestamp(TimeUnit::Millisecond, Some(zone.clone()))
        }
        ArrowType::List(field) => ArrowType::List(within(field)),
        ArrowType::Map(field, is_sorted) => ArrowType::Map(within(field), *is_sorted),
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(within).collect()),
        other => other.clone(),
    }
}

fn has_interval(data_type: &ArrowType) -> bool {
    match data_type {
        ArrowType::Interval(_) | ArrowType::Duration(_) | ArrowType::Time64(_) => true,
        ArrowType::List(field) | ArrowType::Map(field, _) => has_interval(field.data_type()),
        ArrowType::Struct(fields) => fields.iter().any(|f| has_interval(f.data_type())),
        _ => false,
    }
}

fn stored(column: &ArrayRef, wanted: &ArrowType) -> Result<ArrayRef> {
    Ok(match column.data_type() {
        same if same == wanted => column.clone(),
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            let column = column.as_primitive::<IntervalYearMonthType>();
            Arc::new(Int32Array::new(column.values().clone(), column.nulls().cloned()))
        }
        ArrowType::Duration(TimeUnit::Microsecond) => {
            let column = column.as_primitive::<DurationMicrosecondType>();
            Arc::new(Int64Array::new(column.values().clone(), column.nulls().cloned()))
        }
        _ => arrow::compute::cast(column, wanted).map_err(from_arrow)?,
    })
}

struct ParquetFile {
    state: State,
    properties: WriterProperties,
    schema: SchemaRef,
    path: PathBuf,
}

/// How far a file is.
enum State {
    /// It has no rows yet: the first ones say how its columns are best encoded.
    Waiting(Output),
    Begun(ArrowWriter<Output>),
    /// A writer could not be made.
    Failed,
}

impl ParquetFile {
    /// The writer, made for these rows if they are the first.
    fn writer(&mut self, first: Option<&RecordBatch>) -> Result<&mut ArrowWriter<Output>> {
        if matches!(self.state, State::Waiting(_)) {
            let State::Waiting(file) = std::mem::replace(&mut self.state, State::Failed) else {
                return Err(SparkError::internal("a Parquet file without a writer"));
            };
            let properties = match first {
                Some(batch) => dictionary::fitting(&self.properties, &self.schema, batch),
                None => self.properties.clone(),
            };
            let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
            let writer = ArrowWriter::try_new_with_options(file, self.schema.clone(), options)
                .map_err(|e| unwritable(&self.path, e))?;
            self.state = State::Begun(writer);
        }
        match &mut self.state {
            State::Begun(writer) => Ok(writer),
            _ => Err(SparkError::internal("a Parquet file without a writer")),
        }
    }
}

impl FileWriter for ParquetFile {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch
            .columns()
            .iter()
            .zip(self.schema.fields())
            .map(|(column, field)| stored(column, field.data_type()))
            .collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(from_arrow)?;
        let path = self.path.clone();
        let writer = self.writer(Some(&batch))?;
        writer.write(&batch).map_err(|e| unwritable(&path, e))?;
        // A row group of many wide rows must not fill the memory.
        if writer.in_progress_size() > 256 << 20 {
            writer.flush().map_err(|e| unwritable(&path, e))?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.writer(None)?;
        let State::Begun(writer) = self.state else {
            return Err(SparkError::internal("a Parquet file without a writer"));
        };
        let file = writer.into_inner().map_err(|e| unwritable(&self.path, e))?;
        file.finish().map_err(|e| unwritable(&self.path, e))
    }
}
