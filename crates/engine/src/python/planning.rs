//! What workers are asked before a query runs.

use super::session::WorkerContext;
use arrow::array::ArrayRef;
use arrow::datatypes::{Field, Schema};
use arrow::record_batch::RecordBatch;
use firesteel_analyzer::environment::AnalyzeCall;
use firesteel_error::{Result, SparkError};
use firesteel_python::planner::table_function::{self, AnalyzeArgument, AnalyzeRequest, TableAnalysis};
use firesteel_python::rows::pickle_value;
use firesteel_types::client::{client_batch, client_schema};
use firesteel_types::{DataType, StructField, StructType};
use std::sync::Arc;

/// What stands before the text of an error that checks of the function's result raise.
const CHECKED: &str = "PySparkValueError:";

/// What a table function's own `analyze` says of a call.
pub(crate) async fn analyze(context: &WorkerContext, call: AnalyzeCall) -> Result<TableAnalysis> {
    let mut arguments = Vec::with_capacity(call.arguments.len());
    for argument in call.arguments {
        let value = match &argument.value {
            Some(value) => Some(pickled(value, &argument.data_type, context)?),
            None => None,
        };
        arguments.push(AnalyzeArgument {
            data_type: argument.data_type.json(),
            value,
            is_table: argument.is_table,
            name: argument.name,
        });
    }
    let request =
        AnalyzeRequest { name: call.name, handler: call.handler, python_version: call.python_version, arguments };
    table_function::analyze(&context.pool, &context.environment, &request).await.map_err(|error| {
        error.into_error(|text| {
            // The trace of a check ends in the worker itself, so that only its text means something to users.
            let text = text.rsplit(CHECKED).next().unwrap_or_default().trim();
            SparkError::new("TABLE_VALUED_FUNCTION_FAILED_TO_ANALYZE_IN_PYTHON").with("msg", text)
        })
    })
}

/// The pickle of the one value of an array.
fn pickled(value: &ArrayRef, data_type: &DataType, context: &WorkerContext) -> Result<Vec<u8>> {
    let internal = |error: arrow::error::ArrowError| SparkError::internal(error.to_string());
    let settings = &context.settings;
    let schema = StructType::new(vec![StructField::new("_0", data_type.clone(), true)]);
    let sent = Arc::new(client_schema(&schema, &settings.time_zone, settings.large_types));
    let own = Schema::new(vec![Field::new("_0", value.data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(own), vec![value.clone()]).map_err(internal)?;
    let batch = client_batch(&batch, &sent)?;
    pickle_value(batch.column(0), 0, data_type)
}
