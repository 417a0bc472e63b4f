//! A catalog's storage in one file: an embedded database with transactions.

use crate::storage::{Change, EntryKey, EntryKind, Storage};
use firesteel_error::{ExceptionClass, Result, SparkError};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition, TableError};
use std::fmt;
use std::path::{Path, PathBuf};

type Fault = Box<dyn std::error::Error + Send + Sync>;

type Entries = TableDefinition<'static, (&'static str, &'static str), &'static str>;

const DATABASES: Entries = TableDefinition::new("databases");
const TABLES: Entries = TableDefinition::new("tables");
const FUNCTIONS: Entries = TableDefinition::new("functions");

/// What the file says of itself.
const ABOUT: TableDefinition<'static, &'static str, u64> = TableDefinition::new("about");
const FORMAT: &str = "format";

/// The format of the entries; a server refuses a file of a later one.
const FORMAT_VERSION: u64 = 1;

/// A file that keeps a catalog; one process at a time has it open.
pub struct Metastore {
    path: PathBuf,
    database: Database,
}

impl Metastore {
    /// Opens the file, or makes it and the folders above it.
    ///
    /// The file is locked until this is dropped or the process ends. What a
    /// process that was killed had not finished is undone here.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if path.is_dir() {
            return Err(fault(&path, "it is a folder, and a metastore is a file"));
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| fault(&path, error))?;
        }
        let database = Database::create(&path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => fault(&path, "another server is using it"),
            other => fault(&path, other),
        })?;
        let metastore = Self { path, database };
        metastore.check_format()?;
        Ok(metastore)
    }

    /// Reads the format's version, or notes it in a new file.
    fn check_format(&self) -> Result<()> {
        let found = self.format().map_err(|error| fault(&self.path, error))?;
        match found {
            Some(FORMAT_VERSION) => Ok(()),
            Some(other) => Err(fault(
                &self.path,
                format!("its format is {other}, and this server knows {FORMAT_VERSION}: a later version has made it"),
            )),
            None => self.make().map_err(|error| fault(&self.path, error)),
        }
    }

    fn format(&self) -> Result<Option<u64>, Fault> {
        let read = self.database.begin_read()?;
        let about = match read.open_table(ABOUT) {
            Ok(table) => table,
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(other) => return Err(other.into()),
        };
        Ok(about.get(FORMAT)?.map(|version| version.value()))
    }

    fn make(&self) -> Result<(), Fault> {
        let write = self.database.begin_write()?;
        for definition in [DATABASES, TABLES, FUNCTIONS] {
            write.open_table(definition)?;
        }
        write.open_table(ABOUT)?.insert(FORMAT, FORMAT_VERSION)?;
        write.commit()?;
        Ok(())
    }

    fn entries(&self) -> Result<Vec<(EntryKey, String)>, Fault> {
        let read = self.database.begin_read()?;
        let mut found = Vec::new();
        for kind in [EntryKind::Database, EntryKind::Table, EntryKind::Function] {
            let table = read.open_table(entries_of(kind))?;
            for entry in table.iter()? {
                let (key, value) = entry?;
                let (database, name) = key.value();
                let key = EntryKey { kind, database: database.to_string(), name: name.to_string() };
                found.push((key, value.value().to_string()));
            }
        }
        Ok(found)
    }

    fn write(&self, changes: &[Change]) -> Result<(), Fault> {
        let write = self.database.begin_write()?;
        for Change { key, value } in changes {
            let mut table = write.open_table(entries_of(key.kind))?;
            let at = (key.database.as_str(), key.name.as_str());
            match value {
                Some(text) => table.insert(at, text.as_str())?,
                None => table.remove(at)?,
            };
        }
        write.commit()?;
        Ok(())
    }
}

impl fmt::Debug for Metastore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metastore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Storage for Metastore {
    fn load(&self) -> Result<Vec<(EntryKey, String)>> {
        self.entries().map_err(|error| fault(&self.path, error))
    }

    fn apply(&self, changes: &[Change]) -> Result<()> {
        self.write(changes).map_err(|error| fault(&self.path, error))
    }
}

fn entries_of(kind: EntryKind) -> Entries {
    match kind {
        EntryKind::Database => DATABASES,
        EntryKind::Table => TABLES,
        EntryKind::Function => FUNCTIONS,
    }
}

fn fault(path: &Path, what: impl fmt::Display) -> SparkError {
    let message = format!("The metastore {} cannot be used: {what}.", path.display());
    SparkError::plain(ExceptionClass::Spark, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(key: EntryKey, text: &str) -> Change {
        Change { key, value: Some(text.to_string()) }
    }

    #[test]
    fn entries_outlive_the_metastore() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/catalog.redb");
        let (table, function) = (EntryKey::table("d", "t"), EntryKey::function("d", "f"));
        {
            let metastore = Metastore::open(&path).unwrap();
            assert_eq!(metastore.load().unwrap(), []);
            metastore.apply(&[set(table.clone(), "1"), set(function.clone(), "2")]).unwrap();
            metastore.apply(&[set(table.clone(), "3"), Change { key: function, value: None }]).unwrap();
        }
        assert_eq!(Metastore::open(&path).unwrap().load().unwrap(), [(table, "3".to_string())]);
    }

    #[test]
    fn one_at_a_time_has_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.redb");
        let first = Metastore::open(&path).unwrap();
        let refused = Metastore::open(&path).unwrap_err().to_string();
        assert!(refused.contains("another server is using it"), "{refused}");
        drop(first);
        Metastore::open(&path).unwrap();
    }

    #[test]
    fn other_files_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Metastore::open(folder.path()).unwrap_err().to_string().contains("is a folder"));
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "not a metastore").unwrap();
        assert!(Metastore::open(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "not a metastore");
    }

    #[test]
    fn a_later_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.redb");
        {
            let metastore = Metastore::open(&path).unwrap();
            let write = metastore.database.begin_write().unwrap();
            write.open_table(ABOUT).unwrap().insert(FORMAT, 2).unwrap();
            write.commit().unwrap();
        }
        assert!(Metastore::open(&path).unwrap_err().to_string().contains("its format is 2"));
    }
}
