//! What workers are given: an interpreter, variables, files, settings.

use crate::Interpreter;
use std::path::PathBuf;
use std::sync::Arc;

/// What makes workers of one daemon alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub interpreter: Arc<Interpreter>,
    /// Where the workers' files are: it is on their path, and `SparkFiles` looks there.
    pub folder: PathBuf,
    /// Names below the folder that are on the workers' path too.
    pub includes: Vec<String>,
    /// Variables besides those that every worker has, in order.
    pub variables: Vec<(String, String)>,
    /// Mebibytes of address space that a worker may take.
    pub memory: Option<u64>,
}

impl Environment {
    /// An environment with the files of a folder only.
    pub fn of(interpreter: Arc<Interpreter>, folder: PathBuf) -> Self {
        Self { interpreter, folder, includes: Vec::new(), variables: Vec::new(), memory: None }
    }

    /// The name under which daemons are kept.
    pub(crate) fn key(&self) -> String {
        let (executable, folder) = (self.interpreter.executable.display(), self.folder.display());
        format!("{executable}|{folder}|{:?}|{:?}|{:?}", self.includes, self.variables, self.memory)
    }
}

/// Settings of a session that shape what is sent and how workers answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Pairs for the worker, by Spark's names.
    pub runner: Vec<(String, String)>,
    /// How functions are profiled: `perf`, `memory`.
    pub profiler: Option<String>,
    pub time_zone: String,
    /// Rows of an Arrow batch; 0 for any number.
    pub batch_rows: usize,
    /// Rows of a pickled batch.
    pub pickled_rows: usize,
    pub large_types: bool,
    pub binary_as_bytes: bool,
}
