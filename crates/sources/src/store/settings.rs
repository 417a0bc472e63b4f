//! What sessions say of one store.

use super::address::Address;
use crate::error::illegal;
use firesteel_config::HadoopSettings;
use firesteel_config::entry::TimeUnit;
use firesteel_config::value::{parse_boolean, parse_time};
use firesteel_error::Result;
use object_store::client::SpawnedReqwestConnector;
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use std::time::Duration;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a request may take, its answer included.
const REQUEST: Duration = Duration::from_secs(120);
/// How often a request is made again at most, and for how long.
const RETRIES: usize = 4;
const RETRYING: Duration = Duration::from_secs(30);

/// The settings of the store that an address names.
pub(crate) struct StoreSettings<'a> {
    pub address: &'a Address,
    pub all: &'a HadoopSettings,
}

impl StoreSettings<'_> {
    /// The value of `fs.s3a.NAME`; that of `fs.s3a.bucket.BUCKET.NAME` wins.
    pub fn of_bucket(&self, name: &str) -> Option<&str> {
        let own = format!("fs.s3a.bucket.{}.{name}", self.address.authority.to_ascii_lowercase());
        let value = self.all.get(&own).or_else(|| self.all.get(&format!("fs.s3a.{name}")));
        value.filter(|value| !value.is_empty())
    }

    /// The value of `KEY.HOST`, or else that of `KEY`.
    pub fn of_host(&self, key: &str, host: &str) -> Option<&str> {
        let own = format!("{key}.{}", host.to_ascii_lowercase());
        self.all.get(&own).or_else(|| self.all.get(key)).filter(|value| !value.is_empty())
    }

    /// The value of the first of some keys that is given.
    pub fn any(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.all.get(key)).filter(|value| !value.is_empty())
    }

    /// How connections are made.
    pub fn client(&self) -> Result<ClientOptions> {
        let connect = self.of_bucket("connection.establish.timeout").map(duration).transpose()?;
        let request = self.of_bucket("connection.request.timeout").map(duration).transpose()?;
        let request = request.filter(|time| !time.is_zero());
        Ok(ClientOptions::new()
            .with_connect_timeout(connect.unwrap_or(CONNECT))
            .with_timeout(request.unwrap_or(REQUEST)))
    }

    /// How often requests are made again.
    pub fn retry(&self) -> Result<RetryConfig> {
        let attempts = self.of_bucket("attempts.maximum").map(|text| {
            text.parse::<usize>().map_err(|_| illegal(format!("fs.s3a.attempts.maximum is no number: {text}")))
        });
        let max_retries = attempts.transpose()?.map_or(RETRIES, |attempts| attempts.saturating_sub(1));
        let backoff = BackoffConfig { max_backoff: Duration::from_secs(3), ..BackoffConfig::default() };
        Ok(RetryConfig { backoff, max_retries, retry_timeout: RETRYING })
    }
}

/// What sends requests: on threads of their own, so that any thread may wait for them.
pub(crate) fn connector() -> Result<SpawnedReqwestConnector> {
    Ok(SpawnedReqwestConnector::new(super::network::handle()?.clone()))
}

/// A value that is `true` or `false`.
pub(crate) fn flag(key: &str, text: Option<&str>, default: bool) -> Result<bool> {
    match text {
        None => Ok(default),
        Some(text) => parse_boolean(text).ok_or_else(|| illegal(format!("{key} should be boolean, but was {text}"))),
    }
}

fn duration(text: &str) -> Result<Duration> {
    let millis = parse_time(text, TimeUnit::Millisecond).and_then(|millis| u64::try_from(millis).ok());
    millis.map(Duration::from_millis).ok_or_else(|| illegal(format!("{text} is no span of time")))
}

/// An endpoint as an address: one without a scheme is of HTTPS, or of HTTP where connections are not encrypted.
pub(crate) fn endpoint(text: &str, is_encrypted: bool) -> String {
    let text = text.trim().trim_end_matches('/');
    if text.contains("://") {
        return text.to_string();
    }
    format!("{}://{text}", if is_encrypted { "https" } else { "http" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_bucket_win() {
        let pairs = [
            ("fs.s3a.endpoint", "one"),
            ("fs.s3a.bucket.mine.endpoint", "two"),
            ("fs.azure.account.key.a.dfs.core.windows.net", "k"),
        ];
        let all = HadoopSettings::new(pairs.into_iter());
        for (bucket, expected) in [("mine", "two"), ("other", "one")] {
            let address = Address::parse(&format!("s3a://{bucket}/x")).unwrap().unwrap();
            let settings = StoreSettings { address: &address, all: &all };
            assert_eq!(settings.of_bucket("endpoint"), Some(expected));
            assert_eq!(settings.of_host("fs.azure.account.key", "a.dfs.core.windows.net"), Some("k"));
            assert_eq!(settings.of_host("fs.azure.account.key", "b.dfs.core.windows.net"), None);
        }
    }

    #[test]
    fn endpoints_have_a_scheme() {
        assert_eq!(endpoint("localhost:9000/", false), "http://localhost:9000");
        assert_eq!(endpoint("localhost:9000", true), "https://localhost:9000");
        assert_eq!(endpoint("http://localhost:9000", true), "http://localhost:9000");
    }

    #[test]
    fn spans_have_units() {
        assert_eq!(duration("1500").unwrap(), Duration::from_millis(1500));
        assert_eq!(duration("2s").unwrap(), Duration::from_secs(2));
        assert!(duration("soon").is_err());
    }
}
