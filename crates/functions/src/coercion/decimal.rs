//! Precision and scale of decimals.

use firesteel_types::DataType;

/// The most digits a decimal can have.
pub const MAX_PRECISION: i32 = 38;
/// Digits of the fraction that are kept when a result has more digits than fit.
const MINIMUM_ADJUSTED_SCALE: i32 = 6;

/// Precision and scale of a decimal that holds all values of a numeric type.
///
/// ```
/// use firesteel_functions::coercion::decimal::for_type;
/// use firesteel_types::DataType;
/// assert_eq!(for_type(&DataType::Long), Some((20, 0)));
/// assert_eq!(for_type(&DataType::Double), Some((30, 15)));
/// ```
pub fn for_type(data_type: &DataType) -> Option<(u8, i8)> {
    match data_type {
        DataType::Float => Some((14, 7)),
        DataType::Double => Some((30, 15)),
        DataType::Decimal(precision, scale) => Some((*precision, *scale)),
        DataType::Null => Some((10, 0)),
        other => other.decimal_for_integral(),
    }
}

fn make(precision: i32, scale: i32) -> DataType {
    let scale = scale.clamp(0, MAX_PRECISION);
    let precision = precision.clamp(1, MAX_PRECISION);
    DataType::Decimal(u8::try_from(precision).unwrap_or(38), i8::try_from(scale).unwrap_or(38))
}

/// A decimal type with precision and scale each cut at 38.
pub fn bounded(precision: i32, scale: i32) -> DataType {
    make(precision, scale)
}

/// A decimal type that gives up digits of the fraction, never of the integral part, when there are too many.
pub fn bounded_prefer_integral(precision: i32, scale: i32) -> DataType {
    if precision <= MAX_PRECISION {
        return make(precision, scale);
    }
    make(MAX_PRECISION, (scale - (precision - MAX_PRECISION)).max(0))
}

/// The type of an arithmetic result: too many digits take some of the fraction's, down to six of them.
pub fn adjusted(precision: i32, scale: i32) -> DataType {
    if precision <= MAX_PRECISION {
        return make(precision, scale);
    }
    let integral = precision - scale;
    let least_scale = scale.min(MINIMUM_ADJUSTED_SCALE);
    make(MAX_PRECISION, (MAX_PRECISION - integral).max(least_scale))
}

/// The decimal type that two others are compared and merged in.
pub fn wider((p1, s1): (u8, i8), (p2, s2): (u8, i8)) -> DataType {
    let (p1, s1, p2, s2) = (i32::from(p1), i32::from(s1), i32::from(p2), i32::from(s2));
    let scale = s1.max(s2);
    let range = (p1 - s1).max(p2 - s2);
    bounded_prefer_integral(range + scale, scale)
}

/// Whether every value of a type fits a decimal type.
pub fn holds((precision, scale): (u8, i8), other: &DataType) -> bool {
    match other {
        DataType::Decimal(p, s) => {
            i32::from(*p) - i32::from(*s) <= i32::from(precision) - i32::from(scale) && *s <= scale
        }
        integral => integral
            .decimal_for_integral()
            .is_some_and(|(p, _)| i32::from(p) <= i32::from(precision) - i32::from(scale) && scale >= 0),
    }
}

/// Whether every value of a decimal type fits a numeric type.
pub fn fits((precision, scale): (u8, i8), numeric: &DataType) -> bool {
    match numeric {
        DataType::Decimal(p, s) => holds((*p, *s), &DataType::Decimal(precision, scale)),
        integral => integral.decimal_for_integral().is_some_and(|(p, _)| {
            let digits = if matches!(integral, DataType::Long) { 19 } else { p };
            scale == 0 && precision < digits
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_give_way() {
        assert_eq!(adjusted(77, 36), DataType::Decimal(38, 6));
        assert_eq!(adjusted(40, 4), DataType::Decimal(38, 4));
        assert_eq!(wider((38, 18), (38, 0)), DataType::Decimal(38, 0));
        assert_eq!(wider((10, 2), (5, 4)), DataType::Decimal(12, 4));
    }
}
