//! Compression of text files.

use crate::options::SourceOptions;
use crate::records::{FilePart, io};
use crate::store::{Input, Output};
use bytes::Bytes;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use firesteel_error::{Result, SparkError};
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use futures::{StreamExt, TryStreamExt};
use std::io::{Read, Write};
use std::path::Path;

/// How a file of text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    None,
    Gzip,
    Bzip2,
    /// The format of zlib.
    Deflate,
    Snappy,
    Lz4,
    Zstd,
    Xz,
}

/// Bytes of a block of Hadoop's codecs before compression.
const BLOCK: usize = 200 << 10;

/// No block of a file has more bytes.
const LARGEST_BLOCK: usize = 256 << 20;

impl Codec {
    /// The codec that a file's name tells.
    pub fn of(path: &Path) -> Self {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match extension.as_str() {
            "gz" => Self::Gzip,
            "bz2" => Self::Bzip2,
            "deflate" => Self::Deflate,
            "snappy" => Self::Snappy,
            "lz4" => Self::Lz4,
            "zst" => Self::Zstd,
            "xz" => Self::Xz,
            _ => Self::None,
        }
    }

    /// What a file's name ends with.
    pub fn extension(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => ".gz",
            Self::Bzip2 => ".bz2",
            Self::Deflate => ".deflate",
            Self::Snappy => ".snappy",
            Self::Lz4 => ".lz4",
            Self::Zstd => ".zst",
            Self::Xz => ".xz",
        }
    }

    /// The bytes of a file, decompressed.
    pub fn open(part: &FilePart) -> Result<Box<dyn Read + Send>> {
        let file = part.open(0)?;
        let kind = match Self::of(&part.path) {
            codec @ (Self::Snappy | Self::Lz4) => return Ok(Box::new(HadoopBlocks::new(file, codec))),
            Self::Deflate => return Ok(Box::new(ZlibDecoder::new(file))),
            Self::None => return Ok(Box::new(file)),
            Self::Gzip => FileCompressionType::GZIP,
            Self::Bzip2 => FileCompressionType::BZIP2,
            Self::Zstd => FileCompressionType::ZSTD,
            Self::Xz => FileCompressionType::XZ,
        };
        kind.convert_read(file).map_err(|e| io(&part.path, e))
    }

    /// The codec of a writer's option `compression`.
    pub fn of_writer(options: &SourceOptions) -> Result<Self> {
        let name = options.any(&["compression", "codec"]).unwrap_or("none").to_lowercase();
        match name.as_str() {
            "none" | "uncompressed" => Ok(Self::None),
            "gzip" => Ok(Self::Gzip),
            "bzip2" => Ok(Self::Bzip2),
            "deflate" => Ok(Self::Deflate),
            "snappy" => Ok(Self::Snappy),
            "lz4" => Ok(Self::Lz4),
            _ => Err(SparkError::new("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION")
                .with("codecName", name)
                .with("availableCodecs", "bzip2, deflate, uncompressed, snappy, none, lz4, gzip")),
        }
    }

    /// Begins a compressed file.
    pub fn create(self, file: Output) -> Compressor {
        match self {
            Self::Deflate => Compressor::Stream(ZlibEncoder::new(file, flate2::Compression::default())),
            codec => Compressor::Parts(file, codec),
        }
    }

    /// Bytes compressed on their own, which may follow others.
    fn compress(self, bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
        let kind = match self {
            Self::None | Self::Deflate => return Ok(bytes),
            Self::Snappy | Self::Lz4 => return self.compress_blocks(&bytes),
            Self::Gzip => FileCompressionType::GZIP,
            Self::Bzip2 => FileCompressionType::BZIP2,
            Self::Zstd => FileCompressionType::ZSTD,
            Self::Xz => FileCompressionType::XZ,
        };
        let input = futures::stream::once(async move { Ok(Bytes::from(bytes)) }).boxed();
        let output = kind.convert_to_compress_stream(input).map_err(std::io::Error::other)?;
        let append = |mut all: Vec<u8>, bytes: Bytes| async move {
            all.extend_from_slice(&bytes);
            Ok(all)
        };
        futures::executor::block_on(output.try_fold(Vec::new(), append)).map_err(std::io::Error::other)
    }

    /// Bytes in the blocks of Hadoop's codecs.
    fn compress_blocks(self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len() / 2);
        let mut snappy = snap::raw::Encoder::new();
        for block in bytes.chunks(BLOCK) {
            let compressed = match self {
                Self::Snappy => snappy.compress_vec(block).map_err(std::io::Error::other)?,
                _ => lz4_flex::block::compress(block),
            };
            out.extend_from_slice(&length(block.len()));
            out.extend_from_slice(&length(compressed.len()));
            out.extend_from_slice(&compressed);
        }
        Ok(out)
    }
}

/// A compressed file that is being written.
pub enum Compressor {
    /// Parts one after another, which readers take as one.
    Parts(Output, Codec),
    Stream(ZlibEncoder<Output>),
}

impl Compressor {
    /// Adds bytes.
    pub fn write(&mut self, bytes: Vec<u8>) -> std::io::Result<()> {
        match self {
            Self::Parts(file, codec) => file.write_all(&codec.compress(bytes)?),
            Self::Stream(encoder) => encoder.write_all(&bytes),
        }
    }

    /// Ends the file.
    pub fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Parts(file, _) => file.finish(),
            Self::Stream(encoder) => encoder.finish()?.finish(),
        }
    }
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes()
}

/// Reads blocks: the length of what is in a block, then chunks of compressed bytes, each after its length.
struct HadoopBlocks {
    file: Input,
    codec: Codec,
    block: Vec<u8>,
    at: usize,
    is_end: bool,
}

impl HadoopBlocks {
    fn new(file: Input, codec: Codec) -> Self {
        Self { file, codec, block: Vec::new(), at: 0, is_end: false }
    }

    /// The next length; None at the end of the file, within the length too.
    fn length(&mut self) -> std::io::Result<Option<usize>> {
        let mut bytes = [0; 4];
        match self.file.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(e) => return Err(e),
        }
        let length = usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX);
        if length > LARGEST_BLOCK {
            return Err(std::io::Error::other("a block of compressed bytes is too long"));
        }
        Ok(Some(length))
    }

    /// Reads a block; false at the end.
    fn fill(&mut self) -> std::io::Result<bool> {
        self.block.clear();
        self.at = 0;
        let Some(whole) = self.length()?.filter(|length| *length > 0) else { return Ok(false) };
        let mut compressed = Vec::new();
        while self.block.len() < whole {
            let Some(count) = self.length()? else { return Ok(!self.block.is_empty()) };
            compressed.clear();
            (&mut self.file).take(count as u64).read_to_end(&mut compressed)?;
            if compressed.len() < count {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let bytes = match self.codec {
                Codec::Snappy => {
                    snap::raw::Decoder::new().decompress_vec(&compressed).map_err(std::io::Error::other)?
                }
                _ => {
                    lz4_flex::block::decompress(&compressed, whole - self.block.len()).map_err(std::io::Error::other)?
                }
            };
            if bytes.is_empty() {
                return Err(std::io::Error::other("a chunk of compressed bytes is empty"));
            }
            self.block.extend_from_slice(&bytes);
        }
        Ok(true)
    }
}

impl Read for HadoopBlocks {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.block.len() && !self.is_end {
            self.is_end = !self.fill()?;
        }
        let rest = self.block.get(self.at..).unwrap_or_default();
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs::File;

    fn part(path: &Path) -> FilePart {
        let size = path.metadata().unwrap().len();
        FilePart::local(path, size, 0..size)
    }

    #[test]
    fn blocks_come_back() {
        let text: Vec<u8> = (0..600_000_u32).flat_map(|i| (i % 1000).to_string().into_bytes()).collect();
        for codec in [Codec::None, Codec::Gzip, Codec::Bzip2, Codec::Snappy, Codec::Lz4, Codec::Deflate] {
            let file = tempfile::Builder::new().suffix(codec.extension()).tempfile().unwrap();
            let mut output = codec.create(Output::Local(File::create(file.path()).unwrap()));
            for part in text.chunks(1_000_000) {
                output.write(part.to_vec()).unwrap();
            }
            output.finish().unwrap();
            let mut found = Vec::new();
            Codec::open(&part(file.path())).unwrap().read_to_end(&mut found).unwrap();
            assert!(found == text, "{codec:?}");
        }
    }

    #[test]
    fn a_file_that_ends_within_a_length_is_empty() {
        let mut file = tempfile::Builder::new().suffix(".lz4").tempfile().unwrap();
        file.write_all(b"x").unwrap();
        let mut found = Vec::new();
        Codec::open(&part(file.path())).unwrap().read_to_end(&mut found).unwrap();
        assert!(found.is_empty());
    }
}
