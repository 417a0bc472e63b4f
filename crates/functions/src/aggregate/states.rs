//! The states of all groups of one aggregate, kept in columns.

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result as DfResult;
use std::fmt::Debug;

/// The states of the groups of one aggregate.
///
/// From this one description come DataFusion's grouped accumulator, its single
/// accumulator, the one for sliding windows and `DISTINCT`.
pub trait States: Debug + Send + Sync {
    /// The types of the columns of [`States::state`].
    fn state_types(&self) -> Vec<ArrowType>;

    /// Makes room for `groups` groups; new groups are empty.
    fn resize(&mut self, groups: usize);

    /// Takes in rows of arguments.
    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()>;

    /// Takes in states of other accumulators, a row each.
    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()>;

    /// The states as columns, a row a group.
    fn state(&self) -> DfResult<Vec<ArrayRef>>;

    /// The results, a row a group.
    fn evaluate(&self) -> DfResult<ArrayRef>;

    /// Removes the first `groups` groups, and gives them back.
    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>>;

    /// Bytes of memory in use, the struct itself not counted.
    fn size(&self) -> usize;
}

/// The rows of a batch to take in, each with its group.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    groups: Option<&'a [usize]>,
    filter: Option<&'a BooleanArray>,
    len: usize,
}

impl<'a> Rows<'a> {
    /// All rows belong to group 0.
    pub fn single(len: usize) -> Self {
        Self { groups: None, filter: None, len }
    }

    /// Row `i` belongs to group `groups[i]`, and counts where the filter is true.
    pub fn grouped(groups: &'a [usize], filter: Option<&'a BooleanArray>) -> Self {
        Self { groups: Some(groups), filter, len: groups.len() }
    }

    /// How many rows there are, before the filter.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when every group has a row in a batch it first appears in, and every row counts.
    pub fn is_dense(&self, nulls: Option<&NullBuffer>) -> bool {
        self.filter.is_none() && nulls.is_none_or(|n| n.null_count() == 0) && (self.groups.is_some() || self.len > 0)
    }

    /// The rows that count: not filtered out, and not null.
    fn valid(&self, nulls: Option<&NullBuffer>) -> Option<NullBuffer> {
        let nulls = nulls.filter(|n| n.null_count() > 0);
        match (self.filter, nulls) {
            (None, None) => None,
            (None, Some(nulls)) => Some(nulls.clone()),
            (Some(filter), nulls) => {
                let chosen = NullBuffer::new(filter.values().clone());
                let chosen = NullBuffer::union(Some(&chosen), filter.nulls());
                NullBuffer::union(chosen.as_ref(), nulls)
            }
        }
    }

    /// Calls `f(row, group)` for every row that counts.
    #[inline]
    pub fn for_each(&self, nulls: Option<&NullBuffer>, mut f: impl FnMut(usize, usize)) {
        match (self.groups, self.valid(nulls)) {
            (Some(groups), None) => {
                for (row, group) in groups.iter().enumerate() {
                    f(row, *group);
                }
            }
            (Some(groups), Some(valid)) => {
                for row in valid.valid_indices() {
                    f(row, groups[row]);
                }
            }
            (None, None) => {
                for row in 0..self.len {
                    f(row, 0);
                }
            }
            (None, Some(valid)) => {
                for row in valid.valid_indices() {
                    f(row, 0);
                }
            }
        }
    }

    /// Calls `f(value, group)` for the values of the rows that count.
    #[inline]
    pub fn for_each_value<T: Copy>(&self, values: &[T], nulls: Option<&NullBuffer>, mut f: impl FnMut(T, usize)) {
        match (self.groups, self.valid(nulls)) {
            (Some(groups), None) => {
                for (value, group) in values.iter().zip(groups) {
                    f(*value, *group);
                }
            }
            (None, None) => {
                for value in values {
                    f(*value, 0);
                }
            }
            (_, Some(valid)) => {
                for row in valid.valid_indices() {
                    f(values[row], self.groups.map_or(0, |groups| groups[row]));
                }
            }
        }
    }

    /// True when all rows count and belong to group 0.
    pub fn is_whole(&self, nulls: Option<&NullBuffer>) -> bool {
        self.groups.is_none() && self.is_dense(nulls)
    }

    /// As [`Rows::for_each`], up to the first error.
    pub fn try_for_each(
        &self,
        nulls: Option<&NullBuffer>,
        mut f: impl FnMut(usize, usize) -> DfResult<()>,
    ) -> DfResult<()> {
        let mut result = Ok(());
        self.for_each(nulls, |row, group| {
            if result.is_ok() {
                result = f(row, group);
            }
        });
        result
    }

    /// The rows that count with their groups, or None where all rows do.
    pub fn selected(&self, nulls: Option<&NullBuffer>) -> Option<(Vec<u32>, Vec<u32>)> {
        self.valid(nulls)?;
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        self.for_each(nulls, |row, group| {
            rows.push(row as u32);
            groups.push(group as u32);
        });
        Some((rows, groups))
    }

    /// The group of every row.
    pub fn group_numbers(&self) -> Vec<u32> {
        match self.groups {
            Some(groups) => groups.iter().map(|g| *g as u32).collect(),
            None => vec![0; self.len],
        }
    }
}

/// Which groups have taken in a value.
///
/// While no null and no filter was met, every group has: it came into being with a row.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    groups: usize,
    /// None while all groups have a value.
    marks: Option<Vec<bool>>,
}

impl Seen {
    /// Makes room for `groups` groups before a batch; true if each row must be marked.
    pub fn begin(&mut self, groups: usize, rows: &Rows<'_>, nulls: Option<&NullBuffer>) -> bool {
        if self.marks.is_none() && !rows.is_dense(nulls) {
            self.marks = Some(vec![true; self.groups]);
        }
        self.groups = self.groups.max(groups);
        if let Some(marks) = &mut self.marks {
            marks.resize(self.groups, false);
            return true;
        }
        false
    }

    /// Notes that a group has a value.
    #[inline]
    pub fn mark(&mut self, group: usize) {
        if let Some(marks) = &mut self.marks {
            marks[group] = true;
        }
    }

    /// The validity of the first `groups` groups; groups never seen are null.
    pub fn nulls(&self, groups: usize) -> Option<NullBuffer> {
        match &self.marks {
            None if groups <= self.groups => None,
            None => Some(NullBuffer::from_iter((0..groups).map(|g| g < self.groups))),
            Some(marks) => Some(NullBuffer::from_iter((0..groups).map(|g| marks.get(g).copied().unwrap_or(false)))),
        }
    }

    /// Removes the first `groups` groups, and gives them back.
    pub fn take_first(&mut self, groups: usize) -> Self {
        let taken = groups.min(self.groups);
        let marks = self.marks.as_mut().map(|marks| {
            let rest = marks.split_off(taken.min(marks.len()));
            std::mem::replace(marks, rest)
        });
        self.groups -= taken;
        Self { groups: taken, marks }
    }

    pub fn size(&self) -> usize {
        self.marks.as_ref().map_or(0, Vec::capacity)
    }
}

/// Removes the first `count` items of a vector, and gives them back.
pub fn split_first<T>(items: &mut Vec<T>, count: usize) -> Vec<T> {
    let rest = items.split_off(count.min(items.len()));
    std::mem::replace(items, rest)
}

/// An argument that the caller must have given.
pub fn column(arrays: &[ArrayRef], index: usize) -> DfResult<&ArrayRef> {
    arrays
        .get(index)
        .ok_or_else(|| datafusion::common::DataFusionError::Internal(format!("aggregate argument {index} is missing")))
}

/// An argument as its concrete array type.
pub fn typed<T: Array + 'static>(arrays: &[ArrayRef], index: usize) -> DfResult<&T> {
    let array = column(arrays, index)?;
    array.as_any().downcast_ref::<T>().ok_or_else(|| {
        datafusion::common::DataFusionError::Internal(format!(
            "aggregate argument {index} has the unexpected type {}",
            array.data_type()
        ))
    })
}
