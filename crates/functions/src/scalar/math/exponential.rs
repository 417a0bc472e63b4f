//! The exponential function and what is made of it, digit by digit as Java's `StrictMath` works them out.

use super::logarithm::ln;
use std::f64::consts::{LN_2, LOG2_E};

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
const LARGEST: f64 = 709.782_712_893_384;
const SMALLEST: f64 = -745.133_219_101_941_1;
const P1: f64 = 1.666_666_666_666_660_2e-1;
const P2: f64 = -2.777_777_777_701_559_3e-3;
const P3: f64 = 6.613_756_321_437_934e-5;
const P4: f64 = -1.653_390_220_546_525_2e-6;
const P5: f64 = 4.138_136_797_057_238_5e-8;

/// Euler's number to the power of `x`.
pub fn exp(x: f64) -> f64 {
    if x.is_nan() || x > LARGEST {
        return x + f64::INFINITY;
    }
    if x < SMALLEST {
        return 0.0;
    }
    let magnitude = x.abs();
    if magnitude < 2f64.powi(-28) {
        return 1.0 + x;
    }
    // x is k times ln 2 and a rest, which is kept in two parts.
    let k = if magnitude <= 0.5 * LN_2 {
        0
    } else if magnitude < 1.5 * LN_2 {
        1f64.copysign(x) as i32
    } else {
        (LOG2_E * x + 0.5f64.copysign(x)) as i32
    };
    let high = x - f64::from(k) * LN2_HIGH;
    let low = f64::from(k) * LN2_LOW;
    let rest = high - low;
    let square = rest * rest;
    let c = rest - square * (P1 + square * (P2 + square * (P3 + square * (P4 + square * P5))));
    let y = if k == 0 { 1.0 - ((rest * c) / (c - 2.0) - rest) } else { 1.0 - ((low - (rest * c) / (2.0 - c)) - high) };
    // In two steps where the result, or two to the power of k, is no ordinary number.
    match k {
        1024.. => y * 2.0 * 2f64.powi(1023),
        ..-1021 => y * 2f64.powi(k + 1000) * 2f64.powi(-1000),
        _ => y * 2f64.powi(k),
    }
}

/// The hyperbolic cosine.
pub fn cosh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 0.5 * LN_2 {
        let t = magnitude.exp_m1();
        let w = 1.0 + t;
        return if magnitude < 2f64.powi(-55) { w } else { 1.0 + (t * t) / (w + w) };
    }
    if magnitude < 22.0 {
        let t = exp(magnitude);
        return 0.5 * t + 0.5 / t;
    }
    half_exp(magnitude)
}

/// The hyperbolic sine.
pub fn sinh(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude < 2f64.powi(-28) {
        return x;
    }
    let result = if magnitude < 22.0 {
        let t = magnitude.exp_m1();
        if magnitude < 1.0 { 0.5 * (2.0 * t - t * t / (t + 1.0)) } else { 0.5 * (t + t / (t + 1.0)) }
    } else {
        half_exp(magnitude)
    };
    result.copysign(x)
}

/// Half of the exponential of a large number, which may itself be too large.
fn half_exp(x: f64) -> f64 {
    if x < LARGEST {
        return 0.5 * exp(x);
    }
    let root = exp(0.5 * x);
    0.5 * root * root
}

/// The hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude < 2f64.powi(-55) {
        return x;
    }
    let result = if magnitude >= 22.0 {
        1.0
    } else if magnitude >= 1.0 {
        1.0 - 2.0 / ((2.0 * magnitude).exp_m1() + 2.0)
    } else {
        let t = (-2.0 * magnitude).exp_m1();
        -t / (t + 2.0)
    };
    result.copysign(x)
}

/// The number whose hyperbolic cosine is `x`.
pub fn acosh(x: f64) -> f64 {
    if x > 268_435_456.0 {
        ln(x) + LN_2
    } else if x > 2.0 {
        ln(2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt()))
    } else if x >= 1.0 {
        let t = x - 1.0;
        (t + (2.0 * t + t * t).sqrt()).ln_1p()
    } else {
        f64::NAN
    }
}

/// The cube root.
pub fn cbrt(x: f64) -> f64 {
    if !x.is_finite() || x == 0.0 {
        return x;
    }
    let high = |x: f64| x.to_bits() >> 32;
    let from_high = |high: u64| f64::from_bits(high << 32);
    let magnitude = x.abs();
    let mut t = if magnitude < f64::MIN_POSITIVE {
        from_high(high(magnitude * 2f64.powi(54)) / 3 + 696_219_795)
    } else {
        from_high(high(magnitude) / 3 + 715_094_163)
    };
    // A first root of some 23 bits, of which the upper ones are kept.
    let r = t * t / magnitude;
    let s = 19.0 / 35.0 + r * t;
    t *= 5.0 / 14.0 + (45.0 / 28.0) / (s + 99.0 / 70.0 + (-864.0 / 1225.0) / s);
    t = from_high(high(t) + 1);
    // One step of Newton's.
    let s = t * t;
    let mut r = magnitude / s;
    let w = t + t;
    r = (r - t) / (w + r);
    (t + t * r).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_java() {
        assert_eq!(exp(1.0), 2.718_281_828_459_045_5);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(709.9), f64::INFINITY);
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(cosh(1.0), 1.543_080_634_815_244);
        assert_eq!(cosh(f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(cbrt(-2.5), -1.357_208_808_297_453_2);
        assert_eq!(cbrt(27.0), 3.0);
        assert_eq!(acosh(1_000_000.0), 14.508_657_738_523_97);
        assert_eq!(acosh(f64::MAX), 710.475_860_073_943_9);
        assert!(acosh(-9.2e18).is_nan());
        assert_eq!(tanh(f64::INFINITY), 1.0);
        assert_eq!(sinh(-0.0).to_bits(), (-0.0f64).to_bits());
    }
}
