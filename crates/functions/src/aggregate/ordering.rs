//! Spark's order and equality of values of any orderable type, as bytes.

use arrow::array::{Array, ArrayRef, AsArray, Float32Array, Float64Array, ListArray, MapArray, StructArray};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result as DfResult;
use std::sync::Arc;

/// Floats with one zero and one NaN, at any depth of arrays, maps and structs.
pub fn normalized(array: &ArrayRef) -> DfResult<ArrayRef> {
    if !has_floats(array.data_type()) {
        return Ok(Arc::clone(array));
    }
    Ok(match array.data_type() {
        ArrowType::Float32 => {
            let floats: Float32Array =
                array.as_primitive::<Float32Type>().unary(|v| if v.is_nan() { f32::NAN } else { v + 0.0 });
            Arc::new(floats)
        }
        ArrowType::Float64 => {
            let floats: Float64Array =
                array.as_primitive::<Float64Type>().unary(|v| if v.is_nan() { f64::NAN } else { v + 0.0 });
            Arc::new(floats)
        }
        ArrowType::List(field) => {
            let list = array.as_list::<i32>();
            let values = normalized(list.values())?;
            Arc::new(ListArray::try_new(Arc::clone(field), list.offsets().clone(), values, list.nulls().cloned())?)
        }
        ArrowType::Map(field, is_sorted) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = normalized(&entries)?.as_struct().clone();
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *is_sorted)?)
        }
        ArrowType::Struct(fields) => {
            let parts = array.as_struct();
            let columns = parts.columns().iter().map(normalized).collect::<DfResult<Vec<_>>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, parts.nulls().cloned(), parts.len())?)
        }
        _ => Arc::clone(array),
    })
}

fn has_floats(data_type: &ArrowType) -> bool {
    match data_type {
        ArrowType::Float32 | ArrowType::Float64 => true,
        ArrowType::List(field) | ArrowType::Map(field, _) => has_floats(field.data_type()),
        ArrowType::Struct(fields) => fields.iter().any(|f| has_floats(f.data_type())),
        _ => false,
    }
}

/// A converter of one column to bytes that compare as Spark compares: nulls first, NaN last.
pub fn converter(data_type: &ArrowType) -> DfResult<RowConverter> {
    converter_with(data_type, SortOptions { descending: false, nulls_first: true })
}

/// As [`converter`], in another order.
pub fn converter_with(data_type: &ArrowType, options: SortOptions) -> DfResult<RowConverter> {
    Ok(RowConverter::new(vec![SortField::new_with_options(data_type.clone(), options)])?)
}
