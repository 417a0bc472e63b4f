//! Rows for all rows of a partition.

use super::batches::rebatched;
use super::exec::{Run, one};
use super::work::{self, SentColumn};
use arrow::array::Array;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::physical_plan::SendableRecordBatchStream;
use firesteel_analyzer::python::PythonCall;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_python::{Argument, Function, Input, InputFormat, Output, OutputFormat};
use firesteel_types::DataType;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// Runs an iterator function over a partition; it is called for empty ones too.
pub(super) fn run(
    run: Run,
    call: Arc<PythonCall>,
    columns: Vec<SentColumn>,
    is_barrier: bool,
    inputs: Vec<SendableRecordBatchStream>,
) -> BoxStream<'static, Result<RecordBatch>> {
    let input = match one(inputs) {
        Ok(input) => input,
        Err(error) => return stream::iter([Err(engine_error(error))]).boxed(),
    };
    let schema = work::sent_schema(&columns, &run.context);
    let (arguments, commands) = (vec![Argument::at(0)], vec![call.command.clone()]);
    let function = Function { arguments, commands, result_id: run.result_id };
    let mut task = work::task(&call, vec![function], &columns, run.partition, &run.context);
    task.context.is_barrier = is_barrier;
    let stream_schema = schema.clone();
    let pieces = rebatched(input, run.context.settings.batch_rows)
        .try_filter(|batch| futures::future::ready(batch.num_rows() > 0))
        .map(move |batch| {
            let batch = batch.map_err(engine_error)?;
            let arrays = work::evaluated(&columns, &batch).map_err(engine_error)?;
            let batch = work::sent_batch(arrays, batch.num_rows(), &stream_schema)?;
            work::as_struct(&batch).map(Input::Batch)
        })
        .boxed();
    let format = InputFormat { shape: call.eval_type.shape(), schemas: vec![work::struct_schema(&schema)] };
    let context = run.context.clone();
    let outputs = work::start(context, task, format, OutputFormat::Arrow, pieces);
    made_rows(outputs, run, call)
}

/// The rows of a function that makes its own.
pub(super) fn made_rows(
    outputs: BoxStream<'static, Result<Output>>,
    run: Run,
    call: Arc<PythonCall>,
) -> BoxStream<'static, Result<RecordBatch>> {
    let types: Vec<DataType> = match &call.returns {
        DataType::Struct(schema) => schema.fields.iter().map(|f| f.data_type.clone()).collect(),
        _ => Vec::new(),
    };
    let rows = outputs.map(move |output| {
        let Output::Batch(batch) = output? else { return Ok(None) };
        let Some(rows) = batch.columns().first().and_then(|c| c.as_any().downcast_ref::<arrow::array::StructArray>())
        else {
            return Err(SparkError::internal("rows from Python that are no struct"));
        };
        let count = rows.len();
        let columns = work::received(rows.columns(), &types, &call)?;
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        RecordBatch::try_new_with_options(run.schema.clone(), columns, &options)
            .map(Some)
            .map_err(|e| SparkError::internal(e.to_string()))
    });
    rows.try_filter_map(|batch| async move { Ok(batch) }).boxed()
}
