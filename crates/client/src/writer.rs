//! Writing files and tables.

use crate::DataFrame;
use crate::column::{Column, IntoColumns, split};
use crate::dataframe::names;
use crate::error::Result;
use firesteel_proto::connect as proto;
use proto::command::CommandType;
use proto::write_operation::save_table::TableSaveMethod;
use proto::write_operation::{BucketBy, SaveTable, SaveType};
use proto::write_operation_v2::Mode;

/// What to do where data are already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SaveMode {
    /// Fails.
    #[default]
    ErrorIfExists,
    Append,
    Overwrite,
    /// Does nothing.
    Ignore,
}

/// Writes the rows of a frame.
///
/// ```no_run
/// # use firesteel_client::SaveMode;
/// # async fn f(frame: firesteel_client::DataFrame) -> firesteel_client::Result<()> {
/// frame.write().mode(SaveMode::Overwrite).partition_by(["year"]).parquet("sales").await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Writer {
    frame: DataFrame,
    operation: proto::WriteOperation,
    mode: Option<SaveMode>,
}

impl Writer {
    pub(crate) fn new(frame: DataFrame) -> Self {
        Writer { frame, operation: proto::WriteOperation::default(), mode: None }
    }

    /// The name of the sink, such as `parquet`.
    #[must_use]
    pub fn format(mut self, format: impl Into<String>) -> Self {
        self.operation.source = Some(format.into());
        self
    }

    /// What to do where data are already.
    #[must_use]
    pub fn mode(mut self, mode: SaveMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// An option of the sink.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.operation.options.insert(key.into(), value.to_string());
        self
    }

    /// Options of the sink.
    #[must_use]
    pub fn options(mut self, options: impl IntoIterator<Item = (impl Into<String>, impl ToString)>) -> Self {
        self.operation.options.extend(options.into_iter().map(|(key, value)| (key.into(), value.to_string())));
        self
    }

    /// A directory for each value of columns.
    #[must_use]
    pub fn partition_by(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.operation.partitioning_columns = names(columns);
        self
    }

    /// A number of files by the hash of columns.
    #[must_use]
    pub fn bucket_by(mut self, buckets: i32, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.operation.bucket_by = Some(BucketBy { bucket_column_names: names(columns), num_buckets: buckets });
        self
    }

    /// The order of rows within buckets.
    #[must_use]
    pub fn sort_by(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.operation.sort_column_names = names(columns);
        self
    }

    /// Rows with near values of columns near each other.
    #[must_use]
    pub fn cluster_by(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.operation.clustering_columns = names(columns);
        self
    }

    /// Lets the table take columns that it has not yet.
    #[must_use]
    pub fn with_schema_evolution(mut self) -> Self {
        self.operation.with_schema_evolution = true;
        self
    }

    async fn run(mut self, save_type: Option<SaveType>) -> Result<()> {
        use proto::write_operation::SaveMode as Mode;
        // Nothing said means Spark's own default, which differs by the kind of write.
        let mode = match self.mode {
            None => Mode::Unspecified,
            Some(SaveMode::ErrorIfExists) => Mode::ErrorIfExists,
            Some(SaveMode::Append) => Mode::Append,
            Some(SaveMode::Overwrite) => Mode::Overwrite,
            Some(SaveMode::Ignore) => Mode::Ignore,
        };
        self.operation.mode = mode.into();
        self.operation.input = Some(self.frame.to_proto());
        self.operation.save_type = save_type;
        self.frame.session.run(CommandType::WriteOperation(self.operation)).await.map(drop)
    }

    /// Writes to a path.
    pub async fn save(self, path: impl Into<String>) -> Result<()> {
        self.run(Some(SaveType::Path(path.into()))).await
    }

    /// Writes to a sink that needs no path.
    pub async fn save_to_sink(self) -> Result<()> {
        self.run(None).await
    }

    async fn table(self, table_name: String, method: TableSaveMethod) -> Result<()> {
        self.run(Some(SaveType::Table(SaveTable { table_name, save_method: method.into() }))).await
    }

    /// Makes a table of the rows, or adds them to it, as the mode says.
    pub async fn save_as_table(self, name: impl Into<String>) -> Result<()> {
        self.table(name.into(), TableSaveMethod::SaveAsTable).await
    }

    /// Adds the rows to a table, column by column in order; with `overwrite`, in the place of its rows.
    pub async fn insert_into(mut self, name: impl Into<String>, overwrite: Option<bool>) -> Result<()> {
        if let Some(overwrite) = overwrite {
            self.mode = Some(if overwrite { SaveMode::Overwrite } else { SaveMode::Append });
        }
        self.table(name.into(), TableSaveMethod::InsertInto).await
    }

    /// Writes Parquet files.
    pub async fn parquet(self, path: impl Into<String>) -> Result<()> {
        self.format("parquet").save(path).await
    }

    /// Writes ORC files.
    pub async fn orc(self, path: impl Into<String>) -> Result<()> {
        self.format("orc").save(path).await
    }

    /// Writes JSON files.
    pub async fn json(self, path: impl Into<String>) -> Result<()> {
        self.format("json").save(path).await
    }

    /// Writes CSV files.
    pub async fn csv(self, path: impl Into<String>) -> Result<()> {
        self.format("csv").save(path).await
    }

    /// Writes XML files; the option `rowTag` names the element of a row.
    pub async fn xml(self, path: impl Into<String>) -> Result<()> {
        self.format("xml").save(path).await
    }

    /// Writes text files of the one text column.
    pub async fn text(self, path: impl Into<String>) -> Result<()> {
        self.format("text").save(path).await
    }

    /// Writes a table of a database.
    pub async fn jdbc(self, url: impl Into<String>, table: impl Into<String>) -> Result<()> {
        self.format("jdbc").option("url", url.into()).option("dbtable", table.into()).save_to_sink().await
    }
}

/// Writes the rows of a frame to a table of a catalog.
#[derive(Debug, Clone)]
pub struct WriterV2 {
    frame: DataFrame,
    operation: proto::WriteOperationV2,
}

impl WriterV2 {
    pub(crate) fn new(frame: DataFrame, table_name: String) -> Self {
        WriterV2 { frame, operation: proto::WriteOperationV2 { table_name, ..Default::default() } }
    }

    /// The format of a new table.
    #[must_use]
    pub fn using(mut self, provider: impl Into<String>) -> Self {
        self.operation.provider = Some(provider.into());
        self
    }

    /// An option of the write.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.operation.options.insert(key.into(), value.to_string());
        self
    }

    /// Options of the write.
    #[must_use]
    pub fn options(mut self, options: impl IntoIterator<Item = (impl Into<String>, impl ToString)>) -> Self {
        self.operation.options.extend(options.into_iter().map(|(key, value)| (key.into(), value.to_string())));
        self
    }

    /// A property of a new table.
    #[must_use]
    pub fn table_property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.operation.table_properties.insert(key.into(), value.into());
        self
    }

    /// Partitions a new table by columns or by [`partitioning`](crate::functions::partitioning) of them.
    #[must_use]
    pub fn partitioned_by(mut self, columns: impl IntoColumns) -> Self {
        self.operation.partitioning_columns = split(columns.into_columns()).0;
        self
    }

    /// Rows with near values of columns near each other.
    #[must_use]
    pub fn cluster_by(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.operation.clustering_columns = names(columns);
        self
    }

    /// Lets the table take columns that it has not yet.
    #[must_use]
    pub fn with_schema_evolution(mut self) -> Self {
        self.operation.with_schema_evolution = true;
        self
    }

    async fn run(mut self, mode: Mode) -> Result<()> {
        self.operation.mode = mode.into();
        self.operation.input = Some(self.frame.to_proto());
        self.frame.session.run(CommandType::WriteOperationV2(self.operation)).await.map(drop)
    }

    /// Makes the table of the rows.
    pub async fn create(self) -> Result<()> {
        self.run(Mode::Create).await
    }

    /// Makes the table of the rows, in the place of one that must be there.
    pub async fn replace(self) -> Result<()> {
        self.run(Mode::Replace).await
    }

    /// Makes the table of the rows, in the place of one that may be there.
    pub async fn create_or_replace(self) -> Result<()> {
        self.run(Mode::CreateOrReplace).await
    }

    /// Adds the rows.
    pub async fn append(self) -> Result<()> {
        self.run(Mode::Append).await
    }

    /// Writes the rows in the place of those for which a condition is true.
    pub async fn overwrite(mut self, condition: Column) -> Result<()> {
        self.operation.overwrite_condition = Some(condition.expression);
        self.run(Mode::Overwrite).await
    }

    /// Writes the rows in the place of the partitions that they are in.
    pub async fn overwrite_partitions(self) -> Result<()> {
        self.run(Mode::OverwritePartitions).await
    }
}
