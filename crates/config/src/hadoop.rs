//! Settings of file systems, which Hadoop knows by keys of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What keys of Hadoop begin with where Spark has them among its own.
pub const HADOOP_PREFIX: &str = "spark.hadoop.";

/// Beginnings of Hadoop's keys that sessions may give as they are.
const PLAIN: &[&str] = &["fs.", "google.cloud."];

/// Settings of file systems by Hadoop's keys, in lower case.
///
/// ```
/// use firesteel_config::SessionConfig;
/// let mut config = SessionConfig::default();
/// config.set("spark.hadoop.fs.s3a.endpoint", "http://localhost:9000").unwrap();
/// config.set("fs.s3a.secret.key", "hush").unwrap();
/// let hadoop = config.snapshot().hadoop.clone();
/// assert_eq!(hadoop.get("fs.s3a.endpoint"), Some("http://localhost:9000"));
/// assert!(!format!("{hadoop:?}").contains("hush"));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HadoopSettings(Arc<BTreeMap<String, String>>);

impl HadoopSettings {
    /// The settings among pairs; those of a session's own keys win over those that Spark hands on.
    pub fn new<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Self {
        let handed = pairs.clone().filter_map(|(key, value)| Some((key.strip_prefix(HADOOP_PREFIX)?, value)));
        let plain = pairs.filter(|(key, _)| is_plain(key));
        Self(Arc::new(handed.chain(plain).map(|(key, value)| (key.to_ascii_lowercase(), value.to_string())).collect()))
    }

    /// These settings, under those among the options of a reader or writer.
    pub fn with_options(&self, options: &[(String, String)]) -> Self {
        let given = Self::new(options.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        if given.0.is_empty() {
            return self.clone();
        }
        let mut all = self.0.as_ref().clone();
        all.extend(given.0.iter().map(|(key, value)| (key.clone(), value.clone())));
        Self(Arc::new(all))
    }

    /// The value of a key, which is in lower case.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| value.trim())
    }

    /// The settings whose keys begin with one of these.
    pub fn below(&self, prefixes: &[&str]) -> Self {
        let kept = self.0.iter().filter(|(key, _)| prefixes.iter().any(|prefix| key.starts_with(prefix)));
        Self(Arc::new(kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
    }
}

fn is_plain(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    PLAIN.iter().any(|prefix| key.starts_with(prefix))
}

/// Names only: values may be secrets.
impl fmt::Debug for HadoopSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_win_over_plain_keys_and_those_over_handed_ones() {
        let pairs = [("fs.s3a.access.key", "plain"), ("spark.hadoop.fs.s3a.access.key", "handed"), ("other", "x")];
        let settings = HadoopSettings::new(pairs.into_iter());
        assert_eq!(settings.get("fs.s3a.access.key"), Some("plain"));
        assert_eq!(settings.get("other"), None);
        let options = [("FS.S3A.access.key".to_string(), " option ".to_string()), ("header".into(), "true".into())];
        assert_eq!(settings.with_options(&options).get("fs.s3a.access.key"), Some("option"));
        assert_eq!(settings.below(&["fs.gs."]).get("fs.s3a.access.key"), None);
    }
}
