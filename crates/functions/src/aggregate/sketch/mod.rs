//! Sketches: small summaries of many values, in the bytes of Apache DataSketches and of Spark.
//!
//! A family has its aggregates and the functions over its sketches in one file.

mod count_min;
mod frequent;
mod hll;
mod hll_sketch;
mod keys;
mod kll;
mod kll_text;
mod murmur;
mod theta;
mod top_k;
mod top_k_items;
mod tuple;
mod tuple_scalar;
mod tuple_summary;

use super::udaf::Kernel;
use crate::coercion::{coerce_argument, implicitly, mismatch};
use crate::{
    ArgType, Body, BuildContext, Documentation, Function, Group, KernelFn, Nullability, Param, Returns, Signature,
    TypedExpr,
};
use arrow::array::{ArrayRef, BinaryArray};
use datafusion::logical_expr::lit;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

/// The families' lists.
pub fn families() -> Vec<&'static [&'static Function]> {
    vec![
        count_min::FUNCTIONS,
        hll::FUNCTIONS,
        kll::FUNCTIONS,
        theta::FUNCTIONS,
        top_k::FUNCTIONS,
        tuple::FUNCTIONS,
        tuple_scalar::FUNCTIONS,
    ]
}

/// The kernels of the aggregates.
pub static AGGREGATES: &[&[&Kernel]] =
    &[count_min::AGGREGATES, hll::AGGREGATES, kll::AGGREGATES, theta::AGGREGATES, top_k::AGGREGATES, tuple::AGGREGATES];

/// The kernels of the functions over sketches, by their functions' names.
pub static KERNELS: &[&[&Function]] =
    &[hll::KERNELS, kll::KERNELS, theta::KERNELS, top_k::KERNELS, tuple_scalar::KERNELS];

type Build = fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>;

/// Declares a function over sketches.
const fn scalar(name: &'static str, signature: Signature, build: Build, usage: &'static str) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Sketch,
        signature,
        body: Body::Named(build),
        deterministic: true,
        text: None,
        documentation: Documentation { usage, ..Documentation::EMPTY },
    }
}

/// Declares the kernel of a function.
const fn kernel(name: &'static str, kernel: KernelFn) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Internal,
        signature: Signature::variadic(&[], ArgType::Any),
        body: Body::Scalar { returns: Returns::Type(DataType::Null), nullable: Nullability::Always, kernel },
        deterministic: true,
        text: None,
        documentation: Documentation::EMPTY,
    }
}

const fn any(name: &'static str) -> Param {
    Param { name, arg_type: ArgType::Any }
}

/// The value of an argument that is left out.
#[derive(Debug, Clone, Copy)]
enum Missing {
    Integer(i32),
    Boolean(bool),
    Text(&'static str),
}

/// Adds the values of the arguments that are left out; `defaults` belong to the last parameters.
fn complete(arguments: &mut Vec<TypedExpr>, parameters: usize, defaults: &[Missing]) {
    let first = parameters - defaults.len();
    while let Some(missing) = arguments.len().checked_sub(first).and_then(|i| defaults.get(i)) {
        arguments.push(match missing {
            Missing::Integer(v) => TypedExpr::new(lit(*v), DataType::Integer, false, v.to_string()),
            Missing::Boolean(v) => TypedExpr::new(lit(*v), DataType::Boolean, false, v.to_string()),
            Missing::Text(v) => TypedExpr::new(lit(*v), DataType::STRING, false, *v),
        });
    }
}

/// The text of a call.
fn text_of(name: &str, arguments: &[TypedExpr]) -> String {
    let names: Vec<&str> = arguments.iter().map(|a| a.name.as_str()).collect();
    format!("{name}({})", names.join(", "))
}

/// An argument that must be of one of these types already; NULL becomes the first of them.
fn exactly(
    argument: &TypedExpr,
    wanted: ArgType,
    index: usize,
    text: &str,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    if crate::coercion::accepts(wanted, &argument.data_type) {
        return Ok(argument.clone());
    }
    if argument.data_type.is_null() {
        return coerce_argument(argument.clone(), wanted, index, text, context);
    }
    Err(mismatch::unexpected_input(text, index, wanted, argument))
}

/// A call of a kernel over sketches: the first `sketches` arguments are binaries, the others are cast to `rest`.
fn call_kernel(
    function: &'static Function,
    context: &mut BuildContext<'_>,
    arguments: &[TypedExpr],
    sketches: usize,
    rest: &[DataType],
    returns: DataType,
) -> Result<TypedExpr> {
    let text = text_of(function.name, arguments);
    let Body::Scalar { kernel, .. } = &function.body else {
        return Err(SparkError::internal(format!("{} has no kernel", function.name)));
    };
    let mut typed = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.iter().enumerate() {
        typed.push(match rest.get(index.wrapping_sub(sketches)) {
            Some(wanted) if index >= sketches => implicitly(argument.clone(), wanted, context)?,
            _ => exactly(argument, ArgType::Binary, index, &text, context)?,
        });
    }
    let nullable = typed.iter().any(|a| a.nullable);
    let expr = crate::kernel::call(function, *kernel, &typed, &returns, nullable, context)?;
    Ok(TypedExpr::new(expr, returns, nullable, text))
}

/// An error of the arguments that is found where the call is analysed.
fn type_check(text: &str, message: impl Into<String>) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT")
        .with("sqlExpr", mismatch::quoted(text))
        .with("msg", message)
        .with("hint", "")
}

/// The error of a size of theta and tuple sketches that is out of range.
fn invalid_nominal_entries(function: &str, value: i64) -> SparkError {
    SparkError::new("SKETCH_INVALID_LG_NOM_ENTRIES")
        .with("function", format!("`{function}`"))
        .with("min", "4")
        .with("max", "26")
        .with("value", value.to_string())
}

/// The logarithms of sizes that theta and tuple sketches may have.
const NOMINAL_ENTRIES: std::ops::RangeInclusive<i64> = 4..=26;

/// Fails for the one size that the sketches' crate does not have.
fn check_least_size(size: i64) -> Result<()> {
    if size > *NOMINAL_ENTRIES.start() {
        return Ok(());
    }
    Err(SparkError::unsupported("theta and tuple sketches with an lgNomEntries of 4"))
}

/// An error of a name that says which function got bytes that are no sketch.
fn invalid_buffer(condition: &'static str, function: &str) -> SparkError {
    SparkError::new(condition).with("function", format!("`{function}`"))
}

/// Sketches of groups as a column.
fn binaries(values: impl Iterator<Item = Option<Vec<u8>>>) -> ArrayRef {
    Arc::new(values.collect::<BinaryArray>())
}
