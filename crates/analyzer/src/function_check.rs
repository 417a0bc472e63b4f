//! CREATE FUNCTION: what the body of a SQL function may be.

use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::environment::{Parameter, UserFunction};
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, project};
use crate::scope::Scope;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan};
use firesteel_error::{Result, SparkError};
use firesteel_functions::{TypedExpr, cast};
use firesteel_plan::{Expr, Origin};
use firesteel_types::{DataType, StructField};

/// What analysis tells of a function that is to be made.
#[derive(Debug, Clone)]
pub struct CheckedFunction {
    /// The columns of its result.
    pub columns: Vec<StructField>,
    /// Whether it gives the same for the same arguments and tables.
    pub is_deterministic: bool,
}

impl Analyzer<'_> {
    /// Analyses a function that is to be made.
    pub fn check_function(&mut self, name: &str, function: &UserFunction, text: &str) -> Result<CheckedFunction> {
        match function {
            UserFunction::SqlScalar { name: full_name, parameters, returns, body, settings } => {
                let scope = self.parameters(name, parameters, text)?;
                let bound = bound(&scope);
                let typed = expression::within(self, (name, full_name), bound, settings, |a| {
                    a.expression(body, &scope.closed())
                })?;
                refuse_complex(&typed, text)?;
                let typed = match returns {
                    Some(returns) => self.returned(typed, returns)?,
                    None => typed,
                };
                let is_deterministic = !typed.expr.is_volatile();
                Ok(CheckedFunction { columns: vec![StructField::new(name, typed.data_type, true)], is_deterministic })
            }
            UserFunction::SqlTable { name: full_name, parameters, columns, body, settings } => {
                let scope = self.parameters(name, parameters, text)?;
                let bound = bound(&scope);
                let (resolved, _) = expression::within(self, (name, full_name), bound, settings, |a| {
                    expression::correlated(a, body, &scope.closed())
                })?;
                let is_volatile = |plan: &LogicalPlan| Ok(plan.expressions().iter().any(DfExpr::is_volatile));
                let is_deterministic = !resolved.plan.exists(is_volatile).unwrap_or(false);
                Ok(CheckedFunction {
                    columns: self.check_columns((name, full_name), resolved, columns)?,
                    is_deterministic,
                })
            }
            UserFunction::Python(_) => Ok(CheckedFunction { columns: Vec::new(), is_deterministic: true }),
        }
    }

    /// The scope of a function's body, once the defaults of its parameters are checked.
    fn parameters(&mut self, name: &str, parameters: &[Parameter], text: &str) -> Result<Scope> {
        for parameter in parameters {
            if let Some(default) = &parameter.default {
                self.check_default(name, parameter, default, text)?;
            }
        }
        let qualifier = [name.to_string()];
        let attributes: Vec<Attribute> = parameters
            .iter()
            .map(|p| Attribute::new(&p.name, p.data_type.clone(), true).with_qualifier(&qualifier))
            .collect();
        Ok(Scope::of(attributes, self.case_sensitive()))
    }

    fn check_default(&mut self, name: &str, parameter: &Parameter, default: &Expr, text: &str) -> Result<()> {
        let typed = self.constant(default)?;
        let is_query = |e: &DfExpr| matches!(e, DfExpr::ScalarSubquery(_) | DfExpr::Exists(_) | DfExpr::InSubquery(_));
        if typed.expr.exists(|e| Ok(is_query(e))).unwrap_or(false) {
            return Err(SparkError::new("USER_DEFINED_FUNCTIONS.NOT_A_VALID_DEFAULT_EXPRESSION")
                .with("functionName", name)
                .with("parameterName", parameter.name.clone()));
        }
        refuse_complex(&typed, text)?;
        self.returned(typed, &parameter.data_type).map(|_| ())
    }

    /// A value as the type that a function declares.
    fn returned(&self, typed: TypedExpr, to: &DataType) -> Result<TypedExpr> {
        let mode = if self.env.conf().ansi_enabled { cast::Mode::Ansi } else { cast::Mode::Legacy };
        cast::cast(typed, to, mode, &mut self.build_context(&Origin::Unknown))
    }

    fn check_columns(
        &self,
        (name, full_name): (&str, &str),
        resolved: Resolved,
        columns: &[StructField],
    ) -> Result<Vec<StructField>> {
        let output = &resolved.output;
        if columns.is_empty() {
            let repeated = output
                .iter()
                .enumerate()
                .find(|(i, c)| output[..*i].iter().any(|before| before.name.eq_ignore_ascii_case(&c.name)));
            if let Some((_, column)) = repeated {
                return Err(SparkError::new("DUPLICATE_ROUTINE_RETURNS_COLUMNS")
                    .with("routineName", name)
                    .with("columns", crate::attribute::quote(&column.name)));
            }
            return Ok(output.iter().map(Attribute::to_field).collect());
        }
        if columns.len() != output.len() {
            return Err(SparkError::new("USER_DEFINED_FUNCTIONS.RETURN_COLUMN_COUNT_MISMATCH")
                .with("outputSize", output.len().to_string())
                .with("returnParamSize", columns.len().to_string())
                .with("name", full_name));
        }
        let mut cast = Vec::with_capacity(columns.len());
        for (column, field) in output.iter().zip(columns) {
            cast.push(NamedExpr::computed(self.returned(column.typed(), &field.data_type)?, &field.name));
        }
        project(resolved.plan, cast.iter().map(NamedExpr::expr).collect())?;
        Ok(columns.to_vec())
    }
}

/// The parameters as the body sees them: columns of the query around it.
fn bound(scope: &Scope) -> Vec<(String, TypedExpr)> {
    scope.attributes.iter().map(|a| (a.name.clone(), a.typed())).collect()
}

/// A body and its defaults give a value for a row: no aggregates, no windows.
fn refuse_complex(typed: &TypedExpr, text: &str) -> Result<()> {
    let is_complex = |e: &DfExpr| matches!(e, DfExpr::AggregateFunction(_) | DfExpr::WindowFunction(_));
    if typed.expr.exists(|e| Ok(is_complex(e))).unwrap_or(false) {
        return Err(SparkError::new("USER_DEFINED_FUNCTIONS.CANNOT_CONTAIN_COMPLEX_FUNCTIONS").with("queryText", text));
    }
    Ok(())
}
