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
use std::sync::Arc;

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
        let threshold = THRESHOLDS.get((self.precision - 4) as usize).copied().unwrap_or(0.0);
        let estimate = match linear {
            Some(linear) if linear <= threshold || raw <= 2.5 * count => linear,
            _ => raw - bias(raw, count),
        };
        estimate.round() as i64
    }
}

/// Up to these counts of empty registers' logarithms are the better estimates, for precisions from 4 on.
const THRESHOLDS: [f64; 15] = [
    10.0, 20.0, 40.0, 80.0, 220.0, 400.0, 900.0, 1800.0, 3100.0, 6500.0, 11500.0, 20000.0, 50000.0, 120_000.0,
    350_000.0,
];

/// By how much a raw estimate of that many registers is too high.
///
/// Only estimates between 2.5 and 5 times the registers need it; the steps scale with the registers.
fn bias(raw: f64, count: f64) -> f64 {
    if raw >= 5.0 * count {
        return 0.0;
    }
    let scale = count / BIAS_REGISTERS;
    let place = BIAS.partition_point(|(from, _)| *from <= raw / scale);
    BIAS.get(place.saturating_sub(1)).map_or(0.0, |(_, bias)| bias * scale)
}

const BIAS_REGISTERS: f64 = 512.0;
/// Raw estimates from which on they are too high by that much, measured on the reference's answers
/// for 512 registers.
#[rustfmt::skip]
const BIAS: [(f64, f64); 98] = [
    (0.00, 32.04), (1286.37, 30.63), (1297.71, 29.64), (1309.74, 28.40), (1322.11, 27.58), (1332.60, 26.78),
    (1344.89, 25.86), (1356.74, 25.08), (1370.23, 24.55), (1380.53, 23.86), (1393.65, 22.92), (1405.03, 22.18),
    (1417.25, 21.59), (1428.40, 20.56), (1441.20, 19.38), (1453.84, 18.80), (1464.86, 17.89), (1477.95, 17.20),
    (1489.30, 16.28), (1500.55, 15.82), (1512.55, 15.02), (1526.42, 14.17), (1536.99, 13.49), (1551.85, 13.06),
    (1561.12, 12.22), (1574.68, 11.74), (1585.89, 11.26), (1598.33, 10.41), (1610.71, 10.13), (1622.96, 9.19),
    (1634.43, 8.89), (1647.90, 8.21), (1659.30, 7.67), (1678.95, 7.45), (1684.56, 6.75), (1695.96, 6.25),
    (1711.67, 6.15), (1721.53, 5.56), (1732.80, 5.21), (1746.26, 4.62), (1771.00, 4.41), (1783.54, 3.61),
    (1797.15, 3.77), (1808.88, 3.36), (1819.60, 2.86), (1834.99, 2.25), (1845.36, 1.71), (1856.98, 1.34),
    (1870.60, 0.50), (1883.98, 0.37), (1894.84, 0.32), (1908.64, 0.10), (1918.27, -0.30), (1932.92, -0.62),
    (1943.78, -1.09), (1960.20, -1.39), (1972.05, -1.49), (1982.98, -1.98), (1994.58, -1.85), (2006.52, -2.18),
    (2020.68, -1.74), (2033.66, -2.04), (2046.05, -2.53), (2057.46, -3.06), (2070.00, -3.62), (2081.71, -3.81),
    (2096.20, -4.48), (2107.66, -4.85), (2122.69, -4.81), (2133.70, -4.75), (2145.79, -4.67), (2156.60, -5.08),
    (2171.39, -5.31), (2187.18, -5.35), (2196.67, -5.94), (2214.58, -5.86), (2220.42, -6.29), (2233.51, -5.82),
    (2248.72, -5.57), (2262.05, -5.34), (2273.34, -5.10), (2285.15, -5.43), (2298.16, -5.29), (2315.20, -5.37),
    (2337.96, -5.66), (2350.74, -5.78), (2363.09, -5.35), (2375.26, -4.97), (2387.22, -5.34), (2400.89, -5.84),
    (2411.29, -6.46), (2438.58, -7.16), (2452.04, -7.62), (2461.47, -8.20), (2487.33, -7.71), (2510.76, -7.76),
    (2514.97, -7.37), (2554.06, -7.45),
];

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
