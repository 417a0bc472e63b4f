//! Batches of JSON records: each value goes from the text to its column, without a tree of the record.

use crate::csv::{ParseMode, malformed};
use crate::json::JsonOptions;
use crate::json_layout::Layout;
use crate::text::rows_only;
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringBuilder};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use firesteel_error::Result;
use firesteel_functions::scalar::json::convert::{Converter, Outcome};
use firesteel_functions::scalar::json::reader::{Json, Malformed, Reader, Token, read_value};
use firesteel_types::arrow_mapping::to_arrow_schema;
use firesteel_types::{StructField, StructType};
use std::borrow::Cow;
use std::sync::Arc;

/// Rows of objects, by column.
struct Rows<'a, 'f> {
    fields: Vec<&'f StructField>,
    columns: Vec<Vec<Option<Json<'a>>>>,
    /// Names as they came in the object before, with their columns.
    order: Vec<(Cow<'a, str>, Option<usize>)>,
    /// The layout of the last object.
    layout: Layout,
    /// Which record each row comes from.
    sources: Vec<usize>,
    bad: Vec<bool>,
}

impl<'a, 'f> Rows<'a, 'f> {
    fn new(fields: Vec<&'f StructField>, rows: usize) -> Self {
        Self {
            columns: fields.iter().map(|_| Vec::with_capacity(rows)).collect(),
            fields,
            order: Vec::new(),
            layout: Layout::default(),
            sources: Vec::with_capacity(rows),
            bad: Vec::with_capacity(rows),
        }
    }

    fn add_row(&mut self, source: usize, is_bad: bool) {
        self.columns.iter_mut().for_each(|column| column.push(None));
        self.sources.push(source);
        self.bad.push(is_bad);
    }

    /// The last row's record is none.
    fn spoil_row(&mut self) {
        for value in self.columns.iter_mut().filter_map(|column| column.last_mut()) {
            *value = None;
        }
        if let Some(bad) = self.bad.last_mut() {
            *bad = true;
        }
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }

    /// The column of the name at a place of an object.
    #[inline]
    fn column_at(&mut self, name: Cow<'a, str>, place: usize) -> Option<usize> {
        if let Some((known, column)) = self.order.get(place)
            && *known == name
        {
            return *column;
        }
        let column = self.column(&name);
        self.order.truncate(place);
        self.order.push((name, column));
        column
    }

    /// The last of several values of a name counts.
    fn set(&mut self, column: usize, value: Json<'a>) {
        if let Some(place) = self.columns[column].last_mut() {
            *place = Some(value);
        }
    }

    /// Reads a record that looks like the one before; false where it does not.
    fn read_alike(&mut self, record: &'a str, source: usize) -> bool {
        self.add_row(source, false);
        let Self { fields, columns, layout, .. } = self;
        let is_string = |column: usize| fields.get(column).is_some_and(|f| f.data_type.is_string());
        let is_alike = layout.read(record, is_string, |column, value| {
            if let Some(place) = columns.get_mut(column).and_then(|column| column.last_mut()) {
                *place = Some(value);
            }
        });
        if !is_alike {
            columns.iter_mut().for_each(|column| drop(column.pop()));
            self.sources.pop();
            self.bad.pop();
        }
        is_alike
    }

    /// Reads the record that is the text.
    fn read(&mut self, reader: &mut Reader<'a>, source: usize) {
        match reader.token() {
            Ok(Token::StartObject) => {
                self.add_row(source, false);
                if self.object(reader).is_err() {
                    self.spoil_row();
                }
            }
            Ok(token @ Token::StartArray) => match read_value(reader, token) {
                Ok(Json::Array(items)) => items.into_iter().for_each(|item| self.item(item, source)),
                _ => self.add_row(source, true),
            },
            Ok(Token::End) => {}
            Ok(_) | Err(_) => self.add_row(source, true),
        }
    }

    fn object(&mut self, reader: &mut Reader<'a>) -> std::result::Result<(), Malformed> {
        let mut place = 0;
        loop {
            let name = match reader.token()? {
                Token::Name(name) => name,
                Token::EndObject => {
                    self.order.truncate(place);
                    if !self.layout.is_of(&self.order) {
                        self.layout = Layout::new(&self.order);
                    }
                    return Ok(());
                }
                _ => return Err(Malformed),
            };
            let column = self.column_at(name, place);
            place += 1;
            let start = reader.position();
            let token = reader.token()?;
            let Some(column) = column else {
                reader.skip(&token)?;
                continue;
            };
            // What is no string stands in a column of strings as it is written.
            let is_raw = self.fields[column].data_type.is_string() && !matches!(token, Token::Text(_) | Token::Null);
            let value = if is_raw {
                reader.skip(&token)?;
                Json::Text(Cow::Borrowed(reader.text_from(start).trim()))
            } else {
                read_value(reader, token)?
            };
            self.set(column, value);
        }
    }

    /// Adds an item of a record that is an array.
    fn item(&mut self, item: Json<'a>, source: usize) {
        let Json::Object(fields) = item else {
            self.add_row(source, true);
            return;
        };
        self.add_row(source, false);
        for (name, value) in fields {
            if let Some(column) = self.column(&name) {
                self.set(column, value);
            }
        }
    }

    /// The columns; rows with a value that is not of its column's type become bad.
    fn arrays(&mut self, options: &JsonOptions) -> Result<Vec<ArrayRef>> {
        let converter = Converter { formats: &options.formats, zone: options.zone };
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (field, column) in self.fields.iter().zip(&self.columns) {
            let values: Vec<Option<&Json<'_>>> = column.iter().map(Option::as_ref).collect();
            let (array, outcomes) = converter.column(&values, &field.data_type)?;
            for (bad, outcome) in self.bad.iter_mut().zip(outcomes) {
                *bad |= outcome != Outcome::Fine;
            }
            arrays.push(array);
        }
        Ok(arrays)
    }
}

/// Records as a batch of the wanted columns.
pub(crate) fn parse<T: AsRef<str>>(
    records: &[T],
    wanted: &[StructField],
    options: &JsonOptions,
) -> Result<RecordBatch> {
    let corrupt = wanted.iter().position(|f| f.name == options.corrupt_column && f.data_type.is_string());
    let fields = wanted.iter().enumerate().filter(|(i, _)| Some(*i) != corrupt).map(|(_, f)| f).collect();
    let mut rows = Rows::new(fields, records.len());
    let mut reader = Reader::new("", options.leniency);
    for (source, record) in records.iter().enumerate() {
        if !rows.read_alike(record.as_ref(), source) {
            reader.restart(record.as_ref());
            rows.read(&mut reader, source);
        }
    }
    let mut columns = rows.arrays(options)?.into_iter();
    let record = |row: usize| rows.sources.get(row).and_then(|i| records.get(*i)).map(AsRef::as_ref);
    if options.mode == ParseMode::FailFast
        && let Some(bad) = rows.bad.iter().position(|bad| *bad)
    {
        return Err(malformed(record(bad).unwrap_or_default()));
    }
    if wanted.is_empty() {
        return rows_only(rows.bad.len());
    }
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(wanted.len());
    for i in 0..wanted.len() {
        if Some(i) == corrupt {
            let mut builder = StringBuilder::new();
            for (row, bad) in rows.bad.iter().enumerate() {
                builder.append_option(record(row).filter(|_| *bad));
            }
            arrays.push(Arc::new(builder.finish()));
        } else {
            arrays.extend(columns.next());
        }
    }
    let batch = RecordBatch::try_new(batch_schema(wanted), arrays).map_err(crate::error::from_arrow)?;
    if options.mode != ParseMode::DropMalformed || !rows.bad.contains(&true) {
        return Ok(batch);
    }
    let good: BooleanArray = rows.bad.iter().map(|bad| Some(!bad)).collect();
    filter_record_batch(&batch, &good).map_err(crate::error::from_arrow)
}

fn batch_schema(wanted: &[StructField]) -> SchemaRef {
    let fields = to_arrow_schema(&StructType::new(wanted.to_vec()));
    Arc::new(Schema::new(fields.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>()))
}
