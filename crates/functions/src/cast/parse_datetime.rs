//! Dates, timestamps and times from text, by Spark's lenient formats.

use super::parse_number::trim;
use firesteel_types::TimeZone;
use firesteel_types::calendar::{
    MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, checked_days_from_civil,
};

/// Days since the epoch of `[+-]yyyy*[-[m]m[-[d]d]]`; after a full date anything may follow a blank or a `T`.
///
/// ```
/// use firesteel_functions::cast::parse_datetime::parse_date;
/// assert_eq!(parse_date("1970-1-2T03:04"), Some(1));
/// assert_eq!(parse_date("1970"), Some(0));
/// assert_eq!(parse_date("1970-02-30"), None);
/// ```
pub fn parse_date(text: &str) -> Option<i32> {
    let (sign, bytes) = signed(trim(text).as_bytes());
    let mut segments = [0_i64, 1, 1];
    let mut index = 0;
    let (mut value, mut digits) = (0_i64, 0);
    let valid =
        |index: usize, digits: usize| if index == 0 { (4..=7).contains(&digits) } else { (1..=2).contains(&digits) };
    let mut position = 0;
    while let Some(byte) = bytes.get(position).filter(|b| !matches!(b, b' ' | b'T')) {
        if index < 2 && *byte == b'-' {
            if !valid(index, digits) {
                return None;
            }
            segments[index] = value;
            (value, digits) = (0, 0);
            index += 1;
        } else if byte.is_ascii_digit() && digits < 8 {
            value = value * 10 + i64::from(byte - b'0');
            digits += 1;
        } else {
            return None;
        }
        position += 1;
    }
    if !valid(index, digits) || (index < 2 && position < bytes.len()) {
        return None;
    }
    segments[index] = value;
    let days = checked_days(sign.unwrap_or(1) * segments[0], segments[1], segments[2])?;
    i32::try_from(days).ok()
}

fn signed(bytes: &[u8]) -> (Option<i64>, &[u8]) {
    match bytes.split_first() {
        Some((b'-', rest)) => (Some(-1), rest),
        Some((b'+', rest)) => (Some(1), rest),
        _ => (None, bytes),
    }
}

fn checked_days(year: i64, month: i64, day: i64) -> Option<i64> {
    checked_days_from_civil(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?)
}

/// The parts of a timestamp's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampParts {
    /// Days since the epoch; None where there is only a time of day.
    pub days: Option<i64>,
    pub micros_of_day: i64,
    pub zone: Option<TimeZone>,
}

/// Splits `[+-]yyyy*[-[m]m[-[d]d[( |T)[h]h[:[m]m[:[s]s[.fraction][zone]]]]]]`, or a time of day alone.
pub fn parse_timestamp_parts(text: &str) -> Option<TimestampParts> {
    let text = trim(text);
    let (sign, bytes) = signed(text.as_bytes());
    if bytes.is_empty() {
        return None;
    }
    let mut segments = [1_i64, 1, 1, 0, 0, 0, 0, 0];
    let mut index = 0;
    let (mut value, mut digits) = (0_i64, 0_usize);
    let mut only_time = false;
    let mut zone = None;
    let mut position = 0;
    if sign.is_none() && bytes.first() == Some(&b'T') {
        only_time = true;
        index = 3;
        position = 1;
    }
    while let Some(byte) = bytes.get(position).copied() {
        if byte.is_ascii_digit() {
            if index != 6 || digits < 6 {
                value = value.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
            }
            digits += 1;
            position += 1;
            continue;
        }
        let next = match (index, byte) {
            (0 | 1, b'-') | (2, b' ' | b'T') | (3 | 4, b':') | (5, b'.') => index + 1,
            (0, b':') if sign.is_none() => {
                only_time = true;
                segments[3] = value;
                if !valid_digits(3, digits) {
                    return None;
                }
                (value, digits) = (0, 0);
                index = 4;
                position += 1;
                continue;
            }
            (5 | 6, _) => {
                zone = Some(std::str::from_utf8(&bytes[position..]).ok()?);
                7
            }
            _ => return None,
        };
        if !valid_digits(index, digits) {
            return None;
        }
        segments[index] = fraction_padded(index, value, digits);
        if zone.is_some() {
            index = next;
            break;
        }
        (value, digits) = (0, 0);
        index = next;
        position += 1;
    }
    if index < 7 {
        if !valid_digits(index, digits) {
            return None;
        }
        segments[index] = fraction_padded(index, value, digits);
    }
    let zone = match zone {
        Some(name) => Some(TimeZone::parse(name.trim()).ok()?),
        None => None,
    };
    let [year, month, day, hour, minute, second, micros, _] = segments;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = if only_time { None } else { Some(checked_days(sign.unwrap_or(1) * year, month, day)?) };
    let micros_of_day = hour * MICROS_PER_HOUR + minute * MICROS_PER_MINUTE + second * MICROS_PER_SECOND + micros;
    Some(TimestampParts { days, micros_of_day, zone })
}

fn fraction_padded(index: usize, value: i64, digits: usize) -> i64 {
    if index != 6 {
        return value;
    }
    (digits..6).fold(value, |v, _| v * 10)
}

fn valid_digits(segment: usize, digits: usize) -> bool {
    match segment {
        0 => (4..=6).contains(&digits),
        6 => true,
        _ => (1..=2).contains(&digits),
    }
}

/// Microseconds since the epoch; text without a zone is local to `zone`.
pub fn parse_timestamp(text: &str, zone: TimeZone) -> Option<i64> {
    let parts = parse_timestamp_parts(text)?;
    let zone = parts.zone.unwrap_or(zone);
    let days = match parts.days {
        Some(days) => days,
        None => zone.day_of(chrono::Utc::now().timestamp_micros()),
    };
    zone.to_utc(local_micros(days, parts.micros_of_day)?)
}

/// Microseconds of a wall-clock time; a zone in the text does not count.
pub fn parse_timestamp_ntz(text: &str) -> Option<i64> {
    let parts = parse_timestamp_parts(text)?;
    local_micros(parts.days?, parts.micros_of_day)
}

/// Microseconds of a wall-clock time, as readers of files take it: without a zone.
pub fn parse_timestamp_without_zone(text: &str) -> Option<i64> {
    let parts = parse_timestamp_parts(text).filter(|parts| parts.zone.is_none())?;
    local_micros(parts.days?, parts.micros_of_day)
}

/// The start of the first day is out of range, but not its last hours.
fn local_micros(days: i64, micros_of_day: i64) -> Option<i64> {
    i64::try_from(i128::from(days) * i128::from(MICROS_PER_DAY) + i128::from(micros_of_day)).ok()
}

/// Microseconds since midnight of a time of day.
pub fn parse_time(text: &str) -> Option<i64> {
    let (text, half) = half_of_day(trim(text));
    let parts = parse_timestamp_parts(text)?;
    if parts.days.is_some() || parts.zone.is_some() {
        return None;
    }
    let Some(is_afternoon) = half else { return Some(parts.micros_of_day) };
    let hour = parts.micros_of_day / MICROS_PER_HOUR;
    let shift = match hour {
        12 if is_afternoon => 0,
        12 => -12,
        1..=11 if is_afternoon => 12,
        1..=11 => 0,
        _ => return None,
    };
    Some(parts.micros_of_day + shift * MICROS_PER_HOUR)
}

/// The text before `AM` or `PM`, and whether it is `PM`.
fn half_of_day(text: &str) -> (&str, Option<bool>) {
    let Some((rest, end)) = text.len().checked_sub(2).and_then(|at| text.split_at_checked(at)) else {
        return (text, None);
    };
    match end.to_ascii_uppercase().as_str() {
        "AM" => (trim(rest), Some(false)),
        "PM" => (trim(rest), Some(true)),
        _ => (text, None),
    }
}

/// Days from today that a special word for a date means; `epoch` is none of them.
pub fn special_day(word: &str) -> Option<i64> {
    match trim(word).to_ascii_lowercase().as_str() {
        "now" | "today" => Some(0),
        "tomorrow" => Some(1),
        "yesterday" => Some(-1),
        _ => None,
    }
}
