//! `1 day 2 hours`: numbers, each with its unit.

use super::{Interval, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND};

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IntervalError {
    Empty,
    UnrecognizedNumber(String),
    MissingNumber(String),
    MissingUnit(String),
    InvalidValue(String),
    InvalidPrecision(String),
    InvalidFraction(String),
    InvalidUnit(String),
    Overflow,
}

type Result<T> = std::result::Result<T, IntervalError>;

/// An interval and the names of its units, in the order in which they stand.
pub(crate) fn parse_multi_unit(text: &str) -> Result<(Interval, Vec<&'static str>)> {
    let mut words = text.trim().to_ascii_lowercase();
    if words.is_empty() {
        return Err(IntervalError::Empty);
    }
    if let Some(rest) = words.strip_prefix("interval") {
        if !rest.starts_with(char::is_whitespace) {
            return Err(IntervalError::InvalidValue(words));
        }
        words = rest.trim_start().to_string();
        if words.is_empty() {
            return Err(IntervalError::Empty);
        }
    }
    let mut interval = Interval::default();
    let mut units = Vec::new();
    let mut rest = words.as_str();
    while !rest.is_empty() {
        let (number, after) = Number::read(rest)?;
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        if word.is_empty() {
            return Err(IntervalError::MissingUnit(number.text));
        }
        let unit = unit(word).ok_or_else(|| IntervalError::InvalidUnit(word.to_string()))?;
        number.add(unit, &mut interval)?;
        units.push(unit);
        rest = after.trim_start();
    }
    Ok((interval, units))
}

fn unit(word: &str) -> Option<&'static str> {
    const UNITS: [&str; 9] = ["year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"];
    let singular = word.strip_suffix('s').unwrap_or(word);
    UNITS.into_iter().find(|unit| *unit == singular)
}

/// A signed number, kept apart before and after the point.
struct Number {
    is_negative: bool,
    whole: i64,
    /// Nanoseconds, if these are seconds.
    fraction: i64,
    has_point: bool,
    text: String,
}

impl Number {
    /// Reads a number, and the white space between it and the unit.
    fn read(text: &str) -> Result<(Self, &str)> {
        let first_word = || text.split_whitespace().next().unwrap_or_default().to_string();
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let has_sign = unsigned.len() != text.len();
        let unsigned = if has_sign { unsigned.trim_start() } else { unsigned };
        if unsigned.is_empty() {
            return Err(IntervalError::MissingNumber(first_word()));
        }
        if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Err(IntervalError::UnrecognizedNumber(first_word()));
        }
        let end = unsigned.find(char::is_whitespace).unwrap_or(unsigned.len());
        let (word, rest) = unsigned.split_at(end);
        let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) {
            return Err(IntervalError::InvalidValue(word.to_string()));
        }
        if fraction.len() > 9 {
            return Err(IntervalError::InvalidPrecision(word.to_string()));
        }
        let value =
            |digits: &str| if digits.is_empty() { Ok(0) } else { digits.parse().map_err(|_| IntervalError::Overflow) };
        let number = Self {
            is_negative,
            whole: value(whole)?,
            fraction: value(&format!("{fraction:0<9}"))?,
            has_point: word.contains('.'),
            text: word.to_string(),
        };
        Ok((number, rest.trim_start()))
    }

    fn add(&self, unit: &str, interval: &mut Interval) -> Result<()> {
        if self.has_point && unit != "second" {
            return Err(IntervalError::InvalidFraction(unit.to_string()));
        }
        let whole = if self.is_negative { -self.whole } else { self.whole };
        let months = |factor| {
            let months = whole.checked_mul(factor).and_then(|months| i32::try_from(months).ok());
            months.and_then(|months| interval.months.checked_add(months)).ok_or(IntervalError::Overflow)
        };
        let days = |factor| {
            let days = whole.checked_mul(factor).and_then(|days| i32::try_from(days).ok());
            days.and_then(|days| interval.days.checked_add(days)).ok_or(IntervalError::Overflow)
        };
        let micros = |factor: i64| {
            let micros = whole.checked_mul(factor);
            micros.and_then(|micros| interval.micros.checked_add(micros)).ok_or(IntervalError::Overflow)
        };
        match unit {
            "year" => interval.months = months(12)?,
            "month" => interval.months = months(1)?,
            "week" => interval.days = days(7)?,
            "day" => interval.days = days(1)?,
            "hour" => interval.micros = micros(MICROS_PER_HOUR)?,
            "minute" => interval.micros = micros(MICROS_PER_MINUTE)?,
            "millisecond" => interval.micros = micros(1000)?,
            "microsecond" => interval.micros = micros(1)?,
            _ => {
                let fraction = self.fraction / 1000 * if self.is_negative { -1 } else { 1 };
                interval.micros = micros(MICROS_PER_SECOND)?.checked_add(fraction).ok_or(IntervalError::Overflow)?;
            }
        }
        Ok(())
    }
}
