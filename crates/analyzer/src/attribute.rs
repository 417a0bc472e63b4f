//! Output columns of relations, with identity.

use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use firesteel_functions::TypedExpr;
use firesteel_types::data_type::Metadata;
use firesteel_types::{DataType, StructField, StructType};
use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of an output column: unlike its name it is never ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttributeId(pub u64);

impl AttributeId {
    /// An id that no other attribute of this process has.
    pub fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// An output column of a relation.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    pub id: AttributeId,
    pub name: String,
    pub data_type: DataType,
    pub nullable: bool,
    pub metadata: Metadata,
    /// The relation's name as it can stand before the column's: an alias, or
    /// catalog, database and table.
    pub qualifier: Vec<String>,
}

impl Attribute {
    /// A new attribute with a fresh id.
    pub fn new(name: impl Into<String>, data_type: DataType, nullable: bool) -> Self {
        Self {
            id: AttributeId::fresh(),
            name: name.into(),
            data_type,
            nullable,
            metadata: Metadata::default(),
            qualifier: Vec::new(),
        }
    }

    /// A new attribute for a field of a schema.
    pub fn from_field(field: &StructField) -> Self {
        let mut attribute = Self::new(&field.name, field.data_type.clone(), field.nullable);
        attribute.metadata = field.metadata.clone();
        attribute
    }

    /// The name of the column in DataFusion's plan.
    pub fn column_name(&self) -> String {
        format!("{}#{}", self.name, self.id.0)
    }

    pub fn column(&self) -> Column {
        Column::new_unqualified(self.column_name())
    }

    pub fn expr(&self) -> Expr {
        Expr::Column(self.column())
    }

    pub fn typed(&self) -> TypedExpr {
        TypedExpr::new(self.expr(), self.data_type.clone(), self.nullable, self.name.clone())
    }

    pub fn to_field(&self) -> StructField {
        StructField::new(&self.name, self.data_type.clone(), self.nullable).with_metadata(self.metadata.clone())
    }

    /// The same column under a fresh id.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self { id: AttributeId::fresh(), ..self.clone() }
    }

    #[must_use]
    pub fn with_qualifier(mut self, qualifier: &[String]) -> Self {
        self.qualifier = qualifier.to_vec();
        self
    }

    #[must_use]
    pub fn with_nullable(mut self, nullable: bool) -> Self {
        self.nullable = nullable;
        self
    }

    /// `` `t`.`a` ``, for messages.
    pub fn quoted_name(&self) -> String {
        self.qualifier.iter().chain(std::iter::once(&self.name)).map(|p| quote(p)).collect::<Vec<_>>().join(".")
    }
}

/// A name part in back quotes.
pub fn quote(part: &str) -> String {
    format!("`{}`", part.replace('`', "``"))
}

/// A name part in back quotes where SQL needs them.
pub fn quoted_if_needed(part: &str) -> String {
    let is_plain =
        part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !part.chars().all(|c| c.is_ascii_digit());
    if is_plain { part.to_string() } else { quote(part) }
}

/// Name parts as messages show an expression: in double quotes, with back quotes only where SQL needs them.
pub fn quoted_as_needed(parts: &[String]) -> String {
    let quoted: Vec<String> = parts.iter().map(|p| quoted_if_needed(p)).collect();
    format!("\"{}\"", quoted.join("."))
}

/// Name parts, each in back quotes.
pub fn quote_parts(parts: &[String]) -> String {
    parts.iter().map(|p| quote(p)).collect::<Vec<_>>().join(".")
}

/// The schema that users see of a list of attributes.
pub fn schema_of(attributes: &[Attribute]) -> StructType {
    StructType::new(attributes.iter().map(Attribute::to_field).collect())
}
