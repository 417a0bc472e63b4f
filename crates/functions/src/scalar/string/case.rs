//! Capital and small letters.

use super::declare::{function, param, same_type};
use super::rows::{Rows, Texts, texts};
use crate::{ArgType, KernelArgs, Signature};
use arrow::array::builder::StringBuilder;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use std::fmt::Write;

const TEXT: Signature = Signature::of(&[param("str", ArgType::String)]);

function! {
    /// `upper(str)`
    UPPER = "upper" in String, TEXT => same_type(upper);
    usage "The text in capital letters.";
    since "1.0.1";
    example "SELECT upper('SparkSql')" => "SPARKSQL";
}
function! {
    /// `ucase(str)`
    UCASE = "ucase" in String, TEXT => same_type(upper);
    usage "The text in capital letters.";
    since "1.0.1";
    example "SELECT ucase('SparkSql')" => "SPARKSQL";
}
function! {
    /// `lower(str)`
    LOWER = "lower" in String, TEXT => same_type(lower);
    usage "The text in small letters.";
    since "1.0.1";
    example "SELECT lower('SparkSql')" => "sparksql";
}
function! {
    /// `lcase(str)`
    LCASE = "lcase" in String, TEXT => same_type(lower);
    usage "The text in small letters.";
    since "1.0.1";
    example "SELECT lcase('SparkSql')" => "sparksql";
}
function! {
    /// `initcap(str)`
    INITCAP = "initcap" in String, TEXT => same_type(initcap);
    usage "The text with a capital first letter in each word and small letters otherwise; blanks part words.";
    since "1.5.0";
    example "SELECT initcap('sPark sql')" => "Spark Sql";
}

/// Writes a text changed byte by byte where it is ASCII, else as a whole.
fn map(args: &KernelArgs<'_>, ascii: fn(u8) -> u8, other: impl Fn(&str, &mut StringBuilder)) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let mut buffer = String::new();
    texts(args, |row, out| {
        let Some(text) = values.get(row) else { return Ok(None) };
        if text.is_ascii() {
            buffer.clear();
            buffer.extend(text.bytes().map(|byte| char::from(ascii(byte))));
            let _ = out.write_str(&buffer);
        } else {
            other(text, out);
        }
        Ok(Some(()))
    })
}

fn upper(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    map(
        args,
        |byte| byte.to_ascii_uppercase(),
        |text, out| {
            let _ = out.write_str(&text.to_uppercase());
        },
    )
}

fn lower(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    map(
        args,
        |byte| byte.to_ascii_lowercase(),
        |text, out| {
            let _ = out.write_str(&text.to_lowercase());
        },
    )
}

fn initcap(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let Some(text) = values.get(row) else { return Ok(None) };
        // Word by word, as a final sigma depends on its word.
        for (index, word) in text.split(' ').enumerate() {
            if index > 0 {
                let _ = out.write_char(' ');
            }
            let lower = word.to_lowercase();
            let mut characters = lower.chars();
            let Some(first) = characters.next() else { continue };
            match word.chars().next().map(title).unwrap_or_default() {
                title if title.is_empty() => drop(out.write_char(first)),
                title => drop(out.write_str(&title)),
            }
            let rest = match word.chars().next() {
                // A first letter may become several small ones.
                Some(original) => lower.get(original.to_lowercase().map(char::len_utf8).sum::<usize>()..),
                None => None,
            };
            let _ = out.write_str(rest.unwrap_or(characters.as_str()));
        }
        Ok(Some(()))
    })
}

/// The title case of a letter.
fn title(letter: char) -> String {
    match letter {
        'Ǆ' | 'ǅ' | 'ǆ' => "ǅ".to_string(),
        'Ǉ' | 'ǈ' | 'ǉ' => "ǈ".to_string(),
        'Ǌ' | 'ǋ' | 'ǌ' => "ǋ".to_string(),
        'Ǳ' | 'ǲ' | 'ǳ' => "ǲ".to_string(),
        'ŉ' => "ʼN".to_string(),
        // Greek letters with an iota below have title forms of their own.
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => {
            char::from_u32(u32::from(letter) + 8).map(String::from).unwrap_or_default()
        }
        'ᾳ' | 'ῃ' | 'ῳ' => char::from_u32(u32::from(letter) + 9).map(String::from).unwrap_or_default(),
        // Georgian letters have no title case of their own.
        '\u{10d0}'..='\u{10ff}' => letter.to_string(),
        _ => {
            let mut upper = letter.to_uppercase();
            let first = upper.next();
            first.into_iter().chain(upper.flat_map(char::to_lowercase)).collect()
        }
    }
}
