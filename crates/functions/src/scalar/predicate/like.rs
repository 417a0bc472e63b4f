//! `LIKE` and its relatives.

use crate::coercion::mismatch;
use crate::function::{Body, Documentation, Function, Group, Nullability, Returns};
use crate::{ArgType, BuildContext, KernelArgs, Param, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringArray};
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{ColumnarValue, Expr, Operator, binary_expr};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use memchr::memmem::Finder;
use std::sync::Arc;

const PARAMS: &[Param] = &[
    Param { name: "str", arg_type: ArgType::String },
    Param { name: "pattern", arg_type: ArgType::String },
    Param { name: "escape", arg_type: ArgType::Any },
];

pub(super) static LIKE: Function = Function {
    name: "like",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::with_optional(PARAMS, 1),
    body: Body::Build(|context, arguments| build(false, context, arguments)),
    deterministic: true,
    text: Some(|arguments| match arguments {
        [text, pattern] => format!("{text} LIKE {pattern}"),
        [text, pattern, escape] => format!("{text} LIKE {pattern} ESCAPE '{escape}'"),
        _ => String::new(),
    }),
    documentation: Documentation {
        usage: "True if the whole text matches a pattern, where _ stands for a character and % for any number of them.",
        examples: &[("SELECT 'Spark' LIKE 'S%k'", "true")],
        ..Documentation::EMPTY
    },
};

pub(super) static ILIKE: Function = Function {
    name: "ilike",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::with_optional(PARAMS, 1),
    body: Body::Build(|context, arguments| build(true, context, arguments)),
    deterministic: true,
    text: Some(|arguments| match arguments {
        [text, pattern, ..] => format!("ilike({text}, {pattern})"),
        _ => String::new(),
    }),
    documentation: Documentation {
        usage: "LIKE, indifferent to the case of letters.",
        examples: &[("SELECT 'Spark' ILIKE 's%K'", "true")],
        since: "3.3.0",
        ..Documentation::EMPTY
    },
};

const fn many(
    name: &'static str,
    aliases: &'static [&'static str],
    text: fn(&[String]) -> String,
    build: fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>,
    usage: &'static str,
) -> Function {
    Function {
        name,
        aliases,
        group: Group::Internal,
        signature: Signature::variadic(
            &[Param { name: "str", arg_type: ArgType::String }, Param { name: "pattern", arg_type: ArgType::String }],
            ArgType::String,
        ),
        body: Body::Build(build),
        deterministic: true,
        text: Some(text),
        documentation: Documentation { usage, since: "3.0.0", ..Documentation::EMPTY },
    }
}

pub(super) static LIKE_ANY: Function = many(
    "likeany",
    &["like_any"],
    |arguments| format!("likeany({})", arguments.first().map_or("", String::as_str)),
    |context, arguments| several((Operator::Or, false), context, arguments),
    "True if the text is LIKE one of the patterns.",
);

pub(super) static NOT_LIKE_ANY: Function = many(
    "notlikeany",
    &[],
    |arguments| format!("notlikeany({})", arguments.first().map_or("", String::as_str)),
    |context, arguments| several((Operator::Or, true), context, arguments),
    "True if the text is not LIKE one of the patterns.",
);

pub(super) static LIKE_ALL: Function = many(
    "likeall",
    &["like_all"],
    |arguments| format!("likeall({})", arguments.first().map_or("", String::as_str)),
    |context, arguments| several((Operator::And, false), context, arguments),
    "True if the text is LIKE all of the patterns.",
);

pub(super) static NOT_LIKE_ALL: Function = many(
    "notlikeall",
    &[],
    |arguments| format!("notlikeall({})", arguments.first().map_or("", String::as_str)),
    |context, arguments| several((Operator::And, true), context, arguments),
    "True if the text is LIKE none of the patterns.",
);

/// The patterns by AND or OR, each of them turned round or not.
fn several(
    (operator, is_not): (Operator, bool),
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let mut arguments = arguments.into_iter();
    let text = arguments.next().ok_or_else(|| SparkError::internal("like takes a text"))?;
    let mut all = Vec::new();
    for pattern in arguments {
        let one = build(false, context, vec![text.clone(), pattern])?.expr;
        all.push(if is_not { Expr::Not(Box::new(one)) } else { one });
    }
    // In pairs, then pairs of pairs: many patterns make no deep expression.
    while all.len() > 1 {
        let mut rest = all.into_iter();
        let mut pairs = Vec::with_capacity(rest.len().div_ceil(2));
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) => binary_expr(left, operator, right),
                None => left,
            });
        }
        all = pairs;
    }
    let expr = all.pop().ok_or_else(|| SparkError::internal("like takes a pattern"))?;
    Ok(TypedExpr::new(expr, DataType::Boolean, true, ""))
}

fn build(ignore_case: bool, context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let escape = if arguments.len() > 2 { arguments.pop() } else { None };
    let escape = match escape {
        Some(expr) => one_character(&expr)?,
        None => '\\',
    };
    let nullable = arguments.iter().any(|a| a.nullable);
    let ignore_case = ignore_case
        || arguments.iter().any(|a| matches!(&a.data_type, DataType::String(collation) if collation.ignores_case()));
    let [text, pattern] =
        <[TypedExpr; 2]>::try_from(arguments).map_err(|_| SparkError::internal("like takes a text and a pattern"))?;
    let plain = pattern
        .literal()
        .and_then(|v| v.try_as_str().flatten())
        .is_some_and(|p| !p.contains([escape, '\\']) && is_one_piece(p) && (!ignore_case || p.is_ascii()));
    let expr = if plain {
        Expr::Like(Like::new(false, Box::new(text.expr), Box::new(pattern.expr), None, ignore_case))
    } else {
        let case = if ignore_case { "i" } else { "c" };
        crate::kernel::call_with_payload(
            &KERNEL,
            run,
            &[text, pattern],
            &DataType::Boolean,
            nullable,
            context,
            Some(Arc::from(format!("{case}{escape}"))),
        )?
    };
    Ok(TypedExpr::new(expr, DataType::Boolean, nullable, ""))
}

/// Whether a pattern asks for one piece of text at the start, at the end or anywhere: Arrow searches
/// for those without a regular expression, and statistics of files tell something of them.
fn is_one_piece(pattern: &str) -> bool {
    !pattern.trim_matches('%').contains(['%', '_'])
}

fn one_character(expr: &TypedExpr) -> Result<char> {
    let error = || SparkError::new("INVALID_ESCAPE_CHAR").with("sqlExpr", mismatch::quoted(&expr.name));
    let text = expr.literal().and_then(|v| v.try_as_str().flatten()).ok_or_else(error)?;
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        _ => Err(error()),
    }
}

/// A text and a pattern in; the payload is `c` or `i` for the case, then the escape character.
pub(super) static KERNEL: Function = Function {
    name: "like_escaped",
    aliases: &[],
    group: Group::Predicate,
    signature: Signature::NONE,
    body: Body::Scalar { returns: Returns::Type(DataType::Boolean), nullable: Nullability::IfAnyArgument, kernel: run },
    deterministic: true,
    text: None,
    documentation: Documentation::EMPTY,
};

/// What a pattern asks for, piece by piece.
enum Token {
    Character(char),
    /// `_`
    One,
    /// `%`
    Any,
}

/// Reads a pattern.
fn tokens(pattern: &str, escape: char) -> Result<Vec<Token>> {
    let quoted = || format!("'{}'", pattern.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut out = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            c if c == escape => match characters.next() {
                Some(c) if c == escape || c == '%' || c == '_' => Token::Character(c),
                Some(c) => {
                    return Err(SparkError::new("INVALID_FORMAT.ESC_IN_THE_MIDDLE")
                        .with("format", quoted())
                        .with("char", format!("'{c}'")));
                }
                None => return Err(SparkError::new("INVALID_FORMAT.ESC_AT_THE_END").with("format", quoted())),
            },
            '%' => Token::Any,
            '_' => Token::One,
            c => Token::Character(c),
        });
    }
    Ok(out)
}

/// A part of a pattern without `%`.
enum Piece {
    Text(Finder<'static>),
    /// Characters, and None for any.
    Mixed(Vec<Option<char>>),
}

impl Piece {
    fn new(characters: Vec<Option<char>>) -> Self {
        match characters.iter().copied().collect::<Option<String>>() {
            Some(text) => Self::Text(Finder::new(&text).into_owned()),
            None => Self::Mixed(characters),
        }
    }

    /// How many bytes of a text's start the piece is.
    fn start(&self, text: &str) -> Option<usize> {
        match self {
            Self::Text(finder) => text.as_bytes().starts_with(finder.needle()).then(|| finder.needle().len()),
            Self::Mixed(wanted) => {
                let mut characters = text.chars();
                let fits = wanted.iter().all(|wanted| match (wanted, characters.next()) {
                    (_, None) => false,
                    (None, Some(_)) => true,
                    (Some(wanted), Some(found)) => *wanted == found,
                });
                fits.then(|| text.len() - characters.as_str().len())
            }
        }
    }

    /// Where the first place of the piece ends.
    fn find(&self, text: &str) -> Option<usize> {
        match self {
            Self::Text(finder) => finder.find(text.as_bytes()).map(|at| at + finder.needle().len()),
            Self::Mixed(_) => text
                .char_indices()
                .find_map(|(at, _)| self.start(text.get(at..).unwrap_or_default()).map(|length| at + length)),
        }
    }

    /// Whether a text ends with the piece.
    fn ends(&self, text: &str) -> bool {
        match self {
            Self::Text(finder) => text.as_bytes().ends_with(finder.needle()),
            Self::Mixed(wanted) => {
                let start = text.char_indices().rev().nth(wanted.len().saturating_sub(1)).map(|(at, _)| at);
                start.and_then(|at| text.get(at..)).is_some_and(|rest| self.start(rest) == Some(rest.len()))
            }
        }
    }
}

/// A pattern made ready: pieces that follow each other, with anything between them.
struct Pattern {
    first: Piece,
    between: Vec<Piece>,
    /// None where the first piece is all.
    last: Option<Piece>,
    ignore_case: bool,
}

impl Pattern {
    fn new(pattern: &str, escape: char, ignore_case: bool) -> Result<Self> {
        let mut pieces = vec![Vec::new()];
        for token in tokens(pattern, escape)? {
            match token {
                Token::Any => pieces.push(Vec::new()),
                Token::One => pieces.last_mut().into_iter().for_each(|piece| piece.push(None)),
                Token::Character(c) if ignore_case => {
                    pieces.last_mut().into_iter().for_each(|piece| piece.extend(c.to_lowercase().map(Some)));
                }
                Token::Character(c) => pieces.last_mut().into_iter().for_each(|piece| piece.push(Some(c))),
            }
        }
        let last = if pieces.len() > 1 { pieces.pop().map(Piece::new) } else { None };
        let mut pieces = pieces.into_iter();
        let first = Piece::new(pieces.next().unwrap_or_default());
        let between = pieces.filter(|piece| !piece.is_empty()).map(Piece::new).collect();
        Ok(Self { first, between, last, ignore_case })
    }

    fn is_match(&self, text: &str) -> bool {
        if !self.ignore_case {
            return self.matches(text);
        }
        let lower = if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() };
        self.matches(&lower)
    }

    fn matches(&self, text: &str) -> bool {
        let Some(start) = self.first.start(text) else { return false };
        let Some(last) = &self.last else { return start == text.len() };
        let mut rest = &text[start..];
        for piece in &self.between {
            match piece.find(rest) {
                Some(end) => rest = &rest[end..],
                None => return false,
            }
        }
        last.ends(rest)
    }
}

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let payload = args.settings.payload.as_deref().unwrap_or("c\\");
    let ignore_case = payload.starts_with('i');
    let escape = payload.chars().nth(1).unwrap_or('\\');
    matches(args, |pattern| Pattern::new(pattern, escape, ignore_case), |pattern, text| Ok(pattern.is_match(text)))
}

/// Matches texts with patterns, of which a constant one is compiled once.
pub(super) fn matches<P: Send + Sync + 'static>(
    args: &KernelArgs<'_>,
    compile: impl Fn(&str) -> Result<P>,
    is_match: impl Fn(&P, &str) -> Result<bool>,
) -> Result<ColumnarValue> {
    let constant = match args.values.get(1) {
        Some(ColumnarValue::Scalar(value)) => Some(value.try_as_str().flatten()),
        _ => None,
    };
    let all_constant = args.values.iter().all(|v| matches!(v, ColumnarValue::Scalar(_)));
    let mut out = BooleanArray::builder(args.number_rows);
    match constant {
        Some(None) => out.append_nulls(if all_constant { 1 } else { args.number_rows }),
        Some(Some(pattern)) => {
            let pattern = args.prepared(|| compile(pattern))?;
            let mut add = |text: Option<&str>| {
                out.append_option(text.map(|t| is_match(pattern, t)).transpose()?);
                Ok::<_, SparkError>(())
            };
            match args.values.first() {
                Some(ColumnarValue::Array(array)) if let Some(views) = array.as_string_view_opt() => {
                    views.iter().try_for_each(&mut add)?;
                }
                _ => strings(&args.array(0)?)?.iter().try_for_each(&mut add)?,
            }
        }
        None => {
            let texts = strings(&args.array(0)?)?;
            let patterns = strings(&args.array(1)?)?;
            let mut last: Option<(String, P)> = None;
            for (text, pattern) in texts.iter().zip(&patterns) {
                let (Some(text), Some(pattern)) = (text, pattern) else {
                    out.append_null();
                    continue;
                };
                let compiled = match last.take() {
                    Some(known) if known.0 == pattern => known,
                    _ => (pattern.to_string(), compile(pattern)?),
                };
                out.append_value(is_match(&compiled.1, text)?);
                last = Some(compiled);
            }
        }
    }
    let array = out.finish();
    if all_constant {
        let value = ScalarValue::try_from_array(&array, 0).map_err(|e| SparkError::internal(e.to_string()))?;
        return Ok(ColumnarValue::Scalar(value));
    }
    Ok(ColumnarValue::Array(Arc::new(array)))
}

fn strings(array: &ArrayRef) -> Result<StringArray> {
    array
        .as_string_opt::<i32>()
        .cloned()
        .ok_or_else(|| SparkError::internal(format!("strings were expected, not {}", array.data_type())))
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn pieces_match_as_the_regular_expression_does() {
        let texts =
            ["", "a", "ab", "aba", "abab", "xaby", "special requests", "a special x requests b", "é%", "aab\nb", "aéb"];
        let patterns = [
            "%",
            "%%",
            "a%",
            "%a",
            "a%a",
            "%a%b%",
            "%ab%ab%",
            "ab%ab",
            "%special%requests%",
            "%é%",
            "a%b%",
            "_",
            "a_b",
            "%_",
            "_%_",
            "%a_b%",
            "__%b",
            "%_b_%",
            "",
        ];
        for pattern in patterns {
            let pieces = Pattern::new(pattern, '\\', false).unwrap();
            let expression = regex::escape(pattern).replace('%', ".*").replace('_', ".");
            let regex = regex::Regex::new(&format!("(?s)^{expression}$")).unwrap();
            for text in texts {
                assert_eq!(pieces.is_match(text), regex.is_match(text), "{text} LIKE {pattern}");
            }
        }
    }

    #[test]
    fn escapes_and_cases() {
        assert!(Pattern::new("a!%b", '!', false).unwrap().is_match("a%b"));
        assert!(!Pattern::new("a!%b", '!', false).unwrap().is_match("axb"));
        assert!(Pattern::new("A_Ç%", '\\', true).unwrap().is_match("axçd"));
        assert!(Pattern::new("a\\", '\\', false).is_err());
        assert!(Pattern::new("a\\b", '\\', false).is_err());
    }

    #[test]
    fn long_patterns_are_bounded() {
        let text = "a".repeat(100_000);
        assert!(Pattern::new(&"_%".repeat(20_000), '\\', false).unwrap().is_match(&text));
        assert!(!Pattern::new(&format!("{}b", "%a".repeat(5_000)), '\\', true).unwrap().is_match(&text));
    }
}
