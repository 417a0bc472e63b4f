//! Which columns of a Parquet file are worth a dictionary.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType as ArrowType, Schema};
use arrow::record_batch::RecordBatch;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use std::collections::HashSet;

/// Rows that are looked at: as many as stand in a page.
const MOST: usize = 20_000;
/// Fewer rows than these say nothing.
const FEWEST: usize = 1_000;

/// Properties for a file that begins with these rows: a dictionary that would be no smaller than the values
/// themselves costs room and time.
pub fn fitting(properties: &WriterProperties, schema: &Schema, first: &RecordBatch) -> WriterProperties {
    if first.num_rows() < FEWEST {
        return properties.clone();
    }
    let mut builder: WriterPropertiesBuilder = properties.clone().into_builder();
    for (field, column) in schema.fields().iter().zip(first.columns()) {
        if !is_worth_it(&column.slice(0, column.len().min(MOST))) {
            let path = ColumnPath::new(vec![field.name().clone()]);
            builder = builder.set_column_dictionary_enabled(path, false);
        }
    }
    builder.build()
}

/// Whether a dictionary and the numbers that stand for values take less room than the values.
fn is_worth_it(column: &ArrayRef) -> bool {
    match column.data_type() {
        ArrowType::Utf8 => {
            let texts = column.as_string::<i32>();
            compare(texts.iter().flatten().map(|text| (text.as_bytes(), text.len() + 4)))
        }
        ArrowType::Binary => compare(column.as_binary::<i32>().iter().flatten().map(|bytes| (bytes, bytes.len() + 4))),
        // Booleans have none, and nested columns are left to the writer.
        other => match other.primitive_width() {
            None => true,
            Some(width) => {
                let data = column.to_data();
                let Some(buffer) = data.buffers().first() else { return true };
                let (start, end) = (data.offset() * width, (data.offset() + data.len()) * width);
                let Some(values) = buffer.as_slice().get(start..end) else { return true };
                compare(values.chunks_exact(width).map(|value| (value, width)))
            }
        },
    }
}

/// Compares the sizes for values, each with its own size.
fn compare<'a>(values: impl Iterator<Item = (&'a [u8], usize)>) -> bool {
    let (mut seen, mut count, mut plain, mut dictionary) = (HashSet::new(), 0, 0, 0);
    for (value, size) in values {
        count += 1;
        plain += size;
        if seen.insert(value) {
            dictionary += size;
        }
    }
    let bits = usize::BITS - seen.len().saturating_sub(1).leading_zeros();
    count == 0 || dictionary + count * bits as usize / 8 < plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float64Array, Int64Array, StringArray};
    use std::sync::Arc;

    fn worth(column: impl Array + 'static) -> bool {
        is_worth_it(&(Arc::new(column) as ArrayRef))
    }

    #[test]
    fn only_columns_whose_values_return_have_dictionaries() {
        assert!(!worth(Int64Array::from_iter_values(0..8192)));
        assert!(worth(Int64Array::from_iter_values((0..8192).map(|i| i % 100))));
        assert!(!worth(Float64Array::from_iter_values((0..8192).map(f64::from))));
        assert!(worth(StringArray::from_iter_values((0..8192).map(|i| format!("item {}", i % 50)))));
        assert!(!worth(StringArray::from_iter_values((0..8192).map(|i| format!("item {i}")))));
        assert!(worth(Int64Array::from(vec![None; 8192])));
        assert!(worth(Int64Array::from_iter_values((0..8192).map(|i| i / 100)).slice(100, 5000)));
    }
}
