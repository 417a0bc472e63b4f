//! Expressions, from the loosest operator to the tightest.
//!
//! `expression` reads OR, AND, NOT, one predicate and then [`operator`]s;
//! `primary` reads what operators stand between.

mod call;
mod case;
mod cast;
mod interval;
mod lambda;
mod like;
mod literal;
mod marker;
mod named;
mod operator;
mod parentheses;
mod predicate;
mod primary;
mod reference;
mod special;
mod window;

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, SubqueryKind};

pub(crate) use parentheses::Parenthesized;

impl Parser<'_> {
    /// Any expression.
    pub fn expression(&mut self) -> Result<Expr> {
        self.nested(Self::disjunction)
    }

    /// A call of a function or operator that stands from a mark to here.
    pub fn call(&self, start: Mark, name: &str, arguments: Vec<Expr>) -> Expr {
        Expr::call(name, arguments).at(self.origin(start))
    }

    fn disjunction(&mut self) -> Result<Expr> {
        self.logical(K::OR, "or", Self::conjunction)
    }

    fn conjunction(&mut self) -> Result<Expr> {
        self.logical(K::AND, "and", Self::negation)
    }

    /// A chain of one logical operator; its tree is balanced, since generated texts have long ones.
    fn logical(&mut self, keyword: K, name: &str, operand: fn(&mut Self) -> Result<Expr>) -> Result<Expr> {
        let start = self.start();
        let mut operands = vec![operand(self)?];
        while self.is(keyword) && self.ahead_begins_expression(1) && !self.ahead_is_clause(1) {
            self.advance();
            operands.push(self.beside(operand)?);
        }
        while operands.len() > 1 {
            self.deepen()?;
            let mut pairs = Vec::with_capacity(operands.len().div_ceil(2));
            let mut rest = operands.into_iter();
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => self.call(start, name, vec![left, right]),
                    None => left,
                });
            }
            operands = pairs;
        }
        operands.pop().ok_or_else(|| self.unexpected())
    }

    fn negation(&mut self) -> Result<Expr> {
        let start = self.start();
        if !self.has_pending() && (self.is(K::NOT) || self.is_mark("!")) && self.ahead_begins_expression(1) {
            self.advance();
            let operand = self.nested(Self::negation)?;
            return Ok(self.call(start, "not", vec![operand]));
        }
        self.predicated()
    }

    /// Whether a token may begin an expression; where not, a word before it is a name.
    pub fn ahead_begins_expression(&self, count: usize) -> bool {
        match self.ahead(count).kind {
            TokenKind::End => false,
            TokenKind::Mark(mark) => matches!(mark, "(" | "-" | "+" | "~" | "!" | "*" | ":" | "?"),
            _ => true,
        }
    }

    /// `EXISTS (query)`; without a query in it, it is the function.
    fn exists(&mut self) -> Result<Option<Expr>> {
        let start = self.mark();
        if !(self.is(K::EXISTS) && self.ahead_is_mark(1, "(") && self.ahead_begins_query(2)) {
            return Ok(None);
        }
        self.advance();
        self.advance();
        let query = self.query()?;
        self.expect_mark(")")?;
        let kind = ExprKind::Subquery { kind: SubqueryKind::Exists, query: Box::new(query) };
        Ok(Some(Expr::new(kind).at(self.origin(start))))
    }
}
