//! Arrays sorted, shuffled and cut.

use super::list::{Lists, Picker, element_type};
use super::typing::{call_text, require_array};
use crate::coercion::mismatch;
use crate::kernel::kernel;
use crate::scalar::array::list::element_of;
use crate::scalar::predicate::equality::order;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::random::Twister;
use crate::scalar::string::rows::{Booleans, Integers, Rows, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::Array;
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use parking_lot::Mutex;
use std::hash::{BuildHasher, Hasher, RandomState};

function! {
    /// `sort_array(array[, ascending])`
    SORT_ARRAY = "sort_array" in Array,
        Signature::with_optional(&[param("array", ArgType::Array), param("ascendingOrder", ArgType::Any)], 1)
        => Body::Build(build_sort);
    text |a| if a.len() == 1 { format!("sort_array({}, true)", a[0]) } else { format!("sort_array({})", a.join(", ")) };
    usage "The elements in order, NULLs first; or in descending order, NULLs last.";
    since "1.5.0";
    example "SELECT sort_array(array('b', 'd', null, 'c', 'a'), true)" => "[null,\"a\",\"b\",\"c\",\"d\"]";
}
function! {
    /// `slice(array, start, length)`
    SLICE = "slice" in Array,
        Signature::of(&[param("x", ArgType::Array), param("start", ArgType::Integer), param("length", ArgType::Integer)])
        => Body::Build(build_slice);
    usage "So many elements from a position on, counted from 1 or, if negative, from the end.";
    since "2.4.0";
    example "SELECT slice(array(1, 2, 3, 4), 2, 2)" => "[2,3]";
    example "SELECT slice(array(1, 2, 3, 4), -2, 2)" => "[3,4]";
}
function! {
    /// `shuffle(array[, seed])`
    SHUFFLE = "shuffle" in Array,
        Signature::with_optional(&[param("array", ArgType::Array), param("seed", ArgType::Long)], 1)
        => Body::Build(build_shuffle);
    text |a| format!("shuffle({})", a[0]);
    volatile true;
    usage "The elements in an order of chance.";
    since "2.4.0";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("sort_array", sort), &kernel("shuffle", shuffle)];

fn build_sort(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if arguments.len() == 1 {
        arguments.push(TypedExpr::new(lit(true), DataType::Boolean, false, "true"));
    }
    require_array(&arguments, 0, "sort_array")?;
    let call = call_text("sort_array", &arguments);
    let (element, _) = element_of(&arguments[0].data_type);
    if !element.is_orderable() {
        return Err(mismatch::no_ordering(&call, "sort_array", &arguments[0].data_type));
    }
    if !matches!(arguments[1].data_type, DataType::Boolean | DataType::Null) {
        return Err(mismatch::unexpected_input(&call, 1, ArgType::Boolean, &arguments[1]));
    }
    if !arguments[1].is_foldable() {
        return Err(mismatch::not_foldable(&call, "ascendingOrder", ArgType::Boolean, &arguments[1]));
    }
    arguments[1] = crate::coercion::implicitly(arguments[1].clone(), &DataType::Boolean, context)?;
    let data_type = arguments[0].data_type.clone();
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call(&SORT_ARRAY, sort, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn sort(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let ascending: Booleans = Rows::of(args, 1)?;
    let values = lists.values().clone();
    let order = order(&values, &values, &element_type(args, 0))?;
    let mut out = Picker::new(args, vec![values.clone()])?;
    for row in 0..row_count(args) {
        let (Some(span), Some(ascending)) = (lists.span(row), ascending.get(row)) else {
            out.end_null()?;
            continue;
        };
        let mut positions: Vec<usize> = span.collect();
        positions.sort_by(|a, b| {
            let compared = match (values.is_null(*a), values.is_null(*b)) {
                (false, false) => order(*a, *b),
                (a, b) => b.cmp(&a),
            };
            if ascending { compared } else { compared.reverse() }
        });
        out.extend(0, positions.into_iter());
        out.end()?;
    }
    finish(args, out.finish()?)
}

fn build_slice(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let data_type = arguments.first().map_or(DataType::Null, |a| a.data_type.clone());
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call(&SLICE, slice, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn slice(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let (starts, lengths): (Integers, Integers) = (Rows::of(args, 1)?, Rows::of(args, 2)?);
    let mut out = Picker::new(args, vec![lists.values().clone()])?;
    for row in 0..row_count(args) {
        let (Some(span), Some(start), Some(length)) = (lists.span(row), starts.get(row), lengths.get(row)) else {
            out.end_null()?;
            continue;
        };
        if start == 0 {
            return Err(SparkError::new("INVALID_PARAMETER_VALUE.START")
                .with("parameter", "`start`")
                .with("functionName", "`slice`"));
        }
        let Ok(length) = usize::try_from(length) else {
            return Err(SparkError::new("INVALID_PARAMETER_VALUE.LENGTH")
                .with("parameter", "`length`")
                .with("length", length.to_string())
                .with("functionName", "`slice`"));
        };
        let before = if start > 0 { i64::from(start) - 1 } else { span.len() as i64 + i64::from(start) };
        match usize::try_from(before) {
            Ok(before) if before < span.len() => {
                let from = span.start + before;
                out.extend(0, from..from.saturating_add(length).min(span.end));
            }
            _ => {}
        }
        out.end()?;
    }
    finish(args, out.finish()?)
}

fn build_shuffle(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let array = arguments.first().cloned().ok_or_else(|| SparkError::internal("shuffle takes an array"))?;
    let (data_type, nullable) = (array.data_type.clone(), array.nullable);
    let expr = crate::kernel::call(&SHUFFLE, shuffle, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn shuffle(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let twister = args.prepared(|| {
        let seed = match args.values.get(1) {
            Some(_) => {
                let seeds: crate::scalar::string::rows::Longs = Rows::of(args, 1)?;
                seeds.get(0).unwrap_or_default()
            }
            None => RandomState::new().build_hasher().finish() as i64,
        };
        // Every partition has an order of chance of its own.
        Ok(Mutex::new(Twister::new(seed.wrapping_add(i64::from(args.partition)))))
    })?;
    let mut twister = twister.lock();
    let mut out = Picker::new(args, vec![lists.values().clone()])?;
    for row in 0..row_count(args) {
        let Some(span) = lists.span(row) else {
            out.end_null()?;
            continue;
        };
        let start = span.start;
        let mut positions = vec![start; span.len()];
        for i in 0..positions.len() {
            let j = twister.below(i as u32 + 1) as usize;
            positions[i] = positions[j];
            positions[j] = start + i;
        }
        out.extend(0, positions.into_iter());
        out.end()?;
    }
    finish(args, out.finish()?)
}
