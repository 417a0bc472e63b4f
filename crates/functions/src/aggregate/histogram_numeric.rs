//! `histogram_numeric`.

use super::fold::{Fold, Folded};
use super::percentile::compare;
use super::states::{Rows, States, column, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, any, constant, declare};
use crate::coercion::mismatch;
use crate::{AggregateCall, ArgType, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Float64Builder, ListArray, ListBuilder, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, Field, Float64Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::scalar::ScalarValue;
use firesteel_error::Result;
use firesteel_types::{DataType, StructField};
use std::sync::Arc;

pub static FUNCTIONS: &[&Function] = &[&declare(
    "histogram_numeric",
    &[],
    Signature::of(&[any("expr"), any("nb")]),
    build,
    "histogram_numeric(expr, nb) - Returns a histogram of the values of a group: the centres and heights of nb bins.",
)];

pub static KERNEL: Kernel = Kernel { name: "histogram_numeric", states: new_states, over_nothing: OverNothing::Null };

fn build(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("histogram_numeric", call);
    let bins = call.argument(1)?;
    let value = constant::required(&call.text, "nb", "\"INT\"", bins)?;
    let number = match value {
        ScalarValue::Int32(Some(number)) => number,
        ScalarValue::Int8(Some(number)) => number.into(),
        ScalarValue::Int16(Some(number)) => number.into(),
        value if value.is_null() => return Err(constant::unexpected_null(&call.text, "nb")),
        _ => return Err(mismatch::unexpected_input(&call.text, 1, ArgType::Integer, bins)),
    };
    if number < 2 {
        return Err(constant::out_of_range(&call.text, "nb", "[2, 2147483647]", number.to_string()));
    }
    call.call.arguments.truncate(1);
    let element = match call.argument_type(0)? {
        t if t.is_datetime() => t,
        _ => call.numeric_or_interval(context)?,
    };
    let bin = vec![StructField::new("x", element, true), StructField::new("y", DataType::Double, true)];
    let returns = DataType::array(DataType::struct_of(bin), true);
    call.aggregate(&KERNEL, context, returns, true, Some(&number.to_string()))
}

fn new_states(call: &Call, _: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let bins = call.payload().parse().unwrap_or(2);
    Ok(Folded::boxed(HistogramFold { bins, return_type: call.arrow_return() }))
}

/// Java's generator of random numbers, which breaks ties.
#[derive(Debug, Clone, Copy)]
struct Random(u64);

impl Random {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    fn next(&mut self, bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
        self.0 >> (48 - bits)
    }

    fn next_double(&mut self) -> f64 {
        let high = self.next(26) << 27;
        (high + self.next(27)) as f64 / (1u64 << 53) as f64
    }
}

impl Default for Random {
    fn default() -> Self {
        Self((31183 ^ Self::MULTIPLIER) & Self::MASK)
    }
}

/// The bins of Ben-Haim and Tom-Tov's histogram: centre and height.
#[derive(Debug, Clone, Default)]
struct Histogram {
    bins: Vec<(f64, f64)>,
    random: Random,
}

impl Histogram {
    fn add(&mut self, value: f64, most: usize) {
        let (mut bin, mut left, mut right) = (0, 0, self.bins.len());
        while left < right {
            bin = (left + right) / 2;
            let centre = self.bins[bin].0;
            if centre > value {
                right = bin;
            } else if centre < value {
                bin += 1;
                left = bin;
            } else {
                break;
            }
        }
        match self.bins.get_mut(bin) {
            Some((centre, height)) if *centre == value => *height += 1.0,
            _ => {
                self.bins.insert(bin, (value, 1.0));
                self.trim(most);
            }
        }
    }

    /// Joins the closest bins until there are few enough.
    fn trim(&mut self, most: usize) {
        while self.bins.len() > most {
            let distance = |i: usize| self.bins[i + 1].0 - self.bins[i].0;
            let (mut least, mut place, mut ties) = (distance(0), 0, 1);
            for i in 1..self.bins.len() - 1 {
                let new = distance(i);
                if new < least {
                    (least, place, ties) = (new, i, 1);
                } else if new == least {
                    ties += 1;
                    if self.random.next_double() <= 1.0 / f64::from(ties) {
                        place = i;
                    }
                }
            }
            let (next_centre, next_height) = self.bins.remove(place + 1);
            let (centre, height) = self.bins[place];
            let sum = height + next_height;
            self.bins[place] = (centre * (height / sum) + next_centre / sum * next_height, sum);
        }
    }

    fn merge(&mut self, others: impl Iterator<Item = (f64, f64)>, most: usize) {
        self.bins.extend(others);
        self.bins.sort_by(|a, b| compare(a.0, b.0));
        self.trim(most);
    }
}

#[derive(Debug, Clone)]
struct HistogramFold {
    bins: usize,
    return_type: ArrowType,
}

impl Fold for HistogramFold {
    type State = Histogram;

    fn state_types(&self) -> Vec<ArrowType> {
        let list = ArrowType::List(Arc::new(Field::new("item", ArrowType::Float64, true)));
        vec![list.clone(), list]
    }

    fn update(&self, states: &mut [Histogram], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let array = super::percentile_approx::doubles_of(column(arguments, 0)?)?;
        let values = array.as_primitive::<Float64Type>();
        rows.for_each(values.nulls(), |row, group| states[group].add(values.value(row), self.bins));
        Ok(())
    }

    fn merge(&self, states: &mut [Histogram], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let (centres, heights): (&ListArray, &ListArray) = (typed(columns, 0)?, typed(columns, 1)?);
        rows.for_each(None, |row, group| {
            let (x, y) = (centres.value(row), heights.value(row));
            let bins = x.as_primitive::<Float64Type>().values().iter().copied();
            let heights = y.as_primitive::<Float64Type>().values().iter().copied();
            states[group].merge(bins.zip(heights), self.bins);
        });
        Ok(())
    }

    fn state(&self, states: &[Histogram]) -> DfResult<Vec<ArrayRef>> {
        let mut centres = ListBuilder::new(Float64Builder::new());
        let mut heights = ListBuilder::new(Float64Builder::new());
        for state in states {
            for (centre, height) in &state.bins {
                centres.values().append_value(*centre);
                heights.values().append_value(*height);
            }
            centres.append(true);
            heights.append(true);
        }
        Ok(vec![Arc::new(centres.finish()), Arc::new(heights.finish())])
    }

    fn evaluate(&self, states: &[Histogram]) -> DfResult<ArrayRef> {
        let ArrowType::List(field) = &self.return_type else {
            return Err(DataFusionError::Internal(format!("a histogram of type {}", self.return_type)));
        };
        let ArrowType::Struct(parts) = field.data_type() else {
            return Err(DataFusionError::Internal(format!("a histogram of type {}", self.return_type)));
        };
        let element = parts.first().map_or(&ArrowType::Float64, |f| f.data_type());
        let bins = || states.iter().flat_map(|s| &s.bins);
        let centres = super::percentile_approx::from_doubles(bins().map(|b| b.0).collect(), None, element)?;
        let heights = Arc::new(Float64Array::from_iter_values(bins().map(|b| b.1)));
        let values = StructArray::try_new(parts.clone(), vec![centres, heights], None)?;
        let offsets = OffsetBuffer::from_lengths(states.iter().map(|s| s.bins.len()));
        let nulls = NullBuffer::from_iter(states.iter().map(|s| !s.bins.is_empty()));
        Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, Arc::new(values), Some(nulls))?))
    }

    fn heap_size(&self, state: &Histogram) -> usize {
        state.bins.capacity() * size_of::<(f64, f64)>()
    }
}
