//! A connection to a database of any kind.

use super::batches::Batches;
use super::mysql::MySqlSession;
use super::options::JdbcOptions;
use super::postgres::PostgresSession;
use super::sqlite::SqliteSession;
use super::url::{Database, sql_error};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, Metadata, StructField, TimeZone};

/// What a database says is wrong.
#[derive(Debug)]
pub(super) struct Fault {
    pub message: String,
    /// True where the query makes no sense to it.
    pub is_syntax: bool,
    /// What we found wrong with its answer.
    error: Option<SparkError>,
}

/// What a database answers.
pub(super) type Answer<T> = std::result::Result<T, Fault>;

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self::of_query(message, false)
    }

    /// A fault of a query, which may make no sense to the database.
    pub fn of_query(message: impl Into<String>, is_syntax: bool) -> Self {
        Self { message: message.into(), is_syntax, error: None }
    }

    /// The error where the query is not to blame.
    pub fn plain(self) -> SparkError {
        self.error.unwrap_or_else(|| sql_error(&self.message))
    }

    /// The error of a query that runs.
    pub fn while_running(self, query: &str) -> SparkError {
        if !self.is_syntax {
            return self.plain();
        }
        SparkError::new("JDBC_EXTERNAL_ENGINE_SYNTAX_ERROR.DURING_QUERY_EXECUTION")
            .with("jdbcQuery", query)
            .with("externalEngineError", self.message)
    }

    /// The error of a query whose schema is asked for.
    pub fn while_describing(self, query: &str) -> SparkError {
        if !self.is_syntax {
            return self.plain();
        }
        SparkError::new("JDBC_EXTERNAL_ENGINE_SYNTAX_ERROR.DURING_OUTPUT_SCHEMA_RESOLUTION")
            .with("jdbcQuery", query)
            .with("externalEngineError", self.message)
    }
}

impl From<SparkError> for Fault {
    fn from(error: SparkError) -> Self {
        Self { message: error.summary(), is_syntax: false, error: Some(error) }
    }
}

/// A column as a database describes it.
#[derive(Debug, Clone)]
pub(super) struct Described {
    pub name: String,
    /// Moments without an offset are TIMESTAMP here; a reader may want them without a zone.
    pub data_type: DataType,
    /// The database's name of the type.
    pub client_type: String,
    pub scale: i64,
    pub is_signed: bool,
    /// True for times of day, which are moments of the first day.
    pub is_time: bool,
    /// True for moments without an offset.
    pub is_local: bool,
}

impl Described {
    pub fn new(name: &str, data_type: DataType, client_type: &str) -> Self {
        let is_signed = data_type.is_numeric();
        Self {
            name: name.to_string(),
            data_type,
            client_type: client_type.to_string(),
            scale: 0,
            is_signed,
            is_time: false,
            is_local: false,
        }
    }

    /// The field of a schema.
    pub fn field(&self, prefers_ntz: bool) -> StructField {
        let data_type =
            if self.is_local && prefers_ntz { without_zone(&self.data_type) } else { self.data_type.clone() };
        let mut metadata = Metadata::default().to_map();
        metadata.insert("isSigned".to_string(), self.is_signed.into());
        metadata.insert("isTimestampNTZ".to_string(), prefers_ntz.into());
        metadata.insert("jdbcClientType".to_string(), self.client_type.clone().into());
        if self.is_time {
            metadata.insert("logical_time_type".to_string(), true.into());
        }
        metadata.insert("scale".to_string(), self.scale.into());
        StructField::new(&self.name, data_type, true).with_metadata(Metadata::new(metadata))
    }
}

fn without_zone(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Timestamp => DataType::TimestampNtz,
        DataType::Array { element, contains_null } => DataType::array(without_zone(element), *contains_null),
        other => other.clone(),
    }
}

/// A connection.
pub(super) enum Session {
    Postgres(PostgresSession),
    MySql(MySqlSession),
    Sqlite(SqliteSession),
}

impl Session {
    /// Connects.
    pub async fn open(options: &JdbcOptions, zone: TimeZone, zone_name: &str) -> Result<Self> {
        options.address.check_plain()?;
        let opened = match options.address.database {
            Database::Postgres => PostgresSession::open(options, zone_name).await.map(Self::Postgres),
            Database::MySql => MySqlSession::open(options, zone, zone_name).await.map(Self::MySql),
            Database::Sqlite => SqliteSession::open(options).await.map(Self::Sqlite),
        };
        opened.map_err(|fault| sql_error(&format!("Cannot connect to {}: {}", options.address.place(), fault.message)))
    }

    /// The columns of a query's result.
    pub async fn describe(&mut self, query: &str) -> Answer<Vec<Described>> {
        match self {
            Self::Postgres(session) => session.describe(query).await,
            Self::MySql(session) => session.describe(query).await,
            Self::Sqlite(session) => session.describe(query).await,
        }
    }

    /// Runs a statement for nothing.
    pub async fn execute(&mut self, statement: &str) -> Answer<()> {
        match self {
            Self::Postgres(session) => session.execute(statement).await,
            Self::MySql(session) => session.execute(statement).await,
            Self::Sqlite(session) => session.execute(statement).await,
        }
    }

    /// Runs a query and sends its rows; ends the query when it is dropped.
    pub async fn read(&mut self, query: &str, batches: Batches) -> Answer<()> {
        match self {
            Self::Postgres(session) => session.read(query, batches).await,
            Self::MySql(session) => session.read(query, batches).await,
            Self::Sqlite(session) => session.read(query, batches).await,
        }
    }

    /// Begins a transaction.
    pub async fn begin(&mut self, isolation: &str) -> Answer<()> {
        match self {
            Self::Postgres(session) => session.execute(&format!("BEGIN ISOLATION LEVEL {isolation}")).await,
            Self::MySql(session) => {
                session.execute(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}")).await?;
                session.execute("START TRANSACTION").await
            }
            Self::Sqlite(session) => session.execute("BEGIN IMMEDIATE").await,
        }
    }

    /// The zone of moments that come without an offset and are no wall clocks.
    pub fn server_zone(&self, zone: TimeZone) -> TimeZone {
        match self {
            Self::MySql(session) => session.zone(),
            Self::Postgres(_) | Self::Sqlite(_) => zone,
        }
    }

    /// Ends the connection in peace.
    pub async fn close(self) {
        match self {
            Self::MySql(session) => session.close().await,
            Self::Postgres(_) | Self::Sqlite(_) => {}
        }
    }
}
