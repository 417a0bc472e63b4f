//! Variants as JSON text.

use crate::moment_text::{write_date, write_timestamp, write_timestamp_at};
use crate::number_text::{write_double, write_float, write_plain_decimal};
use crate::time_zone::TimeZone;
use crate::variant::{MAX_DEPTH, Node, Scalar, Variant, malformed};
use base64::Engine;
use firesteel_error::Result;
use std::fmt::Write;

/// Appends a variant as compact JSON, timestamps with the zone's offset.
pub fn write_json(out: &mut String, value: &[u8], metadata: &[u8], zone: TimeZone) -> Result<()> {
    write_part(out, &Variant::new(value, metadata), zone)
}

/// Appends a part of a variant as compact JSON, timestamps with the zone's offset.
pub fn write_part(out: &mut String, variant: &Variant<'_>, zone: TimeZone) -> Result<()> {
    write_variant(out, variant, zone, 0).ok_or_else(malformed)
}

/// Appends a variant as a cast to string gives it: a lone string or timestamp without quotes,
/// timestamps in the zone. False, and nothing written, for the JSON null.
pub fn write_cast(out: &mut String, value: &[u8], metadata: &[u8], zone: TimeZone) -> Result<bool> {
    write_part_cast(out, &Variant::new(value, metadata), zone)
}

/// As [`write_cast`], for a part of a variant.
pub fn write_part_cast(out: &mut String, variant: &Variant<'_>, zone: TimeZone) -> Result<bool> {
    let scalar = match variant.node().ok_or_else(malformed)? {
        Node::Scalar(scalar) => Some(scalar),
        _ => None,
    };
    match scalar {
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
        Some(scalar) => scalar.write(out, zone),
        None => write_variant(out, variant, zone, 0).ok_or_else(malformed)?,
    }
    Ok(true)
}

impl Scalar<'_> {
    /// Appends the value as JSON, a timestamp with the zone's offset.
    pub fn write(&self, out: &mut String, zone: TimeZone) {
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
                let offset = zone.offset_at(micros.div_euclid(1_000_000));
                quoted_unless(false, out, |out| write_timestamp_at(out, *micros, offset));
                out.pop();
                let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
                write!(out, "{sign}{:02}:{:02}\"", minutes / 60, minutes % 60)
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

fn write_variant(out: &mut String, variant: &Variant<'_>, zone: TimeZone, depth: usize) -> Option<()> {
    if depth >= MAX_DEPTH {
        return None;
    }
    match variant.node()? {
        Node::Scalar(scalar) => scalar.write(out, zone),
        Node::Array(parts) => {
            out.push('[');
            for i in 0..parts.count() {
                if i > 0 {
                    out.push(',');
                }
                write_variant(out, &parts.value(i)?, zone, depth + 1)?;
            }
            out.push(']');
        }
        Node::Object(parts) => {
            out.push('{');
            for i in 0..parts.count() {
                if i > 0 {
                    out.push(',');
                }
                write_quoted(out, parts.name(i)?);
                out.push(':');
                write_variant(out, &parts.value(i)?, zone, depth + 1)?;
            }
            out.push('}');
        }
    }
    Some(())
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
            write_json(&mut out, &hex(value), &hex(metadata), TimeZone::UTC).unwrap();
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
            let written = write_json(&mut out, &hex(value), &hex(metadata), TimeZone::UTC);
            assert!(written.unwrap_err().is("MALFORMED_VARIANT"));
        }
    }
}
