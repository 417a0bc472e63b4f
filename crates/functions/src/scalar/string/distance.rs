//! How alike strings are, by letters or by sound.

use super::declare::{function, param, strict};
use super::rows::{Integers, Rows, Texts, primitives, texts};
use crate::{ArgType, KernelArgs, Signature};
use arrow::datatypes::Int32Type;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::fmt::Write;

function! {
    /// `levenshtein(str1, str2[, threshold])`
    LEVENSHTEIN = "levenshtein" in String, Signature::with_optional(
            &[param("str1", ArgType::String), param("str2", ArgType::String), param("threshold", ArgType::Integer)],
            1,
        )
        => strict(DataType::Integer, levenshtein);
    usage "How many characters to insert, delete or replace to make one text of the other; -1 above the threshold.";
    since "1.5.0";
    example "SELECT levenshtein('kitten', 'sitting')" => "3";
    example "SELECT levenshtein('kitten', 'sitting', 2)" => "-1";
}
function! {
    /// `soundex(str)`
    SOUNDEX = "soundex" in String, Signature::of(&[param("str", ArgType::TEXT)]) => strict(DataType::STRING, soundex);
    usage "The Soundex code of a word.";
    since "1.5.0";
    example "SELECT soundex('Miller')" => "M460";
}

/// The distance, worked out in one row of the table.
fn distance(left: &str, right: &str, row: &mut Vec<i32>, characters: &mut Vec<char>) -> i32 {
    characters.clear();
    characters.extend(right.chars());
    row.clear();
    row.extend(0..=characters.len() as i32);
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i as i32 + 1;
        for (j, b) in characters.iter().enumerate() {
            let replaced = diagonal + i32::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

fn levenshtein(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (left, right): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let thresholds: Option<Integers> = if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None };
    let (mut buffer, mut characters) = (Vec::new(), Vec::new());
    primitives::<Int32Type>(args, |row| {
        let threshold = match &thresholds {
            Some(thresholds) => thresholds.get(row),
            None => Some(i32::MAX),
        };
        let (Some(left), Some(right), Some(threshold)) = (left.get(row), right.get(row), threshold) else {
            return Ok(None);
        };
        let distance = distance(left, right, &mut buffer, &mut characters);
        Ok(Some(if distance > threshold { -1 } else { distance }))
    })
}

/// The Soundex digit of each capital letter; 7: not counted, 0: a vowel.
const CODES: &[u8; 26] = b"01230127022455012623017202";

fn soundex(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    texts(args, |row, out| {
        let Some(text) = values.get(row) else { return Ok(None) };
        let first = text.bytes().next().map(|b| b.to_ascii_uppercase());
        let Some(first) = first.filter(u8::is_ascii_uppercase) else {
            return Ok(out.write_str(text).ok());
        };
        let code = |byte: u8| CODES[usize::from(byte - b'A')];
        let mut written = String::with_capacity(4);
        written.push(char::from(first));
        let mut last = code(first);
        for byte in text.bytes().skip(1).map(|b| b.to_ascii_uppercase()) {
            if !byte.is_ascii_uppercase() {
                last = b'0';
                continue;
            }
            let digit = code(byte);
            if digit != b'7' {
                if digit != b'0' && digit != last {
                    written.push(char::from(digit));
                    if written.len() > 3 {
                        break;
                    }
                }
                last = digit;
            }
        }
        Ok(write!(out, "{written:0<4}").ok())
    })
}
