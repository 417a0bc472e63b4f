//! ORC files.

use super::file::FileWriter;
use super::task::Layout;
use crate::error::{from_arrow, unwritable};
use crate::options::SourceOptions;
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use orc_rust::ArrowWriterBuilder;
use orc_rust::compression::CompressionType;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// How ORC files are written.
pub struct OrcEncoding {
    schema: SchemaRef,
    compression: Option<CompressionType>,
    extension: &'static str,
}

impl OrcEncoding {
    /// The encoding that options and settings ask for.
    pub fn new(options: &SourceOptions, conf: &SqlConf, layout: &Layout) -> Result<Self> {
        let codec = options.any(&["compression", "orc.compress"]).unwrap_or(&conf.orc_compression);
        let (compression, extension) = codec_of(codec)?;
        for field in &layout.schema.fields {
            if !is_writable(&field.data_type) {
                return Err(SparkError::unsupported(format!(
                    "columns of the type {} in ORC files that it writes",
                    field.data_type.sql()
                )));
            }
        }
        let fields: Vec<Field> = layout
            .file_schema()?
            .fields()
            .iter()
            .map(|field| {
                let data_type = match field.data_type() {
                    // As Spark does: the moment as a wall-clock time of the writer's zone.
                    ArrowType::Timestamp(unit, _) => ArrowType::Timestamp(*unit, None),
                    ArrowType::Utf8View => ArrowType::Utf8,
                    ArrowType::BinaryView => ArrowType::Binary,
                    other => other.clone(),
                };
                Field::new(field.name(), data_type, true)
            })
            .collect();
        Ok(Self { schema: Arc::new(Schema::new(fields)), compression, extension })
    }

    /// The end of a file's name.
    pub fn extension(&self) -> String {
        self.extension.to_string()
    }

    /// Begins a file.
    pub fn open(&self, path: &Path) -> Result<Box<dyn FileWriter>> {
        let file = File::create(path).map_err(|e| unwritable(path, e))?;
        let mut builder = ArrowWriterBuilder::new(file, self.schema.clone());
        if let Some(compression) = self.compression {
            builder = builder.with_compression(compression);
        }
        let (batches, queue) = sync_channel::<RecordBatch>(AHEAD);
        let at = path.to_path_buf();
        // The writer cannot move between threads, as tasks do: it stays in one of its own.
        let thread = std::thread::spawn(move || {
            let mut writer = builder.try_build().map_err(|e| unwritable(&at, e))?;
            for batch in queue {
                writer.write(&batch).map_err(|e| unwritable(&at, e))?;
            }
            writer.close().map_err(|e| unwritable(&at, e))
        });
        Ok(Box::new(OrcFile { batches: Some(batches), thread: Some(thread), schema: self.schema.clone() }))
    }
}

/// Batches that may wait for the writer.
const AHEAD: usize = 2;

/// What the writer can store, and a reader gets back as the same type.
fn is_writable(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(
        data_type,
        T::Boolean
            | T::Byte
            | T::Short
            | T::Integer
            | T::Long
            | T::Float
            | T::Double
            | T::String(_)
            | T::Char(_)
            | T::Varchar(_)
            | T::Binary
            | T::Date
            | T::Timestamp
    )
}

fn codec_of(name: &str) -> Result<(Option<CompressionType>, &'static str)> {
    let name = name.to_lowercase();
    Ok(match name.as_str() {
        "none" | "uncompressed" => (None, ".orc"),
        "snappy" => (Some(CompressionType::Snappy), ".snappy.orc"),
        "zlib" => (Some(CompressionType::Zlib), ".zlib.orc"),
        "zstd" => (Some(CompressionType::Zstd), ".zstd.orc"),
        "lz4" => (Some(CompressionType::Lz4), ".lz4.orc"),
        "lzo" | "brotli" => return Err(SparkError::unsupported(format!("the compression {name} of ORC files"))),
        _ => {
            return Err(SparkError::new("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION")
                .with("codecName", name)
                .with("availableCodecs", "brotli, uncompressed, lzo, snappy, none, zlib, zstd, lz4"));
        }
    })
}

struct OrcFile {
    batches: Option<SyncSender<RecordBatch>>,
    thread: Option<JoinHandle<Result<()>>>,
    schema: SchemaRef,
}

impl OrcFile {
    /// Ends the thread, and gives its error.
    fn end(&mut self) -> Result<()> {
        self.batches = None;
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl FileWriter for OrcFile {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch
            .columns()
            .iter()
            .zip(self.schema.fields())
            .map(|(column, field)| stored(column, field.data_type()))
            .collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(from_arrow)?;
        if self.batches.as_ref().is_some_and(|batches| batches.send(batch).is_ok()) {
            return Ok(());
        }
        self.end()?;
        Err(SparkError::internal("the writer of an ORC file has ended early"))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.end()
    }
}

fn stored(column: &ArrayRef, wanted: &ArrowType) -> Result<ArrayRef> {
    Ok(match (column.data_type(), wanted) {
        (same, _) if same == wanted => column.clone(),
        (ArrowType::Timestamp(TimeUnit::Microsecond, Some(_)), ArrowType::Timestamp(TimeUnit::Microsecond, None)) => {
            Arc::new(column.as_primitive::<TimestampMicrosecondType>().clone().with_timezone_opt(None::<Arc<str>>))
        }
        _ => arrow::compute::cast(column, wanted).map_err(from_arrow)?,
    })
}
