//! Operators over one input that are no select lists.

use super::select::project_over;
use super::{leaf, table};
use crate::analyzer::{Analyzer, Observation, at};
use crate::attribute::{Attribute, quote};
use crate::exchange::{Scheme, exchange};
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, built, project};
use crate::scope::Scope;
use crate::streaming::{self, StreamingKind};
use datafusion::logical_expr::{Aggregate, Expr as DfExpr, LogicalPlan, LogicalPlanBuilder, SortExpr, lit};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_functions::cast::parse_interval::parse_calendar_interval;
use firesteel_plan::{Expr, ExprKind, Options, Relation, RelationKind, SortOrder};
use firesteel_types::data_type::Metadata;
use firesteel_types::{DataType, Literal, StructType, number_text};
use std::sync::Arc;

/// A condition must be boolean.
pub(crate) fn boolean(typed: TypedExpr, clause: &str) -> Result<TypedExpr> {
    match typed.data_type {
        DataType::Boolean => Ok(typed),
        // The others cast no NULL without a type.
        DataType::Null if matches!(clause, "HAVING" | "QUALIFY") => Ok(TypedExpr::new(
            DfExpr::Literal(datafusion::scalar::ScalarValue::Boolean(None), None),
            DataType::Boolean,
            true,
            typed.name,
        )),
        ref other => Err(SparkError::new("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN")
            .with("sqlExpr", format!("\"{}\"", typed.name))
            .with("filter", format!("\"{}\"", typed.name))
            .with("type", format!("\"{}\"", other.sql()))),
    }
}

/// WHERE: no windows in the condition.
pub(crate) fn filter(a: &mut Analyzer<'_>, input: &Relation, condition: &Expr) -> Result<Resolved> {
    filter_by(a, input, condition, false)
}

/// QUALIFY, whose condition may contain windows.
pub(crate) fn qualify(a: &mut Analyzer<'_>, input: &Relation, condition: &Expr) -> Result<Resolved> {
    filter_by(a, input, condition, true)
}

/// The error for a window function in a clause that has no place for it.
pub(crate) fn no_windows(typed: &TypedExpr, clause: &str) -> Result<()> {
    if expression::contains_window(&typed.expr) {
        return Err(SparkError::new("WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE").with("clauseName", clause));
    }
    Ok(())
}

fn filter_by(a: &mut Analyzer<'_>, input: &Relation, condition: &Expr, allows_windows: bool) -> Result<Resolved> {
    let input = a.relation(input)?;
    let scope = Scope::with_below(&input, a.case_sensitive());
    a.below_used.clear();
    let file = a.file_used.take();
    let in_where = std::mem::replace(&mut a.in_where, !allows_windows);
    let analysed = refuse_star(condition, "Filter").and_then(|()| a.expression(condition, &scope));
    a.in_where = in_where;
    let typed = boolean(analysed.map_err(|error| outside_select(error, "Filter"))?, "WHERE")?;
    if allows_windows && !expression::contains_window(&typed.expr) {
        return Err(SparkError::new("QUALIFY_REQUIRES_WINDOW_FUNCTION"));
    }
    let mut below = std::mem::take(&mut a.below_used);
    below.extend(std::mem::replace(&mut a.file_used, file));
    if !allows_windows {
        no_windows(&typed, "WHERE")?;
    }
    if expression_has_aggregate(&typed.expr) {
        return Err(SparkError::new("INVALID_WHERE_CONDITION")
            .with("condition", format!("\"{}\"", typed.name))
            .with("expressionList", typed.name.clone()));
    }
    let base = input.expose(&below).ok_or_else(|| match below.first() {
        Some(c) => scope.unresolved(std::slice::from_ref(&c.name)),
        None => SparkError::internal("a column below is lost"),
    })?;
    let mut plan = base;
    let mut expr = typed.expr;
    let has_window = expression::contains_window(&expr);
    if has_window {
        plan = super::select::extract_windows(plan, &mut [&mut expr])?;
    }
    let plan = built(LogicalPlanBuilder::from(plan).filter(expr).and_then(LogicalPlanBuilder::build))?;
    let resolved = input.with_plan(plan);
    if below.is_empty() && !has_window { Ok(resolved) } else { exactly(resolved) }
}

fn exactly(resolved: Resolved) -> Result<Resolved> {
    let plan = resolved.exact()?;
    Ok(Resolved { hidden: Vec::new(), ..resolved.with_plan(plan) })
}

fn expression_has_aggregate(expr: &DfExpr) -> bool {
    use datafusion::common::tree_node::TreeNode;
    expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false)
}

/// A star is no value of its own in an operator.
pub(crate) fn refuse_star(expr: &Expr, operator: &str) -> Result<()> {
    if matches!(expr.kind, ExprKind::Star { .. }) {
        let error = SparkError::new("INVALID_USAGE_OF_STAR_OR_REGEX").with("elem", "'*'").with("prettyName", operator);
        return Err(at(error, &expr.origin));
    }
    Ok(())
}

/// The error for a generator in an operator that is no select list.
pub(crate) fn outside_select(error: SparkError, operator: &str) -> SparkError {
    if !error.is("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS") {
        return error;
    }
    let text = error.parameters().iter().find(|(name, _)| name == "expression").map(|(_, text)| text.clone());
    let text = text.unwrap_or_default();
    SparkError::new("UNSUPPORTED_GENERATOR.OUTSIDE_SELECT")
        .with("plan", format!("'{operator} ({})", text.trim_matches('"')))
}

/// LIMIT and OFFSET: constants of integral type, not negative.
pub(crate) fn limit(
    a: &mut Analyzer<'_>,
    input: &Relation,
    limit: Option<&Expr>,
    offset: Option<&Expr>,
) -> Result<Resolved> {
    let limit = limit.map(|e| row_count(a, e, "limit", input)).transpose()?;
    let wanted = limit.filter(|_| super::with::limits_source(input)).and_then(|n| i64::try_from(n).ok());
    let around = std::mem::replace(&mut a.row_limit, wanted);
    let below = input;
    let analysed = a.relation(input);
    a.row_limit = around;
    let input = analysed?;
    let offset = offset.map(|e| row_count(a, e, "offset", below)).transpose()?;
    let plan = input.plan.clone();
    let plan =
        built(LogicalPlanBuilder::from(plan).limit(offset.unwrap_or(0), limit).and_then(LogicalPlanBuilder::build))?;
    Ok(input.with_plan(plan))
}

fn row_count(a: &mut Analyzer<'_>, expr: &Expr, name: &'static str, input: &Relation) -> Result<usize> {
    constant_count(a, expr, name, input).map_err(|error| at(error, &expr.origin))
}

fn constant_count(a: &mut Analyzer<'_>, expr: &Expr, name: &'static str, input: &Relation) -> Result<usize> {
    a.sql_functions.clear();
    let typed = match a.constant(expr) {
        // A column that is there is no constant; one that is not is not known.
        Err(error) if error.is("UNRESOLVED_COLUMN") => {
            let below = a.relation(input)?;
            let scope = a.scope(&[&below]);
            let typed = a.expression(expr, &scope).map_err(|_| error)?;
            let error = SparkError::new("INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE")
                .with("name", name)
                .with("expr", format!("\"{}\"", typed.name));
            return Err(at(error, &input.origin));
        }
        typed => typed?,
    };
    expression::refuse_sql_functions(a, "GlobalLimit")?;
    let text = format!("\"{}\"", typed.name);
    if !typed.is_foldable() {
        return Err(SparkError::new("INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE")
            .with("name", name)
            .with("expr", text));
    }
    let value = match expression::fold(a, &typed)? {
        Literal::Integer(v) => v,
        Literal::Null(DataType::Integer) => {
            return Err(SparkError::new("INVALID_LIMIT_LIKE_EXPRESSION.IS_NULL").with("name", name).with("expr", text));
        }
        other => {
            return Err(SparkError::new("INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE")
                .with("name", name)
                .with("expr", text)
                .with("dataType", format!("\"{}\"", other.data_type().sql())));
        }
    };
    usize::try_from(value).map_err(|_| {
        SparkError::new("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE")
            .with("name", name)
            .with("expr", text)
            .with("v", value.to_string())
    })
}

/// The last rows: run now, as only the end of the rows tells where they start.
pub(crate) fn tail(a: &mut Analyzer<'_>, input: &Relation, limit: i32) -> Result<Resolved> {
    let input = a.relation(input)?;
    let mut left = usize::try_from(limit).map_err(|_| {
        SparkError::new("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE")
            .with("name", "tail")
            .with("expr", format!("\"{limit}\""))
            .with("v", limit.to_string())
    })?;
    let batches = a.env.run(&input)?;
    let arrow_schema = batches.first().map(|b| b.schema());
    let mut tail = Vec::new();
    for batch in batches.into_iter().rev() {
        if left == 0 {
            break;
        }
        let rows = batch.num_rows().min(left);
        tail.push(batch.slice(batch.num_rows() - rows, rows));
        left -= rows;
    }
    tail.reverse();
    let schema = crate::attribute::schema_of(&input.output);
    let arrow_schema = match arrow_schema {
        Some(schema) => schema,
        None => Arc::clone(input.exact()?.schema().inner()),
    };
    let scan = leaf::memory_scan(&schema, arrow_schema, tail)?;
    leaf::scan(&scan, &[])
}

/// `distinct`, `dropDuplicates`: of equal rows, one is kept.
pub(crate) fn deduplicate(
    a: &mut Analyzer<'_>,
    input: &Relation,
    columns: Option<&[Expr]>,
    within_watermark: bool,
) -> Result<Resolved> {
    let input = a.relation(input)?;
    let is_special = within_watermark || streaming::is_streaming(&input.plan);
    let exact = input.exact()?;
    let Some(columns) = columns else {
        super::set_operation::check_equatable(&input.output)?;
        if is_special {
            let keys = input.output.iter().map(Attribute::column_name).collect();
            return Ok(deduplicated(input, exact, keys, within_watermark));
        }
        let plan = super::collated::distinct(a, exact, &input.output)?;
        return Ok(Resolved { hidden: Vec::new(), below: None, ..input.with_plan(plan) });
    };
    let scope = a.scope(&[&input]);
    let mut keys = Vec::new();
    for column in columns {
        let ExprKind::Attribute { name, .. } = &column.kind else {
            keys.push(a.expression(column, &scope)?.expr);
            continue;
        };
        let name = name.join(".");
        let mut is_known = false;
        for found in input.output.iter().filter(|c| scope.same_name(&c.name, &name)).map(Attribute::expr) {
            is_known = true;
            if !keys.contains(&found) {
                keys.push(found);
            }
        }
        if !is_known {
            let fields: Vec<&str> = input.output.iter().map(|c| c.name.as_str()).collect();
            return Err(SparkError::new("CONNECT_INVALID_PLAN.UNRESOLVED_COLUMN_AMONG_FIELD_NAMES")
                .with("colName", name)
                .with("fieldNames", fields.join(", ")));
        }
    }
    if is_special {
        let mut names = Vec::with_capacity(keys.len());
        for key in &keys {
            match key {
                DfExpr::Column(column) => names.push(column.name.clone()),
                other => return Err(SparkError::unsupported(format!("dropDuplicates by {other} over a stream"))),
            }
        }
        return Ok(deduplicated(input, exact, names, within_watermark));
    }
    let exact = comparable_keys(a, &input, exact, &keys)?;
    // Each other column's first value of the group.
    let first = datafusion::functions_aggregate::first_last::first_value_udaf();
    let mut aggregates = Vec::new();
    let mut renamed = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for column in input.output.iter().filter(|c| seen.insert(c.id)) {
        if keys.contains(&column.expr()) {
            renamed.push(column.expr());
            continue;
        }
        let temporary = column.renewed();
        let call = datafusion::logical_expr::expr::AggregateFunction::new_udf(
            first.clone(),
            vec![column.expr()],
            false,
            None,
            vec![],
            None,
        );
        aggregates.push(DfExpr::AggregateFunction(call).alias(temporary.column_name()));
        renamed.push(temporary.expr().alias(column.column_name()));
    }
    if aggregates.is_empty() {
        let plan = built(LogicalPlanBuilder::from(exact).distinct().and_then(LogicalPlanBuilder::build))?;
        return Ok(Resolved { hidden: Vec::new(), below: None, ..input.with_plan(plan) });
    }
    let aggregate = built(Aggregate::try_new(Arc::new(exact), keys, aggregates).map(LogicalPlan::Aggregate))?;
    let plan = project(aggregate, renamed)?;
    Ok(Resolved { hidden: Vec::new(), below: None, ..input.with_plan(plan) })
}

/// The rows with their key columns such that values that count as one are equal.
fn comparable_keys(a: &Analyzer<'_>, input: &Resolved, rows: LogicalPlan, keys: &[DfExpr]) -> Result<LogicalPlan> {
    let mut seen = std::collections::HashSet::new();
    let mut expressions = Vec::new();
    let mut is_changed = false;
    for column in input.output.iter().filter(|c| seen.insert(c.id)) {
        let (plain, key) = (column.expr(), expression::whole(a, &column.typed())?);
        if keys.contains(&plain) && key != plain {
            is_changed = true;
            expressions.push(key.alias(column.column_name()));
        } else {
            expressions.push(plain);
        }
    }
    if is_changed { project(rows, expressions) } else { Ok(rows) }
}

fn contains_map(t: &DataType) -> bool {
    match t {
        DataType::Map { .. } => true,
        DataType::Array { element, .. } => contains_map(element),
        DataType::Struct(s) => s.fields.iter().any(|f| contains_map(&f.data_type)),
        _ => false,
    }
}

pub(crate) fn subquery_alias(
    a: &mut Analyzer<'_>,
    input: &Relation,
    alias: &str,
    qualifier: &[String],
    columns: &[String],
) -> Result<Resolved> {
    // Hints do not reach into subqueries.
    let hinted = std::mem::take(&mut a.broadcast);
    let resolved = match input.kind() {
        RelationKind::Values { rows } => leaf::values(a, rows, columns).map_err(|e| at(e, &input.origin)),
        _ => a.relation(input),
    };
    a.broadcast = hinted;
    let resolved = super::hint::named(a, resolved?, alias);
    if matches!(input.kind(), RelationKind::Values { .. })
        && !columns.is_empty()
        && columns.len() != resolved.output.len()
    {
        return Err(SparkError::new("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH")
            .with("expectedNumCols", columns.len().to_string())
            .with("actualNumCols", resolved.output.len().to_string())
            .with("rowIndex", "0"));
    }
    if let RelationKind::TableFunction(call) = input.kind()
        && !columns.is_empty()
        && columns.len() != resolved.output.len()
    {
        return Err(SparkError::new("NUM_TABLE_VALUE_ALIASES_MISMATCH")
            .with("funcName", crate::attribute::quote_parts(&call.name))
            .with("aliasesNum", columns.len().to_string())
            .with("outColsNum", resolved.output.len().to_string()));
    }
    let resolved = rename_columns(resolved, columns, alias)?;
    let name: Vec<String> = qualifier.iter().cloned().chain(std::iter::once(alias.to_string())).collect();
    let hidden = resolved.hidden.clone();
    let mut resolved = table::qualified(resolved, &name);
    resolved.hidden =
        hidden.into_iter().filter(|h| h.name.starts_with("_metadata")).map(|h| h.with_qualifier(&name)).collect();
    Ok(resolved)
}

/// `AS t(a, b)`: new names for all columns; none given, none changed.
pub(crate) fn rename_columns(resolved: Resolved, columns: &[String], alias: &str) -> Result<Resolved> {
    if columns.is_empty() {
        return Ok(resolved);
    }
    if columns.len() != resolved.output.len() {
        let _ = alias;
        return Err(SparkError::new("ASSIGNMENT_ARITY_MISMATCH")
            .with("numExpr", columns.len().to_string())
            .with("numTarget", resolved.output.len().to_string()));
    }
    rename(&resolved, columns)
}

fn rename(resolved: &Resolved, columns: &[String]) -> Result<Resolved> {
    let outputs = resolved
        .output
        .iter()
        .zip(columns)
        .map(|(column, name)| {
            let mut named = NamedExpr::computed(column.typed(), name);
            named.attribute.metadata = column.metadata.clone();
            named
        })
        .collect();
    project_over(resolved, resolved.plan.clone(), outputs)
}

pub(crate) fn to_data_frame(a: &mut Analyzer<'_>, input: &Relation, columns: &[String]) -> Result<Resolved> {
    let input = a.relation(input)?;
    if columns.len() != input.output.len() {
        return Err(SparkError::new("ASSIGNMENT_ARITY_MISMATCH")
            .with("numTarget", input.output.len().to_string())
            .with("numExpr", columns.len().to_string()));
    }
    rename(&input, columns)
}

pub(crate) fn with_columns_renamed(
    a: &mut Analyzer<'_>,
    input: &Relation,
    renames: &[(String, String)],
) -> Result<Resolved> {
    let input = a.relation(input)?;
    let scope = a.scope(&[&input]);
    let mut names: Vec<String> = input.output.iter().map(|c| c.name.clone()).collect();
    let mut changed = vec![false; names.len()];
    for (from, to) in renames {
        for (i, name) in names.iter_mut().enumerate() {
            if scope.same_name(name, from) {
                name.clone_from(to);
                changed[i] = true;
            }
        }
    }
    let outputs = input
        .output
        .iter()
        .zip(names)
        .zip(changed)
        .map(|((column, name), changed)| {
            if !changed {
                return NamedExpr::column(column);
            }
            let mut named = NamedExpr::computed(column.typed(), name);
            named.attribute.metadata = column.metadata.clone();
            named
        })
        .collect();
    project_over(&input, input.plan.clone(), outputs)
}

pub(crate) fn drop(
    a: &mut Analyzer<'_>,
    input: &Relation,
    columns: &[Expr],
    column_names: &[String],
) -> Result<Resolved> {
    let input = a.relation(input)?;
    let scope = a.scope(&[&input]);
    let mut dropped = std::collections::HashSet::new();
    for name in column_names {
        dropped.extend(input.output.iter().filter(|c| scope.same_name(&c.name, name)).map(|c| c.id));
    }
    for column in columns {
        // Columns that are not there are no error.
        match a.expression(column, &scope) {
            Ok(typed) => dropped.extend(input.output.iter().filter(|c| c.expr() == typed.expr).map(|c| c.id)),
            Err(e) if e.is("UNRESOLVED_COLUMN") || e.is("CANNOT_RESOLVE_DATAFRAME_COLUMN") => {}
            Err(e) => return Err(e),
        }
    }
    let outputs = input.output.iter().filter(|c| !dropped.contains(&c.id)).map(NamedExpr::column).collect();
    project_over(&input, input.plan.clone(), outputs)
}

/// The most partitions that rows are moved to: each costs memory whether it has rows or not.
const MOST_PARTITIONS: usize = 200_000;

/// Fails where there would be too many partitions.
pub(crate) fn within_reason(count: usize) -> Result<usize> {
    if count <= MOST_PARTITIONS {
        return Ok(count);
    }
    Err(SparkError::unsupported(format!("more than {MOST_PARTITIONS} partitions")))
}

pub(crate) fn repartition(a: &mut Analyzer<'_>, input: &Relation, partitions: i32, shuffle: bool) -> Result<Resolved> {
    let input = a.relation(input)?;
    let count = partition_count(partitions)?;
    let (scheme, count) = if shuffle {
        (Scheme::RoundRobin, within_reason(count)?)
    } else {
        (Scheme::Coalesce, count.min(MOST_PARTITIONS))
    };
    let plan = exchange(input.plan.clone(), scheme, count);
    Ok(input.with_plan(plan))
}

fn partition_count(partitions: i32) -> Result<usize> {
    match usize::try_from(partitions) {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!("requirement failed: Number of partitions ({partitions}) must be positive."),
        )),
    }
}

pub(crate) fn repartition_by(
    a: &mut Analyzer<'_>,
    input: &Relation,
    expressions: &[Expr],
    partitions: Option<i32>,
) -> Result<Resolved> {
    let input = a.relation(input)?;
    let scope = a.scope(&[&input]);
    // Without a number, adaptive execution would bring Spark's partitions down to a few.
    let count = match partitions {
        Some(n) => partition_count(n)?,
        None => a.env.parallelism().max(1),
    };
    let scheme = match expressions {
        [] => Scheme::RoundRobin,
        [Expr { kind: ExprKind::PartitionId(id), .. }] => Scheme::ById(partition_by_id(a, id, &scope, count)?),
        _ if expressions.iter().any(|e| matches!(e.kind, ExprKind::Sort(_))) => {
            let mut keys = Vec::with_capacity(expressions.len());
            for expr in expressions {
                let key = match &expr.kind {
                    ExprKind::Sort(order) => order.as_ref().clone(),
                    _ => SortOrder::ascending(expr.clone()),
                };
                keys.push(expression::sort_key(a, &key, &scope)?.0);
            }
            Scheme::Range(keys)
        }
        _ => {
            let hash = Expr::call("hash", expressions.to_vec());
            let width = Expr::literal(Literal::Integer(i32::try_from(count).unwrap_or(i32::MAX)));
            Scheme::ById(a.expression(&Expr::call("pmod", vec![hash, width]), &scope)?.expr)
        }
    };
    // As in Spark, few rows come into one partition where nobody says how many there are to be.
    let count = within_reason(count)?;
    let plan = exchange(input.plan.clone(), scheme, partitions.map_or(0, |_| count));
    Ok(input.with_plan(plan))
}

/// The number of a partition that the user gave, modulo their count.
fn partition_by_id(a: &mut Analyzer<'_>, id: &Expr, scope: &Scope, count: usize) -> Result<DfExpr> {
    let typed = a.expression(id, scope)?;
    if typed.data_type != DataType::Integer {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .with("sqlExpr", format!("\"direct_shuffle_partition_id({})\"", typed.name))
            .with("paramIndex", "first")
            .with("inputSql", format!("\"{}\"", typed.name))
            .with("inputType", format!("\"{}\"", typed.data_type.sql()))
            .with("requiredType", "\"INT\""));
    }
    let width = Expr::literal(Literal::Integer(i32::try_from(count).unwrap_or(i32::MAX)));
    let number = Expr::call("coalesce", vec![id.clone(), Expr::literal(Literal::Integer(0))]);
    Ok(a.expression(&Expr::call("pmod", vec![number, width]), scope)?.expr)
}

/// A Bernoulli sample between two bounds, or a Poisson one with replacement.
pub(crate) fn sample(
    a: &mut Analyzer<'_>,
    input: &Relation,
    lower: f64,
    upper: f64,
    with_replacement: bool,
    seed: Option<i64>,
    deterministic_order: bool,
) -> Result<Resolved> {
    let mut input = a.relation(input)?;
    input = super::marked(
        input,
        StreamingKind::Refused("Sampling is not supported on streaming DataFrames/Datasets".into()),
    );
    if with_replacement && upper - lower < -1e-6 {
        return Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!(
                "requirement failed: Sampling fraction ({}) must be nonnegative with replacement",
                number_text::double_text(upper - lower)
            ),
        ));
    }
    if !with_replacement && (!(lower - 1e-6..=1.0 + 1e-6).contains(&upper) || lower < -1e-6) {
        return Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!(
                "requirement failed: Sampling fraction ({}) must be on interval [0, 1] without replacement",
                number_text::double_text(upper - lower)
            ),
        ));
    }
    if deterministic_order {
        let sort: Vec<SortExpr> = input
            .output
            .iter()
            .filter(|c| !contains_map(&c.data_type))
            .map(|c| SortExpr::new(c.expr(), true, true))
            .collect();
        if !sort.is_empty() {
            let plan = crate::exchange::local_sort(input.plan.clone(), sort);
            input = input.with_plan(plan);
        }
    }
    let seed = seed.unwrap_or_else(|| a.env.query_time().micros());
    // A sample is taken of each partition, of rows at hand too.
    let spread = exchange(input.plan.clone(), Scheme::Spread, 1);
    let input = input.with_plan(spread);
    if with_replacement {
        return sample_with_replacement(a, input, upper - lower, seed);
    }
    let random = Expr::call("rand", vec![Expr::literal(Literal::Long(seed))]);
    let random = a.constant(&random)?;
    let sampled = NamedExpr::computed(random, "sample");
    let mut expressions: Vec<DfExpr> = input.plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    expressions.push(sampled.expr());
    let with_random = project(input.plan.clone(), expressions)?;
    let value = sampled.attribute.expr();
    let condition = value.clone().gt_eq(lit(lower)).and(value.lt(lit(upper)));
    let plan = built(LogicalPlanBuilder::from(with_random).filter(condition).and_then(LogicalPlanBuilder::build))?;
    exactly(input.with_plan(plan))
}

/// Each row as often as a Poisson distribution says.
fn sample_with_replacement(a: &mut Analyzer<'_>, input: Resolved, fraction: f64, seed: i64) -> Result<Resolved> {
    let arguments = [Literal::Double(fraction), Literal::Long(seed)].map(Expr::literal).to_vec();
    let copies = vec![Expr::literal(Literal::Boolean(true)), Expr::call("poisson_sample", arguments)];
    let copies = NamedExpr::computed(a.constant(&Expr::call("array_repeat", copies))?, "sample");
    let mut expressions: Vec<DfExpr> = input.plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    expressions.push(copies.expr());
    let with_copies = project(input.plan.clone(), expressions)?;
    let plan = built(
        LogicalPlanBuilder::from(with_copies)
            .unnest_column(copies.attribute.column())
            .and_then(LogicalPlanBuilder::build),
    )?;
    exactly(input.with_plan(plan))
}

/// `df.to(schema)`: columns by name, reordered and cast.
pub(crate) fn to_schema(a: &mut Analyzer<'_>, input: &Relation, schema: &DataType) -> Result<Resolved> {
    let DataType::Struct(schema) = schema else {
        return Err(SparkError::plain(ExceptionClass::Analysis, "to() needs a struct schema"));
    };
    let input = a.relation(input)?;
    let outputs = match_schema(a, &input, schema)?;
    project_over(&input, input.plan.clone(), outputs)
}

fn match_schema(a: &mut Analyzer<'_>, input: &Resolved, schema: &StructType) -> Result<Vec<NamedExpr>> {
    let scope = a.scope(&[input]);
    let mut outputs = Vec::new();
    for field in &schema.fields {
        let found: Vec<&Attribute> = input.output.iter().filter(|c| scope.same_name(&c.name, &field.name)).collect();
        let typed = match found.as_slice() {
            [column] => {
                if column.nullable && !field.nullable {
                    return Err(SparkError::new("NULLABLE_COLUMN_OR_FIELD").with("name", quote(&field.name)));
                }
                if !can_store(&column.data_type, &field.data_type) {
                    return Err(SparkError::new("INVALID_COLUMN_OR_FIELD_DATA_TYPE")
                        .with("name", quote(&field.name))
                        .with("type", format!("\"{}\"", column.data_type.sql()))
                        .with("expectedType", format!("\"{}\"", field.data_type.sql())));
                }
                expression::implicit_cast(a, column.typed(), &field.data_type)?
            }
            [] if field.nullable => {
                let null = expression::literal(&Literal::Null(DataType::Null))?;
                expression::implicit_cast(a, null, &field.data_type)?
            }
            [] => {
                return Err(scope.unresolved(std::slice::from_ref(&field.name)));
            }
            _ => {
                return Err(SparkError::new("AMBIGUOUS_COLUMN_OR_FIELD")
                    .with("name", quote(&field.name))
                    .with("n", found.len().to_string()));
            }
        };
        let mut named = NamedExpr::computed(typed, &field.name);
        named.attribute.nullable = field.nullable;
        named.attribute.metadata = field.metadata.clone();
        outputs.push(named);
    }
    Ok(outputs)
}

/// The casts that `to` allows: those that an ANSI store assignment allows.
fn can_store(from: &DataType, to: &DataType) -> bool {
    from == to || firesteel_functions::cast::legality::can_ansi_store_assign(from, to)
}

pub(crate) fn collect_metrics(
    a: &mut Analyzer<'_>,
    input: &Relation,
    name: &str,
    metrics: &[Expr],
    plan_id: Option<i64>,
) -> Result<Resolved> {
    let input = a.relation(input)?;
    let scope = a.scope(&[&input]);
    let mut outputs = Vec::new();
    for metric in metrics {
        let typed = a.expression(metric, &scope)?;
        outputs.push(expression::named(metric, typed, &scope.attributes)?);
    }
    let attributes: Vec<Attribute> = outputs.iter().map(|o| o.attribute.clone()).collect();
    match a.observations.iter().find(|o| o.name == name) {
        // The same frame used twice, as in a join with itself.
        Some(other) if plan_id == Some(other.plan_id) => {}
        Some(_) => return Err(SparkError::new("DUPLICATED_METRICS_NAME").with("metricName", name)),
        None => a.observations.push(Observation { name: name.to_string(), plan_id: plan_id.unwrap_or(0), attributes }),
    }
    let plan = crate::observe::observe(
        input.plan.clone(),
        name,
        outputs.iter().map(|o| (o.attribute.column_name(), o.typed.clone())).collect(),
    )?;
    Ok(input.with_plan(plan))
}

/// `dropDuplicates` of a stream, and what has no meaning but for streams.
fn deduplicated(input: Resolved, exact: LogicalPlan, keys: Vec<String>, within_watermark: bool) -> Resolved {
    let kind = if streaming::is_streaming(&exact) {
        let time = input.output.iter().find(|a| a.metadata.get(streaming::WATERMARK_DELAY).is_some());
        StreamingKind::Deduplicate { keys, time: time.map(Attribute::column_name), within_watermark }
    } else {
        StreamingKind::Refused("dropDuplicatesWithinWatermark is not supported with batch DataFrames/DataSets".into())
    };
    let plan = streaming::operator(exact, kind);
    Resolved { hidden: Vec::new(), below: None, ..input.with_plan(plan) }
}

/// Rows at hand are never late: of a watermark over them only its delay is checked.
pub(crate) fn with_watermark(
    a: &mut Analyzer<'_>,
    input: &Relation,
    event_time: &str,
    delay: &str,
) -> Result<Resolved> {
    const DAY: i128 = 86_400_000_000;
    let (months, days, microseconds) = parse_calendar_interval(delay)
        .map_err(|_| SparkError::new("CANNOT_PARSE_INTERVAL").with("intervalString", format!("'{delay}'")))?;
    let days = i128::from(days) + 31 * i128::from(months);
    let total = days * DAY + i128::from(microseconds);
    if total < 0 {
        return Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!("requirement failed: delay threshold ({delay}) should not be negative."),
        ));
    }
    let mut input = a.relation(input)?;
    if !streaming::is_streaming(&input.plan) {
        return Ok(input);
    }
    let delay_millis = i64::try_from(total / 1000).unwrap_or(i64::MAX);
    let parts = firesteel_sql::parse_identifier_parts(event_time, &super::parser_options(a))
        .unwrap_or_else(|_| vec![event_time.to_string()]);
    let scope = a.scope(&[&input]);
    let typed = a.expression(&Expr::attribute(parts), &scope)?;
    let DfExpr::Column(column) = &typed.expr else {
        return Err(SparkError::new("EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN").with("eventExpr", event_time));
    };
    if !matches!(typed.data_type, DataType::Timestamp | DataType::TimestampNtz) {
        return Err(SparkError::new("EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE")
            .with("eventName", quote(&typed.name))
            .with("eventType", format!("\"{}\"", typed.data_type.sql())));
    }
    let column = column.name.clone();
    for attribute in &mut input.output {
        let mut notes = attribute.metadata.to_map();
        notes.remove(streaming::WATERMARK_DELAY);
        if attribute.column_name() == column {
            notes.insert(streaming::WATERMARK_DELAY.to_string(), delay_millis.into());
        }
        attribute.metadata = Metadata::new(notes);
    }
    let plan = streaming::operator(input.plan.clone(), StreamingKind::Watermark { column, delay_millis });
    Ok(input.with_plan(plan))
}

/// CSV, JSON or XML text in a column of strings.
pub(crate) fn parse(
    a: &mut Analyzer<'_>,
    input: &Relation,
    format: &str,
    schema: Option<&DataType>,
    options: &Options,
) -> Result<Resolved> {
    let resolved = a.relation(input)?;
    let [column] = resolved.output.as_slice() else {
        return Err(
            SparkError::new("DATAFRAME_INPUT_NOT_SINGLE_COLUMN").with("numColumns", resolved.output.len().to_string())
        );
    };
    if !column.data_type.is_string() {
        return Err(SparkError::new("DATAFRAME_INPUT_NOT_STRING_TYPE")
            .with("dataType", format!("\"{}\"", column.data_type.sql())));
    }
    let schema = match schema {
        None => None,
        Some(DataType::Struct(schema)) => Some(schema.as_ref().clone()),
        Some(other) => {
            return Err(SparkError::new("INVALID_SCHEMA.NON_STRUCT_TYPE")
                .with("inputSchema", "")
                .with("dataType", format!("\"{}\"", other.sql())));
        }
    };
    let texts = a.env.run(&resolved)?;
    let rows = a.env.parse_texts(format, &texts, schema.as_ref(), options)?;
    leaf::rows(&rows)
}
