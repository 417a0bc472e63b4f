//! Rounding of unscaled decimals and of doubles by their decimal digits.

/// How a value between two others is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest; away from zero where both are as near.
    HalfUp,
    /// To the nearest; to the even one where both are as near.
    HalfEven,
    /// Towards positive infinity.
    Ceiling,
    /// Towards negative infinity.
    Floor,
}

/// Ten to the power of `exponent`, where it fits.
pub fn power_of_ten(exponent: u32) -> Option<i128> {
    10i128.checked_pow(exponent)
}

/// `value` divided by `divisor` (positive), rounded.
pub fn divide(value: i128, divisor: i128, rounding: Rounding) -> i128 {
    let (quotient, remainder) = (value / divisor, value % divisor);
    if remainder == 0 {
        return quotient;
    }
    let away = match rounding {
        Rounding::Ceiling => value > 0,
        Rounding::Floor => value < 0,
        Rounding::HalfUp | Rounding::HalfEven => {
            let rest = remainder.unsigned_abs();
            let other = divisor.unsigned_abs() - rest;
            match rest.cmp(&other) {
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Equal => rounding == Rounding::HalfUp || quotient % 2 != 0,
            }
        }
    };
    if away { quotient + value.signum() } else { quotient }
}

/// Rounds an unscaled value of scale `from` to `digits` after the point (before it, if negative);
/// the result has the scale `to`. None where it does not fit.
pub fn round_unscaled(value: i128, from: i32, digits: i32, to: i32, rounding: Rounding) -> Option<i128> {
    let rounded = if digits >= from {
        value
    } else {
        let drop = u32::try_from(from - digits).ok()?;
        match power_of_ten(drop) {
            Some(divisor) => divide(value, divisor, rounding),
            // So many digits away that only the sign counts.
            None => match rounding {
                Rounding::Ceiling => i128::from(value > 0),
                Rounding::Floor => -i128::from(value < 0),
                Rounding::HalfUp | Rounding::HalfEven => 0,
            },
        }
    };
    let scale = if digits >= from { from } else { digits };
    if to >= scale {
        if rounded == 0 {
            return Some(0);
        }
        power_of_ten(u32::try_from(to - scale).ok()?)?.checked_mul(rounded)
    } else {
        None
    }
}

/// Rounds a double by the decimal digits that it is written with.
pub fn round_double(x: f64, digits: i32, rounding: Rounding) -> f64 {
    if !x.is_finite() || x == 0.0 {
        return x;
    }
    if let (Rounding::HalfUp, 0..=22) = (rounding, digits) {
        // Powers of ten up to 10^22 are exact, so that the quotient of whole numbers is the nearest double.
        let power = 10f64.powi(digits);
        let scaled = x.abs() * power;
        let fraction = scaled.fract();
        let exact = digits == 0 || (fraction - 0.5).abs() > scaled * 1e-15;
        if scaled < 4_503_599_627_370_496.0 && exact {
            let whole = if fraction >= 0.5 { scaled.trunc() + 1.0 } else { scaled.trunc() };
            return (whole / power).copysign(x);
        }
    }
    round_written(x, digits, rounding)
}

/// The slow way: on the digits.
fn round_written(x: f64, digits: i32, rounding: Rounding) -> f64 {
    let text = format!("{:e}", x.abs());
    let Some((mantissa, exponent)) = text.split_once('e') else { return x };
    let Ok(exponent) = exponent.parse::<i32>() else { return x };
    let (head, tail) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Ok(mut value) = format!("{head}{tail}").parse::<i128>() else { return x };
    if x < 0.0 {
        value = -value;
    }
    let scale = tail.len() as i32 - exponent;
    if digits >= scale {
        return x;
    }
    let drop = (scale - digits) as u32;
    let rounded = match power_of_ten(drop) {
        Some(divisor) => divide(value, divisor, rounding),
        None => match rounding {
            Rounding::Ceiling => i128::from(value > 0),
            Rounding::Floor => -i128::from(value < 0),
            Rounding::HalfUp | Rounding::HalfEven => 0,
        },
    };
    if rounded == 0 {
        return 0.0;
    }
    format!("{rounded}e{}", -digits).parse().unwrap_or(x)
}
