//! Splits text into tokens.

use crate::keyword::Keyword;
use crate::token::{MARKS, NumberKind, Token, TokenKind};

/// The tokens of a text, the last of which is [`TokenKind::End`].
pub(crate) struct Tokens {
    pub tokens: Vec<Token>,
    /// Where a block comment begins that has no end.
    pub unclosed_comment: Option<u32>,
}

/// Splits characters into tokens; every text has some.
pub(crate) fn tokenize(characters: &[char]) -> Tokens {
    let mut lexer = Lexer { characters, at: 0, unclosed_comment: None };
    let mut tokens = Vec::with_capacity(characters.len() / 4 + 2);
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let kind = lexer.token();
        tokens.push(Token { kind, start: position(start), end: position(lexer.at) });
        if kind == TokenKind::End {
            return Tokens { tokens, unclosed_comment: lexer.unclosed_comment };
        }
    }
}

fn position(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Characters of bare words. Those that are not ASCII are refused later, by a clearer error.
fn is_word(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric() || character.is_alphabetic()
}

struct Lexer<'a> {
    characters: &'a [char],
    at: usize,
    unclosed_comment: Option<u32>,
}

impl Lexer<'_> {
    fn ahead(&self, count: usize) -> Option<char> {
        self.characters.get(self.at + count).copied()
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, character)| self.ahead(index) == Some(character))
    }

    fn skip_blanks(&mut self) {
        while let Some(character) = self.ahead(0) {
            if character.is_whitespace() {
                self.at += 1;
            } else if self.looking_at("--") {
                self.skip_line();
            } else if self.looking_at("/*") && self.ahead(2) != Some('+') {
                self.skip_block();
            } else {
                return;
            }
        }
    }

    /// A backslash before the line's end carries the comment to the next line.
    fn skip_line(&mut self) {
        while let Some(character) = self.ahead(0) {
            self.at += 1;
            if character == '\\' && self.ahead(0) == Some('\n') {
                self.at += 1;
            } else if character == '\n' {
                return;
            }
        }
    }

    /// Block comments nest.
    fn skip_block(&mut self) {
        let start = self.at;
        let mut depth = 0usize;
        while self.at < self.characters.len() {
            if self.looking_at("/*") && self.ahead(2) != Some('+') {
                depth += 1;
                self.at += 2;
            } else if self.looking_at("*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.at += 1;
            }
        }
        self.unclosed_comment = Some(position(start));
    }

    fn token(&mut self) -> TokenKind {
        let Some(character) = self.ahead(0) else { return TokenKind::End };
        let next = self.ahead(1);
        let begins_number =
            character.is_ascii_digit() || (character == '.' && next.is_some_and(|c| c.is_ascii_digit()));
        if begins_number && let Some(kind) = self.number() {
            return TokenKind::Number(kind);
        }
        let found = match character {
            '\'' => self.quoted(1, '\'', true).map(|()| TokenKind::Text),
            '"' => self.quoted(1, '"', true).map(|()| TokenKind::DoubleQuoted),
            'r' | 'R' if next == Some('\'') => self.quoted(2, '\'', false).map(|()| TokenKind::Text),
            'r' | 'R' if next == Some('"') => self.quoted(2, '"', false).map(|()| TokenKind::Text),
            '`' => self.back_quoted(),
            _ => None,
        };
        if let Some(kind) = found {
            return kind;
        }
        if is_word(character) {
            return self.word();
        }
        for mark in MARKS {
            if self.looking_at(mark) {
                self.at += mark.len();
                return TokenKind::Mark(mark);
            }
        }
        self.at += 1;
        TokenKind::Unknown
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        while self.ahead(0).is_some_and(is_word) {
            self.at += 1;
        }
        let word: String = self.characters.get(start..self.at).unwrap_or_default().iter().collect();
        TokenKind::Word(Keyword::find(&word))
    }

    /// A number, unless letters follow that make it a word.
    fn number(&mut self) -> Option<NumberKind> {
        let digits = |from: usize| (from..).take_while(|i| self.ahead(*i).is_some_and(|c| c.is_ascii_digit())).count();
        let whole = digits(0);
        let (mut length, mut has_point) = (whole, false);
        if self.ahead(whole) == Some('.') {
            has_point = true;
            length += 1 + digits(whole + 1);
        }
        let mut exponent = None;
        if matches!(self.ahead(length), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.ahead(length + 1), Some('+' | '-')));
            let count = digits(length + 1 + sign);
            if count > 0 {
                exponent = Some(length + 1 + sign + count);
            }
        }
        let end = exponent.unwrap_or(length);
        let suffix: String = (end..).map_while(|i| self.ahead(i).filter(|c| is_word(*c))).take(3).collect();
        let kind = match suffix.to_ascii_uppercase().as_str() {
            "" if exponent.is_some() => Some((NumberKind::Exponent, 0)),
            "" if has_point => Some((NumberKind::Decimal, 0)),
            "" => Some((NumberKind::Integer, 0)),
            "F" => Some((NumberKind::Float, 1)),
            "D" => Some((NumberKind::Double, 1)),
            "BD" => Some((NumberKind::BigDecimal, 2)),
            "Y" if !has_point && exponent.is_none() => Some((NumberKind::Byte, 1)),
            "S" if !has_point && exponent.is_none() => Some((NumberKind::Short, 1)),
            "L" if !has_point && exponent.is_none() => Some((NumberKind::Long, 1)),
            _ => None,
        };
        if let Some((kind, suffix)) = kind {
            self.at += end + suffix;
            return Some(kind);
        }
        // `1.a` is the field `a` of 1, and `1a` a name.
        if has_point && whole > 0 {
            self.at += whole;
            return Some(NumberKind::Integer);
        }
        None
    }

    /// Takes a string whose quote comes after `prefix - 1` characters.
    fn quoted(&mut self, prefix: usize, quote: char, has_escapes: bool) -> Option<()> {
        let mut index = prefix;
        loop {
            let character = self.ahead(index)?;
            index += 1;
            if character == '\\' && has_escapes {
                self.ahead(index)?;
                index += 1;
            } else if character == quote {
                if has_escapes && self.ahead(index) == Some(quote) {
                    index += 1;
                    continue;
                }
                self.at += index;
                return Some(());
            }
        }
    }

    fn back_quoted(&mut self) -> Option<TokenKind> {
        let mut index = 1;
        loop {
            if self.ahead(index)? == '`' {
                index += 1;
                if self.ahead(index) != Some('`') {
                    self.at += index;
                    return Some(TokenKind::BackQuoted);
                }
            }
            index += 1;
        }
    }
}
