//! `to_variant_object`.

use crate::cast::variant::to_variants;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, finish};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

function! {
    /// `to_variant_object(expr)`
    TO_VARIANT_OBJECT = "to_variant_object" in Variant, Signature::of(&[param("expr", ArgType::Any)])
        => Body::Build(build);
    usage "A struct, a map or an array of them as a variant: structs and maps become objects.";
    since "4.0.0";
    example "SELECT to_variant_object(named_struct('a', 1, 'b', 2))" => "{\"a\":1,\"b\":2}";
    example "SELECT to_variant_object(array(1, 2, 3))" => "[1,2,3]";
    example "SELECT to_variant_object(map(\"a\", 2))" => "{\"a\":2}";
}

/// Whether values of a type can be parts of a variant.
fn fits(data_type: &DataType) -> bool {
    match data_type {
        DataType::Array { element, .. } => fits(element),
        DataType::Map { key, value, .. } => key.is_string() && fits(value),
        DataType::Struct(fields) => fields.fields.iter().all(|f| fits(&f.data_type)),
        other => crate::cast::can_cast(other, &DataType::Variant, crate::cast::Mode::Ansi),
    }
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [value] = arguments.as_slice() else {
        return Err(SparkError::internal("one argument was expected"));
    };
    let call = TO_VARIANT_OBJECT.call_text(&[value.name.clone()]);
    if !value.data_type.is_nested() || !fits(&value.data_type) {
        return Err(SparkError::new("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION")
            .with("sqlExpr", format!("\"{call}\""))
            .with("srcType", format!("\"{}\"", value.data_type.sql()))
            .with("targetType", "\"VARIANT\""));
    }
    let expr = crate::kernel::call(&TO_VARIANT_OBJECT, run, &arguments, &DataType::Variant, value.nullable, context)?;
    Ok(TypedExpr::new(expr, DataType::Variant, value.nullable, call))
}

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let from = args.types.first().ok_or_else(|| SparkError::internal("one argument was expected"))?;
    finish(args, to_variants(&array, from)?)
}
