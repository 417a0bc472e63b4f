//! Batches of CSV files.

use super::column::Column;
use super::fill::{self, Shape};
use super::parser::{Kind, Tokens};
use super::{CsvOptions, ParseMode, malformed};
use crate::blocks::Blocks;
use crate::lines::{Lines, text, whole};
use crate::path;
use crate::records::{Batches, FilePart, RecordReader, check_corrupt_alone};
use crate::text::rows_only;
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use firesteel_error::{Result, SparkError};
use firesteel_types::StructType;
use firesteel_types::arrow_mapping::to_arrow_schema;
use std::sync::Arc;

/// Reads CSV.
#[derive(Debug)]
pub struct CsvReader {
    options: Arc<CsvOptions>,
    schema: StructType,
    /// The position of the column of corrupt records.
    corrupt: Option<usize>,
    is_splittable: bool,
}

impl CsvReader {
    /// The reader of files with these columns.
    pub fn new(options: CsvOptions, schema: StructType, is_compressed: bool) -> Self {
        let corrupt = schema.fields.iter().position(|f| f.name == options.corrupt_column);
        let is_splittable = !is_compressed && !options.multi_line;
        Self { options: Arc::new(options), schema, corrupt, is_splittable }
    }
}

/// Where records come from.
enum Input {
    Lines(Lines),
    Whole {
        data: Vec<u8>,
        at: usize,
    },
    /// Each is a record; those that are the header are no rows.
    Texts {
        texts: std::vec::IntoIter<String>,
        header: Option<String>,
    },
}

impl Input {
    /// Parses the next record; false at the end. `raw` gets its text.
    fn next(&mut self, options: &CsvOptions, tokens: &mut Tokens, raw: Option<&mut Vec<u8>>) -> Result<bool> {
        match self {
            Self::Lines(lines) => loop {
                let Some(line) = lines.next_line()? else { return Ok(false) };
                if options.skips(line) {
                    continue;
                }
                options.record(line, 0, tokens);
                if let Some(raw) = raw {
                    raw.clear();
                    raw.extend_from_slice(line);
                }
                return Ok(true);
            },
            Self::Texts { texts, header } => loop {
                let Some(line) = texts.next() else { return Ok(false) };
                if options.skips(line.as_bytes()) || header.as_ref() == Some(&line) {
                    continue;
                }
                options.record(line.as_bytes(), 0, tokens);
                if let Some(raw) = raw {
                    raw.clear();
                    raw.extend_from_slice(line.as_bytes());
                }
                return Ok(true);
            },
            Self::Whole { data, at } => loop {
                if *at >= data.len() {
                    return Ok(false);
                }
                let line_end =
                    data[*at..].iter().position(|b| matches!(b, b'\n' | b'\r')).map_or(data.len(), |i| *at + i);
                if line_end == *at || options.comment.is_some_and(|c| data.get(*at) == Some(&c)) {
                    *at = line_end + 1;
                    continue;
                }
                let start = *at;
                *at = options.record(data, start, tokens);
                if let Some(raw) = raw {
                    let end = (*at).min(data.len());
                    let record = &data[start..end];
                    let length = record.iter().rposition(|b| !matches!(b, b'\n' | b'\r')).map_or(0, |i| i + 1);
                    raw.clear();
                    raw.extend_from_slice(&record[..length]);
                }
                return Ok(true);
            },
        }
    }
}

/// The records of a file, for inference: calls back with each record, until it says stop.
pub(crate) fn each_record(
    part: &FilePart,
    options: &CsvOptions,
    mut visit: impl FnMut(&Tokens) -> Result<bool>,
) -> Result<()> {
    visit_all(open(part, options)?, options, &mut visit)
}

/// The records of texts, for inference.
pub(crate) fn each_text(
    texts: &[String],
    options: &CsvOptions,
    mut visit: impl FnMut(&Tokens) -> Result<bool>,
) -> Result<()> {
    #[allow(clippy::unnecessary_to_owned)]
    let input = Input::Texts { texts: texts.to_vec().into_iter(), header: None };
    visit_all(input, options, &mut visit)
}

fn visit_all(mut input: Input, options: &CsvOptions, visit: &mut dyn FnMut(&Tokens) -> Result<bool>) -> Result<()> {
    let mut tokens = Tokens::default();
    while input.next(options, &mut tokens, None)? {
        if !visit(&tokens)? {
            break;
        }
    }
    Ok(())
}

fn open(part: &FilePart, options: &CsvOptions) -> Result<Input> {
    Ok(if options.multi_line {
        Input::Whole { data: whole(part, options.lines.charset)?, at: 0 }
    } else {
        Input::Lines(Lines::open(part, &options.lines)?)
    })
}

impl RecordReader for CsvReader {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn is_splittable(&self) -> bool {
        self.is_splittable
    }

    fn bytes_per_row(&self) -> usize {
        self.schema.fields.len() * 8
    }

    fn check_columns(&self, columns: &[usize]) -> Result<()> {
        check_corrupt_alone(columns, self.corrupt)
    }

    fn read(&self, part: &FilePart, columns: &[usize], batch_size: usize) -> Result<Batches> {
        if self.options.reads_blocks() {
            return self.read_blocks(part, columns, batch_size);
        }
        let mut input = open(part, &self.options)?;
        if self.options.header && part.start == 0 {
            let mut tokens = Tokens::default();
            let is_there = input.next(&self.options, &mut tokens, None)?;
            if is_there && !self.options.enforce_schema {
                self.check_header(&tokens, part)?;
            }
        }
        self.batches(input, columns, batch_size)
    }
}

impl CsvReader {
    /// Reads texts, each a record.
    pub fn read_texts(&self, texts: Vec<String>, columns: &[usize], batch_size: usize) -> Result<Batches> {
        let first = texts.iter().find(|t| !self.options.skips(t.as_bytes())).cloned();
        let header = first.filter(|_| self.options.header);
        self.batches(Input::Texts { texts: texts.into_iter(), header }, columns, batch_size)
    }

    fn batches(&self, mut input: Input, columns: &[usize], batch_size: usize) -> Result<Batches> {
        let options = self.options.clone();
        let mut tokens = Tokens::default();
        let schema = self.batch_schema(columns)?;
        let corrupt = self.corrupt;
        let sources = self.sources(columns);
        let width = self.schema.fields.len() - usize::from(corrupt.is_some());
        let wants_raw = sources.iter().any(Option::is_none);
        let checks_width = wants_raw || sources.len() == width;
        let types: Vec<_> = columns.iter().map(|i| self.schema.fields[*i].data_type.clone()).collect();
        let mut builders: Vec<Column> = types.iter().map(|t| Column::new(t, batch_size)).collect();
        let mut raw = Vec::new();
        let mut next = move || -> Result<Option<RecordBatch>> {
            let mut rows = 0;
            let mut keep: Vec<bool> = Vec::with_capacity(batch_size);
            while rows < batch_size {
                let keeps_raw = wants_raw || options.mode == ParseMode::FailFast;
                if !input.next(&options, &mut tokens, keeps_raw.then_some(&mut raw))? {
                    break;
                }
                rows += 1;
                if sources.is_empty() {
                    continue;
                }
                if tokens.len() > options.max_columns {
                    return Err(SparkError::new("MALFORMED_CSV_RECORD").with("badRecord", text(&raw).into_owned()));
                }
                let mut is_good = !checks_width || tokens.len() == width;
                for (source, builder) in sources.iter().zip(&mut builders) {
                    let Some(source) = source else { continue };
                    is_good &= match tokens.get(*source) {
                        None | Some((_, Kind::Missing)) => builder.append(None, &options),
                        Some((bytes, kind)) => {
                            let value = if kind == Kind::Empty { options.empty.as_str().into() } else { text(bytes) };
                            let value = (value != options.null.as_str()).then_some(value);
                            builder.append(value.as_deref(), &options)
                        }
                    };
                }
                if !is_good && options.mode == ParseMode::FailFast {
                    return Err(malformed(&text(&raw)));
                }
                if wants_raw {
                    let record = text(&raw);
                    for (source, builder) in sources.iter().zip(&mut builders) {
                        if source.is_none() {
                            builder.append((!is_good).then_some(record.as_ref()), &options);
                        }
                    }
                }
                keep.push(is_good || options.mode != ParseMode::DropMalformed);
            }
            if rows == 0 {
                return Ok(None);
            }
            if sources.is_empty() {
                return rows_only(rows).map(Some);
            }
            let arrays = builders.iter_mut().map(|b| b.finish(&options)).collect::<Result<Vec<_>>>()?;
            let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(crate::error::from_arrow)?;
            if keep.iter().all(|k| *k) {
                return Ok(Some(batch));
            }
            filter_record_batch(&batch, &BooleanArray::from(keep)).map(Some).map_err(crate::error::from_arrow)
        };
        Ok(Box::new(std::iter::from_fn(move || next().transpose())))
    }
}

impl CsvReader {
    fn batch_schema(&self, columns: &[usize]) -> Result<SchemaRef> {
        let schema = to_arrow_schema(&self.schema).project(columns).map_err(crate::error::from_arrow)?;
        Ok(Arc::new(Schema::new(
            schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>(),
        )))
    }

    /// Where each column's value stands in a record; None for the column of corrupt records.
    fn sources(&self, columns: &[usize]) -> Vec<Option<usize>> {
        let source = |i: &usize| match self.corrupt {
            Some(c) if c == *i => None,
            Some(c) if c < *i => Some(i - 1),
            _ => Some(*i),
        };
        columns.iter().map(source).collect()
    }

    fn read_blocks(&self, part: &FilePart, columns: &[usize], batch_size: usize) -> Result<Batches> {
        let blocks = Blocks::open(part, &self.options.lines)?;
        let has_header = self.options.header && part.start == 0;
        if has_header && !self.options.enforce_schema {
            let mut tokens = Tokens::default();
            if open(part, &self.options)?.next(&self.options, &mut tokens, None)? {
                self.check_header(&tokens, part)?;
            }
        }
        let sources = self.sources(columns);
        let width = self.schema.fields.len() - usize::from(self.corrupt.is_some());
        let checks_width = sources.iter().any(Option::is_none) || sources.len() == width;
        let shape = Shape {
            options: self.options.clone(),
            schema: self.batch_schema(columns)?,
            types: columns.iter().map(|i| self.schema.fields[*i].data_type.clone()).collect(),
            sources,
            width: checks_width.then_some(width),
            batch_size,
        };
        fill::batches(blocks, has_header, shape)
    }

    fn check_header(&self, tokens: &Tokens, part: &FilePart) -> Result<()> {
        let names: Vec<&str> = self
            .schema
            .fields
            .iter()
            .enumerate()
            .filter(|(i, _)| Some(*i) != self.corrupt)
            .map(|(_, f)| f.name.as_str())
            .collect();
        let found: Vec<String> = (0..tokens.len())
            .map(|i| tokens.get(i).map(|(bytes, _)| text(bytes).into_owned()).unwrap_or_default())
            .collect();
        let same = |a: &str, b: &str| if self.options.case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) };
        if names.len() == found.len() && names.iter().zip(&found).all(|(a, b)| same(a, b)) {
            return Ok(());
        }
        Err(crate::error::illegal(format!(
            "CSV header does not conform to the schema.\n Header: {}\n Schema: {}\nCSV file: {}",
            found.join(", "),
            names.join(", "),
            path::uri(&part.path)
        )))
    }
}
