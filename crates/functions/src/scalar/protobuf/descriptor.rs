//! Descriptions of messages, from the bytes of a `FileDescriptorSet`.

use super::wire::{Raw, Wire};
use std::collections::HashMap;

/// What a field holds, by the numbers that descriptions give the types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Double,
    Float,
    Int64,
    Uint64,
    Int32,
    Fixed64,
    Fixed32,
    Bool,
    String,
    Message(String),
    Bytes,
    Uint32,
    Enum(String),
    Sfixed32,
    Sfixed64,
    Sint32,
    Sint64,
}

impl Kind {
    fn of(number: u64, type_name: &str) -> Option<Self> {
        Some(match number {
            1 => Self::Double,
            2 => Self::Float,
            3 => Self::Int64,
            4 => Self::Uint64,
            5 => Self::Int32,
            6 => Self::Fixed64,
            7 => Self::Fixed32,
            8 => Self::Bool,
            9 => Self::String,
            11 => Self::Message(type_name.to_string()),
            12 => Self::Bytes,
            13 => Self::Uint32,
            14 => Self::Enum(type_name.to_string()),
            15 => Self::Sfixed32,
            16 => Self::Sfixed64,
            17 => Self::Sint32,
            18 => Self::Sint64,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    Optional,
    Required,
    Repeated,
}

#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    pub number: u32,
    pub label: Label,
    pub kind: Kind,
    pub default: Option<String>,
    /// Whether a value that was left out differs from one of zero.
    pub has_presence: bool,
    pub is_packed: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Message {
    pub name: String,
    pub fields: Vec<Field>,
    pub is_map_entry: bool,
}

/// The names of an enumeration with their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enumeration {
    pub name: String,
    pub values: Vec<(String, i32)>,
}

/// All messages and enumerations, by their full names with a point before them.
#[derive(Debug, Default)]
pub struct Descriptors {
    pub messages: HashMap<String, Message>,
    pub enumerations: HashMap<String, Enumeration>,
    /// The messages that stand in no other.
    outermost: Vec<String>,
}

/// Messages may stand in each other so deep.
const DEEPEST: usize = 64;

fn text(raw: Raw<'_>) -> Option<String> {
    match raw {
        Raw::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    }
}

fn number(raw: Raw<'_>) -> Option<u64> {
    if let Raw::Varint(value) = raw { Some(value) } else { None }
}

/// Calls `f` for the fields of a message.
fn each<'a>(raw: Raw<'a>, mut f: impl FnMut(u32, Raw<'a>) -> Option<()>) -> Option<()> {
    let Raw::Bytes(bytes) = raw else { return None };
    let mut wire = Wire::new(bytes);
    while let Some((number, raw)) = wire.field()? {
        f(number, raw)?;
    }
    Some(())
}

impl Descriptors {
    /// The descriptions of a set of files; None for other bytes.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut all = Self::default();
        each(Raw::Bytes(bytes), |field, raw| if field == 1 { all.file(raw) } else { Some(()) })?;
        Some(all)
    }

    /// A message by its name, with its package or without.
    pub fn find(&self, name: &str) -> Option<&str> {
        let is_called = |full: &&String| {
            full.strip_prefix('.') == Some(name) || self.messages.get(*full).is_some_and(|m| m.name == name)
        };
        self.outermost.iter().find(is_called).map(String::as_str)
    }

    fn file(&mut self, raw: Raw<'_>) -> Option<()> {
        let (mut package, mut syntax) = (String::new(), String::new());
        let (mut messages, mut enumerations) = (Vec::new(), Vec::new());
        each(raw, |field, raw| {
            match field {
                2 => package = text(raw)?,
                4 => messages.push(raw),
                5 => enumerations.push(raw),
                12 => syntax = text(raw)?,
                _ => {}
            }
            Some(())
        })?;
        let scope = if package.is_empty() { String::new() } else { format!(".{package}") };
        let is_proto3 = syntax == "proto3";
        for message in messages {
            let name = self.message(message, &scope, is_proto3, 0)?;
            self.outermost.push(name);
        }
        enumerations.into_iter().try_for_each(|enumeration| self.enumeration(enumeration, &scope))
    }

    fn message(&mut self, raw: Raw<'_>, scope: &str, is_proto3: bool, depth: usize) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        let mut message = Message::default();
        let (mut nested, mut enumerations) = (Vec::new(), Vec::new());
        each(raw, |field, raw| {
            match field {
                1 => message.name = text(raw)?,
                2 => message.fields.push(field_of(raw, is_proto3)?),
                3 => nested.push(raw),
                4 => enumerations.push(raw),
                7 => each(raw, |option, raw| {
                    if option == 7 {
                        message.is_map_entry = number(raw)? != 0;
                    }
                    Some(())
                })?,
                _ => {}
            }
            Some(())
        })?;
        let full_name = format!("{scope}.{}", message.name);
        for inner in nested {
            self.message(inner, &full_name, is_proto3, depth + 1)?;
        }
        enumerations.into_iter().try_for_each(|enumeration| self.enumeration(enumeration, &full_name))?;
        self.messages.insert(full_name.clone(), message);
        Some(full_name)
    }

    fn enumeration(&mut self, raw: Raw<'_>, scope: &str) -> Option<()> {
        let mut enumeration = Enumeration::default();
        each(raw, |field, raw| {
            match field {
                1 => enumeration.name = text(raw)?,
                2 => {
                    let (mut name, mut value) = (String::new(), 0);
                    each(raw, |field, raw| {
                        match field {
                            1 => name = text(raw)?,
                            2 => value = number(raw)? as i32,
                            _ => {}
                        }
                        Some(())
                    })?;
                    enumeration.values.push((name, value));
                }
                _ => {}
            }
            Some(())
        })?;
        self.enumerations.insert(format!("{scope}.{}", enumeration.name), enumeration);
        Some(())
    }
}

fn field_of(raw: Raw<'_>, is_proto3: bool) -> Option<Field> {
    let (mut name, mut type_name, mut default) = (String::new(), String::new(), None);
    let (mut at, mut label, mut kind, mut packed) = (0, 1, 0, None);
    let (mut is_in_choice, mut is_optional) = (false, false);
    each(raw, |field, raw| {
        match field {
            1 => name = text(raw)?,
            3 => at = u32::try_from(number(raw)?).ok()?,
            4 => label = number(raw)?,
            5 => kind = number(raw)?,
            6 => type_name = text(raw)?,
            7 => default = Some(text(raw)?),
            8 => each(raw, |option, raw| {
                if option == 2 {
                    packed = Some(number(raw)? != 0);
                }
                Some(())
            })?,
            9 => is_in_choice = true,
            17 => is_optional = number(raw)? != 0,
            _ => {}
        }
        Some(())
    })?;
    let label = match label {
        2 => Label::Required,
        3 => Label::Repeated,
        _ => Label::Optional,
    };
    let kind = Kind::of(kind, &type_name)?;
    let has_presence = !is_proto3 || is_in_choice || is_optional || matches!(kind, Kind::Message(_));
    let is_number = !matches!(kind, Kind::String | Kind::Bytes | Kind::Message(_));
    Some(Field {
        name,
        number: at,
        label,
        kind,
        default,
        has_presence,
        is_packed: is_number && packed.unwrap_or(is_proto3),
    })
}
