//! Columns to rows.

use super::select::project_over;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, built, project};
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlanBuilder};
use firesteel_error::{Result, SparkError};
use firesteel_functions::{TypedExpr, coercion};
use firesteel_plan::{Expr, Origin, Unpivot};
use firesteel_types::{DataType, Literal};
use std::collections::BTreeMap;

/// Each value column (or group of them) becomes rows: ids, the column's name, its values.
pub(crate) fn unpivot(a: &mut Analyzer<'_>, unpivot: &Unpivot) -> Result<Resolved> {
    let input = a.relation(&unpivot.input)?;
    let scope = a.scope(&[&input]);
    let ids = match &unpivot.ids {
        Some(list) => Some(columns(a, list, &scope)?),
        None => None,
    };
    let values: Option<Vec<(Vec<NamedExpr>, Option<String>)>> = match &unpivot.values {
        Some(list) => {
            let mut groups = Vec::new();
            for (exprs, alias) in list {
                let found = columns(a, exprs, &scope)?;
                if exprs.len() == 1 && found.len() > 1 {
                    groups.extend(found.into_iter().map(|c| (vec![c], None)));
                } else {
                    groups.push((found, alias.clone()));
                }
            }
            Some(groups)
        }
        None => None,
    };
    let others = |used: &[NamedExpr]| -> Vec<NamedExpr> {
        input.output.iter().filter(|c| !used.iter().any(|u| u.attribute.id == c.id)).map(NamedExpr::column).collect()
    };
    let (ids, values) = match (ids, values) {
        (Some(ids), Some(values)) => (ids, values),
        (Some(ids), None) => {
            let values = others(&ids).into_iter().map(|c| (vec![c], None)).collect();
            (ids, values)
        }
        (None, Some(values)) => {
            let used: Vec<NamedExpr> = values.iter().flat_map(|(v, _)| v.clone()).collect();
            (others(&used), values)
        }
        (None, None) => return Err(SparkError::internal("unpivot needs ids or values")),
    };
    if values.is_empty() {
        return Err(SparkError::new("UNPIVOT_REQUIRES_VALUE_COLUMNS"));
    }
    let width = unpivot.value_columns.len();
    for (group, _) in &values {
        if group.len() != width {
            return Err(SparkError::new("UNPIVOT_VALUE_SIZE_MISMATCH").with("names", width.to_string()));
        }
    }
    let ansi = a.env.conf().ansi_enabled;
    let mut types = Vec::new();
    for i in 0..width {
        let all: Vec<DataType> = values.iter().map(|(g, _)| g[i].typed.data_type.clone()).collect();
        types.push(
            coercion::wider_common_type(&all, ansi)
                .filter(|_| keeps_strings(&all))
                .ok_or_else(|| mismatch(&values, i))?,
        );
    }
    // Each row becomes an array of rows: what comes out follows the input's order, then that of the value columns.
    let mut rows = Vec::with_capacity(values.len());
    for (group, alias) in &values {
        let name = alias
            .clone()
            .unwrap_or_else(|| group.iter().map(|c| c.attribute.name.clone()).collect::<Vec<_>>().join("_"));
        let mut fields = vec![field_name(&unpivot.variable_column)?, expression::literal(&Literal::String(name))?];
        for ((value, to), column) in group.iter().zip(&types).zip(&unpivot.value_columns) {
            let nullable = values.iter().any(|(g, _)| g.iter().any(|v| v.typed.nullable));
            let mut typed = expression::implicit_cast(a, value.typed.clone(), to)?;
            // The rows of an array are of one type.
            typed.nullable |= nullable;
            fields.push(field_name(column)?);
            fields.push(typed);
        }
        rows.push(a.build_context(&Origin::Unknown).call("named_struct", fields)?);
    }
    let rows = a.build_context(&Origin::Unknown).call("array", rows)?;
    let union = expanded(a, &input, &ids, rows, unpivot)?;
    if unpivot.include_nulls {
        return Ok(union);
    }
    let value_attributes: Vec<Attribute> = union.output[union.output.len() - width..].to_vec();
    let mut condition: Option<TypedExpr> = None;
    for attribute in &value_attributes {
        let mut context = a.build_context(&Origin::Unknown);
        let present = context.call("isnotnull", vec![attribute.typed()])?;
        condition = Some(match condition {
            Some(c) => context.call("or", vec![c, present])?,
            None => present,
        });
    }
    let Some(condition) = condition else { return Ok(union) };
    let plan =
        built(LogicalPlanBuilder::from(union.plan.clone()).filter(condition.expr).and_then(LogicalPlanBuilder::build))?;
    Ok(union.with_plan(plan))
}

/// Types may be widened, but strings do not become anything else, nor anything else a string.
pub(super) fn keeps_strings(types: &[DataType]) -> bool {
    let are_strings = |t: &&DataType| t.is_string() || t.is_null();
    !types.iter().any(DataType::is_string) || types.iter().all(|t| are_strings(&t))
}

fn field_name(name: &str) -> Result<TypedExpr> {
    expression::literal(&Literal::String(name.to_string()))
}

/// The ids of each row of the input beside each of the rows that it became.
fn expanded(
    a: &Analyzer<'_>,
    input: &Resolved,
    ids: &[NamedExpr],
    rows: TypedExpr,
    unpivot: &Unpivot,
) -> Result<Resolved> {
    let DataType::Array { element, .. } = &rows.data_type else {
        return Err(SparkError::internal("rows of an unpivot are an array"));
    };
    let DataType::Struct(fields) = element.as_ref().clone() else {
        return Err(SparkError::internal("rows of an unpivot are structs"));
    };
    let generated = Attribute::new("rows", rows.data_type.clone(), false);
    let mut expressions: Vec<DfExpr> = input.plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    expressions.push(rows.expr.alias(generated.column_name()));
    let with_rows = project(input.plan.clone(), expressions)?;
    let plan = built(
        LogicalPlanBuilder::from(with_rows).unnest_column(generated.column()).and_then(LogicalPlanBuilder::build),
    )?;
    let row = TypedExpr::new(generated.expr(), DataType::Struct(fields.clone()), false, "");
    let mut outputs = ids.to_vec();
    let names = std::iter::once(&unpivot.variable_column).chain(&unpivot.value_columns);
    for (index, name) in names.enumerate() {
        outputs.push(NamedExpr::computed(expression::get_field(a, row.clone(), index)?, name));
    }
    project_over(input, plan, outputs)
}

fn mismatch(values: &[(Vec<NamedExpr>, Option<String>)], i: usize) -> SparkError {
    const SHOWN: usize = 3;
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (group, _) in values {
        let column = crate::attribute::quote(&group[i].attribute.name);
        columns.entry(group[i].typed.data_type.sql()).or_default().push(column);
    }
    let types = columns.into_iter().map(|(data_type, mut names)| {
        if names.len() > SHOWN {
            names.truncate(SHOWN);
            names.push("...".to_string());
        }
        format!("\"{data_type}\" ({})", names.join(", "))
    });
    SparkError::new("UNPIVOT_VALUE_DATA_TYPE_MISMATCH").with("types", types.collect::<Vec<_>>().join(", "))
}

fn columns(a: &mut Analyzer<'_>, exprs: &[Expr], scope: &crate::scope::Scope) -> Result<Vec<NamedExpr>> {
    let mut found = Vec::new();
    for expr in exprs {
        if let Some(all) = expression::expand(a, expr, scope)? {
            for (name, typed) in all {
                found.push(expression::named(&Expr::column(name), typed, &scope.attributes)?);
            }
            continue;
        }
        let typed = a.expression(expr, scope)?;
        let named = expression::named(expr, typed, &scope.attributes)?;
        if !named.is_column() {
            return Err(SparkError::new("UNPIVOT_REQUIRES_ATTRIBUTES")
                .with("given", "value")
                .with("empty", "id")
                .with("expressions", format!("\"{}\"", named.typed.name)));
        }
        found.push(named);
    }
    Ok(found)
}
