//! Charsets of text files.

use firesteel_error::{Result, SparkError};
use std::borrow::Cow;

/// How text is written in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    #[default]
    Utf8,
    Latin1,
    Ascii,
    /// Big-endian, unless a byte order mark says otherwise.
    Utf16,
    Utf16Be,
    Utf16Le,
    /// Big-endian, unless a byte order mark says otherwise.
    Utf32,
}

const NAMES: &[(&str, Charset)] = &[
    ("iso-8859-1", Charset::Latin1),
    ("us-ascii", Charset::Ascii),
    ("utf-16", Charset::Utf16),
    ("utf-16be", Charset::Utf16Be),
    ("utf-16le", Charset::Utf16Le),
    ("utf-32", Charset::Utf32),
    ("utf-8", Charset::Utf8),
];

impl Charset {
    /// The charset of a name that `function` was given.
    pub fn parse(name: &str, function: &str) -> Result<Self> {
        let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, charset)| *charset);
        let all: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        found.ok_or_else(|| {
            SparkError::new("INVALID_PARAMETER_VALUE.CHARSET")
                .with("functionName", format!("`{function}`"))
                .with("parameter", "`charset`")
                .with("charset", name)
                .with("charsets", all.join(", "))
        })
    }

    /// Bytes as UTF-8; what is no text of the charset becomes the replacement character.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        let text: String = match self {
            Self::Utf8 => return Cow::Borrowed(bytes),
            Self::Latin1 => bytes.iter().map(|b| char::from(*b)).collect(),
            Self::Ascii => bytes.iter().map(|b| if b.is_ascii() { char::from(*b) } else { REPLACEMENT }).collect(),
            Self::Utf16 => match bytes {
                [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
                [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
                _ => utf16(bytes, u16::from_be_bytes),
            },
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes),
            Self::Utf16Le => utf16(bytes, u16::from_le_bytes),
            Self::Utf32 => match bytes {
                [0xff, 0xfe, 0, 0, rest @ ..] => utf32(rest, u32::from_le_bytes),
                [0, 0, 0xfe, 0xff, rest @ ..] => utf32(rest, u32::from_be_bytes),
                _ => utf32(bytes, u32::from_be_bytes),
            },
        };
        Cow::Owned(text.into_bytes())
    }

    /// Text as bytes; what the charset does not have becomes a question mark.
    pub fn encode(self, text: &str) -> Cow<'_, [u8]> {
        let one = |most: u32| -> Vec<u8> {
            text.chars().map(|c| u8::try_from(c).ok().filter(|b| u32::from(*b) <= most).unwrap_or(b'?')).collect()
        };
        Cow::Owned(match self {
            Self::Utf8 => return Cow::Borrowed(text.as_bytes()),
            Self::Latin1 => one(0xff),
            Self::Ascii => one(0x7f),
            Self::Utf16 | Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf32 => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
        })
    }

    /// What files begin with.
    pub fn mark(self) -> &'static [u8] {
        if self == Self::Utf16 { b"\xfe\xff" } else { b"" }
    }

    /// The charset that the first bytes of a JSON text tell.
    pub fn of_json(bytes: &[u8]) -> Self {
        match bytes {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, _, ..] => Self::Utf32,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Self::Utf16,
            [0, 1..=0xff, ..] => Self::Utf16Be,
            [1..=0xff, 0, ..] => Self::Utf16Le,
            _ => Self::Utf8,
        }
    }
}

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (units, rest) = bytes.as_chunks::<2>();
    let chars = char::decode_utf16(units.iter().map(|bytes| unit(*bytes)));
    let text = chars.map(|c| c.unwrap_or(REPLACEMENT));
    text.chain((!rest.is_empty()).then_some(REPLACEMENT)).collect()
}

fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> String {
    let (units, rest) = bytes.as_chunks::<4>();
    let text = units.iter().map(|bytes| char::from_u32(unit(*bytes)).unwrap_or(REPLACEMENT));
    text.chain((!rest.is_empty()).then_some(REPLACEMENT)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back() {
        for (_, charset) in NAMES {
            let text = if *charset == Charset::Ascii { "a?" } else { "aé" };
            let bytes = [charset.mark(), charset.encode("aé").as_ref()].concat();
            assert_eq!(charset.decode(&bytes), text.as_bytes(), "{charset:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(Charset::Utf16.decode(b"\xfe\xff\0\xe9\0").as_ref(), "é\u{fffd}".as_bytes());
        assert_eq!(Charset::Utf16.decode(b"\xff\xfe\xe9\0").as_ref(), "é".as_bytes());
        assert_eq!(Charset::Ascii.decode(b"\xe9").as_ref(), "\u{fffd}".as_bytes());
        assert_eq!(Charset::Utf32.decode(b"\0\0\xd8\0").as_ref(), "\u{fffd}".as_bytes());
    }

    #[test]
    fn unknown_names_are_errors() {
        assert!(Charset::parse("latin1", "CSVOptions").is_err_and(|e| e.is("INVALID_PARAMETER_VALUE.CHARSET")));
    }
}
