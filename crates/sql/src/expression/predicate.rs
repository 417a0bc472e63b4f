//! Predicates: one may follow a value.

use crate::expression::Parenthesized;
use crate::expression::like::Like;
use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, SubqueryKind};
use firesteel_types::Literal;

/// Words that begin a predicate after an optional NOT.
const PREDICATES: [K; 6] = [K::BETWEEN, K::IN, K::LIKE, K::ILIKE, K::RLIKE, K::REGEXP];

impl Parser<'_> {
    /// A value and the predicate about it; the predicate's place is that of its own words.
    pub(super) fn predicated(&mut self) -> Result<Expr> {
        if !self.has_pending()
            && let Some(exists) = self.exists()?
        {
            return Ok(exists);
        }
        let before = self.weight();
        let value = self.value()?;
        let weight = self.weight() - before;
        let start = self.mark();
        if self.is(K::IS) && self.ahead_is_truth(1) {
            self.deepen()?;
            return self.is_predicate(start, value);
        }
        let negations = usize::from(self.ahead_is_not(0));
        let is_predicate =
            matches!(self.ahead(negations).kind, TokenKind::Word(Some(word)) if PREDICATES.contains(&word));
        let has_operand = self.ahead_begins_expression(negations + 1) && !self.ahead_is_clause(negations + 1);
        if !is_predicate || !has_operand {
            return Ok(value);
        }
        self.check_bang()?;
        self.deepen()?;
        self.deepen()?;
        if negations > 0 {
            self.advance();
        }
        let is_negated = negations > 0;
        let predicate = match self.keyword() {
            Some(K::BETWEEN) => self.between(start, value)?,
            Some(K::IN) => self.in_predicate(start, value)?,
            Some(word @ (K::LIKE | K::ILIKE)) => {
                let like = Like { start, value, weight, ignores_case: word == K::ILIKE, is_negated };
                return self.like(like);
            }
            _ => {
                self.advance();
                let pattern = self.value()?;
                self.call(start, "rlike", vec![value, pattern])
            }
        };
        Ok(self.negated(start, is_negated, predicate))
    }

    /// `!` in the place of NOT is of old.
    fn check_bang(&self) -> Result<()> {
        if !self.is_mark("!") || self.options.bang_equals_not {
            return Ok(());
        }
        Err(self.error_at(self.peek(), "SYNTAX_DISCONTINUED.BANG_EQUALS_NOT").with("clause", "!"))
    }

    pub(super) fn negated(&self, start: Mark, is_negated: bool, predicate: Expr) -> Expr {
        if is_negated { self.call(start, "not", vec![predicate]) } else { predicate }
    }

    /// Whether NOT is next, or `!` for it.
    fn ahead_is_not(&self, count: usize) -> bool {
        self.ahead_is(count, K::NOT) || self.ahead_is_mark(count, "!")
    }

    fn ahead_is_truth(&self, count: usize) -> bool {
        let count = count + usize::from(self.ahead_is_not(count));
        [K::NULL, K::TRUE, K::FALSE, K::UNKNOWN, K::DISTINCT].iter().any(|word| self.ahead_is(count, *word))
    }

    /// `IS [NOT] NULL | TRUE | FALSE | UNKNOWN | DISTINCT FROM value`.
    fn is_predicate(&mut self, start: Mark, value: Expr) -> Result<Expr> {
        self.advance();
        let is_negated = self.ahead_is_not(0);
        if is_negated {
            self.check_bang()?;
            self.advance();
        }
        let word = self.keyword();
        self.advance();
        match word {
            // Only of a literal Spark asks that it be a truth value.
            Some(K::UNKNOWN) if matches!(value.kind, ExprKind::Literal(_)) => {
                Ok(self.call(start, if is_negated { "is not unknown" } else { "is unknown" }, vec![value]))
            }
            Some(K::NULL | K::UNKNOWN) => {
                Ok(self.call(start, if is_negated { "isnotnull" } else { "isnull" }, vec![value]))
            }
            Some(K::TRUE | K::FALSE) => {
                let literal = Expr::literal(Literal::Boolean(word == Some(K::TRUE))).at(self.origin(start));
                let equal = self.call(start, "<=>", vec![value, literal]);
                Ok(self.negated(start, is_negated, equal))
            }
            _ => {
                self.expect(K::FROM)?;
                let other = self.value()?;
                let equal = self.call(start, "<=>", vec![value, other]);
                Ok(self.negated(start, !is_negated, equal))
            }
        }
    }

    fn between(&mut self, start: Mark, value: Expr) -> Result<Expr> {
        self.advance();
        let low = self.value()?;
        self.expect(K::AND)?;
        let high = self.value()?;
        Ok(self.call(start, "between", vec![value, low, high]))
    }

    fn in_predicate(&mut self, start: Mark, value: Expr) -> Result<Expr> {
        self.advance();
        if !self.is_mark("(") {
            return Err(self.unexpected());
        }
        if self.ahead_is_mark(1, ")") {
            self.advance();
            self.advance();
            return Err(self.error(start, "INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE"));
        }
        self.expect_mark("(")?;
        let first = self.mark();
        match self.parenthesized_content()? {
            Parenthesized::Query { query, is_wrapped: false } => {
                self.expect_mark(")")?;
                let values = row_items(value);
                let kind = ExprKind::Subquery { kind: SubqueryKind::In(values), query: Box::new(query) };
                Ok(Expr::new(kind).at(self.origin(start)))
            }
            content => {
                let item = match content {
                    Parenthesized::Expression(item) => item,
                    Parenthesized::Query { query, .. } => self.scalar_subquery(first, query),
                };
                let mut arguments = vec![value, item];
                while self.take_mark(",") {
                    arguments.push(self.expression()?);
                }
                self.expect_mark(")")?;
                Ok(self.call(start, "in", arguments))
            }
        }
    }
}

/// The items of `(a, b)` or `struct(a, b)`; anything else is one item.
fn row_items(value: Expr) -> Vec<Expr> {
    match value.kind {
        ExprKind::Function(call) if crate::query::is_row(&call) => {
            call.arguments.into_iter().skip(1).step_by(2).collect()
        }
        ExprKind::Function(call) if matches!(call.name.as_slice(), [name] if name.eq_ignore_ascii_case("struct")) => {
            call.arguments
        }
        _ => vec![value],
    }
}
