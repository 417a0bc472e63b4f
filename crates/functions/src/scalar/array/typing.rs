//! The types of arrays and of the values that go with them.

use super::list::element_of;
use crate::coercion::{self, mismatch};
use crate::{ArgType, BuildContext, TypedExpr};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

/// The text of a call.
pub fn call_text(function: &str, arguments: &[TypedExpr]) -> String {
    let names: Vec<&str> = arguments.iter().map(|a| a.name.as_str()).collect();
    format!("{function}({})", names.join(", "))
}

/// An argument of a type that the parameter does not take, with Spark's words for what it takes.
pub fn unexpected(call: &str, index: usize, required: impl Into<String>, argument: &TypedExpr) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .with("sqlExpr", mismatch::quoted(call))
        .with("paramIndex", mismatch::ordinal(index))
        .with("requiredType", required)
        .with("inputSql", mismatch::quoted(&argument.name))
        .with("inputType", mismatch::quoted_type(&argument.data_type))
}

/// Fails where an argument is no array.
pub fn require_array(arguments: &[TypedExpr], index: usize, function: &str) -> Result<()> {
    match arguments.get(index) {
        Some(a) if matches!(a.data_type, DataType::Array { .. }) => Ok(()),
        Some(a) => Err(mismatch::unexpected_input(&call_text(function, arguments), index, ArgType::Array, a)),
        None => Err(SparkError::internal(format!("{function}: argument {index} is missing"))),
    }
}

/// Fails where elements have no order.
pub fn require_order(arguments: &[TypedExpr], function: &str) -> Result<()> {
    let element = arguments.first().map_or(DataType::Null, |a| element_of(&a.data_type).0);
    if element.is_orderable() {
        return Ok(());
    }
    Err(mismatch::no_ordering(&call_text(function, arguments), function, &element))
}

/// The common type of elements, by the rules without ANSI mode whatever the mode is.
fn lossless(left: &DataType, right: &DataType) -> Option<DataType> {
    coercion::tightest_common_type(left, right, false)
}

/// Brings an array's elements and a value to one type, or fails with `ARRAY_FUNCTION_DIFF_TYPES`.
pub fn with_element(
    arguments: &mut [TypedExpr],
    value_at: usize,
    function: &str,
    context: &mut BuildContext<'_>,
) -> Result<()> {
    let call = call_text(function, arguments);
    let (Some(array), Some(value)) = (arguments.first().cloned(), arguments.get(value_at).cloned()) else {
        return Err(SparkError::internal(format!("{function} takes an array and a value")));
    };
    if !array.data_type.is_null() && !matches!(function, "array_insert" | "array_remove") {
        require_array(arguments, 0, function)?;
    }
    let (element, contains_null) = element_of(&array.data_type);
    let types = [element.clone(), value.data_type.clone()];
    let common = match function {
        "array_contains" => coercion::wider_without_strings(&types, context.conf.ansi_enabled),
        _ => lossless(&types[0], &types[1]),
    };
    let common = common
        .filter(|_| matches!(array.data_type, DataType::Array { .. }))
        .filter(|t| t.is_string() == element.is_string() || element.is_null() || value.data_type.is_null());
    let Some(common) = common else {
        return Err(SparkError::new("DATATYPE_MISMATCH.ARRAY_FUNCTION_DIFF_TYPES")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("functionName", format!("`{function}`"))
            .with("dataType", "\"ARRAY\"")
            .with("leftType", mismatch::quoted_type(&array.data_type))
            .with("rightType", mismatch::quoted_type(&value.data_type)));
    };
    arguments[0] = coercion::implicitly(array, &DataType::array(common.clone(), contains_null), context)?;
    arguments[value_at] = coercion::implicitly(value, &common, context)?;
    Ok(())
}

/// Brings two arrays to one type, or fails with `BINARY_ARRAY_DIFF_TYPES`.
pub fn two_arrays(
    arguments: Vec<TypedExpr>,
    function: &str,
    context: &mut BuildContext<'_>,
) -> Result<(TypedExpr, TypedExpr)> {
    let call = call_text(function, &arguments);
    let (left, right) = super::element::pair(arguments)?;
    let common = match (&left.data_type, &right.data_type) {
        (DataType::Array { element: a, .. }, DataType::Array { element: b, .. }) => {
            lossless(a, b).filter(|_| a.is_string() == b.is_string() || a.is_null() || b.is_null())
        }
        _ => None,
    };
    let Some(common) = common else {
        return Err(SparkError::new("DATATYPE_MISMATCH.BINARY_ARRAY_DIFF_TYPES")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("functionName", format!("`{function}`"))
            .with("arrayType", "\"ARRAY\"")
            .with("leftType", mismatch::quoted_type(&left.data_type))
            .with("rightType", mismatch::quoted_type(&right.data_type)));
    };
    if !common.is_orderable() {
        return Err(mismatch::no_ordering(&call, function, &common));
    }
    let wanted = |side: &TypedExpr| DataType::array(common.clone(), element_of(&side.data_type).1);
    let (left_type, right_type) = (wanted(&left), wanted(&right));
    Ok((coercion::implicitly(left, &left_type, context)?, coercion::implicitly(right, &right_type, context)?))
}
