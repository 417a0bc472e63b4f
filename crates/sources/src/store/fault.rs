//! Faults of stores, told without what is secret.

use crate::path::short_uri;
use firesteel_error::{ExceptionClass, SparkError};
use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};
use std::error::Error as StdError;
use std::path::Path;

/// The fault of a path that is read.
pub(crate) fn fault(path: &Path, error: &Error) -> SparkError {
    let uri = short_uri(path);
    match error {
        Error::NotFound { .. } => SparkError::new("PATH_NOT_FOUND").with("path", uri),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            let message = format!("{uri}: the store denies access: {}", describe(error));
            SparkError::plain(ExceptionClass::AccessDenied, message)
        }
        Error::NotSupported { .. } | Error::NotImplemented { .. } => {
            SparkError::unsupported(format!("{uri}: {}", describe(error)))
        }
        _ => SparkError::plain(ExceptionClass::Io, format!("{uri}: {}", describe(error))),
    }
}

/// The fault of a path that is written.
pub(crate) fn write_fault(path: &Path, error: &Error) -> SparkError {
    match error {
        Error::NotFound { .. } => {
            let message = format!("{}: the bucket or container does not exist", short_uri(path));
            SparkError::plain(ExceptionClass::FileNotFound, message)
        }
        _ => fault(path, error),
    }
}

/// The fault as one of input or output.
pub(crate) fn io_error(error: &Error) -> std::io::Error {
    let kind = match error {
        Error::NotFound { .. } => std::io::ErrorKind::NotFound,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => std::io::ErrorKind::PermissionDenied,
        _ => std::io::ErrorKind::Other,
    };
    std::io::Error::new(kind, describe(error))
}

/// The same kind of fault with a text that shows nothing secret.
pub(crate) fn plain(error: &Error) -> Error {
    let text = describe(error);
    match error {
        Error::NotFound { path, .. } => Error::NotFound { path: path.clone(), source: text.into() },
        Error::PermissionDenied { path, .. } => Error::PermissionDenied { path: path.clone(), source: text.into() },
        Error::Unauthenticated { path, .. } => Error::Unauthenticated { path: path.clone(), source: text.into() },
        Error::NotSupported { .. } => Error::NotSupported { source: text.into() },
        _ => Error::Generic { store: "remote", source: text.into() },
    }
}

/// What happened, in a few words: what servers answer may repeat keys, and addresses may hold signatures.
pub(crate) fn describe(error: &Error) -> String {
    let mut source: Option<&(dyn StdError + 'static)> = Some(error);
    let mut kind = None;
    while let Some(inner) = source {
        if let Some(http) = inner.downcast_ref::<HttpError>() {
            kind = Some(http.kind());
        }
        source = inner.source();
    }
    match kind {
        Some(HttpErrorKind::Connect) => return "the server cannot be reached".to_string(),
        Some(HttpErrorKind::Timeout) => return "the server did not answer in time".to_string(),
        _ => {}
    }
    let text = error.to_string();
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once('<')?.0.trim().to_string())
    };
    match (element("Code"), element("Message")) {
        (Some(code), Some(message)) => format!("{code}: {}", message.lines().next().unwrap_or_default()),
        (Some(code), None) => code,
        _ => without_secrets(&text),
    }
}

/// A text without the bodies of answers and the queries of addresses.
fn without_secrets(text: &str) -> String {
    let head = text.split('<').next().unwrap_or_default();
    let words = head.split_whitespace().map(|word| match word.split_once('?') {
        Some((address, _)) if address.contains("://") => address,
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> Error {
        Error::Generic { store: "S3", source: text.to_string().into() }
    }

    #[test]
    fn answers_and_queries_are_not_repeated() {
        let body = "403: <Error><Code>InvalidAccessKeyId</Code><Message>It does not exist.</Message>\
                    <AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>";
        assert_eq!(describe(&generic(body)), "InvalidAccessKeyId: It does not exist.");
        let address = "error for url https://a.blob.core.windows.net/c/k?sv=1&sig=secret here";
        assert_eq!(
            describe(&generic(address)),
            "Generic S3 error: error for url https://a.blob.core.windows.net/c/k here"
        );
    }

    #[test]
    fn kinds_of_faults_are_those_of_hadoop() {
        let path = Path::new("s3a://b/k");
        let missing = Error::NotFound { path: "k".into(), source: "gone".into() };
        assert!(fault(path, &missing).is("PATH_NOT_FOUND"));
        assert!(write_fault(path, &missing).to_string().contains("does not exist"));
        let denied = Error::PermissionDenied { path: "k".into(), source: "403 Forbidden".into() };
        assert!(fault(path, &denied).to_string().starts_with("s3a://b/k: the store denies access"));
    }
}
