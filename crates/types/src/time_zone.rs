//! Time zones by the ids that Spark (and so Java) accepts, and their offsets.

use crate::calendar::{MICROS_PER_SECOND, SECONDS_PER_DAY, civil_from_days, days_from_civil, is_leap_year, weekday};
use chrono::{DateTime, Offset, TimeZone as _};
use chrono_tz::Tz;
use firesteel_error::{Result, SparkError};

/// A time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeZone {
    /// Seconds east of Greenwich.
    Fixed(i32),
    /// Rules that change with time.
    Region(Tz),
}

/// Three-letter ids that stand for something else than themselves.
const SHORT_IDS: &[(&str, &str)] = &[
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("EST", "-05:00"),
    ("HST", "-10:00"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("MST", "-07:00"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

const MAX_OFFSET: i32 = 18 * 3600;
/// The compiled rules end here; later years repeat the rules of earlier ones.
const LAST_YEAR_WITH_RULES: i64 = 2099;
/// What the date library can represent, in seconds.
const INSTANTS: std::ops::Range<i64> = -8_000_000_000_000..8_000_000_000_000;

impl TimeZone {
    /// Greenwich.
    pub const UTC: TimeZone = TimeZone::Fixed(0);

    /// The zone of an id: a region, an offset, a three-letter id of Java, or `UTC`, `GMT` or `UT`
    /// with an offset; anything else is `INVALID_TIMEZONE`.
    ///
    /// ```
    /// use firesteel_types::time_zone::TimeZone;
    /// assert_eq!(TimeZone::parse("GMT+8")?, TimeZone::Fixed(8 * 3600));
    /// assert_eq!(TimeZone::parse("EST")?, TimeZone::parse("-05:00")?);
    /// assert!(TimeZone::parse("Mars/Phobos").unwrap_err().is("INVALID_TIMEZONE"));
    /// # Ok::<(), firesteel_error::SparkError>(())
    /// ```
    pub fn parse(id: &str) -> Result<TimeZone> {
        parse_id(id).ok_or_else(|| SparkError::new("INVALID_TIMEZONE").with("timeZone", id))
    }

    /// Seconds east of Greenwich at an instant, in seconds since the epoch.
    pub fn offset_at(self, instant: i64) -> i32 {
        let region = match self {
            TimeZone::Fixed(offset) => return offset,
            TimeZone::Region(region) => region,
        };
        let instant = within_rules(instant.clamp(INSTANTS.start, INSTANTS.end));
        match DateTime::from_timestamp(instant, 0) {
            Some(utc) => region.offset_from_utc_datetime(&utc.naive_utc()).fix().local_minus_utc(),
            None => 0,
        }
    }

    /// Seconds east of Greenwich at a wall clock's time, in seconds since 1970-01-01 00:00.
    ///
    /// Where clocks are set back, the earlier of the two instants counts;
    /// where they are set forward, the skipped time is read as if they had not been.
    pub fn offset_at_local(self, local: i64) -> i32 {
        if let TimeZone::Fixed(offset) = self {
            return offset;
        }
        let before = self.offset_at(local.saturating_sub(SECONDS_PER_DAY));
        let after = self.offset_at(local.saturating_add(SECONDS_PER_DAY));
        if before == after || self.offset_at(local - i64::from(before)) == before {
            return before;
        }
        if self.offset_at(local - i64::from(after)) == after { after } else { before }
    }

    /// Microseconds of the instant to microseconds of the wall clock.
    pub fn to_local(self, micros: i64) -> i64 {
        let offset = self.offset_at(micros.div_euclid(MICROS_PER_SECOND));
        micros.saturating_add(i64::from(offset) * MICROS_PER_SECOND)
    }

    /// Microseconds of the wall clock to microseconds of the instant; nothing beyond 64 bits.
    pub fn to_utc(self, local_micros: i64) -> Option<i64> {
        let offset = self.offset_at_local(local_micros.div_euclid(MICROS_PER_SECOND));
        local_micros.checked_sub(i64::from(offset) * MICROS_PER_SECOND)
    }

    /// The day in the zone of microseconds of the instant.
    pub fn day_of(self, micros: i64) -> i64 {
        let seconds = micros.div_euclid(MICROS_PER_SECOND);
        (seconds + i64::from(self.offset_at(seconds))).div_euclid(SECONDS_PER_DAY)
    }

    /// The instant of a day's start in the zone, in microseconds; nothing beyond 64 bits.
    pub fn start_of_day(self, day: i64) -> Option<i64> {
        self.to_utc(day.checked_mul(crate::calendar::MICROS_PER_DAY)?)
    }

    /// An offset as ids spell it, such as `+05:30`.
    pub fn offset_text(offset: i32) -> String {
        let (sign, seconds) = if offset < 0 { ('-', -offset) } else { ('+', offset) };
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        match seconds {
            0 => format!("{sign}{hours:02}:{minutes:02}"),
            _ => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
        }
    }

    /// A helper that remembers offsets, for many instants of one zone.
    pub fn cursor(self) -> ZoneCursor {
        ZoneCursor { zone: self, span: 0..0, offset: 0 }
    }
}

/// Offsets of a zone at many instants, remembering the last stretch of time.
#[derive(Debug, Clone)]
pub struct ZoneCursor {
    zone: TimeZone,
    /// Instants in seconds that all have the offset.
    span: std::ops::Range<i64>,
    offset: i32,
}

/// The least stretch remembered, about six days; zones change less often.
const STRETCH: i64 = 1 << 19;

impl ZoneCursor {
    /// Seconds east of Greenwich at an instant, in seconds since the epoch.
    pub fn offset_at(&mut self, instant: i64) -> i32 {
        if let TimeZone::Fixed(offset) = self.zone {
            return offset;
        }
        if self.span.contains(&instant) {
            return self.offset;
        }
        let offset = self.zone.offset_at(instant);
        let start = instant & !(STRETCH - 1);
        let end = start.saturating_add(STRETCH);
        if self.zone.offset_at(start) == offset && self.zone.offset_at(end) == offset {
            // Neighbouring stretches of the same offset grow together.
            let joins = self.offset == offset && self.span.end == start && !self.span.is_empty();
            self.span = if joins { self.span.start..end } else { start..end };
            self.offset = offset;
        }
        offset
    }

    /// True if no other offset than the remembered one can be that of a wall clock's time.
    fn settles(&self, local: i64) -> bool {
        let (start, end) = (local.saturating_sub(SECONDS_PER_DAY), local.saturating_add(SECONDS_PER_DAY));
        matches!(self.zone, TimeZone::Region(_)) && self.span.contains(&start) && self.span.contains(&end)
    }

    /// Microseconds of the instant to microseconds of the wall clock.
    pub fn to_local(&mut self, micros: i64) -> i64 {
        let offset = self.offset_at(micros.div_euclid(MICROS_PER_SECOND));
        micros.saturating_add(i64::from(offset) * MICROS_PER_SECOND)
    }

    /// Microseconds of the wall clock to microseconds of the instant; nothing beyond 64 bits.
    pub fn to_utc(&mut self, local_micros: i64) -> Option<i64> {
        let local = local_micros.div_euclid(MICROS_PER_SECOND);
        if !self.settles(local) {
            self.offset_at(local);
            if !self.settles(local) {
                // Lets the stretch grow where clocks run on.
                self.offset_at(local.saturating_add(SECONDS_PER_DAY));
            }
        }
        let offset = if self.settles(local) { self.offset } else { self.zone.offset_at_local(local) };
        local_micros.checked_sub(i64::from(offset) * MICROS_PER_SECOND)
    }
}

/// Moves instants after the last compiled rule to a year with the same calendar.
fn within_rules(instant: i64) -> i64 {
    let day = instant.div_euclid(SECONDS_PER_DAY);
    let (year, _, _) = civil_from_days(day);
    if year <= LAST_YEAR_WITH_RULES {
        return instant;
    }
    let start = days_from_civil(year, 1, 1);
    // Every combination of weekday and leap year occurs within 28 years.
    let twin = (LAST_YEAR_WITH_RULES - 28..LAST_YEAR_WITH_RULES).find(|twin| {
        is_leap_year(*twin) == is_leap_year(year) && weekday(days_from_civil(*twin, 1, 1)) == weekday(start)
    });
    match twin {
        Some(twin) => instant - (start - days_from_civil(twin, 1, 1)) * SECONDS_PER_DAY,
        None => instant,
    }
}

fn parse_id(id: &str) -> Option<TimeZone> {
    let id = SHORT_IDS.iter().find(|(short, _)| *short == id).map_or(id, |(_, long)| long);
    match id {
        "Z" | "UTC" | "GMT" | "UT" | "GMT0" | "Zulu" | "Etc/UTC" => return Some(TimeZone::UTC),
        _ => {}
    }
    if id.starts_with(['+', '-']) {
        return parse_offset(id).map(TimeZone::Fixed);
    }
    for prefix in ["UTC", "GMT", "UT"] {
        if let Some(offset) = id.strip_prefix(prefix)
            && offset.starts_with(['+', '-'])
        {
            return parse_offset(offset).map(TimeZone::Fixed);
        }
    }
    // Java's SystemV zones have followed the zones of the same name since 1970.
    id.strip_prefix("SystemV/").unwrap_or(id).parse().ok().map(TimeZone::Region)
}

/// `+h`, `+hh`, `+h:mm`, `+hh:m`, `+hh:mm`, `+hhmm`, `+hh:mm:ss` or `+hhmmss`.
fn parse_offset(text: &str) -> Option<i32> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits = &text[1..];
    let parts: Vec<&str> = if digits.contains(':') {
        digits.split(':').collect()
    } else {
        match digits.len() {
            1 | 2 => vec![digits],
            4 => vec![digits.get(..2)?, digits.get(2..)?],
            6 => vec![digits.get(..2)?, digits.get(2..4)?, digits.get(4..)?],
            _ => return None,
        }
    };
    let number = |part: &&str| -> Option<i32> {
        let valid = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        if valid { part.parse().ok() } else { None }
    };
    // A single digit of minutes ends the id.
    if parts.len() > 3 || (parts.len() == 3 && (parts[1].len() != 2 || parts[2].len() != 2)) {
        return None;
    }
    let hours = number(parts.first()?)?;
    let minutes = parts.get(1).map_or(Some(0), number)?;
    let seconds = parts.get(2).map_or(Some(0), number)?;
    let total = hours * 3600 + minutes * 60 + seconds;
    (minutes < 60 && seconds < 60 && total <= MAX_OFFSET).then_some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_javas() {
        // Id, offset on 1970-01-01 and on 2020-07-01, as Spark 4.2.1 on Java 17 has them.
        for (id, winter, summer) in [
            ("UTC", 0, 0),
            ("Z", 0, 0),
            ("+8", 28800, 28800),
            ("+8:00", 28800, 28800),
            ("-08:00", -28800, -28800),
            ("+0800", 28800, 28800),
            ("+08:0", 28800, 28800),
            ("+1:5", 3900, 3900),
            ("+08:30:15", 30615, 30615),
            ("+083015", 30615, 30615),
            ("GMT+08:00", 28800, 28800),
            ("UTC+1:30", 5400, 5400),
            ("UT+01", 3600, 3600),
            ("GMT-0", 0, 0),
            ("PST", -28800, -25200),
            ("EST", -18000, -18000),
            ("MST", -25200, -25200),
            ("HST", -36000, -36000),
            ("BST", 21600, 21600),
            ("AST", -36000, -28800),
            ("Etc/GMT+8", -28800, -28800),
            ("EST5EDT", -18000, -14400),
            ("US/Pacific", -28800, -25200),
            ("CET", 3600, 7200),
            ("Asia/Saigon", 28800, 25200),
            ("Europe/Kyiv", 10800, 10800),
            ("GB", 3600, 3600),
            ("SystemV/PST8PDT", -28800, -25200),
            ("+18:00", 64800, 64800),
        ] {
            let zone = TimeZone::parse(id).unwrap();
            assert_eq!((zone.offset_at(0), zone.offset_at(1_593_561_600)), (winter, summer), "{id}");
        }
    }

    #[test]
    fn other_ids_fail() {
        for id in [
            "",
            "z",
            "utc",
            "+18:01",
            "+19",
            "Foo/Bar",
            "UTC+",
            "america/los_angeles",
            "+001:00",
            " UTC",
            "+08:60",
            "UTC+1830",
            "EDT",
            "+",
            "+é",
            "+08:00:0",
        ] {
            assert!(TimeZone::parse(id).unwrap_err().is("INVALID_TIMEZONE"), "{id}");
        }
    }

    #[test]
    fn wall_clocks_become_instants() {
        // Zone, wall clock, epoch second, offset there: ZonedDateTime.of on Java 17.
        for (id, clock, instant, offset) in [
            ("America/Los_Angeles", (2020, 3, 8, 2, 30), 1_583_663_400, -25200),
            ("America/Los_Angeles", (2020, 3, 8, 1, 59), 1_583_661_540, -28800),
            ("America/Los_Angeles", (2020, 3, 8, 3, 0), 1_583_661_600, -25200),
            ("America/Los_Angeles", (2020, 11, 1, 1, 30), 1_604_219_400, -25200),
            ("America/Los_Angeles", (2020, 11, 1, 2, 0), 1_604_224_800, -28800),
            ("Pacific/Apia", (2011, 12, 30, 12, 0), 1_325_282_400, 50400),
            ("Pacific/Apia", (2011, 12, 29, 23, 59), 1_325_239_140, -36000),
            ("Pacific/Apia", (2011, 12, 31, 0, 0), 1_325_239_200, 50400),
            ("America/Los_Angeles", (1, 1, 1, 0, 0), -62_135_568_422, -28378),
            ("America/Los_Angeles", (1883, 11, 18, 12, 0), -2_717_640_422, -28378),
            ("Asia/Kolkata", (1900, 1, 1, 0, 0), -2_209_008_070, 19270),
            ("America/Los_Angeles", (2150, 7, 1, 0, 0), 5_695_945_200, -25200),
            ("America/Los_Angeles", (2400, 12, 1, 0, 0), 13_598_438_400, -28800),
            ("America/Los_Angeles", (9999, 7, 1, 0, 0), 253_386_428_400, -25200),
            ("Australia/Lord_Howe", (2020, 4, 5, 1, 45), 1_586_011_500, 39600),
            ("Asia/Manila", (1844, 12, 31, 0, 0), -3_944_621_032, 29032),
            ("Europe/London", (2099, 7, 1, 12, 0), 4_086_586_800, 3600),
            ("Europe/London", (2100, 7, 1, 12, 0), 4_118_122_800, 3600),
            ("Australia/Sydney", (2345, 1, 1, 12, 0), 11_833_866_000, 39600),
            ("Australia/Sydney", (2101, 10, 4, 2, 30), 4_157_796_600, 39600),
        ] {
            let zone = TimeZone::parse(id).unwrap();
            let (year, month, day, hour, minute) = clock;
            let local = days_from_civil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60;
            let micros = local * MICROS_PER_SECOND;
            assert_eq!(zone.to_utc(micros), Some(instant * MICROS_PER_SECOND), "{id} {clock:?}");
            assert_eq!(zone.offset_at(instant), offset, "{id} {clock:?}");
            let mut cursor = zone.cursor();
            assert_eq!(cursor.to_utc(micros), Some(instant * MICROS_PER_SECOND), "{id} {clock:?}");
            assert_eq!(cursor.offset_at(instant), offset, "{id} {clock:?}");
        }
    }

    #[test]
    fn a_cursor_agrees_with_its_zone() {
        for id in ["America/Los_Angeles", "Pacific/Apia", "Europe/Dublin", "Africa/Casablanca"] {
            let zone = TimeZone::parse(id).unwrap();
            let mut cursor = zone.cursor();
            let mut at = -4_000_000_000_000_000;
            while at < 5_000_000_000_000_000 {
                assert_eq!(cursor.to_local(at), zone.to_local(at), "{id} {at}");
                assert_eq!(cursor.to_utc(at), zone.to_utc(at), "{id} {at}");
                at += 47_111_000_017;
            }
        }
    }

    #[test]
    fn the_ends_of_time_do_no_harm() {
        let zone = TimeZone::parse("America/Los_Angeles").unwrap();
        assert_eq!(zone.to_local(i64::MAX), 9_223_372_036_854_775_807 - 28_800_000_000);
        assert_eq!(zone.to_utc(i64::MAX), None);
        let mut cursor = zone.cursor();
        assert_eq!(cursor.to_local(i64::MIN), i64::MIN);
        assert_eq!(cursor.to_utc(i64::MIN), zone.to_utc(i64::MIN));
    }

    #[test]
    fn offsets_have_text() {
        assert_eq!(TimeZone::offset_text(19800), "+05:30");
        assert_eq!(TimeZone::offset_text(-28378), "-07:52:58");
    }
}
