//! DataFusion's errors as Spark's.

use arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use datafusion::object_store::Error as StoreError;
use datafusion::parquet::errors::ParquetError;
use firesteel_error::{ExceptionClass, SparkError};
use std::error::Error;

/// How DataFusion says that a subquery that stands for a value has several.
const TOO_MANY_ROWS: &str = "Scalar subquery returned more than one row";

/// The Spark error within DataFusion's, or the one that tells the same, or an internal error.
pub fn engine_error(error: DataFusionError) -> SparkError {
    let mut next: Option<&(dyn Error + 'static)> = Some(&error);
    let mut is_parquet = false;
    while let Some(inner) = next {
        if let Some(spark) = inner.downcast_ref::<SparkError>() {
            return spark.clone();
        }
        if let Some(known) = known(inner) {
            return known;
        }
        is_parquet |= inner.is::<ParquetError>();
        next = inner.source();
    }
    if is_parquet { unreadable(&error) } else { SparkError::internal(error.to_string()) }
}

/// The Spark error of an error that causes are not asked about.
fn known(error: &(dyn Error + 'static)) -> Option<SparkError> {
    if let Some(error) = error.downcast_ref::<DataFusionError>() {
        return match error {
            DataFusionError::ResourcesExhausted(text) => Some(out_of_memory(text)),
            DataFusionError::Execution(text) if text.starts_with(TOO_MANY_ROWS) => {
                Some(SparkError::new("SCALAR_SUBQUERY_TOO_MANY_ROWS"))
            }
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<ArrowError>() {
        return match error {
            ArrowError::DivideByZero => {
                Some(SparkError::new("DIVIDE_BY_ZERO").with("config", "\"spark.sql.ansi.enabled\""))
            }
            ArrowError::ParquetError(_) => Some(unreadable(error)),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<std::io::Error>() {
        let message = "Rows could not be kept on disk: no space is left there.";
        let is_full = error.kind() == std::io::ErrorKind::StorageFull;
        return is_full.then(|| SparkError::plain(ExceptionClass::Spark, message));
    }
    match error.downcast_ref::<StoreError>()? {
        StoreError::NotFound { path, .. } => {
            let is_uri = path.contains("://");
            let path = if is_uri { path.clone() } else { format!("file:///{}", path.trim_start_matches('/')) };
            Some(SparkError::new("FAILED_READ_FILE.FILE_NOT_EXIST").with("path", path))
        }
        other => Some(unreadable(other)),
    }
}

/// A file that cannot be read. Which one is in the cause's text, if at all.
fn unreadable(cause: &dyn Error) -> SparkError {
    let cause = SparkError::plain(ExceptionClass::Spark, cause.to_string());
    SparkError::new("FAILED_READ_FILE.NO_HINT").with("path", "(one of those that are read)").with_cause(cause)
}

/// The operators' account of who holds the memory, as the message of Spark's condition.
fn out_of_memory(text: &str) -> SparkError {
    let amount = |before: &str, after: &str| {
        let (_, rest) = text.rsplit_once(before)?;
        rest.split_once(after).map(|(amount, _)| amount.trim().to_string())
    };
    let unknown = || "unknown".to_string();
    SparkError::new("UNABLE_TO_ACQUIRE_MEMORY")
        .with("requestedBytes", amount("allocate additional", " for ").unwrap_or_else(unknown))
        .with("receivedBytes", amount("for this reservation -", " remain").unwrap_or_else(unknown))
}
