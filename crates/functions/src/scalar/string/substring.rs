//! Parts of strings.

use super::collation_search::{Search, Wanted};
use super::declare::{function, lenient, param, same_type, strict};
use super::rows::{Binaries, Integers, Rows, Texts, binaries, is_binary, texts};
use crate::{ArgType, Body, KernelArgs, Nullability, Returns, Signature};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use memchr::memmem;
use std::fmt::Write;

const TEXT_OR_BINARY: ArgType = ArgType::OneOf(&[ArgType::String, ArgType::Binary]);
const SUBSTRING_ARGUMENTS: Signature = Signature::with_optional(
    &[param("str", TEXT_OR_BINARY), param("pos", ArgType::Integer), param("len", ArgType::Integer)],
    1,
);
const END_ARGUMENTS: Signature = Signature::of(&[param("str", TEXT_OR_BINARY), param("len", ArgType::Integer)]);

fn substring_text(name: &str, a: &[String]) -> String {
    if a.len() > 2 { format!("{name}({})", a.join(", ")) } else { format!("{name}({}, {})", a.join(", "), i32::MAX) }
}

function! {
    /// `substring(str, pos[, len])`
    SUBSTRING = "substring" in String, SUBSTRING_ARGUMENTS => same_type(substring);
    text |a| substring_text("substring", a);
    usage "The part of the text from the character at `pos`, counted from 1 (below zero: from the end), `len` characters long.";
    since "1.5.0";
    example "SELECT substring('Spark SQL', 5)" => "k SQL";
    example "SELECT substring('Spark SQL', -3)" => "SQL";
    example "SELECT substring('Spark SQL', 5, 1)" => "k";
}
function! {
    /// `substr(str, pos[, len])`
    SUBSTR = "substr" in String, SUBSTRING_ARGUMENTS => same_type(substring);
    text |a| substring_text("substr", a);
    usage "The part of the text from the character at `pos`, counted from 1 (below zero: from the end), `len` characters long.";
    since "1.5.0";
    example "SELECT substr('Spark SQL', 5)" => "k SQL";
    example "SELECT substr('Spark SQL', -3)" => "SQL";
}
function! {
    /// `left(str, len)`
    LEFT = "left" in String, END_ARGUMENTS => same_type(left);
    usage "The first `len` characters.";
    since "2.3.0";
    example "SELECT left('Spark SQL', 3)" => "Spa";
}
function! {
    /// `right(str, len)`
    RIGHT = "right" in String,
        Signature::of(&[param("str", ArgType::String), param("len", ArgType::Integer)])
        => Body::Scalar { returns: Returns::SameAs(0), nullable: Nullability::Always, kernel: right };
    usage "The last `len` characters.";
    since "2.3.0";
    example "SELECT right('Spark SQL', 3)" => "SQL";
}
function! {
    /// `substring_index(str, delim, count)`
    SUBSTRING_INDEX = "substring_index" in String, Signature::of(&[
            param("str", ArgType::String),
            param("delim", ArgType::String),
            param("count", ArgType::Integer),
        ])
        => strict(DataType::STRING, substring_index);
    usage "The text before the `count`th `delim`; with a negative count, the text after that one from the end.";
    since "1.5.0";
    example "SELECT substring_index('www.apache.org', '.', 2)" => "www.apache";
}
function! {
    /// `split_part(str, delimiter, partNum)`
    SPLIT_PART = "split_part" in String, Signature::of(&[
            param("str", ArgType::String),
            param("delimiter", ArgType::String),
            param("partNum", ArgType::Integer),
        ])
        => lenient(DataType::STRING, split_part);
    usage "The part at `partNum` of the text split at `delimiter`, counted from 1 (below zero: from the end).";
    since "3.3.0";
    example "SELECT split_part('11.12.13', '.', 3)" => "13";
}

/// The first `length` characters.
pub fn prefix(text: &str, length: usize) -> &str {
    if length >= text.len() {
        return text;
    }
    match text.char_indices().nth(length) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The characters `start..end` of a part in SQL's counting, where `size` is the whole length
/// (only asked for when the position is negative).
fn range(position: i32, length: i32, size: impl FnOnce() -> usize) -> (usize, usize) {
    let start = match position {
        1.. => i64::from(position) - 1,
        0 => 0,
        _ => size() as i64 + i64::from(position),
    };
    let end = (start + i64::from(length)).clamp(i64::from(i32::MIN), i64::from(i32::MAX));
    if end <= start {
        return (0, 0);
    }
    (usize::try_from(start).unwrap_or(0), usize::try_from(end).unwrap_or(0))
}

/// A part of a text by SQL's counting.
pub fn part(text: &str, position: i32, length: i32) -> &str {
    let (start, end) = range(position, length, || if text.is_ascii() { text.len() } else { text.chars().count() });
    if start >= end {
        return "";
    }
    // Each character takes a byte at least: up to here positions are the same.
    if text.is_ascii() {
        return &text[start.min(text.len())..end.min(text.len())];
    }
    let rest = match text.char_indices().nth(start) {
        Some((at, _)) => &text[at..],
        None => return "",
    };
    prefix(rest, end - start)
}

/// A part of bytes by SQL's counting.
pub fn byte_part(bytes: &[u8], position: i32, length: i32) -> &[u8] {
    let (start, end) = range(position, length, || bytes.len());
    &bytes[start.min(bytes.len())..end.min(bytes.len())]
}

fn substring(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let positions: Integers = Rows::of(args, 1)?;
    let lengths: Option<Integers> = if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None };
    let numbers = |row: usize| {
        let length = match &lengths {
            Some(lengths) => lengths.get(row),
            None => Some(i32::MAX),
        };
        positions.get(row).zip(length)
    };
    if is_binary(args, 0) {
        let values: Binaries = Rows::of(args, 0)?;
        return binaries(args, |row| {
            let (Some(value), Some((position, length))) = (values.get(row), numbers(row)) else { return Ok(None) };
            Ok(Some(byte_part(value, position, length)))
        });
    }
    let values: Texts = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let (Some(text), Some((position, length))) = (values.get(row), numbers(row)) else { return Ok(None) };
        Ok(out.write_str(part(text, position, length)).ok())
    })
}

fn left(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lengths: Integers = Rows::of(args, 1)?;
    if is_binary(args, 0) {
        let values: Binaries = Rows::of(args, 0)?;
        return binaries(args, |row| {
            Ok(values.get(row).zip(lengths.get(row)).map(|(value, length)| byte_part(value, 1, length)))
        });
    }
    let values: Texts = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let (Some(text), Some(length)) = (values.get(row), lengths.get(row)) else { return Ok(None) };
        Ok(out.write_str(part(text, 1, length)).ok())
    })
}

fn right(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, lengths): (Texts, Integers) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    texts(args, |row, out| {
        let (Some(text), Some(length)) = (values.get(row), lengths.get(row)) else { return Ok(None) };
        if length > 0 {
            let _ = out.write_str(part(text, -length, i32::MAX));
        }
        Ok(Some(()))
    })
}

fn substring_index(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let search = Search::of(args)?;
    let (values, delimiters): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let counts: Integers = Rows::of(args, 2)?;
    texts(args, |row, out| {
        let (Some(text), Some(delimiter), Some(count)) = (values.get(row), delimiters.get(row), counts.get(row)) else {
            return Ok(None);
        };
        let part = if search.is_plain() {
            up_to_delimiter(text, delimiter, count)
        } else {
            up_to_match(text, &search.wanted(search.counted(delimiter)), count)
        };
        Ok(out.write_str(part).ok())
    })
}

/// The text up to the `count`th match, or after it from the end. Matches may overlap.
fn up_to_match<'a>(text: &'a str, wanted: &Wanted<'_>, count: i32) -> &'a str {
    if wanted.is_empty() || count == 0 {
        return "";
    }
    let mut found = 0;
    if count > 0 {
        let mut from = 0;
        for _ in 0..count {
            let Some((start, _)) = wanted.find(text, from) else { return text };
            found = start;
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
        return &text[..found];
    }
    let mut limit = text.len();
    for _ in 0..count.unsigned_abs() {
        let Some((_, end)) = wanted.find_last(text, limit) else { return text };
        found = end;
        limit = end - text[..end].chars().next_back().map_or(0, char::len_utf8);
    }
    &text[found..]
}

/// The text up to the `count`th delimiter, or after it from the end. Delimiters may overlap.
fn up_to_delimiter<'a>(text: &'a str, delimiter: &str, count: i32) -> &'a str {
    if delimiter.is_empty() || count == 0 {
        return "";
    }
    let (bytes, wanted) = (text.as_bytes(), delimiter.as_bytes());
    if count > 0 {
        let finder = memmem::Finder::new(wanted);
        let mut from = 0;
        let mut found = 0;
        for _ in 0..count {
            match bytes.get(from..).and_then(|rest| finder.find(rest)) {
                Some(at) => {
                    found = from + at;
                    from = found + 1;
                }
                None => return text,
            }
        }
        return text.get(..found).unwrap_or(text);
    }
    let mut end = bytes.len();
    let mut found = 0;
    for _ in 0..count.unsigned_abs() {
        match memmem::rfind(&bytes[..end], wanted) {
            Some(at) => {
                found = at;
                // The next one starts at least a byte before.
                end = (at + wanted.len()).saturating_sub(1);
            }
            None => return text,
        }
    }
    text.get(found + wanted.len()..).unwrap_or("")
}

fn split_part(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let search = Search::of(args)?;
    let (values, delimiters): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let numbers: Integers = Rows::of(args, 2)?;
    texts(args, |row, out| {
        let (Some(text), Some(delimiter), Some(number)) = (values.get(row), delimiters.get(row), numbers.get(row))
        else {
            return Ok(None);
        };
        let index = match number {
            0 => return Err(SparkError::new("INVALID_INDEX_OF_ZERO")),
            1.. => number as usize - 1,
            _ => number.unsigned_abs() as usize - 1,
        };
        let delimiter = search.counted(delimiter);
        let found = match (delimiter.is_empty(), number > 0) {
            (true, _) if index == 0 => Some(text),
            (true, _) => None,
            _ if !search.is_bytes() => {
                let parts = search.wanted(delimiter).split(text);
                if number > 0 { parts.get(index).copied() } else { parts.iter().rev().nth(index).copied() }
            }
            (false, true) => text.split(delimiter).nth(index),
            (false, false) => {
                // From the start, as delimiters that overlap part differently from the end.
                let count = text.split(delimiter).count();
                count.checked_sub(index + 1).and_then(|index| text.split(delimiter).nth(index))
            }
        };
        Ok(out.write_str(found.unwrap_or("")).ok())
    })
}
