//! The words and marks of DDL text.

/// A word or mark, with the place of its first character.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The token as written.
    pub(super) text: String,
    /// In characters.
    pub(super) start: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// A bare word: a keyword or a name.
    Word,
    /// A name in back ticks, without them.
    Quoted(String),
    Integer,
    /// A string literal's value.
    Text(String),
    Mark,
    End,
}

impl Token {
    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.kind == TokenKind::Mark && self.text == mark
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }
}

/// Splits text into tokens, the last of which is always [`TokenKind::End`].
pub(super) fn tokenize(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        if c == '-' && next == Some('-') {
            while chars.get(at).is_some_and(|c| *c != '\n') {
                at += 1;
            }
            continue;
        }
        if c == '/' && next == Some('*') {
            at = skip_block_comment(&chars, at);
            continue;
        }
        let (kind, end) = token_at(&chars, at);
        tokens.push(Token { kind, text: chars[at..end].iter().collect(), start: at });
        at = end;
    }
    tokens.push(Token { kind: TokenKind::End, text: String::new(), start: chars.len() });
    tokens
}

/// Block comments nest.
fn skip_block_comment(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                at += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn token_at(chars: &[char], at: usize) -> (TokenKind, usize) {
    let c = chars[at];
    let next = chars.get(at + 1).copied();
    match c {
        '`' => quoted_name(chars, at).unwrap_or((TokenKind::Mark, at + 1)),
        '\'' | '"' => match string_end(chars, at, false) {
            Some(end) => (TokenKind::Text(unescape(&chars[at + 1..end - 1], c)), end),
            None => (TokenKind::Mark, at + 1),
        },
        'r' | 'R' if matches!(next, Some('\'' | '"')) => match string_end(chars, at + 1, true) {
            Some(end) => (TokenKind::Text(chars[at + 2..end - 1].iter().collect()), end),
            None => word(chars, at),
        },
        '<' if next == Some('>') => (TokenKind::Mark, at + 2),
        c if c == '_' || c.is_alphanumeric() => word(chars, at),
        _ => (TokenKind::Mark, at + 1),
    }
}

fn word(chars: &[char], start: usize) -> (TokenKind, usize) {
    let length = chars[start..].iter().take_while(|c| **c == '_' || c.is_alphanumeric()).count();
    let end = start + length;
    let kind = if chars[start..end].iter().all(char::is_ascii_digit) { TokenKind::Integer } else { TokenKind::Word };
    (kind, end)
}

fn quoted_name(chars: &[char], start: usize) -> Option<(TokenKind, usize)> {
    let mut name = String::new();
    let mut at = start + 1;
    loop {
        match (*chars.get(at)?, chars.get(at + 1)) {
            ('`', Some('`')) => {
                name.push('`');
                at += 2;
            }
            ('`', _) => return Some((TokenKind::Quoted(name), at + 1)),
            (c, _) => {
                name.push(c);
                at += 1;
            }
        }
    }
}

/// The position after the closing quote.
fn string_end(chars: &[char], start: usize, raw: bool) -> Option<usize> {
    let quote = chars[start];
    let mut at = start + 1;
    loop {
        match *chars.get(at)? {
            '\\' if !raw => at += 2,
            c if c == quote && !raw && chars.get(at + 1) == Some(&quote) => at += 2,
            c if c == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The value of a string literal's inside, by Spark's escape rules.
fn unescape(inside: &[char], quote: char) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut at = 0;
    while at < inside.len() {
        let c = inside[at];
        let rest = &inside[at + 1..];
        if c == quote && rest.first() == Some(&quote) {
            out.push(quote);
            at += 2;
        } else if c == '\\' && !rest.is_empty() {
            at += 1 + unescape_one(rest, &mut out);
        } else {
            out.push(c);
            at += 1;
        }
    }
    out
}

/// Appends what follows a backslash and says how many characters it took.
fn unescape_one(rest: &[char], out: &mut String) -> usize {
    let code = |digits: usize, radix: u32| -> Option<char> {
        let digits: String = rest.get(1..=digits)?.iter().collect();
        u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32)
    };
    match rest[0] {
        'u' if code(4, 16).is_some() => {
            out.extend(code(4, 16));
            5
        }
        'U' if code(8, 16).is_some() => {
            out.extend(code(8, 16));
            9
        }
        '0'..='1' if rest.len() > 2 && rest[1..3].iter().all(|c| ('0'..='7').contains(c)) => {
            let value = rest[..3].iter().fold(0, |value, c| value * 8 + c.to_digit(8).unwrap_or(0));
            out.extend(char::from_u32(value));
            3
        }
        other => {
            match other {
                '0' => out.push('\0'),
                'b' => out.push('\u{8}'),
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'Z' => out.push('\u{1a}'),
                // Kept with the backslash, for LIKE patterns.
                '%' => out.push_str("\\%"),
                '_' => out.push_str("\\_"),
                plain => out.push(plain),
            }
            1
        }
    }
}
