//! JSON values as columns of Spark types.

use super::formats::Formats;
use super::reader::Json;
use super::writer::write_json;
use crate::cast::digits;
use crate::cast::parse_datetime::{parse_date, parse_time, parse_timestamp, parse_timestamp_without_zone};
use crate::cast::parse_interval::{parse_calendar_interval, parse_day_time, parse_year_month};
use crate::cast::parse_number::BigDigits;
use crate::cast::variant::VariantsBuilder;
use crate::scalar::string::rows::internal;
use crate::scalar::variant::parse::{append_fraction, append_whole};
use arrow::array::builder::{BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow::array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalMonthDayNanoType, IntervalYearMonthType, Time64NanosecondType, TimestampMicrosecondType,
};
use arrow::array::{ArrayRef, ArrowPrimitiveType, ListArray, MapArray, NullArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, IntervalMonthDayNano};
use base64::Engine;
use firesteel_error::{Result, SparkError};
use firesteel_types::variant::VariantBuilder;
use firesteel_types::{DataType, StructType, TimeZone, arrow_mapping};
use std::sync::Arc;

/// How the conversion of a value went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Fine,
    /// Something inside is null because it could not be converted.
    Partial,
    /// The value itself is null because it could not be converted.
    Failed,
}

/// Converts JSON values.
pub struct Converter<'a> {
    pub formats: &'a Formats,
    pub zone: TimeZone,
}

type Column = (ArrayRef, Vec<Outcome>);

impl Converter<'_> {
    fn each<'j, T>(
        &self,
        values: &[Option<&'j Json<'j>>],
        mut append: impl FnMut(Option<T>),
        convert: impl Fn(&'j Json<'j>) -> Option<T>,
    ) -> Vec<Outcome> {
        values
            .iter()
            .map(|value| match value {
                None | Some(Json::Null) => {
                    append(None);
                    Outcome::Fine
                }
                Some(json) => {
                    let converted = convert(json);
                    let outcome = if converted.is_some() { Outcome::Fine } else { Outcome::Failed };
                    append(converted);
                    outcome
                }
            })
            .collect()
    }

    fn primitive<'j, T: ArrowPrimitiveType>(
        &self,
        values: &[Option<&'j Json<'j>>],
        data_type: &DataType,
        convert: impl Fn(&'j Json<'j>) -> Option<T::Native>,
    ) -> Result<Column> {
        let arrow_type = arrow_mapping::to_arrow(data_type);
        let mut builder = PrimitiveBuilder::<T>::with_capacity(values.len());
        let outcomes = self.each(values, |value| builder.append_option(value), convert);
        let array = builder.finish();
        let array: ArrayRef = Arc::new(array.with_data_type(arrow_type));
        Ok((array, outcomes))
    }

    /// The values as a column, with the outcome of each.
    pub fn column<'j>(&self, values: &[Option<&'j Json<'j>>], data_type: &DataType) -> Result<Column> {
        match data_type {
            DataType::Null => Ok((
                Arc::new(NullArray::new(values.len())),
                values
                    .iter()
                    .map(|v| if matches!(v, None | Some(Json::Null)) { Outcome::Fine } else { Outcome::Failed })
                    .collect(),
            )),
            DataType::Boolean => {
                let mut builder = BooleanBuilder::with_capacity(values.len());
                let outcomes = self.each(
                    values,
                    |value| builder.append_option(value),
                    |json| match json {
                        Json::Boolean(value) => Some(*value),
                        _ => None,
                    },
                );
                Ok((Arc::new(builder.finish()), outcomes))
            }
            // A byte may be given without a sign.
            DataType::Byte => self.primitive::<Int8Type>(values, data_type, |json| {
                whole(json).filter(|n| (-128..=255).contains(n)).map(|n| n as i8)
            }),
            DataType::Short => self.primitive::<Int16Type>(values, data_type, |json| whole(json)?.try_into().ok()),
            DataType::Integer => self.primitive::<Int32Type>(values, data_type, |json| whole(json)?.try_into().ok()),
            DataType::Long => self.primitive::<Int64Type>(values, data_type, whole),
            DataType::Float => self.primitive::<Float32Type>(values, data_type, |json| match json {
                Json::Whole(text) | Json::Fraction(text) => text.parse().ok(),
                other => self.non_number(other).map(|x| x as f32),
            }),
            DataType::Double => self.primitive::<Float64Type>(values, data_type, |json| match json {
                Json::Whole(text) | Json::Fraction(text) => {
                    digits::double(text.as_bytes()).or_else(|| text.parse().ok())
                }
                other => self.non_number(other),
            }),
            DataType::Decimal(precision, scale) => {
                self.primitive::<Decimal128Type>(values, data_type, |json| match json {
                    Json::Whole(text) | Json::Fraction(text) => digits::decimal(text.as_bytes(), *precision, *scale)
                        .or_else(|| BigDigits::parse(text)?.to_decimal(*precision, *scale)),
                    Json::Text(text) => written_decimal(text, *precision, *scale),
                    _ => None,
                })
            }
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => {
                let mut builder = StringBuilder::with_capacity(values.len(), values.len() * 16);
                for value in values {
                    match value {
                        None | Some(Json::Null) => builder.append_null(),
                        Some(Json::Text(text)) => builder.append_value(text),
                        Some(other) => {
                            let mut text = String::new();
                            write_json(&mut text, other);
                            builder.append_value(text);
                        }
                    }
                }
                Ok((Arc::new(builder.finish()), vec![Outcome::Fine; values.len()]))
            }
            DataType::Binary => {
                let mut builder = BinaryBuilder::new();
                let outcomes = self.each(
                    values,
                    |value: Option<Vec<u8>>| builder.append_option(value),
                    |json| decode_base64(text(json)?),
                );
                Ok((Arc::new(builder.finish()), outcomes))
            }
            DataType::Date => self.primitive::<Date32Type>(values, data_type, |json| self.day(text(json)?)),
            DataType::Timestamp => self.primitive::<TimestampMicrosecondType>(values, data_type, |json| match json {
                Json::Whole(_) => whole(json)?.checked_mul(1_000_000),
                other => self.moment(text(other)?),
            }),
            DataType::TimestampNtz => {
                self.primitive::<TimestampMicrosecondType>(values, data_type, |json| self.local_moment(text(json)?))
            }
            DataType::Time(_) => self.primitive::<Time64NanosecondType>(values, data_type, |json| {
                parse_time(text(json)?).map(|micros| micros * 1000)
            }),
            DataType::CalendarInterval => self.primitive::<IntervalMonthDayNanoType>(values, data_type, |json| {
                let (months, days, micros) = parse_calendar_interval(text(json)?).ok()?;
                Some(IntervalMonthDayNano::new(months, days, micros.checked_mul(1000)?))
            }),
            DataType::YearMonthInterval(start, end) => {
                self.primitive::<IntervalYearMonthType>(values, data_type, |json| {
                    parse_year_month(text(json)?, *start, *end).ok()
                })
            }
            DataType::DayTimeInterval(start, end) => {
                self.primitive::<DurationMicrosecondType>(values, data_type, |json| {
                    parse_day_time(text(json)?, *start, *end).ok()
                })
            }
            DataType::Array { element, .. } => self.arrays(values, data_type, element),
            DataType::Map { key, value, .. } if key.is_string() => self.maps(values, data_type, value),
            DataType::Struct(fields) => self.structs(values, fields),
            DataType::Udt { sql_type, .. } => self.column(values, sql_type),
            DataType::Variant => variants(values),
            other => Err(SparkError::unsupported(format!("values of type {other} in JSON"))),
        }
    }

    /// A day, by the format given or as casts read it.
    pub fn day(&self, text: &str) -> Option<i32> {
        match &self.formats.date {
            Some(pattern) => i32::try_from(pattern.scan(text).ok()?.day).ok(),
            None => parse_date(text),
        }
    }

    /// A moment, by the format given or as casts read it.
    pub fn moment(&self, text: &str) -> Option<i64> {
        match &self.formats.timestamp {
            Some(pattern) => pattern.scan(text).ok()?.instant(self.zone),
            None => parse_timestamp(text, self.zone),
        }
    }

    /// A moment of the wall clock, by the format given or as casts read it.
    pub fn local_moment(&self, text: &str) -> Option<i64> {
        match &self.formats.timestamp_ntz {
            Some(pattern) => pattern.scan(text).ok()?.local(),
            None => parse_timestamp_without_zone(text),
        }
    }

    fn non_number(&self, json: &Json<'_>) -> Option<f64> {
        match json {
            Json::NonNumber(value) => Some(*value),
            Json::Text(text) if self.formats.options.flag("allowNonNumericNumbers", true) => match text.as_ref() {
                "NaN" => Some(f64::NAN),
                "+INF" | "+Infinity" | "Infinity" => Some(f64::INFINITY),
                "-INF" | "-Infinity" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            _ => None,
        }
    }

    fn arrays<'j>(&self, values: &[Option<&'j Json<'j>>], data_type: &DataType, element: &DataType) -> Result<Column> {
        let mut elements = Vec::new();
        let mut lengths = Vec::with_capacity(values.len());
        let mut outcomes = Vec::with_capacity(values.len());
        let mut valid = Vec::with_capacity(values.len());
        for value in values {
            let before = elements.len();
            let (outcome, is_valid) = match value {
                None | Some(Json::Null) => (Outcome::Fine, false),
                Some(Json::Array(items)) => {
                    elements.extend(items.iter().map(Some));
                    (Outcome::Fine, true)
                }
                Some(_) => (Outcome::Failed, false),
            };
            lengths.push(elements.len() - before);
            outcomes.push(outcome);
            valid.push(is_valid);
        }
        let (column, inner) = self.column(&elements, element)?;
        let mut at = 0;
        for (row, length) in lengths.iter().enumerate() {
            // An element that fails takes the array with it.
            match inner[at..at + length].iter().max() {
                Some(Outcome::Failed) => {
                    outcomes[row] = Outcome::Failed;
                    valid[row] = false;
                }
                Some(Outcome::Partial) => outcomes[row] = Outcome::Partial,
                _ => {}
            }
            at += length;
        }
        let ArrowType::List(field) = arrow_mapping::to_arrow(data_type) else {
            return Err(SparkError::internal("an array is a list"));
        };
        let list =
            ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), column, Some(NullBuffer::from(valid)))
                .map_err(internal)?;
        Ok((Arc::new(list), outcomes))
    }

    fn maps<'j>(&self, values: &[Option<&'j Json<'j>>], data_type: &DataType, value: &DataType) -> Result<Column> {
        let mut keys = StringBuilder::new();
        let mut entries = Vec::new();
        let mut lengths = Vec::with_capacity(values.len());
        let mut outcomes = Vec::with_capacity(values.len());
        let mut valid = Vec::with_capacity(values.len());
        for json in values {
            let before = entries.len();
            let (outcome, is_valid) = match json {
                None | Some(Json::Null) => (Outcome::Fine, false),
                Some(Json::Object(fields)) => {
                    for (name, field) in fields {
                        keys.append_value(name);
                        entries.push(Some(field));
                    }
                    (Outcome::Fine, true)
                }
                Some(_) => (Outcome::Failed, false),
            };
            lengths.push(entries.len() - before);
            outcomes.push(outcome);
            valid.push(is_valid);
        }
        let (column, inner) = self.column(&entries, value)?;
        let mut at = 0;
        for (row, length) in lengths.iter().enumerate() {
            match inner[at..at + length].iter().max() {
                Some(Outcome::Failed) => {
                    outcomes[row] = Outcome::Failed;
                    valid[row] = false;
                }
                Some(Outcome::Partial) => outcomes[row] = Outcome::Partial,
                _ => {}
            }
            at += length;
        }
        let ArrowType::Map(field, sorted) = arrow_mapping::to_arrow(data_type) else {
            return Err(SparkError::internal("a map is a map"));
        };
        let ArrowType::Struct(fields) = field.data_type().clone() else {
            return Err(SparkError::internal("a map has entries"));
        };
        let entries = StructArray::try_new(fields, vec![Arc::new(keys.finish()), column], None).map_err(internal)?;
        let map = MapArray::try_new(
            field,
            OffsetBuffer::from_lengths(lengths),
            entries,
            Some(NullBuffer::from(valid)),
            sorted,
        )
        .map_err(internal)?;
        Ok((Arc::new(map), outcomes))
    }

    /// Objects as structs.
    pub fn structs<'j>(&self, values: &[Option<&'j Json<'j>>], fields: &StructType) -> Result<Column> {
        let mut outcomes = Vec::with_capacity(values.len());
        let mut valid = Vec::with_capacity(values.len());
        for value in values {
            let (outcome, is_valid) = match value {
                None | Some(Json::Null) => (Outcome::Fine, false),
                Some(Json::Object(_)) => (Outcome::Fine, true),
                Some(_) => (Outcome::Failed, false),
            };
            outcomes.push(outcome);
            valid.push(is_valid);
        }
        let mut columns = Vec::with_capacity(fields.fields.len());
        for field in &fields.fields {
            let inside: Vec<Option<&Json<'_>>> = values
                .iter()
                .map(|value| match value {
                    // The last field of a name counts.
                    Some(Json::Object(entries)) => {
                        entries.iter().rev().find(|(name, _)| *name == field.name).map(|(_, json)| json)
                    }
                    _ => None,
                })
                .collect();
            let (column, inner) = self.column(&inside, &field.data_type)?;
            for (outcome, inner) in outcomes.iter_mut().zip(inner) {
                if inner != Outcome::Fine && *outcome == Outcome::Fine {
                    *outcome = Outcome::Partial;
                }
            }
            columns.push(column);
        }
        let ArrowType::Struct(arrow_fields) = arrow_mapping::to_arrow(&DataType::Struct(Arc::new(fields.clone())))
        else {
            return Err(SparkError::internal("a struct is a struct"));
        };
        let nulls = Some(NullBuffer::from(valid));
        let array = if arrow_fields.is_empty() {
            StructArray::new_empty_fields(values.len(), nulls)
        } else {
            StructArray::try_new(arrow_fields, columns, nulls).map_err(internal)?
        };
        Ok((Arc::new(array), outcomes))
    }
}

/// A decimal as readers of files take it from text: with commas between digits, but without blanks.
pub fn written_decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    if text.bytes().any(|b| b <= b' ') {
        return None;
    }
    BigDigits::parse(&text.replace(',', ""))?.to_decimal(precision, scale)
}

/// The bytes of a text in base 64, with blanks between groups of four at most.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut quads = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        if byte > b' ' {
            quads.push(byte);
        } else if quads.len() % 4 != 0 {
            return None;
        }
    }
    base64::engine::general_purpose::STANDARD.decode(&quads).ok()
}

/// JSON values as variants; the null of JSON is a value.
fn variants(values: &[Option<&Json<'_>>]) -> Result<Column> {
    let mut out = VariantsBuilder::default();
    let mut builder = VariantBuilder::new(false);
    let mut outcomes = Vec::with_capacity(values.len());
    for value in values {
        let outcome = match value {
            None => {
                out.append_null();
                Outcome::Fine
            }
            Some(json) => match append_variant(&mut builder, json) {
                Ok(()) => {
                    out.append(&mut builder)?;
                    Outcome::Fine
                }
                Err(_) => {
                    builder.clear();
                    out.append_null();
                    Outcome::Failed
                }
            },
        };
        outcomes.push(outcome);
    }
    Ok((out.finish()?, outcomes))
}

fn append_variant(builder: &mut VariantBuilder, json: &Json<'_>) -> Result<()> {
    match json {
        Json::Null => builder.append_null(),
        Json::Boolean(value) => builder.append_boolean(*value),
        Json::Whole(text) => append_whole(builder, text),
        Json::Fraction(text) => append_fraction(builder, text),
        Json::NonNumber(value) => builder.append_double(*value),
        Json::Text(text) => builder.append_text(text),
        Json::Array(values) => {
            let start = builder.position();
            let mut offsets = Vec::with_capacity(values.len());
            for value in values {
                offsets.push(builder.position() - start);
                append_variant(builder, value)?;
            }
            builder.finish_array(start, &offsets);
        }
        Json::Object(entries) => {
            let start = builder.position();
            let mut fields = Vec::with_capacity(entries.len());
            for (name, value) in entries {
                fields.push(builder.field(start, name));
                append_variant(builder, value)?;
            }
            builder.finish_object(start, &mut fields)?;
        }
    }
    Ok(())
}

fn whole(json: &Json<'_>) -> Option<i64> {
    match json {
        Json::Whole(text) => digits::whole(text.as_bytes()),
        _ => None,
    }
}

fn text<'j>(json: &'j Json<'j>) -> Option<&'j str> {
    match json {
        Json::Text(text) => Some(text),
        _ => None,
    }
}
