//! Rows of batches, and values of Rust's types made of them.

use crate::deserialize::{Cell, RowCells};
use crate::error::{Error, Result};
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use firesteel_types::{Literal, TimeZone};
use serde::de::DeserializeOwned;
use std::fmt;

/// A row of a result.
#[derive(Clone)]
pub struct Row {
    batch: RecordBatch,
    index: usize,
}

/// A column of a row, by name or by place.
pub trait ColumnIndex: fmt::Display {
    #[doc(hidden)]
    fn place(&self, schema: &SchemaRef) -> Option<usize>;
}

impl ColumnIndex for usize {
    fn place(&self, schema: &SchemaRef) -> Option<usize> {
        (*self < schema.fields().len()).then_some(*self)
    }
}

impl ColumnIndex for &str {
    fn place(&self, schema: &SchemaRef) -> Option<usize> {
        schema.fields().iter().position(|field| field.name() == self)
    }
}

impl Row {
    /// The rows of a batch, which they share.
    pub fn of_batch(batch: &RecordBatch) -> impl Iterator<Item = Row> {
        (0..batch.num_rows()).map(move |index| Row { batch: batch.clone(), index })
    }

    fn column(&self, column: impl ColumnIndex) -> Result<&dyn Array> {
        let place = column.place(&self.batch.schema());
        let place = place.ok_or_else(|| Error::Convert(format!("the row has no column {column}")))?;
        Ok(self.batch.column(place).as_ref())
    }

    /// A value as a type.
    pub fn get<T: DeserializeOwned>(&self, column: impl ColumnIndex) -> Result<T> {
        let name = column.to_string();
        let cell = Cell::new(self.column(column)?, self.index);
        T::deserialize(cell).map_err(|error| Error::Convert(format!("column {name}: {error}")))
    }

    /// A value with its Spark type.
    pub fn value(&self, column: impl ColumnIndex) -> Result<Literal> {
        Ok(Literal::from_arrow(self.column(column)?, self.index)?)
    }

    /// Whether a value is NULL.
    pub fn is_null(&self, column: impl ColumnIndex) -> Result<bool> {
        Ok(self.column(column)?.is_null(self.index))
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.batch.num_columns()
    }

    /// The row as a value of a type: a struct by the names of columns, a tuple by their order.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(RowCells::new(&self.batch, self.index)).map_err(|error| Error::Convert(error.to_string()))
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Row(")?;
        for (place, field) in self.batch.schema().fields().iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            let value = self.value(place).map_err(|_| fmt::Error)?;
            write!(f, "{separator}{}={}", field.name(), value.display(TimeZone::UTC))?;
        }
        f.write_str(")")
    }
}

/// The rows of a batch as values of a type.
///
/// ```
/// use firesteel_client::arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
/// use std::sync::Arc;
/// let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
/// let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
/// let batch = RecordBatch::try_from_iter([("n", numbers), ("s", texts)])?;
/// let rows: Vec<(i64, String)> = firesteel_client::records(&batch)?;
/// assert_eq!(rows, [(1, "a".to_string()), (2, "b".to_string())]);
/// # Ok::<(), firesteel_client::Error>(())
/// ```
pub fn records<T: DeserializeOwned>(batch: &RecordBatch) -> Result<Vec<T>> {
    let record = |index| T::deserialize(RowCells::new(batch, index));
    (0..batch.num_rows()).map(record).collect::<Result<_, _>>().map_err(|error| Error::Convert(error.to_string()))
}
