//! Casts of arrays, maps and structs, part by part.

use super::array::{CastOptions, cast_array, downcast};
use arrow::array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType as ArrowType;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::sync::Arc;

/// Casts between two nested types of one shape.
pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    let wrong = || SparkError::internal(format!("no cast from {from} to {to}"));
    let target = arrow_mapping::to_arrow(to);
    match (from, to, target) {
        (DataType::Array { element: a, .. }, DataType::Array { element: b, .. }, ArrowType::List(field)) => {
            let list = downcast::<ListArray>(array)?;
            let (offsets, values) = used(list.offsets(), list.values());
            let values = cast_array(&values, a, b, options)?;
            let made = ListArray::try_new(field, offsets, values, list.nulls().cloned());
            Ok(Arc::new(made.map_err(internal)?))
        }
        (
            DataType::Map { key: k, value: v, .. },
            DataType::Map { key: l, value: w, .. },
            ArrowType::Map(field, sorted),
        ) => {
            let map = downcast::<MapArray>(array)?;
            let (offsets, keys) = used(map.offsets(), map.keys());
            let (_, values) = used(map.offsets(), map.values());
            let keys = cast_array(&keys, k, l, options)?;
            let values = cast_array(&values, v, w, options)?;
            let ArrowType::Struct(fields) = field.data_type() else {
                return Err(wrong());
            };
            let entries = StructArray::try_new(fields.clone(), vec![keys, values], None).map_err(internal)?;
            let made = MapArray::try_new(field, offsets, entries, map.nulls().cloned(), sorted);
            Ok(Arc::new(made.map_err(internal)?))
        }
        (DataType::Struct(a), DataType::Struct(b), ArrowType::Struct(fields)) => {
            let rows = downcast::<StructArray>(array)?;
            if fields.is_empty() {
                return Ok(Arc::new(StructArray::new_empty_fields(rows.len(), rows.nulls().cloned())));
            }
            let columns = rows
                .columns()
                .iter()
                .zip(a.fields.iter().zip(&b.fields))
                .map(|(column, (x, y))| {
                    // A null row's fields are not to fail.
                    let column = hidden_by(column, rows)?;
                    cast_array(&column, &x.data_type, &y.data_type, options)
                })
                .collect::<Result<Vec<_>>>()?;
            let made = StructArray::try_new(fields, columns, rows.nulls().cloned());
            Ok(Arc::new(made.map_err(internal)?))
        }
        _ => Err(wrong()),
    }
}

/// The part of the values that a list uses, so that values outside of a slice do not fail.
fn used(offsets: &OffsetBuffer<i32>, values: &ArrayRef) -> (OffsetBuffer<i32>, ArrayRef) {
    let first = offsets.first().copied().unwrap_or(0);
    let last = offsets.last().copied().unwrap_or(0);
    let (start, length) = (usize::try_from(first).unwrap_or(0), usize::try_from(last - first).unwrap_or(0));
    if start == 0 && length == values.len() {
        return (offsets.clone(), values.clone());
    }
    let shifted: Vec<i32> = offsets.iter().map(|o| o - first).collect();
    (OffsetBuffer::new(shifted.into()), values.slice(start, length))
}

fn internal(error: arrow::error::ArrowError) -> SparkError {
    SparkError::internal(error.to_string())
}

/// A struct's column with nulls where the struct is null.
fn hidden_by(column: &ArrayRef, rows: &StructArray) -> Result<ArrayRef> {
    match rows.nulls().filter(|n| n.null_count() > 0) {
        None => Ok(column.clone()),
        Some(nulls) => {
            let nulls = arrow::buffer::NullBuffer::union(Some(nulls), column.nulls());
            let data = column.to_data().into_builder().nulls(nulls).build().map_err(internal)?;
            Ok(arrow::array::make_array(data))
        }
    }
}
