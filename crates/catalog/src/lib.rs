//! Catalogs, databases, tables, views and functions: names in, metadata out.
//!
//! A [`Catalog`] is shared by all sessions of a process. Names of databases,
//! tables, views and functions are kept in lower case. A [`Metastore`] keeps a
//! catalog between processes.
//!
//! Invariant: the data of tables are somebody else's; what is read and written is the metastore alone.

pub mod catalog;
pub mod database;
pub mod function;
pub mod metastore;
pub mod name;
pub mod pattern;
mod record;
pub mod storage;
pub mod table;

pub use catalog::Catalog;
pub use database::Database;
pub use function::CatalogFunction;
pub use metastore::Metastore;
pub use name::QualifiedName;
pub use pattern::matches_pattern;
pub use storage::Storage;
pub use table::{Bucketing, CatalogTable, Statistics, TableKind, ViewDefinition};

/// The name of the catalog that every session has.
pub const SESSION_CATALOG: &str = "spark_catalog";

/// The database that is always there.
pub const DEFAULT_DATABASE: &str = "default";
