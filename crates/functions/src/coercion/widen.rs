//! The least common type of several.

use super::decimal;
use crate::cast::legality::force_nullable;
use firesteel_types::{DataType, StructField, StructType, srid};

type Widen<'a> = &'a dyn Fn(&DataType, &DataType) -> Option<DataType>;

/// The narrowest type that two types can be cast to without loss.
///
/// ```
/// use firesteel_functions::coercion::tightest_common_type;
/// use firesteel_types::DataType;
/// assert_eq!(tightest_common_type(&DataType::Integer, &DataType::Float, true), Some(DataType::Double));
/// assert_eq!(tightest_common_type(&DataType::Integer, &DataType::Float, false), Some(DataType::Float));
/// ```
pub fn tightest_common_type(left: &DataType, right: &DataType, ansi: bool) -> Option<DataType> {
    use DataType as T;
    if left == right {
        return Some(left.clone());
    }
    match (left, right) {
        (T::Null, other) | (other, T::Null) => Some(other.clone()),
        (T::Geometry(_), T::Geometry(_)) => Some(T::Geometry(srid::ANY)),
        (T::Geography(_), T::Geography(_)) => Some(T::Geography(srid::ANY)),
        (l, r) if l.is_string() && r.is_string() => string_type(l, r),
        (integral, T::Decimal(p, s)) | (T::Decimal(p, s), integral)
            if integral.is_integral() && decimal::holds((*p, *s), integral) =>
        {
            Some(T::Decimal(*p, *s))
        }
        (T::Decimal(..), _) | (_, T::Decimal(..)) => None,
        (l, r) if l.is_numeric() && r.is_numeric() => {
            let wider = if rank(l) >= rank(r) { l } else { r };
            Some(if ansi && *wider == T::Float { T::Double } else { wider.clone() })
        }
        (l, r) if l.is_datetime() && r.is_datetime() => Some(match (l, r) {
            (T::Timestamp, _) | (_, T::Timestamp) => T::Timestamp,
            _ => T::TimestampNtz,
        }),
        (T::DayTimeInterval(a, b), T::DayTimeInterval(c, d)) => Some(T::DayTimeInterval(*a.min(c), *b.max(d))),
        (T::YearMonthInterval(a, b), T::YearMonthInterval(c, d)) => Some(T::YearMonthInterval(*a.min(c), *b.max(d))),
        _ => nested_type(left, right, &|l, r| tightest_common_type(l, r, ansi)),
    }
}

/// The position of a number type in the order of promotion.
fn rank(data_type: &DataType) -> usize {
    [DataType::Byte, DataType::Short, DataType::Integer, DataType::Long, DataType::Float, DataType::Double]
        .iter()
        .position(|t| t == data_type)
        .unwrap_or(0)
}

/// Strings of one collation agree; a declared length does not count.
fn string_type(left: &DataType, right: &DataType) -> Option<DataType> {
    match (left, right) {
        (DataType::String(a), DataType::String(b)) if a != b => {
            // A default collation gives way to a chosen one.
            if a.is_binary() {
                Some(right.clone())
            } else if b.is_binary() {
                Some(left.clone())
            } else {
                None
            }
        }
        (DataType::String(_), _) => Some(left.clone()),
        (_, DataType::String(_)) => Some(right.clone()),
        _ => Some(DataType::STRING),
    }
}

/// The type that the branches of a conditional, the parts of a collection or the columns of a set operation get.
pub fn wider_common_type(types: &[DataType], ansi: bool) -> Option<DataType> {
    let mut order: Vec<&DataType> = types.iter().collect();
    if !ansi {
        // Strings first, so that the answer does not depend on the order.
        order.sort_by_key(|t| !has_string(t));
    }
    let mut common = DataType::Null;
    for next in order {
        common = wider_type(&common, next, ansi)?;
    }
    Some(common)
}

/// The common type of `greatest` and `least`, for which strings and other types have none.
pub fn wider_without_strings(types: &[DataType], ansi: bool) -> Option<DataType> {
    fn wider(left: &DataType, right: &DataType, ansi: bool) -> Option<DataType> {
        tightest_common_type(left, right, ansi)
            .or_else(|| wider_with_decimal(left, right))
            .or_else(|| nested_type(left, right, &|l, r| wider(l, r, ansi)))
    }
    types.iter().try_fold(DataType::Null, |common, next| wider(&common, next, ansi))
}

fn has_string(data_type: &DataType) -> bool {
    match data_type {
        DataType::Array { element, .. } => has_string(element),
        other => other.is_string(),
    }
}

/// The wider of two types, with promotion from or to strings.
pub fn wider_type(left: &DataType, right: &DataType, ansi: bool) -> Option<DataType> {
    tightest_common_type(left, right, ansi)
        .or_else(|| wider_with_decimal(left, right))
        .or_else(|| if ansi { promote_string_ansi(left, right) } else { promote_to_string(left, right) })
        .or_else(|| nested_type(left, right, &|l, r| wider_type(l, r, ansi)))
}

fn wider_with_decimal(left: &DataType, right: &DataType) -> Option<DataType> {
    match (left, right) {
        (DataType::Decimal(p, s), DataType::Decimal(q, t)) => Some(decimal::wider((*p, *s), (*q, *t))),
        (DataType::Decimal(p, s), other) | (other, DataType::Decimal(p, s)) => match other {
            DataType::Float | DataType::Double => Some(DataType::Double),
            integral => integral.decimal_for_integral().map(|d| decimal::wider(d, (*p, *s))),
        },
        _ => None,
    }
}

fn promote_to_string(left: &DataType, right: &DataType) -> Option<DataType> {
    let promoted = |string: &DataType, other: &DataType| {
        (string.is_string() && is_atomic(other) && !matches!(other, DataType::Binary | DataType::Boolean))
            .then(|| string.clone())
    };
    promoted(left, right).or_else(|| promoted(right, left))
}

/// What a string becomes beside another type, in ANSI mode.
///
/// | other type          | common type    |
/// |---------------------|----------------|
/// | integral            | BIGINT         |
/// | float, decimal      | DOUBLE         |
/// | void                | STRING         |
/// | ANSI interval       | none           |
/// | other atomic        | that type      |
pub fn promote_string_ansi(left: &DataType, right: &DataType) -> Option<DataType> {
    let (string, other) = match (left.is_string(), right.is_string()) {
        (true, true) => return string_type(left, right),
        (true, false) => (left, right),
        (false, true) => (right, left),
        (false, false) => return None,
    };
    match other {
        DataType::Null => Some(string.clone()),
        t if t.is_integral() => Some(DataType::Long),
        t if t.is_fractional() => Some(DataType::Double),
        t if t.is_ansi_interval() => None,
        t if is_atomic(t) => Some(t.clone()),
        _ => None,
    }
}

/// True for types that are one value: neither nested, nor void, nor a calendar interval.
pub fn is_atomic(data_type: &DataType) -> bool {
    !matches!(
        data_type,
        DataType::Null
            | DataType::CalendarInterval
            | DataType::Array { .. }
            | DataType::Map { .. }
            | DataType::Struct(_)
            | DataType::Udt { .. }
            | DataType::Unparsed(_)
    )
}

fn nested_type(left: &DataType, right: &DataType, widen: Widen<'_>) -> Option<DataType> {
    use DataType as T;
    match (left, right) {
        (T::Array { element: a, contains_null: n }, T::Array { element: b, contains_null: m }) => {
            let common = widen(a, b)?;
            let nullable = *n || *m || force_nullable(a, &common) || force_nullable(b, &common);
            Some(T::array(common, nullable))
        }
        (T::Map { key: k, value: a, value_contains_null: n }, T::Map { key: l, value: b, value_contains_null: m }) => {
            let key = widen(k, l)?;
            if force_nullable(k, &key) || force_nullable(l, &key) {
                return None;
            }
            let value = widen(a, b)?;
            let nullable = *n || *m || force_nullable(a, &value) || force_nullable(b, &value);
            Some(T::map(key, value, nullable))
        }
        (T::Struct(a), T::Struct(b)) if a.fields.len() == b.fields.len() => {
            let fields = a.fields.iter().zip(&b.fields).map(|(x, y)| {
                if x.name.to_lowercase() != y.name.to_lowercase() {
                    return None;
                }
                let common = widen(&x.data_type, &y.data_type)?;
                let nullable = x.nullable
                    || y.nullable
                    || force_nullable(&x.data_type, &common)
                    || force_nullable(&y.data_type, &common);
                Some(StructField::new(&x.name, common, nullable))
            });
            Some(T::Struct(StructType::new(fields.collect::<Option<_>>()?).into()))
        }
        _ => None,
    }
}
