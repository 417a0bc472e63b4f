//! Lines of files, as Hadoop splits them.

use crate::records::{FilePart, io};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use encoding_rs::Encoding;
use firesteel_error::{ExceptionClass, Result, SparkError};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How the bytes of a file are read.
#[derive(Debug, Clone, Default)]
pub struct LineOptions {
    /// None: `\n`, `\r\n` and `\r`.
    pub separator: Option<Vec<u8>>,
    /// None: UTF-8.
    pub encoding: Option<&'static Encoding>,
}

/// The compression that a file's name tells.
pub fn compression(path: &Path) -> Result<FileCompressionType> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "gz" => Ok(FileCompressionType::GZIP),
        "bz2" => Ok(FileCompressionType::BZIP2),
        "zst" => Ok(FileCompressionType::ZSTD),
        "xz" => Ok(FileCompressionType::XZ),
        "deflate" | "snappy" | "lz4" => Err(SparkError::unsupported(format!("the compression {extension}"))),
        _ => Ok(FileCompressionType::UNCOMPRESSED),
    }
}

/// The encoding of a name; None for UTF-8.
pub fn encoding(name: Option<&str>) -> Result<Option<&'static Encoding>> {
    let Some(name) = name else { return Ok(None) };
    let unknown = || SparkError::plain(ExceptionClass::IllegalArgument, format!("The charset {name} is not known"));
    let encoding = Encoding::for_label(name.trim().as_bytes()).ok_or_else(unknown)?;
    Ok((encoding != encoding_rs::UTF_8).then_some(encoding))
}

/// All of a file, decompressed and as UTF-8.
pub fn whole(path: &Path, options: &LineOptions) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader(path)?.read_to_end(&mut bytes).map_err(|e| io(path, e))?;
    if let Some(encoding) = options.encoding {
        return Ok(encoding.decode(&bytes).0.into_owned().into_bytes());
    }
    if bytes.starts_with(BOM) {
        bytes.drain(..BOM.len());
    }
    Ok(bytes)
}

pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

pub(crate) fn reader(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path).map_err(|e| io(path, e))?;
    compression(path)?.convert_read(file).map_err(|e| io(path, e))
}

/// Reads the lines of a part of a file.
pub struct Lines {
    input: Box<dyn Read + Send>,
    path: std::path::PathBuf,
    separator: Option<Vec<u8>>,
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
        let is_plain = !compression(&part.path)?.is_compressed() && options.encoding.is_none();
        let input: Box<dyn Read + Send> = if options.encoding.is_some() {
            Box::new(std::io::Cursor::new(whole(&part.path, options)?))
        } else if is_plain && part.start > 0 {
            let mut file = File::open(&part.path).map_err(|e| io(&part.path, e))?;
            file.seek(SeekFrom::Start(part.start - 1)).map_err(|e| io(&part.path, e))?;
            Box::new(file)
        } else {
            reader(&part.path)?
        };
        let skips = is_plain && part.start > 0;
        let mut lines = Self {
            input,
            path: part.path.clone(),
            separator: options.separator.clone(),
            buffer: Vec::new(),
            at: 0,
            is_end: false,
            position: if skips { part.start - 1 } else { 0 },
            limit: if is_plain { part.end } else { u64::MAX },
        };
        if skips {
            // The line that covers the byte before belongs to the part before.
            lines.limit = u64::MAX;
            lines.next_line()?;
            lines.limit = part.end;
        } else {
            lines.fill()?;
            if lines.buffer[lines.at..].starts_with(BOM) {
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

    /// The next line without its separator.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>> {
        if self.position >= self.limit {
            return Ok(None);
        }
        let mut searched = 0;
        loop {
            if let Some((end, next)) = self.find(searched) {
                let start = self.at;
                self.at += next;
                self.position += next as u64;
                return Ok(Some(&self.buffer[start..start + end]));
            }
            if self.is_end {
                let start = self.at;
                let length = self.buffer.len() - start;
                self.at = self.buffer.len();
                self.position += length as u64;
                return Ok((length > 0).then(|| &self.buffer[start..]));
            }
            searched = self.buffer.len() - self.at;
            self.fill()?;
        }
    }
}

/// Bytes as text; what is not UTF-8 becomes the replacement character.
pub fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
