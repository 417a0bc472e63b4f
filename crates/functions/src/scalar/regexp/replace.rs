//! `regexp_replace` and `split`.

use super::pattern::{Pattern, Patterns, Span, after};
use crate::coercion::mismatch::quoted;
use crate::scalar::string::constant::{integer_of, not_foldable, value_of};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Integers, Rows, Texts, finish, row_count, texts};
use crate::{ArgType, Body, BuildContext, KernelArgs, Nullability, Returns, Signature, TypedExpr};
use arrow::array::builder::{ListBuilder, StringBuilder};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `regexp_replace(str, regexp, rep[, position])`
    REGEXP_REPLACE = "regexp_replace" in String, Signature::with_optional(
            &[
                param("str", ArgType::String),
                param("regexp", ArgType::String),
                param("rep", ArgType::String),
                param("position", ArgType::Integer),
            ],
            1,
        )
        => Body::Build(build);
    text |a| {
        if a.len() > 3 { format!("regexp_replace({})", a.join(", ")) } else { format!("regexp_replace({}, 1)", a.join(", ")) }
    };
    usage "The text with each match of a regular expression replaced; `$1` in `rep` stands for the first group.";
    since "1.5.0";
    example r"SELECT regexp_replace('100-200', '(\\d+)', 'num')" => "num-num";
}
function! {
    /// `split(str, regex[, limit])`
    SPLIT = "split" in String, Signature::with_optional(
            &[param("str", ArgType::String), param("regex", ArgType::String), param("limit", ArgType::Integer)],
            1,
        )
        => Body::Scalar {
            returns: Returns::Of(|_, _| Ok(DataType::array(DataType::STRING, false))),
            nullable: Nullability::IfAnyArgument,
            kernel: split,
        };
    text |a| if a.len() > 2 { format!("split({})", a.join(", ")) } else { format!("split({}, -1)", a.join(", ")) };
    usage "The parts of the text between the matches of a regular expression, at most `limit` of them if that is above 0.";
    since "1.5.0";
    example "SELECT split('oneAtwoBthreeC', '[ABC]')" => "[\"one\",\"two\",\"three\",\"\"]";
    example "SELECT split('oneAtwoBthreeC', '[ABC]', 2)" => "[\"one\",\"twoBthreeC\"]";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = REGEXP_REPLACE.call_text(&names);
    if let Some(position) = arguments.get(3) {
        let Some(value) = value_of(position)? else {
            return Err(not_foldable(position, &text, "position", "INT"));
        };
        if let Some(value) = integer_of(&value).filter(|position| *position < 1) {
            return Err(SparkError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
                .with("exprName", "position")
                .with("valueRange", "(0, 2147483647]")
                .with("currentValue", value.to_string())
                .with("sqlExpr", quoted(&text)));
        }
    }
    let nullable = arguments.iter().any(|a| a.nullable);
    let data_type = DataType::STRING;
    let expr = crate::kernel::call(&REGEXP_REPLACE, regexp_replace, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, text))
}

/// A piece of a replacement.
enum Piece {
    Text(String),
    Group(usize),
}

/// The pieces of a replacement in Java's syntax; None where it is malformed or names no group.
fn pieces(replacement: &str, pattern: &Pattern) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut characters = replacement.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => literal.push(characters.next()?),
            '$' => {
                let group = if characters.next_if_eq(&'{').is_some() {
                    let mut name = String::new();
                    loop {
                        match characters.next()? {
                            '}' => break,
                            c => name.push(c),
                        }
                    }
                    pattern.group_of(&name)?
                } else {
                    let mut group = characters.next()?.to_digit(10)? as usize;
                    if group > pattern.group_count() {
                        return None;
                    }
                    while let Some(digit) = characters.peek().and_then(|c| c.to_digit(10)) {
                        let next = group * 10 + digit as usize;
                        if next > pattern.group_count() {
                            break;
                        }
                        group = next;
                        characters.next();
                    }
                    group
                };
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Group(group));
            }
            other => literal.push(other),
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Some(pieces)
}

/// The byte at a position in Java's counting (from 0); None behind the end.
fn byte_at(text: &str, position: usize) -> Option<usize> {
    if position == 0 {
        return Some(0);
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        if units >= position {
            return Some(at);
        }
        units += character.len_utf16();
    }
    None
}

fn regexp_replace(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, replacements): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 2)?);
    let mut patterns = Patterns::of(args, 1, "regexp_replace")?;
    let pattern_texts: Texts = Rows::of(args, 1)?;
    let positions: Option<Integers> = if args.values.len() > 3 { Some(Rows::of(args, 3)?) } else { None };
    let is_constant = replacements.is_constant() && pattern_texts.is_constant();
    let mut constant: Option<Option<Vec<Piece>>> = None;
    let mut spans: Vec<Span> = Vec::new();
    texts(args, |row, out| {
        let position = match &positions {
            Some(positions) => positions.get(row),
            None => Some(1),
        };
        let (Some(text), Some(replacement), Some(position)) = (values.get(row), replacements.get(row), position) else {
            return Ok(None);
        };
        let Some(pattern) = patterns.get(row)? else { return Ok(None) };
        let made;
        let replacement_pieces = if is_constant {
            constant.get_or_insert_with(|| pieces(replacement, &pattern))
        } else {
            made = pieces(replacement, &pattern);
            &made
        };
        let start = usize::try_from(position).unwrap_or(1).saturating_sub(1);
        let Some(start) = byte_at(text, start) else { return Ok(out.write_str(text).ok()) };
        let _ = out.write_str(&text[..start]);
        // Anchors hold at the position too.
        let text_from = &text[start..];
        let (mut copied, mut from) = (0, Some(0));
        while let Some(at) = from {
            if !pattern.captures(text_from, at, &mut spans)? {
                break;
            }
            let Some(whole) = spans.first().copied().flatten() else { break };
            let Some(replacement_pieces) = replacement_pieces else {
                return Err(SparkError::new("INVALID_REGEXP_REPLACE")
                    .with("source", text)
                    .with("pattern", pattern_texts.get(row).unwrap_or_default())
                    .with("replacement", replacement)
                    .with("position", position.to_string()));
            };
            let _ = out.write_str(&text_from[copied..whole.0]);
            for piece in replacement_pieces.iter() {
                match piece {
                    Piece::Text(literal) => drop(out.write_str(literal)),
                    Piece::Group(group) => {
                        if let Some((start, end)) = spans.get(*group).copied().flatten() {
                            let _ = out.write_str(&text_from[start..end]);
                        }
                    }
                }
            }
            copied = whole.1;
            from = after(text_from, whole);
        }
        Ok(out.write_str(&text_from[copied..]).ok())
    })
}

/// Appends the parts of a text.
fn append_parts(text: &str, pattern: &Pattern, limit: i32, out: &mut StringBuilder) -> Result<()> {
    let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let (mut count, mut copied, mut from) = (0, 0, Some(0));
    while let Some(at) = from {
        if count + 1 >= limit {
            break;
        }
        let Some(whole) = pattern.find(text, at)? else { break };
        from = after(text, whole);
        // An empty match at the start parts nothing.
        if whole == (0, 0) {
            continue;
        }
        out.append_value(&text[copied..whole.0]);
        count += 1;
        copied = whole.1;
    }
    out.append_value(&text[copied..]);
    Ok(())
}

/// Appends the characters of a text, of which the last part keeps the rest.
fn append_characters(text: &str, limit: i32, out: &mut StringBuilder) {
    let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    for (index, (at, character)) in text.char_indices().enumerate() {
        if index + 1 >= limit {
            out.append_value(&text[at..]);
            return;
        }
        out.append_value(&text[at..at + character.len_utf8()]);
    }
}

/// `split` fails with Java's own error, which has no condition.
fn plain_syntax_error(error: SparkError) -> SparkError {
    if error.is("INVALID_PARAMETER_VALUE.PATTERN") {
        return SparkError::plain(ExceptionClass::IllegalArgument, "The pattern is not a regular expression");
    }
    error
}

fn split(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let mut patterns = Patterns::of(args, 1, "split").map_err(plain_syntax_error)?;
    let pattern_texts: Texts = Rows::of(args, 1)?;
    let limits: Option<Integers> = if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None };
    let element = Arc::new(Field::new("element", ArrowType::Utf8, true));
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element);
    for row in 0..row_count(args) {
        let limit = match &limits {
            Some(limits) => limits.get(row),
            None => Some(-1),
        };
        let (Some(text), Some(pattern), Some(limit)) = (values.get(row), pattern_texts.get(row), limit) else {
            builder.append_null();
            continue;
        };
        if pattern.is_empty() && !text.is_empty() {
            append_characters(text, limit, builder.values());
        } else if let Some(pattern) = patterns.get(row).map_err(plain_syntax_error)? {
            append_parts(text, &pattern, limit, builder.values())?;
        }
        builder.append(true);
    }
    finish(args, Arc::new(builder.finish()))
}
