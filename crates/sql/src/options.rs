//! What the session says about parsing.

use firesteel_config::{SqlConf, TimestampType};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, Parameter};
use firesteel_types::time_zone::TimeZone;
use std::collections::HashMap;
use std::sync::Arc;

/// Values of a text's parameter markers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParameterValues {
    /// Values of `:name`.
    pub named: HashMap<String, Expr>,
    /// Values of `?`, in order.
    pub positions: Vec<Expr>,
}

impl ParameterValues {
    /// The value of a marker.
    pub(crate) fn get(&self, parameter: &Parameter) -> Result<&Expr> {
        let (value, is_mixed) = match parameter {
            Parameter::Named(name) => (self.named.get(name), !self.positions.is_empty()),
            Parameter::Position(position) => (self.positions.get(*position), !self.named.is_empty()),
        };
        value.ok_or_else(|| match parameter {
            _ if is_mixed => SparkError::new("INVALID_QUERY_MIXED_QUERY_PARAMETERS"),
            Parameter::Named(name) => SparkError::new("UNBOUND_SQL_PARAMETER").with("name", name),
            Parameter::Position(position) => {
                SparkError::new("UNBOUND_SQL_PARAMETER").with("name", format!("_{position}"))
            }
        })
    }
}

/// Settings of the session that change what a text means.
#[derive(Debug, Clone, PartialEq)]
pub struct ParserOptions {
    /// `spark.sql.ansi.enabled`.
    pub ansi: bool,
    /// `spark.sql.ansi.enforceReservedKeywords`: reserved words are no names. Needs `ansi`.
    pub enforce_reserved_keywords: bool,
    /// `spark.sql.ansi.doubleQuotedIdentifiers`: `"a"` is a name. Needs `ansi`.
    pub double_quoted_identifiers: bool,
    /// `spark.sql.parser.quotedRegexColumnNames`: quoted names in a SELECT list are patterns.
    pub quoted_regex_column_names: bool,
    /// `spark.sql.parser.escapedStringLiterals`: backslashes in strings are kept.
    pub escaped_string_literals: bool,
    /// `spark.sql.legacy.consecutiveStringLiterals.enabled`: `'a''b'` is `'ab'`.
    pub consecutive_string_literals: bool,
    /// `spark.sql.legacy.interval.enabled`: interval literals are calendar intervals.
    pub legacy_interval: bool,
    /// `spark.sql.legacy.exponentLiteralAsDecimal.enabled`: `1e3` is a DECIMAL.
    pub exponent_literal_as_decimal: bool,
    /// `spark.sql.legacy.setopsPrecedence.enabled`: set operations run from left to right.
    pub legacy_set_operation_precedence: bool,
    /// `spark.sql.timestampType` is `TIMESTAMP_NTZ`.
    pub timestamp_is_ntz: bool,
    /// `spark.sql.scripting.enabled`.
    pub scripting: bool,
    /// `spark.sql.scripting.cursorEnabled`.
    pub cursors: bool,
    /// `spark.sql.legacy.bangEqualsNot`: `!IN`, `!LIKE` and the like mean NOT.
    pub bang_equals_not: bool,
    /// The session's time zone, in which bound moments are written.
    pub time_zone: TimeZone,
    /// Type and name of the object whose text this is, such as `VIEW` and `a.b.v`.
    pub source_object: Option<(String, String)>,
    /// What parameter markers stand for; none leaves them in the plan.
    pub parameters: Option<Arc<ParameterValues>>,
}

impl Default for ParserOptions {
    fn default() -> Self {
        Self {
            ansi: true,
            enforce_reserved_keywords: false,
            double_quoted_identifiers: false,
            quoted_regex_column_names: false,
            escaped_string_literals: false,
            consecutive_string_literals: false,
            legacy_interval: false,
            exponent_literal_as_decimal: false,
            legacy_set_operation_precedence: false,
            timestamp_is_ntz: false,
            scripting: true,
            cursors: false,
            bang_equals_not: false,
            time_zone: TimeZone::UTC,
            source_object: None,
            parameters: None,
        }
    }
}

impl From<&SqlConf> for ParserOptions {
    fn from(conf: &SqlConf) -> Self {
        Self {
            ansi: conf.ansi_enabled,
            enforce_reserved_keywords: conf.enforce_reserved_keywords,
            double_quoted_identifiers: conf.double_quoted_identifiers,
            quoted_regex_column_names: conf.quoted_regex_column_names,
            escaped_string_literals: conf.escaped_string_literals,
            consecutive_string_literals: conf.consecutive_string_literals,
            legacy_interval: conf.legacy_interval,
            exponent_literal_as_decimal: conf.exponent_literal_as_decimal,
            legacy_set_operation_precedence: conf.setops_precedence,
            timestamp_is_ntz: conf.timestamp_type == TimestampType::Ntz,
            scripting: conf.scripting_enabled,
            cursors: conf.cursors_enabled,
            bang_equals_not: conf.bang_equals_not,
            time_zone: TimeZone::parse(&conf.time_zone).unwrap_or(TimeZone::UTC),
            source_object: None,
            parameters: None,
        }
    }
}

impl ParserOptions {
    /// The same with values for parameter markers.
    #[must_use]
    pub fn with_parameters(mut self, parameters: ParameterValues) -> Self {
        self.parameters = Some(Arc::new(parameters));
        self
    }

    /// Whether reserved words are refused as names.
    pub(crate) fn reserves_keywords(&self) -> bool {
        self.ansi && self.enforce_reserved_keywords
    }

    /// Whether `"a"` is a name.
    pub(crate) fn quotes_names_doubly(&self) -> bool {
        self.ansi && self.double_quoted_identifiers
    }
}
