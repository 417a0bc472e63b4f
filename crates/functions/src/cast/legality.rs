//! Which casts are legal, and which of them can make nulls.

use super::Mode;
use crate::coercion::decimal;
use crate::coercion::is_atomic;
use firesteel_types::{DataType, srid};

/// Whether values of one type can be cast to another.
///
/// From rows to columns; `a` legal in every mode, `L` only in legacy mode, `.` never:
///
/// | from \ to | boolean | numeric | string | binary | date | timestamp | ntz | interval | ANSI intervals |
/// |-----------|---------|---------|--------|--------|------|-----------|-----|----------|----------------|
/// | boolean   | a       | a       | a      | .      | .    | L         | .   | .        | .              |
/// | integral  | a       | a       | a      | L      | .    | a         | .   | .        | a              |
/// | float     | a       | a       | a      | .      | .    | a         | .   | .        | .              |
/// | decimal   | a       | a       | a      | .      | .    | a         | .   | .        | a              |
/// | string    | a       | a       | a      | a      | a    | a         | a   | a        | a              |
/// | binary    | .       | .       | a      | a      | .    | .         | .   | .        | .              |
/// | date      | L       | L       | a      | .      | a    | a         | a   | .        | .              |
/// | timestamp | L       | a       | a      | .      | a    | a         | a   | .        | .              |
/// | ntz       | .       | .       | a      | .      | a    | a         | a   | .        | .              |
/// | interval  | .       | .       | a      | .      | .    | .         | .   | a        | .              |
/// | ANSI int. | .       | exact   | a      | .      | .    | .         | .   | .        | same family    |
///
/// Void can be cast to anything, anything to a string; arrays, maps and structs go part by part.
pub fn can_cast(from: &DataType, to: &DataType, mode: Mode) -> bool {
    use DataType as T;
    let legacy = mode == Mode::Legacy;
    if from == to {
        return true;
    }
    match (from, to) {
        (T::Geometry(_), T::Geometry(to)) | (T::Geography(_), T::Geography(to)) => *to == srid::ANY,
        (T::Geometry(from), T::Geography(to)) | (T::Geography(from), T::Geometry(to)) => from == to,
        (T::Geometry(_) | T::Geography(_), T::String(_) | T::Char(_) | T::Varchar(_)) => false,
        (T::Null, _) | (_, T::String(_) | T::Char(_) | T::Varchar(_)) => !matches!(to, T::Unparsed(_)),
        (T::Udt { sql_type, .. }, _) => can_cast(sql_type, to, mode),
        (T::Variant, t) => {
            !matches!(t, T::CalendarInterval | T::YearMonthInterval(..) | T::DayTimeInterval(..) | T::Udt { .. })
        }
        (f, T::Variant) => !f.is_ansi_interval() && !matches!(f, T::CalendarInterval | T::Map { .. } | T::Struct(_)),
        (f, T::Boolean) => f.is_numeric() || f.is_string() || (legacy && matches!(f, T::Date | T::Timestamp)),
        (T::Boolean, T::Timestamp) => legacy,
        (f, T::Binary) => f.is_string() || (legacy && f.is_integral()),
        (f, T::Date) => f.is_string() || f.is_datetime(),
        (f, T::Timestamp) => f.is_string() || f.is_datetime() || f.is_numeric(),
        (f, T::TimestampNtz) => f.is_string() || f.is_datetime(),
        (f, T::Time(_)) => f.is_string() || matches!(f, T::Time(_)),
        (f, T::CalendarInterval) => f.is_string(),
        (T::DayTimeInterval(..), T::DayTimeInterval(..)) | (T::YearMonthInterval(..), T::YearMonthInterval(..)) => true,
        (f, t) if t.is_ansi_interval() => f.is_string() || f.is_integral() || matches!(f, T::Decimal(..)),
        (f, t) if t.is_numeric() => {
            f.is_numeric()
                || f.is_string()
                || matches!(f, T::Boolean | T::Timestamp)
                || (matches!(f, T::Time(_)) && !matches!(t, T::Float | T::Double))
                || (legacy && matches!(f, T::Date))
                || (f.is_ansi_interval() && !matches!(t, T::Float | T::Double))
        }
        (T::Array { element: a, contains_null: n }, T::Array { element: b, contains_null: m }) => {
            can_cast(a, b, mode) && nulls_fit(*n || part_can_become_null(a, b, mode), *m)
        }
        (T::Map { key: k, value: a, value_contains_null: n }, T::Map { key: l, value: b, value_contains_null: m }) => {
            can_cast(k, l, mode)
                && !part_can_become_null(k, l, mode)
                && can_cast(a, b, mode)
                && nulls_fit(*n || part_can_become_null(a, b, mode), *m)
        }
        (T::Struct(a), T::Struct(b)) => {
            a.fields.len() == b.fields.len()
                && a.fields.iter().zip(&b.fields).all(|(x, y)| {
                    can_cast(&x.data_type, &y.data_type, mode)
                        && nulls_fit(x.nullable || part_can_become_null(&x.data_type, &y.data_type, mode), y.nullable)
                })
        }
        _ => false,
    }
}

fn nulls_fit(from: bool, to: bool) -> bool {
    !from || to
}

/// Keys of maps and parts that must not be null are safe in ANSI mode, where a failure is an error.
fn part_can_become_null(from: &DataType, to: &DataType, mode: Mode) -> bool {
    match mode {
        Mode::Ansi => false,
        Mode::Legacy => force_nullable(from, to),
        Mode::Try => from != to && !can_up_cast(from, to),
    }
}

/// Whether a cast from a type that has no nulls can make nulls, as Spark's schemas say it.
pub fn force_nullable(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    if from == to || from.is_null() {
        return false;
    }
    match (from, to) {
        (f, T::Binary) if f.is_string() => false,
        (f, t) if f.is_string() => !t.is_string(),
        (T::Variant, _) => true,
        (_, t) if t.is_string() => false,
        (T::Timestamp, T::Byte | T::Short | T::Integer) | (T::Time(_), T::Byte | T::Short | T::Decimal(..)) => true,
        (T::Float | T::Double, T::Timestamp) => true,
        (T::Timestamp, T::Date) | (T::Date, T::Timestamp) => false,
        (_, T::Date) | (T::Date, _) => true,
        (_, T::CalendarInterval) => true,
        (f, T::Decimal(p, s)) => match f {
            T::Boolean => !decimal::holds((*p, *s), &T::Decimal(1, 0)),
            // Rounding may carry into one more digit of the integral part.
            T::Decimal(q, t) if s < t => i32::from(*p) - i32::from(*s) <= i32::from(*q) - i32::from(*t),
            numeric => !decimal::holds((*p, *s), numeric),
        },
        (f, t) => f.is_fractional() && t.is_integral(),
    }
}

/// Whether the result of a cast can be null.
pub fn result_is_nullable(from: &DataType, nullable: bool, to: &DataType, mode: Mode) -> bool {
    if nullable || (from.is_null() && !to.is_null()) {
        return true;
    }
    match mode {
        Mode::Legacy if matches!(from, DataType::CalendarInterval) && to.is_string() => false,
        Mode::Legacy | Mode::Ansi => force_nullable(from, to),
        Mode::Try => match (from, to) {
            (f, DataType::Binary) if f.is_string() => false,
            (DataType::Decimal(..), t) if !matches!(t, DataType::Decimal(..)) && !t.is_string() => true,
            _ => !can_up_cast(from, to),
        },
    }
}

/// Whether a cast loses nothing and never fails.
pub fn can_up_cast(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    if from == to {
        return true;
    }
    match (from, to) {
        (T::Null, _) => true,
        (f, t) if t.is_string() => is_atomic(f) || matches!(f, T::CalendarInterval),
        (T::Decimal(p, s), t) if t.is_numeric() => decimal::fits((*p, *s), t),
        (f, T::Decimal(p, s)) if f.is_integral() => decimal::holds((*p, *s), f),
        (_, T::Decimal(..)) => false,
        (f, t) if f.is_numeric() && t.is_numeric() => super::rank(f) < super::rank(t),
        (T::Date, T::Timestamp | T::TimestampNtz)
        | (T::Timestamp, T::TimestampNtz)
        | (T::TimestampNtz, T::Timestamp)
        | (T::Long, T::Timestamp)
        | (T::Timestamp, T::Long)
        | (T::DayTimeInterval(..), T::DayTimeInterval(..))
        | (T::YearMonthInterval(..), T::YearMonthInterval(..)) => true,
        _ => parts_fit(from, to, &can_up_cast),
    }
}

/// Whether a column of one type takes values of another under the ANSI store assignment policy.
pub fn can_ansi_store_assign(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    if from == to {
        return true;
    }
    match (from, to) {
        (T::Null, _) => true,
        (f, t) if f.is_numeric() && t.is_numeric() => true,
        (f, t) if t.is_string() => is_atomic(f) || matches!(f, T::CalendarInterval),
        (f, t) if f.is_datetime() && t.is_datetime() => true,
        (T::Time(_), T::Time(_))
        | (T::DayTimeInterval(..), T::DayTimeInterval(..))
        | (T::YearMonthInterval(..), T::YearMonthInterval(..)) => true,
        _ => parts_fit(from, to, &can_ansi_store_assign),
    }
}

/// Applies a rule to the parts of two nested types of one shape.
fn parts_fit(from: &DataType, to: &DataType, rule: &dyn Fn(&DataType, &DataType) -> bool) -> bool {
    use DataType as T;
    match (from, to) {
        (T::Array { element: a, contains_null: n }, T::Array { element: b, contains_null: m }) => {
            nulls_fit(*n, *m) && rule(a, b)
        }
        (T::Map { key: k, value: a, value_contains_null: n }, T::Map { key: l, value: b, value_contains_null: m }) => {
            nulls_fit(*n, *m) && rule(k, l) && rule(a, b)
        }
        (T::Struct(a), T::Struct(b)) => {
            a.fields.len() == b.fields.len()
                && a.fields
                    .iter()
                    .zip(&b.fields)
                    .all(|(x, y)| nulls_fit(x.nullable, y.nullable) && rule(&x.data_type, &y.data_type))
        }
        _ => false,
    }
}
