//! Values of Arrow arrays for serde.

use arrow::array::{
    Array, AsArray, BinaryArray, FixedSizeListArray, LargeListArray, ListArray, MapArray, RecordBatch, StructArray,
};
use arrow::datatypes::{self as types, ArrowPrimitiveType, DataType, TimeUnit};
use firesteel_types::{Literal, TimeZone, moment_text, number_text};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Why a value does not fit a type.
#[derive(Debug)]
pub(crate) struct Misfit(String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Misfit(message.to_string())
    }
}

/// One value of an array.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'a> {
    array: &'a dyn Array,
    index: usize,
}

impl<'a> Cell<'a> {
    pub(crate) fn new(array: &'a dyn Array, index: usize) -> Self {
        Cell { array, index }
    }

    fn number<T: ArrowPrimitiveType>(&self) -> T::Native {
        self.array.as_primitive::<T>().value(self.index)
    }

    /// The whole number of a date, time or decimal without places.
    fn whole(&self) -> Option<i64> {
        Some(match self.array.data_type() {
            DataType::Date32 => i64::from(self.number::<types::Date32Type>()),
            DataType::Timestamp(TimeUnit::Microsecond, _) => self.number::<types::TimestampMicrosecondType>(),
            DataType::Time64(TimeUnit::Nanosecond) => self.number::<types::Time64NanosecondType>(),
            DataType::Time64(TimeUnit::Microsecond) => self.number::<types::Time64MicrosecondType>(),
            DataType::Duration(TimeUnit::Microsecond) => self.number::<types::DurationMicrosecondType>(),
            DataType::Interval(types::IntervalUnit::YearMonth) => {
                i64::from(self.number::<types::IntervalYearMonthType>())
            }
            DataType::Decimal128(_, 0) => i64::try_from(self.number::<types::Decimal128Type>()).ok()?,
            _ => return None,
        })
    }

    /// The decimal as the nearest double.
    fn fraction(&self) -> Option<f64> {
        match self.array.data_type() {
            DataType::Decimal128(_, _) => self.text()?.parse().ok(),
            _ => None,
        }
    }

    /// Dates, times, decimals and intervals as text, so that other crates' types can read them.
    fn text(&self) -> Option<String> {
        let mut text = String::new();
        match self.array.data_type() {
            DataType::Date32 => moment_text::write_date(&mut text, i64::from(self.number::<types::Date32Type>())),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                moment_text::write_timestamp(&mut text, self.number::<types::TimestampMicrosecondType>());
                text = text.replacen(' ', "T", 1);
                if zone.is_some() {
                    text.push('Z');
                }
            }
            DataType::Decimal128(_, scale) => {
                number_text::write_plain_decimal(&mut text, self.number::<types::Decimal128Type>(), *scale);
            }
            _ => text = Literal::from_arrow(self.array, self.index).ok()?.display(TimeZone::UTC),
        }
        Some(text)
    }

    fn misfit(&self) -> Misfit {
        Misfit(format!("values of type {} are not supported", self.array.data_type()))
    }

    fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.array.is_null(self.index) {
            return visitor.visit_unit();
        }
        let index = self.index;
        match self.array.data_type() {
            DataType::Null => visitor.visit_unit(),
            DataType::Boolean => visitor.visit_bool(self.array.as_boolean().value(index)),
            DataType::Int8 => visitor.visit_i8(self.number::<types::Int8Type>()),
            DataType::Int16 => visitor.visit_i16(self.number::<types::Int16Type>()),
            DataType::Int32 => visitor.visit_i32(self.number::<types::Int32Type>()),
            DataType::Int64 => visitor.visit_i64(self.number::<types::Int64Type>()),
            DataType::Float32 => visitor.visit_f32(self.number::<types::Float32Type>()),
            DataType::Float64 => visitor.visit_f64(self.number::<types::Float64Type>()),
            DataType::Utf8 => visitor.visit_str(self.array.as_string::<i32>().value(index)),
            DataType::LargeUtf8 => visitor.visit_str(self.array.as_string::<i64>().value(index)),
            DataType::Utf8View => visitor.visit_str(self.array.as_string_view().value(index)),
            DataType::Binary => visitor.visit_bytes(self.array.as_binary::<i32>().value(index)),
            DataType::LargeBinary => visitor.visit_bytes(self.array.as_binary::<i64>().value(index)),
            DataType::BinaryView => visitor.visit_bytes(self.array.as_binary_view().value(index)),
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => {
                let values = elements(self.array, index).ok_or_else(|| self.misfit())?;
                visitor.visit_seq(Elements { array: values.as_ref(), next: 0 })
            }
            DataType::Struct(_) => {
                let fields = self.array.as_any().downcast_ref::<StructArray>().ok_or_else(|| self.misfit())?;
                visitor.visit_map(Fields { fields: FieldsOf::Struct(fields), index, next: 0 })
            }
            DataType::Map(..) => {
                let map = self.array.as_any().downcast_ref::<MapArray>().ok_or_else(|| self.misfit())?;
                let entries = map.value(index);
                visitor.visit_map(Entries { entries: &entries, next: 0 })
            }
            _ => visitor.visit_string(self.text().ok_or_else(|| self.misfit())?),
        }
    }
}

/// The elements of a list.
fn elements(array: &dyn Array, index: usize) -> Option<arrow::array::ArrayRef> {
    let any = array.as_any();
    if let Some(list) = any.downcast_ref::<ListArray>() {
        return Some(list.value(index));
    }
    if let Some(list) = any.downcast_ref::<LargeListArray>() {
        return Some(list.value(index));
    }
    any.downcast_ref::<FixedSizeListArray>().map(|list| list.value(index))
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            match self.whole() {
                Some(number) if !self.array.is_null(self.index) => visitor.visit_i64(number),
                _ => self.visit(visitor),
            }
        })*
    };
}

macro_rules! fractions {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            match self.fraction() {
                Some(number) if !self.array.is_null(self.index) => visitor.visit_f64(number),
                _ => self.visit(visitor),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Cell<'_> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.visit(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.array.is_null(self.index) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    whole_numbers! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
    deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 }

    fractions! { deserialize_f32 deserialize_f64 }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let text = match self.array.data_type() {
            DataType::Utf8 if !self.array.is_null(self.index) => self.array.as_string::<i32>().value(self.index),
            DataType::LargeUtf8 if !self.array.is_null(self.index) => self.array.as_string::<i64>().value(self.index),
            _ => return Err(self.misfit()),
        };
        let text: StrDeserializer<'_, Misfit> = text.into_deserializer();
        text.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    /// Structs are sequences too, and bytes are lists of numbers.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if !self.array.is_null(self.index) {
            if let Some(fields) = self.array.as_any().downcast_ref::<StructArray>() {
                return visitor.visit_seq(FieldValues { fields: FieldsOf::Struct(fields), index: self.index, next: 0 });
            }
            if let Some(bytes) = self.array.as_any().downcast_ref::<BinaryArray>() {
                let bytes: &[u8] = bytes.value(self.index);
                return visitor.visit_seq(de::value::SeqDeserializer::new(bytes.iter().copied()));
            }
        }
        self.visit(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool char str string bytes byte_buf unit unit_struct map struct identifier
    }
}

/// The columns of a struct, or of a batch.
#[derive(Clone, Copy)]
enum FieldsOf<'a> {
    Struct(&'a StructArray),
    Batch(&'a RecordBatch),
}

impl<'a> FieldsOf<'a> {
    fn name(self, place: usize) -> Option<&'a str> {
        match self {
            FieldsOf::Struct(of) => of.fields().get(place).map(|field| field.name().as_str()),
            FieldsOf::Batch(of) => of.schema_ref().fields().get(place).map(|field| field.name().as_str()),
        }
    }

    fn cell(self, place: usize, index: usize) -> Option<Cell<'a>> {
        let columns = match self {
            FieldsOf::Struct(of) => of.columns(),
            FieldsOf::Batch(of) => of.columns(),
        };
        columns.get(place).map(|column| Cell::new(column.as_ref(), index))
    }

    fn len(self) -> usize {
        match self {
            FieldsOf::Struct(of) => of.num_columns(),
            FieldsOf::Batch(of) => of.num_columns(),
        }
    }
}

/// Fields by name.
struct Fields<'a> {
    fields: FieldsOf<'a>,
    index: usize,
    next: usize,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        match self.fields.name(self.next) {
            Some(name) => seed.deserialize(IntoDeserializer::<Misfit>::into_deserializer(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let place = self.next;
        self.next += 1;
        let cell = self.fields.cell(place, self.index).ok_or_else(|| Misfit("no such field".to_string()))?;
        let named = |error: Misfit| Misfit(format!("{}: {error}", self.fields.name(place).unwrap_or_default()));
        seed.deserialize(cell).map_err(named)
    }
}

/// Fields in order.
struct FieldValues<'a> {
    fields: FieldsOf<'a>,
    index: usize,
    next: usize,
}

impl<'de> SeqAccess<'de> for FieldValues<'_> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit> {
        let cell = self.fields.cell(self.next, self.index);
        self.next += 1;
        cell.map(|cell| seed.deserialize(cell)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len() - self.next.min(self.fields.len()))
    }
}

/// Elements of a list.
struct Elements<'a> {
    array: &'a dyn Array,
    next: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit> {
        if self.next >= self.array.len() {
            return Ok(None);
        }
        self.next += 1;
        seed.deserialize(Cell::new(self.array, self.next - 1)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.array.len() - self.next)
    }
}

/// Entries of a map.
struct Entries<'a> {
    entries: &'a StructArray,
    next: usize,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        if self.next >= self.entries.len() {
            return Ok(None);
        }
        seed.deserialize(Cell::new(self.entries.column(0).as_ref(), self.next)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        self.next += 1;
        seed.deserialize(Cell::new(self.entries.column(1).as_ref(), self.next - 1))
    }
}

/// A row of a batch.
#[derive(Clone, Copy)]
pub(crate) struct RowCells<'a> {
    batch: &'a RecordBatch,
    index: usize,
}

impl<'a> RowCells<'a> {
    pub(crate) fn new(batch: &'a RecordBatch, index: usize) -> Self {
        RowCells { batch, index }
    }
}

impl<'de> Deserializer<'de> for RowCells<'_> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_map(Fields { fields: FieldsOf::Batch(self.batch), index: self.index, next: 0 })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_seq(FieldValues { fields: FieldsOf::Batch(self.batch), index: self.index, next: 0 })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct map
        struct enum identifier ignored_any
    }
}
