//! Records of a block of lines, all values by their places.

use super::parser::{Kind, Tokens};
use super::{CsvOptions, UnescapedQuotes};
use crate::blocks::Blocks;

/// Set in the start of values that do not stand in the block as they are, but in the arena.
const ARENA: u32 = 1 << 31;

/// Where a value stands. Without a length it is missing, or quotes around nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    length: u32,
}

const MISSING: Span = Span { start: 0, length: 0 };
const EMPTY: Span = Span { start: u32::MAX, length: 0 };

/// A record as a whole.
#[derive(Debug, Clone, Copy)]
struct Record {
    start: u32,
    end: u32,
    values: u32,
}

/// The records of a block, with the values of some columns.
#[derive(Debug)]
pub struct Records {
    /// For each value of a record, which of the columns it is.
    slots: Vec<Option<u32>>,
    width: usize,
    spans: Vec<Span>,
    records: Vec<Record>,
    arena: Vec<u8>,
    tokens: Tokens,
}

/// What parts values and lines, and what makes them need a closer look.
struct Marks {
    bytes: [u8; 4],
    separator: u8,
    quote: u8,
}

impl Marks {
    /// A bit for each byte that is a mark.
    #[inline]
    fn find(&self, block: &[u8; 64]) -> u64 {
        let [a, b, c, d] = self.bytes;
        let mut hits = [0_u8; 64];
        for (hit, byte) in hits.iter_mut().zip(block) {
            *hit = u8::from(*byte == a) | u8::from(*byte == b) | u8::from(*byte == c) | u8::from(*byte == d);
        }
        let mut mask = 0;
        for (i, eight) in hits.as_chunks::<8>().0.iter().enumerate() {
            // Moves the lowest bit of each byte into the highest byte.
            mask |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
        }
        mask
    }
}

impl CsvOptions {
    /// True where records can be read from blocks of lines.
    pub fn reads_blocks(&self) -> bool {
        !self.multi_line
            && self.unescaped_quotes == UnescapedQuotes::StopAtDelimiter
            && Blocks::can_read(&self.lines)
            && self.separator.len() == 1
            && self.separator.first().copied() != self.quote
            && !self.separator.iter().any(|b| matches!(b, b'\n' | b'\r'))
            && !self.quote.is_some_and(|b| matches!(b, b'\n' | b'\r'))
            && self.lines.separator.as_ref().is_none_or(|s| s != &self.separator && s.first().copied() != self.quote)
    }
}

impl Records {
    /// Records of which the values at some places are kept: `slots` has a column for each of these.
    pub fn new(slots: Vec<Option<u32>>, width: usize) -> Self {
        Self { slots, width, spans: Vec::new(), records: Vec::new(), arena: Vec::new(), tokens: Tokens::default() }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// How many values a record has.
    pub fn values(&self, row: usize) -> usize {
        self.records.get(row).map_or(0, |r| r.values as usize)
    }

    /// The text of a record.
    pub fn raw<'a>(&self, block: &'a [u8], row: usize) -> &'a [u8] {
        self.records.get(row).map_or(&[], |r| &block[r.start as usize..r.end as usize])
    }

    /// A value of a record; None where it is missing or stands for null.
    #[inline]
    pub fn value<'a>(
        &'a self,
        block: &'a [u8],
        row: usize,
        column: usize,
        options: &'a CsvOptions,
    ) -> Option<&'a [u8]> {
        let span = self.spans[row * self.width + column];
        let value = if span.length == 0 {
            if span != EMPTY {
                return None;
            }
            options.empty.as_bytes()
        } else if span.start & ARENA == 0 {
            let start = span.start as usize;
            &block[start..start + span.length as usize]
        } else {
            let start = (span.start & !ARENA) as usize;
            &self.arena[start..start + span.length as usize]
        };
        (value != options.null.as_bytes()).then_some(value)
    }

    /// Finds up to `most` records from the start of a block of whole lines, and gives how many bytes these take.
    pub fn scan(&mut self, block: &[u8], line_ends: [u8; 2], most: usize, options: &CsvOptions) -> usize {
        self.records.clear();
        self.arena.clear();
        self.spans.resize(most * self.width, MISSING);
        let separator = options.separator.first().copied().unwrap_or(b',');
        let quote = options.quote.unwrap_or(separator);
        let marks = Marks { bytes: [line_ends[0], line_ends[1], separator, quote], separator, quote };
        let pairs = line_ends == [b'\n', b'\r'];
        let mut line = Line::default();
        let mut last = [0_u8; 64];
        let mut base = 0;
        while base < block.len() {
            let rest = &block[base..];
            let (bytes, known) = match rest.first_chunk::<64>() {
                Some(full) => (full, u64::MAX),
                None => {
                    last[..rest.len()].copy_from_slice(rest);
                    (&last, (1_u64 << rest.len()) - 1)
                }
            };
            let mut mask = marks.find(bytes) & known;
            while mask != 0 {
                let at = base + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let byte = block[at];
                if byte == marks.separator {
                    self.keep(&line, block, at, options);
                    line.values += 1;
                    line.value = at + 1;
                } else if byte == marks.quote {
                    line.is_quoted = true;
                } else if pairs && byte == b'\n' && at > 0 && at == line.start && block[at - 1] == b'\r' {
                    line.start = at + 1;
                    line.value = at + 1;
                } else {
                    self.finish(&line, block, at, options);
                    line = Line { start: at + 1, value: at + 1, ..Line::default() };
                    if self.records.len() == most {
                        let is_pair = pairs && byte == b'\r' && block.get(at + 1) == Some(&b'\n');
                        return at + 1 + usize::from(is_pair);
                    }
                }
            }
            base += 64;
        }
        if line.start < block.len() {
            self.finish(&line, block, block.len(), options);
        }
        block.len()
    }

    /// Keeps the value of a line that ends here.
    #[inline]
    fn keep(&mut self, line: &Line, block: &[u8], end: usize, options: &CsvOptions) {
        let Some(Some(slot)) = self.slots.get(line.values) else { return };
        let (mut start, mut end) = (line.value, end);
        if options.trims_start {
            start += block[start..end].iter().take_while(|b| **b <= b' ').count();
        }
        if options.trims_end {
            end -= block[start..end].iter().rev().take_while(|b| **b <= b' ').count();
        }
        #[allow(clippy::cast_possible_truncation)]
        let span = Span { start: start as u32, length: (end - start) as u32 };
        self.spans[self.records.len() * self.width + *slot as usize] = span;
    }

    /// Adds the record of a line that ends here, if it has one.
    #[inline]
    fn finish(&mut self, line: &Line, block: &[u8], end: usize, options: &CsvOptions) {
        let text = &block[line.start..end];
        let may_skip = text.first().is_none_or(|b| *b <= b' ') || options.comment.is_some();
        if may_skip && options.skips(text) {
            return;
        }
        let mut values = line.values + 1;
        if line.is_quoted {
            values = self.closely(text, options);
        } else {
            self.keep(line, block, end, options);
            if values < self.slots.len() {
                self.miss(values);
            }
        }
        #[allow(clippy::cast_possible_truncation)]
        self.records.push(Record { start: line.start as u32, end: end as u32, values: values as u32 });
    }

    /// The columns of values from here on are missing.
    fn miss(&mut self, from: usize) {
        let first = self.records.len() * self.width;
        for slot in self.slots.iter().skip(from).flatten() {
            self.spans[first + *slot as usize] = MISSING;
        }
    }

    /// Reads a line with quotes, and gives how many values it has.
    #[cold]
    fn closely(&mut self, text: &[u8], options: &CsvOptions) -> usize {
        self.miss(0);
        options.record(text, 0, &mut self.tokens);
        let first = self.records.len() * self.width;
        for (slot, index) in self.slots.iter().zip(0..self.tokens.len()) {
            let (Some(slot), Some((bytes, kind))) = (slot, self.tokens.get(index)) else { continue };
            self.spans[first + *slot as usize] = match kind {
                Kind::Missing => MISSING,
                Kind::Empty => EMPTY,
                Kind::Text => {
                    #[allow(clippy::cast_possible_truncation)]
                    let span = Span { start: self.arena.len() as u32 | ARENA, length: bytes.len() as u32 };
                    self.arena.extend_from_slice(bytes);
                    span
                }
            };
        }
        self.tokens.len()
    }
}

/// A line as far as it has been read.
#[derive(Debug, Default, Clone, Copy)]
struct Line {
    start: usize,
    /// Where the next value begins.
    value: usize,
    /// How many values came before.
    values: usize,
    is_quoted: bool,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::lines::Lines;
    use crate::options::SourceOptions;
    use crate::records::FilePart;
    use firesteel_config::SqlConf;
    use std::io::Write;

    /// Each record of a file as its values, read line by line.
    fn by_line(part: &FilePart, options: &CsvOptions) -> Vec<Vec<Option<Vec<u8>>>> {
        let mut lines = Lines::open(part, &options.lines).unwrap();
        let mut tokens = Tokens::default();
        let mut records = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            if options.skips(line) {
                continue;
            }
            options.record(line, 0, &mut tokens);
            let value = |i| match tokens.get(i) {
                None | Some((_, Kind::Missing)) => None,
                Some((_, Kind::Empty)) => Some(options.empty.clone().into_bytes()),
                Some((bytes, Kind::Text)) => Some(bytes.to_vec()),
            };
            records.push((0..tokens.len()).map(value).map(|v| v.filter(|v| v != options.null.as_bytes())).collect());
        }
        records
    }

    #[test]
    fn blocks_have_the_values_of_lines() {
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        let given: [&[(&str, &str)]; 7] = [
            &[],
            &[("ignoreLeadingWhiteSpace", "true"), ("ignoreTrailingWhiteSpace", "true"), ("sep", "\t")],
            &[("comment", "#"), ("nullValue", "a")],
            &[("quote", ""), ("emptyValue", "E")],
            &[("escape", "\""), ("emptyValue", "E")],
            &[("lineSep", ";")],
            &[("sep", "|"), ("quote", "'")],
        ];
        for round in 0..3000 {
            let pieces =
                ["a", "bcd", ",", ",", "\n", "\n", "\r", "\r\n", "\"", "\\", " ", "#", ";", "\t", "|", "'", "é"];
            let content: String = (0..random(120)).map(|_| pieces[random(pieces.len())]).collect();
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            let size = content.len() as u64;
            let given: Vec<_> =
                given[round % given.len()].iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            let options = CsvOptions::new(&SourceOptions::new(&given), &SqlConf::default()).unwrap();
            assert!(options.reads_blocks());
            let part = FilePart::local(file.path(), size, 0..size);
            let want = by_line(&part, &options);
            let mut blocks = Blocks::open(&part, &options.lines).unwrap();
            let ends = blocks.line_ends();
            // The second column is not wanted.
            let mut records = Records::new(vec![Some(1), None, Some(0)], 2);
            let mut found = 0;
            while let Some(block) = blocks.block().unwrap() {
                let used = records.scan(block, ends, 1 + round % 5, &options);
                for row in 0..records.len() {
                    let record = &want[found];
                    assert_eq!(records.values(row), record.len(), "{content:?}");
                    for (place, column) in [(0, 1), (2, 0)] {
                        let value = records.value(block, row, column, &options).map(<[u8]>::to_vec);
                        assert_eq!(value, record.get(place).cloned().flatten(), "{content:?}");
                    }
                    found += 1;
                }
                blocks.take(used, 0);
            }
            assert_eq!(found, want.len(), "{content:?}");
        }
    }
}
