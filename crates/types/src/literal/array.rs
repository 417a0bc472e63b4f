//! Literals to Arrow arrays and back.

use crate::arrow_mapping::{from_arrow, to_arrow};
use crate::{DataType, Literal, StructType};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, ListArray, MapArray, NullArray, PrimitiveArray, StringArray,
    StructArray, UInt32Array, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::take;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalYearMonthType, Time64NanosecondType, TimestampMicrosecondType,
};
use firesteel_error::{Result, SparkError};
use std::collections::HashMap;
use std::sync::Arc;

impl Literal {
    /// The value `length` times, in the engine's Arrow type.
    ///
    /// ```
    /// use arrow::array::Int64Array;
    /// use firesteel_types::Literal;
    /// let array = Literal::Long(7).to_array(2)?;
    /// assert_eq!(array.as_ref(), &Int64Array::from(vec![7, 7]));
    /// # Ok::<(), firesteel_error::SparkError>(())
    /// ```
    pub fn to_array(&self, length: usize) -> Result<ArrayRef> {
        let data_type = self.data_type();
        if self.is_null() {
            return Ok(new_null_array(&to_arrow(&data_type), length));
        }
        let one = Literal::array_of(&[self], &data_type)?;
        if length == 1 {
            return Ok(one);
        }
        take(&one, &UInt32Array::from(vec![0; length]), None).map_err(internal)
    }

    /// Values of one type as a column, in the engine's Arrow type.
    ///
    /// Every value is a null or of that type, but for names and nullability.
    pub fn array_of(values: &[&Literal], data_type: &DataType) -> Result<ArrayRef> {
        let values: Vec<Option<&Literal>> = values.iter().map(|v| (!v.is_null()).then_some(*v)).collect();
        build(&values, data_type)
    }

    /// The value in a row of a column of a type; the array may be of any encoding of it.
    pub fn from_array(array: &dyn Array, row: usize, data_type: &DataType) -> Result<Literal> {
        if row >= array.len() {
            return Err(SparkError::internal(format!("row {row} of {}", array.len())));
        }
        let one = array.slice(row, 1);
        let one = crate::client::conform(&one, &to_arrow(data_type))?;
        read(one.as_ref(), 0, data_type)
    }

    /// The value in a row of a column, of the type that its Arrow type stands for.
    pub fn from_arrow(array: &dyn Array, row: usize) -> Result<Literal> {
        Literal::from_array(array, row, &from_arrow(array.data_type(), &HashMap::new())?)
    }
}

fn internal(error: arrow::error::ArrowError) -> SparkError {
    SparkError::internal(error.to_string())
}

fn mismatch(literal: &Literal, data_type: &DataType) -> SparkError {
    let own = literal.data_type().simple_string();
    SparkError::internal(format!("a literal of {own} where {} was expected", data_type.simple_string()))
}

/// Collects what a pattern picks out of literals, nulls staying null.
macro_rules! collect {
    ($values:expr, $data_type:expr, $pattern:pat => $value:expr) => {
        $values
            .iter()
            .map(|value| match value {
                None => Ok(None),
                Some($pattern) => Ok(Some($value)),
                Some(other) => Err(mismatch(other, $data_type)),
            })
            .collect::<Result<Vec<_>>>()?
    };
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<Option<T::Native>>, data_type: &DataType) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter(values).with_data_type(to_arrow(data_type)))
}

fn build(values: &[Option<&Literal>], data_type: &DataType) -> Result<ArrayRef> {
    Ok(match data_type {
        DataType::Null => Arc::new(NullArray::new(values.len())),
        DataType::Boolean => Arc::new(BooleanArray::from(collect!(values, data_type, Literal::Boolean(v) => *v))),
        DataType::Byte => primitive::<Int8Type>(collect!(values, data_type, Literal::Byte(v) => *v), data_type),
        DataType::Short => primitive::<Int16Type>(collect!(values, data_type, Literal::Short(v) => *v), data_type),
        DataType::Integer => primitive::<Int32Type>(collect!(values, data_type, Literal::Integer(v) => *v), data_type),
        DataType::Long => primitive::<Int64Type>(collect!(values, data_type, Literal::Long(v) => *v), data_type),
        DataType::Float => primitive::<Float32Type>(collect!(values, data_type, Literal::Float(v) => *v), data_type),
        DataType::Double => primitive::<Float64Type>(collect!(values, data_type, Literal::Double(v) => *v), data_type),
        DataType::Decimal(_, scale) => {
            let values = collect!(values, data_type, Literal::Decimal(v, _, own) => rescale(*v, *own, *scale)?);
            primitive::<Decimal128Type>(values, data_type)
        }
        DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => {
            Arc::new(StringArray::from(collect!(values, data_type, Literal::String(v) => v.as_str())))
        }
        DataType::Binary => {
            Arc::new(BinaryArray::from(collect!(values, data_type, Literal::Binary(v) => v.as_slice())))
        }
        DataType::Date => primitive::<Date32Type>(collect!(values, data_type, Literal::Date(v) => *v), data_type),
        DataType::Timestamp => {
            let values = collect!(values, data_type, Literal::Timestamp(v) => *v);
            primitive::<TimestampMicrosecondType>(values, data_type)
        }
        DataType::TimestampNtz => {
            let values = collect!(values, data_type, Literal::TimestampNtz(v) => *v);
            primitive::<TimestampMicrosecondType>(values, data_type)
        }
        DataType::Time(_) => {
            primitive::<Time64NanosecondType>(collect!(values, data_type, Literal::Time(v, _) => *v), data_type)
        }
        DataType::CalendarInterval => {
            let values = collect!(values, data_type, Literal::CalendarInterval(months, days, micros) => {
                let nanos = micros.checked_mul(1000).ok_or_else(too_long)?;
                IntervalMonthDayNano::new(*months, *days, nanos)
            });
            primitive::<IntervalMonthDayNanoType>(values, data_type)
        }
        DataType::YearMonthInterval(..) => {
            let values = collect!(values, data_type, Literal::YearMonthInterval(v, _) => *v);
            primitive::<IntervalYearMonthType>(values, data_type)
        }
        DataType::DayTimeInterval(..) => {
            let values = collect!(values, data_type, Literal::DayTimeInterval(v, _) => *v);
            primitive::<DurationMicrosecondType>(values, data_type)
        }
        DataType::Array { element, .. } => build_list(values, data_type, element)?,
        DataType::Map { key, value, .. } => build_map(values, data_type, key, value)?,
        DataType::Struct(fields) => build_struct(values, data_type, fields)?,
        DataType::Udt { sql_type, .. } => build(values, sql_type)?,
        DataType::Variant | DataType::Geometry(_) | DataType::Geography(_) | DataType::Unparsed(_) => {
            match values.iter().flatten().next() {
                Some(literal) => return Err(mismatch(literal, data_type)),
                None => new_null_array(&to_arrow(data_type), values.len()),
            }
        }
    })
}

/// Arrow counts nanoseconds where Spark counts microseconds.
fn too_long() -> SparkError {
    SparkError::internal("an interval of more nanoseconds than fit into 64 bits")
}

fn rescale(unscaled: i128, own: i8, scale: i8) -> Result<i128> {
    let lost = || SparkError::internal("a decimal literal that does not fit its type");
    let factor = 10i128.checked_pow(u32::from(own.abs_diff(scale))).ok_or_else(lost)?;
    if scale >= own {
        return unscaled.checked_mul(factor).ok_or_else(lost);
    }
    if unscaled % factor == 0 { Ok(unscaled / factor) } else { Err(lost()) }
}

fn validity(values: &[Option<&Literal>]) -> Option<NullBuffer> {
    let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
    (nulls.null_count() > 0).then_some(nulls)
}

fn build_list(values: &[Option<&Literal>], data_type: &DataType, element: &DataType) -> Result<ArrayRef> {
    let rows = collect!(values, data_type, Literal::Array(elements, _) => elements.as_slice());
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|row| row.map_or(0, <[_]>::len)));
    let elements: Vec<&Literal> = rows.iter().flatten().flat_map(|row| row.iter()).collect();
    let elements = Literal::array_of(&elements, element)?;
    let ArrowType::List(field) = to_arrow(data_type) else {
        return Err(SparkError::internal("arrays are lists"));
    };
    Ok(Arc::new(ListArray::try_new(field, offsets, elements, validity(values)).map_err(internal)?))
}

fn build_map(values: &[Option<&Literal>], data_type: &DataType, key: &DataType, value: &DataType) -> Result<ArrayRef> {
    let rows = collect!(values, data_type, Literal::Map(entries, _, _) => entries.as_slice());
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|row| row.map_or(0, <[_]>::len)));
    let entries = || rows.iter().flatten().flat_map(|row| row.iter());
    let keys = Literal::array_of(&entries().map(|(key, _)| key).collect::<Vec<_>>(), key)?;
    let mapped = Literal::array_of(&entries().map(|(_, value)| value).collect::<Vec<_>>(), value)?;
    let ArrowType::Map(field, sorted) = to_arrow(data_type) else {
        return Err(SparkError::internal("maps are maps"));
    };
    let ArrowType::Struct(fields) = field.data_type() else {
        return Err(SparkError::internal("entries of a map are a struct"));
    };
    let entries = StructArray::try_new(fields.clone(), vec![keys, mapped], None).map_err(internal)?;
    Ok(Arc::new(MapArray::try_new(field, offsets, entries, validity(values), sorted).map_err(internal)?))
}

fn build_struct(values: &[Option<&Literal>], data_type: &DataType, fields: &StructType) -> Result<ArrayRef> {
    let rows = collect!(values, data_type, Literal::Struct(columns, _) => columns.as_slice());
    let ArrowType::Struct(arrow_fields) = to_arrow(data_type) else {
        return Err(SparkError::internal("structs are structs"));
    };
    if fields.fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(values.len(), validity(values))));
    }
    let mut columns = Vec::with_capacity(fields.fields.len());
    for (i, field) in fields.fields.iter().enumerate() {
        let column: Vec<Option<&Literal>> =
            rows.iter().map(|row| row.and_then(|row| row.get(i)).filter(|v| !v.is_null())).collect();
        columns.push(build(&column, &field.data_type)?);
    }
    Ok(Arc::new(StructArray::try_new(arrow_fields, columns, validity(values)).map_err(internal)?))
}

/// Reads a row of an array that is of the engine's type.
fn read(array: &dyn Array, row: usize, data_type: &DataType) -> Result<Literal> {
    if array.is_null(row) || matches!(data_type, DataType::Null) {
        return Ok(Literal::Null(data_type.clone()));
    }
    Ok(match data_type {
        DataType::Null => Literal::Null(DataType::Null),
        DataType::Boolean => Literal::Boolean(array.as_boolean().value(row)),
        DataType::Byte => Literal::Byte(array.as_primitive::<Int8Type>().value(row)),
        DataType::Short => Literal::Short(array.as_primitive::<Int16Type>().value(row)),
        DataType::Integer => Literal::Integer(array.as_primitive::<Int32Type>().value(row)),
        DataType::Long => Literal::Long(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float => Literal::Float(array.as_primitive::<Float32Type>().value(row)),
        DataType::Double => Literal::Double(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal(precision, scale) => {
            Literal::Decimal(array.as_primitive::<Decimal128Type>().value(row), *precision, *scale)
        }
        DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => {
            Literal::String(array.as_string::<i32>().value(row).to_string())
        }
        DataType::Binary => Literal::Binary(array.as_binary::<i32>().value(row).to_vec()),
        DataType::Date => Literal::Date(array.as_primitive::<Date32Type>().value(row)),
        DataType::Timestamp => Literal::Timestamp(array.as_primitive::<TimestampMicrosecondType>().value(row)),
        DataType::TimestampNtz => Literal::TimestampNtz(array.as_primitive::<TimestampMicrosecondType>().value(row)),
        DataType::Time(precision) => Literal::Time(array.as_primitive::<Time64NanosecondType>().value(row), *precision),
        DataType::CalendarInterval => {
            let interval = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            Literal::CalendarInterval(interval.months, interval.days, interval.nanoseconds.div_euclid(1000))
        }
        DataType::YearMonthInterval(..) => {
            Literal::YearMonthInterval(array.as_primitive::<IntervalYearMonthType>().value(row), data_type.clone())
        }
        DataType::DayTimeInterval(..) => {
            Literal::DayTimeInterval(array.as_primitive::<DurationMicrosecondType>().value(row), data_type.clone())
        }
        DataType::Array { element, .. } => {
            let values = array.as_list::<i32>().value(row);
            let elements = (0..values.len()).map(|i| read(values.as_ref(), i, element)).collect::<Result<_>>()?;
            Literal::Array(elements, element.as_ref().clone())
        }
        DataType::Map { key, value, .. } => {
            let entries = array.as_map().value(row);
            let pair = |i| Ok((read(entries.column(0), i, key)?, read(entries.column(1), i, value)?));
            let pairs = (0..entries.len()).map(pair).collect::<Result<_>>()?;
            Literal::Map(pairs, key.as_ref().clone(), value.as_ref().clone())
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let pairs = columns.iter().zip(&fields.fields);
            let values = pairs.map(|(column, field)| read(column, row, &field.data_type)).collect::<Result<_>>()?;
            Literal::Struct(values, fields.clone())
        }
        DataType::Udt { sql_type, .. } => read(array, row, sql_type)?,
        DataType::Variant | DataType::Geometry(_) | DataType::Geography(_) | DataType::Unparsed(_) => {
            return Err(SparkError::unsupported(format!("literals of {}", data_type.simple_string())));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::parse_data_type;
    use arrow::compute::cast;

    #[test]
    fn literals_survive_arrow() {
        let fields = |text: &str| match parse_data_type(text).unwrap() {
            DataType::Struct(fields) => fields,
            other => unreachable!("{other}"),
        };
        let null = Literal::Null(DataType::Integer);
        for literal in [
            Literal::Null(DataType::Null),
            Literal::Null(parse_data_type("array<map<string, int>>").unwrap()),
            Literal::Null(DataType::Variant),
            Literal::Boolean(true),
            Literal::Byte(-1),
            Literal::Short(2),
            Literal::Float(1.5),
            Literal::Decimal(-150, 5, 2),
            Literal::String("é".into()),
            Literal::Binary(vec![0, 255]),
            Literal::Date(-1),
            Literal::Timestamp(-1),
            Literal::TimestampNtz(5),
            Literal::Time(1000, 3),
            Literal::CalendarInterval(1, -2, -3),
            Literal::YearMonthInterval(5, parse_data_type("interval month").unwrap()),
            Literal::DayTimeInterval(-5, parse_data_type("interval hour to second").unwrap()),
            Literal::Array(vec![Literal::Integer(1), null.clone()], DataType::Integer),
            Literal::Array(vec![], DataType::STRING),
            Literal::Map(vec![(Literal::Long(1), null.clone())], DataType::Long, DataType::Integer),
            Literal::Struct(
                vec![Literal::Integer(1), Literal::Null(DataType::STRING)],
                fields("struct<a: int, b: string>"),
            ),
            Literal::Struct(vec![], fields("struct<>")),
            Literal::Array(
                vec![
                    Literal::Struct(vec![Literal::Integer(1)], fields("struct<a: int>")),
                    Literal::Null(parse_data_type("struct<a: int>").unwrap()),
                ],
                parse_data_type("struct<a: int>").unwrap(),
            ),
        ] {
            let array = literal.to_array(3).unwrap();
            assert_eq!(array.len(), 3);
            assert_eq!(array.data_type(), &to_arrow(&literal.data_type()));
            assert_eq!(Literal::from_array(&array, 2, &literal.data_type()).unwrap(), literal);
        }
    }

    #[test]
    fn other_encodings_are_read() {
        let views = cast(&StringArray::from(vec!["a", "b"]), &ArrowType::Utf8View).unwrap();
        assert_eq!(Literal::from_arrow(&views, 1).unwrap(), Literal::String("b".into()));
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
        assert_eq!(
            Literal::from_arrow(&list, 0).unwrap(),
            Literal::Array(vec![Literal::Integer(1)], DataType::Integer)
        );
    }

    #[test]
    fn wrong_types_fail() {
        assert!(Literal::array_of(&[&Literal::Integer(1)], &DataType::Long).unwrap_err().is("INTERNAL_ERROR"));
    }
}
