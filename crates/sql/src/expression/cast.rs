//! Casts.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{CastMode, Expr, ExprKind};

impl Parser<'_> {
    /// `CAST(value AS type)`, `TRY_CAST(value AS type)`.
    pub(super) fn cast(&mut self) -> Result<Expr> {
        let start = self.mark();
        let mode = if self.is(K::TRY_CAST) { CastMode::Try } else { CastMode::Session };
        self.advance();
        self.expect_mark("(")?;
        let child = Box::new(self.expression()?);
        self.expect(K::AS)?;
        let to = self.data_type()?;
        self.expect_mark(")")?;
        self.deepen()?;
        Ok(Expr::new(ExprKind::Cast { child, to, mode }).at(self.origin(start)))
    }
}
