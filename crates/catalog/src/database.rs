//! Databases.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the catalog knows of a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Database {
    pub name: String,
    pub comment: Option<String>,
    /// The folder of its managed tables, as an absolute path.
    pub location: String,
    pub properties: BTreeMap<String, String>,
    pub owner: String,
    /// The collation of new string columns, where one is set.
    pub collation: Option<String>,
}
