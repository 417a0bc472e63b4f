//! JSON files: an object per line, or a document per file.

use crate::blocks::Blocks;
use crate::charset::Charset;
use crate::csv::{ParseMode, malformed};
use crate::error::illegal;
use crate::json_rows::Records;
use crate::lines::{LineOptions, Lines, separator, text, whole};
use crate::listing::DataFile;
use crate::options::{Sampling, SourceOptions};
use crate::records::{Batches, FilePart, RecordReader, check_corrupt_alone};
use arrow::array::RecordBatch;
use firesteel_config::{SqlConf, TimestampType};
use firesteel_error::Result;
use firesteel_functions::scalar::datetime::pattern::Use;
use firesteel_functions::scalar::json::formats::Formats;
use firesteel_functions::scalar::json::options::Options;
use firesteel_functions::scalar::json::reader::{Json, Leniency, read};
use firesteel_functions::scalar::json::schema_of_json::{Inference, canonical, compatible};
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
    /// True where the charset of a document is the one that its first bytes tell.
    finds_charset: bool,
    prefers_ntz: bool,
    /// The name of the column that whole records become.
    single_column: Option<String>,
}

/// Switches of the parser that are read by name.
const SWITCHES: &[&str] = &[
    "primitivesAsString",
    "prefersDecimal",
    "allowComments",
    "allowUnquotedFieldNames",
    "allowSingleQuotes",
    "allowNumericLeadingZeros",
    "allowNonNumericNumbers",
    "allowBackslashEscapingAnyCharacter",
    "allowUnquotedControlChars",
    "inferTimestamp",
];

/// The charset of a reader; fails for one of which lines cannot be told.
fn charset(options: &SourceOptions, multi_line: bool) -> Result<Charset> {
    let Some(name) = options.any(&["encoding", "charset"]) else { return Ok(Charset::Utf8) };
    let charset = Charset::parse(name, "JSONOptionsInRead")?;
    if !multi_line && matches!(charset, Charset::Utf16 | Charset::Utf32) {
        return Err(illegal(format!(
            "requirement failed: The {name} encoding must not be included in the denyList when multiLine is disabled:\n\
             denylist: UTF-16, UTF-32"
        )));
    }
    if !multi_line && charset != Charset::Utf8 && separator(options)?.is_none() {
        return Err(illegal(format!(
            "requirement failed: The lineSep option must be specified for the {name} encoding"
        )));
    }
    Ok(charset)
}

impl JsonOptions {
    /// The options of a reader.
    pub fn new(options: &SourceOptions, given: &[(String, String)], conf: &SqlConf) -> Result<Self> {
        let mut values = Options::default();
        for (key, value) in given {
            values.set(key, value.clone());
        }
        for name in SWITCHES {
            options.boolean(name, false)?;
        }
        let multi_line = options.boolean("multiLine", false)?;
        Ok(Self {
            leniency: values.leniency(),
            formats: Arc::new(Formats::compile(values, Use::Parsing)?),
            multi_line,
            mode: ParseMode::new(options),
            corrupt_column: options.get("columnNameOfCorruptRecord").unwrap_or(&conf.corrupt_record_column).to_string(),
            drops_null_fields: options.boolean("dropFieldIfAllNull", false)?,
            sampling: Sampling::new(options)?,
            zone: TimeZone::parse(options.get("timeZone").unwrap_or(&conf.time_zone))?,
            lines: LineOptions::new(options, charset(options, multi_line)?)?,
            finds_charset: options.any(&["encoding", "charset"]).is_none(),
            prefers_ntz: conf.timestamp_type == TimestampType::Ntz,
            single_column: options.get("singleVariantColumn").map(str::to_string),
        })
    }
}

impl JsonOptions {
    /// True where records can be read from blocks of lines.
    fn reads_blocks(&self) -> bool {
        !self.multi_line && Blocks::can_read(&self.lines)
    }

    /// How types of values are found.
    pub(crate) fn inference(&self) -> Inference<'_> {
        Inference { formats: &self.formats, zone: self.zone, prefers_ntz: self.prefers_ntz }
    }

    /// The column that whole records become, where they do.
    pub(crate) fn single_column(&self) -> Option<StructField> {
        self.single_column.as_ref().map(|name| StructField::new(name.as_str(), DataType::Variant, true))
    }

    /// All of a file as one text.
    fn document(&self, part: &FilePart) -> Result<String> {
        let mut bytes = whole(part, self.lines.charset)?;
        if self.finds_charset {
            let charset = Charset::of_json(&bytes);
            if charset != Charset::Utf8 {
                bytes = charset.decode(&bytes).into_owned();
            }
        }
        Ok(text(&bytes).into_owned())
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
            Self::Whole(Some(options.document(part)?))
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
    if let Some(column) = options.single_column() {
        return Ok(StructType::new(vec![column]));
    }
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
    if let Some(column) = options.single_column() {
        return Ok(StructType::new(vec![column]));
    }
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
                Ok(Some(Json::Array(items))) if items.iter().all(|i| matches!(i, Json::Object(_) | Json::Null)) => {
                    items
                }
                Ok(None | Some(Json::Null)) => continue,
                _ => match options.mode {
                    ParseMode::Permissive => {
                        is_corrupt = true;
                        continue;
                    }
                    ParseMode::DropMalformed => continue,
                    ParseMode::FailFast => return Err(malformed(&options.corrupt_column)),
                },
            };
            for object in &objects {
                all = compatible(all, options.inference().type_of(object));
            }
        }
    }
    Ok(columns_of(all, is_corrupt, options))
}

/// The columns that the type of all records makes.
fn columns_of(all: DataType, is_corrupt: bool, options: &JsonOptions) -> StructType {
    let all = if options.drops_null_fields { without_nulls(&all).unwrap_or(all) } else { all };
    let mut fields: Vec<StructField> = match canonical(all) {
        Some(DataType::Struct(schema)) => schema.fields.clone(),
        _ => Vec::new(),
    };
    if is_corrupt && !fields.iter().any(|f| f.name == options.corrupt_column) {
        fields.push(StructField::new(&options.corrupt_column, DataType::STRING, true));
        fields.sort_by(|a, b| a.name.cmp(&b.name));
    }
    StructType::new(fields)
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
        let is_splittable = !is_compressed && !options.multi_line;
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

    fn check_columns(&self, columns: &[usize]) -> Result<()> {
        let corrupt = self.schema.fields.iter().position(|f| f.name == self.options.corrupt_column);
        check_corrupt_alone(columns, corrupt)
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
