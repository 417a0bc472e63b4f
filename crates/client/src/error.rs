//! What can go wrong, in Spark's words where Spark said it.

use firesteel_proto::connect as proto;
use firesteel_proto::google::rpc;
use prost::Message;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use tonic::{Code, Status};

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Spark refused or failed the request.
    #[error(transparent)]
    Spark(#[from] Box<SparkError>),
    /// The server could not be reached, or broke off, beyond what retries mend.
    #[error("{}: {}", .0.code(), .0.message())]
    Transport(Box<Status>),
    /// The connection could not be set up.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// A connection string, name or number that no server could take.
    #[error("{0}")]
    InvalidArgument(String),
    /// The server broke the protocol.
    #[error("unexpected answer of the server: {0}")]
    Protocol(String),
    /// The server has another session under this id now: it restarted, or dropped the session.
    #[error("the session ended on the server: {0}")]
    SessionChanged(String),
    /// The session was stopped by this program.
    #[error("the session is stopped")]
    SessionStopped,
    /// The deadline of the operation passed; the server was told to cancel it.
    #[error("the deadline of {0:?} passed")]
    DeadlineExceeded(Duration),
    /// Rows could not be read or made as Arrow.
    #[error(transparent)]
    Arrow(#[from] arrow::error::ArrowError),
    /// Rows do not fit the Rust type asked for.
    #[error("{0}")]
    Convert(String),
    /// A file of this machine could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A call that waits was made on a thread of an async runtime.
    #[error("a blocking call on a thread of an async runtime: await the call instead")]
    WouldBlock,
}

impl Error {
    /// Spark's own account of the failure, if it gave one.
    pub fn spark(&self) -> Option<&SparkError> {
        match self {
            Error::Spark(error) => Some(error),
            _ => None,
        }
    }

    /// Spark's error condition, such as `TABLE_OR_VIEW_NOT_FOUND`.
    pub fn condition(&self) -> Option<&str> {
        self.spark().and_then(|error| error.condition.as_deref())
    }

    /// The SQLSTATE of the condition.
    pub fn sql_state(&self) -> Option<&str> {
        self.spark().and_then(|error| error.sql_state.as_deref())
    }

    /// The kind of Spark's exception.
    pub fn kind(&self) -> Option<ErrorKind> {
        self.spark().map(|error| error.kind)
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Error::InvalidArgument(text.into())
    }

    pub(crate) fn protocol(text: impl Into<String>) -> Self {
        Error::Protocol(text.into())
    }
}

impl From<firesteel_error::SparkError> for Error {
    fn from(error: firesteel_error::SparkError) -> Self {
        Error::Spark(Box::new(SparkError {
            kind: ErrorKind::Analysis,
            condition: error.condition().map(str::to_string),
            sql_state: error.sql_state().map(str::to_string),
            message: error.to_string(),
            ..SparkError::default()
        }))
    }
}

/// The kind of an exception: the class that PySpark would raise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ErrorKind {
    Analysis,
    Parse,
    Arithmetic,
    ArrayIndexOutOfBounds,
    DateTime,
    IllegalArgument,
    InvalidPlanInput,
    NoSuchElement,
    NumberFormat,
    Python,
    QueryExecution,
    Runtime,
    Spark,
    StreamingQuery,
    UnsupportedOperation,
    Upgrade,
    /// A class that has no name of its own here.
    #[default]
    Unknown,
}

/// Class names of the server, as they stand in `classes`, and the kind of each.
const KINDS: &[(&str, ErrorKind)] = &[
    ("org.apache.spark.api.python.PythonException", ErrorKind::Python),
    ("org.apache.spark.sql.catalyst.parser.ParseException", ErrorKind::Parse),
    ("org.apache.spark.sql.AnalysisException", ErrorKind::Analysis),
    ("org.apache.spark.sql.streaming.StreamingQueryException", ErrorKind::StreamingQuery),
    ("org.apache.spark.sql.execution.QueryExecutionException", ErrorKind::QueryExecution),
    ("java.lang.NumberFormatException", ErrorKind::NumberFormat),
    ("java.lang.IllegalArgumentException", ErrorKind::IllegalArgument),
    ("java.lang.ArithmeticException", ErrorKind::Arithmetic),
    ("java.lang.UnsupportedOperationException", ErrorKind::UnsupportedOperation),
    ("java.lang.ArrayIndexOutOfBoundsException", ErrorKind::ArrayIndexOutOfBounds),
    ("java.time.DateTimeException", ErrorKind::DateTime),
    ("org.apache.spark.SparkRuntimeException", ErrorKind::Runtime),
    ("org.apache.spark.SparkUpgradeException", ErrorKind::Upgrade),
    ("org.apache.spark.SparkNoSuchElementException", ErrorKind::NoSuchElement),
    ("org.apache.spark.sql.connect.common.InvalidPlanInput", ErrorKind::InvalidPlanInput),
    ("org.apache.spark.sql.connect.common.InvalidCommandInput", ErrorKind::InvalidPlanInput),
    ("org.apache.spark.SparkException", ErrorKind::Spark),
];

impl ErrorKind {
    /// The kind of the first class that has one; classes go from special to general.
    fn of_classes(classes: &[String]) -> Self {
        let kind = |class: &String| KINDS.iter().find(|(name, _)| name == class).map(|(_, kind)| *kind);
        classes.iter().find_map(kind).unwrap_or_default()
    }
}

/// A failure as Spark tells it.
///
/// ```
/// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
/// let error = spark.sql("SELECT missing").await.unwrap_err();
/// assert_eq!(error.condition(), Some("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"));
/// assert_eq!(error.sql_state(), Some("42703"));
/// # Ok(()) }
/// # firesteel_client::doc_test(run);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SparkError {
    /// Which exception PySpark would raise.
    pub kind: ErrorKind,
    /// The condition, with its sub-condition after a dot.
    pub condition: Option<String>,
    pub sql_state: Option<String>,
    /// The whole message.
    pub message: String,
    /// The values that the message was made with.
    pub parameters: BTreeMap<String, String>,
    /// Where in a query, or in a program, the failure arose.
    pub contexts: Vec<QueryContext>,
    /// The server's exception classes, from special to general.
    pub classes: Vec<String>,
    /// Frames of the server's stack, outermost last; empty unless the server gives them.
    pub stack_trace: Vec<String>,
    /// What caused the failure, nearest first.
    pub causes: Vec<SparkError>,
}

impl fmt::Display for SparkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for context in &self.contexts {
            if !context.summary.is_empty() && !self.message.contains(context.summary.trim()) {
                write!(f, "\n{}", context.summary.trim_end())?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for SparkError {}

/// A place in SQL text or in a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryContext {
    /// What holds the text, such as `VIEW`.
    pub object_type: String,
    pub object_name: String,
    /// First and last character of the fragment, from 0; -1 if unknown.
    pub start_index: i32,
    pub stop_index: i32,
    pub fragment: String,
    /// Line of the client's program, for failures of DataFrame calls.
    pub call_site: String,
    /// The place as text for people.
    pub summary: String,
}

/// A failed call before its details are fetched.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    info: Option<Box<rpc::ErrorInfo>>,
    retry_after: Option<Duration>,
}

impl Failure {
    pub(crate) fn new(status: Status) -> Self {
        let mut failure = Failure { info: None, retry_after: None, status };
        let Ok(details) = rpc::Status::decode(failure.status.details()) else {
            return failure;
        };
        for any in details.details {
            if any.type_url.ends_with("google.rpc.ErrorInfo") {
                failure.info = rpc::ErrorInfo::decode(any.value.as_ref()).ok().map(Box::new);
            } else if any.type_url.ends_with("google.rpc.RetryInfo") {
                let delay = rpc::RetryInfo::decode(any.value.as_ref()).ok().and_then(|info| info.retry_delay);
                failure.retry_after = delay.and_then(|delay| Duration::try_from(delay).ok());
            }
        }
        failure
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        self.info.as_ref().and_then(|info| info.metadata.get(key)).map(String::as_str)
    }

    /// The id under which the server keeps the whole story.
    pub(crate) fn error_id(&self) -> Option<&str> {
        self.metadata("errorId")
    }

    pub(crate) fn condition(&self) -> Option<&str> {
        self.metadata("errorClass")
    }

    /// Whether the message names a condition; it does so even where details are missing.
    pub(crate) fn names(&self, condition: &str) -> bool {
        self.condition() == Some(condition) || self.status.message().contains(condition)
    }

    /// Trying again may help.
    pub(crate) fn is_transient(&self) -> bool {
        match self.status.code() {
            Code::Unavailable => true,
            Code::Internal if self.names("INVALID_CURSOR.DISCONNECTED") => true,
            _ => self.retry_after.is_some() || (self.info.is_none() && self.is_broken_connection()),
        }
    }

    /// The transport broke; tonic reports that under several codes.
    fn is_broken_connection(&self) -> bool {
        let mut source = std::error::Error::source(&self.status);
        if source.is_none() {
            let text = self.status.message();
            return matches!(self.status.code(), Code::Unknown | Code::Internal | Code::Cancelled)
                && ["h2 protocol error", "error reading a body", "transport error", "Unexpected EOF", "stream closed"]
                    .iter()
                    .any(|sign| text.contains(sign));
        }
        while let Some(error) = source {
            if error.is::<std::io::Error>() || error.is::<tonic::transport::Error>() {
                return true;
            }
            source = error.source();
        }
        self.status.code() == Code::Unknown || self.status.message().contains("h2 protocol error")
    }

    /// How long the server asks to wait.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The error without its fetched details.
    pub(crate) fn into_error(self, details: Option<proto::FetchErrorDetailsResponse>) -> Error {
        if self.condition() == Some("INVALID_HANDLE.SESSION_CHANGED") {
            return Error::SessionChanged(self.status.message().to_string());
        }
        if let Some(details) = details
            && let Some(root) = details.root_error_idx
            && let Some(error) = with_causes(&details.errors, root)
        {
            return Error::Spark(Box::new(error));
        }
        let Some(info) = &self.info else {
            return Error::Transport(Box::new(self.status));
        };
        let classes: Vec<String> =
            self.metadata("classes").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let classes = if classes.is_empty() { vec![info.reason.clone()] } else { classes };
        Error::Spark(Box::new(SparkError {
            kind: ErrorKind::of_classes(&classes),
            condition: self.condition().map(str::to_string),
            sql_state: self.metadata("sqlState").map(str::to_string),
            message: self.status.message().to_string(),
            parameters: self
                .metadata("messageParameters")
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default(),
            stack_trace: self
                .metadata("stackTrace")
                .map(|text| text.lines().map(str::to_string).collect())
                .unwrap_or_default(),
            classes,
            ..SparkError::default()
        }))
    }
}

/// The error at an index and the chain of its causes.
pub(crate) fn with_causes(errors: &[proto::fetch_error_details_response::Error], root: i32) -> Option<SparkError> {
    let at = |index: i32| usize::try_from(index).ok().and_then(|index| errors.get(index));
    let first = at(root)?;
    let mut error = described(first);
    let mut next = first.cause_idx;
    // The chain cannot be longer than the list, even where it is a ring.
    while let Some(cause) = next.and_then(at).filter(|_| error.causes.len() < errors.len()) {
        error.causes.push(described(cause));
        next = cause.cause_idx;
    }
    Some(error)
}

fn described(error: &proto::fetch_error_details_response::Error) -> SparkError {
    let throwable = error.spark_throwable.clone().unwrap_or_default();
    let frame = |frame: &proto::fetch_error_details_response::StackTraceElement| {
        let file = frame.file_name.as_deref().unwrap_or("Unknown Source");
        format!("{}.{}({file}:{})", frame.declaring_class, frame.method_name, frame.line_number)
    };
    SparkError {
        kind: ErrorKind::of_classes(&error.error_type_hierarchy),
        condition: throwable.error_class,
        sql_state: throwable.sql_state,
        message: error.message.clone(),
        parameters: throwable.message_parameters.into_iter().collect(),
        contexts: throwable.query_contexts.into_iter().map(context).collect(),
        classes: error.error_type_hierarchy.clone(),
        stack_trace: error.stack_trace.iter().map(frame).collect(),
        causes: Vec::new(),
    }
}

fn context(context: proto::fetch_error_details_response::QueryContext) -> QueryContext {
    QueryContext {
        object_type: context.object_type,
        object_name: context.object_name,
        start_index: context.start_index,
        stop_index: context.stop_index,
        fragment: context.fragment,
        call_site: context.call_site,
        summary: context.summary,
    }
}
