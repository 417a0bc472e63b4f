//! What matches a regular expression.

use super::pattern::{Patterns, Span, after};
use crate::scalar::string::declare::{function, lenient, param, strict};
use crate::scalar::string::rows::{Integers, Rows, Texts, finish, primitives, row_count, texts};
use crate::{ArgType, Body, KernelArgs, Nullability, Returns, Signature};
use arrow::array::builder::{ListBuilder, StringBuilder};
use arrow::datatypes::{DataType as ArrowType, Field, Int32Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::fmt::Write;
use std::sync::Arc;

const PAIR: Signature = Signature::of(&[param("str", ArgType::String), param("regexp", ArgType::String)]);
const WITH_GROUP: Signature = Signature::with_optional(
    &[param("str", ArgType::String), param("regexp", ArgType::String), param("idx", ArgType::Integer)],
    1,
);

fn group_text(name: &str, default: &str, a: &[String]) -> String {
    if a.len() > 2 { format!("{name}({})", a.join(", ")) } else { format!("{name}({}, {default})", a.join(", ")) }
}

function! {
    /// `regexp_extract(str, regexp[, idx])`
    REGEXP_EXTRACT = "regexp_extract" in String, WITH_GROUP => strict(DataType::STRING, regexp_extract);
    text |a| group_text("regexp_extract", "1", a);
    usage "A group (by default the first) of the first match of a regular expression; the empty text where nothing matches.";
    since "1.5.0";
    example r"SELECT regexp_extract('100-200', '(\\d+)-(\\d+)', 1)" => "100";
}
function! {
    /// `regexp_extract_all(str, regexp[, idx])`
    REGEXP_EXTRACT_ALL = "regexp_extract_all" in String, WITH_GROUP
        => Body::Scalar {
            returns: Returns::Of(|_, _| Ok(DataType::array(DataType::STRING, true))),
            nullable: Nullability::IfAnyArgument,
            kernel: regexp_extract_all,
        };
    text |a| group_text("regexp_extract_all", "1", a);
    usage "A group (by default the first) of each match of a regular expression.";
    since "3.1.0";
    example r"SELECT regexp_extract_all('100-200, 300-400', '(\\d+)-(\\d+)', 1)" => "[\"100\",\"300\"]";
}
function! {
    /// `regexp_count(str, regexp)`
    REGEXP_COUNT = "regexp_count" in String, PAIR => strict(DataType::Integer, regexp_count);
    usage "How often a regular expression matches.";
    since "3.4.0";
    example "SELECT regexp_count('Steven Jones and Stephen Smith are the best players', 'Ste(v|ph)en')" => "2";
}
function! {
    /// `regexp_substr(str, regexp)`
    REGEXP_SUBSTR = "regexp_substr" in String, PAIR => lenient(DataType::STRING, regexp_substr);
    usage "The first match of a regular expression; null where there is none.";
    since "3.4.0";
    example "SELECT regexp_substr('Steven Jones and Stephen Smith are the best players', 'Ste(v|ph)en')" => "Steven";
}
function! {
    /// `regexp_instr(str, regexp[, idx])`
    REGEXP_INSTR = "regexp_instr" in String, WITH_GROUP => strict(DataType::Integer, regexp_instr);
    text |a| group_text("regexp_instr", "0", a);
    usage "The position of the first match of a regular expression, counted from 1; 0 where there is none.";
    since "3.4.0";
    example "SELECT regexp_instr('user@spark.apache.org', '@[^.]*')" => "5";
}

fn check_group(index: i32, count: usize, function: &str) -> Result<usize> {
    match usize::try_from(index) {
        Ok(index) if index <= count => Ok(index),
        _ => Err(SparkError::new("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX")
            .with("parameter", "`idx`")
            .with("functionName", format!("`{function}`"))
            .with("groupCount", count.to_string())
            .with("groupIndex", index.to_string())),
    }
}

/// The group to take in each row.
struct Groups(Option<Integers>);

impl Groups {
    fn of(args: &KernelArgs<'_>) -> Result<Self> {
        Ok(Self(if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None }))
    }

    fn get(&self, row: usize) -> Option<i32> {
        match &self.0 {
            Some(groups) => groups.get(row),
            None => Some(1),
        }
    }
}

fn regexp_extract(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let mut patterns = Patterns::of(args, 1, "regexp_extract")?;
    let groups = Groups::of(args)?;
    let mut spans: Vec<Span> = Vec::new();
    texts(args, |row, out| {
        let (Some(text), Some(group)) = (values.get(row), groups.get(row)) else { return Ok(None) };
        let Some(pattern) = patterns.get(row)? else { return Ok(None) };
        if group == 0 {
            if let Some((start, end)) = pattern.find(text, 0)? {
                let _ = out.write_str(&text[start..end]);
            }
            return Ok(Some(()));
        }
        if pattern.captures(text, 0, &mut spans)? {
            let group = check_group(group, pattern.group_count(), "regexp_extract")?;
            if let Some((start, end)) = spans.get(group).copied().flatten() {
                let _ = out.write_str(&text[start..end]);
            }
        }
        Ok(Some(()))
    })
}

fn regexp_extract_all(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let mut patterns = Patterns::of(args, 1, "regexp_extract_all")?;
    let groups = Groups::of(args)?;
    let mut spans: Vec<Span> = Vec::new();
    let element = Arc::new(Field::new("element", ArrowType::Utf8, true));
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element);
    for row in 0..row_count(args) {
        let (Some(text), Some(group)) = (values.get(row), groups.get(row)) else {
            builder.append_null();
            continue;
        };
        let Some(pattern) = patterns.get(row)? else {
            builder.append_null();
            continue;
        };
        let mut from = Some(0);
        while let Some(start) = from {
            if !pattern.captures(text, start, &mut spans)? {
                break;
            }
            let group = check_group(group, pattern.group_count(), "regexp_extract_all")?;
            let found = spans.get(group).copied().flatten().map_or("", |(start, end)| &text[start..end]);
            builder.values().append_value(found);
            from = spans.first().copied().flatten().and_then(|whole| after(text, whole));
        }
        builder.append(true);
    }
    finish(args, Arc::new(builder.finish()))
}

fn regexp_count(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let mut patterns = Patterns::of(args, 1, "regexp_extract_all")?;
    primitives::<Int32Type>(args, |row| {
        let Some(text) = values.get(row) else { return Ok(None) };
        let Some(pattern) = patterns.get(row)? else { return Ok(None) };
        let (mut count, mut from) = (0, Some(0));
        while let Some(start) = from {
            let Some(whole) = pattern.find(text, start)? else { break };
            count += 1;
            from = after(text, whole);
        }
        Ok(Some(count))
    })
}

fn regexp_substr(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let mut patterns = Patterns::of(args, 1, "regexp_extract")?;
    texts(args, |row, out| {
        let Some(text) = values.get(row) else { return Ok(None) };
        let Some(pattern) = patterns.get(row)? else { return Ok(None) };
        match pattern.find(text, 0)? {
            // An empty match counts as none.
            Some((start, end)) if end > start => Ok(out.write_str(&text[start..end]).ok()),
            _ => Ok(None),
        }
    })
}

fn regexp_instr(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let mut patterns = Patterns::of(args, 1, "regexp_instr")?;
    let groups = Groups::of(args)?;
    primitives::<Int32Type>(args, |row| {
        let (Some(text), Some(_)) = (values.get(row), groups.get(row)) else { return Ok(None) };
        let Some(pattern) = patterns.get(row)? else { return Ok(None) };
        // Java counts characters beyond the basic plane twice.
        Ok(Some(match pattern.find(text, 0)? {
            Some((start, _)) => text[..start].encode_utf16().count() as i32 + 1,
            None => 0,
        }))
    })
}
