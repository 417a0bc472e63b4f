//! `avg`, `mean` and `try_avg`.

use super::number::{Addend, Widen, array_of, decimal_bound};
use super::states::{Rows, States, column, split_first, typed};
use super::sum::decimal_overflow;
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, declare};
use crate::{AggregateCall, BuildContext, Function, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, IntervalUnit, IntervalYearMonthType, TimeUnit, i256,
};
use datafusion::common::{DataFusionError, Result as DfResult};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::marker::PhantomData;
use std::sync::Arc;

const USAGE: &str = "avg(expr) - Returns the mean of the values of a group.";

pub static FUNCTIONS: &[&Function] = &[
    &declare("avg", &[], super::ONE, |c, a| build("avg", c, a), USAGE),
    &declare("mean", &[], super::ONE, |c, a| build("mean", c, a), USAGE),
    &declare(
        "try_avg",
        &[],
        super::ONE,
        |c, a| build("try_avg", c, a),
        "try_avg(expr) - Returns the mean of the values of a group, and null when the sum overflows.",
    ),
];

pub static KERNEL: Kernel = Kernel { name: "avg", states: new_states, over_nothing: OverNothing::Null };

/// Builds the call under the name that it was made by.
pub fn build(name: &'static str, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    let argument = call.numeric_or_interval(context)?;
    let returns = match &argument {
        DataType::Decimal(precision, scale) => DataType::Decimal((precision + 4).min(38), (scale + 4).min(38)),
        DataType::YearMonthInterval(..) => DataType::YEAR_MONTH,
        DataType::DayTimeInterval(..) => DataType::DAY_TIME,
        _ => DataType::Double,
    };
    let payload = (name == "try_avg").then_some("try");
    call.aggregate(&KERNEL, context, returns, true, payload)
}

fn new_states(call: &Call, types: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let input = types.first().unwrap_or(&ArrowType::Null);
    macro_rules! avg {
        ($input:ty, $sum:ty, $output:ty) => {
            Ok(Box::new(AvgStates::<$input, $sum, $output>::new(call, input)))
        };
    }
    match (input, call.arrow_return()) {
        (ArrowType::Int8, ArrowType::Float64) => avg!(Int8Type, Float64Type, Float64Type),
        (ArrowType::Int16, ArrowType::Float64) => avg!(Int16Type, Float64Type, Float64Type),
        (ArrowType::Int32, ArrowType::Float64) => avg!(Int32Type, Float64Type, Float64Type),
        (ArrowType::Int64, ArrowType::Float64) => avg!(Int64Type, Float64Type, Float64Type),
        (ArrowType::Float32, ArrowType::Float64) => avg!(Float32Type, Float64Type, Float64Type),
        (ArrowType::Float64, ArrowType::Float64) => avg!(Float64Type, Float64Type, Float64Type),
        (ArrowType::Decimal128(..), ArrowType::Decimal128(..)) => avg!(Decimal128Type, Decimal128Type, Decimal128Type),
        (ArrowType::Interval(IntervalUnit::YearMonth), _) => {
            avg!(IntervalYearMonthType, Int64Type, IntervalYearMonthType)
        }
        (ArrowType::Duration(TimeUnit::Microsecond), _) => {
            avg!(DurationMicrosecondType, Int64Type, DurationMicrosecondType)
        }
        (input, output) => Err(DataFusionError::Internal(format!("avg of {input} as {output}"))),
    }
}

/// A sum that can be divided by a count.
trait Mean<T>: Addend {
    /// None where the mean is out of range; `scaling` is for decimals.
    fn mean(self, count: i64, scaling: &Scaling) -> Option<T>;
}

/// How a sum of decimals becomes a mean of another scale.
#[derive(Debug, Clone, Copy, Default)]
struct Scaling {
    /// The factor between the scales of the sum and of the mean.
    factor: i128,
    /// Sums are smaller than this.
    sum_bound: i128,
    /// Means are smaller than this.
    bound: i128,
}

impl Mean<f64> for f64 {
    fn mean(self, count: i64, _: &Scaling) -> Option<f64> {
        Some(self / count as f64)
    }
}

impl Mean<i64> for i64 {
    fn mean(self, count: i64, _: &Scaling) -> Option<i64> {
        i64::try_from(divide_half_up(i128::from(self), i128::from(count))).ok()
    }
}

impl Mean<i32> for i64 {
    fn mean(self, count: i64, _: &Scaling) -> Option<i32> {
        // The sum is an interval as well.
        i32::try_from(self).ok()?;
        i32::try_from(divide_half_up(i128::from(self), i128::from(count))).ok()
    }
}

impl Mean<i128> for i128 {
    fn mean(self, count: i64, scaling: &Scaling) -> Option<i128> {
        if self >= scaling.sum_bound || self <= -scaling.sum_bound {
            return None;
        }
        let count = i128::from(count);
        let mean = match self.checked_mul(scaling.factor) {
            Some(scaled) => divide_half_up(scaled, count),
            None => {
                let scaled = i256::from_i128(self).checked_mul(i256::from_i128(scaling.factor))?;
                let divisor = i256::from_i128(count);
                let (quotient, rest) = (scaled.checked_div(divisor)?, scaled.checked_rem(divisor)?);
                let rest = rest.to_i128()?;
                let away = if rest.abs() * 2 >= count { self.signum() } else { 0 };
                quotient.to_i128()?.checked_add(away)?
            }
        };
        (mean < scaling.bound && mean > -scaling.bound).then_some(mean)
    }
}

/// Division rounded half away from zero, by a positive divisor.
fn divide_half_up(value: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (value / divisor, value % divisor);
    if rest.abs() * 2 >= divisor { quotient + value.signum() } else { quotient }
}

struct AvgStates<I: ArrowPrimitiveType, S: ArrowPrimitiveType, O: ArrowPrimitiveType> {
    call: Call,
    scaling: Scaling,
    sum_type: ArrowType,
    return_type: ArrowType,
    sums: Vec<S::Native>,
    counts: Vec<i64>,
    /// Groups whose sum overflowed its native type, once there is one.
    overflowed: Vec<bool>,
    types: PhantomData<fn() -> (I, O)>,
}

impl<I: ArrowPrimitiveType, S: ArrowPrimitiveType, O: ArrowPrimitiveType> std::fmt::Debug for AvgStates<I, S, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AvgStates").field("call", &self.call).field("groups", &self.sums.len()).finish_non_exhaustive()
    }
}

impl<I: ArrowPrimitiveType, S: ArrowPrimitiveType, O: ArrowPrimitiveType> AvgStates<I, S, O> {
    fn new(call: &Call, input: &ArrowType) -> Self {
        let return_type = call.arrow_return();
        let (sum_type, scaling) = match (input, &return_type) {
            (ArrowType::Decimal128(precision, scale), ArrowType::Decimal128(return_precision, return_scale)) => {
                let steps = u32::try_from(return_scale - scale).unwrap_or(0);
                let scaling = Scaling {
                    factor: 10i128.checked_pow(steps).unwrap_or(1),
                    sum_bound: decimal_bound((precision + 10).min(38)),
                    bound: decimal_bound(*return_precision),
                };
                (ArrowType::Decimal128(38, *scale), scaling)
            }
            _ => (S::DATA_TYPE, Scaling::default()),
        };
        Self {
            call: call.clone(),
            scaling,
            sum_type,
            return_type,
            sums: Vec::new(),
            counts: Vec::new(),
            overflowed: Vec::new(),
            types: PhantomData,
        }
    }

    fn is_tolerant(&self) -> bool {
        // Intervals overflow in any mode.
        self.call.payload() == "try" || (!self.call.ansi && !self.call.returns.is_ansi_interval())
    }

    fn error(&self) -> DataFusionError {
        if self.call.returns.is_ansi_interval() {
            return self.call.error(
                SparkError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION").with("functionName", "`try_add`"),
            );
        }
        self.call.error(decimal_overflow("try_avg"))
    }

    fn handle_overflow(&mut self, groups: &[usize]) -> DfResult<()> {
        if groups.is_empty() {
            return Ok(());
        }
        if !self.is_tolerant() {
            return Err(self.error());
        }
        self.overflowed.resize(self.sums.len(), false);
        for group in groups {
            self.overflowed[*group] = true;
        }
        Ok(())
    }
}

impl<I: ArrowPrimitiveType, S: ArrowPrimitiveType, O: ArrowPrimitiveType> States for AvgStates<I, S, O>
where
    I::Native: Widen<S::Native>,
    S::Native: Mean<O::Native>,
{
    fn state_types(&self) -> Vec<ArrowType> {
        vec![self.sum_type.clone(), ArrowType::Int64, ArrowType::Boolean]
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.sums.len() {
            self.sums.resize(groups, S::Native::default());
            self.counts.resize(groups, 0);
        }
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let values: &PrimitiveArray<I> = column(arguments, 0)?.as_primitive::<I>();
        let (sums, counts) = (&mut self.sums, &mut self.counts);
        let mut over = Vec::new();
        if rows.is_whole(values.nulls())
            && let (Some(first), Some(count)) = (sums.first_mut(), counts.first_mut())
        {
            let (mut sum, mut overflowed) = (*first, false);
            for value in values.values() {
                let (new, overflow) = sum.add_flagged(value.widen());
                sum = new;
                overflowed |= overflow;
            }
            *first = sum;
            *count += values.len() as i64;
            over.extend(overflowed.then_some(0));
        } else {
            rows.for_each_value(values.values(), values.nulls(), |value, group| {
                let place = &mut sums[group];
                let (sum, overflow) = place.add_flagged(value.widen());
                *place = sum;
                counts[group] += 1;
                if overflow {
                    over.push(group);
                }
            });
        }
        self.handle_overflow(&over)
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let added: &PrimitiveArray<S> = column(states, 0)?.as_primitive::<S>();
        let added_counts: &Int64Array = typed(states, 1)?;
        let flags: &BooleanArray = typed(states, 2)?;
        let (sums, counts) = (&mut self.sums, &mut self.counts);
        let mut over = Vec::new();
        rows.for_each(None, |row, group| {
            let (sum, overflow) = sums[group].add_flagged(added.value(row));
            sums[group] = sum;
            counts[group] += added_counts.value(row);
            if overflow || flags.value(row) {
                over.push(group);
            }
        });
        self.handle_overflow(&over)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        let flags = (0..self.sums.len()).map(|g| Some(self.overflowed.get(g).copied().unwrap_or(false)));
        Ok(vec![
            array_of::<S>(self.sums.clone(), None, &self.sum_type),
            Arc::new(Int64Array::from(self.counts.clone())),
            Arc::new(BooleanArray::from_iter(flags)),
        ])
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        let mut means = Vec::with_capacity(self.sums.len());
        let mut valid = Vec::with_capacity(self.sums.len());
        for (group, (sum, count)) in self.sums.iter().zip(&self.counts).enumerate() {
            let is_overflowed = self.overflowed.get(group).copied().unwrap_or(false);
            let mean = if *count == 0 || is_overflowed { None } else { sum.mean(*count, &self.scaling) };
            if *count > 0 && mean.is_none() && !self.is_tolerant() {
                return Err(self.error());
            }
            valid.push(mean.is_some());
            means.push(mean.unwrap_or_default());
        }
        let nulls = valid.contains(&false).then(|| NullBuffer::from(valid));
        Ok(array_of::<O>(means, nulls, &self.return_type))
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        Ok(Box::new(Self {
            call: self.call.clone(),
            scaling: self.scaling,
            sum_type: self.sum_type.clone(),
            return_type: self.return_type.clone(),
            sums: split_first(&mut self.sums, groups),
            counts: split_first(&mut self.counts, groups),
            overflowed: split_first(&mut self.overflowed, groups),
            types: PhantomData,
        }))
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<S::Native>() + self.counts.capacity() * 8 + self.overflowed.capacity()
    }
}
