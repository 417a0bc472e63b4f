//! The hidden column `_metadata`: facts of a row's file.

use crate::listing::DataFile;
use crate::path;
use arrow::array::{ArrayRef, StructArray};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::{Result as DfResult, ScalarValue};
use firesteel_types::arrow_mapping::to_arrow_field;
use firesteel_types::{DataType, StructField};
use parquet::arrow::RowNumber;
use std::sync::Arc;

/// The name of the hidden column with facts of a row's file.
pub const METADATA_COLUMN: &str = "_metadata";
/// Positions of the fields that differ between the parts of a file: `file_block_start`, `file_block_length`.
pub(crate) const OF_PARTS: [usize; 2] = [3, 4];
/// The name of the provider's column with the number of a row in its file.
pub const ROW_INDEX: &str = "row_index";
/// The name of the column while a reader makes it: no file has a column of this name.
const ROW_NUMBER: &str = "_metadata.row_index";

/// `_metadata` as queries see it. Its last field is of the row rather than of the file, where readers tell it.
pub fn metadata_field(counts_rows: bool) -> StructField {
    let mut field = constant_fields();
    if counts_rows && let DataType::Struct(fields) = &field.data_type {
        let mut fields = fields.fields.clone();
        fields.push(StructField::new(ROW_INDEX, DataType::Long, false));
        field.data_type = DataType::struct_of(fields);
    }
    field
}

/// What is the same for all rows of a part of a file.
pub(crate) fn constant_fields() -> StructField {
    let field = |name: &str, data_type| StructField::new(name, data_type, false);
    StructField::new(
        METADATA_COLUMN,
        DataType::struct_of(vec![
            field("file_path", DataType::STRING),
            field("file_name", DataType::STRING),
            field("file_size", DataType::Long),
            field("file_block_start", DataType::Long),
            field("file_block_length", DataType::Long),
            field("file_modification_time", DataType::Timestamp),
        ]),
        false,
    )
}

/// The column that a reader fills with the number of a row in its file.
pub(crate) fn row_number_field() -> Field {
    Field::new(ROW_NUMBER, ArrowType::Int64, false).with_extension_type(RowNumber)
}

/// The constant facts of a part of a file.
pub(crate) fn constant_value(file: &DataFile, start: u64, length: u64) -> ScalarValue {
    let field = to_arrow_field(&constant_fields());
    let ArrowType::Struct(fields) = field.data_type() else { return ScalarValue::Null };
    let long = |n: u64| ScalarValue::Int64(Some(i64::try_from(n).unwrap_or(i64::MAX)));
    let uri = path::metadata_uri(&file.path);
    let name = uri.rsplit('/').next().unwrap_or_default().to_string();
    // Spark takes milliseconds from the file system.
    let modified = file.meta.last_modified.timestamp_millis() * 1000;
    let values = [
        ScalarValue::Utf8(Some(uri)),
        ScalarValue::Utf8(Some(name)),
        long(file.meta.size),
        long(start),
        long(length),
        ScalarValue::TimestampMicrosecond(Some(modified), Some("UTC".into())),
    ];
    let columns: DfResult<Vec<ArrayRef>> = values.iter().map(ScalarValue::to_array).collect();
    columns
        .ok()
        .and_then(|columns| StructArray::try_new(fields.clone(), columns, None).ok())
        .map_or(ScalarValue::Null, |array| ScalarValue::Struct(Arc::new(array)))
}
