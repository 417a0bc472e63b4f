//! Values of JSON in bytes, as far as they are written plainly.
//!
//! What is read here every reader of JSON reads the same way, whatever its options are. The rest (single
//! quotes, comments, control characters, half of a surrogate pair, …) is left to the reader that knows them:
//! then a function gives None, and where it stopped means nothing.

use std::borrow::Cow;

/// The most digits that always fit 64 bits.
const MOST_DIGITS: usize = 18;

/// The most characters that a number is read with.
const MOST_OF_NUMBER: usize = 1000;

/// How deep values that nobody wants may nest.
const MOST_DEPTH: usize = 64;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// A place in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A text between quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoted<'a> {
    /// What stands between the quotes.
    pub(crate) bytes: &'a [u8],
    pub(crate) has_escapes: bool,
}

/// A number as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) is_whole: bool,
    is_negative: bool,
    has_exponent: bool,
    /// All digits of it, without the point, where they are at most 18.
    digits: Option<u64>,
    /// Digits behind the point.
    places: usize,
}

const POWERS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

impl<'a> Number<'a> {
    /// Its text.
    pub(crate) fn text(&self) -> &'a str {
        std::str::from_utf8(self.bytes).unwrap_or_default()
    }

    /// A whole number of 64 bits.
    #[inline]
    pub(crate) fn whole(&self) -> Option<i64> {
        if !self.is_whole {
            return None;
        }
        match self.digits {
            Some(digits) => {
                let value = digits.cast_signed();
                Some(if self.is_negative { -value } else { value })
            }
            None => self.text().parse().ok(),
        }
    }

    /// The nearest double.
    #[inline]
    pub(crate) fn double(&self) -> Option<f64> {
        if let (Some(digits), Some(power)) = (self.digits, POWERS.get(self.places))
            && digits <= 1 << f64::MANTISSA_DIGITS
            && !self.has_exponent
        {
            // Both are exact, so that their quotient is rounded once.
            #[allow(clippy::cast_precision_loss)]
            let value = digits as f64 / power;
            return Some(if self.is_negative { -value } else { value });
        }
        self.text().parse().ok()
    }

    /// True for whole numbers that fit 64 bits for sure.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.is_whole && self.digits.is_some()
    }
}

/// Eight bytes as one word; the first byte is the lowest.
#[inline]
fn word(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk::<8>().map(|chunk| u64::from_le_bytes(*chunk))
}

/// Where a word has a quote, a backslash or a control character: the high bit of the first such byte is the
/// lowest bit that is set.
#[inline]
fn specials(word: u64) -> u64 {
    let quotes = word ^ (ONES * 0x22);
    let escapes = word ^ (ONES * 0x5c);
    let found = (quotes.wrapping_sub(ONES) & !quotes)
        | (escapes.wrapping_sub(ONES) & !escapes)
        | (word.wrapping_sub(ONES * 0x20) & !word);
    found & HIGHS
}

/// How many bytes stand before the first quote, backslash or control character; None where there is none.
#[inline]
fn special(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(word) {
        let found = specials(word);
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    rest.iter().position(|b| matches!(b, b'"' | b'\\' | ..0x20)).map(|i| at + i)
}

impl<'a> Cursor<'a> {
    /// The place at the start of bytes.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes are read.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The bytes since a position.
    #[inline]
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// The next byte.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Skips blanks; ends of lines are none, since they may end the record.
    #[inline]
    pub(crate) fn blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Takes a byte.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Takes bytes if they come next.
    #[inline]
    pub(crate) fn takes(&mut self, bytes: &[u8]) -> bool {
        let is_here = self.rest().starts_with(bytes);
        if is_here {
            self.at += bytes.len();
        }
        is_here
    }

    /// Takes what follows a value: true for a comma, false for the end.
    #[inline]
    pub(crate) fn goes_on(&mut self, end: u8) -> Option<bool> {
        self.blanks();
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => {
                self.blanks();
                Some(true)
            }
            byte if byte == end => Some(false),
            _ => None,
        }
    }

    /// A text.
    #[inline]
    pub(crate) fn quoted(&mut self) -> Option<Quoted<'a>> {
        self.take(b'"')?;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            self.at += special(self.rest())?;
            match self.peek()? {
                b'"' => {
                    let bytes = self.since(start);
                    self.at += 1;
                    return Some(Quoted { bytes, has_escapes });
                }
                b'\\' => {
                    has_escapes = true;
                    self.at += 1;
                    match self.peek()? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
                        b'u' => {
                            unicode(self.bytes.get(self.at + 1..self.at + 5)?)?;
                            self.at += 5;
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
    }

    #[inline]
    fn digits(&mut self, value: &mut u64) -> usize {
        let start = self.at;
        while let Some(byte) = self.peek() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        self.at - start
    }

    /// A number.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<Number<'a>> {
        let start = self.at;
        let is_negative = self.take(b'-').is_some();
        let is_zero = self.peek() == Some(b'0');
        let (mut digits, mut places, mut has_exponent) = (0, 0, false);
        let mut count = self.digits(&mut digits);
        if count == 0 || (is_zero && count > 1) {
            return None;
        }
        let is_pointed = self.take(b'.').is_some();
        if is_pointed {
            places = self.digits(&mut digits);
            if places == 0 {
                return None;
            }
            count += places;
        }
        if let Some(b'e' | b'E') = self.peek() {
            has_exponent = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if self.digits(&mut 0) == 0 {
                return None;
            }
        }
        // Something must part a number from what follows.
        if self.at - start > MOST_OF_NUMBER || !matches!(self.peek(), Some(b',' | b'}' | b']' | b' ' | b'\t')) {
            return None;
        }
        Some(Number {
            bytes: self.since(start),
            is_whole: !is_pointed && !has_exponent,
            is_negative,
            has_exponent,
            digits: (count <= MOST_DIGITS).then_some(digits),
            places,
        })
    }

    /// `true` or `false`.
    #[inline]
    pub(crate) fn boolean(&mut self) -> Option<bool> {
        let value = self.takes(b"true");
        (value || self.takes(b"false")).then_some(())?;
        self.is_word_end().then_some(value)
    }

    /// Takes `null`, if it comes next.
    #[inline]
    pub(crate) fn null(&mut self) -> Option<bool> {
        if self.peek() != Some(b'n') {
            return Some(false);
        }
        (self.takes(b"null") && self.is_word_end()).then_some(true)
    }

    #[inline]
    fn is_word_end(&self) -> bool {
        matches!(self.peek(), Some(b',' | b'}' | b']' | b' ' | b'\t'))
    }

    /// Skips a value.
    pub(crate) fn skip(&mut self) -> Option<()> {
        self.skip_within(0)
    }

    fn skip_within(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.quoted().map(|_| ()),
            b'-' | b'0'..=b'9' => self.number().map(|_| ()),
            b't' | b'f' => self.boolean().map(|_| ()),
            b'n' => self.null()?.then_some(()),
            _ if depth == MOST_DEPTH => None,
            b'{' => {
                if self.opens(b'}') {
                    return Some(());
                }
                loop {
                    self.quoted()?;
                    self.colon()?;
                    self.skip_within(depth + 1)?;
                    if !self.goes_on(b'}')? {
                        return Some(());
                    }
                }
            }
            b'[' => {
                if self.opens(b']') {
                    return Some(());
                }
                loop {
                    self.skip_within(depth + 1)?;
                    if !self.goes_on(b']')? {
                        return Some(());
                    }
                }
            }
            _ => None,
        }
    }

    /// Takes the byte that opens an object or an array; true where it is empty, and taken as a whole.
    #[inline]
    pub(crate) fn opens(&mut self, end: u8) -> bool {
        self.at += 1;
        self.blanks();
        self.take(end).is_some()
    }

    /// Takes the colon after a name.
    #[inline]
    pub(crate) fn colon(&mut self) -> Option<()> {
        self.blanks();
        self.take(b':')?;
        self.blanks();
        Some(())
    }
}

/// The character of four hexadecimal digits; None for one of a pair.
fn unicode(digits: &[u8]) -> Option<char> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    char::from_u32(digits.iter().try_fold(0, |value, byte| Some(value * 16 + digit(byte)?))?)
}

impl<'a> Quoted<'a> {
    /// The bytes that are meant.
    pub(crate) fn unescaped(&self) -> Option<Cow<'a, [u8]>> {
        if !self.has_escapes {
            return Some(Cow::Borrowed(self.bytes));
        }
        let mut out = Vec::with_capacity(self.bytes.len());
        self.append_to(&mut out)?;
        Some(Cow::Owned(out))
    }

    /// Adds the bytes that are meant.
    #[inline]
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) -> Option<()> {
        if self.has_escapes {
            return self.append_unescaped(out);
        }
        out.extend_from_slice(self.bytes);
        Some(())
    }

    fn append_unescaped(&self, out: &mut Vec<u8>) -> Option<()> {
        let mut rest = self.bytes;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            out.extend_from_slice(rest.get(..at)?);
            let kind = *rest.get(at + 1)?;
            let mut used = at + 2;
            match kind {
                b'b' => out.push(8),
                b'f' => out.push(12),
                b'n' => out.push(b'\n'),
                b'r' => out.push(b'\r'),
                b't' => out.push(b'\t'),
                b'u' => {
                    let c = unicode(rest.get(used..used + 4)?)?;
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    used += 4;
                }
                other => out.push(other),
            }
            rest = rest.get(used..)?;
        }
        out.extend_from_slice(rest);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specials_are_found_where_they_stand() {
        for length in 0..24 {
            let plain: Vec<u8> = (0..length).map(|i| [b'a', 0x7f, 0x80, 0xff, b'!', b'#', b'[', b']'][i % 8]).collect();
            assert_eq!(special(&plain), None);
            for at in 0..length {
                for byte in [b'"', b'\\', 0, 0x1f, b'\n'] {
                    let mut bytes = plain.clone();
                    bytes[at] = byte;
                    assert_eq!(special(&bytes), Some(at));
                }
            }
        }
    }

    #[test]
    fn plain_values_are_skipped_and_others_are_not() {
        for text in
            [r#"{"a": [1, -2.5e3, "x\u00e4\n"], "b" : {}, "c":[ ],"d":null , "e":true}"#, r#""a\"b""#, "[0, 10, 0.5]"]
        {
            let mut cursor = Cursor::new(text.as_bytes());
            assert_eq!(cursor.skip().map(|()| cursor.position()), Some(text.len()), "{text}");
        }
        for text in [
            "{",
            "[1",
            "[01]",
            "[1.]",
            "[.5]",
            "[+1]",
            "[1x]",
            "[nulls]",
            "[truer]",
            "['a']",
            "[NaN]",
            "{a:1}",
            "{\"a\"}",
            "[1,]",
            "{\"a\":1,}",
            "[\"\\x\"]",
            "[\"\\ud800\"]",
            "[\"\t\"]",
            "/**/1",
            "[\n1]",
        ] {
            assert!(Cursor::new(text.as_bytes()).skip().is_none(), "{text}");
        }
        assert!(Cursor::new("[".repeat(1000).as_bytes()).skip().is_none());
    }

    #[test]
    fn numbers_have_their_values() {
        let number = |text: &str| {
            let text = format!("{text},");
            Cursor::new(text.as_bytes()).number().map(|n| (n.whole(), n.double(), n.is_long()))
        };
        for text in ["0", "-0", "12", "-120", "999999999999999999", "9223372036854775807", "-9223372036854775808"] {
            let (whole, double, _) = number(text).unwrap_or_default();
            assert_eq!((whole, double), (text.parse().ok(), text.parse().ok()), "{text}");
        }
        for text in ["0.1", "-4999999.5", "1e5", "1.5E-3", "123456789.123456789123", "9007199254740993.0"] {
            assert_eq!(number(text), Some((None, text.parse().ok(), false)), "{text}");
        }
        assert_eq!(number("9223372036854775808"), Some((None, Some(9_223_372_036_854_775_808.0), false)));
    }

    #[test]
    fn escapes_are_what_they_mean() {
        let text = r#""a\"\\\/\b\f\n\r\t\u00e4\u20acz""#;
        let quoted = Cursor::new(text.as_bytes()).quoted();
        let found = quoted.and_then(|q| q.unescaped().map(Cow::into_owned));
        assert_eq!(found, Some("a\"\\/\u{8}\u{c}\n\r\tä€z".as_bytes().to_vec()));
    }
}
