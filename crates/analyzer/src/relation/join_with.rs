//! Joins whose rows are pairs, as `Dataset.joinWith` makes them.

use super::join::{combine, distinct_from};
use super::select::project_over;
use super::unary::boolean;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, project};
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{JoinCondition, JoinType, JoinWith, Origin};
use firesteel_types::Literal;

/// Each side becomes one column, `_1` and `_2`, which is null where an outer join finds no partner.
pub(crate) fn join_with(a: &mut Analyzer<'_>, join: &JoinWith) -> Result<Resolved> {
    let join_type = join.join.join_type;
    let refused = match join_type {
        JoinType::LeftSemi => Some("LEFT SEMI"),
        JoinType::LeftAnti => Some("LEFT ANTI"),
        _ => None,
    };
    if let Some(name) = refused {
        return Err(SparkError::new("INVALID_JOIN_TYPE_FOR_JOINWITH").with("joinType", name));
    }
    let left = a.relation(&join.join.left)?;
    let right = a.relation(&join.join.right)?;
    let right = distinct_from(&left, right)?;
    let condition = match &join.join.condition {
        JoinCondition::None => None,
        JoinCondition::On(condition) => {
            let scope = a.scope(&[&left, &right]);
            Some(boolean(a.expression(condition, &scope)?, "JOIN")?.expr)
        }
        JoinCondition::Using(_) | JoinCondition::Natural => {
            return Err(SparkError::unsupported("joinWith on columns of equal names"));
        }
    };
    let (left, first) = packed(a, left, join.left_is_struct, "_1")?;
    let (right, second) = packed(a, right, join.right_is_struct, "_2")?;
    let joined = combine(&left, &right, join_type, condition)?;
    let pair = [first, second];
    let outputs = joined.output.iter().filter(|c| pair.iter().any(|p| p.id == c.id)).map(NamedExpr::column).collect();
    project_over(&joined, joined.plan.clone(), outputs)
}

/// The relation with one more column, which holds its rows.
fn packed(a: &Analyzer<'_>, side: Resolved, is_struct: bool, name: &str) -> Result<(Resolved, Attribute)> {
    let row = row_of(a, &side.output, is_struct)?;
    let row = NamedExpr::computed(row, name);
    let mut expressions: Vec<_> = side.output.iter().map(Attribute::expr).collect();
    expressions.push(row.expr());
    let plan = project(side.plan.clone(), expressions)?;
    let mut output = side.output.clone();
    output.push(row.attribute.clone());
    Ok((Resolved { plan, output, hidden: Vec::new(), ..side }, row.attribute))
}

fn row_of(a: &Analyzer<'_>, columns: &[Attribute], is_struct: bool) -> Result<TypedExpr> {
    match columns {
        [column] if !is_struct => Ok(column.typed()),
        _ => {
            let mut fields = Vec::with_capacity(columns.len() * 2);
            for column in columns {
                fields.push(expression::literal(&Literal::String(column.name.clone()))?);
                fields.push(column.typed());
            }
            a.build_context(&Origin::Unknown).call("named_struct", fields)
        }
    }
}
