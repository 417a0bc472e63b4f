//! Rows as CSV.

use super::file::TextEncoding;
use crate::error::from_arrow;
use crate::options::SourceOptions;
use crate::pattern::Pattern;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, StringBuilder};
use arrow::datatypes::{DataType as ArrowType, Date32Type, TimestampMicrosecondType};
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_functions::cast::Mode;
use firesteel_functions::cast::array::{CastOptions, cast_array};
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, StructType, TimeZone};

/// How rows become CSV.
pub struct CsvEncoding {
    schema: StructType,
    separator: String,
    line_separator: String,
    quote: Option<char>,
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
}

impl CsvEncoding {
    /// The encoding that options ask for.
    pub fn new(options: &SourceOptions, conf: &SqlConf, schema: &StructType) -> Result<Self> {
        let zone_name = options.get("timeZone").unwrap_or(&conf.time_zone).to_string();
        let pattern = |key: &str, default: Pattern| options.get(key).map_or(Ok(default), Pattern::new);
        Ok(Self {
            schema: schema.clone(),
            separator: crate::csv::separator(options)?,
            line_separator: options.get("lineSep").unwrap_or("\n").to_string(),
            quote: options.character("quote", Some('"'))?.filter(|c| *c != '\0'),
            escape: options.character("escape", Some('\\'))?.unwrap_or('\\'),
            quotes_all: options.flag("quoteAll", false)?,
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
        let Some(quote) = self.quote else {
            out.push_str(value);
            return;
        };
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

    /// Stands for null or the empty text: quoted only where all values are.
    fn special(&self, out: &mut String, text: &str) {
        match self.quote {
            Some(quote) if self.quotes_all && text != "\"\"" => {
                out.push(quote);
                out.push_str(text);
                out.push(quote);
            }
            _ => out.push_str(text),
        }
    }
}

impl TextEncoding for CsvEncoding {
    fn start(&self, out: &mut Vec<u8>) {
        if !self.header {
            return;
        }
        let mut line = String::new();
        for (i, field) in self.schema.fields.iter().enumerate() {
            if i > 0 {
                line.push_str(&self.separator);
            }
            self.value(&mut line, &field.name);
        }
        line.push_str(&self.line_separator);
        out.extend_from_slice(line.as_bytes());
    }

    fn rows(&self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = batch
            .columns()
            .iter()
            .zip(&self.schema.fields)
            .map(|(column, field)| self.texts(column, &field.data_type))
            .collect::<Result<Vec<_>>>()?;
        let mut line = String::new();
        for row in 0..batch.num_rows() {
            line.clear();
            for (i, column) in columns.iter().enumerate() {
                if i > 0 {
                    line.push_str(&self.separator);
                }
                if column.is_null(row) {
                    self.special(&mut line, &self.null);
                } else if column.value(row).is_empty() {
                    self.special(&mut line, &self.empty);
                } else {
                    self.value(&mut line, column.value(row));
                }
            }
            line.push_str(&self.line_separator);
            out.extend_from_slice(line.as_bytes());
        }
        Ok(())
    }
}
