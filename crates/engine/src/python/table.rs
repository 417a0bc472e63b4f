//! Rows for each row: table functions.

use super::exec::{Run, one};
use super::joined::Waiting;
use super::work::{self, SentColumn};
use arrow::array::{Array, ArrayRef, StructArray, UInt32Array, new_null_array};
use arrow::compute::take;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::physical_plan::SendableRecordBatchStream;
use firesteel_analyzer::python::PythonCall;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_python::pickle::{Node, Pickle};
use firesteel_python::rows::{self, RowPickler};
use firesteel_python::task::{Payload, TableFunction};
use firesteel_python::{Argument, EvalType, Input, InputFormat, Output, OutputFormat};
use firesteel_types::DataType;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use std::sync::Arc;

/// A table function with its arguments.
#[derive(Debug, Clone)]
pub(crate) struct TableWork {
    pub call: Arc<PythonCall>,
    pub columns: Vec<SentColumn>,
    pub arguments: Vec<Argument>,
    pub partition: Vec<i32>,
    pub analysis: Option<bytes::Bytes>,
    pub passes_input: bool,
    /// Rows of the input of which nothing comes stay, with nulls.
    pub is_outer: bool,
}

/// Runs a table function over the rows of a partition.
pub(super) fn run(
    run: Run,
    table: TableWork,
    inputs: Vec<SendableRecordBatchStream>,
) -> BoxStream<'static, Result<RecordBatch>> {
    match started(run, table, inputs) {
        Ok(rows) => rows,
        Err(error) => stream::iter([Err(error)]).boxed(),
    }
}

fn started(
    run: Run,
    table: TableWork,
    inputs: Vec<SendableRecordBatchStream>,
) -> Result<BoxStream<'static, Result<RecordBatch>>> {
    let input = one(inputs).map_err(engine_error)?;
    let call = table.call.clone();
    let DataType::Struct(schema_of_rows) = &call.returns else {
        return Err(SparkError::internal("a table function without columns"));
    };
    let is_pickled = call.eval_type == EvalType::TABLE;
    let columns = work::numbered(table.columns);
    let settings = run.context.settings.clone();
    let schema = work::sent_schema(&columns, &run.context);
    let mut task = work::task(&call, Vec::new(), &columns, run.partition, &run.context);
    task.payload = Payload::Table(TableFunction {
        arguments: table.arguments,
        partition_columns: table.partition,
        analysis: table.analysis,
        handler: call.command.clone(),
        schema: schema_of_rows.json(),
        name: call.name.clone(),
    });
    if call.eval_type == EvalType::ARROW_UDTF {
        let offsets: Vec<String> = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| matches!(column.data_type, DataType::Struct(_)))
            .map(|(i, _)| i.to_string())
            .collect();
        task.evaluation = vec![("table_arg_offsets".to_string(), offsets.join(","))];
    }
    let types: Vec<DataType> = schema_of_rows.fields.iter().map(|f| f.data_type.clone()).collect();
    let waiting = Waiting::default();
    let (sent, passes) = (waiting.clone(), table.passes_input);
    let sent_types: Vec<DataType> = columns.iter().map(|c| c.data_type.clone()).collect();
    let pickler = RowPickler::new(&sent_types, settings.binary_as_bytes);
    let stream_schema = schema.clone();
    let pieces = input
        .map(move |batch| {
            let batch = batch.map_err(engine_error)?;
            let rows = batch.num_rows();
            if rows == 0 {
                return Ok(Vec::new());
            }
            let arrays = work::evaluated(&columns, &batch).map_err(engine_error)?;
            if passes {
                sent.push(batch);
            }
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
    let outputs = super::eval::if_any(pieces, move |pieces| work::start(context, task, format, output, pieces));
    let is_outer = table.is_outer;
    let joiner = Joiner { waiting, last: Mutex::new(None), passes, is_outer, schema: run.schema };
    let rows = outputs.map(move |output| match output? {
        Output::Batch(batch) => {
            let rows = batch.columns().first().and_then(|c| c.as_any().downcast_ref::<StructArray>());
            let Some(rows) = rows else { return Err(SparkError::internal("rows from Python that are no struct")) };
            let columns = work::received(rows.columns(), &types, &call)?;
            joiner.joined(columns, rows.len()).map(|batch| vec![batch])
        }
        Output::Pickled(bytes) => {
            let pickle = Pickle::read(&bytes)?;
            let mut batches = Vec::new();
            for item in rows::values(&pickle)? {
                let ids = match pickle.node(item) {
                    Node::List(ids) | Node::Tuple(ids) => ids.clone(),
                    _ => Vec::new(),
                };
                batches.push(joiner.joined(rows::table_columns(&pickle, &ids, &types)?, ids.len())?);
            }
            Ok(batches)
        }
        Output::Report(_) => Ok(Vec::new()),
    });
    let rows = rows.map_ok(|batches| stream::iter(batches.into_iter().map(Ok::<_, SparkError>))).try_flatten();
    Ok(rows.try_filter(|batch| futures::future::ready(batch.num_rows() > 0)).boxed())
}

/// Puts the rows of the input before those that a function made of them.
struct Joiner {
    waiting: Waiting,
    /// The row of the last results: those of the end belong to it too.
    last: Mutex<Option<RecordBatch>>,
    passes: bool,
    is_outer: bool,
    schema: arrow::datatypes::SchemaRef,
}

impl Joiner {
    fn joined(&self, mut columns: Vec<ArrayRef>, mut rows: usize) -> Result<RecordBatch> {
        let mut all = Vec::new();
        if self.passes {
            let mut last = self.last.lock();
            if !self.waiting.is_empty() {
                *last = Some(self.waiting.take(1)?);
                if self.is_outer && rows == 0 {
                    rows = 1;
                    columns = columns.iter().map(|column| new_null_array(column.data_type(), 1)).collect();
                }
            }
            let Some(row) = last.as_ref() else { return Err(SparkError::internal("rows of no row")) };
            let zeros = UInt32Array::from(vec![0; rows]);
            for column in row.columns() {
                all.push(take(column.as_ref(), &zeros, None).map_err(|e| SparkError::internal(e.to_string()))?);
            }
        }
        all.extend(columns);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), all, &options)
            .map_err(|e| SparkError::internal(e.to_string()))
    }
}
