//! DataFusion's accumulators over [`States`].

use super::gather::Gathered;
use super::states::{Rows, States, split_first};
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::{cast, concat};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, SortField};
use datafusion::common::{DataFusionError, HashSet, Result as DfResult, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Makes empty states.
pub type MakeStates = Box<dyn Fn() -> DfResult<Box<dyn States>> + Send + Sync>;

fn plain(arrays: &[ArrayRef], types: &[ArrowType]) -> DfResult<Vec<ArrayRef>> {
    arrays
        .iter()
        .zip(types)
        .map(
            |(array, wanted)| {
                if array.data_type() == wanted { Ok(Arc::clone(array)) } else { Ok(cast(array, wanted)?) }
            },
        )
        .collect()
}

/// One state for all rows.
#[derive(Debug)]
pub struct SingleState {
    states: Box<dyn States>,
    types: Vec<ArrowType>,
}

impl SingleState {
    pub fn new(mut states: Box<dyn States>, types: Vec<ArrowType>) -> Self {
        states.resize(1);
        Self { states, types }
    }
}

fn first_value(array: &ArrayRef) -> DfResult<ScalarValue> {
    crate::kernel::value_at(array, 0)
}

fn row_count(arrays: &[ArrayRef]) -> usize {
    arrays.first().map_or(0, |a| a.len())
}

impl Accumulator for SingleState {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        let values = plain(values, &self.types)?;
        self.states.update(&values, &Rows::single(row_count(&values)))
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        first_value(&self.states.evaluate()?)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.states.size()
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        self.states.state()?.iter().map(first_value).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> DfResult<()> {
        self.states.merge(states, &Rows::single(row_count(states)))
    }
}

/// A state a group.
pub struct GroupedStates {
    make: MakeStates,
    states: Box<dyn States>,
    types: Vec<ArrowType>,
}

impl GroupedStates {
    pub fn new(make: MakeStates, types: Vec<ArrowType>) -> DfResult<Self> {
        let states = make()?;
        Ok(Self { make, states, types })
    }

    fn emit(&mut self, emit_to: EmitTo) -> DfResult<Box<dyn States>> {
        match emit_to {
            EmitTo::All => Ok(std::mem::replace(&mut self.states, (self.make)()?)),
            EmitTo::First(groups) => self.states.take_first(groups),
        }
    }
}

impl fmt::Debug for GroupedStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupedStates").field("states", &self.states).finish_non_exhaustive()
    }
}

impl GroupsAccumulator for GroupedStates {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> DfResult<()> {
        let values = plain(values, &self.types)?;
        self.states.resize(total_num_groups);
        self.states.update(&values, &Rows::grouped(group_indices, opt_filter))
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> DfResult<ArrayRef> {
        self.emit(emit_to)?.evaluate()
    }

    fn state(&mut self, emit_to: EmitTo) -> DfResult<Vec<ArrayRef>> {
        self.emit(emit_to)?.state()
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> DfResult<()> {
        self.states.resize(total_num_groups);
        self.states.merge(values, &Rows::grouped(group_indices, None))
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> DfResult<Vec<ArrayRef>> {
        let values = plain(values, &self.types)?;
        let groups: Vec<usize> = (0..row_count(&values)).collect();
        let mut states = (self.make)()?;
        states.resize(groups.len());
        states.update(&values, &Rows::grouped(&groups, opt_filter))?;
        states.state()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.states.size()
    }
}

/// How many small batches of a frame are kept before they are joined to one.
const MAX_PIECES: usize = 32;

/// The rows of a sliding frame, aggregated anew for each frame.
///
/// As Spark does it: sums of doubles come out the same, and every aggregate can slide.
pub struct SlidingStates {
    make: MakeStates,
    types: Vec<ArrowType>,
    frame: VecDeque<Vec<ArrayRef>>,
}

impl SlidingStates {
    pub fn new(make: MakeStates, types: Vec<ArrowType>) -> DfResult<Self> {
        Ok(Self { make, types, frame: VecDeque::new() })
    }

    fn current(&self) -> DfResult<Box<dyn States>> {
        let mut states = (self.make)()?;
        states.resize(1);
        for piece in &self.frame {
            states.update(piece, &Rows::single(row_count(piece)))?;
        }
        Ok(states)
    }

    fn join(&mut self) -> DfResult<()> {
        let width = self.types.len();
        let joined = (0..width)
            .map(|i| {
                let pieces: Vec<&dyn Array> =
                    self.frame.iter().filter_map(|p| p.get(i)).map(|a| a.as_ref() as &dyn Array).collect();
                concat(&pieces)
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.frame.clear();
        self.frame.push_back(joined);
        Ok(())
    }
}

impl fmt::Debug for SlidingStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlidingStates").field("frame", &self.frame).finish_non_exhaustive()
    }
}

impl Accumulator for SlidingStates {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        if row_count(values) == 0 {
            return Ok(());
        }
        self.frame.push_back(plain(values, &self.types)?);
        if self.frame.len() > MAX_PIECES {
            self.join()?;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        let mut left = row_count(values);
        while left > 0 {
            let Some(piece) = self.frame.front_mut() else {
                return Err(DataFusionError::Internal("more rows leave a window frame than are in it".into()));
            };
            let length = row_count(piece);
            if length <= left {
                left -= length;
                self.frame.pop_front();
            } else {
                for array in piece.iter_mut() {
                    *array = array.slice(left, length - left);
                }
                left = 0;
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        first_value(&self.current()?.evaluate()?)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.frame.iter().flatten().map(|a| a.get_array_memory_size()).sum::<usize>()
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        self.current()?.state()?.iter().map(first_value).collect()
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> DfResult<()> {
        Err(DataFusionError::Internal("window frames are never merged".into()))
    }
}

/// Makes empty states, shared.
pub type SharedMake = Arc<dyn Fn() -> DfResult<Box<dyn States>> + Send + Sync>;

/// Distinct rows per group, aggregated at the end.
pub struct DistinctStates {
    make: SharedMake,
    types: Vec<ArrowType>,
    converter: RowConverter,
    /// The rows of each group, as bytes.
    known: Vec<HashSet<Box<[u8]>>>,
    known_rows: usize,
    known_bytes: usize,
    rows: Gathered,
}

impl DistinctStates {
    pub fn new(make: SharedMake, types: Vec<ArrowType>) -> DfResult<Self> {
        let converter = RowConverter::new(types.iter().map(|t| SortField::new(t.clone())).collect())?;
        let rows = Gathered::new(types.clone());
        Ok(Self { make, types, converter, known: Vec::new(), known_rows: 0, known_bytes: 0, rows })
    }

    fn insert(&mut self, columns: &[ArrayRef], rows: Vec<u32>, groups: Vec<u32>) -> DfResult<()> {
        let keys: Vec<ArrayRef> = columns.iter().map(super::ordering::normalized).collect::<DfResult<_>>()?;
        let encoded = self.converter.convert_columns(&keys)?;
        let (mut new_rows, mut new_groups) = (Vec::new(), Vec::new());
        for (row, group) in rows.into_iter().zip(groups) {
            let key = encoded.row(row as usize).data();
            let known = &mut self.known[group as usize];
            if !known.contains(key) {
                known.insert(key.into());
                self.known_rows += 1;
                self.known_bytes += key.len();
                new_rows.push(row);
                new_groups.push(group);
            }
        }
        self.rows.push_taken(columns, &new_rows, new_groups)
    }
}

impl fmt::Debug for DistinctStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistinctStates").field("types", &self.types).finish_non_exhaustive()
    }
}

impl States for DistinctStates {
    fn state_types(&self) -> Vec<ArrowType> {
        self.rows.state_types()
    }

    fn resize(&mut self, groups: usize) {
        self.rows.resize(groups);
        if groups > self.known.len() {
            self.known.resize_with(groups, HashSet::default);
        }
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let (chosen, groups) =
            rows.selected(None).unwrap_or_else(|| ((0..rows.len() as u32).collect(), rows.group_numbers()));
        self.insert(arguments, chosen, groups)
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let (columns, groups) = Gathered::unnest(states, rows)?;
        self.insert(&columns, (0..groups.len() as u32).collect(), groups)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        self.rows.state()
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        let (columns, groups) = self.rows.rows()?;
        let groups: Vec<usize> = groups.into_iter().map(|g| g as usize).collect();
        let mut states = (self.make)()?;
        states.resize(self.rows.groups());
        // A group may have no row here, so the rows are no dense batch.
        let all = BooleanArray::from(vec![true; groups.len()]);
        states.update(&columns, &Rows::grouped(&groups, Some(&all)))?;
        states.evaluate()
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        let rows = self.rows.take_first(groups)?;
        let mut first = Self::new(Arc::clone(&self.make), self.types.clone())?;
        first.known = split_first(&mut self.known, groups);
        for known in &first.known {
            first.known_rows += known.len();
            first.known_bytes += known.iter().map(|key| key.len()).sum::<usize>();
        }
        self.known_rows -= first.known_rows;
        self.known_bytes -= first.known_bytes;
        first.rows = rows;
        Ok(Box::new(first))
    }

    fn size(&self) -> usize {
        self.rows.size()
            + self.known_bytes
            + self.known.capacity() * size_of::<HashSet<Box<[u8]>>>()
            // A table has room to grow.
            + 2 * self.known_rows * size_of::<Box<[u8]>>()
    }
}
