//! Java's patterns of dates and times, such as `dd/MM/yyyy HH:mm`.

use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::TimeZone;
use firesteel_types::calendar::{checked_days_from_civil, civil_from_days, day_of_year, weekday};
use std::fmt::Write;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Field(char, usize),
    /// A part that may be missing when text is parsed, and is always written.
    Optional(Vec<Piece>),
}

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern(Vec<Piece>);

/// What a text says about a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Parts {
    year: Option<i64>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    hour: Option<u32>,
    half_hour: Option<u32>,
    is_afternoon: Option<bool>,
    minute: Option<u32>,
    second: Option<u32>,
    micros: Option<i64>,
    /// Seconds east of Greenwich.
    offset: Option<i32>,
    zone: Option<TimeZone>,
}

impl Pattern {
    /// Compiles a pattern; unknown letters fail.
    pub fn new(text: &str) -> Result<Self> {
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        let pieces = pieces(&chars, &mut at, 0)?;
        Ok(Self(pieces))
    }

    /// How timestamps are written to text files if nothing else is said.
    pub fn iso(with_zone: bool) -> Self {
        let mut pieces = vec![Piece::Field('y', 4), Piece::Text("-".into()), Piece::Field('M', 2)];
        pieces.extend([Piece::Text("-".into()), Piece::Field('d', 2), Piece::Text("T".into()), Piece::Field('H', 2)]);
        pieces.extend([Piece::Text(":".into()), Piece::Field('m', 2), Piece::Text(":".into()), Piece::Field('s', 2)]);
        pieces.extend([Piece::Text(".".into()), Piece::Field('S', 3)]);
        if with_zone {
            pieces.push(Piece::Field('X', 3));
        }
        Self(pieces)
    }

    /// Writes a moment: microseconds on the wall clock, and the offset in seconds.
    pub fn write(&self, out: &mut String, local_micros: i64, offset: i32, zone: &str) {
        write_pieces(&self.0, out, local_micros, offset, zone);
    }

    /// Writes days since the epoch.
    pub fn write_date(&self, out: &mut String, days: i64) {
        self.write(out, days * 86_400_000_000, 0, "Z");
    }

    fn parts(&self, text: &str) -> Option<Parts> {
        let mut parts = Parts::default();
        let rest = parse_pieces(&self.0, text, &mut parts)?;
        rest.is_empty().then_some(parts)
    }

    /// Days since the epoch.
    pub fn parse_date(&self, text: &str) -> Option<i32> {
        i32::try_from(self.parts(text)?.days()?).ok()
    }

    /// Microseconds since the epoch; text without a zone is in `zone`.
    pub fn parse_timestamp(&self, text: &str, zone: TimeZone) -> Option<i64> {
        let parts = self.parts(text)?;
        let local = parts.local_micros()?;
        match (parts.offset, parts.zone) {
            (Some(offset), _) => local.checked_sub(i64::from(offset) * 1_000_000),
            (None, own) => own.unwrap_or(zone).to_utc(local),
        }
    }

    /// Microseconds on the wall clock.
    pub fn parse_timestamp_ntz(&self, text: &str) -> Option<i64> {
        self.parts(text)?.local_micros()
    }
}

impl Parts {
    fn days(&self) -> Option<i64> {
        let year = self.year.unwrap_or(1970);
        if let Some(day) = self.day_of_year {
            let first = checked_days_from_civil(year, 1, 1)?;
            return (1..=366).contains(&day).then_some(first + i64::from(day) - 1);
        }
        checked_days_from_civil(year, self.month.unwrap_or(1), self.day.unwrap_or(1))
    }

    fn local_micros(&self) -> Option<i64> {
        let hour = match (self.hour, self.half_hour) {
            (Some(hour), _) => hour,
            (None, Some(half)) => half % 12 + if self.is_afternoon.unwrap_or(false) { 12 } else { 0 },
            (None, None) => 0,
        };
        let (minute, second) = (self.minute.unwrap_or(0), self.second.unwrap_or(0));
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
        self.days()?.checked_mul(86_400_000_000)?.checked_add(seconds * 1_000_000 + self.micros.unwrap_or(0))
    }
}

fn illegal(message: String) -> SparkError {
    SparkError::plain(ExceptionClass::IllegalArgument, message)
}

fn pieces(chars: &[char], at: &mut usize, depth: usize) -> Result<Vec<Piece>> {
    let mut out = Vec::new();
    let text = |out: &mut Vec<Piece>, c: char| match out.last_mut() {
        Some(Piece::Text(text)) => text.push(c),
        _ => out.push(Piece::Text(c.to_string())),
    };
    while let Some(c) = chars.get(*at).copied() {
        match c {
            '\'' => {
                *at += 1;
                if chars.get(*at) == Some(&'\'') {
                    text(&mut out, '\'');
                    *at += 1;
                    continue;
                }
                loop {
                    match (chars.get(*at), chars.get(*at + 1)) {
                        (Some('\''), Some('\'')) => {
                            text(&mut out, '\'');
                            *at += 2;
                        }
                        (Some('\''), _) => {
                            *at += 1;
                            break;
                        }
                        (Some(c), _) => {
                            text(&mut out, *c);
                            *at += 1;
                        }
                        (None, _) => return Err(illegal("Pattern ends with an incomplete string literal".into())),
                    }
                }
            }
            '[' => {
                *at += 1;
                out.push(Piece::Optional(pieces(chars, at, depth + 1)?));
            }
            ']' if depth > 0 => {
                *at += 1;
                return Ok(out);
            }
            ']' => return Err(illegal("Pattern invalid as it contains ] without previous [".into())),
            c if c.is_ascii_alphabetic() => {
                let count = chars[*at..].iter().take_while(|x| **x == c).count();
                if !"GyuMLdDEaHkKhmsSVzXxZO".contains(c) {
                    return Err(SparkError::unsupported(format!("the letter {c} in a pattern of dates and times")));
                }
                out.push(Piece::Field(c, count));
                *at += count;
            }
            c => {
                text(&mut out, c);
                *at += 1;
            }
        }
    }
    Ok(out)
}

fn write_pieces(pieces: &[Piece], out: &mut String, local: i64, offset: i32, zone: &str) {
    let days = local.div_euclid(86_400_000_000);
    let micros = local.rem_euclid(86_400_000_000);
    let seconds = micros / 1_000_000;
    let (year, month, day) = civil_from_days(days);
    let hour = seconds / 3600;
    let pad = |out: &mut String, value: i64, width: usize| {
        let width = width.min(usize::from(u16::MAX));
        let _ = write!(out, "{value:0width$}");
    };
    for piece in pieces {
        let (letter, count) = match piece {
            Piece::Text(text) => {
                out.push_str(text);
                continue;
            }
            Piece::Optional(inner) => {
                write_pieces(inner, out, local, offset, zone);
                continue;
            }
            Piece::Field(letter, count) => (*letter, *count),
        };
        match letter {
            'y' | 'u' if count == 2 => pad(out, year.rem_euclid(100), 2),
            'y' | 'u' => {
                if year > 9999 && count >= 4 {
                    out.push('+');
                }
                if year < 0 {
                    out.push('-');
                }
                pad(out, year.abs(), count);
            }
            'M' | 'L' => match (count, usize::try_from(month).ok().and_then(|m| MONTHS.get(m.wrapping_sub(1)))) {
                (3, Some(name)) => out.push_str(&name[..3]),
                (4.., Some(name)) => out.push_str(name),
                _ => pad(out, i64::from(month), count),
            },
            'd' => pad(out, i64::from(day), count),
            'D' => pad(out, i64::from(day_of_year(days)), count),
            'E' => {
                let name = DAYS[usize::try_from(iso_weekday(days)).unwrap_or(0) % 7];
                out.push_str(if count >= 4 { name } else { &name[..3] });
            }
            'a' => out.push_str(if hour < 12 { "AM" } else { "PM" }),
            'G' => out.push_str(if year > 0 { "AD" } else { "BC" }),
            'H' => pad(out, hour, count),
            'k' => pad(out, if hour == 0 { 24 } else { hour }, count),
            'K' => pad(out, hour % 12, count),
            'h' => pad(out, if hour % 12 == 0 { 12 } else { hour % 12 }, count),
            'm' => pad(out, seconds / 60 % 60, count),
            's' => pad(out, seconds % 60, count),
            'S' => {
                let digits = format!("{:06}000", micros % 1_000_000);
                out.push_str(&digits[..count.min(9)]);
            }
            'V' => out.push_str(zone),
            'X' if offset == 0 => out.push('Z'),
            'O' | 'z' if offset == 0 => out.push_str(if letter == 'z' && zone == "UTC" { "UTC" } else { "GMT" }),
            'Z' if count == 5 && offset == 0 => out.push('Z'),
            _ => {
                let minutes = offset.abs() / 60;
                let colon =
                    if matches!((letter, count), ('X' | 'x', 3 | 5) | ('Z', 5) | ('z' | 'O', _)) { ":" } else { "" };
                if matches!(letter, 'O' | 'z') || (letter == 'Z' && count == 4) {
                    out.push_str("GMT");
                }
                out.push(if offset < 0 { '-' } else { '+' });
                let _ = write!(out, "{:02}", minutes / 60);
                if !(matches!(letter, 'X' | 'x') && count == 1 && minutes % 60 == 0) {
                    let _ = write!(out, "{colon}{:02}", minutes % 60);
                }
            }
        }
    }
}

/// Monday is 0.
fn iso_weekday(days: i64) -> i64 {
    let _ = weekday;
    (days + 3).rem_euclid(7)
}

fn number(text: &str, count: usize) -> Option<(i64, &str)> {
    let most = if count == 1 { 19 } else { count };
    let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if length == 0 || (count > 1 && length < count) {
        return None;
    }
    Some((text[..length].parse().ok()?, &text[length..]))
}

fn name<'a>(text: &'a str, names: &[&str], short: bool) -> Option<(usize, &'a str)> {
    names.iter().enumerate().find_map(|(i, name)| {
        let name = if short { &name[..3] } else { name };
        text.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name)).map(|head| (i, &text[head.len()..]))
    })
}

fn parse_pieces<'a>(pieces: &[Piece], text: &'a str, parts: &mut Parts) -> Option<&'a str> {
    let mut text = text;
    for piece in pieces {
        match piece {
            Piece::Text(literal) => text = text.strip_prefix(literal.as_str())?,
            Piece::Optional(inner) => {
                let mut with = *parts;
                if let Some(rest) = parse_pieces(inner, text, &mut with) {
                    *parts = with;
                    text = rest;
                }
            }
            Piece::Field(letter, count) => text = parse_field(*letter, *count, text, parts)?,
        }
    }
    Some(text)
}

fn parse_field<'a>(letter: char, count: usize, text: &'a str, parts: &mut Parts) -> Option<&'a str> {
    let small = |value: i64| u32::try_from(value).ok();
    let rest = match letter {
        'y' | 'u' => {
            let (negative, body) = match text.strip_prefix('-') {
                Some(body) => (true, body),
                None => (false, text.strip_prefix('+').unwrap_or(text)),
            };
            let (value, rest) = number(body, count)?;
            let value = if count == 2 { 2000 + value } else { value };
            parts.year = Some(if negative { -value } else { value });
            rest
        }
        'M' | 'L' if count >= 3 => {
            let (i, rest) = name(text, &MONTHS, count == 3)?;
            parts.month = Some(u32::try_from(i).ok()? + 1);
            rest
        }
        'E' => name(text, &DAYS, count < 4)?.1,
        'G' => name(text, &["AD ", "BC "].map(|n| &n[..2]), false)?.1,
        'a' => {
            let (i, rest) = name(text, &["AM", "PM"], false)?;
            parts.is_afternoon = Some(i == 1);
            rest
        }
        'S' => {
            let length = text.bytes().take(count).take_while(u8::is_ascii_digit).count();
            if length < count {
                return None;
            }
            let digits = format!("{:0<6}", &text[..length.min(6)]);
            parts.micros = Some(digits.parse().ok()?);
            &text[length..]
        }
        'V' | 'z' => {
            let length = text
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '-' | ':')))
                .unwrap_or(text.len());
            parts.zone = Some(TimeZone::parse(&text[..length]).ok()?);
            &text[length..]
        }
        'X' | 'x' | 'Z' | 'O' => {
            let (offset, rest) = offset(text, letter)?;
            parts.offset = Some(offset);
            rest
        }
        _ => {
            let (value, rest) = number(text, count)?;
            let value = small(value)?;
            match letter {
                'M' | 'L' => parts.month = Some(value),
                'd' => parts.day = Some(value),
                'D' => parts.day_of_year = Some(value),
                'H' => parts.hour = Some(value),
                'k' => parts.hour = Some(value % 24),
                'K' if value < 12 => parts.half_hour = Some(value),
                'h' if (1..=12).contains(&value) => parts.half_hour = Some(value),
                'm' => parts.minute = Some(value),
                's' => parts.second = Some(value),
                _ => return None,
            }
            rest
        }
    };
    Some(rest)
}

fn offset(text: &str, letter: char) -> Option<(i32, &str)> {
    if let Some(rest) = text.strip_prefix('Z').filter(|_| matches!(letter, 'X' | 'Z')) {
        return Some((0, rest));
    }
    let text = text.strip_prefix("GMT").unwrap_or(text);
    let (sign, body) = match text.strip_prefix('-') {
        Some(body) => (-1, body),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, rest) = number(body, 2)?;
    let after = rest.strip_prefix(':').unwrap_or(rest);
    let (minutes, rest) = number(after, 2).unwrap_or((0, rest));
    Some((sign * i32::try_from(hours * 3600 + minutes * 60).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_parsed_and_written() {
        let pattern = Pattern::new("dd/MM/yyyy").unwrap();
        assert_eq!(pattern.parse_date("01/02/2020"), Some(18293));
        assert_eq!(pattern.parse_date("1/2/2020"), None);
        let mut out = String::new();
        pattern.write_date(&mut out, 18293);
        assert_eq!(out, "01/02/2020");
        assert_eq!(Pattern::new("d MMM yy").unwrap().parse_date("1 Feb 20"), Some(18293));
    }

    #[test]
    fn timestamps_are_parsed_and_written() {
        let zone = TimeZone::parse("UTC").unwrap();
        let pattern = Pattern::new("yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]").unwrap();
        assert_eq!(pattern.parse_timestamp("1970-01-01T01:00:00.5", zone), None);
        assert_eq!(pattern.parse_timestamp("1970-01-01T01:00:00.500+01:00", zone), Some(500_000));
        assert_eq!(pattern.parse_timestamp("1970-01-01T00:00:01", zone), Some(1_000_000));
        let mut out = String::new();
        Pattern::iso(true).write(&mut out, 123_456, 0, "UTC");
        assert_eq!(out, "1970-01-01T00:00:00.123Z");
        let half = Pattern::new("hh:mm a").unwrap();
        assert_eq!(half.parse_timestamp("01:30 PM", zone), Some(48_600_000_000));
    }
}
