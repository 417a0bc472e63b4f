//! What data sources read and write.

use super::PlannerError;
use super::conversation::{Conversation, Question};
use crate::wire::Encode;
use crate::{Environment, WorkerPool, WorkerVersion};
use bytes::Bytes;
use std::sync::Arc;

/// The schema of the rows by which tasks of a source learn their partitions, as JSON.
pub const PARTITION_SCHEMA: &str =
    r#"{"type":"struct","fields":[{"name":"partition","type":"binary","nullable":true,"metadata":{}}]}"#;

/// The schema of the rows in which tasks of a sink say what they wrote, as JSON.
pub const MESSAGE_SCHEMA: &str =
    r#"{"type":"struct","fields":[{"name":"message","type":"binary","nullable":true,"metadata":{}}]}"#;

/// Where data sources are asked.
#[derive(Debug, Clone, Copy)]
pub struct Planner<'a> {
    pub pool: &'a Arc<WorkerPool>,
    pub environment: &'a Environment,
    /// The Python of the pickled class, `3.11`.
    pub python_version: &'a str,
    pub settings: &'a [(String, String)],
    /// Rows of an Arrow batch.
    pub batch_rows: usize,
    pub binary_as_bytes: bool,
}

/// An instance of a data source.
#[derive(Debug, Clone)]
pub struct SourceInstance {
    /// The pickled instance.
    pub instance: Bytes,
    pub schema: SourceSchema,
    /// Pickled updates of accumulators.
    pub accumulators: Vec<Bytes>,
}

/// A schema as a data source gives it.
#[derive(Debug, Clone)]
pub enum SourceSchema {
    Ddl(String),
    Json(String),
}

/// How a data source is read.
#[derive(Debug, Clone)]
pub struct SourceRead {
    /// A pickled function that makes rows of a partition.
    pub function: Bytes,
    /// Pickled partitions, of which there is at least one.
    pub partitions: Vec<Bytes>,
    /// Positions of the filters that the source applies itself.
    pub supported_filters: Vec<usize>,
    /// Pickled updates of accumulators.
    pub accumulators: Vec<Bytes>,
}

/// How a data source is written.
#[derive(Debug, Clone)]
pub struct SourceWrite {
    /// A pickled function that writes a partition's rows.
    pub function: Bytes,
    /// The pickled writer, which commits.
    pub writer: Bytes,
    /// Pickled updates of accumulators.
    pub accumulators: Vec<Bytes>,
}

/// What is written to a data source.
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    /// The pickled class.
    pub class: &'a [u8],
    pub provider: &'a str,
    /// The rows' schema as JSON.
    pub schema: &'a str,
    pub options: &'a [(String, String)],
    pub overwrite: bool,
}

impl Planner<'_> {
    async fn ask(&self, module: &'static str, body: Vec<u8>) -> Result<Conversation, PlannerError> {
        let question = Question { module, python_version: self.python_version, settings: self.settings, body };
        Conversation::ask(self.pool, self.environment, question).await
    }

    fn version(&self) -> WorkerVersion {
        self.environment.interpreter.version
    }

    fn put_batch_rows(&self, body: &mut Vec<u8>) {
        body.put_count(if self.batch_rows == 0 { 10_000 } else { self.batch_rows });
    }

    /// Makes an instance of a class for options, and for a schema where the user gives one.
    pub async fn create(
        &self,
        class: &[u8],
        provider: &str,
        schema: Option<&str>,
        options: &[(String, String)],
    ) -> Result<SourceInstance, PlannerError> {
        let mut body = Vec::with_capacity(class.len() + 256);
        body.put_bytes(class);
        body.put_text(provider);
        body.put_bool(schema.is_some());
        if let Some(schema) = schema {
            body.put_text(schema);
        }
        body.put_pairs(options);
        let mut answer = self.ask("pyspark.sql.worker.create_data_source", body).await?;
        let instance = answer.bytes().await?;
        let is_ddl = answer.flag().await?;
        let text = answer.text().await?;
        let schema = if is_ddl { SourceSchema::Ddl(text) } else { SourceSchema::Json(text) };
        Ok(SourceInstance { instance, schema, accumulators: answer.finish().await? })
    }

    /// Makes a reader for a schema (JSON), and asks it for its partitions.
    pub async fn read(
        &self,
        instance: &[u8],
        schema: &str,
        may_push_filters: bool,
    ) -> Result<SourceRead, PlannerError> {
        let mut body = Vec::with_capacity(instance.len() + 256);
        body.put_bytes(instance);
        body.put_text(PARTITION_SCHEMA);
        body.put_text(schema);
        self.put_batch_rows(&mut body);
        let is_new = self.version() >= WorkerVersion::V4_1;
        if is_new {
            body.put_bool(may_push_filters);
        }
        // It is no stream.
        body.put_bool(false);
        if is_new {
            body.put_bool(self.binary_as_bytes);
        }
        let mut answer = self.ask("pyspark.sql.worker.plan_data_source_read", body).await?;
        let (function, partitions) = read_plan(&mut answer).await?;
        Ok(SourceRead { function, partitions, supported_filters: Vec::new(), accumulators: answer.finish().await? })
    }

    /// The same, but the reader gets filters (JSON) before it says what it reads.
    pub async fn read_filtered(
        &self,
        instance: &[u8],
        schema: &str,
        filters: &str,
    ) -> Result<SourceRead, PlannerError> {
        let mut body = Vec::with_capacity(instance.len() + 256);
        body.put_bytes(instance);
        body.put_text(schema);
        body.put_text(filters);
        self.put_batch_rows(&mut body);
        body.put_bool(self.binary_as_bytes);
        let mut answer = self.ask("pyspark.sql.worker.data_source_pushdown_filters", body).await?;
        let (function, partitions) = read_plan(&mut answer).await?;
        let mut supported_filters = Vec::new();
        for _ in 0..answer.count().await? {
            supported_filters.push(answer.count().await?);
        }
        Ok(SourceRead { function, partitions, supported_filters, accumulators: answer.finish().await? })
    }

    /// Makes a writer.
    pub async fn write(&self, request: WriteRequest<'_>) -> Result<SourceWrite, PlannerError> {
        let mut body = Vec::with_capacity(request.class.len() + 512);
        body.put_bytes(request.class);
        body.put_text(request.provider);
        body.put_text(request.schema);
        body.put_text(MESSAGE_SCHEMA);
        body.put_pairs(request.options);
        body.put_bool(request.overwrite);
        // It is no stream.
        body.put_bool(false);
        if self.version() >= WorkerVersion::V4_1 {
            body.put_bool(self.binary_as_bytes);
        }
        let mut answer = self.ask("pyspark.sql.worker.write_into_data_source", body).await?;
        let function = answer.bytes().await?;
        let writer = answer.bytes().await?;
        Ok(SourceWrite { function, writer, accumulators: answer.finish().await? })
    }

    /// Commits what tasks wrote, or gives it up. A task that failed has no message.
    pub async fn commit(
        &self,
        writer: &[u8],
        messages: &[Option<Bytes>],
        is_aborted: bool,
    ) -> Result<Vec<Bytes>, PlannerError> {
        let mut body = Vec::with_capacity(writer.len() + 256);
        body.put_bytes(writer);
        body.put_count(messages.len());
        for message in messages {
            match message {
                Some(message) => body.put_bytes(message),
                None => body.put_int(crate::wire::special::NULL),
            }
        }
        body.put_bool(is_aborted);
        let mut answer = self.ask("pyspark.sql.worker.commit_data_source_write", body).await?;
        answer.count().await?;
        answer.finish().await
    }
}

async fn read_plan(answer: &mut Conversation) -> Result<(Bytes, Vec<Bytes>), PlannerError> {
    let function = answer.bytes().await?;
    let count = answer.count().await.map_err(|error| match error {
        PlannerError::Python(text) => PlannerError::Partitions(text),
        other => other,
    })?;
    let mut partitions = Vec::with_capacity(count.min(1024));
    for _ in 0..count {
        partitions.push(answer.bytes().await?);
    }
    Ok((function, partitions))
}
