//! Whole lines of files, many at a time.

use crate::charset::Charset;
use crate::codec::Codec;
use crate::lines::{BOM, LineOptions, text};
use crate::records::{FilePart, io};
use firesteel_error::{Result, SparkError};
use std::borrow::Cow;
use std::io::Read;
use std::path::PathBuf;

/// Bytes that are read at first.
const FIRST: usize = 1 << 18;

/// Bytes that are read at once where lines are short enough.
const MOST: usize = 4 << 20;

/// The longest text that is read as one.
const LONGEST: usize = (1 << 31) - 1;

/// Reads the lines of a part of a file as blocks, of which the caller takes lines from the start.
pub struct Blocks {
    input: Box<dyn Read + Send>,
    path: PathBuf,
    separator: Option<u8>,
    buffer: Vec<u8>,
    /// The unread bytes of the buffer.
    at: usize,
    length: usize,
    is_end: bool,
    /// The position in the file of the next unread byte.
    position: u64,
    /// Lines that begin here belong to others.
    limit: u64,
    /// Unread bytes that a block should have.
    want: usize,
}

impl Blocks {
    /// True where lines of such files can be read in blocks.
    pub fn can_read(options: &LineOptions) -> bool {
        options.charset == Charset::Utf8 && options.separator.as_ref().is_none_or(|s| s.len() == 1)
    }

    /// The lines that begin within a part of a file.
    pub fn open(part: &FilePart, options: &LineOptions) -> Result<Self> {
        let is_plain = Codec::of(&part.path) == Codec::None;
        let skips = is_plain && part.start > 0;
        let input: Box<dyn Read + Send> = if skips { Box::new(part.open(part.start - 1)?) } else { Codec::open(part)? };
        let mut blocks = Self {
            input,
            path: part.path.clone(),
            separator: options.separator.as_ref().and_then(|s| s.first().copied()),
            buffer: Vec::new(),
            at: 0,
            length: 0,
            is_end: false,
            position: if skips { part.start - 1 } else { 0 },
            limit: u64::MAX,
            want: FIRST,
        };
        if skips {
            // The line that covers the byte before belongs to the part before.
            let first = blocks.block()?.map_or(0, <[u8]>::len);
            let unread = &blocks.buffer[blocks.at..blocks.at + first];
            let end = blocks.line_end(unread, 0).unwrap_or(first);
            blocks.take(end, 0);
        } else {
            blocks.fill()?;
            if blocks.buffer[..blocks.length].starts_with(BOM) {
                blocks.take(BOM.len(), 0);
            }
        }
        if is_plain {
            blocks.limit = part.end;
        }
        Ok(blocks)
    }

    /// What ends lines, a byte twice where it is one.
    pub fn line_ends(&self) -> [u8; 2] {
        self.separator.map_or([b'\n', b'\r'], |s| [s, s])
    }

    /// Reads until there are as many unread bytes as are wanted.
    fn fill(&mut self) -> Result<()> {
        if self.length - self.at >= self.want || self.is_end {
            return Ok(());
        }
        self.buffer.copy_within(self.at..self.length, 0);
        self.length -= self.at;
        self.at = 0;
        if self.buffer.len() < self.want {
            self.buffer.resize(self.want, 0);
        }
        while self.length < self.want && !self.is_end {
            match self.input.read(&mut self.buffer[self.length..]) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(io(&self.path, e)),
                Ok(0) => self.is_end = true,
                Ok(count) => self.length += count,
            }
        }
        Ok(())
    }

    /// Where the line that covers a byte ends with its separator; None where that is not known yet.
    fn line_end(&self, unread: &[u8], from: usize) -> Option<usize> {
        let rest = unread.get(from..)?;
        if let Some(separator) = self.separator {
            return memchr::memchr(separator, rest).map(|i| from + i + 1);
        }
        let end = from + memchr::memchr2(b'\n', b'\r', rest)?;
        match (unread[end], unread.get(end + 1)) {
            (b'\r', Some(b'\n')) => Some(end + 2),
            // The other half of the separator may not be here yet.
            (b'\r', None) if !self.is_end => None,
            _ => Some(end + 1),
        }
    }

    /// Where the last whole line ends.
    fn last_end(&self, unread: &[u8]) -> Option<usize> {
        if let Some(separator) = self.separator {
            return memchr::memrchr(separator, unread).map(|i| i + 1);
        }
        let known = unread.strip_suffix(b"\r").unwrap_or(unread);
        memchr::memrchr2(b'\n', b'\r', known).map(|i| i + 1)
    }

    /// Whole lines with their separators; None at the end. The same ones again until they are taken.
    pub fn block(&mut self) -> Result<Option<&[u8]>> {
        loop {
            if self.position >= self.limit {
                return Ok(None);
            }
            self.fill()?;
            let unread = &self.buffer[self.at..self.length];
            if unread.is_empty() {
                return Ok(None);
            }
            let ours = usize::try_from(self.limit - self.position).unwrap_or(usize::MAX);
            let end = if ours <= unread.len() { self.line_end(unread, ours - 1) } else { self.last_end(unread) };
            let end = match end {
                None if self.is_end => Some(unread.len()),
                Some(_) if self.is_end && ours > unread.len() => Some(unread.len()),
                other => other,
            };
            if let Some(end) = end {
                if end > LONGEST {
                    return Err(SparkError::unsupported("records of more than 2 GiB in a file of text"));
                }
                return Ok(Some(&self.buffer[self.at..self.at + end]));
            }
            self.want = unread.len().saturating_mul(2).max(FIRST);
        }
    }

    /// Takes bytes of the block as read, and learns from them how many bytes so many lines have.
    pub fn take(&mut self, bytes: usize, next: usize) {
        self.at += bytes;
        self.position += bytes as u64;
        if next > 0 {
            self.want = next.clamp(FIRST, MOST);
        }
    }
}

/// Up to `most` lines from the start of a block that are not blank, as text, and the bytes that they take.
pub fn texts(block: &[u8], ends: [u8; 2], most: usize) -> (Vec<Cow<'_, str>>, usize) {
    let whole = std::str::from_utf8(block).ok();
    let mut lines = Vec::with_capacity(most.min(block.len() / 16 + 1));
    let mut at = 0;
    while at < block.len() && lines.len() < most {
        let end = memchr::memchr2(ends[0], ends[1], &block[at..]).map_or(block.len(), |i| at + i);
        let line = &block[at..end];
        if line.iter().any(|b| *b > b' ') {
            lines.push(match whole.and_then(|text| text.get(at..end)) {
                Some(text) => Cow::Borrowed(text),
                None => text(line),
            });
        }
        at = end + 1;
    }
    (lines, at.min(block.len()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::lines::Lines;
    use std::io::Write;

    #[test]
    fn blocks_hold_the_lines_of_their_part() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let content = "\u{feff}one\ntwo\r\nthree\rfour\n\n\r\n\rfive;six\r";
        file.write_all(content.as_bytes()).unwrap();
        let size = content.len() as u64;
        for separator in [None, Some(b";".to_vec()), Some(b"\n".to_vec())] {
            let options = LineOptions { separator, charset: Charset::Utf8 };
            for (start, end) in (0..=size).flat_map(|cut| [(0, cut), (cut, size)]).filter(|(start, end)| start < end) {
                let part = FilePart::local(file.path(), size, start..end);
                let mut lines = Lines::open(&part, &options).unwrap();
                let mut want = Vec::new();
                while let Some(line) = lines.next_line().unwrap() {
                    if line.iter().any(|b| *b > b' ') {
                        want.push(text(line).into_owned());
                    }
                }
                let mut blocks = Blocks::open(&part, &options).unwrap();
                let ends = blocks.line_ends();
                let mut found = Vec::new();
                while let Some(block) = blocks.block().unwrap() {
                    let (lines, used) = texts(block, ends, 1);
                    found.extend(lines.into_iter().map(Cow::into_owned));
                    blocks.take(used, 0);
                }
                assert_eq!(found, want, "{start} to {end} by {:?}", options.separator);
            }
        }
    }

    #[test]
    fn long_lines_and_many_blocks() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let lines: Vec<String> = (0..20_000).map(|i| "x".repeat(if i == 500 { 900_000 } else { i % 97 + 1 })).collect();
        file.write_all(lines.join("\r\n").as_bytes()).unwrap();
        let size = file.path().metadata().unwrap().len();
        let mut found = Vec::new();
        for (start, end) in [(0, 300_000), (300_000, 1_000_000), (1_000_000, size)] {
            let part = FilePart::local(file.path(), size, start..end);
            let mut blocks = Blocks::open(&part, &LineOptions::default()).unwrap();
            while let Some(block) = blocks.block().unwrap() {
                let (lines, used) = texts(block, [b'\n', b'\r'], 1000);
                found.extend(lines.into_iter().map(Cow::into_owned));
                blocks.take(used, 300_000);
            }
        }
        assert!(found == lines);
    }
}
