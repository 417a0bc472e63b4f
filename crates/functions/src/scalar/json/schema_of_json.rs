//! `schema_of_json`.

use super::checks;
use super::options::Options;
use super::reader::{Json, read};
use crate::cast::parse_datetime::parse_timestamp;
use crate::coercion::mismatch::quoted;
use crate::scalar::string::constant::{not_foldable, text_of, value_of};
use crate::scalar::string::declare::{function, param};
use crate::{ArgType, Body, BuildContext, Signature, TypedExpr};
use datafusion::logical_expr::lit;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, StructField, TimeZone};

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
    checks::json(&options)?;
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
    let inferred = match json {
        Some(json) => infer(&json, &options, zone),
        None => DataType::STRING,
    };
    Ok(TypedExpr::new(lit(canonical(inferred).sql()), DataType::STRING, false, call))
}

/// The type of a value; nulls have the type of nulls.
pub fn infer(json: &Json<'_>, options: &Options, zone: TimeZone) -> DataType {
    let as_text = options.flag("primitivesAsString", false);
    match json {
        Json::Null => DataType::Null,
        Json::Text(text) if text.is_empty() => DataType::Null,
        Json::Text(text) => {
            if options.flag("prefersDecimal", false)
                && let Some(decimal) = decimal_of(text)
                && !as_text
            {
                return decimal;
            }
            if options.flag("inferTimestamp", false) && parse_timestamp(text, zone).is_some() {
                return DataType::Timestamp;
            }
            DataType::STRING
        }
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
            if options.flag("prefersDecimal", false)
                && let Some(decimal) = decimal_of(text)
            {
                return decimal;
            }
            DataType::Double
        }
        Json::NonNumber(_) => DataType::Double,
        Json::Array(values) => {
            let element =
                values.iter().fold(DataType::Null, |common, value| compatible(common, infer(value, options, zone)));
            DataType::array(element, true)
        }
        Json::Object(fields) => {
            let mut inferred: Vec<StructField> = Vec::with_capacity(fields.len());
            for (name, value) in fields {
                inferred.push(StructField::new(name.as_ref(), infer(value, options, zone), true));
            }
            inferred.sort_by(|a, b| a.name.cmp(&b.name));
            DataType::struct_of(inferred)
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
            let mut fields = left.fields.clone();
            for field in &right.fields {
                match fields.iter_mut().find(|known| known.name == field.name) {
                    Some(known) => {
                        known.data_type = compatible(known.data_type.clone(), field.data_type.clone());
                    }
                    None => fields.push(field.clone()),
                }
            }
            fields.sort_by(|a, b| a.name.cmp(&b.name));
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

/// The type with strings in the place of nulls.
pub fn canonical(data_type: DataType) -> DataType {
    match data_type {
        DataType::Null => DataType::STRING,
        DataType::Array { element, contains_null } => {
            DataType::array(canonical(element.as_ref().clone()), contains_null)
        }
        DataType::Struct(fields) => DataType::struct_of(
            fields
                .fields
                .iter()
                .map(|f| StructField::new(f.name.as_str(), canonical(f.data_type.clone()), f.nullable))
                .collect(),
        ),
        other => other,
    }
}
