//! Partitions of tables: folders named `column=value`.

use super::Runner;
use super::create_table::table_folder;
use super::rows::{nothing, rows, text, text_column};
use firesteel_analyzer::{LocalRows, attribute};
use firesteel_catalog::{CatalogTable, QualifiedName};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{CastMode, Expr, ExprKind, PartitionSpec, TableName};
use firesteel_sources::partition::{escape, unescape};
use firesteel_sources::store::{Stores, is_remote};
use firesteel_types::{DataType, Literal};
use std::path::PathBuf;
use std::time::SystemTime;

/// The folder of nulls.
const NULL_FOLDER: &str = "__HIVE_DEFAULT_PARTITION__";

/// A partition that is there.
#[derive(Debug, Clone)]
pub(crate) struct Partition {
    pub folder: PathBuf,
    /// Columns and texts, in the table's order.
    pub values: Vec<(String, String)>,
}

impl Partition {
    /// Whether the partition has the given values.
    pub fn matches(&self, spec: &[(String, String)]) -> bool {
        spec.iter().all(|(column, value)| self.values.iter().any(|(c, v)| c == column && v == value))
    }

    /// `a=1/b=x`, as folders are named.
    pub fn name(&self) -> String {
        path_name(&self.values)
    }
}

fn path_name(values: &[(String, String)]) -> String {
    values.iter().map(|(column, value)| format!("{}={}", escape(column), escape(value))).collect::<Vec<_>>().join("/")
}

/// The partitions of a table that the catalog knows, sorted by name.
pub(crate) fn known_partitions(stores: &Stores, table: &CatalogTable) -> Result<Vec<Partition>> {
    let mut all = folders(stores, table)?;
    all.retain(|partition| !table.unknown_partitions.contains(&partition.name()));
    Ok(all)
}

/// All partitions in a table's folder, sorted by name.
fn folders(stores: &Stores, table: &CatalogTable) -> Result<Vec<Partition>> {
    let mut level = vec![Partition { folder: table_folder(table)?, values: Vec::new() }];
    for column in &table.partition_columns {
        let mut next = Vec::new();
        for partition in level {
            for name in stores.folders(&partition.folder)? {
                let Some((key, value)) = name.split_once('=') else { continue };
                if unescape(key).eq_ignore_ascii_case(column) {
                    let mut values = partition.values.clone();
                    values.push((column.clone(), unescape(value)));
                    next.push(Partition { folder: partition.folder.join(&name), values });
                }
            }
        }
        level = next;
    }
    level.sort_by_key(Partition::name);
    Ok(level)
}

/// When the folders of partitions that the catalog does not know were last changed.
pub(super) type Changes = Vec<(String, Option<SystemTime>)>;

pub(super) fn unknown_changes(stores: &Stores, table: &CatalogTable) -> Result<Changes> {
    if table.unknown_partitions.is_empty() {
        return Ok(Vec::new());
    }
    let changed = |partition: &Partition| std::fs::metadata(&partition.folder).and_then(|m| m.modified()).ok();
    let mut all = folders(stores, table)?;
    all.retain(|partition| table.unknown_partitions.contains(&partition.name()));
    Ok(all.iter().map(|partition| (partition.name(), changed(partition))).collect())
}

impl Runner {
    /// As in Spark, a new table has no partitions, whatever is in its folder.
    pub(super) fn hide_partitions(&self, name: &QualifiedName) -> Result<()> {
        let Some(table) = self.catalog().table(name) else { return Ok(()) };
        // Stores do not tell when folders change: there all partitions are known.
        if table.partition_columns.is_empty() || is_remote(&table_folder(&table)?) {
            return Ok(());
        }
        let names: Vec<String> = folders(&self.stores_of(&table), &table)?.iter().map(Partition::name).collect();
        if names.is_empty() {
            return Ok(());
        }
        self.catalog().alter_table(name, |table| {
            table.unknown_partitions = names;
            Ok(())
        })
    }

    /// Partitions that were written to are known.
    pub(super) fn know_written(&self, table: &CatalogTable, before: &Changes) -> Result<()> {
        let written: Vec<String> = unknown_changes(&self.stores_of(table), table)?
            .into_iter()
            .filter(|now| !before.contains(now))
            .map(|(name, _)| name)
            .collect();
        self.know(table, &written)
    }

    fn know(&self, table: &CatalogTable, partitions: &[String]) -> Result<()> {
        if partitions.is_empty() {
            return Ok(());
        }
        self.catalog().alter_table(&table.name, |table| {
            table.unknown_partitions.retain(|name| !partitions.contains(name));
            Ok(())
        })
    }

    /// The values that a statement gives for partition columns, as texts, in the table's order.
    pub(crate) fn partition_values(&self, table: &CatalogTable, spec: &PartitionSpec) -> Result<Vec<(String, String)>> {
        for (column, _) in spec {
            if !table.is_partition_column(column) {
                return Err(SparkError::new("PARTITIONS_NOT_FOUND")
                    .with("partitionList", attribute::quote(column))
                    .with("tableName", table.name.quoted()));
            }
        }
        let mut out = Vec::new();
        for column in &table.partition_columns {
            let Some((_, value)) = spec.iter().find(|(c, _)| c.eq_ignore_ascii_case(column)) else { continue };
            let Some(value) = value else { continue };
            if matches!(value.kind, ExprKind::Default) {
                return Err(SparkError::new("REF_DEFAULT_VALUE_IS_NOT_ALLOWED_IN_PARTITION"));
            }
            let value = self.partition_value(table, column, value);
            let value = match self.evaluate_as(&value, &DataType::STRING)? {
                Literal::String(value) => value,
                _ => NULL_FOLDER.to_string(),
            };
            out.push((column.clone(), value));
        }
        Ok(out)
    }

    /// A value that a statement gives for a partition column: what its text is in the column's type.
    pub(crate) fn partition_value(&self, table: &CatalogTable, column: &str, value: &Expr) -> Expr {
        let cast = |child: Expr, to: DataType| {
            Expr::new(ExprKind::Cast { child: Box::new(child), to, mode: CastMode::Session })
        };
        let written = cast(value.clone(), DataType::STRING);
        match table.schema.field(column) {
            Some((_, field)) => cast(written, field.data_type.char_varchar_as_string()),
            None => written,
        }
    }

    /// The partitions of a table, sorted by name.
    pub(crate) fn partitions_of(&self, table: &CatalogTable) -> Result<Vec<Partition>> {
        known_partitions(&self.stores_of(table), table)
    }

    /// The folder of a partition.
    pub(crate) fn partition_folder(&self, table: &CatalogTable, values: &[(String, String)]) -> Result<PathBuf> {
        Ok(values.iter().fold(table_folder(table)?, |folder: PathBuf, (column, value)| {
            folder.join(format!("{}={}", escape(column), escape(value)))
        }))
    }

    /// One partition by all its values.
    pub(super) fn one_partition(&self, table: &CatalogTable, spec: &PartitionSpec) -> Result<Partition> {
        let values = self.partition_values(table, spec)?;
        if values.len() != table.partition_columns.len() {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1232")
                .with("specKeys", spec.iter().map(|(c, _)| c.clone()).collect::<Vec<_>>().join(", "))
                .with("partitionColumnNames", table.partition_columns.join(", "))
                .with("tableName", table.name.quoted()));
        }
        let found = self.partitions_of(table)?.into_iter().find(|p| p.matches(&values));
        found.ok_or_else(|| partition_error("PARTITIONS_NOT_FOUND", table, &values))
    }

    pub(super) fn show_partitions(&self, name: &TableName, spec: Option<&PartitionSpec>) -> Result<LocalRows> {
        let table = self.stored_table(name, "SHOW PARTITIONS")?;
        if table.partition_columns.is_empty() {
            return Err(SparkError::new("INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY")
                .with("name", table.name.quoted()));
        }
        let spec = spec.map(|spec| self.partition_values(&table, spec)).transpose()?.unwrap_or_default();
        let all = self.partitions_of(&table)?;
        let all = all.iter().filter(|p| p.matches(&spec)).map(|p| vec![text(p.name())]).collect();
        rows(&[text_column("partition")], all)
    }

    pub(super) fn add_partitions(
        &self,
        table: &CatalogTable,
        partitions: &[(PartitionSpec, Option<String>)],
        if_not_exists: bool,
    ) -> Result<()> {
        for (spec, location) in partitions {
            if location.is_some() {
                return Err(SparkError::unsupported("partitions with a location of their own"));
            }
            let values = self.partition_values(table, spec)?;
            let folder = self.partition_folder(table, &values)?;
            if is_remote(&folder) {
                return Err(SparkError::unsupported(
                    "ALTER TABLE ADD PARTITION in a store, where folders are not empty",
                ));
            }
            let stores = self.stores_of(table);
            let name = path_name(&values);
            let is_unknown = table.unknown_partitions.contains(&name);
            if stores.exists(&folder)? && !is_unknown && !if_not_exists {
                return Err(partition_error("PARTITIONS_ALREADY_EXIST", table, &values));
            }
            stores.make_folder(&folder)?;
            if is_unknown {
                self.know(table, &[name])?;
            }
        }
        Ok(())
    }

    pub(super) fn drop_partitions(&self, table: &CatalogTable, specs: &[PartitionSpec], if_exists: bool) -> Result<()> {
        for spec in specs {
            let values = self.partition_values(table, spec)?;
            let found: Vec<_> = self.partitions_of(table)?.into_iter().filter(|p| p.matches(&values)).collect();
            if found.is_empty() && !if_exists {
                return Err(partition_error("PARTITIONS_NOT_FOUND", table, &values));
            }
            for partition in found {
                self.stores_of(table).remove_folder(&partition.folder)?;
            }
        }
        Ok(())
    }

    pub(super) fn rename_partition(
        &self,
        table: &CatalogTable,
        from: &PartitionSpec,
        to: &PartitionSpec,
    ) -> Result<()> {
        let old = self.one_partition(table, from)?;
        let values = self.partition_values(table, to)?;
        let folder = self.partition_folder(table, &values)?;
        let stores = self.stores_of(table);
        if stores.exists(&folder)? {
            return Err(partition_error("PARTITIONS_ALREADY_EXIST", table, &values));
        }
        stores.rename_folder(&old.folder, &folder)
    }

    /// Partitions are folders: with `adds`, all that are there are known from now on.
    pub(crate) fn recover_partitions(&self, name: &TableName, operation: &str, adds: bool) -> Result<LocalRows> {
        let table = self.stored_table(name, operation)?;
        if table.partition_columns.is_empty() {
            return Err(SparkError::new("NOT_A_PARTITIONED_TABLE")
                .with("operation", operation)
                .with("tableIdentWithDB", table.name.quoted()));
        }
        if adds {
            self.know(&table, &table.unknown_partitions)?;
        }
        Ok(nothing())
    }

    /// The partitions that a statement counts must be there.
    pub(super) fn check_partitions(&self, table: &CatalogTable, spec: &PartitionSpec) -> Result<()> {
        let values = self.partition_values(table, spec)?;
        let is_whole = values.len() == table.partition_columns.len();
        if is_whole && !self.partitions_of(table)?.iter().any(|partition| partition.matches(&values)) {
            return Err(partition_error("PARTITIONS_NOT_FOUND", table, &values));
        }
        Ok(())
    }
}

fn partition_error(condition: &'static str, table: &CatalogTable, values: &[(String, String)]) -> SparkError {
    let list: Vec<String> = values.iter().map(|(c, v)| format!("{} = {v}", attribute::quote(c))).collect();
    SparkError::new(condition)
        .with("partitionList", format!("PARTITION ({})", list.join(", ")))
        .with("tableName", table.name.quoted_in_catalog())
}
