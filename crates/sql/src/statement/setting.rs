//! SET and RESET.

use crate::interval::{MICROS_PER_HOUR, MICROS_PER_SECOND};
use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, SetStatement, Statement};
use firesteel_types::Literal;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::SET)?;
        if self.is(K::CATALOG) && (self.ahead_is_name(1) || self.ahead_is_text(1)) {
            self.advance();
            return self.set_catalog();
        }
        if self.are(&[K::TIME, K::ZONE]) {
            self.advance();
            self.advance();
            return self.set_time_zone(start);
        }
        if self.is(K::ROLE)
            && !self.ahead_is_mark(1, "=")
            && !self.ahead_is_mark(1, ".")
            && self.ahead_begins_expression(1)
        {
            self.skip_to_end();
            return Err(self.invalid_statement(start, "SET ROLE"));
        }
        if self.is_any(&[K::VARIABLE, K::VAR]) && (self.ahead_is_name(1) || self.ahead_is_mark(1, "(")) {
            self.advance();
            return self.set_variable(start);
        }
        self.set_configuration(start).map(Statement::Set)
    }

    fn set_catalog(&mut self) -> Result<Statement> {
        let start = self.mark();
        let is_name = matches!(self.ahead(1).kind, TokenKind::End | TokenKind::Mark(";")) && self.ahead_is_name(0);
        let name = if is_name {
            Expr::literal(Literal::String(self.identifier()?)).at(self.origin(start))
        } else {
            self.expression()?
        };
        Ok(Statement::SetCatalog { name })
    }

    /// `LOCAL`, a string, or an interval.
    fn set_time_zone(&mut self, start: Mark) -> Result<Statement> {
        let zone = if self.take(K::LOCAL) {
            None
        } else if self.ahead_is_text(0) {
            let mark = self.mark();
            let zone = self.string()?;
            Some(Expr::literal(Literal::String(zone)).at(self.origin(mark)))
        } else if self.is(K::INTERVAL) && (!self.ahead_is_text(1) || self.ahead_is_unit(self.after_texts(1))) {
            let interval = self.value()?;
            if let Some(wrong) = wrong_offset(&interval) {
                return Err(self
                    .error(start, "INVALID_INTERVAL_FORMAT.TIMEZONE_INTERVAL_OUT_OF_RANGE")
                    .with("input", wrong.to_string()));
            }
            Some(interval)
        } else {
            self.skip_to_end();
            return Err(self.error(start, "_LEGACY_ERROR_TEMP_0045"));
        };
        while self.take_mark(";") {}
        if !self.at_end() {
            self.skip_to_end();
            return Err(self.error(start, "_LEGACY_ERROR_TEMP_0045"));
        }
        Ok(Statement::Set(SetStatement::TimeZone { zone }))
    }

    /// `SET`, `SET -v`, `SET key`, `SET key = value`, by the text rather than the tokens.
    fn set_configuration(&mut self, start: Mark) -> Result<SetStatement> {
        let text = self.rest();
        self.skip_to_end();
        let text = text.trim_end().trim_end_matches(';').trim_end();
        let invalid = || self.error(start, "INVALID_SET_SYNTAX");
        match text {
            "" => return Ok(SetStatement::ShowAll { verbose: false }),
            "-v" => return Ok(SetStatement::ShowAll { verbose: true }),
            _ => {}
        }
        let (key, rest) = match quoted(text) {
            Some(found) => found,
            None => {
                let end = text.find(|c: char| !is_key(c)).unwrap_or(text.len());
                let (key, rest) = text.split_at(end);
                (key.to_string(), rest)
            }
        };
        let rest = rest.trim_start();
        if key.is_empty() {
            return Err(invalid());
        }
        if rest.is_empty() {
            return Ok(SetStatement::Show { key });
        }
        let value = rest.strip_prefix('=').ok_or_else(invalid)?.trim();
        let value = match quoted(value) {
            Some((value, "")) => value,
            _ if value.contains(';') => return Err(invalid()),
            _ => value.to_string(),
        };
        Ok(SetStatement::Assign { key, value })
    }

    /// `RESET [key]`.
    pub(super) fn reset(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::RESET)?;
        let text = self.rest();
        self.skip_to_end();
        let text = text.trim_end().trim_end_matches(';').trim_end();
        let key = match quoted(text) {
            Some((key, "")) => Some(key),
            _ if text.is_empty() => None,
            _ if text.chars().all(is_key) => Some(text.to_string()),
            _ => return Err(self.error(start, "INVALID_RESET_COMMAND_FORMAT")),
        };
        Ok(Statement::Reset { key })
    }
}

/// What of an interval cannot be the offset of a zone: hours beyond 18, or parts of a second.
fn wrong_offset(interval: &Expr) -> Option<i64> {
    let micros = match &interval.kind {
        ExprKind::Literal(Literal::DayTimeInterval(micros, _) | Literal::CalendarInterval(0, 0, micros)) => *micros,
        ExprKind::Literal(Literal::YearMonthInterval(months, _)) => return Some(i64::from(*months)),
        _ => return Some(0),
    };
    let hours = micros / MICROS_PER_HOUR;
    if micros.abs() > 18 * MICROS_PER_HOUR {
        return Some(hours);
    }
    (micros % MICROS_PER_SECOND != 0).then_some(micros / MICROS_PER_SECOND)
}

fn is_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | ':')
}

/// A text in back quotes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('`')?;
    let mut value = String::new();
    let mut characters = inside.char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        if character != '`' {
            value.push(character);
        } else if characters.peek().is_some_and(|(_, next)| *next == '`') {
            value.push('`');
            characters.next();
        } else {
            return Some((value, inside.get(index + 1..).unwrap_or_default()));
        }
    }
    None
}
