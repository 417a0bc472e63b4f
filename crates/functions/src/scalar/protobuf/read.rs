//! Protobuf's bytes to values.

use super::descriptor::{Kind, Label};
use super::shape::{Part, Settings, Shape, Value};
use super::wire::{Raw, Wire};
use firesteel_types::{DataType, Literal};

/// The values of a message's fields; None where the bytes are no such message.
pub fn message(bytes: &[u8], shape: &Shape, settings: Settings) -> Option<Literal> {
    let mut found: Vec<Vec<Literal>> = vec![Vec::new(); shape.fields.len()];
    let mut entries: Vec<Vec<(Literal, Literal)>> = vec![Vec::new(); shape.fields.len()];
    let mut wire = Wire::new(bytes);
    while let Some((number, raw)) = wire.field()? {
        let Some(at) = shape.fields.iter().position(|part| part.field.number == number) else { continue };
        let part = &shape.fields[at];
        match (&part.value, raw) {
            (Value::Map(entry), Raw::Bytes(bytes)) => {
                let (key, value) = self::entry(bytes, entry, settings)?;
                // The last value of a key counts.
                match entries[at].iter_mut().find(|(known, _)| *known == key) {
                    Some((_, known)) => *known = value,
                    None => entries[at].push((key, value)),
                }
            }
            (Value::Plain(kind), Raw::Bytes(bytes)) if is_number(kind) => {
                packed(bytes, kind, |raw| {
                    found[at].push(single(raw, part, settings)?);
                    Some(())
                })?;
            }
            (Value::Enum(_), Raw::Bytes(bytes)) => {
                packed(bytes, &Kind::Int32, |raw| {
                    found[at].push(single(raw, part, settings)?);
                    Some(())
                })?;
            }
            _ => found[at].push(single(raw, part, settings)?),
        }
    }
    let mut values = Vec::with_capacity(found.len());
    for ((part, found), entries) in shape.fields.iter().zip(found).zip(entries) {
        values.push(match (&part.data_type, part.field.label) {
            (DataType::Map { key, value, .. }, _) => {
                Literal::Map(entries, key.as_ref().clone(), value.as_ref().clone())
            }
            (DataType::Array { element, .. }, Label::Repeated) => Literal::Array(found, element.as_ref().clone()),
            (_, label) => match found.into_iter().next_back() {
                // Without a mark of presence, zero is as good as nothing.
                Some(value) if part.field.has_presence || settings.defaults || !is_zero(&value, part) => value,
                None if label == Label::Required => return None,
                _ => missing(part, settings)?,
            },
        });
    }
    Some(Literal::Struct(values, shape.data_type.clone()))
}

/// An entry of a map; what it leaves out is zero.
fn entry(bytes: &[u8], shape: &Shape, settings: Settings) -> Option<(Literal, Literal)> {
    let [key_part, value_part] = shape.fields.as_slice() else { return None };
    let (mut key, mut value) = (None, None);
    let mut wire = Wire::new(bytes);
    while let Some((number, raw)) = wire.field()? {
        match number {
            1 => key = Some(single(raw, key_part, settings)?),
            2 => value = Some(single(raw, value_part, settings)?),
            _ => {}
        }
    }
    let value = match (value, &value_part.value) {
        (Some(value), _) => value,
        (None, Value::Message(shape)) => message(&[], shape, settings)?,
        (None, Value::Timestamp) => Literal::Timestamp(0),
        (None, Value::Duration) => Literal::DayTimeInterval(0, DataType::DAY_TIME),
        (None, _) => zero(value_part, settings)?,
    };
    Some((key.or_else(|| zero(key_part, settings))?, value))
}

fn is_number(kind: &Kind) -> bool {
    !matches!(kind, Kind::String | Kind::Bytes | Kind::Message(_) | Kind::Enum(_))
}

/// Calls `item` for the numbers of a packed list.
fn packed<'a>(bytes: &'a [u8], kind: &Kind, mut item: impl FnMut(Raw<'a>) -> Option<()>) -> Option<()> {
    let mut wire = Wire::new(bytes);
    while !wire.is_empty() {
        item(match kind {
            Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Raw::Fixed64(wire.fixed64()?),
            Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Raw::Fixed32(wire.fixed32()?),
            _ => Raw::Varint(wire.varint()?),
        })?;
    }
    Some(())
}

/// One value of a field.
fn single(raw: Raw<'_>, part: &Part, settings: Settings) -> Option<Literal> {
    Some(match (&part.value, raw) {
        (Value::Plain(kind), raw) => plain(raw, kind, settings)?,
        (Value::Enum(_), Raw::Varint(value)) if settings.enums_as_integers => Literal::Integer(value as i32),
        (Value::Enum(enumeration), Raw::Varint(value)) => {
            let value = value as i32;
            let name = enumeration.values.iter().find(|(_, number)| *number == value).map(|(name, _)| name.clone());
            Literal::String(name.unwrap_or_else(|| format!("UNKNOWN_ENUM_VALUE_{}_{value}", enumeration.name)))
        }
        (Value::Message(shape), Raw::Bytes(bytes)) => message(bytes, shape, settings)?,
        (Value::Timestamp, Raw::Bytes(bytes)) => Literal::Timestamp(micros(bytes)?),
        (Value::Duration, Raw::Bytes(bytes)) => Literal::DayTimeInterval(micros(bytes)?, DataType::DAY_TIME),
        _ => return None,
    })
}

/// The microseconds of seconds and nanoseconds.
fn micros(bytes: &[u8]) -> Option<i64> {
    let (mut seconds, mut nanos) = (0i64, 0i32);
    let mut wire = Wire::new(bytes);
    while let Some((number, raw)) = wire.field()? {
        match (number, raw) {
            (1, Raw::Varint(value)) => seconds = value as i64,
            (2, Raw::Varint(value)) => nanos = value as i32,
            _ => {}
        }
    }
    seconds.checked_mul(1_000_000)?.checked_add(i64::from(nanos / 1000))
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn plain(raw: Raw<'_>, kind: &Kind, settings: Settings) -> Option<Literal> {
    Some(match (kind, raw) {
        (Kind::Double, Raw::Fixed64(bits)) => Literal::Double(f64::from_bits(bits)),
        (Kind::Float, Raw::Fixed32(bits)) => Literal::Float(f32::from_bits(bits)),
        (Kind::Uint64, Raw::Varint(value)) | (Kind::Fixed64, Raw::Fixed64(value)) if settings.upcast => {
            Literal::Decimal(value.into(), 20, 0)
        }
        (Kind::Uint32, Raw::Varint(value)) if settings.upcast => Literal::Long((value as u32).into()),
        (Kind::Fixed32, Raw::Fixed32(value)) if settings.upcast => Literal::Long(value.into()),
        (Kind::Int64 | Kind::Uint64, Raw::Varint(value)) | (Kind::Fixed64 | Kind::Sfixed64, Raw::Fixed64(value)) => {
            Literal::Long(value as i64)
        }
        (Kind::Int32 | Kind::Uint32, Raw::Varint(value)) => Literal::Integer(value as i32),
        (Kind::Fixed32 | Kind::Sfixed32, Raw::Fixed32(value)) => Literal::Integer(value as i32),
        (Kind::Sint64, Raw::Varint(value)) => Literal::Long(zigzag(value)),
        (Kind::Sint32, Raw::Varint(value)) => Literal::Integer(zigzag(value) as i32),
        (Kind::Bool, Raw::Varint(value)) => Literal::Boolean(value != 0),
        (Kind::String, Raw::Bytes(bytes)) => Literal::String(String::from_utf8(bytes.to_vec()).ok()?),
        (Kind::Bytes, Raw::Bytes(bytes)) => Literal::Binary(bytes.to_vec()),
        _ => return None,
    })
}

/// Zero, or what is like it, of a field's values.
fn zero(part: &Part, settings: Settings) -> Option<Literal> {
    match &part.value {
        Value::Plain(Kind::String | Kind::Bytes) => plain(Raw::Bytes(&[]), plain_kind(part)?, settings),
        Value::Plain(Kind::Double | Kind::Fixed64 | Kind::Sfixed64) => {
            plain(Raw::Fixed64(0), plain_kind(part)?, settings)
        }
        Value::Plain(Kind::Float | Kind::Fixed32 | Kind::Sfixed32) => {
            plain(Raw::Fixed32(0), plain_kind(part)?, settings)
        }
        Value::Plain(kind) => plain(Raw::Varint(0), kind, settings),
        Value::Enum(enumeration) => {
            let first = enumeration.values.first().map_or(0, |(_, number)| *number);
            single(Raw::Varint(i64::from(first) as u64), part, settings)
        }
        _ => None,
    }
}

fn plain_kind(part: &Part) -> Option<&Kind> {
    if let Value::Plain(kind) = &part.value { Some(kind) } else { None }
}

fn is_zero(value: &Literal, part: &Part) -> bool {
    let settings = Settings {
        defaults: false,
        enums_as_integers: matches!(value, Literal::Integer(_)),
        upcast: matches!(value, Literal::Decimal(..))
            || matches!((value, plain_kind(part)), (Literal::Long(_), Some(Kind::Uint32 | Kind::Fixed32))),
    };
    zero(part, settings).is_some_and(|zero| zero == *value)
}

/// The value of a field that was left out.
fn missing(part: &Part, settings: Settings) -> Option<Literal> {
    if let Some(text) = &part.field.default {
        return default_of(text, part, settings);
    }
    if settings.defaults
        && !part.field.has_presence
        && let Some(zero) = zero(part, settings)
    {
        return Some(zero);
    }
    Some(Literal::Null(part.data_type.clone()))
}

/// The value that the description of a field gives.
fn default_of(text: &str, part: &Part, settings: Settings) -> Option<Literal> {
    match (&part.value, &part.data_type) {
        (Value::Enum(enumeration), _) => {
            let (_, number) = enumeration.values.iter().find(|(name, _)| name == text)?;
            single(Raw::Varint(i64::from(*number) as u64), part, settings)
        }
        (_, DataType::Boolean) => Some(Literal::Boolean(text == "true")),
        (_, DataType::Integer) => Some(Literal::Integer(text.parse::<i64>().ok()? as i32)),
        (_, DataType::Long) => Some(Literal::Long(text.parse::<i128>().ok()? as i64)),
        (_, DataType::Decimal(..)) => Some(Literal::Decimal(text.parse().ok()?, 20, 0)),
        (_, DataType::Float) => Some(Literal::Float(text.parse().ok()?)),
        (_, DataType::Double) => Some(Literal::Double(text.parse().ok()?)),
        (_, DataType::Binary) => Some(Literal::Binary(text.as_bytes().to_vec())),
        _ => Some(Literal::String(text.to_string())),
    }
}
