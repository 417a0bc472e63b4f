//! Rows that come one by one, as batches.

use super::cell::{BinaryText, Cell, Column};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::Result as DfResult;
use firesteel_error::Result;
use firesteel_types::{DataType, Literal};
use std::sync::Arc;
use tokio::sync::mpsc::Sender;

/// A receiver of rows, which it sends on in batches.
pub(super) struct Batches {
    schema: SchemaRef,
    columns: Arc<Vec<Column>>,
    values: Vec<Vec<Literal>>,
    rows: usize,
    size: usize,
    sender: Sender<DfResult<RecordBatch>>,
}

impl Batches {
    pub fn new(
        schema: SchemaRef,
        columns: Arc<Vec<Column>>,
        size: usize,
        sender: Sender<DfResult<RecordBatch>>,
    ) -> Self {
        let values = vec![Vec::new(); columns.len()];
        Self { schema, columns, values, rows: 0, size: size.max(1), sender }
    }

    /// How many columns a row has; one that is not looked at where the query wants rows only.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// True where a column is of bytes, not of text.
    pub fn takes_bytes(&self, column: usize) -> bool {
        let takes = |column: &Column| column.data_type == DataType::Binary || column.binary == BinaryText::Number;
        self.columns.get(column).is_some_and(takes)
    }

    /// The value of a column in the row that is coming.
    pub fn push(&mut self, column: usize, cell: Cell<'_>) -> Result<()> {
        let (Some(kind), Some(values)) = (self.columns.get(column), self.values.get_mut(column)) else {
            return Ok(());
        };
        values.push(kind.literal(cell)?);
        Ok(())
    }

    /// Ends a row; the batch, where it is full.
    pub fn end_row(&mut self) -> Result<Option<RecordBatch>> {
        self.rows += 1;
        if self.rows < self.size { Ok(None) } else { self.take().map(Some) }
    }

    /// Sends a batch; false where nobody wants it.
    pub async fn send(&self, batch: RecordBatch) -> bool {
        self.sender.send(Ok(batch)).await.is_ok()
    }

    /// Sends a batch from a thread that may block; false where nobody wants it.
    pub fn send_blocking(&self, batch: RecordBatch) -> bool {
        self.sender.blocking_send(Ok(batch)).is_ok()
    }

    /// The rows of the last batch.
    pub fn rest(&mut self) -> Result<Option<RecordBatch>> {
        if self.rows == 0 { Ok(None) } else { self.take().map(Some) }
    }

    fn take(&mut self) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (column, values) in self.columns.iter().zip(&mut self.values) {
            let values = std::mem::take(values);
            let refs: Vec<&Literal> = values.iter().collect();
            arrays.push(Literal::array_of(&refs, &column.data_type)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(std::mem::take(&mut self.rows)));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map_err(crate::error::from_arrow)
    }
}
