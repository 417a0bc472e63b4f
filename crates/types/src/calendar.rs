//! The proleptic Gregorian calendar: days and microseconds since 1970-01-01.

/// Microseconds of a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds of a minute.
pub const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
/// Microseconds of an hour.
pub const MICROS_PER_HOUR: i64 = 60 * MICROS_PER_MINUTE;
/// Microseconds of a day.
pub const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;
/// Nanoseconds of a day.
pub const NANOS_PER_DAY: i64 = 1000 * MICROS_PER_DAY;
/// Seconds of a day.
pub const SECONDS_PER_DAY: i64 = 86_400;

/// After so many days the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;
/// From 0000-03-01, where the arithmetic starts, to 1970-01-01.
const EPOCH_SHIFT: i64 = 719_468;

/// Year, month (1..=12) and day (1..=31) of a day.
///
/// ```
/// use firesteel_types::calendar::{civil_from_days, days_from_civil};
/// assert_eq!(civil_from_days(18_262), (2020, 1, 1));
/// assert_eq!(days_from_civil(2020, 1, 1), 18_262);
/// assert_eq!(civil_from_days(days_from_civil(-44, 3, 15)), (-44, 3, 15));
/// ```
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    // Years begin in March, so that the leap day comes last.
    let shifted = days + EPOCH_SHIFT;
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

/// The day of a date; months and days beyond their range are not checked.
pub fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = i64::from(if month > 2 { month - 3 } else { month + 9 });
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - EPOCH_SHIFT
}

/// True for years of 366 days.
pub fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The number of days of a month.
pub fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap_year(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day of a date that exists, or nothing.
pub fn checked_days_from_civil(year: i64, month: u32, day: u32) -> Option<i64> {
    let exists = (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month);
    exists.then(|| days_from_civil(year, month, day))
}

/// Monday is 0.
pub fn weekday(days: i64) -> u32 {
    (days + 3).rem_euclid(7) as u32
}

/// The day of the year, from 1.
pub fn day_of_year(days: i64) -> u32 {
    let (year, _, _) = civil_from_days(days);
    (days - days_from_civil(year, 1, 1) + 1) as u32
}

/// The day plus months; where the month is too short, its last day.
pub fn add_months(days: i64, months: i64) -> i64 {
    let (year, month, day) = civil_from_days(days);
    let total = year * 12 + i64::from(month) - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    days_from_civil(year, month, day.min(days_in_month(year, month)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_agree() {
        let mut days = days_from_civil(-401, 12, 31);
        let mut expected = (-401, 12, 31);
        while expected.0 < 2500 {
            assert_eq!(civil_from_days(days), expected);
            assert_eq!(days_from_civil(expected.0, expected.1, expected.2), days);
            days += 1;
            expected = match expected {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, day) if day == days_in_month(year, month) => (year, month + 1, 1),
                (year, month, day) => (year, month, day + 1),
            };
        }
    }

    #[test]
    fn months_end_early() {
        let end_of_january = days_from_civil(2020, 1, 31);
        assert_eq!(civil_from_days(add_months(end_of_january, 1)), (2020, 2, 29));
        assert_eq!(civil_from_days(add_months(end_of_january, -23)), (2018, 2, 28));
    }

    #[test]
    fn weekdays_start_on_monday() {
        assert_eq!(weekday(0), 3);
        assert_eq!(weekday(-4), 6);
        assert_eq!(day_of_year(days_from_civil(2020, 12, 31)), 366);
        assert_eq!(checked_days_from_civil(2021, 2, 29), None);
    }
}
