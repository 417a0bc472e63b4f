//! Protobuf's wire format: numbered fields in bytes.

/// A field as it stands in the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// The rest of a message. Reading gives None where the bytes are no message.
#[derive(Debug, Clone, Copy)]
pub struct Wire<'a> {
    bytes: &'a [u8],
}

impl<'a> Wire<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = *self.take(1)?.first()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub fn fixed64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub fn fixed32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    /// The next field with its number; the inner None is the end. Groups are skipped.
    pub fn field(&mut self) -> Option<Option<(u32, Raw<'a>)>> {
        let mut groups: Vec<u32> = Vec::new();
        while !self.is_empty() {
            let tag = u32::try_from(self.varint()?).ok()?;
            let (number, kind) = (tag >> 3, tag & 7);
            if number == 0 {
                return None;
            }
            let raw = match kind {
                0 => Raw::Varint(self.varint()?),
                1 => Raw::Fixed64(self.fixed64()?),
                2 => {
                    let count = usize::try_from(self.varint()?).ok()?;
                    Raw::Bytes(self.take(count)?)
                }
                3 => {
                    groups.push(number);
                    continue;
                }
                4 if groups.pop() == Some(number) => continue,
                5 => Raw::Fixed32(self.fixed32()?),
                _ => return None,
            };
            if groups.is_empty() {
                return Some(Some((number, raw)));
            }
        }
        groups.is_empty().then_some(None)
    }
}

/// Adds a number of variable length.
pub fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Adds the number and the kind of a field.
pub fn put_tag(number: u32, kind: u8, out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3 | u64::from(kind), out);
}

/// Adds a field of bytes.
pub fn put_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    put_tag(number, 2, out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::{Raw, Wire, put_bytes};

    #[test]
    fn groups_are_skipped_however_deep() {
        let mut bytes = vec![0x0b; 100_000];
        bytes.extend(vec![0x0c; 100_000]);
        put_bytes(2, b"x", &mut bytes);
        let mut wire = Wire::new(&bytes);
        assert_eq!(wire.field(), Some(Some((2, Raw::Bytes(b"x")))));
        assert_eq!(wire.field(), Some(None));
        assert_eq!(Wire::new(&[0x0b]).field(), None);
        assert_eq!(Wire::new(&[0x0a, 5, 1]).field(), None);
    }
}
