//! Joins.

use super::select::project_over;
use super::unary::boolean;
use crate::analyzer::Analyzer;
use crate::attribute::{Attribute, quote};
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, built, project};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{JoinType as DfJoinType, NullEquality};
use datafusion::logical_expr::{Expr as DfExpr, Join as DfJoin, JoinConstraint, LogicalPlan, Operator, Subquery};
use firesteel_error::{Result, SparkError};
use firesteel_functions::coercion;
use firesteel_plan::{Join, JoinCondition, JoinType};
use std::collections::HashSet;
use std::sync::Arc;

fn df_type(join_type: JoinType) -> DfJoinType {
    match join_type {
        JoinType::Inner | JoinType::Cross => DfJoinType::Inner,
        JoinType::LeftOuter => DfJoinType::Left,
        JoinType::RightOuter => DfJoinType::Right,
        JoinType::FullOuter => DfJoinType::Full,
        JoinType::LeftSemi => DfJoinType::LeftSemi,
        JoinType::LeftAnti => DfJoinType::LeftAnti,
    }
}

pub(crate) fn join(a: &mut Analyzer<'_>, join: &Join) -> Result<Resolved> {
    let before = a.self_references;
    let left = a.relation(&join.left)?;
    if matches!(join.join_type, JoinType::RightOuter | JoinType::FullOuter) {
        super::with::refuse_self_reference(a, before)?;
    }
    if join.is_lateral {
        return lateral(a, left, join);
    }
    let before = a.self_references;
    let right = a.relation(&join.right)?;
    if !matches!(join.join_type, JoinType::Inner | JoinType::Cross | JoinType::RightOuter) {
        super::with::refuse_self_reference(a, before)?;
    }
    let right = distinct_from(&left, right)?;
    match &join.condition {
        JoinCondition::Using(columns) => using(a, &left, &right, join.join_type, columns),
        JoinCondition::Natural => {
            let scope = a.scope(&[&left]);
            let common: Vec<String> = left
                .output
                .iter()
                .filter(|l| right.output.iter().any(|r| scope.same_name(&l.name, &r.name)))
                .map(|l| l.name.clone())
                .collect();
            using(a, &left, &right, join.join_type, &common)
        }
        JoinCondition::None => {
            let joined = combine(&left, &right, join.join_type, None)?;
            Ok(without_product(a, joined, join.join_type))
        }
        JoinCondition::On(condition) => {
            let scope = a.scope(&[&left, &right]);
            let typed =
                boolean(a.expression(condition, &scope)?, "JOIN").map_err(|e| join_condition_type(e, condition))?;
            if crate::expression::contains_window(&typed.expr)
                || typed.expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false)
            {
                return Err(crate::expression::not_in_operator(&typed));
            }
            if typed.expr.is_volatile() {
                return Err(SparkError::new("INVALID_NON_DETERMINISTIC_EXPRESSIONS")
                    .with("sqlExprs", format!("\"{}\"", typed.name)));
            }
            let joined = combine(&left, &right, join.join_type, Some(typed.expr))?;
            Ok(without_product(a, joined, join.join_type))
        }
    }
}

/// Marks a join without equal pairs that may not be a cartesian product: the query did not ask
/// for one, and the setting forbids those that come by themselves.
fn without_product(a: &Analyzer<'_>, mut joined: Resolved, join_type: JoinType) -> Resolved {
    let is_exempt = matches!(join_type, JoinType::Cross | JoinType::LeftSemi | JoinType::LeftAnti);
    if !is_exempt
        && !a.env.conf().cross_join_enabled
        && let LogicalPlan::Join(join) = &mut joined.plan
        && join.on.is_empty()
    {
        join.join_constraint = JoinConstraint::Using;
    }
    joined
}

/// True for a join that may not be a cartesian product.
pub fn may_not_be_cartesian(join: &DfJoin) -> bool {
    join.join_constraint == JoinConstraint::Using && join.on.is_empty()
}

fn join_condition_type(error: SparkError, _condition: &firesteel_plan::Expr) -> SparkError {
    if !error.is("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN") {
        return error;
    }
    let of =
        |name: &str| error.parameters().iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()).unwrap_or_default();
    SparkError::new("JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE")
        .with("joinCondition", of("sqlExpr"))
        .with("conditionType", of("type"))
}

/// The right side, its columns renamed where it shares columns with the left one (a frame joined with itself).
pub(crate) fn distinct_from(left: &Resolved, right: Resolved) -> Result<Resolved> {
    let names: HashSet<String> = left.plan.schema().fields().iter().map(|f| f.name().clone()).collect();
    if !right.plan.schema().fields().iter().any(|f| names.contains(f.name())) {
        return Ok(right);
    }
    let frame = right.frame.clone();
    let renewed = right.renewed()?;
    let mut output = renewed.output.clone();
    for (new, old) in output.iter_mut().zip(&right.output) {
        new.qualifier.clone_from(&old.qualifier);
    }
    let frame = renew_frame(&frame, &right.output, &output);
    Ok(Resolved { output, frame, ..renewed })
}

/// Frames whose columns have been renamed.
fn renew_frame(frame: &crate::Frame, old: &[Attribute], new: &[Attribute]) -> Arc<crate::Frame> {
    let output = frame
        .output
        .iter()
        .map(|c| match old.iter().position(|o| o.id == c.id) {
            Some(i) => Attribute { id: new[i].id, ..c.clone() },
            None => c.clone(),
        })
        .collect();
    let children = frame.children.iter().map(|c| renew_frame(c, old, new)).collect();
    Arc::new(crate::Frame { plan_id: frame.plan_id, output, children })
}

/// Splits a condition into equal pairs of the two sides and the rest.
fn split(condition: DfExpr, left: &LogicalPlan, right: &LogicalPlan) -> (Vec<(DfExpr, DfExpr)>, Option<DfExpr>) {
    let mut on = Vec::new();
    let mut rest: Option<DfExpr> = None;
    for conjunct in datafusion::logical_expr::utils::split_conjunction_owned(condition) {
        if let DfExpr::BinaryExpr(b) = &conjunct
            && b.op == Operator::Eq
        {
            let of = |e: &DfExpr, plan: &LogicalPlan| {
                let columns = e.column_refs();
                !columns.is_empty() && !has_subquery(e) && columns.iter().all(|c| plan.schema().has_column(c))
            };
            if of(&b.left, left) && of(&b.right, right) {
                on.push((*b.left.clone(), *b.right.clone()));
                continue;
            }
            if of(&b.left, right) && of(&b.right, left) {
                on.push((*b.right.clone(), *b.left.clone()));
                continue;
            }
        }
        rest = Some(match rest {
            Some(r) => r.and(conjunct),
            None => conjunct,
        });
    }
    (on, rest)
}

fn has_subquery(expr: &DfExpr) -> bool {
    expr.exists(|e| {
        Ok(matches!(
            e,
            DfExpr::ScalarSubquery(_) | DfExpr::Exists(_) | DfExpr::InSubquery(_) | DfExpr::OuterReferenceColumn(..)
        ))
    })
    .unwrap_or(true)
}

fn join_plan(
    left: LogicalPlan,
    right: LogicalPlan,
    join_type: DfJoinType,
    condition: Option<DfExpr>,
) -> Result<LogicalPlan> {
    let (on, filter) = match condition {
        Some(condition) => split(condition, &left, &right),
        None => (Vec::new(), None),
    };
    // Spark streams the left side, so that its order shows in the result. DataFusion streams
    // its right side: the sides change places, unless statistics change them back. Errors name the
    // kinds of joins that Python functions cannot be conditions of, so these stay.
    let calls_python = filter.as_ref().is_some_and(crate::python::is_called);
    let stays = calls_python && join_type == DfJoinType::Left;
    let (left, right, on, join_type) = match join_type {
        DfJoinType::Inner | DfJoinType::Left
            if !on.is_empty() && !stays && !matches!(right, LogicalPlan::Subquery(_)) =>
        {
            let on = on.into_iter().map(|(l, r)| (r, l)).collect();
            let swapped = if join_type == DfJoinType::Left { DfJoinType::Right } else { DfJoinType::Inner };
            (right, left, on, swapped)
        }
        _ => (left, right, on, join_type),
    };
    built(
        DfJoin::try_new(
            Arc::new(left),
            Arc::new(right),
            on,
            filter,
            join_type,
            JoinConstraint::On,
            NullEquality::NullEqualsNothing,
            false,
        )
        .map(LogicalPlan::Join),
    )
}

/// The output of a join: sides that may be missing become nullable.
fn sides(left: &[Attribute], right: &[Attribute], join_type: JoinType) -> (Vec<Attribute>, Vec<Attribute>) {
    let nullable = |list: &[Attribute]| list.iter().map(|c| c.clone().with_nullable(true)).collect::<Vec<_>>();
    match join_type {
        JoinType::Inner | JoinType::Cross => (left.to_vec(), right.to_vec()),
        JoinType::LeftOuter => (left.to_vec(), nullable(right)),
        JoinType::RightOuter => (nullable(left), right.to_vec()),
        JoinType::FullOuter => (nullable(left), nullable(right)),
        JoinType::LeftSemi | JoinType::LeftAnti => (left.to_vec(), Vec::new()),
    }
}

pub(crate) fn combine(
    left: &Resolved,
    right: &Resolved,
    join_type: JoinType,
    condition: Option<DfExpr>,
) -> Result<Resolved> {
    let plan = join_plan(left.plan.clone(), right.plan.clone(), df_type(join_type), condition)?;
    let (mut output, right_output) = sides(&left.output, &right.output, join_type);
    output.extend(right_output);
    let (mut hidden, right_hidden) = sides(&left.hidden, &right.hidden, join_type);
    hidden.extend(right_hidden);
    let mut resolved = Resolved::over(plan, output, &[left, right]);
    resolved.hidden = hidden;
    Ok(resolved)
}

/// Joins on columns of equal names, which come out once.
fn using(
    a: &mut Analyzer<'_>,
    left: &Resolved,
    right: &Resolved,
    join_type: JoinType,
    columns: &[String],
) -> Result<Resolved> {
    let mut keys: Vec<(Attribute, Attribute)> = Vec::new();
    let mut condition: Option<DfExpr> = None;
    for name in columns {
        let l = using_column(a, left, name, "left")?;
        let r = using_column(a, right, name, "right")?;
        let ansi = a.env.conf().ansi_enabled;
        let types = [l.data_type.clone(), r.data_type.clone()];
        let common = coercion::wider_common_type(&types, ansi).ok_or_else(|| {
            SparkError::new("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES")
                .with("sqlExpr", format!("\"({name} = {name})\""))
                .with("left", format!("\"{}\"", types[0].sql()))
                .with("right", format!("\"{}\"", types[1].sql()))
        })?;
        let le = expression::implicit_cast(a, l.typed(), &common)?;
        let re = expression::implicit_cast(a, r.typed(), &common)?;
        let mut context = a.build_context(&firesteel_plan::Origin::Unknown);
        let equal = context.call("=", vec![le, re])?.expr;
        condition = Some(match condition {
            Some(c) => c.and(equal),
            None => equal,
        });
        keys.push((l, r));
    }
    let joined = combine(left, right, join_type, condition)?;
    if matches!(join_type, JoinType::LeftSemi | JoinType::LeftAnti) {
        let mut outputs: Vec<NamedExpr> = keys.iter().map(|(l, _)| NamedExpr::column(l)).collect();
        outputs.extend(left.output.iter().filter(|c| !keys.iter().any(|(l, _)| l.id == c.id)).map(NamedExpr::column));
        return project_over(&joined, joined.plan.clone(), outputs);
    }
    let is_left_key = |c: &Attribute| keys.iter().any(|(l, _)| l.id == c.id);
    let is_right_key = |c: &Attribute| keys.iter().any(|(_, r)| r.id == c.id);
    let find = |id| joined.output.iter().find(|c| c.id == id).cloned();
    let mut outputs = Vec::new();
    let mut hidden = Vec::new();
    for (l, r) in &keys {
        let (Some(l), Some(r)) = (find(l.id), find(r.id)) else {
            return Err(SparkError::internal("a join key is lost"));
        };
        match join_type {
            JoinType::RightOuter => {
                outputs.push(NamedExpr::column(&r));
                hidden.push(l);
            }
            JoinType::FullOuter => {
                let mut context = a.build_context(&firesteel_plan::Origin::Unknown);
                let value = context.call("coalesce", vec![l.typed(), r.typed()])?;
                outputs.push(NamedExpr::computed(value, &l.name));
                hidden.push(l);
                hidden.push(r);
            }
            _ => {
                outputs.push(NamedExpr::column(&l));
                hidden.push(r);
            }
        }
    }
    for column in &joined.output {
        if !is_left_key(column) && !is_right_key(column) {
            outputs.push(NamedExpr::column(column));
        }
    }
    hidden.extend(joined.hidden.iter().cloned());
    let mut seen = HashSet::new();
    let expressions = outputs
        .iter()
        .map(NamedExpr::expr)
        .chain(hidden.iter().map(Attribute::expr))
        .filter(|e| seen.insert(e.schema_name().to_string()))
        .collect();
    let plan = project(joined.plan.clone(), expressions)?;
    let output = outputs.into_iter().map(|o| o.attribute).collect();
    let mut resolved = Resolved::over(plan, output, &[&joined]);
    resolved.hidden = hidden;
    Ok(resolved)
}

pub(crate) fn using_column(a: &Analyzer<'_>, side: &Resolved, name: &str, which: &str) -> Result<Attribute> {
    let scope = a.scope(&[side]);
    let found: Vec<&Attribute> = side.output.iter().filter(|c| scope.same_name(&c.name, name)).collect();
    match found.as_slice() {
        [column] => Ok((*column).clone()),
        [] => {
            let names: Vec<Vec<&str>> = side.output.iter().map(|c| vec![c.name.as_str()]).collect();
            let near = firesteel_error::suggest::nearest(&[name], &names, 5);
            Err(SparkError::new("UNRESOLVED_USING_COLUMN_FOR_JOIN")
                .with("colName", quote(name))
                .with("side", which)
                .with("suggestion", near.join(", ")))
        }
        several => Err(SparkError::new("AMBIGUOUS_REFERENCE").with("name", quote(name)).with(
            "referenceNames",
            format!("[{}]", several.iter().map(|c| c.quoted_name()).collect::<Vec<_>>().join(", ")),
        )),
    }
}

/// True where a relation cannot have more than one row.
fn has_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Values(values) => values.values.len() <= 1,
        LogicalPlan::EmptyRelation(_) => true,
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(projection) => has_one_row(&projection.input),
        LogicalPlan::Filter(filter) => has_one_row(&filter.input),
        LogicalPlan::SubqueryAlias(alias) => has_one_row(&alias.input),
        _ => false,
    }
}

/// A join whose right side uses columns of the left one.
fn lateral(a: &mut Analyzer<'_>, left: Resolved, join: &Join) -> Result<Resolved> {
    if let Some(generated) = super::python_table::lateral(a, &left, join)? {
        return Ok(generated);
    }
    let scope = a.scope(&[&left]);
    let (right, used) = crate::expression::correlated(a, &join.right, &scope)?;
    if is_volatile(&right.plan) && !has_one_row(&left.plan) {
        return Err(SparkError::new("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.NON_DETERMINISTIC_LATERAL_SUBQUERIES")
            .with("treeNode", "LateralJoin"));
    }
    let condition = match &join.condition {
        JoinCondition::On(condition) => {
            let scope = a.scope(&[&left, &right]);
            let typed = boolean(a.expression(condition, &scope)?, "JOIN")?;
            if typed.expr.is_volatile() {
                return Err(SparkError::new(
                    "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.LATERAL_JOIN_CONDITION_NON_DETERMINISTIC",
                )
                .with("condition", typed.name));
            }
            Some(typed.expr)
        }
        JoinCondition::None => None,
        JoinCondition::Using(_) | JoinCondition::Natural => {
            return Err(SparkError::unsupported("USING and NATURAL with LATERAL"));
        }
    };
    if used.is_empty() {
        return combine(&left, &right, join.join_type, condition);
    }
    let subquery = LogicalPlan::Subquery(Subquery {
        subquery: Arc::new(right.exact()?),
        outer_ref_columns: used,
        spans: Default::default(),
    });
    let right_plan = Resolved { plan: subquery, ..right };
    combine(&left, &right_plan, join.join_type, condition)
}

/// True where an expression of a plan gives other values each time.
fn is_volatile(plan: &LogicalPlan) -> bool {
    plan.exists(|node| Ok(node.expressions().iter().any(datafusion::logical_expr::Expr::is_volatile))).unwrap_or(false)
}
