//! The catalog of all sessions.

use crate::database::Database;
use crate::name::{quote, quoted_database};
use crate::storage::{Change, EntryKey, EntryKind, Storage};
use crate::{CatalogFunction, CatalogTable, DEFAULT_DATABASE, QualifiedName, record};
use firesteel_error::{ExceptionClass, Result, SparkError};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Databases with their tables, views and functions, in memory and, where there is a storage, in it too.
#[derive(Debug)]
pub struct Catalog {
    warehouse: String,
    databases: RwLock<BTreeMap<String, Entry>>,
    /// Held by whoever changes something, so that readers wait for memory only, never for the storage.
    writer: Mutex<()>,
    storage: Option<Box<dyn Storage>>,
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

    /// What the storage forgets with the database.
    fn removal(&self) -> Vec<Change> {
        let database = &self.database.name;
        let tables = self.tables.keys().map(|name| EntryKey::table(database, name));
        let functions = self.functions.keys().map(|name| EntryKey::function(database, name));
        let all = tables.chain(functions).chain([EntryKey::database(database)]);
        all.map(|key| Change { key, value: None }).collect()
    }
}

impl Catalog {
    /// A catalog with the default database, whose folder is the warehouse's, that ends with the process.
    pub fn new(warehouse: impl Into<String>) -> Self {
        let warehouse = warehouse.into();
        let default = Entry::new(default_database(&warehouse));
        let databases = BTreeMap::from([(DEFAULT_DATABASE.to_string(), default)]);
        Self { warehouse, databases: RwLock::new(databases), writer: Mutex::new(()), storage: None }
    }

    /// The catalog that a storage holds, which keeps each change from now on.
    ///
    /// An entry that cannot be read fails it by name; nothing is left out.
    pub fn open(warehouse: impl Into<String>, storage: Box<dyn Storage>) -> Result<Self> {
        let warehouse = warehouse.into();
        let entries = storage.load()?;
        let mut databases = BTreeMap::new();
        let (found, rest): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(k, _)| k.kind == EntryKind::Database);
        for (key, text) in found {
            let database = record::read_database(&text).map_err(|error| unreadable(&key, &error))?;
            databases.insert(key.database, Entry::new(database));
        }
        for (key, text) in rest {
            let entry = databases.get_mut(&key.database);
            let entry = entry.ok_or_else(|| unreadable(&key, &schema_not_found(&key.database)))?;
            add(entry, &key, &text).map_err(|error| unreadable(&key, &error))?;
        }
        if !databases.contains_key(DEFAULT_DATABASE) {
            let default = default_database(&warehouse);
            storage.apply(&[database_change(&default)?])?;
            databases.insert(DEFAULT_DATABASE.to_string(), Entry::new(default));
        }
        Ok(Self { warehouse, databases: RwLock::new(databases), writer: Mutex::new(()), storage: Some(storage) })
    }

    /// Hands changes to the storage, if there is one; what it does not take must not be done.
    fn keep(&self, changes: impl FnOnce() -> Result<Vec<Change>>) -> Result<()> {
        match &self.storage {
            Some(storage) => storage.apply(&changes()?),
            None => Ok(()),
        }
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

    /// Fails where a database is not there.
    fn require_database(&self, name: &str) -> Result<()> {
        if self.databases.read().contains_key(name) { Ok(()) } else { Err(schema_not_found(name)) }
    }

    /// Adds a database; false where it is there already and that is fine.
    pub fn create_database(&self, mut database: Database, if_not_exists: bool) -> Result<bool> {
        database.name = database.name.to_lowercase();
        let _writer = self.writer.lock();
        if self.has_database(&database.name) {
            if if_not_exists {
                return Ok(false);
            }
            return Err(SparkError::new("SCHEMA_ALREADY_EXISTS").with("schemaName", quote(&database.name)));
        }
        self.keep(|| Ok(vec![database_change(&database)?]))?;
        self.databases.write().insert(database.name.clone(), Entry::new(database));
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
        let _writer = self.writer.lock();
        let removal = match self.databases.read().get(&name) {
            Some(entry) if !cascade && !entry.is_empty() => {
                return Err(SparkError::new("SCHEMA_NOT_EMPTY").with("schemaName", quote(&name)));
            }
            Some(entry) => entry.removal(),
            None if if_exists => return Ok(None),
            None => return Err(schema_not_found(&name)),
        };
        self.keep(|| Ok(removal))?;
        let removed = self.databases.write().remove(&name);
        Ok(removed.map(|entry| (entry.database, entry.tables.into_values().collect())))
    }

    /// Changes a database.
    pub fn alter_database(&self, name: &str, change: impl FnOnce(&mut Database)) -> Result<()> {
        let name = name.to_lowercase();
        let _writer = self.writer.lock();
        let mut database = self.database(&name)?;
        change(&mut database);
        self.keep(|| Ok(vec![database_change(&database)?]))?;
        if let Some(entry) = self.databases.write().get_mut(&name) {
            entry.database = database;
        }
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
        let _writer = self.writer.lock();
        self.require_database(&table.name.database)?;
        if !replace && self.table(&table.name).is_some() {
            return Err(already_exists(&table.name));
        }
        self.keep(|| Ok(vec![table_change(&table)?]))?;
        self.put_table(table);
        Ok(())
    }

    /// Adds a table that is gone with the process, until [`Catalog::keep_table`] keeps it.
    pub fn reserve_table(&self, table: CatalogTable) -> Result<()> {
        let _writer = self.writer.lock();
        self.require_database(&table.name.database)?;
        if self.table(&table.name).is_some() {
            return Err(already_exists(&table.name));
        }
        self.put_table(table);
        Ok(())
    }

    /// Keeps a table that was reserved; one that was dropped since stays so.
    pub fn keep_table(&self, name: &QualifiedName) -> Result<()> {
        let _writer = self.writer.lock();
        match self.table(name) {
            Some(table) => self.keep(|| Ok(vec![table_change(&table)?])),
            None => Ok(()),
        }
    }

    fn put_table(&self, table: CatalogTable) {
        if let Some(entry) = self.databases.write().get_mut(&table.name.database) {
            entry.tables.insert(table.name.name.clone(), Arc::new(table));
        }
    }

    /// Removes a table or view.
    pub fn drop_table(&self, name: &QualifiedName) -> Result<Option<Arc<CatalogTable>>> {
        let _writer = self.writer.lock();
        if self.table(name).is_none() {
            return Ok(None);
        }
        self.keep(|| Ok(vec![table_removal(name)]))?;
        Ok(self.databases.write().get_mut(&name.database).and_then(|entry| entry.tables.remove(&name.name)))
    }

    /// Changes a table or view; nothing changes where the change fails.
    pub fn alter_table(
        &self,
        name: &QualifiedName,
        change: impl FnOnce(&mut CatalogTable) -> Result<()>,
    ) -> Result<()> {
        let _writer = self.writer.lock();
        let table = self.table(name).ok_or_else(|| table_not_found(&name.quoted()))?;
        let mut changed = table.as_ref().clone();
        change(&mut changed)?;
        self.keep(|| Ok(vec![table_change(&changed)?]))?;
        self.put_table(changed);
        Ok(())
    }

    /// Gives a table or view another name in its database.
    pub fn rename_table(&self, from: &QualifiedName, to: &QualifiedName) -> Result<()> {
        let _writer = self.writer.lock();
        self.require_database(&from.database)?;
        if self.table(to).is_some() {
            return Err(already_exists(to));
        }
        let table = self.table(from).ok_or_else(|| table_not_found(&from.quoted()))?;
        let table = CatalogTable { name: to.clone(), ..table.as_ref().clone() };
        self.keep(|| Ok(vec![table_removal(from), table_change(&table)?]))?;
        if let Some(entry) = self.databases.write().get_mut(&from.database) {
            entry.tables.remove(&from.name);
            entry.tables.insert(to.name.clone(), Arc::new(table));
        }
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
        let _writer = self.writer.lock();
        self.require_database(&name.database)?;
        if !replace && self.function(name).is_some() {
            if if_not_exists {
                return Ok(false);
            }
            return Err(SparkError::new("ROUTINE_ALREADY_EXISTS")
                .with("newRoutineType", "routine")
                .with("routineName", name.quoted_in_catalog())
                .with("existingRoutineType", "routine"));
        }
        self.keep(|| {
            let value = Some(record::function_text(&function)?);
            Ok(vec![Change { key: EntryKey::function(&name.database, &name.name), value }])
        })?;
        if let Some(entry) = self.databases.write().get_mut(&name.database) {
            entry.functions.insert(name.name.clone(), Arc::new(function));
        }
        Ok(true)
    }

    /// Removes a function; false where there is none.
    pub fn drop_function(&self, name: &QualifiedName) -> Result<bool> {
        let _writer = self.writer.lock();
        if self.function(name).is_none() {
            return Ok(false);
        }
        self.keep(|| Ok(vec![Change { key: EntryKey::function(&name.database, &name.name), value: None }]))?;
        let mut databases = self.databases.write();
        Ok(databases.get_mut(&name.database).is_some_and(|entry| entry.functions.remove(&name.name).is_some()))
    }
}

fn default_database(warehouse: &str) -> Database {
    Database {
        name: DEFAULT_DATABASE.to_string(),
        comment: Some("default database".to_string()),
        location: warehouse.to_string(),
        properties: BTreeMap::new(),
        owner: String::new(),
        collation: None,
    }
}

/// Adds a table or function as its storage has it.
fn add(entry: &mut Entry, key: &EntryKey, text: &str) -> Result<()> {
    if key.kind == EntryKind::Function {
        entry.functions.insert(key.name.clone(), Arc::new(record::read_function(text)?));
    } else {
        entry.tables.insert(key.name.clone(), Arc::new(record::read_table(text)?));
    }
    Ok(())
}

fn database_change(database: &Database) -> Result<Change> {
    Ok(Change { key: EntryKey::database(&database.name), value: Some(record::database_text(database)?) })
}

fn table_change(table: &CatalogTable) -> Result<Change> {
    let key = EntryKey::table(&table.name.database, &table.name.name);
    Ok(Change { key, value: Some(record::table_text(table)?) })
}

fn table_removal(name: &QualifiedName) -> Change {
    Change { key: EntryKey::table(&name.database, &name.name), value: None }
}

fn unreadable(key: &EntryKey, error: &SparkError) -> SparkError {
    let message = format!("The metastore's entry for the {key} cannot be read: {error}");
    SparkError::plain(ExceptionClass::Spark, message)
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
#[path = "catalog_tests.rs"]
mod tests;
