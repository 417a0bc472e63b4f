//! The natural logarithm, digit by digit as Java's `StrictMath` works it out.

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
const TWO_54: f64 = 18_014_398_509_481_984.0;
const L1: f64 = 6.666_666_666_666_735e-1;
const L2: f64 = 3.999_999_999_940_942e-1;
const L3: f64 = 2.857_142_874_366_239e-1;
const L4: f64 = 2.222_219_843_214_978_4e-1;
const L5: f64 = 1.818_357_216_161_805e-1;
const L6: f64 = 1.531_383_769_920_937_3e-1;
const L7: f64 = 1.479_819_860_511_658_6e-1;

fn high_word(x: f64) -> i32 {
    (x.to_bits() >> 32) as i32
}

fn with_high_word(x: f64, high: i32) -> f64 {
    f64::from_bits((u64::from(high as u32) << 32) | (x.to_bits() & 0xffff_ffff))
}

/// The natural logarithm.
pub fn ln(mut x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < 0.0 || x.is_nan() {
        return f64::NAN;
    }
    if x.is_infinite() {
        return x;
    }
    let mut exponent = 0;
    let mut high = high_word(x);
    if high < 0x0010_0000 {
        exponent -= 54;
        x *= TWO_54;
        high = high_word(x);
    }
    exponent += (high >> 20) - 1023;
    high &= 0x000f_ffff;
    let carry = (high + 0x95f64) & 0x0010_0000;
    x = with_high_word(x, high | (carry ^ 0x3ff0_0000));
    exponent += carry >> 20;
    let f = x - 1.0;
    let k = f64::from(exponent);
    if (0x000f_ffff & (2 + high)) < 3 {
        if f == 0.0 {
            return if exponent == 0 { 0.0 } else { k * LN2_HIGH + k * LN2_LOW };
        }
        let r = f * f * (0.5 - (1.0 / 3.0) * f);
        return if exponent == 0 { f - r } else { k * LN2_HIGH - ((r - k * LN2_LOW) - f) };
    }
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let r = z * (L1 + w * (L3 + w * (L5 + w * L7))) + w * (L2 + w * (L4 + w * L6));
    if ((high - 0x6147a) | (0x6b851 - high)) > 0 {
        let half = 0.5 * f * f;
        if exponent == 0 {
            f - (half - s * (half + r))
        } else {
            k * LN2_HIGH - ((half - (s * (half + r) + k * LN2_LOW)) - f)
        }
    } else if exponent == 0 {
        f - s * (f - r)
    } else {
        k * LN2_HIGH - ((s * (f - r) - k * LN2_LOW) - f)
    }
}

/// The inverse hyperbolic sine, by magnitude.
pub fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    if !x.is_finite() || magnitude < 3.725_290_298_461_914e-9 {
        return x;
    }
    let result = if magnitude > 268_435_456.0 {
        ln(magnitude) + std::f64::consts::LN_2
    } else if magnitude > 2.0 {
        ln(2.0 * magnitude + 1.0 / ((x * x + 1.0).sqrt() + magnitude))
    } else {
        let square = x * x;
        (magnitude + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
    };
    result.copysign(x)
}
