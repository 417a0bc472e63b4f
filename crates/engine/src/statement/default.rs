//! Defaults of columns and variables.

use super::Runner;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, ExprKind};
use firesteel_types::{DataType, Literal};

/// A default as a statement declares it.
pub(super) struct Declared<'a> {
    /// The statement's name.
    pub statement: &'a str,
    /// The column's or variable's name, quoted.
    pub column: &'a str,
    /// The default's text.
    pub text: &'a str,
}

impl Declared<'_> {
    fn error(&self, condition: &'static str) -> SparkError {
        SparkError::new(condition)
            .with("statement", self.statement)
            .with("colName", self.column)
            .with("defaultValue", self.text)
    }
}

impl Runner {
    /// The value of a default, which is a constant that can be assigned to the type as it is.
    pub(super) fn check_default(&self, declared: &Declared<'_>, expr: &Expr, to: &DataType) -> Result<Literal> {
        if expr.any(|part| matches!(part.kind, ExprKind::Subquery { .. })) {
            return Err(declared.error("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION"));
        }
        let (_, from) = self.evaluate(expr).map_err(|error| {
            // No column can be seen from a default.
            if error.is("UNRESOLVED_COLUMN") { declared.error("INVALID_DEFAULT_VALUE.NOT_CONSTANT") } else { error }
        })?;
        let mismatch = || {
            declared
                .error("INVALID_DEFAULT_VALUE.DATA_TYPE")
                .with("expectedType", format!("\"{}\"", to.sql()))
                .with("actualType", format!("\"{}\"", from.sql()))
        };
        if !is_assignable(&from, to) {
            return Err(mismatch());
        }
        self.evaluate_as(expr, to).map_err(|_| mismatch())
    }
}

/// Whether a default of one type can stand for another; literals may be of a wider type.
fn is_assignable(from: &DataType, to: &DataType) -> bool {
    let is_text = |t: &DataType| matches!(t, DataType::String(_) | DataType::Char(_) | DataType::Varchar(_));
    let is_nested = |t: &DataType| matches!(t, DataType::Array { .. } | DataType::Map { .. } | DataType::Struct(_));
    match (from, to) {
        (DataType::Null, _) => true,
        (from, to) if is_text(from) != is_text(to) => {
            // Anything plain can be written as a text.
            is_text(to) && !is_nested(from) && !matches!(from, DataType::Binary)
        }
        (DataType::Double | DataType::Float, to) if to.is_integral() => false,
        (DataType::Boolean, to) => matches!(to, DataType::Boolean),
        _ => true,
    }
}
