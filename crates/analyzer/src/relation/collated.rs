//! Rows with collated texts told apart by the texts' keys: of those that are equal the first one stays.

use super::set_operation::comparable;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression::{self, is_collated};
use crate::resolved::{built, project};
use datafusion::common::{JoinType, NullEquality};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr as DfExpr, LogicalPlan, LogicalPlanBuilder};
use firesteel_error::Result;
use firesteel_types::DataType;
use std::collections::HashSet;
use std::sync::Arc;

/// A value's first occurrence in its group.
pub(super) fn first(value: DfExpr) -> DfExpr {
    let udaf = datafusion::functions_aggregate::first_last::first_value_udaf();
    DfExpr::AggregateFunction(AggregateFunction::new_udf(udaf, vec![value], false, None, vec![], None))
}

/// The distinct rows of a relation of exactly these columns.
pub(super) fn distinct(a: &Analyzer<'_>, plan: LogicalPlan, columns: &[Attribute]) -> Result<LogicalPlan> {
    let rows = comparable(a, plan, columns)?;
    if !columns.iter().any(|c| is_collated(&c.data_type)) {
        return built(LogicalPlanBuilder::from(rows).distinct().and_then(LogicalPlanBuilder::build));
    }
    let mut seen = HashSet::new();
    let columns: Vec<&Attribute> = columns.iter().filter(|c| seen.insert(c.id)).collect();
    let (rows, keys) = with_keys(a, rows, &columns)?;
    let mut aggregates = Vec::new();
    let mut outputs = Vec::new();
    for (column, key) in columns.iter().zip(&keys) {
        if column.id == key.id {
            outputs.push(column.expr());
            continue;
        }
        let kept = column.renewed();
        aggregates.push(first(column.expr()).alias(kept.column_name()));
        outputs.push(kept.expr().alias(column.column_name()));
    }
    let groups = keys.iter().map(Attribute::expr).collect();
    let aggregate = built(Aggregate::try_new(Arc::new(rows), groups, aggregates).map(LogicalPlan::Aggregate))?;
    project(aggregate, outputs)
}

/// INTERSECT (or EXCEPT) of two relations of the same columns.
pub(super) fn filtered(
    a: &Analyzer<'_>,
    (left, right): (LogicalPlan, LogicalPlan),
    columns: &[Attribute],
    is_intersect: bool,
) -> Result<LogicalPlan> {
    let left = distinct(a, left, columns)?;
    let columns: Vec<&Attribute> = columns.iter().collect();
    let (left, left_keys) = with_keys(a, left, &columns)?;
    let (right, right_keys) = with_keys(a, right, &columns)?;
    let renamed: Vec<Attribute> = right_keys.iter().map(Attribute::renewed).collect();
    let right = project(
        right,
        right_keys.iter().zip(&renamed).map(|(key, new)| key.expr().alias(new.column_name())).collect(),
    )?;
    let on = (
        left_keys.iter().map(Attribute::column).collect::<Vec<_>>(),
        renamed.iter().map(Attribute::column).collect::<Vec<_>>(),
    );
    let join_type = if is_intersect { JoinType::LeftSemi } else { JoinType::LeftAnti };
    let joined = built(
        LogicalPlanBuilder::from(left)
            .join_detailed(right, join_type, on, None, NullEquality::NullEqualsNull)
            .and_then(LogicalPlanBuilder::build),
    )?;
    project(joined, columns.iter().map(|c| c.expr()).collect())
}

/// The rows with the keys of their collated columns, and the column by which each is told apart.
fn with_keys(a: &Analyzer<'_>, rows: LogicalPlan, columns: &[&Attribute]) -> Result<(LogicalPlan, Vec<Attribute>)> {
    let mut expressions: Vec<DfExpr> = columns.iter().map(|c| c.expr()).collect();
    let mut keys = Vec::with_capacity(columns.len());
    for column in columns {
        if !is_collated(&column.data_type) {
            keys.push((*column).clone());
            continue;
        }
        let key = Attribute::new("key", DataType::Binary, column.nullable);
        expressions.push(expression::key(a, &column.typed())?.alias(key.column_name()));
        keys.push(key);
    }
    Ok((project(rows, expressions)?, keys))
}
