//! When and how long to wait before trying again.

use std::time::Duration;

/// Waits that grow from try to try, with jitter, as PySpark's default policy.
///
/// ```
/// use firesteel_client::RetryPolicy;
/// use std::time::Duration;
/// let policy = RetryPolicy { max_retries: 3, ..RetryPolicy::default() };
/// assert_eq!(policy.wait(0), Some(Duration::from_millis(50)));
/// assert_eq!(policy.wait(3), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    /// Tries after the first one.
    pub max_retries: u32,
    /// The first wait.
    pub initial_backoff: Duration,
    /// The longest wait, without jitter.
    pub max_backoff: Duration,
    /// Each wait is so much longer than the one before.
    pub backoff_multiplier: f64,
    /// Up to so much is added to a wait at random.
    pub jitter: Duration,
    /// Waits shorter than this get no jitter.
    pub min_jitter_threshold: Duration,
    /// The longest wait that a server may ask for.
    pub max_server_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            max_retries: 15,
            initial_backoff: Duration::from_millis(50),
            max_backoff: Duration::from_secs(60),
            backoff_multiplier: 4.0,
            jitter: Duration::from_millis(500),
            min_jitter_threshold: Duration::from_secs(2),
            max_server_delay: Duration::from_secs(600),
        }
    }
}

impl RetryPolicy {
    /// No second try.
    pub fn never() -> Self {
        RetryPolicy { max_retries: 0, ..RetryPolicy::default() }
    }

    /// The wait after so many retries, or None when it is time to give up.
    pub fn wait(&self, retries: u32) -> Option<Duration> {
        if retries >= self.max_retries {
            return None;
        }
        let grown = self.initial_backoff.as_secs_f64() * self.backoff_multiplier.powf(f64::from(retries));
        let wait = grown.min(self.max_backoff.as_secs_f64()).max(0.0);
        let jitter =
            if wait >= self.min_jitter_threshold.as_secs_f64() { self.jitter.as_secs_f64() * random() } else { 0.0 };
        Duration::try_from_secs_f64(wait + jitter).ok()
    }
}

/// The retries of one call.
#[derive(Debug)]
pub(crate) struct Retries<'a> {
    policy: &'a RetryPolicy,
    done: u32,
}

impl<'a> Retries<'a> {
    pub(crate) fn new(policy: &'a RetryPolicy) -> Self {
        Retries { policy, done: 0 }
    }

    /// Sleeps before the next try; false when there is none left.
    pub(crate) async fn pause(&mut self, asked_by_server: Option<Duration>) -> bool {
        let Some(wait) = self.policy.wait(self.done) else {
            return false;
        };
        self.done += 1;
        let asked = asked_by_server.unwrap_or_default().min(self.policy.max_server_delay);
        tokio::time::sleep(wait.max(asked)).await;
        true
    }
}

/// A number from 0 to 1. UUIDs are random already, so no other source is needed.
fn random() -> f64 {
    let bits = u32::try_from(uuid::Uuid::new_v4().as_u128() >> 96).unwrap_or_default();
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_the_cap_and_end() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.wait(1), Some(Duration::from_millis(200)));
        let last = policy.wait(14).unwrap();
        assert!((60.0..=60.5).contains(&last.as_secs_f64()), "{last:?}");
        assert_eq!(policy.wait(15), None);
        assert_eq!(RetryPolicy::never().wait(0), None);
    }

    #[test]
    fn random_numbers_differ() {
        let numbers: Vec<f64> = (0..100).map(|_| random()).collect();
        assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)));
        assert!(numbers.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
