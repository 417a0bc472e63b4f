//! Hash functions.

pub mod algorithm;
pub mod digest;
pub mod values;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] =
    &[&digest::CRC32, &digest::MD5, &digest::SHA, &digest::SHA1, &digest::SHA2, &values::HASH, &values::XXHASH64];

/// Murmur3 of bytes as the `hash` function and string hash codes have it.
pub fn murmur3_of(bytes: &[u8]) -> i32 {
    <algorithm::Murmur3 as algorithm::Algorithm>::bytes(bytes, 42)
}
