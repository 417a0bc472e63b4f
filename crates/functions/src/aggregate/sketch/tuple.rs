//! Aggregates of tuple sketches: `tuple_sketch_agg_double` and its family.

use super::super::fold::{Fold, Folded};
use super::super::states::{Rows, States, column, typed};
use super::super::udaf::{Call, Kernel, OverNothing};
use super::super::{AggregateContext, Build as BuildAggregate, constant, declare};
use super::keys::for_each_key;
use super::theta::KEY;
use super::tuple_summary::{Compact, Mode, Number, Policy, write};
use super::{Missing, NOMINAL_ENTRIES, any, binaries, complete, invalid_buffer, invalid_nominal_entries, type_check};
use crate::coercion::coerce_argument;
use crate::scalar::string::constant::{integer_of, text_of};
use crate::{AggregateCall, ArgType, BuildContext, Function, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray};
use arrow::datatypes::{DataType as ArrowType, Float64Type, Int32Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use datasketches::hash::value::raw_bytes;
use datasketches::tuple::{TupleIntersection, TupleSketch, TupleSketchBuilder, TupleUnion, TupleUnionBuilder};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::marker::PhantomData;

/// The logarithm of the size where a call gives none.
pub(super) const DEFAULT_SIZE: i32 = 12;

const SKETCH: Signature = Signature::with_optional(&[any("key"), any("summary"), any("lgNomEntries"), any("mode")], 2);
const UNION: Signature = Signature::with_optional(&[any("child"), any("lgNomEntries"), any("mode")], 2);
const INTERSECTION: Signature = Signature::with_optional(&[any("child"), any("mode")], 1);

const fn aggregate(name: &'static str, signature: Signature, build: BuildAggregate, usage: &'static str) -> Function {
    declare(name, &[], signature, build, usage)
}

pub static FUNCTIONS: &[&Function] = &[
    &aggregate(
        "tuple_sketch_agg_double",
        SKETCH,
        |c, a| build_sketch::<f64>(&SKETCH_DOUBLE, c, a),
        "tuple_sketch_agg_double(key, summary[, lgNomEntries[, mode]]) - Returns a tuple sketch of the keys of a group \
         with their numbers, compact.",
    ),
    &aggregate(
        "tuple_union_agg_double",
        UNION,
        |c, a| build_union(&UNION_DOUBLE, c, a),
        "tuple_union_agg_double(child[, lgNomEntries[, mode]]) - Returns the union of the tuple sketches of a group.",
    ),
    &aggregate(
        "tuple_intersection_agg_double",
        INTERSECTION,
        |c, a| build_intersection(&INTERSECTION_DOUBLE, c, a),
        "tuple_intersection_agg_double(child[, mode]) - Returns the intersection of the tuple sketches of a group.",
    ),
    &aggregate(
        "tuple_sketch_agg_integer",
        SKETCH,
        |c, a| build_sketch::<i32>(&SKETCH_INTEGER, c, a),
        "tuple_sketch_agg_integer(key, summary[, lgNomEntries[, mode]]) - Returns a tuple sketch of the keys of a group \
         with their numbers, compact.",
    ),
    &aggregate(
        "tuple_union_agg_integer",
        UNION,
        |c, a| build_union(&UNION_INTEGER, c, a),
        "tuple_union_agg_integer(child[, lgNomEntries[, mode]]) - Returns the union of the tuple sketches of a group.",
    ),
    &aggregate(
        "tuple_intersection_agg_integer",
        INTERSECTION,
        |c, a| build_intersection(&INTERSECTION_INTEGER, c, a),
        "tuple_intersection_agg_integer(child[, mode]) - Returns the intersection of the tuple sketches of a group.",
    ),
];

static SKETCH_DOUBLE: Kernel = Kernel {
    name: "tuple_sketch_agg_double",
    states: |c, _| new_states::<f64>(c, Kind::Values),
    over_nothing: OverNothing::Evaluated,
};
static UNION_DOUBLE: Kernel = Kernel {
    name: "tuple_union_agg_double",
    states: |c, _| new_states::<f64>(c, Kind::Union),
    over_nothing: OverNothing::Evaluated,
};
static INTERSECTION_DOUBLE: Kernel = Kernel {
    name: "tuple_intersection_agg_double",
    states: |c, _| new_states::<f64>(c, Kind::Intersection),
    over_nothing: OverNothing::Evaluated,
};
static SKETCH_INTEGER: Kernel = Kernel {
    name: "tuple_sketch_agg_integer",
    states: |c, _| new_states::<i32>(c, Kind::Values),
    over_nothing: OverNothing::Evaluated,
};
static UNION_INTEGER: Kernel = Kernel {
    name: "tuple_union_agg_integer",
    states: |c, _| new_states::<i32>(c, Kind::Union),
    over_nothing: OverNothing::Evaluated,
};
static INTERSECTION_INTEGER: Kernel = Kernel {
    name: "tuple_intersection_agg_integer",
    states: |c, _| new_states::<i32>(c, Kind::Intersection),
    over_nothing: OverNothing::Evaluated,
};

pub static AGGREGATES: &[&Kernel] =
    &[&SKETCH_DOUBLE, &UNION_DOUBLE, &INTERSECTION_DOUBLE, &SKETCH_INTEGER, &UNION_INTEGER, &INTERSECTION_INTEGER];

/// The constant logarithm of the size of a call.
pub(super) fn size_of_call(name: &str, text: &str, argument: &TypedExpr, index: usize) -> Result<u8> {
    super::check_constant(text, argument, ArgType::Integer, index, "lgNomEntries")?;
    let Some(value) = constant::value(argument)? else {
        return Err(not_constant(text, "lgNomEntries", "int", argument));
    };
    let size = integer_of(&value).unwrap_or(0);
    if !NOMINAL_ENTRIES.contains(&size) {
        return Err(type_check(text, invalid_nominal_entries(name, size).to_string()));
    }
    super::check_least_size(size)?;
    Ok(size as u8)
}

/// The constant mode of a call.
pub(super) fn mode_of_call(name: &str, text: &str, argument: &TypedExpr, index: usize) -> Result<Mode> {
    super::check_constant(text, argument, ArgType::String, index, "mode")?;
    let Some(value) = constant::value(argument)? else {
        return Err(not_constant(text, "mode", "string", argument));
    };
    let mode = text_of(&value).unwrap_or("null");
    Mode::parse(mode).ok_or_else(|| {
        let error = SparkError::new("TUPLE_INVALID_SKETCH_MODE")
            .with("function", format!("`{name}`"))
            .with("mode", mode)
            .with("validModes", Mode::NAMES);
        type_check(text, error.to_string())
    })
}

fn not_constant(text: &str, parameter: &str, data_type: &str, argument: &TypedExpr) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
        .with("sqlExpr", crate::coercion::mismatch::quoted(text))
        .with("inputName", parameter)
        .with("inputType", data_type)
        .with("inputExpr", argument.name.clone())
}

/// An argument of an aggregate, which is cast implicitly, unlike those of the functions over sketches.
fn cast_to(
    call: &AggregateContext,
    wanted: ArgType,
    index: usize,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    coerce_argument(call.argument(index)?.clone(), wanted, index, &call.text, context)
}

fn build_sketch<N: Number>(
    kernel: &'static Kernel,
    context: &mut BuildContext<'_>,
    mut call: AggregateCall,
) -> Result<TypedExpr> {
    complete(&mut call.arguments, 4, &[Missing::Integer(DEFAULT_SIZE), Missing::Text("sum")]);
    let mut call = AggregateContext::new(kernel.name, call);
    let key = coerce_argument(call.argument(0)?.clone(), KEY, 0, &call.text, context)?;
    call.check_collation(&key.data_type)?;
    let wanted = if N::SIZE == size_of::<f64>() { ArgType::Double } else { ArgType::Integer };
    let summary = coerce_argument(call.argument(1)?.clone(), wanted, 1, &call.text, context)?;
    let size = size_of_call(kernel.name, &call.text, &cast_to(&call, ArgType::Integer, 2, context)?, 2)?;
    let mode = mode_of_call(kernel.name, &call.text, &cast_to(&call, ArgType::String, 3, context)?, 3)?;
    call.call.arguments = vec![key, summary];
    call.aggregate(kernel, context, DataType::Binary, false, Some(&format!("{size} {mode:?}")))
}

fn build_union(kernel: &'static Kernel, context: &mut BuildContext<'_>, mut call: AggregateCall) -> Result<TypedExpr> {
    complete(&mut call.arguments, 3, &[Missing::Integer(DEFAULT_SIZE), Missing::Text("sum")]);
    let mut call = AggregateContext::new(kernel.name, call);
    let sketch = cast_to(&call, ArgType::Binary, 0, context)?;
    let size = size_of_call(kernel.name, &call.text, &cast_to(&call, ArgType::Integer, 1, context)?, 1)?;
    let mode = mode_of_call(kernel.name, &call.text, &cast_to(&call, ArgType::String, 2, context)?, 2)?;
    call.call.arguments = vec![sketch];
    call.aggregate(kernel, context, DataType::Binary, false, Some(&format!("{size} {mode:?}")))
}

fn build_intersection(
    kernel: &'static Kernel,
    context: &mut BuildContext<'_>,
    mut call: AggregateCall,
) -> Result<TypedExpr> {
    complete(&mut call.arguments, 2, &[Missing::Text("sum")]);
    let mut call = AggregateContext::new(kernel.name, call);
    let sketch = cast_to(&call, ArgType::Binary, 0, context)?;
    let mode = mode_of_call(kernel.name, &call.text, &cast_to(&call, ArgType::String, 1, context)?, 1)?;
    call.call.arguments = vec![sketch];
    call.aggregate(kernel, context, DataType::Binary, false, Some(&format!("{DEFAULT_SIZE} {mode:?}")))
}

/// A sketch from its bytes.
pub(super) fn read<N: Number>(bytes: &[u8], function: &str) -> Result<Compact<N>> {
    Compact::<N>::deserialize(bytes).map_err(|_| invalid_buffer("TUPLE_INVALID_INPUT_SKETCH_BUFFER", function))
}

pub(super) fn failed(error: datasketches::error::Error) -> SparkError {
    SparkError::internal(format!("tuple sketch: {error}"))
}

pub(super) fn new_union<N: Number>(size: u8, mode: Mode) -> Result<TupleUnion<Policy<N>>> {
    TupleUnionBuilder::new(Policy::new(mode)).lg_k(size).build().map_err(failed)
}

/// The numbers of a column, by row.
fn numbers<N: Number>(array: &ArrayRef) -> DfResult<Vec<u8>> {
    let mut bytes = Vec::with_capacity(array.len() * N::SIZE);
    match array.data_type() {
        ArrowType::Float64 => {
            array.as_primitive::<Float64Type>().values().iter().for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()));
        }
        ArrowType::Int32 => {
            array.as_primitive::<Int32Type>().values().iter().for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()));
        }
        other => return Err(DataFusionError::Internal(format!("tuple sketches of {other}"))),
    }
    Ok(bytes)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Values,
    Union,
    Intersection,
}

#[derive(Debug, Clone)]
struct TupleFold<N> {
    call: Call,
    kind: Kind,
    size: u8,
    mode: Mode,
    number: PhantomData<N>,
}

/// The sketch of a group; boxed, as groups without values need none.
#[derive(Debug, Default)]
enum State<N: Number> {
    #[default]
    Nothing,
    Values(Box<TupleSketch<Policy<N>>>),
    Union(Box<TupleUnion<Policy<N>>>),
    Intersection(Box<TupleIntersection<Policy<N>>>),
}

fn new_states<N: Number>(call: &Call, kind: Kind) -> DfResult<Box<dyn States>> {
    let (size, mode) = call.payload().split_once(' ').unwrap_or(("12", "sum"));
    Ok(Folded::boxed(TupleFold::<N> {
        call: call.clone(),
        kind,
        size: size.parse().unwrap_or(DEFAULT_SIZE as u8),
        mode: Mode::parse(mode).unwrap_or(Mode::Sum),
        number: PhantomData,
    }))
}

impl<N: Number> TupleFold<N> {
    fn function(&self) -> String {
        let kind = match self.kind {
            Kind::Values => "sketch",
            Kind::Union => "union",
            Kind::Intersection => "intersection",
        };
        format!("tuple_{kind}_agg_{}", N::SUFFIX)
    }

    fn take_value(&self, state: &mut State<N>, key: &[u8], value: N) -> Result<()> {
        if let State::Values(sketch) = state {
            sketch.update(raw_bytes::from_slice(key), value);
            return Ok(());
        }
        let mut sketch = TupleSketchBuilder::new(Policy::new(self.mode)).lg_k(self.size).build().map_err(failed)?;
        sketch.update(raw_bytes::from_slice(key), value);
        *state = State::Values(Box::new(sketch));
        Ok(())
    }

    fn take_sketch(&self, state: &mut State<N>, sketch: &Compact<N>) -> Result<()> {
        if self.kind == Kind::Intersection {
            if let State::Intersection(intersection) = state {
                return intersection.update(sketch).map_err(failed);
            }
            let mut intersection = TupleIntersection::new(Policy::new(self.mode));
            intersection.update(sketch).map_err(failed)?;
            *state = State::Intersection(Box::new(intersection));
            return Ok(());
        }
        if let State::Union(union) = state {
            return union.update(sketch).map_err(failed);
        }
        let mut union = new_union(self.size, self.mode)?;
        if let State::Values(own) = state {
            union.update(own.as_ref()).map_err(failed)?;
        }
        union.update(sketch).map_err(failed)?;
        *state = State::Union(Box::new(union));
        Ok(())
    }

    fn compact(state: &State<N>) -> Option<Compact<N>> {
        match state {
            State::Nothing => None,
            State::Values(sketch) => Some(sketch.compact(false)),
            State::Union(union) => Some(union.to_sketch(false)),
            State::Intersection(intersection) => intersection.to_sketch(false),
        }
    }

    /// The result of a group: what comes out where all partial sketches come together.
    fn result(&self, state: &State<N>) -> Result<Vec<u8>> {
        let mut union = new_union(self.size, self.mode)?;
        let sketch = match Self::compact(state) {
            None => union.to_sketch(false),
            Some(sketch) if matches!(state, State::Values(_)) => {
                union.update(&sketch).map_err(failed)?;
                union.to_sketch(false)
            }
            Some(sketch) => sketch,
        };
        Ok(write(&sketch))
    }
}

impl<N: Number> Fold for TupleFold<N> {
    type State = State<N>;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary]
    }

    fn update(&self, states: &mut [State<N>], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        if self.kind != Kind::Values {
            return self.merge(states, arguments, rows);
        }
        let summaries = column(arguments, 1)?;
        let numbers = numbers::<N>(summaries)?;
        for_each_key(column(arguments, 0)?, rows, |row, group, key| {
            if summaries.is_null(row) {
                return Ok(());
            }
            let mut bytes = datasketches::codec::SketchSlice::new(&numbers[row * N::SIZE..]);
            let value = N::read(&mut bytes).map_err(|e| DataFusionError::Internal(e.to_string()))?;
            self.take_value(&mut states[group], key, value).map_err(|e| self.call.error(e))
        })
    }

    fn merge(&self, states: &mut [State<N>], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let sketches: &BinaryArray = typed(columns, 0)?;
        let function = self.function();
        rows.try_for_each(sketches.nulls(), |row, group| {
            read(sketches.value(row), &function)
                .and_then(|sketch| self.take_sketch(&mut states[group], &sketch))
                .map_err(|e| self.call.error(e))
        })
    }

    fn state(&self, states: &[State<N>]) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![binaries(states.iter().map(|s| Self::compact(s).map(|sketch| write(&sketch))))])
    }

    fn evaluate(&self, states: &[State<N>]) -> DfResult<ArrayRef> {
        let results = states.iter().map(|s| self.result(s)).collect::<Result<Vec<_>>>();
        Ok(binaries(results.map_err(|e| self.call.error(e))?.into_iter().map(Some)))
    }

    fn heap_size(&self, state: &State<N>) -> usize {
        match state {
            State::Nothing => 0,
            State::Values(sketch) => sketch.estimated_size(),
            State::Union(union) => union.estimated_size(),
            State::Intersection(intersection) => intersection.estimated_size(),
        }
    }
}
