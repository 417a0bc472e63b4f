//! Relations that the server keeps: checkpoints, cached tables and frames.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use firesteel_error::Result;
use firesteel_types::StructType;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The rows of a kept relation.
#[derive(Debug)]
pub struct KeptRows {
    pub schema: StructType,
    pub arrow_schema: SchemaRef,
    /// By partition.
    pub partitions: Vec<Vec<RecordBatch>>,
}

/// All kept relations of the process, by session key and id.
pub struct KeptStore {
    relations: Mutex<HashMap<(String, String), Arc<KeptRows>>>,
}

impl KeptStore {
    pub fn new(_memory_limit: usize, _spill_directory: &Path) -> Result<Self> {
        Ok(Self { relations: Mutex::new(HashMap::new()) })
    }

    pub fn put(&self, session: &str, id: &str, rows: Arc<KeptRows>) {
        self.relations.lock().insert((session.to_string(), id.to_string()), rows);
    }

    pub fn get(&self, session: &str, id: &str) -> Option<Arc<KeptRows>> {
        self.relations.lock().get(&(session.to_string(), id.to_string())).cloned()
    }

    pub fn remove(&self, session: &str, id: &str) {
        self.relations.lock().remove(&(session.to_string(), id.to_string()));
    }

    /// Drops all that a session keeps.
    pub fn remove_session(&self, session: &str) {
        self.relations.lock().retain(|(s, _), _| s != session);
    }
}
