//! Functions of dates and times.

pub mod bucket;
pub mod civil;
pub mod current;
pub mod day;
pub mod epoch;
pub mod field;
pub mod format;
pub mod legacy;
pub mod make;
pub mod moment;
pub mod parse;
pub mod part;
pub mod pattern;
pub mod print;
pub mod scan;
#[cfg(test)]
mod tests;
pub mod time;
pub mod truncate;
pub mod unit;
pub mod window;
pub mod zone;

use crate::Function;

/// Kernels whose calls cannot be rebuilt from the function's declaration.
pub const KERNELS: &[&Function] = &[&bucket::BUCKET_KERNEL, &parse::SAME_MICROS, &window::WINDOW_ROWS_KERNEL];

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &bucket::TIME_BUCKET,
    &current::CURRENT_DATE,
    &current::CURRENT_TIME,
    &current::CURRENT_TIMESTAMP,
    &current::CURRENT_TIMEZONE,
    &current::LOCALTIMESTAMP,
    &current::NOW,
    &day::ADD_MONTHS,
    &day::DATEDIFF,
    &day::DATE_ADD,
    &day::DATE_DIFF,
    &day::DATE_FROM_UNIX_DATE,
    &day::DATE_SUB,
    &day::LAST_DAY,
    &day::MAKE_DATE,
    &day::MONTHS_BETWEEN,
    &day::NEXT_DAY,
    &day::UNIX_DATE,
    &field::DAY,
    &field::DAYNAME,
    &field::DAYOFMONTH,
    &field::DAYOFWEEK,
    &field::DAYOFYEAR,
    &field::HOUR,
    &field::MINUTE,
    &field::MONTH,
    &field::MONTHNAME,
    &field::QUARTER,
    &field::SECOND,
    &field::WEEKDAY,
    &field::WEEKOFYEAR,
    &field::YEAR,
    &epoch::TIMESTAMP_MICROS,
    &epoch::TIMESTAMP_MILLIS,
    &epoch::TIMESTAMP_SECONDS,
    &epoch::UNIX_MICROS,
    &epoch::UNIX_MILLIS,
    &epoch::UNIX_SECONDS,
    &format::DATE_FORMAT,
    &format::FROM_UNIXTIME,
    &make::MAKE_TIMESTAMP,
    &make::MAKE_TIMESTAMP_LTZ,
    &make::MAKE_TIMESTAMP_NTZ,
    &make::TRY_MAKE_TIMESTAMP,
    &make::TRY_MAKE_TIMESTAMP_LTZ,
    &make::TRY_MAKE_TIMESTAMP_NTZ,
    &parse::TO_DATE,
    &parse::TO_TIMESTAMP,
    &parse::TO_TIMESTAMP_LTZ,
    &parse::TO_TIMESTAMP_NTZ,
    &parse::TO_UNIX_TIMESTAMP,
    &parse::TRY_TO_DATE,
    &parse::TRY_TO_TIMESTAMP,
    &parse::UNIX_TIMESTAMP,
    &part::DATEPART,
    &part::DATE_PART,
    &part::EXTRACT,
    &time::MAKE_TIME,
    &time::TIME_DIFF,
    &time::TIME_FROM_MICROS,
    &time::TIME_FROM_MILLIS,
    &time::TIME_FROM_SECONDS,
    &time::TIME_TO_MICROS,
    &time::TIME_TO_MILLIS,
    &time::TIME_TO_SECONDS,
    &time::TO_TIME,
    &time::TRY_TO_TIME,
    &truncate::DATE_TRUNC,
    &truncate::TIME_TRUNC,
    &truncate::TRUNC,
    &unit::TIMESTAMPADD,
    &unit::TIMESTAMPDIFF,
    &window::SESSION_TIME,
    &window::SESSION_WINDOW,
    &window::WINDOW,
    &window::WINDOW_ROWS,
    &window::WINDOW_TIME,
    &zone::CONVERT_TIMEZONE,
    &zone::FROM_UTC_TIMESTAMP,
    &zone::TO_UTC_TIMESTAMP,
];
