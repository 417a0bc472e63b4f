//! Higher-order functions and their lambdas.

use super::expand;
use crate::analyzer::Analyzer;
use crate::scope::Scope;
use arrow::datatypes::Field;
use datafusion::logical_expr::Expr as DfExpr;
use datafusion::logical_expr::expr::{Lambda, LambdaVariable};
use firesteel_error::{Result, SparkError};
use firesteel_functions::function::{HigherOrder, LambdaArg, LambdaQuestion};
use firesteel_functions::{Function, TypedExpr};
use firesteel_plan::{Expr, ExprKind, FunctionCall, Origin};
use firesteel_types::{DataType, arrow_mapping};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A call with lambda arguments: values first, then each lambda with its
/// parameters typed by what is known so far.
pub(crate) fn call(
    a: &mut Analyzer<'_>,
    function: &Function,
    higher_order: HigherOrder,
    call: &FunctionCall,
    origin: &Origin,
    scope: &Scope,
) -> Result<TypedExpr> {
    function.signature.check_arity(function.name, call.arguments.len())?;
    let count = call.arguments.len();
    let mut values: Vec<Option<TypedExpr>> = Vec::with_capacity(count);
    for argument in &call.arguments {
        if matches!(argument.kind, ExprKind::Lambda { .. }) {
            values.push(None);
        } else if expand(a, argument, scope)?.is_some() {
            return Err(SparkError::new("INVALID_USAGE_OF_STAR_OR_REGEX")
                .with("elem", "'*'")
                .with("prettyName", format!("expression `{}`", function.name)));
        } else {
            values.push(Some(a.expression(argument, scope)?));
        }
    }
    let mut body_types: Vec<Option<DataType>> = vec![None; count];
    let mut result: Vec<Option<LambdaArg>> = vec![None; count];
    for (position, argument) in call.arguments.iter().enumerate() {
        if let ExprKind::Lambda { parameters, body } = &argument.kind {
            let types = (higher_order.lambda_parameters)(&LambdaQuestion {
                position,
                parameter_count: parameters.len(),
                values: &values,
                lambdas: &body_types,
                conf: a.env.conf(),
            })?;
            let lambda = bind(a, parameters, body, &types, scope)?;
            if let LambdaArg::Lambda { body, .. } = &lambda {
                body_types[position] = Some(body.data_type.clone());
            }
            result[position] = Some(lambda);
        }
    }
    let texts: Vec<String> = result
        .iter()
        .zip(&values)
        .map(|(lambda, value)| match (lambda, value) {
            (Some(LambdaArg::Lambda { parameters, body, .. }), _) => {
                format!("lambdafunction({}, {})", body.name, plain_names(parameters).join(", "))
            }
            (_, Some(value)) => value.name.clone(),
            _ => String::new(),
        })
        .collect();
    let arguments = result
        .into_iter()
        .zip(values)
        .map(|(lambda, value)| match (lambda, value) {
            (Some(lambda), _) => Ok(lambda),
            (None, Some(value)) => Ok(LambdaArg::Value(value)),
            (None, None) => Err(SparkError::internal("a lambda argument was lost")),
        })
        .collect::<Result<Vec<_>>>()?;
    let text = function.call_text(&texts);
    let mut context = a.build_context(origin);
    Ok((higher_order.build)(&mut context, arguments)?.named(text))
}

/// Spark's texts of lambdas name each parameter `namedlambdavariable()`.
fn plain_names(parameters: &[String]) -> Vec<String> {
    parameters.iter().map(|_| "namedlambdavariable()".to_string()).collect()
}

fn bind(
    a: &mut Analyzer<'_>,
    parameters: &[String],
    body: &Expr,
    types: &[(DataType, bool)],
    scope: &Scope,
) -> Result<LambdaArg> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if parameters.len() > types.len() {
        return Err(SparkError::new("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH")
            .with("expectedNumArgs", parameters.len().to_string())
            .with("actualNumArgs", types.len().to_string()));
    }
    for (i, p) in parameters.iter().enumerate() {
        if parameters[..i].iter().any(|q| scope.same_name(p, q)) {
            return Err(SparkError::new("INVALID_LAMBDA_FUNCTION_CALL.DUPLICATE_ARG_NAMES")
                .with("args", parameters.join(", "))
                .with("caseSensitiveConfig", "\"spark.sql.caseSensitive\""));
        }
    }
    let mut frame = Vec::new();
    let mut names = Vec::new();
    for (parameter, (data_type, nullable)) in parameters.iter().zip(types) {
        let unique = format!("{parameter}#λ{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let field = Arc::new(Field::new(&unique, arrow_mapping::to_arrow(data_type), *nullable));
        let variable = DfExpr::LambdaVariable(LambdaVariable::new(unique.clone(), Some(field)));
        frame
            .push((parameter.clone(), TypedExpr::new(variable, data_type.clone(), *nullable, "namedlambdavariable()")));
        names.push(unique);
    }
    a.lambdas.push(frame);
    let body = a.expression(body, scope);
    a.lambdas.pop();
    let body = body?;
    let lambda = DfExpr::Lambda(Lambda::new(names.clone(), body.expr.clone()));
    Ok(LambdaArg::Lambda { lambda, parameters: names, body })
}
