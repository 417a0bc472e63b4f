//! Values of constant arguments.

use crate::TypedExpr;
use crate::coercion::mismatch;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use datafusion::common::DFSchema;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::ColumnarValue;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use std::sync::Arc;

/// The value of a constant argument; None where it depends on rows.
pub fn value(argument: &TypedExpr) -> Result<Option<ScalarValue>> {
    if let Some(literal) = argument.literal() {
        return Ok(Some(literal.clone()));
    }
    if !argument.is_foldable() {
        return Ok(None);
    }
    let fail = |e: datafusion::common::DataFusionError| match e {
        datafusion::common::DataFusionError::External(inner) => match inner.downcast::<SparkError>() {
            Ok(error) => *error,
            Err(other) => SparkError::internal(other.to_string()),
        },
        other => SparkError::internal(other.to_string()),
    };
    let physical = create_physical_expr(
        &argument.expr,
        &DFSchema::empty(),
        &ExecutionProps::new(),
        &PhysicalPlanningContext::default(),
    )
    .map_err(fail)?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)
        .map_err(|e| SparkError::internal(e.to_string()))?;
    match physical.evaluate(&row).map_err(fail)? {
        ColumnarValue::Scalar(scalar) => Ok(Some(scalar)),
        ColumnarValue::Array(array) => Ok(Some(ScalarValue::try_from_array(&array, 0).map_err(fail)?)),
    }
}

/// The value of an argument that must be constant; `wanted` is its type as messages show it.
pub fn required(call: &str, parameter: &str, wanted: &str, argument: &TypedExpr) -> Result<ScalarValue> {
    match value(argument)? {
        Some(value) => Ok(value),
        None => Err(SparkError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
            .with("sqlExpr", mismatch::quoted(call))
            .with("inputName", format!("`{parameter}`"))
            .with("inputType", wanted)
            .with("inputExpr", mismatch::quoted(&argument.name))),
    }
}

/// The error of a constant that is out of range.
pub fn out_of_range(call: &str, parameter: &str, range: &str, current: impl Into<String>) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .with("sqlExpr", mismatch::quoted(call))
        .with("exprName", parameter)
        .with("valueRange", range)
        .with("currentValue", current)
}

/// The error of a constant that is null.
pub fn unexpected_null(call: &str, parameter: &str) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_NULL")
        .with("sqlExpr", mismatch::quoted(call))
        .with("exprName", parameter)
}
