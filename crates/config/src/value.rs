//! Values: from text to what it means, and back.

use std::borrow::Cow;

use firesteel_error::{Result, SparkError};

use crate::entry::{ByteUnit, Check, ConfigEntry, Fold, Kind, TimeUnit};
use crate::time_zone;

/// Reads `true` or `false`, in any case, with spaces around it.
pub fn parse_boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Reads a 32-bit integer.
pub fn parse_int(text: &str) -> Option<i32> {
    text.trim().parse().ok()
}

/// Reads a 64-bit integer.
pub fn parse_long(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// Reads a number as Java does: `NaN` and `Infinity` in this spelling, `d` or `f` at the end allowed.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.trim_start_matches(['+', '-']) {
        "NaN" => return Some(f64::NAN),
        "Infinity" if text.starts_with('-') => return Some(f64::NEG_INFINITY),
        "Infinity" => return Some(f64::INFINITY),
        _ => {}
    }
    let digits = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    if !digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E')) {
        return None;
    }
    digits.parse().ok()
}

/// Splits `12mb` into 12 and `mb`.
fn split_suffix(text: &str) -> Option<(i64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    Some((digits.parse().ok()?, suffix))
}

/// Reads a size and counts it in `unit`.
///
/// ```
/// use firesteel_config::entry::ByteUnit;
/// use firesteel_config::value::parse_bytes;
/// assert_eq!(parse_bytes("2kb", ByteUnit::Byte), Some(2048));
/// assert_eq!(parse_bytes("-1", ByteUnit::Byte), Some(-1));
/// assert_eq!(parse_bytes("1.5g", ByteUnit::Byte), None);
/// ```
pub fn parse_bytes(text: &str, unit: ByteUnit) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.as_str()),
    };
    let (number, suffix) = split_suffix(text)?;
    let size: i64 = match suffix {
        "" => return Some(sign * number),
        "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        "p" | "pb" | "pib" => 1 << 50,
        _ => return None,
    };
    let counted =
        if size >= unit.bytes() { number.checked_mul(size / unit.bytes())? } else { number / (unit.bytes() / size) };
    Some(sign * counted)
}

/// Reads a span of time and counts it in `unit`, rounded down.
///
/// ```
/// use firesteel_config::entry::TimeUnit;
/// use firesteel_config::value::parse_time;
/// assert_eq!(parse_time("2min", TimeUnit::Second), Some(120));
/// assert_eq!(parse_time("5w", TimeUnit::Second), None);
/// ```
pub fn parse_time(text: &str, unit: TimeUnit) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.as_str()),
    };
    let (number, suffix) = split_suffix(text)?;
    let length: i64 = match suffix {
        "" => return Some(sign * number),
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    let counted = i128::from(number) * i128::from(length) / i128::from(unit.nanoseconds());
    Some(sign * i64::try_from(counted).unwrap_or(i64::MAX))
}

/// A value in the letters in which its options are declared.
pub fn fold(text: &str, fold: Fold) -> Cow<'_, str> {
    match fold {
        Fold::Exact => Cow::Borrowed(text),
        Fold::Upper => Cow::Owned(text.to_uppercase()),
        Fold::Lower => Cow::Owned(text.to_lowercase()),
    }
}

/// A value as it is read back when it is a default: sizes in bytes, spans in milliseconds.
pub fn print(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Boolean => parse_boolean(text).map(|value| value.to_string()),
        Kind::Int => parse_int(text).map(|value| value.to_string()),
        Kind::Long => parse_long(text).map(|value| value.to_string()),
        Kind::Bytes(unit) => parse_bytes(text, unit).map(|value| format!("{}b", value.saturating_mul(unit.bytes()))),
        Kind::Time(unit) => parse_time(text, unit).map(|value| {
            let milliseconds = i128::from(value) * i128::from(unit.nanoseconds()) / 1_000_000;
            format!("{milliseconds}ms")
        }),
        Kind::LowerText => Some(text.to_lowercase()),
        Kind::Enum(_, letters) | Kind::Choice(_, letters) => Some(fold(text, letters).into_owned()),
        Kind::Double | Kind::Text | Kind::List | Kind::TimeZone => None,
    }
    .unwrap_or_else(|| text.to_string())
}

/// Fails unless the text is a value of the key.
pub fn check(entry: &ConfigEntry, text: &str) -> Result<()> {
    let number = match entry.kind {
        Kind::Text | Kind::LowerText | Kind::List => return Ok(()),
        Kind::TimeZone => {
            return match time_zone::is_valid(text) {
                true => Ok(()),
                false => Err(invalid("INVALID_CONF_VALUE.TIME_ZONE", entry, text)),
            };
        }
        Kind::Enum(options, letters) => {
            return match options.contains(&fold(text, letters).as_ref()) {
                true => Ok(()),
                false => Err(out_of_range(entry, text)),
            };
        }
        Kind::Choice(options, letters) => {
            let folded = fold(text, letters);
            return match options.contains(&folded.as_ref()) {
                true => Ok(()),
                false => Err(unmet(entry, &folded, format!("It is one of {}.", options.join(", ")))),
            };
        }
        Kind::Boolean => parse_boolean(text).map(|_| Number::None),
        Kind::Int => parse_int(text).map(|value| Number::Whole(value.into())),
        Kind::Long => parse_long(text).map(Number::Whole),
        Kind::Double => parse_double(text).map(Number::Real),
        Kind::Bytes(unit) => parse_bytes(text, unit).map(Number::Whole),
        Kind::Time(unit) => parse_time(text, unit).map(Number::Whole),
    };
    match number {
        None => Err(invalid("INVALID_CONF_VALUE.TYPE_MISMATCH", entry, text).with("confType", entry.kind.name())),
        Some(Number::None) => Ok(()),
        Some(Number::Whole(value)) if !among(entry.check, value) => Err(out_of_range(entry, text)),
        Some(Number::Whole(value)) => match whole_fault(entry.check, value) {
            None => Ok(()),
            Some(requirement) => Err(unmet(entry, &value.to_string(), requirement)),
        },
        Some(Number::Real(value)) => match real_fault(entry.check, value) {
            None => Ok(()),
            Some(requirement) => Err(unmet(entry, &value.to_string(), requirement)),
        },
    }
}

enum Number {
    None,
    Whole(i64),
    Real(f64),
}

fn invalid(condition: &'static str, entry: &ConfigEntry, value: &str) -> SparkError {
    SparkError::new(condition).with("confName", entry.key).with("confValue", value)
}

/// Whether the check does not list options, or lists the value.
fn among(check: Check, value: i64) -> bool {
    !matches!(check, Check::Among(options) if !options.contains(&value))
}

fn out_of_range(entry: &ConfigEntry, text: &str) -> SparkError {
    let options = match (entry.kind, entry.check) {
        (Kind::Enum(options, _), _) => options.join(", "),
        (_, Check::Among(options)) => {
            let options: Vec<String> = options.iter().map(i64::to_string).collect();
            options.join(", ")
        }
        _ => String::new(),
    };
    invalid("INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", entry, text).with("confOptions", options)
}

fn unmet(entry: &ConfigEntry, value: &str, requirement: String) -> SparkError {
    invalid("INVALID_CONF_VALUE.REQUIREMENT", entry, value).with("confRequirement", requirement)
}

/// What is wrong with a whole number.
fn whole_fault(check: Check, value: i64) -> Option<String> {
    match check {
        Check::AtLeast(1) if value < 1 => Some("It is a positive number.".to_string()),
        Check::AtLeast(0) if value < 0 => Some("It is not negative.".to_string()),
        Check::AtLeast(least) if value < least => Some(format!("It is {least} or more.")),
        Check::AtLeastOrOff(least) if value < least && value != -1 => {
            Some(format!("It is {least} or more, or -1 to switch it off."))
        }
        Check::Between(i64::MIN, most) if value > most => Some(format!("It is {most} or less.")),
        Check::Between(least, most) if value < least || value > most => {
            Some(format!("It is a number from {least} to {most}."))
        }
        _ => None,
    }
}

/// What is wrong with a real number; NaN meets no requirement.
fn real_fault(check: Check, value: f64) -> Option<String> {
    match check {
        Check::Above(bound) if value.is_nan() || value <= bound => Some(format!("It is more than {bound}.")),
        Check::Within(f64::MIN, most) if value.is_nan() || value > most => Some(format!("It is {most} or less.")),
        Check::Within(least, f64::MAX) if value.is_nan() || value < least => Some(format!("It is {least} or more.")),
        Check::Within(least, most) if value.is_nan() || value < least || value > most => {
            Some(format!("It is a number from {least} to {most}."))
        }
        Check::Inside(low, high) if value.is_nan() || value <= low || value >= high => {
            Some(format!("It is more than {low} and less than {high}."))
        }
        _ => None,
    }
}
