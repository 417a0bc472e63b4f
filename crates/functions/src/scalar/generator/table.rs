//! Table functions whose rows are constant.

use crate::TypedExpr;
use crate::function::Generator;
use crate::scalar::string::rows::internal;
use arrow::array::{Array, ArrayRef, ListArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::lit;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::sync::Arc;

/// The rows of columns given by name, type, nullability and values.
pub fn constant_rows(columns: Vec<(&str, DataType, bool, ArrayRef)>) -> Result<Generator> {
    let fields: Vec<StructField> = columns
        .iter()
        .map(|(name, data_type, nullable, _)| StructField::new(*name, data_type.clone(), *nullable))
        .collect();
    let count = columns.first().map_or(0, |(.., array)| array.len());
    let data_type = DataType::array(DataType::struct_of(fields.clone()), false);
    let ArrowType::List(field) = arrow_mapping::to_arrow(&data_type) else {
        return Err(SparkError::internal("an array is a list"));
    };
    let ArrowType::Struct(parts) = field.data_type() else {
        return Err(SparkError::internal("rows are structs"));
    };
    let arrays = columns.into_iter().map(|(.., array)| array).collect();
    let rows = StructArray::try_new(parts.clone(), arrays, None).map_err(internal)?;
    let list =
        ListArray::try_new(field, OffsetBuffer::from_lengths([count]), Arc::new(rows), None).map_err(internal)?;
    let rows = TypedExpr::new(lit(ScalarValue::List(Arc::new(list))), data_type, false, "");
    Ok(Generator { rows, columns: fields, is_outer: false })
}
