//! Texts searched by the rules of a collation.
//!
//! A match begins and ends between code points, and never within what one code point stands for:
//! `i` is not found in `İ`, whose small letters are two.

use super::collation_key::{CollationKey, Kind, small_letters};
use crate::KernelArgs;
use firesteel_error::Result;
use firesteel_types::{Collation, DataType};
use memchr::memmem;
use std::cmp::Ordering;

/// How the texts of a call are searched.
pub struct Search {
    rule: CollationKey,
}

/// A text that is searched for.
pub struct Wanted<'a> {
    rule: &'a CollationKey,
    text: &'a str,
    small: Vec<char>,
    /// How many code points a match has at most.
    most: usize,
}

impl Search {
    /// The rule of the arguments' collation.
    pub fn of(args: &KernelArgs<'_>) -> Result<Self> {
        let collation = args.types.iter().find_map(|data_type| match data_type {
            DataType::String(collation @ Collation::Named(_)) => Some(collation),
            _ => None,
        });
        Ok(Self { rule: CollationKey::of(collation.unwrap_or(&Collation::Utf8Binary))? })
    }

    /// True where nothing but equal bytes is a match.
    pub fn is_plain(&self) -> bool {
        self.is_bytes() && !self.rule.trims
    }

    /// True where nothing but equal bytes is a match, blanks at the end aside.
    pub fn is_bytes(&self) -> bool {
        matches!(self.rule.kind, Kind::Bytes)
    }

    /// What makes keys of texts.
    pub fn rule(&self) -> &CollationKey {
        &self.rule
    }

    /// The text without the blanks that do not count.
    pub fn counted<'a>(&self, text: &'a str) -> &'a str {
        self.rule.counted(text)
    }

    /// A text to search for, with all its blanks.
    pub fn wanted<'a>(&'a self, text: &'a str) -> Wanted<'a> {
        let small = match self.rule.kind {
            Kind::Lower => text.chars().flat_map(small_letters).collect(),
            _ => Vec::new(),
        };
        // No code point stands for more than three others, and a few may stand for nothing.
        let most = if self.is_bytes() { 0 } else { text.chars().count().saturating_mul(3).saturating_add(16) };
        Wanted { rule: &self.rule, text, small, most }
    }
}

impl Wanted<'_> {
    /// True for the empty text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Where the match ends that begins at a byte of a text.
    pub fn end_at(&self, text: &str, start: usize) -> Option<usize> {
        let rest = text.get(start..)?;
        let length = match &self.rule.kind {
            Kind::Bytes => rest.starts_with(self.text).then_some(self.text.len()),
            Kind::Lower => self.length_by_small_letters(rest),
            Kind::Locale(collator) => {
                if self.text.is_empty() {
                    return Some(start);
                }
                if start > 0 && rest.starts_with(is_mark) {
                    return None;
                }
                rest.char_indices()
                    .map(|(at, character)| at + character.len_utf8())
                    .take(self.most)
                    .filter(|end| !rest[*end..].starts_with(is_mark))
                    .find(|end| collator.compare(&rest[..*end], self.text) == Ordering::Equal)
            }
        };
        length.map(|length| start + length)
    }

    fn length_by_small_letters(&self, text: &str) -> Option<usize> {
        let mut wanted = self.small.as_slice();
        for (at, character) in text.char_indices() {
            if wanted.is_empty() {
                return Some(at);
            }
            for small in small_letters(character) {
                let (first, rest) = wanted.split_first()?;
                if *first != small {
                    return None;
                }
                wanted = rest;
            }
        }
        wanted.is_empty().then_some(text.len())
    }

    /// The first match from a byte on: where it begins and ends.
    pub fn find(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        let rest = text.get(from..)?;
        if matches!(self.rule.kind, Kind::Bytes) {
            let at = from + memmem::find(rest.as_bytes(), self.text.as_bytes())?;
            return Some((at, at + self.text.len()));
        }
        rest.char_indices()
            .map(|(at, _)| from + at)
            .chain([text.len()])
            .find_map(|start| self.end_at(text, start).map(|end| (start, end)))
    }

    /// The last match that ends at a byte or before it.
    pub fn find_last(&self, text: &str, end: usize) -> Option<(usize, usize)> {
        let text = text.get(..end)?;
        if matches!(self.rule.kind, Kind::Bytes) {
            return text.rfind(self.text).map(|at| (at, at + self.text.len()));
        }
        text.char_indices().rev().find_map(|(start, _)| self.end_at(text, start).map(|end| (start, end)))
    }

    /// Where the match begins that a text ends with.
    pub fn start_of_end(&self, text: &str) -> Option<usize> {
        if self.text.is_empty() || matches!(self.rule.kind, Kind::Bytes) {
            return text.strip_suffix(self.text).map(str::len);
        }
        let mut starts = text.char_indices().rev().map(|(at, _)| at).take(self.most);
        starts.find(|start| self.end_at(text, *start) == Some(text.len()))
    }

    /// The parts of a text between matches.
    pub fn split<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut parts = Vec::new();
        let mut from = 0;
        while let Some((start, end)) = self.find(text, from).filter(|(start, end)| end > start) {
            parts.push(&text[from..start]);
            from = end;
        }
        parts.push(&text[from..]);
        parts
    }
}

/// Whether a code point belongs to the one before it.
pub(super) fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(collation: &str, text: &str, wanted: &str) -> Option<(usize, usize)> {
        let rule = CollationKey::of(&Collation::parse(collation).unwrap()).unwrap();
        Search { rule }.wanted(wanted).find(text, 0)
    }

    #[test]
    fn small_letters_match_whole_code_points() {
        assert_eq!(find("UTF8_LCASE", "xAbC", "aB"), Some((1, 3)));
        assert_eq!(find("UTF8_LCASE", "xİz", "i"), None);
        assert_eq!(find("UTF8_LCASE", "xİz", "i\u{307}"), Some((1, 3)));
        assert_eq!(find("UTF8_LCASE", "ΣΣς", "ς"), Some((0, 2)));
    }

    #[test]
    fn locales_match_what_compares_equal() {
        assert_eq!(find("UNICODE_CI", "xe\u{301}A", "éa"), Some((1, 5)));
        assert_eq!(find("UNICODE_CI", "xe\u{301}A", "e"), None);
        assert_eq!(find("UNICODE_CI_AI", "xéA", "e"), Some((1, 3)));
        assert_eq!(find("UNICODE", "ab", "B"), None);
    }

    #[test]
    fn texts_are_split_and_searched_from_the_end() {
        let search = Search { rule: CollationKey::of(&Collation::parse("UTF8_LCASE").unwrap()).unwrap() };
        assert_eq!(search.wanted("x").split("aXbxc"), ["a", "b", "c"]);
        assert_eq!(search.wanted("x").find_last("aXbxc", 5), Some((3, 4)));
        assert_eq!(search.wanted("BC").start_of_end("abc"), Some(1));
    }
}
