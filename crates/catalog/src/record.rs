//! Entries of a catalog as the texts that its storage keeps.

use crate::{CatalogFunction, CatalogTable, Database};
use firesteel_config::{ServerConfig, SqlConf};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{ColumnDefinition, FunctionBody};
use firesteel_sql::{ParserOptions, parse_expression, parse_query};
use firesteel_types::{DataType, StructType};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a session's settings were when a text was stored: how to read it again.
pub(crate) fn parser_options(settings: &[(String, String)]) -> Result<ParserOptions> {
    let reader = ServerConfig::new(settings.iter().cloned())?;
    Ok(ParserOptions::from(&SqlConf::new(&reader)))
}

/// Schemas as the JSON that all of Spark's files have.
pub(crate) mod schema {
    use super::{DataType, StructType, Value};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub fn serialize<S: Serializer>(schema: &StructType, serializer: S) -> Result<S::Ok, S::Error> {
        schema.json_value().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StructType, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match DataType::from_json_value(&value).map_err(D::Error::custom)? {
            DataType::Struct(schema) => Ok(Arc::unwrap_or_clone(schema)),
            other => Err(D::Error::custom(format!("{} is no schema", other.sql()))),
        }
    }
}

/// A function without what its text says.
#[derive(Serialize, Deserialize)]
struct FunctionRecord {
    database: Option<String>,
    name: String,
    created: i64,
    owner: String,
    #[serde(default)]
    settings: Vec<(String, String)>,
    body: BodyRecord,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum BodyRecord {
    Class {
        class: String,
        resources: Vec<(String, String)>,
    },
    Sql {
        parameters: ColumnsRecord,
        returns: Option<Value>,
        returns_table: Option<ColumnsRecord>,
        text: String,
        is_query: bool,
        language: Option<String>,
        deterministic: Option<bool>,
        comment: Option<String>,
        contains_sql: Option<bool>,
    },
}

/// Columns, with one comment and one default for each.
#[derive(Serialize, Deserialize)]
struct ColumnsRecord {
    #[serde(with = "schema")]
    schema: StructType,
    defaults: Vec<Option<String>>,
    comments: Vec<Option<String>>,
}

impl ColumnsRecord {
    fn new(columns: &[ColumnDefinition]) -> Self {
        Self {
            schema: StructType::new(columns.iter().map(|column| column.field.clone()).collect()),
            defaults: columns.iter().map(|c| c.default.as_ref().map(|(text, _)| text.clone())).collect(),
            comments: columns.iter().map(|column| column.comment.clone()).collect(),
        }
    }

    fn columns(self, options: &ParserOptions) -> Result<Vec<ColumnDefinition>> {
        let (mut defaults, mut comments) = (self.defaults.into_iter(), self.comments.into_iter());
        let column = |field| {
            let mut column = ColumnDefinition::new(field);
            if let Some(text) = defaults.next().flatten() {
                let expression = parse_expression(&text, options)?;
                column.default = Some((text, expression));
            }
            column.comment = comments.next().flatten();
            Ok(column)
        };
        self.schema.fields.into_iter().map(column).collect()
    }
}

pub(crate) fn database_text(database: &Database) -> Result<String> {
    text_of(database)
}

pub(crate) fn read_database(text: &str) -> Result<Database> {
    read(text)
}

pub(crate) fn table_text(table: &CatalogTable) -> Result<String> {
    text_of(table)
}

pub(crate) fn read_table(text: &str) -> Result<CatalogTable> {
    read(text)
}

pub(crate) fn function_text(function: &CatalogFunction) -> Result<String> {
    let body = match &function.body {
        FunctionBody::Class { class, resources } => {
            BodyRecord::Class { class: class.clone(), resources: resources.clone() }
        }
        FunctionBody::Python { .. } => return Err(SparkError::unsupported("stored Python functions")),
        FunctionBody::Sql {
            parameters,
            returns,
            returns_table,
            text,
            query,
            language,
            deterministic,
            comment,
            contains_sql,
            ..
        } => BodyRecord::Sql {
            parameters: ColumnsRecord::new(parameters),
            returns: returns.as_ref().map(DataType::json_value),
            returns_table: returns_table.as_deref().map(ColumnsRecord::new),
            text: text.clone(),
            is_query: query.is_some(),
            language: language.clone(),
            deterministic: *deterministic,
            comment: comment.clone(),
            contains_sql: *contains_sql,
        },
    };
    text_of(&FunctionRecord {
        database: function.database.clone(),
        name: function.name.clone(),
        created: function.created,
        owner: function.owner.clone(),
        settings: function.settings.clone(),
        body,
    })
}

pub(crate) fn read_function(text: &str) -> Result<CatalogFunction> {
    let record: FunctionRecord = read(text)?;
    let options = parser_options(&record.settings)?;
    let body = match record.body {
        BodyRecord::Class { class, resources } => FunctionBody::Class { class, resources },
        BodyRecord::Sql {
            parameters,
            returns,
            returns_table,
            text,
            is_query,
            language,
            deterministic,
            comment,
            contains_sql,
        } => FunctionBody::Sql {
            parameters: parameters.columns(&options)?,
            returns: returns.as_ref().map(DataType::from_json_value).transpose()?,
            returns_table: returns_table.map(|columns| columns.columns(&options)).transpose()?,
            query: is_query.then(|| parse_query(&text, &options)).transpose()?,
            expression: (!is_query).then(|| parse_expression(&text, &options)).transpose()?,
            text,
            language,
            deterministic,
            comment,
            contains_sql,
        },
    };
    let FunctionRecord { database, name, created, owner, settings, .. } = record;
    Ok(CatalogFunction { database, name, body, created, owner, settings })
}

fn text_of<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| SparkError::internal(format!("an entry cannot be written: {error}")))
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| SparkError::internal(format!("an entry cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use firesteel_plan::Statement;
    use firesteel_sql::parse_statement;

    fn read_back(statement: &str) -> FunctionBody {
        let Statement::CreateFunction(create) = parse_statement(statement, &ParserOptions::default()).unwrap() else {
            panic!("{statement}");
        };
        let function = CatalogFunction {
            database: Some("d".into()),
            name: "f".into(),
            body: create.body.clone(),
            created: 7,
            owner: "o".into(),
            settings: vec![("spark.sql.ansi.enabled".into(), "false".into())],
        };
        let read = read_function(&function_text(&function).unwrap()).unwrap();
        assert_eq!((read.created, &read.settings), (7, &function.settings));
        assert_eq!(read.body, create.body);
        read.body
    }

    #[test]
    fn functions_come_back_as_they_were() {
        read_back("CREATE FUNCTION f(a INT COMMENT 'x', b STRING DEFAULT 'y') RETURNS INT COMMENT 'c' RETURN a + 1");
        read_back("CREATE FUNCTION f() RETURNS TABLE (a ARRAY<STRING>, b DECIMAL(5, 2)) RETURN SELECT array('x'), 1.5");
        read_back("CREATE FUNCTION f() RETURN (SELECT max(id) FROM range(3))");
        read_back("CREATE FUNCTION f AS 'a.b.C' USING JAR '/x.jar'");
    }
}
