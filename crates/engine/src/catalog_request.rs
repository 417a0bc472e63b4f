//! Answers of the catalog API (`spark.catalog`).

use crate::catalog_state::Found;
use crate::statement::Runner;
use crate::statement::create_table::NewTable;
use crate::statement::function::built_in;
use crate::statement::rows::{Column, nothing, optional, rows, text, text_column};
use firesteel_analyzer::attribute;
use firesteel_analyzer::environment::LocalRows;
use firesteel_catalog::catalog::{schema_not_found, table_not_found};
use firesteel_catalog::{CatalogFunction, CatalogTable, SESSION_CATALOG, matches_pattern};
use firesteel_error::{Result, SparkError};
use firesteel_functions::class::class_of;
use firesteel_functions::registry;
use firesteel_plan::{CatalogRequest, Options, Relation, RelationKind, StorageLevel, TableName, TableReference};
use firesteel_types::{DataType, Literal, StructType};
use std::collections::BTreeMap;

fn flag(value: bool) -> Result<LocalRows> {
    rows(&[("value", DataType::Boolean, false)], vec![vec![Literal::Boolean(value)]])
}

fn value(text_value: &str) -> Result<LocalRows> {
    rows(&[text_column("value")], vec![vec![text(text_value)]])
}

fn strings() -> DataType {
    DataType::array(DataType::STRING, true)
}

fn database_columns() -> [Column; 4] {
    [
        ("name", DataType::STRING, true),
        ("catalog", DataType::STRING, true),
        ("description", DataType::STRING, true),
        ("locationUri", DataType::STRING, true),
    ]
}

fn table_columns() -> [Column; 6] {
    [
        ("name", DataType::STRING, true),
        ("catalog", DataType::STRING, true),
        ("namespace", strings(), true),
        ("description", DataType::STRING, true),
        ("tableType", DataType::STRING, true),
        ("isTemporary", DataType::Boolean, false),
    ]
}

fn function_columns() -> [Column; 6] {
    [
        ("name", DataType::STRING, true),
        ("catalog", DataType::STRING, true),
        ("namespace", strings(), true),
        ("description", DataType::STRING, true),
        ("className", DataType::STRING, true),
        ("isTemporary", DataType::Boolean, false),
    ]
}

fn column_columns() -> [Column; 7] {
    [
        ("name", DataType::STRING, true),
        ("description", DataType::STRING, true),
        ("dataType", DataType::STRING, true),
        ("nullable", DataType::Boolean, false),
        ("isPartition", DataType::Boolean, false),
        ("isBucket", DataType::Boolean, false),
        ("isCluster", DataType::Boolean, false),
    ]
}

fn namespace(parts: &[&str]) -> Literal {
    Literal::Array(parts.iter().map(|p| text(*p)).collect(), DataType::STRING)
}

fn table_row(table: &CatalogTable) -> Vec<Literal> {
    vec![
        text(&table.name.name),
        text(SESSION_CATALOG),
        namespace(&[&table.name.database]),
        optional(table.comment.as_deref()),
        text(table.kind_name()),
        Literal::Boolean(false),
    ]
}

fn temporary_row(name: &str, database: &[&str]) -> Vec<Literal> {
    vec![
        text(name),
        Literal::Null(DataType::STRING),
        namespace(database),
        Literal::Null(DataType::STRING),
        text("TEMPORARY"),
        Literal::Boolean(true),
    ]
}

fn function_row(function: &CatalogFunction) -> Vec<Literal> {
    vec![
        text(&function.name),
        optional(function.database.as_ref().map(|_| SESSION_CATALOG)),
        function.database.as_deref().map_or(Literal::Null(strings()), |database| namespace(&[database])),
        text(function.comment().unwrap_or("N/A.")),
        text(function.class_name().unwrap_or_default()),
        Literal::Boolean(function.database.is_none()),
    ]
}

fn built_in_row(name: &str, function: &firesteel_functions::Function) -> Vec<Literal> {
    vec![
        text(name),
        Literal::Null(DataType::STRING),
        Literal::Null(strings()),
        text(function.usage(name)),
        text(class_of(name).unwrap_or_default()),
        Literal::Boolean(true),
    ]
}

/// A file format as messages name it.
fn format_title(provider: &str) -> String {
    match provider {
        "parquet" => "Parquet".to_string(),
        other => other.to_uppercase(),
    }
}

impl Runner {
    /// The rows that answer a request.
    pub(crate) fn catalog_request(&self, request: &CatalogRequest) -> Result<LocalRows> {
        use CatalogRequest as R;
        match request {
            R::CurrentDatabase => value(&self.database()),
            R::SetCurrentDatabase { name } => {
                self.set_database(&self.database_name(&self.parse_name(name)?)?)?;
                Ok(nothing())
            }
            R::ListDatabases { pattern } => {
                let mut all = Vec::new();
                for name in self.catalog().database_names() {
                    if pattern.as_deref().is_none_or(|p| matches_pattern(&name, p)) {
                        all.push(self.database_row(&name)?);
                    }
                }
                rows(&database_columns(), all)
            }
            R::GetDatabase { name } => {
                let name = self.database_name(&self.parse_name(name)?)?;
                rows(&database_columns(), vec![self.database_row(&name)?])
            }
            R::DatabaseExists { name } => {
                let known = self.database_name(&self.parse_name(name)?);
                flag(known.is_ok_and(|name| self.catalog().has_database(&name)))
            }
            R::ListTables { database, pattern } => {
                rows(&table_columns(), self.table_rows(database.as_deref(), pattern.as_deref(), |_| true)?)
            }
            R::ListViews { database, pattern } => {
                rows(&table_columns(), self.table_rows(database.as_deref(), pattern.as_deref(), CatalogTable::is_view)?)
            }
            R::GetTable { table, database } => {
                let parts = self.name_in(table, database.as_deref())?;
                self.check_parts(&parts)?;
                let row = match self.found(&parts)? {
                    Found::Temporary { name, .. } => temporary_row(&name.to_lowercase(), &[]),
                    Found::Global { name, .. } => temporary_row(&name, &[&self.conf().global_temp_database]),
                    Found::Stored(table) => table_row(&table),
                };
                rows(&table_columns(), vec![row])
            }
            R::TableExists { table, database } => {
                let parts = self.name_in(table, database.as_deref())?;
                self.check_parts(&parts)?;
                flag(self.find(&parts)?.is_some())
            }
            R::ListColumns { table, database } => {
                let mut parts = self.name_in(table, database.as_deref())?;
                self.check_parts(&parts)?;
                if database.is_some() {
                    parts.insert(0, SESSION_CATALOG.to_string());
                }
                let found = self.found(&parts)?;
                self.column_rows(&found)
            }
            R::ListFunctions { database, pattern } => self.function_rows(database.as_deref(), pattern.as_deref()),
            R::GetFunction { function, database } => {
                let parts = self.name_in(function, database.as_deref())?;
                self.check_parts(&parts)?;
                let row = match (built_in(&parts), self.session.find_function(&parts, &self.database())) {
                    (Some((name, function)), _) => built_in_row(name, function),
                    (None, Some(function)) => function_row(&function),
                    (None, None) => {
                        let facts = self.session.facts();
                        let path = format!(
                            "[`system`.`builtin`, `system`.`session`, {}.{}]",
                            attribute::quote(&facts.current_catalog),
                            attribute::quote(&facts.current_database)
                        );
                        return Err(SparkError::new("UNRESOLVED_ROUTINE")
                            .with("routineName", attribute::quote_parts(&parts))
                            .with("searchPath", path));
                    }
                };
                rows(&function_columns(), vec![row])
            }
            R::FunctionExists { function, database } => {
                let parts = self.name_in(function, database.as_deref())?;
                self.check_parts(&parts)?;
                flag(built_in(&parts).is_some() || self.session.find_function(&parts, &self.database()).is_some())
            }
            R::CreateTable { table, path, source, description, schema, options, .. } => self.create_from_request(
                table,
                path.as_deref(),
                source.as_deref(),
                description.as_deref(),
                schema.as_ref(),
                options,
            ),
            R::DropTempView { name } => flag(self.drop_temporary_view(name)),
            R::DropGlobalTempView { name } => flag(self.drop_global_view(name)),
            R::RecoverPartitions { table } => {
                let name = TableName::of(self.parse_name(table)?);
                self.recover_partitions(&name, "recoverPartitions()", true)
            }
            R::IsCached { table } => flag(self.is_cached(&self.parse_name(table)?)?),
            R::CacheTable { table, storage_level } => {
                let level = storage_level.unwrap_or(StorageLevel::MEMORY_AND_DISK_DESER);
                let parts = self.parse_name(table)?;
                self.check_parts(&parts)?;
                self.cache(&parts, level)?;
                Ok(nothing())
            }
            R::UncacheTable { table } => {
                self.uncache(&self.parse_name(table)?)?;
                Ok(nothing())
            }
            R::RefreshTable { table } => {
                let parts = self.parse_name(table)?;
                self.found_relation(&TableName::of(parts.clone()))?;
                self.refresh(&parts)?;
                Ok(nothing())
            }
            R::ClearCache => {
                self.session.engine().kept().clear_persisted(&self.session.key());
                Ok(nothing())
            }
            R::RefreshByPath { path } => {
                self.refresh_path(path);
                Ok(nothing())
            }
            R::CurrentCatalog => value(&self.session.current().read().0.clone()),
            R::SetCurrentCatalog { name } => {
                self.use_catalog(name)?;
                Ok(nothing())
            }
            R::ListCatalogs { pattern } => {
                let matches = pattern.as_deref().is_none_or(|p| matches_pattern(SESSION_CATALOG, p));
                let row = vec![text(SESSION_CATALOG), Literal::Null(DataType::STRING)];
                rows(
                    &[("name", DataType::STRING, true), ("description", DataType::STRING, true)],
                    if matches { vec![row] } else { Vec::new() },
                )
            }
            R::Statement(statement) => self.run(statement),
        }
    }

    fn database_row(&self, name: &str) -> Result<Vec<Literal>> {
        let database = self.catalog().database(name)?;
        Ok(vec![
            text(&database.name),
            text(SESSION_CATALOG),
            text(database.comment.unwrap_or_default()),
            text(crate::statement::table_text::location_text(&database.location)),
        ])
    }

    /// Names have a database and a catalog before them at most.
    fn check_parts(&self, parts: &[String]) -> Result<()> {
        if parts.len() > 3 { self.qualify(parts).map(|_| ()) } else { Ok(()) }
    }

    /// The parts of a name, in a database that is given apart.
    fn name_in(&self, name: &str, database: Option<&str>) -> Result<Vec<String>> {
        match database {
            Some(database) => Ok(vec![database.to_string(), name.to_string()]),
            None => self.parse_name(name),
        }
    }

    fn table_rows(
        &self,
        database: Option<&str>,
        pattern: Option<&str>,
        takes: impl Fn(&CatalogTable) -> bool,
    ) -> Result<Vec<Vec<Literal>>> {
        let database = match database {
            Some(database) => self.database_name(&self.parse_name(database)?)?,
            None => self.database(),
        };
        let matches = |name: &str| pattern.is_none_or(|p| matches_pattern(name, p));
        let global = self.conf().global_temp_database.clone();
        let mut all = Vec::new();
        if database == global {
            let mut names: Vec<String> = self.session.engine().global_views().read().keys().cloned().collect();
            names.sort();
            all.extend(names.iter().filter(|n| matches(n)).map(|n| temporary_row(n, &[&global])));
        } else {
            if !self.catalog().has_database(&database) {
                return Err(schema_not_found(&database));
            }
            for table in self.catalog().tables(&database)? {
                if takes(&table) && matches(&table.name.name) {
                    all.push(table_row(&table));
                }
            }
        }
        let mut names: Vec<String> = self.session.temp_views().read().keys().cloned().collect();
        names.sort();
        all.extend(names.iter().filter(|n| matches(n)).map(|n| temporary_row(n, &[])));
        Ok(all)
    }

    fn column_rows(&self, found: &Found) -> Result<LocalRows> {
        let schema = self.schema_of(found);
        let table = match found {
            Found::Stored(table) => Some(table),
            _ => None,
        };
        let all = schema
            .fields
            .iter()
            .map(|f| {
                let is_partition = table.is_some_and(|t| t.is_partition_column(&f.name));
                let is_bucket = table
                    .and_then(|t| t.bucketing.as_ref())
                    .is_some_and(|b| b.columns.iter().any(|c| c.eq_ignore_ascii_case(&f.name)));
                vec![
                    text(&f.name),
                    optional(f.comment()),
                    text(f.data_type.catalog_string()),
                    // Spark reads every column of a table of files as one that may be null.
                    Literal::Boolean(f.nullable || table.is_some_and(|t| !t.is_view())),
                    Literal::Boolean(is_partition),
                    Literal::Boolean(is_bucket),
                    Literal::Boolean(false),
                ]
            })
            .collect();
        rows(&column_columns(), all)
    }

    fn function_rows(&self, database: Option<&str>, pattern: Option<&str>) -> Result<LocalRows> {
        let database = match database {
            Some(database) => self.database_name(&self.parse_name(database)?)?,
            None => self.database(),
        };
        let matches = |name: &str| pattern.is_none_or(|p| matches_pattern(name, p));
        let mut all: BTreeMap<String, Vec<Literal>> = BTreeMap::new();
        for (name, function) in registry::all() {
            if matches(name) {
                all.insert(name.to_string(), built_in_row(name, function));
            }
        }
        for function in self.session.catalog_state().functions.read().values() {
            if matches(&function.name) {
                all.insert(function.name.clone(), function_row(function));
            }
        }
        for function in self.catalog().functions(&database)? {
            if matches(&function.name) {
                all.insert(format!("{database}.{}", function.name), function_row(&function));
            }
        }
        rows(&function_columns(), all.into_values().collect())
    }

    /// Makes a table and gives its rows.
    fn create_from_request(
        &self,
        table: &str,
        path: Option<&str>,
        source: Option<&str>,
        description: Option<&str>,
        schema: Option<&DataType>,
        options: &Options,
    ) -> Result<LocalRows> {
        let parts = self.parse_name(table)?;
        let name = self.qualify(&parts)?;
        let schema = match schema {
            Some(DataType::Struct(schema)) => schema.as_ref().clone(),
            Some(other) => {
                return Err(SparkError::new("INVALID_SCHEMA.NON_STRUCT_TYPE")
                    .with("inputSchema", other.sql())
                    .with("dataType", format!("\"{}\"", other.sql())));
            }
            None => StructType::default(),
        };
        let is_path = |key: &str| key.eq_ignore_ascii_case("path");
        let location = path
            .map(str::to_string)
            .or_else(|| options.iter().find(|(key, _)| is_path(key)).map(|(_, path)| path.clone()));
        self.add_table(NewTable {
            name: name.clone(),
            provider: source.map_or_else(|| self.conf().default_source.clone(), str::to_string),
            schema,
            partition_columns: Vec::new(),
            bucketing: None,
            location,
            comment: description.filter(|d| !d.is_empty()).map(str::to_string),
            properties: BTreeMap::new(),
            options: options.iter().filter(|(key, _)| !is_path(key)).cloned().collect(),
            collation: None,
        })?;
        let Some(made) = self.catalog().table(&name) else {
            return Err(table_not_found(&name.quoted()));
        };
        if made.schema.fields.is_empty() {
            self.catalog().drop_table(&name)?;
            return Err(SparkError::new("UNABLE_TO_INFER_SCHEMA")
                .with("format", format_title(made.provider.as_deref().unwrap_or_default())));
        }
        self.query(&Relation::new(RelationKind::Table(TableReference {
            name: TableName::of(name.parts()),
            options: Vec::new(),
            is_streaming: false,
            time_travel: None,
        })))
    }
}
