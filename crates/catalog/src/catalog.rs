//! The catalog of all sessions.

use crate::database::Database;
use crate::name::{quote, quoted_database};
use crate::{CatalogFunction, CatalogTable, DEFAULT_DATABASE, QualifiedName};
use firesteel_error::{Result, SparkError};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Databases with their tables, views and functions, kept in memory.
#[derive(Debug)]
pub struct Catalog {
    warehouse: String,
    databases: RwLock<BTreeMap<String, Entry>>,
}

#[derive(Debug)]
struct Entry {
    database: Database,
    tables: BTreeMap<String, Arc<CatalogTable>>,
    functions: BTreeMap<String, Arc<CatalogFunction>>,
}

impl Entry {
    fn new(database: Database) -> Self {
        Self { database, tables: BTreeMap::new(), functions: BTreeMap::new() }
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.functions.is_empty()
    }
}

impl Catalog {
    /// A catalog with the default database, whose folder is the warehouse's.
    pub fn new(warehouse: impl Into<String>) -> Self {
        let warehouse = warehouse.into();
        let default = Database {
            name: DEFAULT_DATABASE.to_string(),
            comment: Some("default database".to_string()),
            location: warehouse.clone(),
            properties: BTreeMap::new(),
            owner: String::new(),
            collation: None,
        };
        let databases = BTreeMap::from([(DEFAULT_DATABASE.to_string(), Entry::new(default))]);
        Self { warehouse, databases: RwLock::new(databases) }
    }

    /// The folder of databases without a location of their own.
    pub fn warehouse(&self) -> &str {
        &self.warehouse
    }

    // ---- databases ----

    /// The names of all databases, sorted.
    pub fn database_names(&self) -> Vec<String> {
        self.databases.read().keys().cloned().collect()
    }

    /// A database; fails with `SCHEMA_NOT_FOUND`.
    pub fn database(&self, name: &str) -> Result<Database> {
        let name = name.to_lowercase();
        self.databases.read().get(&name).map(|e| e.database.clone()).ok_or_else(|| schema_not_found(&name))
    }

    /// Whether a database is there.
    pub fn has_database(&self, name: &str) -> bool {
        self.databases.read().contains_key(&name.to_lowercase())
    }

    /// Adds a database; false where it is there already and that is fine.
    pub fn create_database(&self, mut database: Database, if_not_exists: bool) -> Result<bool> {
        database.name = database.name.to_lowercase();
        let mut databases = self.databases.write();
        if databases.contains_key(&database.name) {
            if if_not_exists {
                return Ok(false);
            }
            return Err(SparkError::new("SCHEMA_ALREADY_EXISTS").with("schemaName", quote(&database.name)));
        }
        databases.insert(database.name.clone(), Entry::new(database));
        Ok(true)
    }

    /// Removes a database and gives back its tables; None where it is not there and that is fine.
    pub fn drop_database(
        &self,
        name: &str,
        if_exists: bool,
        cascade: bool,
    ) -> Result<Option<(Database, Vec<Arc<CatalogTable>>)>> {
        let name = name.to_lowercase();
        if name == DEFAULT_DATABASE {
            return Err(SparkError::new("UNSUPPORTED_FEATURE.DROP_DATABASE").with("database", quoted_database(&name)));
        }
        let mut databases = self.databases.write();
        let Some(entry) = databases.get(&name) else {
            return if if_exists { Ok(None) } else { Err(schema_not_found(&name)) };
        };
        if !cascade && !entry.is_empty() {
            return Err(SparkError::new("SCHEMA_NOT_EMPTY").with("schemaName", quote(&name)));
        }
        Ok(databases.remove(&name).map(|entry| (entry.database, entry.tables.into_values().collect())))
    }

    /// Changes a database.
    pub fn alter_database(&self, name: &str, change: impl FnOnce(&mut Database)) -> Result<()> {
        let name = name.to_lowercase();
        let mut databases = self.databases.write();
        let entry = databases.get_mut(&name).ok_or_else(|| schema_not_found(&name))?;
        change(&mut entry.database);
        Ok(())
    }

    // ---- tables and views ----

    /// The tables and views of a database, sorted by name; fails with `SCHEMA_NOT_FOUND`.
    pub fn tables(&self, database: &str) -> Result<Vec<Arc<CatalogTable>>> {
        let database = database.to_lowercase();
        let databases = self.databases.read();
        let entry = databases.get(&database).ok_or_else(|| schema_not_found(&database))?;
        Ok(entry.tables.values().cloned().collect())
    }

    /// A table or view, if it is there.
    pub fn table(&self, name: &QualifiedName) -> Option<Arc<CatalogTable>> {
        self.databases.read().get(&name.database)?.tables.get(&name.name).cloned()
    }

    /// Adds a table or view; with `replace` an old one goes.
    pub fn create_table(&self, table: CatalogTable, replace: bool) -> Result<()> {
        let mut databases = self.databases.write();
        let name = table.name.clone();
        let entry = databases.get_mut(&name.database).ok_or_else(|| schema_not_found(&name.database))?;
        if !replace && entry.tables.contains_key(&name.name) {
            return Err(already_exists(&name));
        }
        entry.tables.insert(name.name, Arc::new(table));
        Ok(())
    }

    /// Removes a table or view.
    pub fn drop_table(&self, name: &QualifiedName) -> Option<Arc<CatalogTable>> {
        self.databases.write().get_mut(&name.database)?.tables.remove(&name.name)
    }

    /// Changes a table or view; nothing changes where the change fails.
    pub fn alter_table(
        &self,
        name: &QualifiedName,
        change: impl FnOnce(&mut CatalogTable) -> Result<()>,
    ) -> Result<()> {
        let mut databases = self.databases.write();
        let table = databases.get_mut(&name.database).and_then(|entry| entry.tables.get_mut(&name.name));
        let table = table.ok_or_else(|| table_not_found(&name.quoted()))?;
        let mut changed = table.as_ref().clone();
        change(&mut changed)?;
        *table = Arc::new(changed);
        Ok(())
    }

    /// Gives a table or view another name in its database.
    pub fn rename_table(&self, from: &QualifiedName, to: &QualifiedName) -> Result<()> {
        let mut databases = self.databases.write();
        let entry = databases.get_mut(&from.database).ok_or_else(|| schema_not_found(&from.database))?;
        if entry.tables.contains_key(&to.name) {
            return Err(already_exists(to));
        }
        let table = entry.tables.remove(&from.name).ok_or_else(|| table_not_found(&from.quoted()))?;
        let table = CatalogTable { name: to.clone(), ..table.as_ref().clone() };
        entry.tables.insert(to.name.clone(), Arc::new(table));
        Ok(())
    }

    // ---- functions ----

    /// The functions of a database, sorted by name; fails with `SCHEMA_NOT_FOUND`.
    pub fn functions(&self, database: &str) -> Result<Vec<Arc<CatalogFunction>>> {
        let database = database.to_lowercase();
        let databases = self.databases.read();
        let entry = databases.get(&database).ok_or_else(|| schema_not_found(&database))?;
        Ok(entry.functions.values().cloned().collect())
    }

    /// A function, if it is there.
    pub fn function(&self, name: &QualifiedName) -> Option<Arc<CatalogFunction>> {
        self.databases.read().get(&name.database)?.functions.get(&name.name).cloned()
    }

    /// Adds a function; false where it is there already and that is fine.
    pub fn create_function(
        &self,
        name: &QualifiedName,
        function: CatalogFunction,
        if_not_exists: bool,
        replace: bool,
    ) -> Result<bool> {
        let mut databases = self.databases.write();
        let entry = databases.get_mut(&name.database).ok_or_else(|| schema_not_found(&name.database))?;
        if !replace && entry.functions.contains_key(&name.name) {
            if if_not_exists {
                return Ok(false);
            }
            return Err(SparkError::new("ROUTINE_ALREADY_EXISTS")
                .with("newRoutineType", "routine")
                .with("routineName", name.quoted_in_catalog())
                .with("existingRoutineType", "routine"));
        }
        entry.functions.insert(name.name.clone(), Arc::new(function));
        Ok(true)
    }

    /// Removes a function; false where there is none.
    pub fn drop_function(&self, name: &QualifiedName) -> bool {
        let mut databases = self.databases.write();
        databases.get_mut(&name.database).is_some_and(|entry| entry.functions.remove(&name.name).is_some())
    }
}

/// There is no such database.
pub fn schema_not_found(name: &str) -> SparkError {
    SparkError::new("SCHEMA_NOT_FOUND").with("schemaName", quoted_database(name))
}

/// There is no such table or view; the name is quoted already.
pub fn table_not_found(quoted: &str) -> SparkError {
    SparkError::new("TABLE_OR_VIEW_NOT_FOUND").with("relationName", quoted)
}

/// As [`table_not_found`], with the places that were searched before the current database, as SQL names them.
pub fn table_not_found_in(quoted: &str, places: &[&str], database: &str) -> SparkError {
    let mut path: Vec<String> = places.iter().map(|p| (*p).to_string()).collect();
    path.push(quoted_database(database));
    table_not_found(quoted).with("searchPath", format!("[{}]", path.join(", ")))
}

/// There is a table or view of this name.
pub fn already_exists(name: &QualifiedName) -> SparkError {
    SparkError::new("TABLE_OR_VIEW_ALREADY_EXISTS").with("relationName", name.quoted())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableKind;
    use firesteel_types::StructType;

    fn table(name: &str) -> CatalogTable {
        CatalogTable {
            name: QualifiedName::new("default", name),
            kind: TableKind::Managed,
            provider: Some("parquet".into()),
            schema: StructType::default(),
            partition_columns: Vec::new(),
            bucketing: None,
            location: None,
            comment: None,
            properties: BTreeMap::new(),
            options: BTreeMap::new(),
            collation: None,
            created: 0,
            owner: String::new(),
            statistics: None,
            view: None,
        }
    }

    #[test]
    fn names_are_found_in_any_case() {
        let catalog = Catalog::new("/tmp/warehouse");
        catalog.create_table(table("T"), false).unwrap();
        assert!(catalog.table(&QualifiedName::new("DEFAULT", "t")).is_some());
        assert!(catalog.create_table(table("t"), false).unwrap_err().is("TABLE_OR_VIEW_ALREADY_EXISTS"));
    }

    #[test]
    fn databases_with_tables_are_dropped_by_cascade_only() {
        let catalog = Catalog::new("/tmp/warehouse");
        let database = Database { name: "Db".into(), ..catalog.database("default").unwrap() };
        assert!(catalog.create_database(database.clone(), false).unwrap());
        assert!(!catalog.create_database(database.clone(), true).unwrap());
        assert!(catalog.create_database(database, false).unwrap_err().is("SCHEMA_ALREADY_EXISTS"));
        let inside = CatalogTable { name: QualifiedName::new("db", "t"), ..table("t") };
        catalog.create_table(inside, false).unwrap();
        assert!(catalog.drop_database("db", false, false).unwrap_err().is("SCHEMA_NOT_EMPTY"));
        assert!(catalog.drop_database("DB", false, true).unwrap().is_some());
        assert!(catalog.drop_database("db", false, true).unwrap_err().is("SCHEMA_NOT_FOUND"));
    }

    #[test]
    fn a_failed_change_changes_nothing() {
        let catalog = Catalog::new("/tmp/warehouse");
        catalog.create_table(table("t"), false).unwrap();
        let name = QualifiedName::new("default", "t");
        let result = catalog.alter_table(&name, |t| {
            t.comment = Some("x".into());
            Err(SparkError::internal("no"))
        });
        assert!(result.is_err());
        assert_eq!(catalog.table(&name).unwrap().comment, None);
    }
}
