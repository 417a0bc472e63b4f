//! Columns of values that come straight from the bytes of JSON.
//!
//! A record that is not read to its end leaves nothing behind: its columns are cut back.

use crate::json_bytes::{Cursor, Quoted};
use arrow::array::NullBufferBuilder;
use arrow::array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, ListArray, MapArray, PrimitiveArray, StringArray, StructArray,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType as ArrowType, Fields};
use arrow::error::ArrowError;
use firesteel_functions::cast::digits;
use firesteel_functions::cast::parse_number::BigDigits;
use firesteel_functions::scalar::json::convert::Converter;
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::collections::HashMap;
use std::sync::Arc;

/// Names beyond those of columns of which the place in objects is known.
const MOST_OTHERS: usize = 32;

/// How many names may be left out between two that are there.
const MOST_LEFT_OUT: usize = 8;

/// The values of objects, by name.
#[derive(Debug)]
pub(crate) struct Objects {
    names: HashMap<Vec<u8>, usize>,
    columns: Vec<Column>,
    /// `"name":` in the order of objects so far, each with its column.
    order: Vec<(Vec<u8>, Option<usize>)>,
    rows: usize,
}

/// The values of a field.
#[derive(Debug)]
struct Column {
    arrow_type: ArrowType,
    nulls: NullBufferBuilder,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Boolean(Vec<bool>),
    Byte(Vec<i8>),
    Short(Vec<i16>),
    Integer(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Decimal(Vec<i128>, u8, i8),
    Date(Vec<i32>),
    Timestamp(Vec<i64>),
    TimestampNtz(Vec<i64>),
    Text(Texts),
    Array { ends: Vec<i32>, element: Box<Column> },
    Map { ends: Vec<i32>, keys: Texts, value: Box<Column> },
    Struct(Objects),
}

#[derive(Debug, Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<i32>,
}

impl Objects {
    /// No objects with these fields; None where a field has a type that is not read here.
    pub(crate) fn new<'f>(fields: impl IntoIterator<Item = &'f StructField>) -> Option<Self> {
        let (mut names, mut columns) = (HashMap::new(), Vec::new());
        for field in fields {
            names.entry(field.name.clone().into_bytes()).or_insert(columns.len());
            columns.push(Column::new(&field.data_type)?);
        }
        Some(Self { names, columns, order: Vec::new(), rows: 0 })
    }

    /// Adds the object that a record begins with, and gives the bytes up to its end. None for a record that
    /// is not plain, of which nothing is added.
    #[inline]
    pub(crate) fn append_record(&mut self, record: &[u8], converter: &Converter<'_>) -> Option<usize> {
        let mut cursor = Cursor::new(record);
        cursor.blanks();
        let rows = self.rows;
        if self.append(&mut cursor, converter).is_none() {
            self.truncate(rows);
            return None;
        }
        Some(cursor.position())
    }

    fn append(&mut self, cursor: &mut Cursor<'_>, converter: &Converter<'_>) -> Option<()> {
        if cursor.peek()? != b'{' {
            return None;
        }
        let mut filled = 0;
        if !cursor.opens(b'}') {
            let mut place = 0;
            loop {
                match self.column(cursor, &mut place)? {
                    None => cursor.skip()?,
                    Some(i) => {
                        let column = self.columns.get_mut(i)?;
                        // A name that comes twice.
                        if column.nulls.len() != self.rows {
                            return None;
                        }
                        column.append(cursor, converter)?;
                        filled += 1;
                    }
                }
                if !cursor.goes_on(b'}')? {
                    break;
                }
            }
        }
        if filled < self.columns.len() {
            for column in self.columns.iter_mut().filter(|column| column.nulls.len() == self.rows) {
                column.append_null();
            }
        }
        self.rows += 1;
        Some(())
    }

    /// Reads a name, which is expected at a place of the order, and gives its column.
    #[inline]
    fn column(&mut self, cursor: &mut Cursor<'_>, place: &mut usize) -> Option<Option<usize>> {
        if let Some((key, column)) = self.order.get(*place)
            && cursor.takes(key)
        {
            *place += 1;
            cursor.blanks();
            return Some(*column);
        }
        let name = cursor.quoted()?;
        cursor.colon()?;
        self.find(name, place)
    }

    fn find(&mut self, quoted: Quoted<'_>, place: &mut usize) -> Option<Option<usize>> {
        let name = quoted.unescaped()?;
        let is_name = |key: &[u8]| key.get(1..key.len() - 2).is_some_and(|known| known == name.as_ref());
        let next = self.order.iter().skip(*place).take(MOST_LEFT_OUT);
        for (i, (key, column)) in next.enumerate() {
            if !quoted.has_escapes && is_name(key) {
                *place += i + 1;
                return Some(*column);
            }
        }
        let column = self.names.get(name.as_ref()).copied();
        if !quoted.has_escapes && self.order.len() < self.names.len() + MOST_OTHERS {
            let key = [b"\"", quoted.bytes, b"\":"].concat();
            self.order.insert((*place).min(self.order.len()), (key, column));
            *place += 1;
        }
        Some(column)
    }

    fn append_null(&mut self) {
        self.columns.iter_mut().for_each(Column::append_null);
        self.rows += 1;
    }

    fn truncate(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        self.rows = rows;
    }

    /// The columns of all objects, which are none then. Fails for texts that are not UTF-8.
    pub(crate) fn finish(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        self.rows = 0;
        // Each column is emptied, whatever is wrong with another.
        let columns: Vec<_> = self.columns.iter_mut().map(Column::finish).collect();
        columns.into_iter().collect()
    }
}

impl Column {
    fn new(data_type: &DataType) -> Option<Self> {
        let values = match data_type {
            DataType::Boolean => Values::Boolean(Vec::new()),
            DataType::Byte => Values::Byte(Vec::new()),
            DataType::Short => Values::Short(Vec::new()),
            DataType::Integer => Values::Integer(Vec::new()),
            DataType::Long => Values::Long(Vec::new()),
            DataType::Float => Values::Float(Vec::new()),
            DataType::Double => Values::Double(Vec::new()),
            DataType::Decimal(precision, scale) => Values::Decimal(Vec::new(), *precision, *scale),
            DataType::Date => Values::Date(Vec::new()),
            DataType::Timestamp => Values::Timestamp(Vec::new()),
            DataType::TimestampNtz => Values::TimestampNtz(Vec::new()),
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => Values::Text(Texts::default()),
            DataType::Array { element, .. } => {
                Values::Array { ends: Vec::new(), element: Box::new(Self::new(element)?) }
            }
            DataType::Map { key, value, .. } if key.is_string() => {
                let value = Box::new(Self::new(value)?);
                Values::Map { ends: Vec::new(), keys: Texts::default(), value }
            }
            DataType::Struct(schema) => Values::Struct(Objects::new(&schema.fields)?),
            _ => return None,
        };
        Some(Self { arrow_type: arrow_mapping::to_arrow(data_type), nulls: NullBufferBuilder::new(0), values })
    }

    #[inline]
    fn append(&mut self, cursor: &mut Cursor<'_>, converter: &Converter<'_>) -> Option<()> {
        if cursor.null()? {
            self.append_null();
            return Some(());
        }
        match &mut self.values {
            Values::Boolean(values) => values.push(cursor.boolean()?),
            Values::Byte(values) => values.push(byte(cursor.number()?.whole()?)?),
            Values::Short(values) => values.push(cursor.number()?.whole()?.try_into().ok()?),
            Values::Integer(values) => values.push(cursor.number()?.whole()?.try_into().ok()?),
            Values::Long(values) => values.push(cursor.number()?.whole()?),
            Values::Float(values) => values.push(cursor.number()?.text().parse().ok()?),
            Values::Double(values) => values.push(cursor.number()?.double()?),
            Values::Decimal(values, precision, scale) => {
                let number = cursor.number()?;
                let value = digits::decimal(number.bytes, *precision, *scale);
                values.push(value.or_else(|| BigDigits::parse(number.text())?.to_decimal(*precision, *scale))?);
            }
            Values::Date(values) => values.push(parsed(cursor, |text| converter.day(text))?),
            Values::Timestamp(values) => values.push(parsed(cursor, |text| converter.moment(text))?),
            Values::TimestampNtz(values) => values.push(parsed(cursor, |text| converter.local_moment(text))?),
            Values::Text(texts) => texts.append(cursor)?,
            Values::Array { ends, element } => {
                if cursor.peek()? != b'[' {
                    return None;
                }
                if !cursor.opens(b']') {
                    loop {
                        element.append(cursor, converter)?;
                        if !cursor.goes_on(b']')? {
                            break;
                        }
                    }
                }
                ends.push(i32::try_from(element.nulls.len()).ok()?);
            }
            Values::Map { ends, keys, value } => {
                if cursor.peek()? != b'{' {
                    return None;
                }
                if !cursor.opens(b'}') {
                    loop {
                        keys.push(cursor.quoted()?)?;
                        cursor.colon()?;
                        value.append(cursor, converter)?;
                        if !cursor.goes_on(b'}')? {
                            break;
                        }
                    }
                }
                ends.push(i32::try_from(value.nulls.len()).ok()?);
            }
            Values::Struct(objects) => objects.append(cursor, converter)?,
        }
        self.nulls.append_non_null();
        Some(())
    }

    fn append_null(&mut self) {
        self.nulls.append_null();
        match &mut self.values {
            Values::Boolean(values) => values.push(false),
            Values::Byte(values) => values.push(0),
            Values::Short(values) => values.push(0),
            Values::Integer(values) | Values::Date(values) => values.push(0),
            Values::Long(values) | Values::Timestamp(values) | Values::TimestampNtz(values) => values.push(0),
            Values::Float(values) => values.push(0.0),
            Values::Double(values) => values.push(0.0),
            Values::Decimal(values, ..) => values.push(0),
            Values::Text(texts) => texts.ends.push(texts.ends.last().copied().unwrap_or(0)),
            Values::Array { ends, .. } | Values::Map { ends, .. } => ends.push(ends.last().copied().unwrap_or(0)),
            Values::Struct(objects) => objects.append_null(),
        }
    }

    /// Cuts what comes after so many values.
    fn truncate(&mut self, rows: usize) {
        self.nulls.truncate(rows);
        match &mut self.values {
            Values::Boolean(values) => values.truncate(rows),
            Values::Byte(values) => values.truncate(rows),
            Values::Short(values) => values.truncate(rows),
            Values::Integer(values) | Values::Date(values) => values.truncate(rows),
            Values::Long(values) | Values::Timestamp(values) | Values::TimestampNtz(values) => values.truncate(rows),
            Values::Float(values) => values.truncate(rows),
            Values::Double(values) => values.truncate(rows),
            Values::Decimal(values, ..) => values.truncate(rows),
            Values::Text(texts) => texts.truncate(rows),
            Values::Array { ends, element } => element.truncate(cut(ends, rows)),
            Values::Map { ends, keys, value } => {
                let entries = cut(ends, rows);
                keys.truncate(entries);
                value.truncate(entries);
            }
            Values::Struct(objects) => objects.truncate(rows),
        }
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        let arrow_type = &self.arrow_type;
        Ok(match &mut self.values {
            Values::Boolean(values) => {
                let array = BooleanArray::new(BooleanBuffer::from(values.as_slice()), nulls);
                values.clear();
                Arc::new(array)
            }
            Values::Byte(values) => primitive::<Int8Type>(values, nulls, arrow_type)?,
            Values::Short(values) => primitive::<Int16Type>(values, nulls, arrow_type)?,
            Values::Integer(values) => primitive::<Int32Type>(values, nulls, arrow_type)?,
            Values::Long(values) => primitive::<Int64Type>(values, nulls, arrow_type)?,
            Values::Float(values) => primitive::<Float32Type>(values, nulls, arrow_type)?,
            Values::Double(values) => primitive::<Float64Type>(values, nulls, arrow_type)?,
            Values::Decimal(values, ..) => primitive::<Decimal128Type>(values, nulls, arrow_type)?,
            Values::Date(values) => primitive::<Date32Type>(values, nulls, arrow_type)?,
            Values::Timestamp(values) | Values::TimestampNtz(values) => {
                primitive::<TimestampMicrosecondType>(values, nulls, arrow_type)?
            }
            Values::Text(texts) => Arc::new(texts.finish(nulls)?),
            Values::Array { ends, element } => {
                let (ends, element) = (offsets(ends)?, element.finish());
                let ArrowType::List(field) = arrow_type else { return Err(unlike(arrow_type)) };
                Arc::new(ListArray::try_new(field.clone(), ends, element?, nulls)?)
            }
            Values::Map { ends, keys, value } => {
                let (ends, keys, value) = (offsets(ends)?, keys.finish(None), value.finish());
                let ArrowType::Map(field, is_sorted) = arrow_type else { return Err(unlike(arrow_type)) };
                let ArrowType::Struct(fields) = field.data_type() else { return Err(unlike(arrow_type)) };
                let entries = StructArray::try_new(fields.clone(), vec![Arc::new(keys?), value?], None)?;
                Arc::new(MapArray::try_new(field.clone(), ends, entries, nulls, *is_sorted)?)
            }
            Values::Struct(objects) => {
                let rows = objects.rows;
                let columns = objects.finish()?;
                let ArrowType::Struct(fields) = arrow_type else { return Err(unlike(arrow_type)) };
                Arc::new(structs(fields, columns, nulls, rows)?)
            }
        })
    }
}

fn structs(
    fields: &Fields,
    columns: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    rows: usize,
) -> Result<StructArray, ArrowError> {
    if fields.is_empty() {
        return Ok(StructArray::new_empty_fields(rows, nulls));
    }
    StructArray::try_new(fields.clone(), columns, nulls)
}

fn unlike(arrow_type: &ArrowType) -> ArrowError {
    ArrowError::SchemaError(format!("{arrow_type} is not the type of its values"))
}

/// A byte, which may be given without a sign.
fn byte(value: i64) -> Option<i8> {
    match u8::try_from(value) {
        Ok(value) => Some(value.cast_signed()),
        Err(_) => i8::try_from(value).ok(),
    }
}

/// A value that is written as a text.
fn parsed<T>(cursor: &mut Cursor<'_>, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let text = cursor.quoted()?.unescaped()?;
    parse(std::str::from_utf8(&text).ok()?)
}

/// Cuts the ends of lists after so many, and gives the end of the last.
fn cut(ends: &mut Vec<i32>, rows: usize) -> usize {
    ends.truncate(rows);
    ends.last().map_or(0, |end| usize::try_from(*end).unwrap_or(0))
}

/// The values, leaving room for as many again.
fn taken<T>(values: &mut Vec<T>) -> Vec<T> {
    let room = values.len();
    std::mem::replace(values, Vec::with_capacity(room))
}

fn primitive<T: ArrowPrimitiveType>(
    values: &mut Vec<T::Native>,
    nulls: Option<NullBuffer>,
    arrow_type: &ArrowType,
) -> Result<ArrayRef, ArrowError> {
    let array = PrimitiveArray::<T>::try_new(ScalarBuffer::from(taken(values)), nulls)?;
    Ok(Arc::new(array.with_data_type(arrow_type.clone())))
}

fn offsets(ends: &mut Vec<i32>) -> Result<OffsetBuffer<i32>, ArrowError> {
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0);
    offsets.append(ends);
    // They only grow, and none is negative.
    Ok(OffsetBuffer::new(ScalarBuffer::from(offsets)))
}

impl Texts {
    #[inline]
    fn push(&mut self, quoted: Quoted<'_>) -> Option<()> {
        quoted.append_to(&mut self.bytes)?;
        self.end()
    }

    #[inline]
    fn end(&mut self) -> Option<()> {
        self.ends.push(i32::try_from(self.bytes.len()).ok()?);
        Some(())
    }

    /// Adds a value of any type.
    #[inline]
    fn append(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        if cursor.peek()? == b'"' {
            return self.push(cursor.quoted()?);
        }
        // What is no text stands as it is written.
        let start = cursor.position();
        cursor.skip()?;
        self.bytes.extend_from_slice(cursor.since(start));
        self.end()
    }

    fn truncate(&mut self, count: usize) {
        let end = cut(&mut self.ends, count);
        self.bytes.truncate(end);
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<StringArray, ArrowError> {
        let ends = offsets(&mut self.ends)?;
        StringArray::try_new(ends, Buffer::from_vec(taken(&mut self.bytes)), nulls)
    }
}
