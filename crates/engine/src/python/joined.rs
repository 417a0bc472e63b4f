//! Rows that wait for what workers say about them.

use arrow::array::ArrayRef;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use firesteel_error::{Result, SparkError};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Rows in the order in which they were sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    batches: Arc<Mutex<VecDeque<RecordBatch>>>,
}

impl Waiting {
    /// Adds rows that are about to be sent.
    pub fn push(&self, batch: RecordBatch) {
        if batch.num_rows() > 0 {
            self.batches.lock().push_back(batch);
        }
    }

    /// Whether all rows have left.
    pub fn is_empty(&self) -> bool {
        self.batches.lock().is_empty()
    }

    /// The first rows, with columns for them.
    pub fn joined(&self, columns: Vec<ArrayRef>, schema: &SchemaRef) -> Result<RecordBatch> {
        let rows = columns.first().map_or(0, |column| column.len());
        if rows == 0 {
            return Ok(RecordBatch::new_empty(schema.clone()));
        }
        let batch = self.take(rows)?;
        let mut all = batch.columns().to_vec();
        all.extend(columns);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema.clone(), all, &options)
            .map_err(|e| SparkError::internal(e.to_string()))
    }

    /// The first rows.
    pub fn take(&self, rows: usize) -> Result<RecordBatch> {
        let mut batches = self.batches.lock();
        let mut parts = Vec::new();
        let mut left = rows;
        while left > 0 {
            let Some(first) = batches.pop_front() else {
                return Err(SparkError::internal("a Python function gave more rows than it got"));
            };
            if first.num_rows() > left {
                batches.push_front(first.slice(left, first.num_rows() - left));
                parts.push(first.slice(0, left));
                left = 0;
            } else {
                left -= first.num_rows();
                parts.push(first);
            }
        }
        match parts.as_slice() {
            [one] => Ok(one.clone()),
            [first, ..] => {
                concat_batches(&first.schema(), parts.iter()).map_err(|e| SparkError::internal(e.to_string()))
            }
            [] => {
                let schema = Arc::new(arrow::datatypes::Schema::empty());
                let options = RecordBatchOptions::new().with_row_count(Some(0));
                RecordBatch::try_new_with_options(schema, vec![], &options)
                    .map_err(|e| SparkError::internal(e.to_string()))
            }
        }
    }
}
