//! The text forms of types: SQL, simple, catalog and JSON names, and DDL.

use crate::{Collation, DataType, StructField, StructType};
use std::fmt::{self, Write};

/// How many struct fields [`DataType::simple_string`] shows
/// (`spark.sql.debug.maxToStringFields`).
pub const DEFAULT_MAX_FIELDS: usize = 25;

/// The family of forms that share one layout.
#[derive(Clone, Copy)]
enum Form {
    /// At most so many fields of a struct.
    Simple(usize),
    Sql,
}

impl DataType {
    /// The type as SQL text, such as `ARRAY<STRUCT<a: BIGINT>>`.
    pub fn sql(&self) -> String {
        let mut out = String::new();
        write_type(&mut out, self, Form::Sql);
        out
    }

    /// The short form in lower case, such as `array<struct<a:bigint>>`, with the fields of long structs cut.
    pub fn simple_string(&self) -> String {
        self.truncated_string(DEFAULT_MAX_FIELDS)
    }

    /// The short form with at most `max_fields` fields of each struct.
    pub fn truncated_string(&self, max_fields: usize) -> String {
        let mut out = String::new();
        write_type(&mut out, self, Form::Simple(max_fields));
        out
    }

    /// The short form, never cut.
    pub fn catalog_string(&self) -> String {
        self.truncated_string(usize::MAX)
    }

    /// The name of the type alone, as JSON and `printSchema` spell it: `long`, `array`, `decimal(10,2)`.
    pub fn type_name(&self) -> String {
        match self {
            DataType::Byte => "byte".to_string(),
            DataType::Short => "short".to_string(),
            DataType::Integer => "integer".to_string(),
            DataType::Long => "long".to_string(),
            DataType::Array { .. } => "array".to_string(),
            DataType::Map { .. } => "map".to_string(),
            DataType::Struct(_) => "struct".to_string(),
            other => other.simple_string(),
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.simple_string())
    }
}

impl Collation {
    /// The canonical name, such as `UNICODE_CI`.
    pub fn name(&self) -> &str {
        match self {
            Collation::Utf8Binary => "UTF8_BINARY",
            Collation::Named(name) => name,
        }
    }
}

impl StructField {
    /// The comment in the metadata.
    pub fn comment(&self) -> Option<&str> {
        self.metadata.get("comment").and_then(|v| v.as_str())
    }

    /// The SQL text of the default value in the metadata.
    pub fn current_default(&self) -> Option<&str> {
        self.metadata.get("CURRENT_DEFAULT").and_then(|v| v.as_str())
    }

    /// The field inside `STRUCT<…>`, such as `` `a b`: INT NOT NULL COMMENT 'x' ``.
    pub fn sql(&self) -> String {
        let mut out = String::new();
        write_field_sql(&mut out, self);
        out
    }

    /// The column in a table definition, such as `a INT NOT NULL DEFAULT 1 COMMENT 'x'`.
    pub fn to_ddl(&self) -> String {
        let mut out = format!("{} {}", quote_if_needed(&self.name), self.data_type.sql());
        write_not_null(&mut out, self);
        if let Some(default) = self.current_default() {
            out.push_str(" DEFAULT ");
            out.push_str(default);
        }
        write_comment(&mut out, self);
        out
    }
}

impl StructType {
    /// The columns as a table definition lists them, separated by commas.
    pub fn to_ddl(&self) -> String {
        self.fields.iter().map(StructField::to_ddl).collect::<Vec<_>>().join(",")
    }

    /// The struct as SQL text.
    pub fn sql(&self) -> String {
        let mut out = String::new();
        write_struct(&mut out, self, Form::Sql);
        out
    }

    /// The short form, with the fields of long structs cut.
    pub fn simple_string(&self) -> String {
        let mut out = String::new();
        write_struct(&mut out, self, Form::Simple(DEFAULT_MAX_FIELDS));
        out
    }

    /// The short form, never cut.
    pub fn catalog_string(&self) -> String {
        let mut out = String::new();
        write_struct(&mut out, self, Form::Simple(usize::MAX));
        out
    }
}

impl fmt::Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.simple_string())
    }
}

/// An identifier in back ticks, unless it consists of letters, digits and `_` and starts with no digit.
pub fn quote_if_needed(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    if plain { name.to_string() } else { quote_identifier(name) }
}

/// An identifier in back ticks.
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Text inside single quotes, with `\` before quotes.
pub fn quote_string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "\\'"))
}

fn write_type(out: &mut String, data_type: &DataType, form: Form) {
    let word = |out: &mut String, lower: &str| match form {
        Form::Sql => out.push_str(&lower.to_ascii_uppercase()),
        Form::Simple(_) => out.push_str(lower),
    };
    match data_type {
        DataType::Null => word(out, "void"),
        DataType::Boolean => word(out, "boolean"),
        DataType::Byte => word(out, "tinyint"),
        DataType::Short => word(out, "smallint"),
        DataType::Integer => word(out, "int"),
        DataType::Long => word(out, "bigint"),
        DataType::Float => word(out, "float"),
        DataType::Double => word(out, "double"),
        DataType::Decimal(precision, scale) => word(out, &format!("decimal({precision},{scale})")),
        DataType::String(Collation::Utf8Binary) => word(out, "string"),
        DataType::String(Collation::Named(name)) => {
            word(out, "string collate ");
            match form {
                Form::Sql => out.push_str(&name.to_ascii_uppercase()),
                Form::Simple(_) => out.push_str(name),
            }
        }
        DataType::Char(length) => word(out, &format!("char({length})")),
        DataType::Varchar(length) => word(out, &format!("varchar({length})")),
        DataType::Binary => word(out, "binary"),
        DataType::Date => word(out, "date"),
        DataType::Timestamp => word(out, "timestamp"),
        DataType::TimestampNtz => word(out, "timestamp_ntz"),
        DataType::Time(precision) => word(out, &format!("time({precision})")),
        DataType::CalendarInterval => word(out, "interval"),
        DataType::YearMonthInterval(start, end) => {
            word(out, &interval_name(start.name(), end.name()));
        }
        DataType::DayTimeInterval(start, end) => word(out, &interval_name(start.name(), end.name())),
        DataType::Variant => word(out, "variant"),
        DataType::Geometry(srid) => word(out, &spatial_name("geometry", *srid)),
        DataType::Geography(srid) => word(out, &spatial_name("geography", *srid)),
        DataType::Array { element, .. } => {
            word(out, "array");
            out.push('<');
            write_type(out, element, form);
            out.push('>');
        }
        DataType::Map { key, value, .. } => {
            word(out, "map");
            out.push('<');
            write_type(out, key, form);
            out.push_str(match form {
                Form::Sql => ", ",
                Form::Simple(_) => ",",
            });
            write_type(out, value, form);
            out.push('>');
        }
        DataType::Struct(fields) => write_struct(out, fields, form),
        DataType::Udt { sql_type, jvm_class, .. } => match form {
            Form::Sql => write_type(out, sql_type, form),
            Form::Simple(usize::MAX) => write_type(out, sql_type, Form::Simple(DEFAULT_MAX_FIELDS)),
            Form::Simple(_) => out.push_str(&udt_name(jvm_class.as_deref())),
        },
        DataType::Unparsed(text) => out.push_str(text),
    }
}

fn write_struct(out: &mut String, fields: &StructType, form: Form) {
    match form {
        Form::Sql => {
            out.push_str("STRUCT<");
            for (i, field) in fields.fields.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_field_sql(out, field);
            }
        }
        Form::Simple(max_fields) => {
            out.push_str("struct<");
            let shown = fields.fields.len().min(max_fields);
            for (i, field) in fields.fields.iter().take(shown).enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&field.name);
                out.push(':');
                write_type(out, &field.data_type, form);
            }
            let rest = fields.fields.len() - shown;
            if rest > 0 {
                if shown > 0 {
                    out.push(',');
                }
                // Writing to a string cannot fail.
                let _ = write!(out, "... {rest} more fields");
            }
        }
    }
    out.push('>');
}

fn write_field_sql(out: &mut String, field: &StructField) {
    out.push_str(&quote_if_needed(&field.name));
    out.push_str(": ");
    write_type(out, &field.data_type, Form::Sql);
    write_not_null(out, field);
    write_comment(out, field);
}

fn write_not_null(out: &mut String, field: &StructField) {
    if !field.nullable {
        out.push_str(" NOT NULL");
    }
}

fn write_comment(out: &mut String, field: &StructField) {
    if let Some(comment) = field.comment() {
        out.push_str(" COMMENT ");
        out.push_str(&quote_string(comment));
    }
}

fn interval_name(start: &str, end: &str) -> String {
    if start == end { format!("interval {start}") } else { format!("interval {start} to {end}") }
}

fn spatial_name(family: &str, srid: i32) -> String {
    if srid == crate::srid::ANY { format!("{family}(any)") } else { format!("{family}({srid})") }
}

/// Spark names a user-defined type after its JVM class: `VectorUDT` is `vector`.
fn udt_name(jvm_class: Option<&str>) -> String {
    let Some(class) = jvm_class else {
        return "pythonuserdefined".to_string();
    };
    let name = class.rsplit(['.', '$']).find(|part| !part.is_empty()).unwrap_or(class);
    let name = name.strip_suffix("Type").unwrap_or(name);
    name.strip_suffix("UDT").unwrap_or(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use crate::ddl::{parse_data_type, parse_table_schema};

    #[test]
    fn every_form_is_sparks() {
        // sql | simpleString | typeName, printed by Spark 4.2.1.
        for (text, sql, simple, name) in [
            ("tinyint", "TINYINT", "tinyint", "byte"),
            ("bigint", "BIGINT", "bigint", "long"),
            (
                "string collate utf8_lcase",
                "STRING COLLATE UTF8_LCASE",
                "string collate UTF8_LCASE",
                "string collate UTF8_LCASE",
            ),
            (
                "string collate de_ci_rtrim",
                "STRING COLLATE DE_CI_RTRIM",
                "string collate de_CI_RTRIM",
                "string collate de_CI_RTRIM",
            ),
            ("char(5)", "CHAR(5)", "char(5)", "char(5)"),
            ("time", "TIME(6)", "time(6)", "time(6)"),
            ("interval", "INTERVAL", "interval", "interval"),
            ("interval year to month", "INTERVAL YEAR TO MONTH", "interval year to month", "interval year to month"),
            ("interval hour", "INTERVAL HOUR", "interval hour", "interval hour"),
            ("decimal(12,3)", "DECIMAL(12,3)", "decimal(12,3)", "decimal(12,3)"),
            ("map<string,int>", "MAP<STRING, INT>", "map<string,int>", "map"),
            (
                "struct<a:int,`b c` string not null comment 'x\\'y'>",
                "STRUCT<a: INT, `b c`: STRING NOT NULL COMMENT 'x\\'y'>",
                "struct<a:int,b c:string>",
                "struct",
            ),
            ("geometry(any)", "GEOMETRY(ANY)", "geometry(any)", "geometry(any)"),
            ("void", "VOID", "void", "void"),
        ] {
            let parsed = parse_data_type(text).unwrap();
            assert_eq!(parsed.sql(), sql);
            assert_eq!(parsed.simple_string(), simple);
            assert_eq!(parsed.type_name(), name);
        }
    }

    #[test]
    fn ddl_quotes_names_and_comments() {
        let schema = parse_table_schema(
            "a int not null comment 'it\\'s', `b``c` struct<x:int>, `1a` string collate unicode, `select` int, `é` int",
        )
        .unwrap();
        assert_eq!(
            schema.to_ddl(),
            "a INT NOT NULL COMMENT 'it\\'s',`b``c` STRUCT<x: INT>,`1a` STRING COLLATE UNICODE,select INT,`é` INT"
        );
    }

    #[test]
    fn long_structs_are_cut() {
        let text = (0..30).map(|i| format!("c{i} int")).collect::<Vec<_>>().join(", ");
        let schema = parse_table_schema(&text).unwrap();
        assert!(schema.simple_string().ends_with(",c24:int,... 5 more fields>"));
        assert!(schema.catalog_string().ends_with(",c29:int>"));
    }
}
