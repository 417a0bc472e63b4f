//! A bounded memory of what is gone.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The last keys that were buried, each with a note.
#[derive(Debug)]
pub struct Tombstones<K, V> {
    notes: HashMap<K, V>,
    order: VecDeque<K>,
    capacity: usize,
}

impl<K: Clone + Eq + Hash, V: Copy> Tombstones<K, V> {
    /// Remembers up to `capacity` keys.
    pub fn new(capacity: usize) -> Self {
        Self { notes: HashMap::new(), order: VecDeque::new(), capacity }
    }

    /// Remembers a key, and forgets the oldest if there are too many.
    pub fn insert(&mut self, key: K, note: V) {
        if self.notes.insert(key.clone(), note).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > self.capacity {
            if let Some(oldest) = self.order.pop_front() {
                self.notes.remove(&oldest);
            }
        }
    }

    /// The note of a key that is remembered.
    pub fn get(&self, key: &K) -> Option<V> {
        self.notes.get(key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten() {
        let mut tombstones = Tombstones::new(2);
        for (key, note) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] {
            tombstones.insert(key, note);
        }
        assert_eq!([tombstones.get(&"a"), tombstones.get(&"b"), tombstones.get(&"c")], [None, Some(2), Some(4)]);
    }
}
