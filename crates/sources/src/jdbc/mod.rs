//! Databases behind `jdbc:` URLs: PostgreSQL, MySQL and MariaDB, SQLite.
//!
//! [`scan`] asks the database for a schema and makes a table of which each partition
//! is a query on a connection of its own; [`write`](write::write) runs a plan, of which
//! each partition inserts its rows in a transaction of its own.

mod batches;
mod cell;
mod dialect;
mod filter;
mod mysql;
mod options;
mod parts;
mod postgres;
mod session;
mod sqlite;
mod table;
mod url;
mod write;

pub use options::JdbcOptions;
pub use table::JdbcTable;
pub use write::{JdbcWrite, check, write};

use crate::options::SourceOptions;
use crate::request::SourceScan;
use cell::{BinaryText, Column};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, StructType, TimeZone, ddl};
use session::{Described, Session};
use std::sync::Arc;
use table::Source;
use url::Database;

/// The end of a query for its columns only.
const NO_ROWS: &str = " WHERE 1=0";

/// A table to read.
pub struct JdbcRequest<'a> {
    /// Reader options; keys in any letter case.
    pub options: &'a [(String, String)],
    /// Conditions of partitions, as the client lists them; None where it lists none.
    pub predicates: Option<&'a [String]>,
    /// The schema that the user gives, which has to be the table's.
    pub schema: Option<&'a StructType>,
    pub conf: &'a SqlConf,
}

/// Plans a scan: asks the database for the columns.
pub async fn scan(request: &JdbcRequest<'_>) -> Result<SourceScan> {
    let (options, conf) = (SourceOptions::new(request.options), request.conf);
    let options = JdbcOptions::reader(&options)?;
    let zone = TimeZone::parse(&conf.time_zone)?;
    let database = options.address.database;
    let described = describe(&options, conf).await?;
    let mut schema = schema_of(&options, &described, conf);
    if let Some(text) = &options.custom_schema {
        schema = customised(schema, text, conf)?;
    }
    if let Some(given) = request.schema {
        check_schema(given, &schema)?;
    }
    let conditions = match (request.predicates, &options.partitioning) {
        (Some(predicates), _) => predicates.iter().cloned().map(Some).collect(),
        (None, None) => vec![None],
        (None, Some(bounds)) => parts::conditions(bounds, database, &schema, conf.case_sensitive, zone)?,
    };
    let columns = schema
        .fields
        .iter()
        .zip(&described)
        .map(|(field, described)| Column {
            data_type: field.data_type.clone(),
            zone,
            is_told: described.client_type == "TIMESTAMP" && database == Database::MySql,
            binary: binary_text(database, &described.client_type),
        })
        .collect();
    let source = Source { options, zone, zone_name: conf.time_zone.clone(), conditions };
    let table = JdbcTable::new(source, schema.clone(), columns);
    Ok(SourceScan { provider: Arc::new(table), schema, metadata_columns: Vec::new(), files: Vec::new() })
}

/// The columns of a table as the database has them.
async fn describe(options: &JdbcOptions, conf: &SqlConf) -> Result<Vec<Described>> {
    let zone = TimeZone::parse(&conf.time_zone)?;
    let mut session = Session::open(options, zone, &conf.time_zone).await?;
    let query = format!("{}SELECT * FROM {}{NO_ROWS}", options.prepare, options.table);
    let described = session.describe(&query).await.map_err(|fault| fault.while_describing(&query))?;
    session.close().await;
    Ok(described)
}

/// The schema that queries see.
fn schema_of(options: &JdbcOptions, described: &[Described], conf: &SqlConf) -> StructType {
    let fields = described.iter().map(|column| column.field(options.prefers_ntz)).collect();
    let schema = StructType::new(fields);
    if !conf.char_varchar_as_string {
        return schema.char_varchar_as_string();
    }
    let plain = |field: StructField| StructField { data_type: field.data_type.char_varchar_as_string(), ..field };
    StructType::new(schema.fields.into_iter().map(plain).collect())
}

/// The schema with the types that the option `customSchema` gives columns.
fn customised(schema: StructType, text: &str, conf: &SqlConf) -> Result<StructType> {
    let custom = ddl::parse_table_schema(text)?;
    crate::scan::check_names(&custom, conf.case_sensitive)?;
    let same = |a: &str, b: &str| if conf.case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) };
    let changed = schema.fields.into_iter().map(|field| {
        match custom.fields.iter().find(|custom| same(&custom.name, &field.name)) {
            Some(custom) => StructField { data_type: custom.data_type.char_varchar_as_string(), ..field },
            None => field,
        }
    });
    Ok(StructType::new(changed.collect()))
}

/// A schema that the user gives has to be the table's own.
fn check_schema(given: &StructType, actual: &StructType) -> Result<()> {
    let same = given.fields.len() == actual.fields.len()
        && given.fields.iter().zip(&actual.fields).all(|(a, b)| {
            a.name == b.name && a.data_type.char_varchar_as_string() == b.data_type.char_varchar_as_string()
        });
    if same {
        return Ok(());
    }
    Err(SparkError::new("USER_SPECIFIED_AND_ACTUAL_SCHEMA_MISMATCH")
        .with("schema", given.to_ddl())
        .with("actualSchema", actual.to_ddl()))
}

/// How the bytes of a type come.
fn binary_text(database: Database, client_type: &str) -> BinaryText {
    match database {
        Database::Postgres if matches!(client_type, "bytea" | "_bytea") => BinaryText::Hex,
        Database::MySql => mysql::binary_text(client_type),
        _ => BinaryText::Raw,
    }
}

/// The type of a column without the lengths of strings.
fn plain(data_type: &DataType) -> DataType {
    data_type.char_varchar_as_string()
}
