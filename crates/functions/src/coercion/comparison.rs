//! Common types of the two sides of a comparison.

use super::widen::{is_atomic, promote_string_ansi, tightest_common_type, wider_type};
use firesteel_types::DataType;

/// The type in which two values are compared, or None where the types do not go together.
///
/// Outside ANSI mode this differs from [`wider_type`]: a string is cast to the
/// other side's type there, and not the other way round.
pub fn common_type_for_comparison(left: &DataType, right: &DataType, ansi: bool) -> Option<DataType> {
    if left.same_type(right) {
        return wider_type(left, right, ansi).or_else(|| Some(left.clone()));
    }
    if ansi {
        return promote_string_ansi(left, right).or_else(|| decimal_or_tightest(left, right, true));
    }
    legacy_string(left, right)
        .or_else(|| decimal_or_tightest(left, right, false))
        .or_else(|| legacy_boolean(left, right))
}

/// What strings are compared as outside ANSI mode.
///
/// | other type | compared as |
/// |------------|-------------|
/// | void       | STRING      |
/// | decimal    | DOUBLE      |
/// | atomic     | that type   |
fn legacy_string(left: &DataType, right: &DataType) -> Option<DataType> {
    let (string, other) = match (left.is_string(), right.is_string()) {
        (true, false) => (left, right),
        (false, true) => (right, left),
        _ => return None,
    };
    match other {
        DataType::Null => Some(string.clone()),
        DataType::Decimal(..) => Some(DataType::Double),
        interval if interval.is_ansi_interval() => None,
        atomic if is_atomic(atomic) => Some(atomic.clone()),
        _ => None,
    }
}

/// `true = 1`: the boolean becomes a number.
fn legacy_boolean(left: &DataType, right: &DataType) -> Option<DataType> {
    match (left, right) {
        (DataType::Boolean, number) | (number, DataType::Boolean) if number.is_numeric() => Some(number.clone()),
        _ => None,
    }
}

fn decimal_or_tightest(left: &DataType, right: &DataType, ansi: bool) -> Option<DataType> {
    let decimal = matches!(left, DataType::Decimal(..)) || matches!(right, DataType::Decimal(..));
    if decimal && left.is_numeric() && right.is_numeric() {
        return wider_type(left, right, ansi);
    }
    tightest_common_type(left, right, ansi)
}
