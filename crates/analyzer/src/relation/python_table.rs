//! Table functions in Python.

use super::leaf;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::environment::UserFunction;
use crate::exchange::{Scheme, exchange, local_sort};
use crate::expression;
use crate::python::{PythonKind, PythonOperator, PythonTable};
use crate::resolved::{Resolved, built, project};
use crate::scope::Scope;
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, SortExpr};
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{
    Expr, ExprKind, Join, JoinCondition, JoinType, LateralView, PythonFunction, Relation, RelationKind, SubqueryKind,
    TableArgumentOptions,
};
use firesteel_python::EvalType;
use firesteel_types::{DataType, StructType};
use std::sync::Arc;

/// A call's arguments, analysed.
#[derive(Default)]
struct Arguments {
    values: Vec<TypedExpr>,
    names: Vec<Option<String>>,
    /// The table argument's rows, and its fields by which they are partitioned.
    table: Option<(LogicalPlan, Vec<i32>)>,
}

/// A table function in FROM.
pub(crate) fn table(
    a: &mut Analyzer<'_>,
    function: &PythonFunction,
    options: Option<&TableArgumentOptions>,
) -> Result<Resolved> {
    let arguments = arguments(a, function, options, &Scope::default())?;
    let (input, partition) = match &arguments.table {
        Some((plan, partition)) => (plan.clone(), partition.clone()),
        None => (leaf::one_row()?.plan, Vec::new()),
    };
    let (plan, output) = call(function, arguments, input, partition, false)?;
    Ok(Resolved::leaf(plan, output))
}

/// A table function for each row of a relation.
pub(crate) fn over(
    a: &mut Analyzer<'_>,
    input: Resolved,
    function: &PythonFunction,
    view: &LateralView,
) -> Result<Resolved> {
    if view.is_outer {
        return Err(SparkError::unsupported("LATERAL VIEW OUTER of a Python table function"));
    }
    let scope = a.scope(&[&input]);
    let arguments = arguments(a, function, None, &scope)?;
    if arguments.table.is_some() {
        return Err(SparkError::unsupported("a table as an argument in LATERAL VIEW"));
    }
    let (plan, mut made) = call(function, arguments, input.plan.clone(), Vec::new(), true)?;
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
    if !matches!(join.join_type, JoinType::Inner | JoinType::Cross) || join.condition != JoinCondition::None {
        return Ok(None);
    }
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
            Some(UserFunction::Python(function)) => {
                alias = alias.or_else(|| call.name.last().cloned());
                PythonFunction { arguments: call.arguments.clone(), ..function }
            }
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
    let arguments = function.arguments.into_iter().map(inner).collect();
    let function = PythonFunction { arguments, ..function };
    let view = LateralView {
        input: join.left.clone(),
        generator: Expr::star(),
        is_outer: false,
        table_alias: alias,
        column_aliases: columns,
    };
    over(a, left.clone(), &function, &view).map(Some)
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

/// The operator and the columns that it makes.
fn call(
    function: &PythonFunction,
    arguments: Arguments,
    input: LogicalPlan,
    partition: Vec<i32>,
    passes_input: bool,
) -> Result<(LogicalPlan, Vec<Attribute>)> {
    let eval_type = EvalType(function.eval_type);
    if !eval_type.is_table() {
        return Err(
            SparkError::new("NOT_A_TABLE_FUNCTION").with("functionName", crate::attribute::quote(&function.name))
        );
    }
    let schema: StructType = match &function.output_type {
        Some(DataType::Struct(schema)) => schema.as_ref().clone(),
        Some(other) => {
            return Err(SparkError::unsupported(format!("rows of type {} from a Python function", other.sql())));
        }
        None => return Err(SparkError::unsupported("Python table functions with analyze()")),
    };
    let output: Vec<Attribute> =
        schema.fields.iter().map(|field| Attribute::from_field(field).with_nullable(true)).collect();
    let call = expression::python_call(function, eval_type, &arguments.values, &arguments.names);
    let table = PythonTable {
        call: Arc::new(call),
        arguments: arguments.values.into_iter().map(|typed| typed.expr).collect(),
        partition,
        analysis: None,
        names: output.iter().map(Attribute::column_name).collect(),
        passes_input,
    };
    let plan = built(PythonOperator::new(PythonKind::Table(table), input))?;
    Ok((plan, output))
}

fn arguments(
    a: &mut Analyzer<'_>,
    function: &PythonFunction,
    options: Option<&TableArgumentOptions>,
    scope: &Scope,
) -> Result<Arguments> {
    let mut arguments = Arguments::default();
    for argument in &function.arguments {
        let (name, value) = match &argument.kind {
            ExprKind::NamedArgument { name, value } => (Some(name.clone()), value.as_ref()),
            _ => (None, argument),
        };
        if let Some(name) = &name
            && arguments.names.iter().flatten().any(|known| known == name)
        {
            return Err(SparkError::new("DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE")
                .with("routineName", crate::attribute::quote(&function.name))
                .with("parameterName", crate::attribute::quote(name)));
        }
        if name.is_none() && arguments.names.iter().any(Option::is_some) {
            return Err(SparkError::new("UNEXPECTED_POSITIONAL_ARGUMENT")
                .with("routineName", crate::attribute::quote(&function.name))
                .with("parameterName", a.expression(value, scope)?.name));
        }
        let typed = match &value.kind {
            ExprKind::Subquery { kind: SubqueryKind::Table(own), query } => {
                if arguments.table.is_some() {
                    return Err(SparkError::new("TABLE_VALUED_FUNCTION_TOO_MANY_TABLE_ARGUMENTS").with("num", "2"));
                }
                let own = if *own == TableArgumentOptions::default() { options.unwrap_or(own) } else { own };
                let (plan, row, partition) = table_argument(a, query, own)?;
                arguments.table = Some((plan, partition));
                row
            }
            _ => a.expression(value, scope)?,
        };
        arguments.values.push(typed);
        arguments.names.push(name);
    }
    Ok(arguments)
}

/// A table argument: its rows as one struct column, in the partitions and order that are asked for.
fn table_argument(
    a: &mut Analyzer<'_>,
    query: &Relation,
    options: &TableArgumentOptions,
) -> Result<(LogicalPlan, TypedExpr, Vec<i32>)> {
    let input = a.relation(query)?;
    let scope = a.scope(&[&input]);
    let mut plan = input.plan.clone();
    let mut fields: Vec<TypedExpr> = input.output.iter().map(Attribute::typed).collect();
    let mut names: Vec<String> = input.output.iter().map(|column| column.name.clone()).collect();
    let mut partition = Vec::new();
    let mut sort: Vec<SortExpr> = Vec::new();
    for expr in &options.partition_by {
        let typed = a.expression(expr, &scope)?;
        // The worker takes these fields away before user code sees the row.
        partition.push(i32::try_from(fields.len()).map_err(|_| SparkError::internal("too many columns"))?);
        names.push(format!("partition_by_{}", partition.len() - 1));
        fields.push(typed.clone());
        sort.push(SortExpr::new(expression::key(a, &typed)?, true, true));
    }
    for order in &options.order_by {
        let (key, _) = expression::sort_key(a, order, &scope)?;
        sort.push(key);
    }
    // All partitions are of one worker: they follow one another there.
    if options.with_single_partition || !options.partition_by.is_empty() {
        plan = exchange(plan, Scheme::Coalesce, 1);
    }
    if !sort.is_empty() {
        plan = local_sort(plan, sort);
    }
    let mut arguments = Vec::with_capacity(fields.len() * 2);
    for (name, field) in names.into_iter().zip(fields) {
        arguments.push(expression::literal(&firesteel_types::Literal::String(name))?);
        arguments.push(field);
    }
    let row = a.build_context(&firesteel_plan::Origin::Unknown).call("named_struct", arguments)?;
    let attribute = Attribute::new("table", row.data_type.clone(), false);
    let plan = project(plan, vec![row.expr.clone().alias(attribute.column_name())])?;
    Ok((plan, attribute.typed(), partition))
}
