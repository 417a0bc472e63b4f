//! Spark's order and equality of values of any orderable type, as bytes.

use arrow::array::{
    Array, ArrayRef, AsArray, Float32Array, Float64Array, ListArray, MapArray, StructArray, UInt32Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{SortOptions, take};
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result as DfResult;
use std::sync::Arc;

/// Floats with one zero and one NaN, at any depth of arrays, maps and structs, and maps' entries by their keys.
pub fn normalized(array: &ArrayRef) -> DfResult<ArrayRef> {
    if !is_varied(array.data_type()) {
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
            let entries = by_keys(&entries, &offsets)?;
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

/// The entries of maps, each map's in the order of its keys.
fn by_keys(entries: &StructArray, offsets: &OffsetBuffer<i32>) -> DfResult<StructArray> {
    let Some(keys) = entries.columns().first() else { return Ok(entries.clone()) };
    let rows = converter(keys.data_type())?.convert_columns(std::slice::from_ref(keys))?;
    let mut order: Vec<u32> = (0..u32::try_from(entries.len()).unwrap_or(u32::MAX)).collect();
    for bounds in offsets.windows(2) {
        let at = |i: i32| usize::try_from(i).unwrap_or(0);
        if let [from, to] = bounds
            && let Some(span) = order.get_mut(at(*from)..at(*to))
        {
            span.sort_by(|a, b| rows.row(*a as usize).cmp(&rows.row(*b as usize)));
        }
    }
    let entries: ArrayRef = Arc::new(entries.clone());
    Ok(take(&entries, &UInt32Array::from(order), None)?.as_struct().clone())
}

/// True for types of which equal values can have several forms.
fn is_varied(data_type: &ArrowType) -> bool {
    match data_type {
        ArrowType::Float32 | ArrowType::Float64 | ArrowType::Map(..) => true,
        ArrowType::List(field) => is_varied(field.data_type()),
        ArrowType::Struct(fields) => fields.iter().any(|f| is_varied(f.data_type())),
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
