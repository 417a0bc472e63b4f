//! Nulls and values replaced: `fillna`, `dropna`, `replace`.

use super::select::project_over;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, built};
use crate::scope::Scope;
use datafusion::logical_expr::LogicalPlanBuilder;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Origin, Relation};
use firesteel_types::{DataType, Literal};

/// The columns that names mean; every column where there are none.
fn chosen<'r>(input: &'r Resolved, columns: &[String], scope: &Scope) -> Result<Vec<&'r Attribute>> {
    if columns.is_empty() {
        return Ok(input.output.iter().collect());
    }
    let mut found = Vec::new();
    for name in columns {
        let parts = firesteel_sql::parse_attribute_name(name)?;
        let column = scope.find(&parts)?.ok_or_else(|| scope.unresolved(&parts))?;
        if !column.fields.is_empty() {
            return Err(SparkError::new("UNSUPPORTED_FEATURE.REPLACE_NESTED_COLUMN")
                .with("colName", crate::attribute::quote_parts(&parts)));
        }
        found.extend(input.output.iter().filter(|c| c.id == column.attribute.id));
    }
    Ok(found)
}

fn call(a: &Analyzer<'_>, name: &str, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    a.build_context(&Origin::Unknown).call(name, arguments)
}

fn is_fillable(data_type: &DataType, value: &Literal) -> bool {
    match value {
        Literal::Boolean(_) => *data_type == DataType::Boolean,
        Literal::String(_) => data_type.is_string(),
        _ => data_type.is_numeric(),
    }
}

/// `fillna`: nulls (and NaN) of columns of the value's kind become the value.
pub(crate) fn fill(a: &mut Analyzer<'_>, input: &Relation, columns: &[String], values: &[Literal]) -> Result<Resolved> {
    let input = a.relation(input)?;
    let scope = a.scope(&[&input]);
    let chosen = chosen(&input, columns, &scope)?;
    if values.len() > 1 && values.len() != columns.len() {
        return Err(SparkError::plain(ExceptionClass::IllegalArgument, "fillna needs as many values as columns"));
    }
    let mut outputs = Vec::new();
    for column in &input.output {
        let position = chosen.iter().position(|c| c.id == column.id);
        let value = position.and_then(|i| if values.len() == 1 { values.first() } else { values.get(i) });
        let (Some(value), true) = (value, value.is_some_and(|v| is_fillable(&column.data_type, v))) else {
            outputs.push(NamedExpr::column(column));
            continue;
        };
        let replacement = expression::implicit_cast(a, expression::literal(value)?, &column.data_type)?;
        let mut source = column.typed();
        if matches!(column.data_type, DataType::Double | DataType::Float) {
            let null =
                expression::implicit_cast(a, expression::literal(&Literal::Null(DataType::Null))?, &column.data_type)?;
            source = call(a, "nanvl", vec![source, null])?;
        }
        let filled = call(a, "coalesce", vec![source, replacement])?;
        outputs.push(NamedExpr::computed(filled, &column.name));
    }
    project_over(&input, input.plan.clone(), outputs)
}

/// `dropna`: rows with fewer than a number of values are left out.
pub(crate) fn drop(
    a: &mut Analyzer<'_>,
    input: &Relation,
    columns: &[String],
    min_non_nulls: Option<i32>,
) -> Result<Resolved> {
    let input = a.relation(input)?;
    let scope = a.scope(&[&input]);
    let chosen = chosen(&input, columns, &scope)?;
    let count = expression::literal(&Literal::Integer(
        min_non_nulls.unwrap_or_else(|| i32::try_from(chosen.len()).unwrap_or(i32::MAX)),
    ))?;
    let one = expression::literal(&Literal::Integer(1))?;
    let zero = expression::literal(&Literal::Integer(0))?;
    let mut sum = zero.clone();
    for column in chosen {
        let mut is_null = call(a, "isnull", vec![column.typed()])?;
        if matches!(column.data_type, DataType::Double | DataType::Float) {
            let is_nan = call(a, "isnan", vec![column.typed()])?;
            is_null = call(a, "or", vec![is_null, is_nan])?;
        }
        let counted = call(a, "if", vec![is_null, zero.clone(), one.clone()])?;
        sum = call(a, "+", vec![sum, counted])?;
    }
    let condition = call(a, ">=", vec![sum, count])?;
    let plan =
        built(LogicalPlanBuilder::from(input.plan.clone()).filter(condition.expr).and_then(LogicalPlanBuilder::build))?;
    Ok(input.with_plan(plan))
}

/// `replace`: values of columns of the old values' kind become new ones.
pub(crate) fn replace(
    a: &mut Analyzer<'_>,
    input: &Relation,
    columns: &[String],
    replacements: &[(Literal, Literal)],
) -> Result<Resolved> {
    let input = a.relation(input)?;
    let scope = a.scope(&[&input]);
    let chosen = chosen(&input, columns, &scope)?;
    let kind = replacements.iter().map(|(old, _)| old).find(|l| !l.is_null());
    let mut outputs = Vec::new();
    for column in &input.output {
        let applies =
            chosen.iter().any(|c| c.id == column.id) && kind.is_some_and(|k| is_fillable(&column.data_type, k));
        if !applies {
            outputs.push(NamedExpr::column(column));
            continue;
        }
        let mut branches = Vec::new();
        for (old, new) in replacements {
            // The value need not be one of the column's type: NaN is no integer.
            let old = expression::literal(old)?;
            let new = expression::implicit_cast(a, expression::literal(new)?, &column.data_type)?;
            branches.push(call(a, "=", vec![column.typed(), old])?);
            branches.push(new);
        }
        branches.push(column.typed());
        let value = call(a, "when", branches)?;
        outputs.push(NamedExpr::computed(value, &column.name));
    }
    project_over(&input, input.plan.clone(), outputs)
}
