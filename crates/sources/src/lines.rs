//! Lines of files, as Hadoop splits them.

use crate::charset::Charset;
use crate::codec::Codec;
use crate::error::illegal;
use crate::options::SourceOptions;
use crate::records::{FilePart, io};
use firesteel_error::Result;
use std::io::Read;

/// How the bytes of a file are read.
#[derive(Debug, Clone, Default)]
pub struct LineOptions {
    /// In the charset; None: `\n`, `\r\n` and `\r`.
    pub separator: Option<Vec<u8>>,
    pub charset: Charset,
}

impl LineOptions {
    /// Lines that end as the option `lineSep` says.
    pub fn new(options: &SourceOptions, charset: Charset) -> Result<Self> {
        let separator = separator(options)?.map(|text| [charset.mark(), charset.encode(text).as_ref()].concat());
        Ok(Self { separator, charset })
    }
}

/// The option `lineSep`.
pub(crate) fn separator(options: &SourceOptions) -> Result<Option<&str>> {
    match options.get("lineSep") {
        Some("") => Err(illegal("requirement failed: 'lineSep' cannot be an empty string.")),
        other => Ok(other),
    }
}

/// All of a file, decompressed and as UTF-8.
pub fn whole(part: &FilePart, charset: Charset) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Codec::open(part)?.read_to_end(&mut bytes).map_err(|e| io(&part.path, e))?;
    if charset != Charset::Utf8 {
        return Ok(charset.decode(&bytes).into_owned());
    }
    if bytes.starts_with(BOM) {
        bytes.drain(..BOM.len());
    }
    Ok(bytes)
}

pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the lines of a part of a file.
pub struct Lines {
    input: Box<dyn Read + Send>,
    path: std::path::PathBuf,
    separator: Option<Vec<u8>>,
    charset: Charset,
    /// The last line as UTF-8, where it is another charset's.
    decoded: Vec<u8>,
    buffer: Vec<u8>,
    /// The unread bytes of the buffer.
    at: usize,
    is_end: bool,
    /// The position in the file of the next unread byte.
    position: u64,
    /// Lines that begin here belong to others.
    limit: u64,
}

impl Lines {
    /// The lines that begin within a part of a file.
    pub fn open(part: &FilePart, options: &LineOptions) -> Result<Self> {
        let is_plain = Codec::of(&part.path) == Codec::None;
        let input: Box<dyn Read + Send> =
            if is_plain && part.start > 0 { Box::new(part.open(part.start - 1)?) } else { Codec::open(part)? };
        let skips = is_plain && part.start > 0;
        let mut lines = Self {
            input,
            path: part.path.clone(),
            separator: options.separator.clone(),
            charset: options.charset,
            decoded: Vec::new(),
            buffer: Vec::new(),
            at: 0,
            is_end: false,
            position: if skips { part.start - 1 } else { 0 },
            limit: if is_plain { part.end } else { u64::MAX },
        };
        if skips {
            // The line that covers the byte before belongs to the part before.
            lines.limit = u64::MAX;
            lines.advance()?;
            lines.limit = part.end;
        } else {
            lines.fill()?;
            if options.charset == Charset::Utf8 && lines.buffer[lines.at..].starts_with(BOM) {
                lines.at += BOM.len();
                lines.position += BOM.len() as u64;
            }
        }
        Ok(lines)
    }

    fn fill(&mut self) -> Result<()> {
        const CHUNK: usize = 1 << 18;
        self.buffer.drain(..self.at);
        self.at = 0;
        let length = self.buffer.len();
        self.buffer.resize(length + CHUNK, 0);
        let count = loop {
            match self.input.read(&mut self.buffer[length..]) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other.map_err(|e| io(&self.path, e))?,
            }
        };
        self.buffer.truncate(length + count);
        self.is_end = count == 0;
        Ok(())
    }

    /// Where the next line ends, and where the one after begins, relative to `at`.
    fn find(&self, from: usize) -> Option<(usize, usize)> {
        let unread = &self.buffer[self.at..];
        if let Some(separator) = &self.separator {
            let from = from.saturating_sub(separator.len());
            return unread[from..]
                .windows(separator.len().max(1))
                .position(|w| w == separator.as_slice())
                .map(|i| (from + i, from + i + separator.len()));
        }
        let from = from.saturating_sub(1);
        let end = from + memchr::memchr2(b'\n', b'\r', &unread[from..])?;
        match (unread[end], unread.get(end + 1)) {
            (b'\r', Some(b'\n')) => Some((end, end + 2)),
            // The other half of the separator may not be here yet.
            (b'\r', None) if !self.is_end => None,
            _ => Some((end, end + 1)),
        }
    }

    /// The next line as UTF-8, without its separator.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>> {
        let Some((start, end)) = self.advance()? else { return Ok(None) };
        let line = &self.buffer[start..end];
        if self.charset == Charset::Utf8 {
            return Ok(Some(line));
        }
        self.decoded = self.charset.decode(line).into_owned();
        Ok(Some(&self.decoded))
    }

    /// Where the next line stands in the buffer.
    fn advance(&mut self) -> Result<Option<(usize, usize)>> {
        if self.position >= self.limit {
            return Ok(None);
        }
        let mut searched = 0;
        loop {
            let start = self.at;
            if let Some((end, next)) = self.find(searched) {
                self.at += next;
                self.position += next as u64;
                return Ok(Some((start, start + end)));
            }
            if self.is_end {
                let length = self.buffer.len() - start;
                self.at = self.buffer.len();
                self.position += length as u64;
                return Ok((length > 0).then_some((start, start + length)));
            }
            searched = self.buffer.len() - start;
            self.fill()?;
        }
    }
}

/// Bytes as text; what is not UTF-8 becomes the replacement character.
pub fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
