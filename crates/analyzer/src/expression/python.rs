//! Calls of Python functions.

use super::call::contains_aggregate;
use super::expand;
use crate::analyzer::Analyzer;
use crate::python::{PythonCall, PythonParameter, PythonUdaf, PythonUdf};
use crate::scope::Scope;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::expr::{AggregateFunction, ScalarFunction};
use datafusion::logical_expr::{AggregateUDF, Expr as DfExpr, ScalarUDF};
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{ExprKind, PythonFunction};
use firesteel_python::EvalType;
use firesteel_types::DataType;
use std::sync::Arc;

/// Analyses a call of a Python function.
pub(crate) fn python(a: &mut Analyzer<'_>, function: &PythonFunction, scope: &Scope) -> Result<TypedExpr> {
    let eval_type = EvalType(function.eval_type);
    if eval_type.is_table() {
        return Err(
            SparkError::new("NOT_A_SCALAR_FUNCTION").with("functionName", crate::attribute::quote(&function.name))
        );
    }
    if !eval_type.is_scalar() && !eval_type.is_aggregate() {
        return Err(SparkError::unsupported(format!("the Python function {} in an expression", function.name)));
    }
    let (arguments, names) = arguments(a, function, scope)?;
    let call = Arc::new(call(function, eval_type, &arguments, &names));
    let texts: Vec<String> = arguments
        .iter()
        .zip(&names)
        .map(|(argument, name)| match name {
            Some(name) => format!("{name} => {}", argument.name),
            None => argument.name.clone(),
        })
        .collect();
    let text = format!("{}({})", function.name, texts.join(", "));
    let is_of_lambda = |e: &DfExpr| e.exists(|e| Ok(matches!(e, DfExpr::LambdaVariable(_)))).unwrap_or(false);
    if arguments.iter().any(|argument| is_of_lambda(&argument.expr)) {
        return Err(SparkError::new("UNSUPPORTED_FEATURE.LAMBDA_FUNCTION_WITH_PYTHON_UDF")
            .with("funcName", format!("\"{text}\"")));
    }
    let returns = call.returns.clone();
    let args = arguments.iter().map(|argument| argument.expr.clone()).collect();
    let expr = if eval_type.is_aggregate() {
        if arguments.iter().any(|argument| contains_aggregate(&argument.expr)) {
            return Err(SparkError::new("NESTED_AGGREGATE_FUNCTION"));
        }
        let udaf = Arc::new(AggregateUDF::new_from_impl(PythonUdaf::new(call)));
        DfExpr::AggregateFunction(AggregateFunction::new_udf(udaf, args, false, None, Vec::new(), None))
    } else {
        let udf = Arc::new(ScalarUDF::new_from_impl(PythonUdf::new(call)));
        DfExpr::ScalarFunction(ScalarFunction::new_udf(udf, args))
    };
    Ok(TypedExpr::new(expr, returns, true, text))
}

/// The call of a function with arguments of these types.
pub(crate) fn call(
    function: &PythonFunction,
    eval_type: EvalType,
    arguments: &[TypedExpr],
    names: &[Option<String>],
) -> PythonCall {
    let parameters = arguments
        .iter()
        .zip(names)
        .map(|(argument, name)| PythonParameter { data_type: argument.data_type.clone(), name: name.clone() })
        .collect();
    PythonCall {
        name: function.name.clone(),
        command: function.command.clone(),
        python_version: function.python_version.clone(),
        eval_type,
        deterministic: function.deterministic,
        parameters,
        returns: function.output_type.clone().unwrap_or(DataType::STRING),
        instance: if function.deterministic { 0 } else { PythonCall::fresh_instance() },
    }
}

/// Arguments, and the names that the call gives them.
fn arguments(
    a: &mut Analyzer<'_>,
    function: &PythonFunction,
    scope: &Scope,
) -> Result<(Vec<TypedExpr>, Vec<Option<String>>)> {
    let routine = crate::attribute::quote(&function.name);
    let (mut typed, mut names) = (Vec::new(), Vec::new());
    for argument in &function.arguments {
        match &argument.kind {
            ExprKind::NamedArgument { name, value } => {
                if names.iter().flatten().any(|known| known == name) {
                    return Err(SparkError::new(
                        "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE",
                    )
                    .with("routineName", &routine)
                    .with("parameterName", crate::attribute::quote(name)));
                }
                typed.push(a.expression(value, scope)?);
                names.push(Some(name.clone()));
            }
            _ if names.iter().any(Option::is_some) => {
                let last = names.iter().flatten().next_back().map_or("", String::as_str);
                return Err(SparkError::new("UNEXPECTED_POSITIONAL_ARGUMENT")
                    .with("routineName", &routine)
                    .with("parameterName", crate::attribute::quote(last)));
            }
            _ => match expand(a, argument, scope)? {
                Some(columns) => {
                    for (_, column) in columns {
                        typed.push(column);
                        names.push(None);
                    }
                }
                None => {
                    typed.push(a.expression(argument, scope)?);
                    names.push(None);
                }
            },
        }
    }
    Ok((typed, names))
}
