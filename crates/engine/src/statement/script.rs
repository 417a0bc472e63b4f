//! Scripts: `BEGIN … END`.

use super::Runner;
use super::rows::nothing;
use crate::catalog_state::Variable;
use firesteel_analyzer::LocalRows;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, Script, ScriptStatement, Statement};
use firesteel_types::{DataType, Literal};
use std::collections::HashMap;

/// How a statement of a script ended.
enum Flow {
    Next,
    /// To the end of the block or loop with the label.
    Leave(String),
    /// To the next turn of the loop with the label.
    Iterate(String),
}

/// What a turn of a loop means for the loop.
enum Turn {
    Again,
    Stop(Flow),
}

impl Runner {
    /// Runs a script; its rows are those of its last query.
    pub(super) fn script(&self, script: &Script) -> Result<LocalRows> {
        let mut result = nothing();
        let depth = self.locals.read().len();
        let flow = self.block_of(script, &mut result);
        self.locals.write().truncate(depth);
        match flow? {
            Flow::Next => Ok(result),
            Flow::Leave(label) => Err(bad_label(&label, "LEAVE")),
            Flow::Iterate(label) => Err(bad_label(&label, "ITERATE")),
        }
    }

    fn block_of(&self, script: &Script, result: &mut LocalRows) -> Result<Flow> {
        match self.statements(&script.body, result)? {
            Flow::Leave(label) if is(script.label.as_deref(), &label) => Ok(Flow::Next),
            flow => Ok(flow),
        }
    }

    /// Statements in a scope of their own.
    fn statements(&self, body: &[ScriptStatement], result: &mut LocalRows) -> Result<Flow> {
        self.locals.write().push(HashMap::new());
        let mut flow = Ok(Flow::Next);
        for statement in body {
            flow = self.script_statement(statement, result);
            if !matches!(flow, Ok(Flow::Next)) {
                break;
            }
        }
        self.locals.write().pop();
        flow
    }

    fn script_statement(&self, statement: &ScriptStatement, result: &mut LocalRows) -> Result<Flow> {
        use ScriptStatement as S;
        match statement {
            S::Statement(statement) => {
                let rows = self.run(statement)?;
                if matches!(statement, Statement::Query(_)) || !rows.schema.fields.is_empty() {
                    *result = rows;
                }
                Ok(Flow::Next)
            }
            S::Block(block) => self.block_of(block, result),
            S::If { branches, otherwise } => {
                for (condition, body) in branches {
                    if self.holds(condition)? {
                        return self.statements(body, result);
                    }
                }
                self.statements(otherwise, result)
            }
            S::Case { operand, branches, otherwise } => {
                for (condition, body) in branches {
                    let condition = match operand {
                        Some(operand) => Expr::call("==", vec![operand.clone(), condition.clone()]),
                        None => condition.clone(),
                    };
                    if self.holds(&condition)? {
                        return self.statements(body, result);
                    }
                }
                match otherwise {
                    Some(body) => self.statements(body, result),
                    None => Ok(Flow::Next),
                }
            }
            S::While { label, condition, body } => {
                while self.holds(condition)? {
                    if let Turn::Stop(flow) = self.turn(label.as_deref(), body, result)? {
                        return Ok(flow);
                    }
                }
                Ok(Flow::Next)
            }
            S::Repeat { label, body, until } => loop {
                if let Turn::Stop(flow) = self.turn(label.as_deref(), body, result)? {
                    return Ok(flow);
                }
                if self.holds(until)? {
                    return Ok(Flow::Next);
                }
            },
            S::Loop { label, body } => loop {
                if let Turn::Stop(flow) = self.turn(label.as_deref(), body, result)? {
                    return Ok(flow);
                }
            },
            S::For { label, variable, query, body } => {
                let (schema, rows) = self.values(query)?;
                for row in rows {
                    let mut scope = HashMap::new();
                    for (field, value) in schema.fields.iter().zip(&row) {
                        scope.insert(field.name.to_lowercase(), local(&field.data_type, value.clone()));
                    }
                    if let Some(name) = variable {
                        let data_type = DataType::Struct(std::sync::Arc::new(schema.clone()));
                        let value = Literal::Struct(row, std::sync::Arc::new(schema.clone()));
                        scope.insert(name.to_lowercase(), local(&data_type, value));
                    }
                    self.locals.write().push(scope);
                    let turn = self.turn(label.as_deref(), body, result);
                    self.locals.write().pop();
                    if let Turn::Stop(flow) = turn? {
                        return Ok(flow);
                    }
                }
                Ok(Flow::Next)
            }
            S::Leave { label } => Ok(Flow::Leave(label.clone())),
            S::Iterate { label } => Ok(Flow::Iterate(label.clone())),
            S::DeclareCondition { .. } => Err(SparkError::unsupported("DECLARE CONDITION in scripts")),
            S::DeclareHandler { .. } => Err(SparkError::unsupported("DECLARE HANDLER in scripts")),
            S::DeclareCursor { .. } | S::Open { .. } | S::Fetch { .. } | S::Close { .. } => {
                Err(SparkError::unsupported("cursors in scripts"))
            }
        }
    }

    /// One turn of a loop.
    fn turn(&self, label: Option<&str>, body: &[ScriptStatement], result: &mut LocalRows) -> Result<Turn> {
        if self.cancel.is_cancelled() {
            return Err(crate::execution::cancelled(""));
        }
        Ok(match self.statements(body, result)? {
            Flow::Next => Turn::Again,
            Flow::Leave(to) if is(label, &to) => Turn::Stop(Flow::Next),
            Flow::Iterate(to) if is(label, &to) => Turn::Again,
            flow => Turn::Stop(flow),
        })
    }

    /// Whether a condition is true; null is not.
    fn holds(&self, condition: &Expr) -> Result<bool> {
        match self.evaluate(condition)? {
            (Literal::Boolean(value), _) => Ok(value),
            (Literal::Null(_), _) => Ok(false),
            (_, data_type) => {
                Err(SparkError::new("INVALID_BOOLEAN_STATEMENT").with("invalidStatement", data_type.sql()))
            }
        }
    }
}

fn local(data_type: &DataType, value: Literal) -> Variable {
    Variable { data_type: data_type.clone(), default: Literal::Null(data_type.clone()), value }
}

fn is(label: Option<&str>, name: &str) -> bool {
    label.is_some_and(|label| label.eq_ignore_ascii_case(name))
}

fn bad_label(label: &str, statement: &str) -> SparkError {
    SparkError::new("INVALID_LABEL_USAGE.DOES_NOT_EXIST").with("labelName", label).with("statementType", statement)
}
