//! Partitions by ranges of keys, with bounds from a sample.

use super::buckets::{Side, split};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::row::{OwnedRow, RowConverter, Rows, SortField};
use datafusion::common::Result as DfResult;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::TryStreamExt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Keys sampled per output partition and input partition.
const SAMPLE_PER_PARTITION: usize = 300;

/// Some keys of an input partition.
pub(super) struct Sample {
    keys: Vec<OwnedRow>,
    /// Rows that a key stands for.
    weight: f64,
}

struct KeyReader {
    converter: RowConverter,
    keys: LexOrdering,
}

impl KeyReader {
    fn new(keys: &LexOrdering, schema: &arrow::datatypes::Schema) -> DfResult<Self> {
        let fields = keys
            .iter()
            .map(|k| Ok(SortField::new_with_options(k.expr.data_type(schema)?, k.options)))
            .collect::<DfResult<Vec<_>>>()?;
        Ok(Self { converter: RowConverter::new(fields)?, keys: keys.clone() })
    }

    fn read(&self, batch: &RecordBatch) -> DfResult<Rows> {
        let columns = self
            .keys
            .iter()
            .map(|k| k.expr.evaluate(batch)?.into_array(batch.num_rows()))
            .collect::<DfResult<Vec<ArrayRef>>>()?;
        Ok(self.converter.convert_columns(&columns)?)
    }
}

/// Takes all rows of an input partition into the first bucket, and samples their keys.
pub(super) async fn take_in(
    mut rows: SendableRecordBatchStream,
    mut side: Side,
    keys: &LexOrdering,
    partitions: usize,
) -> DfResult<(Side, Sample)> {
    let reader = KeyReader::new(keys, &rows.schema())?;
    let capacity = partitions.saturating_mul(SAMPLE_PER_PARTITION).min(1_000_000);
    let mut sampled: Vec<OwnedRow> = Vec::new();
    let mut seen = 0u64;
    while let Some(batch) = rows.try_next().await? {
        for key in &reader.read(&batch)? {
            if sampled.len() < capacity {
                sampled.push(key.owned());
            } else if let Some(slot) = usize::try_from(scatter(seen) % (seen + 1)).ok().and_then(|i| sampled.get_mut(i))
            {
                // A reservoir; the choice depends on the position alone, so that runs agree.
                *slot = key.owned();
            }
            seen += 1;
        }
        side.push(0, batch)?;
    }
    #[allow(clippy::cast_precision_loss)]
    let weight = if sampled.is_empty() { 0.0 } else { side.rows as f64 / sampled.len() as f64 };
    Ok((side, Sample { keys: sampled, weight }))
}

fn scatter(position: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    position.hash(&mut hasher);
    hasher.finish()
}

/// Upper bounds of all partitions but the last, of near equal weight between; equal keys share a partition.
pub(super) fn bounds(samples: Vec<Sample>, partitions: usize) -> Vec<OwnedRow> {
    let mut candidates: Vec<(OwnedRow, f64)> =
        samples.into_iter().flat_map(|s| s.keys.into_iter().map(move |k| (k, s.weight))).collect();
    candidates.sort_by(|(a, _), (b, _)| a.row().cmp(&b.row()));
    #[allow(clippy::cast_precision_loss)]
    let step = candidates.iter().map(|(_, weight)| weight).sum::<f64>() / partitions as f64;
    let mut bounds: Vec<OwnedRow> = Vec::with_capacity(partitions - 1);
    let (mut sum, mut target) = (0.0, step);
    for (key, weight) in candidates {
        if bounds.len() + 1 >= partitions {
            break;
        }
        sum += weight;
        if sum >= target && bounds.last().is_none_or(|last| key.row() > last.row()) {
            bounds.push(key);
            target += step;
        }
    }
    bounds
}

/// Moves the rows of the first bucket of a side to their ranges.
pub(super) async fn spread(side: Side, mut fresh: Side, keys: &LexOrdering, bounds: &[OwnedRow]) -> DfResult<Side> {
    let mut rows = side.read(0);
    let mut reader = None;
    while let Some(batch) = rows.try_next().await? {
        let reader = match &mut reader {
            Some(reader) => reader,
            None => reader.insert(KeyReader::new(keys, &batch.schema())?),
        };
        let targets: Vec<usize> =
            reader.read(&batch)?.iter().map(|key| bounds.partition_point(|bound| bound.row() < key)).collect();
        split(&batch, &targets, bounds.len() + 1, &mut fresh)?;
    }
    Ok(fresh)
}
