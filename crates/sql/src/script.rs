//! Scripts: `BEGIN … END` and the statements that only stand in them.

mod control;
mod declaration;

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Script, ScriptStatement, Statement};

/// A label in scope: its name, and whether it is that of a block rather than a loop.
pub(crate) struct Label {
    name: String,
    is_block: bool,
}

impl Parser<'_> {
    /// Whether the text begins with a block.
    pub fn at_script(&self) -> bool {
        self.is(K::BEGIN)
    }

    /// A whole script.
    pub fn script(&mut self) -> Result<Statement> {
        self.in_script = true;
        let script = self.block(None);
        self.in_script = false;
        script.map(Box::new).map(Statement::Script)
    }

    /// `BEGIN [NOT ATOMIC] declarations statements END [label]`.
    fn block(&mut self, label: Option<String>) -> Result<Script> {
        self.expect(K::BEGIN)?;
        let not_atomic = self.take_all(&[K::NOT, K::ATOMIC]);
        let body = self.declarations_and_statements()?;
        self.expect(K::END)?;
        self.end_label(label.as_deref())?;
        Ok(Script { label, body, not_atomic })
    }

    /// The label after END, which must be the one before BEGIN.
    fn end_label(&mut self, label: Option<&str>) -> Result<()> {
        if !self.ahead_is_name(0) {
            return Ok(());
        }
        let Some(label) = label else {
            return if matches!(self.ahead(1).kind, TokenKind::Mark(";") | TokenKind::End) && self.labels.is_empty() {
                Err(self.unexpected())
            } else {
                let name = self.identifier()?;
                Err(SparkError::new("END_LABEL_WITHOUT_BEGIN_LABEL")
                    .with("endLabel", format!("`{}`", name.to_lowercase())))
            };
        };
        let end = self.identifier()?;
        if end.eq_ignore_ascii_case(label) {
            return Ok(());
        }
        Err(SparkError::new("LABELS_MISMATCH")
            .with("beginLabel", format!("`{label}`"))
            .with("endLabel", format!("`{}`", end.to_lowercase())))
    }

    /// Statements, each with its semicolon, up to a word that ends them.
    fn statements(&mut self) -> Result<Vec<ScriptStatement>> {
        let mut statements = Vec::new();
        loop {
            statements.push(self.nested(Self::script_statement)?);
            self.expect_mark(";")?;
            if self.at_end_of_statements() {
                return Ok(statements);
            }
        }
    }

    fn at_end_of_statements(&self) -> bool {
        self.is_any(&[K::END, K::ELSE, K::ELSEIF, K::UNTIL])
            || (self.is(K::WHEN) && self.ahead_begins_expression(1))
            || self.at_end()
    }

    fn script_statement(&mut self) -> Result<ScriptStatement> {
        let has_label = self.ahead_is_name(0)
            && self.ahead_is_mark(1, ":")
            && [K::BEGIN, K::WHILE, K::REPEAT, K::LOOP, K::FOR].iter().any(|word| self.ahead_is(2, *word));
        if !has_label {
            return self.unlabelled(None);
        }
        let name = self.identifier()?.to_lowercase();
        self.advance();
        if self.labels.iter().any(|label| label.name == name) {
            return Err(SparkError::new("LABEL_OR_FOR_VARIABLE_ALREADY_EXISTS").with("label", format!("`{name}`")));
        }
        self.labels.push(Label { name: name.clone(), is_block: self.is(K::BEGIN) });
        let statement = self.unlabelled(Some(name));
        self.labels.pop();
        statement
    }

    fn unlabelled(&mut self, label: Option<String>) -> Result<ScriptStatement> {
        let start = self.mark();
        match self.keyword() {
            Some(K::BEGIN) => self.block(label).map(ScriptStatement::Block),
            Some(K::IF) => self.if_statement(),
            Some(K::CASE) => self.case_statement(),
            Some(K::WHILE) => self.while_statement(label),
            Some(K::REPEAT) => self.repeat_statement(label),
            Some(K::LOOP) => self.loop_statement(label),
            Some(K::FOR) => self.for_statement(label),
            Some(K::LEAVE | K::ITERATE) if self.ahead_is_name(1) => self.jump(),
            Some(K::OPEN | K::CLOSE | K::FETCH) if self.ahead_is_name(1) || self.ahead_is(1, K::FROM) => {
                self.cursor_statement()
            }
            Some(K::SET) => self.script_set(start).map(ScriptStatement::Statement),
            Some(K::DECLARE) => self.misplaced_declaration(),
            _ => self.statement().map(ScriptStatement::Statement),
        }
    }

    /// `SET name = value, …`: variables, not settings.
    fn script_set(&mut self, start: Mark) -> Result<Statement> {
        let is_other = self.ahead_is(1, K::CATALOG) && self.ahead_is_name(2)
            || self.ahead_is(1, K::TIME) && self.ahead_is(2, K::ZONE);
        if is_other {
            return self.statement();
        }
        self.advance();
        if self.is_any(&[K::VARIABLE, K::VAR]) && self.ahead_is_name(1) {
            self.advance();
        }
        self.set_variable(start)
    }

    /// `LEAVE label`, `ITERATE label`.
    fn jump(&mut self) -> Result<ScriptStatement> {
        let is_leave = self.is(K::LEAVE);
        self.advance();
        let label = self.identifier()?.to_lowercase();
        let kind = if is_leave { "LEAVE" } else { "ITERATE" };
        let shown = label.to_uppercase();
        match self.labels.iter().find(|found| found.name == label) {
            None => Err(SparkError::new("INVALID_LABEL_USAGE.DOES_NOT_EXIST")
                .with("labelName", shown)
                .with("statementType", kind)),
            Some(found) if !is_leave && found.is_block => {
                Err(SparkError::new("INVALID_LABEL_USAGE.ITERATE_IN_COMPOUND").with("labelName", shown))
            }
            Some(_) if is_leave => Ok(ScriptStatement::Leave { label }),
            Some(_) => Ok(ScriptStatement::Iterate { label }),
        }
    }
}
