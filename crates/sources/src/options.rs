//! Options of readers and writers.

use crate::error::illegal;
use firesteel_error::Result;

/// Options by name, in any letter case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceOptions(Vec<(String, String)>);

impl SourceOptions {
    /// The options as a client gave them.
    pub fn new(options: &[(String, String)]) -> Self {
        Self(options.iter().map(|(k, v)| (k.to_ascii_lowercase(), v.clone())).collect())
    }

    /// The value of an option; the last one wins.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.as_str())
    }

    /// The value of the first of several names that is given.
    pub fn any(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// An option that is `true` or `false`.
    pub fn flag(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(illegal(format!("{key} flag can be true or false"))),
        }
    }

    /// A number.
    pub fn integer(&self, key: &str, default: i64) -> Result<i64> {
        match self.get(key) {
            None => Ok(default),
            Some(text) => {
                text.trim().parse().map_err(|_| illegal(format!("{key} should be an integer. Found {text}.")))
            }
        }
    }

    /// A fraction.
    pub fn number(&self, key: &str, default: f64) -> Result<f64> {
        match self.get(key) {
            None => Ok(default),
            Some(text) => text.trim().parse().map_err(|_| illegal(format!("{key} should be a number. Found {text}."))),
        }
    }

    /// One character; the empty text is none.
    pub fn character(&self, key: &str, default: Option<char>) -> Result<Option<char>> {
        match self.get(key) {
            None => Ok(default),
            Some(text) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (one, None) => Ok(one),
                    _ => Err(illegal(format!("{key} cannot be more than one character"))),
                }
            }
        }
    }
}
