//! Checks of UTF-8.
//!
//! Strings of this server are valid always, so that only binaries can fail.

use super::declare::{function, lenient, param};
use super::rows::{Bytes, booleans, texts};
use crate::{ArgType, KernelArgs, Signature};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;

const TEXT: Signature = Signature::of(&[param("str", ArgType::OneOf(&[ArgType::String, ArgType::Binary]))]);

function! {
    /// `is_valid_utf8(str)`
    IS_VALID_UTF8 = "is_valid_utf8" in String, TEXT => lenient(DataType::Boolean, is_valid);
    usage "True where the bytes are valid UTF-8.";
    since "4.0.0";
    example "SELECT is_valid_utf8('Spark')" => "true";
    example "SELECT is_valid_utf8(x'80')" => "false";
}
function! {
    /// `make_valid_utf8(str)`
    MAKE_VALID_UTF8 = "make_valid_utf8" in String, TEXT => lenient(DataType::STRING, make_valid);
    usage "The text with U+FFFD in the place of bytes that are not valid UTF-8.";
    since "4.0.0";
    example "SELECT make_valid_utf8('Spark')" => "Spark";
}
function! {
    /// `validate_utf8(str)`
    VALIDATE_UTF8 = "validate_utf8" in String, TEXT => lenient(DataType::STRING, validate);
    usage "The text itself; fails where it is not valid UTF-8.";
    since "4.0.0";
    example "SELECT validate_utf8('Spark')" => "Spark";
}
function! {
    /// `try_validate_utf8(str)`
    TRY_VALIDATE_UTF8 = "try_validate_utf8" in String, TEXT => lenient(DataType::STRING, try_validate);
    usage "The text itself; null where it is not valid UTF-8.";
    since "4.0.0";
    example "SELECT try_validate_utf8('Spark')" => "Spark";
    example "SELECT try_validate_utf8(x'80')" => "NULL";
}

fn is_valid(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values = Bytes::of(args, 0)?;
    booleans(args, |row| Ok(values.get(row).map(|bytes| std::str::from_utf8(bytes).is_ok())))
}

fn make_valid(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values = Bytes::of(args, 0)?;
    texts(args, |row, out| Ok(values.get(row).and_then(|bytes| out.write_str(&String::from_utf8_lossy(bytes)).ok())))
}

fn validate(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values = Bytes::of(args, 0)?;
    texts(args, |row, out| {
        let Some(bytes) = values.get(row) else { return Ok(None) };
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(out.write_str(text).ok()),
            Err(_) => {
                let shown: String = bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect();
                Err(SparkError::new("INVALID_UTF8_STRING").with("str", shown))
            }
        }
    })
}

fn try_validate(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values = Bytes::of(args, 0)?;
    texts(args, |row, out| {
        Ok(values.get(row).and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(|t| out.write_str(t).ok()))
    })
}
