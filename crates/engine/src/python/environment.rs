//! What a session's settings and files make of its workers' environment.

use super::session::PythonFiles;
use firesteel_config::{Reader, SessionConfig, keys};
use firesteel_error::Result;
use firesteel_python::{Environment, Interpreter};
use std::path::{Path, PathBuf};

/// Settings below which each is a variable of the workers' environment.
const VARIABLES: &str = "spark.executorEnv.";

/// The environment of workers whose files lie in a folder. May block while an interpreter is asked for its version.
pub(super) fn environment(config: &SessionConfig, files: PythonFiles, folder: PathBuf) -> Result<Environment> {
    let setting = |key: &str| config.get_option(key).filter(|value| !value.is_empty());
    let named = [keys::PYSPARK_PYTHON, keys::SERVER_PYTHON, keys::FIRESTEEL_PYTHON].into_iter().find_map(setting);
    let interpreter = match named {
        Some(name) => Interpreter::find(&executable(&name, &folder))?,
        None => Interpreter::of_server()?,
    };
    let mut environment = Environment::of(interpreter, folder);
    environment.includes = files.includes;
    let variables = &mut environment.variables;
    variables.extend(config.get_all(Some(VARIABLES)).into_iter().filter(|(name, _)| is_variable(name)));
    let mut set = |name: &str, value: String| variables.push((name.to_string(), value));
    if !files.id.is_empty() {
        set("SPARK_JOB_ARTIFACT_UUID", files.id);
    }
    if config.boolean(keys::SIMPLIFIED_TRACEBACK) {
        set("SPARK_SIMPLIFIED_TRACEBACK", "1".to_string());
    }
    if config.boolean(keys::HIDE_TRACEBACK) {
        set("SPARK_HIDE_TRACEBACK", "1".to_string());
    }
    if let Some(rows) = pickled_rows(config) {
        set("PYTHON_UDF_BATCH_SIZE", rows.to_string());
    }
    let interval = config.integer(keys::PYTHON_TRACEBACK_INTERVAL);
    if interval > 0 {
        set("PYTHON_TRACEBACK_DUMP_INTERVAL_SECONDS", interval.to_string());
    }
    if let Some(memory) = config.optional_integer(keys::PLANNER_MEMORY) {
        set("PYSPARK_PLANNER_MEMORY_MB", memory.to_string());
    }
    environment.keeps_faults = config.boolean(keys::PYTHON_FAULT_HANDLER);
    // The setting is of an executor, whose workers are as many as its cores.
    let cores = config.explicit(keys::EXECUTOR_CORES).and_then(|text| text.trim().parse::<u64>().ok());
    let memory = config.optional_integer(keys::PYSPARK_MEMORY).and_then(|memory| u64::try_from(memory).ok());
    environment.memory = memory.map(|memory| memory / cores.unwrap_or(1).max(1));
    Ok(environment)
}

/// Rows of a pickled batch, where somebody asks for a number.
pub(super) fn pickled_rows(config: &SessionConfig) -> Option<usize> {
    config.explicit(keys::PYTHON_UDF_MAX_RECORDS).and_then(|text| text.trim().parse().ok())
}

/// Whether a name can be one of a variable.
fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// An interpreter's name: one that is relative lies among the session's files.
fn executable(name: &str, folder: &Path) -> PathBuf {
    let path = Path::new(name);
    if path.is_relative() && path.components().count() > 1 { folder.join(path) } else { path.to_path_buf() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_of_packed_environments_lie_among_the_files() {
        let folder = Path::new("/files");
        assert_eq!(executable("python3", folder), Path::new("python3"));
        assert_eq!(executable("/usr/bin/python3", folder), Path::new("/usr/bin/python3"));
        assert_eq!(executable("./environment/bin/python", folder), Path::new("/files/environment/bin/python"));
        assert_eq!(executable("environment/bin/python", folder), Path::new("/files/environment/bin/python"));
    }

    #[test]
    fn names_of_variables_have_no_equals_sign() {
        assert!(is_variable("A") && !is_variable("") && !is_variable("A=B"));
    }
}
