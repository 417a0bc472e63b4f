//! Theta sketches: `theta_sketch_agg` and its family.

use super::super::fold::{Fold, Folded};
use super::super::states::{Rows, States, column, typed};
use super::super::udaf::{Call, Kernel, OverNothing};
use super::super::{AggregateContext, constant, declare};
use super::keys::for_each_key;
use super::{
    Missing, NOMINAL_ENTRIES, any, binaries, call_kernel, complete, invalid_buffer, invalid_nominal_entries, kernel,
    scalar,
};
use crate::scalar::string::rows::{Binaries, Integers, Rows as Values, binaries as binary_results, primitives};
use crate::{AggregateCall, ArgType, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BinaryArray};
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use datafusion::common::Result as DfResult;
use datafusion::logical_expr::ColumnarValue;
use datasketches::hash::value::raw_bytes;
use datasketches::theta::{
    CompactThetaSketch, ThetaANotB, ThetaIntersection, ThetaSketch, ThetaSketchBuilder, ThetaUnion, ThetaUnionBuilder,
};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

/// The logarithm of the size where a call gives none.
const DEFAULT_SIZE: i32 = 12;
/// What theta sketches are made of.
pub(super) const KEY: ArgType = ArgType::OneOf(&[
    ArgType::ArrayOf(&ArgType::Integer),
    ArgType::ArrayOf(&ArgType::Long),
    ArgType::Binary,
    ArgType::Double,
    ArgType::Float,
    ArgType::Integer,
    ArgType::Long,
    ArgType::String,
]);

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "theta_sketch_agg",
        &[],
        Signature::with_optional(&[any("expr"), any("lgNomEntries")], 1),
        |c, a| build_aggregate("theta_sketch_agg", &AGGREGATE, KEY, c, a),
        "theta_sketch_agg(expr[, lgNomEntries]) - Returns a theta sketch of the values of a group, compact.",
    ),
    &declare(
        "theta_union_agg",
        &[],
        Signature::with_optional(&[any("expr"), any("lgNomEntries")], 1),
        |c, a| build_aggregate("theta_union_agg", &UNION_AGGREGATE, ArgType::Binary, c, a),
        "theta_union_agg(expr[, lgNomEntries]) - Returns the union of the theta sketches of a group.",
    ),
    &declare(
        "theta_intersection_agg",
        &[],
        Signature::of(&[any("expr")]),
        build_intersection,
        "theta_intersection_agg(expr) - Returns the intersection of the theta sketches of a group.",
    ),
    &scalar(
        "theta_sketch_estimate",
        Signature::of(&[any("expr")]),
        |c, a| call_kernel(&ESTIMATE, c, &a, 1, &[], DataType::Long),
        "theta_sketch_estimate(expr) - Returns about how many different values a theta sketch has seen.",
    ),
    &scalar(
        "theta_union",
        Signature::with_optional(&[any("first"), any("second"), any("lgNomEntries")], 1),
        |c, mut a| {
            complete(&mut a, 3, &[Missing::Integer(DEFAULT_SIZE)]);
            call_kernel(&UNION, c, &a, 2, &[ArgType::Integer], DataType::Binary)
        },
        "theta_union(first, second[, lgNomEntries]) - Returns the union of two theta sketches.",
    ),
    &scalar(
        "theta_intersection",
        Signature::of(&[any("first"), any("second")]),
        |c, a| call_kernel(&INTERSECTION, c, &a, 2, &[], DataType::Binary),
        "theta_intersection(first, second) - Returns the intersection of two theta sketches.",
    ),
    &scalar(
        "theta_difference",
        Signature::of(&[any("first"), any("second")]),
        |c, a| call_kernel(&DIFFERENCE, c, &a, 2, &[], DataType::Binary),
        "theta_difference(first, second) - Returns what the first theta sketch has and the second has not.",
    ),
];

static ESTIMATE: Function = kernel("theta_sketch_estimate", estimate);
static UNION: Function = kernel("theta_union", union);
static INTERSECTION: Function = kernel("theta_intersection", intersection);
static DIFFERENCE: Function = kernel("theta_difference", difference);

pub static KERNELS: &[&Function] = &[&ESTIMATE, &UNION, &INTERSECTION, &DIFFERENCE];

static AGGREGATE: Kernel = Kernel {
    name: "theta_sketch_agg",
    states: |c, _| new_states(c, Kind::Values),
    over_nothing: OverNothing::Evaluated,
};
static UNION_AGGREGATE: Kernel =
    Kernel { name: "theta_union_agg", states: |c, _| new_states(c, Kind::Union), over_nothing: OverNothing::Evaluated };
static INTERSECTION_AGGREGATE: Kernel = Kernel {
    name: "theta_intersection_agg",
    states: |c, _| new_states(c, Kind::Intersection),
    over_nothing: OverNothing::Evaluated,
};

pub static AGGREGATES: &[&Kernel] = &[&AGGREGATE, &UNION_AGGREGATE, &INTERSECTION_AGGREGATE];

fn build_aggregate(
    name: &'static str,
    kernel: &'static Kernel,
    wanted: ArgType,
    context: &mut BuildContext<'_>,
    call: AggregateCall,
) -> Result<TypedExpr> {
    let mut call = call;
    complete(&mut call.arguments, 2, &[Missing::Integer(DEFAULT_SIZE)]);
    let mut call = AggregateContext::new(name, call);
    let value = super::exactly(call.argument(0)?, wanted, 0, &call.text, context)?;
    call.check_collation(&value.data_type)?;
    super::exactly(call.argument(1)?, ArgType::Integer, 1, &call.text, context)?;
    let size = match constant::value(call.argument(1)?)? {
        Some(size) => crate::scalar::string::constant::integer_of(&size).unwrap_or(0),
        None => {
            return Err(SparkError::new("THETA_LG_NOM_ENTRIES_MUST_BE_CONSTANT").with("function", format!("`{name}`")));
        }
    };
    if !NOMINAL_ENTRIES.contains(&size) {
        return Err(invalid_nominal_entries(name, size));
    }
    super::check_least_size(size)?;
    call.call.arguments = vec![value];
    call.aggregate(kernel, context, DataType::Binary, false, Some(&size.to_string()))
}

fn build_intersection(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new("theta_intersection_agg", call);
    let value = super::exactly(call.argument(0)?, ArgType::Binary, 0, &call.text, context)?;
    call.call.arguments = vec![value];
    call.aggregate(&INTERSECTION_AGGREGATE, context, DataType::Binary, false, None)
}

/// A sketch from its bytes.
pub(super) fn read(bytes: &[u8], function: &str) -> Result<CompactThetaSketch> {
    CompactThetaSketch::deserialize(bytes).map_err(|_| invalid_buffer("THETA_INVALID_INPUT_SKETCH_BUFFER", function))
}

/// The bytes of a sketch; those of a single value say so, as the reference's do.
fn write(sketch: &CompactThetaSketch) -> Vec<u8> {
    const SINGLE: u8 = 0x20;
    let mut bytes = sketch.serialize_compressed();
    if let [1, 3, _, _, _, flags, ..] = bytes.as_mut_slice()
        && !sketch.is_empty()
    {
        *flags |= SINGLE;
    }
    bytes
}

fn failed(error: datasketches::error::Error) -> SparkError {
    SparkError::internal(format!("theta sketch: {error}"))
}

fn new_union(size: u8) -> Result<ThetaUnion> {
    ThetaUnionBuilder::default().lg_k(size).build().map_err(failed)
}

fn estimate(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let sketches: Binaries = Values::of(args, 0)?;
    primitives::<Int64Type>(args, |row| {
        let Some(bytes) = sketches.get(row) else { return Ok(None) };
        Ok(Some(read(bytes, "theta_sketch_estimate")?.estimate().round() as i64))
    })
}

/// Calls `f` with both sketches of a row.
fn both(
    args: &KernelArgs<'_>,
    name: &str,
    f: impl Fn(usize, &CompactThetaSketch, &CompactThetaSketch) -> Result<Option<CompactThetaSketch>>,
) -> Result<ColumnarValue> {
    let (first, second): (Binaries, Binaries) = (Values::of(args, 0)?, Values::of(args, 1)?);
    binary_results(args, |row| {
        let (Some(first), Some(second)) = (first.get(row), second.get(row)) else { return Ok(None) };
        let result = f(row, &read(first, name)?, &read(second, name)?)?;
        Ok(result.map(|sketch| write(&sketch)))
    })
}

fn union(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let sizes: Integers = Values::of(args, 2)?;
    both(args, "theta_union", |row, first, second| {
        let Some(size) = sizes.get(row) else { return Ok(None) };
        if !NOMINAL_ENTRIES.contains(&i64::from(size)) {
            return Err(invalid_nominal_entries("theta_union", size.into()));
        }
        super::check_least_size(size.into())?;
        let mut union = new_union(size as u8)?;
        union.update(first).map_err(failed)?;
        union.update(second).map_err(failed)?;
        Ok(Some(union.to_sketch(true)))
    })
}

fn intersection(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    both(args, "theta_intersection", |_, first, second| {
        let mut intersection = ThetaIntersection::default();
        intersection.update(first).map_err(failed)?;
        intersection.update(second).map_err(failed)?;
        Ok(intersection.to_sketch(true))
    })
}

fn difference(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    both(args, "theta_difference", |_, first, second| {
        ThetaANotB::default().compute(first, second, true).map(Some).map_err(failed)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Values,
    Union,
    Intersection,
}

impl Kind {
    fn function(self) -> &'static str {
        match self {
            Self::Values => "theta_sketch_agg",
            Self::Union => "theta_union_agg",
            Self::Intersection => "theta_intersection_agg",
        }
    }
}

#[derive(Debug, Clone)]
struct ThetaFold {
    call: Call,
    kind: Kind,
    size: u8,
}

/// The sketch of a group; boxed, as groups without values need none.
#[derive(Debug, Default)]
enum State {
    #[default]
    Nothing,
    Values(Box<ThetaSketch>),
    Union(Box<ThetaUnion>),
    Intersection(Box<ThetaIntersection>),
}

fn new_states(call: &Call, kind: Kind) -> DfResult<Box<dyn States>> {
    let size = call.payload().parse().unwrap_or(DEFAULT_SIZE as u8);
    Ok(Folded::boxed(ThetaFold { call: call.clone(), kind, size }))
}

impl ThetaFold {
    fn take_value(&self, state: &mut State, bytes: &[u8]) -> Result<()> {
        if let State::Values(sketch) = state {
            sketch.update(raw_bytes::from_slice(bytes));
            return Ok(());
        }
        let mut sketch = ThetaSketchBuilder::default().lg_k(self.size).build().map_err(failed)?;
        sketch.update(raw_bytes::from_slice(bytes));
        *state = State::Values(Box::new(sketch));
        Ok(())
    }

    fn take_sketch(&self, state: &mut State, sketch: &CompactThetaSketch) -> Result<()> {
        if self.kind == Kind::Intersection {
            if let State::Intersection(intersection) = state {
                return intersection.update(sketch).map_err(failed);
            }
            let mut intersection = ThetaIntersection::default();
            intersection.update(sketch).map_err(failed)?;
            *state = State::Intersection(Box::new(intersection));
            return Ok(());
        }
        if let State::Union(union) = state {
            return union.update(sketch).map_err(failed);
        }
        let mut union = new_union(self.size)?;
        if let State::Values(own) = state {
            union.update(own.as_ref()).map_err(failed)?;
        }
        union.update(sketch).map_err(failed)?;
        *state = State::Union(Box::new(union));
        Ok(())
    }

    fn compact(state: &State) -> Option<CompactThetaSketch> {
        match state {
            State::Nothing => None,
            State::Values(sketch) => Some(sketch.compact(true)),
            State::Union(union) => Some(union.to_sketch(true)),
            State::Intersection(intersection) => intersection.to_sketch(true),
        }
    }

    /// The result of a group: what comes out where all partial sketches come together.
    fn result(&self, state: &State) -> Result<Vec<u8>> {
        let mut union = new_union(self.size)?;
        let sketch = match Self::compact(state) {
            None => union.to_sketch(true),
            Some(sketch) if matches!(state, State::Values(_)) => {
                union.update(&sketch).map_err(failed)?;
                union.to_sketch(true)
            }
            Some(sketch) => sketch,
        };
        Ok(write(&sketch))
    }
}

impl Fold for ThetaFold {
    type State = State;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary]
    }

    fn update(&self, states: &mut [State], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        if self.kind != Kind::Values {
            return self.merge(states, arguments, rows);
        }
        for_each_key(column(arguments, 0)?, rows, |_, group, bytes| {
            self.take_value(&mut states[group], bytes).map_err(|e| self.call.error(e))
        })
    }

    fn merge(&self, states: &mut [State], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let sketches: &BinaryArray = typed(columns, 0)?;
        rows.try_for_each(sketches.nulls(), |row, group| {
            read(sketches.value(row), self.kind.function())
                .and_then(|sketch| self.take_sketch(&mut states[group], &sketch))
                .map_err(|e| self.call.error(e))
        })
    }

    fn state(&self, states: &[State]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![binaries(states.iter().map(|s| Self::compact(s).map(|sketch| write(&sketch))))])
    }

    fn evaluate(&self, states: &[State]) -> DfResult<ArrayRef> {
        let results = states.iter().map(|s| self.result(s)).collect::<Result<Vec<_>>>();
        Ok(binaries(results.map_err(|e| self.call.error(e))?.into_iter().map(Some)))
    }

    fn heap_size(&self, state: &State) -> usize {
        match state {
            State::Nothing => 0,
            State::Values(sketch) => sketch.estimated_size(),
            State::Union(union) => union.estimated_size(),
            State::Intersection(intersection) => intersection.estimated_size(),
        }
    }
}
