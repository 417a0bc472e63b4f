//! Variants: values of any type, read from and written to Parquet's variant encoding, version 1.
//!
//! A variant is two byte strings: `metadata`, a list of field names, and
//! `value`, a tree whose nodes start with a header byte.

pub mod builder;

use firesteel_error::SparkError;

pub use builder::VariantBuilder;

/// How deep values may nest, so that no bytes can exhaust the stack.
pub const MAX_DEPTH: usize = 1000;

/// The metadata of a variant without objects.
pub const EMPTY_METADATA: [u8; 3] = [1, 0, 0];

/// The error of bytes that are no variant.
pub fn malformed() -> SparkError {
    SparkError::new("MALFORMED_VARIANT")
}

/// A value within the bytes of a variant. Every read is checked; `None` means malformed bytes.
#[derive(Debug, Clone, Copy)]
pub struct Variant<'a> {
    value: &'a [u8],
    metadata: &'a [u8],
    at: usize,
}

/// What a value is.
#[derive(Debug, Clone, Copy)]
pub enum Node<'a> {
    Scalar(Scalar<'a>),
    Array(Parts<'a>),
    Object(Parts<'a>),
}

/// A value without parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Float(f32),
    Double(f64),
    /// The unscaled value and the scale.
    Decimal(i128, i8),
    /// Days since the epoch.
    Date(i32),
    /// Microseconds since the epoch, UTC.
    Timestamp(i64),
    /// Microseconds on the wall clock.
    TimestampNtz(i64),
    Binary(&'a [u8]),
    Text(&'a str),
    Uuid(u128),
}

/// The elements of an array, or the fields of an object in the order of their names.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    variant: Variant<'a>,
    count: usize,
    ids: usize,
    id_size: usize,
    offsets: usize,
    offset_size: usize,
    data: usize,
}

fn unsigned(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0usize, |value, byte| (value << 8) | usize::from(*byte)))
}

impl<'a> Variant<'a> {
    pub fn new(value: &'a [u8], metadata: &'a [u8]) -> Self {
        Self { value, metadata, at: 0 }
    }

    /// The metadata, which all parts of a variant share.
    pub fn metadata(&self) -> &'a [u8] {
        self.metadata
    }

    /// The bytes of this value alone.
    pub fn bytes_of_value(&self) -> Option<&'a [u8]> {
        self.value.get(self.at..self.at.checked_add(self.size()?)?)
    }

    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.value.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn text(&self, start: usize, length: usize) -> Option<Scalar<'a>> {
        let bytes = self.value.get(start..start.checked_add(length)?)?;
        std::str::from_utf8(bytes).ok().map(Scalar::Text)
    }

    /// What the value is.
    pub fn node(&self) -> Option<Node<'a>> {
        let header = *self.value.get(self.at)?;
        match header & 3 {
            0 => self.primitive(header >> 2).map(Node::Scalar),
            1 => self.text(self.at + 1, usize::from(header >> 2)).map(Node::Scalar),
            2 => self.parts().map(Node::Object),
            _ => self.parts().map(Node::Array),
        }
    }

    fn primitive(&self, kind: u8) -> Option<Scalar<'a>> {
        let data = self.at + 1;
        let scale = || i8::try_from(*self.value.get(data)?).ok().filter(|scale| *scale <= 38);
        Some(match kind {
            0 => Scalar::Null,
            1 => Scalar::Boolean(true),
            2 => Scalar::Boolean(false),
            3 => Scalar::Integer(i64::from(i8::from_le_bytes(self.bytes(data)?))),
            4 => Scalar::Integer(i64::from(i16::from_le_bytes(self.bytes(data)?))),
            5 => Scalar::Integer(i64::from(i32::from_le_bytes(self.bytes(data)?))),
            6 => Scalar::Integer(i64::from_le_bytes(self.bytes(data)?)),
            7 => Scalar::Double(f64::from_le_bytes(self.bytes(data)?)),
            8 => Scalar::Decimal(i128::from(i32::from_le_bytes(self.bytes(data + 1)?)), scale()?),
            9 => Scalar::Decimal(i128::from(i64::from_le_bytes(self.bytes(data + 1)?)), scale()?),
            10 => Scalar::Decimal(i128::from_le_bytes(self.bytes(data + 1)?), scale()?),
            11 => Scalar::Date(i32::from_le_bytes(self.bytes(data)?)),
            12 => Scalar::Timestamp(i64::from_le_bytes(self.bytes(data)?)),
            13 => Scalar::TimestampNtz(i64::from_le_bytes(self.bytes(data)?)),
            14 => Scalar::Float(f32::from_le_bytes(self.bytes(data)?)),
            15 => {
                let length = unsigned(self.value, data, 4)?;
                Scalar::Binary(self.value.get(data + 4..(data + 4).checked_add(length)?)?)
            }
            16 => self.text(data + 4, unsigned(self.value, data, 4)?)?,
            20 => Scalar::Uuid(u128::from_be_bytes(self.bytes(data)?)),
            _ => return None,
        })
    }

    fn parts(&self) -> Option<Parts<'a>> {
        let header = *self.value.get(self.at)?;
        let info = header >> 2;
        let offset_size = usize::from(info & 3) + 1;
        let (id_size, large) = if header & 3 == 2 {
            (usize::from(info >> 2 & 3) + 1, info >> 4 & 1 == 1)
        } else {
            (0, info >> 2 & 1 == 1)
        };
        let count_size = if large { 4 } else { 1 };
        let count = unsigned(self.value, self.at + 1, count_size)?;
        let ids = self.at + 1 + count_size;
        let offsets = ids.checked_add(count.checked_mul(id_size)?)?;
        let data = offsets.checked_add((count + 1).checked_mul(offset_size)?)?;
        // The table must lie in the bytes, so that a wrong count costs nothing.
        self.value.get(ids..data)?;
        Some(Parts { variant: *self, count, ids, id_size, offsets, offset_size, data })
    }

    /// How many bytes the value takes.
    fn size(&self) -> Option<usize> {
        let header = *self.value.get(self.at)?;
        let info = header >> 2;
        Some(match header & 3 {
            0 => match info {
                0..=2 => 1,
                3 => 2,
                4 => 3,
                5 | 11 | 14 => 5,
                6 | 7 | 12 | 13 => 9,
                8 => 6,
                9 => 10,
                10 => 18,
                15 | 16 => unsigned(self.value, self.at + 1, 4)?.checked_add(5)?,
                20 => 17,
                _ => return None,
            },
            1 => 1 + usize::from(info),
            _ => {
                let parts = self.parts()?;
                let end = unsigned(self.value, parts.offsets + parts.count * parts.offset_size, parts.offset_size)?;
                parts.data.checked_add(end)?.checked_sub(self.at)?
            }
        })
    }

    /// The field of an object; `Some(None)` where the value is no object or has no such field.
    pub fn field(&self, name: &str) -> Option<Option<Variant<'a>>> {
        match self.node()? {
            Node::Object(fields) => fields.find(name),
            _ => Some(None),
        }
    }

    /// The element of an array; `Some(None)` where the value is no array or too short.
    pub fn element(&self, index: usize) -> Option<Option<Variant<'a>>> {
        match self.node()? {
            Node::Array(elements) if index < elements.count => elements.value(index).map(Some),
            _ => Some(None),
        }
    }

    fn field_name(&self, id: usize) -> Option<&'a str> {
        let header = *self.metadata.first()?;
        if header & 0x0f != 1 {
            return None;
        }
        let size = usize::from(header >> 6) + 1;
        let count = unsigned(self.metadata, 1, size)?;
        if id >= count {
            return None;
        }
        let offsets = 1 + size;
        let names = offsets.checked_add((count + 1).checked_mul(size)?)?;
        let start = names.checked_add(unsigned(self.metadata, offsets + id * size, size)?)?;
        let end = names.checked_add(unsigned(self.metadata, offsets + (id + 1) * size, size)?)?;
        std::str::from_utf8(self.metadata.get(start..end)?).ok()
    }
}

impl<'a> Parts<'a> {
    pub fn count(&self) -> usize {
        self.count
    }

    /// The value at a position, which must be less than the count.
    pub fn value(&self, index: usize) -> Option<Variant<'a>> {
        let offset = unsigned(self.variant.value, self.offsets + index * self.offset_size, self.offset_size)?;
        // Parts lie behind their table, so that no value contains itself.
        Some(Variant { at: self.data.checked_add(offset)?, ..self.variant })
    }

    /// The name at a position of an object.
    pub fn name(&self, index: usize) -> Option<&'a str> {
        self.variant.field_name(unsigned(self.variant.value, self.ids + index * self.id_size, self.id_size)?)
    }

    fn find(&self, name: &str) -> Option<Option<Variant<'a>>> {
        for index in 0..self.count {
            if self.name(index)? == name {
                return self.value(index).map(Some);
            }
        }
        Some(None)
    }
}

/// True where the bytes are a variant all the way down.
pub fn is_valid(value: &[u8], metadata: &[u8]) -> bool {
    check(&Variant::new(value, metadata), 0).is_some()
}

fn check(variant: &Variant<'_>, depth: usize) -> Option<()> {
    if depth >= MAX_DEPTH {
        return None;
    }
    match variant.node()? {
        Node::Scalar(_) => Some(()),
        Node::Array(parts) => (0..parts.count()).try_for_each(|i| check(&parts.value(i)?, depth + 1)),
        Node::Object(parts) => (0..parts.count()).try_for_each(|i| {
            parts.name(i)?;
            check(&parts.value(i)?, depth + 1)
        }),
    }
}
