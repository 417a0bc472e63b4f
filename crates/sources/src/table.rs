//! A table of files.

use crate::error::external;
use crate::listing::DataFile;
use crate::metadata::{METADATA_COLUMN, OF_PARTS, constant_fields, constant_value, row_number_field};
use crate::packing::{Packing, ranged};
use crate::path;
use crate::request::ScanRequest;
use crate::store;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{ColumnStatistics, DFSchema, Result as DfResult, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, FileSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::{TableSchema, TableSchemaBuilder};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr_adapter::PhysicalExprAdapterFactory;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use firesteel_error::{Result, SparkError};
use firesteel_functions::SparkScalarUdf;
use firesteel_types::arrow_mapping::to_arrow_field;
use firesteel_types::{StructField, StructType};
use futures::{StreamExt, TryStreamExt};
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use parking_lot::RwLock;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How files of a format are read.
#[async_trait]
pub trait Format: fmt::Debug + Send + Sync {
    /// The reader of the files' columns.
    fn source(&self, schema: TableSchema, url: &ObjectStoreUrl, state: &dyn Session) -> DfResult<Arc<dyn FileSource>>;

    /// Fails where the files' columns cannot be read alone, given by position.
    fn check_columns(&self, _columns: &[usize]) -> Result<()> {
        Ok(())
    }

    /// True where files that are gone have no rows.
    fn skips_missing(&self) -> bool {
        false
    }

    /// True where a range of a file's bytes can be read alone.
    fn is_splittable(&self) -> bool;

    /// True where the reader tells the number of a row in its file.
    fn counts_rows(&self) -> bool {
        false
    }

    /// The partitions' rows in the same order, with about as many of them in each.
    async fn balanced(
        &self,
        _state: &dyn Session,
        _store: &Arc<dyn ObjectStore>,
        groups: Vec<FileGroup>,
    ) -> DfResult<Vec<FileGroup>> {
        Ok(groups)
    }

    /// What fits a file's own schema to the table's.
    fn adapter(&self) -> Option<Arc<dyn PhysicalExprAdapterFactory>> {
        None
    }

    /// What is known of a file's columns. `projection` are the columns that will be read; None for all.
    async fn statistics(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        schema: &SchemaRef,
        meta: &ObjectMeta,
        projection: Option<&[usize]>,
    ) -> DfResult<Arc<Statistics>>;
}

/// A file with the values of its partition columns.
#[derive(Debug, Clone)]
pub struct TableFile {
    pub file: DataFile,
    /// One per partition column, then the `_metadata` struct where the table has it.
    pub values: Vec<ScalarValue>,
}

/// Files of one format, read as one table.
#[derive(Debug)]
pub struct FilesTable {
    format: Arc<dyn Format>,
    /// The files' own columns.
    file_schema: SchemaRef,
    partition_fields: Fields,
    /// The number of a row in its file, where the reader tells it.
    virtual_fields: Fields,
    /// False where the files have a column of the name themselves.
    has_metadata: bool,
    /// What queries see: the columns of the files and the partitions in another order, then hidden ones.
    schema: SchemaRef,
    /// Positions of `schema`'s columns among the files' columns, the partition columns and the virtual ones.
    order: Vec<usize>,
    packing: Packing,
    /// Files and folders that the user named.
    roots: Vec<PathBuf>,
    files: RwLock<Arc<Vec<TableFile>>>,
    /// What the files were listed for, and their partition columns.
    listed: Option<(ScanRequest, Vec<StructField>)>,
}

/// Files with the values of their hidden columns.
fn table_files(files: Vec<(DataFile, Vec<ScalarValue>)>, has_metadata: bool) -> Vec<TableFile> {
    files
        .into_iter()
        .map(|(file, mut values)| {
            if has_metadata {
                values.push(constant_value(&file, 0, file.meta.size));
            }
            TableFile { file, values }
        })
        .collect()
}

impl FilesTable {
    /// A table. `schema` names the visible columns; those that are no partition
    /// columns are read from the files.
    pub fn new(
        format: Arc<dyn Format>,
        schema: &StructType,
        partition_columns: &[StructField],
        roots: Vec<PathBuf>,
        files: Vec<(DataFile, Vec<ScalarValue>)>,
        views: bool,
        packing: Packing,
    ) -> Self {
        let is_partition = |name: &str| partition_columns.iter().position(|p| p.name == name);
        let mut file_fields = Vec::new();
        let mut order = Vec::new();
        let file_count = schema.fields.iter().filter(|f| is_partition(&f.name).is_none()).count();
        for field in &schema.fields {
            match is_partition(&field.name) {
                Some(i) => order.push(file_count + i),
                None => {
                    order.push(file_fields.len());
                    file_fields.push(file_field(field, views));
                }
            }
        }
        let mut partition_fields: Vec<FieldRef> =
            partition_columns.iter().map(|field| Arc::new(to_arrow_field(field))).collect();
        let has_metadata = !schema.fields.iter().any(|f| f.name.eq_ignore_ascii_case(METADATA_COLUMN));
        let mut virtual_fields: Vec<FieldRef> = Vec::new();
        if has_metadata {
            partition_fields.push(Arc::new(to_arrow_field(&constant_fields())));
            if format.counts_rows() {
                virtual_fields.push(Arc::new(row_number_field()));
            }
            let hidden = 1 + virtual_fields.len();
            order.extend((0..hidden).map(|i| file_count + partition_columns.len() + i));
        }
        let all: Vec<FieldRef> = file_fields.iter().chain(&partition_fields).chain(&virtual_fields).cloned().collect();
        let visible: Fields = order.iter().filter_map(|i| all.get(*i)).cloned().collect();
        Self {
            format,
            file_schema: Arc::new(Schema::new(file_fields)),
            partition_fields: partition_fields.into(),
            virtual_fields: virtual_fields.into(),
            has_metadata,
            schema: Arc::new(Schema::new(visible)),
            order,
            packing,
            roots,
            files: RwLock::new(Arc::new(table_files(files, has_metadata))),
            listed: None,
        }
    }

    /// The table, of which the files can be listed again.
    pub(crate) fn listed_for(self, request: &ScanRequest, partition_columns: &[StructField]) -> Self {
        Self { listed: Some((request.clone(), partition_columns.to_vec())), ..self }
    }

    /// Lists the files again, for all plans that have the table.
    pub fn refresh(&self) -> Result<()> {
        if let Some((request, columns)) = &self.listed {
            let files = crate::scan::relist(request, columns)?;
            *self.files.write() = Arc::new(table_files(files, self.has_metadata));
        }
        Ok(())
    }

    fn files(&self) -> Arc<Vec<TableFile>> {
        self.files.read().clone()
    }

    /// True where queries may ask for `_metadata`.
    pub fn has_metadata(&self) -> bool {
        self.has_metadata
    }

    /// A text that tells the table from others: how which files are read.
    pub fn identity(&self) -> String {
        let files = self.files();
        let files: Vec<&DataFile> = files.iter().map(|f| &f.file).collect();
        format!("{:?} {files:?}", self.format)
    }

    /// The URIs of the files.
    pub fn uris(&self) -> Vec<String> {
        self.files().iter().map(|f| path::uri(&f.file.path)).collect()
    }

    /// The files and folders that the table was asked for.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The files that filters on partition columns leave.
    fn pruned<'f>(
        &self,
        state: &dyn Session,
        filters: &[Expr],
        files: &'f [TableFile],
    ) -> DfResult<Vec<&'f TableFile>> {
        let filters: Vec<Expr> = filters.iter().filter(|f| self.is_partition_filter(f)).cloned().collect();
        let Some(filter) = conjunction(filters) else { return Ok(files.iter().collect()) };
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let used: Vec<usize> = (0..self.partition_fields.len())
            .filter(|i| filter.column_refs().iter().any(|c| c.name == *self.partition_fields[*i].name()))
            .collect();
        let columns = used
            .iter()
            .map(|i| ScalarValue::iter_to_array(files.iter().filter_map(|f| f.values.get(*i).cloned())))
            .collect::<DfResult<Vec<ArrayRef>>>()?;
        let schema = Arc::new(Schema::new(self.partition_fields.clone()).project(&used)?);
        let options = RecordBatchOptions::new().with_row_count(Some(files.len()));
        let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
        let expr = state.create_physical_expr(filter, &DFSchema::try_from(schema)?)?;
        let mask = expr.evaluate(&batch)?.into_array(files.len())?;
        let mask = mask.as_boolean();
        Ok(files.iter().enumerate().filter(|(i, _)| mask.is_valid(*i) && mask.value(*i)).map(|(_, f)| f).collect())
    }

    fn is_partition_filter(&self, filter: &Expr) -> bool {
        let columns = filter.column_refs();
        !columns.is_empty()
            && !filter.is_volatile()
            && columns.iter().all(|c| self.partition_fields.iter().any(|f| *f.name() == c.name))
            && (!self.has_metadata || is_of_whole_files(filter))
    }

    /// The virtual columns, where a query reads them: readers make those of the schema, used or not.
    fn used_virtual(&self, projection: Option<&Vec<usize>>) -> Fields {
        let first = self.schema.fields().len() - self.virtual_fields.len();
        let is_used = projection.is_none_or(|columns| columns.iter().any(|i| *i >= first));
        if is_used { self.virtual_fields.clone() } else { Fields::empty() }
    }

    /// A part of a file; its `_metadata` says so.
    fn part(&self, file: &PartitionedFile, start: u64, end: u64) -> PartitionedFile {
        let mut part = ranged(file, start, end);
        let files = self.files();
        let whole = files.iter().find(|f| f.file.meta.location == file.object_meta.location);
        if self.has_metadata
            && let (Some(value), Some(whole)) = (part.partition_values.last_mut(), whole)
        {
            *value = constant_value(&whole.file, start, end - start);
        }
        part
    }

    /// A file's statistics with those of its partition columns.
    fn with_partitions(&self, statistics: &Statistics, file: &TableFile, virtual_columns: usize) -> Statistics {
        let mut all = statistics.clone();
        for value in &file.values {
            let one = Precision::Exact(value.clone());
            let column = if value.is_null() || matches!(value, ScalarValue::Struct(_)) {
                ColumnStatistics::new_unknown()
            } else {
                ColumnStatistics {
                    null_count: Precision::Exact(0),
                    max_value: one.clone(),
                    min_value: one,
                    distinct_count: Precision::Exact(1),
                    ..ColumnStatistics::new_unknown()
                }
            };
            all.column_statistics.push(column);
        }
        all.column_statistics.extend((0..virtual_columns).map(|_| ColumnStatistics::new_unknown()));
        all
    }
}

/// True where all that a filter reads of `_metadata` is the same for all parts of a file.
fn is_of_whole_files(filter: &Expr) -> bool {
    let (mut all, mut whole) = (0, 0);
    let is_metadata = |expr: &Expr| matches!(expr, Expr::Column(c) if c.name == METADATA_COLUMN);
    let visited = filter.apply(|expr| {
        if is_metadata(expr) {
            all += 1;
        }
        if let Expr::ScalarFunction(call) = expr
            && call.args.first().is_some_and(is_metadata)
        {
            let inner: &dyn std::any::Any = call.func.inner().as_ref();
            let field = inner.downcast_ref::<SparkScalarUdf>().and_then(SparkScalarUdf::field_position);
            whole += usize::from(field.is_some_and(|i| !OF_PARTS.contains(&i)));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.is_ok() && all == whole
}

/// Files as the engine reads them: all columns nullable, strings and binaries as views.
fn file_field(field: &StructField, views: bool) -> FieldRef {
    let field = to_arrow_field(field).with_nullable(true);
    let data_type = match field.data_type() {
        ArrowType::Utf8 if views => ArrowType::Utf8View,
        ArrowType::Binary if views => ArrowType::BinaryView,
        other => other.clone(),
    };
    Arc::new(field.with_data_type(data_type))
}

#[async_trait]
impl TableProvider for FilesTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(filters
            .iter()
            .map(|filter| {
                if self.is_partition_filter(filter) {
                    TableProviderFilterPushDown::Exact
                } else {
                    TableProviderFilterPushDown::Inexact
                }
            })
            .collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let table_schema = TableSchemaBuilder::from(&self.file_schema)
            .with_table_partition_cols(self.partition_fields.clone())
            .with_virtual_columns(self.used_virtual(projection))
            .build();
        let all_columns = table_schema.table_schema().clone();
        let virtual_columns = table_schema.virtual_columns().len();
        let positions: Vec<usize> = match projection {
            Some(columns) => columns.iter().filter_map(|i| self.order.get(*i).copied()).collect(),
            None => self.order.clone(),
        };
        let read: Vec<usize> = positions.iter().copied().filter(|i| *i < self.file_schema.fields().len()).collect();
        self.format.check_columns(&read).map_err(external)?;
        let listed = self.files();
        let url = store::url(state.runtime_env(), listed.iter().map(|f| &f.file))?;
        let store = state.runtime_env().object_store(&url)?;
        let mut pruned = self.pruned(state, filters, &listed)?;
        pruned.retain(|f| f.file.meta.size > 0);
        if self.format.skips_missing() {
            pruned = present(pruned, &store).await?;
        }
        // What is known of files would answer for those that others have replaced since.
        let is_gone =
            |file: &Path| !store::is_remote(file) && file.parent().is_some_and(Path::exists) && !file.exists();
        if let Some(gone) = pruned.iter().find(|f| is_gone(&f.file.path)) {
            let gone = SparkError::new("FAILED_READ_FILE.FILE_NOT_EXIST").with("path", path::uri(&gone.file.path));
            return Err(external(gone));
        }
        if pruned.is_empty() {
            // A scan of no files would have no partitions, and operators over it need at least one.
            return Ok(Arc::new(EmptyExec::new(Arc::new(all_columns.project(&positions)?))));
        }
        let concurrency = state.config_options().execution.meta_fetch_concurrency.get();
        let mut files: Vec<(usize, PartitionedFile)> = futures::stream::iter(pruned.into_iter().enumerate())
            .map(|(i, file)| {
                let (store, read) = (&store, &read);
                async move {
                    let meta = &file.file.meta;
                    let statistics = self.format.statistics(state, store, &self.file_schema, meta, Some(read)).await?;
                    let mut part = PartitionedFile::new_from_meta(meta.clone());
                    part.partition_values = file.values.clone();
                    part.statistics = Some(Arc::new(self.with_partitions(&statistics, file, virtual_columns)));
                    Ok::<_, datafusion::common::DataFusionError>((i, part))
                }
            })
            .boxed()
            .buffer_unordered(concurrency)
            .try_collect()
            .await?;
        files.sort_by_key(|(i, _)| *i);
        let files: Vec<PartitionedFile> = files.into_iter().map(|(_, file)| file).collect();
        let statistics =
            Statistics::try_merge_iter(files.iter().filter_map(|f| f.statistics.as_deref()), &all_columns)?;
        let cores = state.config().target_partitions();
        let mut groups = self
            .packing
            .pack(&files, self.format.is_splittable(), cores, |file, start, end| self.part(file, start, end));
        // Facts of a part are those of the bytes that Spark gives to a partition.
        let reads_parts = self.has_metadata
            && positions.contains(&(self.file_schema.fields().len() + self.partition_fields.len() - 1));
        if !reads_parts {
            groups = self.format.balanced(state, &store, groups).await?;
        }
        let source = self.format.source(table_schema, &url, state)?;
        let config = FileScanConfigBuilder::new(url, source)
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(Some(positions))?
            .with_limit(limit)
            .with_expr_adapter(self.format.adapter())
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

/// The files that are still there.
async fn present<'f>(files: Vec<&'f TableFile>, store: &Arc<dyn ObjectStore>) -> DfResult<Vec<&'f TableFile>> {
    let mut present = Vec::with_capacity(files.len());
    for file in files {
        let is_there = if store::is_remote(&file.file.path) {
            match store.head(&file.file.meta.location).await {
                Ok(_) => true,
                Err(object_store::Error::NotFound { .. }) => false,
                Err(error) => return Err(error.into()),
            }
        } else {
            file.file.path.exists()
        };
        if is_there {
            present.push(file);
        }
    }
    Ok(present)
}

/// A guess at the rows of a file without statistics of its own.
pub(crate) fn guessed(schema: &Schema, meta: &ObjectMeta, bytes_per_row: usize) -> Statistics {
    let mut statistics = Statistics::new_unknown(schema);
    let bytes = usize::try_from(meta.size).unwrap_or(usize::MAX);
    statistics.num_rows = Precision::Inexact(bytes / bytes_per_row.max(1));
    statistics.total_byte_size = Precision::Inexact(bytes);
    statistics
}

/// A field of the same name, exactly.
pub(crate) fn field_of<'a>(schema: &'a Schema, name: &str) -> Option<&'a Field> {
    schema.fields().iter().find(|f| f.name() == name).map(AsRef::as_ref)
}
