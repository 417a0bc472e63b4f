//! Names of things in the session catalog.

use crate::SESSION_CATALOG;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A database and a name in it, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QualifiedName {
    pub database: String,
    pub name: String,
}

impl QualifiedName {
    /// The name in lower case.
    ///
    /// ```
    /// use firesteel_catalog::QualifiedName;
    /// let name = QualifiedName::new("Default", "T");
    /// assert_eq!(name.quoted(), "`spark_catalog`.`default`.`t`");
    /// assert_eq!(name.to_string(), "spark_catalog.default.t");
    /// ```
    pub fn new(database: &str, name: &str) -> Self {
        Self { database: database.to_lowercase(), name: name.to_lowercase() }
    }

    /// Catalog, database and name, each in back quotes.
    pub fn quoted(&self) -> String {
        format!("{}.{}", quote(SESSION_CATALOG), self.quoted_in_catalog())
    }

    /// Database and name, each in back quotes.
    pub fn quoted_in_catalog(&self) -> String {
        format!("{}.{}", quote(&self.database), quote(&self.name))
    }

    /// Catalog, database and name.
    pub fn parts(&self) -> Vec<String> {
        vec![SESSION_CATALOG.to_string(), self.database.clone(), self.name.clone()]
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SESSION_CATALOG}.{}.{}", self.database, self.name)
    }
}

/// A part of a name in back quotes.
pub fn quote(part: &str) -> String {
    format!("`{}`", part.replace('`', "``"))
}

/// A database's name with its catalog, each in back quotes.
pub fn quoted_database(database: &str) -> String {
    format!("{}.{}", quote(SESSION_CATALOG), quote(database))
}
