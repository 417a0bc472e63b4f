//! Days and moments of files that count old days by the Julian calendar, as Spark 2 and Hive do.

use arrow::array::types::{Date32Type, TimestampMicrosecondType};
use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{DataType as ArrowType, Schema, TimeUnit};
use firesteel_types::calendar::checked_days_from_civil;
use parquet::file::metadata::KeyValue;
use std::collections::HashMap;
use std::sync::Arc;

/// The first day that all calendars count alike: 1582-10-15.
const FIRST_COMMON_DAY: i64 = -141_427;

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// The zone that tells timestamps of 96 bits from others until they are read.
pub(crate) const ZONE_OF_INT96: &str = "+00:00";

/// Keys of Parquet's footers.
const DATES_KEY: &str = "org.apache.spark.legacyDateTime";
const INT96_KEY: &str = "org.apache.spark.legacyINT96";

/// Which columns of a file count old days by the Julian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Rebase {
    pub(crate) dates: bool,
    pub(crate) moments: bool,
    /// Moments of 96 bits.
    pub(crate) int96: bool,
    /// Moments without a zone.
    pub(crate) locals: bool,
}

impl Rebase {
    /// What the metadata of a Parquet file's schema say.
    pub(crate) fn of_schema(schema: &Schema) -> Self {
        let metadata: &HashMap<String, String> = schema.metadata();
        let dates = metadata.contains_key(DATES_KEY);
        Self { dates, moments: dates, int96: metadata.contains_key(INT96_KEY), locals: false }
    }

    /// What a Parquet footer's metadata say.
    pub(crate) fn of_footer(pairs: Option<&Vec<KeyValue>>) -> Self {
        let has = |key: &str| pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key == key));
        Self { dates: has(DATES_KEY), moments: has(DATES_KEY), int96: has(INT96_KEY), locals: false }
    }

    /// True where something is to be done.
    pub(crate) fn is_needed(self) -> bool {
        self.dates || self.moments || self.int96
    }

    /// True where values of a type change.
    pub(crate) fn changes(self, data_type: &ArrowType) -> bool {
        match data_type {
            ArrowType::Date32 => self.dates,
            ArrowType::Timestamp(TimeUnit::Microsecond, Some(zone)) => {
                if &**zone == ZONE_OF_INT96 {
                    self.int96
                } else {
                    self.moments
                }
            }
            ArrowType::Timestamp(TimeUnit::Microsecond, None) => self.locals,
            ArrowType::List(field) | ArrowType::Map(field, _) => self.changes(field.data_type()),
            ArrowType::Struct(fields) => fields.iter().any(|field| self.changes(field.data_type())),
            _ => false,
        }
    }

    /// The values by the calendar that Spark has; None where they stay.
    pub(crate) fn apply(self, array: &ArrayRef) -> Option<ArrayRef> {
        if !self.changes(array.data_type()) {
            return None;
        }
        match array.data_type() {
            ArrowType::Date32 => {
                let days = array.as_primitive::<Date32Type>();
                if days.values().iter().all(|day| i64::from(*day) >= FIRST_COMMON_DAY) {
                    return None;
                }
                let days: PrimitiveArray<Date32Type> = days.unary(|day| rebased(day.into()).try_into().unwrap_or(day));
                Some(Arc::new(days))
            }
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                let moments = array.as_primitive::<TimestampMicrosecondType>();
                if moments.values().iter().all(|moment| *moment >= FIRST_COMMON_DAY * MICROS_PER_DAY) {
                    return None;
                }
                let rebased: PrimitiveArray<TimestampMicrosecondType> = moments.unary(|moment| {
                    let day = rebased(moment.div_euclid(MICROS_PER_DAY));
                    day.saturating_mul(MICROS_PER_DAY).saturating_add(moment.rem_euclid(MICROS_PER_DAY))
                });
                Some(Arc::new(rebased.with_data_type(array.data_type().clone())))
            }
            _ => None,
        }
    }
}

/// The day that has the same year, month and day of month as a day counted by the Julian calendar.
fn rebased(day: i64) -> i64 {
    if day >= FIRST_COMMON_DAY {
        return day;
    }
    // Years begin in March here, so that days of a leap year come last.
    let days = day + 2_440_588 + 32_082;
    let year = (4 * days + 3).div_euclid(1461);
    let of_year = days - (1461 * year).div_euclid(4);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5;
    let (year, month) = (year - 4800 + month / 10, month + 3 - 12 * (month / 10));
    let first = u32::try_from(month).ok().and_then(|month| checked_days_from_civil(year, month, 1));
    first.map_or(day, |first| first + of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_days_keep_their_names() {
        let day = |year, month, day| checked_days_from_civil(year, month, day).unwrap_or_default();
        assert_eq!(rebased(day(0, 12, 30)), day(1, 1, 1));
        assert_eq!(rebased(day(1500, 1, 10)), day(1500, 1, 1));
        assert_eq!(rebased(day(1582, 10, 14)), day(1582, 10, 4));
        assert_eq!(rebased(day(1582, 10, 15)), day(1582, 10, 15));
        assert_eq!(rebased(0), 0);
        // Such a day is in one calendar only: the one after it takes its place.
        assert_eq!(rebased(day(1000, 3, 6)), day(1000, 3, 1));
    }
}
