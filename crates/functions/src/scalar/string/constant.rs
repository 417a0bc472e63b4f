//! Values of arguments that must be constant.

use super::rows::internal;
use crate::TypedExpr;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::ColumnarValue;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use std::sync::Arc;

/// The value of an argument; None where it depends on a row.
pub fn value_of(argument: &TypedExpr) -> Result<Option<ScalarValue>> {
    if let Some(value) = argument.literal() {
        return Ok(Some(value.clone()));
    }
    if !argument.is_foldable() {
        return Ok(None);
    }
    let physical = create_physical_expr(
        &argument.expr,
        &DFSchema::empty(),
        &ExecutionProps::new(),
        &PhysicalPlanningContext::default(),
    )
    .map_err(internal)?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).map_err(internal)?;
    match physical.evaluate(&row).map_err(spark_error)? {
        ColumnarValue::Scalar(value) => Ok(Some(value)),
        ColumnarValue::Array(array) => ScalarValue::try_from_array(&array, 0).map(Some).map_err(internal),
    }
}

/// The value of an argument that must be constant, or Spark's error that names the parameter.
pub fn required(argument: &TypedExpr, function: &str, parameter: &str, type_name: &str) -> Result<ScalarValue> {
    value_of(argument)?.ok_or_else(|| not_foldable(argument, function, parameter, type_name))
}

/// The error of an argument that must be constant before the call can be worked out at all.
pub fn argument_not_foldable(function: &str, parameter: &str, data_type: &str) -> SparkError {
    SparkError::new("NON_FOLDABLE_ARGUMENT")
        .with("funcName", format!("`{function}`"))
        .with("paramName", format!("`{parameter}`"))
        .with("paramType", format!("\"{data_type}\""))
}

/// Spark's error about an argument that must be constant.
pub fn not_foldable(argument: &TypedExpr, call: &str, parameter: &str, type_name: &str) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
        .with("inputName", format!("`{parameter}`"))
        .with("inputType", format!("\"{type_name}\""))
        .with("inputExpr", format!("\"{}\"", argument.name))
        .with("sqlExpr", format!("\"{call}\""))
}

/// The Spark error inside a DataFusion error, or an internal one.
pub fn spark_error(error: DataFusionError) -> SparkError {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<SparkError>() {
            Ok(error) => *error,
            Err(other) => internal(other),
        },
        DataFusionError::Context(_, inner) => spark_error(*inner),
        other => internal(other),
    }
}

/// The text of a string constant, of whatever width.
pub fn text_of(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)) => {
            Some(text)
        }
        _ => None,
    }
}

/// The value of an integral constant.
pub fn integer_of(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::Int8(Some(v)) => Some(i64::from(*v)),
        ScalarValue::Int16(Some(v)) => Some(i64::from(*v)),
        ScalarValue::Int32(Some(v)) => Some(i64::from(*v)),
        ScalarValue::Int64(Some(v)) => Some(*v),
        _ => None,
    }
}
