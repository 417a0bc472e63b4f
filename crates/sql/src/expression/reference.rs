//! Columns, stars, calls by name and paths into variants.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, Name};
use firesteel_types::{DataType, Literal};

impl Parser<'_> {
    /// A column's name, `name.*`, or a call.
    pub(super) fn reference(&mut self) -> Result<Expr> {
        let start = self.mark();
        if self.ahead_is_text(1) && !self.ahead_is_mark(1, ":") && matches!(self.peek().kind, TokenKind::Word(_)) {
            let literal = self.typed_literal();
            return self.defer(literal, || Expr::literal(Literal::Null(DataType::Null)));
        }
        let is_quoted = self.peek().kind == TokenKind::BackQuoted;
        let mut name = self.first_parts()?;
        let mut is_last_quoted = is_quoted;
        while self.is_mark(".") {
            if self.ahead_is_mark(1, "*") {
                self.advance();
                self.advance();
                return self.star(start, Some(name));
            }
            if !self.ahead_is_name(1) {
                break;
            }
            self.advance();
            is_last_quoted = self.peek().kind == TokenKind::BackQuoted;
            name.push(self.plain_identifier()?);
        }
        if self.is_mark("(") {
            return self.call_of(start, name);
        }
        if self.options.quoted_regex_column_names && self.in_select_list && is_last_quoted && name.len() <= 2 {
            let own = name.pop().unwrap_or_default();
            let pattern = match name.pop() {
                Some(qualifier) => format!("{qualifier}.`{own}`"),
                None => own,
            };
            return Ok(Expr::new(ExprKind::Regex { pattern, plan_id: None }).at(self.origin(start)));
        }
        Ok(Expr::attribute(name).at(self.origin(start)))
    }

    /// `* [EXCEPT (name, …)]`.
    pub(super) fn star(&mut self, start: Mark, target: Option<Name>) -> Result<Expr> {
        let mut except = Vec::new();
        let has_names = self.ahead_is_name(2)
            && (self.ahead_is_mark(3, ",") || self.ahead_is_mark(3, ")") || self.ahead_is_mark(3, "."));
        if self.is(K::EXCEPT) && self.ahead_is_mark(1, "(") && has_names {
            self.advance();
            except = self.in_parentheses(Self::qualified_name)?;
        }
        Ok(Expr::new(ExprKind::Star { target, except, plan_id: None }).at(self.origin(start)))
    }

    /// `value:path`: a path into a variant.
    pub(super) fn at_variant_path(&self) -> bool {
        self.is_mark(":") && (self.ahead_is_name(1) || self.ahead_is_mark(1, "["))
    }

    /// Reads `:a.b[0]['c']`; the value goes by the name of the last field.
    pub(super) fn variant_path(&mut self, value: Expr) -> Result<Expr> {
        let start = self.start();
        let origin = value.origin.clone();
        self.advance();
        let mut path = String::from("$");
        let mut last = None;
        let mut is_first = true;
        loop {
            if self.take_mark("[") {
                if self.ahead_is_text(0) {
                    let key = self.string()?;
                    path.push_str(&format!("['{key}']"));
                    last = Some(key);
                } else if self.take_mark("*") {
                    path.push_str("[*]");
                } else {
                    let index = self.signed_integer()?;
                    path.push_str(&format!("[{index}]"));
                }
                self.expect_mark("]")?;
            } else if is_first || (self.is_mark(".") && self.ahead_is_name(1)) {
                self.take_mark(".");
                let key = self.identifier()?;
                path.push('.');
                path.push_str(&key);
                last = Some(key.rsplit('.').next().unwrap_or_default().to_string());
            } else {
                break;
            }
            is_first = false;
        }
        let origin = origin.to(&self.origin(start));
        let path = Expr::literal(Literal::String(path)).at(origin.clone());
        let call = Expr::call("variant_get", vec![value, path]).at(origin);
        Ok(match last {
            Some(name) => call.alias(name),
            None => call,
        })
    }
}
