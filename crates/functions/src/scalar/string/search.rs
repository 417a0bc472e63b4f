//! Where a string holds another.

use super::collation_rule::{Comparison, comparison};
use super::declare::{function, param, strict};
use super::rows::{Bytes, Integers, Rows, Texts, booleans, primitives};
use crate::{ArgType, Body, KernelArgs, Nullability, Returns, Signature};
use arrow::datatypes::Int32Type;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use memchr::memmem;

const TEXT_OR_BINARY: ArgType = ArgType::OneOf(&[ArgType::String, ArgType::Binary]);
const PAIR: Signature = Signature::of(&[param("left", TEXT_OR_BINARY), param("right", TEXT_OR_BINARY)]);
const LOCATE_ARGUMENTS: Signature = Signature::with_optional(
    &[param("substr", ArgType::String), param("str", ArgType::String), param("pos", ArgType::Integer)],
    1,
);

fn locate_text(name: &str, a: &[String]) -> String {
    if a.len() > 2 { format!("{name}({})", a.join(", ")) } else { format!("{name}({}, 1)", a.join(", ")) }
}

/// A test of binaries counts as nullable always.
const fn test_body(kernel: crate::KernelFn) -> Body {
    Body::Scalar {
        returns: Returns::Type(DataType::Boolean),
        nullable: Nullability::Of(|arguments, _| {
            arguments.iter().any(|a| a.nullable) || arguments.iter().all(|a| a.data_type == DataType::Binary)
        }),
        kernel,
    }
}

/// `locate` is null only where one of the texts is.
const fn locate_body() -> Body {
    Body::Scalar {
        returns: Returns::Type(DataType::Integer),
        nullable: Nullability::Of(|arguments, _| arguments.iter().take(2).any(|a| a.nullable)),
        kernel: locate,
    }
}

function! {
    /// `contains(left, right)`
    CONTAINS = "contains" in String, PAIR => test_body(contains);
    usage "True where `left` holds `right`.";
    since "3.3.0";
    example "SELECT contains('Spark SQL', 'Spark')" => "true";
    example "SELECT contains('Spark SQL', 'SPARK')" => "false";
}
function! {
    /// `startswith(left, right)`
    STARTS_WITH = "startswith" in String, PAIR
        => test_body(|args| compare(args, |left, right| left.starts_with(right)));
    usage "True where `left` starts with `right`.";
    since "3.3.0";
    example "SELECT startswith('Spark SQL', 'Spark')" => "true";
}
function! {
    /// `endswith(left, right)`
    ENDS_WITH = "endswith" in String, PAIR
        => test_body(|args| compare(args, |left, right| left.ends_with(right)));
    usage "True where `left` ends with `right`.";
    since "3.3.0";
    example "SELECT endswith('Spark SQL', 'SQL')" => "true";
}
function! {
    /// `instr(str, substr)`
    INSTR = "instr" in String, Signature::of(&[param("str", ArgType::String), param("substr", ArgType::String)])
        => strict(DataType::Integer, instr);
    usage "The position of the first `substr` in `str`, counted from 1; 0 where there is none.";
    since "1.5.0";
    example "SELECT instr('SparkSQL', 'SQL')" => "6";
}
function! {
    /// `locate(substr, str[, pos])`
    LOCATE = "locate" in String, LOCATE_ARGUMENTS => locate_body();
    text |a| locate_text("locate", a);
    usage "The position of the first `substr` in `str` from position `pos` on, counted from 1; 0 where there is none.";
    since "1.5.0";
    example "SELECT locate('bar', 'foobarbar')" => "4";
    example "SELECT locate('bar', 'foobarbar', 5)" => "7";
}
function! {
    /// `position(substr, str[, pos])`
    POSITION = "position" in String, LOCATE_ARGUMENTS => locate_body();
    text |a| locate_text("position", a);
    usage "The position of the first `substr` in `str` from position `pos` on, counted from 1; 0 where there is none.";
    since "2.3.0";
    example "SELECT position('bar', 'foobarbar')" => "4";
}
function! {
    /// `find_in_set(str, str_array)`
    FIND_IN_SET = "find_in_set" in String,
        Signature::of(&[param("str", ArgType::String), param("str_array", ArgType::String)])
        => strict(DataType::Integer, find_in_set);
    usage "The position of `str` in a list parted by commas, counted from 1; 0 where it is not in it.";
    since "1.5.0";
    example "SELECT find_in_set('ab','abc,b,ab,c,def')" => "3";
}

/// Tests texts by their small letters.
fn compare_lower(args: &KernelArgs<'_>, test: impl Fn(&[u8], &[u8]) -> bool) -> Result<ColumnarValue> {
    let (left, right): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let key = |text| Comparison::LowerCase.key(text);
    booleans(args, |row| Ok(left.get(row).zip(right.get(row)).map(|(l, r)| test(key(l).as_bytes(), key(r).as_bytes()))))
}

fn compare(args: &KernelArgs<'_>, test: impl Fn(&[u8], &[u8]) -> bool) -> Result<ColumnarValue> {
    if comparison(args, "a comparison of starts and ends of strings")? == Comparison::LowerCase {
        return compare_lower(args, test);
    }
    let (left, right) = (Bytes::of(args, 0)?, Bytes::of(args, 1)?);
    booleans(args, |row| Ok(left.get(row).zip(right.get(row)).map(|(left, right)| test(left, right))))
}

fn contains(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    if comparison(args, "contains")? == Comparison::LowerCase {
        return compare_lower(args, |left, right| memmem::find(left, right).is_some());
    }
    let (left, right) = (Bytes::of(args, 0)?, Bytes::of(args, 1)?);
    let constant = match &args.values[1] {
        ColumnarValue::Scalar(_) => right.get(0).map(memmem::Finder::new),
        ColumnarValue::Array(_) => None,
    };
    booleans(args, |row| {
        let (Some(left), Some(right)) = (left.get(row), right.get(row)) else { return Ok(None) };
        Ok(Some(match &constant {
            Some(finder) => finder.find(left).is_some(),
            None => memmem::find(left, right).is_some(),
        }))
    })
}

/// The position (from 1) of `wanted` in the characters of `text` from `start` (from 0) on; 0 where there is none.
fn find(text: &str, wanted: &str, start: usize) -> i32 {
    if wanted.is_empty() {
        return 1;
    }
    let from = match start {
        0 => 0,
        _ => match text.char_indices().nth(start) {
            Some((at, _)) => at,
            None => return 0,
        },
    };
    match memmem::find(&text.as_bytes()[from..], wanted.as_bytes()) {
        Some(at) => (text[..from + at].chars().count() + 1) as i32,
        None => 0,
    }
}

fn instr(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let rule = comparison(args, "instr")?;
    let (values, wanted): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Int32Type>(args, |row| {
        Ok(values.get(row).zip(wanted.get(row)).map(|(text, wanted)| find(&rule.key(text), &rule.key(wanted), 0)))
    })
}

fn locate(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let rule = comparison(args, "locate")?;
    let (wanted, values): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let starts: Option<Integers> = if args.values.len() > 2 { Some(Rows::of(args, 2)?) } else { None };
    primitives::<Int32Type>(args, |row| {
        // Without a position nothing is found, not even a null.
        let start = match &starts {
            Some(starts) => match starts.get(row) {
                Some(start) => start,
                None => return Ok(Some(0)),
            },
            None => 1,
        };
        let (Some(wanted), Some(text)) = (wanted.get(row), values.get(row)) else { return Ok(None) };
        Ok(Some(if start < 1 { 0 } else { find(&rule.key(text), &rule.key(wanted), start as usize - 1) }))
    })
}

fn find_in_set(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let rule = comparison(args, "find_in_set")?;
    let (wanted, lists): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Int32Type>(args, |row| {
        let (Some(wanted), Some(list)) = (wanted.get(row), lists.get(row)) else { return Ok(None) };
        Ok(Some(match rule.key(list).split(',').position(|entry| entry == rule.key(wanted)) {
            Some(index) => index as i32 + 1,
            None => 0,
        }))
    })
}
