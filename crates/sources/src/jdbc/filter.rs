//! Conditions that a database tests itself.

use super::url::Database;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use firesteel_types::{DataType, Literal, StructField, StructType, TimeZone};

/// What a condition is written for.
pub(super) struct Writer<'a> {
    pub database: Database,
    pub schema: &'a StructType,
    pub zone: TimeZone,
}

impl Writer<'_> {
    /// The condition in SQL; nothing where the database might see it otherwise.
    pub fn condition(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Column(_) => {
                let field = self.field(expr)?;
                (field.data_type == DataType::Boolean && self.compares(field))
                    .then(|| self.database.quoted(&field.name))
            }
            Expr::Not(inner) => Some(format!("(NOT ({}))", self.condition(inner)?)),
            Expr::IsNull(inner) => Some(format!("{} IS NULL", self.database.quoted(&self.field(inner)?.name))),
            Expr::IsNotNull(inner) => Some(format!("{} IS NOT NULL", self.database.quoted(&self.field(inner)?.name))),
            Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
                Some(format!("({}) {op} ({})", self.condition(left)?, self.condition(right)?))
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let (field, op, value) = match (self.field(left), self.field(right)) {
                    (Some(field), None) => (field, *op, right),
                    (None, Some(field)) => (field, op.swap()?, left),
                    _ => return None,
                };
                let op = match op {
                    Operator::Eq => "=",
                    Operator::NotEq => "<>",
                    Operator::Gt => ">",
                    Operator::GtEq => ">=",
                    Operator::Lt => "<",
                    Operator::LtEq => "<=",
                    _ => return None,
                };
                Some(format!("{} {op} {}", self.database.quoted(&field.name), self.value(value, field)?))
            }
            Expr::InList(InList { expr, list, negated }) if !list.is_empty() => {
                let field = self.field(expr)?;
                let values = list.iter().map(|value| self.value(value, field)).collect::<Option<Vec<_>>>()?;
                let not = if *negated { "NOT " } else { "" };
                Some(format!("{} {not}IN ({})", self.database.quoted(&field.name), values.join(", ")))
            }
            Expr::ScalarFunction(function) => {
                let [text, part] = function.args.as_slice() else { return None };
                let field = self.field(text).filter(|field| field.data_type.is_string())?;
                let Literal::String(part) = self.constant(part, field)? else { return None };
                // How patterns are escaped differs; SQLite's know no letter case.
                if part.is_empty() || part.contains(['%', '_', '\\', '\0']) || self.database == Database::Sqlite {
                    return None;
                }
                let pattern = match function.func.name() {
                    "startswith" => format!("{part}%"),
                    "endswith" => format!("%{part}"),
                    "contains" => format!("%{part}%"),
                    _ => return None,
                };
                let pattern = self.database.literal(&Literal::String(pattern), self.zone)?;
                Some(format!("{} LIKE {pattern}", self.database.quoted(&field.name)))
            }
            _ => None,
        }
    }

    fn field(&self, expr: &Expr) -> Option<&StructField> {
        let Expr::Column(column) = expr else { return None };
        self.schema.fields.iter().find(|field| field.name == column.name)
    }

    /// A value to compare a column with, in SQL.
    fn value(&self, expr: &Expr, field: &StructField) -> Option<String> {
        self.database.literal(&self.constant(expr, field)?, self.zone)
    }

    /// A constant of a column's type, where the database compares such columns as we do.
    fn constant(&self, expr: &Expr, field: &StructField) -> Option<Literal> {
        let Expr::Literal(value, _) = expr else { return None };
        if value.is_null() || !self.compares(field) {
            return None;
        }
        let literal = Literal::from_array(&value.to_array().ok()?, 0, &field.data_type).ok()?;
        // Numbers that are none are ordered otherwise.
        let is_odd = match &literal {
            Literal::Float(value) => !value.is_finite(),
            Literal::Double(value) => !value.is_finite(),
            _ => false,
        };
        (!is_odd).then_some(literal)
    }

    /// Whether the database compares values of a column as we do: those of its own types that have the same values.
    fn compares(&self, field: &StructField) -> bool {
        let client = field.metadata.get("jdbcClientType").and_then(|name| name.as_str()).unwrap_or_default();
        let client = client.trim_end_matches(" UNSIGNED").to_lowercase();
        let client = client.as_str();
        match (&field.data_type, self.database) {
            (DataType::String(collation), _) if *collation != firesteel_types::Collation::default() => false,
            (DataType::String(_), _) => matches!(client, "text" | "varchar" | "name"),
            (DataType::Boolean, Database::Postgres) => client == "bool",
            (DataType::Boolean, _) => false,
            (DataType::Date, Database::Sqlite) => false,
            (DataType::Date, _) => client == "date",
            (DataType::Timestamp, Database::Postgres) => client == "timestamptz" || client == "timestamp",
            (DataType::Timestamp | DataType::TimestampNtz, Database::MySql) => client == "datetime",
            (DataType::TimestampNtz, Database::Postgres) => client == "timestamp",
            (DataType::Decimal(..), Database::Sqlite) => false,
            (data_type, _) if data_type.is_numeric() => matches!(
                client,
                "int2"
                    | "int4"
                    | "int8"
                    | "float4"
                    | "float8"
                    | "numeric"
                    | "decimal"
                    | "tinyint"
                    | "smallint"
                    | "mediumint"
                    | "int"
                    | "integer"
                    | "bigint"
                    | "double"
                    | "real"
            ),
            _ => false,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};
    use firesteel_types::Metadata;

    fn written(expr: &Expr) -> Option<String> {
        let field = |name: &str, data_type, client: &str| {
            let mut metadata = Metadata::default().to_map();
            metadata.insert("jdbcClientType".to_string(), client.into());
            StructField::new(name, data_type, true).with_metadata(Metadata::new(metadata))
        };
        let fields = vec![
            field("x", DataType::Integer, "int4"),
            field("y", DataType::STRING, "text"),
            field("u", DataType::STRING, "uuid"),
        ];
        let schema = StructType::new(fields);
        Writer { database: Database::Postgres, schema: &schema, zone: TimeZone::UTC }.condition(expr)
    }

    #[test]
    fn conditions_are_sql() {
        assert_eq!(written(&col("x").gt(lit(1))).unwrap(), "\"x\" > 1");
        assert_eq!(written(&lit(1).gt(col("x"))).unwrap(), "\"x\" < 1");
        assert_eq!(written(&col("y").eq(lit("a'b"))).unwrap(), "\"y\" = 'a''b'");
        let either = col("x").is_null().or(col("x").in_list(vec![lit(1), lit(2)], false));
        assert!(written(&either).is_some());
    }

    #[test]
    fn what_databases_compare_otherwise_stays_here() {
        assert_eq!(written(&col("u").eq(lit("a"))), None);
        assert_eq!(written(&(col("x") + lit(1)).eq(lit(2))), None);
        assert_eq!(written(&col("u").is_null()).unwrap(), "\"u\" IS NULL");
    }
}
