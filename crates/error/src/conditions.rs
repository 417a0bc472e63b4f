//! The one table of error conditions.

mod table;
mod unnamed;

use crate::ExceptionClass;

/// The prefix of the names of conditions that Spark never named properly.
const UNNAMED: &str = "_LEGACY_ERROR";

/// A declared error condition.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    /// The full name, a sub-condition's after a dot.
    pub name: &'static str,
    /// Five characters; empty for conditions that have none.
    pub sql_state: &'static str,
    /// The exception class that Spark raises most often for it.
    pub class: ExceptionClass,
    /// The names of the message parameters, in order.
    pub parameters: &'static [&'static str],
    /// Text for people; `<name>` stands for a message parameter.
    pub text: &'static str,
}

impl Condition {
    /// Whether the name may be shown to people.
    pub fn is_named(&self) -> bool {
        !self.name.starts_with(UNNAMED)
    }
}

/// One row of a table.
const fn c(
    name: &'static str,
    sql_state: &'static str,
    class: ExceptionClass,
    parameters: &'static [&'static str],
    text: &'static str,
) -> Condition {
    Condition { name, sql_state, class, parameters, text }
}

/// Finds a condition by its full name.
///
/// ```
/// let condition = firesteel_error::conditions::lookup("DIVIDE_BY_ZERO").unwrap();
/// assert_eq!(condition.sql_state, "22012");
/// ```
pub fn lookup(name: &str) -> Option<&'static Condition> {
    let table = if name.starts_with(UNNAMED) { unnamed::TABLE } else { table::TABLE };
    let index = table.binary_search_by(|condition| condition.name.cmp(name)).ok()?;
    table.get(index)
}

/// All conditions that have a proper name, sorted by name.
pub fn all() -> &'static [Condition] {
    table::TABLE
}

/// A condition's text with its parameters filled in.
pub fn render(name: &str, parameters: &[(String, String)]) -> String {
    let text = lookup(name).map_or("", |condition| condition.text);
    if text.is_empty() {
        return compose(name, parameters);
    }
    fill(text, parameters)
}

/// Replaces each `<name>` by the parameter's value, and leaves it where there is none.
pub fn fill(text: &str, parameters: &[(String, String)]) -> String {
    let mut filled = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let (before, from) = rest.split_at(open);
        filled.push_str(before);
        let value = from.find('>').and_then(|close| {
            let name = from.get(1..close)?;
            let (_, value) = parameters.iter().find(|(key, _)| key == name)?;
            Some((value, from.get(close + 1..)?))
        });
        match value {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('<');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// A text made from the name's words and the parameters.
fn compose(name: &str, parameters: &[(String, String)]) -> String {
    if name.starts_with(UNNAMED) {
        let values: Vec<String> = parameters.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        return if values.is_empty() { "The operation failed.".to_string() } else { values.join(", ") + "." };
    }
    let mut text = String::with_capacity(name.len() + 32);
    for (index, part) in name.split('.').enumerate() {
        if index > 0 {
            text.push_str(": ");
        }
        let words = part.replace('_', " ").to_ascii_lowercase();
        if index == 0 {
            text.extend(words.chars().take(1).map(|first| first.to_ascii_uppercase()));
            text.extend(words.chars().skip(1));
        } else {
            text.push_str(&words);
        }
    }
    if !parameters.is_empty() {
        let values: Vec<String> = parameters.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        text.push_str(" (");
        text.push_str(&values.join(", "));
        text.push(')');
    }
    text.push('.');
    text
}

/// Conditions that Spark finds out where it does not know the place in the query any more.
const PLACELESS: &[&str] = &[
    "AMBIGUOUS_LATERAL_COLUMN_ALIAS",
    "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
    "GROUPING_COLUMN_MISMATCH",
    "GROUPING_ID_COLUMN_MISMATCH",
    "INVALID_QUERY_MIXED_QUERY_PARAMETERS",
    "INVALID_RECURSIVE_CTE",
    "MISSING_AGGREGATION",
    "MISSING_WINDOW_SPECIFICATION",
    "NON_LITERAL_PIVOT_VALUES",
    "PARSE_SYNTAX_ERROR",
    "PATH_NOT_FOUND",
    "PIVOT_VALUE_DATA_TYPE_MISMATCH",
    "QUALIFY_REQUIRES_WINDOW_FUNCTION",
    "RECURSIVE_VIEW",
    "REQUIRES_SINGLE_PART_NAMESPACE",
    "UNRESOLVED_USING_COLUMN_FOR_JOIN",
    "UNSUPPORTED_FEATURE.TIME_TRAVEL",
    "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS",
    "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
    "WINDOW_FUNCTION_FRAME_NOT_ORDERED",
    "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE",
    "_LEGACY_ERROR_TEMP_1006",
    "_LEGACY_ERROR_TEMP_1048",
];

/// Whether errors of a condition have no place in the query.
pub fn is_placeless(condition: &str) -> bool {
    PLACELESS.binary_search(&condition).is_ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "conditions_tests.rs"]
mod tests;
