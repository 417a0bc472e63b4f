//! `transform`, `filter`, `exists` and `forall`: a lambda for each element.

use super::flat::Flat;
use super::higher_order::{Call, argument_text, call_text, inner, lambda_at, make, value_at, with_body};
use crate::coercion::{self, mismatch};
use crate::function::{BuildContext, Function, HigherOrder, LambdaArg, LambdaQuestion};
use crate::scalar::array::list::element_of;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{downcast, internal};
use crate::{ArgType, Body, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BooleanArray, ListArray};
use arrow::buffer::OffsetBuffer;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::sync::Arc;

const ARRAY_AND_LAMBDA: Signature = Signature::of(&[param("argument", ArgType::Any), param("function", ArgType::Any)]);

function! {
    /// `transform(array, x -> …)`, `transform(array, (x, i) -> …)`
    TRANSFORM = "transform" in Lambda, ARRAY_AND_LAMBDA
        => Body::HigherOrder(HigherOrder { lambda_parameters: element_and_position, build: build_transform });
    usage "What a lambda makes of each element, and of its position, counted from 0.";
    since "2.4.0";
    example "SELECT transform(array(1, 2, 3), x -> x + 1)" => "[2,3,4]";
    example "SELECT transform(array(1, 2, 3), (x, i) -> x + i)" => "[1,3,5]";
}
function! {
    /// `filter(array, x -> …)`, `filter(array, (x, i) -> …)`
    FILTER = "filter" in Lambda, ARRAY_AND_LAMBDA
        => Body::HigherOrder(HigherOrder { lambda_parameters: element_and_position, build: build_filter });
    usage "The elements for which a lambda is true.";
    since "2.4.0";
    example "SELECT filter(array(1, 2, 3), x -> x % 2 == 1)" => "[1,3]";
}
function! {
    /// `exists(array, x -> …)`
    EXISTS = "exists" in Lambda, ARRAY_AND_LAMBDA
        => Body::HigherOrder(HigherOrder { lambda_parameters: element_only, build: build_exists });
    usage "Whether a lambda is true for an element; NULL if it is for none and NULL for one.";
    since "2.4.0";
    example "SELECT exists(array(1, 2, 3), x -> x % 2 == 0)" => "true";
}
function! {
    /// `forall(array, x -> …)`
    FORALL = "forall" in Lambda, ARRAY_AND_LAMBDA
        => Body::HigherOrder(HigherOrder { lambda_parameters: element_only, build: build_forall });
    usage "Whether a lambda is true for all elements; NULL if it is false for none and NULL for one.";
    since "3.0.0";
    example "SELECT forall(array(1, 2, 3), x -> x % 2 == 0)" => "false";
}

/// The array that a lambda question is about.
pub fn array_in_question(question: &LambdaQuestion<'_>, function: &str, index: usize) -> Result<(DataType, bool)> {
    let Some(Some(value)) = question.values.get(index) else {
        return Err(SparkError::internal(format!("{function} takes an array")));
    };
    if !matches!(value.data_type, DataType::Array { .. }) {
        let texts: Vec<String> = question
            .values
            .iter()
            .map(|v| v.as_ref().map_or_else(|| "lambdafunction()".to_string(), |v| v.name.clone()))
            .collect();
        let call = format!("{function}({})", texts.join(", "));
        return Err(mismatch::unexpected_input(&call, index, ArgType::Array, value));
    }
    Ok(element_of(&value.data_type))
}

/// Fails where a lambda has another number of parameters.
pub fn check_count(question: &LambdaQuestion<'_>, wanted: usize) -> Result<()> {
    if question.parameter_count == wanted {
        return Ok(());
    }
    Err(SparkError::new("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH")
        .with("expectedNumArgs", question.parameter_count.to_string())
        .with("actualNumArgs", wanted.to_string()))
}

fn element_and_position(question: &LambdaQuestion<'_>) -> Result<Vec<(DataType, bool)>> {
    let element = array_in_question(question, "transform", 0)?;
    if question.parameter_count == 2 {
        return Ok(vec![element, (DataType::Integer, false)]);
    }
    check_count(question, 1)?;
    Ok(vec![element])
}

fn element_only(question: &LambdaQuestion<'_>) -> Result<Vec<(DataType, bool)>> {
    check_count(question, 1)?;
    Ok(vec![array_in_question(question, "exists", 0)?])
}

/// The array and the lambda of a call, checked.
fn parts(function: &Function, arguments: &[LambdaArg]) -> Result<(TypedExpr, Vec<String>, TypedExpr)> {
    let array = value_at(arguments, 0)?;
    if !matches!(array.data_type, DataType::Array { .. }) {
        return Err(mismatch::unexpected_input(&call_text(function, arguments), 0, ArgType::Array, &array));
    }
    let (parameters, body) = lambda_at(arguments, 1)?;
    Ok((array, parameters, body))
}

fn parameter_types(array: &TypedExpr) -> Vec<Vec<(DataType, bool)>> {
    vec![vec![element_of(&array.data_type), (DataType::Integer, false)]]
}

fn build_transform(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let (array, parameters, body) = parts(&TRANSFORM, &arguments)?;
    let result = (DataType::array(body.data_type.clone(), body.nullable), array.nullable);
    let types = parameter_types(&array);
    let arguments = [LambdaArg::Value(array), with_body(parameters, body)];
    Ok(make(&TRANSFORM, transform, &arguments, types, result, context, None))
}

/// A lambda's body as a boolean, or Spark's error.
pub fn predicate(
    function: &Function,
    arguments: &[LambdaArg],
    index: usize,
    context: &mut BuildContext<'_>,
) -> Result<(Vec<String>, TypedExpr)> {
    let (parameters, body) = lambda_at(arguments, index)?;
    if body.data_type != DataType::Boolean && !body.data_type.is_null() {
        let shown = body.clone().named(argument_text(arguments, index));
        return Err(mismatch::unexpected_input(&call_text(function, arguments), index, ArgType::Boolean, &shown));
    }
    Ok((parameters, coercion::implicitly(body, &DataType::Boolean, context)?))
}

fn build_filter(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let (array, ..) = parts(&FILTER, &arguments)?;
    let (parameters, body) = predicate(&FILTER, &arguments, 1, context)?;
    let result = (array.data_type.clone(), array.nullable);
    let types = parameter_types(&array);
    let arguments = [LambdaArg::Value(array), with_body(parameters, body)];
    Ok(make(&FILTER, filter, &arguments, types, result, context, None))
}

fn build_exists(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    build_quantifier(&EXISTS, exists, context, arguments)
}

fn build_forall(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    build_quantifier(&FORALL, forall, context, arguments)
}

fn build_quantifier(
    function: &Function,
    evaluate: super::higher_order::Evaluate,
    context: &mut BuildContext<'_>,
    arguments: Vec<LambdaArg>,
) -> Result<TypedExpr> {
    let (array, ..) = parts(function, &arguments)?;
    let (parameters, body) = predicate(function, &arguments, 1, context)?;
    let result = (DataType::Boolean, array.nullable || body.nullable);
    let types = parameter_types(&array);
    let arguments = [LambdaArg::Value(array), with_body(parameters, body)];
    Ok(make(function, evaluate, &arguments, types, result, context, None))
}

fn results(call: &Call<'_>) -> Result<(Flat, ArrayRef)> {
    let flat = Flat::of_arrays(&call.value(0)?)?;
    let results = call.lambda(1, &[flat.values().clone(), flat.positions()], &flat.rows)?;
    Ok((flat, results))
}

pub(super) fn transform(call: &Call<'_>) -> Result<ArrayRef> {
    let (flat, results) = results(call)?;
    flat.with_values(call, results)
}

pub(super) fn filter(call: &Call<'_>) -> Result<ArrayRef> {
    let (flat, results) = results(call)?;
    let keep = downcast::<BooleanArray>(&results)?;
    let values = arrow::compute::filter(flat.values(), keep).map_err(internal)?;
    let mut offsets = Vec::with_capacity(flat.len() + 1);
    offsets.push(0_i32);
    let mut count = 0_i32;
    for row in 0..flat.len() {
        count += flat.span(row).filter(|at| keep.is_valid(*at) && keep.value(*at)).count() as i32;
        offsets.push(count);
    }
    let field = inner(&arrow_mapping::to_arrow(call.return_type()))?;
    let made = ListArray::try_new(field, OffsetBuffer::new(offsets.into()), values, flat.nulls.clone());
    Ok(Arc::new(made.map_err(internal)?))
}

pub(super) fn exists(call: &Call<'_>) -> Result<ArrayRef> {
    quantify(call, true)
}

pub(super) fn forall(call: &Call<'_>) -> Result<ArrayRef> {
    quantify(call, false)
}

/// Whether `wanted` is among a row's answers: exists looks for true, forall for false.
fn quantify(call: &Call<'_>, wanted: bool) -> Result<ArrayRef> {
    let (flat, results) = results(call)?;
    let answers = downcast::<BooleanArray>(&results)?;
    let made: BooleanArray = (0..flat.len())
        .map(|row| {
            if flat.is_null(row) {
                return None;
            }
            let mut has_null = false;
            for at in flat.span(row) {
                if answers.is_null(at) {
                    has_null = true;
                } else if answers.value(at) == wanted {
                    return Some(wanted);
                }
            }
            if has_null { None } else { Some(!wanted) }
        })
        .collect();
    Ok(Arc::new(made))
}
