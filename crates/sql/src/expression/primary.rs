//! What operators stand between, and what may be attached to it.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{CastMode, Expr, ExprKind};
use firesteel_types::Literal;

impl Parser<'_> {
    /// A primary expression with fields, indexes, casts and collations after it.
    pub(super) fn postfixed(&mut self) -> Result<Expr> {
        let start = self.start();
        let mut value = match self.take_pending() {
            Some(pending) => pending,
            None => self.primary()?,
        };
        loop {
            if self.take_mark("[") {
                let extraction = self.expression()?;
                self.expect_mark("]")?;
                let kind = ExprKind::ExtractValue { child: Box::new(value), extraction: Box::new(extraction) };
                value = Expr::new(kind).at(self.origin(start));
            } else if self.is_mark(".") && self.ahead_is_name(1) {
                self.advance();
                value = self.field(value)?.at(self.origin(start));
            } else if self.take_mark("::") {
                let to = self.data_type()?;
                let kind = ExprKind::Cast { child: Box::new(value), to, mode: CastMode::Session };
                value = Expr::new(kind).at(self.origin(start));
            } else if self.is(K::COLLATE) && self.ahead_is_name(1) {
                self.advance();
                let name = self.mark();
                let collation = self.qualified_name()?.join(".");
                let collation = Expr::literal(Literal::String(collation)).at(self.origin(name));
                value = self.call(start, "collate", vec![value, collation]);
            } else if self.at_variant_path() {
                value = self.variant_path(value)?;
            } else {
                return Ok(value);
            }
            self.deepen()?;
        }
    }

    /// `.name` after a value: a longer column name, or a field.
    fn field(&mut self, value: Expr) -> Result<Expr> {
        let start = self.mark();
        let name = self.plain_identifier()?;
        match value.kind {
            ExprKind::Attribute { name: mut parts, plan_id, is_metadata_column } => {
                parts.push(name);
                Ok(Expr::new(ExprKind::Attribute { name: parts, plan_id, is_metadata_column }))
            }
            kind => {
                let child = Box::new(Expr::new(kind).at(value.origin));
                let extraction = Box::new(Expr::literal(Literal::String(name)).at(self.origin(start)));
                Ok(Expr::new(ExprKind::ExtractValue { child, extraction }))
            }
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        if self.at_lambda() {
            return self.lambda();
        }
        let start = self.mark();
        match self.peek().kind {
            TokenKind::Number(_) | TokenKind::Mark("-") => {
                let number = self.number();
                self.defer(number, || Expr::literal(Literal::Integer(0)))
            }
            TokenKind::Text => self.string_literal(),
            TokenKind::Mark("?" | ":") if self.ahead_is_text(0) => self.string_literal(),
            TokenKind::DoubleQuoted if !self.options.quotes_names_doubly() => self.string_literal(),
            TokenKind::Mark("(") => self.parenthesized(),
            TokenKind::Mark("*") => {
                self.advance();
                self.star(start, None)
            }
            TokenKind::Mark(":") if self.ahead_is_name(1) => self.marker(),
            TokenKind::Mark("?") => self.marker(),
            TokenKind::Word(Some(word)) => match self.special(word)? {
                Some(expression) => Ok(expression),
                None => self.reference(),
            },
            _ => self.reference(),
        }
    }
}
