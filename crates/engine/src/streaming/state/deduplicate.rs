//! The first row of each key: keys are remembered until their time is over.

use super::store::Store;
use super::{Outcome, Turn};
use crate::execution;
use crate::session::blocking;
use crate::streaming::check::is_time;
use crate::streaming::progress::StateProgress;
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Int64Array};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use arrow::row::{RowConverter, SortField};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::logical_expr::LogicalPlan;
use firesteel_analyzer::resolved::engine_error;
use firesteel_error::{Result, SparkError};
use futures::StreamExt;
use std::collections::HashMap;
use std::sync::Arc;

/// Keys that were seen, with the microsecond at which they are forgotten.
type Seen = HashMap<Box<[u8]>, Option<i64>>;

/// Keys of a file's batch.
const CHUNK: usize = 65_536;

/// Passes on the first row of each key that is not remembered, and remembers it.
pub(super) async fn run(
    turn: &Turn<'_>,
    store: &Store,
    input: &LogicalPlan,
    keys: &[String],
    time: Option<&str>,
    within_watermark: bool,
) -> Result<Outcome> {
    let fails = |error: arrow::error::ArrowError| SparkError::internal(error.to_string());
    let physical = execution::plan(turn.session.state(), input).await?;
    let schema = physical.schema();
    let positions = keys.iter().map(|key| schema.index_of(key)).collect::<Result<Vec<_>, _>>().map_err(fails)?;
    let time = times(turn, &schema, &positions, time, within_watermark);
    let mut seen = remembered(store.read(turn.batch - 1)?)?;
    let context = turn.session.state().task_ctx();
    let reservation = MemoryConsumer::new("state of a streaming query").register(context.memory_pool());
    let fields = positions.iter().map(|i| SortField::new(schema.field(*i).data_type().clone())).collect();
    let converter = RowConverter::new(fields).map_err(fails)?;
    let mut stream = execution::start(turn.session.state(), physical.clone())?;
    let (mut rows, mut updated, mut dropped) = (Vec::new(), 0, 0);
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(engine_error)?;
        let columns: Vec<ArrayRef> = positions.iter().map(|i| batch.column(*i).clone()).collect();
        let encoded = converter.convert_columns(&columns).map_err(fails)?;
        let micros = match time {
            Some((position, _)) => Some(cast(batch.column(position), &DataType::Int64).map_err(fails)?),
            None => None,
        };
        let mut is_first = Vec::with_capacity(batch.num_rows());
        for (row, encoded_key) in encoded.iter().enumerate() {
            let key: &[u8] = encoded_key.as_ref();
            let moment = micros.as_ref().map(|times| times.as_primitive::<Int64Type>());
            let moment = moment.and_then(|times| (!times.is_null(row)).then(|| times.value(row)));
            if moment.is_some_and(|moment| moment <= turn.watermarks.late.saturating_mul(1000))
                && turn.watermarks.late > 0
            {
                dropped += 1;
                is_first.push(false);
                continue;
            }
            let until = time.and_then(|(_, delay)| Some(moment?.saturating_add(delay)));
            let is_new = !seen.contains_key(key);
            if is_new {
                reservation.try_grow(key.len() + 64).map_err(engine_error)?;
                seen.insert(key.into(), until);
                updated += 1;
            }
            is_first.push(is_new);
        }
        let batch = filter_record_batch(&batch, &BooleanArray::from(is_first)).map_err(fails)?;
        if batch.num_rows() > 0 {
            reservation.try_grow(crate::ordered::bytes(&batch)).map_err(engine_error)?;
            rows.push(batch);
        }
    }
    let before = seen.len();
    let limit = turn.watermarks.now.saturating_mul(1000);
    seen.retain(|_, until| until.is_none_or(|until| until > limit || turn.watermarks.now == 0));
    let progress = StateProgress {
        operator: if within_watermark { "dedupeWithinWatermark" } else { "dedupe" },
        total: seen.len(),
        updated,
        removed: before - seen.len(),
        dropped,
        bytes: reservation.size(),
    };
    let (store, batch) = (store.clone(), turn.batch);
    blocking(move || store.write(batch, &state_schema(), &state_rows(&seen)?)).await?;
    Ok(Outcome { schema, rows, ran: physical, progress })
}

/// The column of times, and how long after them keys are remembered in microseconds.
fn times(
    turn: &Turn<'_>,
    schema: &SchemaRef,
    keys: &[usize],
    time: Option<&str>,
    within_watermark: bool,
) -> Option<(usize, i64)> {
    let position = schema.index_of(time?).ok()?;
    if !is_time(schema.field(position).data_type()) {
        return None;
    }
    match (within_watermark, keys.contains(&position)) {
        (true, _) => Some((position, turn.delay_millis.unwrap_or(0).saturating_mul(1000))),
        (false, true) => Some((position, 0)),
        (false, false) => None,
    }
}

fn state_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("key", DataType::Binary, false), Field::new("until", DataType::Int64, true)]))
}

fn state_rows(seen: &Seen) -> Result<Vec<RecordBatch>> {
    let all: Vec<(&Box<[u8]>, &Option<i64>)> = seen.iter().collect();
    let batches = all.chunks(CHUNK).map(|chunk| {
        let keys = BinaryArray::from_iter_values(chunk.iter().map(|(key, _)| key.as_ref()));
        let until: Int64Array = chunk.iter().map(|(_, until)| **until).collect();
        RecordBatch::try_new(state_schema(), vec![Arc::new(keys) as ArrayRef, Arc::new(until)])
            .map_err(|error| SparkError::internal(error.to_string()))
    });
    batches.collect()
}

fn remembered(rows: Vec<RecordBatch>) -> Result<Seen> {
    let mut seen = Seen::new();
    for batch in rows {
        let (Some(keys), Some(until)) = (
            batch.columns().first().and_then(|column| column.as_binary_opt::<i32>()),
            batch.columns().get(1).and_then(|column| column.as_primitive_opt::<Int64Type>()),
        ) else {
            return Err(SparkError::unsupported("a query whose operators are not those of its checkpoint"));
        };
        for row in 0..batch.num_rows() {
            seen.insert(keys.value(row).into(), (!until.is_null(row)).then(|| until.value(row)));
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_remembered_over_files() {
        let mut seen = Seen::new();
        seen.insert(b"one".as_slice().into(), None);
        seen.insert(b"two".as_slice().into(), Some(7));
        assert_eq!(remembered(state_rows(&seen).unwrap()).unwrap(), seen);
    }
}
