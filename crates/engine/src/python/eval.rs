//! A value for each row.

use super::batches::rebatched;
use super::exec::{Run, one};
use super::joined::Waiting;
use super::work::{self, SentChain, SentColumn};
use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;
use datafusion::physical_plan::SendableRecordBatchStream;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_python::pickle::Pickle;
use firesteel_python::rows::{self, RowPickler};
use firesteel_python::{EvalType, Input, InputFormat, Output, OutputFormat};
use firesteel_types::DataType;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};

/// Runs scalar functions over the rows of a partition.
pub(super) fn run(
    run: Run,
    chains: Vec<SentChain>,
    columns: Vec<SentColumn>,
    inputs: Vec<SendableRecordBatchStream>,
) -> BoxStream<'static, Result<RecordBatch>> {
    match started(run, chains, columns, inputs) {
        Ok(rows) => rows,
        Err(error) => stream::iter([Err(error)]).boxed(),
    }
}

fn started(
    run: Run,
    chains: Vec<SentChain>,
    columns: Vec<SentColumn>,
    inputs: Vec<SendableRecordBatchStream>,
) -> Result<BoxStream<'static, Result<RecordBatch>>> {
    let input = one(inputs).map_err(engine_error)?;
    let Some(call) = chains.first().and_then(|chain| chain.functions.last()).cloned() else {
        return Err(SparkError::internal("an operator without a Python function"));
    };
    let is_pickled = call.eval_type == EvalType::BATCHED;
    let columns = work::numbered(columns);
    let settings = run.context.settings.clone();
    let schema = work::sent_schema(&columns, &run.context);
    let functions = chains.iter().map(|chain| chain.function(0)).collect();
    let task = work::task(&call, functions, &columns, run.partition, &run.context);
    let types: Vec<DataType> = chains.iter().map(SentChain::returns).collect();
    let waiting = Waiting::default();
    let sent = waiting.clone();
    let sent_types: Vec<DataType> = columns.iter().map(|c| c.data_type.clone()).collect();
    let pickler = RowPickler::new(&sent_types, settings.binary_as_bytes);
    let stream_schema = schema.clone();
    let size = if is_pickled { 0 } else { settings.batch_rows };
    let pieces = rebatched(input, size)
        .map(move |batch| {
            let batch = batch.map_err(engine_error)?;
            if batch.num_rows() == 0 {
                return Ok(Vec::new());
            }
            let arrays = work::evaluated(&columns, &batch).map_err(engine_error)?;
            let rows = batch.num_rows();
            sent.push(batch);
            let batch = work::sent_batch(arrays, rows, &stream_schema)?;
            if !is_pickled {
                return Ok(vec![Input::Batch(batch)]);
            }
            let batches = pickler.batches(batch.columns(), rows, settings.pickled_rows);
            batches.map(|batches| batches.into_iter().map(Input::Pickled).collect())
        })
        .map_ok(|pieces| stream::iter(pieces.into_iter().map(Ok::<_, SparkError>)))
        .try_flatten()
        .boxed();
    let format = InputFormat { shape: call.eval_type.shape(), schemas: vec![schema] };
    let output = if is_pickled { OutputFormat::Pickled } else { OutputFormat::Arrow };
    let context = run.context.clone();
    let outputs = if_any(pieces, move |pieces| work::start(context, task, format, output, pieces));
    let schema = run.schema;
    let rows = outputs.map(move |output| {
        let columns: Vec<ArrayRef> = match output? {
            Output::Batch(batch) => work::received(batch.columns(), &types, &call)?,
            Output::Pickled(bytes) => {
                let pickle = Pickle::read(&bytes)?;
                rows::columns(&pickle, &rows::values(&pickle)?, &types)?
            }
            Output::Report(_) => {
                if !waiting.is_empty() {
                    return Err(SparkError::internal("a Python function gave fewer rows than it got"));
                }
                return Ok(None);
            }
        };
        waiting.joined(columns, &schema).map(Some)
    });
    Ok(rows.try_filter_map(|batch| async move { Ok(batch) }).boxed())
}

/// What `make` gives for the pieces; nothing where there are none.
pub(super) fn if_any(
    pieces: BoxStream<'static, Result<Input>>,
    make: impl FnOnce(BoxStream<'static, Result<Input>>) -> BoxStream<'static, Result<Output>> + Send + 'static,
) -> BoxStream<'static, Result<Output>> {
    let first = async move {
        let mut pieces = pieces;
        match pieces.next().await {
            Some(Ok(first)) => make(stream::iter([Ok(first)]).chain(pieces).boxed()),
            Some(Err(error)) => stream::iter([Err(error)]).boxed(),
            None => stream::empty().boxed(),
        }
    };
    stream::once(first).flatten().boxed()
}
