//! Text as bytes of a character set, and back.

use super::declare::function;
use super::declare::param;
use super::rows::{Binaries, Rows, Texts, binaries, texts};
use crate::kernel::{call_with_payload, kernel};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::{Case, ColumnarValue, Expr};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;
use std::sync::Arc;

const CHARSETS: &str = "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8";

function! {
    /// `encode(str, charset)`
    ENCODE = "encode" in String, Signature::of(&[param("str", ArgType::String), param("charset", ArgType::String)])
        => Body::Build(build_encode);
    usage "The text as bytes of a character set.";
    since "1.5.0";
    example "SELECT encode('abc', 'utf-8')" => "abc";
}
function! {
    /// `decode(bin, charset)` and `decode(expr, search, result, …[, default])`
    DECODE = "decode" in String, Signature::variadic(&[], ArgType::Any) => Body::Build(build_decode);
    usage "Bytes of a character set as text; with more arguments, the result after the first `search` that equals `expr`.";
    since "1.5.0";
    example "SELECT decode(encode('abc', 'utf-8'), 'utf-8')" => "abc";
    example "SELECT decode(2, 1, 'Southlake', 2, 'San Francisco', 3, 'New Jersey', 4, 'Seattle', 'Non domestic')" => "San Francisco";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("encode", encode), &kernel("decode", decode)];

const DECODE_BYTES: Signature = Signature::of(&[param("bin", ArgType::Binary), param("charset", ArgType::String)]);

#[derive(Clone, Copy, PartialEq)]
enum Charset {
    Latin1,
    Ascii,
    Utf8,
    Utf16,
    Utf16Be,
    Utf16Le,
    Utf32,
    Windows1252,
}

/// What the bytes from 0x80 to 0x9f stand for in `windows-1252`; U+FFFD: nothing.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž', '\u{fffd}', //
    '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}', 'ž', 'Ÿ',
];

/// What legacy settings make of character sets.
#[derive(Clone, Copy)]
struct Legacy {
    /// Further names that Java knows.
    java_names: bool,
    /// What cannot be written becomes `?`, and what cannot be read U+FFFD.
    replaces: bool,
}

impl Legacy {
    /// The payload of calls under these settings.
    fn payload(conf: &SqlConf) -> Option<Arc<str>> {
        match (conf.java_charsets, conf.coding_error_action) {
            (false, false) => None,
            (java, replaces) => Some(Arc::from(format!("{}{}", u8::from(java), u8::from(replaces)))),
        }
    }

    fn of(args: &KernelArgs<'_>) -> Self {
        let payload = args.settings.payload.as_deref().unwrap_or_default().as_bytes();
        Self { java_names: payload.first() == Some(&b'1'), replaces: payload.get(1) == Some(&b'1') }
    }

    fn charset(self, name: &str, function: &str) -> Result<Charset> {
        if !self.java_names {
            return charset(name, function);
        }
        let lower = name.to_ascii_lowercase().replace('_', "-");
        Ok(match lower.as_str() {
            "windows-1252" | "cp1252" => Charset::Windows1252,
            "latin1" | "iso8859-1" | "iso-latin-1" | "l1" | "cp819" => Charset::Latin1,
            "ascii" | "iso646-us" | "cp367" => Charset::Ascii,
            "utf8" => Charset::Utf8,
            "utf16" => Charset::Utf16,
            "utf32" => Charset::Utf32,
            _ => charset(&lower, function).map_err(|_| SparkError::unsupported(format!("the charset {name}")))?,
        })
    }
}

fn charset(name: &str, function: &str) -> Result<Charset> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "iso-8859-1" => Charset::Latin1,
        "us-ascii" => Charset::Ascii,
        "utf-8" => Charset::Utf8,
        "utf-16" => Charset::Utf16,
        "utf-16be" => Charset::Utf16Be,
        "utf-16le" => Charset::Utf16Le,
        "utf-32" => Charset::Utf32,
        _ => {
            return Err(SparkError::new("INVALID_PARAMETER_VALUE.CHARSET")
                .with("parameter", "`charset`")
                .with("functionName", format!("`{function}`"))
                .with("charset", name)
                .with("charsets", CHARSETS));
        }
    })
}

fn malformed(function: &str, charset: &str) -> SparkError {
    SparkError::new("MALFORMED_CHARACTER_CODING").with("function", format!("`{function}`")).with("charset", charset)
}

fn encode_text(text: &str, charset: Charset) -> Option<Vec<u8>> {
    let limit = |bound: u32| text.chars().map(|c| (u32::from(c) < bound).then_some(c as u8)).collect();
    match charset {
        Charset::Utf8 => Some(text.as_bytes().to_vec()),
        Charset::Ascii => limit(0x80),
        Charset::Latin1 => limit(0x100),
        Charset::Utf16Be => Some(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        Charset::Utf16Le => Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        Charset::Utf16 if text.is_empty() => Some(Vec::new()),
        Charset::Utf16 => Some([0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()),
        Charset::Utf32 => Some(text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect()),
        Charset::Windows1252 => text
            .chars()
            .map(|c| {
                match (
                    u32::from(c),
                    WINDOWS_1252.iter().position(|known| *known == c && c != char::REPLACEMENT_CHARACTER),
                ) {
                    (code @ (0..0x80 | 0xa0..0x100), _) => u8::try_from(code).ok(),
                    (_, Some(at)) => Some(0x80 + at as u8),
                    _ => None,
                }
            })
            .collect(),
    }
}

/// A text as bytes, character by character, with `?` for what the set does not have.
fn encode_replacing(text: &str, charset: Charset) -> Vec<u8> {
    let one = |c: char| encode_text(c.encode_utf8(&mut [0; 4]), charset).unwrap_or_else(|| vec![b'?']);
    text.chars().flat_map(one).collect()
}

/// Bytes as text, with U+FFFD for what is none.
fn decode_replacing(bytes: &[u8], charset: Charset) -> String {
    let units = |big: bool| {
        let units = bytes.chunks_exact(2).map(|pair| {
            let pair = [pair[0], pair[1]];
            if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        });
        let mut text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        if !bytes.len().is_multiple_of(2) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        text
    };
    match charset {
        Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        Charset::Utf16 | Charset::Utf16Be => units(true),
        Charset::Utf16Le => units(false),
        _ => {
            let width = if charset == Charset::Utf32 { 4 } else { 1 };
            let unknown = || char::REPLACEMENT_CHARACTER.to_string();
            bytes.chunks(width).map(|one| decode_bytes(one, charset).unwrap_or_else(unknown)).collect()
        }
    }
}

fn decode_utf16(bytes: &[u8], big: bool) -> Option<String> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let units = bytes
        .chunks_exact(2)
        .map(|pair| if big { u16::from_be_bytes([pair[0], pair[1]]) } else { u16::from_le_bytes([pair[0], pair[1]]) });
    char::decode_utf16(units).collect::<std::result::Result<String, _>>().ok()
}

fn decode_bytes(bytes: &[u8], charset: Charset) -> Option<String> {
    match charset {
        Charset::Utf8 => String::from_utf8(bytes.to_vec()).ok(),
        Charset::Ascii => bytes.is_ascii().then(|| bytes.iter().map(|b| char::from(*b)).collect()),
        Charset::Latin1 => Some(bytes.iter().map(|b| char::from(*b)).collect()),
        Charset::Windows1252 => bytes
            .iter()
            .map(|b| match b.checked_sub(0x80).and_then(|at| WINDOWS_1252.get(usize::from(at))) {
                Some(&char::REPLACEMENT_CHARACTER) => None,
                Some(c) => Some(*c),
                None => Some(char::from(*b)),
            })
            .collect(),
        Charset::Utf16Be => decode_utf16(bytes, true),
        Charset::Utf16Le => decode_utf16(bytes, false),
        Charset::Utf16 => match bytes {
            [0xff, 0xfe, rest @ ..] => decode_utf16(rest, false),
            [0xfe, 0xff, rest @ ..] => decode_utf16(rest, true),
            _ => decode_utf16(bytes, true),
        },
        Charset::Utf32 => {
            let (bytes, big) = match bytes {
                [0, 0, 0xfe, 0xff, rest @ ..] => (rest, true),
                [0xff, 0xfe, 0, 0, rest @ ..] => (rest, false),
                _ => (bytes, true),
            };
            if !bytes.len().is_multiple_of(4) {
                return None;
            }
            bytes
                .chunks_exact(4)
                .map(|b| {
                    let b = [b[0], b[1], b[2], b[3]];
                    char::from_u32(if big { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) })
                })
                .collect()
        }
    }
}

fn encode(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, names): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let legacy = Legacy::of(args);
    binaries(args, |row| {
        let (Some(text), Some(name)) = (values.get(row), names.get(row)) else { return Ok(None) };
        let charset = legacy.charset(name, "encode")?;
        match encode_text(text, charset) {
            Some(bytes) => Ok(Some(bytes)),
            None if legacy.replaces => Ok(Some(encode_replacing(text, charset))),
            None => Err(malformed("encode", name)),
        }
    })
}

fn decode(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, names): (Binaries, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let legacy = Legacy::of(args);
    texts(args, |row, out| {
        let (Some(bytes), Some(name)) = (values.get(row), names.get(row)) else { return Ok(None) };
        let charset = legacy.charset(name, "decode")?;
        let text = match decode_bytes(bytes, charset) {
            Some(text) => text,
            None if legacy.replaces => decode_replacing(bytes, charset),
            None => return Err(malformed("decode", name)),
        };
        Ok(out.write_str(&text).ok())
    })
}

fn build_encode(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let payload = Legacy::payload(context.conf);
    let expr = call_with_payload(&ENCODE, encode, &arguments, &DataType::Binary, true, context, payload)?;
    Ok(TypedExpr::new(expr, DataType::Binary, true, ENCODE.call_text(&names)))
}

fn build_decode(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = DECODE.call_text(&names);
    match arguments.len() {
        0 | 1 => {
            return Err(SparkError::new("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
                .with("functionName", "`decode`")
                .with("expectedNum", "2")
                .with("actualNum", arguments.len().to_string())
                .with("docroot", "https://spark.apache.org/docs/latest"));
        }
        2 => {
            let arguments = DECODE_BYTES.apply("decode", &text, arguments, context)?;
            let payload = Legacy::payload(context.conf);
            let expr = call_with_payload(&DECODE, decode, &arguments, &DataType::STRING, true, context, payload)?;
            return Ok(TypedExpr::new(expr, DataType::STRING, true, text));
        }
        _ => {}
    }
    // CASE WHEN expr <=> search THEN result … ELSE default END
    let mut rest = arguments.into_iter();
    let Some(subject) = rest.next() else { return Err(SparkError::internal("decode without arguments")) };
    let mut searches = Vec::new();
    let mut results = Vec::new();
    let mut default = None;
    while let Some(search) = rest.next() {
        match rest.next() {
            Some(result) => {
                searches.push(context.call("<=>", vec![subject.clone(), search])?);
                results.push(result);
            }
            None => default = Some(search),
        }
    }
    let has_default = default.is_some();
    results.extend(default);
    let mut results = crate::coercion::to_common_type(results, "decode", &text, context)?;
    let data_type = results.first().map_or(DataType::Null, |r| r.data_type.clone());
    let nullable = !has_default || results.iter().any(|r| r.nullable);
    let default = if has_default { results.pop() } else { None };
    let case = Case::new(
        None,
        searches.into_iter().zip(results).map(|(when, then)| (Box::new(when.expr), Box::new(then.expr))).collect(),
        default.map(|d| Box::new(d.expr)),
    );
    Ok(TypedExpr::new(Expr::Case(case), data_type, nullable, text))
}
