//! Murmur3 (32 bits) and xxHash (64 bits) as Spark applies them to values.

/// A hash that goes on from the hash of the values before.
pub trait Algorithm {
    type Hash: Copy;

    fn int(value: i32, seed: Self::Hash) -> Self::Hash;
    fn long(value: i64, seed: Self::Hash) -> Self::Hash;
    fn bytes(value: &[u8], seed: Self::Hash) -> Self::Hash;
}

/// Murmur3 with Spark's own treatment of the last bytes.
pub struct Murmur3;

/// xxHash with 64 bits.
pub struct XxHash64;

fn mix_k(k: u32) -> u32 {
    k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

fn mix_h(hash: u32, k: u32) -> u32 {
    (hash ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

fn finish_32(mut hash: u32, length: u32) -> i32 {
    hash ^= length;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)) as i32
}

impl Algorithm for Murmur3 {
    type Hash = i32;

    fn int(value: i32, seed: i32) -> i32 {
        finish_32(mix_h(seed as u32, mix_k(value as u32)), 4)
    }

    fn long(value: i64, seed: i32) -> i32 {
        let low = mix_h(seed as u32, mix_k(value as u32));
        finish_32(mix_h(low, mix_k((value >> 32) as u32)), 8)
    }

    fn bytes(value: &[u8], seed: i32) -> i32 {
        let mut hash = seed as u32;
        let mut words = value.chunks_exact(4);
        for word in words.by_ref() {
            hash = mix_h(hash, mix_k(u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
        }
        for byte in words.remainder() {
            // Each byte by itself, with its sign.
            hash = mix_h(hash, mix_k(*byte as i8 as i32 as u32));
        }
        finish_32(hash, value.len() as u32)
    }
}

const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;

fn finish_64(mut hash: u64) -> i64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(P2);
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(P3);
    (hash ^ (hash >> 32)) as i64
}

fn round(hash: u64, word: u64) -> u64 {
    hash.wrapping_add(word.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

fn mix_word(hash: u64, word: u64) -> u64 {
    (hash ^ round(0, word)).rotate_left(27).wrapping_mul(P1).wrapping_add(P4)
}

fn mix_half(hash: u64, half: u64) -> u64 {
    (hash ^ half.wrapping_mul(P1)).rotate_left(23).wrapping_mul(P2).wrapping_add(P3)
}

impl Algorithm for XxHash64 {
    type Hash = i64;

    fn int(value: i32, seed: i64) -> i64 {
        let hash = (seed as u64).wrapping_add(P5).wrapping_add(4);
        finish_64(mix_half(hash, u64::from(value as u32)))
    }

    fn long(value: i64, seed: i64) -> i64 {
        let hash = (seed as u64).wrapping_add(P5).wrapping_add(8);
        finish_64(mix_word(hash, value as u64))
    }

    fn bytes(value: &[u8], seed: i64) -> i64 {
        let seed = seed as u64;
        let mut stripes = value.chunks_exact(32);
        let mut hash = if value.len() >= 32 {
            let mut lanes =
                [seed.wrapping_add(P1).wrapping_add(P2), seed.wrapping_add(P2), seed, seed.wrapping_sub(P1)];
            for stripe in stripes.by_ref() {
                for (lane, bytes) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
                    *lane = round(*lane, word(bytes));
                }
            }
            let joined = lanes[0]
                .rotate_left(1)
                .wrapping_add(lanes[1].rotate_left(7))
                .wrapping_add(lanes[2].rotate_left(12))
                .wrapping_add(lanes[3].rotate_left(18));
            lanes.iter().fold(joined, |hash, lane| (hash ^ round(0, *lane)).wrapping_mul(P1).wrapping_add(P4))
        } else {
            seed.wrapping_add(P5)
        };
        hash = hash.wrapping_add(value.len() as u64);
        let mut words = stripes.remainder().chunks_exact(8);
        for bytes in words.by_ref() {
            hash = mix_word(hash, word(bytes));
        }
        let mut rest = words.remainder();
        if rest.len() >= 4 {
            hash = mix_half(hash, word(&rest[..4]));
            rest = &rest[4..];
        }
        for byte in rest {
            hash = (hash ^ u64::from(*byte).wrapping_mul(P5)).rotate_left(11).wrapping_mul(P1);
        }
        finish_64(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sparks() {
        assert_eq!(Murmur3::int(1, 42), -559580957);
        assert_eq!(Murmur3::long(1, 42), -1712319331);
        assert_eq!(Murmur3::bytes(b"abc", 42), 1322437556);
        assert_eq!(Murmur3::bytes(b"0123456789", 42), -98160284);
        assert_eq!(Murmur3::bytes("éa".as_bytes(), 42), 628009926);
        assert_eq!(XxHash64::int(1, 42), -6698625589789238999);
        assert_eq!(XxHash64::long(1, 42), -7001672635703045582);
        assert_eq!(XxHash64::bytes(b"abc", 42), 1423657621850124518);
        assert_eq!(XxHash64::bytes(b"", 42), -7444071767201028348);
        assert_eq!(XxHash64::bytes(b"01234567890123456789012345678901", 42), -7360845206938539012);
        assert_eq!(XxHash64::bytes(b"0123456789012345678901234567890123456789", 42), 5508798028064852934);
    }
}
