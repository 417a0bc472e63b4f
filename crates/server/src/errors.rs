//! Errors on the wire: gRPC statuses with details, and what FetchErrorDetails answers.

use crate::limits::Limits;
use firesteel_config::{Reader, SessionConfig, keys};
use firesteel_error::{QueryContextKind, SparkError};
use firesteel_proto::connect as proto;
use firesteel_proto::google::rpc;
use indexmap::IndexMap;
use parking_lot::{Mutex, RwLock};
use prost::{Message, Name};
use proto::fetch_error_details_response as details;
use std::collections::HashMap;
use tonic::{Code, Status};
use uuid::Uuid;

/// Characters of a status message; the whole text is fetched by the error's id.
const MESSAGE_LENGTH: usize = 2048;

/// Bytes of a status message once it is percent-encoded, as clients bound their headers.
const ENCODED_LENGTH: usize = 4096;

/// Errors of a session, until the client fetches their details.
#[derive(Debug)]
pub struct ErrorStore {
    errors: Mutex<IndexMap<String, SparkError>>,
    capacity: usize,
}

impl ErrorStore {
    /// An empty store.
    pub fn new(limits: &Limits) -> Self {
        Self { errors: Mutex::default(), capacity: limits.error_count }
    }

    fn insert(&self, error: SparkError) -> String {
        let id = Uuid::new_v4().to_string();
        let mut errors = self.errors.lock();
        if errors.len() >= self.capacity {
            errors.shift_remove_index(0);
        }
        errors.insert(id.clone(), error);
        id
    }

    /// The error of an id, once.
    pub fn take(&self, id: &str) -> Option<SparkError> {
        self.errors.lock().shift_remove(id)
    }
}

/// What of a session shapes its errors.
#[derive(Clone, Copy)]
pub struct ErrorScope<'a> {
    /// Where details wait for the client.
    pub store: &'a ErrorStore,
    /// The session's settings.
    pub config: &'a RwLock<SessionConfig>,
}

/// The status of an error. Without a session there are no details to fetch.
pub fn status(error: &SparkError, scope: Option<ErrorScope<'_>>, limits: &Limits) -> Status {
    let classes = error.java_classes();
    let mut metadata = HashMap::new();
    metadata.insert("classes".to_string(), serde_json::Value::from(classes.to_vec()).to_string());
    if let Some(state) = error.sql_state() {
        metadata.insert("sqlState".to_string(), state.to_string());
    }
    if let Some(condition) = error.condition() {
        let parameters: serde_json::Map<String, serde_json::Value> =
            error.parameters().iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let parameters = serde_json::Value::Object(parameters).to_string();
        if parameters.len() <= limits.metadata_size {
            metadata.insert("errorClass".to_string(), condition.to_string());
            metadata.insert("messageParameters".to_string(), parameters);
        }
    }
    if let Some(scope) = scope
        && scope.config.read().boolean(keys::ENRICH_ERROR)
    {
        metadata.insert("errorId".to_string(), scope.store.insert(error.clone()));
    }
    let info = rpc::ErrorInfo {
        reason: classes.first().copied().unwrap_or_default().to_string(),
        domain: "org.apache.spark".to_string(),
        metadata,
    };
    let message = abbreviated(&error.to_string());
    let details = rpc::Status {
        code: Code::Internal as i32,
        message: message.clone(),
        details: vec![prost_types::Any {
            type_url: format!("type.googleapis.com/{}", rpc::ErrorInfo::full_name()),
            value: info.encode_to_vec(),
        }],
    };
    Status::with_details(Code::Internal, message, details.encode_to_vec().into())
}

/// A message cut so that it fits into a header.
fn abbreviated(message: &str) -> String {
    let mut encoded = 0;
    for (count, (index, character)) in message.char_indices().enumerate() {
        encoded += match character {
            ' '..='~' if character != '%' => 1,
            _ => 3 * character.len_utf8(),
        };
        if count >= MESSAGE_LENGTH - 3 || encoded > ENCODED_LENGTH {
            if count < MESSAGE_LENGTH && message[index..].chars().nth(3).is_none() && encoded <= ENCODED_LENGTH {
                break;
            }
            return format!("{}...", &message[..index]);
        }
    }
    message.to_string()
}

/// The whole story of an error and its causes.
///
/// Clients on the JVM look conditions up in a table of their own, and fail on those that are not
/// Spark's: these get the text alone.
pub fn fetch(error: &SparkError, client_type: Option<&str>) -> (Option<i32>, Vec<details::Error>) {
    let is_jvm = client_type.is_some_and(|name| name.split_whitespace().any(|part| part.starts_with("jvm/")));
    let mut errors = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        next = error.cause();
        let cause_idx = next.and_then(|_| i32::try_from(errors.len() + 1).ok());
        errors.push(details::Error {
            error_type_hierarchy: error.java_classes().iter().map(|name| (*name).to_string()).collect(),
            message: error.to_string(),
            stack_trace: Vec::new(),
            cause_idx,
            spark_throwable: (!is_jvm || error.is_of_spark()).then(|| throwable(error)),
        });
    }
    (Some(0), errors)
}

fn throwable(error: &SparkError) -> details::SparkThrowable {
    let contexts = error.contexts().iter().map(|context| {
        let kind = match context.kind {
            QueryContextKind::Sql => details::query_context::ContextType::Sql,
            QueryContextKind::DataFrame => details::query_context::ContextType::Dataframe,
        };
        details::QueryContext {
            context_type: kind.into(),
            object_type: context.object_type.clone(),
            object_name: context.object_name.clone(),
            start_index: i32::try_from(context.start_index).unwrap_or(i32::MAX),
            stop_index: i32::try_from(context.stop_index).unwrap_or(i32::MAX),
            fragment: context.excerpt().fragment,
            call_site: context.call_site.clone(),
            summary: context.summary(),
        }
    });
    details::SparkThrowable {
        error_class: error.condition().map(str::to_string),
        message_parameters: error.parameters().iter().cloned().collect(),
        query_contexts: contexts.collect(),
        sql_state: error.sql_state().map(str::to_string),
        breaking_change_info: None,
    }
}

/// The error of a panic that was caught.
pub fn panicked(payload: &(dyn std::any::Any + Send)) -> SparkError {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a task panicked".to_string());
    tracing::error!(panic = %text, "a panic was caught");
    SparkError::internal(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(status: &Status) -> rpc::ErrorInfo {
        let details = rpc::Status::decode(status.details()).unwrap();
        assert_eq!(details.code, 13);
        rpc::ErrorInfo::decode(details.details[0].value.as_slice()).unwrap()
    }

    #[test]
    fn details_say_class_condition_and_parameters() {
        let error = SparkError::new("TABLE_OR_VIEW_NOT_FOUND").with("relationName", "`t`");
        let info = info(&status(&error, None, &Limits::default()));
        assert_eq!(info.domain, "org.apache.spark");
        assert_eq!(info.metadata["errorClass"], "TABLE_OR_VIEW_NOT_FOUND");
        assert_eq!(info.metadata["sqlState"], "42P01");
        assert_eq!(info.metadata["messageParameters"], r#"{"relationName":"`t`"}"#);
        assert!(info.metadata["classes"].contains("org.apache.spark.sql.AnalysisException"));
        assert!(!info.metadata.contains_key("errorId"));
    }

    #[test]
    fn clients_on_the_jvm_get_no_condition_that_spark_has_not() {
        let named = |error: &SparkError, client: &str| fetch(error, Some(client)).1[0].spark_throwable.is_some();
        let (ours, of_spark) = (SparkError::unsupported("flying"), SparkError::new("DIVIDE_BY_ZERO"));
        let scala = "_SPARK_CONNECT_SCALA spark/4.2.1 scala/2.13.18 jvm/17.0.15 os/linux";
        assert!(!named(&ours, scala));
        assert!(named(&of_spark, scala));
        assert!(named(&ours, "_SPARK_CONNECT_PYTHON spark/4.2.1 os/linux python/3.11.7"));
    }

    #[test]
    fn long_parameters_are_left_out_and_long_messages_cut() {
        let error = SparkError::new("TABLE_OR_VIEW_NOT_FOUND").with("relationName", "é".repeat(5000));
        let status = status(&error, None, &Limits::default());
        assert!(!info(&status).metadata.contains_key("errorClass"));
        assert!(info(&status).metadata.contains_key("classes"));
        assert!(status.message().chars().count() <= MESSAGE_LENGTH);
        assert!(status.message().len() * 3 <= ENCODED_LENGTH * 2);
        let long = SparkError::plain(firesteel_error::ExceptionClass::Spark, "x".repeat(3000));
        assert_eq!(super::status(&long, None, &Limits::default()).message().len(), MESSAGE_LENGTH);
        let fits = "x".repeat(MESSAGE_LENGTH);
        assert_eq!(abbreviated(&fits), fits);
    }
}
