//! String literals.

/// The value of a string literal's inside by Spark's escapes.
///
/// `\%` and `\_` keep their backslash, for patterns of LIKE.
pub(crate) fn unescape(inside: &[char], quote: char, keeps_doubled_quotes: bool) -> String {
    let mut value = String::with_capacity(inside.len());
    let mut at = 0;
    while let Some(&character) = inside.get(at) {
        let rest = inside.get(at + 1..).unwrap_or_default();
        if character == '\\' && !rest.is_empty() {
            at += 1 + escape(rest, &mut value);
        } else if character == quote && rest.first() == Some(&quote) {
            if !keeps_doubled_quotes {
                value.push(quote);
            }
            at += 2;
        } else {
            value.push(character);
            at += 1;
        }
    }
    value
}

/// Adds what an escape stands for, and says how many characters after the backslash it has.
fn escape(rest: &[char], value: &mut String) -> usize {
    let number = |from: usize, count: usize, radix: u32| -> Option<u32> {
        let digits = rest.get(from..from + count)?;
        digits.iter().try_fold(0u32, |number, digit| Some(number.checked_mul(radix)? + digit.to_digit(radix)?))
    };
    let Some(&first) = rest.first() else { return 0 };
    match first {
        'u' => {
            if let Some(unit) = number(1, 4, 16) {
                // Two escapes may spell a character beyond the first plane.
                if (0xD800..0xDC00).contains(&unit)
                    && rest.get(5) == Some(&'\\')
                    && rest.get(6) == Some(&'u')
                    && let Some(low) = number(7, 4, 16)
                    && (0xDC00..0xE000).contains(&low)
                {
                    value.extend(char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)));
                    return 11;
                }
                value.push(char::from_u32(unit).unwrap_or('?'));
                return 5;
            }
        }
        'U' => {
            if let Some(code) = number(1, 8, 16) {
                value.push(char::from_u32(code).unwrap_or('?'));
                return 9;
            }
        }
        '0'..='1' => {
            if let Some(code) = number(0, 3, 8) {
                value.extend(char::from_u32(code));
                return 3;
            }
        }
        _ => {}
    }
    match first {
        '0' => value.push('\0'),
        'b' => value.push('\u{8}'),
        'n' => value.push('\n'),
        'r' => value.push('\r'),
        't' => value.push('\t'),
        'Z' => value.push('\u{1A}'),
        '%' | '_' => {
            value.push('\\');
            value.push(first);
        }
        other => value.push(other),
    }
    1
}
