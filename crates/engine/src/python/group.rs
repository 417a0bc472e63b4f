//! Groups of sorted rows, and the functions that take them one by one.

use super::exec::{Run, one};
use super::joined::Waiting;
use super::map::made_rows;
use super::work::{self, SentChain, SentColumn, SentFrame};
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::{concat, concat_batches, partition, take};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::SendableRecordBatchStream;
use firesteel_analyzer::python::PythonCall;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_python::{Argument, Function, Input, InputFormat, Output, OutputFormat};
use firesteel_types::DataType;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// A part of a group: rows that stand together.
pub(super) struct Part {
    pub batch: RecordBatch,
    /// The first part of its group.
    pub is_first: bool,
    pub is_last: bool,
}

/// Cuts sorted rows into groups.
struct Splitter {
    input: Option<SendableRecordBatchStream>,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    /// The keys of the last row so far.
    last: Option<Vec<ArrayRef>>,
    /// Parts that are known to be whole, the oldest first.
    ready: std::collections::VecDeque<Part>,
    /// Rows of the group that may go on.
    open: Vec<RecordBatch>,
    open_rows: usize,
    /// The open group has sent parts already.
    is_begun: bool,
    /// Rows of a part; 0 for any number.
    limit: usize,
}

/// The groups of rows that are sorted by keys, in parts. Without keys all rows are one group; no rows make none.
pub(super) fn parts(
    input: SendableRecordBatchStream,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    limit: usize,
) -> BoxStream<'static, DfResult<Part>> {
    let splitter = Splitter {
        input: Some(input),
        keys,
        last: None,
        ready: Default::default(),
        open: Vec::new(),
        open_rows: 0,
        is_begun: false,
        limit,
    };
    stream::try_unfold(splitter, |mut splitter| async move {
        loop {
            if let Some(part) = splitter.ready.pop_front() {
                return Ok::<_, DataFusionError>(Some((part, splitter)));
            }
            let Some(input) = splitter.input.as_mut() else { return Ok(None) };
            match input.next().await {
                Some(batch) => splitter.add(batch?)?,
                None => {
                    splitter.input = None;
                    splitter.close()?;
                }
            }
        }
    })
    .boxed()
}

impl Splitter {
    fn add(&mut self, batch: RecordBatch) -> DfResult<()> {
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(());
        }
        let keys =
            self.keys.iter().map(|key| key.evaluate(&batch)?.into_array(rows)).collect::<DfResult<Vec<ArrayRef>>>()?;
        if keys.is_empty() {
            return self.extend(batch);
        }
        let ranges = partition(&keys)?.ranges();
        for (i, range) in ranges.into_iter().enumerate() {
            if i > 0 || !self.goes_on(&keys)? {
                self.close()?;
            }
            self.extend(batch.slice(range.start, range.end - range.start))?;
        }
        self.last = Some(keys.iter().map(|key| key.slice(rows - 1, 1)).collect());
        Ok(())
    }

    /// Whether a batch begins in the group of the last row.
    fn goes_on(&self, keys: &[ArrayRef]) -> DfResult<bool> {
        let Some(last) = &self.last else { return Ok(true) };
        let pairs = last
            .iter()
            .zip(keys)
            .map(|(last, first)| Ok(concat(&[last.as_ref(), first.slice(0, 1).as_ref()])?))
            .collect::<DfResult<Vec<ArrayRef>>>()?;
        Ok(partition(&pairs)?.len() == 1)
    }

    fn extend(&mut self, batch: RecordBatch) -> DfResult<()> {
        self.open_rows += batch.num_rows();
        self.open.push(batch);
        // One row more than a part has is needed to know that the group goes on.
        while self.limit > 0 && self.open_rows > self.limit {
            let whole = self.gathered()?;
            self.push(whole.slice(0, self.limit), false);
            self.open = vec![whole.slice(self.limit, whole.num_rows() - self.limit)];
            self.open_rows = whole.num_rows() - self.limit;
        }
        Ok(())
    }

    fn gathered(&mut self) -> DfResult<RecordBatch> {
        if let [one] = self.open.as_slice() {
            return Ok(one.clone());
        }
        Ok(concat_batches(&self.open[0].schema(), self.open.iter())?)
    }

    fn push(&mut self, batch: RecordBatch, is_last: bool) {
        self.ready.push_back(Part { batch, is_first: !self.is_begun, is_last });
        self.is_begun = !is_last;
    }

    fn close(&mut self) -> DfResult<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let whole = self.gathered()?;
        self.push(whole, true);
        self.open.clear();
        self.open_rows = 0;
        Ok(())
    }
}

/// The columns of a part that workers get.
pub(super) fn sent_part(part: &Part, columns: &[SentColumn], schema: &SchemaRef) -> Result<Input> {
    let arrays = work::evaluated(columns, &part.batch).map_err(engine_error)?;
    let batch = work::sent_batch(arrays, part.batch.num_rows(), schema)?;
    Ok(Input::GroupPart { batch, is_last: part.is_last })
}

/// Runs a function that makes rows of each group.
pub(super) fn map(
    run: Run,
    call: Arc<PythonCall>,
    frame: SentFrame,
    inputs: Vec<SendableRecordBatchStream>,
) -> BoxStream<'static, Result<RecordBatch>> {
    let input = match one(inputs) {
        Ok(input) => input,
        Err(error) => return stream::iter([Err(engine_error(error))]).boxed(),
    };
    let schema = work::sent_schema(&frame.columns, &run.context);
    let function = Function {
        arguments: frame.offsets.iter().map(|offset| Argument::at(*offset)).collect(),
        commands: vec![call.command.clone()],
        result_id: run.result_id,
    };
    let is_structs = wants_structs(&call);
    let task = work::task(&call, vec![function], &frame.columns, run.partition, &run.context);
    let columns = frame.columns;
    let stream_schema = if is_structs { work::struct_schema(&schema) } else { schema.clone() };
    let pieces = parts(input, frame.grouping, run.context.settings.batch_rows)
        .map(move |part| {
            let part = part.map_err(engine_error)?;
            match sent_part(&part, &columns, &schema)? {
                Input::GroupPart { batch, is_last } if is_structs => {
                    Ok(Input::GroupPart { batch: work::as_struct(&batch)?, is_last })
                }
                piece => Ok(piece),
            }
        })
        .boxed();
    let format = InputFormat { shape: call.eval_type.shape(), schemas: vec![stream_schema] };
    let context = run.context.clone();
    let outputs =
        super::eval::if_any(pieces, move |pieces| work::start(context, task, format, OutputFormat::Arrow, pieces));
    made_rows(outputs, run, call)
}

/// Arrow functions of groups get their rows as structs.
fn wants_structs(call: &PythonCall) -> bool {
    use firesteel_python::EvalType;
    matches!(call.eval_type, EvalType::GROUPED_MAP_ARROW | EvalType::GROUPED_MAP_ARROW_ITER)
}

/// Runs functions that make a value of each group; the group's keys come before it.
pub(super) fn aggregate(
    run: Run,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    chains: Vec<SentChain>,
    columns: Vec<SentColumn>,
    inputs: Vec<SendableRecordBatchStream>,
) -> BoxStream<'static, Result<RecordBatch>> {
    let input = match one(inputs) {
        Ok(input) => input,
        Err(error) => return stream::iter([Err(engine_error(error))]).boxed(),
    };
    let Some(call) = chains.first().and_then(|chain| chain.functions.last()).cloned() else {
        return stream::iter([Err(SparkError::internal("an operator without a Python function"))]).boxed();
    };
    let columns = work::numbered(columns);
    let schema = work::sent_schema(&columns, &run.context);
    let functions = chains.iter().map(|chain| chain.function(0)).collect();
    let task = work::task(&call, functions, &columns, run.partition, &run.context);
    let waiting = Waiting::default();
    let sent = waiting.clone();
    let (grouping, stream_schema) = (keys.clone(), schema.clone());
    let pieces = parts(input, keys, run.context.settings.batch_rows)
        .map(move |part| {
            let part = part.map_err(engine_error)?;
            if part.is_first {
                sent.push(key_row(&grouping, &part.batch)?);
            }
            sent_part(&part, &columns, &stream_schema)
        })
        .boxed();
    let format = InputFormat { shape: call.eval_type.shape(), schemas: vec![schema] };
    let context = run.context.clone();
    let outputs =
        super::eval::if_any(pieces, move |pieces| work::start(context, task, format, OutputFormat::Arrow, pieces));
    let types: Vec<DataType> = chains.iter().map(SentChain::returns).collect();
    let schema = run.schema;
    let rows = outputs.map(move |output| match output? {
        Output::Batch(batch) => waiting.joined(work::received(batch.columns(), &types, &call)?, &schema).map(Some),
        _ => Ok(None),
    });
    rows.try_filter_map(|batch| async move { Ok(batch) }).boxed()
}

/// The keys of a group as a row.
fn key_row(keys: &[Arc<dyn PhysicalExpr>], batch: &RecordBatch) -> Result<RecordBatch> {
    let first = UInt32Array::from(vec![0]);
    let arrays = keys
        .iter()
        .map(|key| {
            let key = key.evaluate(&batch.slice(0, batch.num_rows().min(1)))?.into_array(1)?;
            Ok(take(key.as_ref(), &first, None)?)
        })
        .collect::<DfResult<Vec<ArrayRef>>>()
        .map_err(engine_error)?;
    let fields: Vec<Field> =
        arrays.iter().enumerate().map(|(i, a)| Field::new(format!("k{i}"), a.data_type().clone(), true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|e| SparkError::internal(e.to_string()))
}
