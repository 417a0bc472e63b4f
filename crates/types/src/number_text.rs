//! Numbers as Java writes them.

use std::fmt::Write;

/// Appends a double as `Double.toString` of Java 17: `1.0`, `1.0E10`, `NaN`, `-Infinity`.
///
/// ```
/// use firesteel_types::number_text::write_double;
/// let mut out = String::new();
/// write_double(&mut out, 1e7);
/// assert_eq!(out, "1.0E7");
/// ```
pub fn write_double(out: &mut String, value: f64) {
    if !write_special(out, value) {
        let value = value.abs();
        let digits = Digits::few(value)
            .or_else(|| long_digits(value, f64::MANTISSA_DIGITS))
            .unwrap_or_else(|| Digits::shortest(value));
        write_digits(out, (1e-3..1e7).contains(&value), &digits);
    }
}

/// A double as [`write_double`] writes it.
pub fn double_text(value: f64) -> String {
    let mut out = String::new();
    write_double(&mut out, value);
    out
}

/// Appends a whole number.
pub fn write_integer<T: itoa::Integer>(out: &mut String, value: T) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// Appends a float as `Float.toString` of Java 17.
pub fn write_float(out: &mut String, value: f32) {
    if !write_special(out, f64::from(value)) {
        let digits = match long_digits(f64::from(value.abs()), f32::MANTISSA_DIGITS) {
            Some(digits) => digits,
            None => Digits::shortest_float(value.abs()),
        };
        write_digits(out, value.abs() >= 1e-3 && value.abs() < 1e7, &digits);
    }
}

/// Appends a decimal with all its digits, as `BigDecimal.toPlainString`.
pub fn write_plain_decimal(out: &mut String, unscaled: i128, scale: i8) {
    if scale <= 0 {
        push(out, format_args!("{unscaled}"));
        if unscaled != 0 {
            (0..scale.unsigned_abs()).for_each(|_| out.push('0'));
        }
        return;
    }
    let scale = usize::from(scale.unsigned_abs());
    if unscaled < 0 {
        out.push('-');
    }
    let start = out.len();
    push(out, format_args!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1));
    let point = out.len() - scale;
    debug_assert!(point > start);
    out.insert(point, '.');
}

/// Appends a decimal as `BigDecimal.toString`: with an exponent where it is very small.
pub fn write_decimal(out: &mut String, unscaled: i128, scale: i8) {
    let digits = unscaled.unsigned_abs().checked_ilog10().unwrap_or(0) as i32 + 1;
    let exponent = digits - 1 - i32::from(scale);
    if scale >= 0 && exponent >= -6 {
        write_plain_decimal(out, unscaled, scale);
        return;
    }
    if unscaled < 0 {
        out.push('-');
    }
    let start = out.len();
    push(out, format_args!("{}", unscaled.unsigned_abs()));
    if out.len() - start > 1 {
        out.insert(start + 1, '.');
    }
    if exponent != 0 {
        push(out, format_args!("E{exponent:+}"));
    }
}

/// Writing to a string cannot fail.
fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(arguments);
}

/// Decimal digits `d1 d2 d3 …` of the value `d1.d2d3… × 10^exponent`.
struct Digits {
    bytes: [u8; 40],
    length: usize,
    exponent: i32,
}

/// Decimal places that are tried one by one.
const FEW_PLACES: i32 = 4;

/// Whole numbers below this times ten are exact in a double, and their neighbours are nearer than a tenth.
const FEW_LIMIT: f64 = 1e14;

impl Digits {
    /// The digits of a value of few decimal places.
    fn few(value: f64) -> Option<Digits> {
        if !(1e-3..FEW_LIMIT).contains(&value) {
            return None;
        }
        let mut power = 1.0;
        for places in 0..=FEW_PLACES {
            let scaled = value * power;
            if scaled >= FEW_LIMIT {
                return None;
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let whole = scaled as u64;
            // Both are exact, so their quotient is the double that the digits stand for.
            #[allow(clippy::cast_precision_loss)]
            if whole as f64 == scaled && whole as f64 / power == value {
                let mut digits = Digits::of_whole(whole);
                digits.exponent -= places;
                return Some(digits.trimmed());
            }
            power *= 10.0;
        }
        None
    }

    fn of_whole(value: u64) -> Digits {
        let mut buffer = itoa::Buffer::new();
        let text = buffer.format(value).as_bytes();
        let mut digits = Digits { bytes: [0; 40], length: text.len(), exponent: text.len() as i32 - 1 };
        digits.bytes[..text.len()].copy_from_slice(text);
        digits
    }

    /// The fewest digits that read back as the same value.
    fn shortest(value: f64) -> Digits {
        let shortest = Digits::of_text(zmij::Buffer::new().format_finite(value));
        Digits::as_java(shortest, value)
    }

    /// The fewest digits that read back as the same float.
    fn shortest_float(value: f32) -> Digits {
        let shortest = Digits::of_text(zmij::Buffer::new().format_finite(value));
        Digits::as_java(shortest, value)
    }

    fn as_java<T: std::fmt::LowerExp>(shortest: Digits, value: T) -> Digits {
        if shortest.length > 1 {
            // Of two equally near values Java takes the one whose last digit is even.
            let odd = shortest.length >= 8 && shortest.bytes[shortest.length - 1] % 2 == 1;
            let precision = shortest.length - 1;
            return if odd { Digits::read(format_args!("{value:.precision$e}")) } else { shortest };
        }
        // Java never takes less than two digits, which need not be the shortest one and 0:
        // the smallest double is 4.9E-324, not 5.0E-324.
        Digits::read(format_args!("{value:.1e}")).trimmed()
    }

    /// The digits of `12.5`, `0.001` or `1.5e-7`.
    fn of_text(text: &str) -> Digits {
        let mut digits = Digits { bytes: [0; 40], length: 0, exponent: 0 };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let whole = mantissa.find('.').unwrap_or(mantissa.len()) as i32;
        let (mut at, mut first) = (0, None);
        for byte in mantissa.bytes().filter(u8::is_ascii_digit) {
            if byte != b'0' && first.is_none() {
                first = Some(at);
            }
            if first.is_some()
                && let Some(place) = digits.bytes.get_mut(digits.length)
            {
                *place = byte;
                digits.length += 1;
            }
            at += 1;
        }
        digits.exponent = exponent.parse::<i32>().unwrap_or(0) + whole - 1 - first.unwrap_or(0);
        digits.trimmed()
    }

    fn read(text: std::fmt::Arguments<'_>) -> Digits {
        let mut buffer = Buffer { bytes: [0; 40], length: 0 };
        // No float has more than 17 digits and an exponent of 4 characters.
        let _ = buffer.write_fmt(text);
        let text = &buffer.bytes[..buffer.length];
        let mut digits = Digits { bytes: [0; 40], length: 0, exponent: 0 };
        let mantissa = text.iter().position(|b| *b == b'e').unwrap_or(text.len());
        for byte in text[..mantissa].iter().filter(|b| b.is_ascii_digit()) {
            digits.bytes[digits.length] = *byte;
            digits.length += 1;
        }
        let exponent = text.get(mantissa + 1..).and_then(|bytes| std::str::from_utf8(bytes).ok());
        digits.exponent = exponent.and_then(|text| text.parse().ok()).unwrap_or(0);
        digits
    }

    fn trimmed(mut self) -> Digits {
        while self.length > 1 && self.bytes[self.length - 1] == b'0' {
            self.length -= 1;
        }
        self
    }
}

struct Buffer {
    bytes: [u8; 40],
    length: usize,
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Whole numbers below 2^63 that exceed the mantissa: Java 17 prints all their
/// digits but those that the value's precision leaves undecided, more than the shortest form has.
fn long_digits(value: f64, mantissa_bits: u32) -> Option<Digits> {
    let limit = (1u64 << (mantissa_bits - 1)) as f64;
    if value < limit || value >= 9_223_372_036_854_775_808.0 {
        return None;
    }
    let mut whole = value as u64;
    let doubtful_bits = (whole.ilog2() + 1).saturating_sub(mantissa_bits + 2);
    let dropped = (1u64 << doubtful_bits).ilog10();
    let unit = 10u64.pow(dropped);
    let rest = whole % unit;
    whole /= unit;
    if dropped > 0 && rest >= unit / 2 {
        whole += 1;
    }
    let mut digits = Digits::of_whole(whole);
    digits.exponent += dropped as i32;
    Some(digits.trimmed())
}

fn write_special(out: &mut String, value: f64) -> bool {
    if value.is_nan() {
        out.push_str("NaN");
        return true;
    }
    if value.is_sign_negative() {
        out.push('-');
    }
    if value == 0.0 {
        out.push_str("0.0");
    } else if value.is_infinite() {
        out.push_str("Infinity");
    } else {
        return false;
    }
    true
}

fn write_digits(out: &mut String, plain: bool, digits: &Digits) {
    let text = &digits.bytes[..digits.length];
    // Digits are ASCII.
    let mut push_all = |bytes: &[u8]| out.push_str(std::str::from_utf8(bytes).unwrap_or_default());
    if !plain {
        push_all(&text[..1]);
        push_all(b".");
        push_all(if digits.length > 1 { &text[1..] } else { b"0" });
        push(out, format_args!("E{}", digits.exponent));
    } else if digits.exponent < 0 {
        push_all(b"0.");
        (1..-digits.exponent).for_each(|_| push_all(b"0"));
        push_all(text);
    } else {
        let whole = digits.exponent as usize + 1;
        push_all(&text[..whole.min(digits.length)]);
        (digits.length..whole).for_each(|_| push_all(b"0"));
        push_all(b".");
        push_all(if digits.length > whole { &text[whole..] } else { b"0" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> String {
        let mut out = String::new();
        write_double(&mut out, value);
        out
    }

    fn float(value: f32) -> String {
        let mut out = String::new();
        write_float(&mut out, value);
        out
    }

    #[test]
    fn digits_are_the_shortest() {
        let mut seed = 88_172_645_463_325_252_u64;
        for round in 0..200_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let bits = f64::from_bits(seed).abs();
            let value =
                if round % 2 == 0 { bits } else { (seed % 100_000_000) as f64 / 10f64.powi((seed >> 60) as i32) };
            if !value.is_finite() || value == 0.0 {
                continue;
            }
            let want = Digits::as_java(Digits::read(format_args!("{value:e}")), value);
            let mut found = vec![Digits::shortest(value)];
            found.extend(Digits::few(value));
            for digits in found {
                assert_eq!(digits.exponent, want.exponent, "{value:e}");
                assert_eq!(digits.bytes[..digits.length], want.bytes[..want.length], "{value:e}");
            }
            let value = value as f32;
            if value.is_finite() && value > 0.0 {
                let want = Digits::as_java(Digits::read(format_args!("{value:e}")), value);
                let digits = Digits::shortest_float(value);
                assert_eq!(digits.bytes[..digits.length], want.bytes[..want.length], "{value:e}");
            }
        }
    }

    // Literals of more digits than the type holds are the point.
    #[allow(clippy::excessive_precision)]
    #[test]
    fn doubles_are_javas() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (0.001, "0.001"),
            (0.0009, "9.0E-4"),
            (9999999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (0.1 + 0.2, "0.30000000000000004"),
            (12345678.5, "1.23456785E7"),
            (99999999999999.9, "9.99999999999999E13"),
            (0.0015, "0.0015"),
            (0.3, "0.3"),
            (1.1e-5, "1.1E-5"),
            (123456789.125, "1.23456789125E8"),
            (1e-300, "1.0E-300"),
            (4.9e-324, "4.9E-324"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
            (1e23, "1.0E23"),
            (1.373428634809579e18, "1.37342863480957901E18"),
            (4.0972835861793024e16, "4.0972835861793024E16"),
            (2.398556993718175e16, "2.3985569937181752E16"),
            (9.334465534579821e17, "9.3344655345798208E17"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[allow(clippy::excessive_precision)]
    #[test]
    fn floats_are_javas() {
        for (value, text) in [
            (0.1f32, "0.1"),
            (16777216.0, "1.6777216E7"),
            (1.4e-45, "1.4E-45"),
            (f32::MAX, "3.4028235E38"),
            (5.670697e7, "5.6706968E7"),
            (1.515271e18, "1.51527106E18"),
            (1.3518913e12, "1.35189129E12"),
            (1.5624752e14, "1.56247521E14"),
            (-1.5313677e8, "-1.53136768E8"),
            (7.785667e18, "7.7856671E18"),
            (123456789.0, "1.23456792E8"),
            (-185765.125, "-185765.12"),
            (3529867.25, "3529867.2"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn decimals_are_javas() {
        for (unscaled, scale, plain, scientific) in [
            (1, 8, "0.00000001", "1E-8"),
            (0, 8, "0.00000000", "0E-8"),
            (0, 2, "0.00", "0.00"),
            (-1, 3, "-0.001", "-0.001"),
            (-123, 9, "-0.000000123", "-1.23E-7"),
            (12345, 2, "123.45", "123.45"),
            (150, 2, "1.50", "1.50"),
            (7, 0, "7", "7"),
            (12, -3, "12000", "1.2E+4"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728"),
        ] {
            let (mut a, mut b) = (String::new(), String::new());
            write_plain_decimal(&mut a, unscaled, scale);
            write_decimal(&mut b, unscaled, scale);
            assert_eq!((a.as_str(), b.as_str()), (plain, scientific));
        }
    }
}
