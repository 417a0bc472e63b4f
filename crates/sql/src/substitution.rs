//! Settings in SQL text: `${name}`.

use firesteel_error::{ExceptionClass, Result, SparkError};

/// Replaces `${name}` and `${prefix:name}` by settings; `setting` knows them by key.
///
/// The prefixes `spark`, `sparkconf`, `hivevar` and `hiveconf` mean settings too,
/// `env` variables of the server's environment; what has another prefix stays.
/// A setting without a value is empty.
///
/// ```
/// let setting = |key: &str| (key == "a.b").then(|| "7".to_string());
/// assert_eq!(firesteel_sql::substitute("SELECT ${a.b}, '${x:y}${c}'", &setting)?, "SELECT 7, '${x:y}'");
/// # Ok::<(), firesteel_error::SparkError>(())
/// ```
pub fn substitute(text: &str, setting: &dyn Fn(&str) -> Option<String>) -> Result<String> {
    replace(text, setting, &mut Vec::new())
}

fn replace(text: &str, setting: &dyn Fn(&str) -> Option<String>, around: &mut Vec<String>) -> Result<String> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, reference) = rest.split_at(start);
        result.push_str(before);
        let inside = &reference[2..];
        let end = inside.char_indices().find(|(at, c)| c.is_whitespace() || (*c == '}' && *at > 0));
        let Some((end, '}')) = end else {
            result.push_str("${");
            rest = inside;
            continue;
        };
        let name = &inside[..end];
        rest = &inside[end + 1..];
        if around.iter().any(|n| n == name) {
            return Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                format!("The setting {name} stands for itself in {text}"),
            ));
        }
        match value_of(name, setting) {
            Some(value) => {
                around.push(name.to_string());
                result.push_str(&replace(&value, setting, around)?);
                around.pop();
            }
            None => {
                result.push_str("${");
                result.push_str(name);
                result.push('}');
            }
        }
    }
    result.push_str(rest);
    Ok(result)
}

fn value_of(name: &str, setting: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is_prefix = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match name.split_once(':') {
        Some((prefix, name)) if is_prefix(prefix) && !name.is_empty() => match prefix {
            "spark" | "sparkconf" | "hivevar" | "hiveconf" => Some(setting(name).unwrap_or_default()),
            "env" => std::env::var(name).ok(),
            _ => None,
        },
        _ => Some(setting(name).unwrap_or_default()),
    }
}
