//! `count_min_sketch`, in Spark's own format.

use super::super::fold::{Fold, Folded};
use super::super::states::{Rows, States, column, typed};
use super::super::udaf::{Call, Kernel, OverNothing};
use super::super::{AggregateContext, constant, declare};
use super::{any, binaries};
use crate::coercion::mismatch;
use crate::scalar::hash::algorithm::{Algorithm, Murmur3};
use crate::scalar::string::constant::integer_of;
use crate::{AggregateCall, ArgType, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, number_text};

pub static FUNCTIONS: &[&Function] = &[&declare(
    "count_min_sketch",
    &[],
    Signature::of(&[any("column"), any("epsilon"), any("confidence"), any("seed")]),
    build,
    "count_min_sketch(col, eps, confidence, seed) - Returns a count-min sketch of the values of a group.",
)];

static AGGREGATE: Kernel =
    Kernel { name: "count_min_sketch", states: |c, _| Ok(new_states(c)), over_nothing: OverNothing::Evaluated };

pub static AGGREGATES: &[&Kernel] = &[&AGGREGATE];

const ITEM: ArgType = ArgType::OneOf(&[ArgType::Integral, ArgType::String, ArgType::Binary]);
const VERSION: i32 = 1;

fn build(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("count_min_sketch", call);
    let item = super::exactly(call.argument(0)?, ITEM, 0, &call.text, context)?;
    call.check_collation(&item.data_type)?;
    let relative = fraction(&call, 1, "eps", "(0.0, 1.7976931348623157E308]", |v| v > 0.0)?;
    let confidence = fraction(&call, 2, "confidence", "(0.0, 1.0]", |v| v > 0.0 && v < 1.0)?;
    let seed = constant_of(&call, 3, "seed", ArgType::OneOf(&[ArgType::Integer, ArgType::Long]))?;
    let seed = integer_of(&seed).unwrap_or(0) as i32;
    let width = (2.0 / relative).ceil() as i32;
    let depth = (-(1.0 - confidence).ln() / std::f64::consts::LN_2).ceil() as i32;
    crate::room::check(
        u64::from(width.unsigned_abs()).saturating_mul(u64::from(depth.unsigned_abs())).saturating_mul(8),
    )?;
    call.call.arguments = vec![item];
    call.aggregate(&AGGREGATE, context, DataType::Binary, false, Some(&format!("{depth} {width} {seed}")))
}

/// A constant argument of a type, not null.
fn constant_of(call: &AggregateContext, index: usize, name: &str, wanted: ArgType) -> Result<ScalarValue> {
    let argument = call.argument(index)?;
    if !crate::coercion::accepts(wanted, &argument.data_type) && !argument.data_type.is_null() {
        return Err(mismatch::unexpected_input(&call.text, index, wanted, argument));
    }
    let shown = mismatch::quoted(&argument.data_type.sql());
    let value = constant::required(&call.text, name, &shown, argument)?;
    if value.is_null() { Err(constant::unexpected_null(&call.text, name)) } else { Ok(value) }
}

fn fraction(
    call: &AggregateContext,
    index: usize,
    name: &str,
    range: &str,
    accepts: impl Fn(f64) -> bool,
) -> Result<f64> {
    match constant_of(call, index, name, ArgType::Double)? {
        ScalarValue::Float64(Some(value)) if accepts(value) => Ok(value),
        ScalarValue::Float64(Some(value)) => {
            let mut shown = String::new();
            number_text::write_double(&mut shown, value);
            Err(constant::out_of_range(&call.text, name, range, format!("{shown}D")))
        }
        _ => Err(SparkError::internal(format!("{name} is no double"))),
    }
}

#[derive(Debug, Clone)]
struct CountMin {
    width: usize,
    /// A multiplier per row of the table.
    multipliers: Vec<i64>,
}

/// The number of values, then the table, row by row.
type Counts = Option<Box<[i64]>>;

fn new_states(call: &Call) -> Box<dyn States> {
    let mut parts = call.payload().split(' ').map(|part| part.parse::<i32>().unwrap_or(1));
    let mut next = || parts.next().unwrap_or(1);
    let (depth, width, seed) = (next(), next(), next());
    let mut random = JavaRandom::new(seed.into());
    let multipliers = (0..depth.max(1)).map(|_| i64::from(random.below_max())).collect();
    Folded::boxed(CountMin { width: width.max(1) as usize, multipliers })
}

/// The generator of `java.util.Random`.
struct JavaRandom(i64);

impl JavaRandom {
    const MULTIPLIER: i64 = 0x5_DEEC_E66D;
    const MASK: i64 = (1 << 48) - 1;

    fn new(seed: i64) -> Self {
        Self((seed ^ Self::MULTIPLIER) & Self::MASK)
    }

    /// A number below the greatest integer.
    fn below_max(&mut self) -> i32 {
        loop {
            self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
            let bits = (self.0 >> 17) as i32;
            if bits != i32::MAX {
                return bits;
            }
        }
    }
}

impl CountMin {
    fn counts<'a>(&self, state: &'a mut Counts) -> &'a mut [i64] {
        state.get_or_insert_with(|| vec![0; 1 + self.width * self.multipliers.len()].into_boxed_slice())
    }

    fn add_long(&self, state: &mut Counts, value: i64) {
        let counts = self.counts(state);
        counts[0] += 1;
        for (row, multiplier) in self.multipliers.iter().enumerate() {
            let mut hash = multiplier.wrapping_mul(value);
            hash = hash.wrapping_add(hash >> 32) & i64::from(i32::MAX);
            counts[1 + row * self.width + hash as usize % self.width] += 1;
        }
    }

    fn add_bytes(&self, state: &mut Counts, value: &[u8]) {
        let first = Murmur3::bytes(value, 0);
        let second = Murmur3::bytes(value, first);
        let counts = self.counts(state);
        counts[0] += 1;
        for row in 0..self.multipliers.len() {
            let hash = first.wrapping_add((row as i32).wrapping_mul(second));
            let place = (i64::from(hash) % self.width as i64).unsigned_abs() as usize;
            counts[1 + row * self.width + place] += 1;
        }
    }

    /// The sketch in the format that Spark reads.
    fn write(&self, state: &Counts) -> Vec<u8> {
        let empty = vec![0; 1 + self.width * self.multipliers.len()];
        let counts = state.as_deref().unwrap_or(&empty);
        let mut bytes = Vec::with_capacity(20 + 8 * (self.multipliers.len() + counts.len()));
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        bytes.extend_from_slice(&counts[0].to_be_bytes());
        bytes.extend_from_slice(&(self.multipliers.len() as i32).to_be_bytes());
        bytes.extend_from_slice(&(self.width as i32).to_be_bytes());
        let numbers = self.multipliers.iter().chain(&counts[1..]);
        numbers.for_each(|number| bytes.extend_from_slice(&number.to_be_bytes()));
        bytes
    }
}

impl Fold for CountMin {
    type State = Counts;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary]
    }

    fn update(&self, states: &mut [Counts], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let items = column(arguments, 0)?;
        match items.data_type() {
            ArrowType::Null => {}
            ArrowType::Utf8 | ArrowType::Binary => {
                let items = cast(items, &ArrowType::Binary)?;
                let items = items.as_binary::<i32>();
                rows.for_each(items.nulls(), |row, group| self.add_bytes(&mut states[group], items.value(row)));
            }
            _ => {
                let items = cast(items, &ArrowType::Int64)?;
                let items = items.as_primitive::<Int64Type>();
                rows.for_each(items.nulls(), |row, group| self.add_long(&mut states[group], items.value(row)));
            }
        }
        Ok(())
    }

    fn merge(&self, states: &mut [Counts], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let others: &BinaryArray = typed(columns, 0)?;
        rows.try_for_each(others.nulls(), |row, group| {
            let (numbers, _) = others.value(row).as_chunks::<8>();
            let counts = self.counts(&mut states[group]);
            if numbers.len() != counts.len() {
                return Err(DataFusionError::Internal("sketches of different sizes".into()));
            }
            for (count, number) in counts.iter_mut().zip(numbers) {
                *count += i64::from_be_bytes(*number);
            }
            Ok(())
        })
    }

    fn state(&self, states: &[Counts]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![binaries(
            states.iter().map(|state| {
                state.as_ref().map(|counts| counts.iter().flat_map(|count| count.to_be_bytes()).collect())
            }),
        )])
    }

    fn evaluate(&self, states: &[Counts]) -> DfResult<ArrayRef> {
        Ok(binaries(states.iter().map(|state| Some(self.write(state)))))
    }

    fn heap_size(&self, state: &Counts) -> usize {
        state.as_ref().map_or(0, |counts| 8 * counts.len())
    }
}
