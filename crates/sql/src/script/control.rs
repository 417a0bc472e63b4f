//! IF, CASE and loops.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, ScriptStatement};

impl Parser<'_> {
    /// `IF condition THEN … [ELSEIF …] [ELSE …] END IF`.
    pub(super) fn if_statement(&mut self) -> Result<ScriptStatement> {
        self.expect(K::IF)?;
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect(K::THEN)?;
            branches.push((condition, self.statements()?));
            if !self.take(K::ELSEIF) {
                break;
            }
        }
        let otherwise = if self.take(K::ELSE) { self.statements()? } else { Vec::new() };
        self.expect_all(&[K::END, K::IF])?;
        Ok(ScriptStatement::If { branches, otherwise })
    }

    /// `CASE [operand] WHEN … THEN … [ELSE …] END CASE`.
    pub(super) fn case_statement(&mut self) -> Result<ScriptStatement> {
        self.expect(K::CASE)?;
        let operand = if self.is(K::WHEN) { None } else { Some(self.expression()?) };
        let mut branches: Vec<(Expr, Vec<ScriptStatement>)> = Vec::new();
        while self.take(K::WHEN) {
            let condition = self.expression()?;
            self.expect(K::THEN)?;
            branches.push((condition, self.statements()?));
        }
        if branches.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = if self.take(K::ELSE) { Some(self.statements()?) } else { None };
        self.expect_all(&[K::END, K::CASE])?;
        Ok(ScriptStatement::Case { operand, branches, otherwise })
    }

    /// `WHILE condition DO … END WHILE [label]`.
    pub(super) fn while_statement(&mut self, label: Option<String>) -> Result<ScriptStatement> {
        self.expect(K::WHILE)?;
        let condition = self.expression()?;
        self.expect(K::DO)?;
        let body = self.statements()?;
        self.expect_all(&[K::END, K::WHILE])?;
        self.end_label(label.as_deref())?;
        Ok(ScriptStatement::While { label, condition, body })
    }

    /// `REPEAT … UNTIL condition END REPEAT [label]`.
    pub(super) fn repeat_statement(&mut self, label: Option<String>) -> Result<ScriptStatement> {
        self.expect(K::REPEAT)?;
        let body = self.statements()?;
        self.expect(K::UNTIL)?;
        let until = self.expression()?;
        self.expect_all(&[K::END, K::REPEAT])?;
        self.end_label(label.as_deref())?;
        Ok(ScriptStatement::Repeat { label, body, until })
    }

    /// `LOOP … END LOOP [label]`.
    pub(super) fn loop_statement(&mut self, label: Option<String>) -> Result<ScriptStatement> {
        self.expect(K::LOOP)?;
        let body = self.statements()?;
        self.expect_all(&[K::END, K::LOOP])?;
        self.end_label(label.as_deref())?;
        Ok(ScriptStatement::Loop { label, body })
    }

    /// `FOR [variable AS] query DO … END FOR [label]`.
    pub(super) fn for_statement(&mut self, label: Option<String>) -> Result<ScriptStatement> {
        self.expect(K::FOR)?;
        let mut variable = None;
        if self.ahead_is_name(0) && self.ahead_is(1, K::AS) {
            let name = self.identifier()?;
            self.advance();
            if self.labels.iter().any(|label| label.name.eq_ignore_ascii_case(&name)) {
                let quoted = format!("`{}`", name.to_lowercase());
                return Err(SparkError::new("LABEL_OR_FOR_VARIABLE_ALREADY_EXISTS").with("label", quoted));
            }
            variable = Some(name);
        }
        let query = self.query()?;
        self.expect(K::DO)?;
        let body = self.statements()?;
        self.expect_all(&[K::END, K::FOR])?;
        self.end_label(label.as_deref())?;
        Ok(ScriptStatement::For { label, variable, query, body })
    }
}
