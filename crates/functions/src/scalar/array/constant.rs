//! Values of constant expressions.

use crate::TypedExpr;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use datafusion::common::DFSchema;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// The value of an expression that does not depend on a row; None where it cannot be worked out.
pub fn value_of(expr: &TypedExpr) -> Option<ScalarValue> {
    if let Some(literal) = expr.literal() {
        return Some(literal.clone());
    }
    if !expr.is_foldable() {
        return None;
    }
    let planning = PhysicalPlanningContext::default();
    let physical = create_physical_expr(&expr.expr, &DFSchema::empty(), &ExecutionProps::new(), &planning).ok()?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).ok()?;
    let array = physical.evaluate(&batch).ok()?.into_array(1).ok()?;
    ScalarValue::try_from_array(&array, 0).ok()
}
