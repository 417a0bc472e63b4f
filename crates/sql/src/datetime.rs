//! Texts of dates, times and timestamps, as far as no session zone is needed.

/// A day that a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Epoch,
    Now,
    Today,
    Tomorrow,
    Yesterday,
}

/// The moment that a word names, perhaps with a zone after it.
pub(crate) fn special_moment(text: &str) -> Option<Moment> {
    let word = text.split_whitespace().next()?.to_ascii_lowercase();
    match word.as_str() {
        "epoch" => Some(Moment::Epoch),
        "now" => Some(Moment::Now),
        "today" => Some(Moment::Today),
        "tomorrow" => Some(Moment::Tomorrow),
        "yesterday" => Some(Moment::Yesterday),
        _ => None,
    }
}

/// Days since 1970-01-01 of `[+-]y[-m[-d]]`, whatever follows a space or `T`.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let text = text.trim();
    let (is_negative, unsigned) = signed(text);
    let mut parts = unsigned.splitn(3, '-');
    let year = parts.next()?;
    let month = parts.next();
    let day = parts.next().map(|day| match day.find([' ', 'T']) {
        Some(end) => day.get(..end).unwrap_or_default(),
        None => day,
    });
    let year = number(year, 4, 7)?;
    let year = if is_negative { -year } else { year };
    let month = month.map_or(Some(1), |month| number(month, 1, 2))?;
    let day = day.map_or(Some(1), |day| number(day, 1, 2))?;
    i32::try_from(days_from_civil(year, month, day)?).ok()
}

/// A date and a time of day that were read from a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timestamp {
    /// None: a time without a date.
    days: Option<i64>,
    micros_of_day: i64,
    has_zone: bool,
}

impl Timestamp {
    pub fn has_zone(&self) -> bool {
        self.has_zone
    }

    /// Microseconds on the wall clock; a time alone has none.
    pub fn without_zone(&self) -> Option<i64> {
        self.days?.checked_mul(86_400_000_000)?.checked_add(self.micros_of_day)
    }
}

/// Reads `[+-]y[-m[-d[( |T)h[:m[:s[.f]]][zone]]]]` or `[T]h:m[:s[.f]][zone]`.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let (is_negative, unsigned) = signed(text);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let is_time = unsigned.starts_with('T') || unsigned.get(digits..)?.starts_with(':');
    if is_time {
        let (micros_of_day, has_zone) = time_and_zone(unsigned.strip_prefix('T').unwrap_or(unsigned))?;
        return if is_negative { None } else { Some(Timestamp { days: None, micros_of_day, has_zone }) };
    }
    let year = number(unsigned.get(..digits)?, 4, 6)?;
    let year = if is_negative { -year } else { year };
    let (month, rest) = date_part(unsigned.get(digits..)?)?;
    let (day, rest) = date_part(rest)?;
    let days = days_from_civil(year, month.unwrap_or(1), day.unwrap_or(1))?;
    if days.unsigned_abs() > 106_751_991 {
        return None;
    }
    if rest.is_empty() {
        return Some(Timestamp { days: Some(days), micros_of_day: 0, has_zone: false });
    }
    day?;
    let time = rest.strip_prefix([' ', 'T'])?;
    if time.is_empty() {
        return Some(Timestamp { days: Some(days), micros_of_day: 0, has_zone: false });
    }
    let (micros_of_day, has_zone) = time_and_zone(time)?;
    Some(Timestamp { days: Some(days), micros_of_day, has_zone })
}

/// `-12` of a date, if there is any.
fn date_part(text: &str) -> Option<(Option<i64>, &str)> {
    let Some(rest) = text.strip_prefix('-') else { return Some((None, text)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    Some((Some(number(rest.get(..digits)?, 1, 2)?), rest.get(digits..)?))
}

/// Nanoseconds since midnight of `h:m[:s[.f]] [AM|PM]`, to the microsecond.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    let upper = text.to_ascii_uppercase();
    let half = if upper.ends_with("AM") { Some(0) } else { upper.ends_with("PM").then_some(12) };
    let clock = if half.is_some() { text.get(..text.len().checked_sub(2)?)?.trim_end() } else { text };
    let (micros, rest) = time_of_day(clock.strip_prefix('T').unwrap_or(clock))?;
    if !rest.is_empty() || !clock.contains(':') {
        return None;
    }
    let micros = match half {
        Some(hours) => {
            let hour = micros / 3_600_000_000;
            if !(1..=12).contains(&hour) {
                return None;
            }
            micros - hour * 3_600_000_000 + (hour % 12 + hours) * 3_600_000_000
        }
        None => micros,
    };
    Some(micros * 1000)
}

fn time_and_zone(text: &str) -> Option<(i64, bool)> {
    let (micros, rest) = time_of_day(text)?;
    let zone = rest.trim();
    if zone.is_empty() { Some((micros, false)) } else { is_zone(zone).then_some((micros, true)) }
}

/// Microseconds of `h[:m[:s[.f]]]`, and what follows.
fn time_of_day(text: &str) -> Option<(i64, &str)> {
    let part = |text: &str| -> Option<(i64, usize)> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        Some((number(text.get(..digits)?, 1, 2)?, digits))
    };
    let (hour, end) = part(text)?;
    let mut rest = text.get(end..)?;
    let (mut minute, mut second, mut micros) = (0, 0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        let (value, end) = part(after)?;
        minute = value;
        rest = after.get(end..)?;
        if let Some(after) = rest.strip_prefix(':') {
            let (value, end) = part(after)?;
            second = value;
            rest = after.get(end..)?;
            if let Some(after) = rest.strip_prefix('.') {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                micros = format!("{:0<6}", after.get(..digits)?).get(..6)?.parse().ok()?;
                rest = after.get(digits..)?;
            }
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some((((hour * 60 + minute) * 60 + second) * 1_000_000 + micros, rest))
}

/// Whether a text looks like a zone: an offset, `Z`, or a region.
fn is_zone(text: &str) -> bool {
    let offset = text.strip_prefix("UTC").or_else(|| text.strip_prefix("GMT")).or_else(|| text.strip_prefix("UT"));
    let digits = |text: &str| text.strip_prefix(['+', '-']).is_some_and(is_offset);
    match offset {
        Some("") => true,
        Some(rest) => digits(rest) || is_region(text),
        None => text == "Z" || digits(text) || is_region(text),
    }
}

fn is_offset(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let is_number = |part: &&str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let hours = parts.first().and_then(|part| part.parse::<u8>().ok());
    match parts.as_slice() {
        [digits] if digits.len() == 4 => digits.bytes().all(|byte| byte.is_ascii_digit()),
        parts => parts.len() <= 3 && parts.iter().all(is_number) && hours.is_some_and(|hours| hours <= 18),
    }
}

fn is_region(text: &str) -> bool {
    text.len() >= 3
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+'))
        && (text.contains('/')
            || (text.len() <= 8 && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())))
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn number(digits: &str, shortest: usize, longest: usize) -> Option<i64> {
    let is_number = (shortest..=longest).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar, if there is such a day.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years are counted from March, so that the leap day is the last of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}
