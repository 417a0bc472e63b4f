//! Names: of columns, tables and everything else.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::{Token, TokenKind};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{Name, TableName};

impl Parser<'_> {
    /// Whether a token can be a name.
    pub fn ahead_is_name(&self, count: usize) -> bool {
        match self.ahead(count).kind {
            TokenKind::Word(keyword) => !(self.options.reserves_keywords() && keyword.is_some_and(K::is_reserved)),
            TokenKind::BackQuoted => true,
            TokenKind::DoubleQuoted => self.options.quotes_names_doubly(),
            _ => false,
        }
    }

    /// Whether a token can be the alias of a table.
    pub fn ahead_is_alias(&self, count: usize) -> bool {
        self.ahead_is_name(count) && !matches!(self.ahead(count).kind, TokenKind::Word(Some(word)) if word.is_strict())
    }

    /// Whether `IDENTIFIER('name')` is next, whose name is known.
    fn at_identifier_literal(&self) -> bool {
        self.is(K::IDENTIFIER) && self.ahead_is_mark(1, "(") && self.ahead_is_text(2) && self.ahead_is_mark(3, ")")
    }

    /// The parts of `IDENTIFIER('a.b')`.
    fn identifier_literal(&mut self) -> Result<Name> {
        self.advance();
        self.advance();
        let text = self.string()?;
        self.advance();
        crate::parse_identifier_parts(&text, self.options)
    }

    /// One part of a name.
    pub fn identifier(&mut self) -> Result<String> {
        if self.at_identifier_literal() {
            let start = self.mark();
            let mut parts = self.identifier_literal()?;
            return match (parts.pop(), parts.is_empty()) {
                (Some(part), true) => Ok(part),
                (part, _) => Err(self
                    .error(start, "IDENTIFIER_TOO_MANY_NAME_PARTS")
                    .with(
                        "identifier",
                        parts.into_iter().chain(part).map(|part| format!("`{part}`")).collect::<Vec<_>>().join("."),
                    )
                    .with("limit", "1")),
            };
        }
        self.plain_identifier()
    }

    pub fn plain_identifier(&mut self) -> Result<String> {
        if !self.ahead_is_name(0) {
            return Err(self.unexpected());
        }
        let token = self.advance();
        self.identifier_of(token)
    }

    fn identifier_of(&self, token: Token) -> Result<String> {
        let characters = self.characters_of(token);
        if let TokenKind::Word(_) = token.kind {
            let name = self.text_of(token);
            return if name.is_ascii() {
                Ok(name)
            } else {
                Err(self.error_at(token, "INVALID_IDENTIFIER").with("ident", name))
            };
        }
        let quote = characters.first().copied().unwrap_or('`');
        let inside: String = characters.get(1..characters.len().saturating_sub(1)).unwrap_or_default().iter().collect();
        let doubled: String = [quote, quote].iter().collect();
        Ok(inside.replace(&doubled, &quote.to_string()))
    }

    /// A part of a name of something stored, where `a-b` gets an error of its own.
    pub fn object_identifier(&mut self) -> Result<String> {
        let start = self.mark();
        let name = self.identifier()?;
        if self.is_mark("-") && self.ahead_is_name(1) {
            let first = self.ahead(0);
            while self.is_mark("-") && self.ahead_is_name(1) {
                self.advance();
                self.advance();
            }
            return Err(self.error_at(first, "INVALID_IDENTIFIER").with("ident", self.text_from(start)));
        }
        Ok(name)
    }

    /// The first part of a name, or the parts of `IDENTIFIER('a.b')`.
    pub fn first_parts(&mut self) -> Result<Name> {
        if self.at_identifier_literal() { self.identifier_literal() } else { Ok(vec![self.plain_identifier()?]) }
    }

    /// `a.b.c`.
    pub fn qualified_name(&mut self) -> Result<Name> {
        let mut parts =
            if self.at_identifier_literal() { self.identifier_literal()? } else { vec![self.object_identifier()?] };
        while self.is_mark(".") && self.ahead_is_name(1) {
            self.advance();
            parts.push(self.object_identifier()?);
        }
        if self.is_mark(".") {
            self.advance();
            return Err(self.unexpected());
        }
        Ok(parts)
    }

    /// `a.b.c` or `IDENTIFIER(…)`.
    pub fn table_name(&mut self) -> Result<TableName> {
        if self.is(K::IDENTIFIER) && self.ahead_is_mark(1, "(") && !self.at_identifier_literal() {
            self.advance();
            self.advance();
            let expression = self.expression()?;
            self.expect_mark(")")?;
            return Ok(TableName::Identifier(Box::new(expression)));
        }
        let start = self.mark();
        let parts = self.qualified_name()?;
        Ok(TableName::Parts(parts, self.origin(start)))
    }

    /// `(a, b, c)`.
    pub fn identifier_list(&mut self) -> Result<Vec<String>> {
        self.in_parentheses(Self::object_identifier)
    }

    /// A name of one part that must be written out: of a function's own word, say.
    pub fn word(&mut self) -> Result<String> {
        match self.peek().kind {
            TokenKind::Word(_) => {
                let token = self.advance();
                Ok(self.text_of(token))
            }
            _ => Err(self.unexpected()),
        }
    }
}

/// Splits a column's name of the DataFrame API at its dots, save those between back quotes.
pub(crate) fn attribute_name(text: &str) -> Result<Name> {
    let error =
        || SparkError::new("INVALID_ATTRIBUTE_NAME_SYNTAX").with_class(ExceptionClass::Analysis).with("name", text);
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut characters = text.chars().peekable();
    let mut is_quoted = false;
    let mut before = '.';
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match (is_quoted, character) {
            (true, '`') if next == Some('`') => {
                characters.next();
                part.push('`');
            }
            (true, '`') => {
                is_quoted = false;
                if next.is_some_and(|next| next != '.') {
                    return Err(error());
                }
            }
            (false, '`') if part.is_empty() => is_quoted = true,
            (false, '`') => return Err(error()),
            (false, '.') if before == '.' || next.is_none() => return Err(error()),
            (false, '.') => parts.push(std::mem::take(&mut part)),
            (_, other) => part.push(other),
        }
        before = character;
    }
    if is_quoted {
        return Err(error());
    }
    parts.push(part);
    Ok(parts)
}
