//! HyperLogLog sketches: `hll_sketch_agg` and its family.

use super::super::fold::{Fold, Folded};
use super::super::states::{Rows, States, column, typed};
use super::super::udaf::{Call, Kernel, OverNothing};
use super::super::{AggregateContext, constant, declare};
use super::hll_sketch::Hll;
use super::keys::for_each_key;
use super::{Missing, any, binaries, call_kernel, complete, exactly, invalid_buffer, kernel, scalar};
use crate::scalar::string::constant::integer_of;
use crate::scalar::string::rows::{Binaries, Booleans, Rows as Values, binaries as binary_results, primitives};
use crate::{AggregateCall, ArgType, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BinaryArray};
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use datafusion::common::Result as DfResult;
use datafusion::logical_expr::ColumnarValue;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

const DEFAULT_SIZE: i32 = 12;
const SIZES: std::ops::RangeInclusive<i64> = 4..=21;
const KEY: ArgType = ArgType::OneOf(&[ArgType::Integer, ArgType::Long, ArgType::String, ArgType::Binary]);

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "hll_sketch_agg",
        &[],
        Signature::with_optional(&[any("expr"), any("lgConfigK")], 1),
        build_sketch,
        "hll_sketch_agg(expr[, lgConfigK]) - Returns a HyperLogLog sketch of the values of a group, updatable.",
    ),
    &declare(
        "hll_union_agg",
        &[],
        Signature::with_optional(&[any("expr"), any("allowDifferentLgConfigK")], 1),
        build_union,
        "hll_union_agg(expr[, allowDifferentLgConfigK]) - Returns the union of the HyperLogLog sketches of a group.",
    ),
    &scalar(
        "hll_sketch_estimate",
        Signature::of(&[any("expr")]),
        |c, a| call_kernel(&ESTIMATE, c, &a, 1, &[], DataType::Long),
        "hll_sketch_estimate(expr) - Returns about how many different values a HyperLogLog sketch has seen.",
    ),
    &scalar(
        "hll_union",
        Signature::with_optional(&[any("first"), any("second"), any("allowDifferentLgConfigK")], 1),
        |c, mut a| {
            complete(&mut a, 3, &[Missing::Boolean(false)]);
            call_kernel(&UNION, c, &a, 2, &[ArgType::Boolean], DataType::Binary)
        },
        "hll_union(first, second[, allowDifferentLgConfigK]) - Returns the union of two HyperLogLog sketches.",
    ),
];

static ESTIMATE: Function = kernel("hll_sketch_estimate", estimate);
static UNION: Function = kernel("hll_union", union);

pub static KERNELS: &[&Function] = &[&ESTIMATE, &UNION];

static AGGREGATE: Kernel =
    Kernel { name: "hll_sketch_agg", states: |c, _| new_states(c, false), over_nothing: OverNothing::Evaluated };
static UNION_AGGREGATE: Kernel =
    Kernel { name: "hll_union_agg", states: |c, _| new_states(c, true), over_nothing: OverNothing::Evaluated };

pub static AGGREGATES: &[&Kernel] = &[&AGGREGATE, &UNION_AGGREGATE];

fn build_sketch(context: &mut BuildContext<'_>, mut call: AggregateCall) -> Result<TypedExpr> {
    complete(&mut call.arguments, 2, &[Missing::Integer(DEFAULT_SIZE)]);
    let mut call = AggregateContext::new("hll_sketch_agg", call);
    let value = exactly(call.argument(0)?, KEY, 0, &call.text, context)?;
    call.check_collation(&value.data_type)?;
    exactly(call.argument(1)?, ArgType::Integer, 1, &call.text, context)?;
    let Some(size) = constant::value(call.argument(1)?)? else {
        return Err(SparkError::new("HLL_K_MUST_BE_CONSTANT").with("function", "`hll_sketch_agg`"));
    };
    let size = integer_of(&size).unwrap_or(0);
    if !SIZES.contains(&size) {
        return Err(SparkError::new("HLL_INVALID_LG_K")
            .with("function", "`hll_sketch_agg`")
            .with("min", SIZES.start().to_string())
            .with("max", SIZES.end().to_string())
            .with("value", size.to_string()));
    }
    call.call.arguments = vec![value];
    call.aggregate(&AGGREGATE, context, DataType::Binary, false, Some(&size.to_string()))
}

fn build_union(context: &mut BuildContext<'_>, mut call: AggregateCall) -> Result<TypedExpr> {
    complete(&mut call.arguments, 2, &[Missing::Boolean(false)]);
    let mut call = AggregateContext::new("hll_union_agg", call);
    let value = exactly(call.argument(0)?, ArgType::Binary, 0, &call.text, context)?;
    let flag = exactly(call.argument(1)?, ArgType::Boolean, 1, &call.text, context)?;
    let allowed = matches!(
        constant::required(&call.text, "allowDifferentLgConfigK", "\"BOOLEAN\"", &flag)?,
        ScalarValue::Boolean(Some(true))
    );
    call.call.arguments = vec![value];
    call.aggregate(&UNION_AGGREGATE, context, DataType::Binary, false, Some(if allowed { "any" } else { "same" }))
}

fn read(bytes: &[u8], function: &str) -> Result<Hll> {
    Hll::deserialize(bytes).ok_or_else(|| invalid_buffer("HLL_INVALID_INPUT_SKETCH_BUFFER", function))
}

fn failed(error: datasketches::error::Error) -> SparkError {
    SparkError::internal(format!("HyperLogLog sketch: {error}"))
}

fn check_sizes(left: &Hll, right: &Hll, function: &str) -> Result<()> {
    if left.lg_size() == right.lg_size() {
        return Ok(());
    }
    Err(SparkError::new("HLL_UNION_DIFFERENT_LG_K")
        .with("left", left.lg_size().to_string())
        .with("right", right.lg_size().to_string())
        .with("function", format!("`{function}`")))
}

fn estimate(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let sketches: Binaries = Values::of(args, 0)?;
    primitives::<Int64Type>(args, |row| {
        let Some(bytes) = sketches.get(row) else { return Ok(None) };
        let estimate = read(bytes, "hll_sketch_estimate")?.estimate().map_err(failed)?;
        Ok(Some((estimate + 0.5).floor() as i64))
    })
}

fn union(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (first, second): (Binaries, Binaries) = (Values::of(args, 0)?, Values::of(args, 1)?);
    let allowed: Booleans = Values::of(args, 2)?;
    binary_results(args, |row| {
        let (Some(first), Some(second), Some(allowed)) = (first.get(row), second.get(row), allowed.get(row)) else {
            return Ok(None);
        };
        let (first, second) = (read(first, "hll_union")?, read(second, "hll_union")?);
        if !allowed {
            check_sizes(&first, &second, "hll_union")?;
        }
        let mut union = Hll::new(first.lg_size().min(second.lg_size()));
        union.merge(&first).map_err(failed)?;
        union.merge(&second).map_err(failed)?;
        Ok(Some(union.serialize()))
    })
}

#[derive(Debug, Clone)]
struct HllFold {
    call: Call,
    is_union: bool,
    size: u8,
    allows_different: bool,
}

fn new_states(call: &Call, is_union: bool) -> DfResult<Box<dyn States>> {
    let size = call.payload().parse().unwrap_or(DEFAULT_SIZE as u8);
    let allows_different = call.payload() == "any";
    Ok(Folded::boxed(HllFold { call: call.clone(), is_union, size, allows_different }))
}

impl HllFold {
    fn take(&self, state: &mut Option<Box<Hll>>, bytes: &[u8]) -> Result<()> {
        let function = if self.is_union { "hll_union_agg" } else { "hll_sketch_agg" };
        let other = read(bytes, function)?;
        let own = state.get_or_insert_with(|| Box::new(Hll::new(other.lg_size())));
        if self.is_union && !self.allows_different {
            check_sizes(own, &other, function)?;
        }
        own.merge(&other).map_err(failed)
    }
}

impl Fold for HllFold {
    type State = Option<Box<Hll>>;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary]
    }

    fn update(&self, states: &mut [Self::State], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        if self.is_union {
            return self.merge(states, arguments, rows);
        }
        for_each_key(column(arguments, 0)?, rows, |_, group, bytes| {
            let sketch = states[group].get_or_insert_with(|| Box::new(Hll::new(self.size)));
            sketch.update(bytes).map_err(|e| self.call.error(failed(e)))
        })
    }

    fn merge(&self, states: &mut [Self::State], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let sketches: &BinaryArray = typed(columns, 0)?;
        rows.try_for_each(sketches.nulls(), |row, group| {
            self.take(&mut states[group], sketches.value(row)).map_err(|e| self.call.error(e))
        })
    }

    fn state(&self, states: &[Self::State]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![binaries(states.iter().map(|s| s.as_ref().map(|sketch| sketch.serialize())))])
    }

    fn evaluate(&self, states: &[Self::State]) -> DfResult<ArrayRef> {
        let empty = Hll::new(self.size);
        Ok(binaries(states.iter().map(|s| Some(s.as_deref().unwrap_or(&empty).serialize()))))
    }

    fn heap_size(&self, state: &Self::State) -> usize {
        state.as_ref().map_or(0, |sketch| size_of::<Hll>() + sketch.heap_size())
    }
}
