//! Frames of rows that this program has.

use crate::error::{Error, Result};
use crate::serialize::batch_of;
use crate::types::IntoSchema;
use crate::{DataFrame, SparkSession};
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::ipc::writer::StreamWriter;
use bytes::Bytes;
use firesteel_proto::connect as proto;
use proto::relation::RelType;
use serde::Serialize;

/// Rows of one message, unless the server says otherwise.
const INLINE: usize = 1024 * 1024;
const CHUNK_ROWS: usize = 10_000;
const CHUNK_BYTES: usize = 16 * 1024 * 1024;

impl SparkSession {
    /// A frame of batches, which must have one schema.
    ///
    /// Few rows travel with each plan; many are uploaded once and then named.
    ///
    /// ```
    /// # use firesteel_client::arrow::array::{ArrayRef, Int32Array, RecordBatch};
    /// # use std::sync::Arc;
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    /// let batch = RecordBatch::try_from_iter([("n", numbers)])?;
    /// let frame = spark.create_dataframe([batch]).await?;
    /// assert_eq!(frame.filter("n > 1").count().await?, 2);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub async fn create_dataframe(&self, batches: impl IntoIterator<Item = RecordBatch>) -> Result<DataFrame> {
        self.local_frame(batches.into_iter().collect(), None).await
    }

    /// As [`create_dataframe`](Self::create_dataframe), renamed and cast to a schema.
    pub async fn create_dataframe_as(
        &self,
        batches: impl IntoIterator<Item = RecordBatch>,
        schema: impl IntoSchema,
    ) -> Result<DataFrame> {
        self.local_frame(batches.into_iter().collect(), Some(schema.into_schema_text())).await
    }

    /// A frame of values, a row for each: structs and maps give columns by name.
    ///
    /// ```
    /// # use serde::Serialize;
    /// #[derive(Serialize)]
    /// struct Reading { sensor: &'static str, value: Option<f64> }
    ///
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let readings = [Reading { sensor: "a", value: Some(0.5) }, Reading { sensor: "b", value: None }];
    /// let frame = spark.create_dataframe_from(&readings).await?;
    /// assert_eq!(frame.dtypes().await?[1], ("value".to_string(), "double".to_string()));
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub async fn create_dataframe_from<T: Serialize>(&self, rows: &[T]) -> Result<DataFrame> {
        self.local_frame(vec![batch_of(rows, None)?], None).await
    }

    /// As [`create_dataframe_from`](Self::create_dataframe_from), with the schema given, which also makes dates of texts.
    pub async fn create_dataframe_from_as<T: Serialize>(
        &self,
        rows: &[T],
        schema: impl IntoSchema,
    ) -> Result<DataFrame> {
        let schema = schema.into_struct()?;
        let batch = batch_of(rows, Some(&schema))?;
        self.local_frame(vec![batch], Some(schema.json())).await
    }

    async fn local_frame(&self, batches: Vec<RecordBatch>, schema: Option<String>) -> Result<DataFrame> {
        let Some(first) = batches.first() else {
            return match schema {
                Some(schema) => Ok(self.empty_dataframe(schema)),
                None => Err(Error::invalid("no batch and no schema to make a frame of")),
            };
        };
        let arrow_schema = first.schema();
        let size: usize = batches.iter().map(RecordBatch::get_array_memory_size).sum();
        if size < INLINE || size < self.inline_limit().await? {
            let data = Some(stream_of(&arrow_schema, &batches)?);
            return Ok(self.leaf(RelType::LocalRelation(proto::LocalRelation { data, schema })));
        }
        let mut blocks: Vec<Bytes> = schema.iter().map(|schema| Bytes::from(schema.clone())).collect();
        for batch in &batches {
            for piece in pieces(batch) {
                blocks.push(stream_of(&arrow_schema, &[piece])?);
            }
        }
        let mut hashes = self.cache_blocks(blocks).await?;
        let schema_hash = schema.map(|_| hashes.remove(0));
        let relation = proto::ChunkedCachedLocalRelation { data_hashes: hashes, schema_hash };
        Ok(self.leaf(RelType::ChunkedCachedLocalRelation(relation)))
    }

    /// Bytes from which on the server wants rows uploaded.
    async fn inline_limit(&self) -> Result<usize> {
        let limit = self.conf().get_option("spark.sql.session.localRelationCacheThreshold").await?;
        let digits = limit.as_deref().map(|limit| limit.trim_end_matches('b'));
        Ok(digits.and_then(|limit| limit.parse().ok()).unwrap_or(INLINE))
    }
}

/// A batch in pieces of rows and bytes that servers take.
fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let bytes_per_row = batch.get_array_memory_size() / batch.num_rows().max(1);
    let rows = (CHUNK_BYTES / bytes_per_row.max(1)).clamp(1, CHUNK_ROWS);
    (0..batch.num_rows()).step_by(rows).map(move |start| batch.slice(start, rows.min(batch.num_rows() - start)))
}

fn stream_of(schema: &Schema, batches: &[RecordBatch]) -> Result<Bytes> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(Bytes::from(writer.into_inner()?))
}
