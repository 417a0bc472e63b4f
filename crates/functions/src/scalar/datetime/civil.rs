//! Dates in 32-bit arithmetic, for columns of dates.

use firesteel_types::calendar::civil_from_days;

/// Days of a cycle of the calendar.
const ERA: u32 = 146_097;
/// So many cycles are added, so that all days of the usual range are positive.
const ERAS: u32 = 82;
const SHIFT: u32 = 719_468 + ERA * ERAS;
const YEARS: i32 = 400 * ERAS as i32;
/// Days that the quick way covers.
const QUICK: std::ops::RangeInclusive<i32> = -12_000_000..=500_000_000;

/// Year, month and day of a day.
///
/// ```
/// use firesteel_functions::scalar::datetime::civil::civil;
/// assert_eq!(civil(18_321), (2020, 2, 29));
/// ```
#[inline]
pub fn civil(days: i32) -> (i32, u32, u32) {
    if !QUICK.contains(&days) {
        let (year, month, day) = civil_from_days(i64::from(days));
        return (year as i32, month, day);
    }
    // Multiplications in place of divisions, after Neri and Schneider.
    let n = (days as u32).wrapping_add(SHIFT);
    let n1 = 4 * u64::from(n) + 3;
    let century = (n1 / u64::from(ERA)) as u32;
    let of_century = (n1 % u64::from(ERA)) as u32 / 4;
    let n2 = 4 * of_century + 3;
    let product = 2_939_745_u64 * u64::from(n2);
    let year_of_century = (product >> 32) as u32;
    let day_of_year = (product as u32) / 2_939_745 / 4;
    let year = 100 * century + year_of_century;
    let n3 = 2141 * day_of_year + 197_913;
    let (month, day) = (n3 >> 16, (n3 & 0xffff) / 2141);
    let after_december = day_of_year >= 306;
    let year = year as i32 - YEARS + i32::from(after_december);
    (year, if after_december { month - 12 } else { month }, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_calendar() {
        let mut days = -13_000_000_i32;
        while days < 600_000_000 {
            let (year, month, day) = civil_from_days(i64::from(days));
            assert_eq!(civil(days), (year as i32, month, day), "{days}");
            days += if days.abs() < 1_000_000 { 1 } else { 9973 };
        }
        for days in [i32::MIN, i32::MAX, 0, -1] {
            let (year, month, day) = civil_from_days(i64::from(days));
            assert_eq!(civil(days), (year as i32, month, day));
        }
    }
}
