//! Where a string holds another.

use super::collation_search::{Search, Wanted};
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
    STARTS_WITH = "startswith" in String, PAIR => test_body(starts_with);
    usage "True where `left` starts with `right`.";
    since "3.3.0";
    example "SELECT startswith('Spark SQL', 'Spark')" => "true";
}
function! {
    /// `endswith(left, right)`
    ENDS_WITH = "endswith" in String, PAIR => test_body(ends_with);
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

/// A test of texts, by bytes where equal texts have equal bytes.
fn compare(
    args: &KernelArgs<'_>,
    by_bytes: impl Fn(&[u8], &[u8]) -> bool,
    by_rule: impl Fn(&str, &Wanted<'_>) -> bool,
) -> Result<ColumnarValue> {
    let search = Search::of(args)?;
    if search.is_plain() {
        let (left, right) = (Bytes::of(args, 0)?, Bytes::of(args, 1)?);
        return booleans(args, |row| Ok(left.get(row).zip(right.get(row)).map(|(left, right)| by_bytes(left, right))));
    }
    let (left, right): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    booleans(args, |row| {
        Ok(left
            .get(row)
            .zip(right.get(row))
            .map(|(text, wanted)| by_rule(search.counted(text), &search.wanted(search.counted(wanted)))))
    })
}

fn starts_with(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    compare(args, |left, right| left.starts_with(right), |text, wanted| wanted.end_at(text, 0).is_some())
}

fn ends_with(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    compare(args, |left, right| left.ends_with(right), |text, wanted| wanted.start_of_end(text).is_some())
}

fn contains(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let right = Bytes::of(args, 1)?;
    let constant = match &args.values[1] {
        ColumnarValue::Scalar(_) => right.get(0).map(memmem::Finder::new),
        ColumnarValue::Array(_) => None,
    };
    let by_bytes = |left: &[u8], right: &[u8]| match &constant {
        Some(finder) => finder.find(left).is_some(),
        None => memmem::find(left, right).is_some(),
    };
    compare(args, by_bytes, |text, wanted| wanted.find(text, 0).is_some())
}

/// The position (from 1) of a match in the characters of `text` from `start` (from 0) on; 0 where there is none.
fn find(text: &str, wanted: &Wanted<'_>, start: usize) -> i32 {
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
    match wanted.find(text, from) {
        Some((at, _)) => (text[..at].chars().count() + 1) as i32,
        None => 0,
    }
}

fn instr(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let search = Search::of(args)?;
    let (values, wanted): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Int32Type>(args, |row| {
        Ok(values
            .get(row)
            .zip(wanted.get(row))
            .map(|(text, wanted)| find(text, &search.wanted(search.counted(wanted)), 0)))
    })
}

fn locate(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let search = Search::of(args)?;
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
        if start < 1 {
            return Ok(Some(0));
        }
        Ok(Some(find(text, &search.wanted(search.counted(wanted)), start as usize - 1)))
    })
}

fn find_in_set(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let search = Search::of(args)?;
    let (wanted, lists): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    primitives::<Int32Type>(args, |row| {
        let (Some(wanted), Some(list)) = (wanted.get(row), lists.get(row)) else { return Ok(None) };
        let position = if search.is_plain() {
            list.split(',').position(|entry| entry == wanted)
        } else {
            let key = search.rule().key(wanted);
            list.split(',').position(|entry| search.rule().key(entry) == key)
        };
        Ok(Some(position.map_or(0, |index| index as i32 + 1)))
    })
}
