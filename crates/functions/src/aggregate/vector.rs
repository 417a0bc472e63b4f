//! `vector_avg` and `vector_sum`: vectors of a group, number by number.

use super::fold::{Fold, Folded};
use super::states::{Rows, States, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, ONE, declare};
use crate::coercion::{accepts, mismatch};
use crate::scalar::array::vector::{VECTOR, dimension_mismatch};
use crate::{AggregateCall, BuildContext, Function, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, Float32Array, Int64Array, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, Field, Float32Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "vector_avg",
        &[],
        ONE,
        |c, a| build(&AVG, c, a),
        "vector_avg(array) - Returns the mean of the vectors of a group, number by number.",
    ),
    &declare(
        "vector_sum",
        &[],
        ONE,
        |c, a| build(&SUM, c, a),
        "vector_sum(array) - Returns the sum of the vectors of a group, number by number.",
    ),
];

pub static AVG: Kernel =
    Kernel { name: "vector_avg", states: |c, _| Ok(new_states(c, true)), over_nothing: OverNothing::Null };
pub static SUM: Kernel =
    Kernel { name: "vector_sum", states: |c, _| Ok(new_states(c, false)), over_nothing: OverNothing::Null };

fn build(kernel: &'static Kernel, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let call = AggregateContext::new(kernel.name, call);
    let argument = call.argument(0)?;
    if !accepts(VECTOR, &argument.data_type) {
        return Err(mismatch::unexpected_input(&call.text, 0, VECTOR, argument));
    }
    call.aggregate(kernel, context, DataType::array(DataType::Float, false), true, None)
}

fn new_states(call: &Call, is_mean: bool) -> Box<dyn States> {
    Folded::boxed(VectorFold { call: call.clone(), is_mean })
}

#[derive(Debug, Clone)]
struct VectorFold {
    call: Call,
    is_mean: bool,
}

/// The sum or the mean of so many vectors.
#[derive(Debug, Default)]
pub struct State {
    values: Vec<f32>,
    count: i64,
}

impl VectorFold {
    /// Takes in what stands for `count` vectors.
    fn take(&self, state: &mut State, vector: &[f32], count: i64) -> DfResult<()> {
        if state.count == 0 {
            *state = State { values: vector.to_vec(), count };
            return Ok(());
        }
        if state.values.len() != vector.len() {
            let name = if self.is_mean { "vector_avg" } else { "vector_sum" };
            return Err(self.call.error(dimension_mismatch(name, state.values.len(), vector.len())));
        }
        state.count += count;
        let weight = count as f32 / state.count as f32;
        for (value, other) in state.values.iter_mut().zip(vector) {
            *value += if self.is_mean { (*other - *value) * weight } else { *other };
        }
        Ok(())
    }

    fn take_lists(
        &self,
        states: &mut [State],
        lists: &ListArray,
        counts: Option<&Int64Array>,
        rows: &Rows<'_>,
    ) -> DfResult<()> {
        let values = lists
            .values()
            .as_primitive_opt::<Float32Type>()
            .ok_or_else(|| DataFusionError::Internal("vectors are arrays of floats".into()))?;
        let offsets = lists.value_offsets();
        rows.try_for_each(lists.nulls(), |row, group| {
            let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
            if values.nulls().is_some_and(|nulls| (start..end).any(|i| nulls.is_null(i))) {
                return Ok(());
            }
            let count = counts.map_or(1, |counts| counts.value(row));
            self.take(&mut states[group], &values.values()[start..end], count)
        })
    }

    fn lists(states: &[State], field: Arc<Field>) -> DfResult<ArrayRef> {
        let values: ArrayRef =
            Arc::new(Float32Array::from_iter_values(states.iter().flat_map(|s| s.values.iter().copied())));
        let offsets = OffsetBuffer::from_lengths(states.iter().map(|s| s.values.len()));
        let nulls: NullBuffer = states.iter().map(|s| s.count > 0).collect();
        Ok(Arc::new(ListArray::try_new(field, offsets, values, Some(nulls))?))
    }
}

impl Fold for VectorFold {
    type State = State;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::List(Arc::new(Field::new("item", ArrowType::Float32, true))), ArrowType::Int64]
    }

    fn update(&self, states: &mut [State], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.take_lists(states, typed(arguments, 0)?, None, rows)
    }

    fn merge(&self, states: &mut [State], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.take_lists(states, typed(columns, 0)?, Some(typed(columns, 1)?), rows)
    }

    fn state(&self, states: &[State]) -> DfResult<Vec<ArrayRef>> {
        let field = Arc::new(Field::new("item", ArrowType::Float32, true));
        let counts = Int64Array::from_iter_values(states.iter().map(|s| s.count));
        Ok(vec![Self::lists(states, field)?, Arc::new(counts)])
    }

    fn evaluate(&self, states: &[State]) -> DfResult<ArrayRef> {
        match self.call.arrow_return() {
            ArrowType::List(field) => Self::lists(states, field),
            other => Err(DataFusionError::Internal(format!("vectors as {other}"))),
        }
    }

    fn heap_size(&self, state: &State) -> usize {
        state.values.capacity() * size_of::<f32>()
    }
}
