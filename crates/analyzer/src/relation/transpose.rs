//! Rows to columns.

use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, Relation};

pub(crate) fn transpose(a: &mut Analyzer<'_>, input: &Relation, index_columns: &[Expr]) -> Result<Resolved> {
    let _ = (a.relation(input)?, index_columns);
    Err(SparkError::unsupported("transpose"))
}
