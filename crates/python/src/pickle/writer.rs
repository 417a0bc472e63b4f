//! Writes pickles that every Python 3 reads.

/// Appends values to a pickle.
#[derive(Debug, Default)]
pub struct PickleWriter {
    out: Vec<u8>,
    memo: u32,
}

impl PickleWriter {
    /// Begins a pickle.
    pub fn new() -> Self {
        Self { out: vec![0x80, 3], memo: 0 }
    }

    /// The pickle, ended.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.push(b'.');
        self.out
    }

    pub fn none(&mut self) {
        self.out.push(b'N');
    }

    pub fn bool(&mut self, value: bool) {
        self.out.push(if value { 0x88 } else { 0x89 });
    }

    pub fn int(&mut self, value: i64) {
        match i32::try_from(value) {
            Ok(small) => {
                self.out.push(b'J');
                self.out.extend_from_slice(&small.to_le_bytes());
            }
            Err(_) => {
                self.out.extend_from_slice(&[0x8a, 8]);
                self.out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    pub fn float(&mut self, value: f64) {
        self.out.push(b'G');
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    pub fn text(&mut self, value: &str) {
        self.out.push(b'X');
        self.sized(value.as_bytes());
    }

    pub fn bytes(&mut self, value: &[u8]) {
        self.out.push(b'B');
        self.sized(value);
    }

    fn sized(&mut self, value: &[u8]) {
        self.out.extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.out.extend_from_slice(value);
    }

    /// Values up to the end of a list or tuple follow.
    pub fn mark(&mut self) {
        self.out.push(b'(');
    }

    /// An empty list, to which [`Self::appends`] adds.
    pub fn list(&mut self) {
        self.out.push(b']');
    }

    /// Adds the values since the mark to the list before it.
    pub fn appends(&mut self) {
        self.out.push(b'e');
    }

    /// An empty dict, to which [`Self::set_items`] adds.
    pub fn dict(&mut self) {
        self.out.push(b'}');
    }

    /// Adds keys and values since the mark to the dict before it.
    pub fn set_items(&mut self) {
        self.out.push(b'u');
    }

    /// A tuple of the values since the mark.
    pub fn tuple(&mut self) {
        self.out.push(b't');
    }

    /// A tuple of the last value.
    pub fn tuple_of_one(&mut self) {
        self.out.push(0x85);
    }

    /// A class or function by name.
    pub fn global(&mut self, module: &str, name: &str) {
        self.out.push(b'c');
        self.out.extend_from_slice(module.as_bytes());
        self.out.push(b'\n');
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'\n');
    }

    /// Calls the last value but one with the tuple that is the last.
    pub fn reduce(&mut self) {
        self.out.push(b'R');
    }

    /// Notes the last value; the number recalls it.
    pub fn remember(&mut self) -> u32 {
        let slot = self.memo;
        self.memo += 1;
        self.out.push(b'r');
        self.out.extend_from_slice(&slot.to_le_bytes());
        slot
    }

    /// A value that was noted.
    pub fn recall(&mut self, slot: u32) {
        self.out.push(b'j');
        self.out.extend_from_slice(&slot.to_le_bytes());
    }

    /// Takes the last value away.
    pub fn pop(&mut self) {
        self.out.push(b'0');
    }
}
