//! Spark's errors: conditions, SQLSTATEs, message parameters, query contexts.
//!
//! Every failure that a user can cause is a [`SparkError`]. Its condition
//! (such as `UNRESOLVED_COLUMN.WITH_SUGGESTION`) is declared once, in the
//! [`conditions`] table, together with its SQLSTATE, the exception class that
//! clients raise for it and the text shown to people.
//!
//! Invariant: this crate knows nobody. No gRPC, no DataFusion.

pub mod class;
pub mod conditions;
pub mod context;
pub mod position;
pub mod quote;
pub mod suggest;

pub use class::ExceptionClass;
pub use context::{Excerpt, QueryContext, QueryContextKind};
pub use position::TextPosition;

use std::fmt;

/// The result of anything that can fail with a Spark error.
pub type Result<T, E = SparkError> = std::result::Result<T, E>;

/// The one condition that is not Spark's.
const NOT_IN_THIS_SERVER: &str = "UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER";

/// A failure, as a Spark client understands it.
///
/// ```
/// use firesteel_error::SparkError;
/// let error = SparkError::new("TABLE_OR_VIEW_NOT_FOUND").with("relationName", "`t`");
/// assert_eq!(error.sql_state(), Some("42P01"));
/// assert!(error.to_string().starts_with("[TABLE_OR_VIEW_NOT_FOUND] "));
/// ```
#[derive(Debug, Clone)]
pub struct SparkError(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    condition: Option<&'static str>,
    class: ExceptionClass,
    parameters: Vec<(String, String)>,
    /// Used instead of the condition's text where there is no condition.
    message: Option<String>,
    contexts: Vec<QueryContext>,
    /// Where the text makes no sense, for errors of form: these have no context.
    position: Option<TextPosition>,
    /// No context is added any more.
    is_placeless: bool,
    cause: Option<SparkError>,
}

impl SparkError {
    /// An error of a declared condition, with the exception class declared for it.
    pub fn new(condition: &'static str) -> Self {
        let class = conditions::lookup(condition).map_or(ExceptionClass::Spark, |c| c.class);
        Self(Box::new(Inner {
            condition: Some(condition),
            class,
            parameters: Vec::new(),
            message: None,
            contexts: Vec::new(),
            position: None,
            is_placeless: false,
            cause: None,
        }))
    }

    /// An error of a condition known by name only, such as one that a user raises.
    ///
    /// ```
    /// use firesteel_error::SparkError;
    /// let name = String::from("DIVIDE_BY_ZERO");
    /// assert!(SparkError::from_condition_name(&name).is_some());
    /// assert!(SparkError::from_condition_name("NOT_DECLARED").is_none());
    /// ```
    pub fn from_condition_name(name: &str) -> Option<Self> {
        conditions::lookup(name).map(|condition| Self::new(condition.name))
    }

    /// An error without a condition, as Spark's older checks raise.
    pub fn plain(class: ExceptionClass, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            condition: None,
            class,
            parameters: Vec::new(),
            message: Some(message.into()),
            contexts: Vec::new(),
            position: None,
            is_placeless: false,
            cause: None,
        }))
    }

    /// A fault of ours: something that should not happen whatever the client sends.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("INTERNAL_ERROR").with("message", message)
    }

    /// Something that Spark does and this server does not, named by `feature`.
    pub fn unsupported(feature: impl Into<String>) -> Self {
        Self::new(NOT_IN_THIS_SERVER).with("feature", feature)
    }

    /// Whether Spark's own table of conditions has this error's.
    ///
    /// ```
    /// use firesteel_error::SparkError;
    /// assert!(SparkError::new("DIVIDE_BY_ZERO").is_of_spark());
    /// assert!(!SparkError::unsupported("streaming queries").is_of_spark());
    /// ```
    pub fn is_of_spark(&self) -> bool {
        self.condition() != Some(NOT_IN_THIS_SERVER)
    }

    /// Adds a message parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.parameters.push((name.to_string(), value.into()));
        self
    }

    /// Replaces the declared exception class, where Spark raises the same
    /// condition as different classes.
    #[must_use]
    pub fn with_class(mut self, class: ExceptionClass) -> Self {
        self.0.class = class;
        self
    }

    /// Adds the place in the query that the error is about.
    #[must_use]
    pub fn with_context(mut self, context: QueryContext) -> Self {
        self.0.contexts.push(context);
        self
    }

    /// Adds a context unless the error already has one: the innermost place wins.
    #[must_use]
    pub fn or_context(self, context: impl FnOnce() -> Option<QueryContext>) -> Self {
        if self.0.contexts.is_empty()
            && !self.0.is_placeless
            && !self.0.condition.is_some_and(conditions::is_placeless)
            && let Some(context) = context()
        {
            return self.with_context(context);
        }
        self
    }

    /// Keeps places from being added, where Spark gives none.
    #[must_use]
    pub fn without_context(mut self) -> Self {
        self.0.contexts.clear();
        self.0.is_placeless = true;
        self
    }

    /// Says where a text stops to make sense.
    #[must_use]
    pub fn with_position(mut self, position: TextPosition) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Where a text stops to make sense.
    pub fn position(&self) -> Option<&TextPosition> {
        self.0.position.as_ref()
    }

    /// Adds the error that led to this one.
    #[must_use]
    pub fn with_cause(mut self, cause: SparkError) -> Self {
        self.0.cause = Some(cause);
        self
    }

    /// The full name of the condition; plain errors have none.
    pub fn condition(&self) -> Option<&'static str> {
        self.0.condition
    }

    /// True for the condition itself and for its sub-conditions.
    pub fn is(&self, condition: &str) -> bool {
        self.0.condition.is_some_and(|c| {
            c == condition || (c.starts_with(condition) && c.as_bytes().get(condition.len()) == Some(&b'.'))
        })
    }

    /// The declaration of the condition.
    pub fn declaration(&self) -> Option<&'static conditions::Condition> {
        self.0.condition.and_then(conditions::lookup)
    }

    /// The SQLSTATE, five characters.
    pub fn sql_state(&self) -> Option<&'static str> {
        self.declaration().map(|c| c.sql_state).filter(|state| !state.is_empty())
    }

    /// The Java class name and its ancestors', most specific first.
    ///
    /// Spark's own exception classes belong to errors with a condition: a plain
    /// error starts at the Java class that they extend.
    pub fn java_classes(&self) -> &'static [&'static str] {
        let classes = self.0.class.java_classes();
        match classes {
            [first, rest @ ..]
                if self.0.condition.is_none()
                    && first.starts_with("org.apache.spark.Spark")
                    && rest.first().is_some_and(|next| next.starts_with("java.") && *next != "java.lang.Exception") =>
            {
                rest
            }
            _ => classes,
        }
    }

    /// The exception class that clients raise.
    pub fn class(&self) -> ExceptionClass {
        self.0.class
    }

    /// The message parameters, in the order in which they were added.
    pub fn parameters(&self) -> &[(String, String)] {
        &self.0.parameters
    }

    /// The places in the query, innermost first.
    pub fn contexts(&self) -> &[QueryContext] {
        &self.0.contexts
    }

    /// The error that led to this one.
    pub fn cause(&self) -> Option<&SparkError> {
        self.0.cause.as_ref()
    }

    /// The text for people, without the query context.
    pub fn summary(&self) -> String {
        let Some(condition) = self.0.condition else {
            return self.0.message.clone().unwrap_or_default();
        };
        let text = conditions::render(condition, &self.0.parameters);
        if self.declaration().is_some_and(|declared| !declared.is_named()) {
            return text;
        }
        match self.sql_state() {
            Some(state) => format!("[{condition}] {text} SQLSTATE: {state}"),
            None => format!("[{condition}] {text}"),
        }
    }
}

impl fmt::Display for SparkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        if let Some(position) = &self.0.position {
            f.write_str(&position.summary())?;
        }
        for context in &self.0.contexts {
            let summary = context.summary();
            if !summary.is_empty() {
                write!(f, "\n{summary}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for SparkError {}
