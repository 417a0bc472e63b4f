//! Comparisons that differ from Arrow's: of floating-point numbers, nested values and collated strings.
//!
//! In Spark, NaN equals NaN and is greater than any other number, and -0.0 equals 0.0;
//! within arrays and structs a null equals a null and comes first.

use super::comparison::Comparison;
use crate::function::{Body, Documentation, Function, Group, Nullability, Returns};
use crate::scalar::string::collation_key::{CollationKey, key_call};
use crate::scalar::string::rows::array_or_constant;
use crate::{BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BooleanArray, Float32Array, Float64Array, ListArray, StringArray, StructArray};
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use datafusion::logical_expr::{ColumnarValue, Expr};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{Collation, DataType};
use std::cmp::Ordering;
use std::sync::Arc;

/// Compares two values of one type.
pub(super) static COMPARE: Function = Function {
    name: "compare_values",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::NONE,
    body: Body::Scalar { returns: Returns::Type(DataType::Boolean), nullable: Nullability::IfAnyArgument, kernel: run },
    deterministic: true,
    text: None,
    documentation: Documentation::EMPTY,
};

/// True for types on which Arrow's comparison differs from Spark's even between normalized values.
pub(super) fn needs_kernel(data_type: &DataType) -> bool {
    match data_type {
        DataType::Array { .. } | DataType::Struct(_) => true,
        DataType::String(collation) => *collation != Collation::Utf8Binary,
        DataType::Udt { sql_type, .. } => needs_kernel(sql_type),
        _ => false,
    }
}

/// A value in, the same out, but any NaN in it as the one and -0.0 as 0.0.
pub(super) static NORMALIZE: Function = Function {
    name: "normalize_nan_and_zero",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::NONE,
    body: Body::Scalar { returns: Returns::SameAs(0), nullable: Nullability::IfAnyArgument, kernel: normalize },
    deterministic: true,
    text: None,
    documentation: Documentation::EMPTY,
};

fn normalize(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, is_scalar) = array_or_constant(args, 0)?;
    let result: ArrayRef = match array.data_type() {
        ArrowType::Float32 => Arc::new(
            typed::<Float32Array>(&array)?.unary::<_, Float32Type>(|v| if v.is_nan() { f32::NAN } else { v + 0.0 }),
        ),
        ArrowType::Float64 => Arc::new(
            typed::<Float64Array>(&array)?.unary::<_, Float64Type>(|v| if v.is_nan() { f64::NAN } else { v + 0.0 }),
        ),
        _ => crate::aggregate::ordering::normalized(&array).map_err(|e| SparkError::internal(e.to_string()))?,
    };
    if is_scalar {
        let value = ScalarValue::try_from_array(&result, 0).map_err(|e| SparkError::internal(e.to_string()))?;
        return Ok(ColumnarValue::Scalar(value));
    }
    Ok(ColumnarValue::Array(result))
}

/// A value of which equal ones have equal bits, where floating-point numbers would not; other types
/// stay as they are.
pub fn normalized(value: &TypedExpr, context: &BuildContext<'_>) -> Result<Expr> {
    match (&value.data_type, value.literal()) {
        (DataType::Float, Some(ScalarValue::Float32(Some(v)))) => {
            Ok(datafusion::logical_expr::lit(if v.is_nan() { f32::NAN } else { v + 0.0 }))
        }
        (DataType::Double, Some(ScalarValue::Float64(Some(v)))) => {
            Ok(datafusion::logical_expr::lit(if v.is_nan() { f64::NAN } else { v + 0.0 }))
        }
        (DataType::Float | DataType::Double, None) => {
            let arguments = std::slice::from_ref(value);
            crate::kernel::call(&NORMALIZE, normalize, arguments, &value.data_type, value.nullable, context)
        }
        _ => Ok(value.expr.clone()),
    }
}

/// The value by which rows are grouped, ordered or put into windows: of a collated text its key, of other
/// values the same as [`whole`].
pub fn key(value: &TypedExpr, context: &BuildContext<'_>) -> Result<Expr> {
    match key_call(value, context) {
        Some(key) => key,
        None => whole(value, context),
    }
}

/// As [`normalized`], with the numbers within arrays, maps and structs, and the entries of maps in order:
/// for rows that are compared whole.
pub fn whole(value: &TypedExpr, context: &BuildContext<'_>) -> Result<Expr> {
    let is_number = matches!(value.data_type, DataType::Float | DataType::Double);
    let is_varied = |t: &DataType| matches!(t, DataType::Float | DataType::Double | DataType::Map { .. });
    if is_number || !value.data_type.exists(&is_varied) {
        return normalized(value, context);
    }
    let arguments = std::slice::from_ref(value);
    crate::kernel::call(&NORMALIZE, normalize, arguments, &value.data_type, value.nullable, context)
}

/// A value as functions keep it that hold each value once: in the form of [`whole`].
pub fn canonical(value: TypedExpr, context: &BuildContext<'_>) -> Result<TypedExpr> {
    Ok(TypedExpr { expr: whole(&value, context)?, ..value })
}

pub(super) fn call(
    comparison: Comparison,
    left: &TypedExpr,
    right: &TypedExpr,
    nullable: bool,
    context: &BuildContext<'_>,
) -> Result<Expr> {
    let arguments = [left.clone(), right.clone()];
    crate::kernel::call_with_payload(
        &COMPARE,
        run,
        &arguments,
        &DataType::Boolean,
        nullable,
        context,
        Some(Arc::from(comparison.sign())),
    )
}

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let comparison = args
        .settings
        .payload
        .as_deref()
        .and_then(Comparison::parse)
        .ok_or_else(|| SparkError::internal("a comparison without its sign"))?;
    let scalars = args.values.iter().all(|v| matches!(v, ColumnarValue::Scalar(_)));
    let (left, is_left_scalar) = array_or_constant(args, 0)?;
    let (right, is_right_scalar) = array_or_constant(args, 1)?;
    let rows = if scalars { 1 } else { args.number_rows };
    let data_type = args.types.first().ok_or_else(|| SparkError::internal("nothing to compare"))?;
    let order = order(&left, &right, data_type)?;
    let matches = |order: Ordering| match comparison {
        Comparison::Equal | Comparison::EqualNullSafe => order == Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    };
    let result: BooleanArray = (0..rows)
        .map(|row| {
            let (i, j) = (if is_left_scalar { 0 } else { row }, if is_right_scalar { 0 } else { row });
            match (left.is_null(i), right.is_null(j)) {
                (false, false) => Some(matches(order(i, j))),
                (a, b) if comparison == Comparison::EqualNullSafe => Some(a && b),
                _ => None,
            }
        })
        .collect();
    if scalars {
        let value = ScalarValue::try_from_array(&result, 0).map_err(|e| SparkError::internal(e.to_string()))?;
        return Ok(ColumnarValue::Scalar(value));
    }
    Ok(ColumnarValue::Array(Arc::new(result)))
}

/// The order of two values by their rows; neither is null.
pub type Order = Box<dyn Fn(usize, usize) -> Ordering + Send + Sync>;

fn typed<A: Clone + 'static>(array: &ArrayRef) -> Result<A> {
    array
        .as_any()
        .downcast_ref::<A>()
        .cloned()
        .ok_or_else(|| SparkError::internal(format!("{} was not expected", array.data_type())))
}

/// The order of the values of two arrays of one type, as Spark has it.
pub fn order(left: &ArrayRef, right: &ArrayRef, data_type: &DataType) -> Result<Order> {
    Ok(match data_type {
        DataType::Float => {
            let (a, b) = (typed::<Float32Array>(left)?, typed::<Float32Array>(right)?);
            Box::new(move |i, j| order_of(f64::from(a.value(i)), f64::from(b.value(j))))
        }
        DataType::Double => {
            let (a, b) = (typed::<Float64Array>(left)?, typed::<Float64Array>(right)?);
            Box::new(move |i, j| order_of(a.value(i), b.value(j)))
        }
        DataType::String(collation @ Collation::Named(_)) => {
            let rule = CollationKey::of(collation)?;
            let (a, b) = (rule.keys(&typed::<StringArray>(left)?), rule.keys(&typed::<StringArray>(right)?));
            Box::new(move |i, j| a.get(i).cmp(&b.get(j)))
        }
        DataType::Array { element, .. } => {
            let (a, b) = (typed::<ListArray>(left)?, typed::<ListArray>(right)?);
            let elements = nullable_order(a.values(), b.values(), element)?;
            Box::new(move |i, j| {
                let (x, y) = (span(a.value_offsets(), i), span(b.value_offsets(), j));
                let lengths = x.len().cmp(&y.len());
                x.zip(y).map(|(k, l)| elements(k, l)).find(|o| *o != Ordering::Equal).unwrap_or(lengths)
            })
        }
        DataType::Struct(fields) => {
            let (a, b) = (typed::<StructArray>(left)?, typed::<StructArray>(right)?);
            let columns = a
                .columns()
                .iter()
                .zip(b.columns())
                .zip(&fields.fields)
                .map(|((x, y), field)| nullable_order(x, y, &field.data_type))
                .collect::<Result<Vec<_>>>()?;
            Box::new(move |i, j| {
                columns.iter().map(|c| c(i, j)).find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)
            })
        }
        DataType::Udt { sql_type, .. } => return order(left, right, sql_type),
        _ => arrow::array::make_comparator(left, right, arrow::compute::SortOptions::default())
            .map_err(|e| SparkError::internal(e.to_string()))?,
    })
}

/// The order of two values; nulls come first.
pub fn nullable_order(left: &ArrayRef, right: &ArrayRef, data_type: &DataType) -> Result<Order> {
    let (a, b) = (left.clone(), right.clone());
    let values = order(left, right, data_type)?;
    Ok(Box::new(move |i, j| match (a.is_null(i), b.is_null(j)) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => values(i, j),
    }))
}

fn order_of(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
    }
}

fn span(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    let at = |i: usize| offsets.get(i).map_or(0, |o| usize::try_from(*o).unwrap_or(0));
    at(row)..at(row + 1)
}

/// A literal beside a column with which Arrow's comparison is Spark's: neither zero nor NaN, or a zero
/// whose sign the comparison is made indifferent to by choosing the other one.
pub(super) fn native_sides(comparison: Comparison, left: &Expr, right: &Expr) -> Option<(Expr, Expr)> {
    let zero_sign = |comparison: Comparison| match comparison {
        // Beside these, -0.0 is to count as zero.
        Comparison::Less | Comparison::GreaterOrEqual => Some(-1.0),
        Comparison::Greater | Comparison::LessOrEqual => Some(1.0),
        _ => None,
    };
    let mirrored = match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        other => other,
    };
    match (left, right) {
        (Expr::Column(_), Expr::Literal(value, _)) => {
            Some((left.clone(), Expr::Literal(usable(value, zero_sign(comparison))?, None)))
        }
        (Expr::Literal(value, _), Expr::Column(_)) => {
            Some((Expr::Literal(usable(value, zero_sign(mirrored))?, None), right.clone()))
        }
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation)]
fn usable(value: &ScalarValue, zero_sign: Option<f64>) -> Option<ScalarValue> {
    match value {
        ScalarValue::Float64(Some(v)) if *v == 0.0 => zero_sign.map(|s| ScalarValue::Float64(Some(0.0 * s))),
        ScalarValue::Float64(Some(v)) if !v.is_nan() => Some(value.clone()),
        ScalarValue::Float32(Some(v)) if *v == 0.0 => zero_sign.map(|s| ScalarValue::Float32(Some(0.0 * s as f32))),
        ScalarValue::Float32(Some(v)) if !v.is_nan() => Some(value.clone()),
        _ => None,
    }
}
