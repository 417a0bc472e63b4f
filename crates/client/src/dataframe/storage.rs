//! Rows kept between actions.

use super::DataFrame;
use crate::error::{Error, Result};
use firesteel_proto::connect as proto;
use proto::analyze_plan_request::{self as request, Analyze};
use proto::analyze_plan_response::Result as Answer;

/// Where and how often rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageLevel {
    pub use_disk: bool,
    pub use_memory: bool,
    pub use_off_heap: bool,
    pub deserialized: bool,
    pub replication: i32,
}

impl StorageLevel {
    const fn new(use_disk: bool, use_memory: bool, deserialized: bool, replication: i32) -> Self {
        StorageLevel { use_disk, use_memory, use_off_heap: false, deserialized, replication }
    }

    pub const NONE: Self = Self::new(false, false, false, 1);
    pub const DISK_ONLY: Self = Self::new(true, false, false, 1);
    pub const DISK_ONLY_2: Self = Self::new(true, false, false, 2);
    pub const MEMORY_ONLY: Self = Self::new(false, true, false, 1);
    pub const MEMORY_ONLY_2: Self = Self::new(false, true, false, 2);
    pub const MEMORY_AND_DISK: Self = Self::new(true, true, false, 1);
    pub const MEMORY_AND_DISK_2: Self = Self::new(true, true, false, 2);
    /// What [`DataFrame::cache`] asks for.
    pub const MEMORY_AND_DISK_DESER: Self = Self::new(true, true, true, 1);

    pub(crate) fn to_proto(self) -> proto::StorageLevel {
        proto::StorageLevel {
            use_disk: self.use_disk,
            use_memory: self.use_memory,
            use_off_heap: self.use_off_heap,
            deserialized: self.deserialized,
            replication: self.replication,
        }
    }
}

impl DataFrame {
    /// Keeps the rows from the next action on, in memory and on disk.
    pub async fn cache(&self) -> Result<DataFrame> {
        self.persist(StorageLevel::MEMORY_AND_DISK_DESER).await
    }

    /// Keeps the rows from the next action on.
    pub async fn persist(&self, level: StorageLevel) -> Result<DataFrame> {
        let persist = request::Persist { relation: Some(self.plan.relation()), storage_level: Some(level.to_proto()) };
        self.session.analyze(Analyze::Persist(persist)).await?;
        Ok(self.clone())
    }

    /// Keeps the rows no longer; waits until they are gone if asked to.
    pub async fn unpersist(&self, blocking: bool) -> Result<DataFrame> {
        let unpersist = request::Unpersist { relation: Some(self.plan.relation()), blocking: Some(blocking) };
        self.session.analyze(Analyze::Unpersist(unpersist)).await?;
        Ok(self.clone())
    }

    /// Where the rows are kept.
    pub async fn storage_level(&self) -> Result<StorageLevel> {
        let question = request::GetStorageLevel { relation: Some(self.plan.relation()) };
        let level = match self.session.analyze(Analyze::GetStorageLevel(question)).await? {
            Answer::GetStorageLevel(answer) => answer.storage_level,
            _ => None,
        };
        let level = level.ok_or_else(|| Error::protocol("no storage level in the answer"))?;
        Ok(StorageLevel {
            use_disk: level.use_disk,
            use_memory: level.use_memory,
            use_off_heap: level.use_off_heap,
            deserialized: level.deserialized,
            replication: level.replication,
        })
    }

    /// Whether the rows are kept.
    pub async fn is_cached(&self) -> Result<bool> {
        let level = self.storage_level().await?;
        Ok(level.use_disk || level.use_memory)
    }
}
