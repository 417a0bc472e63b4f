//! Looking for elements.

use super::list::{Column, Lists, element_of, element_type, pick_one};
use super::typing::{call_text, require_array, require_order, two_arrays, with_element};
use crate::coercion::mismatch;
use crate::scalar::predicate::equality::order;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{booleans, finish, primitives, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::Array;
use arrow::datatypes::Int64Type;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::cmp::Ordering;

const ARRAY_AND_VALUE: Signature = Signature::of(&[param("array", ArgType::Any), param("element", ArgType::Any)]);
const ONE_ARRAY: Signature = Signature::of(&[param("array", ArgType::Array)]);

function! {
    /// `array_contains(array, value)`
    ARRAY_CONTAINS = "array_contains" in Array, ARRAY_AND_VALUE => Body::Build(build_contains);
    usage "Whether an element equals a value; NULL if none does and one is NULL.";
    since "1.5.0";
    example "SELECT array_contains(array(1, 2, 3), 2)" => "true";
}
function! {
    /// `array_position(array, value)`
    ARRAY_POSITION = "array_position" in Array, ARRAY_AND_VALUE => Body::Build(build_position);
    usage "The position of the first element that equals a value, counted from 1; 0 if none does.";
    since "2.4.0";
    example "SELECT array_position(array(312, 773, 708, 708), 708)" => "3";
}
function! {
    /// `array_max(array)`
    ARRAY_MAX = "array_max" in Array, ONE_ARRAY => Body::Build(|c, a| build_extreme(&ARRAY_MAX, greatest, c, a));
    usage "The greatest element; NULLs do not count.";
    since "2.4.0";
    example "SELECT array_max(array(1, 20, null, 3))" => "20";
}
function! {
    /// `array_min(array)`
    ARRAY_MIN = "array_min" in Array, ONE_ARRAY => Body::Build(|c, a| build_extreme(&ARRAY_MIN, least, c, a));
    usage "The least element; NULLs do not count.";
    since "2.4.0";
    example "SELECT array_min(array(1, 20, null, 3))" => "1";
}
function! {
    /// `arrays_overlap(left, right)`
    ARRAYS_OVERLAP = "arrays_overlap" in Array, Signature::of(&[param("a1", ArgType::Any), param("a2", ArgType::Any)])
        => Body::Build(build_overlap);
    usage "Whether two arrays share an element that is not NULL; NULL if they share none, both have elements and one has a NULL.";
    since "2.4.0";
    example "SELECT arrays_overlap(array(1, 2, 3), array(3, 4, 5))" => "true";
}

fn build_contains(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if arguments.iter().any(|a| a.data_type.is_null()) {
        return Err(SparkError::new("DATATYPE_MISMATCH.NULL_TYPE")
            .with("sqlExpr", mismatch::quoted(&call_text("array_contains", &arguments)))
            .with("functionName", "`array_contains`"));
    }
    require_array(&arguments, 0, "array_contains")?;
    with_element(&mut arguments, 1, "array_contains", context)?;
    require_order(&arguments, "array_contains")?;
    let nullable = arguments.iter().any(|a| a.nullable) || element_of(&arguments[0].data_type).1;
    let expr = crate::kernel::call(&ARRAY_CONTAINS, contains, &arguments, &DataType::Boolean, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Boolean, nullable, ""))
}

fn contains(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (lists, value) = (Lists::of(args, 0)?, Column::of(args, 1)?);
    let values = lists.values();
    let order = order(values, &value.array, &element_type(args, 0))?;
    booleans(args, |row| {
        let (Some(span), false) = (lists.span(row), value.is_null(row)) else { return Ok(None) };
        let wanted = value.at(row);
        let mut has_null = false;
        for at in span {
            if values.is_null(at) {
                has_null = true;
            } else if order(at, wanted) == Ordering::Equal {
                return Ok(Some(true));
            }
        }
        Ok(if has_null { None } else { Some(false) })
    })
}

fn build_position(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    with_element(&mut arguments, 1, "array_position", context)?;
    require_order(&arguments, "array_position")?;
    let nullable = arguments.iter().any(|a| a.nullable);
    let expr = crate::kernel::call(&ARRAY_POSITION, position, &arguments, &DataType::Long, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Long, nullable, ""))
}

fn position(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (lists, value) = (Lists::of(args, 0)?, Column::of(args, 1)?);
    let values = lists.values();
    if value.array.data_type() == &arrow::datatypes::DataType::Null {
        return primitives::<Int64Type>(args, |_| Ok(None));
    }
    let order = order(values, &value.array, &element_type(args, 0))?;
    primitives::<Int64Type>(args, |row| {
        let (Some(mut span), false) = (lists.span(row), value.is_null(row)) else { return Ok(None) };
        let wanted = value.at(row);
        let found = span.position(|at| values.is_valid(at) && order(at, wanted) == Ordering::Equal);
        Ok(Some(found.map_or(0, |p| p as i64 + 1)))
    })
}

fn build_extreme(
    function: &Function,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    require_array(&arguments, 0, function.name)?;
    require_order(&arguments, function.name)?;
    let (element, _) = element_of(&arguments[0].data_type);
    let expr = crate::kernel::call(function, kernel, &arguments, &element, true, context)?;
    Ok(TypedExpr::new(expr, element, true, ""))
}

fn greatest(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    extreme(args, Ordering::Greater)
}

fn least(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    extreme(args, Ordering::Less)
}

fn extreme(args: &KernelArgs<'_>, wanted: Ordering) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let values = lists.values();
    let element = element_type(args, 0);
    let rows = row_count(args);
    if element.is_null() {
        return finish(args, arrow::array::new_null_array(&arrow::datatypes::DataType::Null, rows));
    }
    let order = order(values, values, &element)?;
    let picks: Vec<Option<usize>> = (0..rows)
        .map(|row| {
            let candidates = lists.span(row)?.filter(|at| values.is_valid(*at));
            candidates.reduce(|best, at| if order(at, best) == wanted { at } else { best })
        })
        .collect();
    finish(args, pick_one(values, &picks, args.return_type)?)
}

fn build_overlap(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (left, right) = two_arrays(arguments, "arrays_overlap", context)?;
    let has_nulls = |side: &TypedExpr| side.nullable || element_of(&side.data_type).1;
    let nullable = has_nulls(&left) || has_nulls(&right);
    let arguments = [left, right];
    let expr = crate::kernel::call(&ARRAYS_OVERLAP, overlap, &arguments, &DataType::Boolean, nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Boolean, nullable, ""))
}

fn overlap(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (left, right) = (Lists::of(args, 0)?, Lists::of(args, 1)?);
    let (lefts, rights) = (left.values(), right.values());
    let sources = [lefts.clone(), rights.clone()];
    let identities = super::identity::Identities::new(&sources, &element_type(args, 0))?;
    let mut seen = super::identity::Seen::default();
    booleans(args, |row| {
        let (Some(l), Some(r)) = (left.span(row), right.span(row)) else { return Ok(None) };
        if l.is_empty() || r.is_empty() {
            return Ok(Some(false));
        }
        seen.clear();
        let mut has_null = false;
        for at in r {
            if rights.is_null(at) {
                has_null = true;
            } else {
                seen.insert(identities.of(1, at));
            }
        }
        for at in l {
            if lefts.is_null(at) {
                has_null = true;
            } else if seen.contains(identities.of(0, at)) {
                return Ok(Some(true));
            }
        }
        Ok(if has_null { None } else { Some(false) })
    })
}
