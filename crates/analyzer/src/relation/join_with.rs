//! `joinWith`: pairs of rows.

use super::join::combine;
use super::select::project_over;
use super::unary::boolean;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, project};
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Join, JoinCondition, JoinType, Origin, Pair};
use firesteel_types::Literal;

/// The rows of a join with each side as one column, `_1` and `_2`; where a side has no row it is null.
pub(crate) fn pairs(
    a: &mut Analyzer<'_>,
    left: Resolved,
    right: Resolved,
    join: &Join,
    pair: Pair,
) -> Result<Resolved> {
    let refused = match join.join_type {
        JoinType::LeftSemi => Some("LEFT SEMI"),
        JoinType::LeftAnti => Some("LEFT ANTI"),
        _ => None,
    };
    if let Some(join_type) = refused {
        return Err(SparkError::new("INVALID_JOIN_TYPE_FOR_JOINWITH").with("joinType", join_type));
    }
    let condition = match &join.condition {
        JoinCondition::On(condition) => {
            let scope = a.scope(&[&left, &right]);
            Some(boolean(a.expression(condition, &scope)?, "JOIN")?.expr)
        }
        _ => None,
    };
    let (left, first) = with_row(a, left, pair.is_left_struct, "_1")?;
    let (right, second) = with_row(a, right, pair.is_right_struct, "_2")?;
    let joined = combine(&left, &right, join.join_type, condition)?;
    let outputs: Vec<NamedExpr> = [first, second]
        .iter()
        .filter_map(|row| joined.output.iter().find(|column| column.id == row.id))
        .map(NamedExpr::column)
        .collect();
    project_over(&joined, joined.plan.clone(), outputs)
}

/// A side with its rows as one more column.
fn with_row(a: &Analyzer<'_>, side: Resolved, is_struct: bool, name: &str) -> Result<(Resolved, Attribute)> {
    let row = if is_struct {
        let mut parts = Vec::with_capacity(2 * side.output.len());
        for column in &side.output {
            parts.push(expression::literal(&Literal::String(column.name.clone()))?);
            parts.push(column.typed());
        }
        a.build_context(&Origin::Unknown).call("named_struct", parts)?
    } else {
        let column = side.output.first().ok_or_else(|| SparkError::internal("joinWith of a side without columns"))?;
        column.typed()
    };
    let row = NamedExpr::computed(row, name);
    let mut expressions: Vec<DfExpr> = side.plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    expressions.push(row.expr());
    let plan = project(side.plan.clone(), expressions)?;
    let mut output = side.output.clone();
    output.push(row.attribute.clone());
    Ok((Resolved { plan, output, ..side }, row.attribute))
}
