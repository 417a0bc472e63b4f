//! Writes variants, byte for byte as Spark does.

use super::{MAX_DEPTH, Node, Variant, malformed};
use firesteel_error::{Result, SparkError};
use std::collections::HashMap;

/// The most bytes of a value, and of a list of field names.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// A field of an object that is being written: its name's number and where its value starts.
#[derive(Debug, Clone, Copy)]
pub struct FieldEntry {
    id: usize,
    offset: usize,
}

/// Writes one variant after the other.
///
/// ```
/// use firesteel_types::variant::VariantBuilder;
/// let mut builder = VariantBuilder::new(false);
/// let start = builder.position();
/// let first = builder.position() - start;
/// builder.append_integer(1);
/// builder.finish_array(start, &[first]);
/// let (value, metadata) = builder.take()?;
/// assert_eq!((value, metadata), (vec![3, 1, 0, 2, 12, 1], vec![1, 0, 0]));
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
#[derive(Debug, Default)]
pub struct VariantBuilder {
    value: Vec<u8>,
    names: Vec<String>,
    ids: HashMap<String, usize>,
    allows_duplicates: bool,
}

fn bytes_for(number: usize) -> usize {
    match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

fn write_unsigned(out: &mut Vec<u8>, number: usize, size: usize) {
    out.extend_from_slice(&number.to_le_bytes()[..size]);
}

impl VariantBuilder {
    /// A builder of which objects keep the last value of a name given twice, or fail.
    pub fn new(allows_duplicates: bool) -> Self {
        Self { allows_duplicates, ..Self::default() }
    }

    /// Where the next value starts.
    pub fn position(&self) -> usize {
        self.value.len()
    }

    fn header(&mut self, kind: u8) {
        self.value.push(kind << 2);
    }

    pub fn append_null(&mut self) {
        self.header(0);
    }

    pub fn append_boolean(&mut self, value: bool) {
        self.header(if value { 1 } else { 2 });
    }

    /// Appends a whole number in as few bytes as it needs.
    pub fn append_integer(&mut self, value: i64) {
        if let Ok(value) = i8::try_from(value) {
            self.header(3);
            self.value.extend_from_slice(&value.to_le_bytes());
        } else if let Ok(value) = i16::try_from(value) {
            self.header(4);
            self.value.extend_from_slice(&value.to_le_bytes());
        } else if let Ok(value) = i32::try_from(value) {
            self.header(5);
            self.value.extend_from_slice(&value.to_le_bytes());
        } else {
            self.header(6);
            self.value.extend_from_slice(&value.to_le_bytes());
        }
    }

    pub fn append_double(&mut self, value: f64) {
        self.header(7);
        self.value.extend_from_slice(&value.to_le_bytes());
    }

    pub fn append_float(&mut self, value: f32) {
        self.header(14);
        self.value.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a decimal of at most 38 digits and a scale of 0 to 38.
    pub fn append_decimal(&mut self, unscaled: i128, scale: i8) {
        let digits = unscaled.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
        let most = digits.max(u32::from(scale.unsigned_abs()));
        self.header(match most {
            0..=9 => 8,
            10..=18 => 9,
            _ => 10,
        });
        self.value.push(scale.unsigned_abs());
        let size = match most {
            0..=9 => 4,
            10..=18 => 8,
            _ => 16,
        };
        self.value.extend_from_slice(&unscaled.to_le_bytes()[..size]);
    }

    pub fn append_date(&mut self, days: i32) {
        self.header(11);
        self.value.extend_from_slice(&days.to_le_bytes());
    }

    pub fn append_timestamp(&mut self, micros: i64) {
        self.header(12);
        self.value.extend_from_slice(&micros.to_le_bytes());
    }

    pub fn append_timestamp_ntz(&mut self, micros: i64) {
        self.header(13);
        self.value.extend_from_slice(&micros.to_le_bytes());
    }

    pub fn append_binary(&mut self, bytes: &[u8]) {
        self.header(15);
        write_unsigned(&mut self.value, bytes.len(), 4);
        self.value.extend_from_slice(bytes);
    }

    pub fn append_text(&mut self, text: &str) {
        match u8::try_from(text.len()) {
            Ok(length) if length < 64 => self.value.push(length << 2 | 1),
            _ => {
                self.header(16);
                write_unsigned(&mut self.value, text.len(), 4);
            }
        }
        self.value.extend_from_slice(text.as_bytes());
    }

    /// Begins the next field of an object that starts at `start`; its value is to follow.
    pub fn field(&mut self, start: usize, name: &str) -> FieldEntry {
        let id = match self.ids.get(name) {
            Some(id) => *id,
            None => {
                let id = self.names.len();
                self.ids.insert(name.to_string(), id);
                self.names.push(name.to_string());
                id
            }
        };
        FieldEntry { id, offset: self.value.len() - start }
    }

    /// Makes the values since `start` an object.
    pub fn finish_object(&mut self, start: usize, fields: &mut Vec<FieldEntry>) -> Result<()> {
        self.sort(fields);
        if let Some(twice) = fields.windows(2).find(|pair| pair[0].id == pair[1].id) {
            if !self.allows_duplicates {
                return Err(SparkError::new("VARIANT_DUPLICATE_KEY").with("key", self.names[twice[0].id].clone()));
            }
            self.drop_repeated(start, fields);
        }
        let size = self.value.len() - start;
        let most_id = fields.iter().map(|f| f.id).max().unwrap_or(0);
        let (id_size, offset_size) = (bytes_for(most_id), bytes_for(size));
        let is_large = fields.len() > 0xff;
        let mut table = vec![
            u8::from(is_large) << 6
                | u8::try_from(id_size - 1).unwrap_or(3) << 4
                | u8::try_from(offset_size - 1).unwrap_or(3) << 2
                | 2,
        ];
        write_unsigned(&mut table, fields.len(), if is_large { 4 } else { 1 });
        for field in fields.iter() {
            write_unsigned(&mut table, field.id, id_size);
        }
        for offset in fields.iter().map(|f| f.offset).chain([size]) {
            write_unsigned(&mut table, offset, offset_size);
        }
        self.value.splice(start..start, table);
        Ok(())
    }

    /// Names are in the order of their UTF-16 units, as Java compares them; of equal names, the first is first.
    fn sort(&self, fields: &mut [FieldEntry]) {
        fields.sort_by(|a, b| {
            let (a, b) = (&self.names[a.id], &self.names[b.id]);
            if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
        });
    }

    /// Keeps the last value of each name, and closes the gaps.
    fn drop_repeated(&mut self, start: usize, fields: &mut Vec<FieldEntry>) {
        let mut kept: Vec<FieldEntry> = Vec::with_capacity(fields.len());
        let mut starts: Vec<usize> = fields.iter().map(|f| f.offset).chain([self.value.len() - start]).collect();
        starts.sort_unstable();
        for field in fields.iter() {
            match kept.last_mut() {
                Some(last) if last.id == field.id => last.offset = last.offset.max(field.offset),
                _ => kept.push(*field),
            }
        }
        kept.sort_by_key(|f| f.offset);
        let data = self.value.split_off(start);
        for field in &mut kept {
            let end = starts.iter().copied().find(|s| *s > field.offset).unwrap_or(data.len());
            let from = field.offset;
            field.offset = self.value.len() - start;
            self.value.extend_from_slice(&data[from..end]);
        }
        self.sort(&mut kept);
        *fields = kept;
    }

    /// Makes the values since `start`, at these offsets from it, an array.
    pub fn finish_array(&mut self, start: usize, offsets: &[usize]) {
        let size = self.value.len() - start;
        let offset_size = bytes_for(size);
        let is_large = offsets.len() > 0xff;
        let mut table = vec![u8::from(is_large) << 4 | u8::try_from(offset_size - 1).unwrap_or(3) << 2 | 3];
        write_unsigned(&mut table, offsets.len(), if is_large { 4 } else { 1 });
        for offset in offsets.iter().copied().chain([size]) {
            write_unsigned(&mut table, offset, offset_size);
        }
        self.value.splice(start..start, table);
    }

    /// Appends a copy of a variant's value.
    pub fn append(&mut self, variant: &Variant<'_>) -> Result<()> {
        self.append_nested(variant, 0)
    }

    fn append_nested(&mut self, variant: &Variant<'_>, depth: usize) -> Result<()> {
        if depth >= MAX_DEPTH {
            return Err(malformed());
        }
        match variant.node().ok_or_else(malformed)? {
            // A number keeps the width that it has.
            Node::Scalar(_) => self.value.extend_from_slice(variant.bytes_of_value().ok_or_else(malformed)?),
            Node::Array(parts) => {
                let start = self.position();
                let mut offsets = Vec::with_capacity(parts.count());
                for index in 0..parts.count() {
                    offsets.push(self.position() - start);
                    self.append_nested(&parts.value(index).ok_or_else(malformed)?, depth + 1)?;
                }
                self.finish_array(start, &offsets);
            }
            Node::Object(parts) => {
                let start = self.position();
                let mut fields = Vec::with_capacity(parts.count());
                for index in 0..parts.count() {
                    fields.push(self.field(start, parts.name(index).ok_or_else(malformed)?));
                    self.append_nested(&parts.value(index).ok_or_else(malformed)?, depth + 1)?;
                }
                self.finish_object(start, &mut fields)?;
            }
        }
        Ok(())
    }

    /// The value and the metadata of what was written; the builder is empty then.
    pub fn take(&mut self) -> Result<(Vec<u8>, Vec<u8>)> {
        let names: usize = self.names.iter().map(String::len).sum();
        let size = bytes_for(names.max(self.names.len()));
        let mut metadata = vec![1 | u8::try_from(size - 1).unwrap_or(3) << 6];
        write_unsigned(&mut metadata, self.names.len(), size);
        let mut offset = 0;
        write_unsigned(&mut metadata, offset, size);
        for name in &self.names {
            offset += name.len();
            write_unsigned(&mut metadata, offset, size);
        }
        for name in self.names.drain(..) {
            metadata.extend_from_slice(name.as_bytes());
        }
        self.ids.clear();
        if self.value.len() > MOST_BYTES || metadata.len() > MOST_BYTES {
            self.value.clear();
            return Err(SparkError::new("VARIANT_CONSTRUCTOR_SIZE_LIMIT"));
        }
        Ok((std::mem::take(&mut self.value), metadata))
    }

    /// Forgets what was written, after a failure.
    pub fn clear(&mut self) {
        self.value.clear();
        self.names.clear();
        self.ids.clear();
    }
}
