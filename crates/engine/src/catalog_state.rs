//! What a session knows besides the shared catalog: temporary functions, variables, queries of temporary views.

use crate::Session;
use crate::kept::PersistKey;
use firesteel_analyzer::Resolved;
use firesteel_analyzer::environment::LocalRows;
use firesteel_catalog::{CatalogFunction, CatalogTable, QualifiedName, SESSION_CATALOG};
use firesteel_error::{Result, SparkError};
use firesteel_plan::Relation;
use firesteel_types::{DataType, Literal, StructType};
use parking_lot::RwLock;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The part of a session's catalog that nobody shares.
#[derive(Default)]
pub(crate) struct CatalogState {
    /// By lower-case name.
    pub functions: RwLock<BTreeMap<String, Arc<CatalogFunction>>>,
    /// By lower-case name.
    pub variables: RwLock<BTreeMap<String, Variable>>,
    /// Queries of temporary views made by SQL, by lower-case name: they are analysed anew at each use.
    pub view_queries: RwLock<HashMap<String, Arc<ViewQuery>>>,
    /// Answers of requests that made something, by the client's id of the relation.
    pub requests: RwLock<HashMap<i64, LocalRows>>,
}

/// A variable of a session or script.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub data_type: DataType,
    pub value: Literal,
    /// What `SET … = DEFAULT` gives.
    pub default: Literal,
}

/// The query of a view, with where its names are looked up.
#[derive(Debug, Clone)]
pub(crate) struct ViewQuery {
    pub query: Relation,
    /// Names of the query's columns.
    pub output: Vec<String>,
    /// The columns of the view.
    pub schema: StructType,
    pub database: String,
    /// Settings when it was made.
    pub settings: Vec<(String, String)>,
}

/// Variables of a running script: the innermost block is last.
pub(crate) type Locals = Arc<RwLock<Vec<HashMap<String, Variable>>>>;

/// What a name stands for.
pub(crate) enum Found {
    Temporary { name: String, view: Arc<Resolved> },
    Global { name: String, view: Arc<Resolved> },
    Stored(Arc<CatalogTable>),
}

impl CatalogState {
    /// Takes over what another session knows.
    pub fn copy_from(&self, other: &Self) {
        *self.functions.write() = other.functions.read().clone();
        *self.variables.write() = other.variables.read().clone();
        *self.view_queries.write() = other.view_queries.read().clone();
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.functions.write().clear();
        self.variables.write().clear();
        self.view_queries.write().clear();
        self.requests.write().clear();
    }
}

impl Session {
    /// The database and name of parts, of which the first ones may be missing.
    pub(crate) fn qualify(&self, parts: &[String], database: &str) -> Result<QualifiedName> {
        match parts {
            [name] => Ok(QualifiedName::new(database, name)),
            [database, name] => Ok(QualifiedName::new(database, name)),
            [catalog, database, name] if catalog.eq_ignore_ascii_case(SESSION_CATALOG) => {
                Ok(QualifiedName::new(database, name))
            }
            _ => Err(SparkError::new("REQUIRES_SINGLE_PART_NAMESPACE")
                .with("sessionCatalog", SESSION_CATALOG)
                .with("identifier", firesteel_analyzer::attribute::quote_parts(parts))),
        }
    }

    /// A temporary view, a global one, or a table or view of the catalog.
    pub(crate) fn find(&self, parts: &[String], database: &str) -> Result<Option<Found>> {
        if let [one] = parts
            && let Some((name, view)) = self.temp_views().read().get(&one.to_lowercase())
        {
            return Ok(Some(Found::Temporary { name: name.clone(), view: view.clone() }));
        }
        if let [global, name] = parts
            && global.eq_ignore_ascii_case(&self.conf().global_temp_database.clone())
            && let Some(view) = self.engine().global_views().read().get(&name.to_lowercase())
        {
            return Ok(Some(Found::Global { name: name.to_lowercase(), view: view.clone() }));
        }
        let Ok(name) = self.qualify(parts, database) else { return Ok(None) };
        Ok(self.engine().catalog().table(&name).map(Found::Stored))
    }

    /// What a table or view is persisted under.
    pub(crate) fn key_of(&self, found: &Found) -> PersistKey {
        PersistKey::Table(match found {
            Found::Temporary { name, .. } => name.to_lowercase(),
            Found::Global { name, .. } => format!("{}.{name}", self.conf().global_temp_database),
            Found::Stored(table) => table.name.parts().join(".").to_lowercase(),
        })
    }

    /// What the table or view of a name is persisted under; none where there is none.
    pub(crate) fn persist_key(&self, parts: &[String], database: &str) -> Result<Option<PersistKey>> {
        Ok(self.find(parts, database)?.map(|found| self.key_of(&found)))
    }

    /// A temporary function, or one of the catalog.
    pub(crate) fn find_function(&self, parts: &[String], database: &str) -> Option<Arc<CatalogFunction>> {
        let session_part = |p: &String| p.eq_ignore_ascii_case("session");
        let temporary = match parts {
            [one] => Some(one),
            [first, one] if session_part(first) => Some(one),
            [system, second, one] if system.eq_ignore_ascii_case("system") && session_part(second) => Some(one),
            _ => None,
        };
        if let Some(name) = temporary
            && let Some(function) = self.catalog_state().functions.read().get(&name.to_lowercase())
        {
            return Some(function.clone());
        }
        let name = self.qualify(parts, database).ok()?;
        self.engine().catalog().function(&name)
    }
}
