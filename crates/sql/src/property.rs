//! Properties and options: `(key = value, …)`.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::{Result, SparkError};
use firesteel_plan::Options;

impl Parser<'_> {
    /// `(key = value, …)`: every key needs a value.
    pub(crate) fn properties(&mut self) -> Result<Options> {
        let start = self.mark();
        let entries = self.in_parentheses(Self::property)?;
        let mut properties = Options::with_capacity(entries.len());
        let mut missing = Vec::new();
        for (key, value) in entries {
            if properties.iter().any(|(other, _)| *other == key) {
                return Err(self.error(start, "DUPLICATE_KEY").with("keyColumn", format!("`{key}`")));
            }
            match value {
                Some(value) => properties.push((key, value)),
                None => missing.push(key),
            }
        }
        if !missing.is_empty() {
            let message = format!("Values must be specified for key(s): [{}]", missing.join(","));
            self.defer_whole(SparkError::new("_LEGACY_ERROR_TEMP_0035").with("message", message));
        }
        Ok(properties)
    }

    /// The properties of a table, of which some have clauses of their own.
    pub(crate) fn table_properties(&mut self) -> Result<Options> {
        let properties = self.properties()?;
        for (key, _) in &properties {
            let message = match key.to_ascii_lowercase().as_str() {
                "provider" => "please use the USING clause to specify it",
                "location" => "please use the LOCATION clause to specify it",
                "owner" => "it will be set to the current user",
                "external" => "please use CREATE EXTERNAL TABLE",
                _ => continue,
            };
            self.defer_whole(
                SparkError::new("UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY").with("property", key).with("msg", message),
            );
        }
        Ok(properties)
    }

    /// The properties of a database, of which some have clauses of their own.
    pub(crate) fn namespace_properties(&mut self) -> Result<Options> {
        let properties = self.properties()?;
        for (key, _) in &properties {
            let message = match key.to_ascii_lowercase().as_str() {
                "location" => "please use the LOCATION clause to specify it",
                "owner" => "it will be set to the current user",
                _ => continue,
            };
            self.defer_whole(
                SparkError::new("UNSUPPORTED_FEATURE.SET_NAMESPACE_PROPERTY")
                    .with("property", key)
                    .with("msg", message),
            );
        }
        Ok(properties)
    }

    /// `(key, …)`: no key may have a value.
    pub(crate) fn property_keys(&mut self) -> Result<Vec<String>> {
        let entries = self.in_parentheses(Self::property)?;
        let unwanted: Vec<&str> =
            entries.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| key.as_str()).collect();
        if !unwanted.is_empty() {
            let message = format!("Values should not be specified for key(s): [{}]", unwanted.join(","));
            self.defer_whole(SparkError::new("_LEGACY_ERROR_TEMP_0035").with("message", message));
        }
        Ok(entries.into_iter().map(|(key, _)| key).collect())
    }

    fn property(&mut self) -> Result<(String, Option<String>)> {
        let key = self.property_key()?;
        let has_mark = self.take_mark("=") || self.take_mark("==");
        let has_value = has_mark || !(self.is_mark(",") || self.is_mark(")"));
        let value = if has_value { Some(self.property_value()?) } else { None };
        Ok((key, value))
    }

    /// `'key'` or `key.key`.
    pub(crate) fn property_key(&mut self) -> Result<String> {
        if self.ahead_is_text(0) {
            // A value may follow right away, so that strings are not put together.
            if let Some(text) = self.take_text_marker() {
                return Ok(text);
            }
            let token = self.advance();
            return Ok(self.string_of(token));
        }
        let mut key = self.identifier()?;
        while self.is_mark(".") {
            self.advance();
            key.push('.');
            key.push_str(&self.identifier()?);
        }
        Ok(key)
    }

    fn property_value(&mut self) -> Result<String> {
        if self.ahead_is_text(0) {
            return self.string();
        }
        let start = self.mark();
        match self.peek().kind {
            TokenKind::Number(_) => {
                self.advance();
                Ok(self.text_from(start))
            }
            TokenKind::Mark("-") if matches!(self.ahead(1).kind, TokenKind::Number(_)) => {
                self.advance();
                self.advance();
                Ok(self.text_from(start))
            }
            TokenKind::Word(Some(word @ (K::TRUE | K::FALSE))) => {
                self.advance();
                Ok(word.text().to_lowercase())
            }
            _ => Err(self.unexpected()),
        }
    }
}
