//! `1-2` and `1 02:03:04.5`: the fields from one unit to another.

use super::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND};
use firesteel_types::DayTimeField;

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnitError {
    /// The text has another form.
    Unmatched,
    /// The form is right, and the numbers are too large.
    Overflow,
    /// A field is not in its range.
    OutOfRange { field: &'static str, value: i64, highest: i64 },
}

/// The months of `y-m`.
pub(crate) fn year_month(text: &str) -> Result<i32, UnitError> {
    let (is_negative, fields) = sign(text.trim());
    let (years, months) = fields.split_once('-').ok_or(UnitError::Unmatched)?;
    if !is_number(years) || !is_number(months) {
        return Err(UnitError::Unmatched);
    }
    let years: i64 = years.parse().map_err(|_| UnitError::Overflow)?;
    let months: i64 = months.parse().map_err(|_| UnitError::Overflow)?;
    if months > 11 {
        return Err(UnitError::Overflow);
    }
    let total = years.checked_mul(12).and_then(|total| total.checked_add(months)).ok_or(UnitError::Overflow)?;
    i32::try_from(if is_negative { -total } else { total }).map_err(|_| UnitError::Overflow)
}

/// The microseconds of `d h:m:s.n`, or of the part from one field to another.
pub(crate) fn day_time(text: &str, from: DayTimeField, to: DayTimeField) -> Result<i64, UnitError> {
    let (is_negative, fields) = sign(text.trim());
    let mut rest = fields;
    let mut total = 0i128;
    for field in [DayTimeField::Day, DayTimeField::Hour, DayTimeField::Minute, DayTimeField::Second] {
        if field < from || field > to {
            continue;
        }
        let is_last = field == to;
        let separator = if field == DayTimeField::Day { ' ' } else { ':' };
        let (digits, after) =
            if is_last { (rest, "") } else { rest.split_once(separator).ok_or(UnitError::Unmatched)? };
        rest = after;
        let (digits, fraction) = match field {
            DayTimeField::Second => digits.split_once('.').unwrap_or((digits, "0")),
            _ => (digits, "0"),
        };
        // Days and other leading fields may be as long as their largest value.
        let longest = if field == from { if field == DayTimeField::Day { 9 } else { 19 } } else { 2 };
        if !is_number(digits) || digits.len() > longest || !is_number(fraction) || fraction.len() > 9 {
            return Err(UnitError::Unmatched);
        }
        let value: i64 = digits.parse().map_err(|_| UnitError::Overflow)?;
        let (name, unit, highest) = match field {
            DayTimeField::Day => ("day", MICROS_PER_DAY, i64::MAX / MICROS_PER_DAY),
            DayTimeField::Hour => {
                ("hour", MICROS_PER_HOUR, if field == from { i64::MAX / MICROS_PER_HOUR } else { 23 })
            }
            DayTimeField::Minute => {
                ("minute", MICROS_PER_MINUTE, if field == from { i64::MAX / MICROS_PER_MINUTE } else { 59 })
            }
            DayTimeField::Second => {
                ("second", MICROS_PER_SECOND, if field == from { i64::MAX / MICROS_PER_SECOND } else { 59 })
            }
        };
        if value > highest {
            return Err(UnitError::OutOfRange { field: name, value, highest });
        }
        let micros: i64 = format!("{fraction:0<9}").get(..6).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        total += i128::from(value) * i128::from(unit) + i128::from(micros);
    }
    i64::try_from(if is_negative { -total } else { total }).map_err(|_| UnitError::Overflow)
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
