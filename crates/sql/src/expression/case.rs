//! CASE, as calls of `when`.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::Expr;

impl Parser<'_> {
    /// `CASE [operand] WHEN … THEN … [ELSE …] END`.
    pub(super) fn case(&mut self) -> Result<Expr> {
        let start = self.mark();
        self.expect(K::CASE)?;
        let before = self.weight();
        let operand = if self.is(K::WHEN) { None } else { Some(self.expression()?) };
        let operand_weight = self.weight() - before;
        let mut arguments = Vec::new();
        if !self.is(K::WHEN) {
            return Err(self.unexpected());
        }
        while self.take(K::WHEN) {
            let condition = self.mark();
            let when = self.expression()?;
            self.copy_of(operand_weight)?;
            arguments.push(match &operand {
                Some(operand) => self.call(condition, "=", vec![operand.clone(), when]),
                None => when,
            });
            self.expect(K::THEN)?;
            arguments.push(self.expression()?);
        }
        if self.take(K::ELSE) {
            arguments.push(self.expression()?);
        }
        self.expect(K::END)?;
        self.deepen()?;
        self.deepen()?;
        Ok(self.call(start, "when", arguments))
    }
}
