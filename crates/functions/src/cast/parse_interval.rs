//! Intervals from text.

use super::parse_number::trim;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND};
use firesteel_types::{DataType, DayTimeField, YearMonthField};

/// Months, days and microseconds of text such as `1 year -2 days 3.5 seconds`.
///
/// ```
/// use firesteel_functions::cast::parse_interval::parse_calendar_interval;
/// assert_eq!(parse_calendar_interval("interval 1 year 2 hours").unwrap(), (12, 0, 7_200_000_000));
/// assert!(parse_calendar_interval("1.5 days").is_err());
/// ```
pub fn parse_calendar_interval(text: &str) -> Result<(i32, i32, i64)> {
    let error = |condition: &'static str| SparkError::new(condition).with("input", text);
    let lower = trim(text).to_lowercase();
    if lower.is_empty() {
        return Err(error("INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY"));
    }
    let mut rest = lower.as_str();
    if let Some(after) = rest.strip_prefix("interval") {
        if after.trim_start().is_empty() {
            return Err(error("INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY"));
        }
        if !after.starts_with(char::is_whitespace) {
            let word: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
            return Err(error("INVALID_INTERVAL_FORMAT.INVALID_PREFIX").with("prefix", word));
        }
        rest = after;
    }
    let overflow = || error("INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION");
    let (mut months, mut days, mut micros) = (0_i32, 0_i32, 0_i64);
    rest = rest.trim_start();
    while !rest.is_empty() {
        let (negative, unsigned) = match rest.strip_prefix('-') {
            Some(after) => (true, after.trim_start()),
            None => (false, rest.strip_prefix('+').map_or(rest, str::trim_start)),
        };
        let end = unsigned.find(char::is_whitespace).unwrap_or(unsigned.len());
        let (number, after) = unsigned.split_at(end);
        if number.is_empty() {
            return Err(error("INVALID_INTERVAL_FORMAT.MISSING_NUMBER").with("word", rest.trim()));
        }
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if !number.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Err(error("INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER").with("number", number));
        }
        let has_fraction = number.contains('.');
        if !whole.bytes().all(|b| b.is_ascii_digit()) || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return Err(error("INVALID_INTERVAL_FORMAT.INVALID_VALUE").with("value", number));
        }
        if fraction.len() > 9 {
            return Err(error("INVALID_INTERVAL_FORMAT.INVALID_PRECISION").with("value", number));
        }
        if whole.is_empty() && fraction.is_empty() {
            return Err(error("INVALID_INTERVAL_FORMAT.INVALID_VALUE").with("value", number));
        }
        let mut value: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| overflow())? };
        let mut fraction_micros: i64 = format!("{fraction:0<9}").parse::<i64>().unwrap_or(0) / 1000;
        if negative {
            (value, fraction_micros) = (-value, -fraction_micros);
        }
        rest = after.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (unit, after) = rest.split_at(end);
        if unit.is_empty() {
            return Err(error("INVALID_INTERVAL_FORMAT.MISSING_UNIT").with("word", number));
        }
        let singular = unit.strip_suffix('s').unwrap_or(unit);
        if has_fraction && singular != "second" {
            return Err(error("INVALID_INTERVAL_FORMAT.INVALID_FRACTION").with("unit", unit));
        }
        let small = |value: i64, factor: i64| -> Option<i32> { i32::try_from(value.checked_mul(factor)?).ok() };
        let add_micros = |micros: i64, factor: i64| micros.checked_add(value.checked_mul(factor)?);
        match singular {
            "year" => months = small(value, 12).and_then(|m| months.checked_add(m)).ok_or_else(overflow)?,
            "month" => months = small(value, 1).and_then(|m| months.checked_add(m)).ok_or_else(overflow)?,
            "week" => days = small(value, 7).and_then(|d| days.checked_add(d)).ok_or_else(overflow)?,
            "day" => days = small(value, 1).and_then(|d| days.checked_add(d)).ok_or_else(overflow)?,
            "hour" => micros = add_micros(micros, MICROS_PER_HOUR).ok_or_else(overflow)?,
            "minute" => micros = add_micros(micros, MICROS_PER_MINUTE).ok_or_else(overflow)?,
            "second" => {
                micros = add_micros(micros, MICROS_PER_SECOND)
                    .and_then(|m| m.checked_add(fraction_micros))
                    .ok_or_else(overflow)?;
            }
            "millisecond" => micros = add_micros(micros, 1000).ok_or_else(overflow)?,
            "microsecond" => micros = add_micros(micros, 1).ok_or_else(overflow)?,
            _ => return Err(error("INVALID_INTERVAL_FORMAT.INVALID_UNIT").with("unit", unit)),
        }
        rest = after.trim_start();
    }
    Ok((months, days, micros))
}

/// The fields' names of an interval type: `DAY TO SECOND`, `YEAR`.
fn field_range(data_type: &DataType) -> String {
    let range = |start: &str, end: &str| {
        if start == end { start.to_ascii_uppercase() } else { format!("{start} to {end}").to_ascii_uppercase() }
    };
    match data_type {
        DataType::YearMonthInterval(start, end) => range(start.name(), end.name()),
        DataType::DayTimeInterval(start, end) => range(start.name(), end.name()),
        _ => String::new(),
    }
}

/// Takes `INTERVAL [sign]'…' FIELDS` apart: what is between the quotes and whether a sign turns it round.
fn body_of<'a>(text: &'a str, fields: &str) -> Option<(&'a str, bool)> {
    let text = trim(text);
    let is_literal = text.get(..8).is_some_and(|head| head.eq_ignore_ascii_case("interval"));
    if !is_literal {
        return Some((text, false));
    }
    let rest = &text[8..];
    if !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let rest = rest.trim_start();
    let (negative, rest) = match rest.strip_prefix('-') {
        Some(after) => (true, after),
        None => (false, rest.strip_prefix('+').unwrap_or(rest)),
    };
    let (body, after) = rest.strip_prefix('\'')?.split_once('\'')?;
    let words: Vec<&str> = after.split_whitespace().collect();
    (after.starts_with(char::is_whitespace) && words.join(" ").eq_ignore_ascii_case(fields)).then_some((body, negative))
}

fn sign_of(body: &str) -> (bool, &str) {
    match body.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, body.strip_prefix('+').unwrap_or(body)),
    }
}

fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

fn unmatched(text: &str, to: &DataType, format: &str) -> SparkError {
    let fields = field_range(to);
    let (condition, family) = match to {
        DataType::YearMonthInterval(..) => ("INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING", "year-month"),
        _ => ("INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING_WITH_NOTICE", "day-time"),
    };
    SparkError::new(condition)
        .with("input", text)
        .with("intervalStr", family)
        .with("supportedFormat", format!("`[+|-]{format}`, `INTERVAL [+|-]'[+|-]{format}' {fields}`"))
        .with("typeName", to.simple_string())
}

fn out_of_bounds(text: &str, family: &str) -> SparkError {
    SparkError::new("INVALID_INTERVAL_FORMAT.INTERVAL_PARSING").with("input", text).with("interval", family)
}

/// Months of text in the format of a year-month interval type, plain or as a literal.
pub fn parse_year_month(text: &str, start: YearMonthField, end: YearMonthField) -> Result<i32> {
    let to = DataType::YearMonthInterval(start, end);
    let format = match (start, end) {
        (YearMonthField::Year, YearMonthField::Year) => "y",
        (YearMonthField::Month, _) => "m",
        _ => "y-m",
    };
    let parts = body_of(text, &field_range(&to)).and_then(|(body, turned)| {
        let (negative, body) = sign_of(body);
        let (first, second) = match format {
            "y-m" => body.split_once('-').map(|(y, m)| (y, Some(m)))?,
            _ => (body, None),
        };
        Some((negative != turned, digits(first)?, second.map(digits)))
    });
    let (negative, first, second) = match parts {
        Some((negative, first, None)) => (negative, first, None),
        Some((negative, first, Some(Some(second)))) => (negative, first, Some(second)),
        _ => return Err(unmatched(text, &to, format)),
    };
    let error = || out_of_bounds(text, "year-month");
    let mut months: i64 = first.parse().map_err(|_| error())?;
    if format != "m" {
        months = months.checked_mul(12).ok_or_else(error)?;
    }
    if let Some(second) = second {
        let extra: i64 = second.parse().ok().filter(|m| (0..12).contains(m)).ok_or_else(error)?;
        months += extra;
    }
    i32::try_from(if negative { -months } else { months }).map_err(|_| error())
}

/// Microseconds of text in the format of a day-time interval type, plain or as a literal.
pub fn parse_day_time(text: &str, start: DayTimeField, end: DayTimeField) -> Result<i64> {
    use DayTimeField::{Day, Hour, Minute, Second};
    let to = DataType::DayTimeInterval(start, end);
    let fields: Vec<DayTimeField> =
        [Day, Hour, Minute, Second].into_iter().filter(|f| (start..=end).contains(f)).collect();
    let format: String = fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let separator = if index == 0 {
                ""
            } else if *field == Hour {
                " "
            } else {
                ":"
            };
            let letter = match field {
                Day => "d",
                Hour => "h",
                Minute => "m",
                Second => "s.n",
            };
            format!("{separator}{letter}")
        })
        .collect();
    let values = body_of(text, &field_range(&to)).and_then(|(body, turned)| {
        let (negative, body) = sign_of(body);
        Some((negative != turned, split_day_time(body, &fields)?))
    });
    let Some((negative, values)) = values else {
        return Err(unmatched(text, &to, &format));
    };
    let mut micros: i128 = 0;
    for (index, (field, value)) in fields.iter().zip(&values).enumerate() {
        let (unit, most, name) = match field {
            Day => (MICROS_PER_DAY, i64::MAX, "day"),
            Hour => (MICROS_PER_HOUR, 23, "hour"),
            Minute => (MICROS_PER_MINUTE, 59, "minute"),
            Second => (1, 59_999_999, "second"),
        };
        if index > 0 && *value > most {
            let shown = if *field == Second { value / MICROS_PER_SECOND } else { *value };
            let most = if *field == Second { 59 } else { most };
            return Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                format!("requirement failed: {name} {shown} outside range [0, {most}]"),
            ));
        }
        micros += i128::from(*value) * i128::from(unit);
    }
    i64::try_from(if negative { -micros } else { micros }).map_err(|_| out_of_bounds(text, "day-time"))
}

/// The values of the fields; seconds in microseconds.
fn split_day_time(body: &str, fields: &[DayTimeField]) -> Option<Vec<i64>> {
    let mut rest = body;
    let mut values = Vec::with_capacity(fields.len());
    for (index, field) in fields.iter().enumerate() {
        let last = index + 1 == fields.len();
        let part;
        if last {
            part = rest;
        } else {
            let separator = if fields[index + 1] == DayTimeField::Hour { ' ' } else { ':' };
            (part, rest) = rest.split_once(separator)?;
        }
        let (whole, fraction) = match field {
            DayTimeField::Second => part.split_once('.').map_or((part, None), |(w, f)| (w, Some(f))),
            _ => (part, None),
        };
        digits(whole)?;
        if index > 0 && whole.len() > 2 {
            return None;
        }
        let mut value: i64 = whole.parse().ok()?;
        if *field == DayTimeField::Second {
            let fraction = match fraction {
                Some(text) => digits(text).filter(|t| t.len() <= 9)?,
                None => "0",
            };
            let micros = format!("{fraction:0<9}").parse::<i64>().ok()? / 1000;
            value = value.checked_mul(MICROS_PER_SECOND)?.checked_add(micros)?;
        }
        values.push(value);
    }
    Some(values)
}
