//! Rows as JSON objects, one per line.

use super::file::TextEncoding;
use crate::error::from_arrow;
use crate::lines::separator;
use crate::options::SourceOptions;
use crate::pattern::Pattern;
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use base64::Engine;
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_functions::cast::variant::Variants;
use firesteel_functions::scalar::json::writer::{KeyWriter, in_ascii, is_plain, write_number, write_text};
use firesteel_types::number_text::{write_float, write_integer, write_plain_decimal};
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, StructType, TimeZone, variant_text};

/// How rows become JSON.
pub struct JsonEncoding {
    schema: StructType,
    /// The name of each column as it is written in the first place, and in another one.
    names: Vec<(String, String)>,
    ignores_nulls: bool,
    is_pretty: bool,
    /// True where only ASCII is written.
    escapes_others: bool,
    separator: String,
    date: Pattern,
    timestamp: Pattern,
    timestamp_ntz: Pattern,
    zone: TimeZone,
    zone_name: String,
}

impl JsonEncoding {
    /// The encoding that options ask for.
    pub fn new(options: &SourceOptions, conf: &SqlConf, schema: &StructType) -> Result<Self> {
        let zone_name = options.get("timeZone").unwrap_or(&conf.time_zone).to_string();
        let pattern = |key: &str, default: Pattern| options.get(key).map_or(Ok(default), Pattern::new);
        Ok(Self {
            names: schema
                .fields
                .iter()
                .map(|field| {
                    let mut name = String::new();
                    write_text(&mut name, &field.name);
                    (format!("{name}:"), format!(",{name}:"))
                })
                .collect(),
            schema: schema.clone(),
            ignores_nulls: options.flag("ignoreNullFields", conf.json_ignore_null_fields)?,
            is_pretty: options.boolean("pretty", false)?,
            escapes_others: options.boolean("writeNonAsciiCharacterAsCodePoint", false)?,
            separator: separator(options)?.unwrap_or("\n").to_string(),
            date: pattern("dateFormat", Pattern::new("yyyy-MM-dd")?)?,
            timestamp: pattern("timestampFormat", Pattern::iso(true))?,
            timestamp_ntz: pattern("timestampNTZFormat", Pattern::iso(false))?,
            zone: TimeZone::parse(&zone_name)?,
            zone_name,
        })
    }

    fn object(&self, out: &mut String, schema: &StructType, columns: &[ArrayRef], row: usize) -> Result<()> {
        out.push('{');
        let mut is_first = true;
        for (field, column) in schema.fields.iter().zip(columns) {
            if self.ignores_nulls && (column.is_null(row) || field.data_type.is_null()) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            write_text(out, &field.name);
            out.push(':');
            self.value(out, &field.data_type, column, row)?;
        }
        out.push('}');
        Ok(())
    }

    fn value(&self, out: &mut String, data_type: &DataType, array: &ArrayRef, row: usize) -> Result<()> {
        if array.is_null(row) || data_type.is_null() {
            out.push_str("null");
            return Ok(());
        }
        let mut integer = |value: i64| write_integer(out, value);
        match data_type {
            DataType::Boolean => out.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
            DataType::Byte => integer(array.as_primitive::<Int8Type>().value(row).into()),
            DataType::Short => integer(array.as_primitive::<Int16Type>().value(row).into()),
            DataType::Integer => integer(array.as_primitive::<Int32Type>().value(row).into()),
            DataType::Long => integer(array.as_primitive::<Int64Type>().value(row)),
            DataType::Float => {
                let value = array.as_primitive::<Float32Type>().value(row);
                if value.is_finite() { write_float(out, value) } else { write_number(out, f64::from(value)) }
            }
            DataType::Double => write_number(out, array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal(_, scale) => {
                write_plain_decimal(out, array.as_primitive::<Decimal128Type>().value(row), *scale);
            }
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => {
                if *array.data_type() == ArrowType::Utf8 {
                    write_text(out, array.as_string::<i32>().value(row));
                } else {
                    let one = arrow::compute::cast(&array.slice(row, 1), &ArrowType::Utf8).map_err(from_arrow)?;
                    write_text(out, one.as_string::<i32>().value(0));
                }
            }
            DataType::Binary => {
                out.push('"');
                base64::engine::general_purpose::STANDARD.encode_string(array.as_binary::<i32>().value(row), out);
                out.push('"');
            }
            DataType::Date => {
                let mut text = String::new();
                self.date.write_date(&mut text, array.as_primitive::<Date32Type>().value(row).into());
                write_text(out, &text);
            }
            DataType::Timestamp => {
                let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
                let offset = self.zone.offset_at(micros.div_euclid(1_000_000));
                let mut text = String::new();
                self.timestamp.write(&mut text, self.zone.to_local(micros), offset, &self.zone_name);
                write_text(out, &text);
            }
            DataType::TimestampNtz => {
                let mut text = String::new();
                self.timestamp_ntz.write(
                    &mut text,
                    array.as_primitive::<TimestampMicrosecondType>().value(row),
                    0,
                    "Z",
                );
                write_text(out, &text);
            }
            DataType::Array { element, .. } => {
                let values = array.as_list::<i32>().value(row);
                out.push('[');
                for index in 0..values.len() {
                    if index > 0 {
                        out.push(',');
                    }
                    self.value(out, element, &values, index)?;
                }
                out.push(']');
            }
            DataType::Struct(fields) => self.object(out, fields, array.as_struct().columns(), row)?,
            DataType::Map { key, value, .. } => {
                let entries = array.as_map().value(row);
                let keys = KeyWriter::new(key, self.zone);
                out.push('{');
                for index in 0..entries.len() {
                    if index > 0 {
                        out.push(',');
                    }
                    let mut name = String::new();
                    keys.write(&mut name, entries.column(0), index)?;
                    write_text(out, &name);
                    out.push(':');
                    self.value(out, value, entries.column(1), index)?;
                }
                out.push('}');
            }
            DataType::Udt { sql_type, .. } => self.value(out, sql_type, array, row)?,
            DataType::Variant => match Variants::of(&array.slice(row, 1))?.get(0) {
                Some(variant) => variant_text::write_part(out, &variant, self.zone)?,
                None => out.push_str("null"),
            },
            other => {
                let mut text = String::new();
                ValueFormatter::in_zone(other, self.zone, TextStyle::Cast { plain_decimals: true })
                    .write(&mut text, array, row)?;
                write_text(out, &text);
            }
        }
        Ok(())
    }
}

/// JSON over several lines.
fn prettified(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut open = Vec::new();
    let (mut in_text, mut is_escaped) = (false, false);
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if in_text {
            out.push(c);
            in_text = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        // An object and an array without items, or where one begins and ends.
        let is_empty = matches!((c, chars.peek()), ('{', Some('}')) | ('[', Some(']')));
        match c {
            '{' | '[' if is_empty => {
                out.push(c);
                out.push(' ');
                out.extend(chars.next());
            }
            '{' | '[' => {
                open.push(c);
                out.push(c);
                part(&mut out, &open, c);
            }
            '}' | ']' => {
                let opening = open.pop().unwrap_or_default();
                part(&mut out, &open, opening);
                out.push(c);
            }
            ':' => out.push_str(" : "),
            ',' => {
                out.push(c);
                part(&mut out, &open, open.last().copied().unwrap_or_default());
            }
            other => {
                in_text = other == '"';
                out.push(other);
            }
        }
    }
    out
}

/// What parts items of an object or an array: a new line, with two blanks for each open object, or a blank.
fn part(out: &mut String, open: &[char], within: char) {
    if within == '[' {
        out.push(' ');
        return;
    }
    out.push('\n');
    out.extend(open.iter().filter(|c| **c == '{').map(|_| "  "));
}

/// A column that is being written.
enum Cells<'a> {
    Integer(&'a Int32Array),
    Long(&'a Int64Array),
    Double(&'a Float64Array),
    Text(&'a StringArray),
    /// Texts without anything to escape.
    PlainText(&'a StringArray),
    Other,
}

impl<'a> Cells<'a> {
    fn new(column: &'a ArrayRef, data_type: &DataType) -> Self {
        match (data_type, column.data_type()) {
            (DataType::Integer, ArrowType::Int32) => Self::Integer(column.as_primitive()),
            (DataType::Long, ArrowType::Int64) => Self::Long(column.as_primitive()),
            (DataType::Double, ArrowType::Float64) => Self::Double(column.as_primitive()),
            (DataType::String(_) | DataType::Char(_) | DataType::Varchar(_), ArrowType::Utf8) => {
                let texts = column.as_string::<i32>();
                let offsets = texts.value_offsets();
                let used = match (offsets.first(), offsets.last()) {
                    (Some(first), Some(last)) => &texts.value_data()[*first as usize..*last as usize],
                    _ => &[],
                };
                if is_plain(used) { Self::PlainText(texts) } else { Self::Text(texts) }
            }
            _ => Self::Other,
        }
    }
}

impl TextEncoding for JsonEncoding {
    fn start(&self, _out: &mut String) {}

    fn rows(&self, batch: &RecordBatch, out: &mut String) -> Result<()> {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .zip(&self.schema.fields)
            .map(|(column, field)| {
                let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
                (Cells::new(column, &field.data_type), nulls, column, &field.data_type)
            })
            .collect();
        for row in 0..batch.num_rows() {
            let start = out.len();
            out.push('{');
            let mut is_first = true;
            for ((cells, nulls, column, data_type), (first, next)) in columns.iter().zip(&self.names) {
                let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
                if is_null && self.ignores_nulls {
                    continue;
                }
                out.push_str(if std::mem::take(&mut is_first) { first } else { next });
                match cells {
                    _ if is_null => out.push_str("null"),
                    Cells::Integer(values) => write_integer(out, values.value(row)),
                    Cells::Long(values) => write_integer(out, values.value(row)),
                    Cells::Double(values) => write_number(out, values.value(row)),
                    Cells::PlainText(texts) => {
                        out.push('"');
                        out.push_str(texts.value(row));
                        out.push('"');
                    }
                    Cells::Text(texts) => write_text(out, texts.value(row)),
                    Cells::Other => self.value(out, data_type, column, row)?,
                }
            }
            out.push('}');
            if self.is_pretty || self.escapes_others {
                let mut json = out.split_off(start);
                if self.is_pretty {
                    json = prettified(&json);
                }
                if self.escapes_others {
                    json = in_ascii(&json);
                }
                out.push_str(&json);
            }
            out.push_str(&self.separator);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_objects_have_a_line_for_each_field() {
        let json = r#"{"a":1,"b":[1,{"x":"{,:\""}],"c":{},"d":[],"e":{"f":null}}"#;
        let want = "{\n  \"a\" : 1,\n  \"b\" : [ 1, {\n    \"x\" : \"{,:\\\"\"\n  } ],\n  \"c\" : { },\n  \"d\" : [ ],\n  \"e\" : {\n    \"f\" : null\n  }\n}";
        assert_eq!(prettified(json), want);
        assert_eq!(in_ascii("\"é\u{1f600}\""), "\"\\u00E9\\uD83D\\uDE00\"");
    }
}
