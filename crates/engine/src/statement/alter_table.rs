//! ALTER TABLE and ANALYZE TABLE.

use super::create_table::table_folder;
use super::rows::nothing;
use super::{Runner, table_operation};
use crate::catalog_state::Found;
use firesteel_analyzer::{LocalRows, attribute};
use firesteel_catalog::{CatalogTable, QualifiedName, Statistics};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    ColumnChange, ColumnDefinition, Expr, Name, Options, Relation, RelationKind, TableAction, TableName,
    TableReference, ViewAction,
};
use firesteel_types::{Literal, Metadata, StructField};

impl Runner {
    pub(super) fn alter_table(&self, name: &TableName, action: &TableAction) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        let not_a_table = |name_of_view: String| {
            // Views can be renamed and have properties, by another statement.
            let has_alternative = matches!(
                action,
                TableAction::SetProperties(_) | TableAction::UnsetProperties { .. } | TableAction::SetSerde { .. }
            );
            let condition = if has_alternative {
                "EXPECT_TABLE_NOT_VIEW.USE_ALTER_VIEW"
            } else {
                "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE"
            };
            SparkError::new(condition)
                .with("operation", operation_name(action))
                .with("viewName", name_of_view)
                .or_context(|| name.origin().context())
        };
        let table = match self.found_named(name)? {
            Found::Temporary { name, .. } if matches!(action, TableAction::Rename(_)) => {
                let TableAction::Rename(to) = action else { return Ok(nothing()) };
                return self.alter_temporary_view(&name, &parts, &ViewAction::Rename(to.clone()));
            }
            Found::Stored(table) if table.is_view() && matches!(action, TableAction::Rename(_)) => {
                return Err(SparkError::new("EXPECT_TABLE_NOT_VIEW.USE_ALTER_VIEW")
                    .with("operation", "ALTER TABLE")
                    .with("viewName", attribute::quote_parts(&parts)));
            }
            Found::Stored(table) if table.is_view() => return Err(not_a_table(table.name.quoted())),
            Found::Stored(table) => table,
            Found::Temporary { .. } | Found::Global { .. } => {
                return Err(not_a_table(attribute::quote_parts(&parts)));
            }
        };
        match action {
            TableAction::Rename(to) => self.rename(&table.name, to)?,
            TableAction::SetProperties(properties) => self.set_properties(&table.name, properties)?,
            TableAction::UnsetProperties { keys, .. } => self.unset_properties(&table.name, keys)?,
            TableAction::SetLocation { partition: None, location } => {
                let location = firesteel_sources::path::place(location)?;
                self.stores_of(&table).check_table(&location)?;
                let location = location.to_string_lossy().into_owned();
                self.catalog().alter_table(&table.name, |table| {
                    table.location = Some(location);
                    table.statistics = None;
                    Ok(())
                })?;
            }
            TableAction::AddColumns(columns) => self.add_columns(&table, columns)?,
            TableAction::AlterColumns(changes) if changes.len() > 1 => {
                return Err(table_operation(&table.name, "ALTER COLUMN in bulk"));
            }
            TableAction::AlterColumns(changes) => {
                for (column, changes) in changes {
                    for change in changes {
                        self.alter_column(&table, column, change)?;
                    }
                }
            }
            TableAction::AddPartitions { partitions, if_not_exists } => {
                self.require_partitions(&table, "ALTER TABLE ADD PARTITION")?;
                self.add_partitions(&table, partitions, *if_not_exists)?;
            }
            TableAction::DropPartitions { partitions, if_exists, .. } => {
                self.require_partitions(&table, "ALTER TABLE DROP PARTITION")?;
                self.drop_partitions(&table, partitions, *if_exists)?;
                self.forget_statistics(&table.name)?;
            }
            TableAction::RenamePartition { from, to } => {
                self.require_partitions(&table, "ALTER TABLE RENAME PARTITION")?;
                self.rename_partition(&table, from, to)?;
            }
            TableAction::RecoverPartitions => {
                return self.recover_partitions(name, "ALTER TABLE RECOVER PARTITIONS", true);
            }
            TableAction::ReplaceColumns(_) => return Err(table_operation(&table.name, "REPLACE COLUMNS")),
            TableAction::DropColumns { .. } => return Err(table_operation(&table.name, "DROP COLUMN")),
            TableAction::RenameColumn { .. } => return Err(table_operation(&table.name, "RENAME COLUMN")),
            TableAction::AddConstraint(_) => return Err(table_operation(&table.name, "ADD CONSTRAINT")),
            TableAction::DropConstraint { .. } => return Err(table_operation(&table.name, "DROP CONSTRAINT")),
            TableAction::SetLocation { .. } => return Err(SparkError::unsupported("locations of partitions")),
            TableAction::SetSerde { class: None, properties, partition: None } => {
                self.catalog().alter_table(&table.name, |table| {
                    table.options.extend(properties.iter().cloned());
                    Ok(())
                })?;
            }
            TableAction::SetSerde { class: Some(_), .. } => {
                return Err(SparkError::new("UNSUPPORTED_FEATURE.ALTER_TABLE_SERDE_FOR_DATASOURCE_TABLE")
                    .with("tableName", table.name.quoted()));
            }
            TableAction::SetSerde { .. } => return Err(SparkError::unsupported("properties of partitions")),
            TableAction::ClusterBy(columns) => {
                let names: Vec<String> = columns.iter().map(|path| path.join(".")).collect();
                self.check_columns(&table, &names)?;
                self.catalog().alter_table(&table.name, |table| {
                    table.properties.insert(CLUSTERING.to_string(), clustering_text(columns));
                    Ok(())
                })?;
            }
            TableAction::SetCollation(collation) => self.catalog().alter_table(&table.name, |table| {
                table.collation = Some(collation.clone());
                Ok(())
            })?,
        }
        Ok(nothing())
    }

    fn require_partitions(&self, table: &CatalogTable, operation: &str) -> Result<()> {
        if table.partition_columns.is_empty() {
            return Err(not_partitioned(table, operation));
        }
        Ok(())
    }

    /// Columns that a statement names must be the table's.
    pub(super) fn check_columns(&self, table: &CatalogTable, columns: &[String]) -> Result<()> {
        match columns.iter().find(|column| !table.schema.names().any(|name| name.eq_ignore_ascii_case(column))) {
            Some(column) => Err(SparkError::new("COLUMN_NOT_FOUND")
                .with("colName", attribute::quote(column))
                .with("caseSensitiveConfig", "\"spark.sql.caseSensitive\"")),
            None => Ok(()),
        }
    }

    /// Sets properties; `comment` is the table's own.
    pub(super) fn set_properties(&self, name: &QualifiedName, properties: &Options) -> Result<()> {
        self.catalog().alter_table(name, |table| {
            for (key, value) in properties {
                if key == "comment" {
                    table.comment = Some(value.clone());
                } else {
                    table.properties.insert(key.clone(), value.clone());
                }
            }
            Ok(())
        })
    }

    /// Removes properties; those that are not there do not matter.
    pub(super) fn unset_properties(&self, name: &QualifiedName, keys: &[String]) -> Result<()> {
        self.catalog().alter_table(name, |table| {
            for key in keys {
                if key == "comment" {
                    table.comment = None;
                } else {
                    table.properties.remove(key);
                }
            }
            Ok(())
        })
    }

    fn add_columns(&self, table: &CatalogTable, columns: &[(Name, ColumnDefinition)]) -> Result<()> {
        let mut added: Vec<StructField> = Vec::new();
        for (path, column) in columns {
            if path.len() > 1 {
                return Err(table_operation(&table.name, "ADD COLUMN with qualified column"));
            }
            // As in Spark, FIRST and AFTER are read, and the column comes last.
            if !column.field.nullable {
                return Err(SparkError::new("_LEGACY_ERROR_TEMP_1052"));
            }
            let mut field = self.field(&table.name, column, "ALTER TABLE ADD COLUMNS")?;
            if let Some(name) = path.last() {
                field.name.clone_from(name);
            }
            let taken = |f: &StructField| f.name.eq_ignore_ascii_case(&field.name);
            if table.schema.fields.iter().any(taken) || added.iter().any(taken) {
                return Err(SparkError::new("COLUMN_ALREADY_EXISTS")
                    .with("columnName", attribute::quote(&field.name.to_lowercase())));
            }
            added.push(field);
        }
        self.catalog().alter_table(&table.name, |table| {
            let data = table.data_schema().fields.len();
            table.schema.fields.splice(data..data, added);
            Ok(())
        })
    }

    fn alter_column(&self, table: &CatalogTable, column: &Name, change: &ColumnChange) -> Result<()> {
        let [column] = column.as_slice() else {
            return Err(table_operation(&table.name, "ALTER COLUMN with qualified column"));
        };
        let position =
            table.schema.fields.iter().position(|f| f.name.eq_ignore_ascii_case(column)).ok_or_else(|| {
                let names: Vec<String> = table.schema.names().map(attribute::quote).collect();
                SparkError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION")
                    .with("objectName", attribute::quote(column))
                    .with("proposal", names.join(", "))
            })?;
        let old = &table.schema.fields[position];
        let mut metadata = old.metadata.to_map();
        match change {
            ColumnChange::Comment(comment) => {
                metadata.insert("comment".to_string(), comment.clone().into());
            }
            ColumnChange::SetDefault(text, expr) => {
                let column = attribute::quote(&old.name);
                let declared =
                    super::default::Declared { statement: "ALTER TABLE ALTER COLUMN", column: &column, text };
                self.check_default(&declared, expr, &old.data_type.char_varchar_as_string())?;
                metadata.insert("CURRENT_DEFAULT".to_string(), text.clone().into());
            }
            ColumnChange::DropDefault => {
                metadata.remove("CURRENT_DEFAULT");
            }
            ColumnChange::Type(data_type) if *data_type == old.data_type => {}
            ColumnChange::Type(data_type) => {
                return Err(SparkError::new("NOT_SUPPORTED_CHANGE_COLUMN")
                    .with("table", table.name.quoted())
                    .with("originName", attribute::quote(&old.name))
                    .with("originType", format!("\"{}\"", old.data_type.sql()))
                    .with("newName", attribute::quote(&old.name))
                    .with("newType", format!("\"{}\"", data_type.sql())));
            }
            ColumnChange::Position(_) => return Err(table_operation(&table.name, "ALTER COLUMN ... FIRST | AFTER")),
            ColumnChange::SetNotNull | ColumnChange::DropNotNull => {
                return Err(table_operation(&table.name, "ALTER COLUMN ... SET NOT NULL"));
            }
        }
        self.catalog().alter_table(&table.name, |table| {
            if let Some(field) = table.schema.fields.get_mut(position) {
                field.metadata = Metadata::new(metadata);
            }
            Ok(())
        })
    }

    /// Counts bytes, and rows unless `no_scan`.
    pub(super) fn analyze_table(&self, table: &CatalogTable, no_scan: bool) -> Result<LocalRows> {
        let bytes = self.stores_of(table).folder_size(&table_folder(table)?)?;
        let rows = if no_scan { None } else { Some(self.count_rows(table)?) };
        self.catalog().alter_table(&table.name, |table| {
            table.statistics = Some(Statistics { bytes, rows });
            Ok(())
        })?;
        Ok(nothing())
    }

    fn count_rows(&self, table: &CatalogTable) -> Result<u64> {
        let input = Relation::new(RelationKind::Table(TableReference {
            name: TableName::of(table.name.parts()),
            options: Vec::new(),
            is_streaming: false,
            time_travel: None,
        }));
        let count = Expr::call("count", vec![Expr::literal(Literal::Integer(1))]);
        let query = Relation::new(RelationKind::Aggregate(firesteel_plan::Aggregate {
            input,
            grouping: firesteel_plan::Grouping::By(Vec::new()),
            aggregates: vec![count.alias("count")],
            is_sql: true,
        }));
        let (_, rows) = self.values(&query)?;
        match rows.first().and_then(|row| row.first()) {
            Some(Literal::Long(count)) => Ok(u64::try_from(*count).unwrap_or(0)),
            _ => Err(SparkError::internal("a count without a value")),
        }
    }

    pub(super) fn analyze_tables(&self, namespace: Option<&Name>, no_scan: bool) -> Result<LocalRows> {
        let database = match namespace {
            Some(name) => self.database_name(name)?,
            None => self.database(),
        };
        for table in self.catalog().tables(&database)? {
            if !table.is_view() {
                self.analyze_table(&table, no_scan)?;
            }
        }
        Ok(nothing())
    }
}

/// The property that holds the columns of CLUSTER BY.
const CLUSTERING: &str = "clusteringColumns";

fn clustering_text(columns: &[Name]) -> String {
    serde_json::to_string(columns).unwrap_or_default()
}

/// The statement is about partitions, of which the table has none.
pub(super) fn not_partitioned(table: &CatalogTable, operation: &str) -> SparkError {
    SparkError::new("_LEGACY_ERROR_TEMP_1251").with("action", operation).with("tableName", &table.name.name)
}

/// The name of an action in messages.
fn operation_name(action: &TableAction) -> &'static str {
    match action {
        TableAction::Rename(_) => "ALTER TABLE ... RENAME TO",
        TableAction::SetProperties(_) => "ALTER TABLE ... SET TBLPROPERTIES",
        TableAction::UnsetProperties { .. } => "ALTER TABLE ... UNSET TBLPROPERTIES",
        TableAction::SetLocation { .. } => "ALTER TABLE ... SET LOCATION ...",
        TableAction::SetSerde { .. } => "ALTER TABLE ... SET [SERDE|SERDEPROPERTIES]",
        TableAction::AddColumns(columns) if columns.len() == 1 => "ALTER TABLE ... ADD COLUMN",
        TableAction::AddColumns(_) => "ALTER TABLE ... ADD COLUMNS",
        TableAction::ReplaceColumns(_) => "ALTER TABLE ... REPLACE COLUMNS",
        TableAction::DropColumns { .. } => "ALTER TABLE ... DROP COLUMNS",
        TableAction::RenameColumn { .. } => "ALTER TABLE ... RENAME COLUMN",
        TableAction::AlterColumns(_) => "ALTER TABLE ... ALTER COLUMN",
        TableAction::AddPartitions { .. } => "ALTER TABLE ... ADD PARTITION ...",
        TableAction::DropPartitions { .. } => "ALTER TABLE ... DROP PARTITION ...",
        TableAction::RenamePartition { .. } => "ALTER TABLE ... RENAME TO PARTITION",
        TableAction::RecoverPartitions => "ALTER TABLE ... RECOVER PARTITIONS",
        TableAction::AddConstraint(_) => "ALTER TABLE ... ADD CONSTRAINT",
        TableAction::DropConstraint { .. } => "ALTER TABLE ... DROP CONSTRAINT",
        TableAction::ClusterBy(_) => "ALTER TABLE ... CLUSTER BY",
        TableAction::SetCollation(_) => "ALTER TABLE ... DEFAULT COLLATION",
    }
}
