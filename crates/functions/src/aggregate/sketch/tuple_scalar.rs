//! Functions over tuple sketches: `tuple_union_double` and its family.

use super::tuple::{DEFAULT_SIZE, failed, mode_of_call, new_union, read, size_of_call};
use super::tuple_summary::{Compact, Mode, Number, Policy, of_keys, write};
use super::{Missing, any, call_kernel, complete, kernel, scalar, text_of, theta};
use crate::scalar::string::rows::{Binaries, Integers, Rows as Values, Texts, binaries as binary_results, primitives};
use crate::{ArgType, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::datatypes::{Float64Type, Int64Type};
use datafusion::logical_expr::ColumnarValue;
use datasketches::tuple::{TupleANotB, TupleIntersection};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

const ONE: Signature = Signature::of(&[any("child")]);
const SUMMARY: Signature = Signature::with_optional(&[any("child"), any("mode")], 1);
const TWO: Signature = Signature::of(&[any("tupleSketch1"), any("tupleSketch2")]);
const TWO_THETA: Signature = Signature::of(&[any("tupleSketch"), any("thetaSketch")]);
const UNION: Signature =
    Signature::with_optional(&[any("tupleSketch1"), any("tupleSketch2"), any("lgNomEntries"), any("mode")], 2);
const UNION_THETA: Signature =
    Signature::with_optional(&[any("tupleSketch"), any("thetaSketch"), any("lgNomEntries"), any("mode")], 2);
const INTERSECTION: Signature = Signature::with_optional(&[any("tupleSketch1"), any("tupleSketch2"), any("mode")], 1);
const INTERSECTION_THETA: Signature =
    Signature::with_optional(&[any("tupleSketch"), any("thetaSketch"), any("mode")], 1);

pub static FUNCTIONS: &[&Function] = &[
    &scalar(
        "tuple_sketch_estimate_double",
        ONE,
        |c, a| call_kernel(&ESTIMATE_DOUBLE, c, &a, 1, &[], DataType::Double),
        "tuple_sketch_estimate_double(child) - Returns about how many different keys a tuple sketch has seen.",
    ),
    &scalar(
        "tuple_sketch_theta_double",
        ONE,
        |c, a| call_kernel(&THETA_DOUBLE, c, &a, 1, &[], DataType::Double),
        "tuple_sketch_theta_double(child) - Returns the part of the keys that a tuple sketch keeps.",
    ),
    &scalar(
        "tuple_sketch_summary_double",
        SUMMARY,
        |c, a| build_summary(&SUMMARY_DOUBLE, DataType::Double, c, a),
        "tuple_sketch_summary_double(child[, mode]) - Returns one number of all numbers of a tuple sketch.",
    ),
    &scalar(
        "tuple_union_double",
        UNION,
        |c, a| build_union(&UNION_DOUBLE, c, a),
        "tuple_union_double(tupleSketch1, tupleSketch2[, lgNomEntries[, mode]]) - Returns the union of two tuple sketches.",
    ),
    &scalar(
        "tuple_union_theta_double",
        UNION_THETA,
        |c, a| build_union(&UNION_THETA_DOUBLE, c, a),
        "tuple_union_theta_double(tupleSketch, thetaSketch[, lgNomEntries[, mode]]) - Returns the union of a tuple sketch and a theta sketch.",
    ),
    &scalar(
        "tuple_intersection_double",
        INTERSECTION,
        |c, a| build_intersection(&INTERSECTION_DOUBLE, c, a),
        "tuple_intersection_double(tupleSketch1, tupleSketch2[, mode]) - Returns the intersection of two tuple sketches.",
    ),
    &scalar(
        "tuple_intersection_theta_double",
        INTERSECTION_THETA,
        |c, a| build_intersection(&INTERSECTION_THETA_DOUBLE, c, a),
        "tuple_intersection_theta_double(tupleSketch, thetaSketch[, mode]) - Returns the intersection of a tuple sketch and a theta sketch.",
    ),
    &scalar(
        "tuple_difference_double",
        TWO,
        |c, a| call_kernel(&DIFFERENCE_DOUBLE, c, &a, 2, &[], DataType::Binary),
        "tuple_difference_double(tupleSketch1, tupleSketch2) - Returns what the first tuple sketch has and the second has not.",
    ),
    &scalar(
        "tuple_difference_theta_double",
        TWO_THETA,
        |c, a| call_kernel(&DIFFERENCE_THETA_DOUBLE, c, &a, 2, &[], DataType::Binary),
        "tuple_difference_theta_double(tupleSketch, thetaSketch) - Returns what a tuple sketch has and a theta sketch has not.",
    ),
    &scalar(
        "tuple_sketch_estimate_integer",
        ONE,
        |c, a| call_kernel(&ESTIMATE_INTEGER, c, &a, 1, &[], DataType::Double),
        "tuple_sketch_estimate_integer(child) - Returns about how many different keys a tuple sketch has seen.",
    ),
    &scalar(
        "tuple_sketch_theta_integer",
        ONE,
        |c, a| call_kernel(&THETA_INTEGER, c, &a, 1, &[], DataType::Double),
        "tuple_sketch_theta_integer(child) - Returns the part of the keys that a tuple sketch keeps.",
    ),
    &scalar(
        "tuple_sketch_summary_integer",
        SUMMARY,
        |c, a| build_summary(&SUMMARY_INTEGER, DataType::Long, c, a),
        "tuple_sketch_summary_integer(child[, mode]) - Returns one number of all numbers of a tuple sketch.",
    ),
    &scalar(
        "tuple_union_integer",
        UNION,
        |c, a| build_union(&UNION_INTEGER, c, a),
        "tuple_union_integer(tupleSketch1, tupleSketch2[, lgNomEntries[, mode]]) - Returns the union of two tuple sketches.",
    ),
    &scalar(
        "tuple_union_theta_integer",
        UNION_THETA,
        |c, a| build_union(&UNION_THETA_INTEGER, c, a),
        "tuple_union_theta_integer(tupleSketch, thetaSketch[, lgNomEntries[, mode]]) - Returns the union of a tuple sketch and a theta sketch.",
    ),
    &scalar(
        "tuple_intersection_integer",
        INTERSECTION,
        |c, a| build_intersection(&INTERSECTION_INTEGER, c, a),
        "tuple_intersection_integer(tupleSketch1, tupleSketch2[, mode]) - Returns the intersection of two tuple sketches.",
    ),
    &scalar(
        "tuple_intersection_theta_integer",
        INTERSECTION_THETA,
        |c, a| build_intersection(&INTERSECTION_THETA_INTEGER, c, a),
        "tuple_intersection_theta_integer(tupleSketch, thetaSketch[, mode]) - Returns the intersection of a tuple sketch and a theta sketch.",
    ),
    &scalar(
        "tuple_difference_integer",
        TWO,
        |c, a| call_kernel(&DIFFERENCE_INTEGER, c, &a, 2, &[], DataType::Binary),
        "tuple_difference_integer(tupleSketch1, tupleSketch2) - Returns what the first tuple sketch has and the second has not.",
    ),
    &scalar(
        "tuple_difference_theta_integer",
        TWO_THETA,
        |c, a| call_kernel(&DIFFERENCE_THETA_INTEGER, c, &a, 2, &[], DataType::Binary),
        "tuple_difference_theta_integer(tupleSketch, thetaSketch) - Returns what a tuple sketch has and a theta sketch has not.",
    ),
];

static ESTIMATE_DOUBLE: Function = kernel("tuple_sketch_estimate_double", estimate::<f64>);
static THETA_DOUBLE: Function = kernel("tuple_sketch_theta_double", theta_of::<f64>);
static SUMMARY_DOUBLE: Function = kernel("tuple_sketch_summary_double", summary_double);
static UNION_DOUBLE: Function = kernel("tuple_union_double", union::<f64>);
static UNION_THETA_DOUBLE: Function = kernel("tuple_union_theta_double", union_theta::<f64>);
static INTERSECTION_DOUBLE: Function = kernel("tuple_intersection_double", intersection::<f64>);
static INTERSECTION_THETA_DOUBLE: Function = kernel("tuple_intersection_theta_double", intersection_theta::<f64>);
static DIFFERENCE_DOUBLE: Function = kernel("tuple_difference_double", difference::<f64>);
static DIFFERENCE_THETA_DOUBLE: Function = kernel("tuple_difference_theta_double", difference_theta::<f64>);
static ESTIMATE_INTEGER: Function = kernel("tuple_sketch_estimate_integer", estimate::<i32>);
static THETA_INTEGER: Function = kernel("tuple_sketch_theta_integer", theta_of::<i32>);
static SUMMARY_INTEGER: Function = kernel("tuple_sketch_summary_integer", summary_integer);
static UNION_INTEGER: Function = kernel("tuple_union_integer", union::<i32>);
static UNION_THETA_INTEGER: Function = kernel("tuple_union_theta_integer", union_theta::<i32>);
static INTERSECTION_INTEGER: Function = kernel("tuple_intersection_integer", intersection::<i32>);
static INTERSECTION_THETA_INTEGER: Function = kernel("tuple_intersection_theta_integer", intersection_theta::<i32>);
static DIFFERENCE_INTEGER: Function = kernel("tuple_difference_integer", difference::<i32>);
static DIFFERENCE_THETA_INTEGER: Function = kernel("tuple_difference_theta_integer", difference_theta::<i32>);

pub static KERNELS: &[&Function] = &[
    &ESTIMATE_DOUBLE,
    &THETA_DOUBLE,
    &SUMMARY_DOUBLE,
    &UNION_DOUBLE,
    &UNION_THETA_DOUBLE,
    &INTERSECTION_DOUBLE,
    &INTERSECTION_THETA_DOUBLE,
    &DIFFERENCE_DOUBLE,
    &DIFFERENCE_THETA_DOUBLE,
    &ESTIMATE_INTEGER,
    &THETA_INTEGER,
    &SUMMARY_INTEGER,
    &UNION_INTEGER,
    &UNION_THETA_INTEGER,
    &INTERSECTION_INTEGER,
    &INTERSECTION_THETA_INTEGER,
    &DIFFERENCE_INTEGER,
    &DIFFERENCE_THETA_INTEGER,
];

fn build_summary(
    kernel: &'static Function,
    returns: DataType,
    context: &mut BuildContext<'_>,
    mut arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    complete(&mut arguments, 2, &[Missing::Text("sum")]);
    if let Some(mode) = arguments.get(1) {
        mode_of_call(kernel.name, &text_of(kernel.name, &arguments), mode, 1)?;
    }
    call_kernel(kernel, context, &arguments, 1, &[ArgType::String], returns)
}

fn build_union(
    kernel: &'static Function,
    context: &mut BuildContext<'_>,
    mut arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    complete(&mut arguments, 4, &[Missing::Integer(DEFAULT_SIZE), Missing::Text("sum")]);
    let text = text_of(kernel.name, &arguments);
    if let [_, _, size, mode] = arguments.as_slice() {
        size_of_call(kernel.name, &text, size, 2)?;
        mode_of_call(kernel.name, &text, mode, 3)?;
    }
    call_kernel(kernel, context, &arguments, 2, &[ArgType::Integer, ArgType::String], DataType::Binary)
}

fn build_intersection(
    kernel: &'static Function,
    context: &mut BuildContext<'_>,
    mut arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    complete(&mut arguments, 3, &[Missing::Text("sum")]);
    if let Some(mode) = arguments.get(2) {
        mode_of_call(kernel.name, &text_of(kernel.name, &arguments), mode, 2)?;
    }
    call_kernel(kernel, context, &arguments, 2, &[ArgType::String], DataType::Binary)
}

fn name<N: Number>(stem: &str) -> String {
    format!("tuple_{stem}_{}", N::SUFFIX)
}

fn estimate<N: Number>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (sketches, name): (Binaries, _) = (Values::of(args, 0)?, name::<N>("sketch_estimate"));
    primitives::<Float64Type>(args, |row| match sketches.get(row) {
        Some(bytes) => Ok(Some(read::<N>(bytes, &name)?.estimate())),
        None => Ok(None),
    })
}

fn theta_of<N: Number>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (sketches, name): (Binaries, _) = (Values::of(args, 0)?, name::<N>("sketch_theta"));
    primitives::<Float64Type>(args, |row| match sketches.get(row) {
        Some(bytes) => Ok(Some(read::<N>(bytes, &name)?.theta())),
        None => Ok(None),
    })
}

/// The mode of the rows: it is constant.
fn mode_at(args: &KernelArgs<'_>, index: usize) -> Result<Mode> {
    let modes: Texts = Values::of(args, index)?;
    modes.get(0).and_then(Mode::parse).ok_or_else(|| SparkError::internal("a tuple sketch has no mode"))
}

fn summary_double(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let sketches: Binaries = Values::of(args, 0)?;
    let mode = mode_at(args, 1)?;
    primitives::<Float64Type>(args, |row| {
        let Some(bytes) = sketches.get(row) else { return Ok(None) };
        let sketch = read::<f64>(bytes, "tuple_sketch_summary_double")?;
        let values = sketch.iter().map(|entry| entry.summary().value);
        Ok(Some(match mode {
            Mode::AlwaysOne => sketch.num_retained() as f64,
            Mode::Sum => values.sum::<f64>() + 0.0,
            _ => values.reduce(|a, b| a.combine(b, mode)).unwrap_or(0.0),
        }))
    })
}

fn summary_integer(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let sketches: Binaries = Values::of(args, 0)?;
    let mode = mode_at(args, 1)?;
    primitives::<Int64Type>(args, |row| {
        let Some(bytes) = sketches.get(row) else { return Ok(None) };
        let sketch = read::<i32>(bytes, "tuple_sketch_summary_integer")?;
        let values = sketch.iter().map(|entry| i64::from(entry.summary().value));
        Ok(Some(match mode {
            Mode::AlwaysOne => sketch.num_retained() as i64,
            Mode::Sum => values.sum(),
            Mode::Min => values.min().unwrap_or(0),
            Mode::Max => values.max().unwrap_or(0),
        }))
    })
}

/// Calls `f` with the tuple sketch and the other bytes of a row.
fn both<N: Number>(
    args: &KernelArgs<'_>,
    name: &str,
    f: impl Fn(Compact<N>, &[u8]) -> Result<Option<Compact<N>>>,
) -> Result<ColumnarValue> {
    let (first, second): (Binaries, Binaries) = (Values::of(args, 0)?, Values::of(args, 1)?);
    binary_results(args, |row| {
        let (Some(first), Some(second)) = (first.get(row), second.get(row)) else { return Ok(None) };
        Ok(f(read(first, name)?, second)?.map(|sketch| write(&sketch)))
    })
}

fn union_of<N: Number>(first: &Compact<N>, second: &Compact<N>, size: u8, mode: Mode) -> Result<Option<Compact<N>>> {
    let mut union = new_union(size, mode)?;
    union.update(first).map_err(failed)?;
    union.update(second).map_err(failed)?;
    Ok(Some(union.to_sketch(false)))
}

/// The size of the rows: it is constant.
fn size_at(args: &KernelArgs<'_>, index: usize) -> Result<u8> {
    let sizes: Integers = Values::of(args, index)?;
    let size = sizes.get(0).and_then(|size| u8::try_from(size).ok());
    size.ok_or_else(|| SparkError::internal("a tuple sketch has no size"))
}

fn union<N: Number>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (name, size, mode) = (name::<N>("union"), size_at(args, 2)?, mode_at(args, 3)?);
    both::<N>(args, &name, |first, second| union_of(&first, &read(second, &name)?, size, mode))
}

fn union_theta<N: Number>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (name, size, mode) = (name::<N>("union_theta"), size_at(args, 2)?, mode_at(args, 3)?);
    both::<N>(args, &name, |first, second| {
        let second = of_keys(&theta::read(second, &name)?, mode).map_err(failed)?;
        union_of(&first, &second, size, mode)
    })
}

fn intersection_of<N: Number>(first: &Compact<N>, second: &Compact<N>, mode: Mode) -> Result<Option<Compact<N>>> {
    let mut intersection = TupleIntersection::new(Policy::new(mode));
    intersection.update(first).map_err(failed)?;
    intersection.update(second).map_err(failed)?;
    Ok(intersection.to_sketch(false))
}

fn intersection<N: Number>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (name, mode) = (name::<N>("intersection"), mode_at(args, 2)?);
    both::<N>(args, &name, |first, second| intersection_of(&first, &read(second, &name)?, mode))
}

fn intersection_theta<N: Number>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (name, mode) = (name::<N>("intersection_theta"), mode_at(args, 2)?);
    both::<N>(args, &name, |first, second| {
        let second = of_keys(&theta::read(second, &name)?, mode).map_err(failed)?;
        intersection_of(&first, &second, mode)
    })
}

fn difference<N: Number>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let name = name::<N>("difference");
    both::<N>(args, &name, |first, second| {
        TupleANotB::default().compute(&first, &read::<N>(second, &name)?, false).map(Some).map_err(failed)
    })
}

fn difference_theta<N: Number>(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let name = name::<N>("difference_theta");
    both::<N>(args, &name, |first, second| {
        let second: Compact<N> = of_keys(&theta::read(second, &name)?, Mode::Sum).map_err(failed)?;
        TupleANotB::default().compute(&first, &second, false).map(Some).map_err(failed)
    })
}
