//! Text files: a row per line or file.

use crate::charset::Charset;
use crate::codec::Codec;
use crate::error::unreadable;
use crate::lines::{LineOptions, Lines, text, whole};
use crate::options::SourceOptions;
use crate::records::{Batches, FilePart, RecordReader, io};
use arrow::array::{
    ArrayRef, BinaryBuilder, Int64Array, RecordBatch, RecordBatchOptions, StringArray, StringBuilder,
    TimestampMicrosecondArray,
};
use arrow::datatypes::Schema;
use firesteel_error::Result;
use firesteel_types::arrow_mapping::to_arrow_schema;
use firesteel_types::{DataType, StructField, StructType};
use std::sync::Arc;

/// The schema of text files.
pub fn text_schema() -> StructType {
    StructType::new(vec![StructField::new("value", DataType::STRING, true)])
}

/// The schema of files as binaries.
pub fn binary_schema() -> StructType {
    StructType::new(vec![
        StructField::new("path", DataType::STRING, true),
        StructField::new("modificationTime", DataType::Timestamp, true),
        StructField::new("length", DataType::Long, true),
        StructField::new("content", DataType::Binary, true),
    ])
}

/// Reads text.
#[derive(Debug)]
pub struct TextReader {
    lines: LineOptions,
    is_whole: bool,
    is_splittable: bool,
}

impl TextReader {
    /// The reader that options ask for.
    pub fn new(options: &SourceOptions, is_compressed: bool) -> Result<Self> {
        // The charset is one of writers: lines are taken as they are.
        let lines = LineOptions::new(options, Charset::Utf8)?;
        let is_whole = options.boolean("wholetext", false)?;
        let is_splittable = !is_whole && !is_compressed;
        Ok(Self { lines, is_whole, is_splittable })
    }
}

/// A batch of rows without columns.
pub(crate) fn rows_only(rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).map_err(crate::error::from_arrow)
}

impl RecordReader for TextReader {
    fn name(&self) -> &'static str {
        "text"
    }

    fn is_splittable(&self) -> bool {
        self.is_splittable
    }

    fn bytes_per_row(&self) -> usize {
        50
    }

    fn read(&self, part: &FilePart, columns: &[usize], batch_size: usize) -> Result<Batches> {
        let schema = Arc::new(to_arrow_schema(&text_schema()));
        let wanted = !columns.is_empty();
        let batch = move |builder: &mut StringBuilder, rows: usize| {
            if !wanted {
                return rows_only(rows);
            }
            let column: ArrayRef = Arc::new(builder.finish());
            RecordBatch::try_new(schema.clone(), vec![column]).map_err(crate::error::from_arrow)
        };
        let mut builder = StringBuilder::new();
        if self.is_whole {
            let bytes = whole(part, Charset::Utf8)?;
            builder.append_value(text(&bytes));
            return Ok(Box::new(std::iter::once(batch(&mut builder, 1))));
        }
        let mut lines = Lines::open(part, &self.lines)?;
        Ok(Box::new(std::iter::from_fn(move || {
            let mut rows = 0;
            while rows < batch_size {
                match lines.next_line() {
                    Ok(Some(line)) => {
                        if wanted {
                            builder.append_value(text(line));
                        }
                        rows += 1;
                    }
                    Ok(None) => break,
                    Err(e) => return Some(Err(e)),
                }
            }
            (rows > 0).then(|| batch(&mut builder, rows))
        })))
    }
}

/// Reads files whole, as rows of path, time, length and content.
#[derive(Debug)]
pub struct BinaryReader {
    /// The most bytes that a file may have.
    pub max_length: i64,
}

impl RecordReader for BinaryReader {
    fn name(&self) -> &'static str {
        "binaryFile"
    }

    fn is_splittable(&self) -> bool {
        false
    }

    fn bytes_per_row(&self) -> usize {
        usize::MAX
    }

    fn read(&self, part: &FilePart, columns: &[usize], _batch_size: usize) -> Result<Batches> {
        if columns.is_empty() {
            return Ok(Box::new(std::iter::once(rows_only(1))));
        }
        let size = i64::try_from(part.size).unwrap_or(i64::MAX);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for column in columns {
            arrays.push(match column {
                0 => Arc::new(StringArray::from(vec![crate::path::short_uri(&part.path)])),
                1 => {
                    let micros = part.modified_millis * 1000;
                    Arc::new(TimestampMicrosecondArray::from(vec![micros]).with_timezone("UTC"))
                }
                2 => Arc::new(Int64Array::from(vec![size])),
                _ if size > self.max_length => {
                    return Err(unreadable(&crate::path::uri(&part.path), "the file is longer than files may be"));
                }
                _ => {
                    let content = part.origin.whole(&part.path, part.size).map_err(|e| io(&part.path, e))?;
                    let mut builder = BinaryBuilder::new();
                    builder.append_value(content);
                    Arc::new(builder.finish())
                }
            });
        }
        let schema = to_arrow_schema(&binary_schema()).project(columns).map_err(crate::error::from_arrow)?;
        let batch = RecordBatch::try_new(Arc::new(schema), arrays).map_err(crate::error::from_arrow);
        Ok(Box::new(std::iter::once(batch)))
    }
}

/// True where one of the files is compressed.
pub(crate) fn any_compressed(files: &[crate::listing::DataFile]) -> bool {
    files.iter().any(|file| Codec::of(&file.path) != Codec::None)
}
