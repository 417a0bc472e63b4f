//! Protobuf messages to the unresolved plan.
//!
//! Protobuf's optional fields end here: what is missing or malformed fails as
//! `CONNECT_INVALID_PLAN`. What is understood but not executable becomes an
//! `Unsupported` node, which fails by its name when it is analysed or run.

mod analyze;
mod catalog;
mod command;
mod expression;
mod function;
mod literal;
mod local;
mod relation;
mod statistic;
mod streaming;
mod types;

pub use command::DecodedCommand;

use bytes::Bytes;
use firesteel_error::{Result, SparkError};
use firesteel_plan::origin::CallSite;
use firesteel_plan::{Name, Options, Origin, Relation, SqlSource};
use firesteel_proto::connect as proto;
use firesteel_sql::ParserOptions;
use std::collections::HashMap;
use std::sync::Arc;

/// Artifacts of the session that a plan may refer to.
pub trait ArtifactLookup {
    /// The bytes of a `cache/` artifact by its hash.
    fn cached(&self, hash: &str) -> Option<Bytes>;
    /// The session's id, for errors.
    fn session_id(&self) -> &str;
    /// The most bytes that one local relation may hold.
    fn local_relation_size_limit(&self) -> u64;
}

/// Turns the messages of one request into plans.
pub struct Decoder<'a> {
    artifacts: &'a dyn ArtifactLookup,
    /// Relations that subquery expressions name by plan id, innermost last.
    references: Vec<(i64, Relation)>,
}

impl<'a> Decoder<'a> {
    /// A decoder for requests of one session.
    pub fn new(artifacts: &'a dyn ArtifactLookup) -> Self {
        Self { artifacts, references: Vec::new() }
    }
}

/// Runs a step of a recursive decoder with enough stack.
fn with_stack<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 8 * 1024 * 1024, step)
}

/// The error of a oneof without a member.
pub(crate) fn not_set(message: &str, oneof: &str) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET")
        .with("fullName", format!("spark.connect.{message}"))
        .with("name", format!("{}_NOT_SET", oneof.replace('_', "").to_uppercase()))
}

/// The error of an enum's value that is unknown or unspecified.
fn invalid_enum(full_name: &str, name: &str, number: i32) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.INVALID_ENUM")
        .with("fullName", format!("spark.connect.{full_name}"))
        .with("name", if name.is_empty() { "UNRECOGNIZED" } else { name })
        .with("number", number.to_string())
}

/// The error of a field that must say something.
fn empty_field(message: &str, field: &str) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.FIELD_CANNOT_BE_EMPTY")
        .with("fieldName", field)
        .with("fullName", format!("spark.connect.{message}.{field}"))
}

/// The error of a broken assumption about the message.
fn assertion(message: impl Into<String>) -> SparkError {
    SparkError::new("CONNECT_INVALID_PLAN.ASSERTION_FAILURE").with("message", message)
}

/// Options in a fixed order, so that equal messages make equal plans.
fn options(map: &HashMap<String, String>) -> Options {
    let mut options: Options = map.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    options.sort();
    options
}

/// The parts of a table's or function's name.
fn identifier(text: &str) -> Result<Name> {
    firesteel_sql::parse_identifier_parts(text, &ParserOptions::default())
}

/// Where a node was made, as far as the client said.
fn origin(message: Option<&proto::Origin>) -> Origin {
    let Some(function) = message.and_then(|origin| origin.function.as_ref()) else {
        return Origin::Unknown;
    };
    match function {
        proto::origin::Function::PythonOrigin(python) => call(python.fragment.clone(), python.call_site.clone()),
        proto::origin::Function::JvmOrigin(jvm) => jvm_origin(jvm),
    }
}

fn call(fragment: String, call_site: String) -> Origin {
    Origin::Call(Arc::new(CallSite { fragment, call_site }))
}

fn jvm_origin(jvm: &proto::JvmOrigin) -> Origin {
    if let (Some(text), Some(start), Some(stop)) = (&jvm.sql_text, jvm.start_index, jvm.stop_index)
        && let (Ok(start), Ok(stop)) = (u32::try_from(start), u32::try_from(stop))
    {
        let source = SqlSource {
            text: text.as_str().into(),
            object_type: jvm.object_type.clone().unwrap_or_default(),
            object_name: jvm.object_name.clone().unwrap_or_default(),
        };
        return Origin::Sql { source: Arc::new(source), start, stop };
    }
    // The first frame is the API's own, the second the user's.
    let Some(frame) = jvm.stack_trace.first() else {
        return Origin::Unknown;
    };
    let site = jvm.stack_trace.get(1).unwrap_or(frame);
    let file = site.file_name.as_deref().unwrap_or("Unknown Source");
    call(
        frame.method_name.clone(),
        format!("{}.{}({file}:{})", site.declaring_class, site.method_name, site.line_number),
    )
}
