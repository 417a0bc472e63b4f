//! Dates and times of Rust as values.

use super::{Column, IntoLiteral, IntoValue};
use firesteel_proto::connect as proto;
use firesteel_types::{DataType, Literal};
use proto::expression::ExprType;
use std::time::{Duration, SystemTime};

fn micros(of: Duration) -> i64 {
    i64::try_from(of.as_micros()).unwrap_or(i64::MAX)
}

macro_rules! moments {
    ($($(#[$doc:meta])* ($($bound:tt)*) $type:ty => |$value:ident| $literal:expr;)*) => {
        $($(#[$doc])*
        impl<$($bound)*> IntoLiteral for $type {
            fn into_literal(self) -> proto::expression::Literal {
                let $value = self;
                $literal.into_literal()
            }
        }
        $(#[$doc])*
        impl<$($bound)*> IntoValue for $type {
            fn into_value(self) -> Column {
                Column::of(ExprType::Literal(self.into_literal()))
            }
        })*
    };
}

moments! {
    /// A TIMESTAMP, to the microsecond.
    () SystemTime => |time| Literal::Timestamp(match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => micros(after),
        Err(before) => -micros(before.duration()),
    });
    /// An INTERVAL DAY TO SECOND, to the microsecond.
    () Duration => |length| Literal::DayTimeInterval(micros(length), DataType::DAY_TIME);
}

#[cfg(feature = "chrono")]
mod calendar {
    use super::*;
    use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Timelike};

    moments! {
        /// A DATE.
        () NaiveDate => |date| {
            let days = date.signed_duration_since(NaiveDate::default()).num_days();
            Literal::Date(i32::try_from(days).unwrap_or(i32::MAX))
        };
        /// A TIMESTAMP_NTZ, to the microsecond.
        () NaiveDateTime => |time| Literal::TimestampNtz(time.and_utc().timestamp_micros());
        /// A TIMESTAMP, to the microsecond.
        (Z: TimeZone) DateTime<Z> => |time| Literal::Timestamp(time.timestamp_micros());
        /// A TIME, to the microsecond.
        () NaiveTime => |time| {
            let micros = i64::from(time.num_seconds_from_midnight()) * 1_000_000 + i64::from(time.nanosecond() / 1000);
            Literal::Time(micros * 1000, 6)
        };
        /// An INTERVAL DAY TO SECOND, to the microsecond.
        () TimeDelta => |length| {
            Literal::DayTimeInterval(length.num_microseconds().unwrap_or(i64::MAX), DataType::DAY_TIME)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::expression::literal::LiteralType;

    fn literal(of: impl IntoLiteral) -> Option<LiteralType> {
        of.into_literal().literal_type
    }

    #[test]
    fn times_are_microseconds() {
        let after = SystemTime::UNIX_EPOCH + Duration::from_millis(1500);
        let before = SystemTime::UNIX_EPOCH - Duration::from_millis(1500);
        assert_eq!(literal(after), Some(LiteralType::Timestamp(1_500_000)));
        assert_eq!(literal(before), Some(LiteralType::Timestamp(-1_500_000)));
        assert_eq!(literal(Duration::from_secs(90)), Some(LiteralType::DayTimeInterval(90_000_000)));
    }

    #[cfg(feature = "chrono")]
    #[test]
    fn dates_are_days() {
        use chrono::NaiveDate;
        let date = NaiveDate::from_ymd_opt(2022, 1, 8).unwrap();
        assert_eq!(literal(date), Some(LiteralType::Date(19_000)));
        let time = date.and_hms_opt(1, 0, 0).unwrap();
        let micros = 19_000 * 86_400_000_000 + 3_600_000_000;
        assert_eq!(literal(time), Some(LiteralType::TimestampNtz(micros)));
        assert_eq!(literal(time.and_utc()), Some(LiteralType::Timestamp(micros)));
        assert_eq!(literal(NaiveDate::from_ymd_opt(1969, 12, 31)), Some(LiteralType::Date(-1)));
    }
}
