//! When batches begin.

use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::cast::parse_interval::parse_calendar_interval;
use firesteel_plan::Trigger;
use std::time::Duration;

/// How long a query without an interval waits where nothing is new.
pub(super) const POLL: Duration = Duration::from_millis(10);

/// When batches begin, and whether they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Schedule {
    /// At multiples of a duration; at once where it is zero.
    Every(Duration),
    /// What is there now, in batches as the sources limit them.
    AvailableNow,
    /// What is there now, in one batch.
    Once,
}

impl Schedule {
    pub fn of(trigger: &Trigger) -> Result<Self> {
        match trigger {
            Trigger::Immediate => Ok(Self::Every(Duration::ZERO)),
            Trigger::ProcessingTime(text) => interval(text).map(Self::Every),
            Trigger::AvailableNow => Ok(Self::AvailableNow),
            Trigger::Once => Ok(Self::Once),
            Trigger::Continuous(_) => Err(SparkError::unsupported("continuous processing of streams")),
            Trigger::RealTime(_) => Err(SparkError::unsupported("streams in real-time mode")),
        }
    }
}

fn interval(text: &str) -> Result<Duration> {
    let illegal = |message: String| SparkError::plain(ExceptionClass::IllegalArgument, message);
    let (months, days, micros) = parse_calendar_interval(text)?;
    if months != 0 {
        return Err(illegal(format!("Doesn't support month or year interval: {text}")));
    }
    let micros = i64::from(days).saturating_mul(86_400_000_000).saturating_add(micros);
    match u64::try_from(micros) {
        Ok(micros) => Ok(Duration::from_micros(micros)),
        Err(_) => Err(illegal("requirement failed: the interval of trigger should not be negative".to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_texts() {
        let every = |text: &str| Schedule::of(&Trigger::ProcessingTime(text.to_string()));
        assert_eq!(every("5 seconds").unwrap(), Schedule::Every(Duration::from_secs(5)));
        assert_eq!(every("0 seconds").unwrap(), Schedule::Every(Duration::ZERO));
        assert!(every("1 month").is_err());
        assert!(every("-1 seconds").is_err());
        assert!(every("soon").is_err());
    }
}
