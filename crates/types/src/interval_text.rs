//! Intervals as text.

use crate::calendar::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND};
use crate::{DayTimeField, YearMonthField};
use std::fmt::Write;

/// Appends months as `INTERVAL '1-2' YEAR TO MONTH`.
pub fn write_year_month(out: &mut String, months: i32, start: YearMonthField, end: YearMonthField) {
    let sign = if months < 0 { "-" } else { "" };
    let total = months.unsigned_abs();
    // Writing to a string cannot fail, here and below.
    let _ = match (start, end) {
        (YearMonthField::Year, YearMonthField::Year) => write!(out, "INTERVAL '{sign}{}' YEAR", total / 12),
        (YearMonthField::Month, _) => write!(out, "INTERVAL '{sign}{total}' MONTH"),
        _ => write!(out, "INTERVAL '{sign}{}-{}' YEAR TO MONTH", total / 12, total % 12),
    };
}

/// Appends microseconds as `INTERVAL '1 02:03:04.5' DAY TO SECOND`.
///
/// ```
/// use firesteel_types::{DayTimeField, interval_text::write_day_time};
/// let mut out = String::new();
/// write_day_time(&mut out, 5 * 3_600_000_000, DayTimeField::Hour, DayTimeField::Hour);
/// assert_eq!(out, "INTERVAL '05' HOUR");
/// ```
pub fn write_day_time(out: &mut String, micros: i64, start: DayTimeField, end: DayTimeField) {
    out.push_str("INTERVAL '");
    write_day_time_value(out, micros, start, end);
    out.push_str("' ");
    out.push_str(&start.name().to_ascii_uppercase());
    if start != end {
        out.push_str(" TO ");
        out.push_str(&end.name().to_ascii_uppercase());
    }
}

/// Appends the part inside the quotes.
fn write_day_time_value(out: &mut String, micros: i64, start: DayTimeField, end: DayTimeField) {
    if micros < 0 {
        out.push('-');
    }
    let mut rest = micros.unsigned_abs();
    let fields = [
        (DayTimeField::Day, MICROS_PER_DAY),
        (DayTimeField::Hour, MICROS_PER_HOUR),
        (DayTimeField::Minute, MICROS_PER_MINUTE),
        (DayTimeField::Second, MICROS_PER_SECOND),
    ];
    for (field, unit) in fields.into_iter().filter(|(field, _)| (start..=end).contains(field)) {
        let count = rest / unit.unsigned_abs();
        rest %= unit.unsigned_abs();
        if field != start {
            out.push(if field == DayTimeField::Hour { ' ' } else { ':' });
        }
        let _ = if field == DayTimeField::Day { write!(out, "{count}") } else { write!(out, "{count:02}") };
        if field == DayTimeField::Second {
            write_fraction(out, rest);
        }
    }
}

/// Appends months, days and microseconds as `1 years 2 months 3 days 4 hours 5.5 seconds`.
pub fn write_calendar_interval(out: &mut String, months: i32, days: i32, micros: i64) {
    if months == 0 && days == 0 && micros == 0 {
        out.push_str("0 seconds");
        return;
    }
    let mut first = true;
    let mut part = |out: &mut String, count: i64, unit: &str| {
        if count != 0 {
            let space = if std::mem::take(&mut first) { "" } else { " " };
            let _ = write!(out, "{space}{count} {unit}");
        }
    };
    part(out, i64::from(months / 12), "years");
    part(out, i64::from(months % 12), "months");
    part(out, i64::from(days), "days");
    part(out, micros / MICROS_PER_HOUR, "hours");
    part(out, micros / MICROS_PER_MINUTE % 60, "minutes");
    let seconds = micros % MICROS_PER_MINUTE;
    if seconds != 0 {
        let space = if first { "" } else { " " };
        let sign = if seconds < 0 { "-" } else { "" };
        let seconds = seconds.unsigned_abs();
        let _ = write!(out, "{space}{sign}{}", seconds / 1_000_000);
        write_fraction(out, seconds % 1_000_000);
        out.push_str(" seconds");
    }
}

/// Appends `.` and the microseconds without trailing zeros, or nothing.
pub(crate) fn write_fraction(out: &mut String, micros: u64) {
    if micros != 0 {
        let _ = write!(out, ".{micros:06}");
        out.truncate(out.trim_end_matches('0').len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_time_intervals_are_sparks() {
        use DayTimeField::{Day, Hour, Minute, Second};
        const DAY: i64 = MICROS_PER_DAY;
        for (micros, start, end, text) in [
            (
                DAY + 2 * MICROS_PER_HOUR + 3 * MICROS_PER_MINUTE + 4_500_000,
                Day,
                Second,
                "INTERVAL '1 02:03:04.5' DAY TO SECOND",
            ),
            (-(DAY + 1), Day, Second, "INTERVAL '-1 00:00:00.000001' DAY TO SECOND"),
            (DAY, Day, Day, "INTERVAL '1' DAY"),
            (DAY + 2 * MICROS_PER_HOUR, Day, Hour, "INTERVAL '1 02' DAY TO HOUR"),
            (100 * MICROS_PER_HOUR, Hour, Hour, "INTERVAL '100' HOUR"),
            (2 * MICROS_PER_HOUR + 3 * MICROS_PER_MINUTE, Hour, Minute, "INTERVAL '02:03' HOUR TO MINUTE"),
            (5 * MICROS_PER_MINUTE + 6_000_000, Minute, Second, "INTERVAL '05:06' MINUTE TO SECOND"),
            (-1_500_000, Second, Second, "INTERVAL '-01.5' SECOND"),
            (61 * MICROS_PER_MINUTE, Minute, Minute, "INTERVAL '61' MINUTE"),
            (0, Day, Day, "INTERVAL '0' DAY"),
            (i64::MAX, Day, Second, "INTERVAL '106751991 04:00:54.775807' DAY TO SECOND"),
            (i64::MIN, Day, Second, "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND"),
        ] {
            let mut out = String::new();
            write_day_time(&mut out, micros, start, end);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn year_month_intervals_are_sparks() {
        use YearMonthField::{Month, Year};
        for (months, start, end, text) in [
            (14, Year, Month, "INTERVAL '1-2' YEAR TO MONTH"),
            (-14, Year, Month, "INTERVAL '-1-2' YEAR TO MONTH"),
            (36, Year, Year, "INTERVAL '3' YEAR"),
            (14, Month, Month, "INTERVAL '14' MONTH"),
            (0, Month, Month, "INTERVAL '0' MONTH"),
        ] {
            let mut out = String::new();
            write_year_month(&mut out, months, start, end);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn calendar_intervals_are_sparks() {
        for (months, days, micros, text) in [
            (
                14,
                25,
                5 * MICROS_PER_HOUR + 6 * MICROS_PER_MINUTE + 7_500_000,
                "1 years 2 months 25 days 5 hours 6 minutes 7.5 seconds",
            ),
            (0, 0, 0, "0 seconds"),
            (0, 0, 1, "0.000001 seconds"),
            (
                14,
                -3,
                -(MICROS_PER_HOUR + 2 * MICROS_PER_MINUTE + 3_500_000),
                "1 years 2 months -3 days -1 hours -2 minutes -3.5 seconds",
            ),
            (-13, 0, 0, "-1 years -1 months"),
            (0, 0, 100 * MICROS_PER_HOUR, "100 hours"),
            (0, 1, -500_000, "1 days -0.5 seconds"),
        ] {
            let mut out = String::new();
            write_calendar_interval(&mut out, months, days, micros);
            assert_eq!(out, text);
        }
    }
}
