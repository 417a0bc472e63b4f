//! JSON text as Spark writes it.

use super::reader::{Json, Malformed, Reader, Token};
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, DurationMicrosecondType, IntervalYearMonthType, TimestampMicrosecondType,
};
use firesteel_types::number_text::{write_double, write_integer};
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, TimeZone};

/// The bytes that texts cannot have as they are.
const ESCAPED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};

/// Whether none of the bytes of texts needs an escape.
pub fn is_plain(texts: &[u8]) -> bool {
    // Comparisons without a way out within a block become vector instructions; the table would not.
    let needs = |b: &u8| (*b < 0x20) | (*b == b'"') | (*b == b'\\');
    texts.chunks(4096).all(|block| !block.iter().fold(false, |any, b| any | needs(b)))
}

/// Writes a text in quotes.
pub fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut copied = 0;
    while let Some(found) = text.as_bytes()[copied..].iter().position(|b| ESCAPED[usize::from(*b)]) {
        let at = copied + found;
        out.push_str(&text[copied..at]);
        match text.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            byte => out.push_str(&format!("\\u{byte:04X}")),
        }
        copied = at + 1;
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

/// Writes a double; what is no number in quotes.
pub fn write_number(out: &mut String, value: f64) {
    if value.is_finite() {
        write_double(out, value);
    } else {
        out.push('"');
        write_double(out, value);
        out.push('"');
    }
}

/// Writes a fraction as the double that it is read as.
pub fn write_fraction(out: &mut String, text: &str) {
    write_number(out, text.parse().unwrap_or(f64::NAN));
}

/// Copies a value from a reader, of which `token` is the first piece.
pub fn copy(reader: &mut Reader<'_>, token: &Token<'_>, out: &mut String) -> Result<(), Malformed> {
    match token {
        Token::Null => out.push_str("null"),
        Token::True => out.push_str("true"),
        Token::False => out.push_str("false"),
        Token::Whole(text) => out.push_str(text),
        Token::Fraction(text) => write_fraction(out, text),
        Token::NonNumber(value) => write_number(out, *value),
        Token::Text(text) => write_text(out, text),
        Token::StartArray => {
            out.push('[');
            let mut is_first = true;
            loop {
                match reader.token()? {
                    Token::EndArray => break,
                    token => {
                        if !std::mem::take(&mut is_first) {
                            out.push(',');
                        }
                        copy(reader, &token, out)?;
                    }
                }
            }
            out.push(']');
        }
        Token::StartObject => {
            out.push('{');
            let mut is_first = true;
            loop {
                match reader.token()? {
                    Token::EndObject => break,
                    Token::Name(name) => {
                        if !std::mem::take(&mut is_first) {
                            out.push(',');
                        }
                        write_text(out, &name);
                        out.push(':');
                        let token = reader.token()?;
                        copy(reader, &token, out)?;
                    }
                    _ => return Err(Malformed),
                }
            }
            out.push('}');
        }
        Token::Name(_) | Token::EndArray | Token::EndObject | Token::End => return Err(Malformed),
    }
    Ok(())
}

/// Writes keys of maps. Keys that are moments and spans stand as numbers, as Spark has them.
pub struct KeyWriter {
    is_number: bool,
    /// Keys that are structs look like arrays.
    is_struct: bool,
    formatter: ValueFormatter,
}

impl KeyWriter {
    /// The writer of keys of a type.
    pub fn new(key: &DataType, zone: TimeZone) -> Self {
        let is_number = matches!(
            key,
            DataType::Date
                | DataType::Timestamp
                | DataType::TimestampNtz
                | DataType::DayTimeInterval(..)
                | DataType::YearMonthInterval(..)
        );
        let is_struct = matches!(key, DataType::Struct(_));
        Self {
            is_number,
            is_struct,
            formatter: ValueFormatter::in_zone(key, zone, TextStyle::Cast { plain_decimals: true }),
        }
    }

    /// Adds the text of a key.
    pub fn write(&self, out: &mut String, keys: &ArrayRef, row: usize) -> firesteel_error::Result<()> {
        if self.is_struct {
            let mut text = String::new();
            self.formatter.write(&mut text, keys, row)?;
            let fields = text.trim_start_matches('{').trim_end_matches('}').replace(", ", ",");
            out.push('[');
            out.push_str(&fields);
            out.push(']');
            return Ok(());
        }
        if !self.is_number {
            return self.formatter.write(out, keys, row);
        }
        write_integer(
            out,
            match keys.data_type() {
                ArrowType::Date32 => i64::from(keys.as_primitive::<Date32Type>().value(row)),
                ArrowType::Interval(_) => i64::from(keys.as_primitive::<IntervalYearMonthType>().value(row)),
                ArrowType::Duration(_) => keys.as_primitive::<DurationMicrosecondType>().value(row),
                _ => keys.as_primitive::<TimestampMicrosecondType>().value(row),
            },
        );
        Ok(())
    }
}

/// JSON in ASCII alone: other characters become escapes.
pub fn in_ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04X}"));
            }
        }
    }
    out
}

/// Writes a value.
pub fn write_json(out: &mut String, json: &Json<'_>) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Whole(text) => out.push_str(text),
        Json::Fraction(text) => write_fraction(out, text),
        Json::NonNumber(value) => write_number(out, *value),
        Json::Text(text) => write_text(out, text),
        Json::Array(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(out, value);
            }
            out.push(']');
        }
        Json::Object(fields) => {
            out.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(out, name);
                out.push(':');
                write_json(out, value);
            }
            out.push('}');
        }
    }
}
