//! UNION, INTERSECT, EXCEPT.

use super::select::project_over;
use crate::analyzer::Analyzer;
use crate::attribute::{Attribute, quote};
use crate::expression::{self, NamedExpr};
use crate::resolved::{Resolved, built};
use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{Expr as DfExpr, Join, JoinConstraint, LogicalPlan, LogicalPlanBuilder, Union, Window};
use firesteel_error::{Result, SparkError};
use firesteel_functions::coercion;
use firesteel_plan::{Relation, RelationKind, SetOperation, SetOperator};
use firesteel_types::{DataType, Literal, StructField};
use std::sync::Arc;

/// The error for sides of different width.
pub(crate) fn column_count_error(operator: &str, first: usize, other: usize) -> SparkError {
    SparkError::new("NUM_COLUMNS_MISMATCH")
        .with("operator", operator)
        .with("firstNumColumns", first.to_string())
        .with("invalidOrdinalNum", "second")
        .with("invalidNumColumns", other.to_string())
}

/// Fails for columns of which no two values are equal or unequal.
pub(crate) fn check_equatable(columns: &[Attribute]) -> Result<()> {
    for column in columns {
        let kind = if column.data_type.exists(&|t| matches!(t, DataType::Map { .. })) {
            "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE"
        } else if column.data_type.exists(&|t| *t == DataType::Variant) {
            "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE"
        } else {
            continue;
        };
        return Err(SparkError::new(kind)
            .with("colName", quote(&column.name))
            .with("dataType", format!("\"{}\"", column.data_type.sql())));
    }
    Ok(())
}

pub(crate) fn set_operation(a: &mut Analyzer<'_>, operation: &SetOperation) -> Result<Resolved> {
    // Long chains of UNION ALL become one operator.
    if operation.operator == SetOperator::Union && operation.is_all && !operation.by_name {
        let mut inputs = Vec::new();
        flatten(operation, &mut inputs);
        if inputs.len() > 2 {
            let mut resolved = Vec::with_capacity(inputs.len());
            for input in inputs {
                resolved.push(a.relation(input)?);
            }
            return union_all(a, resolved);
        }
    }
    let left = a.relation(&operation.left)?;
    let right = a.relation(&operation.right)?;
    let name = match operation.operator {
        SetOperator::Union => "UNION",
        SetOperator::Intersect if operation.is_all => "INTERSECT ALL",
        SetOperator::Intersect => "INTERSECT",
        SetOperator::Except if operation.is_all => "EXCEPT ALL",
        SetOperator::Except => "EXCEPT",
    };
    let (left, right) =
        if operation.by_name { by_name(a, left, right, operation.allow_missing_columns)? } else { (left, right) };
    if left.output.len() != right.output.len() {
        return Err(column_count_error(name, left.output.len(), right.output.len()));
    }
    if !(operation.operator == SetOperator::Union && operation.is_all) {
        check_equatable(&left.output)?;
        check_equatable(&right.output)?;
    }
    match operation.operator {
        SetOperator::Union => {
            let union = union_all(a, vec![left, right])?;
            if operation.is_all {
                return Ok(union);
            }
            let plan = super::collated::distinct(a, union.exact()?, &union.output)?;
            Ok(union.with_plan(plan))
        }
        operator => {
            let output = common_output(a, name, &[&left, &right])?;
            let left_cast = cast_to(a, &left, &output)?;
            let left_cast = comparable(a, left_cast, &output)?;
            let right_cast = cast_to(a, &right, &output)?;
            let right_cast = comparable(a, right_cast, &output)?;
            let plan = if operation.is_all {
                counted(left_cast, right_cast, operator == SetOperator::Intersect)?
            } else if output.iter().any(|c| expression::is_collated(&c.data_type)) {
                super::collated::filtered(a, (left_cast, right_cast), &output, operator == SetOperator::Intersect)?
            } else if operator == SetOperator::Intersect {
                built(LogicalPlanBuilder::intersect(left_cast, right_cast, false))?
            } else {
                built(LogicalPlanBuilder::except(left_cast, right_cast, false))?
            };
            // The rows are the left side's: its nullability, and for INTERSECT the stricter of both.
            let output: Vec<Attribute> = output
                .into_iter()
                .zip(left.output.iter().zip(&right.output))
                .map(|(o, (l, r))| {
                    let nullable =
                        if operator == SetOperator::Intersect { l.nullable && r.nullable } else { l.nullable };
                    o.with_nullable(nullable)
                })
                .collect();
            let columns = plan.schema().columns();
            let renamed = crate::resolved::project(
                plan,
                columns
                    .into_iter()
                    .zip(&output)
                    .map(|(c, o)| datafusion::logical_expr::Expr::Column(c).alias(o.column_name()))
                    .collect(),
            )?;
            Ok(Resolved { below: None, ..Resolved::over(renamed, output, &[&left, &right]) })
        }
    }
}

/// The rows of a relation of exactly these columns, with those equal that count as one.
pub(crate) fn comparable(a: &Analyzer<'_>, plan: LogicalPlan, columns: &[Attribute]) -> Result<LogicalPlan> {
    let mut seen = std::collections::HashSet::new();
    let mut expressions = Vec::new();
    let mut is_changed = false;
    for column in columns.iter().filter(|c| seen.insert(c.id)) {
        let key = expression::whole(a, &column.typed())?;
        if key == column.expr() {
            expressions.push(key);
        } else {
            is_changed = true;
            expressions.push(key.alias(column.column_name()));
        }
    }
    if is_changed { crate::resolved::project(plan, expressions) } else { Ok(plan) }
}

/// INTERSECT ALL and EXCEPT ALL: equal rows are numbered on each side, so that
/// the n-th of the left meets the n-th of the right.
fn counted(left: LogicalPlan, right: LogicalPlan, is_intersect: bool) -> Result<LogicalPlan> {
    let number = |plan: LogicalPlan| -> Result<(LogicalPlan, Attribute, Vec<Column>)> {
        let columns = plan.schema().columns();
        let mut call = WindowFunction::new(datafusion::functions_window::row_number::row_number_udwf(), vec![]);
        call.params.partition_by = columns.iter().cloned().map(DfExpr::Column).collect();
        let attribute = Attribute::new("number", DataType::Long, false);
        let window = DfExpr::WindowFunction(Box::new(call)).alias(attribute.column_name());
        let plan = built(Window::try_new(vec![window], Arc::new(plan)).map(LogicalPlan::Window))?;
        Ok((plan, attribute, columns))
    };
    let (left, left_number, columns) = number(left)?;
    let (right, right_number, right_columns) = number(right)?;
    // The sides have columns of equal names: the right one's get others.
    let renamed: Vec<Attribute> = right_columns.iter().map(|c| Attribute::new(&c.name, DataType::Null, true)).collect();
    let mut expressions: Vec<DfExpr> =
        right_columns.iter().zip(&renamed).map(|(c, r)| DfExpr::Column(c.clone()).alias(r.column_name())).collect();
    expressions.push(right_number.expr());
    let right = crate::resolved::project(right, expressions)?;
    let mut on: Vec<(DfExpr, DfExpr)> =
        columns.iter().zip(&renamed).map(|(l, r)| (DfExpr::Column(l.clone()), r.expr())).collect();
    on.push((left_number.expr(), right_number.expr()));
    let join_type = if is_intersect { JoinType::LeftSemi } else { JoinType::LeftAnti };
    let join = built(Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        None,
        join_type,
        JoinConstraint::On,
        NullEquality::NullEqualsNull,
        false,
    ))?;
    crate::resolved::project(LogicalPlan::Join(join), columns.into_iter().map(DfExpr::Column).collect())
}

fn flatten<'r>(operation: &'r SetOperation, inputs: &mut Vec<&'r Relation>) {
    let mut spine = vec![&operation.right];
    let mut left = &operation.left;
    while let RelationKind::SetOperation(inner) = left.kind() {
        if inner.operator != SetOperator::Union || !inner.is_all || inner.by_name || left.plan_id().is_some() {
            break;
        }
        spine.push(&inner.right);
        left = &inner.left;
    }
    inputs.push(left);
    inputs.extend(spine.into_iter().rev());
}

/// All rows of all inputs, under the names of the first.
pub(crate) fn union_all(a: &mut Analyzer<'_>, inputs: Vec<Resolved>) -> Result<Resolved> {
    let references: Vec<&Resolved> = inputs.iter().collect();
    let width = references[0].output.len();
    for input in &references {
        if input.output.len() != width {
            return Err(column_count_error("UNION", width, input.output.len()));
        }
    }
    let output = common_output(a, "UNION", &references)?;
    let mut plans = Vec::with_capacity(inputs.len());
    for input in &references {
        plans.push(Arc::new(cast_to(a, input, &output)?));
    }
    let union = built(Union::try_new_with_loose_types(plans))?;
    let plan = LogicalPlan::Union(union);
    Ok(Resolved { below: None, ..Resolved::over(plan, output, &references) })
}

/// The output: names of the first input, common types, fresh ids.
fn common_output(a: &Analyzer<'_>, operator: &str, inputs: &[&Resolved]) -> Result<Vec<Attribute>> {
    let conf = a.env.conf();
    let mut output = Vec::new();
    for (i, column) in inputs[0].output.iter().enumerate() {
        let mut common = column.data_type.clone();
        for input in &inputs[1..] {
            let other = &input.output[i].data_type;
            let shared = coercion::set_operation_type(&common, other, conf.ansi_enabled);
            let shape = || if operator == "UNION" { same_shape(&common, other) } else { None };
            common = shared.or_else(shape).ok_or_else(|| {
                SparkError::new("INCOMPATIBLE_COLUMN_TYPE")
                    .with("operator", operator)
                    .with("columnOrdinalNumber", ordinal(i))
                    .with("tableOrdinalNumber", "second")
                    .with("dataType1", format!("\"{}\"", other.sql()))
                    .with("dataType2", format!("\"{}\"", common.sql()))
                    .with("hint", "")
            })?;
        }
        let nullable = inputs.iter().any(|x| x.output[i].nullable);
        let mut attribute = Attribute::new(&column.name, common, nullable);
        // A column that is cast is another one, without the old one's comment.
        if attribute.data_type == column.data_type {
            attribute.metadata = column.metadata.clone();
        }
        attribute.qualifier = Vec::new();
        output.push(attribute);
    }
    Ok(output)
}

/// The first of two types that differ in names of fields and nullability alone.
fn same_shape(first: &DataType, other: &DataType) -> Option<DataType> {
    match (first, other) {
        (DataType::Array { element: a, contains_null: n }, DataType::Array { element: b, contains_null: m }) => {
            Some(DataType::array(same_shape(a, b)?, *n || *m))
        }
        (
            DataType::Map { key: k, value: a, value_contains_null: n },
            DataType::Map { key: l, value: b, value_contains_null: m },
        ) => Some(DataType::map(same_shape(k, l)?, same_shape(a, b)?, *n || *m)),
        (DataType::Struct(a), DataType::Struct(b)) if a.fields.len() == b.fields.len() => {
            let fields = a.fields.iter().zip(&b.fields).map(|(x, y)| {
                Some(StructField {
                    data_type: same_shape(&x.data_type, &y.data_type)?,
                    nullable: x.nullable || y.nullable,
                    ..x.clone()
                })
            });
            Some(DataType::struct_of(fields.collect::<Option<Vec<_>>>()?))
        }
        _ => (first == other).then(|| first.clone()),
    }
}

fn ordinal(i: usize) -> String {
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
        .get(i)
        .map_or_else(|| format!("{}th", i + 1), |s| (*s).to_string())
}

/// The input's columns in order, cast and named as `output`; equal names keep each its column.
fn cast_to(a: &mut Analyzer<'_>, input: &Resolved, output: &[Attribute]) -> Result<LogicalPlan> {
    let mut expressions = Vec::new();
    for (column, target) in input.output.iter().zip(output) {
        let typed = expression::implicit_cast(a, column.typed(), &target.data_type)?;
        expressions.push(typed.expr.alias(target.column_name()));
    }
    crate::resolved::project(input.plan.clone(), expressions)
}

/// Brings the right side's columns into the left side's order; missing ones become nulls where allowed.
fn by_name(a: &mut Analyzer<'_>, left: Resolved, right: Resolved, allow_missing: bool) -> Result<(Resolved, Resolved)> {
    let scope = a.scope(&[&left]);
    for side in [&left, &right] {
        for (i, column) in side.output.iter().enumerate() {
            if side.output[..i].iter().any(|c| scope.same_name(&c.name, &column.name)) {
                return Err(
                    SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", quote(&column.name.to_lowercase()))
                );
            }
        }
    }
    let mut right_outputs = Vec::new();
    let mut left_missing: Vec<Attribute> = Vec::new();
    for column in &left.output {
        match right.output.iter().find(|c| scope.same_name(&c.name, &column.name)) {
            Some(found) => right_outputs.push(NamedExpr::column(found)),
            None if allow_missing => right_outputs.push(null_column(a, column)?),
            None => {
                let candidates: Vec<&str> = right.output.iter().map(|c| c.name.as_str()).collect();
                return Err(SparkError::new("UNRESOLVED_COLUMN_AMONG_FIELD_NAMES")
                    .with("colName", column.name.clone())
                    .with("fieldNames", candidates.join(", ")));
            }
        }
    }
    for column in &right.output {
        if !left.output.iter().any(|c| scope.same_name(&c.name, &column.name)) {
            if !allow_missing {
                return Err(SparkError::new("NUM_COLUMNS_MISMATCH")
                    .with("operator", "UNION")
                    .with("firstNumColumns", left.output.len().to_string())
                    .with("invalidOrdinalNum", "second")
                    .with("invalidNumColumns", right.output.len().to_string()));
            }
            right_outputs.push(NamedExpr::column(column));
            left_missing.push(column.clone());
        }
    }
    let left = if left_missing.is_empty() {
        left
    } else {
        let mut outputs: Vec<NamedExpr> = left.output.iter().map(NamedExpr::column).collect();
        for column in &left_missing {
            outputs.push(null_column(a, column)?);
        }
        project_over(&left, left.plan.clone(), outputs)?
    };
    let right = project_over(&right, right.plan.clone(), right_outputs)?;
    Ok((left, right))
}

fn null_column(a: &mut Analyzer<'_>, like: &Attribute) -> Result<NamedExpr> {
    let null = expression::literal(&Literal::Null(DataType::Null))?;
    let typed = expression::implicit_cast(a, null, &like.data_type)?;
    Ok(NamedExpr::computed(typed, &like.name))
}
