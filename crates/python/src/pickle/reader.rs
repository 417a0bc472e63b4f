//! Reads pickles as data: nothing is called, objects of classes stay descriptions.

use crate::wire::broken;
use firesteel_error::Result;
use num_bigint::BigInt;
use std::collections::HashMap;
use std::ops::Range;

/// A value within a pickle, by position.
pub type Id = u32;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    None,
    Bool(bool),
    Int(i64),
    Big(BigInt),
    Float(f64),
    /// Text, as its place in the bytes.
    Text(Range<usize>),
    Bytes(Range<usize>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Set(Vec<Id>),
    /// A class or function: `module.name`.
    Class(String),
    /// What a call of a class with arguments would give.
    Object {
        class: Id,
        arguments: Vec<Id>,
    },
}

/// A pickle's values.
#[derive(Debug)]
pub struct Pickle<'a> {
    bytes: &'a [u8],
    nodes: Vec<Node>,
    root: Id,
}

impl<'a> Pickle<'a> {
    /// Reads one pickle.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut machine = Machine {
            bytes,
            position: 0,
            nodes: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            sparse: HashMap::new(),
        };
        let root = machine.run()?;
        Ok(Self { bytes, nodes: machine.nodes, root })
    }

    /// The whole value.
    pub fn root(&self) -> Id {
        self.root
    }

    /// A value.
    pub fn node(&self, id: Id) -> &Node {
        self.nodes.get(id as usize).unwrap_or(&Node::None)
    }

    /// The bytes of a text or of bytes.
    pub fn slice(&self, range: &Range<usize>) -> &'a [u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// A text.
    pub fn text(&self, range: &Range<usize>) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.slice(range))
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    position: usize,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: Vec<Id>,
    /// What is noted under numbers that do not follow each other.
    sparse: HashMap<u32, Id>,
}

impl Machine<'_> {
    fn run(&mut self) -> Result<Id> {
        loop {
            let [code] = self.array()?;
            if code == b'.' {
                return self.pop();
            }
            if !(self.constant(code)? || self.container(code)? || self.object(code)?) {
                return Err(broken(format!("a pickle with the operation {code:#x}")));
            }
        }
    }

    /// Numbers, texts, bytes.
    fn constant(&mut self, code: u8) -> Result<bool> {
        let node = match code {
            b'N' => Node::None,
            0x88 => Node::Bool(true),
            0x89 => Node::Bool(false),
            b'J' => Node::Int(i64::from(i32::from_le_bytes(self.array()?))),
            b'K' => Node::Int(i64::from(self.array::<1>()?[0])),
            b'M' => Node::Int(i64::from(u16::from_le_bytes(self.array()?))),
            0x8a => {
                let length = self.length(1)?;
                self.long(length)?
            }
            0x8b => {
                let length = self.length(4)?;
                self.long(length)?
            }
            b'G' => Node::Float(f64::from_be_bytes(self.array()?)),
            0x8c => Node::Text(self.range(1)?),
            b'X' => Node::Text(self.range(4)?),
            0x8d => Node::Text(self.range(8)?),
            b'C' => Node::Bytes(self.range(1)?),
            b'B' => Node::Bytes(self.range(4)?),
            0x8e | 0x96 => Node::Bytes(self.range(8)?),
            _ => return Ok(false),
        };
        self.push(node);
        Ok(true)
    }

    /// Lists, tuples, dicts, sets, the memo.
    fn container(&mut self, code: u8) -> Result<bool> {
        match code {
            0x80 => drop(self.array::<1>()?),
            0x95 => drop(self.array::<8>()?),
            b'(' => self.marks.push(self.stack.len()),
            b']' => self.push(Node::List(Vec::new())),
            b'}' => self.push(Node::Dict(Vec::new())),
            0x8f => self.push(Node::Set(Vec::new())),
            b')' => self.push(Node::Tuple(Vec::new())),
            b'a' => {
                let item = self.pop()?;
                self.extend(vec![item])?;
            }
            b'e' | 0x90 => {
                let items = self.since_mark()?;
                self.extend(items)?;
            }
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.extend(vec![key, value])?;
            }
            b'u' => {
                let items = self.since_mark()?;
                self.extend(items)?;
            }
            b't' => {
                let items = self.since_mark()?;
                self.push(Node::Tuple(items));
            }
            b'l' => {
                let items = self.since_mark()?;
                self.push(Node::List(items));
            }
            0x91 => {
                let items = self.since_mark()?;
                self.push(Node::Set(items));
            }
            0x85..=0x87 => {
                let count = usize::from(code - 0x84);
                let at = self.stack.len().checked_sub(count).ok_or_else(|| broken("a pickle without its values"))?;
                let items = self.stack.split_off(at);
                self.push(Node::Tuple(items));
            }
            b'q' => {
                let slot = u32::from(self.array::<1>()?[0]);
                self.remember(slot)?;
            }
            b'r' => {
                let slot = u32::from_le_bytes(self.array()?);
                self.remember(slot)?;
            }
            0x94 => {
                let slot = u32::try_from(self.memo.len() + self.sparse.len()).unwrap_or(u32::MAX);
                self.remember(slot)?;
            }
            b'h' => {
                let slot = u32::from(self.array::<1>()?[0]);
                self.recall(slot)?;
            }
            b'j' => {
                let slot = u32::from_le_bytes(self.array()?);
                self.recall(slot)?;
            }
            b'0' => drop(self.pop()?),
            b'1' => drop(self.since_mark()?),
            b'2' => {
                let top = *self.stack.last().ok_or_else(|| broken("a pickle without its values"))?;
                self.stack.push(top);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Classes and what they would make.
    fn object(&mut self, code: u8) -> Result<bool> {
        match code {
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Node::Class(format!("{module}.{name}")));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let class = format!("{}.{}", self.text_of(module), self.text_of(name));
                self.push(Node::Class(class));
            }
            b'R' | 0x81 => {
                let arguments = self.pop()?;
                self.make(arguments)?;
            }
            0x92 => {
                let _keywords = self.pop()?;
                let arguments = self.pop()?;
                self.make(arguments)?;
            }
            b'b' => drop(self.pop()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn make(&mut self, arguments: Id) -> Result<()> {
        let class = self.pop()?;
        let arguments = match self.nodes.get(arguments as usize) {
            Some(Node::Tuple(items)) => items.clone(),
            _ => vec![arguments],
        };
        self.push(Node::Object { class, arguments });
        Ok(())
    }

    fn text_of(&self, id: Id) -> String {
        match self.nodes.get(id as usize) {
            Some(Node::Text(range)) => String::from_utf8_lossy(&self.bytes[range.clone()]).into_owned(),
            _ => String::new(),
        }
    }

    fn extend(&mut self, items: Vec<Id>) -> Result<()> {
        let target = *self.stack.last().ok_or_else(|| broken("a pickle without its values"))?;
        match self.nodes.get_mut(target as usize) {
            Some(Node::List(list) | Node::Set(list)) => list.extend(items),
            Some(Node::Dict(pairs)) => {
                pairs.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
            }
            // Containers of other classes keep their own items.
            Some(Node::Object { .. }) => {}
            _ => return Err(broken("a pickle that extends what is no container")),
        }
        Ok(())
    }

    fn remember(&mut self, slot: u32) -> Result<()> {
        let top = *self.stack.last().ok_or_else(|| broken("a pickle without its values"))?;
        match self.memo.get_mut(slot as usize) {
            Some(known) => *known = top,
            None if slot as usize == self.memo.len() && self.sparse.is_empty() => self.memo.push(top),
            None => drop(self.sparse.insert(slot, top)),
        }
        Ok(())
    }

    fn recall(&mut self, slot: u32) -> Result<()> {
        let id = *self
            .memo
            .get(slot as usize)
            .or_else(|| self.sparse.get(&slot))
            .ok_or_else(|| broken("a pickle without its memo"))?;
        self.stack.push(id);
        Ok(())
    }

    fn push(&mut self, node: Node) {
        self.stack.push(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
    }

    fn pop(&mut self) -> Result<Id> {
        self.stack.pop().ok_or_else(|| broken("a pickle without its values"))
    }

    fn since_mark(&mut self) -> Result<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(|| broken("a pickle without its mark"))?;
        if mark > self.stack.len() {
            return Err(broken("a pickle without its values"));
        }
        Ok(self.stack.split_off(mark))
    }

    fn take(&mut self, length: usize) -> Result<Range<usize>> {
        let end = self.position.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| broken("a pickle that ends too early"))?;
        let range = self.position..end;
        self.position = end;
        Ok(range)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let range = self.take(N)?;
        self.bytes[range].try_into().map_err(|_| broken("a pickle that ends too early"))
    }

    /// A length of 1, 4 or 8 bytes.
    fn length(&mut self, width: usize) -> Result<usize> {
        let range = self.take(width)?;
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(&self.bytes[range]);
        usize::try_from(u64::from_le_bytes(wide)).map_err(|_| broken("a pickle with a huge value"))
    }

    fn range(&mut self, width: usize) -> Result<Range<usize>> {
        let length = self.length(width)?;
        self.take(length)
    }

    fn long(&mut self, length: usize) -> Result<Node> {
        let range = self.take(length)?;
        let big = BigInt::from_signed_bytes_le(&self.bytes[range]);
        Ok(i64::try_from(&big).map_or_else(|_| Node::Big(big), Node::Int))
    }

    fn line(&mut self) -> Result<String> {
        let rest = &self.bytes[self.position..];
        let end = rest.iter().position(|b| *b == b'\n').ok_or_else(|| broken("a pickle that ends too early"))?;
        let text = String::from_utf8_lossy(&rest[..end]).into_owned();
        self.position += end + 1;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_python_is_read() {
        // pickle.dumps([(1, "a", None), [1.5, True], {"k": b"b"}, 2**70], 5)
        let bytes = b"\x80\x05\x95:\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01\x8c\x01a\x94N\x87\x94]\x94(G?\xf8\x00\x00\
            \x00\x00\x00\x00\x88e}\x94\x8c\x01k\x94C\x01b\x94s\x8a\t\x00\x00\x00\x00\x00\x00\x00\x00@e.";
        let pickle = Pickle::read(bytes).unwrap();
        let Node::List(items) = pickle.node(pickle.root()) else { panic!("no list") };
        let Node::Tuple(tuple) = pickle.node(items[0]) else { panic!("no tuple") };
        assert_eq!(pickle.node(tuple[0]), &Node::Int(1));
        let Node::Text(text) = pickle.node(tuple[1]) else { panic!("no text") };
        assert_eq!(pickle.text(text), "a");
        assert!(matches!(pickle.node(items[2]), Node::Dict(pairs) if pairs.len() == 1));
        assert!(matches!(pickle.node(items[3]), Node::Big(_)));
    }

    #[test]
    fn garbage_is_an_error() {
        for bytes in [&b""[..], b"]", b"K", b"\x8c\xffabc.", b"e.", b"h\x01.", b"\xff."] {
            assert!(Pickle::read(bytes).is_err(), "{bytes:?}");
        }
    }
}
