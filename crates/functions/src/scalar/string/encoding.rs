//! Hexadecimal and Base64 text.

use super::constant::{text_of, value_of};
use super::declare::{function, param, strict};
use super::rows::{Binaries, Bytes, Rows, Texts, array_or_constant, binaries, downcast, texts};
use crate::coercion::mismatch::quoted;
use crate::kernel::kernel;
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Nullability, Returns, Signature, TypedExpr};
use arrow::array::{Array, Int64Array};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;
use std::sync::Arc;

const DECODER: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
/// Characters of a line of Base64 text.
const LINE: usize = 76;

function! {
    /// `base64(bin)`
    BASE64 = "base64" in String, Signature::of(&[param("bin", ArgType::Binary)]) => strict(DataType::STRING, base64);
    usage "The bytes as Base64 text, in lines of 76 characters.";
    since "1.5.0";
    example "SELECT base64('Spark SQL')" => "U3BhcmsgU1FM";
}
function! {
    /// `unbase64(str)`
    UNBASE64 = "unbase64" in String, Signature::of(&[param("str", ArgType::String)]) => strict(DataType::Binary, unbase64);
    usage "The bytes that Base64 text stands for.";
    since "1.5.0";
    example "SELECT unbase64('U3BhcmsgU1FM')" => "Spark SQL";
}
function! {
    /// `hex(expr)`
    HEX = "hex" in Math,
        Signature::of(&[param("expr", ArgType::OneOf(&[ArgType::Long, ArgType::Binary, ArgType::String]))])
        => strict(DataType::STRING, hex);
    usage "A whole number, or the bytes of a string or a binary, in hexadecimal digits.";
    since "1.5.0";
    example "SELECT hex(17)" => "11";
    example "SELECT hex('Spark SQL')" => "537061726B2053514C";
}
function! {
    /// `unhex(expr)`
    UNHEX = "unhex" in Math, Signature::of(&[param("expr", ArgType::String)])
        => Body::Scalar { returns: Returns::Type(DataType::Binary), nullable: Nullability::Always, kernel: unhex };
    usage "The bytes that hexadecimal digits stand for; null where there are other characters.";
    since "1.5.0";
    example "SELECT decode(unhex('537061726B2053514C'), 'UTF-8')" => "Spark SQL";
}
function! {
    /// `to_binary(str[, fmt])`
    TO_BINARY = "to_binary" in String, TO_BINARY_ARGUMENTS
        => Body::Build(|context, arguments| build_to_binary(&TO_BINARY, to_binary, context, arguments));
    usage "The bytes of a text in the format `hex` (the default), `utf-8`, `utf8` or `base64`.";
    since "3.3.0";
    example "SELECT to_binary('abc', 'utf-8')" => "abc";
}
function! {
    /// `try_to_binary(str[, fmt])`
    TRY_TO_BINARY = "try_to_binary" in String, TO_BINARY_ARGUMENTS
        => Body::Build(|context, arguments| build_to_binary(&TRY_TO_BINARY, try_to_binary, context, arguments));
    usage "As `to_binary`, but null where the text is not in the format.";
    since "3.3.0";
    example "SELECT try_to_binary('abc', 'utf-8')" => "abc";
}

const TO_BINARY_ARGUMENTS: Signature =
    Signature::with_optional(&[param("str", ArgType::String), param("fmt", ArgType::String)], 1);

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("to_binary", to_binary), &kernel("try_to_binary", try_to_binary)];

fn base64(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Binaries = Rows::of(args, 0)?;
    // Another setting of Spark's writes one line; the default does not.
    let mut buffer = String::new();
    texts(args, |row, out| {
        let Some(bytes) = values.get(row) else { return Ok(None) };
        buffer.clear();
        base64::engine::general_purpose::STANDARD.encode_string(bytes, &mut buffer);
        let mut from = 0;
        while buffer.len() - from > LINE {
            let _ = out.write_str(&buffer[from..from + LINE]);
            let _ = out.write_str("\r\n");
            from += LINE;
        }
        Ok(out.write_str(&buffer[from..]).ok())
    })
}

/// Why Base64 text cannot be decoded.
enum Base64Fault {
    Unit,
    Ending,
    /// Something follows the padding.
    After(usize),
}

/// Decodes as MIME does: other characters do not count.
fn decode_base64(text: &str) -> std::result::Result<Vec<u8>, Base64Fault> {
    let mut digits = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    let mut padded = false;
    for byte in bytes.by_ref() {
        match byte {
            b'=' => {
                padded = true;
                break;
            }
            b'+' | b'/' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => digits.push(byte),
            _ => {}
        }
    }
    if padded {
        let read = text.len() - bytes.len();
        let mut rest = bytes.enumerate();
        match digits.len() % 4 {
            0 => return Err(Base64Fault::Ending),
            1 => return Err(Base64Fault::Unit),
            // Two characters need a second sign right after.
            2 if rest.next().map(|(_, byte)| byte) != Some(b'=') => return Err(Base64Fault::Ending),
            _ => {}
        }
        if let Some((at, _)) = rest.find(|(_, b)| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/')) {
            return Err(Base64Fault::After(read + at));
        }
    } else if digits.len() % 4 == 1 {
        return Err(Base64Fault::Unit);
    }
    DECODER.decode(&digits).map_err(|_| Base64Fault::Unit)
}

fn unbase64(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    binaries(args, |row| {
        let Some(text) = values.get(row) else { return Ok(None) };
        decode_base64(text).map(Some).map_err(|fault| {
            let message = match fault {
                Base64Fault::Unit => "Last unit does not have enough valid bits".to_string(),
                Base64Fault::Ending => "Input byte array has wrong 4-byte ending unit".to_string(),
                Base64Fault::After(at) => format!("Input byte array has incorrect ending byte at {at}"),
            };
            SparkError::plain(ExceptionClass::IllegalArgument, message)
        })
    })
}

fn hex(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    if matches!(args.types.first(), Some(DataType::Long)) {
        let (array, is_constant) = array_or_constant(args, 0)?;
        let numbers = downcast::<Int64Array>(&array)?.clone();
        return texts(args, |row, out| {
            let row = if is_constant { 0 } else { row };
            if numbers.is_null(row) {
                return Ok(None);
            }
            Ok(write!(out, "{:X}", numbers.value(row)).ok())
        });
    }
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let values = Bytes::of(args, 0)?;
    let mut buffer = String::new();
    texts(args, |row, out| {
        let Some(bytes) = values.get(row) else { return Ok(None) };
        buffer.clear();
        for byte in bytes {
            buffer.push(char::from(DIGITS[usize::from(byte >> 4)]));
            buffer.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        Ok(out.write_str(&buffer).ok())
    })
}

/// The bytes of hexadecimal digits; an odd first digit is a byte of its own.
pub fn decode_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|d| d as u8);
    let (head, rest) = text.split_at(text.len() % 2);
    let mut bytes = Vec::with_capacity(text.len() / 2 + 1);
    for byte in head {
        bytes.push(digit(*byte)?);
    }
    for pair in rest.chunks_exact(2) {
        bytes.push((digit(pair[0])? << 4) | digit(pair[1])?);
    }
    Some(bytes)
}

fn unhex(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    binaries(args, |row| Ok(values.get(row).and_then(|text| decode_hex(text.as_bytes()))))
}

fn build_to_binary(
    function: &'static Function,
    kernel: KernelFn,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = function.call_text(&names);
    let is_try = function.name.starts_with("try_");
    let Some(value) = arguments.first().cloned() else {
        return Err(SparkError::internal("to_binary without arguments"));
    };
    let format = match arguments.get(1) {
        None => Some("hex".to_string()),
        Some(argument) => match value_of(argument)? {
            Some(value) => text_of(&value).map(str::to_ascii_lowercase),
            None => return Err(super::constant::not_foldable(argument, &text, "fmt", "STRING")),
        },
    };
    let known = format.as_deref().is_none_or(|f| matches!(f, "hex" | "utf-8" | "utf8" | "base64"));
    if !known && !is_try {
        return Err(SparkError::new("DATATYPE_MISMATCH.INVALID_ARG_VALUE")
            .with("inputName", "fmt")
            .with("requireType", "case-insensitive \"STRING\"")
            .with("validValues", "'hex', 'utf-8', 'utf8', or 'base64'")
            .with("inputValue", format!("'{}'", format.unwrap_or_default()))
            .with("sqlExpr", quoted(&text)));
    }
    let format = format.filter(|_| known);
    // Only hexadecimal digits can count as null in the plan: they come from `unhex`.
    let nullable = is_try || value.nullable || matches!(format.as_deref(), None | Some("hex" | "utf-8" | "utf8"));
    let payload = Some(Arc::from(format.unwrap_or_else(|| "null".to_string())));
    let expr =
        crate::kernel::call_with_payload(function, kernel, &[value], &DataType::Binary, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, DataType::Binary, nullable, text))
}

fn to_binary(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    convert(args, true)
}

fn try_to_binary(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    convert(args, false)
}

fn convert(args: &KernelArgs<'_>, fails: bool) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let format = args.settings.payload.as_deref().unwrap_or("hex");
    binaries(args, |row| {
        let Some(text) = values.get(row) else { return Ok(None) };
        let decoded = match format {
            "hex" => decode_hex(text.as_bytes()),
            // Strictly what the alphabet has, unlike `unbase64`.
            "base64" if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/= \t\r\n".contains(&b)) => {
                decode_base64(text).ok()
            }
            "base64" => None,
            "null" => return Ok(None),
            _ => Some(text.as_bytes().to_vec()),
        };
        if decoded.is_none() && fails {
            return Err(SparkError::new("CONVERSION_INVALID_INPUT")
                .with("str", format!("'{text}'"))
                .with("fmt", format!("'{}'", format.to_ascii_uppercase()))
                .with("targetType", "\"BINARY\"")
                .with("suggestion", "`try_to_binary`"));
        }
        Ok(decoded)
    })
}
