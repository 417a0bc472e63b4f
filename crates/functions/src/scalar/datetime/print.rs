//! Dates and times printed by a pattern.

use super::pattern::{Item, MONTHS, Pattern, QUARTERS, WEEKDAYS};
use firesteel_error::{Result, SparkError};
use firesteel_types::TimeZone;
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_SECOND, civil_from_days, day_of_year, weekday};
use std::fmt::Write;

/// A zone with the id that it is printed by.
pub struct NamedZone {
    pub zone: TimeZone,
    pub id: String,
}

impl NamedZone {
    /// The zone of an id.
    pub fn parse(id: &str) -> Result<Self> {
        Ok(Self { zone: TimeZone::parse(id)?, id: id.to_string() })
    }
}

/// A moment taken apart.
struct Parts<'a> {
    year: i64,
    month: u32,
    day: u32,
    days: i64,
    seconds: i64,
    micros: i64,
    offset: i32,
    instant: i64,
    zone: &'a NamedZone,
}

impl Pattern {
    /// Appends a moment, in microseconds of the instant, on the zone's wall clock with the offset.
    pub fn print(&self, out: &mut String, instant: i64, offset: i32, zone: &NamedZone) -> Result<()> {
        let seconds = instant.div_euclid(MICROS_PER_SECOND) + i64::from(offset);
        let days = seconds.div_euclid(MICROS_PER_DAY / MICROS_PER_SECOND);
        let (year, month, day) = civil_from_days(days);
        let parts = Parts {
            year,
            month,
            day,
            days,
            seconds: seconds.rem_euclid(MICROS_PER_DAY / MICROS_PER_SECOND),
            micros: instant.rem_euclid(MICROS_PER_SECOND),
            offset,
            instant,
            zone,
        };
        self.print_items(&self.items, out, &parts)
    }

    fn print_items(&self, items: &[Item], out: &mut String, parts: &Parts<'_>) -> Result<()> {
        for item in items {
            match item {
                Item::Literal(text) => out.push_str(text),
                Item::Optional(inner) => self.print_items(inner, out, parts)?,
                Item::Field(letter, count) => self.print_field(*letter, *count, out, parts)?,
            }
        }
        Ok(())
    }

    fn print_field(&self, letter: char, count: usize, out: &mut String, parts: &Parts<'_>) -> Result<()> {
        let hour = parts.seconds / 3600;
        match letter {
            'y' if self.is_legacy => {
                let year = if parts.year <= 0 { 1 - parts.year } else { parts.year };
                number(out, if count == 2 { year.rem_euclid(100) } else { year }, count);
            }
            'S' if self.is_legacy => number(out, parts.micros / 1000, count),
            'u' if self.is_legacy => number(out, i64::from(weekday(parts.days)) + 1, count),
            'E' if self.is_legacy => print_name(out, WEEKDAYS[weekday(parts.days) as usize], count.clamp(3, 4)),
            'G' if self.is_legacy => out.push_str(if parts.year > 0 { "AD" } else { "BC" }),
            'z' if self.is_legacy => print_zone_name(out, parts, count > 3)?,
            'Z' if self.is_legacy => print_offset(out, parts.offset, 2, false),
            'y' => {
                let year = if self.has_era && parts.year <= 0 { 1 - parts.year } else { parts.year };
                print_year(out, year, count);
            }
            'M' | 'L' if count > 2 => print_name(out, MONTHS[parts.month as usize - 1], count),
            'M' | 'L' => number(out, i64::from(parts.month), count),
            'd' => number(out, i64::from(parts.day), count),
            'D' => number(out, i64::from(day_of_year(parts.days)), count),
            'F' => number(out, i64::from((parts.day - 1) % 7 + 1), count),
            'E' => print_name(out, WEEKDAYS[weekday(parts.days) as usize], if count < 4 { 3 } else { 4 }),
            'Q' | 'q' => {
                let quarter = (parts.month - 1) / 3;
                match count {
                    1 | 2 => number(out, i64::from(quarter + 1), count),
                    3 => {
                        out.push('Q');
                        number(out, i64::from(quarter + 1), 1);
                    }
                    _ => out.push_str(QUARTERS[quarter as usize]),
                }
            }
            'G' => out.push_str(match (parts.year > 0, count == 4) {
                (true, false) => "AD",
                (true, true) => "Anno Domini",
                (false, false) => "BC",
                (false, true) => "Before Christ",
            }),
            'a' => out.push_str(if hour < 12 { "AM" } else { "PM" }),
            'H' => number(out, hour, count),
            'k' => number(out, (hour + 23) % 24 + 1, count),
            'K' => number(out, hour % 12, count),
            'h' => number(out, (hour + 11) % 12 + 1, count),
            'm' => number(out, parts.seconds / 60 % 60, count),
            's' => number(out, parts.seconds % 60, count),
            'S' => {
                let start = out.len();
                // Writing to a string cannot fail.
                let _ = write!(out, "{:06}000", parts.micros);
                out.truncate(start + count);
            }
            'V' => out.push_str(&parts.zone.id),
            'z' => print_zone_name(out, parts, count == 4)?,
            'O' => print_localized_offset(out, parts.offset, count == 4),
            'X' | 'x' => print_offset(out, parts.offset, count, letter == 'X'),
            'Z' => match count {
                4 => print_localized_offset(out, parts.offset, true),
                5 => print_offset(out, parts.offset, 5, true),
                _ => print_offset(out, parts.offset, 2, false),
            },
            other => return Err(SparkError::internal(format!("the pattern letter {other} was let through"))),
        }
        Ok(())
    }
}

fn number(out: &mut String, value: i64, width: usize) {
    let width = width.min(usize::from(u16::MAX));
    let _ = write!(out, "{value:0width$}");
}

fn print_year(out: &mut String, year: i64, count: usize) {
    if count == 2 {
        return number(out, year.rem_euclid(100), 2);
    }
    if year < 0 {
        out.push('-');
    } else if count >= 4 && year.to_string().len() > count {
        out.push('+');
    }
    let _ = write!(out, "{:0count$}", year.unsigned_abs());
}

fn print_name(out: &mut String, name: &str, count: usize) {
    out.push_str(if count == 3 { name.get(..3).unwrap_or(name) } else { name });
}

/// `+07`, `+0730`, `+07:30`, with seconds where there are some.
fn print_offset(out: &mut String, offset: i32, count: usize, has_z: bool) {
    if offset == 0 && has_z {
        out.push('Z');
        return;
    }
    let total = offset.unsigned_abs();
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    let colon = if count == 3 || count == 5 { ":" } else { "" };
    let _ = write!(out, "{}{hours:02}", if offset < 0 { '-' } else { '+' });
    if count > 1 || minutes > 0 {
        let _ = write!(out, "{colon}{minutes:02}");
    }
    if count > 3 && seconds > 0 {
        let _ = write!(out, "{colon}{seconds:02}");
    }
}

/// `GMT-7` or `GMT-07:00`.
fn print_localized_offset(out: &mut String, offset: i32, is_long: bool) {
    out.push_str("GMT");
    if offset == 0 {
        return;
    }
    let total = offset.unsigned_abs();
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    out.push(if offset < 0 { '-' } else { '+' });
    if is_long {
        let _ = write!(out, "{hours:02}:{minutes:02}");
    } else {
        let _ = write!(out, "{hours}");
        if minutes > 0 || seconds > 0 {
            let _ = write!(out, ":{minutes:02}");
        }
    }
    if seconds > 0 {
        let _ = write!(out, ":{seconds:02}");
    }
}

/// Long names of zones by their short ones.
const ZONE_NAMES: &[(&str, &str)] = &[
    ("PST", "Pacific Standard Time"),
    ("PDT", "Pacific Daylight Time"),
    ("MST", "Mountain Standard Time"),
    ("MDT", "Mountain Daylight Time"),
    ("EST", "Eastern Standard Time"),
    ("EDT", "Eastern Daylight Time"),
    ("CET", "Central European Standard Time"),
    ("CEST", "Central European Summer Time"),
    ("EET", "Eastern European Standard Time"),
    ("EEST", "Eastern European Summer Time"),
    ("GMT", "Greenwich Mean Time"),
    ("JST", "Japan Standard Time"),
    ("UTC", "Coordinated Universal Time"),
];

fn print_zone_name(out: &mut String, parts: &Parts<'_>, is_long: bool) -> Result<()> {
    let short = match parts.zone.zone {
        TimeZone::Fixed(0) => "UTC".to_string(),
        TimeZone::Fixed(_) => {
            out.push_str(&parts.zone.id);
            return Ok(());
        }
        TimeZone::Region(region) => {
            use chrono::TimeZone as _;
            let seconds = parts.instant.div_euclid(MICROS_PER_SECOND);
            match region.timestamp_opt(seconds, 0) {
                chrono::LocalResult::Single(at) => at.format("%Z").to_string(),
                _ => String::new(),
            }
        }
    };
    let known = short.chars().all(|c| c.is_ascii_alphabetic()) && !short.is_empty();
    if !is_long && known {
        out.push_str(&short);
        return Ok(());
    }
    match ZONE_NAMES.iter().find(|(name, _)| *name == short) {
        Some((_, long)) => {
            out.push_str(long);
            Ok(())
        }
        None => Err(SparkError::unsupported(format!("the name of the time zone {} in a pattern", parts.zone.id))),
    }
}
