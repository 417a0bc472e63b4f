//! Declarations at a block's beginning, and cursors.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{ScriptStatement, Statement};

impl Parser<'_> {
    /// A block's declarations, then its statements.
    pub(super) fn declarations_and_statements(&mut self) -> Result<Vec<ScriptStatement>> {
        let mut body = Vec::new();
        let mut has_handler = false;
        while self.is(K::DECLARE) {
            let declaration = self.nested(Self::declaration)?;
            match &declaration {
                ScriptStatement::DeclareHandler { .. } => has_handler = true,
                ScriptStatement::Statement(Statement::DeclareVariable { names, .. }) if has_handler => {
                    return Err(late_variable(names));
                }
                _ => {}
            }
            body.push(declaration);
            self.expect_mark(";")?;
        }
        if !self.is(K::END) {
            body.extend(self.statements()?);
        }
        Ok(body)
    }

    fn declaration(&mut self) -> Result<ScriptStatement> {
        if self.ahead_is_name(1) && self.ahead_is(2, K::CONDITION) {
            return self.condition_declaration();
        }
        if [K::EXIT, K::CONTINUE].iter().any(|word| self.ahead_is(1, *word)) && self.ahead_is(2, K::HANDLER) {
            return self.handler_declaration();
        }
        let has_sensitivity = self.ahead_is(2, K::INSENSITIVE) || self.ahead_is(2, K::ASENSITIVE);
        if self.ahead_is_name(1) && self.ahead_is(2 + usize::from(has_sensitivity), K::CURSOR) {
            return self.cursor_declaration();
        }
        self.declare().map(ScriptStatement::Statement)
    }

    /// A declaration after other statements: which error it gets depends on what it declares.
    pub(super) fn misplaced_declaration(&mut self) -> Result<ScriptStatement> {
        let condition = match self.declaration()? {
            ScriptStatement::Statement(Statement::DeclareVariable { names, .. }) => late_variable(&names),
            ScriptStatement::DeclareCondition { name, .. } => {
                SparkError::new("INVALID_ERROR_CONDITION_DECLARATION.NOT_AT_START_OF_COMPOUND_STATEMENT")
                    .with("conditionName", format!("`{name}`"))
            }
            ScriptStatement::DeclareHandler { .. } => {
                SparkError::new("INVALID_HANDLER_DECLARATION.WRONG_PLACE_OF_DECLARATION")
            }
            _ => self.unexpected(),
        };
        Err(condition)
    }

    /// `DECLARE name CONDITION [FOR SQLSTATE [VALUE] 'state']`.
    fn condition_declaration(&mut self) -> Result<ScriptStatement> {
        self.expect(K::DECLARE)?;
        let name = self.identifier()?;
        self.expect(K::CONDITION)?;
        let sql_state = if self.take(K::FOR) { Some(self.sql_state()?) } else { None };
        Ok(ScriptStatement::DeclareCondition { name, sql_state })
    }

    /// `SQLSTATE [VALUE] 'state'`.
    fn sql_state(&mut self) -> Result<String> {
        self.expect(K::SQLSTATE)?;
        self.take(K::VALUE);
        let state = self.string()?;
        let is_state = state.len() == 5 && state.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if !is_state || state.starts_with("00") || state.starts_with("01") || state.starts_with("XX") {
            return Err(SparkError::new("INVALID_SQLSTATE").with("sqlState", state));
        }
        Ok(state)
    }

    /// `DECLARE EXIT | CONTINUE HANDLER FOR condition, … statement`.
    fn handler_declaration(&mut self) -> Result<ScriptStatement> {
        self.expect(K::DECLARE)?;
        let is_exit = self.is(K::EXIT);
        self.advance();
        self.expect_all(&[K::HANDLER, K::FOR])?;
        let conditions = self.comma_separated(|parser| {
            if parser.take_all(&[K::NOT, K::FOUND]) {
                return Ok("NOT FOUND".to_string());
            }
            if parser.take(K::SQLEXCEPTION) {
                return Ok("SQLEXCEPTION".to_string());
            }
            if parser.is(K::SQLSTATE) {
                return parser.sql_state().map(|state| format!("SQLSTATE {state}"));
            }
            parser.qualified_name().map(|name| name.join("."))
        })?;
        check_conditions(&conditions)?;
        let body = if self.is(K::BEGIN) {
            vec![ScriptStatement::Block(self.block(None)?)]
        } else {
            vec![self.nested(Self::script_statement)?]
        };
        if !is_exit {
            return Err(SparkError::new("UNSUPPORTED_FEATURE.CONTINUE_EXCEPTION_HANDLER"));
        }
        Ok(ScriptStatement::DeclareHandler { is_exit, conditions, body })
    }

    /// `DECLARE name [INSENSITIVE | ASENSITIVE] CURSOR FOR query [FOR READ ONLY]`.
    fn cursor_declaration(&mut self) -> Result<ScriptStatement> {
        self.expect(K::DECLARE)?;
        let name = self.identifier()?;
        self.take_any(&[K::INSENSITIVE, K::ASENSITIVE]);
        self.expect_all(&[K::CURSOR, K::FOR])?;
        let query = self.query()?;
        self.take_all(&[K::FOR, K::READ, K::ONLY]);
        self.check_cursors()?;
        Ok(ScriptStatement::DeclareCursor { name, query })
    }

    /// `OPEN cursor`, `FETCH [[NEXT] FROM] cursor INTO variable, …`, `CLOSE cursor`.
    pub(super) fn cursor_statement(&mut self) -> Result<ScriptStatement> {
        let statement = self.any_cursor_statement()?;
        self.check_cursors()?;
        Ok(statement)
    }

    fn check_cursors(&self) -> Result<()> {
        if self.options.cursors { Ok(()) } else { Err(SparkError::new("UNSUPPORTED_FEATURE.SQL_CURSOR")) }
    }

    fn any_cursor_statement(&mut self) -> Result<ScriptStatement> {
        if self.take(K::CLOSE) {
            return Ok(ScriptStatement::Close { cursor: self.identifier()? });
        }
        if self.take(K::OPEN) {
            let cursor = self.identifier()?;
            if self.take(K::USING) {
                self.named_expressions()?;
                self.check_cursors()?;
                return Err(SparkError::unsupported("OPEN … USING"));
            }
            return Ok(ScriptStatement::Open { cursor });
        }
        self.expect(K::FETCH)?;
        self.take_all(&[K::NEXT, K::FROM]);
        self.take(K::FROM);
        let cursor = self.identifier()?;
        self.expect(K::INTO)?;
        let into = self.comma_separated(Self::variable_name)?;
        Ok(ScriptStatement::Fetch { cursor, into })
    }
}

/// A handler's conditions are told apart, and general ones stand alone.
fn check_conditions(conditions: &[String]) -> Result<()> {
    let is_general = |condition: &&String| matches!(condition.as_str(), "NOT FOUND" | "SQLEXCEPTION");
    if conditions.len() > 1 && conditions.iter().any(|condition| is_general(&condition)) {
        return Err(SparkError::new("INVALID_HANDLER_DECLARATION.INVALID_CONDITION_COMBINATION"));
    }
    for (index, condition) in conditions.iter().enumerate() {
        if !conditions.iter().take(index).any(|other| other.eq_ignore_ascii_case(condition)) {
            continue;
        }
        return Err(match condition.strip_prefix("SQLSTATE ") {
            Some(state) => SparkError::new("INVALID_HANDLER_DECLARATION.DUPLICATE_SQLSTATE_IN_HANDLER_DECLARATION")
                .with("sqlState", state),
            None => SparkError::new("INVALID_HANDLER_DECLARATION.DUPLICATE_CONDITION_IN_HANDLER_DECLARATION")
                .with("condition", condition.to_uppercase()),
        });
    }
    Ok(())
}

/// The error that a variable is declared after what must follow it.
fn late_variable(names: &[firesteel_plan::Name]) -> SparkError {
    let name = names.first().map(|name| name.join(".")).unwrap_or_default();
    SparkError::new("INVALID_VARIABLE_DECLARATION.ONLY_AT_BEGINNING").with("varName", format!("`{name}`"))
}
