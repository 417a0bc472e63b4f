//! `to_number` and `to_char`.

use super::constant::{text_of, value_of};
use super::declare::{function, param};
use super::number_pattern::NumberPattern;
use super::rows::{Rows, Texts, array_or_constant, downcast, finish, row_count, texts};
use crate::coercion::coerce_argument;
use crate::kernel::kernel;
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, Decimal128Array};
use datafusion::logical_expr::{ColumnarValue, lit};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;
use std::sync::Arc;

const TO_NUMBER_ARGUMENTS: Signature = Signature::of(&[param("expr", ArgType::String), param("fmt", ArgType::String)]);
const TO_CHAR_ARGUMENTS: Signature = Signature::of(&[param("expr", ArgType::Any), param("format", ArgType::String)]);

function! {
    /// `to_number(expr, fmt)`
    TO_NUMBER = "to_number" in String, TO_NUMBER_ARGUMENTS
        => Body::Build(|context, arguments| build_to_number(&TO_NUMBER, context, arguments));
    usage "The number that a text stands for by a pattern such as `99,999.00`; fails where it does not match.";
    since "3.3.0";
    example "SELECT to_number('454', '999')" => "454";
    example "SELECT to_number('12,454.8-', '99,999.9S')" => "-12454.8";
}
function! {
    /// `try_to_number(expr, fmt)`
    TRY_TO_NUMBER = "try_to_number" in String, TO_NUMBER_ARGUMENTS
        => Body::Build(|context, arguments| build_to_number(&TRY_TO_NUMBER, context, arguments));
    usage "As `to_number`, but null where the text does not match.";
    since "3.3.0";
    example "SELECT try_to_number('454', '999')" => "454";
}
function! {
    /// `to_char(expr, format)`
    TO_CHAR = "to_char" in String, TO_CHAR_ARGUMENTS
        => Body::Named(|context, arguments| build_to_char(&TO_CHAR, context, arguments));
    usage "A number, a date, a timestamp or a binary as text in a format.";
    since "3.4.0";
    example "SELECT to_char(454, '999')" => "454";
    example "SELECT to_char(12454, '99G999')" => "12,454";
    example "SELECT to_char(78.12, '$99.99')" => "$78.12";
}
function! {
    /// `to_varchar(expr, format)`
    TO_VARCHAR = "to_varchar" in String, TO_CHAR_ARGUMENTS
        => Body::Named(|context, arguments| build_to_char(&TO_VARCHAR, context, arguments));
    usage "A number, a date, a timestamp or a binary as text in a format.";
    since "3.5.0";
    example "SELECT to_varchar(454, '999')" => "454";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[
    &kernel("to_number", to_number),
    &kernel("try_to_number", try_to_number),
    &kernel("to_char", to_char),
    &kernel("to_varchar", to_char),
];

/// The constant pattern; None for null.
fn pattern_of(argument: &TypedExpr, call: &str, parameter: &str) -> Result<Option<String>> {
    match value_of(argument)? {
        Some(value) => Ok(text_of(&value).map(str::to_string)),
        None => Err(super::constant::not_foldable(argument, call, parameter, "STRING")),
    }
}

fn null(data_type: &DataType) -> Result<TypedExpr> {
    let value =
        ScalarValue::try_from(&firesteel_types::arrow_mapping::to_arrow(data_type)).map_err(super::rows::internal)?;
    Ok(TypedExpr::new(lit(value), data_type.clone(), true, String::new()))
}

fn build_to_number(
    function: &'static Function,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let [value, format] = arguments.as_slice() else {
        return Err(SparkError::internal("to_number takes two arguments"));
    };
    let call = function.call_text(&[value.name.clone(), format.name.clone()]);
    let Some(source) = pattern_of(format, &call, "format")? else {
        return null(&DataType::DECIMAL_SYSTEM_DEFAULT);
    };
    let (precision, scale) = NumberPattern::parse(&source)?.decimal_type()?;
    let data_type = DataType::Decimal(precision, scale);
    let is_try = function.name.starts_with("try_");
    let nullable = is_try || value.nullable;
    let expr = crate::kernel::call_with_payload(
        function,
        if is_try { try_to_number } else { to_number },
        std::slice::from_ref(value),
        &data_type,
        nullable,
        context,
        Some(source.into()),
    )?;
    Ok(TypedExpr::new(expr, data_type, nullable, call))
}

fn prepared<'a>(args: &'a KernelArgs<'_>) -> Result<&'a NumberPattern> {
    args.prepared(|| NumberPattern::parse(args.settings.payload.as_deref().unwrap_or_default()))
}

fn to_number(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    read_numbers(args, true)
}

fn try_to_number(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    read_numbers(args, false)
}

fn read_numbers(args: &KernelArgs<'_>, fails: bool) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let pattern = prepared(args)?;
    let (precision, scale) = pattern.decimal_type()?;
    let count = row_count(args);
    let mut builder = Decimal128Array::builder(count);
    for row in 0..count {
        let Some(text) = values.get(row) else {
            builder.append_null();
            continue;
        };
        match pattern.read(text) {
            Some(value) => builder.append_value(value),
            None if fails => {
                return Err(SparkError::new("INVALID_FORMAT.MISMATCH_INPUT")
                    .with("inputType", "\"STRING\"")
                    .with("input", text)
                    .with("format", pattern.source()));
            }
            None => builder.append_null(),
        }
    }
    let array = builder.finish().with_precision_and_scale(precision, scale).map_err(super::rows::internal)?;
    finish(args, Arc::new(array))
}

fn build_to_char(
    function: &'static Function,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let [value, format] = arguments.as_slice() else {
        return Err(SparkError::internal("to_char takes two arguments"));
    };
    // Both names are of one function.
    let call = TO_CHAR.call_text(&[value.name.clone(), format.name.clone()]);
    if value.data_type.is_datetime() || matches!(value.data_type, DataType::Time(_)) {
        return context.call("date_format", arguments);
    }
    if value.data_type == DataType::Binary {
        let source = pattern_of(format, &call, "format")?;
        let Some(source) = source else { return Ok(null(&DataType::STRING)?.named(call)) };
        let own = |made: TypedExpr, arguments: &[String]| match function.name {
            "to_varchar" => made.named(function.call_text(arguments)),
            _ => made,
        };
        return match source.to_ascii_lowercase().as_str() {
            word @ ("base64" | "hex") => Ok(own(context.call(word, vec![value.clone()])?, &[value.name.clone()])),
            "utf-8" => {
                let charset = TypedExpr::new(lit("utf-8"), DataType::STRING, false, format.name.clone());
                let made = context.call("decode", vec![value.clone(), charset])?;
                Ok(own(made, &[value.name.clone(), format.name.clone()]))
            }
            _ => Err(SparkError::new("INVALID_PARAMETER_VALUE.BINARY_FORMAT")
                .with("parameter", "`format`")
                .with("functionName", format!("`{}`", function.name))
                .with("invalidFormat", format!("'{source}'"))),
        };
    }
    let from_text = value.data_type.is_string() || matches!(value.data_type, DataType::Float | DataType::Double);
    let value = coerce_argument(value.clone(), ArgType::Decimal, 0, &call, context)?;
    let Some(source) = pattern_of(format, &call, "format")? else {
        return Ok(null(&DataType::STRING)?.named(call));
    };
    NumberPattern::parse(&source)?;
    let nullable = value.nullable || from_text;
    let expr = crate::kernel::call_with_payload(
        function,
        to_char,
        std::slice::from_ref(&value),
        &DataType::STRING,
        nullable,
        context,
        Some(source.into()),
    )?;
    Ok(TypedExpr::new(expr, DataType::STRING, nullable, call))
}

fn to_char(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, is_constant) = array_or_constant(args, 0)?;
    let numbers = downcast::<Decimal128Array>(&array)?;
    let scale = u32::try_from(numbers.scale()).unwrap_or(0);
    let pattern = prepared(args)?;
    let mut buffer = String::new();
    texts(args, |row, out| {
        let row = if is_constant { 0 } else { row };
        if numbers.is_null(row) {
            return Ok(None);
        }
        buffer.clear();
        pattern.write(&mut buffer, numbers.value(row), scale);
        Ok(out.write_str(&buffer).ok())
    })
}
