//! SQLite.

use super::batches::Batches;
use super::cell::Cell;
use super::options::JdbcOptions;
use super::session::{Answer, Described, Fault};
use firesteel_types::DataType;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, InterruptHandle};
use std::time::Duration;

/// A connection, which is at work on a thread that may block or waits here.
pub(super) struct SqliteSession {
    connection: Option<Connection>,
    timeout: Option<Duration>,
}

/// Interrupts what runs on a connection when it is dropped, unless it has ended.
struct Running(Option<InterruptHandle>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            handle.interrupt();
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        let is_syntax = match &error {
            rusqlite::Error::SqliteFailure(error, _) => error.code == ErrorCode::Unknown,
            rusqlite::Error::SqlInputError { .. } => true,
            _ => false,
        };
        Self::of_query(error.to_string(), is_syntax)
    }
}

impl SqliteSession {
    pub async fn open(options: &JdbcOptions) -> Answer<Self> {
        let (path, timeout) = (options.address.name.clone(), options.timeout);
        let opened = blocking(move || {
            let connection = if path.is_empty() { Connection::open_in_memory()? } else { Connection::open(&path)? };
            connection.busy_timeout(Duration::from_secs(60))?;
            Ok(connection)
        });
        Ok(Self { connection: Some(opened.await?), timeout })
    }

    pub async fn execute(&mut self, statement: &str) -> Answer<()> {
        let statement = statement.to_string();
        self.work(move |connection| Ok(connection.execute_batch(&statement)?)).await
    }

    pub async fn describe(&mut self, query: &str) -> Answer<Vec<Described>> {
        let query = query.to_string();
        self.work(move |connection| {
            let statement = connection.prepare(&query)?;
            let declared: Vec<(String, Option<String>)> = statement
                .columns()
                .iter()
                .map(|column| (column.name().to_string(), column.decl_type().map(str::to_string)))
                .collect();
            drop(statement);
            // Expressions have a type for each value only: the first row's.
            let values = if declared.iter().any(|(_, declared)| declared.is_none()) {
                first_row(connection, &query)?
            } else {
                Vec::new()
            };
            let described = declared.iter().enumerate().map(|(i, (name, declared))| match declared {
                Some(declared) => {
                    let (data_type, client_type) = type_of(declared);
                    described(name, data_type, &client_type)
                }
                None => {
                    let (data_type, client_type) = values.get(i).cloned().unwrap_or((DataType::STRING, "NULL"));
                    described(name, data_type, client_type)
                }
            });
            Ok(described.collect())
        })
        .await
    }

    pub async fn read(&mut self, query: &str, mut batches: Batches) -> Answer<()> {
        let query = query.to_string();
        self.work(move |connection| {
            let mut statement = connection.prepare(&query)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                for i in 0..batches.width() {
                    match row.get_ref(i)? {
                        ValueRef::Null => batches.push(i, Cell::Null)?,
                        ValueRef::Integer(value) => batches.push(i, Cell::Integer(value))?,
                        ValueRef::Real(value) => batches.push(i, Cell::Real(value))?,
                        ValueRef::Text(text) if batches.takes_bytes(i) => batches.push(i, Cell::Bytes(text))?,
                        ValueRef::Text(text) => batches.push(i, Cell::Text(&String::from_utf8_lossy(text)))?,
                        ValueRef::Blob(bytes) => batches.push(i, Cell::Bytes(bytes))?,
                    }
                }
                if let Some(batch) = batches.end_row()?
                    && !batches.send_blocking(batch)
                {
                    return Ok(());
                }
            }
            if let Some(batch) = batches.rest()? {
                batches.send_blocking(batch);
            }
            Ok(())
        })
        .await
    }

    /// Does something with the connection on a thread that may block.
    async fn work<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Connection) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let connection = self.connection.take().ok_or_else(|| Fault::new("the connection is lost"))?;
        let mut running = Running(Some(connection.get_interrupt_handle()));
        let done = blocking(move || {
            let result = work(&connection);
            Ok((connection, result))
        });
        let done = match self.timeout {
            None => done.await,
            Some(timeout) => match tokio::time::timeout(timeout, done).await {
                Ok(done) => done,
                Err(_) => return Err(Fault::new("the query took longer than queryTimeout allows")),
            },
        };
        running.0 = None;
        let (connection, result) = done?;
        self.connection = Some(connection);
        result
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Answer<T> + Send + 'static) -> Answer<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Fault::new(error.to_string())),
        },
    }
}

/// The types of the values in a query's first row; the query may select none.
fn first_row(connection: &Connection, query: &str) -> Answer<Vec<(DataType, &'static str)>> {
    let query =
        query.strip_suffix(super::NO_ROWS).map_or_else(|| query.to_string(), |query| format!("{query} LIMIT 1"));
    let mut statement = connection.prepare(&query)?;
    let width = statement.column_count();
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else { return Ok(Vec::new()) };
    (0..width)
        .map(|i| {
            Ok(match row.get_ref(i)? {
                ValueRef::Integer(_) => (DataType::Long, "BIGINT"),
                ValueRef::Real(_) => (DataType::Double, "DOUBLE"),
                ValueRef::Blob(_) => (DataType::Binary, "BLOB"),
                ValueRef::Text(_) | ValueRef::Null => (DataType::STRING, "VARCHAR"),
            })
        })
        .collect()
}

fn described(name: &str, data_type: DataType, client_type: &str) -> Described {
    let mut described = Described::new(name, data_type, client_type);
    described.is_local = described.data_type == DataType::Timestamp;
    described.is_time = client_type == "TIME";
    if let DataType::Decimal(_, scale) = described.data_type {
        described.scale = i64::from(scale);
    }
    described
}

/// The type of a declaration such as `VARCHAR(10)`, and its name.
fn type_of(declared: &str) -> (DataType, String) {
    let upper = declared.trim().to_uppercase();
    let (name, arguments) = upper.split_once('(').unwrap_or((upper.as_str(), ""));
    let name = name.trim();
    let mut arguments = arguments.trim_end_matches(')').split(',').map(|number| number.trim().parse::<u8>().ok());
    let (first, second) = (arguments.next().flatten(), arguments.next().flatten());
    let length = upper.split_once('(').and_then(|(_, rest)| rest.trim_end_matches(')').trim().parse::<u32>().ok());
    let data_type = match name {
        "BOOLEAN" | "BOOL" | "BIT" => DataType::Boolean,
        "TINYINT" | "SMALLINT" | "INT2" | "INT" | "INTEGER" | "INT4" | "MEDIUMINT" | "BYTE" => DataType::Integer,
        "BIGINT" | "INT8" | "UNSIGNED BIG INT" => DataType::Long,
        "REAL" | "FLOAT4" => DataType::Float,
        "DOUBLE" | "DOUBLE PRECISION" | "FLOAT" | "FLOAT8" => DataType::Double,
        "DECIMAL" | "NUMERIC" => match (first, second) {
            (Some(precision @ 1..=38), scale) => {
                let scale = i8::try_from(scale.unwrap_or(0)).unwrap_or(0);
                DataType::Decimal(precision.max(scale.unsigned_abs()), scale)
            }
            _ => DataType::Decimal(38, 18),
        },
        "DATE" => DataType::Date,
        "DATETIME" | "TIMESTAMP" | "TIME" => DataType::Timestamp,
        "BLOB" | "BINARY" | "VARBINARY" | "BYTEA" => DataType::Binary,
        "CHAR" | "CHARACTER" | "NCHAR" | "NATIVE CHARACTER" => length.map_or(DataType::STRING, DataType::Char),
        "VARCHAR" | "VARYING CHARACTER" | "NVARCHAR" => length.map_or(DataType::STRING, DataType::Varchar),
        _ => DataType::STRING,
    };
    (data_type, name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_types() {
        assert_eq!(type_of("varchar(10)"), (DataType::Varchar(10), "VARCHAR".to_string()));
        assert_eq!(type_of("DECIMAL(10, 2)").0, DataType::Decimal(10, 2));
        assert_eq!(type_of("INTEGER").0, DataType::Integer);
        assert_eq!(type_of("text").0, DataType::STRING);
    }
}
