//! Parquet files.

use crate::balance::balanced;
use crate::error::{external, from_datafusion, unreadable};
use crate::evolution::{Evolution, Evolved, evolves};
use crate::listing::DataFile;
use crate::options::SourceOptions;
use crate::path;
use crate::rebase::{Rebase, ZONE_OF_INT96};
use crate::store;
use crate::table::{Format, field_of};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::config::TableParquetOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result as DfResult, Statistics};
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::parquet::{CachedParquetFileReaderFactory, Int96Coercer};
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfig, FileScanConfigBuilder, FileSource, ParquetSource,
};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::cache::cache_manager::{CachedFileMetadata, SchemaFingerprint, TableScopedPath};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr_adapter::{
    DefaultPhysicalExprAdapterFactory, PhysicalExprAdapter, PhysicalExprAdapterFactory,
};
use datafusion::physical_plan::PhysicalExpr;
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::arrow_mapping::{from_arrow, from_arrow_schema};
use firesteel_types::{DataType, StructField, StructType};
use futures::FutureExt;
use object_store::{ObjectMeta, ObjectStore};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::{LogicalType, TimeUnit as ParquetUnit};
use parquet::file::metadata::ParquetMetaData;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// The key of the footer that holds Spark's schema as JSON.
pub const ROW_METADATA_KEY: &str = "org.apache.spark.sql.parquet.row.metadata";

/// How Parquet files are read.
#[derive(Debug)]
pub struct ParquetFormat {
    case_sensitive: bool,
    binary_as_string: bool,
    /// Some files may have other types than the table.
    checks_types: bool,
    /// Files that are gone have no rows.
    ignores_missing: bool,
}

impl ParquetFormat {
    /// The reader with a session's settings.
    pub fn new(conf: &SqlConf, checks_types: bool, ignores_missing: bool) -> Self {
        Self {
            case_sensitive: conf.case_sensitive,
            binary_as_string: conf.parquet_binary_as_string,
            checks_types,
            ignores_missing,
        }
    }
}

#[async_trait]
impl Format for ParquetFormat {
    fn source(&self, schema: TableSchema, url: &ObjectStoreUrl, state: &dyn Session) -> DfResult<Arc<dyn FileSource>> {
        let mut options =
            TableParquetOptions { global: state.config_options().execution.parquet.clone(), ..Default::default() };
        options.global.coerce_int96 = Some("us".into());
        options.global.coerce_int96_tz = Some(ZONE_OF_INT96.into());
        options.global.binary_as_string = self.binary_as_string;
        let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
        let store = state.runtime_env().object_store(url)?;
        let factory = Arc::new(CachedParquetFileReaderFactory::new(store, cache));
        Ok(Arc::new(
            ParquetSource::new(schema).with_table_parquet_options(options).with_parquet_file_reader_factory(factory),
        ))
    }

    fn is_splittable(&self) -> bool {
        true
    }

    fn counts_rows(&self) -> bool {
        true
    }

    fn skips_missing(&self) -> bool {
        self.ignores_missing
    }

    async fn balanced(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        groups: Vec<FileGroup>,
    ) -> DfResult<Vec<FileGroup>> {
        let mut footers = HashMap::new();
        for file in groups.iter().flat_map(FileGroup::iter) {
            let meta = &file.object_meta;
            if !footers.contains_key(&meta.location) {
                let footer = footer(state, store.as_ref(), meta).await.map_err(external)?;
                footers.insert(meta.location.clone(), footer);
            }
        }
        let balanced = balanced(&groups, |file| footers.get(&file.object_meta.location).cloned());
        Ok(balanced.unwrap_or(groups))
    }

    fn adapter(&self) -> Option<Arc<dyn PhysicalExprAdapterFactory>> {
        Some(Arc::new(ColumnsByName { case_sensitive: self.case_sensitive }))
    }

    async fn statistics(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        schema: &SchemaRef,
        meta: &ObjectMeta,
        projection: Option<&[usize]>,
    ) -> DfResult<Arc<Statistics>> {
        let uri = uri(meta);
        let footer = footer(state, store.as_ref(), meta).await.map_err(external)?;
        if self.checks_types {
            let own = arrow_schema(&footer, &uri).map_err(external)?;
            check(schema, &own, projection, self.case_sensitive, &uri).map_err(external)?;
        }
        let cache = state.runtime_env().cache_manager.get_file_statistic_cache();
        let key = TableScopedPath { table: None, path: meta.location.clone() };
        let fingerprint = Arc::new(SchemaFingerprint::from_schema(schema));
        if let Some(cache) = &cache
            && let Some(cached) = cache.get(&key)
            && cached.is_valid_for(meta, &fingerprint)
        {
            return Ok(cached.statistics.clone());
        }
        let own = arrow_schema(&footer, &uri).map_err(external)?;
        let named = as_stored(schema, &own, self.case_sensitive);
        let mut statistics = DFParquetMetadata::statistics_from_parquet_metadata(&footer, &named)?;
        if Rebase::of_footer(footer.file_metadata().key_value_metadata()).is_needed() {
            // Bounds of days and moments are by another calendar.
            statistics.column_statistics = Statistics::unknown_column(&named);
        }
        let statistics = Arc::new(statistics);
        if let Some(cache) = cache {
            cache.put(&key, CachedFileMetadata::new(meta.clone(), fingerprint, statistics.clone(), None));
        }
        Ok(statistics)
    }
}

fn uri(meta: &ObjectMeta) -> String {
    path::uri(&store::path_of(&meta.location))
}

/// The footer of a file, from the engine's cache where it is there.
async fn footer(state: &dyn Session, store: &dyn ObjectStore, meta: &ObjectMeta) -> Result<Arc<ParquetMetaData>> {
    let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
    let reader = DFParquetMetadata::new(store, meta).with_file_metadata_cache(Some(cache));
    // The decoder trusts the lengths in a file: it panics at some of the damaged ones.
    let read = AssertUnwindSafe(reader.fetch_metadata()).catch_unwind().await;
    read.unwrap_or_else(|_| Err(DataFusionError::Execution("its lengths contradict each other".into()))).map_err(|e| {
        if is_gone(meta, &e) {
            return SparkError::new("FAILED_READ_FILE.FILE_NOT_EXIST").with("path", uri(meta));
        }
        unreadable(&uri(meta), from_datafusion(e))
    })
}

/// True where a file could not be read since it is not there any more.
fn is_gone(meta: &ObjectMeta, error: &DataFusionError) -> bool {
    let path = store::path_of(&meta.location);
    if !store::is_remote(&path) {
        return !path.exists();
    }
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = source {
        if let Some(object_store::Error::NotFound { .. }) = inner.downcast_ref() {
            return true;
        }
        source = inner.source();
    }
    false
}

/// The columns of a file as Arrow reads them.
fn arrow_schema(footer: &ParquetMetaData, uri: &str) -> Result<Schema> {
    let facts = footer.file_metadata();
    let schema =
        parquet_to_arrow_schema(facts.schema_descr(), facts.key_value_metadata()).map_err(|e| unreadable(uri, e))?;
    Ok(coerced(footer, schema))
}

/// Timestamps of 96 bits are read as moments of microseconds.
fn coerced(footer: &ParquetMetaData, schema: Schema) -> Schema {
    Int96Coercer::new(footer.file_metadata().schema_descr(), &schema, &TimeUnit::Microsecond)
        .with_timezone(Some("UTC".into()))
        .coerce()
        .unwrap_or(schema)
}

/// Fails for columns that Spark does not read.
fn check_illegal(footer: &ParquetMetaData, nanos_as_long: bool) -> Result<()> {
    for column in footer.file_metadata().schema_descr().columns() {
        let illegal = match column.logical_type_ref() {
            Some(LogicalType::Timestamp(facts)) if matches!(facts.unit, ParquetUnit::NANOS) && !nanos_as_long => {
                format!("INT64 (TIMESTAMP(NANOS,{}))", facts.is_adjusted_to_u_t_c)
            }
            Some(LogicalType::Time(facts)) if matches!(facts.unit, ParquetUnit::MILLIS) => {
                format!("INT32 (TIME(MILLIS,{}))", facts.is_adjusted_to_u_t_c)
            }
            _ => continue,
        };
        return Err(SparkError::new("PARQUET_TYPE_ILLEGAL").with("parquetType", illegal));
    }
    Ok(())
}

/// The columns of a file as Spark types.
fn spark_schema(footer: &ParquetMetaData, uri: &str, conf: &SqlConf) -> Result<StructType> {
    let facts = footer.file_metadata();
    let json = facts
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == ROW_METADATA_KEY))
        .and_then(|pair| pair.value.as_deref());
    if let Some(mut schema) = json.and_then(|json| StructType::from_json(json).ok()) {
        for field in &mut schema.fields {
            // Frames have no such columns: tables declare them.
            if matches!(field.data_type, DataType::Char(_) | DataType::Varchar(_)) {
                field.data_type = DataType::STRING;
            }
        }
        return Ok(schema);
    }
    check_illegal(footer, conf.parquet_nanos_as_long)?;
    // Spark knows nothing of the Arrow types that some writers tell of.
    let schema = parquet_to_arrow_schema(facts.schema_descr(), None).map_err(|e| unreadable(uri, e))?;
    let stored = coerced(footer, schema);
    let mut schema = from_arrow_schema(&without_metadata(&stored))?;
    for (field, stored) in schema.fields.iter_mut().zip(stored.fields()) {
        match field.data_type {
            _ if matches!(stored.data_type(), ArrowType::Timestamp(TimeUnit::Nanosecond, _)) => {
                field.data_type = DataType::Long;
            }
            DataType::Binary if conf.parquet_binary_as_string => field.data_type = DataType::STRING,
            DataType::TimestampNtz if !conf.parquet_infer_ntz => field.data_type = DataType::Timestamp,
            _ => {}
        }
    }
    Ok(schema.as_nullable())
}

/// Writers put numbers of their own into the metadata of fields.
fn without_metadata(schema: &Schema) -> Schema {
    let fields: Vec<FieldRef> = schema
        .fields()
        .iter()
        .map(|field| {
            let mut metadata = field.metadata().clone();
            metadata.retain(|key, _| key.starts_with("SPARK::") || key.starts_with("firesteel:"));
            Arc::new(field.as_ref().clone().with_metadata(metadata))
        })
        .collect();
    Schema::new(fields)
}

/// The schema of Parquet files: the first one's, or all files' merged.
pub(crate) async fn infer(
    files: &mut Vec<DataFile>,
    state: &dyn Session,
    options: &SourceOptions,
    conf: &SqlConf,
) -> Result<StructType> {
    let none = || SparkError::new("UNABLE_TO_INFER_SCHEMA").with("format", "Parquet");
    let merge = options.boolean("mergeSchema", conf.parquet_merge_schema)?;
    let ignore_corrupt = options.boolean("ignoreCorruptFiles", conf.ignore_corrupt_files)?;
    let store = store::reader(state.runtime_env(), files.iter()).map_err(from_datafusion)?;
    let first = files.first().map(|file| file.path.clone());
    if ignore_corrupt {
        drop_corrupt(files, state, store.as_ref()).await;
        // The first file tells the columns, or none does.
        if !merge && files.first().map(|file| &file.path) != first.as_ref() {
            return Err(none());
        }
    }
    let mut merged: Option<StructType> = None;
    for file in files.iter() {
        let footer = footer(state, store.as_ref(), &file.meta).await.map_err(|cause| {
            SparkError::new("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER")
                .with("path", path::short_uri(&file.path))
                .with_cause(cause)
        })?;
        let schema = spark_schema(&footer, &path::uri(&file.path), conf)?;
        if !merge {
            return Ok(schema.as_nullable());
        }
        merged = Some(match merged {
            None => schema,
            Some(merged) => unite(&merged, &schema, conf.case_sensitive)?,
        });
    }
    merged.map(|schema| schema.as_nullable()).ok_or_else(none)
}

/// Leaves files out whose footers cannot be read.
pub(crate) async fn drop_corrupt(files: &mut Vec<DataFile>, state: &dyn Session, store: &dyn ObjectStore) {
    let mut good = Vec::with_capacity(files.len());
    for file in files.drain(..) {
        if footer(state, store, &file.meta).await.is_ok() {
            good.push(file);
        }
    }
    *files = good;
}

/// The columns of both schemas, each of a type that holds both.
pub(crate) fn unite(left: &StructType, right: &StructType, case_sensitive: bool) -> Result<StructType> {
    let mut fields = left.fields.clone();
    for field in &right.fields {
        let same = |f: &&mut StructField| {
            if case_sensitive { f.name == field.name } else { f.name.eq_ignore_ascii_case(&field.name) }
        };
        match fields.iter_mut().find(same) {
            Some(known) => {
                known.data_type = unite_types(&known.data_type, &field.data_type, case_sensitive).ok_or_else(|| {
                    SparkError::new("CANNOT_MERGE_SCHEMAS")
                        .with("left", format!("\"{}\"", left.sql()))
                        .with("right", format!("\"{}\"", right.sql()))
                })?;
            }
            None => fields.push(field.clone()),
        }
    }
    Ok(StructType::new(fields))
}

fn unite_types(left: &DataType, right: &DataType, case_sensitive: bool) -> Option<DataType> {
    match (left, right) {
        (a, b) if a.same_type(b) => Some(a.clone()),
        (DataType::Struct(a), DataType::Struct(b)) => {
            unite(a, b, case_sensitive).ok().map(|s| DataType::Struct(Arc::new(s)))
        }
        (DataType::Array { element: a, .. }, DataType::Array { element: b, .. }) => {
            Some(DataType::array(unite_types(a, b, case_sensitive)?, true))
        }
        (DataType::Map { key: k, value: a, .. }, DataType::Map { key: l, value: b, .. }) => {
            Some(DataType::map(unite_types(k, l, case_sensitive)?, unite_types(a, b, case_sensitive)?, true))
        }
        (DataType::Decimal(p, s), DataType::Decimal(q, t)) if s == t => Some(DataType::Decimal(*p.max(q), *s)),
        _ => None,
    }
}

/// Fails where a column of the table cannot be read from a file's column.
fn check(table: &Schema, file: &Schema, projection: Option<&[usize]>, case_sensitive: bool, uri: &str) -> Result<()> {
    for (i, wanted) in table.fields().iter().enumerate() {
        if projection.is_some_and(|columns| !columns.contains(&i)) {
            continue;
        }
        let Some(stored) = stored_field(file, wanted.name(), case_sensitive) else { continue };
        let same = file.fields().iter().filter(|f| f.name().eq_ignore_ascii_case(wanted.name())).count();
        if same > 1 && !case_sensitive {
            let name = wanted.name();
            return Err(unreadable(
                uri,
                format!("more than one column of the file is called {name}, in some letter case"),
            ));
        }
        if !is_readable(stored, wanted) {
            let expected = from_arrow(wanted.data_type(), wanted.metadata())?.simple_string();
            return Err(SparkError::new("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH")
                .with("path", uri)
                .with("column", format!("[{}]", wanted.name()))
                .with("expectedType", expected)
                .with("actualType", physical_name(stored.data_type())));
        }
    }
    Ok(())
}

fn stored_field<'a>(file: &'a Schema, name: &str, case_sensitive: bool) -> Option<&'a Field> {
    field_of(file, name).or_else(|| {
        if case_sensitive {
            return None;
        }
        file.fields().iter().find(|f| f.name().eq_ignore_ascii_case(name)).map(AsRef::as_ref)
    })
}

/// The table's columns under the names that they have in a file.
fn as_stored(table: &SchemaRef, file: &Schema, case_sensitive: bool) -> SchemaRef {
    let fields: Vec<FieldRef> = table
        .fields()
        .iter()
        .map(|field| match stored_field(file, field.name(), case_sensitive) {
            Some(stored) if stored.name() != field.name() => Arc::new(field.as_ref().clone().with_name(stored.name())),
            _ => field.clone(),
        })
        .collect();
    Arc::new(Schema::new(fields))
}

fn is_readable(stored: &Field, wanted: &Field) -> bool {
    use DataType as T;
    let (Ok(from), Ok(to)) =
        (from_arrow(stored.data_type(), stored.metadata()), from_arrow(wanted.data_type(), wanted.metadata()))
    else {
        return true;
    };
    match (&from, &to) {
        (a, b) if a.same_type(b) || b.is_null() => true,
        (T::Struct(_), T::Struct(_) | T::Variant)
        | (T::Array { .. }, T::Array { .. })
        | (T::Map { .. }, T::Map { .. }) => true,
        (T::Byte | T::Short | T::Integer, T::Byte | T::Short | T::Integer | T::Long | T::Double) => true,
        (T::Byte | T::Short | T::Integer, T::Date | T::YearMonthInterval(..)) => true,
        (T::Byte | T::Short | T::Integer, T::Decimal(p, s)) => i16::from(*p) - i16::from(*s) >= 10,
        (T::Date, T::Integer) | (T::TimestampNtz, T::Long) => true,
        (T::Long, T::DayTimeInterval(..)) => true,
        (T::Long, T::Decimal(p, s)) => i16::from(*p) - i16::from(*s) >= 20,
        (T::Float, T::Double) => true,
        (T::Decimal(p, s), T::Decimal(q, t)) => {
            s <= t && i16::from(*q) - i16::from(*t) >= i16::from(*p) - i16::from(*s)
        }
        (T::Date | T::Timestamp, T::TimestampNtz) | (T::TimestampNtz, T::Timestamp) => true,
        (T::Time(_), T::Time(_)) | (T::DayTimeInterval(..), T::DayTimeInterval(..)) => true,
        (T::YearMonthInterval(..), T::YearMonthInterval(..)) => true,
        (a, b) => (a.is_string() || matches!(a, T::Binary)) && (b.is_string() || matches!(b, T::Binary)),
    }
}

/// Parquet's physical type of a column.
fn physical_name(data_type: &ArrowType) -> &'static str {
    match data_type {
        ArrowType::Boolean => "BOOLEAN",
        ArrowType::Int64 | ArrowType::UInt64 | ArrowType::Timestamp(..) | ArrowType::Time64(_) => "INT64",
        ArrowType::Float32 => "FLOAT",
        ArrowType::Float64 => "DOUBLE",
        ArrowType::Decimal128(p, _) if *p <= 9 => "INT32",
        ArrowType::Decimal128(p, _) if *p <= 18 => "INT64",
        ArrowType::Decimal128(..) | ArrowType::FixedSizeBinary(_) => "FIXED_LEN_BYTE_ARRAY",
        t if t.is_integer() => "INT32",
        ArrowType::Date32 => "INT32",
        _ => "BINARY",
    }
}

/// A scan that came from another process, with what fits files to the table, which does not
/// travel. None for scans that need nothing.
pub fn fitted(scan: &FileScanConfig) -> Option<FileScanConfig> {
    let any: &dyn std::any::Any = scan.file_source().as_ref();
    if scan.expr_adapter_factory.is_some() || !any.is::<ParquetSource>() {
        return None;
    }
    let adapter = Arc::new(ColumnsByName { case_sensitive: false });
    Some(FileScanConfigBuilder::from(scan.clone()).with_expr_adapter(Some(adapter)).build())
}

/// Finds the table's columns in a file by name, in any case where Spark does.
#[derive(Debug)]
struct ColumnsByName {
    case_sensitive: bool,
}

impl PhysicalExprAdapterFactory for ColumnsByName {
    fn create(&self, table: SchemaRef, file: SchemaRef) -> DfResult<Arc<dyn PhysicalExprAdapter>> {
        let rebase = Rebase::of_schema(&file);
        let known: Vec<Option<FieldRef>> =
            file.fields().iter().map(|stored| self.known(&table, &file, stored)).collect();
        // Fields that differ in nullability or metadata only need no cast; nested ones are not left to Arrow's.
        let seen: Vec<FieldRef> = file
            .fields()
            .iter()
            .zip(&known)
            .map(|(stored, known)| match known {
                Some(known)
                    if known.data_type() == stored.data_type()
                        || evolves(stored.data_type(), known.data_type(), rebase) =>
                {
                    known.clone()
                }
                Some(known) => Arc::new(stored.as_ref().clone().with_name(known.name()).with_nullable(true)),
                None => stored.clone(),
            })
            .collect();
        let evolved: Vec<Option<FieldRef>> = file
            .fields()
            .iter()
            .zip(known)
            .map(|(stored, known)| known.filter(|known| evolves(stored.data_type(), known.data_type(), rebase)))
            .collect();
        let is_same = seen.iter().zip(file.fields()).all(|(a, b)| a.name() == b.name());
        let inner = DefaultPhysicalExprAdapterFactory.create(table, Arc::new(Schema::new(seen)))?;
        if is_same && evolved.iter().all(Option::is_none) {
            return Ok(inner);
        }
        Ok(Arc::new(Fitted { inner, file, evolved, how: Evolution { case_sensitive: self.case_sensitive, rebase } }))
    }
}

impl ColumnsByName {
    /// The table's column that a file's column is.
    fn known(&self, table: &Schema, file: &Schema, stored: &Field) -> Option<FieldRef> {
        let known = table.fields().iter().find(|f| f.name() == stored.name()).or_else(|| {
            if self.case_sensitive {
                return None;
            }
            let same =
                |f: &&FieldRef| f.name().eq_ignore_ascii_case(stored.name()) && field_of(file, f.name()).is_none();
            table.fields().iter().find(same)
        });
        known.cloned()
    }
}

/// Gives columns back the names that they have in the file, and nested ones the types that the table wants.
#[derive(Debug)]
struct Fitted {
    inner: Arc<dyn PhysicalExprAdapter>,
    file: SchemaRef,
    /// The table's column, where the file's is of another nested type.
    evolved: Vec<Option<FieldRef>>,
    how: Evolution,
}

impl PhysicalExprAdapter for Fitted {
    fn rewrite(&self, expr: Arc<dyn PhysicalExpr>) -> DfResult<Arc<dyn PhysicalExpr>> {
        self.inner
            .rewrite(expr)?
            .transform_down(|expr| {
                let Some(column) = expr.downcast_ref::<Column>() else { return Ok(Transformed::no(expr)) };
                let Some(field) = self.file.fields().get(column.index()) else { return Ok(Transformed::no(expr)) };
                let stored: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), column.index()));
                if let Some(wanted) = self.evolved.get(column.index()).cloned().flatten() {
                    let evolved: Arc<dyn PhysicalExpr> = Arc::new(Evolved::new(stored, wanted, self.how));
                    return Ok(Transformed::new(evolved, true, TreeNodeRecursion::Jump));
                }
                if field.name() != column.name() {
                    return Ok(Transformed::yes(stored));
                }
                Ok(Transformed::no(expr))
            })
            .data()
    }
}
