//! Calls of functions by name.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, FunctionCall, Name};

impl Parser<'_> {
    /// A call whose name was read; the opening parenthesis is next.
    pub(super) fn call_of(&mut self, start: Mark, name: Name) -> Result<Expr> {
        self.expect_mark("(")?;
        let is_quantifier = self.ahead_begins_expression(1) && !self.ahead_is_clause_word(1);
        let mut is_distinct = false;
        if is_quantifier && self.is(K::DISTINCT) {
            self.advance();
            is_distinct = true;
        } else if is_quantifier && self.is(K::ALL) {
            self.advance();
        }
        let arguments = self.arguments()?;
        let mut call = FunctionCall::new(name, arguments);
        call.is_distinct = is_distinct;
        self.finish_call(start, call)
    }

    /// Whether a word after DISTINCT or ALL shows that these are names: an operator's word.
    fn ahead_is_clause_word(&self, count: usize) -> bool {
        [K::AND, K::OR, K::IS, K::IN, K::LIKE, K::BETWEEN].iter().any(|word| self.ahead_is(count, *word))
    }

    /// Arguments up to and with the closing parenthesis.
    pub(crate) fn arguments(&mut self) -> Result<Vec<Expr>> {
        if !self.has_pending() && self.take_mark(")") {
            return Ok(Vec::new());
        }
        let arguments = self.comma_separated(Self::argument)?;
        self.expect_mark(")")?;
        self.deepen()?;
        Ok(arguments)
    }

    /// A value, or `name => value`.
    fn argument(&mut self) -> Result<Expr> {
        let start = self.start();
        if !self.has_pending() && self.ahead_is_name(0) && self.ahead_is_mark(1, "=>") {
            let name = self.identifier()?;
            self.advance();
            let value = Box::new(self.table_argument_or_expression()?);
            return Ok(Expr::new(ExprKind::NamedArgument { name, value }).at(self.origin(start)));
        }
        self.table_argument_or_expression()
    }

    fn table_argument_or_expression(&mut self) -> Result<Expr> {
        if !self.has_pending() && self.at_table_argument() { self.table_argument() } else { self.expression() }
    }

    /// What may follow a call: WITHIN GROUP, FILTER, IGNORE NULLS, OVER.
    pub(super) fn finish_call(&mut self, start: Mark, mut call: FunctionCall) -> Result<Expr> {
        if self.is(K::WITHIN) && self.ahead_is(1, K::GROUP) {
            self.advance();
            self.advance();
            self.expect_mark("(")?;
            self.expect_all(&[K::ORDER, K::BY])?;
            call.within_group = self.comma_separated(Self::sort_order)?;
            self.expect_mark(")")?;
        }
        if self.is(K::FILTER) && self.ahead_is_mark(1, "(") {
            self.advance();
            self.advance();
            self.expect(K::WHERE)?;
            call.filter = Some(Box::new(self.expression()?));
            self.expect_mark(")")?;
        }
        if self.is_any(&[K::IGNORE, K::RESPECT]) && self.ahead_is(1, K::NULLS) {
            call.ignore_nulls = Some(self.is(K::IGNORE));
            self.advance();
            self.advance();
        }
        let function = Expr::new(ExprKind::Function(call)).at(self.origin(start));
        self.windowed(start, function)
    }

    /// `function [OVER window]`.
    pub(super) fn windowed(&mut self, start: Mark, mut function: Expr) -> Result<Expr> {
        let has_window = self.is(K::OVER)
            && (self.ahead_is_mark(1, "(")
                || (self.ahead_is_name(1) && !matches!(self.ahead(1).kind, TokenKind::Word(Some(K::FROM)))));
        if !has_window {
            return Ok(function);
        }
        self.advance();
        let window = self.window_reference()?;
        self.deepen()?;
        let origin = self.origin(start);
        function.origin = origin.clone();
        Ok(Expr::new(ExprKind::Window { function: Box::new(function), window }).at(origin))
    }
}
