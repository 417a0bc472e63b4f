//! Dates, times and timestamps as text.

use crate::calendar::{MICROS_PER_SECOND, SECONDS_PER_DAY, civil_from_days};
use crate::interval_text::write_fraction;
use std::fmt::Write;

/// Appends a day as `2020-01-31`; years of more than four digits carry a sign.
///
/// ```
/// let mut out = String::new();
/// firesteel_types::moment_text::write_date(&mut out, 18_262);
/// assert_eq!(out, "2020-01-01");
/// ```
pub fn write_date(out: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    if (0..=9999).contains(&year) {
        let year = year as u32;
        let digits = [
            year / 1000,
            year / 100 % 10,
            year / 10 % 10,
            year % 10,
            10,
            month / 10,
            month % 10,
            10,
            day / 10,
            day % 10,
        ];
        out.extend(digits.map(|digit| if digit == 10 { '-' } else { char::from(b'0' + digit as u8) }));
        return;
    }
    let sign = if year < 0 { '-' } else { '+' };
    // Writing to a string cannot fail.
    let _ = write!(out, "{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs());
}

/// Appends microseconds of a wall clock as `2020-01-31 12:34:56.5`, the fraction without trailing zeros.
pub fn write_timestamp(out: &mut String, local_micros: i64) {
    write_timestamp_at(out, local_micros, 0);
}

/// Appends microseconds of the instant on the wall clock so many seconds east of Greenwich.
pub fn write_timestamp_at(out: &mut String, micros: i64, offset: i32) {
    // Seconds leave room for the offset where microseconds would overflow.
    let seconds = micros.div_euclid(MICROS_PER_SECOND) + i64::from(offset);
    write_date(out, seconds.div_euclid(SECONDS_PER_DAY));
    out.push(' ');
    write_clock(out, seconds.rem_euclid(SECONDS_PER_DAY));
    write_fraction(out, micros.rem_euclid(MICROS_PER_SECOND).unsigned_abs());
}

/// Appends nanoseconds since midnight as `12:34:56.5`.
pub fn write_time(out: &mut String, nanos: i64) {
    write_clock(out, nanos.div_euclid(1_000_000_000));
    write_fraction(out, (nanos.rem_euclid(1_000_000_000) / 1000).unsigned_abs());
}

fn write_clock(out: &mut String, seconds: i64) {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    for (i, count) in [hours, minutes, seconds].into_iter().enumerate() {
        if i > 0 {
            out.push(':');
        }
        let count = count.rem_euclid(100) as u8;
        out.push(char::from(b'0' + count / 10));
        out.push(char::from(b'0' + count % 10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::days_from_civil;
    use crate::time_zone::TimeZone;

    #[test]
    fn dates_are_sparks() {
        for (year, month, day, text) in [
            (1, 1, 1, "0001-01-01"),
            (-1, 1, 1, "-0001-01-01"),
            (10_000, 1, 1, "+10000-01-01"),
            (1582, 10, 10, "1582-10-10"),
            (0, 12, 31, "0000-12-31"),
        ] {
            let mut out = String::new();
            write_date(&mut out, days_from_civil(year, month, day));
            assert_eq!(out, text);
        }
    }

    #[test]
    fn timestamps_are_sparks() {
        let zone = TimeZone::parse("America/Los_Angeles").unwrap();
        for (micros, text) in [
            (1_577_865_600_000_000, "2020-01-01 00:00:00"),
            (1_577_865_600_100_000, "2020-01-01 00:00:00.1"),
            (i64::MAX, "+294247-01-09 20:00:54.775807"),
            (i64::MIN, "-290308-12-21 12:06:07.224192"),
        ] {
            let mut out = String::new();
            write_timestamp_at(&mut out, micros, zone.offset_at(micros.div_euclid(1_000_000)));
            assert_eq!(out, text);
        }
        let mut out = String::new();
        write_timestamp(&mut out, -1);
        assert_eq!(out, "1969-12-31 23:59:59.999999");
    }

    #[test]
    fn times_are_sparks() {
        let mut out = String::new();
        write_time(&mut out, 3_723_100_000_000);
        assert_eq!(out, "01:02:03.1");
    }
}
