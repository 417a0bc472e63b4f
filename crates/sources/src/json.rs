//! JSON files: an object per line, or a document per file.

use crate::blocks::Blocks;
use crate::csv::{ParseMode, malformed};
use crate::json_rows::Records;
use crate::lines::{LineOptions, Lines, text, whole};
use crate::listing::DataFile;
use crate::options::{Sampling, SourceOptions};
use crate::records::{Batches, FilePart, RecordReader};
use arrow::array::RecordBatch;
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_functions::scalar::datetime::pattern::Use;
use firesteel_functions::scalar::json::formats::Formats;
use firesteel_functions::scalar::json::options::Options;
use firesteel_functions::scalar::json::reader::{Json, Leniency, read};
use firesteel_functions::scalar::json::schema_of_json::{canonical, compatible, infer as type_of};
use firesteel_types::{DataType, StructField, StructType, TimeZone};
use std::sync::Arc;

/// How JSON is read.
#[derive(Debug, Clone)]
pub struct JsonOptions {
    pub(crate) formats: Arc<Formats>,
    pub(crate) leniency: Leniency,
    multi_line: bool,
    pub(crate) mode: ParseMode,
    pub(crate) corrupt_column: String,
    drops_null_fields: bool,
    sampling: Sampling,
    pub(crate) zone: TimeZone,
    pub(crate) lines: LineOptions,
}

impl JsonOptions {
    /// The options of a reader.
    pub fn new(options: &SourceOptions, given: &[(String, String)], conf: &SqlConf) -> Result<Self> {
        let mut values = Options::default();
        for (key, value) in given {
            values.set(key, value.clone());
        }
        Ok(Self {
            leniency: values.leniency(),
            formats: Arc::new(Formats::compile(values, Use::Parsing)?),
            multi_line: options.flag("multiLine", false)?,
            mode: ParseMode::new(options),
            corrupt_column: options.get("columnNameOfCorruptRecord").unwrap_or(&conf.corrupt_record_column).to_string(),
            drops_null_fields: options.flag("dropFieldIfAllNull", false)?,
            sampling: Sampling::new(options)?,
            zone: TimeZone::parse(options.get("timeZone").unwrap_or(&conf.time_zone))?,
            lines: LineOptions {
                separator: options.get("lineSep").map(|s| s.as_bytes().to_vec()),
                encoding: crate::lines::encoding(options.any(&["encoding", "charset"]))?,
            },
        })
    }
}

impl JsonOptions {
    /// True where records can be read from blocks of lines.
    fn reads_blocks(&self) -> bool {
        !self.multi_line && Blocks::can_read(&self.lines)
    }
}

/// Texts of records.
enum Input {
    Lines(Lines),
    Whole(Option<String>),
    /// Each is a record.
    Texts(std::vec::IntoIter<String>),
}

impl Input {
    fn open(part: &FilePart, options: &JsonOptions) -> Result<Self> {
        Ok(if options.multi_line {
            Self::Whole(Some(text(&whole(&part.path, &options.lines)?).into_owned()))
        } else {
            Self::Lines(Lines::open(part, &options.lines)?)
        })
    }

    fn next(&mut self) -> Result<Option<String>> {
        match self {
            Self::Whole(text) => Ok(text.take().filter(|t| !t.trim().is_empty())),
            Self::Texts(texts) => Ok(texts.find(|t| !t.trim().is_empty())),
            Self::Lines(lines) => loop {
                let Some(line) = lines.next_line()? else { return Ok(None) };
                if line.iter().any(|b| *b > b' ') {
                    return Ok(Some(text(line).into_owned()));
                }
            },
        }
    }
}

/// The columns of files.
pub fn infer(files: &[DataFile], options: &JsonOptions) -> Result<StructType> {
    if options.reads_blocks()
        && options.sampling.is_all()
        && let Some((all, is_corrupt)) = crate::json_types::infer(files, options)?
    {
        return Ok(columns_of(all, is_corrupt, options));
    }
    infer_of(files.iter().map(|file| Input::open(&FilePart::whole(file), options)), options)
}

/// The columns of texts, each a record.
pub fn infer_texts(texts: Vec<String>, options: &JsonOptions) -> Result<StructType> {
    infer_of(std::iter::once(Ok(Input::Texts(texts.into_iter()))), options)
}

fn infer_of(inputs: impl Iterator<Item = Result<Input>>, options: &JsonOptions) -> Result<StructType> {
    let mut all = DataType::struct_of(Vec::new());
    let mut is_corrupt = false;
    let mut is_taken = options.sampling.start();
    for input in inputs {
        let mut input = input?;
        while let Some(record) = input.next()? {
            if !is_taken() {
                continue;
            }
            let objects = match read(&record, options.leniency) {
                Ok(Some(Json::Object(fields))) => vec![Json::Object(fields)],
                Ok(Some(Json::Array(items))) => items,
                Ok(None | Some(Json::Null)) => continue,
                _ => match options.mode {
                    ParseMode::Permissive => {
                        is_corrupt = true;
                        continue;
                    }
                    ParseMode::DropMalformed => continue,
                    ParseMode::FailFast => return Err(malformed(&record)),
                },
            };
            for object in &objects {
                let found = type_of(object, &options.formats.options, options.zone);
                if matches!(found, DataType::Struct(_)) {
                    all = compatible(all, found);
                } else {
                    is_corrupt = true;
                }
            }
        }
    }
    Ok(columns_of(all, is_corrupt, options))
}

/// The columns that the type of all records makes.
fn columns_of(all: DataType, is_corrupt: bool, options: &JsonOptions) -> StructType {
    let all = if options.drops_null_fields { without_nulls(&all).unwrap_or(all) } else { all };
    let DataType::Struct(schema) = canonical(all) else { return StructType::default() };
    let mut fields: Vec<StructField> =
        schema.fields.iter().filter(|f| !is_empty_struct(&f.data_type)).cloned().collect();
    if is_corrupt && !fields.iter().any(|f| f.name == options.corrupt_column) {
        fields.push(StructField::new(&options.corrupt_column, DataType::STRING, true));
        fields.sort_by(|a, b| a.name.cmp(&b.name));
    }
    StructType::new(fields)
}

fn is_empty_struct(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Struct(fields) if fields.fields.is_empty())
}

/// The type without fields that are always null; None where nothing is left.
fn without_nulls(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Null => None,
        DataType::Array { element, .. } => without_nulls(element).map(|element| DataType::array(element, true)),
        DataType::Struct(schema) => {
            let fields: Vec<StructField> = schema
                .fields
                .iter()
                .filter_map(|f| Some(StructField::new(&f.name, without_nulls(&f.data_type)?, true)))
                .collect();
            (!fields.is_empty()).then(|| DataType::struct_of(fields))
        }
        other => Some(other.clone()),
    }
}

/// Reads JSON.
#[derive(Debug)]
pub struct JsonReader {
    options: Arc<JsonOptions>,
    schema: StructType,
    is_splittable: bool,
}

impl JsonReader {
    /// The reader of files with these columns.
    pub fn new(options: JsonOptions, schema: StructType, is_compressed: bool) -> Self {
        let is_splittable = !is_compressed && !options.multi_line && options.lines.encoding.is_none();
        Self { options: Arc::new(options), schema, is_splittable }
    }
}

impl RecordReader for JsonReader {
    fn name(&self) -> &'static str {
        "json"
    }

    fn is_splittable(&self) -> bool {
        self.is_splittable
    }

    fn bytes_per_row(&self) -> usize {
        self.schema.fields.len() * 20
    }

    fn read(&self, part: &FilePart, columns: &[usize], batch_size: usize) -> Result<Batches> {
        if self.options.reads_blocks() {
            return self.read_blocks(part, columns, batch_size);
        }
        self.batches(Input::open(part, &self.options)?, columns, batch_size)
    }
}

impl JsonReader {
    /// Reads texts, each a record.
    pub fn read_texts(&self, texts: Vec<String>, columns: &[usize], batch_size: usize) -> Result<Batches> {
        self.batches(Input::Texts(texts.into_iter()), columns, batch_size)
    }

    /// What makes batches of some columns.
    fn records(&self, columns: &[usize]) -> Records {
        let wanted = columns.iter().map(|i| self.schema.fields[*i].clone()).collect();
        Records::new(wanted, self.options.clone())
    }

    fn batches(&self, mut input: Input, columns: &[usize], batch_size: usize) -> Result<Batches> {
        let mut parser = self.records(columns);
        let mut next = move || -> Result<Option<RecordBatch>> {
            let mut records = Vec::with_capacity(batch_size);
            while records.len() < batch_size {
                match input.next()? {
                    Some(record) => records.push(record),
                    None => break,
                }
            }
            if records.is_empty() { Ok(None) } else { parser.batch(&records).map(Some) }
        };
        Ok(Box::new(std::iter::from_fn(move || next().transpose())))
    }

    fn read_blocks(&self, part: &FilePart, columns: &[usize], batch_size: usize) -> Result<Batches> {
        let mut blocks = Blocks::open(part, &self.options.lines)?;
        let ends = blocks.line_ends();
        let mut parser = self.records(columns);
        let mut next = move || -> Result<Option<RecordBatch>> {
            loop {
                let Some(block) = blocks.block()? else { return Ok(None) };
                let (batch, used) = parser.lines(block, ends, batch_size)?;
                let per_record = used / batch.as_ref().map_or(1, RecordBatch::num_rows).max(1);
                blocks.take(used, per_record.saturating_mul(batch_size / 8 * 9));
                if batch.is_some() {
                    return Ok(batch);
                }
            }
        };
        Ok(Box::new(std::iter::from_fn(move || next().transpose())))
    }
}
