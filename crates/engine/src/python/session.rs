//! What a session's workers are given.

use super::environment;
use super::source::PythonSource;
use crate::Session;
use bytes::Bytes;
use firesteel_config::{Reader, SessionConfig, keys};
use firesteel_error::{Result, SparkError};
use firesteel_python::{Environment, Interpreter, WorkerPool, WorkerSettings};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Settings that workers are told, by their names.
const RUNNER: &[&str] = &[
    keys::SESSION_TIME_ZONE,
    keys::PANDAS_ARROW_SAFELY,
    keys::ARROW_LARGE_VAR_TYPES,
    keys::ARROW_MAX_RECORDS,
    keys::PYSPARK_BINARY_AS_BYTES,
    keys::PANDAS_ASSIGN_BY_NAME,
    keys::PANDAS_INT_TO_DECIMAL,
    keys::PANDAS_INT_EXTENSION,
    keys::PANDAS_UDF_CONVERSION,
    keys::PANDAS_UDTF_CONVERSION,
    keys::PYTHON_UDF_CONCURRENCY,
];

/// Rows of a pickled batch where no setting says how many.
const PICKLED_ROWS: usize = 4096;

/// A session's files for its workers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PythonFiles {
    /// The folder of the files; none where there are none.
    pub folder: Option<PathBuf>,
    /// Names below the folder that are on the workers' path.
    pub includes: Vec<String>,
    /// Tells states of the files apart.
    pub id: String,
}

/// The session as the operators of its plans find it.
pub(crate) struct PythonSession {
    session: RwLock<Weak<Session>>,
    files: RwLock<PythonFiles>,
    /// Data sources by lower-case name.
    sources: RwLock<HashMap<String, Arc<PythonSource>>>,
    /// What workers reported to accumulators, and no client knows yet.
    accumulators: Accumulators,
    pool: Arc<WorkerPool>,
}

/// Pickled updates of accumulators: profiles among them.
type Accumulators = Arc<Mutex<Vec<Bytes>>>;

/// What the workers of one query are given.
#[derive(Debug)]
pub(crate) struct WorkerContext {
    pub pool: Arc<WorkerPool>,
    pub environment: Environment,
    pub settings: WorkerSettings,
    /// Settings for those that plan.
    pub planning: Vec<(String, String)>,
    /// Whether data sources get filters.
    pub pushes_filters: bool,
    accumulators: Accumulators,
}

impl WorkerContext {
    /// Keeps what workers reported to accumulators, where profiles are asked for: without them it is nothing.
    pub fn note(&self, updates: impl IntoIterator<Item = Bytes>) {
        if self.settings.profiler.is_some() || !self.planning.is_empty() {
            self.accumulators.lock().extend(updates);
        }
    }
}

impl PythonSession {
    /// A session without files.
    pub fn new(pool: Arc<WorkerPool>) -> Self {
        Self {
            session: RwLock::default(),
            files: RwLock::default(),
            sources: RwLock::default(),
            accumulators: Accumulators::default(),
            pool,
        }
    }

    /// A data source by its name.
    pub fn source(&self, name: &str) -> Option<Arc<PythonSource>> {
        self.sources.read().get(&name.to_lowercase()).cloned()
    }

    /// Keeps a data source under its name.
    pub fn add_source(&self, source: PythonSource) {
        self.sources.write().insert(source.name.to_lowercase(), Arc::new(source));
    }

    /// Takes over the data sources of another session.
    pub fn copy_from(&self, other: &Self) {
        *self.sources.write() = other.sources.read().clone();
    }

    /// What workers reported since the last time.
    pub fn take_accumulators(&self) -> Vec<Bytes> {
        std::mem::take(&mut *self.accumulators.lock())
    }

    /// Notes the session, once it is made.
    pub fn attach(&self, session: &Arc<Session>) {
        *self.session.write() = Arc::downgrade(session);
    }

    /// The session's files from now on.
    pub fn set_files(&self, files: PythonFiles) {
        let mut known = self.files.write();
        // Workers with another path are no longer asked for: those that are free end.
        if known.includes != files.includes
            && let Some(folder) = &known.folder
        {
            self.pool.forget(folder);
        }
        *known = files;
    }

    /// Ends the session's workers.
    pub fn close(&self) {
        if let Some(folder) = &self.files.read().folder {
            self.pool.forget(folder);
            Interpreter::forget(folder);
        }
    }

    /// What workers are given now. May block while an interpreter is asked for its version.
    pub fn context(&self) -> Result<WorkerContext> {
        let session = self.session.read().upgrade();
        let session = session.ok_or_else(|| SparkError::new("OPERATION_CANCELED").with("operationId", ""))?;
        let files = self.files.read().clone();
        let folder = files.folder.clone().unwrap_or_else(|| self.pool.empty_folder());
        let config = session.config().read();
        let environment = environment::environment(&config, files, folder)?;
        let setting = |key: &str| config.get_option(key).filter(|value| !value.is_empty());
        let flag = |key: &str| setting(key).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let mut runner: Vec<(String, String)> =
            RUNNER.iter().filter_map(|key| setting(key).map(|value| ((*key).to_string(), value))).collect();
        let profiler = setting(keys::PYTHON_UDF_PROFILER);
        runner.extend(profiler.iter().map(|profiler| (keys::PYTHON_UDF_PROFILER.to_string(), profiler.clone())));
        let mut planning = Vec::new();
        if let Some(profiler) = setting(keys::DATA_SOURCE_PROFILER) {
            planning.push((keys::DATA_SOURCE_PROFILER.to_string(), profiler));
        }
        runner.extend(planning.iter().cloned());
        let conf = firesteel_config::SqlConf::new(&*config);
        let settings = WorkerSettings {
            runner,
            profiler,
            time_zone: conf.time_zone_text.clone(),
            batch_rows: usize::try_from(conf.arrow_max_records).unwrap_or(0),
            pickled_rows: environment::pickled_rows(&config).unwrap_or(PICKLED_ROWS),
            patience: patience(&config),
            large_types: conf.arrow_large_var_types,
            binary_as_bytes: flag(keys::PYSPARK_BINARY_AS_BYTES),
        };
        let pushes_filters = flag(keys::PYTHON_FILTER_PUSHDOWN);
        let (pool, accumulators) = (self.pool.clone(), self.accumulators.clone());
        Ok(WorkerContext { pool, environment, settings, planning, pushes_filters, accumulators })
    }
}

/// How long workers may be silent, where those that are silent for longer are ended.
fn patience(config: &SessionConfig) -> Option<Duration> {
    let seconds = u64::try_from(config.integer(keys::PYTHON_IDLE_TIMEOUT)).ok().filter(|seconds| *seconds > 0)?;
    config.boolean(keys::PYTHON_KILL_ON_IDLE).then(|| Duration::from_secs(seconds))
}
