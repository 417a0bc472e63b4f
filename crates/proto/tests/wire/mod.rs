//! Bytes that no encoder would write.

use prost::encoding::{WireType, encode_key, encode_varint};

/// A message in a message in ..., by these field numbers from the outside in.
pub fn nest(fields: &[u32]) -> Vec<u8> {
    // Written from the end, so that each length is known when it is written.
    let mut reversed = Vec::new();
    for field in fields.iter().rev() {
        let mut head = Vec::new();
        encode_key(*field, WireType::LengthDelimited, &mut head);
        encode_varint(reversed.len() as u64, &mut head);
        reversed.extend(head.iter().rev());
    }
    reversed.reverse();
    reversed
}
