//! A value for each row of a window.

use super::exec::{Run, one};
use super::group::{Part, parts};
use super::joined::Waiting;
use super::work::{self, SentChain, SentColumn};
use arrow::array::{ArrayRef, Int32Array};
use arrow::compute::concat_batches;
use arrow::record_batch::RecordBatch;
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::WindowFrame;
use datafusion::logical_expr::window_state::WindowFrameContext;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::SendableRecordBatchStream;
use firesteel_analyzer::python::is_whole;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_python::{Argument, Input, InputFormat, Output, OutputFormat, WorkerVersion};
use firesteel_types::DataType;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// Computes the bounds of frames for each row of a partition.
struct Bounds {
    order: Option<LexOrdering>,
    frames: Vec<Option<WindowFrame>>,
}

impl Bounds {
    /// The first row and the row after the last, for each frame that has bounds.
    fn columns(&self, batch: &RecordBatch) -> DfResult<Vec<ArrayRef>> {
        let rows = batch.num_rows();
        let (mut keys, mut options) = (Vec::new(), Vec::new());
        for key in self.order.iter().flatten() {
            keys.push(key.expr.evaluate(batch)?.into_array(rows)?);
            options.push(key.options);
        }
        let mut columns: Vec<ArrayRef> = Vec::new();
        for frame in self.frames.iter().flatten() {
            let mut context = WindowFrameContext::new(Arc::new(frame.clone()), options.clone());
            let (mut begins, mut ends) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
            let mut last = 0..0;
            for row in 0..rows {
                last = context.calculate_range(&keys, &last, rows, row)?;
                begins.push(i32::try_from(last.start).unwrap_or(i32::MAX));
                ends.push(i32::try_from(last.end).unwrap_or(i32::MAX));
            }
            columns.push(Arc::new(Int32Array::from(begins)));
            columns.push(Arc::new(Int32Array::from(ends)));
        }
        Ok(columns)
    }
}

/// Runs window functions over rows that are sorted by partition and order.
pub(super) fn run(
    run: Run,
    partition: Vec<Arc<dyn PhysicalExpr>>,
    order: Option<LexOrdering>,
    windows: Vec<(SentChain, WindowFrame)>,
    columns: Vec<SentColumn>,
    inputs: Vec<SendableRecordBatchStream>,
) -> BoxStream<'static, Result<RecordBatch>> {
    let input = match one(inputs) {
        Ok(input) => input,
        Err(error) => return stream::iter([Err(engine_error(error))]).boxed(),
    };
    let Some(call) = windows.first().and_then(|(chain, _)| chain.functions.last()).cloned() else {
        return stream::iter([Err(SparkError::internal("an operator without a Python function"))]).boxed();
    };
    let frames: Vec<Option<WindowFrame>> =
        windows.iter().map(|(_, frame)| (!is_whole(frame)).then(|| frame.clone())).collect();
    let bounded = frames.iter().flatten().count();
    // Bounds come before the arguments.
    let mut sent: Vec<SentColumn> = bound_columns(bounded * 2);
    let shift = i32::try_from(sent.len()).unwrap_or(i32::MAX);
    sent.extend(columns.iter().cloned());
    let sent = work::numbered(sent);
    let schema = work::sent_schema(&sent, &run.context);
    let mut at = 0;
    let functions = windows.iter().zip(&frames).map(|((chain, _), frame)| {
        let mut function = chain.function(shift);
        if frame.is_some() {
            drop(function.arguments.splice(0..0, [Argument::at(at), Argument::at(at + 1)]));
            at += 2;
        }
        function
    });
    let mut task = work::task(&call, functions.collect(), &sent, run.partition, &run.context);
    let kinds: Vec<&str> = frames.iter().map(|f| if f.is_some() { "bounded" } else { "unbounded" }).collect();
    let key = if run.context.environment.interpreter.version < WorkerVersion::V4_1 {
        "pandas_window_bound_types"
    } else {
        "window_bound_types"
    };
    task.runner.push((key.to_string(), kinds.join(",")));
    let waiting = Waiting::default();
    let rows_sent = waiting.clone();
    let bounds = Bounds { order, frames };
    let limit = run.context.settings.batch_rows;
    let groups = if bounded > 0 { whole(parts(input, partition, 0)) } else { parts(input, partition, limit) };
    let stream_schema = schema.clone();
    let pieces = groups
        .map(move |part| {
            let part = part.map_err(engine_error)?;
            let rows = part.batch.num_rows();
            let mut arrays = bounds.columns(&part.batch).map_err(engine_error)?;
            arrays.extend(work::evaluated(&columns, &part.batch).map_err(engine_error)?);
            rows_sent.push(without_numbers(&part.batch).map_err(engine_error)?);
            let batch = work::sent_batch(arrays, rows, &stream_schema)?;
            let size = if limit == 0 { rows.max(1) } else { limit };
            let pieces: Vec<Result<Input>> = (0..rows.max(1))
                .step_by(size)
                .map(|from| {
                    let count = size.min(rows - from.min(rows));
                    let is_last = part.is_last && from + count >= rows;
                    Ok(Input::GroupPart { batch: batch.slice(from, count), is_last })
                })
                .collect();
            Ok::<_, SparkError>(stream::iter(pieces))
        })
        .try_flatten()
        .boxed();
    let format = InputFormat { shape: call.eval_type.shape(), schemas: vec![schema] };
    let context = run.context.clone();
    let outputs =
        super::eval::if_any(pieces, move |pieces| work::start(context, task, format, OutputFormat::Arrow, pieces));
    let types: Vec<DataType> = windows.iter().map(|(chain, _)| chain.returns()).collect();
    let schema = run.schema;
    let rows = outputs.map(move |output| match output? {
        Output::Batch(batch) => waiting.joined(work::received(batch.columns(), &types, &call)?, &schema).map(Some),
        _ => Ok(None),
    });
    rows.try_filter_map(|batch| async move { Ok(batch) }).boxed()
}

/// A batch without its last column, the numbers of rows.
fn without_numbers(batch: &RecordBatch) -> DfResult<RecordBatch> {
    let columns: Vec<usize> = (0..batch.num_columns().saturating_sub(1)).collect();
    Ok(batch.project(&columns)?)
}

fn bound_columns(count: usize) -> Vec<SentColumn> {
    let expr: Arc<dyn PhysicalExpr> =
        Arc::new(datafusion::physical_expr::expressions::Literal::new(datafusion::scalar::ScalarValue::Int32(None)));
    (0..count)
        .map(|_| SentColumn { expr: expr.clone(), name: String::new(), data_type: DataType::Integer, nullable: false })
        .collect()
}

/// Groups in one part each.
fn whole(parts: BoxStream<'static, DfResult<Part>>) -> BoxStream<'static, DfResult<Part>> {
    let state = (parts, Vec::<RecordBatch>::new());
    stream::try_unfold(state, |(mut parts, mut open)| async move {
        while let Some(part) = parts.next().await {
            let part = part?;
            open.push(part.batch);
            if part.is_last {
                let batch = concat_batches(&open[0].schema(), open.iter())?;
                return Ok(Some((Part { batch, is_first: true, is_last: true }, (parts, Vec::new()))));
            }
        }
        Ok::<_, DataFusionError>(None)
    })
    .boxed()
}
