//! Aggregates that keep one small value per group.

use super::states::{Rows, States, split_first};
use arrow::array::ArrayRef;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result as DfResult;
use std::fmt::Debug;

/// How values of one group become one.
pub trait Fold: Debug + Clone + Send + Sync + 'static {
    type State: Debug + Default + Send + Sync + 'static;

    fn state_types(&self) -> Vec<ArrowType>;
    fn update(&self, states: &mut [Self::State], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()>;
    fn merge(&self, states: &mut [Self::State], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()>;
    fn state(&self, states: &[Self::State]) -> DfResult<Vec<ArrayRef>>;
    fn evaluate(&self, states: &[Self::State]) -> DfResult<ArrayRef>;

    /// Bytes that a state holds outside of itself.
    fn heap_size(&self, _state: &Self::State) -> usize {
        0
    }
}

/// The states of a [`Fold`], one a group.
#[derive(Debug)]
pub struct Folded<F: Fold> {
    fold: F,
    states: Vec<F::State>,
}

impl<F: Fold> Folded<F> {
    pub fn boxed(fold: F) -> Box<dyn States> {
        Box::new(Self { fold, states: Vec::new() })
    }
}

impl<F: Fold> States for Folded<F> {
    fn state_types(&self) -> Vec<ArrowType> {
        self.fold.state_types()
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.states.len() {
            self.states.resize_with(groups, F::State::default);
        }
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.fold.update(&mut self.states, arguments, rows)
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.fold.merge(&mut self.states, states, rows)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        self.fold.state(&self.states)
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        self.fold.evaluate(&self.states)
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        let states = split_first(&mut self.states, groups);
        Ok(Box::new(Self { fold: self.fold.clone(), states }))
    }

    fn size(&self) -> usize {
        let heap: usize = if std::mem::needs_drop::<F::State>() {
            self.states.iter().map(|s| self.fold.heap_size(s)).sum()
        } else {
            0
        };
        self.states.capacity() * size_of::<F::State>() + heap
    }
}
