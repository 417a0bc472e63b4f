//! Errors that a query asks for, and calls of Java that this server cannot make.

use crate::scalar::string::constant::value_of;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Booleans, Rows, Texts, finish, row_count};
use crate::{ArgType, Body, BuildContext, KernelArgs, Nullability, Returns, Signature, TypedExpr};
use arrow::array::NullArray;
use datafusion::logical_expr::{ColumnarValue, lit};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

function! {
    /// `raise_error(expr)`
    RAISE_ERROR = "raise_error" in Misc, Signature::of(&[param("expr", ArgType::String)])
        => Body::Scalar { returns: Returns::Type(DataType::Null), nullable: Nullability::Always, kernel: raise };
    usage "Fails with `expr` as message.";
    since "3.1.0";
}
function! {
    /// `assert_true(expr[, message])`
    ASSERT_TRUE = "assert_true" in Misc, Signature::with_optional(
            &[param("expr", ArgType::Boolean), param("message", ArgType::String)],
            1,
        )
        => Body::Build(build_assert);
    text assert_text;
    usage "Fails unless `expr` is true.";
    since "2.0.0";
    example "SELECT assert_true(0 < 1)" => "NULL";
}
function! {
    /// `reflect(class, method[, arg1, …])`
    REFLECT = "reflect" in Misc, Signature::variadic(&[], ArgType::Any)
        => Body::Build(|_, _| Err(SparkError::unsupported("reflect: calls of Java methods")));
    usage "Calls a Java method. This server cannot.";
    since "2.0.0";
}
function! {
    /// `java_method(class, method[, arg1, …])`
    JAVA_METHOD = "java_method" in Misc, Signature::variadic(&[], ArgType::Any)
        => Body::Build(|_, _| Err(SparkError::unsupported("java_method: calls of Java methods")));
    usage "Calls a Java method. This server cannot.";
    since "2.0.0";
}
function! {
    /// `try_reflect(class, method[, arg1, …])`
    TRY_REFLECT = "try_reflect" in Misc, Signature::variadic(&[], ArgType::Any)
        => Body::Build(|_, _| Err(SparkError::unsupported("try_reflect: calls of Java methods")));
    usage "Calls a Java method. This server cannot.";
    since "4.0.0";
}

fn assert_text(arguments: &[String]) -> String {
    match arguments {
        [condition] => format!("assert_true({condition}, '{condition}' is not true!)"),
        _ => format!("assert_true({})", arguments.join(", ")),
    }
}

fn build_assert(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if let [condition] = arguments.as_slice() {
        let shown = match value_of(condition)? {
            Some(value) if value.is_null() && condition.name.starts_with("CAST(") => "NULL".to_string(),
            _ => condition.name.clone(),
        };
        let message = format!("'{shown}' is not true!");
        arguments.push(TypedExpr::new(lit(message), DataType::STRING, false, String::new()));
    }
    let expr = crate::kernel::call(&ASSERT_TRUE, assert_true, &arguments, &DataType::Null, true, context)?;
    Ok(TypedExpr::new(expr, DataType::Null, true, String::new()))
}

fn raised(message: Option<&str>) -> SparkError {
    SparkError::new("USER_RAISED_EXCEPTION").with("errorMessage", message.unwrap_or("null"))
}

fn raise(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let messages: Texts = Rows::of(args, 0)?;
    if row_count(args) > 0 {
        return Err(raised(messages.get(0)));
    }
    finish(args, Arc::new(NullArray::new(0)))
}

fn assert_true(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let conditions: Booleans = Rows::of(args, 0)?;
    let messages: Texts = Rows::of(args, 1)?;
    let count = row_count(args);
    for row in 0..count {
        if conditions.get(row) != Some(true) {
            return Err(raised(messages.get(row)));
        }
    }
    finish(args, Arc::new(NullArray::new(count)))
}
