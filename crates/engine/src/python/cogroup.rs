//! Rows for pairs of groups.

use super::exec::Run;
use super::group::{Part, parts};
use super::map::made_rows;
use super::work::{self, SentFrame};
use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::Result as DfResult;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::SendableRecordBatchStream;
use firesteel_analyzer::python::PythonCall;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use firesteel_python::{Argument, Function, Input, InputFormat, OutputFormat};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::cmp::Ordering;
use std::sync::Arc;

/// The groups of one side.
struct Side {
    parts: BoxStream<'static, DfResult<Part>>,
    frame: SentFrame,
    schema: arrow::datatypes::SchemaRef,
    converter: Option<RowConverter>,
    /// A part that begins the next group.
    next: Option<Part>,
    is_ended: bool,
}

/// A group with its key in an order that both sides share.
struct Group {
    key: Option<OwnedRow>,
    batches: Vec<RecordBatch>,
}

impl Side {
    fn new(input: SendableRecordBatchStream, frame: SentFrame, run: &Run) -> Self {
        let schema = work::sent_schema(&frame.columns, &run.context);
        let parts = parts(input, frame.grouping.clone(), run.context.settings.batch_rows);
        Self { parts, frame, schema, converter: None, next: None, is_ended: false }
    }

    async fn group(&mut self) -> Result<Option<Group>> {
        let mut batches = Vec::new();
        let mut key = None;
        loop {
            let part = match self.next.take() {
                Some(part) => part,
                None if self.is_ended => return Ok(None),
                None => match self.parts.next().await {
                    Some(part) => part.map_err(engine_error)?,
                    None => {
                        self.is_ended = true;
                        return Ok(None);
                    }
                },
            };
            if part.is_first {
                key = self.key(&part.batch)?;
            }
            let arrays = work::evaluated(&self.frame.columns, &part.batch).map_err(engine_error)?;
            batches.push(work::sent_batch(arrays, part.batch.num_rows(), &self.schema)?);
            if part.is_last {
                return Ok(Some(Group { key, batches }));
            }
        }
    }

    fn key(&mut self, batch: &RecordBatch) -> Result<Option<OwnedRow>> {
        if batch.num_rows() == 0 || self.frame.grouping.is_empty() {
            return Ok(None);
        }
        let first = batch.slice(0, 1);
        let keys = self
            .frame
            .grouping
            .iter()
            .map(|key: &Arc<dyn PhysicalExpr>| key.evaluate(&first)?.into_array(1))
            .collect::<DfResult<Vec<ArrayRef>>>()
            .map_err(engine_error)?;
        let failed = |e: arrow::error::ArrowError| SparkError::internal(e.to_string());
        let converter = match &mut self.converter {
            Some(converter) => converter,
            none => {
                let fields = keys.iter().map(|key| SortField::new(key.data_type().clone())).collect();
                none.insert(RowConverter::new(fields).map_err(failed)?)
            }
        };
        let rows = converter.convert_columns(&keys).map_err(failed)?;
        Ok(Some(rows.row(0).owned()))
    }
}

/// Both sides, merged by their keys.
struct Pairs {
    sides: [Side; 2],
    current: [Option<Group>; 2],
    is_started: bool,
}

impl Pairs {
    async fn next(&mut self) -> Result<Option<[Vec<RecordBatch>; 2]>> {
        if !self.is_started {
            self.is_started = true;
            for (side, current) in self.sides.iter_mut().zip(&mut self.current) {
                *current = side.group().await?;
            }
        }
        let order = match (&self.current[0], &self.current[1]) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => match (&left.key, &right.key) {
                (Some(left), Some(right)) => left.row().cmp(&right.row()),
                _ => Ordering::Equal,
            },
        };
        let mut pair = [Vec::new(), Vec::new()];
        #[allow(clippy::needless_range_loop)]
        for i in 0..2 {
            let takes = order == Ordering::Equal || (order == Ordering::Less) == (i == 0);
            if takes && let Some(group) = self.current[i].take() {
                pair[i] = group.batches;
                self.current[i] = self.sides[i].group().await?;
            }
        }
        Ok(Some(pair))
    }
}

/// Runs a function over the pairs of groups of two inputs.
pub(super) fn run(
    run: Run,
    call: Arc<PythonCall>,
    frames: [SentFrame; 2],
    inputs: Vec<SendableRecordBatchStream>,
) -> BoxStream<'static, Result<RecordBatch>> {
    let Ok([left, right]) = <[SendableRecordBatchStream; 2]>::try_from(inputs) else {
        return stream::iter([Err(SparkError::internal("a cogroup has two inputs"))]).boxed();
    };
    let [left_frame, right_frame] = frames;
    let offsets = left_frame.offsets.iter().chain(&right_frame.offsets);
    let function = Function {
        arguments: offsets.map(|offset| Argument::at(*offset)).collect(),
        commands: vec![call.command.clone()],
        result_id: run.result_id,
    };
    let task = work::task(&call, vec![function], &[], run.partition, &run.context);
    let sides = [Side::new(left, left_frame, &run), Side::new(right, right_frame, &run)];
    let schemas = sides.iter().map(|side| side.schema.clone()).collect();
    let pairs = Pairs { sides, current: [None, None], is_started: false };
    let pieces = stream::try_unfold(pairs, |mut pairs| async move {
        Ok::<_, SparkError>(pairs.next().await?.map(|pair| (Input::CoGroup(pair), pairs)))
    })
    .boxed();
    let format = InputFormat { shape: call.eval_type.shape(), schemas };
    let context = run.context.clone();
    let outputs =
        super::eval::if_any(pieces, move |pieces| work::start(context, task, format, OutputFormat::Arrow, pieces));
    made_rows(outputs, run, call)
}
