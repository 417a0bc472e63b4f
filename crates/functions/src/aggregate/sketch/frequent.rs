//! Sketches of frequent items, with the layout of DataSketches' for Java.
//!
//! The order of items of one count follows from the table's layout, and so does what a
//! full table forgets; hence the table is like the reference's.

use super::murmur;

const LG_LEAST_SLOTS: u8 = 3;
/// A full table looks at so many counts to find the median.
const MOST_SAMPLES: usize = 1024;
const FAMILY: u8 = 10;
const FLAG_EMPTY: u8 = 5;

/// The code of a value in Java, from its bytes.
pub type HashCode = fn(&[u8]) -> i32;

#[derive(Debug, Clone, Default)]
struct Slot {
    item: Box<[u8]>,
    count: i64,
    /// How far the item lies from its place, from 1 on; 0: the slot is free.
    drift: usize,
}

/// Items, as bytes, with their counts.
#[derive(Debug, Clone)]
pub struct Frequent {
    lg_most: u8,
    slots: Vec<Slot>,
    active: usize,
    /// What every count may be too low by.
    offset: i64,
    weight: i64,
    hash_code: HashCode,
}

impl Frequent {
    pub fn new(lg_most: u8, hash_code: HashCode) -> Self {
        let slots = vec![Slot::default(); 1 << LG_LEAST_SLOTS];
        Self { lg_most: lg_most.max(LG_LEAST_SLOTS), slots, active: 0, offset: 0, weight: 0, hash_code }
    }

    fn mask(&self) -> usize {
        self.slots.len() - 1
    }

    fn capacity(slots: usize) -> usize {
        slots * 3 / 4
    }

    fn put(&mut self, item: &[u8], count: i64) {
        let mask = self.mask();
        let code = i64::from((self.hash_code)(item)) as u64;
        let mut place = murmur::finish(code) as usize & mask;
        let mut drift = 1;
        while self.slots[place].drift != 0 && *self.slots[place].item != *item {
            place = (place + 1) & mask;
            drift += 1;
        }
        let slot = &mut self.slots[place];
        if slot.drift == 0 {
            *slot = Slot { item: item.into(), count, drift };
            self.active += 1;
        } else {
            slot.count += count;
        }
    }

    /// Takes in an item, that many times.
    pub fn update(&mut self, item: &[u8], count: i64) {
        if count == 0 {
            return;
        }
        self.weight += count;
        self.put(item, count);
        if self.active <= Self::capacity(self.slots.len()) {
            return;
        }
        if self.slots.len() < 1 << self.lg_most {
            let slots = vec![Slot::default(); 2 * self.slots.len()];
            let old = std::mem::replace(&mut self.slots, slots);
            self.active = 0;
            old.iter().filter(|slot| slot.drift != 0).for_each(|slot| self.put(&slot.item, slot.count));
        } else {
            self.offset += self.purge();
        }
    }

    /// Lowers all counts by their median, and forgets those that are not left.
    fn purge(&mut self) -> i64 {
        let samples = MOST_SAMPLES.min(Self::capacity(1 << self.lg_most)).min(self.active);
        let mut counts: Vec<i64> =
            self.slots.iter().filter(|slot| slot.drift != 0).take(samples).map(|slot| slot.count).collect();
        let middle = counts.len() / 2;
        let (_, median, _) = counts.select_nth_unstable(middle);
        let median = *median;
        self.slots.iter_mut().filter(|slot| slot.drift != 0).for_each(|slot| slot.count -= median);
        let last = self.slots.len();
        let free = self.slots.iter().rposition(|slot| slot.drift == 0).unwrap_or(0);
        for place in (0..free).rev().chain((free..last).rev()) {
            if self.slots[place].drift != 0 && self.slots[place].count <= 0 {
                self.remove(place);
                self.active -= 1;
            }
        }
        median
    }

    fn remove(&mut self, mut hole: usize) {
        let mask = self.mask();
        self.slots[hole].drift = 0;
        let mut drift = 1;
        let mut place = (hole + drift) & mask;
        while self.slots[place].drift != 0 {
            if self.slots[place].drift > drift {
                let mut moved = std::mem::take(&mut self.slots[place]);
                moved.drift -= drift;
                self.slots[hole] = moved;
                drift = 0;
                hole = place;
            }
            place = (place + 1) & mask;
            drift += 1;
        }
    }

    /// The used slots in the order that the reference walks them.
    fn walk(&self) -> impl Iterator<Item = &Slot> {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let stride = (self.slots.len() as f64 * GOLDEN) as usize | 1;
        let mask = self.mask();
        (0..self.slots.len()).map(move |step| &self.slots[(step * stride) & mask]).filter(|slot| slot.drift != 0)
    }

    /// Takes in another sketch.
    pub fn merge(&mut self, other: &Self) {
        let weight = self.weight + other.weight;
        for slot in other.walk() {
            self.update(&slot.item, slot.count);
        }
        self.offset += other.offset;
        self.weight = weight;
    }

    /// The items that certainly are frequent with their estimated counts, the most frequent first.
    pub fn frequent_items(&self) -> Vec<(&[u8], i64)> {
        let mut items: Vec<(&[u8], i64)> = self
            .walk()
            .filter(|slot| slot.count > self.offset)
            .map(|slot| (&*slot.item, slot.count + self.offset))
            .collect();
        items.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        items
    }

    /// The bytes, but for the items: those come at the end, in the order of the result.
    pub fn serialize(&self) -> (Vec<u8>, Vec<&[u8]>) {
        let lg_slots = self.slots.len().trailing_zeros() as u8;
        if self.active == 0 {
            return (vec![1, 1, FAMILY, self.lg_most, lg_slots, FLAG_EMPTY, 0, 0], Vec::new());
        }
        let mut bytes = vec![4, 1, FAMILY, self.lg_most, lg_slots, 0, 0, 0];
        bytes.extend_from_slice(&(self.active as u64).to_le_bytes());
        bytes.extend_from_slice(&self.weight.to_le_bytes());
        bytes.extend_from_slice(&self.offset.to_le_bytes());
        let used = || self.slots.iter().filter(|slot| slot.drift != 0);
        used().for_each(|slot| bytes.extend_from_slice(&slot.count.to_le_bytes()));
        (bytes, used().map(|slot| &*slot.item).collect())
    }

    /// A sketch from its bytes; `items` reads that many items from the end of them.
    pub fn deserialize(
        bytes: &[u8],
        hash_code: HashCode,
        items: impl FnOnce(&[u8], usize) -> Option<Vec<Box<[u8]>>>,
    ) -> Option<Self> {
        let [longs, 1, FAMILY, lg_most @ ..=26, lg_slots @ 3..=26, _, _, _, rest @ ..] = bytes else { return None };
        let mut sketch = Self::new(*lg_most, hash_code);
        sketch.slots = vec![Slot::default(); 1 << lg_slots];
        if *longs == 1 {
            return Some(sketch);
        }
        let (numbers, _) = rest.as_chunks::<8>();
        let [active, weight, offset, counts @ ..] = numbers else { return None };
        let active = (u64::from_le_bytes(*active) & u64::from(u32::MAX)) as usize;
        let counts = counts.get(..active)?;
        let items = items(rest.get(8 * (3 + active)..)?, active)?;
        for (item, count) in items.iter().zip(counts) {
            sketch.update(item, i64::from_le_bytes(*count));
        }
        sketch.weight = i64::from_le_bytes(*weight);
        sketch.offset = i64::from_le_bytes(*offset);
        Some(sketch)
    }

    /// Bytes that the sketch takes outside of itself.
    pub fn heap_size(&self) -> usize {
        let items: usize = self.slots.iter().map(|slot| slot.item.len()).sum();
        self.slots.len() * size_of::<Slot>() + items
    }
}

#[cfg(test)]
mod tests {
    use super::Frequent;

    fn hash_code(bytes: &[u8]) -> i32 {
        i32::from_le_bytes(bytes.try_into().unwrap())
    }

    #[test]
    fn items_of_one_count_come_in_the_order_of_the_reference() {
        let mut sketch = Frequent::new(14, hash_code);
        for item in [0i32, 0, 1, 1, 2, 3, 4, 4] {
            sketch.update(&item.to_le_bytes(), 1);
        }
        let items: Vec<(i32, i64)> =
            sketch.frequent_items().into_iter().map(|(item, count)| (hash_code(item), count)).collect();
        assert_eq!(items, [(0, 2), (4, 2), (1, 2), (2, 1), (3, 1)]);
        let (_, stored) = sketch.serialize();
        assert_eq!(stored.into_iter().map(hash_code).collect::<Vec<_>>(), [0, 1, 4, 3, 2]);
    }
}
