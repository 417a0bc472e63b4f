//! What the server was started with.

use std::collections::BTreeMap;

use firesteel_error::Result;

use crate::hadoop::HadoopSettings;
use crate::reader::Reader;
use crate::table::{lookup, undone};
use crate::value;

/// The settings given at the start of the server: every session begins with them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerConfig {
    settings: BTreeMap<String, String>,
}

impl ServerConfig {
    /// The settings `key = value`; a later pair overrides an earlier one.
    ///
    /// ```
    /// use firesteel_config::{Reader, ServerConfig};
    /// let server = ServerConfig::new([("spark.sql.shuffle.partitions", "8")]).unwrap();
    /// assert_eq!(server.count("spark.sql.shuffle.partitions"), 8);
    /// assert!(ServerConfig::new([("spark.sql.shuffle.partitions", "x")]).is_err());
    /// ```
    pub fn new<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let mut server = Self::default();
        for (key, text) in pairs {
            server.set(key, text)?;
        }
        Ok(server)
    }

    /// Sets a key of any scope.
    pub fn set(&mut self, key: impl Into<String>, text: impl Into<String>) -> Result<()> {
        let (key, text) = (key.into(), text.into());
        if let Some(entry) = lookup(&key) {
            value::check(entry, &text)?;
        }
        undone::check(&key, &text)?;
        self.settings.insert(key, text);
        Ok(())
    }

    /// Sets a key unless it is set.
    pub fn set_if_missing(&mut self, key: impl Into<String>, text: impl Into<String>) -> Result<()> {
        let key = key.into();
        if self.settings.contains_key(&key) { Ok(()) } else { self.set(key, text) }
    }

    /// All settings, sorted by key.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.settings.iter().map(|(key, text)| (key.as_str(), text.as_str()))
    }
}

impl Reader for ServerConfig {
    fn explicit(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(String::as_str)
    }

    fn hadoop(&self) -> HadoopSettings {
        HadoopSettings::new(self.settings())
    }
}
