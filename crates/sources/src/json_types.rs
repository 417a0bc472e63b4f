//! Types of JSON records, merged while the text is read, in parts of files side by side.

use crate::blocks::Blocks;
use crate::csv::{ParseMode, malformed};
use crate::json::JsonOptions;
use crate::json_bytes::Cursor;
use crate::lines::text;
use crate::listing::DataFile;
use crate::records::FilePart;
use firesteel_error::{Result, SparkError};
use firesteel_functions::scalar::json::reader::{Json, Malformed, Reader, Token};
use firesteel_functions::scalar::json::schema_of_json::compatible;
use firesteel_types::{DataType, StructField};
use std::borrow::Cow;
use std::collections::HashMap;

/// How deep values may nest that are read without their reader.
const MOST_DEPTH: usize = 64;

/// A type so far.
#[derive(Debug)]
enum Node {
    Leaf(DataType),
    Array(Box<Node>),
    Object(Fields),
}

/// The fields of all objects at a place.
#[derive(Debug, Default)]
struct Fields {
    entries: Vec<Entry>,
    places: HashMap<String, usize>,
    /// How many objects there were.
    visits: u64,
}

#[derive(Debug)]
struct Entry {
    name: String,
    /// `"name":`, as most objects have it.
    key: Vec<u8>,
    node: Node,
    /// The last object that had it.
    visit: u64,
}

/// Why a record's types were not merged as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Malformed,
    /// A name comes twice in an object, which types of objects can tell and nodes cannot.
    Doubled,
}

impl From<Malformed> for Trouble {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl Fields {
    /// The entry of the name at a place of an object.
    #[inline]
    fn entry(&mut self, name: &str, place: usize) -> &mut Entry {
        let is_here = self.entries.get(place).is_some_and(|entry| entry.name == name);
        let place = if is_here { place } else { self.place(name) };
        &mut self.entries[place]
    }

    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.entries.len();
        let key = format!("\"{name}\":").into_bytes();
        self.entries.push(Entry { name: name.to_string(), key, node: Node::Leaf(DataType::Null), visit: 0 });
        self.places.insert(name.to_string(), place);
        place
    }
}

impl Fields {
    /// The entry of the name that comes next in bytes, which is expected at a place.
    #[inline]
    fn entry_of(&mut self, cursor: &mut Cursor<'_>, place: usize) -> Option<&mut Entry> {
        let is_here = self.entries.get(place).is_some_and(|entry| cursor.takes(&entry.key));
        if is_here {
            cursor.blanks();
            return self.entries.get_mut(place);
        }
        let name = cursor.quoted()?.unescaped()?;
        cursor.colon()?;
        Some(self.entry(std::str::from_utf8(&name).ok()?, place))
    }
}

impl Node {
    /// Makes a leaf hold values of a type too.
    fn join(&mut self, found: DataType) {
        match self {
            _ if found.is_null() => {}
            Self::Leaf(known) => *known = compatible(known.clone(), found),
            _ => *self = Self::Leaf(DataType::STRING),
        }
    }

    fn is_new(&self) -> bool {
        matches!(self, Self::Leaf(DataType::Null))
    }

    fn to_type(&self) -> DataType {
        match self {
            Self::Leaf(data_type) => data_type.clone(),
            Self::Array(element) => DataType::array(element.to_type(), true),
            Self::Object(fields) => {
                let mut found: Vec<StructField> = fields
                    .entries
                    .iter()
                    .map(|entry| StructField::new(entry.name.as_str(), entry.node.to_type(), true))
                    .collect();
                found.sort_by(|a, b| a.name.cmp(&b.name));
                DataType::struct_of(found)
            }
        }
    }
}

/// Merges types of values.
struct Merger<'o> {
    options: &'o JsonOptions,
    /// True where whole numbers and texts need no look at the options.
    is_plain: bool,
}

impl Merger<'_> {
    fn value(&self, node: &mut Node, reader: &mut Reader<'_>, token: &Token<'_>) -> std::result::Result<(), Trouble> {
        match token {
            Token::StartObject => {
                if node.is_new() {
                    *node = Node::Object(Fields::default());
                }
                let Node::Object(fields) = node else {
                    *node = Node::Leaf(DataType::STRING);
                    return Ok(reader.skip(token)?);
                };
                self.object(fields, reader)
            }
            Token::StartArray => {
                if node.is_new() {
                    *node = Node::Array(Box::new(Node::Leaf(DataType::Null)));
                }
                let Node::Array(element) = node else {
                    *node = Node::Leaf(DataType::STRING);
                    return Ok(reader.skip(token)?);
                };
                loop {
                    match reader.token()? {
                        Token::EndArray => return Ok(()),
                        token => self.value(element, reader, &token)?,
                    }
                }
            }
            scalar => self.scalar(node, scalar),
        }
    }

    fn object(&self, fields: &mut Fields, reader: &mut Reader<'_>) -> std::result::Result<(), Trouble> {
        fields.visits += 1;
        let visit = fields.visits;
        let mut place = 0;
        loop {
            let name = match reader.token()? {
                Token::Name(name) => name,
                Token::EndObject => return Ok(()),
                _ => return Err(Trouble::Malformed),
            };
            let entry = fields.entry(&name, place);
            if std::mem::replace(&mut entry.visit, visit) == visit {
                return Err(Trouble::Doubled);
            }
            place += 1;
            let token = reader.token()?;
            self.value(&mut entry.node, reader, &token)?;
        }
    }

    #[inline]
    fn scalar(&self, node: &mut Node, token: &Token<'_>) -> std::result::Result<(), Trouble> {
        let changes_nothing = match (&*node, token) {
            (_, Token::Null) | (Node::Leaf(DataType::String(_)), _) => true,
            // 18 digits fit 64 bits.
            (Node::Leaf(DataType::Long), Token::Whole(text)) => self.is_plain && text.len() <= 18,
            (Node::Leaf(DataType::Double), Token::Fraction(_)) => self.is_plain,
            _ => false,
        };
        if changes_nothing { Ok(()) } else { self.join(node, token) }
    }

    fn join(&self, node: &mut Node, token: &Token<'_>) -> std::result::Result<(), Trouble> {
        let json = match token {
            Token::Text(text) => Json::Text(Cow::Borrowed(text)),
            Token::Whole(text) => Json::Whole(text),
            Token::Fraction(text) => Json::Fraction(text),
            Token::NonNumber(value) => Json::NonNumber(*value),
            Token::True | Token::False => Json::Boolean(*token == Token::True),
            Token::Null => Json::Null,
            _ => return Err(Trouble::Malformed),
        };
        node.join(self.options.inference().type_of(&json));
        Ok(())
    }

    /// Merges a record.
    fn record(&self, root: &mut Fields, reader: &mut Reader<'_>) -> std::result::Result<(), Trouble> {
        match reader.token()? {
            Token::End | Token::Null => Ok(()),
            Token::StartObject => self.object(root, reader),
            Token::StartArray => loop {
                match reader.token()? {
                    Token::EndArray => return Ok(()),
                    Token::StartObject => self.object(root, reader)?,
                    Token::Null => {}
                    // An array with other items is none of rows.
                    _ => return Err(Trouble::Malformed),
                }
            },
            _ => Err(Trouble::Malformed),
        }
    }

    /// Merges the plain object that bytes begin with, and gives the bytes up to its end. None for one that
    /// is not plain, of which a part may be merged already.
    #[inline]
    fn plain(&self, root: &mut Fields, bytes: &[u8], with_care: bool) -> Option<usize> {
        let mut cursor = Cursor::new(bytes);
        cursor.blanks();
        if cursor.peek()? != b'{' {
            return None;
        }
        if with_care {
            let mut ahead = cursor;
            ahead.skip()?;
        }
        self.plain_object(root, &mut cursor, 0)?;
        Some(cursor.position())
    }

    fn plain_object(&self, fields: &mut Fields, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        fields.visits += 1;
        if cursor.opens(b'}') {
            return Some(());
        }
        let visit = fields.visits;
        let mut place = 0;
        loop {
            let entry = fields.entry_of(cursor, place)?;
            if std::mem::replace(&mut entry.visit, visit) == visit {
                return None;
            }
            place += 1;
            self.plain_value(&mut entry.node, cursor, depth + 1)?;
            if !cursor.goes_on(b'}')? {
                return Some(());
            }
        }
    }

    #[inline]
    fn plain_value(&self, node: &mut Node, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        let token = match cursor.peek()? {
            b'"' => {
                let quoted = cursor.quoted()?;
                if matches!(node, Node::Leaf(DataType::String(_))) {
                    return Some(());
                }
                let text = String::from_utf8(quoted.unescaped()?.into_owned()).ok()?;
                Token::Text(Cow::Owned(text))
            }
            b'{' | b'[' if depth > MOST_DEPTH => return None,
            b'{' => {
                if node.is_new() {
                    *node = Node::Object(Fields::default());
                }
                let Node::Object(fields) = node else { return None };
                return self.plain_object(fields, cursor, depth);
            }
            b'[' => return self.plain_array(node, cursor, depth),
            b'n' => return cursor.null()?.then_some(()),
            b't' | b'f' => {
                let value = cursor.boolean()?;
                if matches!(node, Node::Leaf(DataType::String(_))) {
                    return Some(());
                }
                if value { Token::True } else { Token::False }
            }
            _ => {
                let number = cursor.number()?;
                let changes_nothing = match node {
                    Node::Leaf(DataType::String(_)) => true,
                    Node::Leaf(DataType::Long) => self.is_plain && number.is_long(),
                    Node::Leaf(DataType::Double) => self.is_plain && (number.is_long() || !number.is_whole),
                    _ => false,
                };
                if changes_nothing {
                    return Some(());
                }
                if number.is_whole { Token::Whole(number.text()) } else { Token::Fraction(number.text()) }
            }
        };
        self.join(node, &token).ok()
    }

    fn plain_array(&self, node: &mut Node, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        if node.is_new() {
            *node = Node::Array(Box::new(Node::Leaf(DataType::Null)));
        }
        let Node::Array(element) = node else { return None };
        if cursor.opens(b']') {
            return Some(());
        }
        loop {
            self.plain_value(element, cursor, depth + 1)?;
            if !cursor.goes_on(b']')? {
                return Some(());
            }
        }
    }

    /// The type of a part's records, and whether some are corrupt; None where a name comes twice.
    /// With care, what is malformed is found before any of it is merged.
    fn part(&self, part: &FilePart, with_care: bool) -> Result<Option<(DataType, bool)>> {
        let mut blocks = Blocks::open(part, &self.options.lines)?;
        let ends = blocks.line_ends();
        // A plain record holds no end of a line, unless the user says what ends lines.
        let are_usual = ends.iter().all(|end| matches!(end, b'\n' | b'\r'));
        let mut root = Fields::default();
        let mut is_corrupt = false;
        while let Some(block) = blocks.block()? {
            let end = |from: usize| {
                let rest = block.get(from..).unwrap_or_default();
                memchr::memchr2(ends[0], ends[1], rest).map_or(block.len(), |i| from + i)
            };
            let mut at = 0;
            while let Some(first) = block.get(at) {
                if ends.contains(first) {
                    at += 1;
                    continue;
                }
                if are_usual && let Some(length) = self.plain(&mut root, &block[at..], with_care) {
                    at = end(at + length) + 1;
                    continue;
                }
                let line = &block[at..end(at)];
                at += line.len() + 1;
                if line.iter().all(|b| *b <= b' ') {
                    continue;
                }
                match self.line(&mut root, line, with_care) {
                    Ok(()) => {}
                    Err(Trouble::Doubled) => return Ok(None),
                    Err(Trouble::Malformed) if !with_care => return self.part(part, true),
                    Err(Trouble::Malformed) => match self.options.mode {
                        ParseMode::Permissive => is_corrupt = true,
                        ParseMode::DropMalformed => {}
                        ParseMode::FailFast => return Err(malformed(&self.options.corrupt_column)),
                    },
                }
            }
            let used = block.len();
            blocks.take(used, 0);
        }
        Ok(Some((Node::Object(root).to_type(), is_corrupt)))
    }

    /// Merges a line of any kind.
    fn line(&self, root: &mut Fields, line: &[u8], with_care: bool) -> std::result::Result<(), Trouble> {
        let record = text(line);
        let mut reader = Reader::new(&record, self.options.leniency);
        if with_care && !is_good(&mut reader) {
            return Err(Trouble::Malformed);
        }
        reader.restart(&record);
        self.record(root, &mut reader)
    }
}

/// True for a record that can be merged.
fn is_good(reader: &mut Reader<'_>) -> bool {
    let token = match reader.token() {
        Ok(Token::StartArray) => return are_rows(reader),
        Ok(token @ (Token::End | Token::Null | Token::StartObject)) => token,
        _ => return false,
    };
    reader.skip(&token).is_ok()
}

/// True where the rest of an array is well-formed, and all items are objects.
fn are_rows(reader: &mut Reader<'_>) -> bool {
    loop {
        match reader.token() {
            Ok(Token::EndArray) => return true,
            Ok(Token::Null) => {}
            Ok(token @ Token::StartObject) if reader.skip(&token).is_ok() => {}
            _ => return false,
        }
    }
}

/// The type of all records of files of lines, and whether some are corrupt; None where it has to be found
/// record by record.
pub(crate) fn infer(files: &[DataFile], options: &JsonOptions) -> Result<Option<(DataType, bool)>> {
    let given = &options.formats.options;
    let is_plain =
        !["primitivesAsString", "prefersDecimal", "inferTimestamp"].iter().any(|name| given.flag(name, false));
    let merger = Merger { options, is_plain };
    let is_splittable = !crate::text::any_compressed(files);
    let parts = crate::parallel::parts(files, is_splittable);
    // The error tells a name that comes twice from faults of files.
    let doubled = std::sync::atomic::AtomicBool::new(false);
    let found = crate::parallel::map(&parts, |part| match merger.part(part, false)? {
        Some(found) => Ok(found),
        None => {
            doubled.store(true, std::sync::atomic::Ordering::Relaxed);
            Err(SparkError::internal("a name comes twice in an object"))
        }
    });
    if doubled.into_inner() {
        return Ok(None);
    }
    let mut all = DataType::struct_of(Vec::new());
    let mut is_corrupt = false;
    for (found, corrupt) in found? {
        all = compatible(all, found);
        is_corrupt |= corrupt;
    }
    Ok(Some((all, is_corrupt)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::options::SourceOptions;
    use firesteel_config::SqlConf;
    use firesteel_functions::scalar::json::reader::read;
    use std::io::Write;

    fn value(random: &mut impl FnMut(usize) -> usize, depth: usize) -> String {
        let scalars =
            ["1", "-7", "1.5", "1e3", "12345678901234567890", "true", "null", "\"x\"", "\"\"", "\"a\\\"b\"", "NaN"];
        match random(if depth > 2 { 4 } else { 7 }) {
            0..4 => scalars[random(scalars.len())].to_string(),
            4 => {
                let items: Vec<String> = (0..random(3)).map(|_| value(random, depth + 1)).collect();
                format!("[{}]", items.join(", "))
            }
            _ => object(random, depth + 1),
        }
    }

    fn object(random: &mut impl FnMut(usize) -> usize, depth: usize) -> String {
        let names: Vec<&str> = ["c", "a", "b"].into_iter().filter(|_| random(2) == 0).collect();
        let fields: Vec<String> = names.iter().map(|name| format!("\"{name}\": {}", value(random, depth))).collect();
        format!("{{{}}}", fields.join(","))
    }

    #[test]
    fn merged_types_are_those_of_records_in_turn() {
        let mut seed = 13_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for round in 0..2000 {
            let given = match round % 3 {
                0 => vec![],
                1 => vec![("prefersDecimal".to_string(), "true".to_string())],
                _ => vec![("primitivesAsString".to_string(), "true".to_string())],
            };
            let options = JsonOptions::new(&SourceOptions::new(&given), &given, &SqlConf::default()).unwrap();
            let records: Vec<String> = (0..1 + random(6))
                .map(|_| match random(12) {
                    0 => "{\"a\": 1, \"b\": ".to_string(),
                    1 => format!("[{}, {}]", object(&mut random, 0), value(&mut random, 0)),
                    2 => "null".to_string(),
                    _ => object(&mut random, 0),
                })
                .collect();
            let mut want = DataType::struct_of(Vec::new());
            let mut want_corrupt = false;
            for record in &records {
                let objects = match read(record, options.leniency) {
                    Ok(Some(Json::Object(fields))) => vec![Json::Object(fields)],
                    Ok(Some(Json::Array(items))) if items.iter().all(|i| matches!(i, Json::Object(_) | Json::Null)) => {
                        items
                    }
                    Ok(None | Some(Json::Null)) => continue,
                    _ => {
                        want_corrupt = true;
                        continue;
                    }
                };
                for object in objects {
                    want = compatible(want, options.inference().type_of(&object));
                }
            }
            let content = records.join("\n");
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            let size = content.len() as u64;
            let cut = random(content.len()) as u64;
            let merger = Merger { options: &options, is_plain: given.is_empty() };
            let mut found = (DataType::struct_of(Vec::new()), false);
            for (start, end) in [(0, cut), (cut, size)].into_iter().filter(|(start, end)| start < end) {
                let part = FilePart::local(file.path(), size, start..end);
                let (data_type, is_corrupt) = merger.part(&part, false).unwrap().unwrap();
                found = (compatible(found.0, data_type), found.1 | is_corrupt);
            }
            assert_eq!(found, (want, want_corrupt), "{content}");
        }
    }
}
