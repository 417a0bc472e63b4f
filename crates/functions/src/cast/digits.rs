//! Numbers from bytes, in the forms that most numbers have.
//!
//! Each function gives None for what it does not read, which may be a number still.

/// The most digits that always fit 64 bits.
const MOST_DIGITS: usize = 18;

const ZEROS: u64 = 0x3030_3030_3030_3030;
const HIGH_HALVES: u64 = 0xF0F0_F0F0_F0F0_F0F0;

/// Up to eight bytes as one word, after as many zeros as are missing; the last byte is the highest.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    let missing = 8 * (8 - bytes.len().min(8));
    let padding = ZEROS & !u64::MAX.checked_shl(u32::try_from(missing).unwrap_or(0)).unwrap_or(0);
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // Where the two overlap they are the same.
        let first = u64::from(u32::from_le_bytes(*first)) << missing;
        return (u64::from(u32::from_le_bytes(*last)) << 32) | first | padding;
    }
    match *bytes {
        [a] => (u64::from(a) << 56) | padding,
        [a, b] => (u64::from(b) << 56) | (u64::from(a) << 48) | padding,
        [a, b, c] => (u64::from(c) << 56) | (u64::from(b) << 48) | (u64::from(a) << 40) | padding,
        _ => padding,
    }
}

#[inline]
fn all_digits(word: u64) -> bool {
    (word & HIGH_HALVES) == ZEROS && (word.wrapping_add(0x0606_0606_0606_0606) & HIGH_HALVES) == ZEROS
}

/// The number of eight digits.
#[inline]
fn number(word: u64) -> u64 {
    let pairs = (word & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(2561) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(6_553_601) >> 16;
    (fours & 0x0000_FFFF_0000_FFFF).wrapping_mul(42_949_672_960_001) >> 32
}

/// True for 1 to `most` digits and nothing else.
#[inline]
pub fn is_digits(bytes: &[u8], most: usize) -> bool {
    if bytes.is_empty() || bytes.len() > most {
        return false;
    }
    match bytes.split_last_chunk::<8>() {
        None => all_digits(word(bytes)),
        Some((head, last)) => all_digits(u64::from_le_bytes(*last)) && head.iter().all(u8::is_ascii_digit),
    }
}

/// The number that 1 to 18 digits are.
#[inline]
fn unsigned(bytes: &[u8]) -> Option<u64> {
    if bytes.len() <= 8 {
        let word = word(bytes);
        return (!bytes.is_empty() && all_digits(word)).then(|| number(word));
    }
    if bytes.len() > MOST_DIGITS {
        return None;
    }
    let mut value = 0_u64;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

#[inline]
fn signed(bytes: &[u8]) -> (bool, &[u8]) {
    match bytes {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    }
}

/// A whole number as `str::parse` reads it.
///
/// ```
/// use firesteel_functions::cast::digits::whole;
/// assert_eq!(whole(b"-120"), Some(-120));
/// assert_eq!(whole(b"1.5"), None);
/// ```
#[inline]
pub fn whole(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = signed(bytes);
    match unsigned(digits) {
        Some(value) => {
            let value = value.cast_signed();
            Some(if negative { -value } else { value })
        }
        None => whole_slowly(bytes),
    }
}

#[cold]
fn whole_slowly(bytes: &[u8]) -> Option<i64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// Digits with at most one point among them: the number without the point, and the digits behind it.
#[inline]
fn pointed(bytes: &[u8]) -> Option<(u64, usize)> {
    if bytes.len() > MOST_DIGITS + 1 {
        return None;
    }
    let mut value = 0_u64;
    let mut places = None;
    for (at, byte) in bytes.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            value = value * 10 + u64::from(digit);
        } else if *byte == b'.' && places.is_none() {
            places = Some(bytes.len() - at - 1);
        } else {
            return None;
        }
    }
    let digits = bytes.len() - usize::from(places.is_some());
    (1..=MOST_DIGITS).contains(&digits).then_some((value, places.unwrap_or(0)))
}

const POWERS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// True for digits with at most one point, of which the sign may be a minus: a double in any format.
#[inline]
pub fn is_pointed(bytes: &[u8]) -> bool {
    let (_, digits) = signed(bytes);
    pointed(digits).is_some()
}

/// A double that is written without an exponent.
///
/// ```
/// use firesteel_functions::cast::digits::double;
/// assert_eq!(double(b"-0.5"), Some(-0.5));
/// assert_eq!(double(b"1e3"), None);
/// ```
#[inline]
pub fn double(bytes: &[u8]) -> Option<f64> {
    let (negative, digits) = signed(bytes);
    let (value, places) = pointed(digits)?;
    // Both are exact, so that their quotient is rounded once.
    if value > 1 << f64::MANTISSA_DIGITS {
        return None;
    }
    #[allow(clippy::cast_precision_loss)]
    let value = value as f64 / POWERS.get(places)?;
    Some(if negative { -value } else { value })
}

/// A decimal of few digits, unscaled; more digits behind the point than the scale has are not read.
#[inline]
pub fn decimal(bytes: &[u8], precision: u8, scale: i8) -> Option<i128> {
    let (negative, digits) = signed(bytes);
    let (value, places) = pointed(digits)?;
    let missing = u32::try_from(i64::from(scale) - i64::try_from(places).ok()?).ok()?;
    let value = i128::from(value).checked_mul(10_i128.checked_pow(missing)?)?;
    (value < 10_i128.checked_pow(precision.into())?).then_some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let texts = [
            "0",
            "-0",
            "7",
            "12345678",
            "123456789",
            "-99999999",
            "999999999999999999",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "+5",
            "",
            "-",
            "+",
            "1 ",
            "12a45678",
            "1.5",
            "-1.25",
            ".5",
            "5.",
            ".",
            "1..2",
            "0.1",
            "4999999.5",
            "9007199254740993",
            "123456789012345678",
            "1e5",
            "00012",
            "/",
            ":",
            "1:",
            "1234567:",
            "12345/78",
        ];
        for text in texts {
            assert_eq!(whole(text.as_bytes()), text.parse::<i64>().ok(), "{text}");
            if let Some(value) = double(text.as_bytes()) {
                assert_eq!(Some(value.to_bits()), text.parse::<f64>().ok().map(f64::to_bits), "{text}");
            }
            let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
            assert_eq!(is_digits(text.as_bytes(), 9), digits, "{text}");
        }
        assert_eq!(decimal(b"-12.5", 5, 2), Some(-1250));
        assert_eq!(decimal(b"1234.5", 5, 2), None);
        assert_eq!(decimal(b"1.005", 5, 2), None);
    }
}
