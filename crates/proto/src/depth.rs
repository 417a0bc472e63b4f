//! How deeply messages nest in encoded bytes, found without recursion.
//!
//! prost decodes one nested message per stack frame, and is built here without
//! its own limit of 100, which real plans exceed. So the depth is measured on
//! the bytes first, by one loop over the wire format with a table that says
//! which fields hold messages.

use std::collections::HashMap;
use std::sync::OnceLock;

use prost::Message;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};

use crate::FILE_DESCRIPTOR_SET;

/// Why bytes were refused before decoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DepthError {
    #[error("the message nests more than {max} levels deep")]
    TooDeep { max: usize },
    #[error("malformed protobuf at byte {at}: {what}")]
    Malformed { at: usize, what: &'static str },
    #[error("no descriptor of message {0}")]
    UnknownMessage(String),
}

/// The number of levels of `bytes`, read as the message of this full name:
/// 1 for a message that holds no other, else one more than its deepest member.
///
/// Map entries and (unknown) groups count as levels, because prost spends stack
/// on them too. Bytes and string fields are not looked into; neither is an
/// `Any`. Time is linear in the length of `bytes`, memory in `max_depth`.
///
/// ```
/// use firesteel_proto::depth::{DepthError, check_depth};
/// // Plan { root: Relation { common: RelationCommon {} } }
/// let bytes = [0x0a, 0x02, 0x0a, 0x00];
/// assert_eq!(check_depth("spark.connect.Plan", &bytes, 3), Ok(3));
/// assert_eq!(
///     check_depth("spark.connect.Plan", &bytes, 2),
///     Err(DepthError::TooDeep { max: 2 })
/// );
/// ```
pub fn check_depth(message_full_name: &str, bytes: &[u8], max_depth: usize) -> Result<usize, DepthError> {
    let tables = Tables::get();
    let root = tables.message(message_full_name)?;
    Scanner { tables, bytes, at: 0, max_depth }.run(root)
}

/// Index of a message in [`Tables`].
type MessageIndex = u32;

/// Which fields of which messages hold messages.
#[derive(Default)]
pub(crate) struct Tables {
    names: HashMap<String, MessageIndex>,
    /// By message: its message fields, sorted by number.
    nested: Vec<Vec<(u32, MessageIndex)>>,
}

impl Tables {
    pub(crate) fn get() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        // The bytes are this build's own; were they broken, every message
        // would be refused as unknown.
        TABLES.get_or_init(|| {
            FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).map(|set| Tables::new(&set)).unwrap_or_default()
        })
    }

    fn new(set: &FileDescriptorSet) -> Tables {
        let mut messages = Vec::new();
        for file in &set.file {
            for message in &file.message_type {
                collect(file.package(), message, &mut messages);
            }
        }
        let names: HashMap<String, MessageIndex> =
            messages.iter().zip(0..).map(|((name, _), index)| (name.clone(), index)).collect();
        let nested = messages
            .iter()
            .map(|(_, message)| {
                let mut fields: Vec<(u32, MessageIndex)> = message
                    .field
                    .iter()
                    .filter(|field| field.r#type() == Type::Message)
                    .filter_map(|field| {
                        let name = field.type_name().trim_start_matches('.');
                        Some((u32::try_from(field.number()).ok()?, *names.get(name)?))
                    })
                    .collect();
                fields.sort_unstable();
                fields
            })
            .collect();
        Tables { names, nested }
    }

    fn message(&self, full_name: &str) -> Result<MessageIndex, DepthError> {
        self.names.get(full_name).copied().ok_or_else(|| DepthError::UnknownMessage(full_name.to_owned()))
    }

    /// The message type in a field, or `None` for any other field.
    fn field(&self, message: MessageIndex, number: u32) -> Option<MessageIndex> {
        let fields = self.nested.get(message as usize)?;
        let found = fields.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(fields[found].1)
    }
}

/// Appends a message and those declared in it, under their full names.
fn collect<'a>(scope: &str, message: &'a DescriptorProto, into: &mut Vec<(String, &'a DescriptorProto)>) {
    let name = format!("{scope}.{}", message.name());
    for nested in &message.nested_type {
        collect(&name, nested, into);
    }
    into.push((name, message));
}

/// An open message or group.
struct Level {
    /// `None` inside groups, which are never known fields in proto3.
    message: Option<MessageIndex>,
    /// Where the message ends; for a group, where the message around it ends.
    end: usize,
    /// The field number that closes the group; 0 for a message.
    group: u32,
}

struct Scanner<'a> {
    tables: &'a Tables,
    bytes: &'a [u8],
    at: usize,
    max_depth: usize,
}

impl Scanner<'_> {
    fn run(mut self, root: MessageIndex) -> Result<usize, DepthError> {
        let mut open = Vec::new();
        let mut deepest = 0;
        let mut entered = Some(Level { message: Some(root), end: self.bytes.len(), group: 0 });
        loop {
            if let Some(level) = entered.take() {
                if open.len() >= self.max_depth {
                    return Err(DepthError::TooDeep { max: self.max_depth });
                }
                open.push(level);
                deepest = deepest.max(open.len());
            }
            let Some(level) = open.last() else {
                return Ok(deepest);
            };
            if self.at == level.end {
                if level.group != 0 {
                    return Err(self.malformed("group without end"));
                }
                open.pop();
                continue;
            }
            let end = level.end;
            let (number, wire_type) = self.key(end)?;
            match wire_type {
                0 => {
                    self.varint(end)?;
                }
                1 => self.skip(8, end)?,
                2 => {
                    let length = self.varint(end)?;
                    let inner = level.message.and_then(|message| self.tables.field(message, number));
                    match inner {
                        Some(message) => {
                            entered = Some(Level { message: Some(message), end: self.end_of(length, end)?, group: 0 });
                        }
                        None => self.skip(length, end)?,
                    }
                }
                3 => {
                    entered = Some(Level { message: None, end, group: number });
                }
                4 if level.group == number => {
                    open.pop();
                }
                4 => return Err(self.malformed("end of a group that is not open")),
                5 => self.skip(4, end)?,
                _ => return Err(self.malformed("unknown wire type")),
            }
        }
    }

    fn malformed(&self, what: &'static str) -> DepthError {
        DepthError::Malformed { at: self.at, what }
    }

    /// A field number (never 0) and a wire type.
    fn key(&mut self, end: usize) -> Result<(u32, u8), DepthError> {
        let key = self.varint(end)?;
        let Ok(key) = u32::try_from(key) else {
            return Err(self.malformed("field number out of range"));
        };
        match key >> 3 {
            0 => Err(self.malformed("field number 0")),
            number => Ok((number, (key & 7) as u8)),
        }
    }

    fn varint(&mut self, end: usize) -> Result<u64, DepthError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            if self.at >= end {
                return Err(self.malformed("truncated number"));
            }
            let byte = self.bytes[self.at];
            self.at += 1;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.malformed("number of more than 64 bits"))
    }

    fn skip(&mut self, length: u64, end: usize) -> Result<(), DepthError> {
        self.at = self.end_of(length, end)?;
        Ok(())
    }

    /// The position `length` bytes on, which must not lie beyond `end`.
    fn end_of(&self, length: u64, end: usize) -> Result<usize, DepthError> {
        let left = end - self.at;
        match usize::try_from(length) {
            Ok(length) if length <= left => Ok(self.at + length),
            _ => Err(self.malformed("length beyond the end of the message")),
        }
    }
}
