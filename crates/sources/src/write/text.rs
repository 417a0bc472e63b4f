//! Files of text, compressed or not.

use super::file::{FileWriter, TextEncoding};
use crate::charset::Charset;
use crate::codec::{Codec, Compressor};
use crate::error::{from_arrow, unwritable};
use crate::lines::separator;
use crate::options::SourceOptions;
use crate::store::Output;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType as ArrowType;
use firesteel_error::Result;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How text becomes bytes.
#[derive(Debug, Clone, Copy)]
pub struct TextBytes {
    pub codec: Codec,
    pub charset: Charset,
}

/// A file of text.
pub struct TextFile {
    file: Compressor,
    path: PathBuf,
    encoding: Arc<dyn TextEncoding>,
    bytes: TextBytes,
    buffer: String,
    is_empty: bool,
    is_started: bool,
}

impl TextFile {
    /// Begins a file.
    pub fn new(path: &Path, file: Output, encoding: Arc<dyn TextEncoding>, bytes: TextBytes) -> Self {
        let file = bytes.codec.create(file);
        let mut buffer = String::new();
        let is_started = !encoding.is_empty_without_rows();
        if is_started {
            encoding.start(&mut buffer);
        }
        Self { file, path: path.to_path_buf(), encoding, bytes, buffer, is_empty: true, is_started }
    }

    fn flush(&mut self) -> Result<()> {
        let is_first = std::mem::replace(&mut self.is_empty, false);
        let text = std::mem::take(&mut self.buffer);
        let charset = self.bytes.charset;
        let bytes = match charset {
            Charset::Utf8 => text.into_bytes(),
            _ if is_first && !text.is_empty() => [charset.mark(), charset.encode(&text).as_ref()].concat(),
            _ => charset.encode(&text).into_owned(),
        };
        self.file.write(bytes).map_err(|e| unwritable(&self.path, e))
    }
}

impl FileWriter for TextFile {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if !std::mem::replace(&mut self.is_started, true) {
            self.encoding.start(&mut self.buffer);
        }
        self.encoding.rows(batch, &mut self.buffer).map_err(|e| match e.condition() {
            Some(_) => e,
            None => unwritable(&self.path, e),
        })?;
        let enough = if self.bytes.codec == Codec::None { 1 << 18 } else { 8 << 20 };
        if self.buffer.len() >= enough { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.is_started {
            self.encoding.end(&mut self.buffer);
        }
        if !self.buffer.is_empty() || self.is_empty {
            self.flush()?;
        }
        self.file.finish().map_err(|e| unwritable(&self.path, e))
    }
}

/// Rows of one string column as lines.
pub struct Lines {
    separator: String,
}

impl Lines {
    /// Lines with the separator that options ask for.
    pub fn new(options: &SourceOptions) -> Result<Self> {
        Ok(Self { separator: separator(options)?.unwrap_or("\n").to_string() })
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
