//! `from_xml`.

use super::tree::{Document, Kind};
use crate::scalar::datetime::pattern::Use;
use crate::scalar::json::checks;
use crate::scalar::json::convert::Converter;
use crate::scalar::json::formats::{Formats, drop_unused, note_policy};
use crate::scalar::json::from_json::{Record, check_mode, schema_of, structs};
use crate::scalar::json::options::Options;
use crate::scalar::json::reader::Json;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, Texts, finish, row_count};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr, coercion};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructType, TimeZone};
use std::borrow::Cow;
use std::sync::Arc;

function! {
    /// `from_xml(xmlStr, schema[, options])`
    FROM_XML = "from_xml" in Xml, Signature::with_optional(
            &[param("xmlStr", ArgType::Any), param("schema", ArgType::Any), param("options", ArgType::Any)],
            1,
        )
        => Body::Build(build);
    text |a| format!("from_xml({})", a.first().map(String::as_str).unwrap_or_default());
    usage "The struct of an XML text, by a schema.";
    since "4.0.0";
    example "SELECT from_xml('<p><a>1</a><b>0.8</b></p>', 'a INT, b DOUBLE')" => "{\"a\":1,\"b\":0.8}";
}

/// How elements become values.
#[derive(Debug)]
pub struct XmlOptions {
    pub attribute_prefix: String,
    pub value_tag: String,
    pub wildcard: String,
    pub null_value: Option<String>,
    pub excludes_attributes: bool,
    pub ignores_blanks: bool,
    pub ignores_namespace: bool,
}

impl XmlOptions {
    /// The settings among options.
    pub fn of(options: &Options) -> Self {
        let text = |name: &str, default: &str| options.get(name).unwrap_or(default).to_string();
        Self {
            attribute_prefix: text("attributePrefix", "_"),
            value_tag: text("valueTag", "_VALUE"),
            wildcard: text("wildcardColName", "xs_any"),
            null_value: options.get("nullValue").map(str::to_string),
            excludes_attributes: options.flag("excludeAttribute", false),
            ignores_blanks: options.flag("ignoreSurroundingSpaces", true),
            ignores_namespace: options.flag("ignoreNamespace", false),
        }
    }

    /// The name of a node's field.
    pub fn field_name<'d>(&self, document: &'d Document, node: usize) -> &'d str {
        if self.ignores_namespace { document.local_name(node) } else { document.name(node) }
    }

    /// The text of a value.
    pub fn trimmed<'t>(&self, text: &'t str) -> &'t str {
        if self.ignores_blanks { text.trim() } else { text }
    }

    /// The attributes of an element that count, as names and values.
    pub fn attributes<'d>(&self, document: &'d Document, element: usize) -> Vec<(String, &'d str)> {
        if self.excludes_attributes {
            return Vec::new();
        }
        let nodes = document.nodes[element].attributes.iter().map(|node| &document.nodes[*node].kind);
        nodes
            .filter_map(|kind| match kind {
                // Declarations of namespaces are attributes as well.
                Kind::Attribute(name, value) => {
                    let local = name.rsplit_once(':').map_or(name.as_str(), |(_, local)| local);
                    let name = if self.ignores_namespace { local } else { name };
                    Some((format!("{}{name}", self.attribute_prefix), value.as_str()))
                }
                _ => None,
            })
            .collect()
    }
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [text, schema, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("from_xml takes two arguments"));
    };
    let call = format!("from_xml({})", text.name);
    if !text.data_type.is_string() && !text.data_type.is_null() {
        return Err(coercion::mismatch::unexpected_input(&call, 0, ArgType::String, text));
    }
    let text = coercion::implicitly(text.clone(), &DataType::STRING, context)?;
    let data_type = schema_of(schema)?.as_nullable();
    if data_type.exists(&|t| matches!(t, DataType::Variant)) {
        return Err(SparkError::unsupported("from_xml with variants in the schema"));
    }
    if !matches!(data_type, DataType::Struct(_)) {
        return Err(SparkError::new("DATATYPE_MISMATCH.INVALID_XML_SCHEMA")
            .with("schema", format!("\"{}\"", data_type.sql()))
            .with("sqlExpr", format!("\"{call}\"")));
    }
    if data_type.exists(&|t| matches!(t, DataType::Map { key, .. } if !key.is_string())) {
        return Err(SparkError::new("DATATYPE_MISMATCH.INVALID_XML_MAP_KEY_TYPE")
            .with("schema", format!("\"{}\"", data_type.sql()))
            .with("sqlExpr", format!("\"{call}\"")));
    }
    let mut options = Options::of(rest.first())?;
    checks::xml(&options)?;
    note_policy(&mut options, context.conf);
    drop_unused(&mut options, &data_type);
    check_mode(&options, "from_xml")?;
    if options.get("columnNameOfCorruptRecord").is_none() {
        options.set("columnNameOfCorruptRecord", "_corrupt_record");
    }
    let payload = Some(Arc::from(options.to_payload()));
    Formats::compile(options, Use::Parsing)?;
    let expr = crate::kernel::call_with_payload(&FROM_XML, from_xml, &[text], &data_type, true, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, true, call))
}

pub(super) fn from_xml(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let values: Texts = Rows::of(args, 0)?;
    let formats = args.prepared(|| Formats::of(args.settings.payload.as_deref(), Use::Parsing))?;
    let options = XmlOptions::of(&formats.options);
    let DataType::Struct(fields) = args.return_type else {
        return Err(SparkError::internal("from_xml makes structs"));
    };
    let texts: Vec<Option<&str>> = (0..row_count(args)).map(|row| values.get(row)).collect();
    let documents: Vec<Option<Document>> = texts.iter().map(|text| text.and_then(Document::parse)).collect();
    let records: Vec<Record<'_>> = texts
        .iter()
        .zip(&documents)
        .map(|(text, document)| match (text, document) {
            (None, _) => Record::Missing,
            (Some(_), None) => Record::Malformed,
            (Some(_), Some(document)) => Record::Value(record(document, fields, &options)),
        })
        .collect();
    let zone = formats.options.get("timeZone").unwrap_or(&args.settings.time_zone);
    let converter = Converter { formats, zone: TimeZone::parse(zone)? };
    finish(args, structs(&converter, &records, &texts, fields)?)
}

/// The outermost element of a document as an object with the fields of a struct.
pub fn record<'d>(document: &'d Document, fields: &StructType, options: &XmlOptions) -> Json<'d> {
    object(document, document.root_element(), fields, options)
}

/// The type of a field by its name, in any letter case.
fn field_type<'t>(fields: &'t StructType, name: &str) -> Option<(&'t str, &'t DataType)> {
    let exact = fields.fields.iter().find(|field| field.name == name);
    let field = exact.or_else(|| fields.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)));
    field.map(|field| (field.name.as_str(), &field.data_type))
}

/// An element as an object with the fields of a struct.
fn object<'d>(document: &'d Document, element: usize, fields: &StructType, options: &XmlOptions) -> Json<'d> {
    let mut found: Vec<(Cow<'d, str>, Json<'d>)> = Vec::new();
    let mut put = |name: &str, value: Json<'d>, repeats: bool| match found.iter_mut().find(|(n, _)| n == name) {
        Some((_, Json::Array(items))) if repeats => items.push(value),
        Some((_, old)) => *old = value,
        None if repeats => found.push((Cow::Owned(name.to_string()), Json::Array(vec![value]))),
        None => found.push((Cow::Owned(name.to_string()), value)),
    };
    for (name, value) in options.attributes(document, element) {
        if let Some((name, data_type)) = field_type(fields, &name) {
            put(name, scalar(Cow::Borrowed(value), data_type, options), false);
        }
    }
    for child in &document.nodes[element].children {
        match &document.nodes[*child].kind {
            Kind::Element(_) => match field_type(fields, options.field_name(document, *child)) {
                Some((name, DataType::Array { element, .. })) => {
                    put(name, value(document, *child, element, options), true);
                }
                Some((name, data_type)) => put(name, value(document, *child, data_type, options), false),
                None => {
                    if let Some((name, data_type)) = field_type(fields, &options.wildcard) {
                        let text = Cow::Owned(document.inner_xml(*child));
                        let is_array = matches!(data_type, DataType::Array { .. });
                        put(name, Json::Text(text), is_array);
                    }
                }
            },
            Kind::Text(text) if !text.trim().is_empty() => match field_type(fields, &options.value_tag) {
                Some((name, DataType::Array { element, .. })) => {
                    put(name, scalar(Cow::Borrowed(text), element, options), true);
                }
                Some((name, data_type)) => put(name, scalar(Cow::Borrowed(text), data_type, options), false),
                None => {}
            },
            _ => {}
        }
    }
    Json::Object(found)
}

/// An element as a value of a type.
fn value<'d>(document: &'d Document, element: usize, data_type: &DataType, options: &XmlOptions) -> Json<'d> {
    match data_type {
        DataType::Struct(fields) => object(document, element, fields, options),
        DataType::Map { value: inner, .. } => {
            let attributes = options.attributes(document, element).into_iter();
            let mut entries: Vec<(Cow<'d, str>, Json<'d>)> = attributes
                .map(|(name, text)| (Cow::Owned(name), scalar(Cow::Borrowed(text), inner, options)))
                .collect();
            for child in document.elements(element) {
                let name = Cow::Borrowed(options.field_name(document, child));
                entries.push((name, value(document, child, inner, options)));
            }
            Json::Object(entries)
        }
        DataType::Array { element: inner, .. } => {
            Json::Array(document.elements(element).map(|child| value(document, child, inner, options)).collect())
        }
        _ => {
            let node = &document.nodes[element];
            if let [child] = node.children.as_slice()
                && let Kind::Text(text) = &document.nodes[*child].kind
            {
                return scalar(Cow::Borrowed(text), data_type, options);
            }
            let text = if document.elements(element).next().is_some() {
                document.inner_xml(element)
            } else {
                document.string_value(element)
            };
            scalar(Cow::Owned(text), data_type, options)
        }
    }
}

/// A text as a value of a type that is no collection; a text that is none stays a text.
fn scalar<'d>(text: Cow<'d, str>, data_type: &DataType, options: &XmlOptions) -> Json<'d> {
    if options.null_value.as_deref() == Some(text.as_ref()) {
        return Json::Null;
    }
    if data_type.is_string() {
        return Json::Text(match text {
            Cow::Borrowed(text) => Cow::Borrowed(options.trimmed(text)),
            Cow::Owned(text) => Cow::Owned(options.trimmed(&text).to_string()),
        });
    }
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Json::Null;
    }
    let own = || -> Cow<'d, str> { Cow::Owned(trimmed.to_string()) };
    match data_type {
        DataType::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" => Json::Boolean(true),
            "false" | "0" => Json::Boolean(false),
            _ => Json::Text(own()),
        },
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long if trimmed.parse::<i64>().is_ok() => {
            match &text {
                Cow::Borrowed(text) => Json::Whole(text.trim()),
                Cow::Owned(_) => Json::Text(own()),
            }
        }
        DataType::Float | DataType::Double => match trimmed.parse::<f64>() {
            Ok(number) => match &text {
                Cow::Borrowed(text) if number.is_finite() => Json::Fraction(text.trim()),
                _ => Json::NonNumber(number),
            },
            Err(_) => Json::Text(own()),
        },
        _ => Json::Text(own()),
    }
}
