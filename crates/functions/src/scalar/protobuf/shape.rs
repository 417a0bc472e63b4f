//! Messages as Spark types.

use super::descriptor::{Descriptors, Enumeration, Field, Kind, Label, Message};
use crate::scalar::json::options::Options;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, StructType};
use std::sync::Arc;

/// A message with everything that it is made of.
#[derive(Debug)]
pub struct Shape {
    pub name: String,
    pub fields: Vec<Part>,
    pub data_type: Arc<StructType>,
}

/// A field of a message.
#[derive(Debug)]
pub struct Part {
    pub field: Field,
    pub value: Value,
    pub data_type: DataType,
}

/// What the values of a field are.
#[derive(Debug, Clone)]
pub enum Value {
    /// What is no message and no enumeration.
    Plain(Kind),
    Enum(Arc<Enumeration>),
    Message(Arc<Shape>),
    /// Seconds and nanoseconds.
    Timestamp,
    Duration,
    Map(Arc<Shape>),
}

/// How messages are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// What was left out is zero, not null.
    pub defaults: bool,
    pub enums_as_integers: bool,
    /// Numbers without a sign are of a wider type.
    pub upcast: bool,
}

impl Settings {
    pub fn of(options: &Options) -> Result<Self> {
        for name in ["unwrap.primitive.wrapper.types", "convert.any.fields.to.json", "retain.empty.message.types"] {
            if options.flag(name, false) {
                return Err(SparkError::unsupported(format!("the option {name} of functions of Protobuf")));
            }
        }
        if options.get("recursive.fields.max.depth").is_some_and(|depth| depth.trim() != "-1") {
            return Err(SparkError::unsupported("the option recursive.fields.max.depth of functions of Protobuf"));
        }
        Ok(Self {
            defaults: options.flag("emit.default.values", false),
            enums_as_integers: options.flag("enums.as.ints", false),
            upcast: options.flag("upcast.unsigned.ints", false),
        })
    }
}

impl Shape {
    /// The shape of the message of a full name.
    pub fn of(descriptors: &Descriptors, name: &str, settings: Settings) -> Result<Self> {
        Builder { descriptors, settings, open: Vec::new(), fields: 0 }.shape(name)
    }
}

struct Builder<'d> {
    descriptors: &'d Descriptors,
    settings: Settings,
    /// The messages around the current one.
    open: Vec<String>,
    /// How many fields there are so far.
    fields: usize,
}

/// Messages may hold each other so deep, and so many fields together.
const DEEPEST: usize = 64;
const MOST_FIELDS: usize = 100_000;

impl Builder<'_> {
    fn message(&self, name: &str) -> Result<&Message> {
        self.descriptors.messages.get(name).ok_or_else(|| {
            SparkError::new("PROTOBUF_DEPENDENCY_NOT_FOUND").with("dependencyName", name.trim_start_matches('.'))
        })
    }

    fn shape(&mut self, name: &str) -> Result<Shape> {
        let message = self.message(name)?.clone();
        self.open.push(name.to_string());
        self.fields += message.fields.len();
        if self.open.len() > DEEPEST || self.fields > MOST_FIELDS {
            return Err(SparkError::unsupported("Protobuf messages of more than 64 levels or 100,000 fields"));
        }
        let (mut fields, mut types) = (Vec::new(), Vec::new());
        for field in message.fields {
            let Some((value, data_type)) = self.value(&field)? else { continue };
            let is_repeated = field.label == Label::Repeated;
            let data_type = match &value {
                Value::Map(_) => data_type,
                _ if is_repeated => DataType::array(data_type, false),
                _ => data_type,
            };
            let nullable = !is_repeated && field.label != Label::Required;
            types.push(StructField::new(&field.name, data_type.clone(), nullable));
            fields.push(Part { field, value, data_type });
        }
        self.open.pop();
        let name = name.trim_start_matches('.').to_string();
        Ok(Shape { name, fields, data_type: Arc::new(StructType::new(types)) })
    }

    /// The values of a field; None for messages that hold nothing.
    fn value(&mut self, field: &Field) -> Result<Option<(Value, DataType)>> {
        let data_type = match &field.kind {
            Kind::Double => DataType::Double,
            Kind::Float => DataType::Float,
            Kind::Uint64 | Kind::Fixed64 if self.settings.upcast => DataType::Decimal(20, 0),
            Kind::Uint32 | Kind::Fixed32 if self.settings.upcast => DataType::Long,
            Kind::Int64 | Kind::Uint64 | Kind::Fixed64 | Kind::Sfixed64 | Kind::Sint64 => DataType::Long,
            Kind::Int32 | Kind::Uint32 | Kind::Fixed32 | Kind::Sfixed32 | Kind::Sint32 => DataType::Integer,
            Kind::Bool => DataType::Boolean,
            Kind::String => DataType::STRING,
            Kind::Bytes => DataType::Binary,
            Kind::Enum(name) => {
                let enumeration = self.descriptors.enumerations.get(name).cloned().ok_or_else(|| {
                    SparkError::new("PROTOBUF_DEPENDENCY_NOT_FOUND").with("dependencyName", name.clone())
                })?;
                let data_type = if self.settings.enums_as_integers { DataType::Integer } else { DataType::STRING };
                return Ok(Some((Value::Enum(Arc::new(enumeration)), data_type)));
            }
            Kind::Message(name) => return self.inner(field, name),
        };
        Ok(Some((Value::Plain(field.kind.clone()), data_type)))
    }

    fn inner(&mut self, field: &Field, name: &str) -> Result<Option<(Value, DataType)>> {
        match name {
            ".google.protobuf.Timestamp" => return Ok(Some((Value::Timestamp, DataType::Timestamp))),
            ".google.protobuf.Duration" => return Ok(Some((Value::Duration, DataType::DAY_TIME))),
            _ => {}
        }
        if self.open.iter().any(|open| open == name) {
            return Err(SparkError::new("RECURSIVE_PROTOBUF_SCHEMA")
                .with("fieldDescriptor", format!("{}.{}", name.trim_start_matches('.'), field.name)));
        }
        let is_map = self.message(name)?.is_map_entry && field.label == Label::Repeated;
        let shape = Arc::new(self.shape(name)?);
        if is_map {
            let [key, value] = shape.fields.as_slice() else { return Ok(None) };
            let data_type = DataType::map(key.data_type.clone(), value.data_type.clone(), false);
            return Ok(Some((Value::Map(shape), data_type)));
        }
        if shape.fields.is_empty() {
            return Ok(None);
        }
        let data_type = DataType::Struct(shape.data_type.clone());
        Ok(Some((Value::Message(shape), data_type)))
    }
}
