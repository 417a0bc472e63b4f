//! ORC files.

use crate::error::{from_arrow, unreadable};
use crate::evolution::{Evolution, evolved};
use crate::listing::DataFile;
use crate::options::SourceOptions;
use crate::parquet::unite;
use crate::path;
use crate::rebase::Rebase;
use crate::records::{Batches, FilePart, RecordReader, io};
use crate::store::Random;
use crate::text::rows_only;
use crate::write::orc::column::TYPE_ATTRIBUTE;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, new_null_array};
use arrow::datatypes::{DataType as ArrowType, Field, Fields, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::arrow_mapping::{from_arrow_schema, to_arrow_schema};
use firesteel_types::{DataType, StructField, StructType};
use orc_prost::Message;
use orc_rust::ArrowReaderBuilder;
use orc_rust::compression::Decompressor;
use orc_rust::projection::ProjectionMask;
use orc_rust::proto;
use orc_rust::reader::ChunkReader;
use orc_rust::reader::metadata::FileMetadata;
use orc_rust::schema::TimestampPrecision;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Reads ORC.
#[derive(Debug)]
pub struct OrcReader {
    schema: StructType,
    case_sensitive: bool,
}

impl OrcReader {
    /// The reader of files with these columns.
    pub fn new(schema: StructType, conf: &SqlConf) -> Self {
        Self { schema, case_sensitive: conf.case_sensitive }
    }
}

/// The columns of files: of the first one that has some, or of all.
pub fn infer(files: &[DataFile], options: &SourceOptions, conf: &SqlConf) -> Result<StructType> {
    let merge = options.boolean("mergeSchema", conf.orc_merge_schema)?;
    let ignore_corrupt = options.boolean("ignoreCorruptFiles", conf.ignore_corrupt_files)?;
    let mut merged: Option<StructType> = None;
    for file in files.iter().filter(|f| f.meta.size > 0) {
        let schema = match open(&FilePart::whole(file)) {
            Ok(builder) => {
                let schema = from_arrow_schema(&as_instants(&builder.schema()))?.as_nullable();
                declared(schema, &footer(&FilePart::whole(file), builder.file_metadata())?.types)
            }
            Err(_) if ignore_corrupt => continue,
            Err(cause) => {
                return Err(SparkError::new("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER")
                    .with("path", path::short_uri(&file.path))
                    .with_cause(cause));
            }
        };
        if schema.fields.is_empty() {
            continue;
        }
        if !merge {
            return Ok(schema);
        }
        merged = Some(match merged {
            None => schema,
            Some(merged) => unite(&merged, &schema, conf.case_sensitive)?,
        });
    }
    merged.ok_or_else(|| SparkError::new("UNABLE_TO_INFER_SCHEMA").with("format", "ORC"))
}

fn open(part: &FilePart) -> Result<ArrowReaderBuilder<Random>> {
    let path = &part.path;
    let file = Random::open(&part.origin, path, part.size).map_err(|e| io(path, e))?;
    let builder = guarded(|| ArrowReaderBuilder::try_new(file)).unwrap_or_else(|e| Err(io(path, e)))?;
    builder
        .map(|b| b.with_timestamp_precision(TimestampPrecision::Microsecond))
        .map_err(|e| unreadable(&path::uri(path), e))
}

/// What a file says of its columns.
fn footer(part: &FilePart, metadata: &FileMetadata) -> Result<proto::Footer> {
    let path = &part.path;
    let read = || -> std::io::Result<proto::Footer> {
        let file = Random::open(&part.origin, path, part.size)?;
        let size = file.len();
        let mut tail = file.get_bytes(size - size.min(256), size.min(256))?.to_vec();
        let length = usize::from(tail.pop().unwrap_or_default());
        let end = tail.get(tail.len().saturating_sub(length)..).unwrap_or_default();
        let end = proto::PostScript::decode(end).map_err(std::io::Error::other)?;
        let footer_length = end.footer_length.unwrap_or_default();
        let start = size.checked_sub(1 + length as u64 + footer_length);
        let start = start.ok_or_else(|| std::io::Error::other("the footer is longer than the file"))?;
        let footer = file.get_bytes(start, footer_length)?;
        let mut plain = Vec::new();
        Decompressor::new(footer, metadata.compression(), Vec::new()).read_to_end(&mut plain)?;
        proto::Footer::decode(plain.as_slice()).map_err(std::io::Error::other)
    };
    read().map_err(|e| io(path, e))
}

/// The columns with the types that Spark has noted in a file.
fn declared(schema: StructType, types: &[proto::Type]) -> StructType {
    match declared_type(DataType::Struct(Arc::new(schema)), types, 0) {
        DataType::Struct(schema) => schema.as_ref().clone(),
        _ => StructType::default(),
    }
}

fn declared_type(stored: DataType, types: &[proto::Type], id: usize) -> DataType {
    let Some(described) = types.get(id) else { return stored };
    let inner = |place: usize| described.subtypes.get(place).map_or(usize::MAX, |id| *id as usize);
    match stored {
        DataType::Struct(schema) => DataType::struct_of(
            schema
                .fields
                .iter()
                .enumerate()
                .map(|(i, field)| {
                    let data_type = declared_type(field.data_type.clone(), types, inner(i));
                    StructField::new(&field.name, data_type, field.nullable)
                })
                .collect(),
        ),
        DataType::Array { element, contains_null } => {
            DataType::array(declared_type(element.as_ref().clone(), types, inner(0)), contains_null)
        }
        DataType::Map { key, value, .. } => DataType::map(
            declared_type(key.as_ref().clone(), types, inner(0)),
            declared_type(value.as_ref().clone(), types, inner(1)),
            true,
        ),
        other => {
            let note = described.attributes.iter().find(|pair| pair.key.as_deref() == Some(TYPE_ATTRIBUTE));
            let noted = note.and_then(|pair| firesteel_types::ddl::parse_data_type(pair.value.as_deref()?).ok());
            match noted {
                Some(noted) if !matches!(noted, DataType::Char(_) | DataType::Varchar(_)) => noted,
                _ => other,
            }
        }
    }
}

/// The decoder trusts what files say of themselves: it panics at some damaged ones.
fn guarded<T>(work: impl FnOnce() -> T) -> std::result::Result<Result<T>, &'static str> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(value) => Ok(Ok(value)),
        Err(_) => Err("its parts contradict each other"),
    }
}

/// Spark's timestamps are moments, in files of wall-clock times of the writer's zone.
fn as_instants(schema: &Schema) -> Schema {
    Schema::new(schema.fields().iter().map(|f| instant_field(f)).collect::<Vec<_>>())
}

fn instant_field(field: &Field) -> Field {
    Field::new(field.name(), instant_type(field.data_type()), true)
}

fn instant_type(data_type: &ArrowType) -> ArrowType {
    match data_type {
        ArrowType::Timestamp(..) => ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ArrowType::List(item) => ArrowType::List(Arc::new(instant_field(item))),
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(|f| instant_field(f)).collect()),
        ArrowType::Map(entries, sorted) => match entries.data_type() {
            ArrowType::Struct(pair) => {
                let pair: Fields =
                    pair.iter().enumerate().map(|(i, f)| instant_field(f).with_nullable(i > 0)).collect();
                ArrowType::Map(Arc::new(Field::new(entries.name(), ArrowType::Struct(pair), false)), *sorted)
            }
            _ => data_type.clone(),
        },
        other => other.clone(),
    }
}

impl OrcReader {
    /// Which column of a file each wanted column is. Files of old Hive have no names: position counts.
    fn sources(&self, names: &[&str], columns: &[usize]) -> Vec<Option<usize>> {
        let is_positional = !names.is_empty() && names.iter().all(|n| n.starts_with("_col"));
        columns
            .iter()
            .map(|column| {
                let wanted = &self.schema.fields[*column].name;
                if is_positional && !names.contains(&wanted.as_str()) {
                    return (*column < names.len()).then_some(*column);
                }
                names.iter().position(|n| n == wanted).or_else(|| {
                    if self.case_sensitive { None } else { names.iter().position(|n| n.eq_ignore_ascii_case(wanted)) }
                })
            })
            .collect()
    }
}

impl RecordReader for OrcReader {
    fn name(&self) -> &'static str {
        "orc"
    }

    fn is_splittable(&self) -> bool {
        true
    }

    fn bytes_per_row(&self) -> usize {
        self.schema.fields.len() * 8
    }

    fn read(&self, part: &FilePart, columns: &[usize], batch_size: usize) -> Result<Batches> {
        if part.size == 0 {
            return Ok(Box::new(std::iter::empty()));
        }
        let path = part.path.clone();
        let builder = open(part)?;
        let range = usize::try_from(part.start).unwrap_or(usize::MAX)..usize::try_from(part.end).unwrap_or(usize::MAX);
        let metadata = builder.file_metadata();
        let root = metadata.root_data_type();
        let names: Vec<&str> = root.children().iter().map(|c| c.name()).collect();
        let sources = self.sources(&names, columns);
        let mut used: Vec<usize> = sources.iter().flatten().copied().collect();
        if used.is_empty() {
            let mut left: u64 = metadata
                .stripe_metadatas()
                .iter()
                .filter(|s| usize::try_from(s.offset()).is_ok_and(|offset| range.contains(&offset)))
                .map(|s| s.number_of_rows())
                .sum();
            let schema = self.wanted(columns)?;
            return Ok(Box::new(std::iter::from_fn(move || {
                let rows = usize::try_from(left).unwrap_or(usize::MAX).min(batch_size);
                left -= rows as u64;
                (rows > 0).then(|| nulls(&schema, rows))
            })));
        }
        used.sort_unstable();
        used.dedup();
        let indices: Vec<usize> =
            used.iter().filter_map(|i| root.children().get(*i)).map(|c| c.data_type().column_index()).collect();
        let mask = ProjectionMask::roots(root, indices);
        // Columns come in the file's order.
        let positions: Vec<Option<usize>> =
            sources.iter().map(|s| s.and_then(|s| used.iter().position(|u| *u == s))).collect();
        let schema = self.wanted(columns)?;
        // Files that do not tell their calendar have the old one.
        let is_old = footer(part, builder.file_metadata())?.calendar() != proto::CalendarKind::ProlepticGregorian;
        let rebase = Rebase { dates: is_old, moments: is_old, int96: is_old, locals: is_old };
        let how = Evolution { case_sensitive: self.case_sensitive, rebase };
        let mut reader = builder.with_projection(mask).with_batch_size(batch_size).with_file_byte_range(range).build();
        Ok(Box::new(std::iter::from_fn(move || {
            let batch = match guarded(|| reader.next()) {
                Ok(Ok(next)) => next?.map_err(|e| unreadable(&path::uri(&path), e)),
                Ok(Err(error)) => Err(error),
                Err(text) => Err(io(&path, text)),
            };
            Some(batch.and_then(|batch| fitted(&batch, &positions, &schema, &path, how)))
        })))
    }
}

impl OrcReader {
    fn wanted(&self, columns: &[usize]) -> Result<SchemaRef> {
        let schema = to_arrow_schema(&self.schema).project(columns).map_err(from_arrow)?;
        let fields: Vec<Field> = schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        Ok(Arc::new(Schema::new(fields)))
    }
}

fn nulls(schema: &SchemaRef, rows: usize) -> Result<RecordBatch> {
    if schema.fields().is_empty() {
        return rows_only(rows);
    }
    let columns = schema.fields().iter().map(|f| new_null_array(f.data_type(), rows)).collect();
    RecordBatch::try_new(schema.clone(), columns).map_err(from_arrow)
}

/// A file's columns as the table has them.
fn fitted(
    batch: &RecordBatch,
    positions: &[Option<usize>],
    schema: &SchemaRef,
    path: &Path,
    how: Evolution,
) -> Result<RecordBatch> {
    let columns = positions
        .iter()
        .zip(schema.fields())
        .map(|(position, field)| match position {
            None => Ok(new_null_array(field.data_type(), batch.num_rows())),
            Some(position) => {
                column(batch.column(*position), field.data_type(), how).map_err(|e| unreadable(&path::uri(path), e))
            }
        })
        .collect::<Result<Vec<ArrayRef>>>()?;
    RecordBatch::try_new(schema.clone(), columns).map_err(from_arrow)
}

fn column(
    stored: &ArrayRef,
    wanted: &ArrowType,
    how: Evolution,
) -> std::result::Result<ArrayRef, arrow::error::ArrowError> {
    let evolved =
        |array: &ArrayRef| evolved(array, wanted, how).map_err(|e| arrow::error::ArrowError::ExternalError(e.into()));
    match (stored.data_type(), wanted) {
        (
            ArrowType::Timestamp(TimeUnit::Microsecond, None),
            ArrowType::Timestamp(TimeUnit::Microsecond, Some(zone)),
        ) => {
            // The same numbers: a cast would move them by the zone's offset.
            let times = stored.as_primitive::<TimestampMicrosecondType>().clone();
            let times: ArrayRef = Arc::new(times.with_timezone(zone.clone()));
            evolved(&times)
        }
        _ => evolved(stored),
    }
}
