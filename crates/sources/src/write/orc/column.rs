//! Columns of ORC files, gathered for a stripe.

use super::stream::{bit_runs, byte_runs, number_runs, push_signed};
use crate::error::from_arrow;
use arrow::array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalYearMonthType, Time64NanosecondType, TimestampMicrosecondType,
};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::filter;
use arrow::datatypes::DataType as ArrowType;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use orc_rust::proto::{self, stream::Kind as StreamKind, r#type::Kind};

/// Moments are told from the start of 2015.
const START: i64 = 1_420_070_400;

/// The attribute that holds Spark's type, where the file's is another one.
pub(crate) const TYPE_ATTRIBUTE: &str = "spark.sql.catalyst.type";

/// The values of a column so far.
pub(super) struct Column {
    id: u32,
    present: Vec<bool>,
    has_nulls: bool,
    values: Values,
}

enum Values {
    Bits(Vec<bool>),
    Bytes(Vec<u8>),
    Numbers(Vec<i64>),
    /// As they stand in the file.
    Plain(Vec<u8>),
    Texts {
        bytes: Vec<u8>,
        lengths: Vec<i64>,
    },
    Moments {
        seconds: Vec<i64>,
        nanos: Vec<i64>,
    },
    Decimals {
        digits: Vec<u8>,
        scales: Vec<i64>,
    },
    List {
        lengths: Vec<i64>,
        children: Vec<Column>,
    },
    Struct(Vec<Column>),
}

impl Column {
    /// An empty column of a type, whose description is added to those before.
    pub(super) fn new(data_type: &DataType, types: &mut Vec<proto::Type>) -> Result<Self> {
        use DataType as T;
        let id = u32::try_from(types.len()).unwrap_or(u32::MAX);
        types.push(proto::Type::default());
        let mut described = proto::Type::default();
        let mut children = Vec::new();
        let (kind, values) = match data_type {
            T::Boolean => (Kind::Boolean, Values::Bits(Vec::new())),
            T::Byte => (Kind::Byte, Values::Bytes(Vec::new())),
            T::Short => (Kind::Short, Values::Numbers(Vec::new())),
            T::Integer | T::YearMonthInterval(..) => (Kind::Int, Values::Numbers(Vec::new())),
            T::Long | T::TimestampNtz | T::DayTimeInterval(..) | T::Time(_) => {
                (Kind::Long, Values::Numbers(Vec::new()))
            }
            T::Date => (Kind::Date, Values::Numbers(Vec::new())),
            T::Float => (Kind::Float, Values::Plain(Vec::new())),
            T::Double => (Kind::Double, Values::Plain(Vec::new())),
            T::String(_) | T::Char(_) | T::Varchar(_) => {
                (Kind::String, Values::Texts { bytes: Vec::new(), lengths: Vec::new() })
            }
            T::Binary => (Kind::Binary, Values::Texts { bytes: Vec::new(), lengths: Vec::new() }),
            T::Timestamp => (Kind::Timestamp, Values::Moments { seconds: Vec::new(), nanos: Vec::new() }),
            T::Decimal(precision, scale) => {
                described.precision = Some(u32::from(*precision));
                described.scale = u32::try_from(*scale).ok();
                (Kind::Decimal, Values::Decimals { digits: Vec::new(), scales: Vec::new() })
            }
            T::Array { element, .. } => {
                children.push(Self::new(element, types)?);
                (Kind::List, Values::List { lengths: Vec::new(), children: Vec::new() })
            }
            T::Map { key, value, .. } => {
                children.push(Self::new(key, types)?);
                children.push(Self::new(value, types)?);
                (Kind::Map, Values::List { lengths: Vec::new(), children: Vec::new() })
            }
            T::Struct(schema) => {
                for field in &schema.fields {
                    children.push(Self::new(&field.data_type, types)?);
                    described.field_names.push(field.name.clone());
                }
                (Kind::Struct, Values::Struct(Vec::new()))
            }
            T::Udt { sql_type, .. } => {
                types.pop();
                return Self::new(sql_type, types);
            }
            other => return Err(SparkError::unsupported(format!("values of the type {other} in ORC files"))),
        };
        if matches!(data_type, T::TimestampNtz | T::DayTimeInterval(..) | T::YearMonthInterval(..) | T::Time(_)) {
            let value = Some(data_type.simple_string());
            described.attributes.push(proto::StringPair { key: Some(TYPE_ATTRIBUTE.to_string()), value });
        }
        described.kind = Some(kind.into());
        described.subtypes = children.iter().map(|child| child.id).collect();
        if let Some(place) = types.get_mut(id as usize) {
            *place = described;
        }
        let values = match values {
            Values::List { lengths, .. } => Values::List { lengths, children },
            Values::Struct(_) => Values::Struct(children),
            other => other,
        };
        Ok(Self { id, present: Vec::new(), has_nulls: false, values })
    }

    /// Adds the values of an array.
    pub(super) fn append(&mut self, array: &ArrayRef) -> Result<()> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let array = match nulls {
            None => {
                self.present.resize(self.present.len() + array.len(), true);
                array.clone()
            }
            Some(nulls) => {
                self.has_nulls = true;
                self.present.extend(nulls.iter());
                // Only values stand in files, at any depth.
                filter(array, &BooleanArray::new(nulls.inner().clone(), None)).map_err(from_arrow)?
            }
        };
        match &mut self.values {
            Values::Bits(bits) => bits.extend(array.as_boolean().values().iter()),
            Values::Bytes(bytes) => {
                bytes.extend(array.as_primitive::<Int8Type>().values().iter().map(|value| value.cast_unsigned()));
            }
            Values::Numbers(numbers) => append_numbers(numbers, &array)?,
            Values::Plain(bytes) => match array.data_type() {
                ArrowType::Float32 => {
                    bytes.extend(array.as_primitive::<Float32Type>().values().iter().flat_map(|x| x.to_le_bytes()));
                }
                _ => bytes.extend(array.as_primitive::<Float64Type>().values().iter().flat_map(|x| x.to_le_bytes())),
            },
            Values::Texts { bytes, lengths } => append_texts(bytes, lengths, &array)?,
            Values::Moments { seconds, nanos } => {
                for micros in array.as_primitive::<TimestampMicrosecondType>().values() {
                    append_moment(seconds, nanos, *micros)?;
                }
            }
            Values::Decimals { digits, scales } => {
                let ArrowType::Decimal128(_, scale) = array.data_type() else { return Err(unlike(&array)) };
                for value in array.as_primitive::<Decimal128Type>().values() {
                    push_signed(digits, *value);
                    scales.push(i64::from(*scale));
                }
            }
            Values::List { lengths, children } => {
                let (offsets, parts): (&[i32], Vec<ArrayRef>) = match array.data_type() {
                    ArrowType::List(_) => {
                        let list = array.as_list::<i32>();
                        (list.value_offsets(), vec![list.values().clone()])
                    }
                    _ => {
                        let map = array.as_map();
                        (map.value_offsets(), vec![map.keys().clone(), map.values().clone()])
                    }
                };
                lengths.extend(offsets.windows(2).map(|pair| i64::from(pair[1] - pair[0])));
                let at = |offset: Option<&i32>| usize::try_from(offset.copied().unwrap_or(0)).unwrap_or(0);
                let (first, last) = (at(offsets.first()), at(offsets.last()));
                for (child, part) in children.iter_mut().zip(parts) {
                    child.append(&part.slice(first, last - first))?;
                }
            }
            Values::Struct(children) => {
                for (child, column) in children.iter_mut().zip(array.as_struct().columns()) {
                    child.append(column)?;
                }
            }
        }
        Ok(())
    }

    /// About how many bytes there are.
    pub(super) fn size(&self) -> usize {
        let own = match &self.values {
            Values::Bits(bits) => bits.len() / 8,
            Values::Bytes(bytes) | Values::Plain(bytes) => bytes.len(),
            Values::Numbers(numbers) => numbers.len() * 8,
            Values::Texts { bytes, lengths } => bytes.len() + lengths.len() * 8,
            Values::Moments { seconds, .. } => seconds.len() * 16,
            Values::Decimals { digits, scales } => digits.len() + scales.len() * 8,
            Values::List { lengths, children } => lengths.len() * 8 + children.iter().map(Self::size).sum::<usize>(),
            Values::Struct(children) => children.iter().map(Self::size).sum(),
        };
        own + self.present.len()
    }

    /// Gives the streams of the column and those within it, and what is known of each; none is left.
    pub(super) fn take(&mut self, streams: &mut Vec<(u32, StreamKind, Vec<u8>)>, facts: &mut Facts) {
        facts.add(self.id, self.present.iter().filter(|is_there| **is_there).count() as u64, self.has_nulls);
        let present = std::mem::take(&mut self.present);
        if std::mem::take(&mut self.has_nulls) {
            streams.push((self.id, StreamKind::Present, bit_runs(&present)));
        }
        let mut push = |kind, bytes| streams.push((self.id, kind, bytes));
        match &mut self.values {
            Values::Bits(bits) => push(StreamKind::Data, bit_runs(&std::mem::take(bits))),
            Values::Bytes(bytes) => push(StreamKind::Data, byte_runs(&std::mem::take(bytes))),
            Values::Numbers(numbers) => push(StreamKind::Data, number_runs(&std::mem::take(numbers), true)),
            Values::Plain(bytes) => push(StreamKind::Data, std::mem::take(bytes)),
            Values::Texts { bytes, lengths } => {
                push(StreamKind::Data, std::mem::take(bytes));
                push(StreamKind::Length, number_runs(&std::mem::take(lengths), false));
            }
            Values::Moments { seconds, nanos } => {
                push(StreamKind::Data, number_runs(&std::mem::take(seconds), true));
                push(StreamKind::Secondary, number_runs(&std::mem::take(nanos), false));
            }
            Values::Decimals { digits, scales } => {
                push(StreamKind::Data, std::mem::take(digits));
                push(StreamKind::Secondary, number_runs(&std::mem::take(scales), true));
            }
            Values::List { lengths, children } => {
                push(StreamKind::Length, number_runs(&std::mem::take(lengths), false));
                children.iter_mut().for_each(|child| child.take(streams, facts));
            }
            Values::Struct(children) => children.iter_mut().for_each(|child| child.take(streams, facts)),
        }
    }
}

/// What is known of the columns of a file, by their ids.
#[derive(Default)]
pub(super) struct Facts(Vec<(u64, bool)>);

impl Facts {
    fn add(&mut self, id: u32, values: u64, has_nulls: bool) {
        let id = id as usize;
        if self.0.len() <= id {
            self.0.resize(id + 1, (0, false));
        }
        self.0[id].0 += values;
        self.0[id].1 |= has_nulls;
    }

    /// As the file has them.
    pub(super) fn statistics(&self) -> Vec<proto::ColumnStatistics> {
        let statistics = |(values, has_nulls): &(u64, bool)| proto::ColumnStatistics {
            number_of_values: Some(*values),
            has_null: Some(*has_nulls),
            ..Default::default()
        };
        self.0.iter().map(statistics).collect()
    }
}

fn unlike(array: &ArrayRef) -> SparkError {
    SparkError::internal(format!("{} is not the type of a column's values", array.data_type()))
}

fn append_numbers(numbers: &mut Vec<i64>, array: &ArrayRef) -> Result<()> {
    match array.data_type() {
        ArrowType::Int16 => numbers.extend(array.as_primitive::<Int16Type>().values().iter().map(|x| i64::from(*x))),
        ArrowType::Int32 => numbers.extend(array.as_primitive::<Int32Type>().values().iter().map(|x| i64::from(*x))),
        ArrowType::Int64 => numbers.extend_from_slice(array.as_primitive::<Int64Type>().values()),
        ArrowType::Date32 => numbers.extend(array.as_primitive::<Date32Type>().values().iter().map(|x| i64::from(*x))),
        ArrowType::Timestamp(..) => {
            numbers.extend_from_slice(array.as_primitive::<TimestampMicrosecondType>().values());
        }
        ArrowType::Duration(_) => numbers.extend_from_slice(array.as_primitive::<DurationMicrosecondType>().values()),
        ArrowType::Time64(_) => numbers.extend_from_slice(array.as_primitive::<Time64NanosecondType>().values()),
        ArrowType::Interval(_) => {
            numbers.extend(array.as_primitive::<IntervalYearMonthType>().values().iter().map(|x| i64::from(*x)));
        }
        _ => return Err(unlike(array)),
    }
    Ok(())
}

fn append_texts(bytes: &mut Vec<u8>, lengths: &mut Vec<i64>, array: &ArrayRef) -> Result<()> {
    let binary = arrow::compute::cast(array, &ArrowType::Binary).map_err(from_arrow)?;
    let binary = binary.as_binary::<i32>();
    for row in 0..binary.len() {
        let value = binary.value(row);
        bytes.extend_from_slice(value);
        lengths.push(i64::try_from(value.len()).unwrap_or(i64::MAX));
    }
    Ok(())
}

/// Seconds since the start, and nanoseconds without zeros at the end, of which the lowest bits tell how many.
fn append_moment(seconds: &mut Vec<i64>, nanos: &mut Vec<i64>, micros: i64) -> Result<()> {
    let (second, part) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000) * 1000);
    // Readers take one second off before 1970, where there are milliseconds.
    let has_millis = part > 999_999;
    if second == -1 && has_millis {
        return Err(SparkError::unsupported("moments of the last second before 1970 in ORC files"));
    }
    seconds.push(if second < 0 && has_millis { second + 1 } else { second } - START);
    let (mut digits, mut zeros) = (part, 0);
    while digits != 0 && digits % 10 == 0 && zeros < 8 {
        digits /= 10;
        zeros += 1;
    }
    nanos.push(match zeros {
        0 => digits << 3,
        1 => (digits * 10) << 3,
        zeros => (digits << 3) | (zeros - 1),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_seconds_and_digits() {
        let told = |micros| {
            let (mut seconds, mut nanos) = (Vec::new(), Vec::new());
            append_moment(&mut seconds, &mut nanos, micros).ok()?;
            Some((seconds[0] + START, nanos[0]))
        };
        assert_eq!(told(0), Some((0, 0)));
        assert_eq!(told(1_000_001), Some((1, (1 << 3) | 2)));
        assert_eq!(told(1_500_000), Some((1, (5 << 3) | 7)));
        assert_eq!(told(-1_500_000), Some((-1, (5 << 3) | 7)));
        assert_eq!(told(-2_000_000), Some((-2, 0)));
        assert_eq!(told(-500_000), None);
    }
}
