//! Numbers and booleans from text, by Spark's rules.

/// The text without blanks and control characters at both ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ' || c == '\u{7f}')
}

/// An integer. With `cut_fraction` a fraction is allowed and dropped.
///
/// ```
/// use firesteel_functions::cast::parse_number::parse_integral;
/// assert_eq!(parse_integral(" -1 ", false), Some(-1));
/// assert_eq!(parse_integral("1.9", false), None);
/// assert_eq!(parse_integral("1.9", true), Some(1));
/// ```
pub fn parse_integral(text: &str, cut_fraction: bool) -> Option<i64> {
    let bytes = trim(text).as_bytes();
    let (negative, digits) = match bytes.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, bytes),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for (index, byte) in digits.iter().enumerate() {
        if *byte == b'.' && cut_fraction {
            return digits[index + 1..].iter().all(u8::is_ascii_digit).then_some(value);
        }
        if !byte.is_ascii_digit() {
            return None;
        }
        let digit = i64::from(byte - b'0');
        let tens = value.checked_mul(10)?;
        value = if negative { tens.checked_sub(digit)? } else { tens.checked_add(digit)? };
    }
    Some(value)
}

/// Text that Java's parser of floating-point numbers takes, without its type suffix.
fn float_body(text: &str) -> Option<&str> {
    let text = trim(text);
    let body = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E');
    (body.bytes().any(|b| b.is_ascii_digit()) && body.bytes().all(plain)).then_some(body)
}

fn special(text: &str) -> Option<f64> {
    match trim(text).to_ascii_lowercase().as_str() {
        "inf" | "+inf" | "infinity" | "+infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

/// A double.
pub fn parse_double(text: &str) -> Option<f64> {
    float_body(text).and_then(|body| body.parse().ok()).or_else(|| special(text))
}

/// A float.
pub fn parse_float(text: &str) -> Option<f32> {
    #[allow(clippy::cast_possible_truncation)]
    float_body(text).and_then(|body| body.parse().ok()).or_else(|| special(text).map(|v| v as f32))
}

/// A boolean: `t true y yes 1` and `f false n no 0` in any case.
pub fn parse_boolean(text: &str) -> Option<bool> {
    let word = trim(text);
    let any = |words: &[&str]| words.iter().any(|w| word.eq_ignore_ascii_case(w));
    if any(&["t", "true", "y", "yes", "1"]) {
        Some(true)
    } else if any(&["f", "false", "n", "no", "0"]) {
        Some(false)
    } else {
        None
    }
}

/// A decimal number of any size: `±digits · 10^-scale`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BigDigits {
    negative: bool,
    /// Values 0 to 9, no leading zeros.
    digits: Vec<u8>,
    scale: i64,
}

impl BigDigits {
    /// Reads `[sign]digits[.digits][e[sign]digits]`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = trim(text);
        let (number, exponent) = match text.find(['e', 'E']) {
            Some(at) => {
                let exponent = &text[at + 1..];
                let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if unsigned.is_empty() || unsigned.len() > 10 || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
                    return None;
                }
                (&text[..at], exponent.parse::<i64>().ok()?)
            }
            None => (text, 0),
        };
        let (negative, number) = match number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, number.strip_prefix('+').unwrap_or(number)),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut digits = Vec::with_capacity(whole.len() + fraction.len());
        let mut fraction_digits = 0;
        for c in whole.chars() {
            digits.push(decimal_digit(c)?);
        }
        for c in fraction.chars() {
            digits.push(decimal_digit(c)?);
            fraction_digits += 1;
        }
        let zeros = digits.iter().take_while(|d| **d == 0).count();
        digits.drain(..zeros);
        Some(Self { negative, digits, scale: fraction_digits - exponent })
    }

    /// The number of digits before the point, as Java counts them: negative for small fractions.
    pub fn integral_digits(&self) -> i64 {
        self.digits.len() as i64 - self.scale
    }

    /// The unscaled value at a scale, rounded half up; None when it needs more digits than the precision.
    pub fn to_decimal(&self, precision: u8, scale: i8) -> Option<i128> {
        let cut = self.scale - i64::from(scale);
        let length = self.digits.len() as i64;
        if self.digits.is_empty() || cut > length {
            return Some(0);
        }
        if length - cut > i64::from(precision) + 1 {
            return None;
        }
        let kept = usize::try_from(length - cut.max(0)).ok()?;
        let mut value: i128 = 0;
        for digit in &self.digits[..kept] {
            value = value.checked_mul(10)?.checked_add(i128::from(*digit))?;
        }
        if self.digits.get(kept).is_some_and(|d| *d >= 5) {
            value += 1;
        }
        for _ in cut..0 {
            value = value.checked_mul(10)?;
        }
        let limit = 10_i128.checked_pow(u32::from(precision))?;
        (value < limit).then_some(if self.negative { -value } else { value })
    }

    /// The number written out without an exponent.
    pub fn plain_text(&self) -> String {
        let mut out = String::new();
        if self.negative && !self.digits.is_empty() {
            out.push('-');
        }
        let integral = self.integral_digits();
        let digit = |d: &u8| char::from(b'0' + d);
        if self.digits.is_empty() || integral <= 0 {
            out.push('0');
        } else {
            let whole = usize::try_from(integral).unwrap_or(0);
            out.extend(self.digits.iter().take(whole).map(digit));
            for _ in self.digits.len()..whole {
                out.push('0');
            }
        }
        if self.scale > 0 {
            out.push('.');
            for _ in 0..(-integral).clamp(0, self.scale) {
                out.push('0');
            }
            let whole = usize::try_from(integral).unwrap_or(0);
            out.extend(self.digits.iter().skip(whole).map(digit));
        }
        out
    }
}

/// The value of a decimal digit of any script that Java counts as one here.
fn decimal_digit(c: char) -> Option<u8> {
    if c.is_ascii_digit() {
        return u8::try_from(u32::from(c) - 48).ok();
    }
    const ZEROS: [char; 10] = ['٠', '۰', '߀', '०', '০', '੦', '૦', '୦', '௦', '０'];
    ZEROS.iter().find_map(|zero| {
        let value = u32::from(c).checked_sub(u32::from(*zero))?;
        (value < 10).then(|| u8::try_from(value).ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_round_half_up() {
        for (text, precision, scale, value) in [
            ("1.999", 10, 2, Some(200)),
            ("-0.5", 3, 0, Some(-1)),
            ("1e3", 10, 2, Some(100_000)),
            ("1E-5", 10, 2, Some(0)),
            ("0.005", 10, 2, Some(1)),
            ("99.995", 4, 2, None),
            ("1e400", 38, 0, None),
        ] {
            assert_eq!(BigDigits::parse(text).unwrap().to_decimal(precision, scale), value, "{text}");
        }
        assert_eq!(BigDigits::parse("1."), BigDigits::parse("1"));
        for bad in ["", ".", "-", "1e", "1f", "0x10", "1 2"] {
            assert_eq!(BigDigits::parse(bad), None, "{bad}");
        }
        assert_eq!(BigDigits::parse("1.5e3").unwrap().plain_text(), "1500");
        assert_eq!(BigDigits::parse("0.005").unwrap().plain_text(), "0.005");
    }
}
