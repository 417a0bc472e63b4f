//! `schema_of_variant`, and the types of variants.

use crate::cast::variant::Variants;
use crate::coercion;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, texts};
use crate::{ArgType, Body, KernelArgs, Nullability, Returns, Signature};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::variant::{MAX_DEPTH, Node, Scalar, Variant, malformed};
use firesteel_types::{DataType, text};
use std::collections::BTreeMap;
use std::fmt::Write;

function! {
    /// `schema_of_variant(v)`
    SCHEMA_OF_VARIANT = "schema_of_variant" in Variant, Signature::of(&[param("v", ArgType::Variant)])
        => Body::Scalar {
            returns: Returns::Type(DataType::STRING),
            nullable: Nullability::IfAnyArgument,
            kernel: schema_of_variant,
        };
    usage "The type of a variant, as SQL text.";
    since "4.0.0";
    example "SELECT schema_of_variant(parse_json('null'))" => "VOID";
    example "SELECT schema_of_variant(parse_json('[{\"b\":true,\"a\":0}]'))" => "ARRAY<OBJECT<a: BIGINT, b: BOOLEAN>>";
}

/// The type of a variant, or of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schema {
    Scalar(DataType),
    Array(Box<Schema>),
    /// Fields in the order of their names.
    Object(BTreeMap<String, Schema>),
    /// Values that have no type in common.
    Variant,
}

impl Schema {
    /// The schema of no values.
    pub const VOID: Self = Self::Scalar(DataType::Null);

    /// The schema of a variant.
    pub fn of(variant: &Variant<'_>) -> Result<Self> {
        Self::of_part(variant, 0)
    }

    fn of_part(variant: &Variant<'_>, depth: usize) -> Result<Self> {
        if depth >= MAX_DEPTH {
            return Err(malformed());
        }
        Ok(match variant.node().ok_or_else(malformed)? {
            Node::Scalar(scalar) => Self::Scalar(scalar_type(&scalar)),
            Node::Array(parts) => {
                let mut element = Self::VOID;
                for index in 0..parts.count() {
                    let part = parts.value(index).ok_or_else(malformed)?;
                    element = element.merge(Self::of_part(&part, depth + 1)?);
                }
                Self::Array(Box::new(element))
            }
            Node::Object(parts) => {
                let mut fields = BTreeMap::new();
                for index in 0..parts.count() {
                    let name = parts.name(index).ok_or_else(malformed)?;
                    let part = parts.value(index).ok_or_else(malformed)?;
                    fields.insert(name.to_string(), Self::of_part(&part, depth + 1)?);
                }
                Self::Object(fields)
            }
        })
    }

    /// The schema of the values of two schemas.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::VOID, schema) | (schema, Self::VOID) => schema,
            (Self::Array(a), Self::Array(b)) => Self::Array(Box::new(a.merge(*b))),
            (Self::Object(mut a), Self::Object(b)) => {
                for (name, schema) in b {
                    let merged = match a.remove(&name) {
                        Some(known) => known.merge(schema),
                        None => schema,
                    };
                    a.insert(name, merged);
                }
                Self::Object(a)
            }
            (Self::Scalar(a), Self::Scalar(b)) => common(&a, &b).map_or(Self::Variant, Self::Scalar),
            _ => Self::Variant,
        }
    }

    /// Bytes outside of the value itself.
    pub fn heap_size(&self) -> usize {
        match self {
            Self::Scalar(_) | Self::Variant => 0,
            Self::Array(element) => size_of::<Self>() + element.heap_size(),
            Self::Object(fields) => {
                fields.iter().map(|(name, s)| size_of::<(String, Self)>() + name.len() + s.heap_size()).sum()
            }
        }
    }

    /// Appends the schema as SQL text.
    pub fn write(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Scalar(data_type) => out.write_str(&data_type.sql()),
            Self::Variant => out.write_str("VARIANT"),
            Self::Array(element) => {
                out.push_str("ARRAY<");
                element.write(out);
                out.write_str(">")
            }
            Self::Object(fields) => {
                out.push_str("OBJECT<");
                for (index, (name, schema)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    out.push_str(&text::quote_if_needed(name));
                    out.push_str(": ");
                    schema.write(out);
                }
                out.write_str(">")
            }
        };
    }
}

impl Schema {
    /// The schema as bytes, which [`Schema::decode`] reads.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let text = |out: &mut Vec<u8>, text: &str| {
            out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        };
        match self {
            Self::Variant => out.push(0),
            Self::Scalar(data_type) => {
                out.push(1);
                text(out, &data_type.json());
            }
            Self::Array(element) => {
                out.push(2);
                element.encode(out);
            }
            Self::Object(fields) => {
                out.push(3);
                out.extend_from_slice(&u32::try_from(fields.len()).unwrap_or(u32::MAX).to_le_bytes());
                for (name, schema) in fields {
                    text(out, name);
                    schema.encode(out);
                }
            }
        }
    }

    /// The schema that the bytes begin with; None for bytes that are no schema.
    pub fn decode(bytes: &mut &[u8]) -> Option<Self> {
        fn number(bytes: &mut &[u8]) -> Option<usize> {
            let (head, rest) = bytes.split_first_chunk::<4>()?;
            *bytes = rest;
            usize::try_from(u32::from_le_bytes(*head)).ok()
        }
        fn text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
            let length = number(bytes)?;
            let (head, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            std::str::from_utf8(head).ok()
        }
        let (kind, rest) = bytes.split_first()?;
        *bytes = rest;
        Some(match kind {
            0 => Self::Variant,
            1 => Self::Scalar(DataType::from_json(text(bytes)?).ok()?),
            2 => Self::Array(Box::new(Self::decode(bytes)?)),
            _ => {
                let count = number(bytes)?;
                let mut fields = BTreeMap::new();
                for _ in 0..count {
                    let name = text(bytes)?.to_string();
                    fields.insert(name, Self::decode(bytes)?);
                }
                Self::Object(fields)
            }
        })
    }
}

impl Default for Schema {
    fn default() -> Self {
        Self::VOID
    }
}

/// The type of a scalar; zeros at the end of a decimal do not count.
fn scalar_type(scalar: &Scalar<'_>) -> DataType {
    match scalar {
        Scalar::Null => DataType::Null,
        Scalar::Boolean(_) => DataType::Boolean,
        Scalar::Integer(_) => DataType::Long,
        Scalar::Float(_) => DataType::Float,
        Scalar::Double(_) => DataType::Double,
        Scalar::Decimal(unscaled, scale) => {
            let (mut unscaled, mut scale) = (*unscaled, *scale);
            while scale > 0 && unscaled % 10 == 0 {
                unscaled /= 10;
                scale -= 1;
            }
            let digits = unscaled.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
            let precision = digits.max(u32::from(scale.unsigned_abs())).min(38);
            DataType::Decimal(u8::try_from(precision).unwrap_or(38), scale)
        }
        Scalar::Date(_) => DataType::Date,
        Scalar::Timestamp(_) => DataType::Timestamp,
        Scalar::TimestampNtz(_) => DataType::TimestampNtz,
        Scalar::Binary(_) => DataType::Binary,
        Scalar::Text(_) | Scalar::Uuid(_) => DataType::STRING,
    }
}

/// The type that values of both have without loss of digits.
fn common(a: &DataType, b: &DataType) -> Option<DataType> {
    if a == b {
        return Some(a.clone());
    }
    match (a, b) {
        (DataType::Decimal(p, s), DataType::Decimal(q, t)) => joined((*p, *s), (*q, *t)),
        (DataType::Decimal(p, s), DataType::Long) | (DataType::Long, DataType::Decimal(p, s)) => {
            joined((*p, *s), (20, 0))
        }
        (DataType::Decimal(..), t) | (t, DataType::Decimal(..)) if matches!(t, DataType::Float | DataType::Double) => {
            Some(DataType::Double)
        }
        _ => coercion::tightest_common_type(a, b, true),
    }
}

/// A decimal for both, or a double where it would be too wide.
fn joined((p, s): (u8, i8), (q, t): (u8, i8)) -> Option<DataType> {
    let scale = s.max(t);
    let whole = (i16::from(p) - i16::from(s)).max(i16::from(q) - i16::from(t));
    match u8::try_from(whole + i16::from(scale)) {
        Ok(precision) if precision <= 38 => Some(DataType::Decimal(precision, scale)),
        _ => Some(DataType::Double),
    }
}

fn schema_of_variant(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, is_constant) = array_or_constant(args, 0)?;
    let variants = Variants::of(&array)?;
    let mut text = String::new();
    texts(args, |row, out| {
        let Some(variant) = variants.get(if is_constant { 0 } else { row }) else { return Ok(None) };
        text.clear();
        Schema::of(&variant)?.write(&mut text);
        let _ = out.write_str(&text);
        Ok(Some(()))
    })
}
