//! Databases, tables, views and functions.

use crate::error::{Error, Result};
use crate::types::{IntoSchema, schema_to_proto};
use crate::{DataFrame, SparkSession, StorageLevel};
use firesteel_proto::connect as proto;
use proto::catalog::CatType;
use proto::relation::RelType;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// A catalog.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CatalogMetadata {
    pub name: String,
    pub description: Option<String>,
}

/// A database.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Database {
    pub name: String,
    pub catalog: Option<String>,
    pub description: Option<String>,
    #[serde(rename = "locationUri")]
    pub location_uri: String,
}

/// A table or view.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Table {
    pub name: String,
    pub catalog: Option<String>,
    pub namespace: Option<Vec<String>>,
    pub description: Option<String>,
    pub table_type: String,
    pub is_temporary: bool,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogColumn {
    pub name: String,
    pub description: Option<String>,
    pub data_type: String,
    pub nullable: bool,
    pub is_partition: bool,
    pub is_bucket: bool,
    #[serde(default)]
    pub is_cluster: bool,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    pub name: String,
    pub catalog: Option<String>,
    pub namespace: Option<Vec<String>>,
    pub description: Option<String>,
    pub class_name: String,
    pub is_temporary: bool,
}

/// A new table.
#[derive(Debug, Clone, Default)]
pub struct NewTable {
    name: String,
    path: Option<String>,
    source: Option<String>,
    description: Option<String>,
    schema: Option<firesteel_types::StructType>,
    options: HashMap<String, String>,
}

impl NewTable {
    /// A table of a name.
    pub fn new(name: impl Into<String>) -> Self {
        NewTable { name: name.into(), ..NewTable::default() }
    }

    /// Where the rows lie.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The format, such as `parquet`.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The columns; else they are those of the files.
    pub fn schema(mut self, schema: impl IntoSchema) -> Result<Self> {
        self.schema = Some(schema.into_struct()?);
        Ok(self)
    }

    /// An option of the format.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.options.insert(key.into(), value.to_string());
        self
    }
}

/// The catalog of a session.
///
/// ```
/// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
/// let catalog = spark.catalog();
/// spark.range(0, 3).create_or_replace_temp_view("three").await?;
/// assert!(catalog.table_exists("three").await?);
/// assert!(catalog.drop_temp_view("three").await?);
/// # Ok(()) }
/// # firesteel_client::doc_test(run);
/// ```
#[derive(Debug, Clone)]
pub struct Catalog {
    session: SparkSession,
}

impl Catalog {
    pub(crate) fn new(session: SparkSession) -> Self {
        Catalog { session }
    }

    fn frame(&self, call: CatType) -> DataFrame {
        self.session.leaf(RelType::Catalog(proto::Catalog { cat_type: Some(call) }))
    }

    async fn list<T: DeserializeOwned>(&self, call: CatType) -> Result<Vec<T>> {
        self.frame(call).collect_as().await
    }

    async fn one<T: DeserializeOwned>(&self, call: CatType) -> Result<T> {
        let found = self.list(call).await?.into_iter().next();
        found.ok_or_else(|| Error::protocol("no row in the catalog's answer"))
    }

    async fn value<T: DeserializeOwned>(&self, call: CatType) -> Result<T> {
        self.one::<(T,)>(call).await.map(|(value,)| value)
    }

    async fn done(&self, call: CatType) -> Result<()> {
        self.frame(call).collect().await.map(drop)
    }

    /// The catalog that names without one mean.
    pub async fn current_catalog(&self) -> Result<String> {
        self.value(CatType::CurrentCatalog(proto::CurrentCatalog {})).await
    }

    /// Sets the catalog that names without one mean.
    pub async fn set_current_catalog(&self, name: impl Into<String>) -> Result<()> {
        self.done(CatType::SetCurrentCatalog(proto::SetCurrentCatalog { catalog_name: name.into() })).await
    }

    /// The catalogs, of those whose names match a pattern if one is given.
    pub async fn list_catalogs(&self, pattern: Option<&str>) -> Result<Vec<CatalogMetadata>> {
        self.list(CatType::ListCatalogs(proto::ListCatalogs { pattern: owned(pattern) })).await
    }

    /// The database that names without one mean.
    pub async fn current_database(&self) -> Result<String> {
        self.value(CatType::CurrentDatabase(proto::CurrentDatabase {})).await
    }

    /// Sets the database that names without one mean.
    pub async fn set_current_database(&self, name: impl Into<String>) -> Result<()> {
        self.done(CatType::SetCurrentDatabase(proto::SetCurrentDatabase { db_name: name.into() })).await
    }

    /// The databases.
    pub async fn list_databases(&self, pattern: Option<&str>) -> Result<Vec<Database>> {
        self.list(CatType::ListDatabases(proto::ListDatabases { pattern: owned(pattern) })).await
    }

    /// A database.
    pub async fn get_database(&self, name: impl Into<String>) -> Result<Database> {
        self.one(CatType::GetDatabase(proto::GetDatabase { db_name: name.into() })).await
    }

    /// Whether there is a database of that name.
    pub async fn database_exists(&self, name: impl Into<String>) -> Result<bool> {
        self.value(CatType::DatabaseExists(proto::DatabaseExists { db_name: name.into() })).await
    }

    /// Makes a database.
    pub async fn create_database(
        &self,
        name: impl Into<String>,
        if_not_exists: bool,
        properties: HashMap<String, String>,
    ) -> Result<()> {
        self.done(CatType::CreateDatabase(proto::CreateDatabase { db_name: name.into(), if_not_exists, properties }))
            .await
    }

    /// Drops a database; with its tables, if `cascade`.
    pub async fn drop_database(&self, name: impl Into<String>, if_exists: bool, cascade: bool) -> Result<()> {
        self.done(CatType::DropDatabase(proto::DropDatabase { db_name: name.into(), if_exists, cascade })).await
    }

    /// The tables and views of a database, or of the current one.
    pub async fn list_tables(&self, database: Option<&str>, pattern: Option<&str>) -> Result<Vec<Table>> {
        self.list(CatType::ListTables(proto::ListTables { db_name: owned(database), pattern: owned(pattern) })).await
    }

    /// The views of a database, or of the current one.
    pub async fn list_views(&self, database: Option<&str>, pattern: Option<&str>) -> Result<Vec<Table>> {
        self.list(CatType::ListViews(proto::ListViews { db_name: owned(database), pattern: owned(pattern) })).await
    }

    /// A table or view.
    pub async fn get_table(&self, name: impl Into<String>) -> Result<Table> {
        self.one(CatType::GetTable(proto::GetTable { table_name: name.into(), db_name: None })).await
    }

    /// Whether there is a table or view of that name.
    pub async fn table_exists(&self, name: impl Into<String>) -> Result<bool> {
        self.value(CatType::TableExists(proto::TableExists { table_name: name.into(), db_name: None })).await
    }

    /// The columns of a table or view.
    pub async fn list_columns(&self, table: impl Into<String>) -> Result<Vec<CatalogColumn>> {
        self.list(CatType::ListColumns(proto::ListColumns { table_name: table.into(), db_name: None })).await
    }

    /// The partitions of a table.
    pub async fn list_partitions(&self, table: impl Into<String>) -> Result<Vec<String>> {
        let call = CatType::ListPartitions(proto::ListPartitions { table_name: table.into() });
        Ok(self.list::<(String,)>(call).await?.into_iter().map(|(partition,)| partition).collect())
    }

    /// The properties of a table.
    pub async fn get_table_properties(&self, table: impl Into<String>) -> Result<HashMap<String, String>> {
        let call = CatType::GetTableProperties(proto::GetTableProperties { table_name: table.into() });
        Ok(self.list::<(String, String)>(call).await?.into_iter().collect())
    }

    /// The statement that makes a table.
    pub async fn get_create_table_string(&self, table: impl Into<String>, as_serde: bool) -> Result<String> {
        self.value(CatType::GetCreateTableString(proto::GetCreateTableString { table_name: table.into(), as_serde }))
            .await
    }

    /// Makes a table; a frame over it.
    pub async fn create_table(&self, table: NewTable) -> Result<DataFrame> {
        let name = table.name.clone();
        self.done(CatType::CreateTable(proto::CreateTable {
            table_name: table.name,
            path: table.path,
            source: table.source,
            description: table.description,
            schema: table.schema.as_ref().map(schema_to_proto),
            options: table.options,
        }))
        .await?;
        Ok(self.session.table(name))
    }

    /// Makes a table over files that are there already; a frame over it.
    pub async fn create_external_table(&self, table: NewTable) -> Result<DataFrame> {
        let name = table.name.clone();
        self.done(CatType::CreateExternalTable(proto::CreateExternalTable {
            table_name: table.name,
            path: table.path,
            source: table.source,
            schema: table.schema.as_ref().map(schema_to_proto),
            options: table.options,
        }))
        .await?;
        Ok(self.session.table(name))
    }

    /// Drops a table.
    pub async fn drop_table(&self, name: impl Into<String>, if_exists: bool, purge: bool) -> Result<()> {
        self.done(CatType::DropTable(proto::DropTable { table_name: name.into(), if_exists, purge })).await
    }

    /// Drops a view.
    pub async fn drop_view(&self, name: impl Into<String>, if_exists: bool) -> Result<()> {
        self.done(CatType::DropView(proto::DropView { view_name: name.into(), if_exists })).await
    }

    /// Drops a temporary view; whether there was one.
    pub async fn drop_temp_view(&self, name: impl Into<String>) -> Result<bool> {
        self.value(CatType::DropTempView(proto::DropTempView { view_name: name.into() })).await
    }

    /// Drops a global temporary view; whether there was one.
    pub async fn drop_global_temp_view(&self, name: impl Into<String>) -> Result<bool> {
        self.value(CatType::DropGlobalTempView(proto::DropGlobalTempView { view_name: name.into() })).await
    }

    /// Deletes the rows of a table.
    pub async fn truncate_table(&self, name: impl Into<String>) -> Result<()> {
        self.done(CatType::TruncateTable(proto::TruncateTable { table_name: name.into() })).await
    }

    /// Computes the statistics of a table; without reading rows, if `no_scan`.
    pub async fn analyze_table(&self, name: impl Into<String>, no_scan: bool) -> Result<()> {
        self.done(CatType::AnalyzeTable(proto::AnalyzeTable { table_name: name.into(), no_scan })).await
    }

    /// Finds the partitions of a table that lie in its directory.
    pub async fn recover_partitions(&self, table: impl Into<String>) -> Result<()> {
        self.done(CatType::RecoverPartitions(proto::RecoverPartitions { table_name: table.into() })).await
    }

    /// The functions of a database, built-in ones included.
    pub async fn list_functions(&self, database: Option<&str>, pattern: Option<&str>) -> Result<Vec<Function>> {
        self.list(CatType::ListFunctions(proto::ListFunctions { db_name: owned(database), pattern: owned(pattern) }))
            .await
    }

    /// A function.
    pub async fn get_function(&self, name: impl Into<String>) -> Result<Function> {
        self.one(CatType::GetFunction(proto::GetFunction { function_name: name.into(), db_name: None })).await
    }

    /// Whether there is a function of that name.
    pub async fn function_exists(&self, name: impl Into<String>) -> Result<bool> {
        self.value(CatType::FunctionExists(proto::FunctionExists { function_name: name.into(), db_name: None })).await
    }

    /// Whether the rows of a table are kept in memory.
    pub async fn is_cached(&self, table: impl Into<String>) -> Result<bool> {
        self.value(CatType::IsCached(proto::IsCached { table_name: table.into() })).await
    }

    /// Keeps the rows of a table.
    pub async fn cache_table(&self, table: impl Into<String>, level: Option<StorageLevel>) -> Result<()> {
        let storage_level = level.map(StorageLevel::to_proto);
        self.done(CatType::CacheTable(proto::CacheTable { table_name: table.into(), storage_level })).await
    }

    /// Keeps the rows of a table no longer.
    pub async fn uncache_table(&self, table: impl Into<String>) -> Result<()> {
        self.done(CatType::UncacheTable(proto::UncacheTable { table_name: table.into() })).await
    }

    /// Keeps no rows any longer.
    pub async fn clear_cache(&self) -> Result<()> {
        self.done(CatType::ClearCache(proto::ClearCache {})).await
    }

    /// Forgets what is known about a table.
    pub async fn refresh_table(&self, table: impl Into<String>) -> Result<()> {
        self.done(CatType::RefreshTable(proto::RefreshTable { table_name: table.into() })).await
    }

    /// Forgets what is known about the files under a path.
    pub async fn refresh_by_path(&self, path: impl Into<String>) -> Result<()> {
        self.done(CatType::RefreshByPath(proto::RefreshByPath { path: path.into() })).await
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_string)
}
