//! `approx_count_distinct`.

use super::fold::{Fold, Folded};
use super::states::{Rows, States, column, typed};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, any, constant, declare};
use crate::scalar::hash::algorithm::{Algorithm, XxHash64};
use crate::{AggregateCall, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalUnit, IntervalYearMonthType,
};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::{Arc, OnceLock};

pub static FUNCTIONS: &[&Function] = &[&declare(
    "approx_count_distinct",
    &[],
    Signature::with_optional(&[any("expr"), any("relativeSD")], 1),
    build,
    "approx_count_distinct(expr[, relativeSD]) - Returns about how many different values a group has, by HyperLogLog++.",
)];

pub static KERNEL: Kernel =
    Kernel { name: "approx_count_distinct", states: new_states, over_nothing: OverNothing::Zero };

const DEFAULT_ERROR: f64 = 0.05;
/// The greatest deviation that there are enough registers for.
const MAX_ERROR: f64 = 0.39;
const SEED: i64 = 42;

fn build(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("approx_count_distinct", call);
    let mut error = DEFAULT_ERROR;
    if call.call.arguments.len() > 1 {
        let failed = || SparkError::new("FAILED_FUNCTION_CALL").with("funcName", "`approx_count_distinct`");
        let value = constant::value(call.argument(1)?)?.ok_or_else(failed)?;
        error = match value.cast_to(&ArrowType::Float64) {
            Ok(ScalarValue::Float64(Some(error))) if error > 0.0 && error <= MAX_ERROR => error,
            _ => return Err(failed()),
        };
        call.call.arguments.truncate(1);
        let distinct = if call.call.is_distinct { "DISTINCT " } else { "" };
        call.text = format!("approx_count_distinct({distinct}{})", call.argument(0)?.name);
    }
    // Duplicates make no difference.
    call.call.is_distinct = false;
    let precision = (2.0 * (1.106 / error).log2()).ceil() as u32;
    call.aggregate(&KERNEL, context, DataType::Long, false, Some(&precision.to_string()))
}

fn new_states(call: &Call, _: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let precision = call.payload().parse().unwrap_or(9);
    Ok(Folded::boxed(Registers { precision }))
}

#[derive(Debug, Clone)]
struct Registers {
    /// The number of registers is two to the power of this.
    precision: u32,
}

/// No registers before the first value.
type State = Option<Box<[u8]>>;

impl Registers {
    fn count(&self) -> usize {
        1 << self.precision
    }

    fn take(&self, state: &mut State, hash: i64) {
        let hash = hash as u64;
        let index = (hash >> (64 - self.precision)) as usize;
        let rest = (hash << self.precision) | (1 << (self.precision - 1));
        let rank = rest.leading_zeros() as u8 + 1;
        let registers = state.get_or_insert_with(|| vec![0; self.count()].into_boxed_slice());
        if registers[index] < rank {
            registers[index] = rank;
        }
    }

    fn estimate(&self, registers: &[u8]) -> i64 {
        let count = registers.len() as f64;
        let alpha = match self.precision {
            4 => 0.673,
            5 => 0.697,
            6 => 0.709,
            _ => 0.7213 / (1.0 + 1.079 / count),
        };
        let (mut inverse, mut empty) = (0.0, 0u64);
        for register in registers {
            inverse += 1.0 / (1u64 << register) as f64;
            empty += u64::from(*register == 0);
        }
        let raw = alpha * count * count / inverse;
        let linear = (empty > 0).then(|| count * (count / empty as f64).ln());
        let threshold = THRESHOLDS.get((self.precision as usize).wrapping_sub(4)).copied().unwrap_or(0.0);
        let estimate = match linear {
            Some(linear) if linear <= threshold || raw <= 2.5 * count => linear,
            _ if self.precision < 19 && raw < 5.0 * count => raw - bias(raw, self.precision),
            _ => raw,
        };
        estimate.round() as i64
    }
}

/// Up to these counts of empty registers' logarithms are the better estimates, for precisions from 4 on.
const THRESHOLDS: [f64; 15] = [
    10.0, 20.0, 40.0, 80.0, 220.0, 400.0, 900.0, 1800.0, 3100.0, 6500.0, 11500.0, 20000.0, 50000.0, 120_000.0,
    350_000.0,
];

/// Raw estimates of a precision and by how much they are too high, as the algorithm's authors measured them.
struct Biases {
    estimates: Vec<f64>,
    biases: Vec<f64>,
}

/// The tables of the precisions from 4 on: a line of estimates, then one of biases.
fn tables() -> &'static [Biases] {
    static TABLES: OnceLock<Vec<Biases>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let numbers = |line: &str| line.split(' ').filter_map(|number| number.parse().ok()).collect();
        let lines: Vec<&str> = include_str!("hyperloglog_bias.txt").lines().collect();
        let (pairs, _) = lines.as_chunks::<2>();
        pairs
            .iter()
            .map(|[estimates, biases]| Biases { estimates: numbers(estimates), biases: numbers(biases) })
            .collect()
    })
}

/// So many of the nearest measurements are averaged.
const NEIGHBOURS: usize = 6;

/// By how much a raw estimate of a precision is too high.
fn bias(raw: f64, precision: u32) -> f64 {
    let Some(Biases { estimates, biases }) = tables().get((precision as usize).wrapping_sub(4)) else { return 0.0 };
    let distance = |i: usize| (raw - estimates[i]) * (raw - estimates[i]);
    let nearest = estimates.partition_point(|estimate| *estimate < raw);
    let mut low = (nearest + 1).saturating_sub(NEIGHBOURS);
    let mut high = (low + NEIGHBOURS).min(estimates.len());
    while high < estimates.len() && distance(high) < distance(low) {
        low += 1;
        high += 1;
    }
    let near = biases.get(low..high).unwrap_or_default();
    near.iter().sum::<f64>() / near.len().max(1) as f64
}

/// Calls `f(group, hash)` for every value.
fn for_each_hash(array: &ArrayRef, rows: &Rows<'_>, mut f: impl FnMut(usize, i64)) -> DfResult<()> {
    fn primitive<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        rows: &Rows<'_>,
        hash: impl Fn(T::Native) -> i64,
        f: &mut impl FnMut(usize, i64),
    ) {
        let array = array.as_primitive::<T>();
        rows.for_each(array.nulls(), |row, group| f(group, hash(array.value(row))));
    }
    let int = |v: i32| XxHash64::int(v, SEED);
    let long = |v: i64| XxHash64::long(v, SEED);
    match array.data_type() {
        ArrowType::Null => {}
        ArrowType::Boolean => {
            let array = array.as_boolean();
            rows.for_each(array.nulls(), |row, group| f(group, int(i32::from(array.value(row)))));
        }
        ArrowType::Int8 => primitive::<Int8Type>(array, rows, |v| int(v.into()), &mut f),
        ArrowType::Int16 => primitive::<Int16Type>(array, rows, |v| int(v.into()), &mut f),
        ArrowType::Int32 => primitive::<Int32Type>(array, rows, int, &mut f),
        ArrowType::Date32 => primitive::<Date32Type>(array, rows, int, &mut f),
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            primitive::<IntervalYearMonthType>(array, rows, int, &mut f);
        }
        ArrowType::Int64 => primitive::<Int64Type>(array, rows, long, &mut f),
        ArrowType::Timestamp(..) | ArrowType::Duration(_) | ArrowType::Time64(_) => {
            primitive::<Int64Type>(&cast(array, &ArrowType::Int64)?, rows, long, &mut f);
        }
        ArrowType::Float32 => {
            let bits = |v: f32| if v.is_nan() { 0x7fc0_0000 } else { (v + 0.0).to_bits() as i32 };
            primitive::<Float32Type>(array, rows, |v| int(bits(v)), &mut f);
        }
        ArrowType::Float64 => {
            let bits = |v: f64| if v.is_nan() { 0x7ff8_0000_0000_0000 } else { (v + 0.0).to_bits() as i64 };
            primitive::<Float64Type>(array, rows, |v| long(bits(v)), &mut f);
        }
        ArrowType::Decimal128(precision, _) if *precision <= 18 => {
            primitive::<Decimal128Type>(array, rows, |v| long(v as i64), &mut f);
        }
        ArrowType::Decimal128(..) => {
            primitive::<Decimal128Type>(array, rows, |v| XxHash64::bytes(shortest(&v.to_be_bytes()), SEED), &mut f);
        }
        ArrowType::Utf8 | ArrowType::Binary => {
            let bytes = cast(array, &ArrowType::Binary)?;
            let bytes = bytes.as_binary::<i32>();
            rows.for_each(bytes.nulls(), |row, group| f(group, XxHash64::bytes(bytes.value(row), SEED)));
        }
        other => {
            let encoded = super::ordering::converter(other)?.convert_columns(&[super::ordering::normalized(array)?])?;
            let nulls = array.logical_nulls();
            rows.for_each(nulls.as_ref(), |row, group| f(group, XxHash64::bytes(encoded.row(row).data(), SEED)));
        }
    }
    Ok(())
}

/// The fewest bytes that hold a whole number and its sign, most significant first.
fn shortest(bytes: &[u8; 16]) -> &[u8] {
    let filler = if bytes[0] & 0x80 == 0 { 0 } else { 0xff };
    let spare = bytes.windows(2).take_while(|pair| pair[0] == filler && (pair[1] ^ filler) & 0x80 == 0).count();
    &bytes[spare..]
}

impl Fold for Registers {
    type State = State;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary]
    }

    fn update(&self, states: &mut [State], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        for_each_hash(column(arguments, 0)?, rows, |group, hash| self.take(&mut states[group], hash))
    }

    fn merge(&self, states: &mut [State], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let others: &BinaryArray = typed(columns, 0)?;
        rows.try_for_each(others.nulls(), |row, group| {
            let other = others.value(row);
            if other.len() != self.count() {
                return Err(DataFusionError::Internal("sketches of different sizes".into()));
            }
            let registers = states[group].get_or_insert_with(|| vec![0; other.len()].into_boxed_slice());
            for (own, other) in registers.iter_mut().zip(other) {
                *own = (*own).max(*other);
            }
            Ok(())
        })
    }

    fn state(&self, states: &[State]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![Arc::new(states.iter().map(Option::as_deref).collect::<BinaryArray>())])
    }

    fn evaluate(&self, states: &[State]) -> DfResult<ArrayRef> {
        let counts = states.iter().map(|s| s.as_deref().map_or(0, |registers| self.estimate(registers)));
        Ok(Arc::new(Int64Array::from_iter_values(counts)))
    }

    fn heap_size(&self, state: &State) -> usize {
        state.as_ref().map_or(0, |registers| registers.len())
    }
}
