//! Errors of types that do not fit: the `DATATYPE_MISMATCH` family.

use crate::{ArgType, TypedExpr};
use firesteel_error::SparkError;
use firesteel_types::DataType;

/// SQL text as messages show it.
pub fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// A type as messages show it.
pub fn quoted_type(data_type: &DataType) -> String {
    quoted(&data_type.sql())
}

/// The word for a parameter's position, counted from 0.
pub fn ordinal(index: usize) -> String {
    const WORDS: [&str; 10] =
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
    match WORDS.get(index) {
        Some(word) => (*word).to_string(),
        None => format!("{}th", index + 1),
    }
}

/// What a parameter takes, as messages show it: `"INT"`, `("STRING" or "BINARY")`.
pub fn quoted_wanted(wanted: ArgType) -> String {
    match wanted {
        ArgType::OneOf(options) => {
            format!("({})", options.iter().map(|o| quoted_wanted(*o)).collect::<Vec<_>>().join(" or "))
        }
        ArgType::AnyInterval => r#"("INTERVAL" or "INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH")"#.to_string(),
        ArgType::Foldable(inner) | ArgType::Exactly(inner) => quoted_wanted(*inner),
        other => quoted(&crate::signature::describe(other)),
    }
}

/// An argument of a type that the parameter does not take.
pub fn unexpected_input(call: &str, index: usize, wanted: ArgType, argument: &TypedExpr) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .with("sqlExpr", quoted(call))
        .with("paramIndex", ordinal(index))
        .with("requiredType", quoted_wanted(wanted))
        .with("inputSql", quoted(&argument.name))
        .with("inputType", quoted_type(&argument.data_type))
}

/// Arguments that should have one type and have no common one.
pub fn different_types(call: &str, function: &str, types: &[DataType]) -> SparkError {
    let types: Vec<String> = types.iter().map(quoted_type).collect();
    SparkError::new("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
        .with("sqlExpr", quoted(call))
        .with("functionName", format!("`{function}`"))
        .with("dataType", format!("({})", types.join(" or ")))
}

/// Branches that should have one type and have no common one.
pub fn different_branches(call: &str, function: &str, types: &[DataType]) -> SparkError {
    let types: Vec<String> = types.iter().map(quoted_type).collect();
    SparkError::new("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
        .with("sqlExpr", quoted(call))
        .with("functionName", format!("`{function}`"))
        .with("dataType", format!("[{}]", types.join(", ")))
}

/// The sides of an operator have different types.
pub fn binary_different(call: &str, left: &DataType, right: &DataType) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES")
        .with("sqlExpr", quoted(call))
        .with("left", quoted_type(left))
        .with("right", quoted_type(right))
}

/// The sides of an operator have one type that the operator does not take.
pub fn binary_wrong(call: &str, wanted: &str, actual: &DataType) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE")
        .with("sqlExpr", quoted(call))
        .with("inputType", wanted)
        .with("actualDataType", quoted_type(actual))
}

/// A type whose values have no order.
pub fn no_ordering(call: &str, function: &str, data_type: &DataType) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
        .with("sqlExpr", quoted(call))
        .with("functionName", format!("`{function}`"))
        .with("dataType", quoted_type(data_type))
}

/// An argument that must be constant and is not.
pub fn not_foldable(call: &str, parameter: &str, wanted: ArgType, argument: &TypedExpr) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
        .with("sqlExpr", quoted(call))
        .with("inputName", format!("`{parameter}`"))
        .with("inputType", quoted_wanted(wanted))
        .with("inputExpr", quoted(&argument.name))
}
