//! All values of each group, for aggregates that need them at the end.

use super::states::{Rows, column};
use arrow::array::{Array, ArrayRef, ListArray, UInt32Array, new_empty_array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::{DataFusionError, Result as DfResult};
use std::sync::Arc;

/// Rows of some columns with the group of each, in the order in which they came.
#[derive(Debug, Clone)]
pub struct Gathered {
    types: Vec<ArrowType>,
    chunks: Vec<Chunk>,
    groups: usize,
    rows: usize,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Chunk {
    columns: Vec<ArrayRef>,
    groups: Vec<u32>,
}

impl Gathered {
    pub fn new(types: Vec<ArrowType>) -> Self {
        Self { types, chunks: Vec::new(), groups: 0, rows: 0, bytes: 0 }
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    pub fn resize(&mut self, groups: usize) {
        self.groups = self.groups.max(groups);
    }

    /// Adds the rows that count.
    pub fn push(&mut self, columns: &[ArrayRef], rows: &Rows<'_>, nulls: Option<&NullBuffer>) -> DfResult<()> {
        match rows.selected(nulls) {
            None => self.push_all(columns.to_vec(), rows.group_numbers()),
            Some((chosen, groups)) => return self.push_taken(columns, &chosen, groups),
        }
        Ok(())
    }

    /// Adds the rows of these numbers.
    pub fn push_taken(&mut self, columns: &[ArrayRef], rows: &[u32], groups: Vec<u32>) -> DfResult<()> {
        let indices = UInt32Array::from(rows.to_vec());
        let columns = columns.iter().map(|c| take(c, &indices, None)).collect::<Result<Vec<_>, _>>()?;
        self.push_all(columns, groups);
        Ok(())
    }

    fn push_all(&mut self, columns: Vec<ArrayRef>, groups: Vec<u32>) {
        if groups.is_empty() {
            return;
        }
        self.rows += groups.len();
        self.bytes += groups.capacity() * size_of::<u32>() + columns.iter().map(slice_size).sum::<usize>();
        self.chunks.push(Chunk { columns, groups });
    }

    /// All rows with their groups, in the order in which they came.
    pub fn rows(&self) -> DfResult<(Vec<ArrayRef>, Vec<u32>)> {
        let columns = (0..self.types.len()).map(|i| self.joined(i)).collect::<DfResult<Vec<_>>>()?;
        Ok((columns, self.chunks.iter().flat_map(|c| c.groups.iter().copied()).collect()))
    }

    fn joined(&self, index: usize) -> DfResult<ArrayRef> {
        let pieces: Vec<&dyn Array> =
            self.chunks.iter().filter_map(|c| c.columns.get(index)).map(|a| a.as_ref() as &dyn Array).collect();
        match pieces.as_slice() {
            [] => Ok(new_empty_array(self.types.get(index).unwrap_or(&ArrowType::Null))),
            [_] => Ok(Arc::clone(column(&self.chunks[0].columns, index)?)),
            _ => Ok(concat(&pieces)?),
        }
    }

    /// The rows group after group: where each group's rows start, and the columns.
    pub fn sorted(&self) -> DfResult<(OffsetBuffer<i32>, Vec<ArrayRef>)> {
        let mut offsets = vec![0i32; self.groups + 1];
        for group in self.chunks.iter().flat_map(|c| &c.groups) {
            offsets[*group as usize + 1] += 1;
        }
        for i in 0..self.groups {
            offsets[i + 1] = offsets[i].checked_add(offsets[i + 1]).ok_or_else(|| {
                DataFusionError::ResourcesExhausted("an aggregate gathers more than 2147483647 values".into())
            })?;
        }
        let (columns, groups) = self.rows()?;
        let columns = if self.groups <= 1 || groups.is_sorted() {
            columns
        } else {
            let mut next: Vec<i32> = offsets.clone();
            let mut order = vec![0u32; groups.len()];
            for (row, group) in groups.iter().enumerate() {
                let place = &mut next[*group as usize];
                order[*place as usize] = row as u32;
                *place += 1;
            }
            let order = UInt32Array::from(order);
            columns.iter().map(|c| take(c, &order, None)).collect::<Result<Vec<_>, _>>()?
        };
        Ok((OffsetBuffer::new(offsets.into()), columns))
    }

    /// The types of [`Gathered::state`].
    pub fn state_types(&self) -> Vec<ArrowType> {
        self.types.iter().map(list_of).collect()
    }

    /// A list a group for each column.
    pub fn state(&self) -> DfResult<Vec<ArrayRef>> {
        let (offsets, columns) = self.sorted()?;
        columns
            .into_iter()
            .map(|values| {
                let field = Arc::new(Field::new("element", values.data_type().clone(), true));
                Ok(Arc::new(ListArray::try_new(field, offsets.clone(), values, None)?) as ArrayRef)
            })
            .collect()
    }

    /// The rows in the lists of states, with the groups of the lists.
    pub fn unnest(states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<(Vec<ArrayRef>, Vec<u32>)> {
        let lists =
            (0..states.len()).map(|i| super::states::typed::<ListArray>(states, i)).collect::<DfResult<Vec<_>>>()?;
        let Some(first) = lists.first() else {
            return Ok((Vec::new(), Vec::new()));
        };
        let list_groups = rows.group_numbers();
        let offsets = first.value_offsets();
        let mut groups = Vec::new();
        for (row, group) in list_groups.iter().enumerate() {
            let length = (offsets[row + 1] - offsets[row]) as usize;
            groups.extend(std::iter::repeat_n(*group, length));
        }
        let columns = lists
            .iter()
            .map(|list| {
                let offsets = list.value_offsets();
                let (start, end) = (offsets[0] as usize, offsets[list.len()] as usize);
                list.values().slice(start, end - start)
            })
            .collect();
        Ok((columns, groups))
    }

    /// Adds the rows of states of others.
    pub fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let (columns, groups) = Self::unnest(states, rows)?;
        self.push_all(columns, groups);
        Ok(())
    }

    /// Removes the first groups, and gives them back.
    pub fn take_first(&mut self, groups: usize) -> DfResult<Self> {
        let (columns, numbers) = self.rows()?;
        let mut first = Self::new(self.types.clone());
        let mut rest = Self::new(self.types.clone());
        first.groups = groups.min(self.groups);
        rest.groups = self.groups - first.groups;
        let split = first.groups as u32;
        let (mut first_rows, mut first_groups) = (Vec::new(), Vec::new());
        let (mut rest_rows, mut rest_groups) = (Vec::new(), Vec::new());
        for (row, group) in numbers.into_iter().enumerate() {
            if group < split {
                first_rows.push(row as u32);
                first_groups.push(group);
            } else {
                rest_rows.push(row as u32);
                rest_groups.push(group - split);
            }
        }
        first.push_taken(&columns, &first_rows, first_groups)?;
        rest.push_taken(&columns, &rest_rows, rest_groups)?;
        *self = rest;
        Ok(first)
    }

    pub fn size(&self) -> usize {
        self.bytes + self.chunks.capacity() * size_of::<Chunk>()
    }
}

fn slice_size(array: &ArrayRef) -> usize {
    array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size())
}

/// The engine's list type of an element type.
pub fn list_of(element: &ArrowType) -> ArrowType {
    ArrowType::List(Arc::new(Field::new("element", element.clone(), true)))
}
