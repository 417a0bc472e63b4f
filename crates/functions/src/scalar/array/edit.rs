//! Elements put into arrays and taken out of them.

use super::list::{Column, Lists, Picker, element_of, element_type};
use super::typing::{call_text, require_array, with_element};
use crate::coercion::{self, mismatch};
use crate::kernel::{call_with_payload, kernel};
use crate::scalar::predicate::equality::order;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Integers, Rows, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::Array;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::cmp::Ordering;
use std::sync::Arc;

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("array_insert", insert)];

const ARRAY_AND_VALUE: Signature = Signature::of(&[param("array", ArgType::Any), param("element", ArgType::Any)]);

function! {
    /// `array_append(array, value)`
    ARRAY_APPEND = "array_append" in Array, ARRAY_AND_VALUE => Body::Build(|c, a| add(&ARRAY_APPEND, append, c, a));
    usage "The array with a value after its last element.";
    since "3.4.0";
    example "SELECT array_append(array('b', 'd', 'c', 'a'), 'd')" => "[\"b\",\"d\",\"c\",\"a\",\"d\"]";
}
function! {
    /// `array_prepend(array, value)`
    ARRAY_PREPEND = "array_prepend" in Array, ARRAY_AND_VALUE => Body::Build(|c, a| add(&ARRAY_PREPEND, prepend, c, a));
    usage "The array with a value before its first element.";
    since "3.5.0";
    example "SELECT array_prepend(array('b', 'd', 'c', 'a'), 'd')" => "[\"d\",\"b\",\"d\",\"c\",\"a\"]";
}
function! {
    /// `array_insert(array, position, value)`
    ARRAY_INSERT = "array_insert" in Array,
        Signature::of(&[param("x", ArgType::Any), param("pos", ArgType::Any), param("val", ArgType::Any)])
        => Body::Build(build_insert);
    usage "The array with a value at a position, counted from 1 or, if negative, from the end; the space between is filled with NULLs.";
    since "3.4.0";
    example "SELECT array_insert(array(1, 2, 3, 4), 5, 5)" => "[1,2,3,4,5]";
    example "SELECT array_insert(array(5, 3, 2, 1), -4, 4)" => "[5,4,3,2,1]";
}
function! {
    /// `array_compact(array)`
    ARRAY_COMPACT = "array_compact" in Array, Signature::of(&[param("array", ArgType::Array)]) => Body::Build(build_compact);
    usage "The array without its NULLs.";
    since "3.4.0";
    example "SELECT array_compact(array(1, 2, 3, null))" => "[1,2,3]";
}
function! {
    /// `array_remove(array, value)`
    ARRAY_REMOVE = "array_remove" in Array, ARRAY_AND_VALUE => Body::Build(build_remove);
    usage "The array without the elements that equal a value.";
    since "2.4.0";
    example "SELECT array_remove(array(1, 2, 3, null, 3), 3)" => "[1,2,null]";
}

fn add(
    function: &Function,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    mut arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    require_array(&arguments, 0, function.name)?;
    with_element(&mut arguments, 1, function.name, context)?;
    let data_type = DataType::array(element_of(&arguments[0].data_type).0, true);
    let nullable = arguments[0].nullable;
    let expr = crate::kernel::call(function, kernel, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn append(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    extended(args, false)
}

fn prepend(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    extended(args, true)
}

fn extended(args: &KernelArgs<'_>, is_first: bool) -> Result<ColumnarValue> {
    let (lists, value) = (Lists::of(args, 0)?, Column::of(args, 1)?);
    let mut out = Picker::new(args, vec![lists.values().clone(), value.array.clone()])?;
    for row in 0..row_count(args) {
        let Some(span) = lists.span(row) else {
            out.end_null()?;
            continue;
        };
        if is_first {
            out.push(1, value.at(row));
        }
        out.extend(0, span);
        if !is_first {
            out.push(1, value.at(row));
        }
        out.end()?;
    }
    finish(args, out.finish()?)
}

fn build_insert(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let whole = matches!(arguments[1].data_type, DataType::Byte | DataType::Short | DataType::Integer);
    if matches!(arguments[0].data_type, DataType::Array { .. }) && !whole {
        let call = call_text("array_insert", &arguments);
        return Err(mismatch::unexpected_input(&call, 1, ArgType::Integer, &arguments[1]));
    }
    with_element(&mut arguments, 2, "array_insert", context)?;
    arguments[1] = coercion::implicitly(arguments[1].clone(), &DataType::Integer, context)?;
    let data_type = DataType::array(element_of(&arguments[0].data_type).0, true);
    let nullable = arguments[0].nullable || arguments[1].nullable;
    let payload = context.conf.negative_index_in_insert.then(|| Arc::from("legacy"));
    let expr = call_with_payload(&ARRAY_INSERT, insert, &arguments, &data_type, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn insert(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (lists, value) = (Lists::of(args, 0)?, Column::of(args, 2)?);
    let positions: Integers = Rows::of(args, 1)?;
    let mut out = Picker::new(args, vec![lists.values().clone(), value.array.clone()])?;
    // Positions from the end once meant the place before that element, not after it.
    let shift = i64::from(args.settings.payload.is_some());
    for row in 0..row_count(args) {
        let (Some(span), Some(position)) = (lists.span(row), positions.get(row)) else {
            out.end_null()?;
            continue;
        };
        if position == 0 {
            return Err(SparkError::new("INVALID_INDEX_OF_ZERO"));
        }
        let (wanted, length) = (i64::from(position), span.len() as i64);
        let most = super::list::MOST_ELEMENTS;
        if wanted.abs() > most {
            return Err(SparkError::new("COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION")
                .with("numberOfElements", wanted.abs().to_string())
                .with("maxRoundedArrayLength", most.to_string())
                .with("functionName", "`array_insert`"));
        }
        out.reserve(usize::try_from(wanted.abs()).unwrap_or(0))?;
        if wanted < 0 && -wanted > length {
            // Before the first element: NULLs up to it.
            out.push(1, value.at(row));
            for _ in 0..(-wanted - 1 - length + shift) {
                out.push_null();
            }
            out.extend(0, span);
        } else {
            let before = if wanted > 0 { wanted - 1 } else { length + 1 + wanted - shift };
            let split = span.start + before.min(length) as usize;
            out.extend(0, span.start..split);
            for _ in length..before {
                out.push_null();
            }
            out.push(1, value.at(row));
            out.extend(0, split..span.end);
        }
        out.end()?;
    }
    finish(args, out.finish()?)
}

fn build_compact(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    require_array(&arguments, 0, "array_compact")?;
    let data_type = DataType::array(element_of(&arguments[0].data_type).0, false);
    let nullable = arguments[0].nullable;
    let expr = crate::kernel::call(&ARRAY_COMPACT, compact, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn compact(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let values = lists.values().clone();
    let nulls = values.logical_nulls();
    let mut out = Picker::new(args, vec![values])?;
    for row in 0..row_count(args) {
        match lists.span(row) {
            Some(span) => {
                out.extend(0, span.filter(|at| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*at))));
                out.end()?;
            }
            None => out.end_null()?,
        }
    }
    finish(args, out.finish()?)
}

fn build_remove(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    with_element(&mut arguments, 1, "array_remove", context)?;
    super::typing::require_order(&arguments, "array_remove")?;
    let data_type = arguments[0].data_type.clone();
    let nullable = arguments[0].nullable || arguments[1].nullable;
    let expr = crate::kernel::call(&ARRAY_REMOVE, remove, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn remove(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (lists, value) = (Lists::of(args, 0)?, Column::of(args, 1)?);
    let values = lists.values().clone();
    let order = order(&values, &value.array, &element_type(args, 0))?;
    let mut out = Picker::new(args, vec![values.clone()])?;
    for row in 0..row_count(args) {
        match lists.span(row) {
            Some(span) if !value.is_null(row) => {
                let wanted = value.at(row);
                out.extend(0, span.filter(|at| values.is_null(*at) || order(*at, wanted) != Ordering::Equal));
                out.end()?;
            }
            _ => out.end_null()?,
        }
    }
    finish(args, out.finish()?)
}
