//! Interpreters, and the PySpark beside them.

use firesteel_error::{ExceptionClass, Result, SparkError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

/// The protocol that a worker speaks: that of the PySpark beside its interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WorkerVersion {
    V3_5,
    V4_0,
    V4_1,
    V4_2,
    V4_3,
}

impl WorkerVersion {
    /// The protocol of a version of PySpark, such as `4.2.1`.
    ///
    /// ```
    /// use firesteel_python::WorkerVersion;
    /// assert_eq!(WorkerVersion::parse("4.2.1"), Some(WorkerVersion::V4_2));
    /// assert_eq!(WorkerVersion::parse("2.4.0"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('.');
        match (parts.next()?, parts.next()?) {
            ("3", "5") => Some(Self::V3_5),
            ("4", "0") => Some(Self::V4_0),
            ("4", "1") => Some(Self::V4_1),
            ("4", "2") => Some(Self::V4_2),
            ("4", "3") => Some(Self::V4_3),
            _ => None,
        }
    }
}

/// A Python with PySpark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    pub executable: PathBuf,
    /// `3.11`: functions are pickled for one minor version.
    pub python_version: String,
    pub version: WorkerVersion,
}

/// What is asked of an interpreter.
const PROBE: &str = "import sys, pyspark; print('firesteel', '%d.%d' % sys.version_info[:2], pyspark.__version__)";

/// What helps when there is no Python to run functions.
const HELP: &str = "Python functions need a Python with PySpark on the server's machine: install it with \
    `pip install pyspark-client pandas pyarrow`, and name the interpreter in `spark.pyspark.python` or in \
    the environment variable PYSPARK_PYTHON";

static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Arc<Interpreter>>>> = LazyLock::new(Mutex::default);

impl Interpreter {
    /// The interpreter of a path or command, asked once for its versions. Blocks while it is asked.
    pub fn find(executable: &Path) -> Result<Arc<Self>> {
        let full = located(executable);
        if let Some(known) = KNOWN.lock().get(&full) {
            return Ok(known.clone());
        }
        let found = Arc::new(Self::ask(&full)?);
        KNOWN.lock().insert(full, found.clone());
        Ok(found)
    }

    /// Drops what is known of the interpreters in a folder, which goes.
    pub fn forget(folder: &Path) {
        KNOWN.lock().retain(|executable, _| !executable.starts_with(folder));
    }

    fn ask(executable: &Path) -> Result<Self> {
        let shown = executable.display();
        let answer = Command::new(executable)
            .args(["-c", PROBE])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| unusable(format!("{shown} cannot be started ({error}). {HELP}.")))?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let versions = text.lines().rev().find_map(|line| line.strip_prefix("firesteel "));
        let Some((python, pyspark)) = versions.and_then(|line| line.trim().split_once(' ')) else {
            let reason = String::from_utf8_lossy(&answer.stderr);
            let reason = reason.lines().last().unwrap_or("it says nothing").to_string();
            return Err(unusable(format!("{shown} has no usable PySpark ({reason}). {HELP}.")));
        };
        let version = WorkerVersion::parse(pyspark).ok_or_else(|| {
            unusable(format!("{shown} has PySpark {pyspark}; the versions 3.5, 4.0, 4.1, 4.2 and 4.3 are known"))
        })?;
        Ok(Self { executable: executable.to_path_buf(), python_version: python.to_string(), version })
    }

    /// The first interpreter that can run functions, among those that the server's environment names or has.
    pub fn of_server() -> Result<Arc<Self>> {
        let named = std::env::var_os("PYSPARK_PYTHON").filter(|name| !name.is_empty());
        if let Some(name) = named {
            return Self::find(Path::new(&name));
        }
        Self::find(Path::new("python3"))
    }
}

/// The command's file, as the search path gives it.
fn located(executable: &Path) -> PathBuf {
    if executable.components().count() > 1 {
        return executable.to_path_buf();
    }
    let Some(paths) = std::env::var_os("PATH") else { return executable.to_path_buf() };
    std::env::split_paths(&paths)
        .map(|folder| folder.join(executable))
        .find(|path| path.is_file())
        .unwrap_or_else(|| executable.to_path_buf())
}

/// The error of a Python that cannot run functions.
pub fn unusable(message: impl Into<String>) -> SparkError {
    SparkError::plain(ExceptionClass::Spark, format!("No Python worker: {}", message.into()))
}
