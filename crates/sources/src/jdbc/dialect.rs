//! How the databases' SQL differs.

use super::url::Database;
use firesteel_error::{Result, SparkError};
use firesteel_types::moment_text::{write_date, write_timestamp};
use firesteel_types::number_text::{double_text, write_decimal, write_float};
use firesteel_types::{DataType, Literal, TimeZone};
use std::fmt::Write;

impl Database {
    /// A name as an identifier.
    pub(super) fn quoted(self, name: &str) -> String {
        match self {
            Self::MySql => format!("`{}`", name.replace('`', "``")),
            Self::Postgres | Self::Sqlite => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// The type of a new column.
    pub(super) fn type_name(self, data_type: &DataType) -> Result<String> {
        let own = match self {
            Self::Postgres => postgres_type(data_type)?,
            Self::MySql => mysql_type(data_type),
            Self::Sqlite => None,
        };
        own.or_else(|| common_type(data_type))
            .ok_or_else(|| SparkError::new("_LEGACY_ERROR_TEMP_2082").with("catalogString", data_type.catalog_string()))
    }

    /// The statement that empties a table.
    pub(super) fn truncate(self, table: &str, cascades: bool) -> String {
        match (self, cascades) {
            (Self::Postgres, true) => format!("TRUNCATE TABLE ONLY {table} CASCADE"),
            (Self::Postgres, false) => format!("TRUNCATE TABLE ONLY {table}"),
            _ => format!("TRUNCATE TABLE {table}"),
        }
    }

    /// Whether emptying a table leaves others alone; where nobody knows, tables are made anew.
    pub(super) fn truncates_alone(self) -> bool {
        !matches!(self, Self::Sqlite)
    }

    /// A query that fails where there is no such table.
    pub(super) fn exists(self, table: &str) -> String {
        match self {
            Self::Postgres | Self::MySql => format!("SELECT 1 FROM {table} LIMIT 1"),
            Self::Sqlite => format!("SELECT 1 FROM {table} WHERE 1=0"),
        }
    }

    /// A value in SQL; nothing where the database has no way to write it.
    pub(super) fn literal(self, value: &Literal, zone: TimeZone) -> Option<String> {
        let quote = |text: &str| self.string(text);
        Some(match value {
            Literal::Null(_) => "NULL".to_string(),
            Literal::Boolean(value) => match (self, value) {
                (Self::Sqlite, value) => u8::from(*value).to_string(),
                (_, true) => "TRUE".to_string(),
                (_, false) => "FALSE".to_string(),
            },
            Literal::Byte(value) => value.to_string(),
            Literal::Short(value) => value.to_string(),
            Literal::Integer(value) => value.to_string(),
            Literal::Long(value) => value.to_string(),
            Literal::Float(value) => self.real(f64::from(*value), || {
                let mut text = String::new();
                write_float(&mut text, *value);
                text
            })?,
            Literal::Double(value) => self.real(*value, || double_text(*value))?,
            Literal::Decimal(value, _, scale) => {
                let mut text = String::new();
                write_decimal(&mut text, *value, *scale);
                text
            }
            Literal::String(text) => quote(text)?,
            Literal::Binary(bytes) => {
                let hex = bytes.iter().fold(String::new(), |mut text, byte| {
                    let _ = write!(text, "{byte:02x}");
                    text
                });
                match self {
                    Self::Postgres => format!("'\\x{hex}'"),
                    Self::MySql | Self::Sqlite => format!("X'{hex}'"),
                }
            }
            Literal::Date(days) => {
                let mut text = String::new();
                write_date(&mut text, i64::from(*days));
                quote(&text)?
            }
            Literal::Timestamp(micros) => {
                let mut text = wall_clock(zone.to_local(*micros));
                if self == Self::Postgres {
                    text.push_str(&TimeZone::offset_text(zone.offset_at(micros.div_euclid(1_000_000))));
                }
                quote(&text)?
            }
            Literal::TimestampNtz(micros) => quote(&wall_clock(*micros))?,
            Literal::Array(..) if self == Self::Postgres => {
                let mut text = String::new();
                write_array(&mut text, value, zone)?;
                quote(&text)?
            }
            _ => return None,
        })
    }

    /// A text in SQL. PostgreSQL knows no character 0.
    fn string(self, text: &str) -> Option<String> {
        match self {
            Self::Postgres if text.contains('\0') => None,
            Self::Postgres | Self::Sqlite if !text.contains('\0') => Some(format!("'{}'", text.replace('\'', "''"))),
            _ => {
                // Whether a backslash escapes is a setting; digits are digits.
                let hex = text.bytes().fold(String::new(), |mut out, byte| {
                    let _ = write!(out, "{byte:02x}");
                    out
                });
                Some(match self {
                    Self::MySql if text.is_ascii() && !text.contains(['\'', '\\', '\0']) => format!("'{text}'"),
                    Self::MySql => format!("CONVERT(X'{hex}' USING utf8mb4)"),
                    Self::Postgres | Self::Sqlite => format!("CAST(X'{hex}' AS TEXT)"),
                })
            }
        }
    }

    fn real(self, value: f64, text: impl Fn() -> String) -> Option<String> {
        match self {
            _ if value.is_finite() => Some(text()),
            Self::Postgres => Some(format!("'{}'", text())),
            Self::Sqlite if value.is_nan() => Some("NULL".to_string()),
            Self::Sqlite => Some(if value > 0.0 { "9e999".to_string() } else { "-9e999".to_string() }),
            Self::MySql => None,
        }
    }
}

fn wall_clock(local: i64) -> String {
    let mut text = String::new();
    write_timestamp(&mut text, local);
    text
}

/// An array in the text form of PostgreSQL.
fn write_array(out: &mut String, value: &Literal, zone: TimeZone) -> Option<()> {
    match value {
        Literal::Null(_) => out.push_str("NULL"),
        Literal::Array(values, _) => {
            out.push('{');
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_array(out, value, zone)?;
            }
            out.push('}');
        }
        Literal::String(text) => {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            out.push_str(&format!("\"{escaped}\""));
        }
        Literal::Binary(_) => {
            let text = Database::Postgres.literal(value, zone)?;
            out.push_str(&format!("\"\\{}\"", text.trim_matches('\'')));
        }
        value => {
            let text = Database::Postgres.literal(value, zone)?;
            out.push_str(&format!("\"{}\"", text.trim_matches('\'')));
        }
    }
    Some(())
}

fn postgres_type(data_type: &DataType) -> Result<Option<String>> {
    Ok(Some(match data_type {
        DataType::String(_) => "TEXT".to_string(),
        DataType::Binary => "BYTEA".to_string(),
        DataType::Boolean => "BOOLEAN".to_string(),
        DataType::Float => "FLOAT4".to_string(),
        DataType::Double => "FLOAT8".to_string(),
        DataType::Short | DataType::Byte => "SMALLINT".to_string(),
        DataType::Timestamp => "TIMESTAMP WITH TIME ZONE".to_string(),
        DataType::TimestampNtz => "TIMESTAMP".to_string(),
        DataType::Decimal(precision, scale) => format!("NUMERIC({precision},{scale})"),
        DataType::Array { element, .. } => match Database::Postgres.type_name(element) {
            Ok(element) => format!("{element}[]"),
            Err(_) => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

fn mysql_type(data_type: &DataType) -> Option<String> {
    Some(
        match data_type {
            DataType::Float => "FLOAT",
            DataType::String(_) => "LONGTEXT",
            DataType::Byte => "TINYINT",
            DataType::Short => "SMALLINT",
            DataType::TimestampNtz => "DATETIME",
            _ => return None,
        }
        .to_string(),
    )
}

fn common_type(data_type: &DataType) -> Option<String> {
    Some(match data_type {
        DataType::Integer | DataType::Short => "INTEGER".to_string(),
        DataType::Long => "BIGINT".to_string(),
        DataType::Double => "DOUBLE PRECISION".to_string(),
        DataType::Float => "REAL".to_string(),
        DataType::Byte => "BYTE".to_string(),
        DataType::Boolean => "BIT(1)".to_string(),
        DataType::String(_) => "TEXT".to_string(),
        DataType::Binary => "BLOB".to_string(),
        DataType::Char(length) => format!("CHAR({length})"),
        DataType::Varchar(length) => format!("VARCHAR({length})"),
        DataType::Timestamp | DataType::TimestampNtz => "TIMESTAMP".to_string(),
        DataType::Date => "DATE".to_string(),
        DataType::Decimal(precision, scale) => format!("DECIMAL({precision},{scale})"),
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn new_columns_have_the_databases_types() {
        let strings = DataType::array(DataType::STRING, true);
        assert_eq!(Database::Postgres.type_name(&strings).unwrap(), "TEXT[]");
        assert_eq!(Database::MySql.type_name(&DataType::STRING).unwrap(), "LONGTEXT");
        assert_eq!(Database::Sqlite.type_name(&DataType::Decimal(5, 2)).unwrap(), "DECIMAL(5,2)");
        let error = Database::MySql.type_name(&strings).unwrap_err();
        assert_eq!(error.condition(), Some("_LEGACY_ERROR_TEMP_2082"));
    }

    #[test]
    fn values_cannot_leave_their_quotes() {
        let text = |text: &str| Literal::String(text.to_string());
        let zone = TimeZone::UTC;
        assert_eq!(Database::Postgres.literal(&text("a'b\\"), zone).unwrap(), "'a''b\\'");
        assert_eq!(Database::MySql.literal(&text("a'\\"), zone).unwrap(), "CONVERT(X'61275c' USING utf8mb4)");
        assert_eq!(Database::Postgres.literal(&text("\0"), zone), None);
        let array = Literal::Array(vec![text("a\"'"), Literal::Null(DataType::STRING)], DataType::STRING);
        assert_eq!(Database::Postgres.literal(&array, zone).unwrap(), "'{\"a\\\"''\",NULL}'");
        let moment = Literal::Timestamp(1_500_000);
        assert_eq!(Database::Postgres.literal(&moment, zone).unwrap(), "'1970-01-01 00:00:01.5+00:00'");
        assert_eq!(Database::Sqlite.literal(&moment, zone).unwrap(), "'1970-01-01 00:00:01.5'");
    }

    #[test]
    fn names_cannot_leave_their_quotes() {
        assert_eq!(Database::Postgres.quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(Database::MySql.quoted("a`b"), "`a``b`");
    }
}
