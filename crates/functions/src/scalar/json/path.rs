//! `get_json_object`, `json_tuple` and what else looks into JSON text.

use super::reader::{Leniency, Malformed, Reader, Token};
use super::writer::{copy, write_fraction};
use crate::kernel::kernel;
use crate::scalar::string::declare::{function, lenient, param};
use crate::scalar::string::rows::{Rows, Texts, finish, primitives, row_count, texts};
use crate::{ArgType, Body, BuildContext, Function, Generator, KernelArgs, Nullability, Returns, Signature, TypedExpr};
use arrow::array::builder::{ListBuilder, StringBuilder};
use arrow::array::{ListArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, Field, Int32Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `get_json_object(json_txt, path)`
    GET_JSON_OBJECT = "get_json_object" in Json,
        Signature::of(&[param("json_txt", ArgType::String), param("path", ArgType::String)])
        => lenient(DataType::STRING, get_json_object);
    usage "The part of a JSON text at a path such as `$.a[0].b`; null where there is none.";
    since "1.5.0";
    example "SELECT get_json_object('{\"a\":\"b\"}', '$.a')" => "b";
    example "SELECT get_json_object('[{\"a\":\"b\"},{\"a\":\"c\"}]', '$[*].a')" => "[\"b\",\"c\"]";
}
function! {
    /// `json_array_length(jsonArray)`
    JSON_ARRAY_LENGTH = "json_array_length" in Json, Signature::of(&[param("jsonArray", ArgType::String)])
        => lenient(DataType::Integer, json_array_length);
    usage "The number of elements of a JSON array; null for other texts.";
    since "3.1.0";
    example "SELECT json_array_length('[1,2,3,4]')" => "4";
}
function! {
    /// `json_object_keys(json_object)`
    JSON_OBJECT_KEYS = "json_object_keys" in Json, Signature::of(&[param("json_object", ArgType::String)])
        => Body::Scalar {
            returns: Returns::Of(|_, _| Ok(DataType::array(DataType::STRING, true))),
            nullable: Nullability::Always,
            kernel: json_object_keys,
        };
    usage "The keys of a JSON object; null for other texts.";
    since "3.1.0";
    example "SELECT json_object_keys('{\"key\": \"value\"}')" => "[\"key\"]";
}
function! {
    /// `json_tuple(jsonStr, p1, p2, …)`
    JSON_TUPLE = "json_tuple" in Json, Signature::variadic(&[], ArgType::Any) => Body::Generator(json_tuple);
    usage "Several fields of a JSON object as columns of text.";
    since "1.6.0";
    example "SELECT json_tuple('{\"a\":1, \"b\":2}', 'a', 'b')" => "1\t2";
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key,
    Subscript,
    Wildcard,
    Index(u64),
    Named(String),
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("json_tuple", tuple_rows)];

/// Reads a path; None where it is malformed.
fn parse_path(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.trim_start().strip_prefix('$')?.trim_start();
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(".*") {
            steps.push(Step::Wildcard);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("['*']") {
            steps.push(Step::Wildcard);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            let after = after.trim_start();
            let end = after.find(['.', '[']).unwrap_or(after.len());
            if end == 0 {
                return None;
            }
            steps.extend([Step::Key, Step::Named(after[..end].to_string())]);
            rest = &after[end..];
        } else if let Some(after) = rest.strip_prefix("['") {
            let end = after.find(['\'', '?']).filter(|end| *end > 0)?;
            steps.extend([Step::Key, Step::Named(after[..end].to_string())]);
            rest = after[end..].strip_prefix("']")?;
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Subscript);
            steps.push(match inside.trim() {
                "*" => Step::Wildcard,
                index if index.bytes().all(|b| b.is_ascii_digit()) => Step::Index(index.parse().ok()?),
                _ => return None,
            });
            rest = after;
        }
        rest = rest.trim_start();
    }
    Some(steps)
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Raw,
    Flatten,
    Quoted,
}

/// Where matches are written, with commas between them inside an array.
struct Sink {
    out: String,
    in_array: bool,
    is_first: bool,
}

impl Sink {
    fn value(&mut self, write: impl FnOnce(&mut String) -> Result<(), Malformed>) -> Result<(), Malformed> {
        if self.in_array && !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
        write(&mut self.out)
    }

    /// Writes an array of what `fill` writes.
    fn array<T>(&mut self, fill: impl FnOnce(&mut Self) -> Result<T, Malformed>) -> Result<T, Malformed> {
        self.value(|out| {
            out.push('[');
            Ok(())
        })?;
        let mut inner = Sink { out: std::mem::take(&mut self.out), in_array: true, is_first: true };
        let result = fill(&mut inner);
        self.out = inner.out;
        self.out.push(']');
        result
    }
}

/// Writes what a path finds in the value that `token` begins; true where something was found.
///
/// The rules are Hive's: matches of a wildcard make an array, but for a single one.
fn evaluate(
    reader: &mut Reader<'_>,
    token: Token<'_>,
    steps: &[Step],
    style: Style,
    sink: &mut Sink,
) -> Result<bool, Malformed> {
    match (token, steps) {
        (Token::Text(text), []) if style == Style::Raw => {
            sink.out.push_str(&text);
            Ok(true)
        }
        (Token::StartArray, []) if style == Style::Flatten => {
            let mut found = false;
            loop {
                match reader.token()? {
                    Token::EndArray => return Ok(found),
                    token => found |= evaluate(reader, token, &[], style, sink)?,
                }
            }
        }
        (token, []) => {
            sink.value(|out| copy(reader, &token, out))?;
            Ok(true)
        }
        (Token::StartObject, [Step::Key | Step::Wildcard, ..]) => evaluate_object(reader, steps, style, sink),
        (Token::StartArray, [Step::Subscript, Step::Wildcard, Step::Subscript, Step::Wildcard, rest @ ..]) => {
            sink.array(|sink| evaluate_elements(reader, rest, Style::Flatten, sink)).map(|count| count > 0)
        }
        (Token::StartArray, [Step::Subscript, Step::Wildcard, rest @ ..]) if style != Style::Quoted => {
            let inner_style = if style == Style::Flatten { Style::Flatten } else { Style::Quoted };
            let mut inner = Sink { out: String::new(), in_array: true, is_first: true };
            let count = evaluate_elements(reader, rest, inner_style, &mut inner)?;
            match count {
                0 => {}
                1 => sink.value(|out| {
                    out.push_str(&inner.out);
                    Ok(())
                })?,
                _ => sink.value(|out| {
                    let _ = write!(out, "[{}]", inner.out);
                    Ok(())
                })?,
            }
            Ok(count > 0)
        }
        (Token::StartArray, [Step::Subscript, Step::Wildcard, rest @ ..]) => {
            sink.array(|sink| evaluate_elements(reader, rest, Style::Quoted, sink)).map(|count| count > 0)
        }
        (Token::StartArray, [Step::Subscript, Step::Index(index), rest @ ..]) => {
            let more = matches!(rest, [Step::Subscript, Step::Wildcard, ..]);
            let style = if more { Style::Quoted } else { style };
            let (mut position, mut found) = (0, false);
            loop {
                match reader.token()? {
                    Token::EndArray => return Ok(found),
                    token if position == *index => found = evaluate(reader, token, rest, style, sink)?,
                    token => reader.skip(&token)?,
                }
                position += 1;
            }
        }
        (token, _) => {
            reader.skip(&token)?;
            Ok(false)
        }
    }
}

/// How many elements of an array the path finds something in.
fn evaluate_elements(
    reader: &mut Reader<'_>,
    steps: &[Step],
    style: Style,
    sink: &mut Sink,
) -> Result<usize, Malformed> {
    let mut count = 0;
    loop {
        match reader.token()? {
            Token::EndArray => return Ok(count),
            token => count += usize::from(evaluate(reader, token, steps, style, sink)?),
        }
    }
}

fn evaluate_object(reader: &mut Reader<'_>, steps: &[Step], style: Style, sink: &mut Sink) -> Result<bool, Malformed> {
    let mut found = false;
    loop {
        let Token::Name(name) = (match reader.token()? {
            Token::EndObject => return Ok(found),
            token => token,
        }) else {
            return Err(Malformed);
        };
        let token = reader.token()?;
        match steps {
            _ if found => reader.skip(&token)?,
            [Step::Key, Step::Named(wanted), rest @ ..] if *wanted == *name => {
                if token != Token::Null {
                    found = evaluate(reader, token, rest, style, sink)?;
                }
            }
            [Step::Key, Step::Wildcard, rest @ ..] => found = evaluate(reader, token, rest, style, sink)?,
            _ => reader.skip(&token)?,
        }
    }
}

fn get_json_object(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, paths): (Texts, Texts) = (Rows::of(args, 0)?, Rows::of(args, 1)?);
    let constant = paths.constant().map(|path| path.and_then(parse_path));
    let mut buffer = String::new();
    texts(args, |row, out| {
        let (Some(text), Some(path)) = (values.get(row), paths.get(row)) else { return Ok(None) };
        let made;
        let steps = match &constant {
            Some(steps) => steps.as_deref(),
            None => {
                made = parse_path(path);
                made.as_deref()
            }
        };
        let Some(steps) = steps else { return Ok(None) };
        let mut reader = Reader::new(text, Leniency::DEFAULT);
        buffer.clear();
        let mut sink = Sink { out: std::mem::take(&mut buffer), in_array: false, is_first: true };
        let found = match reader.token() {
            Ok(Token::End) | Err(Malformed) => false,
            Ok(token) => evaluate(&mut reader, token, steps, Style::Raw, &mut sink).unwrap_or(false),
        };
        buffer = sink.out;
        Ok(if found { out.write_str(&buffer).ok() } else { None })
    })
}

fn json_array_length(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    primitives::<Int32Type>(args, |row| Ok(values.get(row).and_then(|text| array_length(text).ok().flatten())))
}

fn array_length(text: &str) -> Result<Option<i32>, Malformed> {
    let mut reader = Reader::new(text, Leniency::DEFAULT);
    if reader.token()? != Token::StartArray {
        return Ok(None);
    }
    let mut count = 0;
    loop {
        match reader.token()? {
            Token::EndArray => return Ok(Some(count)),
            token => reader.skip(&token)?,
        }
        count += 1;
    }
}

fn json_object_keys(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let element = Arc::new(Field::new("element", ArrowType::Utf8, true));
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element);
    for row in 0..row_count(args) {
        match values.get(row).and_then(|text| object_keys(text).ok().flatten()) {
            Some(keys) => {
                for key in keys {
                    builder.values().append_value(key);
                }
                builder.append(true);
            }
            None => builder.append_null(),
        }
    }
    finish(args, Arc::new(builder.finish()))
}

fn object_keys(text: &str) -> Result<Option<Vec<String>>, Malformed> {
    let mut reader = Reader::new(text, Leniency::DEFAULT);
    if reader.token()? != Token::StartObject {
        return Ok(None);
    }
    let mut keys = Vec::new();
    loop {
        match reader.token()? {
            Token::EndObject => return Ok(Some(keys)),
            Token::Name(name) => {
                keys.push(name.into_owned());
                let token = reader.token()?;
                reader.skip(&token)?;
            }
            _ => return Err(Malformed),
        }
    }
}

fn json_tuple(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<Generator> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let text = JSON_TUPLE.call_text(&names);
    if arguments.len() < 2 {
        return Err(SparkError::new("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
            .with("functionName", "`json_tuple`")
            .with("expectedNum", "> 1")
            .with("actualNum", arguments.len().to_string())
            .with("docroot", "https://spark.apache.org/docs/latest"));
    }
    if !arguments.iter().all(|a| a.data_type.is_string()) {
        return Err(SparkError::new("DATATYPE_MISMATCH.NON_STRING_TYPE")
            .with("funcName", "`json_tuple`")
            .with("sqlExpr", format!("\"{text}\"")));
    }
    let columns: Vec<StructField> =
        (0..arguments.len() - 1).map(|i| StructField::new(format!("c{i}"), DataType::STRING, true)).collect();
    let data_type = DataType::array(DataType::struct_of(columns.clone()), false);
    let expr = crate::kernel::call(&JSON_TUPLE, tuple_rows, &arguments, &data_type, false, context)?;
    Ok(Generator { rows: TypedExpr::new(expr, data_type, false, text), columns, is_outer: false })
}

/// The fields of an object that are wanted, as text.
fn tuple(text: &str, wanted: &[Option<&str>]) -> Result<Vec<Option<String>>, Malformed> {
    let mut found: Vec<Option<String>> = vec![None; wanted.len()];
    let mut reader = Reader::new(text, Leniency::DEFAULT);
    if reader.token()? != Token::StartObject {
        return Ok(found);
    }
    loop {
        let name = match reader.token()? {
            Token::EndObject => return Ok(found),
            Token::Name(name) => name,
            _ => return Err(Malformed),
        };
        let token = reader.token()?;
        let positions: Vec<usize> = (0..wanted.len()).filter(|i| wanted[*i] == Some(name.as_ref())).collect();
        if positions.is_empty() || token == Token::Null {
            reader.skip(&token)?;
            continue;
        }
        let mut value = String::new();
        match &token {
            Token::Text(text) => value.push_str(text),
            Token::Fraction(text) => write_fraction(&mut value, text),
            other => copy(&mut reader, other, &mut value)?,
        }
        for position in positions {
            // The first field of a name counts.
            if found[position].is_none() {
                found[position] = Some(value.clone());
            }
        }
    }
}

fn tuple_rows(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let names = (1..args.values.len()).map(|i| Rows::of(args, i)).collect::<Result<Vec<Texts>>>()?;
    let count = row_count(args);
    let mut builders: Vec<StringBuilder> = names.iter().map(|_| StringBuilder::new()).collect();
    for row in 0..count {
        let wanted: Vec<Option<&str>> = names.iter().map(|name| name.get(row)).collect();
        let found = values.get(row).and_then(|text| tuple(text, &wanted).ok());
        for (index, builder) in builders.iter_mut().enumerate() {
            builder.append_option(found.as_ref().and_then(|found| found[index].as_deref()));
        }
    }
    let ArrowType::List(field) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("rows make a list"));
    };
    let ArrowType::Struct(fields) = field.data_type().clone() else {
        return Err(SparkError::internal("rows are structs"));
    };
    let columns = builders.iter_mut().map(|b| Arc::new(b.finish()) as arrow::array::ArrayRef).collect();
    let internal = |e: arrow::error::ArrowError| SparkError::internal(e.to_string());
    let rows = StructArray::try_new(fields, columns, None).map_err(internal)?;
    let list =
        ListArray::try_new(field, OffsetBuffer::from_lengths(std::iter::repeat_n(1, count)), Arc::new(rows), None)
            .map_err(internal)?;
    finish(args, Arc::new(list))
}
