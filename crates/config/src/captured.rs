//! Settings that views keep from when they were made.

use crate::entry::Scope;
use crate::hadoop::HadoopSettings;
use crate::keys;
use crate::reader::Reader;
use crate::session::SessionConfig;
use crate::table::lookup;

/// What only says how a query runs, or how deep views may go, is never kept.
const NOT_CAPTURED: &[&str] = &[
    keys::MAX_NESTED_VIEW_DEPTH,
    "spark.sql.optimizer.",
    "spark.sql.codegen.",
    "spark.sql.execution.",
    "spark.sql.shuffle.",
    "spark.sql.adaptive.",
    "spark.sql.hive.convert",
    "spark.sql.maven.additionalRemoteRepositories",
];

/// What a view keeps even if nobody has set it.
const ALWAYS_CAPTURED: &[&str] = &[keys::ANSI_ENABLED, keys::SESSION_TIME_ZONE];

/// Whether a view keeps a setting: it is one of a session's, and changes what a query means.
pub fn is_captured(key: &str) -> bool {
    lookup(key).is_some_and(|entry| entry.scope == Scope::Runtime)
        && !NOT_CAPTURED.iter().any(|prefix| key.starts_with(prefix))
}

impl SessionConfig {
    /// The settings that a view keeps which is made now, sorted by key.
    ///
    /// ```
    /// use firesteel_config::{SessionConfig, keys};
    /// let mut config = SessionConfig::default();
    /// config.set(keys::ANSI_ENABLED, "false").unwrap();
    /// config.set(keys::SHUFFLE_PARTITIONS, "4").unwrap();
    /// assert!(config.captured().contains(&(keys::ANSI_ENABLED.to_string(), "false".to_string())));
    /// assert!(!config.captured().iter().any(|(key, _)| key == keys::SHUFFLE_PARTITIONS));
    /// ```
    pub fn captured(&self) -> Vec<(String, String)> {
        let mut settings = self.get_all(None);
        settings.retain(|(key, _)| is_captured(key));
        for key in ALWAYS_CAPTURED {
            if !settings.iter().any(|(known, _)| known == key)
                && let Some(value) = self.effective(key)
            {
                settings.push(((*key).to_string(), value.into_owned()));
            }
        }
        settings.sort();
        settings
    }
}

/// A session's settings, but for those that a view keeps: they are what they were when it was made.
#[derive(Debug, Clone, Copy)]
pub struct Recalled<'a> {
    pub session: &'a SessionConfig,
    pub settings: &'a [(String, String)],
}

impl Reader for Recalled<'_> {
    fn explicit(&self, key: &str) -> Option<&str> {
        if is_captured(key) {
            return self.settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
        }
        self.session.explicit(key)
    }

    fn hadoop(&self) -> HadoopSettings {
        self.session.hadoop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqlConf;

    #[test]
    fn a_view_has_its_own_settings_and_the_session_s_way_of_running() {
        let mut config = SessionConfig::default();
        config.set(keys::ANSI_ENABLED, "false").unwrap();
        let settings = config.captured();
        config.set(keys::ANSI_ENABLED, "true").unwrap();
        config.set(keys::CASE_SENSITIVE, "true").unwrap();
        config.set(keys::SHUFFLE_PARTITIONS, "7").unwrap();
        let recalled = SqlConf::new(&Recalled { session: &config, settings: &settings });
        assert!(!recalled.ansi_enabled);
        assert!(!recalled.case_sensitive);
        assert_eq!(recalled.shuffle_partitions, 7);
    }
}
