//! Files of each format.

use super::csv::CsvEncoding;
use super::json::JsonEncoding;
use super::orc::OrcEncoding;
use super::parquet::ParquetEncoding;
use super::task::Layout;
use super::text::{self, TextBytes, TextFile};
use super::xml::XmlEncoding;
use crate::charset::Charset;
use crate::codec::Codec;
use crate::options::SourceOptions;
use crate::request::WriteRequest;
use crate::store::Output;
use arrow::array::RecordBatch;
use firesteel_error::{Result, SparkError};
use std::path::Path;
use std::sync::Arc;

/// A file that is being written.
pub trait FileWriter: Send {
    /// Adds rows.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Ends the file.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Turns rows into text.
pub trait TextEncoding: Send + Sync {
    /// What a file begins with.
    fn start(&self, out: &mut String);
    /// Adds rows.
    fn rows(&self, batch: &RecordBatch, out: &mut String) -> Result<()>;
    /// What a file ends with.
    fn end(&self, _out: &mut String) {}
    /// True where a file without rows is empty.
    fn is_empty_without_rows(&self) -> bool {
        false
    }
}

/// Makes files of a format.
pub enum Encoder {
    Parquet(ParquetEncoding),
    Orc(OrcEncoding),
    Text { encoding: Arc<dyn TextEncoding>, extension: &'static str, bytes: TextBytes },
}

impl Encoder {
    /// The encoder that a request asks for.
    pub fn new(request: &WriteRequest, options: &SourceOptions, layout: &Layout) -> Result<Self> {
        let conf = &request.conf;
        let (encoding, extension): (Arc<dyn TextEncoding>, _) = match request.format.as_str() {
            "parquet" => return Ok(Self::Parquet(ParquetEncoding::new(options, conf, layout)?)),
            "orc" => return Ok(Self::Orc(OrcEncoding::new(options, conf, layout)?)),
            "csv" => (Arc::new(CsvEncoding::new(options, conf, &layout.schema)?), ".csv"),
            "json" => (Arc::new(JsonEncoding::new(options, conf, &layout.schema)?), ".json"),
            "text" => (Arc::new(text::Lines::new(options)?), ".txt"),
            "avro" => return Err(SparkError::new("_LEGACY_ERROR_TEMP_1139").with("provider", "avro")),
            "kafka" => return Err(SparkError::new("_LEGACY_ERROR_TEMP_1140").with("provider", "kafka")),
            "xml" => (Arc::new(XmlEncoding::new(options, &request.options, conf, &layout.schema)?), ".xml"),
            "jdbc" | "console" => {
                return Err(SparkError::unsupported(format!("writes to the data source {}", request.format)));
            }
            "binaryfile" => {
                return Err(SparkError::new("UNSUPPORTED_FEATURE.WRITE_FOR_BINARY_SOURCE"));
            }
            other => return Err(SparkError::new("DATA_SOURCE_NOT_FOUND").with("provider", other)),
        };
        let charset = match request.format.as_str() {
            "csv" => crate::csv::charset(options)?,
            "json" => {
                let name = options.any(&["encoding", "charset"]);
                name.map_or(Ok(Charset::Utf8), |name| Charset::parse(name, "JSONOptions"))?
            }
            "xml" => crate::xml::charset(options)?,
            _ => Charset::Utf8,
        };
        Ok(Self::Text { encoding, extension, bytes: TextBytes { codec: Codec::of_writer(options)?, charset } })
    }

    /// The end of a file's name.
    pub fn extension(&self) -> String {
        match self {
            Self::Parquet(parquet) => parquet.extension(),
            Self::Orc(orc) => orc.extension(),
            Self::Text { extension, bytes, .. } => format!("{extension}{}", bytes.codec.extension()),
        }
    }

    /// Begins a file.
    pub fn open(&self, path: &Path, file: Output) -> Result<Box<dyn FileWriter>> {
        match self {
            Self::Parquet(parquet) => Ok(parquet.open(path, file)),
            Self::Orc(orc) => orc.open(path, file),
            Self::Text { encoding, bytes, .. } => Ok(Box::new(TextFile::new(path, file, encoding.clone(), *bytes))),
        }
    }
}
