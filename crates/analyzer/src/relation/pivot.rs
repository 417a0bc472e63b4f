//! Pivots: values of a column become columns.

use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, Pivot, Relation};

/// `groupBy(…).pivot(column, values).agg(…)`.
pub(crate) fn pivot(
    a: &mut Analyzer<'_>,
    input: &Relation,
    grouping: &[Expr],
    columns: &[Expr],
    values: &[Expr],
    aggregates: &[Expr],
) -> Result<Resolved> {
    let _ = (a.relation(input)?, grouping, columns, values, aggregates);
    Err(SparkError::unsupported("pivot"))
}

/// SQL's PIVOT clause.
pub(crate) fn sql_pivot(a: &mut Analyzer<'_>, pivot: &Pivot) -> Result<Resolved> {
    let _ = a.relation(&pivot.input)?;
    Err(SparkError::unsupported("PIVOT"))
}
