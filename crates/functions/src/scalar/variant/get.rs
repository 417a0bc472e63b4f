//! `variant_get`, `try_variant_get`.

use super::path::Path;
use crate::cast::array::CastOptions;
use crate::cast::variant::{Variants, extract};
use crate::cast::{Mode, can_cast};
use crate::kernel::kernel;
use crate::scalar::json::from_json::schema_of;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, Texts, array_or_constant, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

const SIGNATURE: Signature = Signature::with_optional(
    &[param("v", ArgType::Variant), param("path", ArgType::TEXT), param("type", ArgType::Any)],
    1,
);

function! {
    /// `variant_get(v, path[, type])`
    VARIANT_GET = "variant_get" in Variant, SIGNATURE => Body::Build(|c, a| build(&VARIANT_GET, get, c, a));
    text |a| text("variant_get", a);
    usage "The part of a variant that a path leads to, as a type; NULL where there is no such part, a failure where it is not of the type.";
    since "4.0.0";
    example "SELECT variant_get(parse_json('{\"a\": 1}'), '$.a', 'int')" => "1";
    example "SELECT variant_get(parse_json('{\"a\": 1}'), '$.b', 'int')" => "NULL";
    example "SELECT variant_get(parse_json('[1, \"2\"]'), '$[1]', 'string')" => "2";
    example "SELECT variant_get(parse_json('[1, \"hello\"]'), '$[1]')" => "\"hello\"";
}
function! {
    /// `try_variant_get(v, path[, type])`
    TRY_VARIANT_GET = "try_variant_get" in Variant, SIGNATURE => Body::Build(|c, a| build(&TRY_VARIANT_GET, try_get, c, a));
    text |a| text("try_variant_get", a);
    usage "The part of a variant that a path leads to, as a type; NULL where there is no such part or it is not of the type.";
    since "4.0.0";
    example "SELECT try_variant_get(parse_json('{\"a\": 1}'), '$.a', 'int')" => "1";
    example "SELECT try_variant_get(parse_json('[1, \"hello\"]'), '$[1]', 'int')" => "NULL";
}

/// The type does not show.
fn text(name: &str, arguments: &[String]) -> String {
    format!("{name}({})", arguments.iter().take(2).cloned().collect::<Vec<_>>().join(", "))
}

/// The kernel of `variant_get`.
pub static GET_KERNEL: Function = kernel("variant_get", get);
/// The kernel of `try_variant_get`.
pub static TRY_GET_KERNEL: Function = kernel("try_variant_get", try_get);

fn build(
    function: &'static Function,
    run: KernelFn,
    context: &mut BuildContext<'_>,
    mut arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let data_type = match arguments.get(2) {
        Some(argument) => schema_of(argument)?,
        None => DataType::Variant,
    };
    arguments.truncate(2);
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let call = function.call_text(&names);
    if !can_cast(&DataType::Variant, &data_type, Mode::Ansi) || !has_text_keys(&data_type) {
        return Err(SparkError::new("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION")
            .with("sqlExpr", format!("\"{call}\""))
            .with("srcType", "\"VARIANT\"")
            .with("targetType", format!("\"{}\"", data_type.sql())));
    }
    let expr = crate::kernel::call(function, run, &arguments, &data_type, true, context)?;
    Ok(TypedExpr::new(expr, data_type, true, call))
}

/// Keys of a variant's objects are texts.
pub fn has_text_keys(data_type: &DataType) -> bool {
    !data_type.exists(&|t| matches!(t, DataType::Map { key, .. } if !key.is_string()))
}

fn get(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    find(args, VARIANT_GET.name, Mode::Ansi)
}

fn try_get(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    find(args, TRY_VARIANT_GET.name, Mode::Try)
}

fn find(args: &KernelArgs<'_>, function: &str, mode: Mode) -> Result<ColumnarValue> {
    let (array, is_constant) = array_or_constant(args, 0)?;
    let variants = Variants::of(&array)?;
    let paths: Texts = Rows::of(args, 1)?;
    let constant = match paths.constant().flatten() {
        Some(text) => Some(args.prepared(|| Path::parse(text, function))?),
        None => None,
    };
    let options = CastOptions::new(mode, &args.settings.time_zone)?;
    let mut found = Vec::with_capacity(row_count(args));
    for row in 0..row_count(args) {
        let variant = variants.get(if is_constant { 0 } else { row });
        found.push(match (variant, constant, paths.get(row)) {
            (Some(variant), Some(path), _) => path.walk(variant)?,
            (Some(variant), None, Some(text)) => Path::parse(text, function)?.walk(variant)?,
            _ => None,
        });
    }
    finish(args, extract(&found, args.return_type, &options)?)
}
