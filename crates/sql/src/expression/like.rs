//! LIKE and ILIKE, alone or against several patterns.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind};
use firesteel_types::Literal;

/// What stands before the pattern.
pub(super) struct Like {
    /// Where the predicate's own words begin.
    pub start: Mark,
    pub value: Expr,
    /// The value's number of nodes.
    pub weight: usize,
    pub ignores_case: bool,
    pub is_negated: bool,
}

impl Parser<'_> {
    /// `LIKE pattern [ESCAPE 'c']`, `LIKE ANY | SOME | ALL (pattern, …)`; LIKE is next.
    pub(super) fn like(&mut self, like: Like) -> Result<Expr> {
        self.advance();
        if self.is_any(&[K::ANY, K::SOME, K::ALL]) && self.ahead_is_mark(1, "(") {
            let is_all = self.is(K::ALL);
            self.advance();
            return self.quantified_like(like, is_all);
        }
        let Like { start, value, ignores_case, is_negated, .. } = like;
        let pattern = self.value()?;
        let mut arguments = vec![value, pattern];
        if self.is(K::ESCAPE) && self.ahead_is_text(1) {
            self.advance();
            let token = self.peek();
            let escape = self.string()?;
            if escape.chars().count() != 1 {
                return Err(self.error(start, "INVALID_ESC").with("invalidEscape", self.text_of(token)));
            }
            arguments.push(Expr::literal(Literal::String(escape)).at(self.origin(start)));
        }
        let function = if ignores_case { "ilike" } else { "like" };
        let call = self.call(start, function, arguments);
        Ok(self.negated(start, is_negated, call))
    }

    /// One function where all patterns are known, else a chain of single comparisons.
    fn quantified_like(&mut self, like: Like, is_all: bool) -> Result<Expr> {
        let Like { start, value, weight, ignores_case, is_negated } = like;
        self.expect_mark("(")?;
        if self.take_mark(")") {
            let message = "Expected something between '(' and ')'.";
            return Err(self.error(start, "_LEGACY_ERROR_TEMP_0064").with("msg", message));
        }
        let patterns = self.comma_separated(Self::expression)?;
        self.expect_mark(")")?;
        let value = if ignores_case { self.call(start, "lower", vec![value]) } else { value };
        if let Some(texts) = known_patterns(&patterns, ignores_case) {
            let function = match (is_negated, is_all) {
                (false, true) => "likeall",
                (false, false) => "likeany",
                (true, true) => "notlikeall",
                (true, false) => "notlikeany",
            };
            let mut arguments = vec![value];
            arguments.extend(texts);
            return Ok(self.call(start, function, arguments));
        }
        let function = if is_all { "and" } else { "or" };
        let mut chain: Option<Expr> = None;
        for pattern in patterns {
            self.deepen()?;
            self.copy_of(weight)?;
            let pattern = if ignores_case { self.call(start, "lower", vec![pattern]) } else { pattern };
            let call = self.call(start, "like", vec![value.clone(), pattern]);
            let call = self.negated(start, is_negated, call);
            chain = Some(match chain {
                Some(before) => self.call(start, function, vec![before, call]),
                None => call,
            });
        }
        chain.ok_or_else(|| self.unexpected())
    }
}

/// The patterns, if all of them are literals.
fn known_patterns(patterns: &[Expr], ignores_case: bool) -> Option<Vec<Expr>> {
    patterns
        .iter()
        .map(|pattern| match &pattern.kind {
            ExprKind::Literal(Literal::String(text)) if ignores_case => {
                Some(Expr::literal(Literal::String(text.to_lowercase())).at(pattern.origin.clone()))
            }
            ExprKind::Literal(Literal::String(_) | Literal::Null(_)) => Some(pattern.clone()),
            _ => None,
        })
        .collect()
}
