//! XML files: an element per row.

use crate::charset::Charset;
use crate::csv::{ParseMode, malformed};
use crate::error::{from_arrow, illegal};
use crate::lines::{LineOptions, Lines, text, whole};
use crate::listing::DataFile;
use crate::options::{Sampling, SourceOptions};
use crate::records::{Batches, FilePart, RecordReader, check_corrupt_alone};
use crate::text::rows_only;
use crate::xml_rows::{Row, rows};
use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_functions::scalar::datetime::pattern::Use;
use firesteel_functions::scalar::json::checks;
use firesteel_functions::scalar::json::convert::Converter;
use firesteel_functions::scalar::json::formats::Formats;
use firesteel_functions::scalar::json::from_json::{Record, structs};
use firesteel_functions::scalar::json::options::Options;
use firesteel_functions::scalar::xml::from_xml::{self, record};
use firesteel_functions::scalar::xml::schema_of_xml::{Inference, canonical};
use firesteel_functions::scalar::xml::tree::Document;
use firesteel_types::arrow_mapping::to_arrow_schema;
use firesteel_types::{DataType, StructField, StructType, TimeZone};
use std::sync::Arc;

/// How XML is read.
#[derive(Debug)]
pub struct XmlOptions {
    formats: Formats,
    elements: from_xml::XmlOptions,
    tag: String,
    multi_line: bool,
    charset: Charset,
    mode: ParseMode,
    pub(crate) corrupt_column: String,
    sampling: Sampling,
    zone: TimeZone,
}

/// The name of the elements that are rows; readers and writers need it.
pub(crate) fn row_tag(options: &SourceOptions) -> Result<String> {
    match options.get("rowTag").map(str::trim) {
        Some("") => Err(illegal("requirement failed: 'rowTag' option should not be an empty string.")),
        Some(tag) => Ok(tag.to_string()),
        None => Err(SparkError::new("XML_ROW_TAG_MISSING").with("rowTag", "`rowTag`")),
    }
}

/// The charset of a reader or a writer.
pub(crate) fn charset(options: &SourceOptions) -> Result<Charset> {
    options.any(&["encoding", "charset"]).map_or(Ok(Charset::Utf8), |name| Charset::parse(name, "XmlOptions"))
}

impl XmlOptions {
    /// The options of a reader of files.
    pub fn new(options: &SourceOptions, given: &[(String, String)], conf: &SqlConf) -> Result<Self> {
        Self::with_tag(row_tag(options)?, options, given, conf)
    }

    /// The options of a reader of texts, of which each is a row, whatever its element is called.
    pub fn of_texts(options: &SourceOptions, given: &[(String, String)], conf: &SqlConf) -> Result<Self> {
        Self::with_tag(String::new(), options, given, conf)
    }

    fn with_tag(tag: String, options: &SourceOptions, given: &[(String, String)], conf: &SqlConf) -> Result<Self> {
        let corrupt_column =
            options.get("columnNameOfCorruptRecord").unwrap_or(&conf.corrupt_record_column).to_string();
        let mut values = Options::default();
        // What a bad record does is decided here.
        for (key, value) in given.iter().filter(|(key, _)| !key.eq_ignore_ascii_case("mode")) {
            values.set(key, value.clone());
        }
        checks::xml(&values)?;
        values.set("columnNameOfCorruptRecord", corrupt_column.clone());
        Ok(Self {
            elements: from_xml::XmlOptions::of(&values),
            formats: Formats::compile(values, Use::Parsing)?,
            tag,
            multi_line: options.boolean("multiLine", true)?,
            charset: charset(options)?,
            mode: ParseMode::new(options),
            corrupt_column,
            sampling: Sampling::new(options)?,
            zone: TimeZone::parse(options.get("timeZone").unwrap_or(&conf.time_zone))?,
        })
    }

    /// The rows of a file, each with the text that stands for it where it is bad.
    fn records(&self, part: &FilePart) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        if self.multi_line {
            let text: Arc<str> = text(&whole(part, self.charset)?).into();
            self.collect(&text, &mut found);
            return Ok(found);
        }
        let mut lines = Lines::open(part, &LineOptions { separator: None, charset: self.charset })?;
        while let Some(line) = lines.next_line()? {
            let line: Arc<str> = text(line).into();
            if line.trim().is_empty() {
                continue;
            }
            let before = found.len();
            self.collect(&line, &mut found);
            if found.len() == before {
                found.push(Found { document: None, text: Some(line) });
            }
        }
        Ok(found)
    }

    /// Adds the rows of a text, up to one that is malformed.
    fn collect(&self, text: &Arc<str>, found: &mut Vec<Found>) {
        for row in rows(text, &self.tag) {
            let document = match row {
                Row::Element(element) => Document::parse(element),
                Row::Malformed => None,
            };
            let is_malformed = document.is_none();
            found.push(Found { document, text: Some(text.clone()) });
            if is_malformed {
                break;
            }
        }
    }
}

/// A row.
struct Found {
    /// None where the row is malformed.
    document: Option<Document>,
    /// None where there is none: such a row counts as malformed.
    text: Option<Arc<str>>,
}

impl Found {
    /// The row that is a text.
    fn of(text: Option<String>) -> Self {
        let document = text.as_deref().and_then(Document::parse);
        Self { document, text: text.map(Arc::from) }
    }

    fn malformed(&self) -> SparkError {
        malformed(self.text.as_deref().unwrap_or("null"))
    }
}

/// The columns of files.
pub fn infer(files: &[DataFile], options: &XmlOptions) -> Result<StructType> {
    infer_of(files.iter().map(|file| options.records(&FilePart::whole(file))), options)
}

/// The columns of texts.
pub fn infer_texts(texts: &[Option<String>], options: &XmlOptions) -> Result<StructType> {
    let found = texts.iter().flatten().map(|text| Found::of(Some(text.clone()))).collect();
    infer_of(std::iter::once(Ok(found)), options)
}

fn infer_of(records: impl Iterator<Item = Result<Vec<Found>>>, options: &XmlOptions) -> Result<StructType> {
    let inference = Inference::new(&options.formats.options, options.zone);
    let mut all = DataType::struct_of(Vec::new());
    let mut is_corrupt = false;
    let mut is_taken = options.sampling.start();
    for records in records {
        for found in records? {
            if !is_taken() {
                continue;
            }
            match (&found.document, options.mode) {
                (Some(document), _) => {
                    all = inference.common(all, inference.row(document));
                }
                (None, ParseMode::Permissive) => is_corrupt = true,
                (None, ParseMode::DropMalformed) => {}
                (None, ParseMode::FailFast) => return Err(found.malformed()),
            }
        }
    }
    let mut fields = match canonical(all) {
        DataType::Struct(schema) => schema.fields.clone(),
        _ => Vec::new(),
    };
    if is_corrupt && !fields.iter().any(|f| f.name == options.corrupt_column) {
        fields.push(StructField::new(&options.corrupt_column, DataType::STRING, true));
        fields.sort_by(|a, b| a.name.cmp(&b.name));
    }
    Ok(StructType::new(fields))
}

/// Reads XML.
#[derive(Debug)]
pub struct XmlReader {
    options: Arc<XmlOptions>,
    schema: StructType,
}

impl XmlReader {
    /// The reader of files with these columns.
    pub fn new(options: XmlOptions, schema: StructType) -> Self {
        Self { options: Arc::new(options), schema }
    }

    /// The rows that texts are.
    pub fn read_texts(&self, texts: Vec<Option<String>>, columns: &[usize], batch_size: usize) -> Result<Batches> {
        let mode = self.options.mode;
        if let (ParseMode::FailFast, Some(none)) = (mode, texts.iter().find(|text| text.is_none())) {
            return Err(Found::of(none.clone()).malformed());
        }
        let kept = texts.into_iter().filter(|text| text.is_some() || mode != ParseMode::DropMalformed);
        Ok(self.batches(kept.map(Found::of).collect(), columns, batch_size))
    }

    fn batches(&self, found: Vec<Found>, columns: &[usize], batch_size: usize) -> Batches {
        let mut found = found.into_iter();
        let wanted = StructType::new(columns.iter().map(|i| self.schema.fields[*i].clone()).collect());
        let maker = Maker::new(self.options.clone(), wanted);
        let mut next = move || -> Result<Option<RecordBatch>> {
            let records: Vec<Found> = found.by_ref().take(batch_size.max(1)).collect();
            if records.is_empty() { Ok(None) } else { maker.batch(&records).map(Some) }
        };
        Box::new(std::iter::from_fn(move || next().transpose()))
    }

    fn corrupt(&self) -> Option<usize> {
        self.schema.fields.iter().position(|f| f.name == self.options.corrupt_column)
    }
}

impl RecordReader for XmlReader {
    fn name(&self) -> &'static str {
        "xml"
    }

    fn is_splittable(&self) -> bool {
        false
    }

    fn bytes_per_row(&self) -> usize {
        self.schema.fields.len() * 30
    }

    fn check_columns(&self, columns: &[usize]) -> Result<()> {
        check_corrupt_alone(columns, self.corrupt())
    }

    fn read(&self, part: &FilePart, columns: &[usize], batch_size: usize) -> Result<Batches> {
        Ok(self.batches(self.options.records(part)?, columns, batch_size))
    }
}

/// Makes batches of rows.
struct Maker {
    options: Arc<XmlOptions>,
    /// The columns that are wanted, and one of bad records.
    fields: StructType,
    corrupt: usize,
    /// How many columns are wanted.
    width: usize,
    schema: SchemaRef,
}

impl Maker {
    fn new(options: Arc<XmlOptions>, wanted: StructType) -> Self {
        let arrow = to_arrow_schema(&wanted);
        let fields: Vec<_> = arrow.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        let width = wanted.fields.len();
        let mut fields_read = wanted;
        let corrupt = fields_read.fields.iter().position(|f| f.name == options.corrupt_column).unwrap_or_else(|| {
            fields_read.fields.push(StructField::new(&options.corrupt_column, DataType::STRING, true));
            width
        });
        Self { options, fields: fields_read, corrupt, width, schema: Arc::new(Schema::new(fields)) }
    }

    fn batch(&self, found: &[Found]) -> Result<RecordBatch> {
        let options = &*self.options;
        let records: Vec<Record<'_>> = found
            .iter()
            .map(|found| match &found.document {
                Some(document) => Record::Value(record(document, &self.fields, &options.elements)),
                None => Record::Malformed,
            })
            .collect();
        let texts: Vec<Option<&str>> = found.iter().map(|found| found.text.as_deref()).collect();
        let converter = Converter { formats: &options.formats, zone: options.zone };
        let array = structs(&converter, &records, &texts, &self.fields)?;
        let columns = array.as_struct().columns();
        let is_bad = |row: usize| columns.get(self.corrupt).is_some_and(|column| column.is_valid(row));
        let good: Vec<bool> = (0..found.len()).map(|row| !is_bad(row)).collect();
        let bad = good.iter().position(|good| !good);
        if let (ParseMode::FailFast, Some(bad)) = (options.mode, bad) {
            return Err(malformed(texts.get(bad).copied().flatten().unwrap_or_default()));
        }
        let drops = options.mode == ParseMode::DropMalformed && bad.is_some();
        if self.width == 0 {
            return rows_only(if drops { good.iter().filter(|good| **good).count() } else { found.len() });
        }
        let columns = columns.iter().take(self.width).cloned().collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(from_arrow)?;
        if drops {
            return filter_record_batch(&batch, &BooleanArray::from(good)).map_err(from_arrow);
        }
        Ok(batch)
    }
}
