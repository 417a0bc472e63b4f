//! Errors of other libraries as Spark's.

use arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use firesteel_error::{ExceptionClass, SparkError};
use std::path::Path;

/// A Spark error inside of DataFusion's.
pub fn external(error: SparkError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The Spark error within DataFusion's, or an internal error.
pub fn from_datafusion(error: DataFusionError) -> SparkError {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<SparkError>() {
            Ok(error) => *error,
            Err(inner) => SparkError::internal(inner.to_string()),
        },
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => from_datafusion(*inner),
        DataFusionError::Shared(inner) => match inner.find_root() {
            DataFusionError::External(e) => match e.downcast_ref::<SparkError>() {
                Some(error) => error.clone(),
                None => SparkError::internal(e.to_string()),
            },
            other => SparkError::internal(other.to_string()),
        },
        other => SparkError::internal(other.to_string()),
    }
}

/// An Arrow error as a fault of ours.
pub fn from_arrow(error: ArrowError) -> SparkError {
    match error {
        ArrowError::ExternalError(inner) => match inner.downcast::<SparkError>() {
            Ok(error) => *error,
            Err(inner) => SparkError::internal(inner.to_string()),
        },
        other => SparkError::internal(other.to_string()),
    }
}

/// A file that cannot be read.
pub fn unreadable(uri: &str, cause: impl ToString) -> SparkError {
    let cause = SparkError::plain(ExceptionClass::Spark, cause.to_string());
    SparkError::new("FAILED_READ_FILE.NO_HINT").with("path", uri).with_cause(cause)
}

/// A file or folder that cannot be written.
pub fn unwritable(path: &Path, cause: impl ToString) -> SparkError {
    let cause = SparkError::plain(ExceptionClass::Spark, cause.to_string());
    SparkError::new("TASK_WRITE_FAILED").with("path", crate::path::short_uri(path)).with_cause(cause)
}

/// An option's value that is not understood.
pub fn illegal(message: impl Into<String>) -> SparkError {
    SparkError::plain(ExceptionClass::IllegalArgument, message)
}
