//! `to_xml`.

use super::tree::write_escaped;
use crate::coercion::mismatch;
use crate::scalar::datetime::pattern::Use;
use crate::scalar::datetime::print::NamedZone;
use crate::scalar::json::checks;
use crate::scalar::json::formats::{Formats, note_policy, print_day, print_moment};
use crate::scalar::json::options::Options;
use crate::scalar::json::to_json::{write_moment, write_moment_in};
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{array_or_constant, texts};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::types::{Date32Type, TimestampMicrosecondType};
use arrow::array::{Array, ArrayRef, AsArray};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, StructType};
use std::fmt::Write;
use std::sync::Arc;

function! {
    /// `to_xml(expr[, options])`
    TO_XML = "to_xml" in Xml,
        Signature::with_optional(&[param("expr", ArgType::Any), param("options", ArgType::Any)], 1)
        => Body::Build(build);
    text |a| format!("to_xml({})", a.first().map(String::as_str).unwrap_or_default());
    usage "A struct as XML.";
    since "4.0.0";
    example "SELECT to_xml(named_struct('a', 1))" => "<ROW>\n    <a>1</a>\n</ROW>";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [value, rest @ ..] = arguments.as_slice() else {
        return Err(SparkError::internal("to_xml takes an argument"));
    };
    let call = format!("to_xml({})", value.name);
    if !matches!(value.data_type, DataType::Struct(_) | DataType::Null) {
        return Err(mismatch::unexpected_input(&call, 0, ArgType::Struct, value));
    }
    let unwritten = |t: &DataType| {
        t.is_ansi_interval() || matches!(t, DataType::CalendarInterval | DataType::Variant | DataType::Time(_))
    };
    if value.data_type.exists(&unwritten) {
        return Err(SparkError::unsupported(format!("to_xml of {}", value.data_type.sql())));
    }
    let mut options = Options::of(rest.first())?;
    checks::xml(&options)?;
    if options.get("attributePrefix").is_some_and(str::is_empty) {
        return Err(SparkError::plain(
            firesteel_error::ExceptionClass::IllegalArgument,
            "requirement failed: 'attributePrefix' option should not be empty string.",
        ));
    }
    note_policy(&mut options, context.conf);
    if options.get("timeZone").is_none() {
        options.set("timeZone", context.conf.time_zone.as_str());
    }
    let payload = Some(Arc::from(options.to_payload()));
    Formats::compile(options, Use::Printing)?;
    let arguments = std::slice::from_ref(value);
    let expr = crate::kernel::call_with_payload(&TO_XML, to_xml, arguments, &DataType::STRING, true, context, payload)?;
    Ok(TypedExpr::new(expr, DataType::STRING, true, call))
}

/// Writes values as elements.
pub struct Writer<'a> {
    formats: &'a Formats,
    zone: NamedZone,
    utc: NamedZone,
    attribute_prefix: &'a str,
    value_tag: &'a str,
    array_element: &'a str,
    null_value: Option<&'a str>,
    indent: &'a str,
    checks_names: bool,
}

pub(super) fn to_xml(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let formats = args.prepared(|| Formats::of(args.settings.payload.as_deref(), Use::Printing))?;
    let options = &formats.options;
    let writer = Writer::new(formats)?;
    let tag = options.get("rowTag").unwrap_or("ROW");
    let (array, is_constant) = array_or_constant(args, 0)?;
    let Some(data_type) = args.types.first() else { return Err(SparkError::internal("to_xml without arguments")) };
    let mut text = String::new();
    texts(args, |row, out| {
        let row = if is_constant { 0 } else { row };
        if array.is_null(row) || data_type.is_null() {
            return Ok(None);
        }
        text.clear();
        writer.element(&mut text, tag, data_type, &array, row, 0)?;
        if writer.indent.is_empty() {
            text.push('\n');
        }
        Ok(out.write_str(text.trim_start_matches('\n')).ok())
    })
}

fn check_name(name: &str) -> Result<()> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let is_first = |c: char| c.is_alphabetic() || matches!(c, '_' | ':');
    let found = match name.chars().next().filter(|c| is_name(*c) && !is_first(*c)) {
        Some(first) => Some(("first name", first)),
        None => name.chars().find(|c| !is_name(*c)).map(|c| ("name", c)),
    };
    match found {
        None => Ok(()),
        Some((what, c)) => Err(SparkError::plain(
            firesteel_error::ExceptionClass::Spark,
            format!("Illegal {what} character '{c}' (code {})", u32::from(c)),
        )),
    }
}

impl<'a> Writer<'a> {
    /// The writer that options ask for.
    pub fn new(formats: &'a Formats) -> Result<Self> {
        let options = &formats.options;
        Ok(Self {
            formats,
            zone: NamedZone::parse(options.get("timeZone").unwrap_or("UTC"))?,
            utc: NamedZone::parse("UTC")?,
            attribute_prefix: options.get("attributePrefix").unwrap_or("_"),
            value_tag: options.get("valueTag").unwrap_or("_VALUE"),
            array_element: options.get("arrayElementName").unwrap_or("item"),
            null_value: options.get("nullValue"),
            indent: options.get("indent").unwrap_or("    "),
            checks_names: options.flag("validateName", true),
        })
    }

    fn line(&self, out: &mut String, depth: usize) {
        if self.indent.is_empty() {
            return;
        }
        out.push('\n');
        (0..depth).for_each(|_| out.push_str(self.indent));
    }

    fn is_attribute(&self, name: &str, data_type: &DataType) -> bool {
        name.starts_with(self.attribute_prefix) && name != self.value_tag && !data_type.is_nested()
    }

    /// A value as an element, or as several where it is an array; each begins with a new line.
    pub fn element(
        &self,
        out: &mut String,
        name: &str,
        data_type: &DataType,
        array: &ArrayRef,
        row: usize,
        depth: usize,
    ) -> Result<()> {
        if self.checks_names {
            check_name(name)?;
        }
        if array.is_null(row) || data_type.is_null() {
            if let Some(text) = self.null_value {
                self.line(out, depth);
                let _ = write!(out, "<{name}>");
                write_escaped(out, text, false);
                let _ = write!(out, "</{name}>");
            }
            return Ok(());
        }
        match data_type {
            DataType::Array { element, .. } => {
                let values = array.as_list::<i32>().value(row);
                let inner = matches!(element.as_ref(), DataType::Array { .. });
                for item in 0..values.len() {
                    if !inner {
                        self.element(out, name, element, &values, item, depth)?;
                        continue;
                    }
                    self.line(out, depth);
                    let _ = write!(out, "<{name}>");
                    self.element(out, self.array_element, element, &values, item, depth + 1)?;
                    self.line(out, depth);
                    let _ = write!(out, "</{name}>");
                }
                Ok(())
            }
            DataType::Map { key, value, .. } => {
                let entries = array.as_map().value(row);
                self.line(out, depth);
                if entries.is_empty() {
                    let _ = write!(out, "<{name}/>");
                    return Ok(());
                }
                let _ = write!(out, "<{name}>");
                let mut tag = String::new();
                for entry in 0..entries.len() {
                    tag.clear();
                    self.scalar(&mut tag, key, entries.column(0), entry)?;
                    self.element(out, &tag, value, entries.column(1), entry, depth + 1)?;
                }
                self.line(out, depth);
                let _ = write!(out, "</{name}>");
                Ok(())
            }
            DataType::Struct(fields) => self.structure(out, name, fields, array, row, depth),
            _ => {
                self.line(out, depth);
                let _ = write!(out, "<{name}>");
                let mut text = String::new();
                self.scalar(&mut text, data_type, array, row)?;
                write_escaped(out, &text, false);
                let _ = write!(out, "</{name}>");
                Ok(())
            }
        }
    }

    fn structure(
        &self,
        out: &mut String,
        name: &str,
        fields: &StructType,
        array: &ArrayRef,
        row: usize,
        depth: usize,
    ) -> Result<()> {
        self.line(out, depth);
        let _ = write!(out, "<{name}");
        let columns = array.as_struct().columns();
        let (mut inner, mut text) = (String::new(), String::new());
        let mut has_elements = false;
        for (field, column) in fields.fields.iter().zip(columns) {
            if self.is_attribute(&field.name, &field.data_type) {
                text.clear();
                if column.is_null(row) || field.data_type.is_null() {
                    let Some(null_value) = self.null_value else { continue };
                    text.push_str(null_value);
                } else {
                    self.scalar(&mut text, &field.data_type, column, row)?;
                }
                let attribute = field.name.strip_prefix(self.attribute_prefix).unwrap_or(&field.name);
                if self.checks_names {
                    check_name(attribute)?;
                }
                let _ = write!(out, " {attribute}=\"");
                write_escaped(out, &text, true);
                out.push('"');
            } else if field.name == self.value_tag && !field.data_type.is_nested() {
                if column.is_valid(row) && !field.data_type.is_null() {
                    text.clear();
                    self.scalar(&mut text, &field.data_type, column, row)?;
                    write_escaped(&mut inner, &text, false);
                }
            } else {
                let before = inner.len();
                self.element(&mut inner, &field.name, &field.data_type, column, row, depth + 1)?;
                has_elements |= inner.len() > before;
            }
        }
        if inner.is_empty() {
            out.push_str("/>");
            return Ok(());
        }
        out.push('>');
        out.push_str(&inner);
        if has_elements {
            self.line(out, depth);
        }
        let _ = write!(out, "</{name}>");
        Ok(())
    }

    /// A value that is no collection.
    fn scalar(&self, out: &mut String, data_type: &DataType, array: &ArrayRef, row: usize) -> Result<()> {
        match data_type {
            DataType::Timestamp => {
                let moment = array.as_primitive::<TimestampMicrosecondType>().value(row);
                match &self.formats.timestamp {
                    Some(pattern) => print_moment(pattern, out, moment, &self.zone)?,
                    None => write_moment_in(out, moment, self.zone.zone),
                }
            }
            DataType::TimestampNtz => {
                let moment = array.as_primitive::<TimestampMicrosecondType>().value(row);
                match &self.formats.timestamp_ntz {
                    Some(pattern) => print_moment(pattern, out, moment, &self.utc)?,
                    None => write_moment(out, moment),
                }
            }
            DataType::Date if self.formats.date.is_some() => {
                let day = i64::from(array.as_primitive::<Date32Type>().value(row));
                if let Some(pattern) = &self.formats.date {
                    print_day(pattern, out, day)?;
                }
            }
            DataType::Binary => {
                let bytes = array.as_binary::<i32>().value(row);
                let shown: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                let _ = write!(out, "[{}]", shown.join(" "));
            }
            other => {
                let style = TextStyle::Cast { plain_decimals: true };
                ValueFormatter::in_zone(other, self.zone.zone, style).write(out, array, row)?;
            }
        }
        Ok(())
    }
}
