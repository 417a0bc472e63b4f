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
    let mut all: Option<Expr> = None;
    for pattern in arguments {
        let one = build(false, context, vec![text.clone(), pattern])?.expr;
        let one = if is_not { Expr::Not(Box::new(one)) } else { one };
        all = Some(match all {
            Some(before) => binary_expr(before, operator, one),
            None => one,
        });
    }
    let expr = all.ok_or_else(|| SparkError::internal("like takes a pattern"))?;
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
        .is_some_and(|p| !p.contains([escape, '\\']) && (ignore_case || is_one_piece(p)));
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

/// The regular expression of a pattern.
fn regex_of(pattern: &str, escape: char, ignore_case: bool) -> Result<regex::Regex> {
    let quoted = || format!("'{}'", pattern.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut out = String::from(if ignore_case { "(?si)^" } else { "(?s)^" });
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            c if c == escape => match characters.next() {
                Some(c) if c == escape || c == '%' || c == '_' => c,
                Some(c) => {
                    return Err(SparkError::new("INVALID_FORMAT.ESC_IN_THE_MIDDLE")
                        .with("format", quoted())
                        .with("char", format!("'{c}'")));
                }
                None => return Err(SparkError::new("INVALID_FORMAT.ESC_AT_THE_END").with("format", quoted())),
            },
            '%' => {
                out.push_str(".*");
                continue;
            }
            '_' => {
                out.push('.');
                continue;
            }
            c => c,
        };
        out.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
    }
    out.push('$');
    regex::Regex::new(&out).map_err(|e| SparkError::internal(e.to_string()))
}

/// A pattern made ready.
enum Pattern {
    /// Pieces that follow each other: at the start, between, at the end.
    Pieces {
        first: String,
        between: Vec<Finder<'static>>,
        last: String,
    },
    Regex(regex::Regex),
}

impl Pattern {
    fn new(pattern: &str, escape: char, ignore_case: bool) -> Result<Self> {
        if !ignore_case
            && !pattern.contains([escape, '_'])
            && let Some((first, rest)) = pattern.split_once('%')
        {
            let (between, last) = rest.rsplit_once('%').unwrap_or(("", rest));
            let between = between.split('%').filter(|piece| !piece.is_empty());
            return Ok(Self::Pieces {
                first: first.to_string(),
                between: between.map(|piece| Finder::new(piece).into_owned()).collect(),
                last: last.to_string(),
            });
        }
        regex_of(pattern, escape, ignore_case).map(Self::Regex)
    }

    fn is_match(&self, text: &str) -> bool {
        let (first, between, last) = match self {
            Self::Regex(regex) => return regex.is_match(text),
            Self::Pieces { first, between, last } => (first, between, last),
        };
        let Some(rest) = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str())) else {
            return false;
        };
        let mut rest = rest.as_bytes();
        for piece in between {
            match piece.find(rest) {
                Some(at) => rest = rest.get(at + piece.needle().len()..).unwrap_or_default(),
                None => return false,
            }
        }
        true
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
            ["", "a", "ab", "aba", "abab", "xaby", "special requests", "a special x requests b", "é%", "aab\nb"];
        let patterns = ["%", "%%", "a%", "%a", "a%a", "%a%b%", "%ab%ab%", "ab%ab", "%special%requests%", "%é%", "a%b%"];
        for pattern in patterns {
            let pieces = Pattern::new(pattern, '\\', false).unwrap();
            assert!(matches!(pieces, Pattern::Pieces { .. }), "{pattern}");
            let regex = super::regex_of(pattern, '\\', false).unwrap();
            for text in texts {
                assert_eq!(pieces.is_match(text), regex.is_match(text), "{text} LIKE {pattern}");
            }
        }
    }
}
