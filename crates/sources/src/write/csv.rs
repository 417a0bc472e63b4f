//! Rows as CSV.

use super::file::TextEncoding;
use crate::error::from_arrow;
use crate::options::SourceOptions;
use crate::pattern::Pattern;
use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, StringBuilder,
};
use arrow::datatypes::{DataType as ArrowType, Date32Type, TimestampMicrosecondType};
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_functions::cast::Mode;
use firesteel_functions::cast::array::{CastOptions, cast_array};
use firesteel_types::number_text::{write_double, write_integer};
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, StructType, TimeZone};
use std::borrow::Cow;

/// The characters of numbers.
const OF_NUMBERS: &[u8] = b"0123456789+-.EINaNfinity";

/// A column that is being written.
enum Cells<'a> {
    Integer(&'a Int32Array),
    Long(&'a Int64Array),
    Double(&'a Float64Array),
    Text(Cow<'a, StringArray>),
}

/// How rows become CSV.
pub struct CsvEncoding {
    schema: StructType,
    separator: String,
    line_separator: String,
    quote: char,
    escape: char,
    quotes_all: bool,
    escapes_quotes: bool,
    trims_start: bool,
    trims_end: bool,
    null: String,
    empty: String,
    header: bool,
    date: Pattern,
    timestamp: Pattern,
    timestamp_ntz: Pattern,
    cast: CastOptions,
    zone_name: String,
    /// Bytes of which values may have to be quoted.
    suspects: [bool; 256],
    /// True where no number is ever quoted.
    plain_numbers: bool,
}

impl CsvEncoding {
    /// The encoding that options ask for.
    pub fn new(options: &SourceOptions, conf: &SqlConf, schema: &StructType) -> Result<Self> {
        let zone_name = options.get("timeZone").unwrap_or(&conf.time_zone).to_string();
        let pattern = |key: &str, default: Pattern| options.get(key).map_or(Ok(default), Pattern::new);
        let separator = crate::csv::separator(options)?;
        // Where no character is the quote, the one that no text has is.
        let quote = options.character("quote", Some('"'))?.unwrap_or('\0');
        let mut suspects = [false; 256];
        let mut encoded = [0; 4];
        let quote_bytes = quote.encode_utf8(&mut encoded).as_bytes();
        for byte in [b'\n', b'\r'].iter().chain(separator.as_bytes().first()).chain(quote_bytes.first()) {
            suspects[usize::from(*byte)] = true;
        }
        let quotes_all = options.flag("quoteAll", false)?;
        Ok(Self {
            plain_numbers: !quotes_all && !OF_NUMBERS.iter().any(|b| suspects[usize::from(*b)]),
            suspects,
            schema: schema.clone(),
            separator,
            line_separator: crate::csv::line_separator(options)?.unwrap_or("\n").to_string(),
            quote,
            escape: options.character("escape", Some('\\'))?.unwrap_or('\\'),
            quotes_all,
            escapes_quotes: options.flag("escapeQuotes", true)?,
            trims_start: options.flag("ignoreLeadingWhiteSpace", true)?,
            trims_end: options.flag("ignoreTrailingWhiteSpace", true)?,
            null: options.get("nullValue").unwrap_or("").to_string(),
            empty: options.get("emptyValue").unwrap_or("\"\"").to_string(),
            header: options.flag("header", false)?,
            date: pattern("dateFormat", Pattern::new("yyyy-MM-dd")?)?,
            timestamp: pattern("timestampFormat", Pattern::iso(true))?,
            timestamp_ntz: pattern("timestampNTZFormat", Pattern::iso(false))?,
            cast: CastOptions::new(Mode::Legacy, &zone_name)?,
            zone_name,
        })
    }

    fn texts(&self, column: &ArrayRef, data_type: &DataType) -> Result<StringArray> {
        let mut builder = StringBuilder::new();
        let mut text = String::new();
        match data_type {
            DataType::Date => {
                for day in column.as_primitive::<Date32Type>() {
                    text.clear();
                    if let Some(day) = day {
                        self.date.write_date(&mut text, i64::from(day));
                    }
                    builder.append_option(day.map(|_| text.as_str()));
                }
            }
            DataType::Timestamp | DataType::TimestampNtz => {
                let zone: TimeZone = self.cast.zone;
                for micros in column.as_primitive::<TimestampMicrosecondType>() {
                    text.clear();
                    match micros {
                        Some(micros) if *data_type == DataType::Timestamp => {
                            let offset = zone.offset_at(micros.div_euclid(1_000_000));
                            self.timestamp.write(&mut text, zone.to_local(micros), offset, &self.zone_name);
                        }
                        Some(micros) => self.timestamp_ntz.write(&mut text, micros, 0, "Z"),
                        None => {}
                    }
                    builder.append_option(micros.map(|_| text.as_str()));
                }
            }
            DataType::Binary => {
                return ValueFormatter::in_zone(data_type, self.cast.zone, TextStyle::Show).to_strings(column);
            }
            DataType::Decimal(..) => {
                let style = TextStyle::Cast { plain_decimals: true };
                return ValueFormatter::in_zone(data_type, self.cast.zone, style).to_strings(column);
            }
            _ => {
                let texts = cast_array(column, data_type, &DataType::STRING, &self.cast)?;
                let texts = arrow::compute::cast(&texts, &ArrowType::Utf8).map_err(from_arrow)?;
                return Ok(texts.as_string::<i32>().clone());
            }
        }
        Ok(builder.finish())
    }

    fn value(&self, out: &mut String, value: &str) {
        let value = if self.trims_start { value.trim_start_matches(|c: char| c <= ' ') } else { value };
        let value = if self.trims_end { value.trim_end_matches(|c: char| c <= ' ') } else { value };
        let quote = self.quote;
        if !self.quotes_all && !value.bytes().any(|b| self.suspects[usize::from(b)]) {
            out.push_str(value);
            return;
        }
        let has_quote = value.contains(quote);
        let quoted = self.quotes_all
            || value.contains(self.separator.as_str())
            || value.contains(['\n', '\r'])
            || (has_quote && self.escapes_quotes);
        if !quoted {
            out.push_str(value);
            return;
        }
        out.push(quote);
        for c in value.chars() {
            if c == quote || (c == self.escape && self.escape != quote) {
                out.push(self.escape);
            }
            out.push(c);
        }
        out.push(quote);
    }

    /// The values of a column, numbers as they are where no text of a number is quoted.
    fn cells<'a>(&self, column: &'a ArrayRef, data_type: &DataType) -> Result<Cells<'a>> {
        let is_string = matches!(data_type, DataType::String(_) | DataType::Char(_) | DataType::Varchar(_));
        Ok(match (data_type, column.data_type()) {
            (DataType::Integer, ArrowType::Int32) if self.plain_numbers => Cells::Integer(column.as_primitive()),
            (DataType::Long, ArrowType::Int64) if self.plain_numbers => Cells::Long(column.as_primitive()),
            (DataType::Double, ArrowType::Float64) if self.plain_numbers => Cells::Double(column.as_primitive()),
            (_, ArrowType::Utf8) if is_string => Cells::Text(Cow::Borrowed(column.as_string())),
            _ => Cells::Text(Cow::Owned(self.texts(column, data_type)?)),
        })
    }

    /// Stands for null or the empty text: quoted only where all values are.
    fn special(&self, out: &mut String, text: &str) {
        if self.quotes_all && text != "\"\"" {
            out.push(self.quote);
            out.push_str(text);
            out.push(self.quote);
        } else {
            out.push_str(text);
        }
    }
}

impl TextEncoding for CsvEncoding {
    fn start(&self, out: &mut String) {
        if !self.header {
            return;
        }
        for (i, field) in self.schema.fields.iter().enumerate() {
            if i > 0 {
                out.push_str(&self.separator);
            }
            self.value(out, &field.name);
        }
        out.push_str(&self.line_separator);
    }

    fn rows(&self, batch: &RecordBatch, out: &mut String) -> Result<()> {
        let columns = batch
            .columns()
            .iter()
            .zip(&self.schema.fields)
            .map(|(column, field)| Ok((self.cells(column, &field.data_type)?, column)))
            .collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            for (i, (cells, column)) in columns.iter().enumerate() {
                if i > 0 {
                    out.push_str(&self.separator);
                }
                match cells {
                    Cells::Text(texts) if texts.is_null(row) => self.special(out, &self.null),
                    Cells::Text(texts) if texts.value(row).is_empty() => self.special(out, &self.empty),
                    Cells::Text(texts) => self.value(out, texts.value(row)),
                    _ if column.is_null(row) => self.special(out, &self.null),
                    Cells::Integer(values) => write_integer(out, values.value(row)),
                    Cells::Long(values) => write_integer(out, values.value(row)),
                    Cells::Double(values) => write_double(out, values.value(row)),
                }
            }
            out.push_str(&self.line_separator);
        }
        Ok(())
    }
}
