//! One value of any type per group.

use super::states::split_first;
use arrow::array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow::compute::{interleave, take};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result as DfResult;

/// Chunks are joined when there are more than this.
const MAX_CHUNKS: usize = 64;
/// Rows that may be kept in vain before chunks are joined.
const MAX_GARBAGE: usize = 4096;

/// For each group at most one row out of the batches met so far.
///
/// Rows are copied out of a batch in bulk, so that any type goes at the speed of `take`.
#[derive(Debug, Clone)]
pub struct Picked {
    data_type: ArrowType,
    chunks: Vec<ArrayRef>,
    /// Chunk and row of each group.
    places: Vec<Option<(u32, u32)>>,
    rows: usize,
    bytes: usize,
}

impl Picked {
    pub fn new(data_type: ArrowType) -> Self {
        Self { data_type, chunks: Vec::new(), places: Vec::new(), rows: 0, bytes: 0 }
    }

    pub fn resize(&mut self, groups: usize) {
        if groups > self.places.len() {
            self.places.resize(groups, None);
        }
    }

    pub fn is_set(&self, group: usize) -> bool {
        self.places.get(group).is_some_and(Option::is_some)
    }

    /// Takes rows of an array for groups, `(row, group)`, each group at most once.
    pub fn set(&mut self, array: &ArrayRef, picks: &[(u32, u32)]) -> DfResult<()> {
        if picks.is_empty() {
            return Ok(());
        }
        let indices = UInt32Array::from_iter_values(picks.iter().map(|(row, _)| *row));
        let chunk = take(array, &indices, None)?;
        let number = self.chunks.len() as u32;
        for (index, (_, group)) in picks.iter().enumerate() {
            self.places[*group as usize] = Some((number, index as u32));
        }
        self.rows += chunk.len();
        self.bytes += chunk.get_array_memory_size();
        self.chunks.push(chunk);
        if self.chunks.len() > MAX_CHUNKS || self.rows > 2 * self.places.len() + MAX_GARBAGE {
            self.compact()?;
        }
        Ok(())
    }

    fn compact(&mut self) -> DfResult<()> {
        let chunks: Vec<&dyn Array> = self.chunks.iter().map(|c| c.as_ref() as &dyn Array).collect();
        let indices: Vec<(usize, usize)> =
            self.places.iter().flatten().map(|(chunk, row)| (*chunk as usize, *row as usize)).collect();
        let joined = interleave(&chunks, &indices)?;
        for (row, place) in self.places.iter_mut().filter(|p| p.is_some()).enumerate() {
            *place = Some((0, row as u32));
        }
        self.rows = joined.len();
        self.bytes = joined.get_array_memory_size();
        self.chunks = vec![joined];
        Ok(())
    }

    /// The values of all groups; null where there is none.
    pub fn values(&self) -> DfResult<ArrayRef> {
        let nothing = new_null_array(&self.data_type, 1);
        if self.places.is_empty() {
            return Ok(nothing.slice(0, 0));
        }
        let mut chunks: Vec<&dyn Array> = vec![nothing.as_ref()];
        chunks.extend(self.chunks.iter().map(|c| c.as_ref() as &dyn Array));
        let indices: Vec<(usize, usize)> = self
            .places
            .iter()
            .map(|place| place.map_or((0, 0), |(chunk, row)| (chunk as usize + 1, row as usize)))
            .collect();
        Ok(interleave(&chunks, &indices)?)
    }

    /// Removes the first groups, and gives them back.
    pub fn take_first(&mut self, groups: usize) -> DfResult<Self> {
        let mut first = self.clone();
        first.places = split_first(&mut self.places, groups);
        if !self.chunks.is_empty() {
            first.compact()?;
            self.compact()?;
        }
        Ok(first)
    }

    pub fn size(&self) -> usize {
        self.bytes + self.places.capacity() * size_of::<Option<(u32, u32)>>()
    }
}

/// At most one row per group out of one batch.
#[derive(Debug)]
pub struct Picks {
    /// The place in `rows` of each group, plus one.
    places: Vec<u32>,
    rows: Vec<(u32, u32)>,
}

impl Picks {
    pub fn new(groups: usize) -> Self {
        Self { places: vec![0; groups], rows: Vec::new() }
    }

    /// Picks a row for a group, in place of an earlier one.
    #[inline]
    pub fn pick(&mut self, row: usize, group: usize) {
        match self.places[group] {
            0 => {
                self.rows.push((row as u32, group as u32));
                self.places[group] = self.rows.len() as u32;
            }
            place => self.rows[place as usize - 1].0 = row as u32,
        }
    }

    #[inline]
    pub fn has(&self, group: usize) -> bool {
        self.places[group] != 0
    }

    pub fn rows(&self) -> &[(u32, u32)] {
        &self.rows
    }
}
