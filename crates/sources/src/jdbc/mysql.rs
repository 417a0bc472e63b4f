//! MySQL and MariaDB.

use super::batches::Batches;
use super::cell::{BinaryText, Cell};
use super::options::JdbcOptions;
use super::session::{Answer, Described, Fault};
use firesteel_types::{DataType, TimeZone};
use mysql_async::consts::{ColumnFlags, ColumnType};
use mysql_async::prelude::Queryable;
use mysql_async::{Column, Conn, Opts, OptsBuilder, Value};
use std::time::Duration;

/// The character set of columns that hold bytes.
const BINARY: u16 = 63;

/// A connection, of which the queries end with it.
pub(super) struct MySqlSession {
    conn: Conn,
    zone: TimeZone,
}

/// Ends what runs on a connection when it is dropped, unless it has ended.
struct Running(Option<(Opts, u32)>);

impl Running {
    fn of(conn: &Conn) -> Self {
        Self(Some((conn.opts().clone(), conn.id())))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (Some((opts, id)), Ok(handle)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            handle.spawn(async move {
                // A server that is gone has nothing to end.
                if let Ok(mut conn) = Conn::new(opts).await {
                    let _ = conn.query_drop(format!("KILL QUERY {id}")).await;
                    let _ = conn.disconnect().await;
                }
            });
        }
    }
}

impl From<mysql_async::Error> for Fault {
    fn from(error: mysql_async::Error) -> Self {
        match error {
            mysql_async::Error::Server(error) => {
                let is_syntax = error.state.starts_with("42");
                Self::of_query(error.message, is_syntax)
            }
            other => Self::new(other.to_string()),
        }
    }
}

impl MySqlSession {
    pub async fn open(options: &JdbcOptions, zone: TimeZone, zone_name: &str) -> Answer<Self> {
        let address = &options.address;
        let name = (!address.name.is_empty()).then(|| address.name.clone());
        let opts = OptsBuilder::default()
            .ip_or_hostname(address.host.clone())
            .tcp_port(address.port)
            .user(address.user.clone())
            .pass(address.password.clone())
            .db_name(name)
            .prefer_socket(false);
        let connecting = tokio::time::timeout(Duration::from_secs(30), Conn::new(opts));
        let mut conn = match connecting.await {
            Ok(conn) => conn?,
            Err(_) => return Err(Fault::new("the server does not answer")),
        };
        let mut session_zone = zone;
        let name = zone_name.replace('\'', "");
        if conn.query_drop(format!("SET time_zone = '{name}'")).await.is_err() {
            conn.query_drop("SET time_zone = '+00:00'").await?;
            session_zone = TimeZone::UTC;
        }
        // MariaDB counts seconds, MySQL milliseconds.
        if let Some(timeout) = options.timeout
            && conn.query_drop(format!("SET SESSION max_statement_time = {}", timeout.as_secs())).await.is_err()
        {
            conn.query_drop(format!("SET SESSION max_execution_time = {}", timeout.as_millis())).await?;
        }
        Ok(Self { conn, zone: session_zone })
    }

    /// The zone in which the server tells moments.
    pub fn zone(&self) -> TimeZone {
        self.zone
    }

    pub async fn execute(&mut self, statement: &str) -> Answer<()> {
        let running = Running::of(&self.conn);
        let result = self.conn.query_drop(statement).await;
        running.ended();
        Ok(result?)
    }

    pub async fn describe(&mut self, query: &str) -> Answer<Vec<Described>> {
        let result = self.conn.query_iter(query).await?;
        let columns = result.columns();
        result.drop_result().await?;
        Ok(columns.iter().flat_map(|columns| columns.iter()).map(described).collect())
    }

    pub async fn read(&mut self, query: &str, mut batches: Batches) -> Answer<()> {
        let running = Running::of(&self.conn);
        let mut result = self.conn.query_iter(query).await?;
        while let Some(row) = result.next().await? {
            for i in 0..batches.width() {
                match row.as_ref(i) {
                    Some(Value::Bytes(bytes)) if batches.takes_bytes(i) => batches.push(i, Cell::Bytes(bytes))?,
                    Some(Value::Bytes(bytes)) => {
                        let text = std::str::from_utf8(bytes).map_err(|error| Fault::new(error.to_string()))?;
                        batches.push(i, Cell::Text(text))?;
                    }
                    Some(Value::Int(value)) => batches.push(i, Cell::Integer(*value))?,
                    Some(Value::Float(value)) => batches.push(i, Cell::Real(f64::from(*value)))?,
                    Some(Value::Double(value)) => batches.push(i, Cell::Real(*value))?,
                    Some(Value::NULL) | None => batches.push(i, Cell::Null)?,
                    Some(other) => {
                        let text = other.as_sql(true);
                        batches.push(i, Cell::Text(text.trim_matches('\'')))?;
                    }
                }
            }
            if let Some(batch) = batches.end_row()?
                && !batches.send(batch).await
            {
                return Ok(());
            }
        }
        running.ended();
        if let Some(batch) = batches.rest()? {
            batches.send(batch).await;
        }
        Ok(())
    }

    /// Says goodbye to the server.
    pub async fn close(self) {
        // Who is gone needs no goodbye.
        let _ = self.conn.disconnect().await;
    }
}

/// How a column's bytes are to be read.
pub(super) fn binary_text(client_type: &str) -> BinaryText {
    if client_type == "BIT" { BinaryText::Number } else { BinaryText::Raw }
}

fn described(column: &Column) -> Described {
    let flags = column.flags();
    let (data_type, name) = type_of(column);
    let mut name = name.to_string();
    if flags.contains(ColumnFlags::UNSIGNED_FLAG) && data_type.is_numeric() {
        name.push_str(" UNSIGNED");
    }
    let mut described = Described::new(&column.name_str(), data_type, &name);
    let kind = column.column_type();
    described.is_local = matches!(
        kind,
        ColumnType::MYSQL_TYPE_DATETIME
            | ColumnType::MYSQL_TYPE_DATETIME2
            | ColumnType::MYSQL_TYPE_TIME
            | ColumnType::MYSQL_TYPE_TIME2
    );
    described.is_time = matches!(kind, ColumnType::MYSQL_TYPE_TIME | ColumnType::MYSQL_TYPE_TIME2);
    described.is_signed = described.data_type.is_numeric() && !flags.contains(ColumnFlags::UNSIGNED_FLAG);
    if let DataType::Decimal(_, scale) = described.data_type {
        described.scale = i64::from(scale);
    }
    described
}

/// The type of a column, and MySQL's name of it.
fn type_of(column: &Column) -> (DataType, &'static str) {
    use ColumnType as T;
    let flags = column.flags();
    let is_unsigned = flags.contains(ColumnFlags::UNSIGNED_FLAG);
    let is_binary = column.character_set() == BINARY;
    // Lengths are in bytes, of which a character has up to four.
    let characters = (column.column_length() / 4).max(1);
    match column.column_type() {
        T::MYSQL_TYPE_TINY if column.column_length() == 1 && !is_unsigned => (DataType::Boolean, "TINYINT"),
        T::MYSQL_TYPE_TINY => (if is_unsigned { DataType::Short } else { DataType::Byte }, "TINYINT"),
        T::MYSQL_TYPE_SHORT => (if is_unsigned { DataType::Integer } else { DataType::Short }, "SMALLINT"),
        T::MYSQL_TYPE_INT24 => (DataType::Integer, "MEDIUMINT"),
        T::MYSQL_TYPE_LONG => (if is_unsigned { DataType::Long } else { DataType::Integer }, "INT"),
        T::MYSQL_TYPE_LONGLONG if is_unsigned => (DataType::Decimal(20, 0), "BIGINT"),
        T::MYSQL_TYPE_LONGLONG => (DataType::Long, "BIGINT"),
        T::MYSQL_TYPE_FLOAT => (DataType::Float, "FLOAT"),
        T::MYSQL_TYPE_DOUBLE => (DataType::Double, "DOUBLE"),
        T::MYSQL_TYPE_DECIMAL | T::MYSQL_TYPE_NEWDECIMAL => {
            let scale = u32::from(column.decimals());
            let signs = u32::from(!is_unsigned) + u32::from(scale > 0);
            let precision = column.column_length().saturating_sub(signs).clamp(1, 38);
            let scale = scale.min(precision);
            let number = DataType::Decimal(u8::try_from(precision).unwrap_or(38), i8::try_from(scale).unwrap_or(38));
            (number, "DECIMAL")
        }
        T::MYSQL_TYPE_DATE | T::MYSQL_TYPE_NEWDATE => (DataType::Date, "DATE"),
        T::MYSQL_TYPE_YEAR => (DataType::Date, "YEAR"),
        T::MYSQL_TYPE_TIME | T::MYSQL_TYPE_TIME2 => (DataType::Timestamp, "TIME"),
        T::MYSQL_TYPE_DATETIME | T::MYSQL_TYPE_DATETIME2 => (DataType::Timestamp, "DATETIME"),
        T::MYSQL_TYPE_TIMESTAMP | T::MYSQL_TYPE_TIMESTAMP2 => (DataType::Timestamp, "TIMESTAMP"),
        T::MYSQL_TYPE_BIT if column.column_length() == 1 => (DataType::Boolean, "BIT"),
        T::MYSQL_TYPE_BIT => (DataType::Long, "BIT"),
        T::MYSQL_TYPE_JSON => (DataType::STRING, "JSON"),
        T::MYSQL_TYPE_NULL => (DataType::Null, "NULL"),
        T::MYSQL_TYPE_GEOMETRY => (DataType::Binary, "GEOMETRY"),
        T::MYSQL_TYPE_STRING if is_binary && !flags.contains(ColumnFlags::ENUM_FLAG) => (DataType::Binary, "BINARY"),
        T::MYSQL_TYPE_STRING | T::MYSQL_TYPE_ENUM | T::MYSQL_TYPE_SET => (DataType::Char(characters), "CHAR"),
        T::MYSQL_TYPE_VARCHAR | T::MYSQL_TYPE_VAR_STRING if is_binary => (DataType::Binary, "VARBINARY"),
        T::MYSQL_TYPE_VARCHAR | T::MYSQL_TYPE_VAR_STRING => (DataType::Varchar(characters), "VARCHAR"),
        _ if is_binary => (DataType::Binary, "BLOB"),
        _ => (DataType::STRING, "TEXT"),
    }
}
