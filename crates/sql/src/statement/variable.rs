//! Session variables.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::query::or_default;
use firesteel_error::Result;
use firesteel_plan::{Name, SetVariableSource, Statement};

impl Parser<'_> {
    /// A variable's name.
    pub(crate) fn variable_name(&mut self) -> Result<Name> {
        self.qualified_name()
    }

    /// `DECLARE [OR REPLACE] [VARIABLE] name, … [type] [DEFAULT | = value]`.
    pub(crate) fn declare(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::DECLARE)?;
        let replace = self.take_all(&[K::OR, K::REPLACE]);
        if self.is_any(&[K::VARIABLE, K::VAR]) && self.ahead_is_name(1) {
            self.advance();
        }
        let names = self.comma_separated(Self::variable_name)?;
        let at_default = |parser: &Self| parser.is(K::DEFAULT) || parser.is_mark("=") || parser.is_mark("==");
        let has_type = self.ahead_is_name(0) && !at_default(self);
        let data_type = if has_type { Some(self.data_type()?) } else { None };
        let mut default = None;
        if at_default(self) {
            self.advance();
            default = Some(self.expression()?);
        }
        if data_type.is_none() && default.is_none() {
            return Err(self.error(start, "INVALID_SQL_SYNTAX.VARIABLE_TYPE_OR_DEFAULT_REQUIRED"));
        }
        Ok(Statement::DeclareVariable { names, data_type, default, replace })
    }

    /// `name = value, …` or `(name, …) = (query)` after SET.
    pub(crate) fn set_variable(&mut self, start: Mark) -> Result<Statement> {
        if self.is_mark("(") {
            let targets = self.in_parentheses(Self::variable_name)?;
            if !self.take_mark("==") {
                self.expect_mark("=")?;
            }
            self.expect_mark("(")?;
            let query = self.query()?;
            self.expect_mark(")")?;
            return Ok(Statement::SetVariable { targets, source: SetVariableSource::Query(query) });
        }
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        loop {
            if !self.ahead_is_name(0) {
                self.skip_to_end();
                return Err(self.error(start, "INVALID_SET_SYNTAX"));
            }
            targets.push(self.variable_name()?);
            if !self.take_mark("==") {
                self.expect_mark("=")?;
            }
            values.push(or_default(self.expression()?));
            if !self.take_mark(",") {
                return Ok(Statement::SetVariable { targets, source: SetVariableSource::Expressions(values) });
            }
        }
    }
}
