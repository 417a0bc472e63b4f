//! `min` and `max`.

use super::extreme_by;
use super::fold::{Fold, Folded};
use super::number::array_of;
use super::states::{Rows, States, column};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, declare};
use crate::{AggregateCall, BuildContext, Function, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use datafusion::common::Result as DfResult;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use firesteel_error::Result;
use firesteel_types::DataType;

pub static FUNCTIONS: &[&Function] = &[
    &declare("min", &[], super::ONE, |c, a| build("min", c, a), "min(expr) - Returns the least value of a group."),
    &declare("max", &[], super::ONE, |c, a| build("max", c, a), "max(expr) - Returns the greatest value of a group."),
];

pub static MIN: Kernel =
    Kernel { name: "min", states: |c, t| new_states(c, t, false), over_nothing: OverNothing::Null };
pub static MAX: Kernel = Kernel { name: "max", states: |c, t| new_states(c, t, true), over_nothing: OverNothing::Null };

fn build(name: &'static str, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    call.check_orderable(0)?;
    // Duplicates make no difference.
    call.call.is_distinct = false;
    let returns = call.argument_type(0)?;
    if is_native(&returns) {
        let udaf = if name == "max" { max_udaf() } else { min_udaf() };
        let argument = call.argument(0)?.expr.clone();
        return call.native(udaf, vec![argument], returns, true);
    }
    let kernel = if name == "max" { &MAX } else { &MIN };
    call.aggregate(kernel, context, returns, true, None)
}

/// True for types that DataFusion compares as Spark does, fast: not floats, as their NaN is the greatest.
fn is_native(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Boolean
            | DataType::Byte
            | DataType::Short
            | DataType::Integer
            | DataType::Long
            | DataType::Decimal(..)
            | DataType::String(_)
            | DataType::Char(_)
            | DataType::Varchar(_)
            | DataType::Binary
            | DataType::Date
            | DataType::Timestamp
            | DataType::TimestampNtz
            | DataType::Time(_)
            | DataType::DayTimeInterval(..)
    )
}

fn new_states(call: &Call, types: &[ArrowType], is_max: bool) -> DfResult<Box<dyn States>> {
    match types.first() {
        Some(ArrowType::Float32 | ArrowType::Float64) => {
            Ok(Folded::boxed(FloatExtreme { is_max, data_type: call.arrow_return() }))
        }
        _ => extreme_by::new_states(types, is_max),
    }
}

/// The extreme of floats: NaN is greater than any other value.
#[derive(Debug, Clone)]
struct FloatExtreme {
    is_max: bool,
    data_type: ArrowType,
}

impl FloatExtreme {
    #[inline]
    fn take(&self, state: &mut Option<f64>, new: f64) {
        let is_better = match *state {
            None => true,
            Some(old) if self.is_max => new > old || (new.is_nan() && !old.is_nan()),
            Some(old) => new < old || (old.is_nan() && !new.is_nan()),
        };
        if is_better {
            *state = Some(new);
        }
    }
}

impl Fold for FloatExtreme {
    type State = Option<f64>;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![self.data_type.clone()]
    }

    fn update(&self, states: &mut [Option<f64>], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let array = column(arguments, 0)?;
        if let Some(floats) = array.as_primitive_opt::<Float32Type>() {
            rows.for_each(floats.nulls(), |row, group| self.take(&mut states[group], f64::from(floats.value(row))));
        } else {
            let floats = array.as_primitive::<Float64Type>();
            rows.for_each(floats.nulls(), |row, group| self.take(&mut states[group], floats.value(row)));
        }
        Ok(())
    }

    fn merge(&self, states: &mut [Option<f64>], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.update(states, columns, rows)
    }

    fn state(&self, states: &[Option<f64>]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(states)?])
    }

    fn evaluate(&self, states: &[Option<f64>]) -> DfResult<ArrayRef> {
        let nulls = Some(NullBuffer::from_iter(states.iter().map(Option::is_some)));
        let values = states.iter().map(|s| s.unwrap_or(0.0));
        Ok(match self.data_type {
            ArrowType::Float32 => array_of::<Float32Type>(values.map(|v| v as f32).collect(), nulls, &self.data_type),
            _ => array_of::<Float64Type>(values.collect(), nulls, &self.data_type),
        })
    }
}
