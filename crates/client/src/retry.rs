//! When and how long to wait before trying again.

use crate::error::Failure;
use std::time::Duration;
use tonic::Code;

/// Which failures a policy is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RetryOn {
    /// Lost connections, servers that are not ready, and failures for which the server asks to wait.
    #[default]
    Transient,
    /// Failures with one of these codes of gRPC.
    Codes(Vec<Code>),
}

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
    /// Which failures the policy is for.
    pub on: RetryOn,
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
            on: RetryOn::Transient,
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

    fn is_for(&self, failure: &Failure) -> bool {
        match &self.on {
            RetryOn::Transient => failure.is_transient(),
            RetryOn::Codes(codes) => codes.contains(&failure.status.code()),
        }
    }
}

/// The policies of a session, the first that is for a failure first.
#[derive(Debug, Clone)]
pub(crate) struct RetryPolicies(Vec<RetryPolicy>);

impl Default for RetryPolicies {
    fn default() -> Self {
        RetryPolicies(vec![RetryPolicy::default()])
    }
}

impl FromIterator<RetryPolicy> for RetryPolicies {
    fn from_iter<T: IntoIterator<Item = RetryPolicy>>(policies: T) -> Self {
        RetryPolicies(policies.into_iter().collect())
    }
}

/// The retries of one call, counted for each policy.
#[derive(Debug)]
pub(crate) struct Retries<'a> {
    policies: Vec<(&'a RetryPolicy, u32)>,
    /// Tries of all policies together.
    left: u32,
}

impl<'a> Retries<'a> {
    pub(crate) fn new(policies: &'a RetryPolicies) -> Self {
        Retries::at_most(policies, u32::MAX)
    }

    /// No more than so many tries, whatever the policies say.
    pub(crate) fn at_most(policies: &'a RetryPolicies, tries: u32) -> Self {
        Retries { policies: policies.0.iter().map(|policy| (policy, 0)).collect(), left: tries }
    }

    /// The wait after a failure, or None when there is no other try.
    fn wait_after(&mut self, is_for: impl Fn(&RetryPolicy) -> bool, asked: Duration) -> Option<Duration> {
        if self.left == 0 {
            return None;
        }
        let mut fitting = self.policies.iter_mut().filter(|(policy, _)| is_for(policy));
        let wait = fitting.find_map(|(policy, done)| {
            let wait = policy.wait(*done)?;
            *done += 1;
            Some(wait.max(asked.min(policy.max_server_delay)))
        })?;
        self.left -= 1;
        Some(wait)
    }

    /// Sleeps before the next try; false when there is none.
    pub(crate) async fn pause(&mut self, failure: &Failure) -> bool {
        let asked = failure.retry_after().unwrap_or_default();
        match self.wait_after(|policy| policy.is_for(failure), asked) {
            Some(wait) => {
                tokio::time::sleep(wait).await;
                true
            }
            None => false,
        }
    }

    /// As [`pause`](Self::pause), after the server did not know what it never got.
    pub(crate) async fn pause_for_loss(&mut self) -> bool {
        match self.wait_after(|policy| policy.on == RetryOn::Transient, Duration::ZERO) {
            Some(wait) => {
                tokio::time::sleep(wait).await;
                true
            }
            None => false,
        }
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
    use tonic::Status;

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

    #[tokio::test]
    async fn each_policy_has_its_own_failures_and_tries() {
        let soon = Duration::from_millis(1);
        let policies = [
            RetryPolicy { max_retries: 1, initial_backoff: soon, ..RetryPolicy::default() },
            RetryPolicy {
                on: RetryOn::Codes(vec![Code::ResourceExhausted]),
                max_retries: 2,
                initial_backoff: soon,
                ..RetryPolicy::default()
            },
        ];
        let policies: RetryPolicies = policies.into_iter().collect();
        let mut retries = Retries::new(&policies);
        let (broken, full) = (Failure::new(Status::unavailable("")), Failure::new(Status::resource_exhausted("")));
        assert!(retries.pause(&broken).await);
        assert!(!retries.pause(&broken).await);
        assert!(retries.pause(&full).await);
        assert!(retries.pause(&full).await);
        assert!(!retries.pause(&full).await);
        assert!(!retries.pause(&Failure::new(Status::invalid_argument(""))).await);
        assert!(!Retries::at_most(&policies, 0).pause(&broken).await);
    }
}
