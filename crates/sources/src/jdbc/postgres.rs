//! PostgreSQL.

use super::batches::Batches;
use super::cell::Cell;
use super::options::JdbcOptions;
use super::session::{Answer, Described, Fault};
use firesteel_types::DataType;
use futures::StreamExt;
use std::collections::HashMap;
use tokio_postgres::types::{Kind, Type};
use tokio_postgres::{CancelToken, Client, Column, Config, NoTls, SimpleQueryMessage};

/// A connection, of which the queries end with it.
pub(super) struct PostgresSession {
    client: Client,
}

/// Cancels what runs on a connection when it is dropped, unless it has ended.
struct Running(Option<CancelToken>);

impl Running {
    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (Some(token), Ok(handle)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            handle.spawn(async move {
                // A server that is gone has nothing to cancel.
                let _ = token.cancel_query(NoTls).await;
            });
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(database) = error.as_db_error() {
            let is_syntax = database.code().code().starts_with("42");
            let mut message = format!("{}: {}", database.severity(), database.message());
            if let Some(detail) = database.detail() {
                message.push_str(&format!("\n  Detail: {detail}"));
            }
            if let Some(hint) = database.hint() {
                message.push_str(&format!("\n  Hint: {hint}"));
            }
            return Self::of_query(message, is_syntax);
        }
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self::new(format!("{error}{cause}"))
    }
}

impl PostgresSession {
    pub async fn open(options: &JdbcOptions, zone_name: &str) -> Answer<Self> {
        let address = &options.address;
        let mut config = Config::new();
        config.host(&address.host).port(address.port).application_name("Firesteel");
        config.connect_timeout(std::time::Duration::from_secs(30));
        if !address.name.is_empty() {
            config.dbname(&address.name);
        }
        config.user(address.user.as_deref().unwrap_or("postgres"));
        if let Some(password) = &address.password {
            config.password(password);
        }
        let (client, connection) = config.connect(NoTls).await?;
        tokio::spawn(async move {
            // Its faults reach the client's calls.
            let _ = connection.await;
        });
        client
            .batch_execute(
                "SET standard_conforming_strings = on; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; \
                 SET extra_float_digits = 3",
            )
            .await?;
        let zone = zone_name.replace('\'', "");
        let offset = zone_name.starts_with(['+', '-']);
        let statement = if offset {
            format!("SET TIME ZONE INTERVAL '{zone}' HOUR TO MINUTE")
        } else {
            format!("SET TIME ZONE '{zone}'")
        };
        if client.batch_execute(&statement).await.is_err() {
            // Moments come and go with their offsets, whatever the zone.
            client.batch_execute("SET TIME ZONE 'UTC'").await?;
        }
        if let Some(schema) = address.parameters.get("currentschema") {
            let names: Vec<String> = schema.split(',').map(|name| address.database.quoted(name.trim())).collect();
            client.batch_execute(&format!("SET search_path TO {}", names.join(", "))).await?;
        }
        if let Some(timeout) = options.timeout {
            client.batch_execute(&format!("SET statement_timeout = {}", timeout.as_millis())).await?;
        }
        Ok(Self { client })
    }

    pub async fn execute(&mut self, statement: &str) -> Answer<()> {
        let running = Running(Some(self.client.cancel_token()));
        let result = self.client.batch_execute(statement).await;
        running.ended();
        Ok(result?)
    }

    pub async fn describe(&mut self, query: &str) -> Answer<Vec<Described>> {
        let statement = self.client.prepare(query).await?;
        let dimensions = self.dimensions(statement.columns()).await?;
        Ok(statement
            .columns()
            .iter()
            .enumerate()
            .map(|(i, column)| described(column, dimensions.get(&i).copied().unwrap_or(1)))
            .collect())
    }

    /// How deep arrays of tables are, which their types do not say.
    async fn dimensions(&self, columns: &[Column]) -> Answer<HashMap<usize, usize>> {
        let mut all = HashMap::new();
        for (i, column) in columns.iter().enumerate() {
            let (true, Some(table), Some(id)) =
                (matches!(column.type_().kind(), Kind::Array(_)), column.table_oid(), column.column_id())
            else {
                continue;
            };
            let query = format!("SELECT attndims FROM pg_attribute WHERE attrelid = {table} AND attnum = {id}");
            for message in self.client.simple_query(&query).await? {
                if let SimpleQueryMessage::Row(row) = message
                    && let Ok(Some(text)) = row.try_get(0)
                    && let Ok(depth) = text.parse::<usize>()
                {
                    all.insert(i, depth.max(1));
                }
            }
        }
        Ok(all)
    }

    pub async fn read(&mut self, query: &str, mut batches: Batches) -> Answer<()> {
        let running = Running(Some(self.client.cancel_token()));
        let stream = self.client.simple_query_raw(query).await?;
        let mut stream = std::pin::pin!(stream);
        while let Some(message) = stream.next().await {
            let SimpleQueryMessage::Row(row) = message? else { continue };
            for i in 0..batches.width() {
                match row.try_get(i)? {
                    Some(text) => batches.push(i, Cell::Text(text))?,
                    None => batches.push(i, Cell::Null)?,
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
}

fn described(column: &Column, dimensions: usize) -> Described {
    let (kind, modifier) = (column.type_(), column.type_modifier());
    let mut described = match kind.kind() {
        Kind::Array(element) => {
            let inner = element_type(element, modifier);
            let data_type = (0..dimensions).fold(inner, |inner, _| DataType::array(inner, true));
            let mut described = Described::new(column.name(), data_type, kind.name());
            described.is_local = matches!(element.name(), "timestamp" | "time" | "timetz");
            described
        }
        _ => Described::new(column.name(), plain_type(kind, modifier), kind.name()),
    };
    match kind.name() {
        "timestamp" => described.is_local = true,
        "time" | "timetz" => (described.is_local, described.is_time) = (true, true),
        _ => {}
    }
    described.scale = scale(kind, modifier);
    described.is_signed = matches!(kind.name(), "int2" | "int4" | "int8" | "float4" | "float8" | "numeric");
    described
}

fn plain_type(kind: &Type, modifier: i32) -> DataType {
    let length = u32::try_from(modifier - 4).unwrap_or(0);
    match kind.name() {
        "bool" => DataType::Boolean,
        "int2" => DataType::Short,
        "int4" => DataType::Integer,
        "int8" | "oid" => DataType::Long,
        "float4" => DataType::Float,
        "float8" => DataType::Double,
        "numeric" => numeric(modifier),
        "bytea" => DataType::Binary,
        "bit" if modifier == 1 => DataType::Boolean,
        "bit" => DataType::Binary,
        "date" => DataType::Date,
        "timestamp" | "timestamptz" | "time" | "timetz" => DataType::Timestamp,
        "varchar" if modifier > 4 => DataType::Varchar(length),
        "bpchar" if modifier > 4 => DataType::Char(length),
        _ => DataType::STRING,
    }
}

/// Elements have no lengths, and bits of any number are binaries.
fn element_type(kind: &Type, modifier: i32) -> DataType {
    match (kind.name(), plain_type(kind, modifier)) {
        ("bit", _) => DataType::Binary,
        (_, DataType::Varchar(_) | DataType::Char(_)) => DataType::STRING,
        (_, data_type) => data_type,
    }
}

fn numeric(modifier: i32) -> DataType {
    if modifier < 4 {
        return DataType::Decimal(38, 18);
    }
    let precision = u8::try_from(((modifier - 4) >> 16) & 0xffff).unwrap_or(u8::MAX).min(38);
    let scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
    match i8::try_from(scale) {
        // Digits left of the point only: the precision grows by them.
        Ok(scale) if scale < 0 => DataType::Decimal(precision.saturating_add(scale.unsigned_abs()).min(38), 0),
        Ok(scale) => DataType::Decimal(precision.max(scale.unsigned_abs()).min(38), scale.min(38)),
        Err(_) => DataType::Decimal(38, 38),
    }
}

/// What the scale of a type is in the metadata of columns.
fn scale(kind: &Type, modifier: i32) -> i64 {
    i64::from(match kind.name() {
        "float4" => 8,
        "float8" => 17,
        "numeric" if modifier >= 4 => (modifier - 4) & 0xffff,
        "time" | "timetz" | "timestamp" | "timestamptz" if modifier < 0 => 6,
        "time" | "timetz" | "timestamp" | "timestamptz" => modifier,
        "interval" if modifier < 0 => 6,
        "interval" => modifier & 0xffff,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_precision_and_a_scale() {
        assert_eq!(numeric(-1), DataType::Decimal(38, 18));
        assert_eq!(numeric(((10 << 16) | 2) + 4), DataType::Decimal(10, 2));
        assert_eq!(numeric(((50 << 16) | 5) + 4), DataType::Decimal(38, 5));
    }

    #[test]
    fn types_without_one_of_ours_are_texts() {
        assert_eq!(plain_type(&Type::UUID, -1), DataType::STRING);
        assert_eq!(plain_type(&Type::JSONB, -1), DataType::STRING);
        assert_eq!(plain_type(&Type::BIT, 1), DataType::Boolean);
        assert_eq!(plain_type(&Type::VARCHAR, 14), DataType::Varchar(10));
        assert_eq!(element_type(&Type::VARCHAR, 14), DataType::STRING);
    }
}
