//! Functions that users made.

use firesteel_plan::FunctionBody;

/// A function with a name in the catalog, or a temporary one.
#[derive(Debug, Clone)]
pub struct CatalogFunction {
    /// None: temporary.
    pub database: Option<String>,
    pub name: String,
    pub body: FunctionBody,
    /// Microseconds since the epoch.
    pub created: i64,
    pub owner: String,
    /// Settings when it was made: how its text is read.
    pub settings: Vec<(String, String)>,
}

impl CatalogFunction {
    /// The comment of the function.
    pub fn comment(&self) -> Option<&str> {
        match &self.body {
            FunctionBody::Sql { comment, .. } => comment.as_deref(),
            FunctionBody::Class { .. } | FunctionBody::Python { .. } => None,
        }
    }

    /// The class that implements the function; SQL functions have none.
    pub fn class_name(&self) -> Option<&str> {
        match &self.body {
            FunctionBody::Class { class, .. } => Some(class),
            FunctionBody::Sql { .. } | FunctionBody::Python { .. } => None,
        }
    }

    /// Whether it gives rows.
    pub fn is_table_function(&self) -> bool {
        matches!(
            &self.body,
            FunctionBody::Sql { returns_table: Some(_), .. } | FunctionBody::Python { is_table: true, .. }
        )
    }
}
