//! Strings with parts changed.

use super::collation_search::Search;
use super::declare::{function, param, same_type};
use super::rows::{
    Binaries, Integers, Rows, Texts, array_or_constant, binaries, downcast, finish, internal, is_binary, texts,
};
use super::substring::{byte_part, part};
use crate::coercion::mismatch;
use crate::{ArgType, Body, KernelArgs, Nullability, Returns, Signature, TypedExpr};
use arrow::array::{Array, ListArray, UInt32Array};
use datafusion::logical_expr::ColumnarValue;
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

const TEXT_OR_BINARY: ArgType = ArgType::OneOf(&[ArgType::String, ArgType::Binary]);

function! {
    /// `replace(str, search[, replace])`
    REPLACE = "replace" in String, Signature::with_optional(
            &[param("str", ArgType::String), param("search", ArgType::String), param("replace", ArgType::String)],
            1,
        )
        => same_type(replace);
    text |a| if a.len() > 2 { format!("replace({})", a.join(", ")) } else { format!("replace({}, )", a.join(", ")) };
    usage "The text with each `search` in it replaced.";
    since "2.3.0";
    example "SELECT replace('ABCabc', 'abc', 'DEF')" => "ABCDEF";
}
function! {
    /// `translate(input, from, to)`
    TRANSLATE = "translate" in String, Signature::of(
            &[param("input", ArgType::String), param("from", ArgType::String), param("to", ArgType::String)],
        )
        => same_type(translate);
    usage "The text with the characters of `from` replaced by those of `to`, and left out where `to` is shorter.";
    since "1.5.0";
    example "SELECT translate('AaBbCc', 'abc', '123')" => "A1B2C3";
}
function! {
    /// `overlay(input, replace, pos[, len])`
    OVERLAY = "overlay" in String, Signature::with_optional(
            &[
                param("input", TEXT_OR_BINARY),
                param("replace", TEXT_OR_BINARY),
                param("pos", ArgType::Integer),
                param("len", ArgType::Integer),
            ],
            1,
        )
        => Body::Scalar { returns: Returns::Of(overlaid), nullable: Nullability::IfAnyArgument, kernel: overlay };
    text |a| if a.len() > 3 { format!("overlay({})", a.join(", ")) } else { format!("overlay({}, -1)", a.join(", ")) };
    usage "The text with `replace` in the place of the `len` characters at `pos`.";
    since "3.0.0";
    example "SELECT overlay('Spark SQL' PLACING '_' FROM 6)" => "Spark_SQL";
    example "SELECT overlay('Spark SQL' PLACING 'ANSI ' FROM 7 FOR 0)" => "Spark ANSI SQL";
}
function! {
    /// `reverse(expr)`
    REVERSE = "reverse" in Collection,
        Signature::of(&[param("expr", ArgType::OneOf(&[ArgType::String, ArgType::Binary, ArgType::Array]))])
        => same_type(reverse);
    usage "The characters, bytes or elements from last to first.";
    since "1.5.0";
    example "SELECT reverse('Spark SQL')" => "LQS krapS";
    example "SELECT reverse(array(2, 1, 4, 3))" => "[3,4,1,2]";
}

fn replace(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let rule = Search::of(args)?;
    let (values, searches): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let replacements: Option<Texts> = if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None };
    texts(args, |row, out| {
        let replacement = match &replacements {
            Some(replacements) => replacements.get(row),
            None => Some(""),
        };
        let (Some(text), Some(search), Some(replacement)) = (values.get(row), searches.get(row), replacement) else {
            return Ok(None);
        };
        if search.is_empty() {
            return Ok(out.write_str(text).ok());
        }
        let wanted = rule.wanted(search);
        let mut from = 0;
        while let Some((start, end)) = wanted.find(text, from).filter(|(start, end)| end > start) {
            let _ = out.write_str(&text[from..start]);
            let _ = out.write_str(replacement);
            from = end;
        }
        Ok(out.write_str(&text[from..]).ok())
    })
}

/// What becomes of characters; None: left out.
fn dictionary(from: &str, to: &str) -> HashMap<char, Option<char>> {
    let mut dictionary = HashMap::new();
    let mut targets = to.chars();
    for character in from.chars() {
        let target = targets.next().filter(|c| *c != '\0');
        dictionary.entry(character).or_insert(target);
    }
    dictionary
}

/// The small letters of `İ`, which stand for it as well.
const SMALL_DOTTED: &str = "i\u{307}";

/// What becomes of characters by their keys under a collation.
fn translate_by_key(args: &KernelArgs<'_>, search: &Search) -> Result<ColumnarValue> {
    let (values, froms, tos): (Texts, Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?, Rows::of(args, 2)?);
    let key = |text: &str| search.rule().whole_key(text);
    let mut keys: HashMap<char, Vec<u8>> = HashMap::new();
    texts(args, |row, out| {
        let (Some(text), Some(from), Some(to)) = (values.get(row), froms.get(row), tos.get(row)) else {
            return Ok(None);
        };
        let mut targets = to.chars();
        let mut dictionary: HashMap<Vec<u8>, Option<char>> = HashMap::new();
        for character in from.chars() {
            let target = targets.next().filter(|c| *c != '\0');
            dictionary.entry(key(character.encode_utf8(&mut [0; 4]))).or_insert(target);
        }
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let dotted = if rest.starts_with(SMALL_DOTTED) { dictionary.get(&key(SMALL_DOTTED)) } else { None };
            let (length, target) = match dotted {
                Some(target) => (SMALL_DOTTED.len(), Some(target)),
                None => {
                    let of_one = keys.entry(character).or_insert_with(|| key(character.encode_utf8(&mut [0; 4])));
                    (character.len_utf8(), dictionary.get(of_one.as_slice()))
                }
            };
            match target {
                None => drop(out.write_char(character)),
                Some(Some(target)) => drop(out.write_char(*target)),
                Some(None) => {}
            }
            rest = &rest[length..];
        }
        Ok(Some(()))
    })
}

fn translate(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let search = Search::of(args)?;
    // Blanks at the end are characters as others are.
    if !search.is_bytes() {
        return translate_by_key(args, &search);
    }
    let (values, froms, tos): (Texts, Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?, Rows::of(args, 2)?);
    let constant = match (froms.constant(), tos.constant()) {
        (Some(Some(from)), Some(Some(to))) => Some(dictionary(from, to)),
        _ => None,
    };
    texts(args, |row, out| {
        let (Some(text), Some(from), Some(to)) = (values.get(row), froms.get(row), tos.get(row)) else {
            return Ok(None);
        };
        let made;
        let dictionary = match &constant {
            Some(dictionary) => dictionary,
            None => {
                made = dictionary(from, to);
                &made
            }
        };
        for character in text.chars() {
            match dictionary.get(&character) {
                None => drop(out.write_char(character)),
                Some(Some(target)) => drop(out.write_char(*target)),
                Some(None) => {}
            }
        }
        Ok(Some(()))
    })
}

/// Texts are overlaid with texts, binaries with binaries.
fn overlaid(arguments: &[TypedExpr], _: &SqlConf) -> Result<DataType> {
    let types: Vec<DataType> = arguments.iter().take(2).map(|a| a.data_type.clone()).collect();
    match types.as_slice() {
        [input, with] if (*input == DataType::Binary) == (*with == DataType::Binary) => Ok(input.clone()),
        _ => {
            let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
            Err(mismatch::different_types(&OVERLAY.call_text(&names), "overlay", &types))
        }
    }
}

fn overlay(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let positions: Integers = Rows::of(args, 2)?;
    let lengths: Option<Integers> = if args.values.len() > 3 { Some(Rows::of(args, 3)?) } else { None };
    let numbers = |row: usize| {
        let length = match &lengths {
            Some(lengths) => lengths.get(row),
            None => Some(-1),
        };
        positions.get(row).zip(length)
    };
    if is_binary(args, 0) {
        let (values, replacements): (Binaries, Binaries) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
        return binaries(args, |row| {
            let (Some(value), Some(replacement), Some((position, length))) =
                (values.get(row), replacements.get(row), numbers(row))
            else {
                return Ok(None);
            };
            let length = if length >= 0 { length } else { replacement.len() as i32 };
            let head = byte_part(value, 1, position.wrapping_sub(1));
            let tail = byte_part(value, position.saturating_add(length), i32::MAX);
            Ok(Some([head, replacement, tail].concat()))
        });
    }
    let (values, replacements): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    texts(args, |row, out| {
        let (Some(text), Some(replacement), Some((position, length))) =
            (values.get(row), replacements.get(row), numbers(row))
        else {
            return Ok(None);
        };
        let length = if length >= 0 { length } else { replacement.chars().count() as i32 };
        let _ = out.write_str(part(text, 1, position.wrapping_sub(1)));
        let _ = out.write_str(replacement);
        Ok(out.write_str(part(text, position.saturating_add(length), i32::MAX)).ok())
    })
}

fn reverse(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    match args.types.first() {
        Some(DataType::Array { .. }) => reverse_arrays(args),
        Some(DataType::Binary) => {
            let values: Binaries = Rows::of(args, 0)?;
            binaries(args, |row| Ok(values.get(row).map(|value| value.iter().rev().copied().collect::<Vec<u8>>())))
        }
        Some(_) => {
            let values: Texts = Rows::of(args, 0)?;
            texts(args, |row, out| {
                let Some(text) = values.get(row) else { return Ok(None) };
                for character in text.chars().rev() {
                    let _ = out.write_char(character);
                }
                Ok(Some(()))
            })
        }
        None => Err(SparkError::internal("reverse without arguments")),
    }
}

fn reverse_arrays(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let lists = downcast::<ListArray>(&array)?;
    let offsets = lists.value_offsets();
    let (first, last) = (offsets[0] as usize, offsets[lists.len()] as usize);
    let mut indices: Vec<u32> = (first as u32..last as u32).collect();
    for pair in offsets.windows(2) {
        indices[pair[0] as usize - first..pair[1] as usize - first].reverse();
    }
    let values = arrow::compute::take(lists.values(), &UInt32Array::from(indices), None).map_err(internal)?;
    let lengths = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
    let arrow::datatypes::DataType::List(field) = lists.data_type() else {
        return Err(SparkError::internal("a list has a list's type"));
    };
    let result = ListArray::try_new(
        Arc::clone(field),
        arrow::buffer::OffsetBuffer::from_lengths(lengths),
        values,
        lists.nulls().cloned(),
    )
    .map_err(internal)?;
    finish(args, Arc::new(result))
}
