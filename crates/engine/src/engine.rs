//! The process-wide part of the engine.

use crate::Session;
use firesteel_error::Result;
use std::path::PathBuf;
use std::sync::Arc;

/// How an engine is set up.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Parallelism of queries; None: the machine's cores.
    pub cores: Option<usize>,
    /// Bytes that queries may use before they spill; None: 60 % of the machine's memory.
    pub memory_limit: Option<usize>,
    /// Bytes that kept relations may use before they spill; None: a quarter of the memory limit.
    pub cache_memory_limit: Option<usize>,
    /// Folder for spilled data; None: a folder of the system's temporary folder.
    pub spill_directory: Option<PathBuf>,
    /// Server-wide settings, as `(key, value)`: `spark.sql.warehouse.dir`, `spark.checkpoint.dir` and so on.
    pub configuration: Vec<(String, String)>,
}

/// The engine of a process.
pub struct Engine {
    options: EngineOptions,
}

impl Engine {
    pub fn new(options: EngineOptions) -> Result<Arc<Self>> {
        Ok(Arc::new(Self { options }))
    }

    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// A fresh session. The engine does not keep it: the caller does, and closes it.
    pub fn create_session(self: &Arc<Self>, user_id: &str, session_id: &str) -> Result<Arc<Session>> {
        Session::new(self.clone(), user_id, session_id)
    }
}
