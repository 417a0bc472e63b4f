//! Columns of typed values from text.

use super::CsvOptions;
use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder,
    Int8Builder, Int16Builder, Int32Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
};
use firesteel_error::Result;
use firesteel_functions::cast::Mode;
use firesteel_functions::cast::array::{CastOptions, cast_array};
use firesteel_functions::cast::parse_datetime::{parse_date, parse_timestamp, parse_timestamp_without_zone};
use firesteel_functions::scalar::json::convert::written_decimal;
use firesteel_types::DataType;
use std::sync::Arc;

/// Collects the values of a column.
pub enum Column {
    Text(StringBuilder),
    Boolean(BooleanBuilder),
    Byte(Int8Builder),
    Short(Int16Builder),
    Integer(Int32Builder),
    Long(Int64Builder),
    Float(Float32Builder),
    Double(Float64Builder),
    Decimal(Decimal128Builder, u8, i8),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    TimestampNtz(TimestampMicrosecondBuilder),
    Binary(BinaryBuilder),
    /// Text that is cast as a whole.
    Other(StringBuilder, DataType),
}

/// What Java's `Double.parseDouble` reads.
pub(crate) fn java_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }),
        _ => {}
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let plain = unsigned.bytes().next().is_some_and(|b| b.is_ascii_digit() || b == b'.');
    if plain { number.parse().ok() } else { None }
}

/// A decimal, unscaled.
pub(crate) fn decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    written_decimal(text, precision, scale)
}

impl CsvOptions {
    /// A double, with the texts that stand for what is no number.
    pub(crate) fn double(&self, text: &str) -> Option<f64> {
        if text == self.nan {
            return Some(f64::NAN);
        }
        if text == self.positive_infinity {
            return Some(f64::INFINITY);
        }
        if text == self.negative_infinity {
            return Some(f64::NEG_INFINITY);
        }
        java_double(text)
    }
}

impl Column {
    /// An empty column of a type.
    pub fn new(data_type: &DataType, capacity: usize) -> Self {
        match data_type {
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => {
                Self::Text(StringBuilder::with_capacity(capacity, capacity * 8))
            }
            DataType::Boolean => Self::Boolean(BooleanBuilder::with_capacity(capacity)),
            DataType::Byte => Self::Byte(Int8Builder::with_capacity(capacity)),
            DataType::Short => Self::Short(Int16Builder::with_capacity(capacity)),
            DataType::Integer => Self::Integer(Int32Builder::with_capacity(capacity)),
            DataType::Long => Self::Long(Int64Builder::with_capacity(capacity)),
            DataType::Float => Self::Float(Float32Builder::with_capacity(capacity)),
            DataType::Double => Self::Double(Float64Builder::with_capacity(capacity)),
            DataType::Decimal(p, s) => Self::Decimal(Decimal128Builder::with_capacity(capacity), *p, *s),
            DataType::Date => Self::Date(Date32Builder::with_capacity(capacity)),
            DataType::Timestamp => Self::Timestamp(TimestampMicrosecondBuilder::with_capacity(capacity)),
            DataType::TimestampNtz => Self::TimestampNtz(TimestampMicrosecondBuilder::with_capacity(capacity)),
            DataType::Binary => Self::Binary(BinaryBuilder::new()),
            other => Self::Other(StringBuilder::new(), other.clone()),
        }
    }

    /// Adds a value; false where it is none of the column's type, and null was added.
    pub fn append(&mut self, text: Option<&str>, options: &CsvOptions) -> bool {
        macro_rules! put {
            ($builder:expr, $parse:expr) => {{
                let value = text.map($parse);
                let is_good = !matches!(value, Some(None));
                $builder.append_option(value.flatten());
                is_good
            }};
        }
        match self {
            Self::Text(builder) | Self::Other(builder, _) => {
                builder.append_option(text);
                true
            }
            Self::Binary(builder) => {
                builder.append_option(text.map(str::as_bytes));
                true
            }
            Self::Boolean(builder) => put!(builder, |t: &str| {
                if t.eq_ignore_ascii_case("true") {
                    Some(true)
                } else if t.eq_ignore_ascii_case("false") {
                    Some(false)
                } else {
                    None
                }
            }),
            Self::Byte(builder) => put!(builder, |t: &str| t.parse().ok()),
            Self::Short(builder) => put!(builder, |t: &str| t.parse().ok()),
            Self::Integer(builder) => put!(builder, |t: &str| t.parse().ok()),
            Self::Long(builder) => put!(builder, |t: &str| t.parse().ok()),
            Self::Float(builder) => put!(builder, |t: &str| options.double(t).map(|x| {
                // Parsed once, as a float is.
                t.trim().parse::<f32>().unwrap_or(x as f32)
            })),
            Self::Double(builder) => put!(builder, |t: &str| options.double(t)),
            Self::Decimal(builder, p, s) => {
                put!(builder, |t: &str| decimal(t, *p, *s))
            }
            Self::Date(builder) => put!(builder, |t: &str| match &options.date {
                Some(pattern) => pattern.parse_date(t),
                None => parse_date(t),
            }),
            Self::Timestamp(builder) => put!(builder, |t: &str| match &options.timestamp {
                Some(pattern) => pattern.parse_timestamp(t, options.zone),
                None => parse_timestamp(t, options.zone),
            }),
            Self::TimestampNtz(builder) => put!(builder, |t: &str| match &options.timestamp_ntz {
                Some(pattern) => pattern.parse_timestamp_ntz(t),
                None => parse_timestamp_without_zone(t),
            }),
        }
    }

    /// The values so far.
    pub fn finish(&mut self, options: &CsvOptions) -> Result<ArrayRef> {
        Ok(match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Boolean(builder) => Arc::new(builder.finish()),
            Self::Byte(builder) => Arc::new(builder.finish()),
            Self::Short(builder) => Arc::new(builder.finish()),
            Self::Integer(builder) => Arc::new(builder.finish()),
            Self::Long(builder) => Arc::new(builder.finish()),
            Self::Float(builder) => Arc::new(builder.finish()),
            Self::Double(builder) => Arc::new(builder.finish()),
            Self::Decimal(builder, p, s) => {
                Arc::new(builder.finish().with_precision_and_scale(*p, *s).map_err(crate::error::from_arrow)?)
            }
            Self::Date(builder) => Arc::new(builder.finish()),
            Self::Timestamp(builder) => Arc::new(builder.finish().with_timezone("UTC")),
            Self::TimestampNtz(builder) => Arc::new(builder.finish()),
            Self::Binary(builder) => Arc::new(builder.finish()),
            Self::Other(builder, data_type) => {
                let texts: ArrayRef = Arc::new(builder.finish());
                let cast = CastOptions { mode: Mode::Try, zone: options.zone };
                cast_array(&texts, &DataType::STRING, data_type, &cast)?
            }
        })
    }
}
