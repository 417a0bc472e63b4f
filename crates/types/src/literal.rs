//! Literal values: what a plan or a default can hold.

mod array;
mod text;

use crate::{DataType, StructType};
use std::sync::Arc;

/// A value with its Spark type.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A null of a type.
    Null(DataType),
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Integer(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    /// Unscaled value, precision, scale.
    Decimal(i128, u8, i8),
    String(String),
    Binary(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since the epoch, UTC.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 00:00 on the wall clock.
    TimestampNtz(i64),
    /// Nanoseconds since midnight, precision.
    Time(i64, u8),
    /// Months, days, microseconds.
    CalendarInterval(i32, i32, i64),
    /// Months, of the given interval type.
    YearMonthInterval(i32, DataType),
    /// Microseconds, of the given interval type.
    DayTimeInterval(i64, DataType),
    /// Elements of the element type.
    Array(Vec<Literal>, DataType),
    /// Keys and values in order, key type, value type.
    Map(Vec<(Literal, Literal)>, DataType, DataType),
    Struct(Vec<Literal>, Arc<StructType>),
}

impl Literal {
    pub fn is_null(&self) -> bool {
        matches!(self, Literal::Null(_))
    }

    /// The Spark type of the value.
    pub fn data_type(&self) -> DataType {
        match self {
            Literal::Null(t) => t.clone(),
            Literal::Boolean(_) => DataType::Boolean,
            Literal::Byte(_) => DataType::Byte,
            Literal::Short(_) => DataType::Short,
            Literal::Integer(_) => DataType::Integer,
            Literal::Long(_) => DataType::Long,
            Literal::Float(_) => DataType::Float,
            Literal::Double(_) => DataType::Double,
            Literal::Decimal(_, p, s) => DataType::Decimal(*p, *s),
            Literal::String(_) => DataType::STRING,
            Literal::Binary(_) => DataType::Binary,
            Literal::Date(_) => DataType::Date,
            Literal::Timestamp(_) => DataType::Timestamp,
            Literal::TimestampNtz(_) => DataType::TimestampNtz,
            Literal::Time(_, p) => DataType::Time(*p),
            Literal::CalendarInterval(..) => DataType::CalendarInterval,
            Literal::YearMonthInterval(_, t) | Literal::DayTimeInterval(_, t) => t.clone(),
            Literal::Array(values, t) => DataType::array(t.clone(), values.iter().any(Literal::is_null)),
            Literal::Map(entries, k, v) => {
                DataType::map(k.clone(), v.clone(), entries.iter().any(|(_, v)| v.is_null()))
            }
            Literal::Struct(_, t) => DataType::Struct(t.clone()),
        }
    }
}

impl Eq for Literal {}

impl std::hash::Hash for Literal {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Literal::Null(t) => t.hash(state),
            Literal::Boolean(v) => v.hash(state),
            Literal::Byte(v) => v.hash(state),
            Literal::Short(v) => v.hash(state),
            Literal::Integer(v) | Literal::Date(v) => v.hash(state),
            Literal::Long(v) | Literal::Timestamp(v) | Literal::TimestampNtz(v) => v.hash(state),
            Literal::Float(v) => v.to_bits().hash(state),
            Literal::Double(v) => v.to_bits().hash(state),
            Literal::Decimal(v, p, s) => (v, p, s).hash(state),
            Literal::String(v) => v.hash(state),
            Literal::Binary(v) => v.hash(state),
            Literal::Time(v, p) => (v, p).hash(state),
            Literal::CalendarInterval(m, d, us) => (m, d, us).hash(state),
            Literal::YearMonthInterval(v, t) => (v, t).hash(state),
            Literal::DayTimeInterval(v, t) => (v, t).hash(state),
            Literal::Array(v, t) => (v, t).hash(state),
            Literal::Map(v, k, t) => (v, k, t).hash(state),
            Literal::Struct(v, t) => (v, t).hash(state),
        }
    }
}
