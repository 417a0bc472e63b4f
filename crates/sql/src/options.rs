//! What the session says about parsing.

/// Settings of the session that change what a text means.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Type and name of the object whose text this is, such as `VIEW` and `a.b.v`.
    pub source_object: Option<(String, String)>,
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
            source_object: None,
        }
    }
}

impl ParserOptions {
    /// Whether reserved words are refused as names.
    pub(crate) fn reserves_keywords(&self) -> bool {
        self.ansi && self.enforce_reserved_keywords
    }

    /// Whether `"a"` is a name.
    pub(crate) fn quotes_names_doubly(&self) -> bool {
        self.ansi && self.double_quoted_identifiers
    }
}
