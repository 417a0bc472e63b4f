//! Files that are parsed record by record.

use crate::error::{external, unreadable};
use crate::listing::DataFile;
use crate::path;
use crate::store::{Input, Origin, path_of};
use crate::table::{Format, guessed};
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result as DfResult, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpenFuture, FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::PhysicalExpr;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use firesteel_error::{Result, SparkError};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::{ObjectMeta, ObjectStore};
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

/// A file, or a range of its bytes.
#[derive(Debug, Clone)]
pub struct FilePart {
    pub path: PathBuf,
    pub size: u64,
    pub modified_millis: i64,
    pub start: u64,
    /// Exclusive.
    pub end: u64,
    pub origin: Origin,
}

impl FilePart {
    /// All of a file.
    pub fn whole(file: &DataFile) -> Self {
        Self {
            path: file.path.clone(),
            size: file.meta.size,
            modified_millis: file.meta.last_modified.timestamp_millis(),
            start: 0,
            end: file.meta.size,
            origin: Origin::of(&file.meta.location),
        }
    }

    /// A part of a file of this machine.
    #[cfg(test)]
    pub(crate) fn local(path: &std::path::Path, size: u64, range: std::ops::Range<u64>) -> Self {
        let path = path.to_path_buf();
        Self { path, size, modified_millis: 0, start: range.start, end: range.end, origin: Origin::Local }
    }

    /// The file's bytes from a position on.
    pub(crate) fn open(&self, start: u64) -> Result<Input> {
        self.origin.open(&self.path, self.size, start).map_err(|e| io(&self.path, e))
    }
}

/// How many batches of another machine's file are read ahead.
const AHEAD: usize = 2;

/// Batches of a file.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Parses files of a format.
pub trait RecordReader: Debug + Send + Sync + 'static {
    /// The format's name.
    fn name(&self) -> &'static str;

    /// True where a range of a file's bytes can be read alone.
    fn is_splittable(&self) -> bool;

    /// Reads some columns, given by position, of a part of a file.
    fn read(&self, part: &FilePart, columns: &[usize], batch_size: usize) -> Result<Batches>;

    /// A guess at the bytes of a row.
    fn bytes_per_row(&self) -> usize;

    /// Fails where these columns cannot be read alone.
    fn check_columns(&self, _columns: &[usize]) -> Result<()> {
        Ok(())
    }
}

/// Fails where the column of corrupt records is read alone, which no parsed value then fills.
pub(crate) fn check_corrupt_alone(columns: &[usize], corrupt: Option<usize>) -> Result<()> {
    match columns {
        [only] if Some(*only) == corrupt => {
            Err(SparkError::new("UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN"))
        }
        _ => Ok(()),
    }
}

/// Which files are skipped rather than fail.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tolerance {
    pub missing: bool,
    pub corrupt: bool,
}

/// A format of which files are parsed record by record.
#[derive(Debug)]
pub struct RecordFormat {
    pub reader: Arc<dyn RecordReader>,
    pub tolerance: Tolerance,
}

#[async_trait]
impl Format for RecordFormat {
    fn source(
        &self,
        schema: TableSchema,
        _url: &ObjectStoreUrl,
        _state: &dyn Session,
    ) -> DfResult<Arc<dyn FileSource>> {
        Ok(Arc::new(RecordSource {
            reader: self.reader.clone(),
            tolerance: self.tolerance,
            projection: SplitProjection::unprojected(&schema),
            schema,
            batch_size: 8192,
            metrics: ExecutionPlanMetricsSet::new(),
        }))
    }

    fn is_splittable(&self) -> bool {
        self.reader.is_splittable()
    }

    fn check_columns(&self, columns: &[usize]) -> Result<()> {
        self.reader.check_columns(columns)
    }

    async fn statistics(
        &self,
        _state: &dyn Session,
        _store: &Arc<dyn ObjectStore>,
        schema: &SchemaRef,
        meta: &ObjectMeta,
        _projection: Option<&[usize]>,
    ) -> DfResult<Arc<Statistics>> {
        Ok(Arc::new(guessed(schema, meta, self.reader.bytes_per_row())))
    }
}

/// The source of parsed files.
#[derive(Debug, Clone)]
pub struct RecordSource {
    reader: Arc<dyn RecordReader>,
    tolerance: Tolerance,
    schema: TableSchema,
    projection: SplitProjection,
    batch_size: usize,
    metrics: ExecutionPlanMetricsSet,
}

impl FileSource for RecordSource {
    fn create_file_opener(
        &self,
        _store: Arc<dyn ObjectStore>,
        _config: &FileScanConfig,
        _partition: usize,
    ) -> DfResult<Arc<dyn FileOpener>> {
        let opener = Arc::new(RecordOpener {
            reader: self.reader.clone(),
            tolerance: self.tolerance,
            columns: self.projection.file_indices.clone(),
            batch_size: self.batch_size,
        });
        ProjectionOpener::try_new(self.projection.clone(), opener, self.schema.file_schema())
    }

    fn table_schema(&self) -> &TableSchema {
        &self.schema
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self { batch_size, ..self.clone() })
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> DfResult<Option<Arc<dyn FileSource>>> {
        // What depends on the partition is made above the scan, which does not know which partition it is.
        if projection.iter().any(|e| is_volatile(&e.expr)) {
            return Ok(None);
        }
        let merged = self.projection.source.try_merge(projection)?;
        let projection = SplitProjection::new(self.schema.file_schema(), &merged);
        Ok(Some(Arc::new(Self { projection, ..self.clone() })))
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection.source)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        self.reader.name()
    }

    fn supports_repartitioning(&self) -> bool {
        self.reader.is_splittable()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        datafusion::physical_plan::apply_expression_roots(self.projection.source.iter(), f)
    }
}

struct RecordOpener {
    reader: Arc<dyn RecordReader>,
    tolerance: Tolerance,
    columns: Vec<usize>,
    batch_size: usize,
}

impl FileOpener for RecordOpener {
    fn open(&self, file: PartitionedFile) -> DfResult<FileOpenFuture> {
        let size = file.object_meta.size;
        let (start, end) = match &file.range {
            Some(range) => (u64::try_from(range.start).unwrap_or(0), u64::try_from(range.end).unwrap_or(size)),
            None => (0, size),
        };
        let meta = &file.object_meta;
        let part = FilePart {
            path: path_of(&meta.location),
            size,
            modified_millis: meta.last_modified.timestamp_millis(),
            start,
            end,
            origin: Origin::of(&meta.location),
        };
        let (reader, columns, batch_size) = (self.reader.clone(), self.columns.clone(), self.batch_size);
        let tolerance = self.tolerance;
        if part.origin.is_remote() {
            return Ok(Box::pin(async move { Ok(remote(reader, part, columns, batch_size, tolerance)) }));
        }
        Ok(Box::pin(async move {
            let uri = path::uri(&part.path);
            if !part.path.exists() {
                if tolerance.missing {
                    return Ok(futures::stream::empty().boxed());
                }
                return Err(external(SparkError::new("FAILED_READ_FILE.FILE_NOT_EXIST").with("path", uri)));
            }
            let batches = match reader.read(&part, &columns, batch_size) {
                Ok(batches) => batches,
                Err(_) if tolerance.corrupt => return Ok(futures::stream::empty().boxed()),
                Err(error) => return Err(external(located(error, &uri))),
            };
            let mut failed = false;
            let batches = batches.map_while(move |batch| match batch {
                _ if failed => None,
                Ok(batch) => Some(Ok(batch)),
                Err(error) => {
                    failed = true;
                    (!tolerance.corrupt).then(|| Err(external(located(error, &uri))))
                }
            });
            Ok(futures::stream::iter(batches).boxed())
        }))
    }
}

/// The batches of a part of another machine's file, which a thread that may block reads.
fn remote(
    reader: Arc<dyn RecordReader>,
    part: FilePart,
    columns: Vec<usize>,
    batch_size: usize,
    tolerance: Tolerance,
) -> BoxStream<'static, DfResult<RecordBatch>> {
    let mut stream = RecordBatchReceiverStream::builder(Arc::new(Schema::empty()), AHEAD);
    let sender = stream.tx();
    stream.spawn_blocking(move || {
        let failed = match reader.read(&part, &columns, batch_size) {
            Ok(mut batches) => batches.find_map(|batch| match batch {
                // Where nobody takes it the query has ended.
                Ok(batch) => sender.blocking_send(Ok(batch)).is_err().then_some(None),
                Err(error) => Some(Some(error)),
            }),
            Err(error) => Some(Some(error)),
        };
        let Some(Some(error)) = failed else { return Ok(()) };
        let uri = path::uri(&part.path);
        if part.origin.is_gone(&part.path) {
            let gone = SparkError::new("FAILED_READ_FILE.FILE_NOT_EXIST").with("path", uri);
            return if tolerance.missing { Ok(()) } else { Err(external(gone)) };
        }
        if tolerance.corrupt { Ok(()) } else { Err(external(located(error, &uri))) }
    });
    stream.build().boxed()
}

/// The error of a file that cannot be read, with what led to it.
pub(crate) fn located(error: SparkError, uri: &str) -> SparkError {
    if error.is("FAILED_READ_FILE") {
        return error;
    }
    SparkError::new("FAILED_READ_FILE.NO_HINT").with("path", uri).with_cause(error)
}

/// An I/O error of a file.
pub(crate) fn io(path: &std::path::Path, error: impl ToString) -> SparkError {
    unreadable(&path::uri(path), error)
}
