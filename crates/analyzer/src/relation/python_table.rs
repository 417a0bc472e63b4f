//! Table functions in Python.

use super::leaf;
use super::table_argument::{self, Arguments, Rows};
use super::unary::boolean;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::environment::UserFunction;
use crate::expression;
use crate::python::{PythonKind, PythonOperator, PythonTable};
use crate::resolved::{Resolved, built, project};
use crate::scope::Scope;
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, LogicalPlanBuilder};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{
    Expr, ExprKind, Join, JoinCondition, JoinType, LateralView, PythonFunction, RelationKind, TableArgumentOptions,
};
use firesteel_python::EvalType;
use firesteel_types::{DataType, Literal};
use std::sync::Arc;

/// A table function in FROM.
pub(crate) fn table(
    a: &mut Analyzer<'_>,
    function: &PythonFunction,
    options: Option<&TableArgumentOptions>,
) -> Result<Resolved> {
    let mut arguments = table_argument::arguments(a, function, options, &Scope::default())?;
    let rows = rows(a, function, &mut arguments)?;
    let (input, partition) = match arguments.joined(a)? {
        Some(tables) => tables,
        None => (leaf::one_row()?.plan, Vec::new()),
    };
    let (plan, output) = call(function, arguments, rows, input, Use::Alone { partition })?;
    Ok(Resolved::leaf(plan, output))
}

/// A table function for each row of a relation.
pub(crate) fn over(
    a: &mut Analyzer<'_>,
    input: Resolved,
    function: &PythonFunction,
    view: &LateralView,
) -> Result<Resolved> {
    let scope = a.scope(&[&input]);
    let mut arguments = table_argument::arguments(a, function, None, &scope)?;
    if arguments.has_tables() {
        return Err(SparkError::unsupported("a table as an argument in LATERAL VIEW"));
    }
    let rows = rows(a, function, &mut arguments)?;
    let of_rows = Use::OfRows { is_outer: view.is_outer };
    let (plan, mut made) = call(function, arguments, rows, input.plan.clone(), of_rows)?;
    if !view.column_aliases.is_empty() {
        if view.column_aliases.len() != made.len() {
            return Err(SparkError::new("UDTF_ALIAS_NUMBER_MISMATCH")
                .with("aliasesSize", made.len().to_string())
                .with("aliasesNames", view.column_aliases.join(",")));
        }
        let mut expressions: Vec<DfExpr> = input.plan.schema().columns().into_iter().map(DfExpr::Column).collect();
        for (attribute, name) in made.iter_mut().zip(&view.column_aliases) {
            let renamed = Attribute { name: name.clone(), ..attribute.renewed() };
            expressions.push(attribute.expr().alias(renamed.column_name()));
            *attribute = renamed;
        }
        let plan = project(plan, expressions)?;
        return Ok(passed(input, plan, made, view));
    }
    Ok(passed(input, plan, made, view))
}

/// A lateral join with a Python table function, which is the function over the left side. None for other joins.
pub(crate) fn lateral(a: &mut Analyzer<'_>, left: &Resolved, join: &Join) -> Result<Option<Resolved>> {
    let (is_outer, condition) = match (join.join_type, &join.condition) {
        (JoinType::Inner | JoinType::Cross, JoinCondition::None) => (false, None),
        (JoinType::Inner, JoinCondition::On(condition)) => (false, Some(condition)),
        (JoinType::LeftOuter, JoinCondition::None) => (true, None),
        (JoinType::LeftOuter, JoinCondition::On(condition)) if is_true(condition) => (true, None),
        _ => return Ok(None),
    };
    let (mut right, mut alias, mut columns) = (&join.right, None, Vec::new());
    while let RelationKind::SubqueryAlias { input, alias: name, columns: names, .. } = right.kind() {
        if alias.is_none() {
            alias = Some(name.clone());
            columns.clone_from(names);
        }
        right = input;
    }
    let function = match right.kind() {
        RelationKind::PythonTableFunction { function, .. } => function.clone(),
        RelationKind::TableFunction(call) => match a.env.user_function(&call.name)? {
            Some(UserFunction::Python(function)) => PythonFunction { arguments: call.arguments.clone(), ..function },
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let is_table = |e: &Expr| match &e.kind {
        ExprKind::NamedArgument { value, .. } => matches!(value.kind, ExprKind::Subquery { .. }),
        kind => matches!(kind, ExprKind::Subquery { .. }),
    };
    if function.arguments.iter().any(is_table) {
        return Ok(None);
    }
    if EvalType(function.eval_type) == EvalType::ARROW_UDTF {
        return Err(SparkError::new("LATERAL_JOIN_WITH_ARROW_UDTF_UNSUPPORTED"));
    }
    let arguments = function.arguments.into_iter().map(inner).collect();
    let function = PythonFunction { arguments, ..function };
    let view = LateralView {
        input: join.left.clone(),
        generator: Expr::star(),
        is_outer,
        table_alias: alias,
        column_aliases: columns,
    };
    let mut joined = over(a, left.clone(), &function, &view)?;
    if let Some(condition) = condition {
        let scope = a.scope(&[&joined]);
        let typed = boolean(a.expression(condition, &scope)?, "JOIN")?;
        let plan = LogicalPlanBuilder::from(joined.plan).filter(typed.expr);
        joined.plan = built(plan.and_then(LogicalPlanBuilder::build))?;
    }
    Ok(Some(joined))
}

fn is_true(condition: &Expr) -> bool {
    matches!(condition.kind, ExprKind::Literal(Literal::Boolean(true)))
}

/// An argument as the left side sees it.
fn inner(argument: Expr) -> Expr {
    let kind = match argument.kind {
        ExprKind::Outer(child) => return inner(*child),
        ExprKind::NamedArgument { name, value } => ExprKind::NamedArgument { name, value: Box::new(inner(*value)) },
        kind => kind,
    };
    Expr::new(kind).at(argument.origin)
}

fn passed(input: Resolved, plan: LogicalPlan, made: Vec<Attribute>, view: &LateralView) -> Resolved {
    let qualifier: Vec<String> = view.table_alias.iter().cloned().collect();
    let mut output = input.output.clone();
    output.extend(made.into_iter().map(|attribute| attribute.with_qualifier(&qualifier)));
    let mut resolved = Resolved::over(plan, output, &[&input]);
    resolved.hidden.clone_from(&input.hidden);
    resolved
}

/// The rows that the function makes: it says so, or is asked.
fn rows(a: &Analyzer<'_>, function: &PythonFunction, arguments: &mut Arguments) -> Result<Rows> {
    if !EvalType(function.eval_type).is_table() {
        return Err(
            SparkError::new("NOT_A_TABLE_FUNCTION").with("functionName", crate::attribute::quote(&function.name))
        );
    }
    match &function.output_type {
        Some(declared) => Rows::declared(declared),
        None => table_argument::analysed(a, function, arguments),
    }
}

/// What a function is called for.
enum Use {
    /// Once, or for the rows of its table arguments.
    Alone {
        /// Fields of the table argument by which its rows are partitioned.
        partition: Vec<i32>,
    },
    /// For each row of a relation, which stands before what comes of it.
    OfRows {
        /// Rows of which nothing comes stay, with nulls.
        is_outer: bool,
    },
}

/// The operator and the columns that it makes.
fn call(
    function: &PythonFunction,
    arguments: Arguments,
    rows: Rows,
    input: LogicalPlan,
    used: Use,
) -> Result<(LogicalPlan, Vec<Attribute>)> {
    let (partition, passes_input, is_outer) = match used {
        Use::Alone { partition } => (partition, false, false),
        Use::OfRows { is_outer } => (Vec::new(), true, is_outer),
    };
    let attribute = |field| {
        let attribute = Attribute::from_field(field);
        let nullable = attribute.nullable || is_outer;
        attribute.with_nullable(nullable)
    };
    let output: Vec<Attribute> = rows.schema.fields.iter().map(attribute).collect();
    let declared = PythonFunction { output_type: Some(DataType::Struct(Arc::new(rows.schema))), ..function.clone() };
    let call = expression::python_call(&declared, EvalType(function.eval_type), &arguments.values, &arguments.names);
    let table = PythonTable {
        call: Arc::new(call),
        arguments: arguments.values.into_iter().map(|typed| typed.expr).collect(),
        partition,
        analysis: rows.analysis,
        names: output.iter().map(Attribute::column_name).collect(),
        passes_input,
        is_outer,
    };
    let plan = built(PythonOperator::new(PythonKind::Table(table), input))?;
    Ok((plan, output))
}
