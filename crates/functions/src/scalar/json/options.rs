//! Options of the JSON functions.

use super::reader::Leniency;
use crate::TypedExpr;
use crate::scalar::string::constant::{text_of, value_of};
use arrow::array::Array;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::collections::BTreeMap;

/// Options by their names in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);

impl Options {
    /// The options of an argument, a constant map of strings.
    pub fn of(argument: Option<&TypedExpr>) -> Result<Self> {
        let Some(argument) = argument else { return Ok(Self::default()) };
        let not_a_map = || {
            SparkError::new("INVALID_OPTIONS.NON_STRING_TYPE")
                .with("mapType", format!("\"{}\"", argument.data_type.sql()))
        };
        match &argument.data_type {
            DataType::Map { key, value, .. } if key.is_string() && value.is_string() => {}
            DataType::Map { .. } => return Err(not_a_map()),
            _ => return Err(SparkError::new("INVALID_OPTIONS.NON_MAP_FUNCTION")),
        }
        let Some(ScalarValue::Map(map)) = value_of(argument)? else {
            return Err(SparkError::new("INVALID_OPTIONS.NON_MAP_FUNCTION"));
        };
        let mut options = BTreeMap::new();
        if map.len() == 1 && map.is_valid(0) {
            let entries = map.value(0);
            for row in 0..entries.len() {
                let text = |column: usize| ScalarValue::try_from_array(entries.column(column), row).ok();
                if let (Some(key), Some(value)) = (text(0), text(1))
                    && let (Some(key), Some(value)) = (text_of(&key), text_of(&value))
                {
                    options.insert(key.to_ascii_lowercase(), value.to_string());
                }
            }
        }
        let options = Self(options);
        if options.get("timeFormat").is_some() {
            return Err(SparkError::unsupported("the option timeFormat of functions of JSON and CSV"));
        }
        Ok(options)
    }

    /// The options as text, for a kernel's payload.
    pub fn to_payload(&self) -> String {
        serde_json::Value::Object(self.0.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect()).to_string()
    }

    /// The options from a kernel's payload.
    pub fn from_payload(payload: Option<&str>) -> Self {
        let parsed = payload.and_then(|p| serde_json::from_str::<BTreeMap<String, String>>(p).ok());
        Self(parsed.unwrap_or_default())
    }

    /// An option by its name in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(&name.to_ascii_lowercase()).map(String::as_str)
    }

    /// Takes an option away.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(&name.to_ascii_lowercase());
    }

    /// Sets an option.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_ascii_lowercase(), value.into());
    }

    /// A switch, or its default.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.get(name).map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    /// What a reader with these options lets pass.
    pub fn leniency(&self) -> Leniency {
        Leniency {
            single_quotes: self.flag("allowSingleQuotes", true),
            unquoted_names: self.flag("allowUnquotedFieldNames", false),
            comments: self.flag("allowComments", false),
            leading_zeros: self.flag("allowNumericLeadingZeros", false),
            escape_anything: self.flag("allowBackslashEscapingAnyCharacter", false),
            control_characters: self.flag("allowUnquotedControlChars", false),
            non_numeric_numbers: self.flag("allowNonNumericNumbers", true),
        }
    }
}
