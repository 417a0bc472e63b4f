//! Joins a plan with a subquery.

use super::domain::{Outer, Pulled};
use super::pull::{pull, value_of};
use super::single::at_most_one;
use super::{columns_of, fresh};
use crate::resolved::{built, project};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, ScalarValue};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    Aggregate, Expr, ExprSchemable, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Subquery, lit,
};
use firesteel_error::{Result, SparkError};
use std::sync::Arc;

/// Whether an expression's subqueries or columns refer to a plan.
pub(super) fn refers_to(expr: &Expr, plan: &LogicalPlan) -> bool {
    let outer = Outer::new(plan);
    let mut found = false;
    let visited = expr.exists(|e| {
        found = match e {
            Expr::ScalarSubquery(s) | Expr::Exists(Exists { subquery: s, .. }) => outer.is_referred_to(&s.subquery),
            Expr::InSubquery(i) => {
                outer.is_referred_to(&i.subquery.subquery)
                    || i.expr.column_refs().iter().any(|c| plan.schema().has_column(c))
            }
            _ => false,
        };
        Ok(found)
    });
    found || visited.is_err()
}

/// A condition that is a subquery alone, and whether it is negated.
pub(super) fn as_restriction(condition: &Expr) -> Option<bool> {
    match condition {
        Expr::Exists(exists) => Some(exists.negated),
        Expr::InSubquery(membership) => Some(membership.negated),
        Expr::Not(inner) => as_restriction(inner).map(|negated| !negated),
        _ => None,
    }
}

/// Keeps the rows for which the condition, an EXISTS or IN, holds.
pub(super) fn restrict(input: LogicalPlan, condition: Expr) -> Result<LogicalPlan> {
    let negated = as_restriction(&condition).unwrap_or(false);
    let join_type = if negated { JoinType::LeftAnti } else { JoinType::LeftSemi };
    let mut condition = condition;
    while let Expr::Not(inner) = condition {
        condition = *inner;
    }
    let outer = Outer::new(&input);
    match condition {
        Expr::Exists(exists) => {
            let pulled = pull(&exists.subquery.subquery, &outer)?;
            if pulled.empty.is_some() {
                // An aggregate without groups has a row always.
                return if negated { filtered(input.clone(), lit(false)) } else { Ok(input.clone()) };
            }
            let (pulled, _) = pulled.renamed(&outer)?;
            let conditions = bound(&pulled, &outer)?;
            let right = if conditions.is_empty() { first_row(pulled.plan)? } else { pulled.plan };
            joined(input.clone(), right, join_type, conditions)
        }
        Expr::InSubquery(membership) => {
            let member = Member::new(&input, &membership)?;
            let equal = member.equal()?;
            let mut conditions = member.conditions.clone();
            let needs_nulls = negated && member.nullable;
            if needs_nulls && conditions.is_empty() && member.pairs.len() == 1 {
                return member.null_aware(input.clone());
            }
            conditions.push(if needs_nulls { equal.is_not_false() } else { equal });
            joined(input.clone(), member.plan, join_type, conditions)
        }
        other => Err(SparkError::internal(format!("not a subquery: {other}"))),
    }
}

/// `values IN (subquery)`, ready to be joined.
struct Member {
    plan: LogicalPlan,
    conditions: Vec<Expr>,
    /// Values and the columns that they are compared with.
    pairs: Vec<(Expr, Expr)>,
    nullable: bool,
}

impl Member {
    fn new(input: &LogicalPlan, membership: &InSubquery) -> Result<Self> {
        let outer = Outer::new(input);
        let plan = &membership.subquery.subquery;
        let columns = plan.schema().columns();
        let values = match membership.expr.as_ref() {
            Expr::ScalarFunction(f) if columns.len() > 1 && f.args.len() == columns.len() => f.args.clone(),
            one => vec![one.clone()],
        };
        let (pulled, names) = pull(plan, &outer)?.with_rows(&outer)?.renamed(&outer)?;
        let mut nullable = false;
        let mut pairs = Vec::new();
        for (value, column) in values.into_iter().zip(columns) {
            let column = names.get(&column.name).cloned().ok_or_else(|| SparkError::internal("a lost column"))?;
            nullable |= built(value.nullable(input.schema()))? || built(column.nullable(pulled.plan.schema()))?;
            pairs.push((value, column));
        }
        let conditions = bound(&pulled, &outer)?;
        Ok(Self { plan: pulled.plan, conditions, pairs, nullable })
    }

    fn equal(&self) -> Result<Expr> {
        conjunction(self.pairs.iter().map(|(value, column)| value.clone().eq(column.clone())))
            .ok_or_else(|| SparkError::internal("IN without values"))
    }

    /// The rows that are not among those of the subquery, where one null there means none is.
    fn null_aware(self, input: LogicalPlan) -> Result<LogicalPlan> {
        use datafusion::common::NullEquality;
        let Some((value, column)) = self.pairs.into_iter().next() else { return Ok(input) };
        let schema = input.schema().clone();
        let (input, key) = match value {
            Expr::Column(column) => (input, column),
            computed => {
                let name = fresh("value");
                let mut expressions: Vec<Expr> = schema.columns().into_iter().map(Expr::Column).collect();
                expressions.push(computed.alias(&name));
                (project(input, expressions)?, Column::from_name(name))
            }
        };
        let Expr::Column(column) = column else { return Err(SparkError::internal("not a column")) };
        let builder = LogicalPlanBuilder::from(input).join_detailed_with_options(
            self.plan,
            JoinType::LeftAnti,
            (vec![key], vec![column]),
            None,
            NullEquality::NullEqualsNothing,
            true,
        );
        columns_of(built(builder.and_then(LogicalPlanBuilder::build))?, &schema)
    }
}

fn filtered(plan: LogicalPlan, condition: Expr) -> Result<LogicalPlan> {
    built(LogicalPlanBuilder::from(plan).filter(condition).and_then(LogicalPlanBuilder::build))
}

fn first_row(plan: LogicalPlan) -> Result<LogicalPlan> {
    built(LogicalPlanBuilder::from(plan).limit(0, Some(1)).and_then(LogicalPlanBuilder::build))
}

fn joined(
    left: LogicalPlan,
    right: LogicalPlan,
    join_type: JoinType,
    mut conditions: Vec<Expr>,
) -> Result<LogicalPlan> {
    if conditions.is_empty() {
        conditions.push(lit(true));
    }
    built(LogicalPlanBuilder::from(left).join_on(right, join_type, conditions).and_then(LogicalPlanBuilder::build))
}

fn bound(pulled: &Pulled, outer: &Outer<'_>) -> Result<Vec<Expr>> {
    pulled.conditions.iter().map(|c| outer.bound(c.clone())).collect()
}

/// Joins a subquery of an expression to the input; the expression that stands for it then.
pub(super) fn attach(input: LogicalPlan, expr: &Expr) -> Result<(LogicalPlan, Expr)> {
    match expr {
        Expr::ScalarSubquery(subquery) => scalar(input, subquery),
        Expr::Exists(exists) => {
            let outer = Outer::new(&input);
            let pulled = pull(&exists.subquery.subquery, &outer)?;
            if pulled.empty.is_some() {
                return Ok((input.clone(), lit(!exists.negated)));
            }
            let (pulled, _) = pulled.renamed(&outer)?;
            let conditions = bound(&pulled, &outer)?;
            let (plan, mark) = marked(input.clone(), pulled.plan, conditions)?;
            Ok((plan, if exists.negated { Expr::Not(Box::new(mark)) } else { mark }))
        }
        Expr::InSubquery(membership) => member(input, membership, membership.negated),
        Expr::Not(inner) => match inner.as_ref() {
            Expr::InSubquery(membership) => member(input, membership, !membership.negated),
            other => Err(SparkError::internal(format!("not a subquery: {other}"))),
        },
        other => Err(SparkError::internal(format!("not a subquery: {other}"))),
    }
}

/// A join that adds a column: whether there is a row that fits.
fn marked(left: LogicalPlan, right: LogicalPlan, conditions: Vec<Expr>) -> Result<(LogicalPlan, Expr)> {
    let columns = left.schema().columns();
    let right = if conditions.is_empty() { first_row(right)? } else { right };
    let plan = joined(left, right, JoinType::LeftMark, conditions)?;
    let mark = plan.schema().columns().pop().ok_or_else(|| SparkError::internal("a mark join without mark"))?;
    let name = fresh("mark");
    let mut expressions: Vec<Expr> = columns.into_iter().map(Expr::Column).collect();
    expressions.push(Expr::Column(mark).alias(&name));
    Ok((project(plan, expressions)?, Expr::Column(Column::from_name(name))))
}

/// `values IN (subquery)` as a value. As in Spark it is never null: IN is false where it is unknown,
/// and so is NOT IN.
fn member(input: LogicalPlan, membership: &InSubquery, negated: bool) -> Result<(LogicalPlan, Expr)> {
    let member = Member::new(&input, membership)?;
    let equal = member.equal()?;
    let mut conditions = member.conditions.clone();
    if !negated || !member.nullable {
        conditions.push(equal);
        let (plan, found) = marked(input, member.plan, conditions)?;
        return Ok((plan, if negated { Expr::Not(Box::new(found)) } else { found }));
    }
    if let [(value, column)] = member.pairs.as_slice() {
        // An equal one, a null there, or anything there where the value is null.
        conditions.push(equal);
        let (plan, found) = marked(input, member.plan.clone(), conditions)?;
        let nulls = filtered(member.plan.clone(), column.clone().is_null())?;
        let (plan, has_null) = marked(plan, nulls, member.conditions.clone())?;
        let (plan, has_any) = marked(plan, member.plan.clone(), member.conditions.clone())?;
        let possible = found.or(has_null).or(value.clone().is_null().and(has_any));
        return Ok((plan, Expr::Not(Box::new(possible))));
    }
    conditions.push(equal.is_not_false());
    let (plan, possible) = marked(input, member.plan, conditions)?;
    Ok((plan, Expr::Not(Box::new(possible))))
}

/// Whether a plan has one row at most for a row of the outer plan.
fn is_single(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(p) => is_single(&p.input),
        LogicalPlan::Filter(f) => is_single(&f.input),
        LogicalPlan::Sort(s) => is_single(&s.input),
        LogicalPlan::Aggregate(a) => a.group_expr.is_empty(),
        LogicalPlan::Limit(l) => {
            is_single(&l.input) || matches!(l.fetch.as_deref(), Some(Expr::Literal(ScalarValue::Int64(Some(0 | 1)), _)))
        }
        LogicalPlan::EmptyRelation(_) => true,
        _ => false,
    }
}

/// A scalar subquery: a column, null where there is no row.
fn scalar(input: LogicalPlan, subquery: &Subquery) -> Result<(LogicalPlan, Expr)> {
    let outer = Outer::new(&input);
    let inner = &subquery.subquery;
    let Some(column) = inner.schema().columns().into_iter().next() else {
        return Err(SparkError::internal("a scalar subquery without a column"));
    };
    let pulled = pull(inner, &outer)?;
    if !is_single(inner) {
        return counted(input.clone(), pulled, &column, &outer);
    }
    let (pulled, names) = pulled.renamed(&outer)?;
    let value = names.get(&column.name).cloned().ok_or_else(|| SparkError::internal("a lost column"))?;
    let conditions = bound(&pulled, &outer)?;
    let (right, marker) = match &pulled.empty {
        Some(_) => pulled.marked().map(|(plan, marker)| (plan, Some(marker)))?,
        None => (pulled.plan.clone(), None),
    };
    let value = value_of(&pulled, &column.name, value, marker.as_ref())?;
    let value = outer.bound(value)?;
    let plan = joined(input.clone(), right, JoinType::Left, conditions)?;
    Ok((plan, value))
}

/// Joins a scalar subquery of which nobody knows how many rows it has: more than one are an
/// error for the rows of the input that meet them.
fn counted(input: LogicalPlan, pulled: Pulled, column: &Column, outer: &Outer<'_>) -> Result<(LogicalPlan, Expr)> {
    let (pulled, keys) = pulled.keyed(outer)?;
    let (first, count) = (fresh("first"), fresh("count"));
    let aggregates = vec![
        first_value_udaf().call(vec![Expr::Column(column.clone())]).alias(&first),
        count_udaf().call(vec![lit(1i64)]).alias(&count),
    ];
    let plan = built(Aggregate::try_new(Arc::new(pulled.plan), keys, aggregates).map(LogicalPlan::Aggregate))?;
    let (pulled, names) = Pulled { plan, conditions: pulled.conditions, empty: None }.renamed(outer)?;
    let name = |name: &str| names.get(name).cloned().ok_or_else(|| SparkError::internal("a lost column"));
    let value = at_most_one().call(vec![name(&first)?, name(&count)?]);
    let conditions = bound(&pulled, outer)?;
    Ok((joined(input, pulled.plan, JoinType::Left, conditions)?, value))
}

/// A lateral join: the right side's references to the left one become conditions.
pub(super) fn lateral(join: Join) -> Result<LogicalPlan> {
    let LogicalPlan::Subquery(subquery) = join.right.as_ref() else {
        return Err(SparkError::internal("not a lateral join"));
    };
    let schema = join.schema.clone();
    let right_columns = join.right.schema().columns();
    let left = Arc::unwrap_or_clone(join.left.clone());
    let outer = Outer::new(&left);
    let mut conditions: Vec<Expr> = join.on.iter().map(|(l, r)| l.clone().eq(r.clone())).collect();
    conditions.extend(join.filter.clone());
    let mut pulled = pull(&subquery.subquery, &outer)?;
    if !conditions.is_empty() {
        pulled = pulled.with_rows(&outer)?;
    }
    let of_subquery = bound(&pulled, &outer)?;
    let Some(defaults) = pulled.empty.clone() else {
        conditions.splice(0..0, of_subquery);
        let plan = if conditions.is_empty() && join.join_type == JoinType::Inner {
            let crossed = LogicalPlanBuilder::from(left.clone()).cross_join(pulled.plan);
            built(crossed.and_then(LogicalPlanBuilder::build))?
        } else {
            joined(left.clone(), pulled.plan, join.join_type, conditions)?
        };
        return columns_of(plan, &schema);
    };
    let (marked, marker) = pulled.marked()?;
    let plan = joined(left.clone(), marked, JoinType::Left, of_subquery)?;
    let mut expressions: Vec<Expr> = left.schema().columns().into_iter().map(Expr::Column).collect();
    for column in right_columns {
        let value = Expr::Column(column.clone());
        expressions.push(match defaults.get(&column.name) {
            Some(_) => outer.bound(value_of(&pulled, &column.name, value, Some(&marker))?)?.alias(column.name),
            None => value,
        });
    }
    project(plan, expressions)
}
