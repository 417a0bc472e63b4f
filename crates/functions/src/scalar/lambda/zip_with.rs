//! `zip_with`: a lambda for each pair of elements.

use super::flat::Flat;
use super::higher_order::{Call, call_text, inner, lambda_at, make, value_at, with_body};
use super::transform::{array_in_question, check_count};
use crate::coercion::mismatch;
use crate::function::{BuildContext, HigherOrder, LambdaArg, LambdaQuestion};
use crate::scalar::array::list::element_of;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::internal;
use crate::{ArgType, Body, Signature, TypedExpr};
use arrow::array::{ArrayRef, ListArray, UInt64Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use firesteel_error::Result;
use firesteel_types::{DataType, arrow_mapping};
use std::sync::Arc;

function! {
    /// `zip_with(left, right, (x, y) -> …)`
    ZIP_WITH = "zip_with" in Lambda,
        Signature::of(&[param("left", ArgType::Any), param("right", ArgType::Any), param("func", ArgType::Any)])
        => Body::HigherOrder(HigherOrder { lambda_parameters: parameters, build });
    usage "What a lambda makes of the elements of two arrays at each position; the shorter one is filled up with NULLs.";
    since "2.4.0";
    example "SELECT zip_with(array(1, 2), array(3, 4), (x, y) -> x + y)" => "[4,6]";
}

fn parameters(question: &LambdaQuestion<'_>) -> Result<Vec<(DataType, bool)>> {
    check_count(question, 2)?;
    let (left, _) = array_in_question(question, "zip_with", 0)?;
    let (right, _) = array_in_question(question, "zip_with", 1)?;
    Ok(vec![(left, true), (right, true)])
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let (left, right) = (value_at(&arguments, 0)?, value_at(&arguments, 1)?);
    for (index, side) in [&left, &right].into_iter().enumerate() {
        if !matches!(side.data_type, DataType::Array { .. }) {
            return Err(mismatch::unexpected_input(&call_text(&ZIP_WITH, &arguments), index, ArgType::Array, side));
        }
    }
    let (names, body) = lambda_at(&arguments, 2)?;
    let types = vec![vec![(element_of(&left.data_type).0, true), (element_of(&right.data_type).0, true)]];
    let result = (DataType::array(body.data_type.clone(), body.nullable), left.nullable || right.nullable);
    let arguments = [LambdaArg::Value(left), LambdaArg::Value(right), with_body(names, body)];
    Ok(make(&ZIP_WITH, evaluate, &arguments, types, result, context, None))
}

pub(super) fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let (left, right) = (Flat::of_arrays(&call.value(0)?)?, Flat::of_arrays(&call.value(1)?)?);
    let count = left.len();
    let (mut lefts, mut rights, mut rows): (Vec<Option<u64>>, Vec<Option<u64>>, Vec<u64>) = Default::default();
    let mut offsets = Vec::with_capacity(count + 1);
    offsets.push(0_i32);
    let mut valid = Vec::with_capacity(count);
    for row in 0..count {
        let is_valid = !left.is_null(row) && !right.is_null(row);
        valid.push(is_valid);
        if is_valid {
            let (l, r) = (left.span(row), right.span(row));
            for position in 0..l.len().max(r.len()) {
                lefts.push((position < l.len()).then_some((l.start + position) as u64));
                rights.push((position < r.len()).then_some((r.start + position) as u64));
                rows.push(row as u64);
            }
        }
        offsets.push(i32::try_from(rows.len()).map_err(internal)?);
    }
    let lefts = arrow::compute::take(left.values(), &UInt64Array::from(lefts), None).map_err(internal)?;
    let rights = arrow::compute::take(right.values(), &UInt64Array::from(rights), None).map_err(internal)?;
    let values = call.lambda(2, &[lefts, rights], &UInt64Array::from(rows))?;
    let field = inner(&arrow_mapping::to_arrow(call.return_type()))?;
    let nulls = Some(NullBuffer::from(valid));
    let made = ListArray::try_new(field, OffsetBuffer::new(offsets.into()), values, nulls).map_err(internal)?;
    Ok(Arc::new(made))
}
