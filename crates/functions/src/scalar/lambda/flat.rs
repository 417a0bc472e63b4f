//! Collections of many rows laid out element by element.

use super::higher_order::{Call, inner};
use crate::scalar::array::list::range;
use crate::scalar::string::rows::{downcast, internal};
use arrow::array::{Array, ArrayRef, Int32Array, ListArray, MapArray, UInt64Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use firesteel_error::Result;
use firesteel_types::arrow_mapping;
use std::ops::Range;
use std::sync::Arc;

/// The elements of a column of arrays or entries of a column of maps; null rows have none.
pub struct Flat {
    /// The elements, or keys and values.
    pub parts: Vec<ArrayRef>,
    pub offsets: OffsetBuffer<i32>,
    pub nulls: Option<NullBuffer>,
    /// The row of each element.
    pub rows: UInt64Array,
}

impl Flat {
    /// Of a column of arrays.
    pub fn of_arrays(array: &ArrayRef) -> Result<Self> {
        let list = downcast::<ListArray>(array)?;
        Self::new(&[list.values().clone()], list.offsets(), list.nulls())
    }

    /// Of a column of maps.
    pub fn of_maps(array: &ArrayRef) -> Result<Self> {
        let map = downcast::<MapArray>(array)?;
        Self::new(&[map.keys().clone(), map.values().clone()], map.offsets(), map.nulls())
    }

    fn new(parts: &[ArrayRef], offsets: &OffsetBuffer<i32>, nulls: Option<&NullBuffer>) -> Result<Self> {
        let count = offsets.len().saturating_sub(1);
        let is_null = |row: usize| nulls.is_some_and(|n| n.is_null(row));
        let first = offsets.first().map_or(0, |o| *o as usize);
        let last = offsets.last().map_or(0, |o| *o as usize);
        crate::room::check_many(last - first, 16)?;
        let has_hidden = (0..count).any(|row| is_null(row) && !range(offsets, row).is_empty());
        let mut rows = Vec::with_capacity(last - first);
        let mut kept = Vec::new();
        let mut made = Vec::with_capacity(count + 1);
        made.push(0_i32);
        for row in 0..count {
            if !is_null(row) {
                let span = range(offsets, row);
                rows.extend(std::iter::repeat_n(row as u64, span.len()));
                if has_hidden {
                    kept.extend(span.map(|at| at as u64));
                }
            }
            made.push(i32::try_from(rows.len()).map_err(internal)?);
        }
        let parts = parts
            .iter()
            .map(|part| {
                if has_hidden {
                    arrow::compute::take(part, &UInt64Array::from(kept.clone()), None).map_err(internal)
                } else {
                    Ok(part.slice(first, last - first))
                }
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            parts,
            offsets: OffsetBuffer::new(made.into()),
            nulls: nulls.cloned(),
            rows: UInt64Array::from(rows),
        })
    }

    /// The elements.
    pub fn values(&self) -> &ArrayRef {
        &self.parts[0]
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// True where the row's collection is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|n| n.is_null(row))
    }

    /// Where a row's elements are.
    pub fn span(&self, row: usize) -> Range<usize> {
        range(&self.offsets, row)
    }

    /// The position of each element in its row, from 0.
    pub fn positions(&self) -> ArrayRef {
        let mut positions = Vec::with_capacity(self.rows.len());
        for row in 0..self.len() {
            positions.extend(0..self.span(row).len() as i32);
        }
        Arc::new(Int32Array::from(positions))
    }

    /// Arrays of other elements, as many in each row.
    pub fn with_values(&self, call: &Call<'_>, values: ArrayRef) -> Result<ArrayRef> {
        let field = inner(&arrow_mapping::to_arrow(call.return_type()))?;
        let made = ListArray::try_new(field, self.offsets.clone(), values, self.nulls.clone());
        Ok(Arc::new(made.map_err(internal)?))
    }
}
