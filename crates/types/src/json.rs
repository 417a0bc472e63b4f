//! The JSON form of types and schemas.
//!
//! Collations below a field stand in the field's metadata, under
//! `__COLLATIONS`, so that readers that know none see plain strings.

use crate::{Collation, DataType, DayTimeField, Metadata, StructField, StructType, YearMonthField, srid};
use firesteel_error::{Result, SparkError};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The metadata key that holds a field's collations by path.
pub const COLLATIONS_KEY: &str = "__COLLATIONS";

impl DataType {
    /// The JSON text, such as `{"type":"array","elementType":"long","containsNull":true}`.
    pub fn json(&self) -> String {
        self.json_value().to_string()
    }

    /// The JSON value.
    pub fn json_value(&self) -> Value {
        match self {
            DataType::Array { element, contains_null } => json!({
                "type": "array",
                "elementType": element.json_value(),
                "containsNull": contains_null,
            }),
            DataType::Map { key, value, value_contains_null } => json!({
                "type": "map",
                "keyType": key.json_value(),
                "valueType": value.json_value(),
                "valueContainsNull": value_contains_null,
            }),
            DataType::Struct(fields) => fields.json_value(),
            DataType::Udt { jvm_class, python_class, serialized_python_class, sql_type } => {
                let mut out = Map::new();
                out.insert("type".to_string(), "udt".into());
                let classes =
                    [("class", jvm_class), ("pyClass", python_class), ("serializedClass", serialized_python_class)];
                for (key, class) in classes {
                    if let Some(class) = class {
                        out.insert(key.to_string(), class.as_ref().into());
                    }
                }
                out.insert("sqlType".to_string(), sql_type.json_value());
                Value::Object(out)
            }
            DataType::Geometry(number) => srid::geometry_json(*number).into(),
            DataType::Geography(number) => srid::geography_json(*number).into(),
            other => other.type_name().into(),
        }
    }

    /// Reads JSON text; anything else than a type is `INVALID_JSON_DATA_TYPE`.
    ///
    /// ```
    /// use firesteel_types::DataType;
    /// assert_eq!(DataType::from_json("\"decimal(10,2)\"")?, DataType::Decimal(10, 2));
    /// assert!(DataType::from_json("\"bigint\"").unwrap_err().is("INVALID_JSON_DATA_TYPE"));
    /// # Ok::<(), firesteel_error::SparkError>(())
    /// ```
    pub fn from_json(text: &str) -> Result<DataType> {
        let value: Value = serde_json::from_str(text).map_err(|_| invalid(text))?;
        DataType::from_json_value(&value)
    }

    /// Reads a JSON value.
    pub fn from_json_value(value: &Value) -> Result<DataType> {
        read_type(value, "", &Map::new())
    }
}

impl StructType {
    /// The JSON text.
    pub fn json(&self) -> String {
        self.json_value().to_string()
    }

    /// The JSON value.
    pub fn json_value(&self) -> Value {
        let fields: Vec<Value> = self.fields.iter().map(StructField::json_value).collect();
        json!({ "type": "struct", "fields": fields })
    }

    /// Reads JSON text; a type that is not a struct is `INVALID_JSON_DATA_TYPE`.
    pub fn from_json(text: &str) -> Result<StructType> {
        match DataType::from_json(text)? {
            DataType::Struct(fields) => Ok(Arc::unwrap_or_clone(fields)),
            _ => Err(invalid(text)),
        }
    }
}

impl StructField {
    /// The JSON value.
    pub fn json_value(&self) -> Value {
        let mut collations = Map::new();
        collect_collations(&self.data_type, &self.name, &mut collations);
        let mut metadata = self.metadata.to_map();
        let data_type = if collations.is_empty() {
            self.data_type.json_value()
        } else {
            metadata.insert(COLLATIONS_KEY.to_string(), Value::Object(collations));
            without_collations(&self.data_type).json_value()
        };
        json!({ "name": self.name, "type": data_type, "nullable": self.nullable, "metadata": metadata })
    }
}

/// Collations of a field's type, down to but not into structs.
fn collect_collations(data_type: &DataType, path: &str, out: &mut Map<String, Value>) {
    match data_type {
        DataType::String(collation @ Collation::Named(name)) => {
            out.insert(path.to_string(), format!("{}.{name}", collation.provider()).into());
        }
        DataType::Array { element, .. } => collect_collations(element, &format!("{path}.element"), out),
        DataType::Map { key, value, .. } => {
            collect_collations(key, &format!("{path}.key"), out);
            collect_collations(value, &format!("{path}.value"), out);
        }
        _ => {}
    }
}

fn without_collations(data_type: &DataType) -> DataType {
    match data_type {
        DataType::String(_) => DataType::STRING,
        DataType::Array { element, contains_null } => DataType::array(without_collations(element), *contains_null),
        DataType::Map { key, value, value_contains_null } => {
            DataType::map(without_collations(key), without_collations(value), *value_contains_null)
        }
        other => other.clone(),
    }
}

fn invalid(text: &str) -> SparkError {
    SparkError::new("INVALID_JSON_DATA_TYPE").with("invalidType", text)
}

fn invalid_value(value: &Value) -> SparkError {
    match value {
        Value::String(name) => invalid(name),
        other => invalid(&other.to_string()),
    }
}

fn read_type(value: &Value, path: &str, collations: &Map<String, Value>) -> Result<DataType> {
    let object = match value {
        Value::String(name) => {
            let data_type = read_name(name)?;
            return match collations.get(path) {
                Some(collation) if data_type == DataType::STRING => read_collation(collation),
                Some(_) => Err(collation_on(name)),
                None => Ok(data_type),
            };
        }
        Value::Object(object) => object,
        other => return Err(invalid_value(other)),
    };
    let part = |key: &str| object.get(key).ok_or_else(|| invalid_value(value));
    let flag = |key: &str| part(key)?.as_bool().ok_or_else(|| invalid_value(value));
    let name = part("type")?.as_str().ok_or_else(|| invalid_value(value))?;
    if collations.contains_key(path) {
        return Err(collation_on(name));
    }
    let below = |step: &str| if path.is_empty() { step.to_string() } else { format!("{path}.{step}") };
    match name {
        "array" => {
            let element = read_type(part("elementType")?, &below("element"), collations)?;
            Ok(DataType::array(element, flag("containsNull")?))
        }
        "map" => {
            let key = read_type(part("keyType")?, &below("key"), collations)?;
            let values = read_type(part("valueType")?, &below("value"), collations)?;
            Ok(DataType::map(key, values, flag("valueContainsNull")?))
        }
        "struct" => {
            let fields = part("fields")?.as_array().ok_or_else(|| invalid_value(value))?;
            Ok(DataType::struct_of(fields.iter().map(read_field).collect::<Result<_>>()?))
        }
        "udt" => {
            let class = |key: &str| object.get(key).and_then(Value::as_str).map(Arc::from);
            let (jvm_class, python_class) = (class("class"), class("pyClass"));
            if jvm_class.is_none() && python_class.is_none() {
                return Err(invalid_value(value));
            }
            let sql_type = read_type(part("sqlType")?, "", &Map::new())?;
            Ok(DataType::user_defined(jvm_class, python_class, class("serializedClass"), sql_type))
        }
        _ => Err(invalid_value(value)),
    }
}

fn read_field(value: &Value) -> Result<StructField> {
    let object = value.as_object().ok_or_else(|| invalid_value(value))?;
    let name = object.get("name").and_then(Value::as_str).ok_or_else(|| invalid_value(value))?;
    let nullable = match object.get("nullable") {
        None => true,
        Some(flag) => flag.as_bool().ok_or_else(|| invalid_value(value))?,
    };
    let mut metadata = match object.get("metadata") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(_) => return Err(invalid_value(value)),
    };
    let collations = match metadata.shift_remove(COLLATIONS_KEY) {
        Some(Value::Object(collations)) => collations,
        Some(_) => return Err(invalid_value(value)),
        None => Map::new(),
    };
    let data_type = object.get("type").ok_or_else(|| invalid_value(value))?;
    let data_type = read_type(data_type, name, &collations)?;
    Ok(StructField::new(name, data_type, nullable).with_metadata(Metadata::new(metadata)))
}

fn collation_on(json_type: &str) -> SparkError {
    SparkError::new("INVALID_JSON_DATA_TYPE_FOR_COLLATIONS").with("jsonType", json_type)
}

/// A collation as metadata spells it, such as `icu.UNICODE`.
fn read_collation(value: &Value) -> Result<DataType> {
    let text = value.as_str().ok_or_else(|| invalid_value(value))?;
    let (provider, name) = text.split_once('.').ok_or_else(|| invalid(text))?;
    if !provider.eq_ignore_ascii_case("spark") && !provider.eq_ignore_ascii_case("icu") {
        return Err(SparkError::new("COLLATION_INVALID_PROVIDER")
            .with("provider", provider)
            .with("supportedProviders", "spark, icu"));
    }
    Collation::parse(name).map(DataType::String)
}

/// A type that JSON spells as a mere name.
fn read_name(name: &str) -> Result<DataType> {
    Ok(match name {
        "void" | "null" => DataType::Null,
        "boolean" => DataType::Boolean,
        "byte" => DataType::Byte,
        "short" => DataType::Short,
        "integer" => DataType::Integer,
        "long" => DataType::Long,
        "float" => DataType::Float,
        "double" => DataType::Double,
        "decimal" => DataType::DECIMAL,
        "string" => DataType::STRING,
        "binary" => DataType::Binary,
        "date" => DataType::Date,
        "timestamp" | "timestamp_ltz" => DataType::Timestamp,
        "timestamp_ntz" => DataType::TimestampNtz,
        "interval" => DataType::CalendarInterval,
        "variant" => DataType::Variant,
        _ => return read_parametrised_name(name),
    })
}

fn read_parametrised_name(name: &str) -> Result<DataType> {
    let fail = || invalid(name);
    if let Some(numbers) = arguments(name, "decimal") {
        return match numbers.as_slice() {
            [precision, scale] => decimal(*precision, *scale),
            _ => Err(fail()),
        };
    }
    if let Some(numbers) = arguments(name, "char") {
        let length = numbers.first().and_then(|n| u32::try_from(*n).ok());
        return length.map(DataType::Char).ok_or_else(fail);
    }
    if let Some(numbers) = arguments(name, "varchar") {
        let length = numbers.first().and_then(|n| u32::try_from(*n).ok());
        return length.map(DataType::Varchar).ok_or_else(fail);
    }
    if let Some(numbers) = arguments(name, "time") {
        let precision = numbers.first().copied().ok_or_else(fail)?;
        return u8::try_from(precision)
            .ok()
            .filter(|p| *p <= 6)
            .map(DataType::Time)
            .ok_or_else(|| SparkError::new("UNSUPPORTED_TIME_PRECISION").with("precision", precision.to_string()));
    }
    if let Some(collation) = name.strip_prefix("string collate ") {
        return Collation::parse(collation.trim()).map(DataType::String);
    }
    if let Some(units) = name.strip_prefix("interval ") {
        return interval(units).ok_or_else(fail);
    }
    if let Some(geometry) = srid::parse_geometry_json(name) {
        return geometry.map(DataType::Geometry).map_err(|crs| unknown_crs(name, &crs));
    }
    if let Some(geography) = srid::parse_geography_json(name) {
        return geography.map(DataType::Geography).map_err(|crs| unknown_crs(name, &crs));
    }
    Err(fail())
}

fn unknown_crs(name: &str, crs: &str) -> SparkError {
    // Only `authority:code` counts as the name of a reference system.
    if crs.contains(':') { SparkError::new("ST_INVALID_CRS_VALUE").with("crs", crs) } else { invalid(name) }
}

fn interval(units: &str) -> Option<DataType> {
    let (start, end) = units.split_once(" to ").unwrap_or((units, units));
    if let (Some(start), Some(end)) = (YearMonthField::parse(start), YearMonthField::parse(end)) {
        return (start <= end).then_some(DataType::YearMonthInterval(start, end));
    }
    let (start, end) = (DayTimeField::parse(start)?, DayTimeField::parse(end)?);
    (start <= end).then_some(DataType::DayTimeInterval(start, end))
}

/// The numbers in brackets after `family`.
fn arguments(name: &str, family: &str) -> Option<Vec<i64>> {
    let inside = name.strip_prefix(family)?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    inside.split(',').map(|number| number.trim().parse().ok()).collect()
}

fn decimal(precision: i64, scale: i64) -> Result<DataType> {
    if scale < 0 {
        return Err(SparkError::new("NEGATIVE_SCALE_DISALLOWED")
            .with("scale", format!("'{scale}'"))
            .with("sqlConf", "\"spark.sql.legacy.allowNegativeScaleOfDecimal\""));
    }
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(precision @ 0..=38), Ok(scale)) if i64::from(precision) >= i64::from(scale) => {
            Ok(DataType::Decimal(precision, scale))
        }
        (Ok(0..=38), _) => {
            let message = format!("Decimal scale ({scale}) cannot be greater than precision ({precision}).");
            Err(SparkError::plain(firesteel_error::ExceptionClass::Analysis, message))
        }
        _ => Err(SparkError::new("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
            .with("precision", precision.to_string())
            .with("maxPrecision", "38")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::{parse_data_type, parse_table_schema};

    #[test]
    fn json_round_trips() {
        // As Spark 4.2.1 prints them.
        for text in [
            r#""integer""#,
            r#""void""#,
            r#""decimal(3,1)""#,
            r#""string collate UNICODE_CI""#,
            r#""time(3)""#,
            r#""interval day to second""#,
            r#""interval month""#,
            r#""geometry(OGC:CRS84)""#,
            r#""geography(SRID:ANY, SPHERICAL)""#,
            r#"{"type":"map","keyType":"string","valueType":"integer","valueContainsNull":false}"#,
            r#"{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{"x":1,"y":[1,2],"z":{"a":1.5}}}]}"#,
            r#"{"type":"udt","class":"o.VectorUDT","pyClass":"p.VectorUDT","sqlType":{"type":"struct","fields":[]}}"#,
            r#"{"type":"udt","pyClass":"a.B","serializedClass":"xx","sqlType":"integer"}"#,
            r#"{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":{"type":"map","keyType":"string","valueType":"string","valueContainsNull":true},"containsNull":true},"nullable":true,"metadata":{"k":1,"__COLLATIONS":{"a.element.key":"icu.UNICODE","a.element.value":"spark.UTF8_LCASE"}}}]}"#,
        ] {
            let parsed = DataType::from_json(text).unwrap();
            assert_eq!(parsed.json(), text);
            assert_eq!(DataType::from_json(&parsed.json()).unwrap(), parsed);
        }
    }

    #[test]
    fn types_that_are_spark_s_own_have_its_classes_in_python() {
        let text =
            r#"{"type":"udt","class":"org.apache.spark.ml.linalg.VectorUDT","pyClass":"mine.V","sqlType":"integer"}"#;
        assert_eq!(DataType::from_json(text).unwrap().json(), text.replace("mine.V", "pyspark.ml.linalg.VectorUDT"));
    }

    #[test]
    fn short_names_are_read() {
        for (text, sql) in [
            (r#""null""#, "VOID"),
            (r#""decimal""#, "DECIMAL(10,0)"),
            (r#""timestamp_ltz""#, "TIMESTAMP"),
            (r#""geometry""#, "GEOMETRY(4326)"),
            (r#""geography(SPHERICAL)""#, "GEOGRAPHY(4326)"),
            (r#"{"type":"struct","fields":[{"name":"a","type":"integer"}]}"#, "STRUCT<a: INT>"),
        ] {
            assert_eq!(DataType::from_json(text).unwrap().sql(), sql);
        }
    }

    #[test]
    fn what_is_no_type_fails() {
        for text in [
            r#""int""#,
            r#""char""#,
            r#""time""#,
            r#""interval second to day""#,
            r#""geometry(foo)""#,
            "{}",
            "[]",
            "1",
            r#"{"type":"array","elementType":"integer"}"#,
            r#"{"type":"struct"}"#,
            "not json",
            r#"{"type":"struct","fields":[{"name":"a","type":"string","nullable":"yes","metadata":{}}]}"#,
        ] {
            assert!(DataType::from_json(text).unwrap_err().is("INVALID_JSON_DATA_TYPE"), "{text}");
        }
        let on_int = r#"{"type":"struct","fields":[{"name":"a","type":"integer","metadata":{"__COLLATIONS":{"a":"icu.UNICODE"}}}]}"#;
        assert!(DataType::from_json(on_int).unwrap_err().is("INVALID_JSON_DATA_TYPE_FOR_COLLATIONS"));
        let provider = r#"{"type":"struct","fields":[{"name":"a","type":"string","metadata":{"__COLLATIONS":{"a":"foo.UNICODE"}}}]}"#;
        assert!(DataType::from_json(provider).unwrap_err().is("COLLATION_INVALID_PROVIDER"));
    }

    #[test]
    fn collations_stand_in_the_nearest_field() {
        let schema = parse_table_schema(
            "a array<string collate unicode>, m map<string collate utf8_lcase, struct<b: string collate unicode_ci>>",
        )
        .unwrap();
        assert_eq!(
            schema.json(),
            r#"{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"string","containsNull":true},"nullable":true,"metadata":{"__COLLATIONS":{"a.element":"icu.UNICODE"}}},{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"struct","fields":[{"name":"b","type":"string","nullable":true,"metadata":{"__COLLATIONS":{"b":"icu.UNICODE_CI"}}}]},"valueContainsNull":true},"nullable":true,"metadata":{"__COLLATIONS":{"m.key":"spark.UTF8_LCASE"}}}]}"#
        );
        assert_eq!(
            parse_data_type("array<string collate unicode>").unwrap().json(),
            r#"{"type":"array","elementType":"string collate UNICODE","containsNull":true}"#
        );
    }

    #[test]
    fn deep_json_fails_without_harm() {
        let text = format!("{}\"integer\"{}", r#"{"type":"array","elementType":"#.repeat(9999), "}".repeat(9999));
        assert!(DataType::from_json(&text).is_err());
    }
}
