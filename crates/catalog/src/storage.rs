//! What keeps a catalog between runs.

use firesteel_error::Result;
use std::fmt;

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    Database,
    /// A table or a view.
    Table,
    Function,
}

/// What an entry is kept under; databases have no name in a database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryKey {
    pub kind: EntryKind,
    pub database: String,
    pub name: String,
}

impl EntryKey {
    /// The key of a database.
    pub fn database(database: &str) -> Self {
        Self { kind: EntryKind::Database, database: database.to_string(), name: String::new() }
    }

    /// The key of a table or view.
    pub fn table(database: &str, name: &str) -> Self {
        Self { kind: EntryKind::Table, database: database.to_string(), name: name.to_string() }
    }

    /// The key of a function.
    pub fn function(database: &str, name: &str) -> Self {
        Self { kind: EntryKind::Function, database: database.to_string(), name: name.to_string() }
    }
}

impl fmt::Display for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            EntryKind::Database => write!(f, "database {}", self.database),
            EntryKind::Table => write!(f, "table {}.{}", self.database, self.name),
            EntryKind::Function => write!(f, "function {}.{}", self.database, self.name),
        }
    }
}

/// An entry's new text, or that it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub key: EntryKey,
    pub value: Option<String>,
}

/// A place that outlives the process: texts by key.
///
/// One catalog at a time owns it, so that nobody changes it behind the catalog's back.
pub trait Storage: fmt::Debug + Send + Sync {
    /// All entries.
    fn load(&self) -> Result<Vec<(EntryKey, String)>>;

    /// Makes all changes or, where it fails, none; those that it has made outlive the process.
    fn apply(&self, changes: &[Change]) -> Result<()>;
}
