//! Reading rows that keep coming.

use crate::reader::Options;
use crate::types::IntoSchema;
use crate::{DataFrame, SparkSession};
use firesteel_proto::connect as proto;
use proto::read::{DataSource, NamedTable, ReadType};
use proto::relation::RelType;

/// Reads a source whose rows keep coming.
#[derive(Debug, Clone)]
pub struct DataStreamReader {
    session: SparkSession,
    format: Option<String>,
    schema: Option<String>,
    name: Option<String>,
    options: Options,
}

impl DataStreamReader {
    pub(crate) fn new(session: SparkSession) -> Self {
        DataStreamReader { session, format: None, schema: None, name: None, options: Options::new() }
    }

    /// The name of the source, such as `rate`.
    #[must_use]
    pub fn format(mut self, format: impl Into<String>) -> Self {
        self.format = Some(format.into());
        self
    }

    /// The schema, as DDL, JSON or a [`StructType`](crate::StructType).
    #[must_use]
    pub fn schema(mut self, schema: impl IntoSchema) -> Self {
        self.schema = Some(schema.into_schema_text());
        self
    }

    /// A name for the source in the query's progress and state.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// An option of the source.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.options.insert(key.into(), value.to_string());
        self
    }

    /// Options of the source.
    #[must_use]
    pub fn options(mut self, options: impl IntoIterator<Item = (impl Into<String>, impl ToString)>) -> Self {
        self.options.extend(options.into_iter().map(|(key, value)| (key.into(), value.to_string())));
        self
    }

    /// The rows of the source, of a path if it has one.
    pub fn load(self, path: Option<&str>) -> DataFrame {
        let source = DataSource {
            format: self.format,
            schema: self.schema,
            options: self.options,
            paths: path.map(str::to_string).into_iter().collect(),
            predicates: Vec::new(),
            source_name: self.name,
        };
        let read = proto::Read { is_streaming: true, read_type: Some(ReadType::DataSource(source)) };
        self.session.leaf(RelType::Read(read))
    }

    /// The rows that come to a table.
    pub fn table(self, name: impl Into<String>) -> DataFrame {
        let table = NamedTable { unparsed_identifier: name.into(), options: self.options };
        let read = proto::Read { is_streaming: true, read_type: Some(ReadType::NamedTable(table)) };
        self.session.leaf(RelType::Read(read))
    }

    /// The changes of a table as they come.
    pub fn changes(self, table: impl Into<String>) -> DataFrame {
        self.session.leaf(RelType::RelationChanges(proto::RelationChanges {
            unparsed_identifier: table.into(),
            options: self.options,
            is_streaming: true,
        }))
    }

    /// Parquet files that come to a directory.
    pub fn parquet(self, path: &str) -> DataFrame {
        self.format("parquet").load(Some(path))
    }

    /// ORC files that come to a directory.
    pub fn orc(self, path: &str) -> DataFrame {
        self.format("orc").load(Some(path))
    }

    /// JSON files that come to a directory.
    pub fn json(self, path: &str) -> DataFrame {
        self.format("json").load(Some(path))
    }

    /// CSV files that come to a directory.
    pub fn csv(self, path: &str) -> DataFrame {
        self.format("csv").load(Some(path))
    }

    /// XML files that come to a directory.
    pub fn xml(self, path: &str) -> DataFrame {
        self.format("xml").load(Some(path))
    }

    /// Text files that come to a directory.
    pub fn text(self, path: &str) -> DataFrame {
        self.format("text").load(Some(path))
    }
}
