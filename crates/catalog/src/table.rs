//! Tables and views.

use crate::{QualifiedName, record};
use firesteel_error::Result;
use firesteel_plan::Relation;
use firesteel_sql::parse_query;
use firesteel_types::StructType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who owns the data of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableKind {
    Managed,
    External,
    View,
}

/// How rows are spread over files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucketing {
    pub count: i64,
    pub columns: Vec<String>,
    pub sort_columns: Vec<String>,
}

/// What ANALYZE found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    pub bytes: u64,
    pub rows: Option<u64>,
}

/// The query of a view, and where and how its names are looked up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ViewDefinition {
    pub text: String,
    /// Names of the query's own columns.
    pub output: Vec<String>,
    /// Catalog and database when it was made.
    pub catalog: String,
    pub database: String,
    /// Settings when it was made.
    pub settings: Vec<(String, String)>,
    pub schema_mode: String,
}

impl ViewDefinition {
    /// The query that the text says; places in it are the view's, which has this name.
    pub fn query(&self, name: &QualifiedName) -> Result<Relation> {
        let mut options = record::parser_options(&self.settings)?;
        options.source_object = Some(("VIEW".to_string(), name.to_string()));
        parse_query(&self.text, &options)
    }
}

/// What the catalog knows of a table or view.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CatalogTable {
    pub name: QualifiedName,
    pub kind: TableKind,
    /// The data source in lower case; views have none.
    pub provider: Option<String>,
    /// All columns, those of the partitions last, with declared types.
    #[serde(with = "record::schema")]
    pub schema: StructType,
    pub partition_columns: Vec<String>,
    pub bucketing: Option<Bucketing>,
    /// An absolute path.
    pub location: Option<String>,
    pub comment: Option<String>,
    pub properties: BTreeMap<String, String>,
    /// Options of the data source.
    pub options: BTreeMap<String, String>,
    pub collation: Option<String>,
    /// Microseconds since the epoch.
    pub created: i64,
    pub owner: String,
    pub statistics: Option<Statistics>,
    pub view: Option<ViewDefinition>,
    /// Partitions, `a=1/b=x`, that stood in the table's folder before it was made: queries do not see them until
    /// somebody tells of them.
    #[serde(default)]
    pub unknown_partitions: Vec<String>,
}

impl CatalogTable {
    /// Whether it is a view.
    pub fn is_view(&self) -> bool {
        self.kind == TableKind::View
    }

    /// The kind as statements show it.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            TableKind::Managed => "MANAGED",
            TableKind::External => "EXTERNAL",
            TableKind::View => "VIEW",
        }
    }

    /// Whether a column is one that partitions the table.
    pub fn is_partition_column(&self, column: &str) -> bool {
        self.partition_columns.iter().any(|p| p.eq_ignore_ascii_case(column))
    }

    /// The columns that stand in files.
    pub fn data_schema(&self) -> StructType {
        StructType::new(self.schema.fields.iter().filter(|f| !self.is_partition_column(&f.name)).cloned().collect())
    }
}
