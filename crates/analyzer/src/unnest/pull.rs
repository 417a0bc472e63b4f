//! Takes references to the outer plan out of a subquery's plan.

use super::domain::{Outer, Pulled, or_default};
use super::fresh;
use crate::resolved::{built, project};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, JoinType, NullEquality};
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::expr::{AggregateFunction, GroupingSet, Sort as SortExpr, WindowFunction};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, ExprFunctionExt, ExprSchemable, Filter, Join, Limit, LogicalPlan, LogicalPlanBuilder,
    Operator, Projection, SubqueryAlias, Union, Unnest, Values, Window, binary_expr, lit,
};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use std::collections::HashMap;
use std::sync::Arc;

/// The plan with its references to the outer one as conditions.
pub(super) fn pull(plan: &LogicalPlan, outer: &Outer<'_>) -> Result<Pulled> {
    stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, || {
        if !outer.is_referred_to(plan) {
            return Ok(Pulled::plain(plan.clone()));
        }
        match plan {
            LogicalPlan::Filter(filter) => through_filter(filter, outer),
            LogicalPlan::Projection(projection) => through_projection(projection, outer),
            LogicalPlan::Aggregate(aggregate) => through_aggregate(aggregate, outer),
            LogicalPlan::Distinct(Distinct::All(input)) => through_distinct(input, outer),
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => pull(&sort.input, outer),
            LogicalPlan::Limit(limit) => through_limit(limit, outer),
            LogicalPlan::Window(window) => through_window(window, outer),
            LogicalPlan::Join(join) => through_join(join, outer),
            LogicalPlan::Union(union) => through_union(union, outer),
            LogicalPlan::Unnest(unnest) => through_unnest(unnest, outer),
            LogicalPlan::SubqueryAlias(alias) => through_alias(alias, outer),
            LogicalPlan::Repartition(repartition) => pull(&repartition.input, outer),
            // Where rows lie, and in which order there, means nothing in a subquery.
            LogicalPlan::Extension(e) if matches!(e.node.name(), "Exchange" | "LocalSort") => match e.node.inputs()[..]
            {
                [input] => pull(input, outer),
                _ => Err(SparkError::internal("an exchange without its input")),
            },
            LogicalPlan::Subquery(subquery) => pull(&subquery.subquery, outer),
            LogicalPlan::Values(values) => pull(&rows(values)?, outer),
            other => Err(SparkError::unsupported(format!("a correlated subquery with {}", other.display()))),
        }
    })
}

fn through_filter(filter: &Filter, outer: &Outer<'_>) -> Result<Pulled> {
    let mut pulled = pull(&filter.input, outer)?.with_rows(outer)?;
    let (correlated, plain): (Vec<Expr>, Vec<Expr>) =
        split_conjunction_owned(filter.predicate.clone()).into_iter().partition(|c| outer.has_references(c));
    if let Some(predicate) = conjunction(plain) {
        pulled.plan =
            built(LogicalPlanBuilder::from(pulled.plan).filter(predicate).and_then(LogicalPlanBuilder::build))?;
    }
    pulled.conditions.extend(correlated);
    Ok(pulled)
}

fn through_projection(projection: &Projection, outer: &Outer<'_>) -> Result<Pulled> {
    let pulled = pull(&projection.input, outer)?;
    if let Some(defaults) = &pulled.empty {
        return over_defaults(projection, &pulled, defaults, outer);
    }
    let names: Vec<String> = projection.schema.fields().iter().map(|f| f.name().clone()).collect();
    let (pulled, expressions) = pulled.without_references(outer, projection.expr.clone())?;
    let mut expressions = named(expressions, &names);
    for column in pulled.condition_columns() {
        if !names.contains(&column.name) {
            expressions.push(Expr::Column(column));
        }
    }
    Ok(Pulled { plan: project(pulled.plan, expressions)?, conditions: pulled.conditions, empty: None })
}

/// Expressions that keep the names they had.
fn named(expressions: Vec<Expr>, names: &[String]) -> Vec<Expr> {
    expressions
        .into_iter()
        .zip(names)
        .map(|(e, name)| if e.schema_name().to_string() == *name { e } else { e.unalias().alias(name) })
        .collect()
}

/// A projection of an aggregate without groups: the defaults are projected too.
fn over_defaults(
    projection: &Projection,
    pulled: &Pulled,
    defaults: &HashMap<String, Expr>,
    outer: &Outer<'_>,
) -> Result<Pulled> {
    let mut empty = HashMap::new();
    let mut expressions = Vec::new();
    let mut outside = Vec::new();
    for (expr, field) in projection.expr.iter().zip(projection.schema.fields()) {
        let default = built(expr.clone().unalias().transform_up(|e| {
            Ok(match &e {
                Expr::Column(column) => match defaults.get(&column.name) {
                    Some(value) => Transformed::yes(value.clone()),
                    None => Transformed::no(e),
                },
                _ => Transformed::no(e),
            })
        }))?
        .data;
        empty.insert(field.name().clone(), folded(default));
        if outer.has_references(expr) {
            outside.push(field.name().clone());
        }
        expressions.push(expr.clone());
    }
    if !outside.is_empty() {
        // The expressions refer to the outer plan: rows for all of it are simpler.
        let rows =
            Pulled { plan: pulled.plan.clone(), conditions: pulled.conditions.clone(), empty: pulled.empty.clone() };
        let rows = rows.with_rows(outer)?;
        let names: Vec<String> = projection.schema.fields().iter().map(|f| f.name().clone()).collect();
        let (rows, expressions) = rows.without_references(outer, expressions)?;
        let mut expressions = named(expressions, &names);
        expressions.extend(rows.condition_columns().into_iter().filter(|c| !names.contains(&c.name)).map(Expr::Column));
        return Ok(Pulled { plan: project(rows.plan, expressions)?, conditions: rows.conditions, empty: None });
    }
    for column in pulled.condition_columns() {
        if !projection.schema.fields().iter().any(|f| *f.name() == column.name) {
            expressions.push(Expr::Column(column));
        }
    }
    Ok(Pulled {
        plan: project(pulled.plan.clone(), expressions)?,
        conditions: pulled.conditions.clone(),
        empty: Some(empty),
    })
}

/// The value of a constant expression, where it has one.
fn folded(expr: Expr) -> Expr {
    use arrow::array::{RecordBatch, RecordBatchOptions};
    use arrow::datatypes::Schema;
    use datafusion::common::ToDFSchema;
    use datafusion::logical_expr::execution_props::ExecutionProps;
    let is_constant = !expr
        .exists(|e| Ok(matches!(e, Expr::Column(_) | Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_))))
        .unwrap_or(true);
    if !is_constant || matches!(expr, Expr::Literal(..)) {
        return expr;
    }
    let value = || -> datafusion::common::Result<ScalarValue> {
        let schema = Arc::new(Schema::empty());
        let df_schema = schema.clone().to_dfschema()?;
        let physical = datafusion::physical_expr::create_physical_expr(
            &expr,
            &df_schema,
            &ExecutionProps::new(),
            &Default::default(),
        )?;
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let batch = RecordBatch::try_new_with_options(schema, vec![], &options)?;
        let array = physical.evaluate(&batch)?.into_array(1)?;
        ScalarValue::try_from_array(&array, 0)
    };
    // What fails, fails when a row needs it.
    value().map_or(expr.clone(), |scalar| Expr::Literal(scalar, None))
}

fn through_aggregate(aggregate: &Aggregate, outer: &Outer<'_>) -> Result<Pulled> {
    let pulled = pull(&aggregate.input, outer)?.with_rows(outer)?;
    let groups = aggregate.group_expr.len();
    let all = aggregate.group_expr.iter().chain(&aggregate.aggr_expr).cloned().collect();
    let (pulled, mut all) = pulled.without_references(outer, all)?;
    let (pulled, keys) = pulled.keyed(outer)?;
    let is_global = groups == 0;
    let output: Vec<String> = aggregate.schema.fields().iter().map(|f| f.name().clone()).collect();
    let aggregates: Vec<Expr> = all.split_off(groups);
    let mut groups = all;
    match groups.as_mut_slice() {
        [Expr::GroupingSet(GroupingSet::GroupingSets(sets))] => {
            for set in sets {
                set.extend(keys.iter().cloned());
            }
        }
        [Expr::GroupingSet(_)] => return Err(SparkError::unsupported("a correlated subquery with ROLLUP or CUBE")),
        _ => groups.extend(keys.iter().filter(|k| !aggregate.group_expr.contains(k)).cloned()),
    }
    let empty = is_global
        .then(|| {
            let schema = pulled.plan.schema();
            let defaults = aggregates.iter().zip(&output).map(|(e, name)| Ok((name.clone(), default_of(e, schema)?)));
            defaults.collect::<Result<HashMap<_, _>>>()
        })
        .transpose()?;
    let plan = built(Aggregate::try_new(Arc::new(pulled.plan), groups, aggregates).map(LogicalPlan::Aggregate))?;
    Ok(Pulled { plan, conditions: pulled.conditions, empty })
}

/// What an aggregate gives over no rows.
fn default_of(aggregate: &Expr, schema: &DFSchema) -> Result<Expr> {
    match aggregate {
        Expr::Alias(alias) => default_of(&alias.expr, schema),
        Expr::AggregateFunction(AggregateFunction { func, .. }) => {
            let data_type = built(aggregate.get_type(schema))?;
            let value = match func.name() {
                "count" => ScalarValue::Int64(Some(0)),
                _ => built(func.default_value(&data_type))?,
            };
            Ok(Expr::Literal(value, None))
        }
        other => Err(SparkError::internal(format!("not an aggregate: {other}"))),
    }
}

fn through_distinct(input: &LogicalPlan, outer: &Outer<'_>) -> Result<Pulled> {
    let (pulled, _) = pull(input, outer)?.keyed(outer)?;
    let plan = built(LogicalPlanBuilder::from(pulled.plan).distinct().and_then(LogicalPlanBuilder::build))?;
    Ok(Pulled { plan, ..pulled })
}

fn through_limit(limit: &Limit, outer: &Outer<'_>) -> Result<Pulled> {
    let (input, order) = match limit.input.as_ref() {
        LogicalPlan::Sort(sort) => (sort.input.as_ref(), sort.expr.clone()),
        other => (other, Vec::new()),
    };
    let pulled = pull(input, outer)?;
    let is_first = limit.skip.is_none() && limit.fetch.as_deref().is_none_or(|f| constant(f).is_none_or(|n| n > 0));
    if pulled.empty.is_some() && is_first {
        return Ok(pulled);
    }
    let pulled = pulled.with_rows(outer)?;
    let sorts: Vec<Expr> = order.iter().map(|s| s.expr.clone()).collect();
    let (pulled, sorts) = pulled.without_references(outer, sorts)?;
    let (pulled, keys) = pulled.keyed(outer)?;
    if keys.is_empty() {
        // Nothing here depends on the row of the outer plan: its limit is that of all rows.
        let limit = LogicalPlan::Limit(Limit { input: Arc::new(pulled.plan), ..limit.clone() });
        return Ok(Pulled { plan: limit, ..pulled_of(pulled.conditions) });
    }
    let mut order: Vec<SortExpr> = order
        .into_iter()
        .zip(sorts)
        .map(|(s, expr)| SortExpr { expr, asc: s.asc, nulls_first: s.nulls_first })
        .collect();
    if order.is_empty() {
        // Any order will do, but there must be one.
        order.extend(keys.first().map(|key| key.clone().sort(true, true)));
    }
    let schema = pulled.plan.schema().clone();
    let number = fresh("row");
    let window = built(row_number().partition_by(keys).order_by(order).build())?.alias(&number);
    let numbered = built(Window::try_new(vec![window], Arc::new(pulled.plan)).map(LogicalPlan::Window))?;
    let number =
        || datafusion::logical_expr::cast(Expr::Column(Column::from_name(&number)), arrow::datatypes::DataType::Int64);
    let skip = limit.skip.as_deref().cloned().unwrap_or_else(|| lit(0i64));
    let mut predicate = number().gt(skip.clone());
    if let Some(fetch) = &limit.fetch {
        predicate = predicate.and(number().lt_eq(skip + fetch.as_ref().clone()));
    }
    let filtered = built(LogicalPlanBuilder::from(numbered).filter(predicate).and_then(LogicalPlanBuilder::build))?;
    let plan = project(filtered, schema.columns().into_iter().map(Expr::Column).collect())?;
    Ok(Pulled { plan, ..pulled_of(pulled.conditions) })
}

fn pulled_of(conditions: Vec<Expr>) -> Pulled {
    Pulled { plan: LogicalPlan::default(), conditions, empty: None }
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(ScalarValue::Int64(n), _) => *n,
        _ => None,
    }
}

fn through_window(window: &Window, outer: &Outer<'_>) -> Result<Pulled> {
    let pulled = pull(&window.input, outer)?.with_rows(outer)?;
    let (pulled, expressions) = pulled.without_references(outer, window.window_expr.clone())?;
    let (pulled, keys) = pulled.keyed(outer)?;
    let names: Vec<String> = window.window_expr.iter().map(|e| e.schema_name().to_string()).collect();
    let mut expressions = expressions;
    for expr in &mut expressions {
        let transformed = expr.clone().transform_up(|e| {
            Ok(match e {
                Expr::WindowFunction(mut function) => {
                    partition(&mut function, &keys);
                    Transformed::yes(Expr::WindowFunction(function))
                }
                other => Transformed::no(other),
            })
        });
        *expr = built(transformed)?.data;
    }
    let expressions = named(expressions, &names);
    let plan = built(Window::try_new(expressions, Arc::new(pulled.plan)).map(LogicalPlan::Window))?;
    Ok(Pulled { plan, conditions: pulled.conditions, empty: None })
}

fn partition(function: &mut WindowFunction, keys: &[Expr]) {
    for key in keys {
        if !function.params.partition_by.contains(key) {
            function.params.partition_by.push(key.clone());
        }
    }
}

fn through_join(join: &Join, outer: &Outer<'_>) -> Result<Pulled> {
    let mut conditions: Vec<Expr> = join
        .on
        .iter()
        .map(|(l, r)| {
            let op = match join.null_equality {
                NullEquality::NullEqualsNothing => Operator::Eq,
                NullEquality::NullEqualsNull => Operator::IsNotDistinctFrom,
            };
            binary_expr(l.clone(), op, r.clone())
        })
        .collect();
    conditions.extend(join.filter.clone().into_iter().flat_map(split_conjunction_owned));
    let left = pull(&join.left, outer)?.with_rows(outer)?;
    let right = pull(&join.right, outer)?.with_rows(outer)?;
    match join.join_type {
        JoinType::Inner => {
            let (correlated, mut plain): (Vec<Expr>, Vec<Expr>) =
                conditions.into_iter().partition(|c| outer.has_references(c));
            plain.extend(same_keys(&left, &right, outer));
            let builder = LogicalPlanBuilder::from(left.plan);
            let joined = if plain.is_empty() {
                builder.cross_join(right.plan)
            } else {
                builder.join_on(right.plan, JoinType::Inner, plain)
            };
            let plan = built(joined.and_then(LogicalPlanBuilder::build))?;
            let conditions = left.conditions.into_iter().chain(right.conditions).chain(correlated).collect();
            Ok(Pulled { plan, conditions, empty: None })
        }
        JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
            outer_join(left, right, conditions, join.join_type, outer)
        }
        JoinType::Right => outer_join(right, left, conditions, JoinType::Left, outer),
        other => Err(SparkError::unsupported(format!("a correlated subquery with a {other} join"))),
    }
}

/// Equalities of columns that equal the same reference.
fn same_keys(left: &Pulled, right: &Pulled, outer: &Outer<'_>) -> Vec<Expr> {
    let of_right = right.known(outer);
    let of_left = left.known(outer);
    let mut all = Vec::new();
    for (reference, column) in of_left {
        if let Some((_, other)) = of_right.iter().find(|(r, _)| *r == reference) {
            all.push(binary_expr(column, Operator::IsNotDistinctFrom, other.clone()));
        }
    }
    all
}

/// A join that keeps rows of the left side: what the right side and the condition refer to must be there.
fn outer_join(
    left: Pulled,
    right: Pulled,
    conditions: Vec<Expr>,
    join_type: JoinType,
    outer: &Outer<'_>,
) -> Result<Pulled> {
    let mut references: Vec<Expr> = right.conditions.iter().flat_map(|c| outer.references(c)).collect();
    references.extend(conditions.iter().flat_map(|c| outer.references(c)));
    let (left, keys) = left.without_references(outer, references.clone())?;
    // Pairs of a reference and the left side's column that equals it.
    let by = |e: &Expr| references.iter().position(|r| r == e).and_then(|i| keys.get(i).cloned());
    let mut all = Vec::new();
    for condition in conditions.into_iter().chain(right.conditions) {
        all.push(outer.replaced(condition, &by)?);
    }
    let builder = LogicalPlanBuilder::from(left.plan);
    let joined = if all.is_empty() {
        builder.join_on(right.plan, join_type, vec![lit(true)])
    } else {
        builder.join_on(right.plan, join_type, all)
    };
    let plan = built(joined.and_then(LogicalPlanBuilder::build))?;
    Ok(Pulled { plan, conditions: left.conditions, empty: None })
}

fn through_union(union: &Union, outer: &Outer<'_>) -> Result<Pulled> {
    let mut references: Vec<Expr> = Vec::new();
    let mut branches = Vec::new();
    for input in &union.inputs {
        let pulled = pull(input, outer)?.with_rows(outer)?;
        for reference in pulled.conditions.iter().flat_map(|c| outer.references(c)) {
            if !references.contains(&reference) {
                references.push(reference);
            }
        }
        branches.push((pulled, input.schema().columns()));
    }
    let names: Vec<String> = references.iter().map(|_| fresh("domain")).collect();
    let mut plans = Vec::new();
    for (pulled, columns) in branches {
        let pulled = pulled.materialized(outer, &references)?;
        let known = pulled.known(outer);
        let mut expressions: Vec<Expr> = columns
            .into_iter()
            .zip(union.schema.fields())
            .map(|(c, f)| if c.name == *f.name() { Expr::Column(c) } else { Expr::Column(c).alias(f.name()) })
            .collect();
        for (reference, name) in references.iter().zip(&names) {
            let column = known.iter().find(|(r, _)| r == reference).map(|(_, c)| c.clone());
            let column = column.ok_or_else(|| SparkError::internal("a domain without its column"))?;
            expressions.push(column.alias(name));
        }
        plans.push(Arc::new(project(pulled.plan, expressions)?));
    }
    let plan = LogicalPlan::Union(built(Union::try_new_with_loose_types(plans))?);
    let conditions = references
        .into_iter()
        .zip(names)
        .map(|(r, name)| binary_expr(Expr::Column(Column::from_name(name)), Operator::IsNotDistinctFrom, r))
        .collect();
    Ok(Pulled { plan, conditions, empty: None })
}

fn through_unnest(unnest: &Unnest, outer: &Outer<'_>) -> Result<Pulled> {
    let pulled = pull(&unnest.input, outer)?.with_rows(outer)?;
    let builder = LogicalPlanBuilder::from(pulled.plan)
        .unnest_columns_with_options(unnest.exec_columns.clone(), unnest.options.clone());
    let plan = built(builder.and_then(LogicalPlanBuilder::build))?;
    Ok(Pulled { plan, conditions: pulled.conditions, empty: None })
}

fn through_alias(alias: &SubqueryAlias, outer: &Outer<'_>) -> Result<Pulled> {
    let pulled = pull(&alias.input, outer)?.with_rows(outer)?;
    let builder = LogicalPlanBuilder::from(pulled.plan).alias(alias.alias.clone());
    let plan = built(builder.and_then(LogicalPlanBuilder::build))?;
    let mut conditions = Vec::new();
    for condition in pulled.conditions {
        let qualified = condition.transform_up(|e| {
            Ok(match e {
                Expr::Column(column) => {
                    Transformed::yes(Expr::Column(Column::new(Some(alias.alias.clone()), column.name)))
                }
                other => Transformed::no(other),
            })
        });
        conditions.push(built(qualified)?.data);
    }
    Ok(Pulled { plan, conditions, empty: None })
}

/// Rows of expressions as a union of projections.
fn rows(values: &Values) -> Result<LogicalPlan> {
    let mut plans = Vec::new();
    for row in &values.values {
        let expressions = row
            .iter()
            .zip(values.schema.fields())
            .map(|(e, f)| datafusion::logical_expr::cast(e.clone(), f.data_type().clone()).alias(f.name()))
            .collect();
        plans.push(Arc::new(project(crate::relation::one_row_plan(), expressions)?));
    }
    match plans.len() {
        1 => plans.pop().map(Arc::unwrap_or_clone).ok_or_else(|| SparkError::internal("no row")),
        _ => Ok(LogicalPlan::Union(built(Union::try_new_with_loose_types(plans))?)),
    }
}

/// The value of a column, or its default for rows without a partner.
pub(super) fn value_of(pulled: &Pulled, name: &str, column: Expr, marker: Option<&Expr>) -> Result<Expr> {
    match (pulled.empty.as_ref().and_then(|e| e.get(name)), marker) {
        (Some(default), Some(marker)) => or_default(marker, column, default.clone()),
        _ => Ok(column),
    }
}
