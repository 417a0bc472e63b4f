//! CREATE TABLE, DROP TABLE, TRUNCATE.

use super::rows::nothing;
use super::{Runner, now, table_operation};
use crate::catalog_state::Found;
use firesteel_analyzer::{LocalRows, attribute};
use firesteel_catalog::catalog::{already_exists, table_not_found_in};
use firesteel_catalog::{Bucketing, CatalogTable, QualifiedName, TableKind};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{
    ColumnDefinition, CreateTable, Expr, ExprKind, Options, PartitionField, PartitionSpec, TableName,
};
use firesteel_sources::path::{place, short_uri};
use firesteel_sources::store::{Stores, is_remote};
use firesteel_sources::write::validate::{check_fields, check_times};
use firesteel_sources::{SaveMode, ScanRequest};
use firesteel_types::{DataType, Metadata, StructField, StructType};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a new table is to be, as any of the ways to make one says it.
pub(crate) struct NewTable {
    pub name: QualifiedName,
    pub provider: String,
    pub schema: StructType,
    pub partition_columns: Vec<String>,
    pub bucketing: Option<Bucketing>,
    pub location: Option<String>,
    pub comment: Option<String>,
    pub properties: BTreeMap<String, String>,
    pub options: BTreeMap<String, String>,
    pub collation: Option<String>,
}

impl Runner {
    pub(super) fn create_table(&self, create: &CreateTable) -> Result<LocalRows> {
        let parts = self.parts(&create.name)?;
        if create.is_temporary {
            return Err(SparkError::unsupported("CREATE TEMPORARY TABLE"));
        }
        let name = self.qualify(&parts)?;
        if create.replace || create.must_exist {
            return Err(table_operation(&name, "REPLACE TABLE"));
        }
        if create.spec.serde.is_some() {
            return Err(SparkError::new("NOT_SUPPORTED_COMMAND_WITHOUT_HIVE_SUPPORT")
                .with("cmd", "CREATE Hive TABLE (AS SELECT)"));
        }
        if !create.constraints.is_empty() || create.columns.iter().any(|c| !c.constraints.is_empty()) {
            return Err(table_operation(&name, "CONSTRAINT"));
        }
        if !create.spec.cluster_by.is_empty() {
            return Err(SparkError::unsupported("CLUSTER BY in CREATE TABLE"));
        }
        if create.spec.is_external && create.spec.location.is_none() {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1069"));
        }
        if create.spec.location.as_deref() == Some("") {
            let message = "Can not create a Path from an empty string";
            return Err(SparkError::plain(ExceptionClass::IllegalArgument, message));
        }
        check_name(&name.name)?;
        self.catalog().database(&name.database)?;
        let (columns, partition_columns) = self.columns(&name, create)?;
        let has_no_columns = columns.fields.is_empty();
        let mut options = BTreeMap::new();
        let mut location = create.spec.location.clone();
        for (key, value) in &create.spec.options {
            let value = self.text_of(value)?;
            if key.eq_ignore_ascii_case("path") {
                location.get_or_insert(value);
            } else {
                options.insert(key.clone(), value);
            }
        }
        let provider = create.spec.provider.clone().unwrap_or_else(|| self.conf().default_source.clone());
        let bucketing = create.spec.bucket.as_ref().map(|bucket| Bucketing {
            count: bucket.num_buckets,
            columns: bucket.columns.clone(),
            sort_columns: bucket
                .sort
                .iter()
                .filter_map(|s| match &s.child.kind {
                    ExprKind::Attribute { name, .. } => name.last().cloned(),
                    _ => None,
                })
                .collect(),
        });
        let bucketing = bucketing.or_else(|| create.spec.partitioning.iter().find_map(bucket_transform));
        let mut new = NewTable {
            name,
            provider,
            schema: columns,
            partition_columns,
            bucketing,
            location,
            comment: create.spec.comment.clone(),
            properties: create.spec.properties.iter().cloned().collect(),
            options,
            collation: create.spec.collation.clone(),
        };
        if !has_no_columns {
            self.check_provider(&new.provider)?;
            self.check_new_columns(&new)?;
        }
        if self.catalog().table(&new.name).is_some() {
            return if create.if_not_exists { Ok(nothing()) } else { Err(already_exists(&new.name)) };
        }
        let Some(query) = &create.query else {
            if has_no_columns && self.inferred(&mut new)?.is_none() {
                let format = crate::write::format_name(&new.provider);
                let format = if format == "parquet" { "Parquet".to_string() } else { format.to_uppercase() };
                return Err(SparkError::new("UNABLE_TO_INFER_SCHEMA").with("format", format));
            }
            if !has_no_columns && crate::jdbc::is_jdbc(&new.provider) {
                self.database_schema(&new, Some(&new.schema))?;
            }
            let name = new.name.clone();
            self.add_table(new)?;
            self.hide_partitions(&name)?;
            return Ok(nothing());
        };
        let resolved = self.analyse(query)?;
        let schema = attribute::schema_of(&resolved.output).with_raw_types().as_nullable();
        if new.schema.fields.is_empty() {
            new.schema = schema;
        }
        self.create_with_rows(new, &resolved)?;
        Ok(nothing())
    }

    /// Makes a table and writes its first rows; without the rows there is no table, also where the process
    /// ends in between.
    pub(crate) fn create_with_rows(&self, new: NewTable, resolved: &firesteel_analyzer::Resolved) -> Result<()> {
        if new.location.is_none() {
            let location = self.managed_location(&new.name)?;
            if !self.is_free(&location)? {
                return Err(SparkError::new("LOCATION_ALREADY_EXISTS")
                    .with("location", format!("'{}'", short_uri(&location)))
                    .with("identifier", new.name.quoted()));
            }
        }
        let table = self.table_of(new)?;
        let name = table.name.clone();
        // A database may have a table of the name, in whose place the new one comes.
        let is_jdbc = table.provider.as_deref() == Some(crate::jdbc::JDBC);
        let mode = if is_jdbc { SaveMode::Overwrite } else { SaveMode::Append };
        self.catalog().reserve_table(table.clone())?;
        let result = self
            .make_home(&table)
            .and_then(|()| self.write_rows(&table, resolved, mode))
            .and_then(|()| self.catalog().keep_table(&name));
        if result.is_err()
            && let Some(table) = self.catalog().drop_table(&name)?
        {
            self.remove_data(&table)?;
        }
        result
    }

    /// The columns of a statement, those of partitions last, and the partition columns' names.
    fn columns(&self, name: &QualifiedName, create: &CreateTable) -> Result<(StructType, Vec<String>)> {
        let mut fields = Vec::new();
        for column in &create.columns {
            fields.push(self.field(name, column, "CREATE TABLE")?);
        }
        let mut partitions = Vec::new();
        for field in &create.spec.partitioning {
            match field {
                PartitionField::Transform(Expr { kind: ExprKind::Attribute { name, .. }, .. }) => {
                    partitions.extend(name.last().cloned());
                }
                PartitionField::Transform(_) if bucket_transform(field).is_some() => {}
                PartitionField::Transform(_) => return Err(table_operation(name, "PARTITIONED BY transforms")),
                PartitionField::Column(column) => {
                    fields.push(self.field(name, column, "CREATE TABLE")?);
                    partitions.push(column.field.name.clone());
                }
            }
        }
        let is_repeated = |(index, column): &(usize, &String)| {
            partitions[..*index].iter().any(|other| other.eq_ignore_ascii_case(column))
        };
        if let Some((_, column)) = partitions.iter().enumerate().find(is_repeated) {
            let column = attribute::quote(&column.to_lowercase());
            return Err(SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", column));
        }
        Ok((StructType::new(fields), partitions))
    }

    /// A column with its default in the metadata.
    pub(super) fn field(
        &self,
        table: &QualifiedName,
        column: &ColumnDefinition,
        statement: &str,
    ) -> Result<StructField> {
        if column.generated.is_some() {
            return Err(table_operation(table, "generated columns"));
        }
        if column.identity.is_some() {
            return Err(table_operation(table, "identity columns"));
        }
        let mut field = column.field.clone();
        if let Some((text, expr)) = &column.default {
            let statement = super::default::Declared { statement, column: &attribute::quote(&field.name), text };
            self.check_default(&statement, expr, &field.data_type.char_varchar_as_string())?;
            let mut metadata = field.metadata.to_map();
            metadata.insert("CURRENT_DEFAULT".to_string(), text.clone().into());
            metadata.insert("EXISTS_DEFAULT".to_string(), text.clone().into());
            field.metadata = Metadata::new(metadata);
        }
        Ok(field)
    }

    /// Gives a table without columns those of the files that are there, if there are any.
    fn inferred(&self, new: &mut NewTable) -> Result<Option<()>> {
        let location = match &new.location {
            Some(location) => place(location)?,
            None => self.managed_location(&new.name)?,
        };
        let provider = crate::write::format_name(&new.provider);
        if let Some(python) = self.session.python().source(&provider) {
            let options: Options = new.options.clone().into_iter().collect();
            let scan = self.block(crate::python::source::table(&self.session, python, None, &options))?;
            new.schema = scan.schema;
            return Ok((!new.schema.fields.is_empty()).then_some(()));
        }
        if provider == crate::jdbc::JDBC {
            new.schema = self.database_schema(new, None)?;
            return Ok(Some(()));
        }
        let options: Vec<(String, String)> = new.options.clone().into_iter().collect();
        if !Stores::new(&self.conf(), &options).exists(&location)? {
            return Ok(None);
        }
        let request = ScanRequest {
            format: provider,
            paths: vec![location.to_string_lossy().into_owned()],
            schema: None,
            options,
            partition_columns: None,
            conf: self.conf().as_ref().clone(),
        };
        let Ok(scan) = self.block(firesteel_sources::scan(&request, self.session.state())) else { return Ok(None) };
        new.schema = scan.schema;
        Ok((!new.schema.fields.is_empty()).then_some(()))
    }

    /// The columns of a table of a database, which have to be the given ones.
    fn database_schema(&self, new: &NewTable, given: Option<&StructType>) -> Result<StructType> {
        let options: Options = new.options.clone().into_iter().collect();
        let conf = self.conf();
        let scan = self.block(crate::jdbc::scan(&conf, &options, &[], given))?;
        Ok(scan.schema)
    }

    /// Fails unless tables can be of this format.
    fn check_provider(&self, name: &str) -> Result<()> {
        let provider = crate::write::format_name(name);
        let is_known = matches!(provider.as_str(), "parquet" | "csv" | "json" | "text" | "orc" | "xml" | "jdbc");
        if is_known || self.session.python().source(&provider).is_some() {
            return Ok(());
        }
        if matches!(provider.as_str(), "avro" | "delta" | "iceberg" | "hive" | "binaryfile") {
            return Err(SparkError::unsupported(format!("tables of the format {provider}")));
        }
        Err(SparkError::new("DATA_SOURCE_NOT_FOUND").with("provider", name))
    }

    /// Fails for columns that no table can have, and for a layout of columns that are not there.
    fn check_new_columns(&self, new: &NewTable) -> Result<()> {
        let case_sensitive = self.conf().case_sensitive;
        let mut seen: Vec<String> = Vec::new();
        for field in &new.schema.fields {
            let key = if case_sensitive { field.name.clone() } else { field.name.to_lowercase() };
            if seen.contains(&key) {
                return Err(SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", attribute::quote(&key)));
            }
            seen.push(key);
        }
        let not_defined = |kind: &str, column: &str| {
            let names: Vec<String> = new.schema.names().map(attribute::quote).collect();
            SparkError::new("COLUMN_NOT_DEFINED_IN_TABLE")
                .with("colType", kind)
                .with("colName", attribute::quote(column))
                .with("tableName", new.name.quoted())
                .with("tableCols", names.join(", "))
        };
        let mut partitions: Vec<&StructField> = Vec::new();
        for column in &new.partition_columns {
            let field = new.schema.fields.iter().find(|f| f.name.eq_ignore_ascii_case(column));
            partitions.push(field.ok_or_else(|| not_defined("partition", column))?);
        }
        for column in new.bucketing.iter().flat_map(|bucketing| &bucketing.columns) {
            if !new.schema.names().any(|name| name.eq_ignore_ascii_case(column)) {
                return Err(not_defined("bucket", column));
            }
        }
        if !partitions.is_empty() && partitions.len() == new.schema.fields.len() {
            return Err(SparkError::new("ALL_PARTITION_COLUMNS_NOT_ALLOWED"));
        }
        let cannot_part = |t: &DataType| t.is_nested() || matches!(t, DataType::Variant | DataType::CalendarInterval);
        match partitions.into_iter().find(|field| cannot_part(&field.data_type)) {
            Some(field) => Err(SparkError::new("INVALID_PARTITION_COLUMN_DATA_TYPE")
                .with("type", format!("\"{}\"", field.data_type.sql()))),
            None => Ok(()),
        }
    }

    /// Checks a new table, makes its folder, and adds it to the catalog.
    pub(crate) fn add_table(&self, new: NewTable) -> Result<()> {
        let table = self.table_of(new)?;
        self.catalog().create_table(table.clone(), false)?;
        self.make_home(&table)
    }

    /// Makes the folder of a managed table.
    fn make_home(&self, table: &CatalogTable) -> Result<()> {
        match (&table.kind, &table.location) {
            (TableKind::Managed, Some(location)) => self.stores().make_folder(Path::new(location)),
            _ => Ok(()),
        }
    }

    /// Whether nothing is at a place but what writes left there that never ended.
    fn is_free(&self, location: &Path) -> Result<bool> {
        if is_remote(location) {
            return self.stores().is_empty(location);
        }
        let Ok(entries) = std::fs::read_dir(location) else { return Ok(true) };
        Ok(entries.flatten().all(|entry| entry.file_name().to_string_lossy().starts_with("_temporary-")))
    }

    /// The table that a statement asks for.
    fn table_of(&self, mut new: NewTable) -> Result<CatalogTable> {
        for field in &mut new.schema.fields {
            field.metadata = field.metadata.without_notes();
        }
        check_times(&new.schema, &self.conf())?;
        // Files promise nothing of nulls.
        new.schema = new.schema.as_nullable();
        let provider = crate::write::format_name(&new.provider);
        let (location, kind) = match &new.location {
            Some(location) => (place(location)?, TableKind::External),
            None => (self.managed_location(&new.name)?, TableKind::Managed),
        };
        self.check_provider(&new.provider)?;
        let is_foreign = provider == crate::jdbc::JDBC || self.session.python().source(&provider).is_some();
        self.stores().check_table(&location)?;
        if new.schema.fields.is_empty() {
            self.inferred(&mut new)?;
        }
        self.check_new_columns(&new)?;
        let (mut data, mut partitions) = (Vec::new(), Vec::new());
        for column in &new.partition_columns {
            partitions.extend(new.schema.fields.iter().find(|f| f.name.eq_ignore_ascii_case(column)).cloned());
        }
        if let Some(bucketing) = &new.bucketing
            && let Some(column) =
                bucketing.columns.iter().find(|c| partitions.iter().any(|p| p.name.eq_ignore_ascii_case(c)))
        {
            let names: Vec<&str> = partitions.iter().map(|p| p.name.as_str()).collect();
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1166")
                .with("bucketCol", column)
                .with("normalizedPartCols", names.join(", ")));
        }
        for field in new.schema.fields {
            if !partitions.iter().any(|p: &StructField| p.name == field.name) {
                data.push(field);
            }
        }
        if !is_foreign {
            // Parquet's shapes have a table, if no rows.
            let is_shape = |t: &DataType| matches!(t, DataType::Geometry(_) | DataType::Geography(_));
            let held = data.iter().filter(|f| provider != "parquet" || !is_shape(&f.data_type));
            check_fields(&provider, &StructType::new(held.cloned().collect()))?;
        }
        let partition_columns = partitions.iter().map(|f| f.name.clone()).collect();
        data.extend(partitions);
        let comment = new.properties.remove("comment").or(new.comment);
        Ok(CatalogTable {
            name: new.name,
            kind,
            provider: Some(provider),
            schema: StructType::new(data),
            partition_columns,
            bucketing: new.bucketing,
            location: Some(location.to_string_lossy().into_owned()),
            comment,
            properties: new.properties,
            options: new.options,
            collation: new.collation,
            created: now(),
            owner: String::new(),
            statistics: None,
            view: None,
            unknown_partitions: Vec::new(),
        })
    }

    pub(super) fn create_table_like(
        &self,
        name: &TableName,
        source: &TableName,
        if_not_exists: bool,
        provider: Option<&str>,
        location: Option<&str>,
        properties: &Options,
    ) -> Result<LocalRows> {
        let name = self.qualify(&self.parts(name)?)?;
        let found = self.found_named(source)?;
        if self.catalog().table(&name).is_some() {
            return if if_not_exists { Ok(nothing()) } else { Err(already_exists_in_database(&name)) };
        }
        let schema = self.schema_of(&found);
        let (source_provider, partition_columns, bucketing, options) = match &found {
            Found::Stored(table) if !table.is_view() => (
                table.provider.clone(),
                table.partition_columns.clone(),
                table.bucketing.clone(),
                table.options.clone(),
            ),
            _ => (None, Vec::new(), None, BTreeMap::new()),
        };
        let provider =
            provider.map(str::to_string).or(source_provider).unwrap_or_else(|| self.conf().default_source.clone());
        self.add_table(NewTable {
            name,
            provider,
            schema,
            partition_columns,
            bucketing,
            location: location.map(str::to_string),
            comment: None,
            properties: properties.iter().cloned().collect(),
            options,
            collation: None,
        })?;
        Ok(nothing())
    }

    pub(super) fn drop_table(&self, name: &TableName, if_exists: bool) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        match self.find(&parts)? {
            Some(Found::Temporary { name, .. }) => {
                self.drop_temporary_view(&name);
            }
            Some(Found::Global { name, .. }) => {
                self.drop_global_view(&name);
            }
            Some(Found::Stored(table)) if table.is_view() => {
                self.catalog().drop_table(&table.name)?;
            }
            Some(Found::Stored(table)) => {
                self.catalog().drop_table(&table.name)?;
                self.remove_data(&table)?;
            }
            None if if_exists => {}
            None => {
                let name = self.qualify(&parts)?;
                return Err(table_not_found_in(&name.quoted(), &[], &name.database));
            }
        }
        Ok(nothing())
    }

    /// Removes the folder of a managed table.
    pub(crate) fn remove_data(&self, table: &CatalogTable) -> Result<()> {
        if let Some(location) = &table.location {
            self.refresh_path(location);
        }
        match (table.kind, &table.location) {
            (TableKind::Managed, Some(location)) => self.stores_of(table).remove_folder(Path::new(location)),
            _ => Ok(()),
        }
    }

    pub(super) fn truncate(&self, name: &TableName, partition: Option<&PartitionSpec>) -> Result<LocalRows> {
        let table = self.stored_table(name, "TRUNCATE TABLE")?;
        if table.kind == TableKind::External {
            return Err(SparkError::unsupported("TRUNCATE TABLE on an external table"));
        }
        let folder = table_folder(&table)?;
        match partition {
            None => {
                let stores = self.stores_of(&table);
                stores.remove_folder(&folder)?;
                stores.make_folder(&folder)?;
            }
            Some(_) if table.partition_columns.is_empty() => {
                return Err(SparkError::new("_LEGACY_ERROR_TEMP_1267").with("tableIdentWithDB", table.name.quoted()));
            }
            Some(spec) => {
                let spec = self.partition_values(&table, spec)?;
                for found in self.partitions_of(&table)?.into_iter().filter(|p| p.matches(&spec)) {
                    let stores = self.stores_of(&table);
                    stores.remove_folder(&found.folder)?;
                    stores.make_folder(&found.folder)?;
                }
            }
        }
        self.refresh_path(&folder.to_string_lossy());
        self.forget_statistics(&table.name)?;
        Ok(nothing())
    }

    /// What was counted of a table is not true any more.
    pub(crate) fn forget_statistics(&self, name: &QualifiedName) -> Result<()> {
        self.catalog().alter_table(name, |table| {
            table.statistics = None;
            Ok(())
        })
    }
}

/// As Spark names a table that is there already where it asks its own catalog.
pub(super) fn already_exists_in_database(name: &QualifiedName) -> SparkError {
    SparkError::new("TABLE_OR_VIEW_ALREADY_EXISTS").with("relationName", name.quoted_in_catalog())
}

/// Names of tables, views and databases have letters, digits and underscores only.
pub(super) fn check_name(name: &str) -> Result<()> {
    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(());
    }
    let parts: Vec<String> = name.split('.').map(str::to_string).collect();
    Err(SparkError::new("INVALID_SCHEMA_OR_RELATION_NAME").with("name", attribute::quote_parts(&parts)))
}

/// `bucket(n, column, …)` among the fields that a table is partitioned by.
fn bucket_transform(field: &PartitionField) -> Option<Bucketing> {
    let PartitionField::Transform(Expr { kind: ExprKind::Function(call), .. }) = field else { return None };
    let [name] = call.name.as_slice() else { return None };
    let (count, columns) = call.arguments.split_first()?;
    let ExprKind::Literal(firesteel_types::Literal::Integer(count)) = &count.kind else { return None };
    let column = |expr: &Expr| match &expr.kind {
        ExprKind::Attribute { name, .. } => name.last().cloned(),
        _ => None,
    };
    name.eq_ignore_ascii_case("bucket").then_some(Bucketing {
        count: i64::from(*count),
        columns: columns.iter().map(column).collect::<Option<_>>()?,
        sort_columns: Vec::new(),
    })
}

/// The folder of a table's data.
pub(crate) fn table_folder(table: &CatalogTable) -> Result<PathBuf> {
    let location = table.location.as_ref();
    location.map(PathBuf::from).ok_or_else(|| SparkError::internal(format!("the table {} has no location", table.name)))
}
