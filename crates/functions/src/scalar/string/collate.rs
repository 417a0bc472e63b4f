//! Collations of strings.

use super::constant::{required, text_of};
use super::declare::{function, param};
use crate::{ArgType, Body, BuildContext, Signature, TypedExpr};
use datafusion::logical_expr::lit;
use firesteel_error::{Result, SparkError};
use firesteel_types::{Collation, DataType};

function! {
    /// `collate(expr, collationName)`
    COLLATE = "collate" in String,
        Signature::of(&[param("expr", ArgType::TEXT), param("collationName", ArgType::Any)])
        => Body::Build(build_collate);
    usage "The text, compared by a collation from here on.";
    since "4.0.0";
    example "SELECT COLLATION('Spark SQL' collate UTF8_LCASE)" => "SYSTEM.BUILTIN.UTF8_LCASE";
}
function! {
    /// `collation(expr)`
    COLLATION = "collation" in Misc, Signature::of(&[param("expr", ArgType::Any)]) => Body::Build(build_collation);
    usage "The name of the collation of a text.";
    since "4.0.0";
    example "SELECT collation('Spark SQL')" => "SYSTEM.BUILTIN.UTF8_BINARY";
}

fn build_collate(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [value, name] = arguments.as_slice() else {
        return Err(SparkError::internal("collate takes two arguments"));
    };
    let text = format!("collate({}, {})", value.name, name.name);
    if !name.data_type.is_string() && !name.data_type.is_null() {
        return Err(SparkError::new("UNEXPECTED_INPUT_TYPE")
            .with("functionName", "`collate`")
            .with("paramIndex", "first")
            .with("inputSql", format!("\"{}\"", name.name))
            .with("inputType", crate::coercion::mismatch::quoted_type(&name.data_type))
            .with("requiredType", "\"STRING\""));
    }
    let constant = required(name, &text, "collationName", "STRING")?;
    let Some(collation) = text_of(&constant) else {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_NULL")
            .with("exprName", "`collation`")
            .with("sqlExpr", format!("\"{text}\"")));
    };
    let data_type = DataType::String(Collation::parse(collation)?);
    Ok(TypedExpr { data_type, ..value.clone() })
}

fn build_collation(_: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.first() else {
        return Err(SparkError::internal("collation takes an argument"));
    };
    let name = match &argument.data_type {
        DataType::String(collation) => collation.name().to_string(),
        DataType::Null | DataType::Char(_) | DataType::Varchar(_) => Collation::Utf8Binary.name().to_string(),
        _ => {
            return Err(crate::coercion::mismatch::unexpected_input(
                &format!("collation({})", argument.name),
                0,
                ArgType::String,
                argument,
            ));
        }
    };
    Ok(TypedExpr::new(lit(format!("SYSTEM.BUILTIN.{name}")), DataType::STRING, false, String::new()))
}
