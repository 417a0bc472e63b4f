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
        Self { out: vec![0x80, 4], memo: 0 }
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
        if let Ok(byte) = u8::try_from(value) {
            self.out.extend_from_slice(&[b'K', byte]);
        } else if let Ok(short) = u16::try_from(value) {
            self.out.push(b'M');
            self.out.extend_from_slice(&short.to_le_bytes());
        } else if let Ok(small) = i32::try_from(value) {
            self.out.push(b'J');
            self.out.extend_from_slice(&small.to_le_bytes());
        } else {
            self.out.extend_from_slice(&[0x8a, 8]);
            self.out.extend_from_slice(&value.to_le_bytes());
        }
    }

    pub fn float(&mut self, value: f64) {
        self.out.push(b'G');
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    pub fn text(&mut self, value: &str) {
        self.sized(0x8c, b'X', value.as_bytes());
    }

    pub fn bytes(&mut self, value: &[u8]) {
        self.sized(b'C', b'B', value);
    }

    /// A value behind its length, which takes one byte or four.
    fn sized(&mut self, short: u8, long: u8, value: &[u8]) {
        match u8::try_from(value.len()) {
            Ok(length) => self.out.extend_from_slice(&[short, length]),
            Err(_) => {
                self.out.push(long);
                self.out.extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_le_bytes());
            }
        }
        self.out.extend_from_slice(value);
    }

    /// The bytes so far.
    pub fn size(&self) -> usize {
        self.out.len()
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

    /// Begins a tuple of so many values.
    pub fn open_tuple(&mut self, count: usize) {
        if count > 3 {
            self.mark();
        }
    }

    /// Makes a tuple of the last values, so many as were announced.
    pub fn close_tuple(&mut self, count: usize) {
        self.out.push(match count {
            0 => b')',
            1 => 0x85,
            2 => 0x86,
            3 => 0x87,
            _ => b't',
        });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pickle::{Node, Pickle};

    #[test]
    fn values_come_back() {
        let numbers = [0, 255, 256, 65_535, 65_536, -1, i64::from(i32::MIN), i64::MAX, i64::MIN];
        let long = "x".repeat(300);
        let mut writer = PickleWriter::new();
        writer.list();
        writer.mark();
        for count in 0..5 {
            writer.open_tuple(count);
            numbers.iter().take(count).for_each(|number| writer.int(*number));
            writer.close_tuple(count);
        }
        numbers.iter().for_each(|number| writer.int(*number));
        writer.text("é");
        writer.text(&long);
        writer.bytes(b"b");
        writer.appends();
        let bytes = writer.finish();
        let pickle = Pickle::read(&bytes).unwrap();
        let Node::List(items) = pickle.node(pickle.root()) else { panic!("no list") };
        for (count, item) in items.iter().take(5).enumerate() {
            assert!(matches!(pickle.node(*item), Node::Tuple(values) if values.len() == count), "{count}");
        }
        for (number, item) in numbers.iter().zip(&items[5..]) {
            assert_eq!(pickle.node(*item), &Node::Int(*number));
        }
        let texts: Vec<_> = items[14..16].iter().map(|id| pickle.node(*id).clone()).collect();
        let [Node::Text(first), Node::Text(second)] = &texts[..] else { panic!("no texts") };
        assert_eq!((pickle.text(first).as_ref(), pickle.text(second).as_ref()), ("é", long.as_str()));
        assert!(matches!(pickle.node(items[16]), Node::Bytes(range) if pickle.slice(range) == b"b"));
    }
}
