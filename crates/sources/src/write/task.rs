//! One task of a write: the files of one partition of the plan.

use super::commit::Desk;
use super::file::{Encoder, FileWriter};
use super::validate::{check_times, check_types, display_name};
use crate::error::from_arrow;
use crate::options::SourceOptions;
use crate::partition::{DEFAULT_PARTITION, escape};
use crate::request::{WriteRequest, WriteSummary};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType as ArrowType, Schema, SchemaRef};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::cast::Mode;
use firesteel_functions::cast::array::{CastOptions, cast_array};
use firesteel_types::arrow_mapping::{to_arrow_schema, to_canonical_batch};
use firesteel_types::{DataType, StructType};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// How many files a task keeps open.
const MOST_OPEN: usize = 64;

/// Which columns go to files, and which to folder names.
#[derive(Debug)]
pub struct Layout {
    /// All columns, as the engine has them.
    engine: SchemaRef,
    /// Positions of columns that stand in files.
    data: Vec<usize>,
    /// Names and positions of partition columns.
    partitions: Vec<(String, usize, DataType)>,
    /// The columns of the files.
    pub schema: StructType,
    pub max_records: u64,
    cast: CastOptions,
}

impl Layout {
    /// Checks the columns of a write.
    pub fn new(request: &WriteRequest, options: &SourceOptions) -> Result<Self> {
        let schema = &request.schema;
        crate::scan::check_names(schema, true)?;
        let mut partitions = Vec::new();
        for name in &request.partition_by {
            let same = |f: &str| {
                if request.conf.case_sensitive { f == name } else { f.eq_ignore_ascii_case(name) }
            };
            let position = schema.fields.iter().position(|f| same(&f.name)).ok_or_else(|| {
                SparkError::new("_LEGACY_ERROR_TEMP_1155")
                    .with("col", name)
                    .with("schemaCatalog", schema.simple_string())
            })?;
            let data_type = schema.fields[position].data_type.clone();
            if data_type.is_nested() || matches!(data_type, DataType::Variant | DataType::CalendarInterval) {
                return Err(SparkError::new("INVALID_PARTITION_COLUMN_DATA_TYPE")
                    .with("type", format!("\"{}\"", data_type.sql())));
            }
            if partitions.iter().any(|(_, known, _)| *known == position) {
                let name = firesteel_types::text::quote_identifier(&schema.fields[position].name.to_lowercase());
                return Err(SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", name));
            }
            partitions.push((name.clone(), position, data_type));
        }
        let data: Vec<usize> = (0..schema.fields.len()).filter(|i| !partitions.iter().any(|p| p.1 == *i)).collect();
        if data.is_empty() && !partitions.is_empty() {
            return Err(SparkError::new("ALL_PARTITION_COLUMNS_NOT_ALLOWED"));
        }
        if data.is_empty() || has_empty_struct(schema) {
            return Err(SparkError::new("EMPTY_SCHEMA_NOT_SUPPORTED_FOR_DATASOURCE")
                .with("format", display_name(&request.format)));
        }
        let files = StructType::new(data.iter().map(|i| schema.fields[*i].clone()).collect());
        check_times(schema, &request.conf)?;
        check_types(&request.format, &files)?;
        let max_records = match options.get("maxRecordsPerFile") {
            None => request.conf.max_records_per_file,
            Some(text) => text.trim().parse().map_err(|_| {
                SparkError::plain(ExceptionClass::NumberFormat, format!("For input string: \"{text}\""))
            })?,
        };
        let time_zone = options.get("timeZone").unwrap_or(&request.conf.time_zone);
        let engine = to_arrow_schema(schema);
        let fields: Vec<_> = engine.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        Ok(Self {
            engine: Arc::new(Schema::new(fields)),
            data,
            partitions,
            schema: files,
            max_records: u64::try_from(max_records).unwrap_or(0),
            cast: CastOptions::new(Mode::Legacy, time_zone)?,
        })
    }

    /// True where folders tell the values of columns.
    pub fn is_partitioned(&self) -> bool {
        !self.partitions.is_empty()
    }

    /// The engine's schema of the files' columns.
    pub fn file_schema(&self) -> Result<SchemaRef> {
        self.engine.project(&self.data).map(Arc::new).map_err(from_arrow)
    }

    /// The folder of each row, below the table's.
    fn folders(&self, batch: &RecordBatch) -> Result<Vec<String>> {
        let mut folders = vec![String::new(); batch.num_rows()];
        for (name, position, data_type) in &self.partitions {
            let texts = cast_array(batch.column(*position), data_type, &DataType::STRING, &self.cast)?;
            let texts = arrow::compute::cast(&texts, &ArrowType::Utf8).map_err(from_arrow)?;
            let texts = texts.as_string::<i32>();
            let name = escape(name);
            for (row, folder) in folders.iter_mut().enumerate() {
                if !folder.is_empty() {
                    folder.push('/');
                }
                folder.push_str(&name);
                folder.push('=');
                if texts.is_null(row) || texts.value(row).is_empty() {
                    folder.push_str(DEFAULT_PARTITION);
                } else {
                    folder.push_str(&escape(texts.value(row)));
                }
            }
        }
        Ok(folders)
    }
}

/// True where a column, or a field of one, is a struct without fields.
fn has_empty_struct(schema: &StructType) -> bool {
    schema.fields.iter().any(|field| match &field.data_type {
        DataType::Struct(inner) => inner.fields.is_empty() || has_empty_struct(inner),
        _ => false,
    })
}

struct Open {
    writer: Box<dyn FileWriter>,
    rows: u64,
    /// For finding the one that was not used for longest.
    used: u64,
}

/// Writes the rows of one partition of the plan.
pub struct TaskWriter {
    layout: Arc<Layout>,
    encoder: Arc<Encoder>,
    desk: Desk,
    job: Uuid,
    partition: usize,
    open: HashMap<String, Open>,
    /// Files so far, by folder.
    counts: HashMap<String, usize>,
    clock: u64,
    summary: WriteSummary,
}

impl TaskWriter {
    /// A task that writes below a folder.
    pub fn new(layout: Arc<Layout>, encoder: Arc<Encoder>, desk: Desk, job: Uuid, partition: usize) -> Self {
        Self {
            layout,
            encoder,
            desk,
            job,
            partition,
            open: HashMap::new(),
            counts: HashMap::new(),
            clock: 0,
            summary: WriteSummary::default(),
        }
    }

    /// Writes a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = to_canonical_batch(batch, &self.layout.engine)?;
        let data = batch.project(&self.layout.data).map_err(from_arrow)?;
        self.summary.rows += batch.num_rows() as u64;
        if !self.layout.is_partitioned() {
            return self.append("", &data);
        }
        let folders = self.layout.folders(&batch)?;
        let mut groups: Vec<(&str, Vec<u32>)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (row, folder) in folders.iter().enumerate() {
            let group = *known.entry(folder).or_insert_with(|| {
                groups.push((folder, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(u32::try_from(row).unwrap_or(u32::MAX));
        }
        for (folder, rows) in groups {
            if rows.len() == data.num_rows() {
                self.append(folder, &data)?;
                continue;
            }
            let indices = UInt32Array::from(rows);
            let columns = data
                .columns()
                .iter()
                .map(|c| take(c, &indices, None))
                .collect::<std::result::Result<Vec<ArrayRef>, _>>()
                .map_err(from_arrow)?;
            let options = RecordBatchOptions::new().with_row_count(Some(indices.len()));
            let part = RecordBatch::try_new_with_options(data.schema(), columns, &options).map_err(from_arrow)?;
            self.append(folder, &part)?;
        }
        Ok(())
    }

    fn append(&mut self, folder: &str, batch: &RecordBatch) -> Result<()> {
        let most = self.layout.max_records;
        let mut at = 0;
        while at < batch.num_rows() {
            self.clock += 1;
            if !self.open.contains_key(folder) {
                let open = self.create(folder)?;
                self.open.insert(folder.to_string(), open);
            }
            let Some(open) = self.open.get_mut(folder) else { continue };
            open.used = self.clock;
            let rest = batch.num_rows() - at;
            let room = if most == 0 { rest } else { usize::try_from(most - open.rows).unwrap_or(rest).min(rest) };
            open.writer.write(&batch.slice(at, room))?;
            open.rows += room as u64;
            at += room;
            if most > 0 && open.rows >= most {
                self.close(folder)?;
            }
        }
        Ok(())
    }

    fn create(&mut self, folder: &str) -> Result<Open> {
        if self.open.len() >= MOST_OPEN
            && let Some(oldest) = self.open.iter().min_by_key(|(_, open)| open.used).map(|(k, _)| k.clone())
        {
            self.close(&oldest)?;
        }
        let count = self.counts.entry(folder.to_string()).or_default();
        let dash = if folder.is_empty() { '-' } else { '.' };
        let name = format!("part-{:05}-{}{dash}c{:03}{}", self.partition, self.job, count, self.encoder.extension());
        *count += 1;
        let (path, file) = self.desk.create(folder, &name)?;
        let writer = self.encoder.open(&path, file)?;
        self.summary.files.push(path);
        Ok(Open { writer, rows: 0, used: self.clock })
    }

    fn close(&mut self, folder: &str) -> Result<()> {
        match self.open.remove(folder) {
            Some(open) => open.writer.finish(),
            None => Ok(()),
        }
    }

    /// Makes a file without rows.
    pub fn write_empty(&mut self) -> Result<()> {
        let open = self.create("")?;
        open.writer.finish()
    }

    /// Ends all files. The first task has one, rows or not, so that the columns are known.
    pub fn finish(mut self) -> Result<WriteSummary> {
        if self.partition == 0 && self.summary.files.is_empty() && !self.layout.is_partitioned() {
            self.write_empty()?;
        }
        for (_, open) in self.open.drain() {
            open.writer.finish()?;
        }
        Ok(self.summary)
    }
}
