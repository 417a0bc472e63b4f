//! The order in which Spark's hash maps give their keys: what it takes first among equals hangs on it.

use crate::scalar::hash::algorithm::{Algorithm, Murmur3};
use crate::scalar::hash::murmur3_of;
use arrow::array::{Array, ArrayRef, AsArray, downcast_primitive_array};
use arrow::datatypes::{ArrowNativeType, DataType as ArrowType};

const FEWEST_SLOTS: usize = 64;

/// A row with the hash code of its key.
type Row = (u32, i32);

/// The rows, whose keys differ, in the order of a map that took them in this order.
pub fn ordered(rows: Vec<Row>) -> Vec<u32> {
    // The map of the partial aggregate is sent, and read into that of the final one.
    laid_out(laid_out(rows)).into_iter().map(|(row, _)| row).collect()
}

fn laid_out(rows: Vec<Row>) -> Vec<Row> {
    let mut slots: Vec<Option<Row>> = vec![None; FEWEST_SLOTS];
    for (taken, row) in (1..).zip(rows) {
        put(&mut slots, row);
        if taken > slots.len() * 7 / 10 {
            let mut larger = vec![None; 2 * slots.len()];
            slots.into_iter().flatten().for_each(|row| put(&mut larger, row));
            slots = larger;
        }
    }
    slots.into_iter().flatten().collect()
}

/// Puts a row where its code says, or into the next free slot, in growing steps.
fn put(slots: &mut [Option<Row>], row: Row) {
    let mask = slots.len() - 1;
    let mut place = Murmur3::int(row.1, 0) as u32 as usize & mask;
    let mut step = 1;
    while slots[place].is_some() {
        place = (place + step) & mask;
        step += 1;
    }
    slots[place] = Some(row);
}

/// Java's hash codes of these rows' values; None for types whose codes are not known here.
pub fn codes(values: &ArrayRef, rows: &[u32]) -> Option<Vec<i32>> {
    let rows = rows.iter().map(|row| *row as usize);
    let text = |value: &str| murmur3_of(value.as_bytes());
    Some(match values.data_type() {
        ArrowType::Boolean => {
            let values = values.as_boolean();
            rows.map(|row| if values.value(row) { 1231 } else { 1237 }).collect()
        }
        ArrowType::Utf8 => rows.map(|row| text(values.as_string::<i32>().value(row))).collect(),
        ArrowType::LargeUtf8 => rows.map(|row| text(values.as_string::<i64>().value(row))).collect(),
        ArrowType::Utf8View => rows.map(|row| text(values.as_string_view().value(row))).collect(),
        ArrowType::Float32 => {
            let values = values.as_primitive::<arrow::datatypes::Float32Type>();
            let code = |value: f32| if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() as i32 };
            rows.map(|row| code(values.value(row))).collect()
        }
        ArrowType::Float64 => {
            let values = values.as_primitive::<arrow::datatypes::Float64Type>();
            let bits = |value: f64| if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() as i64 };
            rows.map(|row| folded(bits(values.value(row)))).collect()
        }
        ArrowType::Int8
        | ArrowType::Int16
        | ArrowType::Int32
        | ArrowType::Int64
        | ArrowType::Date32
        | ArrowType::Timestamp(..)
        | ArrowType::Duration(_) => {
            let is_long = values.data_type().primitive_width() == Some(8);
            let code = |value: i64| if is_long { folded(value) } else { value as i32 };
            let values: &dyn Array = values;
            downcast_primitive_array!(
                values => rows.map(|row| code(values.value(row).to_i64().unwrap_or_default())).collect(),
                _ => return None
            )
        }
        _ => return None,
    })
}

fn folded(bits: i64) -> i32 {
    (bits ^ ((bits as u64) >> 32) as i64) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Date32Array, Float64Array, Int32Array, Int64Array, StringArray};
    use std::sync::Arc;

    fn first(values: ArrayRef) -> u32 {
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        let codes = codes(&values, &rows).unwrap();
        ordered(rows.into_iter().zip(codes).collect())[0]
    }

    #[test]
    fn the_first_keys_are_those_of_spark() {
        assert_eq!(first(Arc::new(Int32Array::from(vec![10, 20, 30, 40, 50]))), 2);
        assert_eq!(first(Arc::new(Int64Array::from(vec![50, 20, 30, 40, -5]))), 4);
        assert_eq!(first(Arc::new(Int64Array::from_iter_values(0..100))), 19);
        assert_eq!(first(Arc::new(Int64Array::from_iter_values((0..50).map(|i| i * 1_000_003)))), 21);
        assert_eq!(first(Arc::new(StringArray::from_iter_values((0..10).map(|i| i.to_string())))), 5);
        assert_eq!(first(Arc::new(Date32Array::from(vec![18262, 17897]))), 1);
        assert_eq!(first(Arc::new(Float64Array::from(vec![1.5, 0.5, 7.0, -1.0]))), 0);
    }
}
