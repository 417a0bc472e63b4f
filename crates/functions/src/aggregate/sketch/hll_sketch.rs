//! HyperLogLog sketches in the updatable form that Spark keeps.
//!
//! Few values are a list of coupons, more a hash table of them, many an array of registers. The
//! table's layout shows in the bytes, so the first two are kept here; the array is the crate's.

use super::murmur;
use datasketches::error::Error;
use datasketches::hash::value::raw_bytes;
use datasketches::hll::{HllSketch, HllType, HllUnion};

const SEED: u64 = 9001;
const LIST_SIZE: usize = 8;
const LG_FIRST_TABLE: u8 = 5;
const KEY_MASK: u32 = (1 << 26) - 1;
const FAMILY: u8 = 7;
const FLAG_EMPTY: u8 = 4;
const FLAG_COMPACT: u8 = 8;
const FLAG_OUT_OF_ORDER: u8 = 16;
const MODE_LIST: u8 = 0;
const MODE_TABLE: u8 = 1;
const MODE_ARRAY: u8 = 2;
/// The target type HLL_8 in a mode byte.
const TYPE_8: u8 = 2 << 2;
/// Where the registers of an array begin.
const ARRAY_START: usize = 40;

/// A sketch of one group.
#[derive(Debug, Clone)]
pub struct Hll {
    lg_size: u8,
    mode: Mode,
}

#[derive(Debug, Clone)]
enum Mode {
    List(Vec<u32>),
    Table(Table),
    Array(HllSketch),
}

/// Coupons at the places that their bits give.
#[derive(Debug, Clone)]
struct Table {
    lg_slots: u8,
    slots: Vec<u32>,
    count: usize,
}

impl Table {
    fn new(lg_slots: u8) -> Self {
        Self { lg_slots, slots: vec![0; 1 << lg_slots], count: 0 }
    }

    fn insert(&mut self, coupon: u32) {
        let mask = (1u32 << self.lg_slots) - 1;
        let stride = ((coupon & KEY_MASK) >> self.lg_slots) | 1;
        let mut place = coupon & mask;
        loop {
            let slot = &mut self.slots[place as usize];
            if *slot == coupon {
                return;
            }
            if *slot == 0 {
                *slot = coupon;
                self.count += 1;
                return;
            }
            place = (place + stride) & mask;
        }
    }

    fn is_full(&self) -> bool {
        4 * self.count > 3 * self.slots.len()
    }

    fn grown(&self) -> Self {
        let mut table = Self::new(self.lg_slots + 1);
        self.coupons().for_each(|coupon| table.insert(coupon));
        table
    }

    fn coupons(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().copied().filter(|coupon| *coupon != 0)
    }
}

fn coupon(bytes: &[u8]) -> u32 {
    let (low, high) = murmur::hash(bytes, SEED);
    let value = high.leading_zeros().min(62) + 1;
    (value << 26) | (low as u32 & KEY_MASK)
}

impl Hll {
    pub fn new(lg_size: u8) -> Self {
        Self { lg_size, mode: Mode::List(Vec::new()) }
    }

    /// The logarithm of the number of registers.
    pub fn lg_size(&self) -> u8 {
        self.lg_size
    }

    fn is_empty(&self) -> bool {
        matches!(&self.mode, Mode::List(coupons) if coupons.is_empty())
    }

    /// Takes in the bytes of a value.
    pub fn update(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Mode::Array(sketch) = &mut self.mode {
            sketch.update(raw_bytes::from_slice(bytes));
            return Ok(());
        }
        self.insert(coupon(bytes))
    }

    fn insert(&mut self, coupon: u32) -> Result<(), Error> {
        match &mut self.mode {
            Mode::List(coupons) => {
                if coupons.contains(&coupon) {
                    return Ok(());
                }
                coupons.push(coupon);
                if coupons.len() < LIST_SIZE {
                    return Ok(());
                }
                if self.lg_size >= 8 {
                    let mut table = Table::new(LG_FIRST_TABLE);
                    coupons.iter().for_each(|coupon| table.insert(*coupon));
                    self.mode = Mode::Table(table);
                    return Ok(());
                }
                coupons.pop();
            }
            Mode::Table(table) => {
                if table.lg_slots + 3 < self.lg_size || 4 * (table.count + 1) <= 3 * table.slots.len() {
                    table.insert(coupon);
                    if table.is_full() {
                        *table = table.grown();
                    }
                    return Ok(());
                }
                if table.coupons().any(|known| known == coupon) {
                    return Ok(());
                }
            }
            Mode::Array(_) => {}
        }
        let mut single = Self::new(self.lg_size);
        single.mode = Mode::List(vec![coupon]);
        self.merge_in_crate(&single)
    }

    fn merge_in_crate(&mut self, other: &Self) -> Result<(), Error> {
        let mut union = HllUnion::new(self.lg_size)?;
        union.update(&self.sketch()?);
        union.update(&other.sketch()?);
        let sketch = union.to_sketch(HllType::Hll8);
        self.lg_size = sketch.lg_config_k();
        self.mode = Mode::Array(sketch);
        Ok(())
    }

    /// Takes in another sketch.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        if other.is_empty() {
            return Ok(());
        }
        if matches!(self.mode, Mode::Array(_)) || matches!(other.mode, Mode::Array(_)) {
            return self.merge_in_crate(other);
        }
        if self.is_empty() && self.lg_size == other.lg_size {
            *self = other.clone();
            return Ok(());
        }
        match &other.mode {
            Mode::List(coupons) => coupons.iter().try_for_each(|coupon| self.take(*coupon)),
            Mode::Table(table) => table.coupons().try_for_each(|coupon| self.take(coupon)),
            Mode::Array(_) => Ok(()),
        }
    }

    fn take(&mut self, coupon: u32) -> Result<(), Error> {
        if matches!(self.mode, Mode::Array(_)) {
            let mut single = Self::new(self.lg_size);
            single.mode = Mode::List(vec![coupon]);
            return self.merge_in_crate(&single);
        }
        self.insert(coupon)
    }

    /// About how many different values were taken in.
    pub fn estimate(&self) -> Result<f64, Error> {
        Ok(self.sketch()?.estimate())
    }

    fn sketch(&self) -> Result<HllSketch, Error> {
        match &self.mode {
            Mode::Array(sketch) => Ok(sketch.clone()),
            _ => HllSketch::deserialize(&self.serialize()),
        }
    }

    /// The updatable bytes.
    pub fn serialize(&self) -> Vec<u8> {
        match &self.mode {
            Mode::List(coupons) => {
                let flags = if coupons.is_empty() { FLAG_EMPTY } else { 0 };
                let mut bytes = vec![2, 1, FAMILY, self.lg_size, 3, flags, coupons.len() as u8, TYPE_8 | MODE_LIST];
                coupons.iter().for_each(|coupon| bytes.extend_from_slice(&coupon.to_le_bytes()));
                bytes.resize(8 + 4 * LIST_SIZE, 0);
                bytes
            }
            Mode::Table(table) => {
                let mut bytes = vec![3, 1, FAMILY, self.lg_size, table.lg_slots, 0, 0, TYPE_8 | MODE_TABLE];
                bytes.extend_from_slice(&(table.count as u32).to_le_bytes());
                table.slots.iter().for_each(|slot| bytes.extend_from_slice(&slot.to_le_bytes()));
                bytes
            }
            Mode::Array(sketch) => with_least_register(sketch.serialize()),
        }
    }

    /// A sketch from its bytes, of any form.
    pub fn deserialize(bytes: &[u8]) -> Option<Self> {
        let [_, 1, FAMILY, lg_size @ 4..=21, lg_slots, flags, count, mode, rest @ ..] = bytes else { return None };
        let is_compact = flags & FLAG_COMPACT != 0;
        let coupons = |bytes: &[u8], count: usize| -> Option<Vec<u32>> {
            let (chunks, _) = bytes.get(..4 * count)?.as_chunks::<4>();
            Some(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect())
        };
        let mode = match mode & 3 {
            MODE_LIST => {
                let count = usize::from(*count);
                let coupons = coupons(rest, count)?;
                if count > LIST_SIZE || coupons.contains(&0) {
                    return None;
                }
                Mode::List(coupons)
            }
            MODE_TABLE => {
                let lg_slots = (*lg_slots).clamp(LG_FIRST_TABLE, 21);
                let (count, rest) = rest.split_first_chunk::<4>()?;
                let count = u32::from_le_bytes(*count) as usize;
                if 4 * count > 3 << lg_slots {
                    return None;
                }
                let mut table = Table::new(lg_slots);
                if is_compact {
                    coupons(rest, count)?.into_iter().filter(|c| *c != 0).for_each(|c| table.insert(c));
                } else {
                    table.slots = coupons(rest, 1 << lg_slots)?;
                    table.count = table.coupons().count();
                }
                if table.count != count {
                    return None;
                }
                Mode::Table(table)
            }
            MODE_ARRAY => Mode::Array(HllSketch::deserialize(&without_least_register(bytes)).ok()?),
            _ => return None,
        };
        Some(Self { lg_size: *lg_size, mode })
    }

    /// Bytes that the sketch takes outside of itself.
    pub fn heap_size(&self) -> usize {
        match &self.mode {
            Mode::List(coupons) => 4 * coupons.capacity(),
            Mode::Table(table) => 4 * table.slots.len(),
            Mode::Array(sketch) => sketch.estimated_size(),
        }
    }
}

/// A union whose registers are all set says what the least is, and how many have it.
fn with_least_register(mut bytes: Vec<u8>) -> Vec<u8> {
    let is_union = bytes.get(5).is_some_and(|flags| flags & FLAG_OUT_OF_ORDER != 0);
    let registers = bytes.get(ARRAY_START..).unwrap_or_default();
    let least = registers.iter().copied().min().unwrap_or(0);
    if is_union && least > 0 {
        let count = registers.iter().filter(|register| **register == least).count() as u32;
        bytes[6] = least;
        bytes[32..36].copy_from_slice(&count.to_le_bytes());
    }
    bytes
}

/// The same array with a least register of 0, as the crate reads it.
fn without_least_register(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let is_8 = bytes.get(7).is_some_and(|mode| mode & 0b1100 == TYPE_8);
    if is_8 && bytes.len() > ARRAY_START && bytes[6] > 0 {
        bytes[6] = 0;
        bytes[32..36].copy_from_slice(&0u32.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::Hll;

    fn sketch(lg_size: u8, values: impl Iterator<Item = i64>) -> Hll {
        let mut sketch = Hll::new(lg_size);
        values.for_each(|value| sketch.update(&value.to_le_bytes()).unwrap());
        sketch
    }

    fn hex(sketch: &Hll) -> String {
        hex::encode_upper(sketch.serialize())
    }

    #[test]
    fn lists_tables_and_arrays_have_the_bytes_of_the_reference() {
        let list = "0201070C030003082BF2FB06862FF90D758166070000000000000000000000000000000000000000";
        assert_eq!(hex(&sketch(12, [1, 1, 2, 3].into_iter())), list);
        let table = concat!(
            "0301070805000009140000000000000081BC5D0600000000CEF05B1F6EC5340600000000862FF90D00000000C87A2404",
            "DB522D04000000002BF2FB0600000000B05B4612AE3C881100000000C1E9170500000000D21673070000000034A2610E",
            "75816607F671F20600000000B83FF907464AB704000000007B65E608FC2D420AC3DD5104000000007C74B907"
        );
        assert_eq!(hex(&sketch(8, 1..=20)), table);
        let array = concat!(
            "0A0107060000000A68580AE8A53232400000000000B14A40000000000000000030000000000000000001000100000300",
            "010000000000070000000100000000000000000100000000000000000000000000000001000004000400000003010100",
            "0100000202000000"
        );
        assert_eq!(hex(&sketch(6, 1..=20)), array);
    }

    #[test]
    fn sketches_come_back_from_their_bytes() {
        for sketch in [sketch(12, 0..0), sketch(12, 0..5), sketch(12, 0..200), sketch(5, 0..1000)] {
            let bytes = sketch.serialize();
            assert_eq!(Hll::deserialize(&bytes).unwrap().serialize(), bytes);
        }
        assert!(Hll::deserialize(&[1, 2]).is_none());
    }

    #[test]
    fn unions_have_the_smaller_size_and_name_their_least_register() {
        let mut union = Hll::new(6);
        union.merge(&sketch(7, 0..300)).unwrap();
        union.merge(&sketch(6, 1000..1300)).unwrap();
        let expected = concat!(
            "0A0107060010010A00000000000000000000000080751040000000000000000001000000000000000A04010702040408",
            "0405050502040B0703020508050406060508040705030606040403050804050502040503050605050404050504030602",
            "0608070407040407"
        );
        assert_eq!(hex(&union), expected);
    }
}
