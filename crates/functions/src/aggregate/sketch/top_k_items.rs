//! Items of `approx_top_k`: from values to the bytes that sketches keep, and back.

use super::super::states::Rows;
use super::frequent::{Frequent, HashCode};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, StringArray, new_empty_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int64Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use firesteel_types::{DataType, arrow_mapping};
use std::sync::Arc;

/// How items of a type are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Boolean,
    /// A number with a byte that tells its width.
    Byte,
    Short,
    Integer,
    Float,
    Long,
    Double,
    Text,
    Decimal,
}

impl Layout {
    /// The layout of a type's items; None where there is none.
    pub fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Byte => Self::Byte,
            DataType::Short => Self::Short,
            DataType::Integer | DataType::Date | DataType::YearMonthInterval(..) => Self::Integer,
            DataType::Float => Self::Float,
            DataType::Long | DataType::Timestamp | DataType::TimestampNtz | DataType::DayTimeInterval(..) => Self::Long,
            DataType::Double => Self::Double,
            DataType::String(_) => Self::Text,
            DataType::Decimal(..=9, _) => Self::Integer,
            DataType::Decimal(..=18, _) => Self::Long,
            DataType::Decimal(..) => Self::Decimal,
            _ => return None,
        })
    }

    /// Java's codes of such items.
    pub fn hash_code(self) -> HashCode {
        match self {
            Self::Boolean => |bytes| if bytes.first() == Some(&1) { 1231 } else { 1237 },
            Self::Byte | Self::Short | Self::Integer => |bytes| number(bytes) as i32,
            Self::Float => |bytes| {
                let bits = number(bytes) as u32;
                if f32::from_bits(bits).is_nan() { 0x7fc0_0000 } else { bits as i32 }
            },
            Self::Long => |bytes| fold(number(bytes)),
            Self::Double => |bytes| {
                let bits = number(bytes);
                fold(if f64::from_bits(bits as u64).is_nan() { 0x7ff8_0000_0000_0000 } else { bits })
            },
            Self::Text => |bytes| {
                let text = std::str::from_utf8(bytes).unwrap_or_default();
                text.encode_utf16().fold(0i32, |code, unit| code.wrapping_mul(31).wrapping_add(i32::from(unit)))
            },
            Self::Decimal => |bytes| bytes.iter().fold(1i32, |c, b| c.wrapping_mul(31).wrapping_add(i32::from(*b))),
        }
    }

    /// Bytes of an item; None where they differ.
    fn width(self) -> Option<usize> {
        match self {
            Self::Boolean | Self::Byte => Some(1),
            Self::Short => Some(2),
            Self::Integer | Self::Float => Some(4),
            Self::Long | Self::Double => Some(8),
            Self::Text | Self::Decimal => None,
        }
    }

    /// The byte before an item that tells its type.
    fn code(self) -> Option<u8> {
        match self {
            Self::Byte => Some(2),
            Self::Short => Some(3),
            Self::Float => Some(6),
            Self::Integer => Some(9),
            _ => None,
        }
    }

    /// Writes items as sketches end with them.
    pub fn write(self, items: &[&[u8]], out: &mut Vec<u8>) {
        if self == Self::Boolean {
            for eight in items.chunks(8) {
                let bits = eight.iter().enumerate().map(|(i, item)| u8::from(item.first() == Some(&1)) << i);
                out.push(bits.sum());
            }
            return;
        }
        for item in items {
            out.extend(self.code());
            if self.width().is_none() {
                out.extend_from_slice(&(item.len() as u32).to_le_bytes());
            }
            out.extend_from_slice(item);
        }
    }

    /// Reads items from the end of a sketch.
    pub fn read(self, mut bytes: &[u8], count: usize) -> Option<Vec<Box<[u8]>>> {
        if self == Self::Boolean {
            return (0..count).map(|i| Some(Box::from([bytes.get(i / 8)? >> (i % 8) & 1]))).collect();
        }
        let mut take = |length: usize| {
            let (taken, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            Some(taken)
        };
        let mut items = Vec::with_capacity(count.min(1 << 20));
        for _ in 0..count {
            if let Some(code) = self.code()
                && take(1)? != [code]
            {
                return None;
            }
            let width = match self.width() {
                Some(width) => width,
                None => number(take(4)?) as u32 as usize,
            };
            items.push(Box::from(take(width)?));
        }
        Some(items)
    }

    /// Calls `f(group, item)` for the values of a column that count.
    pub fn for_each_item(self, array: &ArrayRef, rows: &Rows<'_>, mut f: impl FnMut(usize, &[u8])) -> DfResult<()> {
        let nulls = array.nulls();
        match self {
            Self::Boolean => {
                let values = array.as_boolean();
                rows.for_each(nulls, |row, group| f(group, &[u8::from(values.value(row))]));
            }
            Self::Text => {
                let values = array.as_string::<i32>();
                rows.for_each(nulls, |row, group| f(group, values.value(row).as_bytes()));
            }
            Self::Float => {
                let values = array.as_primitive::<Float32Type>();
                rows.for_each(nulls, |row, group| f(group, &values.value(row).to_le_bytes()));
            }
            Self::Double => {
                let values = array.as_primitive::<Float64Type>();
                rows.for_each(nulls, |row, group| f(group, &values.value(row).to_le_bytes()));
            }
            _ if matches!(array.data_type(), ArrowType::Decimal128(..)) => {
                let values = array.as_primitive::<Decimal128Type>();
                rows.for_each(nulls, |row, group| {
                    let value = values.value(row);
                    match self.width() {
                        Some(width) => f(group, &value.to_le_bytes()[..width]),
                        None => f(group, shortest(&value.to_be_bytes())),
                    }
                });
            }
            _ => {
                let values = longs(array)?;
                let values = values.as_primitive::<Int64Type>();
                let width = self.width().unwrap_or(8);
                rows.for_each(nulls, |row, group| f(group, &values.value(row).to_le_bytes()[..width]));
            }
        }
        Ok(())
    }

    /// Items as a column of their type; None for null.
    pub fn column(self, items: &[Option<&[u8]>], data_type: &DataType) -> DfResult<ArrayRef> {
        let arrow = arrow_mapping::to_arrow(data_type);
        if items.is_empty() {
            return Ok(new_empty_array(&arrow));
        }
        let numbers = || items.iter().map(|item| item.map(number));
        let array: ArrayRef = match self {
            Self::Boolean => Arc::new(numbers().map(|n| n.map(|n| n == 1)).collect::<BooleanArray>()),
            Self::Text => Arc::new(
                items.iter().map(|item| item.and_then(|i| std::str::from_utf8(i).ok())).collect::<StringArray>(),
            ),
            Self::Float => {
                Arc::new(numbers().map(|n| n.map(|n| f32::from_bits(n as u32))).collect::<arrow::array::Float32Array>())
            }
            Self::Double => {
                Arc::new(numbers().map(|n| n.map(|n| f64::from_bits(n as u64))).collect::<arrow::array::Float64Array>())
            }
            _ if matches!(data_type, DataType::Decimal(..)) => {
                let values = items.iter().map(|item| {
                    item.map(|bytes| if self.width().is_some() { number(bytes).into() } else { big_endian(bytes) })
                });
                let array = values.collect::<arrow::array::Decimal128Array>();
                return match &arrow {
                    ArrowType::Decimal128(precision, scale) => {
                        Ok(Arc::new(array.with_precision_and_scale(*precision, *scale)?))
                    }
                    other => Err(DataFusionError::Internal(format!("decimals as {other}"))),
                };
            }
            _ => Arc::new(numbers().collect::<Int64Array>()),
        };
        let array = match &arrow {
            ArrowType::Date32 | ArrowType::Interval(_) => cast(&array, &ArrowType::Int32)?,
            ArrowType::Int8 | ArrowType::Int16 | ArrowType::Int32 => cast(&array, &arrow)?,
            _ => array,
        };
        Ok(if array.data_type() == &arrow { array } else { retyped(&array, &arrow)? })
    }

    /// An empty sketch for so many items.
    pub fn sketch(self, items: i32) -> Frequent {
        let slots = (f64::from(items) / 0.75).ceil() as u64;
        Frequent::new(slots.next_power_of_two().trailing_zeros() as u8, self.hash_code())
    }
}

/// Whole numbers of any type, as longs.
fn longs(array: &ArrayRef) -> DfResult<ArrayRef> {
    Ok(match array.data_type() {
        ArrowType::Date32 | ArrowType::Interval(_) => cast(&retyped(array, &ArrowType::Int32)?, &ArrowType::Int64)?,
        ArrowType::Timestamp(..) | ArrowType::Duration(_) => retyped(array, &ArrowType::Int64)?,
        _ => cast(array, &ArrowType::Int64)?,
    })
}

/// A number from its bytes, the lowest first.
fn number(bytes: &[u8]) -> i64 {
    let mut buffer = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { [0xff; 8] } else { [0; 8] };
    let width = bytes.len().min(8);
    buffer[..width].copy_from_slice(&bytes[..width]);
    i64::from_le_bytes(buffer)
}

fn fold(bits: i64) -> i32 {
    (bits ^ ((bits as u64) >> 32) as i64) as i32
}

/// A number from its bytes, the highest first.
fn big_endian(bytes: &[u8]) -> i128 {
    let start = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(start, |number, byte| (number << 8) | i128::from(*byte))
}

/// The fewest bytes that hold a whole number and its sign, the highest first.
fn shortest(bytes: &[u8; 16]) -> &[u8] {
    let filler = if bytes[0] & 0x80 == 0 { 0 } else { 0xff };
    let spare = bytes.windows(2).take_while(|pair| pair[0] == filler && (pair[1] ^ filler) & 0x80 == 0).count();
    &bytes[spare..]
}

/// The same bits as another type of their width.
fn retyped(array: &ArrayRef, to: &ArrowType) -> DfResult<ArrayRef> {
    let data = array.to_data().into_builder().data_type(to.clone()).build()?;
    Ok(arrow::array::make_array(data))
}
