//! Single characters, and what kind they are of.

use super::constant::{not_foldable, text_of, value_of};
use super::declare::{function, lenient, param, strict};
use super::rows::{Longs, Rows, Texts, booleans, primitives, texts};
use crate::kernel::kernel;
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::datatypes::Int32Type;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;
use std::sync::OnceLock;

const TEXT: Signature = Signature::of(&[param("str", ArgType::String)]);
const CODE: Signature = Signature::of(&[param("expr", ArgType::Long)]);

function! {
    /// `ascii(str)`
    ASCII = "ascii" in String, TEXT => strict(DataType::Integer, ascii);
    usage "The code of the first character; 0 for the empty text.";
    since "1.5.0";
    example "SELECT ascii('222')" => "50";
}
function! {
    /// `chr(expr)`
    CHR = "chr" in String, CODE => strict(DataType::STRING, chr);
    usage "The character of a code modulo 256; nothing for codes below zero.";
    since "2.3.0";
    example "SELECT chr(65)" => "A";
}
function! {
    /// `char(expr)`
    CHAR = "char" in String, CODE => strict(DataType::STRING, chr);
    usage "The character of a code modulo 256; nothing for codes below zero.";
    since "2.3.0";
    example "SELECT char(65)" => "A";
}
function! {
    /// `luhn_check(str)`
    LUHN_CHECK = "luhn_check" in String, TEXT => lenient(DataType::Boolean, luhn_check);
    usage "True where digits pass Luhn's check, as the numbers of payment cards do.";
    since "3.5.0";
    example "SELECT luhn_check('8112189876')" => "true";
    example "SELECT luhn_check('79927398714')" => "false";
}
function! {
    /// `mask(input[, upperChar, lowerChar, digitChar, otherChar])`
    MASK = "mask" in String, Signature::with_optional(
            &[
                param("str", ArgType::TEXT),
                param("upperChar", ArgType::TEXT),
                param("lowerChar", ArgType::TEXT),
                param("digitChar", ArgType::TEXT),
                param("otherChar", ArgType::TEXT),
            ],
            4,
        )
        => Body::Build(build_mask);
    text |a| {
        let mut all: Vec<&str> = a.iter().map(String::as_str).collect();
        all.extend(["X", "x", "n", "NULL"].into_iter().skip(all.len().saturating_sub(1)));
        format!("mask({})", all.join(", "))
    };
    usage "mask(input[, upperChar, lowerChar, digitChar, otherChar]) - The text with capital letters, small letters, digits and others replaced by a character each; null keeps them.";
    since "3.4.0";
    example "SELECT mask('abcd-EFGH-8765-4321')" => "xxxx-XXXX-nnnn-nnnn";
    example "SELECT mask('AbCD123-@$#', 'Q', 'q', 'd', 'o')" => "QqQQdddoooo";
}
function! {
    /// `quote(str)`
    QUOTE = "quote" in String, TEXT => lenient(DataType::STRING, quote);
    usage "The text in single quotes, with a backslash before each single quote in it.";
    since "4.1.0";
    example "SELECT quote('Don\\'t')" => "'Don\\'t'";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("mask", mask)];

fn ascii(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    primitives::<Int32Type>(args, |row| {
        Ok(values.get(row).map(|text| text.chars().next().map_or(0, |c| u32::from(c) as i32)))
    })
}

fn chr(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let codes: Longs = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let Some(code) = codes.get(row) else { return Ok(None) };
        if code >= 0 {
            let _ = out.write_char(char::from((code & 0xff) as u8));
        }
        Ok(Some(()))
    })
}

fn luhn(text: &str) -> bool {
    if text.is_empty() {
        return false;
    }
    let mut sum = 0u32;
    for (index, byte) in text.bytes().rev().enumerate() {
        if !byte.is_ascii_digit() {
            return false;
        }
        let digit = u32::from(byte - b'0');
        sum += match index % 2 {
            1 if digit > 4 => digit * 2 - 9,
            1 => digit * 2,
            _ => digit,
        };
    }
    sum.is_multiple_of(10)
}

fn luhn_check(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    booleans(args, |row| Ok(values.get(row).map(luhn)))
}

/// The characters to write must be constant, and one character each.
fn build_mask(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    const NAMES: [&str; 4] = ["upperChar", "lowerChar", "digitChar", "otherChar"];
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let call = MASK.call_text(&names);
    for (argument, name) in arguments.iter().skip(1).zip(NAMES) {
        let Some(value) = value_of(argument)? else {
            return Err(not_foldable(argument, &call, name, "STRING"));
        };
        if text_of(&value).is_some_and(|text| text.chars().count() != 1) {
            return Err(SparkError::new("DATATYPE_MISMATCH.INPUT_SIZE_NOT_ONE")
                .with("exprName", name)
                .with("sqlExpr", format!("\"{call}\"")));
        }
    }
    let Some(first) = arguments.first() else { return Err(SparkError::internal("mask without arguments")) };
    let data_type = first.data_type.clone();
    let expr = crate::kernel::call(&MASK, mask, &arguments, &data_type, true, context)?;
    Ok(TypedExpr::new(expr, data_type, true, call))
}

/// The general category of a character, as far as `mask` tells them apart.
enum Kind {
    Upper,
    Lower,
    Digit,
    Other,
}

fn kind(character: char) -> Kind {
    static CATEGORIES: OnceLock<Option<regex::Regex>> = OnceLock::new();
    match character {
        'A'..='Z' => return Kind::Upper,
        'a'..='z' => return Kind::Lower,
        '0'..='9' => return Kind::Digit,
        _ if character.is_ascii() => return Kind::Other,
        _ => {}
    }
    let categories = CATEGORIES.get_or_init(|| regex::Regex::new(r"^(?:(\p{Lu})|(\p{Ll})|(\p{Nd}))$").ok()).as_ref();
    let mut buffer = [0; 4];
    let found = categories.and_then(|regex| regex.captures(character.encode_utf8(&mut buffer)));
    match found {
        Some(groups) if groups.get(1).is_some() => Kind::Upper,
        Some(groups) if groups.get(2).is_some() => Kind::Lower,
        Some(_) => Kind::Digit,
        None => Kind::Other,
    }
}

fn mask(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let masks = (1..args.values.len()).map(|i| Rows::of(args, i)).collect::<Result<Vec<Texts>>>()?;
    texts(args, |row, out| {
        let Some(text) = values.get(row) else { return Ok(None) };
        let mask = |index: usize, default: Option<char>| match masks.get(index) {
            // Half a character of two Java chars is no character.
            Some(masks) => masks.get(row).and_then(|m| m.chars().next()).map(|c| if c > '\u{ffff}' { '?' } else { c }),
            None => default,
        };
        let (upper, lower, digit, other) = (mask(0, Some('X')), mask(1, Some('x')), mask(2, Some('n')), mask(3, None));
        for character in text.chars() {
            let mask = match kind(character) {
                Kind::Upper => upper,
                Kind::Lower => lower,
                Kind::Digit => digit,
                Kind::Other => other,
            };
            let _ = out.write_char(mask.unwrap_or(character));
        }
        Ok(Some(()))
    })
}

fn quote(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let Some(text) = values.get(row) else { return Ok(None) };
        let _ = out.write_char('\'');
        for (index, piece) in text.split('\'').enumerate() {
            if index > 0 {
                let _ = out.write_str("\\'");
            }
            let _ = out.write_str(piece);
        }
        Ok(out.write_char('\'').ok())
    })
}
