//! Numbers of the Poisson distribution, over the WELL19937c generator: the ones that
//! Spark's samples with replacement draw.

const WORDS: usize = 624;
const M1: usize = 70;
const M2: usize = 179;
const M3: usize = 449;

/// The generator of Panneton, L'Ecuyer and Matsumoto with a period of 2^19937 - 1.
#[derive(Debug)]
struct Well19937c {
    words: Vec<u32>,
    index: usize,
}

impl Well19937c {
    fn new(seed: i64) -> Self {
        let mut words = vec![0u32; WORDS];
        words[0] = (seed >> 32) as u32;
        words[1] = seed as u32;
        for i in 2..WORDS {
            let last = i64::from(words[i - 2] as i32);
            words[i] = (1_812_433_253i64.wrapping_mul(last ^ (last >> 30)).wrapping_add(i as i64)) as u32;
        }
        Self { words, index: 0 }
    }

    fn next(&mut self, bits: u32) -> u32 {
        let at = |offset: usize| (self.index + offset) % WORDS;
        let (last, before) = (at(WORDS - 1), at(WORDS - 2));
        let (v0, v1) = (self.words[self.index], self.words[at(M1)]);
        let (v2, v3) = (self.words[at(M2)], self.words[at(M3)]);
        let z0 = (0x8000_0000 & self.words[last]) ^ (0x7FFF_FFFF & self.words[before]);
        let z1 = (v0 ^ (v0 << 25)) ^ (v1 ^ (v1 >> 27));
        let z2 = (v2 >> 9) ^ (v3 ^ (v3 >> 1));
        let z3 = z1 ^ z2;
        let mut z4 = z0 ^ (z1 ^ (z1 << 9)) ^ (z2 ^ (z2 << 21)) ^ (z3 ^ (z3 >> 21));
        self.words[self.index] = z3;
        self.words[last] = z4;
        self.words[before] &= 0x8000_0000;
        self.index = last;
        // Matsumoto-Kurita tempering.
        z4 ^= (z4 << 7) & 0xE46E_1700;
        z4 ^= (z4 << 15) & 0x9B86_8000;
        z4 >> (32 - bits)
    }

    fn next_double(&mut self) -> f64 {
        let high = u64::from(self.next(26)) << 26;
        let low = u64::from(self.next(26));
        (high | low) as f64 * (1.0 / (1u64 << 52) as f64)
    }
}

/// Counts with a mean.
#[derive(Debug)]
pub struct Poisson {
    random: Well19937c,
    mean: f64,
}

impl Poisson {
    /// The counts of a seed.
    pub fn new(mean: f64, seed: i64) -> Self {
        Self { random: Well19937c::new(seed), mean }
    }

    /// The next count.
    pub fn next_count(&mut self) -> i32 {
        if self.mean <= 0.0 {
            return 0;
        }
        let threshold = (-self.mean).exp();
        let mut product = 1.0;
        let mut count = 0;
        while f64::from(count) < 1000.0 * self.mean {
            product *= self.random.next_double();
            if product < threshold {
                break;
            }
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::Poisson;

    /// Rows of `range(40)` that a sample takes.
    fn rows(mean: f64, seed: i64) -> Vec<i32> {
        let mut counts = Poisson::new(mean, seed);
        (0..40).flat_map(|row| std::iter::repeat_n(row, usize::try_from(counts.next_count()).unwrap())).collect()
    }

    #[test]
    fn counts_are_sparks() {
        // The partition's seed for the seed 3 of a query.
        let seed = super::super::internal::partition_seed(3, 0);
        assert_eq!(rows(0.5, seed), [5, 6, 10, 13, 21, 27, 27, 27, 28, 31, 32, 32, 33, 34, 36, 37, 39]);
        assert_eq!(rows(0.1, seed), [7, 33]);
    }
}
