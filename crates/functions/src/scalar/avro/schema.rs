//! Avro schemas: from JSON, and the Spark types that they stand for.

use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, StructField};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use std::sync::Arc;

/// A schema. Types that are referred to by name are shared.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Date,
    /// Of this many units a second; `local` ones have no zone.
    Timestamp {
        per_second: i64,
        local: bool,
    },
    /// Unscaled numbers as bytes, of a fixed length or any.
    Decimal {
        precision: u8,
        scale: i8,
        size: Option<usize>,
    },
    Fixed(usize),
    Enum {
        symbols: Vec<String>,
        default: Option<String>,
    },
    Array(Arc<Schema>),
    Map(Arc<Schema>),
    Record(Arc<Record>),
    Union(Arc<[Schema]>),
}

/// The fields of a record, in their order.
#[derive(Debug, PartialEq)]
pub struct Record {
    pub name: String,
    pub fields: Vec<Field>,
}

#[derive(Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub schema: Schema,
    pub default: Option<Json>,
}

/// What a union is as a Spark type.
#[derive(Debug, Clone, PartialEq)]
pub enum UnionKind {
    /// One type, besides null.
    Single(usize),
    /// Several numbers, as the widest of them.
    Number(DataType),
    /// A struct with a field for each of these branches.
    Members(Vec<usize>),
}

fn invalid(message: impl std::fmt::Display) -> SparkError {
    SparkError::plain(ExceptionClass::IllegalArgument, format!("Not an Avro schema: {message}"))
}

/// Reads schemas; knows the names that have been defined.
#[derive(Default)]
struct Parser {
    named: HashMap<String, Option<Schema>>,
}

impl Parser {
    fn schema(&mut self, json: &Json, namespace: &str) -> Result<Schema> {
        match json {
            Json::String(name) => self.by_name(name, namespace),
            Json::Array(branches) => {
                let branches =
                    branches.iter().map(|branch| self.schema(branch, namespace)).collect::<Result<Vec<_>>>()?;
                if branches.iter().any(|branch| matches!(branch, Schema::Union(_))) {
                    return Err(invalid("a union within a union"));
                }
                Ok(Schema::Union(branches.into()))
            }
            Json::Object(object) => self.object(object, namespace),
            other => Err(invalid(other)),
        }
    }

    fn by_name(&self, name: &str, namespace: &str) -> Result<Schema> {
        Ok(match name {
            "null" => Schema::Null,
            "boolean" => Schema::Boolean,
            "int" => Schema::Int,
            "long" => Schema::Long,
            "float" => Schema::Float,
            "double" => Schema::Double,
            "bytes" => Schema::Bytes,
            "string" => Schema::String,
            _ => match self.named.get(&full_name(name, namespace)).or_else(|| self.named.get(name)) {
                Some(Some(schema)) => schema.clone(),
                Some(None) => return Err(recursive(name)),
                None => return Err(invalid(format!("nothing is called {name}"))),
            },
        })
    }

    fn object(&mut self, object: &Map<String, Json>, namespace: &str) -> Result<Schema> {
        let text = |key: &str| object.get(key).and_then(Json::as_str);
        let part = |key: &str| object.get(key).ok_or_else(|| invalid(format!("a type without {key}")));
        let kind = match part("type")? {
            Json::String(kind) => kind.as_str(),
            nested => return self.schema(nested, namespace),
        };
        match kind {
            "array" => return Ok(Schema::Array(Arc::new(self.schema(part("items")?, namespace)?))),
            "map" => return Ok(Schema::Map(Arc::new(self.schema(part("values")?, namespace)?))),
            "record" | "error" | "enum" | "fixed" => {}
            _ => return logical(self.by_name(kind, namespace)?, object),
        }
        let name = text("name").ok_or_else(|| invalid(format!("a {kind} without a name")))?;
        let full = full_name(name, text("namespace").unwrap_or(namespace));
        self.named.insert(full.clone(), None);
        let schema = match kind {
            "enum" => Schema::Enum {
                symbols: part("symbols")?
                    .as_array()
                    .and_then(|all| all.iter().map(|s| s.as_str().map(str::to_string)).collect::<Option<Vec<_>>>())
                    .ok_or_else(|| invalid("symbols that are no texts"))?,
                default: text("default").map(str::to_string),
            },
            "fixed" => {
                let size = part("size")?.as_u64().and_then(|size| usize::try_from(size).ok());
                logical(Schema::Fixed(size.ok_or_else(|| invalid("a size that is no number"))?), object)?
            }
            _ => {
                let inner = full.rsplit_once('.').map_or("", |(space, _)| space).to_string();
                let fields = part("fields")?.as_array().ok_or_else(|| invalid("fields that are no list"))?;
                let fields = fields.iter().map(|field| self.field(field, &inner)).collect::<Result<Vec<_>>>()?;
                Schema::Record(Arc::new(Record { name: name.to_string(), fields }))
            }
        };
        self.named.insert(full, Some(schema.clone()));
        Ok(schema)
    }

    fn field(&mut self, json: &Json, namespace: &str) -> Result<Field> {
        let (Some(name), Some(schema)) = (json.get("name").and_then(Json::as_str), json.get("type")) else {
            return Err(invalid(format!("the field {json}")));
        };
        let schema = self.schema(schema, namespace)?;
        Ok(Field { name: name.to_string(), schema, default: json.get("default").cloned() })
    }
}

fn recursive(name: &str) -> SparkError {
    SparkError::plain(
        ExceptionClass::Analysis,
        format!("The Avro type {name} holds values of its own type, which Spark's types cannot"),
    )
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_string() } else { format!("{namespace}.{name}") }
}

/// A type with the meaning that it has besides; meanings that are not known do not count.
fn logical(schema: Schema, object: &Map<String, Json>) -> Result<Schema> {
    let Some(meaning) = object.get("logicalType").and_then(Json::as_str) else { return Ok(schema) };
    let timestamp = |per_second, local| Schema::Timestamp { per_second, local };
    Ok(match (meaning, &schema) {
        ("date", Schema::Int) => Schema::Date,
        ("timestamp-millis", Schema::Long) => timestamp(1000, false),
        ("timestamp-micros", Schema::Long) => timestamp(1_000_000, false),
        ("local-timestamp-millis", Schema::Long) => timestamp(1000, true),
        ("local-timestamp-micros", Schema::Long) => timestamp(1_000_000, true),
        ("decimal", Schema::Bytes | Schema::Fixed(_)) => {
            let number = |key: &str, missing: u64| object.get(key).map_or(Some(missing), Json::as_u64);
            let (Some(precision @ 1..=38), Some(scale)) = (number("precision", 0), number("scale", 0)) else {
                return Ok(schema);
            };
            if scale > precision {
                return Ok(schema);
            }
            let size = if let Schema::Fixed(size) = schema { Some(size) } else { None };
            Schema::Decimal { precision: precision as u8, scale: scale as i8, size }
        }
        _ => schema,
    })
}

impl Schema {
    /// The schema of a JSON text.
    pub fn parse(text: &str) -> Result<Self> {
        let json = serde_json::from_str(text).map_err(invalid)?;
        Parser::default().schema(&json, "")
    }

    /// The Spark type of the values, and whether they can be null.
    pub fn data_type(&self) -> Result<(DataType, bool)> {
        let data_type = match self {
            Self::Null => return Ok((DataType::Null, true)),
            Self::Boolean => DataType::Boolean,
            Self::Int => DataType::Integer,
            Self::Long => DataType::Long,
            Self::Float => DataType::Float,
            Self::Double => DataType::Double,
            Self::Bytes | Self::Fixed(_) => DataType::Binary,
            Self::String | Self::Enum { .. } => DataType::STRING,
            Self::Date => DataType::Date,
            Self::Timestamp { local: false, .. } => DataType::Timestamp,
            Self::Timestamp { local: true, .. } => DataType::TimestampNtz,
            Self::Decimal { precision, scale, .. } => DataType::Decimal(*precision, *scale),
            Self::Array(items) => {
                let (element, nullable) = items.data_type()?;
                DataType::array(element, nullable)
            }
            Self::Map(values) => {
                let (value, nullable) = values.data_type()?;
                DataType::map(DataType::STRING, value, nullable)
            }
            Self::Record(record) => {
                let field = |field: &Field| -> Result<StructField> {
                    let (data_type, nullable) = field.schema.data_type()?;
                    Ok(StructField::new(&field.name, data_type, nullable))
                };
                DataType::struct_of(record.fields.iter().map(field).collect::<Result<_>>()?)
            }
            Self::Union(branches) => {
                let data_type = match Self::union_kind(branches) {
                    UnionKind::Single(index) => branches[index].data_type()?.0,
                    UnionKind::Number(data_type) => data_type,
                    UnionKind::Members(members) => {
                        let fields = members.iter().enumerate().map(|(position, index)| -> Result<StructField> {
                            let data_type = branches[*index].data_type()?.0;
                            Ok(StructField::new(format!("member{position}"), data_type, true))
                        });
                        DataType::struct_of(fields.collect::<Result<_>>()?)
                    }
                };
                return Ok((data_type, branches.contains(&Self::Null)));
            }
        };
        Ok((data_type, false))
    }

    /// What the branches of a union are together.
    pub fn union_kind(branches: &[Self]) -> UnionKind {
        let others: Vec<usize> = (0..branches.len()).filter(|index| branches[*index] != Self::Null).collect();
        let both = |a: &Self, b: &Self| others.iter().all(|i| branches[*i] == *a || branches[*i] == *b);
        match others.as_slice() {
            [] => UnionKind::Single(0),
            [only] => UnionKind::Single(*only),
            [_, _] if both(&Self::Int, &Self::Long) => UnionKind::Number(DataType::Long),
            [_, _] if both(&Self::Float, &Self::Double) => UnionKind::Number(DataType::Double),
            _ => UnionKind::Members(others.clone()),
        }
    }

    /// The schema that values of a Spark type are written by; None for types that Avro has no room for.
    pub fn of(data_type: &DataType, nullable: bool, name: &str, namespace: &str) -> Option<Self> {
        let inner = if namespace.is_empty() { name.to_string() } else { format!("{namespace}.{name}") };
        let schema = match data_type {
            DataType::Null => return Some(Self::Null),
            DataType::Boolean => Self::Boolean,
            DataType::Byte | DataType::Short | DataType::Integer | DataType::YearMonthInterval(..) => Self::Int,
            DataType::Long | DataType::DayTimeInterval(..) => Self::Long,
            DataType::Float => Self::Float,
            DataType::Double => Self::Double,
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => Self::String,
            DataType::Binary => Self::Bytes,
            DataType::Date => Self::Date,
            DataType::Timestamp => Self::Timestamp { per_second: 1_000_000, local: false },
            DataType::TimestampNtz => Self::Timestamp { per_second: 1_000_000, local: true },
            DataType::Decimal(precision, scale) => {
                Self::Decimal { precision: *precision, scale: *scale, size: Some(bytes_of_precision(*precision)) }
            }
            DataType::Array { element, contains_null } => {
                Self::Array(Arc::new(Self::of(element, *contains_null, name, &inner)?))
            }
            DataType::Map { key, value, value_contains_null } if key.is_string() => {
                Self::Map(Arc::new(Self::of(value, *value_contains_null, name, &inner)?))
            }
            DataType::Struct(fields) => {
                let field = |f: &StructField| {
                    let schema = Self::of(&f.data_type, f.nullable, &f.name, &inner)?;
                    Some(Field { name: f.name.clone(), schema, default: None })
                };
                let fields = fields.fields.iter().map(field).collect::<Option<_>>()?;
                Self::Record(Arc::new(Record { name: name.to_string(), fields }))
            }
            DataType::Udt { sql_type, .. } => return Self::of(sql_type, nullable, name, namespace),
            _ => return None,
        };
        Some(if nullable { Self::Union([schema, Self::Null].into()) } else { schema })
    }
}

/// The fewest bytes that hold every number of so many digits, and its sign.
fn bytes_of_precision(precision: u8) -> usize {
    let bound = 10f64.powi(i32::from(precision));
    (1..=16).find(|bytes| 2f64.powi(8 * bytes - 1) >= bound).map_or(16, |bytes| bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::{Schema, bytes_of_precision};

    fn type_of(schema: &str) -> String {
        Schema::parse(schema).unwrap().data_type().unwrap().0.sql()
    }

    #[test]
    fn schemas_have_spark_types() {
        let union = r#"{"type": "record", "name": "struct", "fields": [{"name": "u", "type": ["int", "string"]}]}"#;
        assert_eq!(type_of(union), "STRUCT<u: STRUCT<member0: INT, member1: STRING> NOT NULL>");
        assert_eq!(type_of(r#"["null", {"type": "array", "items": "long"}]"#), "ARRAY<BIGINT>");
        assert_eq!(type_of(r#"["int", "long", "null"]"#), "BIGINT");
        assert_eq!(type_of(r#"{"type": "long", "logicalType": "timestamp-millis"}"#), "TIMESTAMP");
        let decimal =
            r#"{"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2}"#;
        assert_eq!(type_of(decimal), "DECIMAL(10,2)");
    }

    #[test]
    fn names_are_found_in_their_namespace() {
        let schema = r#"{"type": "record", "name": "r", "namespace": "n", "fields": [
            {"name": "a", "type": {"type": "enum", "name": "e", "symbols": ["X"]}}, {"name": "b", "type": "e"},
            {"name": "c", "type": "n.e"}]}"#;
        assert_eq!(type_of(schema), "STRUCT<a: STRING NOT NULL, b: STRING NOT NULL, c: STRING NOT NULL>");
        let recursive = r#"{"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "r"]}]}"#;
        assert!(Schema::parse(recursive).is_err());
        for broken in ["", "{", "7", r#"{"type": "array"}"#, r#"{"type": "enum", "name": "e"}"#, r#""nosuch""#] {
            assert!(Schema::parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn decimals_take_as_many_bytes_as_in_spark() {
        assert_eq!([1, 2, 3, 9, 10, 18, 19, 38].map(bytes_of_precision), [1, 1, 2, 4, 5, 8, 9, 16]);
    }
}
