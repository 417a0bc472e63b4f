//! Session variables and EXECUTE IMMEDIATE.

use super::Runner;
use super::rows::nothing;
use crate::catalog_state::Variable;
use firesteel_analyzer::{LocalRows, attribute};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, ExprKind, Name, Relation, SetVariableSource, Statement};
use firesteel_sql::ParameterValues;
use firesteel_types::{DataType, Literal};

/// The own name of a variable of the session; none where the qualifier is another.
pub(crate) fn variable_name(name: &[String]) -> Option<String> {
    let is = |a: &String, b: &str| a.eq_ignore_ascii_case(b);
    match name {
        [one] => Some(one.to_lowercase()),
        [session, one] if is(session, "session") => Some(one.to_lowercase()),
        [system, session, one] if is(system, "system") && is(session, "session") => Some(one.to_lowercase()),
        _ => None,
    }
}

fn not_found(name: &[String]) -> SparkError {
    SparkError::new("VARIABLE_NOT_FOUND").with("variableName", attribute::quote_parts(&full_name(name)))
}

/// A variable's name with all its qualifiers.
fn full_name(name: &[String]) -> Vec<String> {
    match name {
        [one] => vec!["system".to_string(), "session".to_string(), one.clone()],
        [session, one] => vec!["system".to_string(), session.clone(), one.clone()],
        other => other.to_vec(),
    }
}

impl Runner {
    pub(super) fn declare_variables(
        &self,
        names: &[Name],
        data_type: Option<&DataType>,
        default: Option<&Expr>,
        replace: bool,
    ) -> Result<LocalRows> {
        if let (Some(default), Some(name)) = (default, names.first())
            && default.any(|part| matches!(part.kind, ExprKind::Subquery { .. }))
        {
            let text = default.origin.context().map(|context| context.excerpt().fragment).unwrap_or_default();
            return Err(SparkError::new("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION")
                .with("statement", "DECLARE VARIABLE")
                .with("colName", attribute::quote_parts(&full_name(name)))
                .with("defaultValue", text));
        }
        let (value, data_type) = match (default, data_type) {
            (Some(default), Some(data_type)) if !matches!(default.kind, ExprKind::Default) => {
                (self.evaluate_as(default, data_type)?, data_type.clone())
            }
            (Some(default), None) if !matches!(default.kind, ExprKind::Default) => self.evaluate(default)?,
            (_, Some(data_type)) => (Literal::Null(data_type.clone()), data_type.clone()),
            (_, None) => return Err(SparkError::new("INVALID_SQL_SYNTAX.VARIABLE_TYPE_OR_DEFAULT_REQUIRED")),
        };
        for name in names {
            let key = variable_name(name).ok_or_else(|| {
                SparkError::new("UNRESOLVED_VARIABLE")
                    .with("variableName", attribute::quote_parts(name))
                    .with("searchPath", "[`system`.`session`]")
            })?;
            let variable = Variable { data_type: data_type.clone(), value: value.clone(), default: value.clone() };
            let exists = || {
                let full = ["system".to_string(), "session".to_string(), key.clone()];
                SparkError::new("VARIABLE_ALREADY_EXISTS").with("variableName", attribute::quote_parts(&full))
            };
            let mut locals = self.locals.write();
            if let (Some(scope), [_]) = (locals.last_mut(), name.as_slice()) {
                if scope.contains_key(&key) {
                    return Err(exists());
                }
                scope.insert(key, variable);
                continue;
            }
            let mut variables = self.session.catalog_state().variables.write();
            if !replace && variables.contains_key(&key) {
                return Err(exists());
            }
            variables.insert(key, variable);
        }
        Ok(nothing())
    }

    pub(super) fn drop_variable(&self, name: &Name, if_exists: bool) -> Result<LocalRows> {
        let removed = variable_name(name).and_then(|key| self.session.catalog_state().variables.write().remove(&key));
        if removed.is_none() && !if_exists {
            return Err(not_found(name));
        }
        Ok(nothing())
    }

    pub(super) fn set_variables(&self, targets: &[Name], source: &SetVariableSource) -> Result<LocalRows> {
        let mut seen: Vec<String> = Vec::new();
        for target in targets {
            let key = target.last().map(|n| n.to_lowercase()).unwrap_or_default();
            if seen.contains(&key) {
                return Err(SparkError::new("DUPLICATE_ASSIGNMENTS").with("nameList", attribute::quote(&key)));
            }
            seen.push(key);
        }
        match source {
            SetVariableSource::Expressions(expressions) => {
                if expressions.len() != targets.len() {
                    return Err(self.arity(targets.len(), expressions.len()));
                }
                let mut values = Vec::new();
                for (target, expression) in targets.iter().zip(expressions) {
                    let (data_type, default) = self.variable_type(target)?;
                    values.push(match expression.kind {
                        ExprKind::Default => default,
                        _ => self.evaluate_as(expression, &data_type)?,
                    });
                }
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value)?;
                }
            }
            SetVariableSource::Query(query) => self.assign_row(targets, query)?,
        }
        Ok(nothing())
    }

    /// Assigns a query's only row; no row gives nulls.
    fn assign_row(&self, targets: &[Name], query: &Relation) -> Result<()> {
        let (schema, rows) = self.values(query)?;
        if schema.fields.len() != targets.len() {
            return Err(self.arity(targets.len(), schema.fields.len()));
        }
        if rows.len() > 1 {
            return Err(SparkError::new("ROW_SUBQUERY_TOO_MANY_ROWS"));
        }
        for (i, target) in targets.iter().enumerate() {
            let (data_type, _) = self.variable_type(target)?;
            let value = match rows.first().and_then(|row| row.get(i)) {
                Some(value) => self.evaluate_as(&Expr::literal(value.clone()), &data_type)?,
                None => Literal::Null(data_type),
            };
            self.assign(target, value)?;
        }
        Ok(())
    }

    fn arity(&self, expected: usize, actual: usize) -> SparkError {
        SparkError::new("ASSIGNMENT_ARITY_MISMATCH")
            .with("numTarget", expected.to_string())
            .with("numExpr", actual.to_string())
    }

    /// A variable's type and default.
    fn variable_type(&self, name: &[String]) -> Result<(DataType, Literal)> {
        let unresolved = || {
            let database = firesteel_catalog::name::quoted_database(&self.database());
            SparkError::new("UNRESOLVED_VARIABLE")
                .with("variableName", attribute::quote_parts(name))
                .with("searchPath", format!("[`system`.`builtin`, `system`.`session`, {database}]"))
        };
        if let [one] = name {
            let key = one.to_lowercase();
            if let Some(variable) = self.locals.read().iter().rev().find_map(|scope| scope.get(&key)) {
                return Ok((variable.data_type.clone(), variable.default.clone()));
            }
        }
        let key = variable_name(name).ok_or_else(unresolved)?;
        let variables = self.session.catalog_state().variables.read();
        variables.get(&key).map(|v| (v.data_type.clone(), v.default.clone())).ok_or_else(unresolved)
    }

    fn assign(&self, name: &[String], value: Literal) -> Result<()> {
        if let [one] = name {
            let key = one.to_lowercase();
            let mut locals = self.locals.write();
            if let Some(variable) = locals.iter_mut().rev().find_map(|scope| scope.get_mut(&key)) {
                variable.value = value;
                return Ok(());
            }
        }
        let key = variable_name(name).ok_or_else(|| not_found(name))?;
        let mut variables = self.session.catalog_state().variables.write();
        let variable = variables.get_mut(&key).ok_or_else(|| not_found(name))?;
        variable.value = value;
        Ok(())
    }

    pub(super) fn execute_immediate(&self, query: &Expr, into: &[Name], using: &[Expr]) -> Result<LocalRows> {
        let (value, data_type) = self.evaluate(query)?;
        let text = match value {
            Literal::String(text) => text,
            Literal::Null(_) => {
                return Err(SparkError::new("NULL_QUERY_STRING_EXECUTE_IMMEDIATE").with("varName", "query"));
            }
            _ => {
                return Err(SparkError::new("INVALID_EXPR_TYPE_FOR_QUERY_EXECUTE_IMMEDIATE")
                    .with("exprType", format!("\"{}\"", data_type.sql())));
            }
        };
        let is_named = |argument: &&Expr| matches!(argument.kind, ExprKind::Alias { .. });
        let unnamed = using.iter().filter(|argument| !is_named(argument));
        let all_must_be_named = || {
            let texts: Vec<String> = unnamed
                .clone()
                .map(|argument| argument.origin.context().map(|context| context.excerpt().fragment).unwrap_or_default())
                .map(|text| format!("\"{text}\""))
                .collect();
            SparkError::new("ALL_PARAMETERS_MUST_BE_NAMED").with("exprs", texts.join(", "))
        };
        let has_both = using.iter().any(|argument| is_named(&argument)) && unnamed.clone().next().is_some();
        let statement = self.session.parse(&text, self.parameter_values(using)?).map_err(|error| {
            let only_names = error.is("INVALID_QUERY_MIXED_QUERY_PARAMETERS") && !text.contains('?');
            if only_names && unnamed.clone().next().is_some() { all_must_be_named() } else { error }
        })?;
        if has_both {
            return Err(all_must_be_named());
        }
        let mut names: Vec<String> = into.iter().map(|name| name.join(".").to_lowercase()).collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SparkError::new("DUPLICATE_ASSIGNMENTS").with("nameList", attribute::quote(&pair[0])));
        }
        match &statement {
            Statement::Query(query) if into.is_empty() => self.query(query),
            Statement::Query(query) => self.assign_row(into, query).map(|()| nothing()),
            _ if !into.is_empty() => {
                Err(SparkError::new("INVALID_STATEMENT_FOR_EXECUTE_INTO").with("sqlString", text.to_uppercase()))
            }
            Statement::Script(_) => {
                Err(SparkError::new("SQL_SCRIPT_IN_EXECUTE_IMMEDIATE").with("sqlString", text.to_uppercase()))
            }
            _ => self.run(&statement),
        }
    }

    /// The values of USING: names are those of aliases and variables.
    fn parameter_values(&self, using: &[Expr]) -> Result<ParameterValues> {
        let mut values = ParameterValues::default();
        let is_named = using.iter().any(|argument| matches!(argument.kind, ExprKind::Alias { .. }));
        for argument in using {
            let (name, value) = match &argument.kind {
                ExprKind::Alias { child, names, .. } => (names.first().cloned(), child.as_ref()),
                ExprKind::Attribute { name, .. } => (name.last().cloned(), argument),
                _ => (None, argument),
            };
            let value = Expr::literal(self.evaluate(value)?.0);
            if let Some(name) = name {
                values.named.insert(name, value.clone());
            }
            if !is_named {
                values.positions.push(value);
            }
        }
        Ok(values)
    }
}
