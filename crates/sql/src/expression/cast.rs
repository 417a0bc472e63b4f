//! Casts.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{CastMode, Expr, ExprKind};

impl Parser<'_> {
    /// `CAST(value AS type)`, `TRY_CAST(value AS type)`.
    pub(super) fn cast(&mut self) -> Result<Expr> {
        if self.at_ordinary_argument() {
            return self.ordinary_call();
        }
        let start = self.mark();
        let mode = if self.is(K::TRY_CAST) { CastMode::Try } else { CastMode::Session };
        self.advance();
        self.expect_mark("(")?;
        let first = self.mark();
        let child = self.expression()?;
        if self.is_mark(",") || self.is_mark(")") {
            // A function of that name.
            return self.call_with(start, child, first);
        }
        self.expect(K::AS)?;
        let child = Box::new(child);
        let to = self.data_type()?;
        self.expect_mark(")")?;
        self.deepen()?;
        Ok(Expr::new(ExprKind::Cast { child, to, mode }).at(self.origin(start)))
    }
}
