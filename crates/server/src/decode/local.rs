//! Local relations: rows that the client sent, in the message or as artifacts.

use super::Decoder;
use bytes::Bytes;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{LocalRelation, RelationKind};
use firesteel_proto::connect as proto;
use firesteel_proto::decode::decode_guarded;

impl Decoder<'_> {
    pub(super) fn local_relation(&self, message: &proto::LocalRelation) -> Result<RelationKind> {
        let schema = message.schema.clone().filter(|text| !text.is_empty());
        if message.data.is_none() && schema.is_none() {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.SCHEMA_REQUIRED_FOR_LOCAL_RELATION"));
        }
        Ok(RelationKind::Local(LocalRelation { schema, data: message.data.iter().cloned().collect() }))
    }

    /// A whole `LocalRelation` message as one artifact.
    pub(super) fn cached_local_relation(&self, message: &proto::CachedLocalRelation) -> Result<RelationKind> {
        let bytes = self.artifacts.cached(&message.hash).ok_or_else(|| {
            SparkError::new("CONNECT_INVALID_PLAN.CANNOT_FIND_CACHED_LOCAL_RELATION").with("hash", &message.hash)
        })?;
        let relation: proto::LocalRelation = decode_guarded(bytes).map_err(|error| {
            SparkError::new("CONNECT_INVALID_PLAN.CANNOT_PARSE").with("errorMsg", error.to_string())
        })?;
        self.local_relation(&relation)
    }

    /// Arrow streams and the schema's text, each an artifact.
    pub(super) fn chunked_local_relation(&self, message: &proto::ChunkedCachedLocalRelation) -> Result<RelationKind> {
        if message.data_hashes.is_empty() {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.CHUNKED_CACHED_LOCAL_RELATION_WITHOUT_DATA"));
        }
        let limit = self.artifacts.local_relation_size_limit();
        let mut size = 0_u64;
        let mut data = Vec::with_capacity(message.data_hashes.len());
        for hash in &message.data_hashes {
            let chunk = self.chunk(hash)?;
            size += chunk.len() as u64;
            if size > limit {
                return Err(SparkError::new("CONNECT_INVALID_PLAN.LOCAL_RELATION_SIZE_LIMIT_EXCEEDED")
                    .with("actualSize", size.to_string())
                    .with("limit", limit.to_string()));
            }
            data.push(chunk);
        }
        let schema = match message.schema_hash.as_deref().filter(|hash| !hash.is_empty()) {
            None => None,
            Some(hash) => match std::str::from_utf8(&self.chunk(hash)?) {
                Ok("") => None,
                Ok(text) => Some(text.to_string()),
                Err(_) => return Err(super::assertion("the schema of a local relation is not UTF-8")),
            },
        };
        Ok(RelationKind::Local(LocalRelation { schema, data }))
    }

    fn chunk(&self, hash: &str) -> Result<Bytes> {
        self.artifacts.cached(hash).ok_or_else(|| {
            SparkError::new("CONNECT_INVALID_PLAN.NOT_FOUND_CHUNKED_CACHED_LOCAL_RELATION")
                .with("hash", hash)
                .with("sessionUUID", self.artifacts.session_id())
        })
    }
}
