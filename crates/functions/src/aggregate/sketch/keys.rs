//! The bytes of values that sketches hash.

use super::super::states::Rows;
use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Float64Type, Int32Type, Int64Type};
use datafusion::common::{DataFusionError, Result as DfResult};

/// Calls `f(row, group, bytes)` for every value that counts; empty values do not.
pub fn for_each_key(
    array: &ArrayRef,
    rows: &Rows<'_>,
    mut f: impl FnMut(usize, usize, &[u8]) -> DfResult<()>,
) -> DfResult<()> {
    match array.data_type() {
        ArrowType::Null => Ok(()),
        ArrowType::Int64 => {
            let values = array.as_primitive::<Int64Type>();
            rows.try_for_each(values.nulls(), |row, group| f(row, group, &values.value(row).to_le_bytes()))
        }
        ArrowType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            rows.try_for_each(values.nulls(), |row, group| {
                let value = values.value(row);
                let bits = if value.is_nan() { 0x7ff8_0000_0000_0000 } else { (value + 0.0).to_bits() };
                f(row, group, &bits.to_le_bytes())
            })
        }
        ArrowType::Int8 | ArrowType::Int16 | ArrowType::Int32 => {
            for_each_key(&cast(array, &ArrowType::Int64)?, rows, f)
        }
        ArrowType::Float32 => for_each_key(&cast(array, &ArrowType::Float64)?, rows, f),
        ArrowType::Utf8 | ArrowType::Binary => {
            let bytes = cast(array, &ArrowType::Binary)?;
            let bytes = bytes.as_binary::<i32>();
            rows.try_for_each(bytes.nulls(), |row, group| match bytes.value(row) {
                [] => Ok(()),
                value => f(row, group, value),
            })
        }
        ArrowType::List(_) => {
            let lists = array.as_list::<i32>();
            let mut buffer = Vec::new();
            rows.try_for_each(lists.nulls(), |row, group| {
                buffer.clear();
                write_numbers(lists, row, &mut buffer)?;
                if buffer.is_empty() { Ok(()) } else { f(row, group, &buffer) }
            })
        }
        other => Err(DataFusionError::Internal(format!("sketches of {other}"))),
    }
}

/// Writes the numbers of a list; nulls are zeros.
fn write_numbers(lists: &ListArray, row: usize, out: &mut Vec<u8>) -> DfResult<()> {
    let values = lists.value(row);
    match values.data_type() {
        ArrowType::Int32 => {
            let values = values.as_primitive::<Int32Type>();
            values.iter().for_each(|v| out.extend_from_slice(&v.unwrap_or(0).to_le_bytes()));
        }
        ArrowType::Int64 => {
            let values = values.as_primitive::<Int64Type>();
            values.iter().for_each(|v| out.extend_from_slice(&v.unwrap_or(0).to_le_bytes()));
        }
        ArrowType::Null => out.extend(std::iter::repeat_n(0, values.len() * size_of::<i32>())),
        other => return Err(DataFusionError::Internal(format!("sketches of arrays of {other}"))),
    }
    Ok(())
}
