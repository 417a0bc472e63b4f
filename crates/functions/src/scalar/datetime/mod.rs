//! Functions of dates and times.

pub mod civil;
pub mod current;
pub mod day;
pub mod field;
pub mod moment;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
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
];
