//! The pieces that SQL text falls into.

use crate::keyword::Keyword;

/// A piece of text and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    /// Position of the first character.
    pub start: u32,
    /// Position after the last character.
    pub end: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A bare word: a keyword, a name, or both.
    Word(Option<Keyword>),
    /// A name between back quotes.
    BackQuoted,
    /// `'…'`, `r'…'`.
    Text,
    /// `"…"`: a string, or a name by the session's settings.
    DoubleQuoted,
    Number(NumberKind),
    /// An operator or mark.
    Mark(&'static str),
    /// A character that begins no token.
    Unknown,
    /// The end of the text.
    End,
}

/// Numbers by how they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    /// `1`
    Integer,
    /// `1.5`
    Decimal,
    /// `1e3`
    Exponent,
    /// `1Y`
    Byte,
    /// `1S`
    Short,
    /// `1L`
    Long,
    /// `1F`
    Float,
    /// `1D`
    Double,
    /// `1BD`
    BigDecimal,
}

/// Marks, the longer before their beginnings.
pub(crate) const MARKS: &[&str] = &[
    "/*+", "<=>", ">>>", "*/", "->", "=>", "::", "||", "|>", "<<", ">>", "<=", ">=", "<>", "!=", "==", "!<", "!>", "(",
    ")", "[", "]", ",", ".", ";", ":", "?", "+", "-", "*", "/", "%", "&", "|", "^", "~", "=", "<", ">", "!", "{", "}",
    "@", "$",
];
