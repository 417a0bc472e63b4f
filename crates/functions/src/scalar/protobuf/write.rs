//! Values to Protobuf's bytes.

use super::descriptor::{Kind, Label};
use super::shape::{Part, Shape, Value};
use super::wire::{put_bytes, put_tag, put_varint};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, Literal, StructField, StructType};

/// Fails unless structs of a type can be written as a message.
pub fn check(types: &StructType, shape: &Shape) -> Result<()> {
    for field in &types.fields {
        let Some(part) = shape.fields.iter().find(|part| part.field.name.eq_ignore_ascii_case(&field.name)) else {
            return Err(SparkError::new("PROTOBUF_FIELD_MISSING")
                .with("field", field.name.clone())
                .with("protobufSchema", shape.name.clone())
                .with("matchSize", "0")
                .with("matches", "[]"));
        };
        check_field(&field.data_type, part)?;
    }
    match shape.fields.iter().find(|part| part.field.label == Label::Required && column(types, part).is_none()) {
        Some(part) => {
            Err(SparkError::new("PROTOBUF_FIELD_MISSING_IN_SQL_SCHEMA").with("field", part.field.name.clone()))
        }
        None => Ok(()),
    }
}

fn column<'t>(types: &'t StructType, part: &Part) -> Option<(usize, &'t StructField)> {
    types.fields.iter().enumerate().find(|(_, f)| f.name.eq_ignore_ascii_case(&part.field.name))
}

fn check_field(data_type: &DataType, part: &Part) -> Result<()> {
    use DataType as T;
    let misfit = || {
        SparkError::new("CANNOT_CONVERT_SQL_TYPE_TO_PROTOBUF_FIELD_TYPE")
            .with("sqlColumn", format!("`{}`", part.field.name))
            .with("protobufColumn", format!("field '{}'", part.field.name))
            .with("protobufType", format!("{:?}", part.field.kind).to_uppercase())
            .with("sqlType", format!("\"{}\"", data_type.sql()))
    };
    let one = match (data_type, part.field.label) {
        (T::Map { key, value, .. }, _) => {
            let Value::Map(entry) = &part.value else { return Err(misfit()) };
            let [key_part, value_part] = entry.fields.as_slice() else { return Err(misfit()) };
            check_field(key, key_part)?;
            return check_field(value, value_part);
        }
        (T::Array { element, .. }, Label::Repeated) => element.as_ref(),
        (_, Label::Repeated) => return Err(misfit()),
        (other, _) => other,
    };
    let fits = match (one, &part.value) {
        (T::Struct(fields), Value::Message(shape)) => return check(fields, shape),
        (T::Timestamp, Value::Timestamp) | (T::DayTimeInterval(..), Value::Duration) => true,
        (t, Value::Enum(_)) => t.is_string() || *t == T::Integer,
        (T::Boolean, Value::Plain(Kind::Bool)) | (T::Binary, Value::Plain(Kind::Bytes)) => true,
        (T::Float, Value::Plain(Kind::Float)) | (T::Double, Value::Plain(Kind::Double)) => true,
        (T::Byte | T::Short | T::Integer, Value::Plain(kind)) => is_integer(kind),
        (T::Long, Value::Plain(kind)) => is_long(kind) || matches!(kind, Kind::Uint32 | Kind::Fixed32),
        (T::Decimal(20, 0), Value::Plain(kind)) => matches!(kind, Kind::Uint64 | Kind::Fixed64),
        (t, Value::Plain(Kind::String)) => t.is_string(),
        _ => false,
    };
    if fits { Ok(()) } else { Err(misfit()) }
}

fn is_integer(kind: &Kind) -> bool {
    matches!(kind, Kind::Int32 | Kind::Uint32 | Kind::Sint32 | Kind::Fixed32 | Kind::Sfixed32)
}

fn is_long(kind: &Kind) -> bool {
    matches!(kind, Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64)
}

/// Adds the fields of a struct, in the order of their numbers.
pub fn message(values: &[Literal], types: &StructType, shape: &Shape, out: &mut Vec<u8>) -> Result<()> {
    let mut parts: Vec<&Part> = shape.fields.iter().collect();
    parts.sort_by_key(|part| part.field.number);
    for part in parts {
        let value = column(types, part).and_then(|(index, _)| values.get(index)).filter(|value| !value.is_null());
        match value {
            Some(value) => field(value, part, out)?,
            None if part.field.label == Label::Required => {
                return Err(
                    SparkError::new("PROTOBUF_FIELD_MISSING_IN_SQL_SCHEMA").with("field", part.field.name.clone())
                );
            }
            None => {}
        }
    }
    Ok(())
}

fn field(value: &Literal, part: &Part, out: &mut Vec<u8>) -> Result<()> {
    let number = part.field.number;
    match (value, &part.value) {
        (Literal::Map(entries, ..), Value::Map(shape)) => {
            let [key_part, value_part] = shape.fields.as_slice() else { return Err(lost()) };
            for (key, value) in entries {
                let mut entry = Vec::new();
                single(key, key_part, true, &mut entry)?;
                single(value, value_part, true, &mut entry)?;
                put_bytes(number, &entry, out);
            }
            Ok(())
        }
        (Literal::Array(elements, _), _) if part.field.is_packed && !elements.is_empty() => {
            let mut list = Vec::new();
            elements.iter().try_for_each(|element| bare(element, part, &mut list))?;
            put_bytes(number, &list, out);
            Ok(())
        }
        (Literal::Array(elements, _), _) => elements.iter().try_for_each(|element| single(element, part, true, out)),
        _ => single(value, part, part.field.has_presence, out),
    }
}

fn lost() -> SparkError {
    SparkError::internal("a value that does not fit its field of a message")
}

/// Adds one value with its number; zeros only where they are wanted.
fn single(value: &Literal, part: &Part, keeps_zero: bool, out: &mut Vec<u8>) -> Result<()> {
    let mut bytes = Vec::new();
    bare(value, part, &mut bytes)?;
    let is_zero = bytes.iter().all(|byte| *byte == 0);
    let kind = match &part.value {
        Value::Plain(Kind::Double | Kind::Fixed64 | Kind::Sfixed64) => 1,
        Value::Plain(Kind::Float | Kind::Fixed32 | Kind::Sfixed32) => 5,
        Value::Plain(Kind::String | Kind::Bytes) if bytes.is_empty() && !keeps_zero => return Ok(()),
        Value::Plain(Kind::String | Kind::Bytes)
        | Value::Message(_)
        | Value::Timestamp
        | Value::Duration
        | Value::Map(_) => {
            put_bytes(part.field.number, &bytes, out);
            return Ok(());
        }
        Value::Plain(_) | Value::Enum(_) => 0,
    };
    if keeps_zero || !is_zero {
        put_tag(part.field.number, kind, out);
        out.extend_from_slice(&bytes);
    }
    Ok(())
}

/// Adds one value without its number and length.
fn bare(value: &Literal, part: &Part, out: &mut Vec<u8>) -> Result<()> {
    let whole = |out: &mut Vec<u8>, value: i64| match &part.value {
        Value::Plain(Kind::Sint32 | Kind::Sint64) => put_varint(((value << 1) ^ (value >> 63)) as u64, out),
        Value::Plain(Kind::Fixed32 | Kind::Sfixed32) => out.extend_from_slice(&(value as i32).to_le_bytes()),
        Value::Plain(Kind::Fixed64 | Kind::Sfixed64) => out.extend_from_slice(&value.to_le_bytes()),
        Value::Plain(Kind::Uint32) => put_varint((value as u32).into(), out),
        _ => put_varint(value as u64, out),
    };
    match (value, &part.value) {
        (Literal::String(text), Value::Enum(enumeration)) => {
            match enumeration.values.iter().find(|(name, _)| name == text) {
                Some((_, number)) => whole(out, (*number).into()),
                None => {
                    let names: Vec<&str> = enumeration.values.iter().map(|(name, _)| name.as_str()).collect();
                    return Err(SparkError::new("CANNOT_CONVERT_SQL_VALUE_TO_PROTOBUF_ENUM_TYPE")
                        .with("sqlColumn", format!("`{}`", part.field.name))
                        .with("protobufColumn", format!("field '{}'", part.field.name))
                        .with("data", text.clone())
                        .with("enumString", format!("\"{}\"", names.join("\", \""))));
                }
            }
        }
        (Literal::Byte(value), _) => whole(out, (*value).into()),
        (Literal::Short(value), _) => whole(out, (*value).into()),
        (Literal::Integer(value), _) => whole(out, (*value).into()),
        (Literal::Long(value), _) => whole(out, *value),
        (Literal::Decimal(value, ..), _) => whole(out, *value as i64),
        (Literal::Boolean(value), _) => out.push(u8::from(*value)),
        (Literal::Float(value), _) => out.extend_from_slice(&value.to_le_bytes()),
        (Literal::Double(value), _) => out.extend_from_slice(&value.to_le_bytes()),
        (Literal::String(text), _) => out.extend_from_slice(text.as_bytes()),
        (Literal::Binary(bytes), _) => out.extend_from_slice(bytes),
        (Literal::Timestamp(micros), Value::Timestamp) => seconds(*micros, micros.div_euclid(SECOND), out),
        // A duration's parts have one sign.
        (Literal::DayTimeInterval(micros, _), Value::Duration) => seconds(*micros, micros / SECOND, out),
        (Literal::Struct(values, types), Value::Message(shape)) => message(values, types, shape, out)?,
        _ => return Err(lost()),
    }
    Ok(())
}

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

fn seconds(micros: i64, whole: i64, out: &mut Vec<u8>) {
    let nanos = (micros - whole * SECOND) * 1000;
    for (number, value) in [(1, whole), (2, nanos)] {
        if value != 0 {
            put_tag(number, 0, out);
            put_varint(value as u64, out);
        }
    }
}
