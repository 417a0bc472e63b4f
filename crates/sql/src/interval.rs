//! Interval texts: `1 day 2 hours`, `1-2`, `1 02:03:04.5`.

mod multi_unit;
mod unit_to_unit;

pub(crate) use multi_unit::{IntervalError, parse_multi_unit};
pub(crate) use unit_to_unit::{UnitError, day_time, year_month};

pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(crate) const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
pub(crate) const MICROS_PER_HOUR: i64 = 60 * MICROS_PER_MINUTE;
pub(crate) const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;

/// Months, days and microseconds, each on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}
