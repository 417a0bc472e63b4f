//! Pivots: values of a column become columns.

use crate::analyzer::Analyzer;
use crate::expression;
use crate::resolved::Resolved;
use crate::scope::Scope;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_functions::{TypedExpr, cast};
use firesteel_plan::{
    Aggregate, CastMode, Expr, ExprKind, FunctionCall, Grouping, Pivot, Relation, RelationKind, SortKeys, SortOrder,
};
use firesteel_types::{DataType, Literal};

/// `groupBy(…).pivot(column, values).agg(…)`: each value's aggregates see only the rows of that value.
pub(crate) fn pivot(
    a: &mut Analyzer<'_>,
    input: &Relation,
    grouping: &[Expr],
    columns: &[Expr],
    values: &[Expr],
    aggregates: &[Expr],
) -> Result<Resolved> {
    let column = match columns {
        [one] => one.clone(),
        several => Expr::call("struct", several.to_vec()),
    };
    let scope_input = a.relation(input)?;
    let scope = a.scope(&[&scope_input]);
    let typed_column = a.expression(&column, &scope)?;
    if typed_column.data_type.exists(&|t| matches!(t, DataType::Map { .. })) {
        return Err(SparkError::new("INCOMPARABLE_PIVOT_COLUMN").with("columnName", format!("`{}`", typed_column.name)));
    }
    let values = match values {
        [] if crate::streaming::is_streaming(&scope_input.plan) => {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_3063"));
        }
        [] => distinct_values(a, input, &column)?,
        given => given_values(a, given, &scope, &typed_column.data_type)?,
    };
    let mut parsed = Vec::with_capacity(aggregates.len());
    for aggregate in aggregates {
        parsed.push(super::select::parsed_text(a, aggregate)?.unwrap_or_else(|| aggregate.clone()));
    }
    let aggregates = parsed.as_slice();
    let mut computed = Vec::with_capacity(aggregates.len());
    for aggregate in aggregates {
        let typed = a.expression(aggregate, &scope)?;
        if crate::python::is_aggregated(&typed.expr) {
            return Err(SparkError::new("UNSUPPORTED_FEATURE.PANDAS_UDAF_IN_PIVOT"));
        }
        check_aggregate(&typed, &scope)?;
        computed.push(typed);
    }
    // Spark aggregates such values for each value of the column first: where there are no rows, there is no value.
    let by_value = computed.iter().all(|typed| typed.data_type.is_numeric() || typed.data_type == DataType::Boolean);
    let mut outputs = Vec::new();
    for (value, name) in &values {
        for (aggregate, typed) in aggregates.iter().zip(&computed) {
            let (inner, alias) = match &aggregate.kind {
                ExprKind::Alias { child, names, .. } => (child.as_ref(), names.first().cloned()),
                _ => (aggregate, None),
            };
            let condition = Expr::call("<=>", vec![column.clone(), value.clone()]);
            let mut filtered = filter_aggregates(inner, &condition);
            if by_value && !is_null_over_nothing(typed) {
                let rows = filter_aggregates(&Expr::call("count", vec![one()]), &condition);
                let has_rows = Expr::call(">", vec![rows, Expr::literal(Literal::Long(0))]);
                filtered = Expr::call("when", vec![has_rows, filtered]);
            }
            let output = match (aggregates.len(), alias) {
                (1, _) => name.clone(),
                (_, Some(alias)) => format!("{name}_{alias}"),
                (_, None) => format!("{name}_{}", a.expression(inner, &scope)?.name),
            };
            outputs.push(filtered.alias(output));
        }
    }
    let aggregate = Aggregate {
        input: input.clone(),
        grouping: Grouping::By(grouping.to_vec()),
        aggregates: outputs,
        is_sql: false,
    };
    a.relation(&Relation::new(RelationKind::Aggregate(aggregate)))
}

fn one() -> Expr {
    Expr::literal(Literal::Integer(1))
}

/// True for a bare aggregate function that gives null where it meets no rows.
fn is_null_over_nothing(typed: &TypedExpr) -> bool {
    typed.nullable && matches!(typed.expr, DfExpr::AggregateFunction(_))
}

/// The DataFrame API's aggregates of a pivot know no star: `count(*)` is refused.
pub(super) fn refuse_stars(aggregates: &[Expr]) -> Result<()> {
    for aggregate in aggregates {
        match &aggregate.kind {
            ExprKind::Star { .. } => {
                return Err(SparkError::new("INVALID_USAGE_OF_STAR_OR_REGEX")
                    .with("elem", "'*'")
                    .with("prettyName", "Pivot"));
            }
            ExprKind::Alias { child, .. } => refuse_stars(std::slice::from_ref(child.as_ref()))?,
            ExprKind::Function(call) => refuse_stars(&call.arguments)?,
            _ => {}
        }
    }
    Ok(())
}

/// What a pivot computes uses columns within aggregate functions only.
fn check_aggregate(typed: &TypedExpr, scope: &Scope) -> Result<()> {
    let mut loose = None;
    let visited = typed.expr.apply(|e| {
        Ok(match e {
            DfExpr::AggregateFunction(_) => TreeNodeRecursion::Jump,
            DfExpr::Column(column) => {
                loose = scope.attributes.iter().find(|x| x.column_name() == column.name);
                TreeNodeRecursion::Stop
            }
            _ => TreeNodeRecursion::Continue,
        })
    });
    match loose {
        Some(attribute) if visited.is_ok() => {
            let full: Vec<&str> = attribute.qualifier.iter().chain([&attribute.name]).map(String::as_str).collect();
            Err(SparkError::new("_LEGACY_ERROR_TEMP_1006").with("sql", full.join(".")))
        }
        _ => Ok(()),
    }
}

/// Adds a condition to the arguments of every aggregate function within.
fn filter_aggregates(expr: &Expr, condition: &Expr) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Function(call) => {
            let name = expression::builtin_name(&call.name).unwrap_or_default();
            let is_aggregate =
                firesteel_functions::registry::lookup(&name).is_some_and(firesteel_functions::Function::is_aggregate);
            if is_aggregate {
                let filter = match &call.filter {
                    Some(filter) => Expr::call("and", vec![filter.as_ref().clone(), condition.clone()]),
                    None => condition.clone(),
                };
                ExprKind::Function(FunctionCall { filter: Some(Box::new(filter)), ..call.clone() })
            } else {
                let arguments = call.arguments.iter().map(|x| filter_aggregates(x, condition)).collect();
                ExprKind::Function(FunctionCall { arguments, ..call.clone() })
            }
        }
        ExprKind::Cast { child, to, mode } => {
            ExprKind::Cast { child: Box::new(filter_aggregates(child, condition)), to: to.clone(), mode: *mode }
        }
        ExprKind::Alias { child, names, metadata } => ExprKind::Alias {
            child: Box::new(filter_aggregates(child, condition)),
            names: names.clone(),
            metadata: metadata.clone(),
        },
        other => other.clone(),
    };
    Expr::new(kind).at(expr.origin.clone())
}

fn given_values(
    a: &mut Analyzer<'_>,
    values: &[Expr],
    scope: &Scope,
    column: &DataType,
) -> Result<Vec<(Expr, String)>> {
    let mut named = Vec::new();
    for value in values {
        let (inner, alias) = match &value.kind {
            ExprKind::Alias { child, names, .. } => (child.as_ref(), names.first().cloned()),
            _ => (value, None),
        };
        let typed = a.expression(inner, scope)?;
        if !typed.is_foldable() {
            return Err(SparkError::new("NON_LITERAL_PIVOT_VALUES").with("expression", format!("\"{}\"", typed.name)));
        }
        let mode = if a.env.conf().ansi_enabled { cast::Mode::Ansi } else { cast::Mode::Legacy };
        if typed.data_type != *column && !cast::can_cast(&typed.data_type, column, mode) {
            return Err(SparkError::new("PIVOT_VALUE_DATA_TYPE_MISMATCH")
                .with("value", typed.name.clone())
                .with("valueType", typed.data_type.catalog_string())
                .with("pivotType", column.catalog_string()));
        }
        let name = match alias {
            Some(alias) => alias,
            None => text_of(a, &typed)?,
        };
        // The value is compared as one of the column's type.
        let value = if typed.data_type == *column || column.is_nested() {
            inner.clone()
        } else {
            let child = Box::new(inner.clone());
            Expr::new(ExprKind::Cast { child, to: column.clone(), mode: CastMode::Session })
        };
        named.push((value, name));
    }
    Ok(named)
}

fn text_of(a: &mut Analyzer<'_>, typed: &TypedExpr) -> Result<String> {
    let text = expression::implicit_cast(a, typed.clone(), &DataType::STRING)?;
    Ok(match expression::fold(a, &text)? {
        Literal::String(text) => text,
        _ => "null".to_string(),
    })
}

/// The column's distinct values in order: the query runs now.
fn distinct_values(a: &mut Analyzer<'_>, input: &Relation, column: &Expr) -> Result<Vec<(Expr, String)>> {
    let max = a.env.conf().pivot_max_values;
    let project =
        Relation::new(RelationKind::Project { input: input.clone(), expressions: vec![column.clone().alias("pivot")] });
    let distinct = Relation::new(RelationKind::Deduplicate { input: project, columns: None, within_watermark: false });
    let sorted = Relation::new(RelationKind::Sort {
        input: distinct,
        order: SortKeys::By(vec![SortOrder::ascending(Expr::column("pivot"))]),
        is_global: true,
    });
    // One value more than may be tells that there are too many.
    let resolved = a.relation(&sorted)?.limited(max.saturating_add(1))?;
    let data_type = resolved.output[0].data_type.clone();
    let mut values = Vec::new();
    for batch in a.env.run(&resolved)? {
        for row in 0..batch.num_rows() {
            if values.len() == max {
                return Err(too_many_values("pivot", max));
            }
            let value = Literal::from_array(batch.column(0), row, &data_type)?;
            let typed = expression::literal(&value)?;
            let name = text_of(a, &typed)?;
            values.push((Expr::literal(value), name));
        }
    }
    Ok(values)
}

/// The error of a column of more values than columns may be made of.
pub(super) fn too_many_values(column: &str, max: usize) -> SparkError {
    SparkError::new("_LEGACY_ERROR_TEMP_1324")
        .with("pivotColumn", column)
        .with("maxValues", max.to_string())
        .with("config", "spark.sql.pivotMaxValues")
}

/// SQL's PIVOT clause: grouped by the columns that it does not use.
pub(crate) fn sql_pivot(a: &mut Analyzer<'_>, pivot: &Pivot) -> Result<Resolved> {
    let input = a.relation(&pivot.input)?;
    let scope = a.scope(&[&input]);
    let mut used = std::collections::HashSet::new();
    for expr in pivot.aggregates.iter().chain(&pivot.columns) {
        let typed = a.expression(expr, &scope)?;
        for column in typed.expr.column_refs() {
            used.insert(column.name.clone());
        }
        let _ = typed.expr.apply(|e| {
            for column in e.column_refs() {
                used.insert(column.name.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        });
    }
    let grouping: Vec<Expr> = input
        .output
        .iter()
        .filter(|c| !used.contains(&c.column_name()))
        .map(|c| Expr::attribute(c.qualifier.last().cloned().into_iter().chain(std::iter::once(c.name.clone()))))
        .collect();
    self::pivot(a, &pivot.input, &grouping, &pivot.columns, &pivot.values, &pivot.aggregates)
}
