//! Functions of real numbers, bit by bit as Java's `StrictMath` works them out.
//!
//! Those of the `libm` crate come from the same sources; the others differ there.

use super::logarithm::ln;

fn high_word(x: f64) -> i32 {
    (x.to_bits() >> 32) as i32
}

fn of_words(high: i32, low: u32) -> f64 {
    f64::from_bits((u64::from(high as u32) << 32) | u64::from(low))
}

/// The length of the hypotenuse of a right triangle.
pub fn hypot(x: f64, y: f64) -> f64 {
    if x.is_infinite() || y.is_infinite() {
        return f64::INFINITY;
    }
    let (x, y) = (x.abs(), y.abs());
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let (mut a, mut b) = if y > x { (y, x) } else { (x, y) };
    let apart = high_word(a) - high_word(b);
    if apart > 0x03c0_0000 {
        return a + b;
    }
    // Brought to where squares neither overflow nor vanish.
    let mut scale = 1.0;
    if high_word(a) > 0x5f30_0000 {
        let down = of_words(0x3ff0_0000 - 0x2580_0000, 0);
        (a, b, scale) = (a * down, b * down, 1.0 / down);
    } else if high_word(b) < 0x20b0_0000 {
        if b == 0.0 {
            return a;
        }
        let up = of_words(0x3ff0_0000 + 0x2580_0000, 0);
        (a, b, scale) = (a * up, b * up, 1.0 / up);
    }
    let difference = a - b;
    let length = if difference > b {
        let high = of_words(high_word(a), 0);
        let low = a - high;
        (high * high - (b * (-b) - low * (a + high))).sqrt()
    } else {
        let twice = a + a;
        let high_b = of_words(high_word(b), 0);
        let low_b = b - high_b;
        let high = of_words(high_word(a) + 0x0010_0000, 0);
        let low = twice - high;
        (high * high_b - (difference * (-difference) - (high * low_b + low * b))).sqrt()
    };
    length * scale
}

/// The decimal logarithm.
pub fn log10(x: f64) -> f64 {
    const LOG10_OF_E: f64 = std::f64::consts::LOG10_E;
    const LOG10_OF_2_HIGH: f64 = 3.010_299_956_636_117_7e-1;
    const LOG10_OF_2_LOW: f64 = 3.694_239_077_158_931e-13;
    if x <= 0.0 || !x.is_finite() {
        return ln(x);
    }
    let (mut x, mut exponent) = (x, 0);
    if high_word(x) < 0x0010_0000 {
        exponent -= 54;
        x *= 18_014_398_509_481_984.0;
    }
    exponent += (high_word(x) >> 20) - 1023;
    let below = i32::from(exponent < 0);
    let high = (high_word(x) & 0x000f_ffff) | ((0x3ff - below) << 20);
    let y = f64::from(exponent + below);
    let rest = of_words(high, x.to_bits() as u32);
    (y * LOG10_OF_2_LOW + LOG10_OF_E * ln(rest)) + y * LOG10_OF_2_HIGH
}

#[cfg(test)]
mod tests {
    use super::super::exponential::{acosh, cbrt, cosh, exp};
    use super::{hypot, log10};

    #[test]
    fn the_last_bits_are_sparks() {
        assert_eq!(cosh(1.0), 1.543080634815244);
        assert_eq!(cosh(-7.31), 747.5889290042517);
        assert_eq!(exp(4.0), 54.598150033144236);
        assert_eq!(exp(-7.26614), 0.000698804178629909);
        assert_eq!(libm::atan(-7.14187), -1.4316814066713524);
        assert_eq!(libm::asin(-0.89182), -1.1013524259369025);
        assert_eq!(acosh(1.00878), 0.13241738503919834);
        assert_eq!(cbrt(-7.29538), -1.9394680938048359);
        assert_eq!(hypot(-7.112629999999999, 10.0), 12.271491576695148);
        assert_eq!(log10(0.57749), -0.23845553175169817);
    }

    #[test]
    fn what_is_no_number_or_has_no_end_stays() {
        assert!(cosh(f64::NAN).is_nan() && acosh(0.5).is_nan() && cbrt(f64::NAN).is_nan());
        assert_eq!(cosh(f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(hypot(f64::NAN, f64::INFINITY), f64::INFINITY);
        assert_eq!(cbrt(-0.0), 0.0);
        assert_eq!(hypot(3e300, 4e300), 5e300);
        assert_eq!(log10(f64::INFINITY), f64::INFINITY);
    }
}
