//! Text read by a pattern, with Java's rules and messages.

use super::day::checked_date;
use super::pattern::{Item, MONTHS, Pattern};
use firesteel_types::TimeZone;
use firesteel_types::calendar::{
    MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, days_from_civil, is_leap_year,
};

/// What text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scanned {
    /// Days since the epoch.
    pub day: i64,
    pub micros_of_day: i64,
    /// The zone in the text.
    pub zone: Option<TimeZone>,
}

impl Scanned {
    /// Microseconds of the wall clock.
    pub fn local(&self) -> Option<i64> {
        self.day.checked_mul(MICROS_PER_DAY)?.checked_add(self.micros_of_day)
    }

    /// Microseconds of the instant; text without a zone is local to `zone`.
    pub fn instant(&self, zone: TimeZone) -> Option<i64> {
        self.zone.unwrap_or(zone).to_utc(self.local()?)
    }
}

/// The fields that text gives.
#[derive(Debug, Clone, Copy, Default)]
struct Fields {
    year: Option<i64>,
    is_before_christ: Option<bool>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: Option<i64>,
    clock_hour: Option<i64>,
    half_hour: Option<i64>,
    clock_half_hour: Option<i64>,
    is_afternoon: Option<bool>,
    minute: Option<i64>,
    second: Option<i64>,
    nanos: Option<i64>,
    zone: Option<TimeZone>,
}

/// The least and the most digits of a number, and whether a sign is read.
struct Digits {
    least: usize,
    most: usize,
    sign: Sign,
}

#[derive(Clone, Copy, PartialEq)]
enum Sign {
    /// None.
    Never,
    /// A minus.
    Negative,
    /// A minus, or a plus where there are more digits than the least.
    Exceeding,
}

impl Digits {
    fn of(letter: char, count: usize) -> Option<Self> {
        let (least, most, sign) = match (letter, count) {
            ('y', 2) => (2, 2, Sign::Never),
            ('y', 1 | 3) => (count, 19, Sign::Negative),
            ('y', _) => (count, 19, Sign::Exceeding),
            ('D', 2) => (2, 3, Sign::Never),
            ('M' | 'L' | 'd' | 'D' | 'H' | 'k' | 'K' | 'h' | 'm' | 's', 1) => (1, 19, Sign::Negative),
            ('M' | 'L', 2) | ('d' | 'H' | 'k' | 'K' | 'h' | 'm' | 's', 2) | ('D', 3) => (count, count, Sign::Never),
            _ => return None,
        };
        Some(Self { least, most, sign })
    }

    fn is_fixed(&self) -> bool {
        self.least == self.most && self.sign == Sign::Never
    }
}

/// Java's message about text, which it shortens.
fn about(text: &str, what: &str) -> String {
    let length = text.chars().count();
    if length > 64 {
        let start: String = text.chars().take(64).collect();
        return format!("Text '{start}...' could not be parsed{what}");
    }
    format!("Text '{text}' could not be parsed{what}")
}

impl Pattern {
    /// Reads text, or gives Java's message of why not.
    pub fn scan(&self, text: &str) -> Result<Scanned, String> {
        if self.is_legacy {
            return super::legacy::scan(&self.items, text);
        }
        let mut scanner = Scanner { text, fields: Fields::default() };
        match scanner.items(&self.items, 0) {
            Ok(end) if end == text.len() => {}
            Ok(end) => {
                return Err(about(text, &format!(", unparsed text found at index {}", utf16(text, end))));
            }
            Err(at) => return Err(about(text, &format!(" at index {}", utf16(text, at)))),
        }
        let fields = scanner.fields;
        Ok(Scanned { day: fields.date(self.has_era, text)?, micros_of_day: fields.time(text)?, zone: fields.zone })
    }
}

/// The index that Java counts.
fn utf16(text: &str, at: usize) -> usize {
    text.get(..at).map_or(at, |t| t.encode_utf16().count())
}

impl Fields {
    fn date(&self, has_era: bool, text: &str) -> Result<i64, String> {
        let in_text = |message: String| about(text, &format!(": {message}"));
        let year = match (self.year, self.is_before_christ) {
            (Some(year), Some(true)) if has_era => Some(1 - year),
            (year, _) => year,
        };
        if let Some(day) = self.day_of_year {
            let at = year.unwrap_or(1970);
            if !(1..=366).contains(&day) {
                return Err(in_text(format!("Invalid value for DayOfYear (valid values 1 - 365/366): {day}")));
            }
            if day == 366 && !is_leap_year(at) {
                return Err(in_text(format!("Invalid date 'DayOfYear 366' as '{at}' is not a leap year")));
            }
            return Ok(days_from_civil(at, 1, 1) + day - 1);
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        checked_date(year.unwrap_or(1970), month, day).map_err(|message| {
            let is_range = message.starts_with("Invalid value");
            if year.is_none() && !is_range { message } else { in_text(message) }
        })
    }

    fn time(&self, text: &str) -> Result<i64, String> {
        let within = |value: Option<i64>, name: &str, range: std::ops::RangeInclusive<i64>| match value {
            Some(v) if !range.contains(&v) => Err(about(
                text,
                &format!(": Invalid value for {name} (valid values {} - {}): {v}", range.start(), range.end()),
            )),
            other => Ok(other),
        };
        let clock_hour = within(self.clock_hour, "ClockHourOfDay", 1..=24)?;
        let clock_half = within(self.clock_half_hour, "ClockHourOfAmPm", 1..=12)?;
        let half = within(self.half_hour, "HourOfAmPm", 0..=11)?;
        let hour = within(self.hour, "HourOfDay", 0..=23)?;
        let minute = within(self.minute, "MinuteOfHour", 0..=59)?;
        let second = within(self.second, "SecondOfMinute", 0..=59)?;
        let half = half.or(clock_half.map(|h| h % 12));
        let hour = hour
            .or(clock_hour.map(|h| h % 24))
            .or(half.map(|h| h + if self.is_afternoon == Some(true) { 12 } else { 0 }))
            .or(self.is_afternoon.map(|pm| if pm { 12 } else { 0 }))
            .unwrap_or(0);
        Ok(hour * MICROS_PER_HOUR
            + minute.unwrap_or(0) * MICROS_PER_MINUTE
            + second.unwrap_or(0) * MICROS_PER_SECOND
            + self.nanos.unwrap_or(0) / 1000)
    }
}

struct Scanner<'a> {
    text: &'a str,
    fields: Fields,
}

impl Scanner<'_> {
    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    /// Reads items from a position; gives the end, or the position at which it failed.
    fn items(&mut self, items: &[Item], mut at: usize) -> Result<usize, usize> {
        for (index, item) in items.iter().enumerate() {
            at = match item {
                Item::Literal(literal) => self.literal(literal, at)?,
                Item::Optional(inner) => {
                    let before = self.fields;
                    match self.items(inner, at) {
                        Ok(end) => end,
                        Err(_) => {
                            self.fields = before;
                            at
                        }
                    }
                }
                Item::Field(letter, count) => match Digits::of(*letter, *count) {
                    Some(digits) => {
                        let is_base = index == 0 || !is_number(&items[index - 1]) || !digits.is_fixed();
                        let after = if is_base { following(&items[index + 1..]) } else { 0 };
                        let (value, end) = self.number(&digits, at, after)?;
                        self.set(*letter, *count, value);
                        end
                    }
                    None => self.other(*letter, *count, at)?,
                },
            };
        }
        Ok(at)
    }

    fn literal(&self, literal: &str, at: usize) -> Result<usize, usize> {
        let mut end = at;
        for wanted in literal.chars() {
            match self.rest(end).chars().next() {
                Some(c) if c == wanted || c.to_lowercase().eq(wanted.to_lowercase()) => end += c.len_utf8(),
                _ => return Err(at),
            }
        }
        Ok(end)
    }

    /// Reads a number; `after` digits belong to the numbers that follow without anything between.
    fn number(&self, digits: &Digits, start: usize, after: usize) -> Result<(i64, usize), usize> {
        let bytes = self.text.as_bytes();
        if start >= bytes.len() {
            return Err(start);
        }
        let (negative, positive) = (bytes[start] == b'-', bytes[start] == b'+');
        let allowed = match digits.sign {
            Sign::Never => !negative && !positive,
            Sign::Negative => !positive,
            Sign::Exceeding => true,
        };
        if !allowed {
            return Err(start);
        }
        let first = start + usize::from(negative || positive);
        if first + digits.least > bytes.len() {
            return Err(first);
        }
        let run = bytes[first..].iter().take(digits.most + after).take_while(|b| b.is_ascii_digit()).count();
        if run < digits.least {
            return Err(first);
        }
        let length = if after > 0 { run.saturating_sub(after).max(digits.least) } else { run };
        let end = first + length;
        let value: i64 = self.text.get(first..end).and_then(|t| t.parse().ok()).ok_or(first)?;
        if digits.sign == Sign::Exceeding && !negative {
            if positive && length <= digits.least {
                return Err(start);
            }
            if !positive && length > digits.least {
                return Err(start);
            }
        }
        if negative && value == 0 {
            return Err(start);
        }
        Ok((if negative { -value } else { value }, end))
    }

    fn set(&mut self, letter: char, count: usize, value: i64) {
        let fields = &mut self.fields;
        match letter {
            'y' if count == 2 => fields.year = Some(2000 + value),
            'y' => fields.year = Some(value),
            'M' | 'L' => fields.month = Some(value),
            'd' => fields.day = Some(value),
            'D' => fields.day_of_year = Some(value),
            'H' => fields.hour = Some(value),
            'k' => fields.clock_hour = Some(value),
            'K' => fields.half_hour = Some(value),
            'h' => fields.clock_half_hour = Some(value),
            'm' => fields.minute = Some(value),
            _ => fields.second = Some(value),
        }
    }

    fn other(&mut self, letter: char, count: usize, at: usize) -> Result<usize, usize> {
        match letter {
            'M' | 'L' => {
                let short = count == 3;
                let found = MONTHS.iter().position(|m| {
                    let name = if short { m.get(..3).unwrap_or(m) } else { m };
                    starts_with(self.rest(at), name)
                });
                let month = found.ok_or(at)?;
                self.fields.month = Some(month as i64 + 1);
                Ok(at + if short { 3 } else { MONTHS[month].len() })
            }
            'a' => {
                let is_afternoon = starts_with(self.rest(at), "PM");
                if !is_afternoon && !starts_with(self.rest(at), "AM") {
                    return Err(at);
                }
                self.fields.is_afternoon = Some(is_afternoon);
                Ok(at + 2)
            }
            'G' => {
                let names = if count == 4 { ["Anno Domini", "Before Christ"] } else { ["AD", "BC"] };
                let found = names.iter().position(|n| starts_with(self.rest(at), n)).ok_or(at)?;
                self.fields.is_before_christ = Some(found == 1);
                Ok(at + names[found].len())
            }
            'S' => {
                let run = self.rest(at).bytes().take(count).take_while(u8::is_ascii_digit).count();
                if run == 0 {
                    return Err(at);
                }
                let value: i64 = self.rest(at).get(..run).and_then(|t| t.parse().ok()).ok_or(at)?;
                let nanos = (run..9).fold(value, |v, _| v * 10);
                // A field that is given twice says the same twice.
                if self.fields.nanos.is_some_and(|before| before != nanos) {
                    return Err(at);
                }
                self.fields.nanos = Some(nanos);
                Ok(at + run)
            }
            'X' | 'x' => self.offset(at, count, letter == 'X'),
            'Z' => match count {
                4 => self.localized_offset(at),
                5 => self.offset(at, 5, true),
                _ => self.offset(at, 2, false),
            },
            'O' => self.localized_offset(at),
            'V' | 'z' => self.zone_id(at, letter == 'z'),
            _ => Err(at),
        }
    }

    fn offset(&mut self, at: usize, count: usize, has_z: bool) -> Result<usize, usize> {
        let bytes = self.rest(at).as_bytes();
        if has_z && matches!(bytes.first(), Some(b'Z' | b'z')) {
            self.fields.zone = Some(TimeZone::UTC);
            return Ok(at + 1);
        }
        let sign = match bytes.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(at),
        };
        let colon = usize::from(count == 3 || count == 5);
        let two = |from: usize| -> Option<i32> {
            let digits = bytes.get(from..from + 2)?;
            let valid = digits.iter().all(u8::is_ascii_digit);
            valid.then(|| i32::from(digits[0] - b'0') * 10 + i32::from(digits[1] - b'0'))
        };
        let next = |from: usize| -> Option<i32> {
            if colon == 1 && bytes.get(from) != Some(&b':') { None } else { two(from + colon) }
        };
        let mut total = two(1).filter(|h| *h <= 18).ok_or(at)? * 3600;
        let mut length = 3;
        match next(length) {
            Some(minutes) if minutes < 60 => {
                total += minutes * 60;
                length += 2 + colon;
                if count > 3
                    && let Some(seconds) = next(length).filter(|s| *s < 60)
                {
                    total += seconds;
                    length += 2 + colon;
                }
            }
            _ if count > 1 => return Err(at),
            _ => {}
        }
        self.fields.zone = Some(TimeZone::Fixed(sign * total));
        Ok(at + length)
    }

    fn localized_offset(&mut self, at: usize) -> Result<usize, usize> {
        if !starts_with(self.rest(at), "GMT") {
            return Err(at);
        }
        let rest = self.rest(at + 3);
        let length = rest
            .bytes()
            .enumerate()
            .take_while(|(i, b)| if *i == 0 { matches!(b, b'+' | b'-') } else { b.is_ascii_digit() || *b == b':' })
            .count();
        let zone = match rest.get(..length) {
            Some("") | None => TimeZone::UTC,
            Some(offset) => TimeZone::parse(offset).map_err(|_| at)?,
        };
        self.fields.zone = Some(zone);
        Ok(at + 3 + length)
    }

    fn zone_id(&mut self, at: usize, has_names: bool) -> Result<usize, usize> {
        let (zone, length) = zone_of(self.rest(at), has_names).ok_or(at)?;
        self.fields.zone = Some(zone);
        Ok(at + length)
    }
}

/// The zone of the longest id that a text begins with, and the id's length.
pub(super) fn zone_of(text: &str, has_names: bool) -> Option<(TimeZone, usize)> {
    let most = text
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'+' | b'-' | b':' | b'~' | b'.'))
        .count();
    (1..=most).rev().find_map(|length| {
        let id = match text.get(..length)? {
            "PDT" if has_names => "PST",
            "EDT" if has_names => "America/New_York",
            "EST" if has_names => "America/New_York",
            "CDT" if has_names => "CST",
            "MDT" | "MST" if has_names => "America/Denver",
            "CEST" if has_names => "CET",
            other => other,
        };
        Some((TimeZone::parse(id).ok()?, length))
    })
}

pub(super) fn starts_with(text: &str, name: &str) -> bool {
    text.get(..name.len()).is_some_and(|t| t.eq_ignore_ascii_case(name))
}

fn is_number(item: &Item) -> bool {
    matches!(item, Item::Field(letter, count) if Digits::of(*letter, *count).is_some())
}

/// The digits of the numbers of fixed width that follow at once.
fn following(items: &[Item]) -> usize {
    items
        .iter()
        .map_while(|item| match item {
            Item::Field(letter, count) => Digits::of(*letter, *count).filter(Digits::is_fixed).map(|d| d.most),
            _ => None,
        })
        .sum()
}
