//! Patterns as Java's `SimpleDateFormat` reads them, which Spark used before version 3.
//!
//! Brackets stand for themselves, text after what the pattern says is ignored, and `S` is a number of
//! milliseconds. Values out of their ranges fail.

use super::day::checked_date;
use super::pattern::{Item, MONTHS, Pattern, Use, WEEKDAYS};
use super::scan::{Scanned, starts_with, zone_of};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::TimeZone;
use firesteel_types::calendar::{
    MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, civil_from_days, weekday,
};
use std::time::{SystemTime, UNIX_EPOCH};

const LETTERS: &str = "GyMLDdFEuaHkKhmsSzZX";

/// Reads a pattern.
pub fn compile(pattern: &str, _: Use) -> Result<Pattern> {
    let mut items: Vec<Item> = Vec::new();
    let mut characters = pattern.chars().peekable();
    let literal = |items: &mut Vec<Item>, c: char| match items.last_mut() {
        Some(Item::Literal(text)) => text.push(c),
        _ => items.push(Item::Literal(c.to_string())),
    };
    while let Some(character) = characters.next() {
        if character == '\'' {
            if characters.next_if_eq(&'\'').is_some() {
                literal(&mut items, '\'');
                continue;
            }
            loop {
                match characters.next() {
                    Some('\'') if characters.next_if_eq(&'\'').is_some() => literal(&mut items, '\''),
                    Some('\'') => break,
                    Some(c) => literal(&mut items, c),
                    None => return Err(SparkError::plain(ExceptionClass::IllegalArgument, "Unterminated quote")),
                }
            }
        } else if character.is_ascii_alphabetic() {
            let mut count = 1;
            while characters.next_if_eq(&character).is_some() {
                count += 1;
            }
            if "YwW".contains(character) {
                return Err(SparkError::unsupported(format!("the pattern letter {character}")));
            }
            if !LETTERS.contains(character) {
                let message = format!("Illegal pattern character '{character}'");
                return Err(SparkError::plain(ExceptionClass::IllegalArgument, message));
            }
            items.push(Item::Field(character, count));
        } else {
            literal(&mut items, character);
        }
    }
    Ok(Pattern { items, has_era: true, is_legacy: true })
}

/// The fields that text gives.
#[derive(Debug, Clone, Copy, Default)]
struct Fields {
    is_before_christ: bool,
    year: Option<i64>,
    /// The year has two digits, which mean the one of the hundred years around now.
    is_short_year: bool,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    /// From Monday, which is 1.
    weekday: Option<i64>,
    /// 0 to 23.
    hour: Option<i64>,
    /// 0 to 11.
    half_hour: Option<i64>,
    is_afternoon: Option<bool>,
    minute: i64,
    second: i64,
    millis: i64,
    zone: Option<TimeZone>,
}

/// Reads text, or gives Java's message of why not.
pub fn scan(items: &[Item], text: &str) -> std::result::Result<Scanned, String> {
    let mut fields = Fields::default();
    let found = read(items, text, &mut fields).and_then(|()| fields.moment());
    found.ok_or_else(|| format!("Unparseable date: \"{text}\""))
}

fn read(items: &[Item], text: &str, fields: &mut Fields) -> Option<()> {
    let mut rest = text;
    for (index, item) in items.iter().enumerate() {
        match item {
            Item::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
            Item::Optional(_) => return None,
            Item::Field(letter, count) => {
                rest = rest.trim_start_matches([' ', '\t']);
                let is_followed = matches!(items.get(index + 1), Some(Item::Field(..)));
                let most = if is_followed { Some(*count) } else { None };
                rest = field(*letter, *count, most, rest, fields)?;
            }
        }
    }
    Some(())
}

/// Reads a field, and gives what is left of the text.
fn field<'t>(letter: char, count: usize, most: Option<usize>, text: &'t str, fields: &mut Fields) -> Option<&'t str> {
    match letter {
        'M' | 'L' if count > 2 => {
            let (at, rest) = named(&MONTHS, text)?;
            fields.month = Some(at as i64 + 1);
            return Some(rest);
        }
        'E' => {
            let (at, rest) = named(&WEEKDAYS, text)?;
            fields.weekday = Some(at as i64 + 1);
            return Some(rest);
        }
        'a' | 'G' => {
            let words = if letter == 'a' { ["AM", "PM"] } else { ["AD", "BC"] };
            let at = words.iter().position(|word| starts_with(text, word))?;
            if letter == 'a' {
                fields.is_afternoon = Some(at == 1);
            } else {
                fields.is_before_christ = at == 1;
            }
            return text.get(2..);
        }
        'z' | 'Z' | 'X' => {
            let (zone, rest) = zone(letter, text)?;
            fields.zone = Some(zone);
            return Some(rest);
        }
        _ => {}
    }
    let (value, digits, rest) = number(text, most)?;
    match letter {
        'y' => {
            fields.is_short_year = count <= 2 && digits == 2;
            fields.year = Some(value);
        }
        'M' | 'L' => fields.month = Some(value),
        'd' => fields.day = Some(value),
        'D' => fields.day_of_year = Some(value),
        'u' => fields.weekday = Some(value),
        'H' => fields.hour = Some(value),
        'k' => fields.hour = Some(if value == 24 { 0 } else { value }),
        'K' => fields.half_hour = Some(value),
        'h' => fields.half_hour = Some(if value == 12 { 0 } else { value }),
        'm' => fields.minute = value,
        's' => fields.second = value,
        'S' => fields.millis = value,
        // The week of a month says nothing that the day does not.
        _ => {}
    }
    Some(rest)
}

/// The longest of names, whole or by three letters, that a text begins with.
fn named<'t>(names: &[&str], text: &'t str) -> Option<(usize, &'t str)> {
    let whole = names.iter().position(|name| starts_with(text, name)).map(|at| (at, names[at].len()));
    let short = || names.iter().position(|name| name.get(..3).is_some_and(|n| starts_with(text, n))).map(|at| (at, 3));
    let (at, length) = whole.or_else(short)?;
    Some((at, text.get(length..)?))
}

/// A number, how many digits it has, and what is left of the text.
fn number(text: &str, most: Option<usize>) -> Option<(i64, usize, &str)> {
    let text = match most {
        Some(most) if most > text.len() => return None,
        _ => text,
    };
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let most = most.map_or(usize::MAX, |most| most - usize::from(sign < 0).min(most));
    let digits = unsigned.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let value: i64 = unsigned.get(..digits)?.parse().ok()?;
    Some((sign * value, digits, &unsigned[digits..]))
}

fn zone(letter: char, text: &str) -> Option<(TimeZone, &str)> {
    if letter == 'X' && text.starts_with('Z') {
        return Some((TimeZone::UTC, &text[1..]));
    }
    let offset = if letter == 'X' { text } else { text.strip_prefix("GMT").unwrap_or(text) };
    let sign = match offset.bytes().next() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ if letter == 'X' => return None,
        _ => {
            let (zone, length) = zone_of(text, true)?;
            return Some((zone, text.get(length..)?));
        }
    };
    let two = |text: &str| text.get(..2).filter(|t| t.bytes().all(|b| b.is_ascii_digit()))?.parse::<i32>().ok();
    let rest = &offset[1..];
    let hours = two(rest).filter(|hours| *hours <= 23)?;
    let rest = &rest[2..];
    let after = rest.strip_prefix(':').unwrap_or(rest);
    match two(after).filter(|minutes| *minutes < 60) {
        Some(minutes) => Some((TimeZone::Fixed(sign * (hours * 3600 + minutes * 60)), &after[2..])),
        None => Some((TimeZone::Fixed(sign * hours * 3600), rest)),
    }
}

/// The day that is so many years before now.
fn years_ago(years: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let (year, month, day) = civil_from_days(now / (MICROS_PER_DAY / MICROS_PER_SECOND));
    checked_date(year - years, i64::from(month), i64::from(day)).unwrap_or(0)
}

impl Fields {
    fn moment(&self) -> Option<Scanned> {
        let day = match self.year {
            Some(year) if self.is_short_year => {
                let start = years_ago(80);
                let century = civil_from_days(start).0.div_euclid(100) * 100;
                let day = self.day_in(century + year)?;
                if day < start { self.day_in(century + 100 + year)? } else { day }
            }
            Some(year) if year < 1 => return None,
            Some(year) if self.is_before_christ => self.day_in(1 - year)?,
            year => self.day_in(year.unwrap_or(1970))?,
        };
        let hour = match (self.hour, self.half_hour, self.is_afternoon) {
            (Some(hour), ..) => hour,
            (None, half, afternoon) => {
                let half = half.unwrap_or(0);
                if !(0..12).contains(&half) {
                    return None;
                }
                half + if afternoon == Some(true) { 12 } else { 0 }
            }
        };
        let within = |value: i64, end: i64| (0..end).contains(&value);
        if !(within(hour, 24) && within(self.minute, 60) && within(self.second, 60) && within(self.millis, 1000)) {
            return None;
        }
        let micros_of_day = hour * MICROS_PER_HOUR
            + self.minute * MICROS_PER_MINUTE
            + self.second * MICROS_PER_SECOND
            + self.millis * 1000;
        Some(Scanned { day, micros_of_day, zone: self.zone })
    }

    /// The day in a year, where all that is said of it agrees.
    fn day_in(&self, year: i64) -> Option<i64> {
        let day = match self.day_of_year {
            Some(of_year) => {
                let day = checked_date(year, 1, 1).ok()? + of_year - 1;
                let (found, month, day_of_month) = civil_from_days(day);
                let is = |wanted: Option<i64>, value: i64| wanted.is_none_or(|wanted| wanted == value);
                if of_year < 1 || found != year || !is(self.month, month.into()) || !is(self.day, day_of_month.into()) {
                    return None;
                }
                day
            }
            None => checked_date(year, self.month.unwrap_or(1), self.day.unwrap_or(1)).ok()?,
        };
        let agrees = self.weekday.is_none_or(|wanted| wanted == i64::from(weekday(day)) + 1);
        agrees.then_some(day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(pattern: &str, text: &str) -> Option<String> {
        let scanned = compile(pattern, Use::Parsing).unwrap().scan(text).ok()?;
        let (year, month, day) = civil_from_days(scanned.day);
        Some(format!("{year}-{month}-{day} {}", scanned.micros_of_day / 1000))
    }

    #[test]
    fn texts_are_read_as_simple_date_format_does() {
        assert_eq!(local("dd/MMMMM/yyyy", "26/October/2015").as_deref(), Some("2015-10-26 0"));
        assert_eq!(local("dd MM yyyy EEEEE", "22 05 2020 Friday").as_deref(), Some("2020-5-22 0"));
        assert_eq!(local("dd MM yyyy EEEEE", "22 05 2020 Monday"), None);
        assert_eq!(local("yyyyMMdd", "20200522xyz").as_deref(), Some("2020-5-22 0"));
        assert_eq!(local("ss''SSSS", "12'12").as_deref(), Some("1970-1-1 12012"));
        assert_eq!(local("ss.SSSSSS", "12.12345"), None);
        assert_eq!(local("yyyy[-MM]", "2019-10"), None);
        assert_eq!(local("yy", "99").as_deref(), Some("1999-1-1 0"));
        assert_eq!(local("yyyy-MM-dd", "2020-02-30"), None);
    }

    #[test]
    fn letters_without_meaning_are_refused() {
        assert!(compile("b", Use::Parsing).is_err());
        assert!(compile("yyyy 'x", Use::Printing).is_err());
    }
}
