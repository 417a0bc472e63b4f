//! The settings of one session.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use firesteel_error::{Result, SparkError};

use crate::entry::Scope;
use crate::hadoop::HadoopSettings;
use crate::keys;
use crate::reader::Reader;
use crate::server::ServerConfig;
use crate::snapshot::SqlConf;
use crate::table::{lookup, retired, undone};
use crate::value;

/// The page that error parameters point to.
const DOCROOT: &str = "https://spark.apache.org/docs/latest";

/// Something that the user should know about a key; the client shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The key.
    pub key: String,
    /// A sentence or two.
    pub text: String,
}

/// The settings of one session: what it has changed, over what the server was started with.
#[derive(Debug, Clone, Default)]
pub struct SessionConfig {
    server: Arc<ServerConfig>,
    /// `None`: unset here although the server sets it.
    changes: HashMap<String, Option<String>>,
    version: u64,
    snapshot: OnceLock<Arc<SqlConf>>,
}

impl SessionConfig {
    /// The settings of a new session.
    pub fn new(server: Arc<ServerConfig>) -> Self {
        Self { server, changes: HashMap::new(), version: 0, snapshot: OnceLock::new() }
    }

    /// What the server was started with.
    pub fn server(&self) -> &Arc<ServerConfig> {
        &self.server
    }

    /// A number that grows with each change, for caches of what depends on settings.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The typed settings as they are now.
    pub fn snapshot(&self) -> Arc<SqlConf> {
        self.snapshot.get_or_init(|| Arc::new(SqlConf::new(self))).clone()
    }

    fn touch(&mut self) {
        self.version += 1;
        self.snapshot = OnceLock::new();
    }

    /// The value of a key: `None` if the key is known but has no value.
    pub fn get(&self, key: &str) -> Result<Option<String>> {
        if let Some(text) = self.explicit(key) {
            return Ok(Some(text.to_string()));
        }
        match lookup(key) {
            Some(entry) if entry.scope != Scope::Core => Ok(self.effective(key).map(|text| text.into_owned())),
            _ => Err(SparkError::new("SQL_CONF_NOT_FOUND").with("sqlConf", quoted(key))),
        }
    }

    /// The value that somebody has set, or else the caller's default, which must be a value of the key.
    pub fn get_with_default(&self, key: &str, default: Option<&str>) -> Result<Option<String>> {
        if let Some(text) = default
            && text != "<undefined>"
            && let Some(entry) = lookup(key)
            && entry.scope != Scope::Core
        {
            value::check(entry, text)?;
        }
        Ok(self.explicit(key).or(default).map(str::to_string))
    }

    /// The value of a key, if it is known and has one.
    pub fn get_option(&self, key: &str) -> Option<String> {
        self.get(key).ok().flatten()
    }

    /// All settings that somebody has made whose keys begin with `prefix`, sorted, the prefix cut off.
    pub fn get_all(&self, prefix: Option<&str>) -> Vec<(String, String)> {
        let mut settings: BTreeMap<&str, &str> = self.server.settings().collect();
        for (key, text) in &self.changes {
            match text {
                Some(text) => settings.insert(key, text),
                None => settings.remove(key.as_str()),
            };
        }
        let prefix = prefix.unwrap_or_default();
        settings
            .into_iter()
            .filter_map(|(key, text)| Some((key.strip_prefix(prefix)?.to_string(), text.to_string())))
            .collect()
    }

    /// Sets a key. Unknown keys are accepted.
    pub fn set(&mut self, key: &str, text: &str) -> Result<Option<Warning>> {
        self.require_modifiable(key)?;
        if let Some(entry) = lookup(key)
            && entry.scope != Scope::Core
        {
            value::check(entry, text)?;
        }
        undone::check(key, text)?;
        if let Some(removed) = retired::REMOVED.iter().find(|removed| removed.key == key)
            && removed.only.is_some_and(|only| only != text)
        {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1226")
                .with_class(firesteel_error::ExceptionClass::Analysis)
                .with("configName", key)
                .with("version", removed.release)
                .with("comment", removed.advice()));
        }
        self.changes.insert(key.to_string(), Some(text.to_string()));
        self.touch();
        Ok(warning(key))
    }

    /// Takes a setting back, also one that the server was started with. Unknown keys are accepted.
    pub fn unset(&mut self, key: &str) -> Result<Option<Warning>> {
        self.require_modifiable(key)?;
        if self.server.explicit(key).is_some() {
            self.changes.insert(key.to_string(), None);
        } else {
            self.changes.remove(key);
        }
        self.touch();
        Ok(warning(key))
    }

    /// Puts a key back to what the server was started with.
    pub fn reset(&mut self, key: &str) -> Result<()> {
        self.require_modifiable(key)?;
        self.changes.remove(key);
        self.touch();
        Ok(())
    }

    /// Puts all keys back to what the server was started with.
    pub fn reset_all(&mut self) {
        self.changes.clear();
        self.touch();
    }

    /// Whether the key is known and a session can set it.
    pub fn is_modifiable(&self, key: &str) -> bool {
        lookup(key).is_some_and(|entry| entry.scope == Scope::Runtime)
    }

    fn require_modifiable(&self, key: &str) -> Result<()> {
        match lookup(key).map(|entry| entry.scope) {
            Some(Scope::Static) => Err(SparkError::new("CANNOT_MODIFY_STATIC_CONFIG").with("key", quoted(key))),
            Some(Scope::Core) if self.boolean(keys::REJECT_CORE_CONFS) => {
                Err(SparkError::new("CANNOT_MODIFY_CONFIG").with("key", quoted(key)).with("docroot", DOCROOT))
            }
            _ => Ok(()),
        }
    }
}

impl Reader for SessionConfig {
    fn explicit(&self, key: &str) -> Option<&str> {
        match self.changes.get(key) {
            Some(change) => change.as_deref(),
            None => self.server.explicit(key),
        }
    }

    fn hadoop(&self) -> HadoopSettings {
        let server = self.server.settings().filter(|(key, _)| !self.changes.contains_key(*key));
        let own = self.changes.iter().filter_map(|(key, text)| Some((key.as_str(), text.as_deref()?)));
        HadoopSettings::new(server.chain(own))
    }
}

/// A key as error parameters show it.
fn quoted(key: &str) -> String {
    format!("\"{key}\"")
}

/// What the user should know about a key, when it is read as well as when it is set.
pub fn warning(key: &str) -> Option<Warning> {
    let text = if retired::WITHOUT_EFFECT.contains(&key) {
        format!("Setting '{key}' has no effect in Spark Connect.")
    } else {
        let old = retired::DEPRECATED.iter().find(|old| old.key == key)?;
        let notice = format!("The key '{key}' is deprecated since Spark {} and may go.", old.release);
        [notice, old.advice()].join(" ").trim_end().to_string()
    };
    Some(Warning { key: key.to_string(), text })
}

/// Whether the value of a key is a secret, to be shown to nobody.
///
/// ```
/// use firesteel_config::session::is_secret;
/// assert!(is_secret("fs.s3a.access.key"));
/// assert!(!is_secret("spark.sql.ansi.enabled"));
/// ```
pub fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["secret", "password", "token", "accesskey", "access.key"].iter().any(|word| key.contains(word))
}
