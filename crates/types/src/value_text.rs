//! Values of any type as text, as casts to string and `show` print them.

use crate::calendar::MICROS_PER_SECOND;
use crate::interval_text::{write_calendar_interval, write_day_time, write_year_month};
use crate::moment_text::{write_date, write_time, write_timestamp, write_timestamp_at};
use crate::number_text::{write_decimal, write_double, write_float, write_integer, write_plain_decimal};
use crate::time_zone::{TimeZone, ZoneCursor};
use crate::{DataType, StructType, variant_text};
use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder, StructArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType,
    IntervalUnit, IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use firesteel_error::{Result, SparkError};
use std::cell::RefCell;
use std::fmt::Write;

/// Whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStyle {
    /// A cast to string. Small decimals have an exponent unless `plain_decimals`, which ANSI mode sets.
    Cast { plain_decimals: bool },
    /// `show`: binary as `[61 62]`, nulls as `NULL`, decimals plain.
    Show,
}

/// Writes values of one type.
///
/// ```
/// use arrow::array::{ArrayRef, Int32Array};
/// use firesteel_types::{DataType, value_text::{TextStyle, ValueFormatter}};
/// let array: ArrayRef = std::sync::Arc::new(Int32Array::from(vec![Some(1), None]));
/// let formatter = ValueFormatter::new(&DataType::Integer, "UTC", TextStyle::Show)?;
/// let mut out = String::new();
/// formatter.write(&mut out, &array, 0)?;
/// formatter.write(&mut out, &array, 1)?;
/// assert_eq!(out, "1NULL");
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ValueFormatter {
    data_type: DataType,
    zone: TimeZone,
    cursor: RefCell<ZoneCursor>,
    style: TextStyle,
}

impl ValueFormatter {
    /// A formatter of a type; the id is that of the session's zone.
    pub fn new(data_type: &DataType, zone: &str, style: TextStyle) -> Result<Self> {
        Ok(Self::in_zone(data_type, TimeZone::parse(zone)?, style))
    }

    /// A formatter of a type in a zone.
    pub fn in_zone(data_type: &DataType, zone: TimeZone, style: TextStyle) -> Self {
        Self { data_type: data_type.clone(), zone, cursor: RefCell::new(zone.cursor()), style }
    }

    /// Appends the value in a row; a null as `null`, or `NULL` in `show`.
    pub fn write(&self, out: &mut String, array: &dyn Array, row: usize) -> Result<()> {
        self.write_top(out, array, row).map(|_| ())
    }

    /// The text of every row; nulls stay null.
    pub fn to_strings(&self, array: &dyn Array) -> Result<StringArray> {
        let mut builder = StringBuilder::with_capacity(array.len(), array.len() * 8);
        let mut text = String::new();
        for row in 0..array.len() {
            text.clear();
            if self.write_top(&mut text, array, row)? {
                builder.append_value(&text);
            } else {
                builder.append_null();
            }
        }
        Ok(builder.finish())
    }

    /// Appends a value that is not inside another one; false for a null.
    fn write_top(&self, out: &mut String, array: &dyn Array, row: usize) -> Result<bool> {
        if is_null(array, row) {
            self.write_null(out);
            return Ok(false);
        }
        if matches!((&self.data_type, self.style), (DataType::Variant, TextStyle::Cast { .. })) {
            let (value, metadata) = variant_parts(array, row)?;
            let written = variant_text::write_cast(out, value, metadata, self.zone)?;
            if !written {
                self.write_null(out);
            }
            return Ok(written);
        }
        self.write_value(out, &self.data_type, array, row)?;
        Ok(true)
    }

    fn write_null(&self, out: &mut String) {
        out.push_str(match self.style {
            TextStyle::Cast { .. } => "null",
            TextStyle::Show => "NULL",
        });
    }

    fn write_value(&self, out: &mut String, data_type: &DataType, array: &dyn Array, row: usize) -> Result<()> {
        if is_null(array, row) {
            self.write_null(out);
            return Ok(());
        }
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let key = integer(dictionary.keys(), row).and_then(|key| usize::try_from(key).ok());
            let key = key.ok_or_else(|| mismatch(data_type, array))?;
            return self.write_value(out, data_type, dictionary.values().as_ref(), key);
        }
        let mismatch = || mismatch(data_type, array);
        match data_type {
            DataType::Null => self.write_null(out),
            DataType::Boolean => {
                let value = array.as_boolean_opt().ok_or_else(mismatch)?.value(row);
                out.push_str(if value { "true" } else { "false" });
            }
            DataType::Byte | DataType::Short | DataType::Integer | DataType::Long => {
                write_integer(out, integer(array, row).ok_or_else(mismatch)?);
            }
            DataType::Float => write_float(out, float(array, row).ok_or_else(mismatch)?),
            DataType::Double => write_double(out, value::<Float64Type>(array, row).ok_or_else(mismatch)?),
            DataType::Decimal(..) => {
                let (unscaled, scale) = decimal(array, row).ok_or_else(mismatch)?;
                match self.style {
                    TextStyle::Cast { plain_decimals: false } => write_decimal(out, unscaled, scale),
                    _ => write_plain_decimal(out, unscaled, scale),
                }
            }
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) | DataType::Unparsed(_) => {
                out.push_str(string(array, row).ok_or_else(mismatch)?);
            }
            DataType::Binary => self.write_binary(out, binary(array, row).ok_or_else(mismatch)?),
            DataType::Date => write_date(out, days(array, row).ok_or_else(mismatch)?),
            DataType::Timestamp => {
                let micros = timestamp(array, row).ok_or_else(mismatch)?;
                let offset = self.cursor.borrow_mut().offset_at(micros.div_euclid(MICROS_PER_SECOND));
                write_timestamp_at(out, micros, offset);
            }
            DataType::TimestampNtz => write_timestamp(out, timestamp(array, row).ok_or_else(mismatch)?),
            DataType::Time(_) => write_time(out, time(array, row).ok_or_else(mismatch)?),
            DataType::CalendarInterval => {
                let interval = value::<IntervalMonthDayNanoType>(array, row).ok_or_else(mismatch)?;
                write_calendar_interval(out, interval.months, interval.days, interval.nanoseconds / 1000);
            }
            DataType::YearMonthInterval(start, end) => {
                let months = value::<IntervalYearMonthType>(array, row).ok_or_else(mismatch)?;
                write_year_month(out, months, *start, *end);
            }
            DataType::DayTimeInterval(start, end) => {
                write_day_time(out, duration(array, row).ok_or_else(mismatch)?, *start, *end);
            }
            DataType::Array { element, .. } => {
                let values = list(array, row).ok_or_else(mismatch)?;
                out.push('[');
                for i in 0..values.len() {
                    separate(out, i);
                    self.write_value(out, element, values.as_ref(), i)?;
                }
                out.push(']');
            }
            DataType::Map { key, value, .. } => {
                let entries = array.as_map_opt().ok_or_else(mismatch)?.value(row);
                out.push('{');
                for i in 0..entries.len() {
                    separate(out, i);
                    self.write_value(out, key, entries.column(0).as_ref(), i)?;
                    out.push_str(" -> ");
                    self.write_value(out, value, entries.column(1).as_ref(), i)?;
                }
                out.push('}');
            }
            DataType::Struct(fields) => {
                self.write_struct(out, fields, array.as_struct_opt().ok_or_else(mismatch)?, row)?;
            }
            DataType::Variant => {
                let (value, metadata) = variant_parts(array, row)?;
                variant_text::write_json(out, value, metadata, self.zone)?;
            }
            DataType::Geometry(_) | DataType::Geography(_) => {
                let wkb = array.as_struct_opt().and_then(|fields| binary(fields.column_by_name("wkb")?, row));
                self.write_binary(out, wkb.ok_or_else(mismatch)?);
            }
            DataType::Udt { jvm_class, sql_type, .. } => {
                let vector = jvm_class.as_deref().is_some_and(|class| class.ends_with(".VectorUDT"));
                match array.as_struct_opt() {
                    Some(fields) if vector && fields.num_columns() == 4 => write_vector(out, fields, row)?,
                    _ => self.write_value(out, sql_type, array, row)?,
                }
            }
        }
        Ok(())
    }

    fn write_struct(&self, out: &mut String, fields: &StructType, array: &StructArray, row: usize) -> Result<()> {
        out.push('{');
        for (i, (field, column)) in fields.fields.iter().zip(array.columns()).enumerate() {
            separate(out, i);
            self.write_value(out, &field.data_type, column.as_ref(), row)?;
        }
        out.push('}');
        Ok(())
    }

    fn write_binary(&self, out: &mut String, bytes: &[u8]) {
        if self.style != TextStyle::Show {
            out.push_str(&String::from_utf8_lossy(bytes));
            return;
        }
        out.push('[');
        for (i, byte) in bytes.iter().enumerate() {
            let space = if i > 0 { " " } else { "" };
            push(out, format_args!("{space}{byte:02X}"));
        }
        out.push(']');
    }
}

/// Writing to a string cannot fail.
fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(arguments);
}

fn separate(out: &mut String, i: usize) {
    if i > 0 {
        out.push_str(", ");
    }
}

fn mismatch(data_type: &DataType, array: &dyn Array) -> SparkError {
    SparkError::internal(format!("{} in an array of {}", data_type.simple_string(), array.data_type()))
}

fn is_null(array: &dyn Array, row: usize) -> bool {
    array.is_null(row) || matches!(array.data_type(), ArrowType::Null)
}

/// A vector of the machine learning library: `[1.0,2.0]`, or `(size,[indices],[values])`.
fn write_vector(out: &mut String, fields: &StructArray, row: usize) -> Result<()> {
    let part = |i: usize| list(fields.column(i).as_ref(), row);
    let malformed = || SparkError::internal("a vector of unknown form");
    let values = part(3).ok_or_else(malformed)?;
    let write_values = |out: &mut String| {
        out.push('[');
        for i in 0..values.len() {
            out.push_str(if i > 0 { "," } else { "" });
            write_double(out, value::<Float64Type>(values.as_ref(), i).unwrap_or(f64::NAN));
        }
        out.push(']');
    };
    if integer(fields.column(0).as_ref(), row) == Some(1) {
        write_values(out);
        return Ok(());
    }
    let indices = part(2).ok_or_else(malformed)?;
    let size = integer(fields.column(1).as_ref(), row).ok_or_else(malformed)?;
    push(out, format_args!("({size},["));
    for i in 0..indices.len() {
        let comma = if i > 0 { "," } else { "" };
        push(out, format_args!("{comma}{}", integer(indices.as_ref(), i).ok_or_else(malformed)?));
    }
    out.push_str("],");
    write_values(out);
    out.push(')');
    Ok(())
}

fn variant_parts(array: &dyn Array, row: usize) -> Result<(&[u8], &[u8])> {
    let parts = array.as_struct_opt().and_then(|fields| {
        Some((binary(fields.column_by_name("value")?, row)?, binary(fields.column_by_name("metadata")?, row)?))
    });
    parts.ok_or_else(|| mismatch(&DataType::Variant, array))
}

fn value<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<T::Native> {
    array.as_primitive_opt::<T>().map(|array| array.value(row))
}

fn integer(array: &dyn Array, row: usize) -> Option<i128> {
    Some(match array.data_type() {
        ArrowType::Int8 => value::<Int8Type>(array, row)?.into(),
        ArrowType::Int16 => value::<Int16Type>(array, row)?.into(),
        ArrowType::Int32 => value::<Int32Type>(array, row)?.into(),
        ArrowType::Int64 => value::<Int64Type>(array, row)?.into(),
        ArrowType::UInt8 => value::<UInt8Type>(array, row)?.into(),
        ArrowType::UInt16 => value::<UInt16Type>(array, row)?.into(),
        ArrowType::UInt32 => value::<UInt32Type>(array, row)?.into(),
        ArrowType::UInt64 => value::<UInt64Type>(array, row)?.into(),
        _ => return None,
    })
}

fn float(array: &dyn Array, row: usize) -> Option<f32> {
    value::<Float32Type>(array, row).or_else(|| value::<Float16Type>(array, row).map(f32::from))
}

fn decimal(array: &dyn Array, row: usize) -> Option<(i128, i8)> {
    Some(match array.data_type() {
        ArrowType::Decimal32(_, scale) => (value::<Decimal32Type>(array, row)?.into(), *scale),
        ArrowType::Decimal64(_, scale) => (value::<Decimal64Type>(array, row)?.into(), *scale),
        ArrowType::Decimal128(_, scale) => (value::<Decimal128Type>(array, row)?, *scale),
        ArrowType::Decimal256(_, scale) => (value::<Decimal256Type>(array, row)?.to_i128()?, *scale),
        _ => (integer(array, row)?, 0),
    })
}

fn string(array: &dyn Array, row: usize) -> Option<&str> {
    match array.data_type() {
        ArrowType::Utf8 => Some(array.as_string_opt::<i32>()?.value(row)),
        ArrowType::LargeUtf8 => Some(array.as_string_opt::<i64>()?.value(row)),
        ArrowType::Utf8View => Some(array.as_string_view_opt()?.value(row)),
        _ => None,
    }
}

fn binary(array: &dyn Array, row: usize) -> Option<&[u8]> {
    match array.data_type() {
        ArrowType::Binary => Some(array.as_binary_opt::<i32>()?.value(row)),
        ArrowType::LargeBinary => Some(array.as_binary_opt::<i64>()?.value(row)),
        ArrowType::BinaryView => Some(array.as_binary_view_opt()?.value(row)),
        ArrowType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary_opt()?.value(row)),
        _ => string(array, row).map(str::as_bytes),
    }
}

fn days(array: &dyn Array, row: usize) -> Option<i64> {
    match array.data_type() {
        ArrowType::Date32 => Some(value::<Date32Type>(array, row)?.into()),
        ArrowType::Date64 => Some(value::<Date64Type>(array, row)?.div_euclid(86_400_000)),
        _ => None,
    }
}

/// Microseconds.
fn timestamp(array: &dyn Array, row: usize) -> Option<i64> {
    match array.data_type() {
        ArrowType::Timestamp(TimeUnit::Second, _) => value::<TimestampSecondType>(array, row)?.checked_mul(1_000_000),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            value::<TimestampMillisecondType>(array, row)?.checked_mul(1000)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => value::<TimestampMicrosecondType>(array, row),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            Some(value::<TimestampNanosecondType>(array, row)?.div_euclid(1000))
        }
        _ => None,
    }
}

/// Nanoseconds.
fn time(array: &dyn Array, row: usize) -> Option<i64> {
    match array.data_type() {
        ArrowType::Time32(TimeUnit::Second) => Some(i64::from(value::<Time32SecondType>(array, row)?) * 1_000_000_000),
        ArrowType::Time32(_) => Some(i64::from(value::<Time32MillisecondType>(array, row)?) * 1_000_000),
        ArrowType::Time64(TimeUnit::Microsecond) => value::<Time64MicrosecondType>(array, row)?.checked_mul(1000),
        ArrowType::Time64(_) => value::<Time64NanosecondType>(array, row),
        _ => None,
    }
}

/// Microseconds.
fn duration(array: &dyn Array, row: usize) -> Option<i64> {
    match array.data_type() {
        ArrowType::Duration(TimeUnit::Second) => value::<DurationSecondType>(array, row)?.checked_mul(1_000_000),
        ArrowType::Duration(TimeUnit::Millisecond) => value::<DurationMillisecondType>(array, row)?.checked_mul(1000),
        ArrowType::Duration(TimeUnit::Microsecond) => value::<DurationMicrosecondType>(array, row),
        ArrowType::Duration(TimeUnit::Nanosecond) => {
            Some(value::<DurationNanosecondType>(array, row)?.div_euclid(1000))
        }
        ArrowType::Interval(IntervalUnit::DayTime) => {
            let interval = value::<arrow::datatypes::IntervalDayTimeType>(array, row)?;
            Some((i64::from(interval.days) * 86_400_000 + i64::from(interval.milliseconds)) * 1000)
        }
        _ => None,
    }
}

/// The elements of the list in a row.
fn list(array: &dyn Array, row: usize) -> Option<ArrayRef> {
    Some(match array.data_type() {
        ArrowType::List(_) => array.as_list_opt::<i32>()?.value(row),
        ArrowType::LargeList(_) => array.as_list_opt::<i64>()?.value(row),
        ArrowType::FixedSizeList(..) => array.as_fixed_size_list_opt()?.value(row),
        ArrowType::ListView(_) => array.as_list_view_opt::<i32>()?.value(row),
        ArrowType::LargeListView(_) => array.as_list_view_opt::<i64>()?.value(row),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
