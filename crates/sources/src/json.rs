//! JSON files: an object per line, or a document per file.

use crate::csv::{ParseMode, malformed};
use crate::lines::{LineOptions, Lines, text, whole};
use crate::listing::DataFile;
use crate::options::{Sampling, SourceOptions};
use crate::records::{Batches, FilePart, RecordReader};
use crate::text::rows_only;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringBuilder};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_functions::scalar::datetime::pattern::Use;
use firesteel_functions::scalar::json::convert::{Converter, Outcome};
use firesteel_functions::scalar::json::formats::Formats;
use firesteel_functions::scalar::json::options::Options;
use firesteel_functions::scalar::json::reader::{Json, Leniency, read};
use firesteel_functions::scalar::json::schema_of_json::{canonical, compatible, infer as type_of};
use firesteel_types::arrow_mapping::to_arrow_schema;
use firesteel_types::{DataType, StructField, StructType, TimeZone};
use std::borrow::Cow;
use std::sync::Arc;

/// How JSON is read.
#[derive(Debug, Clone)]
pub struct JsonOptions {
    formats: Arc<Formats>,
    leniency: Leniency,
    multi_line: bool,
    mode: ParseMode,
    corrupt_column: String,
    drops_null_fields: bool,
    sampling: Sampling,
    zone: TimeZone,
    lines: LineOptions,
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
    let all = if options.drops_null_fields { without_nulls(&all).unwrap_or(all) } else { all };
    let DataType::Struct(schema) = canonical(all) else { return Ok(StructType::default()) };
    let mut fields: Vec<StructField> =
        schema.fields.iter().filter(|f| !is_empty_struct(&f.data_type)).cloned().collect();
    if is_corrupt && !fields.iter().any(|f| f.name == options.corrupt_column) {
        fields.push(StructField::new(&options.corrupt_column, DataType::STRING, true));
        fields.sort_by(|a, b| a.name.cmp(&b.name));
    }
    Ok(StructType::new(fields))
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
        self.batches(Input::open(part, &self.options)?, columns, batch_size)
    }
}

impl JsonReader {
    /// Reads texts, each a record.
    pub fn read_texts(&self, texts: Vec<String>, columns: &[usize], batch_size: usize) -> Result<Batches> {
        self.batches(Input::Texts(texts.into_iter()), columns, batch_size)
    }

    fn batches(&self, mut input: Input, columns: &[usize], batch_size: usize) -> Result<Batches> {
        let options = self.options.clone();
        let wanted: Vec<StructField> = columns.iter().map(|i| self.schema.fields[*i].clone()).collect();
        let batch = move |records: &[String]| parse(records, &wanted, &options);
        let mut next = move || -> Result<Option<RecordBatch>> {
            let mut records = Vec::with_capacity(batch_size);
            while records.len() < batch_size {
                match input.next()? {
                    Some(record) => records.push(record),
                    None => break,
                }
            }
            if records.is_empty() { Ok(None) } else { batch(&records).map(Some) }
        };
        Ok(Box::new(std::iter::from_fn(move || next().transpose())))
    }
}

/// Records as a batch of the wanted columns.
fn parse(records: &[String], wanted: &[StructField], options: &JsonOptions) -> Result<RecordBatch> {
    let corrupt = wanted.iter().position(|f| f.name == options.corrupt_column && f.data_type.is_string());
    let mut values: Vec<Option<Json<'_>>> = Vec::with_capacity(records.len());
    // Which record each row comes from.
    let mut sources: Vec<usize> = Vec::with_capacity(records.len());
    for (i, record) in records.iter().enumerate() {
        match read(record, options.leniency) {
            Ok(Some(Json::Array(items))) => {
                for item in items {
                    values.push(matches!(item, Json::Object(_)).then_some(item));
                    sources.push(i);
                }
                continue;
            }
            Ok(Some(Json::Object(fields))) => values.push(Some(Json::Object(as_written(fields, record, wanted)))),
            Ok(None) => continue,
            Ok(Some(_)) | Err(_) => values.push(None),
        }
        sources.push(i);
    }
    let data = StructType::new(
        wanted.iter().enumerate().filter(|(i, _)| Some(*i) != corrupt).map(|(_, f)| f.clone()).collect(),
    );
    let references: Vec<Option<&Json<'_>>> = values.iter().map(Option::as_ref).collect();
    let converter = Converter { formats: &options.formats, zone: options.zone };
    let (structs, outcomes) = converter.structs(&references, &data)?;
    let is_good: Vec<bool> =
        values.iter().zip(&outcomes).map(|(v, outcome)| v.is_some() && *outcome == Outcome::Fine).collect();
    if options.mode == ParseMode::FailFast
        && let Some(bad) = is_good.iter().position(|good| !good)
    {
        return Err(malformed(sources.get(bad).and_then(|i| records.get(*i)).map_or("", String::as_str)));
    }
    if wanted.is_empty() {
        return rows_only(values.len());
    }
    let nulls = structs.nulls().cloned();
    let columns: Vec<ArrayRef> =
        structs.as_struct().columns().iter().map(|c| masked(c, nulls.as_ref())).collect::<Result<_>>()?;
    let mut columns = columns.into_iter();
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(wanted.len());
    for i in 0..wanted.len() {
        if Some(i) == corrupt {
            let mut builder = StringBuilder::new();
            for (row, good) in is_good.iter().enumerate() {
                let record = sources.get(row).and_then(|i| records.get(*i));
                builder.append_option(record.filter(|_| !good));
            }
            arrays.push(Arc::new(builder.finish()));
        } else if let Some(column) = columns.next() {
            arrays.push(column);
        }
    }
    let schema: SchemaRef = Arc::new(Schema::new(
        to_arrow_schema(&StructType::new(wanted.to_vec()))
            .fields()
            .iter()
            .map(|f| f.as_ref().clone().with_nullable(true))
            .collect::<Vec<_>>(),
    ));
    let batch = RecordBatch::try_new(schema, arrays).map_err(crate::error::from_arrow)?;
    if options.mode == ParseMode::DropMalformed && is_good.iter().any(|good| !good) {
        return filter_record_batch(&batch, &BooleanArray::from(is_good)).map_err(crate::error::from_arrow);
    }
    Ok(batch)
}

/// The column with nulls where the row is none.
fn masked(column: &ArrayRef, nulls: Option<&arrow::buffer::NullBuffer>) -> Result<ArrayRef> {
    let Some(nulls) = nulls.filter(|n| n.null_count() > 0) else { return Ok(column.clone()) };
    let mask = BooleanArray::new(!nulls.inner(), None);
    arrow::compute::nullif(column, &mask).map_err(crate::error::from_arrow)
}

/// The fields with values of string columns as they are written, where these are no strings.
fn as_written<'a>(
    mut fields: Vec<(Cow<'a, str>, Json<'a>)>,
    record: &'a str,
    wanted: &[StructField],
) -> Vec<(Cow<'a, str>, Json<'a>)> {
    let is_raw = |name: &str, value: &Json<'_>| {
        !matches!(value, Json::Text(_) | Json::Null) && wanted.iter().any(|f| f.name == name && f.data_type.is_string())
    };
    if !fields.iter().any(|(name, value)| is_raw(name, value)) {
        return fields;
    }
    let raw = raw_values(record);
    if raw.len() == fields.len() {
        for ((name, value), text) in fields.iter_mut().zip(raw) {
            if is_raw(name, value) {
                *value = Json::Text(Cow::Borrowed(text));
            }
        }
    }
    fields
}

/// The texts of an object's values, in order.
fn raw_values(record: &str) -> Vec<&str> {
    let bytes = record.as_bytes();
    let mut values = Vec::new();
    let Some(open) = record.find('{') else { return values };
    let (mut at, mut depth, mut quote) = (open + 1, 0, None);
    // Where the value began that is being read; None within a name.
    let mut start = None;
    while let Some(byte) = bytes.get(at).copied() {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(q), b) if q == b => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b':') if depth == 0 && start.is_none() => start = Some(at + 1),
            (None, b'{' | b'[') => depth += 1,
            (None, b',' | b'}') if depth == 0 => {
                if let Some(from) = start.take() {
                    values.push(record[from..at].trim());
                }
                if byte == b'}' {
                    break;
                }
            }
            (None, b'}' | b']') => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    values
}
