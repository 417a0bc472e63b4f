//! `sentences`: texts as sentences of words.

use super::declare::{function, param};
use super::rows::{Rows, Texts, finish, row_count};
use crate::{ArgType, Body, KernelArgs, Nullability, Returns, Signature};
use arrow::array::builder::{ListBuilder, StringBuilder};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

function! {
    /// `sentences(str[, lang[, country]])`
    SENTENCES = "sentences" in String, Signature::with_optional(
            &[param("str", ArgType::String), param("lang", ArgType::String), param("country", ArgType::String)],
            2,
        )
        => Body::Scalar {
            returns: Returns::Of(|_, _| Ok(DataType::array(DataType::array(DataType::STRING, false), false))),
            nullable: Nullability::Always,
            kernel: sentences,
        };
    text |a| format!("sentences({}{})", a.join(", "), ", ".repeat(3usize.saturating_sub(a.len())));
    usage "The sentences of a text, each an array of its words. All languages are read as English is.";
    since "2.0.0";
    example "SELECT sentences('Hi there! Good morning.')" => "[[\"Hi\",\"there\"],[\"Good\",\"morning\"]]";
}

/// The parts of a text that end with a full stop, or a question or exclamation mark, and a blank.
fn split_sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let ends = match character {
            '!' | '?' | '。' | '！' | '？' => {
                characters.peek().is_none_or(|(_, next)| !matches!(next, '!' | '?' | '.'))
            }
            // A small letter or a digit after it goes on with the sentence.
            '.' => characters.peek().is_none_or(|(next_at, next)| {
                next.is_whitespace()
                    && text[*next_at..]
                        .trim_start()
                        .chars()
                        .next()
                        .is_none_or(|following| !following.is_lowercase() && !following.is_numeric())
            }),
            '\u{2029}' => true,
            _ => false,
        };
        if ends {
            let end = at + character.len_utf8();
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    if start < text.len() {
        sentences.push(&text[start..]);
    }
    sentences
}

/// The words of a sentence: runs of letters and digits, with points and apostrophes inside.
fn words(sentence: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = None;
    let mut characters = sentence.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let joins = start.is_some()
            && matches!(character, '\'' | '’' | '.' | ',' | ':')
            && characters.peek().is_some_and(|(_, next)| {
                let before = sentence[..at].chars().next_back();
                match character {
                    ',' => next.is_numeric() && before.is_some_and(char::is_numeric),
                    '.' => {
                        (next.is_numeric() && before.is_some_and(char::is_numeric))
                            || (next.is_alphabetic() && before.is_some_and(char::is_alphabetic))
                    }
                    _ => next.is_alphabetic(),
                }
            });
        let links = character == '_' && start.is_some();
        // Marks belong to the letter before them.
        let marks = start.is_some() && super::collation_search::is_mark(character);
        if character.is_alphanumeric() || links || joins || marks {
            start.get_or_insert(at);
        } else if let Some(from) = start.take() {
            words.push(&sentence[from..at]);
        }
    }
    if let Some(from) = start {
        words.push(&sentence[from..]);
    }
    words
}

fn sentences(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let word = Arc::new(Field::new("element", ArrowType::Utf8, true));
    let sentence = Arc::new(Field::new("element", ArrowType::List(Arc::clone(&word)), true));
    let mut builder = ListBuilder::new(ListBuilder::new(StringBuilder::new()).with_field(word)).with_field(sentence);
    for row in 0..row_count(args) {
        let Some(text) = values.get(row) else {
            builder.append_null();
            continue;
        };
        for sentence in split_sentences(text) {
            let words = words(sentence);
            if words.is_empty() && sentence.trim().is_empty() {
                continue;
            }
            for word in words {
                builder.values().values().append_value(word);
            }
            builder.values().append(true);
        }
        builder.append(true);
    }
    finish(args, Arc::new(builder.finish()))
}
