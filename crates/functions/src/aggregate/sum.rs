//! `sum` and `try_sum`.

use super::number::{Addend, Widen, array_of, decimal_bound};
use super::states::{Rows, Seen, States, column, split_first, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, declare};
use crate::{AggregateCall, BuildContext, Function, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, IntervalUnit, IntervalYearMonthType, TimeUnit,
};
use datafusion::common::{DataFusionError, Result as DfResult};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::marker::PhantomData;
use std::sync::Arc;

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "sum",
        &[],
        super::ONE,
        |c, a| build("sum", c, a),
        "sum(expr) - Returns the sum of the values of a group.",
    ),
    &declare(
        "try_sum",
        &[],
        super::ONE,
        |c, a| build("try_sum", c, a),
        "try_sum(expr) - Returns the sum of the values of a group, and null when it overflows.",
    ),
];

pub static KERNEL: Kernel = Kernel { name: "sum", states: new_states, over_nothing: OverNothing::Null };
/// A kernel by another name: DataFusion may split a `sum` into sums of sums, which would lose overflows.
pub static TRY_KERNEL: Kernel = Kernel { name: "try_sum", states: new_states, over_nothing: OverNothing::Null };

fn build(name: &'static str, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    let argument = call.numeric_or_interval(context)?;
    let returns = match &argument {
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long => DataType::Long,
        DataType::Decimal(precision, scale) => DataType::Decimal((precision + 10).min(38), *scale),
        interval if interval.is_ansi_interval() => interval.clone(),
        _ => DataType::Double,
    };
    if name == "try_sum" {
        return call.aggregate(&TRY_KERNEL, context, returns, true, Some("try"));
    }
    call.aggregate(&KERNEL, context, returns, true, None)
}

/// What a sum out of range becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnOverflow {
    Fail,
    Null,
    Wrap,
}

fn new_states(call: &Call, types: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let is_decimal = matches!(call.returns, DataType::Decimal(..));
    let on_overflow = match (call.payload() == "try", call.ansi) {
        (true, _) => OnOverflow::Null,
        (false, true) => OnOverflow::Fail,
        (false, false) if is_decimal => OnOverflow::Null,
        (false, false) if call.returns.is_ansi_interval() => OnOverflow::Fail,
        (false, false) => OnOverflow::Wrap,
    };
    let types = types.first().unwrap_or(&ArrowType::Null);
    macro_rules! sum {
        ($input:ty, $output:ty) => {
            Ok(Box::new(SumStates::<$input, $output>::new(call, on_overflow)))
        };
    }
    match (types, call.arrow_return()) {
        (ArrowType::Int8, ArrowType::Int64) => sum!(Int8Type, Int64Type),
        (ArrowType::Int16, ArrowType::Int64) => sum!(Int16Type, Int64Type),
        (ArrowType::Int32, ArrowType::Int64) => sum!(Int32Type, Int64Type),
        (ArrowType::Int64, ArrowType::Int64) => sum!(Int64Type, Int64Type),
        (ArrowType::Float32, ArrowType::Float64) => sum!(Float32Type, Float64Type),
        (ArrowType::Float64, ArrowType::Float64) => sum!(Float64Type, Float64Type),
        (ArrowType::Decimal128(..), ArrowType::Decimal128(..)) => sum!(Decimal128Type, Decimal128Type),
        (ArrowType::Interval(IntervalUnit::YearMonth), ArrowType::Interval(IntervalUnit::YearMonth)) => {
            sum!(IntervalYearMonthType, IntervalYearMonthType)
        }
        (ArrowType::Duration(TimeUnit::Microsecond), ArrowType::Duration(TimeUnit::Microsecond)) => {
            sum!(DurationMicrosecondType, DurationMicrosecondType)
        }
        (input, output) => Err(DataFusionError::Internal(format!("sum of {input} as {output}"))),
    }
}

/// The error of a sum of decimals that no decimal holds.
pub fn decimal_overflow(alternative: &str) -> SparkError {
    overflow("Overflow in sum of decimals", alternative)
}

fn overflow(message: &str, alternative: &str) -> SparkError {
    SparkError::new("ARITHMETIC_OVERFLOW")
        .with("message", message)
        .with("alternative", format!(" Use '{alternative}' to tolerate overflow and return NULL instead."))
        .with("config", "\"spark.sql.ansi.enabled\"")
}

struct SumStates<I: ArrowPrimitiveType, O: ArrowPrimitiveType> {
    call: Call,
    on_overflow: OnOverflow,
    return_type: ArrowType,
    /// Decimals: values of the result are smaller than this.
    bound: Option<i128>,
    sums: Vec<O::Native>,
    seen: Seen,
    /// Groups whose sum is out of range, once there is one.
    overflowed: Vec<bool>,
    input: PhantomData<fn() -> I>,
}

impl<I: ArrowPrimitiveType, O: ArrowPrimitiveType> std::fmt::Debug for SumStates<I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SumStates").field("call", &self.call).field("groups", &self.sums.len()).finish_non_exhaustive()
    }
}

impl<I: ArrowPrimitiveType, O: ArrowPrimitiveType> SumStates<I, O>
where
    I::Native: Widen<O::Native>,
    O::Native: Addend,
{
    fn new(call: &Call, on_overflow: OnOverflow) -> Self {
        let bound = match call.returns {
            DataType::Decimal(precision, _) => Some(decimal_bound(precision)),
            _ => None,
        };
        Self {
            call: call.clone(),
            on_overflow,
            return_type: call.arrow_return(),
            bound,
            sums: Vec::new(),
            seen: Seen::default(),
            overflowed: Vec::new(),
            input: PhantomData,
        }
    }

    fn state_type(&self) -> ArrowType {
        match &self.return_type {
            ArrowType::Decimal128(_, scale) => ArrowType::Decimal128(38, *scale),
            other => other.clone(),
        }
    }

    fn error(&self) -> DataFusionError {
        match &self.call.returns {
            DataType::Decimal(..) => self.call.error(decimal_overflow("try_sum")),
            interval if interval.is_ansi_interval() => self.call.error(
                SparkError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION").with("functionName", "`try_add`"),
            ),
            _ => DataFusionError::External(Box::new(overflow("overflow", "try_add"))),
        }
    }

    fn handle_overflow(&mut self, groups: &[usize]) -> DfResult<()> {
        match self.on_overflow {
            _ if groups.is_empty() => Ok(()),
            OnOverflow::Wrap => Ok(()),
            OnOverflow::Fail => Err(self.error()),
            OnOverflow::Null => {
                self.overflowed.resize(self.sums.len(), false);
                for group in groups {
                    self.overflowed[*group] = true;
                }
                Ok(())
            }
        }
    }

    fn add<T: ArrowPrimitiveType>(&mut self, values: &PrimitiveArray<T>, rows: &Rows<'_>) -> DfResult<()>
    where
        T::Native: Widen<O::Native>,
    {
        let marks = self.seen.begin(self.sums.len(), rows, values.nulls());
        let mut over = Vec::new();
        let (sums, seen) = (&mut self.sums, &mut self.seen);
        if rows.is_whole(values.nulls())
            && let Some(first) = sums.first_mut()
        {
            let (mut sum, mut overflowed) = (*first, false);
            for value in values.values() {
                let (new, overflow) = sum.add_flagged(value.widen());
                sum = new;
                overflowed |= overflow;
            }
            *first = sum;
            seen.mark(0);
            over.extend(overflowed.then_some(0));
        } else if marks {
            rows.for_each_value(values.values(), values.nulls(), |value, group| {
                let (sum, overflow) = sums[group].add_flagged(value.widen());
                sums[group] = sum;
                seen.mark(group);
                if overflow {
                    over.push(group);
                }
            });
        } else {
            rows.for_each_value(values.values(), values.nulls(), |value, group| {
                let place = &mut sums[group];
                let (sum, overflow) = place.add_flagged(value.widen());
                *place = sum;
                if overflow {
                    over.push(group);
                }
            });
        }
        self.handle_overflow(&over)
    }

    fn is_overflowed(&self, group: usize) -> bool {
        self.overflowed.get(group).copied().unwrap_or(false)
    }
}

impl<I: ArrowPrimitiveType, O: ArrowPrimitiveType> States for SumStates<I, O>
where
    I::Native: Widen<O::Native>,
    O::Native: Addend + Widen<O::Native>,
{
    fn state_types(&self) -> Vec<ArrowType> {
        match self.on_overflow {
            OnOverflow::Null => vec![self.state_type(), ArrowType::Boolean],
            _ => vec![self.state_type()],
        }
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.sums.len() {
            self.sums.resize(groups, O::Native::default());
        }
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.add(column(arguments, 0)?.as_primitive::<I>(), rows)
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        if self.on_overflow == OnOverflow::Null {
            let flags: &BooleanArray = typed(states, 1)?;
            let mut over = Vec::new();
            rows.for_each(None, |row, group| {
                if flags.value(row) {
                    over.push(group);
                }
            });
            self.handle_overflow(&over)?;
        }
        self.add(column(states, 0)?.as_primitive::<O>(), rows)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        let groups = self.sums.len();
        let sums = array_of::<O>(self.sums.clone(), self.seen.nulls(groups), &self.state_type());
        if self.on_overflow != OnOverflow::Null {
            return Ok(vec![sums]);
        }
        let flags = BooleanArray::from_iter((0..groups).map(|g| Some(self.is_overflowed(g))));
        Ok(vec![sums, Arc::new(flags)])
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        let groups = self.sums.len();
        let mut nulls = self.seen.nulls(groups);
        let beyond = |group: usize| {
            let is_valid = nulls.as_ref().is_none_or(|n| n.is_valid(group));
            is_valid
                && (self.is_overflowed(group)
                    || self.bound.is_some_and(|bound| {
                        let sum = self.sums[group].to_i128_lossless();
                        sum.is_some_and(|sum| sum >= bound || sum <= -bound)
                    }))
        };
        if self.on_overflow != OnOverflow::Wrap && (self.bound.is_some() || !self.overflowed.is_empty()) {
            let over: Vec<bool> = (0..groups).map(beyond).collect();
            if over.contains(&true) {
                if self.on_overflow == OnOverflow::Fail {
                    return Err(self.error());
                }
                let kept = arrow::buffer::NullBuffer::from_iter(over.into_iter().map(|o| !o));
                nulls = arrow::buffer::NullBuffer::union(nulls.as_ref(), Some(&kept));
            }
        }
        Ok(array_of::<O>(self.sums.clone(), nulls, &self.return_type))
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        let mut first = self.clone_empty();
        first.sums = split_first(&mut self.sums, groups);
        first.seen = self.seen.take_first(groups);
        first.overflowed = split_first(&mut self.overflowed, groups);
        Ok(Box::new(first))
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<O::Native>() + self.seen.size() + self.overflowed.capacity()
    }
}

impl<I: ArrowPrimitiveType, O: ArrowPrimitiveType> SumStates<I, O> {
    fn clone_empty(&self) -> Self {
        Self {
            call: self.call.clone(),
            on_overflow: self.on_overflow,
            return_type: self.return_type.clone(),
            bound: self.bound,
            sums: Vec::new(),
            seen: Seen::default(),
            overflowed: Vec::new(),
            input: PhantomData,
        }
    }
}
