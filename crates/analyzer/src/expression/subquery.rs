//! Subqueries in expressions.

use crate::analyzer::{Analyzer, OuterQuery};
use crate::attribute::Attribute;
use crate::resolved::{Resolved, project};
use crate::scope::Scope;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, Subquery};
use firesteel_error::{Result, SparkError};
use firesteel_functions::{TypedExpr, coercion};
use firesteel_plan::{Expr, Relation, SubqueryKind};
use firesteel_types::DataType;
use std::sync::Arc;

/// Analyses a subquery that is part of an expression.
pub(crate) fn subquery(
    a: &mut Analyzer<'_>,
    kind: &SubqueryKind,
    query: &Relation,
    scope: &Scope,
) -> Result<TypedExpr> {
    if let SubqueryKind::In(values) = kind {
        return in_subquery(a, values, query, scope);
    }
    let (inner, used) = correlated(a, query, scope)?;
    check_not_streaming(&inner)?;
    match kind {
        SubqueryKind::Scalar => {
            let inner = single_column(inner)?;
            let attribute = inner.output[0].clone();
            let text = format!("scalarsubquery({})", outer_names(&inner.plan, &used));
            let expr = DfExpr::ScalarSubquery(make(inner.exact()?, used));
            Ok(TypedExpr::new(expr, attribute.data_type, true, text))
        }
        SubqueryKind::Exists => {
            let text = format!("exists({})", outer_names(&inner.plan, &used));
            let expr = DfExpr::Exists(Exists { subquery: make(inner.exact()?, used), negated: false });
            Ok(TypedExpr::new(expr, DataType::Boolean, false, text))
        }
        SubqueryKind::Table(_) => Err(SparkError::unsupported("a table argument outside of a table function")),
        SubqueryKind::In(_) => Err(SparkError::internal("an IN subquery is analysed before")),
    }
}

/// Expressions know no rows that keep coming.
fn check_not_streaming(inner: &Resolved) -> Result<()> {
    match crate::streaming::is_streaming(&inner.plan) {
        true => Err(SparkError::new("INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY")),
        false => Ok(()),
    }
}

/// The names of the outer columns that a subquery uses, as often as it does and from its top down.
fn outer_names(plan: &LogicalPlan, used: &[DfExpr]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let visited = plan.apply(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|e| {
                if let DfExpr::OuterReferenceColumn(_, column) = e
                    && let Some(name) = used.iter().find_map(|known| outer_name(known, &column.name))
                {
                    names.push(name);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    if visited.is_err() || names.is_empty() {
        names = used.iter().filter_map(|e| outer_name(e, "")).collect();
    }
    names.join(", ")
}

/// The users' name of an outer column, if it has this name in the plan; any has the empty one.
fn outer_name<'e>(expr: &'e DfExpr, name: &str) -> Option<&'e str> {
    match expr {
        DfExpr::OuterReferenceColumn(_, column) if name.is_empty() || column.name == name => {
            Some(column.name.rsplit_once('#').map_or(column.name.as_str(), |n| n.0))
        }
        _ => None,
    }
}

/// The text of the values before IN.
fn value_text(values: &[TypedExpr]) -> String {
    match values {
        [one] => one.name.clone(),
        several => {
            let fields: Vec<String> = several.iter().map(|v| format!("'{}', {}", v.name, v.name)).collect();
            format!("named_struct({})", fields.join(", "))
        }
    }
}

fn make(plan: LogicalPlan, used: Vec<DfExpr>) -> Subquery {
    Subquery { subquery: Arc::new(plan), outer_ref_columns: used, spans: Default::default() }
}

/// Analyses a query that may use the columns of `scope`, and says which it uses.
pub(crate) fn correlated(a: &mut Analyzer<'_>, query: &Relation, scope: &Scope) -> Result<(Resolved, Vec<DfExpr>)> {
    let aggregates = a.in_having.then(Vec::new);
    a.outer.push(OuterQuery { scope: scope.clone(), used: Vec::new(), aggregates });
    let aliases = std::mem::take(&mut a.aliases);
    let below = std::mem::take(&mut a.below_used);
    let file = a.file_used.take();
    let (in_having, in_where) = (std::mem::take(&mut a.in_having), std::mem::take(&mut a.in_where));
    let around = std::mem::take(&mut a.aggregates);
    a.begins_query = true;
    let inner = a.relation(query);
    a.aggregates = around;
    (a.in_having, a.in_where) = (in_having, in_where);
    a.aliases = aliases;
    a.below_used = below;
    a.file_used = file;
    let (used, aggregates) = a.outer.pop().map(|o| (o.used, o.aggregates)).unwrap_or_default();
    a.hoisted.extend(aggregates.into_iter().flatten());
    Ok((inner?, used))
}

/// An aggregate function over columns of the enclosing query belongs to that query, where its HAVING compares
/// with it; anywhere else it has no place.
pub(super) fn hoisted(a: &mut Analyzer<'_>, aggregate: TypedExpr, used_before: usize) -> Result<TypedExpr> {
    let mut has_own = false;
    let mut has_outer = false;
    let visited = aggregate.expr.apply(|e| {
        has_own |= matches!(e, DfExpr::Column(_));
        has_outer |= matches!(e, DfExpr::OuterReferenceColumn(..));
        Ok(TreeNodeRecursion::Continue)
    });
    if visited.is_err() || !has_outer || a.function.is_some() {
        return Ok(aggregate);
    }
    if has_own {
        return Err(SparkError::new(
            "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.AGGREGATE_FUNCTION_MIXED_OUTER_LOCAL_REFERENCES",
        )
        .with("function", aggregate.name));
    }
    let is_where = a.in_where;
    let Some(OuterQuery { used, aggregates: Some(aggregates), .. }) = a.outer.last_mut().filter(|_| is_where) else {
        return Err(SparkError::new("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE")
            .with("sqlExprs", format!("\"{}\"", aggregate.name)));
    };
    let own = aggregate.expr.clone().transform(|e| {
        Ok(match e {
            DfExpr::OuterReferenceColumn(_, column) => Transformed::yes(DfExpr::Column(column)),
            other => Transformed::no(other),
        })
    });
    let attribute = Attribute::new(&aggregate.name, aggregate.data_type.clone(), aggregate.nullable);
    let reference = super::name::outer_reference(&attribute);
    used.truncate(used_before);
    used.push(reference.clone());
    let typed = TypedExpr { expr: crate::resolved::built(own)?.data, ..aggregate.clone() };
    aggregates.push((attribute, typed));
    Ok(TypedExpr { expr: reference, ..aggregate })
}

fn single_column(inner: Resolved) -> Result<Resolved> {
    if inner.output.len() == 1 {
        return Ok(inner);
    }
    Err(SparkError::new("INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN")
        .with("number", inner.output.len().to_string()))
}

fn in_subquery(a: &mut Analyzer<'_>, values: &[Expr], query: &Relation, scope: &Scope) -> Result<TypedExpr> {
    let (inner, used) = correlated(a, query, scope)?;
    check_not_streaming(&inner)?;
    let mut left = Vec::new();
    for value in values {
        left.push(a.expression(value, scope)?);
    }
    if left.len() == 1
        && inner.output.len() > 1
        && let DataType::Struct(schema) = left[0].data_type.clone()
    {
        let value = left.remove(0);
        for field in &schema.fields {
            left.push(super::extract_field(a, value.clone(), &field.name)?);
        }
    }
    if left.len() != inner.output.len() {
        return Err(SparkError::new("DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH")
            .with("sqlExpr", format!("\"({} IN (listquery()))\"", value_text(&left)))
            .with("leftLength", left.len().to_string())
            .with("rightLength", inner.output.len().to_string())
            .with("leftColumns", left.iter().map(|t| format!("\"{}\"", t.name)).collect::<Vec<_>>().join(", "))
            .with(
                "rightColumns",
                inner.output.iter().map(|t| format!("\"{}\"", t.name)).collect::<Vec<_>>().join(", "),
            ));
    }
    let ansi = a.env.conf().ansi_enabled;
    let mut targets = Vec::new();
    for (value, attribute) in left.iter().zip(&inner.output) {
        let types = [value.data_type.clone(), attribute.data_type.clone()];
        let common = coercion::wider_common_type(&types, ansi).ok_or_else(|| {
            SparkError::new("DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH")
                .with("sqlExpr", format!("\"({} IN (listquery()))\"", value.name))
                .with("mismatchedColumns", format!("\"{}\", \"{}\"", value.name, attribute.name))
                .with("leftType", format!("\"{}\"", types[0].sql()))
                .with("rightType", format!("\"{}\"", types[1].sql()))
        })?;
        targets.push(common);
    }
    let mut cast_left = Vec::new();
    for (value, to) in left.into_iter().zip(&targets) {
        cast_left.push(super::implicit_cast(a, value, to)?);
    }
    let nullable = cast_left.iter().any(|t| t.nullable) || inner.output.iter().any(|o| o.nullable);
    let names = cast_left.iter().map(|t| t.name.clone()).collect::<Vec<_>>().join(", ");
    let name = format!("({names} IN (listquery({})))", outer_names(&inner.plan, &used));
    let values: Vec<DfExpr> = cast_left.iter().map(|t| t.expr.clone()).collect();
    let (expr, plan) = match values.as_slice() {
        [value] => (value.clone(), cast_single_column(a, &inner, &targets[0])?),
        _ => (datafusion::functions::core::r#struct().call(values), cast_columns(a, &inner, &targets)?),
    };
    let membership = InSubquery { expr: Box::new(expr), subquery: make(plan, used), negated: false };
    Ok(TypedExpr::new(DfExpr::InSubquery(membership), DataType::Boolean, nullable, name))
}

/// The plan of a relation with its columns cast.
fn cast_columns(a: &Analyzer<'_>, inner: &Resolved, targets: &[DataType]) -> Result<LogicalPlan> {
    let mut expressions = Vec::new();
    for (attribute, to) in inner.output.iter().zip(targets) {
        let typed = super::implicit_cast(a, attribute.typed(), to)?;
        expressions.push(typed.expr.alias(attribute.renewed().column_name()));
    }
    project(inner.plan.clone(), expressions)
}

/// The plan of a one-column relation, the column cast.
pub(crate) fn cast_single_column(a: &Analyzer<'_>, inner: &Resolved, to: &DataType) -> Result<LogicalPlan> {
    let attribute = &inner.output[0];
    if attribute.data_type == *to {
        return inner.exact();
    }
    let typed = super::implicit_cast(a, attribute.typed(), to)?;
    let renewed = attribute.renewed();
    project(inner.plan.clone(), vec![typed.expr.alias(renewed.column_name())])
}
