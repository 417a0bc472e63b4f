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
use prost::Message;
use proto::relation::RelType;
use serde::Serialize;

/// Bytes of rows that travel with their plan on every server.
const INLINE: usize = 1024 * 1024;
const MIB: usize = 1024 * 1024;

/// What a server wants of rows that are not its own.
#[derive(Debug)]
struct Limits {
    /// Bytes from which on rows are uploaded; None: they never are.
    threshold: Option<usize>,
    /// Rows of an uploaded piece; None: the server takes only one piece.
    chunk_rows: Option<usize>,
    chunk_bytes: usize,
    /// Bytes of pieces that are uploaded together.
    batch_bytes: usize,
}

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
        let limits = if size < INLINE { None } else { Some(self.local_limits().await?) };
        let Some(limits) = limits.filter(|limits| limits.threshold.is_some_and(|threshold| threshold <= size)) else {
            let data = Some(stream_of(&arrow_schema, &batches)?);
            return Ok(self.leaf(RelType::LocalRelation(proto::LocalRelation { data, schema })));
        };
        let Some(chunk_rows) = limits.chunk_rows else {
            let relation = proto::LocalRelation { data: Some(stream_of(&arrow_schema, &batches)?), schema };
            let hash = self.cache_blocks(vec![Bytes::from(relation.encode_to_vec())]).await?.pop().unwrap_or_default();
            return Ok(self.leaf(RelType::CachedLocalRelation(proto::CachedLocalRelation { hash })));
        };
        let schema_hash = match schema {
            Some(schema) => self.cache_blocks(vec![Bytes::from(schema)]).await?.pop(),
            None => None,
        };
        let (mut data_hashes, mut blocks, mut waiting) = (Vec::new(), Vec::new(), 0);
        for piece in batches.iter().flat_map(|batch| pieces(batch, chunk_rows, limits.chunk_bytes)) {
            let block = stream_of(&arrow_schema, &[piece])?;
            if waiting + block.len() > limits.batch_bytes && !blocks.is_empty() {
                data_hashes.extend(self.cache_blocks(std::mem::take(&mut blocks)).await?);
                waiting = 0;
            }
            waiting += block.len();
            blocks.push(block);
        }
        data_hashes.extend(self.cache_blocks(blocks).await?);
        let relation = proto::ChunkedCachedLocalRelation { data_hashes, schema_hash };
        Ok(self.leaf(RelType::ChunkedCachedLocalRelation(relation)))
    }

    async fn local_limits(&self) -> Result<Limits> {
        let keys = ["CacheThreshold", "ChunkSizeRows", "ChunkSizeBytes", "BatchOfChunksSizeBytes"];
        let keys = keys.map(|key| format!("spark.sql.session.localRelation{key}"));
        let values = self.conf().get_options(keys.clone()).await?;
        // Sizes may come with a unit.
        let number = |key: &String| values.get(key)?.trim_end_matches(['b', 'B']).parse::<usize>().ok();
        let [threshold, rows, bytes, batch] = &keys;
        Ok(Limits {
            threshold: number(threshold),
            chunk_rows: number(rows),
            chunk_bytes: number(bytes).unwrap_or(16 * MIB),
            batch_bytes: number(batch).unwrap_or(512 * MIB),
        })
    }
}

/// A batch in pieces of rows and bytes that servers take.
fn pieces(batch: &RecordBatch, rows: usize, bytes: usize) -> impl Iterator<Item = RecordBatch> {
    let bytes_per_row = batch.get_array_memory_size() / batch.num_rows().max(1);
    let rows = (bytes / bytes_per_row.max(1)).clamp(1, rows.max(1));
    (0..batch.num_rows()).step_by(rows).map(move |start| batch.slice(start, rows.min(batch.num_rows() - start)))
}

fn stream_of(schema: &Schema, batches: &[RecordBatch]) -> Result<Bytes> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(Bytes::from(writer.into_inner()?))
}
