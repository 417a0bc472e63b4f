//! MurmurHash3 for x64, of 128 bits.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

fn mix_low(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix_high(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

/// The last steps for one half of the hash.
pub fn finish(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Up to eight bytes as a number, the first one in the lowest place.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// Both halves of the hash of bytes.
pub fn hash(bytes: &[u8], seed: u64) -> (u64, u64) {
    let (mut low, mut high) = (seed, seed);
    let mut blocks = bytes.chunks_exact(16);
    for block in &mut blocks {
        let (first, second) = block.split_at(8);
        low ^= mix_low(number(first));
        low = low.rotate_left(27).wrapping_add(high).wrapping_mul(5).wrapping_add(0x52dc_e729);
        high ^= mix_high(number(second));
        high = high.rotate_left(31).wrapping_add(low).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let rest = blocks.remainder();
    let (first, second) = rest.split_at(rest.len().min(8));
    if !second.is_empty() {
        high ^= mix_high(number(second));
    }
    if !first.is_empty() {
        low ^= mix_low(number(first));
    }
    low ^= bytes.len() as u64;
    high ^= bytes.len() as u64;
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    low = finish(low);
    high = finish(high);
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    (low, high)
}
