//! Text as form data in URLs, and back.

use crate::scalar::string::declare::{function, lenient, param};
use crate::scalar::string::rows::{Rows, Texts, texts};
use crate::{ArgType, KernelArgs, Signature};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;

const TEXT: Signature = Signature::of(&[param("str", ArgType::String)]);

function! {
    /// `url_encode(str)`
    URL_ENCODE = "url_encode" in Url, TEXT => lenient(DataType::STRING, url_encode);
    usage "The text as `application/x-www-form-urlencoded`.";
    since "3.4.0";
    example "SELECT url_encode('https://spark.apache.org')" => "https%3A%2F%2Fspark.apache.org";
}
function! {
    /// `url_decode(str)`
    URL_DECODE = "url_decode" in Url, TEXT => lenient(DataType::STRING, |args| url_decode(args, true));
    usage "The text that `application/x-www-form-urlencoded` data stands for.";
    since "3.4.0";
    example "SELECT url_decode('https%3A%2F%2Fspark.apache.org')" => "https://spark.apache.org";
}
function! {
    /// `try_url_decode(str)`
    TRY_URL_DECODE = "try_url_decode" in Url, TEXT => lenient(DataType::STRING, |args| url_decode(args, false));
    usage "As `url_decode`, but null where the data are malformed.";
    since "4.0.0";
    example "SELECT try_url_decode('https%3A%2F%2Fspark.apache.org')" => "https://spark.apache.org";
}

fn url_encode(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let Some(text) = values.get(row) else { return Ok(None) };
        for byte in text.bytes() {
            let _ = match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.write_char(char::from(byte)),
                b' ' => out.write_char('+'),
                _ => write!(out, "%{byte:02X}"),
            };
        }
        Ok(Some(()))
    })
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|b| char::from(b).to_digit(16));
                (digit()? * 16 + digit()?) as u8
            }
            other => other,
        });
    }
    Some(bytes)
}

fn url_decode(args: &KernelArgs<'_>, fails: bool) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let Some(text) = values.get(row) else { return Ok(None) };
        match decode(text) {
            Some(bytes) => Ok(out.write_str(&String::from_utf8_lossy(&bytes)).ok()),
            None if fails => Err(SparkError::new("CANNOT_DECODE_URL").with("url", text)),
            None => Ok(None),
        }
    })
}
