//! Paths of other stores than this machine's: `scheme://authority/key`.

use crate::error::illegal;
use firesteel_error::{ExceptionClass, Result, SparkError};
use std::path::{Path, PathBuf};

/// Which protocol a scheme means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    S3,
    Gcs,
    Azure,
    Http,
}

/// The schemes of stores.
const SCHEMES: &[(&str, Protocol)] = &[
    ("s3", Protocol::S3),
    ("s3a", Protocol::S3),
    ("gs", Protocol::Gcs),
    ("abfs", Protocol::Azure),
    ("abfss", Protocol::Azure),
    ("wasb", Protocol::Azure),
    ("wasbs", Protocol::Azure),
    ("http", Protocol::Http),
    ("https", Protocol::Http),
];

/// File systems that Hadoop has and this server has not.
const FOREIGN: &[&str] = &["hdfs", "webhdfs", "swebhdfs", "ftp", "sftp", "har", "viewfs"];

impl Protocol {
    fn of(scheme: &str) -> Option<Self> {
        SCHEMES.iter().find(|(known, _)| *known == scheme).map(|(_, protocol)| *protocol)
    }

    /// What keys of its settings begin with.
    pub fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::S3 => &["fs.s3a."],
            Self::Gcs => &["fs.gs.", "google.cloud."],
            Self::Azure => &["fs.azure."],
            Self::Http => &[],
        }
    }
}

/// A place in a store. As a path it is `scheme://authority/key`: what no local path is, since those are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub scheme: String,
    pub protocol: Protocol,
    /// The bucket, the container and its account, or the host.
    pub authority: String,
    /// Without a slash at the start or end; empty for all of the store.
    pub key: String,
}

impl Address {
    /// The place that a user's path names; None for paths of this machine.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let text = text.trim();
        let Some(scheme) = scheme(text).filter(|scheme| *scheme != "file") else { return Ok(None) };
        let rest = &text[scheme.len() + 1..];
        if !rest.starts_with('/') {
            return Err(illegal(format!("java.net.URISyntaxException: Relative path in absolute URI: {text}")));
        }
        let lower = scheme.to_ascii_lowercase();
        let Some(protocol) = Protocol::of(&lower) else { return Err(unknown(scheme)) };
        let (authority, key) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_once('/').unwrap_or((rest, "")),
            None => ("", rest),
        };
        if authority.is_empty() {
            return Err(illegal(format!("{text}: the path names no {}", owner(protocol))));
        }
        if protocol != Protocol::Azure && authority.contains('@') {
            return Err(SparkError::unsupported("user names in paths"));
        }
        if protocol == Protocol::Http && key.contains('?') {
            return Err(SparkError::unsupported("paths of HTTP with a query"));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in key.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        Ok(Some(Self { scheme: lower, protocol, authority: authority.to_string(), key: parts.join("/") }))
    }

    /// The place that a path made by [`Address::path`], or one below it, stands for; None for local paths.
    pub fn of(path: &Path) -> Option<Self> {
        let (scheme, rest) = path.to_str()?.split_once("://")?;
        let protocol = Protocol::of(scheme)?;
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        let key = key.trim_matches('/').to_string();
        (!authority.is_empty()).then(|| Self {
            scheme: scheme.to_string(),
            protocol,
            authority: authority.to_string(),
            key,
        })
    }

    /// The place as a path.
    pub fn path(&self) -> PathBuf {
        let slash = if self.key.is_empty() { "" } else { "/" };
        PathBuf::from(format!("{}://{}{slash}{}", self.scheme, self.authority, self.key))
    }
}

/// True for paths of other stores than this machine's.
pub fn is_remote(path: &Path) -> bool {
    Address::of(path).is_some()
}

/// What stands before the colon of a URI.
pub(crate) fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut chars = scheme.chars();
    let valid = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    valid.then_some(scheme)
}

fn owner(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::S3 | Protocol::Gcs => "bucket",
        Protocol::Azure => "container",
        Protocol::Http => "host",
    }
}

fn unknown(scheme: &str) -> SparkError {
    if FOREIGN.contains(&scheme) {
        return SparkError::unsupported(format!("the file system {scheme}"));
    }
    SparkError::plain(ExceptionClass::UnsupportedFileSystem, format!("No FileSystem for scheme \"{scheme}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(String, String)> {
        let address = Address::parse(text).unwrap()?;
        assert_eq!(Address::of(&address.path()), Some(address.clone()));
        Some((address.authority, address.key))
    }

    #[test]
    fn paths_of_stores_are_told_from_local_ones() {
        let pair = |a: &str, b: &str| Some((a.to_string(), b.to_string()));
        assert_eq!(parsed("/a/b"), None);
        assert_eq!(parsed("a/b"), None);
        assert_eq!(parsed("file:/a/b"), None);
        assert_eq!(parsed("s3a://bucket"), pair("bucket", ""));
        assert_eq!(parsed(" s3://bucket//a b/./x/../k=%20+é/ "), pair("bucket", "a b/k=%20+é"));
        assert_eq!(parsed("abfss://box@acc.dfs.core.windows.net/a"), pair("box@acc.dfs.core.windows.net", "a"));
        assert_eq!(parsed("https://host:81/a.csv"), pair("host:81", "a.csv"));
    }

    #[test]
    fn other_schemes_fail_by_name() {
        let error = |text| Address::parse(text).unwrap_err();
        assert_eq!(error("foo://x/y").to_string(), "No FileSystem for scheme \"foo\"");
        assert!(error("foo:bar").to_string().contains("Relative path in absolute URI: foo:bar"));
        assert!(error("hdfs://x/y").is("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"));
        assert!(error("http://x/y?z").is("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"));
        assert!(error("s3a:///y").to_string().contains("names no bucket"));
    }

    #[test]
    fn folders_and_names_are_those_of_the_path() {
        let path = Address::parse("s3a://bucket/t/k=1/part").unwrap().unwrap().path();
        assert_eq!(path.file_name().unwrap(), "part");
        assert_eq!(Address::of(path.parent().unwrap()).unwrap().key, "t/k=1");
        assert_eq!(path.parent().unwrap().to_str(), Some("s3a://bucket/t/k=1"));
        assert_eq!(Address::of(&path.parent().unwrap().join("x y")).unwrap().key, "t/k=1/x y");
        assert!(!is_remote(Path::new("/s3a://bucket/t")));
    }
}
