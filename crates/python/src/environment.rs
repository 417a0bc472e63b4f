//! What workers are given: an interpreter, variables, files, settings.

use crate::Interpreter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

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
    /// Whether workers leave a trace when native code ends them.
    pub keeps_faults: bool,
}

impl Environment {
    /// An environment with the files of a folder only.
    pub fn of(interpreter: Arc<Interpreter>, folder: PathBuf) -> Self {
        Self { interpreter, folder, includes: Vec::new(), variables: Vec::new(), memory: None, keeps_faults: false }
    }

    /// The name under which daemons are kept.
    pub(crate) fn key(&self) -> String {
        let (executable, folder) = (self.interpreter.executable.display(), self.folder.display());
        let rest = (&self.includes, &self.variables, self.memory, self.keeps_faults);
        format!("{executable}|{folder}|{rest:?}")
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
    /// How long a worker may be silent before it is ended.
    pub patience: Option<Duration>,
    pub large_types: bool,
    pub binary_as_bytes: bool,
}
