//! Literals.
//!
//! The types of nested literals stand in `data_type` (clients from 4.1) or in
//! deprecated fields of the nested messages (all Python clients).

use super::types::{data_type, decimal_type, time_type};
use super::{not_set, with_stack};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_proto::connect as proto;
use firesteel_types::{DataType, DayTimeField, Literal, StructField, StructType, YearMonthField};
use proto::expression::literal::{LiteralType, specialized_array::ValueType};
use proto::expression::{Literal as Message, literal};
use std::sync::Arc;

/// The value of a message.
pub(super) fn literal(message: &Message) -> Result<Literal> {
    let declared = message.data_type.as_ref().map(data_type).transpose()?;
    with_stack(|| decode(message, declared.as_ref()))
}

/// The value of a field that must be there.
pub(super) fn required(message: Option<&Message>) -> Result<Literal> {
    literal(message.ok_or_else(absent)?)
}

fn decode(message: &Message, declared: Option<&DataType>) -> Result<Literal> {
    let value = message.literal_type.as_ref().ok_or_else(absent)?;
    Ok(match value {
        LiteralType::Null(of) => Literal::Null(match (&of.kind, declared) {
            (None, Some(declared)) => declared.clone(),
            _ => data_type(of)?,
        }),
        LiteralType::Binary(bytes) => Literal::Binary(bytes.to_vec()),
        LiteralType::Boolean(value) => Literal::Boolean(*value),
        LiteralType::Byte(value) => Literal::Byte(narrow(*value, "BYTE")?),
        LiteralType::Short(value) => Literal::Short(narrow(*value, "SHORT")?),
        LiteralType::Integer(value) => Literal::Integer(*value),
        LiteralType::Long(value) => Literal::Long(*value),
        LiteralType::Float(value) => Literal::Float(*value),
        LiteralType::Double(value) => Literal::Double(*value),
        LiteralType::Decimal(value) => decimal(value)?,
        LiteralType::String(value) => Literal::String(value.clone()),
        LiteralType::Date(days) => Literal::Date(*days),
        LiteralType::Timestamp(micros) => Literal::Timestamp(*micros),
        LiteralType::TimestampNtz(micros) => Literal::TimestampNtz(*micros),
        LiteralType::CalendarInterval(value) => Literal::CalendarInterval(value.months, value.days, value.microseconds),
        LiteralType::YearMonthInterval(months) => Literal::YearMonthInterval(
            *months,
            match declared {
                Some(of @ DataType::YearMonthInterval(..)) => of.clone(),
                _ => DataType::YearMonthInterval(YearMonthField::Year, YearMonthField::Month),
            },
        ),
        LiteralType::DayTimeInterval(micros) => Literal::DayTimeInterval(
            *micros,
            match declared {
                Some(of @ DataType::DayTimeInterval(..)) => of.clone(),
                _ => DataType::DayTimeInterval(DayTimeField::Day, DayTimeField::Second),
            },
        ),
        LiteralType::Array(value) => array(value, declared)?,
        LiteralType::Map(value) => map(value, declared)?,
        LiteralType::Struct(value) => structure(value, declared)?,
        LiteralType::SpecializedArray(value) => specialized(value)?,
        LiteralType::Time(value) => match time_type(value.precision)? {
            DataType::Time(precision) => Literal::Time(value.nano, precision),
            _ => return Err(unsupported("TIME")),
        },
        LiteralType::TimestampNtzNanos(_) => {
            return Err(SparkError::unsupported("TIMESTAMP_NTZ literals of nanoseconds"));
        }
        LiteralType::TimestampLtzNanos(_) => {
            return Err(SparkError::unsupported("TIMESTAMP_LTZ literals of nanoseconds"));
        }
    })
}

fn absent() -> SparkError {
    unsupported("LITERALTYPE_NOT_SET(0)")
}

fn not_a_number(text: &str) -> SparkError {
    SparkError::plain(ExceptionClass::NumberFormat, format!("{text:.60} is not a decimal number"))
}

fn unsupported(kind: &str) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.UNSUPPORTED_LITERAL_TYPE").with("typeInfo", kind)
}

fn narrow<T: TryFrom<i32>>(value: i32, kind: &str) -> Result<T> {
    T::try_from(value).map_err(|_| unsupported(&format!("{kind} {value}")))
}

/// A decimal from its text; precision and scale are at least those of the text.
fn decimal(message: &literal::Decimal) -> Result<Literal> {
    let text = message.value.trim();
    let (unscaled, digits, places) = parse_decimal(text).ok_or_else(|| not_a_number(text))?;
    // As in Spark, a declared precision or scale is used only where it holds the value.
    let scale = message.scale.unwrap_or(places).max(places);
    let unscaled = rescale(unscaled, places, scale).ok_or_else(|| not_a_number(text))?;
    let needed = decimal_digits(unscaled).max(digits).max(scale);
    let precision = message.precision.unwrap_or(needed).max(needed);
    match decimal_type(Some(precision), Some(scale))? {
        DataType::Decimal(precision, scale) => Ok(Literal::Decimal(unscaled, precision, scale)),
        _ => Err(unsupported("DECIMAL")),
    }
}

/// Unscaled value, number of digits and scale of a plain or scientific notation.
fn parse_decimal(text: &str) -> Option<(i128, i32, i32)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if fraction.starts_with(['+', '-']) || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let joined = format!("{whole}{fraction}");
    let unscaled: i128 = joined.parse().ok()?;
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    if scale < 0 {
        // Spark has no negative scales in literals: 1E3 is 1000.
        let unscaled = rescale(unscaled, scale, 0)?;
        return Some((unscaled, decimal_digits(unscaled), 0));
    }
    Some((unscaled, decimal_digits(unscaled).max(scale), scale))
}

fn decimal_digits(unscaled: i128) -> i32 {
    unscaled.unsigned_abs().checked_ilog10().map_or(1, |log| log as i32 + 1)
}

fn rescale(unscaled: i128, from: i32, to: i32) -> Option<i128> {
    let factor = 10_i128.checked_pow(from.abs_diff(to))?;
    if to >= from { unscaled.checked_mul(factor) } else { (unscaled % factor == 0).then_some(unscaled / factor) }
}

fn elements(messages: &[Message], of: Option<&DataType>) -> Result<Vec<Literal>> {
    messages.iter().map(|message| element(message, of)).collect()
}

fn element(message: &Message, of: Option<&DataType>) -> Result<Literal> {
    let own = message.data_type.as_ref().map(data_type).transpose()?;
    with_stack(|| decode(message, own.as_ref().or(of)))
}

/// The type of elements of which none says it: that of the first that is not null.
fn common_type(values: &[Literal]) -> Option<DataType> {
    values.iter().map(Literal::data_type).find(|of| !of.is_null()).or_else(|| values.first().map(Literal::data_type))
}

fn array(message: &literal::Array, declared: Option<&DataType>) -> Result<Literal> {
    let of = match (declared, &message.element_type) {
        (Some(DataType::Array { element, .. }), _) => Some(element.as_ref().clone()),
        (Some(other), _) => return Err(incompatible(other, "ARRAY")),
        (None, Some(of)) if of.kind.is_some() => Some(data_type(of)?),
        (None, _) => None,
    };
    let values = elements(&message.elements, of.as_ref())?;
    let of = of
        .or_else(|| common_type(&values))
        .ok_or_else(|| SparkError::new("CONNECT_INVALID_PLAN.ARRAY_LITERAL_MISSING_DATA_TYPE"))?;
    Ok(Literal::Array(values, of))
}

fn map(message: &literal::Map, declared: Option<&DataType>) -> Result<Literal> {
    let (key, value) = match declared {
        Some(DataType::Map { key, value, .. }) => (Some(key.as_ref().clone()), Some(value.as_ref().clone())),
        Some(other) => return Err(incompatible(other, "MAP")),
        None => {
            let of = |message: &Option<proto::DataType>| {
                message.as_ref().filter(|of| of.kind.is_some()).map(data_type).transpose()
            };
            (of(&message.key_type)?, of(&message.value_type)?)
        }
    };
    if message.keys.len() != message.values.len() {
        return Err(super::assertion(format!(
            "a map literal has {} keys and {} values",
            message.keys.len(),
            message.values.len()
        )));
    }
    let keys = elements(&message.keys, key.as_ref())?;
    let values = elements(&message.values, value.as_ref())?;
    let missing = || SparkError::new("CONNECT_INVALID_PLAN.MAP_LITERAL_MISSING_DATA_TYPE");
    let key = key.or_else(|| common_type(&keys)).ok_or_else(missing)?;
    let value = value.or_else(|| common_type(&values)).ok_or_else(missing)?;
    Ok(Literal::Map(keys.into_iter().zip(values).collect(), key, value))
}

fn structure(message: &literal::Struct, declared: Option<&DataType>) -> Result<Literal> {
    let of = match (declared, &message.struct_type) {
        (Some(DataType::Struct(fields)), _) => fields.clone(),
        (Some(other), _) => return Err(incompatible(other, "STRUCT")),
        (None, Some(of)) => match data_type(of)? {
            DataType::Struct(fields) => fields,
            other => return Err(incompatible(&other, "STRUCT")),
        },
        (None, None) => return Err(SparkError::new("CONNECT_INVALID_PLAN.STRUCT_LITERAL_MISSING_DATA_TYPE")),
    };
    if of.fields.len() != message.elements.len() {
        return Err(super::assertion(format!(
            "a struct literal has {} fields and {} values",
            of.fields.len(),
            message.elements.len()
        )));
    }
    let values: Vec<Literal> = message
        .elements
        .iter()
        .zip(&of.fields)
        .map(|(message, field)| element(message, Some(&field.data_type)))
        .collect::<Result<_>>()?;
    // A field of no type takes that of its value.
    let fields = of.fields.iter().zip(&values).map(|(field, value)| match field.data_type {
        DataType::Null if !value.is_null() => StructField { data_type: value.data_type(), ..field.clone() },
        _ => field.clone(),
    });
    Ok(Literal::Struct(values.clone(), Arc::new(StructType::new(fields.collect()))))
}

fn specialized(message: &literal::SpecializedArray) -> Result<Literal> {
    let values =
        message.value_type.as_ref().ok_or_else(|| not_set("Expression.Literal.SpecializedArray", "value_type"))?;
    Ok(match values {
        ValueType::Bools(array) => {
            Literal::Array(array.values.iter().map(|value| Literal::Boolean(*value)).collect(), DataType::Boolean)
        }
        ValueType::Ints(array) => {
            Literal::Array(array.values.iter().map(|value| Literal::Integer(*value)).collect(), DataType::Integer)
        }
        ValueType::Longs(array) => {
            Literal::Array(array.values.iter().map(|value| Literal::Long(*value)).collect(), DataType::Long)
        }
        ValueType::Floats(array) => {
            Literal::Array(array.values.iter().map(|value| Literal::Float(*value)).collect(), DataType::Float)
        }
        ValueType::Doubles(array) => {
            Literal::Array(array.values.iter().map(|value| Literal::Double(*value)).collect(), DataType::Double)
        }
        ValueType::Strings(array) => {
            Literal::Array(array.values.iter().map(|value| Literal::String(value.clone())).collect(), DataType::STRING)
        }
    })
}

fn incompatible(declared: &DataType, kind: &str) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.INCOMPATIBLE_LITERAL_DATA_TYPE")
        .with("dataTypeKindCase", declared.type_name().to_uppercase())
        .with("literalTypeCase", kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal_of(value: &str, precision: Option<i32>, scale: Option<i32>) -> Literal {
        decimal(&literal::Decimal { value: value.into(), precision, scale }).unwrap()
    }

    #[test]
    fn decimals_take_their_type_from_the_text() {
        assert_eq!(decimal_of("1.50", None, None), Literal::Decimal(150, 3, 2));
        assert_eq!(decimal_of("-0.001", None, None), Literal::Decimal(-1, 3, 3));
        assert_eq!(decimal_of("1E+3", None, None), Literal::Decimal(1000, 4, 0));
        assert_eq!(decimal_of("1.5", Some(10), Some(4)), Literal::Decimal(15000, 10, 4));
        assert_eq!(decimal_of("1.10", Some(10), Some(0)), Literal::Decimal(110, 10, 2));
    }

    #[test]
    fn nonsense_is_no_decimal() {
        for value in ["", "x", "1.-5", "--1", "1e99", "1.2.3"] {
            assert!(
                decimal(&literal::Decimal { value: value.into(), precision: None, scale: None }).is_err(),
                "{value}"
            );
        }
    }

    #[test]
    fn element_types_are_read_from_both_places() {
        let int = |value| Message { literal_type: Some(LiteralType::Integer(value)), data_type: None };
        let kind = |kind| proto::DataType { kind: Some(kind) };
        let of = kind(proto::data_type::Kind::Integer(Default::default()));
        let deprecated = literal::Array { element_type: Some(of.clone()), elements: vec![int(1)] };
        let old = Message { literal_type: Some(LiteralType::Array(deprecated)), data_type: None };
        let array =
            proto::data_type::Array { element_type: Some(Box::new(of)), contains_null: false, ..Default::default() };
        let new = Message {
            literal_type: Some(LiteralType::Array(literal::Array { element_type: None, elements: vec![int(1)] })),
            data_type: Some(kind(proto::data_type::Kind::Array(Box::new(array)))),
        };
        assert_eq!(literal(&old).unwrap(), literal(&new).unwrap());
    }
}
