//! `parse_json`, `try_parse_json`.

use crate::cast::variant::VariantsBuilder;
use crate::coercion::mismatch;
use crate::kernel::kernel;
use crate::scalar::json::reader::{Leniency, Malformed, Reader, Token};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, Texts, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use firesteel_types::variant::VariantBuilder;
use std::sync::Arc;

function! {
    /// `parse_json(jsonStr)`
    PARSE_JSON = "parse_json" in Variant, Signature::of(&[param("jsonStr", ArgType::Any)])
        => Body::Build(|c, a| build(&PARSE_JSON, c, a, false));
    usage "The variant that a JSON text says; fails for other texts.";
    since "4.0.0";
    example "SELECT parse_json('{\"a\":1,\"b\":0.8}')" => "{\"a\":1,\"b\":0.8}";
}
function! {
    /// `try_parse_json(jsonStr)`
    TRY_PARSE_JSON = "try_parse_json" in Variant, Signature::of(&[param("jsonStr", ArgType::Any)])
        => Body::Build(|c, a| build(&TRY_PARSE_JSON, c, a, true));
    usage "The variant that a JSON text says, or NULL for other texts.";
    since "4.0.0";
    example "SELECT try_parse_json('{\"a\":1,\"b\":0.8}')" => "{\"a\":1,\"b\":0.8}";
    example "SELECT try_parse_json('{\"a\":1,')" => "NULL";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("parse_json", parse), &kernel("try_parse_json", try_parse)];

fn build(
    function: &'static Function,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
    is_try: bool,
) -> Result<TypedExpr> {
    let argument = arguments.into_iter().next().ok_or_else(|| SparkError::internal("one argument was expected"))?;
    let call = function.call_text(&[argument.name.clone()]);
    // Other types are not read as text.
    if !argument.data_type.is_string() && !argument.data_type.is_null() {
        return Err(mismatch::unexpected_input(&call, 0, ArgType::String, &argument));
    }
    let argument = crate::coercion::coerce_argument(argument, ArgType::String, 0, &call, context)?;
    let payload = context.conf.variant_allow_duplicate_keys.then(|| Arc::from("duplicates"));
    let nullable = is_try || argument.nullable;
    let arguments = [argument];
    let kernel = if is_try { try_parse } else { parse };
    let expr =
        crate::kernel::call_with_payload(function, kernel, &arguments, &DataType::Variant, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, DataType::Variant, nullable, call))
}

fn parse(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    parse_texts(args, false)
}

fn try_parse(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    parse_texts(args, true)
}

fn parse_texts(args: &KernelArgs<'_>, is_try: bool) -> Result<ColumnarValue> {
    let texts: Texts = Rows::of(args, 0)?;
    let mut builder = VariantBuilder::new(args.settings.payload.is_some());
    let mut out = VariantsBuilder::default();
    for row in 0..row_count(args) {
        let Some(text) = texts.get(row) else {
            out.append_null();
            continue;
        };
        match append_json(&mut builder, text).and_then(|()| out.append(&mut builder)) {
            Ok(()) => {}
            Err(_) if is_try => {
                builder.clear();
                out.append_null();
            }
            Err(error) if error.is("VARIANT_CONSTRUCTOR_SIZE_LIMIT") => {
                return Err(SparkError::new("VARIANT_SIZE_LIMIT")
                    .with("sizeLimit", "128.0 MiB")
                    .with("functionName", "`parse_json`"));
            }
            Err(_) => {
                return Err(SparkError::new("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
                    .with("badRecord", text)
                    .with("failFastMode", "FAILFAST"));
            }
        }
    }
    finish(args, out.finish()?)
}

/// JSON by the book.
const STRICT: Leniency = Leniency { single_quotes: false, control_characters: false, ..Leniency::DEFAULT };

fn malformed(_: Malformed) -> SparkError {
    SparkError::new("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
}

/// Appends the value that a text begins with; what follows it does not count.
pub fn append_json(builder: &mut VariantBuilder, text: &str) -> Result<()> {
    let mut reader = Reader::new(text, STRICT);
    match reader.token().map_err(malformed)? {
        Token::End => Err(malformed(Malformed)),
        token => append_value(builder, &mut reader, token),
    }
}

fn append_value(builder: &mut VariantBuilder, reader: &mut Reader<'_>, token: Token<'_>) -> Result<()> {
    match token {
        Token::Null => builder.append_null(),
        Token::True => builder.append_boolean(true),
        Token::False => builder.append_boolean(false),
        Token::Text(text) => builder.append_text(&text),
        Token::Whole(text) => append_whole(builder, text),
        Token::Fraction(text) => append_fraction(builder, text),
        Token::NonNumber(value) => builder.append_double(value),
        Token::StartArray => {
            let start = builder.position();
            let mut offsets = Vec::new();
            loop {
                match reader.token().map_err(malformed)? {
                    Token::EndArray => break,
                    token => {
                        offsets.push(builder.position() - start);
                        append_value(builder, reader, token)?;
                    }
                }
            }
            builder.finish_array(start, &offsets);
        }
        Token::StartObject => {
            let start = builder.position();
            let mut fields = Vec::new();
            loop {
                match reader.token().map_err(malformed)? {
                    Token::EndObject => break,
                    Token::Name(name) => {
                        fields.push(builder.field(start, &name));
                        let token = reader.token().map_err(malformed)?;
                        append_value(builder, reader, token)?;
                    }
                    _ => return Err(malformed(Malformed)),
                }
            }
            builder.finish_object(start, &mut fields)?;
        }
        Token::EndObject | Token::EndArray | Token::Name(_) | Token::End => return Err(malformed(Malformed)),
    }
    Ok(())
}

/// Appends a whole number as it is written.
pub fn append_whole(builder: &mut VariantBuilder, text: &str) {
    match text.parse::<i64>() {
        Ok(value) => builder.append_integer(value),
        Err(_) => append_fraction(builder, text),
    }
}

/// Appends a number as a decimal, or as a double where it has an exponent or too many digits.
pub fn append_fraction(builder: &mut VariantBuilder, text: &str) {
    match decimal(text) {
        Some((unscaled, scale)) => builder.append_decimal(unscaled, scale),
        // The reader lets no other texts pass than numbers.
        None => builder.append_double(text.parse().unwrap_or(f64::NAN)),
    }
}

fn decimal(text: &str) -> Option<(i128, i8)> {
    const MOST: i128 = 10_i128.pow(38) - 1;
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let scale = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = i8::try_from(scale).ok().filter(|s| *s <= 38)?;
    let mut unscaled: i128 = 0;
    for byte in digits.bytes().filter(|b| *b != b'.') {
        if !byte.is_ascii_digit() {
            return None;
        }
        unscaled = unscaled.checked_mul(10)?.checked_add(i128::from(byte - b'0')).filter(|v| *v <= MOST)?;
    }
    Some((if is_negative { -unscaled } else { unscaled }, scale))
}
