//! `is_variant_null`, `is_valid_variant`.

use crate::cast::variant::Variants;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, booleans};
use crate::{ArgType, Body, KernelArgs, Nullability, Returns, Signature};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use firesteel_types::variant::{Node, Scalar, is_valid, malformed};

const SIGNATURE: Signature = Signature::of(&[param("expr", ArgType::Variant)]);

function! {
    /// `is_variant_null(expr)`
    IS_VARIANT_NULL = "is_variant_null" in Variant, SIGNATURE
        => Body::Scalar {
            returns: Returns::Type(DataType::Boolean),
            nullable: Nullability::Never,
            kernel: is_variant_null,
        };
    usage "Whether a variant is the null of JSON; not so for NULL.";
    since "4.0.0";
    example "SELECT is_variant_null(parse_json('null'))" => "true";
    example "SELECT is_variant_null(parse_json('13'))" => "false";
    example "SELECT is_variant_null(NULL)" => "false";
}
function! {
    /// `is_valid_variant(expr)`
    IS_VALID_VARIANT = "is_valid_variant" in Variant, SIGNATURE
        => Body::Scalar {
            returns: Returns::Type(DataType::Boolean),
            nullable: Nullability::IfAnyArgument,
            kernel: is_valid_variant,
        };
    usage "Whether the bytes of a variant are well formed.";
    since "4.2.0";
    example "SELECT is_valid_variant(parse_json('null'))" => "true";
}

fn is_variant_null(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, is_constant) = array_or_constant(args, 0)?;
    let variants = Variants::of(&array)?;
    booleans(args, |row| match variants.get(if is_constant { 0 } else { row }) {
        Some(variant) => Ok(Some(matches!(variant.node().ok_or_else(malformed)?, Node::Scalar(Scalar::Null)))),
        None => Ok(Some(false)),
    })
}

fn is_valid_variant(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, is_constant) = array_or_constant(args, 0)?;
    let variants = Variants::of(&array)?;
    booleans(args, |row| {
        Ok(variants
            .get(if is_constant { 0 } else { row })
            .map(|v| v.bytes_of_value().is_some_and(|value| is_valid(value, v.metadata()))))
    })
}
