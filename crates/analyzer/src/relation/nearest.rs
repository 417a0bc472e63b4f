//! Joins of each row with the nearest of the other side: as-of joins and nearest-by joins.
//!
//! Both number the left rows, join, rank the matches of each left row and keep
//! the best.

use super::join::{combine, distinct_from, using_column};
use super::unary::boolean;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression;
use crate::resolved::{Resolved, built, project};
use datafusion::logical_expr::{
    Expr as DfExpr, ExprFunctionExt, LogicalPlan, LogicalPlanBuilder, SortExpr, Window, WindowFrame, lit,
};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::{BuildContext, TypedExpr};
use firesteel_plan::{AsOfJoin, Expr, JoinCondition, JoinType, NearestByJoin, Origin};
use firesteel_types::{DataType, Literal};
use std::sync::Arc;

/// `df._joinAsOf(…)`: each left row with the last (or next, or nearest) right one.
pub(crate) fn as_of(a: &mut Analyzer<'_>, join: &AsOfJoin) -> Result<Resolved> {
    let join_type = match normalised(&join.join_type).as_str() {
        "" | "inner" => JoinType::Inner,
        "left" | "leftouter" => JoinType::LeftOuter,
        _ => {
            return Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                format!("requirement failed: Unsupported as-of join type {}", join.join_type),
            ));
        }
    };
    let (left, right) = sides(a, &join.left, &join.right)?;
    let scope = a.scope(&[&left.relation, &right.relation]);
    let left_scope = a.scope(&[&left.relation]);
    let right_scope = a.scope(&[&right.relation]);
    let left_as_of = a.expression(&join.left_as_of, &left_scope)?;
    let mut right_as_of = a.expression(&join.right_as_of, &right_scope)?;
    // A left row without a match has no distance.
    right_as_of.nullable |= join_type == JoinType::LeftOuter;
    let tolerance = join.tolerance.as_ref().map(|t| tolerance(a, t)).transpose()?;
    let mut conditions = match &join.condition {
        JoinCondition::None => Vec::new(),
        JoinCondition::Natural => return Err(SparkError::unsupported("a natural as-of join")),
        JoinCondition::On(condition) => vec![boolean(a.expression(condition, &scope)?, "JOIN")?],
        JoinCondition::Using(columns) => {
            let mut equal = Vec::with_capacity(columns.len());
            for name in columns {
                let l = using_column(a, &left.relation, name, "left")?.typed();
                let r = using_column(a, &right.relation, name, "right")?.typed();
                equal.push(a.build_context(&Origin::Unknown).call("=", vec![l, r])?);
            }
            equal
        }
    };
    let mut context = a.build_context(&Origin::Unknown);
    let as_of = AsOf { left: left_as_of, right: right_as_of, exact: join.allow_exact_matches, tolerance };
    let distance = as_of.build(&mut context, &join.direction, &mut conditions)?;
    let condition = conditions.into_iter().map(|c| c.expr).reduce(DfExpr::and);
    // Among equally near rows the last one counts.
    let order = vec![SortExpr::new(distance.expr, true, false), SortExpr::new(right.number.expr(), false, false)];
    nearest(&left, &right, join_type, condition, order, 1)
}

/// What an as-of join compares.
struct AsOf {
    left: TypedExpr,
    right: TypedExpr,
    exact: bool,
    tolerance: Option<TypedExpr>,
}

impl AsOf {
    /// The distance, and the conditions of a match.
    fn build(
        self,
        context: &mut BuildContext<'_>,
        direction: &str,
        conditions: &mut Vec<TypedExpr>,
    ) -> Result<TypedExpr> {
        let (left, right) = (self.left, self.right);
        let mut call = |name: &str, l: &TypedExpr, r: &TypedExpr| context.call(name, vec![l.clone(), r.clone()]);
        let direction = direction.to_ascii_lowercase();
        let is_backward = direction == "backward";
        match direction.as_str() {
            "backward" | "forward" => {
                let (later, earlier) = if is_backward { (&left, &right) } else { (&right, &left) };
                conditions.push(call(if self.exact { ">=" } else { ">" }, later, earlier)?);
                if let Some(tolerance) = &self.tolerance {
                    let bound = call(if is_backward { "-" } else { "+" }, &left, tolerance)?;
                    conditions.push(call(if is_backward { ">=" } else { "<=" }, &right, &bound)?);
                }
                call("-", later, earlier)
            }
            "nearest" => {
                if !self.exact {
                    conditions.push(call("!=", &left, &right)?);
                }
                if let Some(tolerance) = &self.tolerance {
                    let (low, high) = (call("-", &left, tolerance)?, call("+", &left, tolerance)?);
                    conditions.push(call(">=", &right, &low)?);
                    conditions.push(call("<=", &right, &high)?);
                }
                let is_after = call(">", &left, &right)?;
                let (after, before) = (call("-", &left, &right)?, call("-", &right, &left)?);
                context.call("if", vec![is_after, after, before])
            }
            _ => Err(SparkError::new("AS_OF_JOIN.UNSUPPORTED_DIRECTION")
                .with("direction", direction)
                .with("supported", "'forward', 'backward', 'nearest'")),
        }
    }
}

fn tolerance(a: &mut Analyzer<'_>, tolerance: &Expr) -> Result<TypedExpr> {
    let unfoldable = || SparkError::new("AS_OF_JOIN.TOLERANCE_IS_UNFOLDABLE");
    let typed = a.constant(tolerance).map_err(|e| if e.is("UNRESOLVED_COLUMN") { unfoldable() } else { e })?;
    if !typed.is_foldable() {
        return Err(unfoldable());
    }
    let sign = a.constant(&Expr::call("signum", vec![tolerance.clone()]))?;
    match expression::fold(a, &sign)? {
        Literal::Double(sign) if sign < 0.0 => Err(SparkError::new("AS_OF_JOIN.TOLERANCE_IS_NON_NEGATIVE")),
        _ => Ok(typed),
    }
}

/// `df.nearestByJoin(…)`: each left row with the best right ones by a ranking expression.
pub(crate) fn nearest_by(a: &mut Analyzer<'_>, join: &NearestByJoin) -> Result<Resolved> {
    let join_type = match normalised(&join.join_type).as_str() {
        "" | "inner" => JoinType::Inner,
        "left" | "leftouter" => JoinType::LeftOuter,
        _ => {
            return Err(SparkError::new("NEAREST_BY_JOIN.UNSUPPORTED_JOIN_TYPE")
                .with("joinType", join.join_type.clone())
                .with("supported", "'INNER', 'LEFT OUTER'"));
        }
    };
    if !matches!(join.mode.to_ascii_lowercase().as_str(), "exact" | "approx") {
        return Err(SparkError::new("NEAREST_BY_JOIN.UNSUPPORTED_MODE")
            .with("mode", join.mode.clone())
            .with("supported", "'approx', 'exact'"));
    }
    let is_similarity = match join.direction.to_ascii_lowercase().as_str() {
        "similarity" => true,
        "distance" => false,
        _ => {
            return Err(SparkError::new("NEAREST_BY_JOIN.UNSUPPORTED_DIRECTION")
                .with("direction", join.direction.clone())
                .with("supported", "'distance', 'similarity'"));
        }
    };
    if !(1..=100_000).contains(&join.num_results) {
        return Err(SparkError::new("NEAREST_BY_JOIN.NUM_RESULTS_OUT_OF_RANGE")
            .with("numResults", join.num_results.to_string())
            .with("min", "1")
            .with("max", "100000"));
    }
    let (left, right) = sides(a, &join.left, &join.right)?;
    let mut ranked = right.relation.clone();
    for column in &mut ranked.output {
        // A left row without a match has no rank.
        column.nullable |= join_type == JoinType::LeftOuter;
    }
    let scope = a.scope(&[&left.relation, &ranked]);
    let ranking = a.expression(&join.ranking, &scope)?;
    let order = vec![
        SortExpr::new(ranking.expr.clone(), !is_similarity, false),
        SortExpr::new(right.number.expr(), true, false),
    ];
    // A row without a rank is no match.
    let condition = ranking.expr.is_not_null();
    nearest(&left, &right, join_type, Some(condition), order, join.num_results)
}

fn normalised(join_type: &str) -> String {
    join_type.to_ascii_lowercase().replace('_', "")
}

/// A side of the join, its rows numbered.
struct Side {
    relation: Resolved,
    number: Attribute,
}

fn sides(
    a: &mut Analyzer<'_>,
    left: &firesteel_plan::Relation,
    right: &firesteel_plan::Relation,
) -> Result<(Side, Side)> {
    let left = a.relation(left)?;
    let right = distinct_from(&left, a.relation(right)?)?;
    Ok((numbered(left)?, numbered(right)?))
}

fn numbered(relation: Resolved) -> Result<Side> {
    let number = Attribute::new("row", DataType::Long, false);
    let plan = row_numbers(relation.plan.clone(), Vec::new(), Vec::new(), &number)?;
    Ok(Side { relation: relation.with_plan(plan), number })
}

/// Adds a column of row numbers, from 1.
fn row_numbers(
    plan: LogicalPlan,
    partition: Vec<DfExpr>,
    order: Vec<SortExpr>,
    number: &Attribute,
) -> Result<LogicalPlan> {
    let window = datafusion::functions_window::row_number::row_number();
    let frame = WindowFrame::new(None);
    let window = built(window.partition_by(partition).order_by(order).window_frame(frame).build())?;
    let window = window.alias(number.column_name());
    built(Window::try_new(vec![window], Arc::new(plan)).map(LogicalPlan::Window))
}

fn nearest(
    left: &Side,
    right: &Side,
    join_type: JoinType,
    condition: Option<DfExpr>,
    order: Vec<SortExpr>,
    count: i32,
) -> Result<Resolved> {
    let joined = combine(&left.relation, &right.relation, join_type, condition)?;
    // The keys become columns, as rewriting must not part them from the order that they ask for.
    let mut expressions: Vec<DfExpr> = joined.plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    let mut keys = Vec::with_capacity(order.len());
    for key in order {
        let column = Attribute::new("key", DataType::Null, true);
        expressions.push(key.expr.alias(column.column_name()));
        keys.push(SortExpr { expr: column.expr(), ..key });
    }
    let with_keys = project(joined.plan.clone(), expressions)?;
    let rank = Attribute::new("rank", DataType::Long, false);
    let ranked = row_numbers(with_keys, vec![left.number.expr()], keys, &rank)?;
    let plan = built(
        LogicalPlanBuilder::from(ranked)
            .filter(rank.expr().lt_eq(lit(u64::try_from(count).unwrap_or(1))))
            .and_then(LogicalPlanBuilder::build),
    )?;
    Ok(joined.with_plan(plan))
}
