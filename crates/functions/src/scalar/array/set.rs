//! Arrays as sets.

use super::identity::{Identities, Seen};
use super::list::{Lists, Picker, element_of, element_type};
use super::typing::{require_array, require_order, two_arrays};
use crate::scalar::predicate::equality::canonical;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;

const TWO_ARRAYS: Signature = Signature::of(&[param("array1", ArgType::Any), param("array2", ArgType::Any)]);

function! {
    /// `array_distinct(array)`
    ARRAY_DISTINCT = "array_distinct" in Array, Signature::of(&[param("array", ArgType::Array)]) => Body::Build(build_distinct);
    usage "The array with each element once.";
    since "2.4.0";
    example "SELECT array_distinct(array(1, 2, 3, null, 3))" => "[1,2,3,null]";
}
function! {
    /// `array_union(left, right)`
    ARRAY_UNION = "array_union" in Array, TWO_ARRAYS => Body::Build(|c, a| build(&ARRAY_UNION, union, c, a));
    usage "The elements of both arrays, each once.";
    since "2.4.0";
    example "SELECT array_union(array(1, 2, 3), array(1, 3, 5))" => "[1,2,3,5]";
}
function! {
    /// `array_intersect(left, right)`
    ARRAY_INTERSECT = "array_intersect" in Array, TWO_ARRAYS => Body::Build(|c, a| build(&ARRAY_INTERSECT, intersect, c, a));
    usage "The elements that both arrays have, each once.";
    since "2.4.0";
    example "SELECT array_intersect(array(1, 2, 3), array(1, 3, 5))" => "[1,3]";
}
function! {
    /// `array_except(left, right)`
    ARRAY_EXCEPT = "array_except" in Array, TWO_ARRAYS => Body::Build(|c, a| build(&ARRAY_EXCEPT, except, c, a));
    usage "The elements of the first array that the second has not, each once.";
    since "2.4.0";
    example "SELECT array_except(array(1, 2, 3), array(1, 3, 5))" => "[2]";
}

/// An array of floating-point numbers with one zero and one NaN; others as they are.
fn with_one_zero(array: TypedExpr, context: &BuildContext<'_>) -> Result<TypedExpr> {
    match element_of(&array.data_type).0 {
        DataType::Float | DataType::Double => canonical(array, context),
        _ => Ok(array),
    }
}

fn build_distinct(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    require_array(&arguments, 0, "array_distinct")?;
    require_order(&arguments, "array_distinct")?;
    let (data_type, nullable) = (arguments[0].data_type.clone(), arguments[0].nullable);
    let arguments = arguments.into_iter().map(|a| with_one_zero(a, context)).collect::<Result<Vec<_>>>()?;
    let expr = crate::kernel::call(&ARRAY_DISTINCT, distinct, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn build(
    function: &Function,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let (left, right) = two_arrays(arguments, function.name, context)?;
    let ((element, left_nulls), (_, right_nulls)) = (element_of(&left.data_type), element_of(&right.data_type));
    let contains_null = match function.name {
        "array_union" => left_nulls || right_nulls,
        "array_intersect" => left_nulls && right_nulls,
        _ => left_nulls,
    };
    let data_type = DataType::array(element, contains_null);
    let nullable = left.nullable || right.nullable;
    let (left, right) = (with_one_zero(left, context)?, with_one_zero(right, context)?);
    let expr = crate::kernel::call(function, kernel, &[left, right], &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn distinct(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let identities = Identities::new(&[lists.values().clone()], &element_type(args, 0))?;
    let mut out = Picker::new(args, vec![lists.values().clone()])?;
    let mut seen = Seen::default();
    for row in 0..row_count(args) {
        let Some(span) = lists.span(row) else {
            out.end_null()?;
            continue;
        };
        seen.clear();
        out.extend(0, span.filter(|at| seen.insert(identities.of(0, *at))));
        out.end()?;
    }
    finish(args, out.finish()?)
}

fn union(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    combined(args, |sets, out| {
        let (identities, seen) = (sets.identities, &mut *sets.seen);
        out.extend(0, sets.left.clone().filter(|at| seen.insert(identities.of(0, *at))));
        out.extend(1, sets.right.clone().filter(|at| seen.insert(identities.of(1, *at))));
    })
}

fn intersect(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    selected(args, true)
}

fn except(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    selected(args, false)
}

/// The elements of the left array of which the right one has, or has not, the same.
fn selected(args: &KernelArgs<'_>, wanted: bool) -> Result<ColumnarValue> {
    combined(args, |sets, out| {
        let identities = sets.identities;
        for at in sets.right.clone() {
            sets.seen.insert(identities.of(1, at));
        }
        let mut taken = Seen::default();
        let seen = &*sets.seen;
        out.extend(
            0,
            sets.left.clone().filter(|at| {
                let identity = identities.of(0, *at);
                seen.contains(identity) == wanted && taken.insert(identity)
            }),
        );
    })
}

struct Sets<'a, 'b> {
    identities: &'a Identities,
    seen: &'b mut Seen<'a>,
    left: std::ops::Range<usize>,
    right: std::ops::Range<usize>,
}

fn combined(args: &KernelArgs<'_>, combine: impl Fn(&mut Sets<'_, '_>, &mut Picker)) -> Result<ColumnarValue> {
    let (left, right) = (Lists::of(args, 0)?, Lists::of(args, 1)?);
    let sources = vec![left.values().clone(), right.values().clone()];
    let identities = Identities::new(&sources, &element_type(args, 0))?;
    let mut out = Picker::new(args, sources)?;
    let mut seen = Seen::default();
    for row in 0..row_count(args) {
        let (Some(l), Some(r)) = (left.span(row), right.span(row)) else {
            out.end_null()?;
            continue;
        };
        seen.clear();
        combine(&mut Sets { identities: &identities, seen: &mut seen, left: l, right: r }, &mut out);
        out.end()?;
    }
    finish(args, out.finish()?)
}
