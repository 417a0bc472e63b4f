//! Streams of ORC files: runs of numbers and bytes, and their compression.

use flate2::write::DeflateEncoder;
use std::io::Write;

/// The most values of a run, and the least.
const MOST_RUN: usize = 130;
const LEAST_RUN: usize = 3;

/// The most values that stand on their own behind one another.
const MOST_LITERALS: usize = 128;

/// Bytes that are compressed at once.
pub(super) const BLOCK: usize = 256 << 10;

/// How streams are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Zlib,
    Snappy,
    Lz4,
    Zstd,
}

/// Adds a number, seven bits to a byte, the lowest first.
fn push_varint(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// Adds a number of which the sign is the lowest bit.
pub(super) fn push_signed(out: &mut Vec<u8>, value: i128) {
    push_varint(out, ((value << 1) ^ (value >> 127)).cast_unsigned());
}

/// How many bytes at the start are the same.
fn same(bytes: &[u8]) -> usize {
    bytes.iter().take(MOST_RUN).take_while(|byte| Some(*byte) == bytes.first()).count()
}

/// Bytes as runs of the same one, and others.
pub(super) fn byte_runs(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 4 + 4);
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        let run = same(rest);
        if run >= LEAST_RUN {
            out.extend([(run - LEAST_RUN) as u8, *first]);
            rest = &rest[run..];
            continue;
        }
        let mut count = run;
        while count < rest.len().min(MOST_LITERALS) && same(&rest[count..]) < LEAST_RUN {
            count += 1;
        }
        let count = count.min(MOST_LITERALS);
        out.push((count as u8).wrapping_neg());
        out.extend_from_slice(&rest[..count]);
        rest = &rest[count..];
    }
    out
}

/// Bits, the first the highest of its byte.
pub(super) fn bit_runs(bits: &[bool]) -> Vec<u8> {
    let bytes: Vec<u8> = bits
        .chunks(8)
        .map(|bits| bits.iter().enumerate().fold(0, |byte, (i, bit)| byte | (u8::from(*bit) << (7 - i))))
        .collect();
    byte_runs(&bytes)
}

/// How many numbers at the start are a small step apart, and the step.
fn steps(numbers: &[i64]) -> (usize, i8) {
    let [first, second, ..] = numbers else { return (numbers.len(), 0) };
    let Ok(step) = i8::try_from(second.wrapping_sub(*first)) else { return (1, 0) };
    if second.checked_sub(*first).is_none() {
        return (1, 0);
    }
    let is_next = |pair: &&[i64]| pair[1].checked_sub(pair[0]) == Some(i64::from(step));
    (1 + numbers.windows(2).take(MOST_RUN - 1).take_while(is_next).count(), step)
}

/// Numbers as runs with the same step, and others.
pub(super) fn number_runs(numbers: &[i64], is_signed: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(numbers.len() * 2 + 4);
    let push = |out: &mut Vec<u8>, number: i64| {
        if is_signed {
            push_signed(out, number.into());
        } else {
            push_varint(out, number.cast_unsigned().into());
        }
    };
    let mut rest = numbers;
    while let Some(first) = rest.first() {
        let (run, step) = steps(rest);
        if run >= LEAST_RUN {
            out.extend([(run - LEAST_RUN) as u8, step.cast_unsigned()]);
            push(&mut out, *first);
            rest = &rest[run..];
            continue;
        }
        let mut count = 1;
        while count < rest.len().min(MOST_LITERALS) && steps(&rest[count..]).0 < LEAST_RUN {
            count += 1;
        }
        out.push((count as u8).wrapping_neg());
        rest[..count].iter().for_each(|number| push(&mut out, *number));
        rest = &rest[count..];
    }
    out
}

/// A stream in compressed blocks, each after its length.
pub(super) fn compressed(bytes: &[u8], compression: Compression) -> std::io::Result<Vec<u8>> {
    if compression == Compression::None {
        return Ok(bytes.to_vec());
    }
    let mut out = Vec::with_capacity(bytes.len() / 2 + 3);
    for block in bytes.chunks(BLOCK) {
        let smaller = match compression {
            Compression::Zlib => {
                let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(block)?;
                encoder.finish()?
            }
            Compression::Snappy => snap::raw::Encoder::new().compress_vec(block).map_err(std::io::Error::other)?,
            Compression::Lz4 => lz4_flex::block::compress(block),
            Compression::Zstd | Compression::None => zstd::bulk::compress(block, 3)?,
        };
        let is_original = smaller.len() >= block.len();
        let stored = if is_original { block } else { &smaller };
        let header = (u32::try_from(stored.len()).unwrap_or(u32::MAX) << 1) | u32::from(is_original);
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(stored);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_the_format_has_them() {
        assert_eq!(byte_runs(&[0; 100]), [0x61, 0x00]);
        assert_eq!(byte_runs(&[0x44, 0x45]), [0xfe, 0x44, 0x45]);
        assert_eq!(bit_runs(&[true, false, false, false, false, false, false, false]), [0xff, 0x80]);
        assert_eq!(number_runs(&[7; 100], false), [0x61, 0x00, 0x07]);
        assert_eq!(number_runs(&(1..=100).rev().collect::<Vec<_>>(), false), [0x61, 0xff, 0x64]);
        assert_eq!(number_runs(&[2, 3, 6, 7, 11], false), [0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b]);
        assert_eq!(number_runs(&[i64::MIN, i64::MAX], true).len(), 21);
    }

    #[test]
    fn long_runs_are_cut() {
        assert_eq!(byte_runs(&[1; 131]), [127, 1, 0xff, 1]);
        assert_eq!(byte_runs(&(0..=255).collect::<Vec<u8>>()).len(), 258);
    }
}
