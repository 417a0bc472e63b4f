//! Lambdas: `x -> …` and `(x, y) -> …`.

use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind};

impl Parser<'_> {
    /// Whether the next tokens are a lambda's parameters and its arrow.
    pub(super) fn at_lambda(&self) -> bool {
        if self.ahead_is_name(0) {
            return self.ahead_is_mark(1, "->");
        }
        if !self.is_mark("(") {
            return false;
        }
        let mut count = 1;
        while self.ahead_is_name(count) {
            if self.ahead_is_mark(count + 1, ",") {
                count += 2;
            } else {
                return count > 1 && self.ahead_is_mark(count + 1, ")") && self.ahead_is_mark(count + 2, "->");
            }
        }
        false
    }

    /// Names in the body stay attributes: the analyzer looks for parameters first.
    pub(super) fn lambda(&mut self) -> Result<Expr> {
        let start = self.mark();
        let parameters =
            if self.is_mark("(") { self.in_parentheses(Self::identifier)? } else { vec![self.identifier()?] };
        self.expect_mark("->")?;
        let body = self.expression()?;
        Ok(Expr::new(ExprKind::Lambda { parameters, body: Box::new(body) }).at(self.origin(start)))
    }
}
