//! `schema_of_json`.

use super::formats::Formats;
use super::options::Options;
use super::reader::{Json, read};
use crate::cast::parse_datetime::{parse_timestamp, parse_timestamp_without_zone};
use crate::coercion::mismatch::quoted;
use crate::scalar::datetime::pattern::Use;
use crate::scalar::string::constant::{not_foldable, text_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::{ArgType, Body, BuildContext, Signature, TypedExpr};
use datafusion::logical_expr::lit;
use firesteel_config::TimestampType;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, StructField, TimeZone};
use std::cmp::Ordering;

function! {
    /// `schema_of_json(json[, options])`
    SCHEMA_OF_JSON = "schema_of_json" in Json,
        Signature::with_optional(&[param("json", ArgType::Any), param("options", ArgType::Any)], 1)
        => Body::Build(build);
    text |a| format!("schema_of_json({})", a.first().map(String::as_str).unwrap_or_default());
    usage "The schema of a constant JSON text, as SQL writes it.";
    since "2.4.0";
    example "SELECT schema_of_json('[{\"col\":0}]')" => "ARRAY<STRUCT<col: BIGINT>>";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let Some(argument) = arguments.first() else {
        return Err(SparkError::internal("schema_of_json takes an argument"));
    };
    let call = format!("schema_of_json({})", argument.name);
    let options = Options::of(arguments.get(1))?;
    let Some(value) = value_of(argument)? else {
        return Err(not_foldable(argument, &call, "json", "STRING"));
    };
    let Some(text) = text_of(&value) else {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_NULL")
            .with("exprName", "json")
            .with("sqlExpr", quoted(&call)));
    };
    let json = read(text, options.leniency())
        .map_err(|_| SparkError::plain(ExceptionClass::Runtime, format!("The text is not JSON: {text}")))?;
    let zone = TimeZone::parse(&context.conf.time_zone)?;
    let formats = Formats::compile(options, Use::Parsing)?;
    let inference =
        Inference { formats: &formats, zone, prefers_ntz: context.conf.timestamp_type == TimestampType::Ntz };
    let inferred = json.map_or(DataType::STRING, |json| inference.type_of(&json));
    Ok(TypedExpr::new(lit(canonical_of_value(inferred).sql()), DataType::STRING, false, call))
}

/// How types of values are found.
#[derive(Debug, Clone, Copy)]
pub struct Inference<'a> {
    pub formats: &'a Formats,
    pub zone: TimeZone,
    /// True where times without a zone are times of the wall clock.
    pub prefers_ntz: bool,
}

impl Inference<'_> {
    /// The type of a value; nulls have the type of nulls.
    pub fn type_of(&self, json: &Json<'_>) -> DataType {
        let options = &self.formats.options;
        let as_text = options.flag("primitivesAsString", false);
        match json {
            Json::Null => DataType::Null,
            Json::Text(text) => self.type_of_text(text, as_text),
            _ if as_text && !matches!(json, Json::Array(_) | Json::Object(_)) => DataType::STRING,
            Json::Boolean(_) => DataType::Boolean,
            Json::Whole(text) => match text.parse::<i64>() {
                Ok(_) => DataType::Long,
                Err(_) => match text.trim_start_matches('-').len() {
                    digits if digits <= 38 => DataType::Decimal(digits as u8, 0),
                    _ => DataType::Double,
                },
            },
            Json::Fraction(text) => {
                let decimal = options.flag("prefersDecimal", false).then(|| decimal_of(text)).flatten();
                decimal.unwrap_or(DataType::Double)
            }
            Json::NonNumber(_) => DataType::Double,
            Json::Array(values) => {
                let element =
                    values.iter().fold(DataType::Null, |common, value| compatible(common, self.type_of(value)));
                DataType::array(element, true)
            }
            Json::Object(fields) => {
                let mut inferred: Vec<StructField> = Vec::with_capacity(fields.len());
                for (name, value) in fields {
                    inferred.push(StructField::new(name.as_ref(), self.type_of(value), true));
                }
                inferred.sort_by(|a, b| a.name.cmp(&b.name));
                DataType::struct_of(inferred)
            }
        }
    }

    fn type_of_text(&self, text: &str, as_text: bool) -> DataType {
        let options = &self.formats.options;
        if text.is_empty() {
            return DataType::Null;
        }
        if options.flag("prefersDecimal", false)
            && let Some(decimal) = decimal_of(text)
            && !as_text
        {
            return decimal;
        }
        if !options.flag("inferTimestamp", false) {
            return DataType::STRING;
        }
        let local = || match &self.formats.timestamp_ntz {
            Some(pattern) => pattern.scan(text).ok().and_then(|found| found.local()),
            None => parse_timestamp_without_zone(text),
        };
        let instant = || match &self.formats.timestamp {
            Some(pattern) => pattern.scan(text).ok().and_then(|found| found.instant(self.zone)),
            None => parse_timestamp(text, self.zone),
        };
        match () {
            () if self.prefers_ntz && local().is_some() => DataType::TimestampNtz,
            () if instant().is_some() => DataType::Timestamp,
            () => DataType::STRING,
        }
    }
}

/// The decimal type that just holds a number.
fn decimal_of(text: &str) -> Option<DataType> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let unsigned = mantissa.trim_start_matches(['-', '+']);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = format!("{whole}{fraction}").trim_start_matches('0').len().max(1) as i32;
    let scale = fraction.len() as i32 - exponent;
    let (precision, scale) = if scale < 0 { (digits - scale, 0) } else { (digits.max(scale), scale) };
    (precision <= 38).then_some(DataType::Decimal(precision as u8, scale as i8))
}

/// The type that holds values of both types.
pub fn compatible(left: DataType, right: DataType) -> DataType {
    use DataType as T;
    match (left, right) {
        (T::Null, other) | (other, T::Null) => other,
        (left, right) if left == right => left,
        (T::Struct(left), T::Struct(right)) => {
            let fields = merged(&left.fields, &right.fields);
            DataType::struct_of(fields)
        }
        (T::Array { element: left, .. }, T::Array { element: right, .. }) => {
            T::array(compatible(left.as_ref().clone(), right.as_ref().clone()), true)
        }
        (T::Long, T::Double) | (T::Double, T::Long) => T::Double,
        (T::Double, T::Decimal(..)) | (T::Decimal(..), T::Double) => T::Double,
        (T::Long, T::Decimal(precision, scale)) | (T::Decimal(precision, scale), T::Long) => {
            widest((precision, scale), (20, 0))
        }
        (T::Decimal(p1, s1), T::Decimal(p2, s2)) => widest((p1, s1), (p2, s2)),
        (T::Date, T::Timestamp) | (T::Timestamp, T::Date) => T::Timestamp,
        _ => T::STRING,
    }
}

fn widest((p1, s1): (u8, i8), (p2, s2): (u8, i8)) -> DataType {
    let scale = s1.max(s2);
    let whole = (p1 as i8 - s1).max(p2 as i8 - s2);
    match whole + scale {
        precision if precision > 38 => DataType::Double,
        precision => DataType::Decimal(precision as u8, scale),
    }
}

/// Sorted fields of two types. A name that one of them has twice stays there twice.
fn merged(left: &[StructField], right: &[StructField]) -> Vec<StructField> {
    let mut fields = Vec::with_capacity(left.len().max(right.len()));
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) => a.name.cmp(&b.name),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return fields,
        };
        match order {
            Ordering::Less => fields.extend(left.next().cloned()),
            Ordering::Greater => fields.extend(right.next().cloned()),
            Ordering::Equal => {
                if let (Some(a), Some(b)) = (left.next(), right.next()) {
                    let common = compatible(a.data_type.clone(), b.data_type.clone());
                    fields.push(StructField::new(a.name.as_str(), common, true));
                }
            }
        }
    }
}

/// The type with strings in the place of nulls, without fields that have no name or no fields themselves;
/// None where nothing is left.
pub fn canonical(data_type: DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Null => DataType::STRING,
        DataType::Array { element, contains_null } => {
            DataType::array(canonical(element.as_ref().clone())?, contains_null)
        }
        DataType::Struct(schema) => {
            let fields: Vec<StructField> = schema
                .fields
                .iter()
                .filter(|f| !f.name.is_empty())
                .filter_map(|f| Some(StructField::new(f.name.as_str(), canonical(f.data_type.clone())?, f.nullable)))
                .collect();
            if fields.is_empty() {
                return None;
            }
            DataType::struct_of(fields)
        }
        other => other,
    })
}

/// The type of a value: of one without fields its kind is left.
fn canonical_of_value(data_type: DataType) -> DataType {
    let nothing = match &data_type {
        DataType::Struct(_) => DataType::struct_of(Vec::new()),
        DataType::Array { element, .. } if matches!(element.as_ref(), DataType::Struct(_)) => {
            DataType::array(DataType::struct_of(Vec::new()), true)
        }
        _ => DataType::STRING,
    };
    canonical(data_type).unwrap_or(nothing)
}
