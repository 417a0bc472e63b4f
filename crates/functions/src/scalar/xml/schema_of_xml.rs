//! `schema_of_xml`.

use super::from_xml::XmlOptions;
use super::tree::{Document, Kind};
use crate::cast::parse_datetime::{parse_date, parse_timestamp};
use crate::coercion::mismatch::{quoted, unexpected_input};
use crate::scalar::json::checks;
use crate::scalar::json::options::Options;
use crate::scalar::json::schema_of_json::{compatible as of_numbers, decimal_of};
use crate::scalar::string::constant::{not_foldable, text_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::{ArgType, Body, BuildContext, Signature, TypedExpr};
use datafusion::logical_expr::lit;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, TimeZone};

function! {
    /// `schema_of_xml(xml[, options])`
    SCHEMA_OF_XML = "schema_of_xml" in Xml,
        Signature::with_optional(&[param("xml", ArgType::Any), param("options", ArgType::Any)], 1)
        => Body::Build(build);
    text |a| format!("schema_of_xml({})", a.first().map(String::as_str).unwrap_or_default());
    usage "The schema of a constant XML text, as SQL writes it.";
    since "4.0.0";
    example "SELECT schema_of_xml('<p><a>1</a></p>')" => "STRUCT<a: BIGINT>";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.first() else {
        return Err(SparkError::internal("schema_of_xml takes an argument"));
    };
    let call = format!("schema_of_xml({})", argument.name);
    crate::scalar::json::csv::check_text(&call, argument)?;
    let options = Options::of(arguments.get(1))?;
    checks::xml(&options)?;
    if !argument.data_type.is_string() && !argument.data_type.is_null() {
        return Err(unexpected_input(&call, 0, ArgType::String, argument));
    }
    let Some(value) = value_of(argument)? else {
        return Err(not_foldable(argument, &call, "xml", "STRING"));
    };
    let Some(text) = text_of(&value) else {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_NULL")
            .with("exprName", "xml")
            .with("sqlExpr", quoted(&call)));
    };
    let zone = TimeZone::parse(options.get("timeZone").unwrap_or(&context.conf.time_zone))?;
    let inference = Inference::new(&options, zone);
    let schema = match Document::parse(text) {
        Some(document) => inference.row(&document),
        None => {
            let name = options.get("columnNameOfCorruptRecord").unwrap_or("_corrupt_record");
            DataType::struct_of(vec![StructField::new(name, DataType::STRING, true)])
        }
    };
    Ok(TypedExpr::new(lit(canonical(schema).sql()), DataType::STRING, false, call))
}

/// How types of elements are found.
#[derive(Debug)]
pub struct Inference {
    infers: bool,
    prefers_decimal: bool,
    zone: TimeZone,
    options: XmlOptions,
}

impl Inference {
    /// The inference that options ask for.
    pub fn new(options: &Options, zone: TimeZone) -> Self {
        Self {
            infers: options.flag("inferSchema", true),
            prefers_decimal: options.flag("prefersDecimal", false),
            zone,
            options: XmlOptions::of(options),
        }
    }

    /// The type of a document's outermost element, which is a row.
    pub fn row(&self, document: &Document) -> DataType {
        match self.element(document, document.root_element()) {
            DataType::Struct(fields) => DataType::Struct(fields),
            DataType::Null => DataType::struct_of(Vec::new()),
            other => DataType::struct_of(vec![StructField::new(&*self.options.value_tag, other, true)]),
        }
    }

    /// The type that holds rows of both types.
    pub fn common(&self, left: DataType, right: DataType) -> DataType {
        compatible(left, right, &self.options.value_tag)
    }

    fn element(&self, document: &Document, element: usize) -> DataType {
        let attributes = self.options.attributes(document, element);
        let has_elements = document.elements(element).next().is_some();
        if attributes.is_empty() && !has_elements {
            return self.text(&document.string_value(element));
        }
        let mut fields: Vec<(String, DataType)> =
            attributes.into_iter().map(|(name, value)| (name, self.text(value))).collect();
        for child in &document.nodes[element].children {
            match &document.nodes[*child].kind {
                Kind::Element(_) => {
                    let name = self.options.field_name(document, *child).to_string();
                    put(&mut fields, name, self.element(document, *child), &self.options.value_tag);
                }
                Kind::Text(text) if !text.trim().is_empty() => {
                    let name = self.options.value_tag.clone();
                    put(&mut fields, name, self.text(text), &self.options.value_tag);
                }
                _ => {}
            }
        }
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        let fields = fields.into_iter().map(|(name, data_type)| StructField::new(name, data_type, true));
        DataType::struct_of(fields.collect())
    }

    /// The type of a text, the narrowest first.
    fn text(&self, text: &str) -> DataType {
        let trimmed = text.trim();
        if trimmed.is_empty() || self.options.null_value.as_deref() == Some(text) {
            return DataType::Null;
        }
        if !self.infers {
            return DataType::STRING;
        }
        if trimmed.parse::<i64>().is_ok() {
            return DataType::Long;
        }
        let unsigned = trimmed.trim_start_matches(['-', '+']);
        let is_number =
            unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && trimmed.parse::<f64>().is_ok();
        if is_number {
            let decimal = if self.prefers_decimal { decimal_of(trimmed) } else { None };
            return decimal.unwrap_or(DataType::Double);
        }
        if trimmed.eq_ignore_ascii_case("true") || trimmed.eq_ignore_ascii_case("false") {
            return DataType::Boolean;
        }
        let looks_dated = trimmed.len() >= 10 && trimmed.as_bytes().get(4) == Some(&b'-');
        if looks_dated && trimmed.len() == 10 && parse_date(trimmed).is_some() {
            return DataType::Date;
        }
        if looks_dated && trimmed.len() > 10 && parse_timestamp(trimmed, self.zone).is_some() {
            return DataType::Timestamp;
        }
        DataType::STRING
    }
}

/// Adds a field; a name that comes again makes an array.
fn put(fields: &mut Vec<(String, DataType)>, name: String, data_type: DataType, value_tag: &str) {
    match fields.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
        None => fields.push((name, data_type)),
        Some((_, known)) => {
            let before = std::mem::replace(known, DataType::Null);
            let before = match before {
                DataType::Array { element, .. } => element.as_ref().clone(),
                other => other,
            };
            *known = DataType::array(compatible(before, data_type, value_tag), true);
        }
    }
}

/// The type that holds values of both types.
fn compatible(left: DataType, right: DataType, value_tag: &str) -> DataType {
    let is_number = |t: &DataType| matches!(t, DataType::Long | DataType::Double | DataType::Decimal(..));
    if is_number(&left) && is_number(&right) {
        return of_numbers(left, right);
    }
    match (left, right) {
        (left, right) if left == right => left,
        (DataType::Null, other) | (other, DataType::Null) => other,
        (DataType::Date, DataType::Timestamp) | (DataType::Timestamp, DataType::Date) => DataType::Timestamp,
        (DataType::Struct(left), DataType::Struct(right)) => {
            let mut fields: Vec<StructField> = left.fields.clone();
            for field in &right.fields {
                match fields.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&field.name)) {
                    Some(known) => {
                        known.data_type = compatible(known.data_type.clone(), field.data_type.clone(), value_tag);
                    }
                    None => fields.push(field.clone()),
                }
            }
            fields.sort_by(|a, b| a.name.cmp(&b.name));
            DataType::struct_of(fields)
        }
        (DataType::Array { element: left, .. }, DataType::Array { element: right, .. }) => {
            DataType::array(compatible(left.as_ref().clone(), right.as_ref().clone(), value_tag), true)
        }
        (DataType::Array { element, .. }, other) | (other, DataType::Array { element, .. }) => {
            DataType::array(compatible(element.as_ref().clone(), other, value_tag), true)
        }
        // A text without attributes is the value of an element with them.
        (DataType::Struct(fields), other) | (other, DataType::Struct(fields))
            if fields.fields.iter().any(|field| field.name == value_tag) =>
        {
            let single = DataType::struct_of(vec![StructField::new(value_tag, other, true)]);
            compatible(DataType::Struct(fields), single, value_tag)
        }
        _ => DataType::STRING,
    }
}

/// Types of which nothing is known are strings.
pub fn canonical(data_type: DataType) -> DataType {
    match data_type {
        DataType::Null => DataType::STRING,
        DataType::Array { element, .. } => DataType::array(canonical(element.as_ref().clone()), true),
        DataType::Struct(fields) => DataType::struct_of(
            fields
                .fields
                .iter()
                .map(|field| StructField::new(&*field.name, canonical(field.data_type.clone()), true))
                .collect(),
        ),
        other => other,
    }
}
