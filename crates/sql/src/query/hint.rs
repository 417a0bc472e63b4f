//! Hints: `/*+ name(parameters), … */`.

use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::Expr;

/// A hint's name and parameters.
pub(super) type Hint = (String, Vec<Expr>);

impl Parser<'_> {
    /// All hints that follow, outermost first.
    pub(super) fn hints(&mut self) -> Result<Vec<Hint>> {
        let mut hints = Vec::new();
        while self.take_mark("/*+") {
            loop {
                let name = self.identifier()?;
                let parameters = if self.is_mark("(") { self.in_parentheses(Self::value)? } else { Vec::new() };
                hints.push((name, parameters));
                self.take_mark(",");
                if self.take_mark("*/") {
                    break;
                }
            }
        }
        Ok(hints)
    }
}
