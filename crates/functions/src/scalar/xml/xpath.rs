//! `xpath` and its family.

use super::tree::{Document, Kind};
use super::xpath_parser::{Expr, parse};
use super::xpath_value::{Evaluator, Value};
use crate::scalar::string::constant::{not_foldable, text_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, Texts, booleans, finish, internal, primitives, row_count, texts};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, KernelFn, Signature, TypedExpr};
use arrow::array::{ListBuilder, StringBuilder};
use arrow::datatypes::{Float32Type, Float64Type, Int16Type, Int32Type, Int64Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::fmt::Write;
use std::sync::Arc;

const SIGNATURE: Signature = Signature::of(&[param("xml", ArgType::String), param("path", ArgType::String)]);

function! {
    /// `xpath(xml, path)`
    XPATH = "xpath" in Xml, SIGNATURE
        => Body::Build(|c, a| build(&XPATH, lists, DataType::array(DataType::STRING, true), c, a));
    usage "The texts of the nodes that a path leads to; NULL for nodes that are no text.";
    since "2.0.0";
    example "SELECT xpath('<a><b>b1</b><b>b2</b></a>', 'a/b/text()')" => "[\"b1\",\"b2\"]";
}
function! {
    /// `xpath_boolean(xml, path)`
    XPATH_BOOLEAN = "xpath_boolean" in Xml, SIGNATURE
        => Body::Build(|c, a| build(&XPATH_BOOLEAN, flags, DataType::Boolean, c, a));
    usage "Whether a path is true, or leads to a node.";
    since "2.0.0";
    example "SELECT xpath_boolean('<a><b>1</b></a>', 'a/b')" => "true";
}
function! {
    /// `xpath_double(xml, path)`
    XPATH_DOUBLE = "xpath_double" in Xml, SIGNATURE
        => Body::Build(|c, a| build(&XPATH_DOUBLE, doubles, DataType::Double, c, a));
    usage "The number that a path leads to; NaN for what is none.";
    since "2.0.0";
    example "SELECT xpath_double('<a><b>1</b><b>2</b></a>', 'sum(a/b)')" => "3.0";
}
function! {
    /// `xpath_number(xml, path)`
    XPATH_NUMBER = "xpath_number" in Xml, SIGNATURE
        => Body::Build(|c, a| build(&XPATH_NUMBER, doubles, DataType::Double, c, a));
    usage "The number that a path leads to; NaN for what is none.";
    since "2.0.0";
    example "SELECT xpath_number('<a><b>1</b><b>2</b></a>', 'sum(a/b)')" => "3.0";
}
function! {
    /// `xpath_float(xml, path)`
    XPATH_FLOAT = "xpath_float" in Xml, SIGNATURE
        => Body::Build(|c, a| build(&XPATH_FLOAT, floats, DataType::Float, c, a));
    usage "The number that a path leads to; NaN for what is none.";
    since "2.0.0";
    example "SELECT xpath_float('<a><b>1</b><b>2</b></a>', 'sum(a/b)')" => "3.0";
}
function! {
    /// `xpath_int(xml, path)`
    XPATH_INT = "xpath_int" in Xml, SIGNATURE => Body::Build(|c, a| build(&XPATH_INT, integers, DataType::Integer, c, a));
    usage "The whole number that a path leads to; 0 for what is none.";
    since "2.0.0";
    example "SELECT xpath_int('<a><b>1</b><b>2</b></a>', 'sum(a/b)')" => "3";
}
function! {
    /// `xpath_long(xml, path)`
    XPATH_LONG = "xpath_long" in Xml, SIGNATURE => Body::Build(|c, a| build(&XPATH_LONG, longs, DataType::Long, c, a));
    usage "The whole number that a path leads to; 0 for what is none.";
    since "2.0.0";
    example "SELECT xpath_long('<a><b>1</b><b>2</b></a>', 'sum(a/b)')" => "3";
}
function! {
    /// `xpath_short(xml, path)`
    XPATH_SHORT = "xpath_short" in Xml, SIGNATURE => Body::Build(|c, a| build(&XPATH_SHORT, shorts, DataType::Short, c, a));
    usage "The whole number that a path leads to; 0 for what is none.";
    since "2.0.0";
    example "SELECT xpath_short('<a><b>1</b><b>2</b></a>', 'sum(a/b)')" => "3";
}
function! {
    /// `xpath_string(xml, path)`
    XPATH_STRING = "xpath_string" in Xml, SIGNATURE
        => Body::Build(|c, a| build(&XPATH_STRING, strings, DataType::STRING, c, a));
    usage "The text of the first node that a path leads to.";
    since "2.0.0";
    example "SELECT xpath_string('<a><b>b</b><c>cc</c></a>', 'a/c')" => "cc";
}

fn build(
    function: &'static Function,
    kernel: KernelFn,
    returns: DataType,
    context: &mut BuildContext<'_>,
    arguments: Vec<TypedExpr>,
) -> Result<TypedExpr> {
    let [xml, path] = arguments.as_slice() else { return Err(SparkError::internal("a path needs a document")) };
    let text = format!("{}({}, {})", function.name, xml.name, path.name);
    let Some(value) = value_of(path)? else { return Err(not_foldable(path, &text, "path", "STRING")) };
    let path = text_of(&value).unwrap_or_default();
    // A path of no length, and one that is null, give null.
    let payload = if path.is_empty() { None } else { Some(Arc::from(path)) };
    let arguments = std::slice::from_ref(xml);
    let expr = crate::kernel::call_with_payload(function, kernel, arguments, &returns, true, context, payload)?;
    Ok(TypedExpr::new(expr, returns, true, text))
}

fn runtime(message: String) -> SparkError {
    SparkError::plain(ExceptionClass::Runtime, message)
}

/// Calls `f` with a row's value of the path; None for documents and paths that are null or empty.
struct Paths<'a> {
    documents: Texts,
    path: &'a str,
    expr: Option<&'a Expr>,
}

impl<'a> Paths<'a> {
    fn of(args: &'a KernelArgs<'_>) -> Result<Self> {
        let documents: Texts = Rows::of(args, 0)?;
        let path = args.settings.payload.as_deref().unwrap_or_default();
        let expr = if path.is_empty() {
            None
        } else {
            Some(args.prepared(|| parse(path).ok_or_else(|| runtime(format!("Invalid XPath '{path}'"))))?)
        };
        Ok(Self { documents, path, expr })
    }

    fn at<T>(&self, row: usize, f: impl FnOnce(&Evaluator<'_>, &Value) -> Result<T>) -> Result<Option<T>> {
        let (Some(text), Some(expr)) = (self.documents.get(row), self.expr) else { return Ok(None) };
        if text.is_empty() {
            return Ok(None);
        }
        let document =
            Document::parse(text).ok_or_else(|| runtime(format!("Error loading expression '{}'", self.path)))?;
        let evaluator = Evaluator { document: &document };
        let value = evaluator.evaluate(expr)?;
        f(&evaluator, &value).map(Some)
    }

    /// The number of a row; None too where there is no node.
    fn number(&self, row: usize) -> Result<Option<f64>> {
        self.at(row, |evaluator, value| Ok(evaluator.number(value)))
    }
}

pub(super) fn lists(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let paths = Paths::of(args)?;
    let mut builder = ListBuilder::new(StringBuilder::new());
    for row in 0..row_count(args) {
        let found = paths.at(row, |evaluator, value| {
            let Value::Nodes(nodes) = value else {
                return Err(runtime("Invalid XML document: the path does not lead to nodes".to_string()));
            };
            let nodes = nodes.iter().map(|node| match &evaluator.document.nodes[*node].kind {
                Kind::Text(text) | Kind::Attribute(_, text) | Kind::Comment(text) => Some(text.clone()),
                Kind::Instruction(_, text) => Some(text.clone()),
                Kind::Root | Kind::Element(_) => None,
            });
            Ok(nodes.collect::<Vec<_>>())
        })?;
        match found {
            Some(nodes) => {
                nodes.iter().for_each(|node| builder.values().append_option(node.as_deref()));
                builder.append(true);
            }
            None => builder.append(false),
        }
    }
    let wanted = arrow_mapping::to_arrow(args.return_type);
    let list = arrow::compute::cast(&builder.finish(), &wanted).map_err(internal)?;
    finish(args, list)
}

pub(super) fn flags(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let paths = Paths::of(args)?;
    booleans(args, |row| paths.at(row, |evaluator, value| Ok(evaluator.boolean(value))))
}

pub(super) fn strings(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let paths = Paths::of(args)?;
    texts(args, |row, out| {
        let text = paths.at(row, |evaluator, value| Ok(evaluator.text(value)))?;
        Ok(text.map(|text| {
            let _ = out.write_str(&text);
        }))
    })
}

pub(super) fn doubles(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let paths = Paths::of(args)?;
    primitives::<Float64Type>(args, |row| paths.number(row))
}

pub(super) fn floats(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let paths = Paths::of(args)?;
    primitives::<Float32Type>(args, |row| Ok(paths.number(row)?.map(|number| number as f32)))
}

pub(super) fn longs(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let paths = Paths::of(args)?;
    primitives::<Int64Type>(args, |row| Ok(paths.number(row)?.map(|number| number as i64)))
}

pub(super) fn integers(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let paths = Paths::of(args)?;
    primitives::<Int32Type>(args, |row| Ok(paths.number(row)?.map(|number| number as i32)))
}

pub(super) fn shorts(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let paths = Paths::of(args)?;
    primitives::<Int16Type>(args, |row| Ok(paths.number(row)?.map(|number| number as i32 as i16)))
}
