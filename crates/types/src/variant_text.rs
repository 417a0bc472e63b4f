//! Variants as JSON text.
//!
//! A variant is two byte strings: `metadata`, a list of field names, and
//! `value`, a tree whose nodes start with a header byte
//! (Parquet's variant encoding, version 1).

use crate::moment_text::{write_date, write_timestamp, write_timestamp_at};
use crate::number_text::{write_double, write_float, write_plain_decimal};
use crate::time_zone::TimeZone;
use base64::Engine;
use firesteel_error::{Result, SparkError};
use std::fmt::Write;

/// How deep values may nest, so that no bytes can exhaust the stack.
const MAX_DEPTH: usize = 1000;

/// Appends a variant as compact JSON, timestamps in UTC.
pub fn write_json(out: &mut String, value: &[u8], metadata: &[u8]) -> Result<()> {
    let reader = Reader { value, metadata };
    reader.write(out, 0, 0).ok_or_else(malformed)
}

/// Appends a variant as a cast to string gives it: a lone string or timestamp without quotes,
/// timestamps in the zone. False, and nothing written, for the JSON null.
pub fn write_cast(out: &mut String, value: &[u8], metadata: &[u8], zone: TimeZone) -> Result<bool> {
    let reader = Reader { value, metadata };
    match reader.scalar(0).ok_or_else(malformed)? {
        Some(Scalar::Null) => return Ok(false),
        Some(Scalar::Text(text)) => out.push_str(text),
        Some(Scalar::Binary(bytes)) => out.push_str(&String::from_utf8_lossy(bytes)),
        Some(Scalar::Date(days)) => write_date(out, i64::from(days)),
        Some(Scalar::Timestamp(micros)) => {
            write_timestamp_at(out, micros, zone.offset_at(micros.div_euclid(1_000_000)));
        }
        Some(Scalar::TimestampNtz(micros)) => write_timestamp(out, micros),
        Some(Scalar::Float(value)) => write_float(out, value),
        Some(Scalar::Double(value)) => write_double(out, value),
        Some(scalar) => scalar.write(out),
        None => reader.write(out, 0, 0).ok_or_else(malformed)?,
    }
    Ok(true)
}

fn malformed() -> SparkError {
    SparkError::new("MALFORMED_VARIANT")
}

enum Scalar<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Float(f32),
    Double(f64),
    Decimal(i128, i8),
    Date(i32),
    Timestamp(i64),
    TimestampNtz(i64),
    Binary(&'a [u8]),
    Text(&'a str),
    Uuid(u128),
}

impl Scalar<'_> {
    fn write(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Scalar::Null => out.write_str("null"),
            Scalar::Boolean(value) => write!(out, "{value}"),
            Scalar::Integer(value) => write!(out, "{value}"),
            Scalar::Float(value) => {
                quoted_unless(value.is_finite(), out, |out| write_float(out, *value));
                Ok(())
            }
            Scalar::Double(value) => {
                quoted_unless(value.is_finite(), out, |out| write_double(out, *value));
                Ok(())
            }
            Scalar::Decimal(unscaled, scale) => {
                write_trimmed_decimal(out, *unscaled, *scale);
                Ok(())
            }
            Scalar::Date(days) => {
                quoted_unless(false, out, |out| write_date(out, i64::from(*days)));
                Ok(())
            }
            Scalar::Timestamp(micros) => {
                quoted_unless(false, out, |out| {
                    write_timestamp(out, *micros);
                    out.push_str("+00:00");
                });
                Ok(())
            }
            Scalar::TimestampNtz(micros) => {
                quoted_unless(false, out, |out| write_timestamp(out, *micros));
                Ok(())
            }
            Scalar::Binary(bytes) => {
                let text = base64::engine::general_purpose::STANDARD.encode(bytes);
                write!(out, "\"{text}\"")
            }
            Scalar::Text(text) => {
                write_quoted(out, text);
                Ok(())
            }
            Scalar::Uuid(value) => {
                let hex = format!("{value:032x}");
                write!(out, "\"{}-{}-{}-{}-{}\"", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
            }
        };
    }
}

fn quoted_unless(bare: bool, out: &mut String, write: impl FnOnce(&mut String)) {
    if bare {
        return write(out);
    }
    out.push('"');
    write(out);
    out.push('"');
}

fn write_trimmed_decimal(out: &mut String, mut unscaled: i128, mut scale: i8) {
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    write_plain_decimal(out, unscaled, scale);
}

/// Appends a JSON string.
fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Every read is checked; `None` means malformed bytes.
struct Reader<'a> {
    value: &'a [u8],
    metadata: &'a [u8],
}

fn unsigned(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0usize, |value, byte| (value << 8) | usize::from(*byte)))
}

impl<'a> Reader<'a> {
    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.value.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    /// The scalar at a position, or `Some(None)` for an object or an array.
    fn scalar(&self, at: usize) -> Option<Option<Scalar<'a>>> {
        let header = *self.value.get(at)?;
        let info = header >> 2;
        let data = at + 1;
        let text = |start: usize, length: usize| {
            let bytes = self.value.get(start..start.checked_add(length)?)?;
            std::str::from_utf8(bytes).ok().map(Scalar::Text)
        };
        let scale = || i8::try_from(*self.value.get(data)?).ok().filter(|scale| *scale <= 38);
        let scalar = match header & 3 {
            1 => text(data, usize::from(info))?,
            2 | 3 => return Some(None),
            _ => match info {
                0 => Scalar::Null,
                1 => Scalar::Boolean(true),
                2 => Scalar::Boolean(false),
                3 => Scalar::Integer(i64::from(i8::from_le_bytes(self.bytes(data)?))),
                4 => Scalar::Integer(i64::from(i16::from_le_bytes(self.bytes(data)?))),
                5 => Scalar::Integer(i64::from(i32::from_le_bytes(self.bytes(data)?))),
                6 => Scalar::Integer(i64::from_le_bytes(self.bytes(data)?)),
                7 => Scalar::Double(f64::from_le_bytes(self.bytes(data)?)),
                8 => Scalar::Decimal(i128::from(i32::from_le_bytes(self.bytes(data + 1)?)), scale()?),
                9 => Scalar::Decimal(i128::from(i64::from_le_bytes(self.bytes(data + 1)?)), scale()?),
                10 => Scalar::Decimal(i128::from_le_bytes(self.bytes(data + 1)?), scale()?),
                11 => Scalar::Date(i32::from_le_bytes(self.bytes(data)?)),
                12 => Scalar::Timestamp(i64::from_le_bytes(self.bytes(data)?)),
                13 => Scalar::TimestampNtz(i64::from_le_bytes(self.bytes(data)?)),
                14 => Scalar::Float(f32::from_le_bytes(self.bytes(data)?)),
                15 => {
                    let length = unsigned(self.value, data, 4)?;
                    Scalar::Binary(self.value.get(data + 4..(data + 4).checked_add(length)?)?)
                }
                16 => text(data + 4, unsigned(self.value, data, 4)?)?,
                20 => Scalar::Uuid(u128::from_be_bytes(self.bytes(data)?)),
                _ => return None,
            },
        };
        Some(Some(scalar))
    }

    fn write(&self, out: &mut String, at: usize, depth: usize) -> Option<()> {
        if let Some(scalar) = self.scalar(at)? {
            scalar.write(out);
            return Some(());
        }
        if depth >= MAX_DEPTH {
            return None;
        }
        let header = *self.value.get(at)?;
        let info = header >> 2;
        let object = header & 3 == 2;
        let offset_size = usize::from(info & 3) + 1;
        let (id_size, large) =
            if object { (usize::from(info >> 2 & 3) + 1, info >> 4 & 1 == 1) } else { (0, info >> 2 & 1 == 1) };
        let count_size = if large { 4 } else { 1 };
        let count = unsigned(self.value, at + 1, count_size)?;
        let ids = at + 1 + count_size;
        let offsets = ids.checked_add(count.checked_mul(id_size)?)?;
        let data = offsets.checked_add((count + 1).checked_mul(offset_size)?)?;
        out.push(if object { '{' } else { '[' });
        for i in 0..count {
            if i > 0 {
                out.push(',');
            }
            if object {
                write_quoted(out, self.field_name(unsigned(self.value, ids + i * id_size, id_size)?)?);
                out.push(':');
            }
            let child = data.checked_add(unsigned(self.value, offsets + i * offset_size, offset_size)?)?;
            self.write(out, child, depth + 1)?;
        }
        out.push(if object { '}' } else { ']' });
        Some(())
    }

    fn field_name(&self, id: usize) -> Option<&'a str> {
        let header = *self.metadata.first()?;
        if header & 0x0f != 1 {
            return None;
        }
        let size = usize::from(header >> 6) + 1;
        let count = unsigned(self.metadata, 1, size)?;
        if id >= count {
            return None;
        }
        let offsets = 1 + size;
        let names = offsets.checked_add((count + 1).checked_mul(size)?)?;
        let start = names.checked_add(unsigned(self.metadata, offsets + id * size, size)?)?;
        let end = names.checked_add(unsigned(self.metadata, offsets + (id + 1) * size, size)?)?;
        std::str::from_utf8(self.metadata.get(start..end)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
    }

    /// Value and metadata as Spark 4.2.1 encodes them, JSON, and the text of a cast.
    const CASES: &[(&str, &str, &str, Option<&str>)] = &[
        ("0578", "010000", r#""x""#, Some("x")),
        ("00", "010000", "null", None),
        ("3008867d021a9b0500", "010000", r#""2020-01-01 20:34:56.789+00:00""#, Some("2020-01-01 12:34:56.789")),
        ("34005cd44d139b0500", "010000", r#""2020-01-01 12:34:56""#, Some("2020-01-01 12:34:56")),
        ("2c56470000", "010000", r#""2020-01-01""#, Some("2020-01-01")),
        ("3c020000006162", "010000", r#""YWI=""#, Some("ab")),
        ("380000c03f", "010000", "1.5", Some("1.5")),
        ("1c000000000000f87f", "010000", r#""NaN""#, Some("NaN")),
        ("200210270000", "010000", "100", Some("100")),
        ("200801000000", "010000", "0.00000001", Some("0.00000001")),
        ("2800cb444271764eb6429d02000000000000", "010000", "12345678901234567890123", Some("12345678901234567890123")),
        (
            "0202010002000a0c011d71220a01c3a92f",
            "01020001026261",
            "{\"a\":\"q\\\"\\n\\u0001é/\",\"b\":1}",
            Some("{\"a\":\"q\\\"\\n\\u0001é/\",\"b\":1}"),
        ),
        (
            "030500010208111a04082002960000001c9eb59e94db2416491c0000000000408f40",
            "010000",
            "[true,false,1.5,1.2345678901234567E44,1000.0]",
            Some("[true,false,1.5,1.2345678901234567E44,1000.0]"),
        ),
        (
            "020301000202000b120c0103020002040c010c0202010300020c01",
            "010400010203046261636b",
            r#"{"a":[1,2],"b":1,"c":{"k":1}}"#,
            Some(r#"{"a":[1,2],"b":1,"c":{"k":1}}"#),
        ),
    ];

    #[test]
    fn variants_are_json() {
        for (value, metadata, json, _) in CASES {
            let mut out = String::new();
            write_json(&mut out, &hex(value), &hex(metadata)).unwrap();
            assert_eq!(&out, json);
        }
    }

    #[test]
    fn casts_show_bare_scalars() {
        let zone = TimeZone::parse("America/Los_Angeles").unwrap();
        for (value, metadata, _, text) in CASES {
            let mut out = String::new();
            let some = write_cast(&mut out, &hex(value), &hex(metadata), zone).unwrap();
            assert_eq!(some.then_some(out.as_str()), *text);
        }
    }

    #[test]
    fn malformed_bytes_fail() {
        for (value, metadata) in
            [("", "010000"), ("05", "010000"), ("0201000001", "010000"), ("03ff", "010000"), ("fc", "010000")]
        {
            let mut out = String::new();
            assert!(write_json(&mut out, &hex(value), &hex(metadata)).unwrap_err().is("MALFORMED_VARIANT"));
        }
    }
}
