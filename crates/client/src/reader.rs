//! Reading files, tables and other sources.

use crate::error::Result;
use crate::types::IntoSchema;
use crate::{DataFrame, SparkSession};
use firesteel_proto::connect as proto;
use proto::parse::ParseFormat;
use proto::read::{DataSource, NamedTable, ReadType};
use proto::relation::RelType;
use std::collections::HashMap;

/// Options of a source or sink.
pub(crate) type Options = HashMap<String, String>;

/// Files of a format, by one path or several.
pub trait IntoPaths {
    #[doc(hidden)]
    fn into_paths(self) -> Vec<String>;
}

impl IntoPaths for &str {
    fn into_paths(self) -> Vec<String> {
        vec![self.to_string()]
    }
}

impl IntoPaths for String {
    fn into_paths(self) -> Vec<String> {
        vec![self]
    }
}

impl IntoPaths for &String {
    fn into_paths(self) -> Vec<String> {
        vec![self.clone()]
    }
}

impl<T: Into<String>> IntoPaths for Vec<T> {
    fn into_paths(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<T: Into<String>, const N: usize> IntoPaths for [T; N] {
    fn into_paths(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}

/// Reads a source into a frame.
///
/// ```no_run
/// # fn f(spark: firesteel_client::SparkSession) {
/// let people = spark.read().option("header", "true").schema("name STRING, age INT").csv("people.csv");
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Reader {
    session: SparkSession,
    format: Option<String>,
    schema: Option<String>,
    options: Options,
}

impl Reader {
    pub(crate) fn new(session: SparkSession) -> Self {
        Reader { session, format: None, schema: None, options: Options::new() }
    }

    /// The name of the source, such as `parquet`.
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

    /// The rows of the paths, which may be none for sources that need none.
    pub fn load(self, paths: impl IntoPaths) -> DataFrame {
        self.source(paths.into_paths(), Vec::new())
    }

    fn source(self, paths: Vec<String>, predicates: Vec<String>) -> DataFrame {
        let source = DataSource {
            format: self.format,
            schema: self.schema,
            options: self.options,
            paths,
            predicates,
            source_name: None,
        };
        let read = proto::Read { is_streaming: false, read_type: Some(ReadType::DataSource(source)) };
        self.session.leaf(RelType::Read(read))
    }

    /// A table or view.
    pub fn table(self, name: impl Into<String>) -> DataFrame {
        let table = NamedTable { unparsed_identifier: name.into(), options: self.options };
        let read = proto::Read { is_streaming: false, read_type: Some(ReadType::NamedTable(table)) };
        self.session.leaf(RelType::Read(read))
    }

    /// The changes of a table.
    pub fn changes(self, table: impl Into<String>) -> DataFrame {
        self.session.leaf(RelType::RelationChanges(proto::RelationChanges {
            unparsed_identifier: table.into(),
            options: self.options,
            is_streaming: false,
        }))
    }

    /// Parquet files.
    pub fn parquet(self, paths: impl IntoPaths) -> DataFrame {
        self.format("parquet").load(paths)
    }

    /// ORC files.
    pub fn orc(self, paths: impl IntoPaths) -> DataFrame {
        self.format("orc").load(paths)
    }

    /// JSON files.
    pub fn json(self, paths: impl IntoPaths) -> DataFrame {
        self.format("json").load(paths)
    }

    /// CSV files.
    pub fn csv(self, paths: impl IntoPaths) -> DataFrame {
        self.format("csv").load(paths)
    }

    /// XML files; the option `rowTag` names the element of a row.
    pub fn xml(self, paths: impl IntoPaths) -> DataFrame {
        self.format("xml").load(paths)
    }

    /// Text files, a row for each line.
    pub fn text(self, paths: impl IntoPaths) -> DataFrame {
        self.format("text").load(paths)
    }

    /// A table of a database.
    pub fn jdbc(self, url: impl Into<String>, table: impl Into<String>) -> DataFrame {
        self.jdbc_by(url, table, Vec::new())
    }

    /// A table of a database, a partition for each predicate.
    pub fn jdbc_by(self, url: impl Into<String>, table: impl Into<String>, predicates: Vec<String>) -> DataFrame {
        self.format("jdbc").option("url", url.into()).option("dbtable", table.into()).source(Vec::new(), predicates)
    }

    /// The JSON in the text column of a frame.
    pub fn json_frame(self, frame: &DataFrame) -> Result<DataFrame> {
        self.parse(frame, ParseFormat::Json)
    }

    /// The CSV in the text column of a frame.
    pub fn csv_frame(self, frame: &DataFrame) -> Result<DataFrame> {
        self.parse(frame, ParseFormat::Csv)
    }

    /// The XML in the text column of a frame.
    pub fn xml_frame(self, frame: &DataFrame) -> Result<DataFrame> {
        self.parse(frame, ParseFormat::Xml)
    }

    fn parse(self, frame: &DataFrame, format: ParseFormat) -> Result<DataFrame> {
        let schema = self.schema.map(IntoSchema::into_struct).transpose()?;
        Ok(frame.parsed(format, schema.as_ref().map(crate::types::schema_to_proto), self.options))
    }
}
