//! `aggregate`: a lambda folds the elements, another finishes.

use super::flat::Flat;
use super::higher_order::{Call, argument_text, call_text, lambda_at, make, value_at, with_body};
use super::transform::{array_in_question, check_count};
use crate::coercion::{self, mismatch};
use crate::function::{BuildContext, Function, HigherOrder, LambdaArg, LambdaQuestion};
use crate::scalar::array::list::element_of;
use crate::scalar::array::typing::unexpected;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::internal;
use crate::{ArgType, Body, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, UInt64Array, new_null_array};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};

const FOLD: Signature = Signature::with_optional(
    &[
        param("argument", ArgType::Any),
        param("zero", ArgType::Any),
        param("merge", ArgType::Any),
        param("finish", ArgType::Any),
    ],
    1,
);

function! {
    /// `aggregate(array, start, (a, x) -> …[, a -> …])`
    AGGREGATE = "aggregate" in Lambda, FOLD
        => Body::HigherOrder(HigherOrder { lambda_parameters: parameters, build: |c, a| build(&AGGREGATE, c, a) });
    text |a| text("aggregate", a);
    usage "Folds the elements into a start value by a lambda; another lambda makes the result of it.";
    since "2.4.0";
    example "SELECT aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x)" => "6";
    example "SELECT aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x, acc -> acc * 10)" => "60";
}
function! {
    /// `reduce(array, start, (a, x) -> …[, a -> …])`
    REDUCE = "reduce" in Lambda, FOLD
        => Body::HigherOrder(HigherOrder { lambda_parameters: parameters, build: |c, a| build(&REDUCE, c, a) });
    text |a| text("reduce", a);
    usage "Folds the elements into a start value by a lambda; another lambda makes the result of it.";
    since "3.4.0";
    example "SELECT reduce(array(1, 2, 3), 0, (acc, x) -> acc + x)" => "6";
}

fn text(name: &str, arguments: &[String]) -> String {
    let finish =
        if arguments.len() == 3 { ", lambdafunction(namedlambdavariable(), namedlambdavariable())" } else { "" };
    format!("{name}({}{finish})", arguments.join(", "))
}

fn parameters(question: &LambdaQuestion<'_>) -> Result<Vec<(DataType, bool)>> {
    let element = array_in_question(question, "aggregate", 0)?;
    let Some(Some(zero)) = question.values.get(1) else {
        return Err(SparkError::internal("aggregate takes a start value"));
    };
    let accumulator = (zero.data_type.clone(), true);
    if question.position == 2 {
        check_count(question, 2)?;
        return Ok(vec![accumulator, element]);
    }
    check_count(question, 1)?;
    Ok(vec![accumulator])
}

fn build(function: &Function, context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let (array, zero) = (value_at(&arguments, 0)?, value_at(&arguments, 1)?);
    if !matches!(array.data_type, DataType::Array { .. }) {
        return Err(mismatch::unexpected_input(&call_text(function, &arguments), 0, ArgType::Array, &array));
    }
    let (merge_parameters, merge) = lambda_at(&arguments, 2)?;
    let merge = if merge.data_type.is_null() {
        coercion::implicitly(merge, &zero.data_type, context)?
    } else if merge.data_type.same_type(&zero.data_type) {
        merge
    } else {
        let shown = merge.clone().named(argument_text(&arguments, 2));
        let required = mismatch::quoted_type(&zero.data_type);
        return Err(unexpected(&call_text(function, &arguments), 2, required, &shown));
    };
    let accumulator = (zero.data_type.clone(), true);
    let mut types = vec![vec![accumulator.clone(), element_of(&array.data_type)]];
    let mut result = zero.data_type.clone();
    let mut made = vec![LambdaArg::Value(array), LambdaArg::Value(zero), with_body(merge_parameters, merge)];
    if arguments.len() > 3 {
        let (finish_parameters, finish) = lambda_at(&arguments, 3)?;
        result = finish.data_type.clone();
        types.push(vec![accumulator]);
        made.push(with_body(finish_parameters, finish));
    }
    Ok(make(function, evaluate, &made, types, (result, true), context, None))
}

pub(super) fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let flat = Flat::of_arrays(&call.value(0)?)?;
    let start = call.value(1)?;
    // The longest first, so that the rows that still go on are always the first ones.
    let mut order: Vec<usize> = (0..flat.len()).filter(|row| !flat.is_null(*row)).collect();
    order.sort_by_key(|row| std::cmp::Reverse(flat.span(*row).len()));
    let rows = UInt64Array::from(order.iter().map(|row| *row as u64).collect::<Vec<_>>());
    let mut accumulators = arrow::compute::take(&start, &rows, None).map_err(internal)?;
    let mut finished: Vec<ArrayRef> = Vec::new();
    let mut position = 0;
    loop {
        let active = order.partition_point(|row| flat.span(*row).len() > position);
        if active < accumulators.len() {
            finished.push(accumulators.slice(active, accumulators.len() - active));
            accumulators = accumulators.slice(0, active);
        }
        if active == 0 {
            break;
        }
        let at: Vec<u64> = order[..active].iter().map(|row| (flat.span(*row).start + position) as u64).collect();
        let elements = arrow::compute::take(flat.values(), &UInt64Array::from(at), None).map_err(internal)?;
        accumulators = call.lambda(2, &[accumulators, elements], &rows.slice(0, active))?;
        position += 1;
    }
    // The shortest were finished first.
    finished.reverse();
    let pieces: Vec<&dyn Array> = finished.iter().map(|f| f.as_ref()).collect();
    let folded =
        if pieces.is_empty() { start.slice(0, 0) } else { arrow::compute::concat(&pieces).map_err(internal)? };
    let results = if call.has(3) { call.lambda(3, &[folded], &rows)? } else { folded };
    let mut places: Vec<Option<u64>> = vec![None; flat.len()];
    for (place, row) in order.iter().enumerate() {
        places[*row] = Some(place as u64);
    }
    if results.is_empty() {
        return Ok(new_null_array(&arrow_mapping::to_arrow(call.return_type()), flat.len()));
    }
    arrow::compute::take(&results, &UInt64Array::from(places), None).map_err(internal)
}
