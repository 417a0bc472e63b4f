//! Functions over vectors: arrays of floats.

use crate::coercion::{accepts, mismatch};
use crate::scalar::string::rows::{array_or_constant, finish, internal, row_count};
use crate::{
    ArgType, Body, BuildContext, Documentation, Function, Group, KernelArgs, KernelFn, Nullability, Param, Returns,
    Signature, TypedExpr,
};
use arrow::array::{Array, ArrayRef, AsArray, Float32Builder, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, Float32Type};
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping, number_text};
use std::sync::Arc;

/// What a vector is.
pub(crate) const VECTOR: ArgType = ArgType::ArrayOf(&ArgType::Float);
/// So many products are added up before they are added to the sum.
const LANES: usize = 8;

const fn any(name: &'static str) -> Param {
    Param { name, arg_type: ArgType::Any }
}

const TWO: Signature = Signature::of(&[any("array1"), any("array2")]);
const NORM: Signature = Signature::with_optional(&[any("vector"), any("degree")], 1);

type Build = fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>;

const fn declare(
    name: &'static str,
    signature: Signature,
    build: Build,
    usage: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Array,
        signature,
        body: Body::Build(build),
        deterministic: true,
        text: None,
        documentation: Documentation { usage, examples, since: "4.2.0", ..Documentation::EMPTY },
    }
}

const fn kernel(name: &'static str, kernel: KernelFn) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Internal,
        signature: Signature::variadic(&[], ArgType::Any),
        body: Body::Scalar { returns: Returns::Type(DataType::Float), nullable: Nullability::Always, kernel },
        deterministic: true,
        text: None,
        documentation: Documentation::EMPTY,
    }
}

/// `vector_inner_product(array1, array2)`
pub static VECTOR_INNER_PRODUCT: Function = declare(
    "vector_inner_product",
    TWO,
    |c, a| build_two(&INNER_PRODUCT, c, &a),
    "The inner product of two vectors.",
    &[("SELECT vector_inner_product(array(1.0F, 2.0F, 3.0F), array(4.0F, 5.0F, 6.0F))", "32.0")],
);
/// `vector_l2_distance(array1, array2)`
pub static VECTOR_L2_DISTANCE: Function = declare(
    "vector_l2_distance",
    TWO,
    |c, a| build_two(&L2_DISTANCE, c, &a),
    "The Euclidean distance of two vectors.",
    &[("SELECT vector_l2_distance(array(1.0F, 2.0F, 3.0F), array(4.0F, 5.0F, 6.0F))", "5.196152")],
);
/// `vector_cosine_similarity(array1, array2)`
pub static VECTOR_COSINE_SIMILARITY: Function = declare(
    "vector_cosine_similarity",
    TWO,
    |c, a| build_two(&COSINE_SIMILARITY, c, &a),
    "The cosine of the angle between two vectors.",
    &[("SELECT vector_cosine_similarity(array(1.0F, 2.0F, 3.0F), array(4.0F, 5.0F, 6.0F))", "0.9746319")],
);
/// `vector_norm(vector[, degree])`
pub static VECTOR_NORM: Function = declare(
    "vector_norm",
    NORM,
    |c, a| build_norm(&NORM_OF, DataType::Float, c, a),
    "The length of a vector: of degree 1, 2 or infinite.",
    &[("SELECT vector_norm(array(3.0F, 4.0F), 2.0F)", "5.0")],
);
/// `vector_normalize(vector[, degree])`
pub static VECTOR_NORMALIZE: Function = declare(
    "vector_normalize",
    NORM,
    |c, a| build_norm(&NORMALIZED, DataType::array(DataType::Float, true), c, a),
    "The vector of the same direction and of length 1.",
    &[("SELECT vector_normalize(array(3.0F, 4.0F), 2.0F)", "[0.6,0.8]")],
);

static INNER_PRODUCT: Function = kernel("vector_inner_product", |args| {
    of_two(args, "vector_inner_product", |a, b| Some(sum(a.iter().zip(b).map(|(x, y)| x * y))))
});
static L2_DISTANCE: Function = kernel("vector_l2_distance", |args| {
    of_two(args, "vector_l2_distance", |a, b| Some(sum(a.iter().zip(b).map(|(x, y)| (x - y) * (x - y))).sqrt()))
});
static COSINE_SIMILARITY: Function = kernel("vector_cosine_similarity", |args| {
    of_two(args, "vector_cosine_similarity", |a, b| {
        let squares = |v: &[f32]| sum(v.iter().map(|x| x * x));
        let lengths = (squares(a) * squares(b)).sqrt();
        (lengths != 0.0).then(|| sum(a.iter().zip(b).map(|(x, y)| x * y)) / lengths)
    })
});
static NORM_OF: Function = kernel("vector_norm", norms);
static NORMALIZED: Function = kernel("vector_normalize", normalized);

/// The kernels, by their functions' names.
pub static KERNELS: &[&Function] = &[&INNER_PRODUCT, &L2_DISTANCE, &COSINE_SIMILARITY, &NORM_OF, &NORMALIZED];

fn build_two(
    function: &'static Function,
    context: &mut BuildContext<'_>,
    arguments: &[TypedExpr],
) -> Result<TypedExpr> {
    call(function, &[VECTOR, VECTOR], DataType::Float, context, arguments)
}

fn build_norm(
    function: &'static Function,
    returns: DataType,
    context: &mut BuildContext<'_>,
    mut arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    if arguments.len() < 2 {
        arguments.push(TypedExpr::new(lit(2.0f32), DataType::Float, false, "2.0"));
    }
    call(function, &[VECTOR, ArgType::Float], returns, context, &arguments)
}

/// A call whose arguments have these types already.
fn call(
    function: &'static Function,
    wanted: &[ArgType],
    returns: DataType,
    context: &BuildContext<'_>,
    arguments: &[TypedExpr],
) -> Result<TypedExpr> {
    let names: Vec<&str> = arguments.iter().map(|a| a.name.as_str()).collect();
    let text = format!("{}({})", function.name, names.join(", "));
    for (index, (argument, wanted)) in arguments.iter().zip(wanted).enumerate() {
        if !accepts(*wanted, &argument.data_type) {
            return Err(mismatch::unexpected_input(&text, index, *wanted, argument));
        }
    }
    let Body::Scalar { kernel, .. } = &function.body else {
        return Err(SparkError::internal(format!("{} has no kernel", function.name)));
    };
    let expr = crate::kernel::call(function, *kernel, arguments, &returns, true, context)?;
    Ok(TypedExpr::new(expr, returns, true, text))
}

/// A sum of floats, added up as the reference does: in runs, then one by one.
fn sum(values: impl Iterator<Item = f32>) -> f32 {
    let values: Vec<f32> = values.collect();
    let mut runs = values.chunks_exact(LANES);
    let mut total = 0.0;
    for run in &mut runs {
        total += run.iter().copied().reduce(|a, b| a + b).unwrap_or(0.0);
    }
    runs.remainder().iter().fold(total, |total, value| total + value)
}

/// A column of vectors.
struct Vectors {
    lists: ListArray,
    is_constant: bool,
}

impl Vectors {
    fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        let (array, is_constant) = array_or_constant(args, index)?;
        let lists = array.as_list_opt::<i32>().ok_or_else(|| internal("a vector is no array"))?;
        Ok(Self { lists: lists.clone(), is_constant })
    }

    /// The numbers of a row, and whether one is null; None for a null row.
    fn get(&self, row: usize) -> Option<(&[f32], bool)> {
        let row = if self.is_constant { 0 } else { row };
        if self.lists.is_null(row) {
            return None;
        }
        let offsets = self.lists.value_offsets();
        let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
        let values = self.lists.values().as_primitive::<Float32Type>();
        let has_null = values.nulls().is_some_and(|nulls| (start..end).any(|i| nulls.is_null(i)));
        Some((&values.values()[start..end], has_null))
    }
}

/// The error of vectors of different lengths.
pub(crate) fn dimension_mismatch(function: &str, left: usize, right: usize) -> SparkError {
    SparkError::new("VECTOR_DIMENSION_MISMATCH")
        .with("functionName", format!("`{function}`"))
        .with("leftDim", left.to_string())
        .with("rightDim", right.to_string())
}

fn of_two(args: &KernelArgs<'_>, name: &str, f: impl Fn(&[f32], &[f32]) -> Option<f32>) -> Result<ColumnarValue> {
    let (first, second) = (Vectors::of(args, 0)?, Vectors::of(args, 1)?);
    let mut results = Float32Builder::with_capacity(args.number_rows);
    for row in 0..row_count(args) {
        let (Some((a, a_null)), Some((b, b_null))) = (first.get(row), second.get(row)) else {
            results.append_null();
            continue;
        };
        if a.len() != b.len() {
            return Err(dimension_mismatch(name, a.len(), b.len()));
        }
        results.append_option(if a_null || b_null { None } else { f(a, b) });
    }
    finish(args, Arc::new(results.finish()))
}

/// The length of a vector.
fn norm(vector: &[f32], degree: f32, name: &str) -> Result<f32> {
    if degree == 1.0 {
        return Ok(sum(vector.iter().map(|x| x.abs())));
    }
    if degree == 2.0 {
        return Ok(sum(vector.iter().map(|x| x * x)).sqrt());
    }
    if degree == f32::INFINITY {
        return Ok(vector.iter().fold(0.0, |most, x| most.max(x.abs())));
    }
    let mut shown = String::new();
    number_text::write_float(&mut shown, degree);
    Err(SparkError::new("INVALID_VECTOR_NORM_DEGREE").with("functionName", format!("`{name}`")).with("degree", shown))
}

/// The vector and the degree of a row.
fn norm_rows(args: &KernelArgs<'_>, mut f: impl FnMut(Option<(&[f32], f32)>) -> Result<()>) -> Result<()> {
    let vectors = Vectors::of(args, 0)?;
    let (degrees, is_constant) = array_or_constant(args, 1)?;
    let degrees = degrees.as_primitive::<Float32Type>();
    for row in 0..row_count(args) {
        let at = if is_constant { 0 } else { row };
        match vectors.get(row) {
            Some((vector, false)) if degrees.is_valid(at) => f(Some((vector, degrees.value(at))))?,
            _ => f(None)?,
        }
    }
    Ok(())
}

fn norms(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let mut results = Float32Builder::with_capacity(args.number_rows);
    norm_rows(args, |row| {
        let result = row.map(|(vector, degree)| norm(vector, degree, "vector_norm")).transpose()?;
        results.append_option(result);
        Ok(())
    })?;
    finish(args, Arc::new(results.finish()))
}

fn normalized(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let mut values: Vec<f32> = Vec::new();
    let (mut lengths, mut valid) = (Vec::new(), Vec::new());
    norm_rows(args, |row| {
        let start = values.len();
        let length = match row {
            Some(([], degree)) => norm(&[], degree, "vector_normalize").map(|_| Some(1.0))?,
            Some((vector, degree)) => Some(norm(vector, degree, "vector_normalize")?).filter(|length| *length != 0.0),
            None => None,
        };
        if let (Some((vector, _)), Some(length)) = (row, length) {
            values.extend(vector.iter().map(|x| x / length));
        }
        lengths.push(values.len() - start);
        valid.push(length.is_some());
        Ok(())
    })?;
    let ArrowType::List(field) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(internal("vectors are arrays"));
    };
    let values: ArrayRef = Arc::new(arrow::array::Float32Array::from(values));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let list = ListArray::try_new(field, offsets, values, Some(NullBuffer::from(valid))).map_err(internal)?;
    finish(args, Arc::new(list))
}
