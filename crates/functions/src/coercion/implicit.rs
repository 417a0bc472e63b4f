//! Implicit casts of arguments to what a function takes.

use super::decimal;
use super::widen::is_atomic;
use crate::ArgType;
use crate::cast::legality::{can_ansi_store_assign, force_nullable};
use firesteel_types::DataType;

/// True where a type is what the parameter wants, as it is.
pub fn accepts(wanted: ArgType, data_type: &DataType) -> bool {
    use DataType as T;
    match wanted {
        ArgType::Any => true,
        ArgType::Boolean => *data_type == T::Boolean,
        ArgType::Integer => *data_type == T::Integer,
        ArgType::Long => *data_type == T::Long,
        ArgType::Float => *data_type == T::Float,
        ArgType::Double => *data_type == T::Double,
        ArgType::String => data_type.is_string(),
        ArgType::Binary => *data_type == T::Binary,
        ArgType::Date => *data_type == T::Date,
        ArgType::Timestamp => *data_type == T::Timestamp,
        ArgType::TimestampNtz => *data_type == T::TimestampNtz,
        ArgType::CalendarInterval => *data_type == T::CalendarInterval,
        ArgType::Integral => data_type.is_integral(),
        ArgType::Numeric => data_type.is_numeric(),
        ArgType::Decimal => matches!(data_type, T::Decimal(..)),
        ArgType::AnyTimestamp => matches!(data_type, T::Timestamp | T::TimestampNtz),
        ArgType::Array => matches!(data_type, T::Array { .. }),
        ArgType::Map => matches!(data_type, T::Map { .. }),
        ArgType::Struct => matches!(data_type, T::Struct(_)),
        ArgType::Variant => *data_type == T::Variant,
        ArgType::AnyInterval => data_type.is_ansi_interval() || *data_type == T::CalendarInterval,
        ArgType::ArrayOf(element) => {
            matches!(data_type, T::Array { element: e, .. } if accepts(*element, e))
        }
        ArgType::OneOf(options) => options.iter().any(|o| accepts(*o, data_type)),
        ArgType::Foldable(inner) | ArgType::Exactly(inner) => accepts(*inner, data_type),
    }
}

/// The one type that a parameter wants, where it is one.
fn concrete(wanted: ArgType) -> Option<DataType> {
    Some(match wanted {
        ArgType::Boolean => DataType::Boolean,
        ArgType::Integer => DataType::Integer,
        ArgType::Long => DataType::Long,
        ArgType::Float => DataType::Float,
        ArgType::Double => DataType::Double,
        ArgType::String => DataType::STRING,
        ArgType::Binary => DataType::Binary,
        ArgType::Date => DataType::Date,
        ArgType::Timestamp => DataType::Timestamp,
        ArgType::TimestampNtz => DataType::TimestampNtz,
        ArgType::CalendarInterval => DataType::CalendarInterval,
        _ => return None,
    })
}

/// The type that the literal NULL gets as an argument.
fn default_concrete(wanted: ArgType) -> Option<DataType> {
    Some(match wanted {
        ArgType::Any => DataType::Null,
        ArgType::Integral => DataType::Integer,
        ArgType::Numeric => DataType::Double,
        ArgType::Decimal => DataType::DECIMAL_SYSTEM_DEFAULT,
        ArgType::AnyTimestamp => DataType::Timestamp,
        ArgType::Array => DataType::array(DataType::Null, true),
        ArgType::Map => DataType::map(DataType::Null, DataType::Null, true),
        ArgType::Struct => DataType::struct_of(Vec::new()),
        ArgType::Variant => DataType::Variant,
        ArgType::AnyInterval => DataType::CalendarInterval,
        ArgType::ArrayOf(element) => DataType::array(default_concrete(*element)?, true),
        ArgType::OneOf(options) => default_concrete(*options.first()?)?,
        ArgType::Foldable(inner) | ArgType::Exactly(inner) => default_concrete(*inner)?,
        other => concrete(other)?,
    })
}

/// The type that an argument is cast to for a parameter, or None where there is no implicit cast.
///
/// ```
/// use firesteel_functions::{ArgType, coercion::implicit_cast};
/// use firesteel_types::DataType;
/// assert_eq!(implicit_cast(&DataType::Integer, ArgType::String, true), Some(DataType::STRING));
/// assert_eq!(implicit_cast(&DataType::Boolean, ArgType::Integer, true), None);
/// assert_eq!(implicit_cast(&DataType::Integer, ArgType::Exactly(&ArgType::String), true), None);
/// assert_eq!(implicit_cast(&DataType::Null, ArgType::Exactly(&ArgType::String), true), Some(DataType::STRING));
/// ```
pub fn implicit_cast(from: &DataType, wanted: ArgType, ansi: bool) -> Option<DataType> {
    if accepts(wanted, from) {
        return Some(from.clone());
    }
    match wanted {
        ArgType::Foldable(inner) => return implicit_cast(from, *inner, ansi),
        ArgType::Exactly(inner) => return if from.is_null() { default_concrete(*inner) } else { None },
        ArgType::OneOf(options) => return options.iter().find_map(|o| implicit_cast(from, *o, ansi)),
        _ => {}
    }
    if from.is_null() {
        return default_concrete(wanted);
    }
    if let (ArgType::ArrayOf(element), DataType::Array { element: e, contains_null }) = (wanted, from) {
        let target = implicit_cast(e, *element, ansi)?;
        let nullable = *contains_null || force_nullable(e, &target);
        return Some(DataType::array(target, nullable));
    }
    if let (ArgType::Decimal, numeric) = (wanted, from)
        && numeric.is_numeric()
    {
        let (precision, scale) = decimal::for_type(numeric)?;
        return Some(DataType::Decimal(precision, scale));
    }
    if from.is_string() {
        match wanted {
            ArgType::Numeric => return Some(DataType::Double),
            ArgType::Decimal => return Some(DataType::DECIMAL_SYSTEM_DEFAULT),
            ArgType::AnyTimestamp => return Some(DataType::Timestamp),
            _ => {}
        }
    }
    // Spark casts times of day to dates and timestamps, and finds that there is no such cast.
    if matches!(from, DataType::Time(_))
        && let Some(target) = default_concrete(wanted).filter(DataType::is_datetime)
    {
        return Some(target);
    }
    if ansi { implicit_cast_ansi(from, wanted) } else { implicit_cast_legacy(from, wanted) }
}

fn implicit_cast_ansi(from: &DataType, wanted: ArgType) -> Option<DataType> {
    if *from == DataType::Date && matches!(wanted, ArgType::AnyTimestamp) {
        return Some(DataType::Timestamp);
    }
    let target = concrete(wanted)?;
    let legal = (from.is_string() && is_atomic(&target)) || can_ansi_store_assign(from, &target);
    legal.then_some(target)
}

fn implicit_cast_legacy(from: &DataType, wanted: ArgType) -> Option<DataType> {
    let target = concrete(wanted)?;
    let legal = (from.is_numeric() && target.is_numeric())
        || (from.is_datetime() && target.is_datetime())
        || (from.is_string() && (target.is_numeric() || target.is_datetime() || target == DataType::Binary))
        || (is_atomic(from) && target.is_string());
    legal.then_some(target)
}
