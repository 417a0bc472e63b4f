//! ORC files.

pub(crate) mod column;
mod stream;

use super::file::FileWriter;
use super::task::Layout;
use crate::error::unwritable;
use crate::options::SourceOptions;
use crate::store::Output;
use arrow::array::{ArrayRef, RecordBatch, StructArray};
use column::{Column, Facts};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructType};
use orc_prost::Message;
use orc_rust::proto::{self, CompressionKind, column_encoding};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stream::{BLOCK, Compression, compressed};

/// Bytes that are gathered for a stripe.
const STRIPE: usize = 64 << 20;

const MAGIC: &str = "ORC";

/// How ORC files are written.
pub struct OrcEncoding {
    schema: StructType,
    compression: Compression,
    extension: &'static str,
}

impl OrcEncoding {
    /// The encoding that options and settings ask for.
    pub fn new(options: &SourceOptions, conf: &SqlConf, layout: &Layout) -> Result<Self> {
        let codec = options.any(&["compression", "orc.compress"]).unwrap_or(&conf.orc_compression);
        let (compression, extension) = codec_of(codec)?;
        Ok(Self { schema: layout.schema.clone(), compression, extension })
    }

    /// The end of a file's name.
    pub fn extension(&self) -> String {
        self.extension.to_string()
    }

    /// Begins a file.
    pub fn open(&self, path: &Path, file: Output) -> Result<Box<dyn FileWriter>> {
        let mut types = Vec::new();
        let root = Column::new(&DataType::Struct(Arc::new(self.schema.clone())), &mut types)?;
        let mut orc = OrcFile {
            file,
            path: path.to_path_buf(),
            offset: 0,
            compression: self.compression,
            types,
            root,
            facts: Facts::default(),
            stripes: Vec::new(),
            rows: 0,
            all_rows: 0,
        };
        orc.write_bytes(MAGIC.as_bytes())?;
        Ok(Box::new(orc))
    }
}

fn codec_of(name: &str) -> Result<(Compression, &'static str)> {
    let name = name.to_lowercase();
    Ok(match name.as_str() {
        "none" | "uncompressed" => (Compression::None, ".orc"),
        "snappy" => (Compression::Snappy, ".snappy.orc"),
        "zlib" => (Compression::Zlib, ".zlib.orc"),
        "zstd" => (Compression::Zstd, ".zstd.orc"),
        "lz4" => (Compression::Lz4, ".lz4.orc"),
        "lzo" | "brotli" => return Err(SparkError::unsupported(format!("the compression {name} of ORC files"))),
        _ => {
            return Err(SparkError::new("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION")
                .with("codecName", name)
                .with("availableCodecs", "brotli, uncompressed, lz4, lzo, snappy, zlib, none, zstd"));
        }
    })
}

/// A file that is being written.
struct OrcFile {
    file: Output,
    path: PathBuf,
    offset: u64,
    compression: Compression,
    types: Vec<proto::Type>,
    root: Column,
    facts: Facts,
    stripes: Vec<proto::StripeInformation>,
    /// Rows of the open stripe.
    rows: u64,
    all_rows: u64,
}

impl OrcFile {
    fn write_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| unwritable(&self.path, e))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn compressed(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        compressed(bytes, self.compression).map_err(|e| unwritable(&self.path, e))
    }

    /// Writes the open stripe.
    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let start = self.offset;
        let mut gathered = Vec::new();
        self.root.take(&mut gathered, &mut self.facts);
        let mut streams = Vec::with_capacity(gathered.len());
        for (column, kind, bytes) in gathered {
            let bytes = self.compressed(&bytes)?;
            streams.push(proto::Stream {
                kind: Some(kind.into()),
                column: Some(column),
                length: Some(bytes.len() as u64),
            });
            self.write_bytes(&bytes)?;
        }
        let data_length = self.offset - start;
        let encoding = proto::ColumnEncoding { kind: Some(column_encoding::Kind::Direct.into()), ..Default::default() };
        let footer = proto::StripeFooter {
            streams,
            columns: vec![encoding; self.types.len()],
            writer_timezone: Some("UTC".into()),
            ..Default::default()
        };
        let footer = self.compressed(&footer.encode_to_vec())?;
        self.write_bytes(&footer)?;
        self.stripes.push(proto::StripeInformation {
            offset: Some(start),
            index_length: Some(0),
            data_length: Some(data_length),
            footer_length: Some(footer.len() as u64),
            number_of_rows: Some(self.rows),
            ..Default::default()
        });
        self.all_rows += self.rows;
        self.rows = 0;
        Ok(())
    }

    /// What a file ends with.
    fn close(&mut self) -> Result<()> {
        self.flush()?;
        let content = self.offset;
        let statistics = self.facts.statistics();
        let metadata = |name: &str, value: &str| proto::UserMetadataItem {
            name: Some(name.to_string()),
            value: Some(value.as_bytes().to_vec()),
        };
        let footer = proto::Footer {
            header_length: Some(MAGIC.len() as u64),
            content_length: Some(content),
            stripes: std::mem::take(&mut self.stripes),
            types: std::mem::take(&mut self.types),
            metadata: vec![metadata("org.apache.spark.version", "4.2.1")],
            number_of_rows: Some(self.all_rows),
            statistics,
            row_index_stride: Some(0),
            calendar: Some(proto::CalendarKind::ProlepticGregorian.into()),
            ..Default::default()
        };
        let footer = self.compressed(&footer.encode_to_vec())?;
        self.write_bytes(&footer)?;
        let kind = match self.compression {
            Compression::None => CompressionKind::None,
            Compression::Zlib => CompressionKind::Zlib,
            Compression::Snappy => CompressionKind::Snappy,
            Compression::Lz4 => CompressionKind::Lz4,
            Compression::Zstd => CompressionKind::Zstd,
        };
        let end = proto::PostScript {
            footer_length: Some(footer.len() as u64),
            compression: Some(kind.into()),
            compression_block_size: Some(BLOCK as u64),
            version: vec![0, 12],
            metadata_length: Some(0),
            writer_version: Some(6),
            magic: Some(MAGIC.into()),
            ..Default::default()
        };
        let mut end = end.encode_to_vec();
        end.push(u8::try_from(end.len()).unwrap_or(u8::MAX));
        self.write_bytes(&end)
    }
}

impl FileWriter for OrcFile {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows: ArrayRef = Arc::new(StructArray::from(batch.clone()));
        self.root.append(&rows)?;
        self.rows += batch.num_rows() as u64;
        if self.root.size() > STRIPE { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.close()?;
        let path = self.path;
        self.file.finish().map_err(|e| unwritable(&path, e))
    }
}
