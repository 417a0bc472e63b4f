//! Relations that Python functions make.

use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression::{self, NamedExpr};
use crate::python::{GroupFrame, PythonCall, PythonColumn, PythonKind, PythonOperator};
use crate::resolved::{Resolved, built, project};
use datafusion::logical_expr::LogicalPlan;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, PythonFunction, Relation};
use firesteel_python::EvalType;
use firesteel_types::{DataType, StructType};
use std::sync::Arc;

/// `mapInPandas`, `mapInArrow`.
pub(crate) fn map(
    a: &mut Analyzer<'_>,
    input: &Relation,
    function: &PythonFunction,
    is_barrier: bool,
) -> Result<Resolved> {
    let eval_type = EvalType(function.eval_type);
    if !matches!(eval_type, EvalType::MAP_PANDAS_ITER | EvalType::MAP_ARROW_ITER) {
        return Err(SparkError::unsupported(format!("the Python function {} over partitions", function.name)));
    }
    let input = a.relation(input)?;
    let columns = input.output.iter().map(column).collect();
    let call = Arc::new(expression::python_call(function, eval_type, &[], &[]));
    let kind = PythonKind::Map { call: call.clone(), columns, is_barrier, runs_empty: false };
    rows(kind, vec![input.plan.clone()], &call)
}

/// `applyInPandas`, `applyInArrow` of groups.
pub(crate) fn group_map(
    a: &mut Analyzer<'_>,
    input: &Relation,
    grouping: &[Expr],
    function: &PythonFunction,
) -> Result<Resolved> {
    let eval_type = EvalType(function.eval_type);
    if !eval_type.is_group_map() {
        return Err(SparkError::unsupported(format!("the Python function {} over groups", function.name)));
    }
    let (plan, frame) = frame(a, input, grouping)?;
    let call = Arc::new(expression::python_call(function, eval_type, &[], &[]));
    rows(PythonKind::GroupMap { call: call.clone(), frame }, vec![plan], &call)
}

/// `applyInPandas`, `applyInArrow` of pairs of groups.
pub(crate) fn cogroup_map(
    a: &mut Analyzer<'_>,
    (left, left_grouping): (&Relation, &[Expr]),
    (right, right_grouping): (&Relation, &[Expr]),
    function: &PythonFunction,
) -> Result<Resolved> {
    let eval_type = EvalType(function.eval_type);
    if !matches!(eval_type, EvalType::COGROUPED_MAP_PANDAS | EvalType::COGROUPED_MAP_ARROW) {
        return Err(SparkError::unsupported(format!("the Python function {} over pairs of groups", function.name)));
    }
    let (left, left_frame) = frame(a, left, left_grouping)?;
    let (right, right_frame) = frame(a, right, right_grouping)?;
    let types = |frame: &GroupFrame| frame.keys.iter().map(|k| k.data_type.clone()).collect::<Vec<_>>();
    if types(&left_frame) != types(&right_frame) {
        return Err(SparkError::unsupported("cogroups by keys of different types"));
    }
    let call = Arc::new(expression::python_call(function, eval_type, &[], &[]));
    let kind = PythonKind::CoGroupMap { call: call.clone(), frames: Box::new([left_frame, right_frame]) };
    rows(kind, vec![left, right], &call)
}

fn column(attribute: &Attribute) -> PythonColumn {
    PythonColumn {
        expr: attribute.expr(),
        name: attribute.name.clone(),
        data_type: attribute.data_type.clone(),
        nullable: attribute.nullable,
    }
}

/// A frame with its keys as columns.
fn frame(a: &mut Analyzer<'_>, input: &Relation, grouping: &[Expr]) -> Result<(LogicalPlan, GroupFrame)> {
    let input = a.relation(input)?;
    let scope = a.scope(&[&input]);
    let mut expressions: Vec<_> =
        input.plan.schema().columns().into_iter().map(datafusion::logical_expr::Expr::Column).collect();
    let known = expressions.len();
    let mut as_column = |typed: &TypedExpr, expr: datafusion::logical_expr::Expr, name: &str| {
        if let datafusion::logical_expr::Expr::Column(_) = expr {
            return expr;
        }
        let named = NamedExpr::computed(TypedExpr { expr, ..typed.clone() }, name);
        expressions.push(named.expr());
        named.attribute.expr()
    };
    let (mut keys, mut by) = (Vec::new(), Vec::new());
    for expr in grouping {
        let columns = match expression::expand(a, expr, &scope)? {
            Some(columns) => columns,
            None => {
                let typed = a.expression(expr, &scope)?;
                vec![(expression::output_name(expr, &typed), typed)]
            }
        };
        for (name, typed) in columns {
            let value = as_column(&typed, typed.expr.clone(), &name);
            let key = expression::key(a, &typed)?;
            by.push(if key == typed.expr { value.clone() } else { as_column(&typed, key, "group") });
            keys.push(PythonColumn { expr: value, name, data_type: typed.data_type.clone(), nullable: typed.nullable });
        }
    }
    let is_changed = expressions.len() > known;
    let plan = if is_changed { project(input.plan.clone(), expressions)? } else { input.plan.clone() };
    let values = input.output.iter().map(column).collect();
    Ok((plan, GroupFrame { grouping: by, keys, values }))
}

/// The rows that a function says it makes.
fn rows(kind: PythonKind, inputs: Vec<LogicalPlan>, call: &PythonCall) -> Result<Resolved> {
    let schema: &StructType = match &call.returns {
        DataType::Struct(schema) => schema,
        other => {
            return Err(SparkError::unsupported(format!("rows of type {} from a Python function", other.sql())));
        }
    };
    let output: Vec<Attribute> =
        schema.fields.iter().map(|field| Attribute::from_field(field).with_nullable(true)).collect();
    let names: Vec<String> = output.iter().map(Attribute::column_name).collect();
    let plan = built(PythonOperator::with_rows(kind, inputs, &names, schema))?;
    Ok(Resolved::leaf(plan, output))
}
