//! Files of text, compressed or not.

use super::file::{FileWriter, TextEncoding};
use crate::error::{from_arrow, from_datafusion, unwritable};
use crate::options::SourceOptions;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType as ArrowType;
use bytes::Bytes;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use firesteel_error::{Result, SparkError};
use futures::{StreamExt, TryStreamExt};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The compression of text files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextCodec {
    None,
    Gzip,
    Bzip2,
    Zstd,
}

impl TextCodec {
    /// The codec of the option `compression`.
    pub fn new(options: &SourceOptions) -> Result<Self> {
        let name = options.any(&["compression", "codec"]).unwrap_or("none").to_lowercase();
        match name.as_str() {
            "none" | "uncompressed" => Ok(Self::None),
            "gzip" => Ok(Self::Gzip),
            "bzip2" => Ok(Self::Bzip2),
            "zstd" => Ok(Self::Zstd),
            "deflate" | "snappy" | "lz4" => Err(SparkError::unsupported(format!("the compression {name}"))),
            _ => Err(SparkError::new("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION")
                .with("codecName", name)
                .with("availableCodecs", "bzip2, deflate, uncompressed, snappy, none, lz4, gzip")),
        }
    }

    /// What a file's name ends with.
    pub fn extension(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => ".gz",
            Self::Bzip2 => ".bz2",
            Self::Zstd => ".zst",
        }
    }

    fn compress(self, text: String) -> Result<Vec<u8>> {
        let kind = match self {
            Self::None => return Ok(text.into_bytes()),
            Self::Gzip => FileCompressionType::GZIP,
            Self::Bzip2 => FileCompressionType::BZIP2,
            Self::Zstd => FileCompressionType::ZSTD,
        };
        let input = futures::stream::once(async move { Ok(Bytes::from(text)) }).boxed();
        let output = kind.convert_to_compress_stream(input).map_err(from_datafusion)?;
        let append = |mut all: Vec<u8>, bytes: Bytes| async move {
            all.extend_from_slice(&bytes);
            Ok(all)
        };
        futures::executor::block_on(output.try_fold(Vec::new(), append)).map_err(from_datafusion)
    }
}

/// A file of text. Compressed files are parts one after another, which readers take as one.
pub struct TextFile {
    file: File,
    path: PathBuf,
    encoding: Arc<dyn TextEncoding>,
    codec: TextCodec,
    buffer: String,
    is_empty: bool,
}

impl TextFile {
    /// Begins a file.
    pub fn create(path: &Path, encoding: Arc<dyn TextEncoding>, codec: TextCodec) -> Result<Self> {
        let file = File::create(path).map_err(|e| unwritable(path, e))?;
        let mut buffer = String::new();
        encoding.start(&mut buffer);
        Ok(Self { file, path: path.to_path_buf(), encoding, codec, buffer, is_empty: true })
    }

    fn flush(&mut self) -> Result<()> {
        self.is_empty = false;
        let written = if self.codec == TextCodec::None {
            self.file.write_all(self.buffer.as_bytes())
        } else {
            self.file.write_all(&self.codec.compress(std::mem::take(&mut self.buffer))?)
        };
        self.buffer.clear();
        written.map_err(|e| unwritable(&self.path, e))
    }
}

impl FileWriter for TextFile {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.encoding.rows(batch, &mut self.buffer)?;
        let enough = if self.codec == TextCodec::None { 1 << 18 } else { 8 << 20 };
        if self.buffer.len() >= enough { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.buffer.is_empty() && !self.is_empty {
            return Ok(());
        }
        self.flush()
    }
}

/// Rows of one string column as lines.
pub struct Lines {
    separator: String,
}

impl Lines {
    /// Lines with the separator that options ask for.
    pub fn new(options: &SourceOptions) -> Self {
        Self { separator: options.get("lineSep").unwrap_or("\n").to_string() }
    }
}

impl TextEncoding for Lines {
    fn start(&self, _out: &mut String) {}

    fn rows(&self, batch: &RecordBatch, out: &mut String) -> Result<()> {
        let Some(column) = batch.columns().first() else { return Ok(()) };
        let column = arrow::compute::cast(column, &ArrowType::Utf8).map_err(from_arrow)?;
        let column = column.as_string::<i32>();
        for row in 0..column.len() {
            if column.is_valid(row) {
                out.push_str(column.value(row));
            }
            out.push_str(&self.separator);
        }
        Ok(())
    }
}
