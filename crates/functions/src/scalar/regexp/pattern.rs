//! Compiled regular expressions with Java's meaning.

use super::java::{EndAnchor, Fault, translate};
use crate::KernelArgs;
use crate::scalar::string::rows::{Rows, Texts};
use firesteel_error::{Result, SparkError};
use firesteel_types::{Collation, DataType};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes that a compiled expression may take.
const SIZE_LIMIT: usize = 64 << 20;
/// Different expressions that one batch keeps compiled.
const KEPT: usize = 256;

/// Where a group matched; None where it did not.
pub type Span = Option<(usize, usize)>;

/// A compiled expression.
#[derive(Debug)]
pub struct Pattern {
    engine: Engine,
    /// For texts that end with a line terminator, where the expression has an end anchor.
    careful: Option<Engine>,
}

#[derive(Debug)]
enum Engine {
    Plain(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

/// The expression as it is meant under the arguments' collation: where that ignores case, so does the expression.
pub fn under_collation<'p>(types: &[DataType], pattern: &'p str) -> Cow<'p, str> {
    let ignores_case = types.iter().any(|data_type| match data_type {
        DataType::String(collation @ Collation::Named(_)) => collation.ignores_case(),
        _ => false,
    });
    if ignores_case { Cow::Owned(format!("(?ui){pattern}")) } else { Cow::Borrowed(pattern) }
}

/// The error about an expression that is not one.
pub fn invalid(pattern: &str, function: &str) -> SparkError {
    SparkError::new("INVALID_PARAMETER_VALUE.PATTERN")
        .with("parameter", "`regexp`")
        .with("functionName", format!("`{function}`"))
        .with("value", format!("'{pattern}'"))
}

impl Engine {
    fn new(pattern: &str, function: &str, end: EndAnchor) -> Result<(Self, bool)> {
        let translation = translate(pattern, end).map_err(|fault| match fault {
            Fault::Malformed => invalid(pattern, function),
            Fault::Unsupported(what) => SparkError::unsupported(what),
        })?;
        let engine = if translation.needs_backtracking {
            let built = fancy_regex::RegexBuilder::new(&translation.pattern)
                .delegate_size_limit(SIZE_LIMIT)
                .build()
                .map_err(|_| invalid(pattern, function))?;
            Self::Backtracking(built)
        } else {
            let built = regex::RegexBuilder::new(&translation.pattern)
                .size_limit(SIZE_LIMIT)
                .build()
                .map_err(|_| invalid(pattern, function))?;
            Self::Plain(built)
        };
        Ok((engine, translation.has_end_anchor))
    }

    fn group_count(&self) -> usize {
        match self {
            Self::Plain(regex) => regex.captures_len() - 1,
            Self::Backtracking(regex) => regex.captures_len() - 1,
        }
    }

    fn names(&self) -> Vec<Option<&str>> {
        match self {
            Self::Plain(regex) => regex.capture_names().collect(),
            Self::Backtracking(regex) => regex.capture_names().collect(),
        }
    }

    fn find(&self, text: &str, start: usize) -> Result<Span> {
        Ok(match self {
            Self::Plain(regex) => regex.find_at(text, start).map(|m| (m.start(), m.end())),
            Self::Backtracking(regex) => {
                regex.find_from_pos(text, start).map_err(gave_up)?.map(|m| (m.start(), m.end()))
            }
        })
    }

    fn captures(&self, text: &str, start: usize, spans: &mut Vec<Span>) -> Result<bool> {
        spans.clear();
        match self {
            Self::Plain(regex) => {
                let Some(captures) = regex.captures_at(text, start) else { return Ok(false) };
                spans.extend(captures.iter().map(|group| group.map(|m| (m.start(), m.end()))));
            }
            Self::Backtracking(regex) => {
                let Some(captures) = regex.captures_from_pos(text, start).map_err(gave_up)? else {
                    return Ok(false);
                };
                spans.extend(captures.iter().map(|group| group.map(|m| (m.start(), m.end()))));
            }
        }
        Ok(true)
    }
}

fn gave_up(_: fancy_regex::Error) -> SparkError {
    SparkError::unsupported("a regular expression that takes too many steps on a text")
}

impl Pattern {
    /// Compiles an expression for a function, which errors name.
    pub fn compile(pattern: &str, function: &str) -> Result<Self> {
        let (engine, has_end_anchor) = Engine::new(pattern, function, EndAnchor::Plain)?;
        let careful = if has_end_anchor { Some(Engine::new(pattern, function, EndAnchor::LookAhead)?.0) } else { None };
        Ok(Self { engine, careful })
    }

    fn engine(&self, text: &str) -> &Engine {
        match &self.careful {
            Some(careful) if text.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) => careful,
            _ => &self.engine,
        }
    }

    /// How many groups the expression has, the whole match not counted.
    pub fn group_count(&self) -> usize {
        self.engine.group_count()
    }

    /// The number of a named group.
    pub fn group_of(&self, name: &str) -> Option<usize> {
        self.engine.names().iter().position(|known| *known == Some(name))
    }

    /// True where the expression matches somewhere in the text.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        match self.engine(text) {
            Engine::Plain(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).map_err(gave_up),
        }
    }

    /// The first match from a byte on.
    pub fn find(&self, text: &str, start: usize) -> Result<Span> {
        self.engine(text).find(text, start)
    }

    /// The groups of the first match from a byte on, the whole match first; false where there is none.
    pub fn captures(&self, text: &str, start: usize, spans: &mut Vec<Span>) -> Result<bool> {
        self.engine(text).captures(text, start, spans)
    }
}

/// Where to look for a match after one: behind it, and a character on after an empty one.
/// None at the end of the text.
pub fn after(text: &str, (start, end): (usize, usize)) -> Option<usize> {
    if end > start {
        return Some(end);
    }
    text.get(end..)?.chars().next().map(|c| end + c.len_utf8())
}

/// The expressions of an argument: compiled once where it is constant.
pub struct Patterns<'a> {
    args: &'a KernelArgs<'a>,
    texts: Texts,
    function: &'static str,
    kept: HashMap<String, Arc<Pattern>>,
}

/// An expression of [`Patterns`].
pub enum PatternRef<'a> {
    Kept(&'a Pattern),
    Shared(Arc<Pattern>),
}

impl std::ops::Deref for PatternRef<'_> {
    type Target = Pattern;

    fn deref(&self) -> &Pattern {
        match self {
            Self::Kept(pattern) => pattern,
            Self::Shared(pattern) => pattern,
        }
    }
}

impl<'a> Patterns<'a> {
    /// The expressions of the argument at `index`.
    pub fn of(args: &'a KernelArgs<'a>, index: usize, function: &'static str) -> Result<Self> {
        Ok(Self { args, texts: Rows::of(args, index)?, function, kept: HashMap::new() })
    }

    /// The text of the expression in a row.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.texts.get(row)
    }

    /// The expression in a row; None for null.
    pub fn get(&mut self, row: usize) -> Result<Option<PatternRef<'a>>> {
        let Some(text) = self.texts.get(row) else { return Ok(None) };
        if self.texts.is_constant() {
            let compile = || Pattern::compile(&under_collation(self.args.types, text), self.function);
            return Ok(Some(PatternRef::Kept(self.args.prepared(compile)?)));
        }
        if let Some(pattern) = self.kept.get(text) {
            return Ok(Some(PatternRef::Shared(Arc::clone(pattern))));
        }
        let pattern = Arc::new(Pattern::compile(&under_collation(self.args.types, text), self.function)?);
        if self.kept.len() >= KEPT {
            self.kept.clear();
        }
        self.kept.insert(text.to_string(), Arc::clone(&pattern));
        Ok(Some(PatternRef::Shared(pattern)))
    }
}
