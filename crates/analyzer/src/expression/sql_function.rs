//! Functions written in SQL: their bodies stand for their calls.

use super::name::{fields, outer_reference};
use crate::analyzer::{Analyzer, FunctionBody};
use crate::attribute::{Attribute, quote_parts};
use crate::environment::Parameter;
use crate::scope::Scope;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, ExprKind, FunctionCall};

/// The values of a function's parameters in a call; those left out have their defaults.
pub(crate) fn bind(
    a: &mut Analyzer<'_>,
    call: &FunctionCall,
    parameters: &[Parameter],
    scope: &Scope,
) -> Result<Vec<(String, TypedExpr)>> {
    let routine = || quote_parts(&call.name);
    let mut slots: Vec<Option<TypedExpr>> = vec![None; parameters.len()];
    let mut has_named = false;
    let wrong_number = || {
        SparkError::new("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
            .with("functionName", routine())
            .with("expectedNum", parameters.len().to_string())
            .with("actualNum", call.arguments.len().to_string())
            .with("docroot", "https://spark.apache.org/docs/latest")
    };
    for (i, argument) in call.arguments.iter().enumerate() {
        let (position, value) = match &argument.kind {
            ExprKind::NamedArgument { name, value } => {
                has_named = true;
                let position = parameters.iter().position(|p| p.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
                    let names: Vec<Vec<&str>> = parameters.iter().map(|p| vec![p.name.as_str()]).collect();
                    let near = firesteel_error::suggest::nearest(&[name], &names, 5);
                    SparkError::new("UNRECOGNIZED_PARAMETER_NAME")
                        .with("routineName", routine())
                        .with("argumentName", crate::attribute::quote(name))
                        .with("proposal", near.join(", "))
                })?;
                (position, value.as_ref())
            }
            _ if has_named => {
                return Err(SparkError::new("UNEXPECTED_POSITIONAL_ARGUMENT").with("routineName", routine()).with(
                    "parameterName",
                    crate::attribute::quote(parameters.get(i).map_or("", |p| p.name.as_str())),
                ));
            }
            _ => (i, argument),
        };
        let slot = slots.get_mut(position).ok_or_else(wrong_number)?;
        if slot.is_some() {
            let is_named = |e: &&Expr| matches!(e.kind, ExprKind::NamedArgument { .. });
            let positional = call.arguments.iter().take_while(|e| !is_named(e)).count();
            return Err(SparkError::new(super::call::twice(position, positional))
                .with("routineName", routine())
                .with("parameterName", crate::attribute::quote(&parameters[position].name)));
        }
        *slot = Some(a.expression(value, scope)?);
    }
    let mut bound = Vec::with_capacity(parameters.len());
    for (i, (parameter, slot)) in parameters.iter().zip(slots).enumerate() {
        let value = match (slot, &parameter.default) {
            (Some(value), _) => value,
            (None, Some(default)) => a.constant(default)?,
            (None, None) if has_named => {
                return Err(SparkError::new("REQUIRED_PARAMETER_NOT_FOUND")
                    .with("routineName", routine())
                    .with("parameterName", crate::attribute::quote(&parameter.name))
                    .with("index", i.to_string()));
            }
            (None, None) => return Err(wrong_number()),
        };
        bound.push((parameter.name.clone(), super::implicit_cast(a, value, &parameter.data_type)?));
    }
    Ok(bound)
}

/// Analyses something of a function's body: it sees the parameters, and nothing of the caller, not even settings.
pub(crate) fn within<T>(
    a: &mut Analyzer<'_>,
    (name, full_name): (&str, &str),
    parameters: Vec<(String, TypedExpr)>,
    settings: &[(String, String)],
    analyse: impl FnOnce(&mut Analyzer<'_>) -> Result<T>,
) -> Result<T> {
    let is_caller = a.function_path.iter().any(|f| f.eq_ignore_ascii_case(full_name));
    a.function_path.push(full_name.to_string());
    if is_caller {
        let path = std::mem::take(&mut a.function_path).join(" -> ");
        return Err(SparkError::new("CYCLIC_FUNCTION_REFERENCE").with("path", path));
    }
    let body = FunctionBody { name: name.to_string(), parameters, depth: a.outer.len() };
    let function = a.function.replace(body);
    let lambdas = std::mem::take(&mut a.lambdas);
    let aliases = std::mem::take(&mut a.aliases);
    let ctes = std::mem::take(&mut a.ctes);
    let references = std::mem::take(&mut a.references);
    let windows = std::mem::take(&mut a.windows);
    let around = std::mem::take(&mut a.aggregates);
    let result = match a.env.recalling(settings) {
        Some(env) => a.under(env.as_ref(), analyse),
        None => analyse(a),
    };
    a.aggregates = around;
    a.function_path.pop();
    a.function = function;
    a.lambdas = lambdas;
    a.aliases = aliases;
    a.ctes = ctes;
    a.references = references;
    a.windows = windows;
    result
}

/// The body of a scalar function for its call.
pub(crate) fn scalar(
    a: &mut Analyzer<'_>,
    call: &FunctionCall,
    (full_name, parameters, settings): (&str, &[Parameter], &[(String, String)]),
    body: &Expr,
    scope: &Scope,
) -> Result<(TypedExpr, Vec<String>)> {
    let mut texts = Vec::new();
    for (i, argument) in call.arguments.iter().enumerate() {
        let (position, value) = match &argument.kind {
            ExprKind::NamedArgument { name, value } => {
                let position = parameters.iter().position(|p| p.name.eq_ignore_ascii_case(name));
                (position.unwrap_or(i), value.as_ref())
            }
            _ => (i, argument),
        };
        texts.push((position, a.expression(value, scope)?.name));
    }
    // Calls are shown with their arguments in the parameters' order.
    texts.sort_by_key(|(position, _)| *position);
    let texts = texts.into_iter().map(|(_, text)| text).collect();
    let full = FunctionCall { name: full_name.split('.').map(str::to_string).collect(), ..call.clone() };
    let bound = bind(a, &full, parameters, scope)?;
    let name = call.name.last().cloned().unwrap_or_default();
    let body = within(a, (&name, full_name), bound, settings, |a| a.expression(body, &scope.closed()))?;
    Ok((body, texts))
}

/// A parameter of the function whose body is analysed, `name` or `function.name`, or a field of it.
pub(super) fn parameter(a: &mut Analyzer<'_>, name: &[String], scope: &Scope) -> Result<Option<TypedExpr>> {
    let Some(function) = &a.function else { return Ok(None) };
    let find = |part: &String| function.parameters.iter().find(|(n, _)| scope.same_name(n, part)).map(|(_, v)| v);
    let found = match name {
        [qualifier, part, rest @ ..] if scope.same_name(qualifier, &function.name) && find(part).is_some() => {
            find(part).map(|value| (value, rest))
        }
        [part, rest @ ..] => find(part).map(|value| (value, rest)),
        [] => None,
    };
    let Some((value, rest)) = found else { return Ok(None) };
    let (mut value, rest, depth) = (value.clone(), rest.to_vec(), function.depth);
    if a.outer.len() > depth + 1 {
        // A query within a query of the body: it sees the one around it alone.
        return Ok(None);
    }
    if let Some(caller) = a.outer.get(depth) {
        // Within a subquery of the body the caller's columns are outer ones.
        let columns = &caller.scope;
        let transformed = value.expr.transform(|e| {
            Ok(match &e {
                DfExpr::Column(column) => {
                    let known = columns.attributes.iter().chain(&columns.hidden).chain(&columns.below);
                    match known.into_iter().find(|x| x.column_name() == column.name) {
                        Some(attribute) => Transformed::yes(outer_reference(attribute)),
                        None => Transformed::no(e),
                    }
                }
                _ => Transformed::no(e),
            })
        });
        value.expr = crate::resolved::built(transformed)?.data;
    }
    fields(a, value, &rest).map(Some)
}

/// The error of a name in a function's body that means nothing there.
pub(super) fn unresolved(a: &Analyzer<'_>, name: &[String], scope: &Scope) -> SparkError {
    match &a.function {
        Some(function) if scope.is_closed() => {
            let parameters = function.parameters.iter().map(|(n, v)| Attribute::new(n, v.data_type.clone(), true));
            Scope::of(parameters.collect(), a.case_sensitive()).unresolved(name)
        }
        _ => scope.unresolved(name),
    }
}

/// The error of a SQL function in an operator that cannot have one.
pub(crate) fn refuse_sql_functions(a: &mut Analyzer<'_>, operator: &str) -> Result<()> {
    match std::mem::take(&mut a.sql_functions).first() {
        None => Ok(()),
        Some(function) => Err(SparkError::new("UNSUPPORTED_SQL_UDF_USAGE")
            .with("functionName", quote_parts(function))
            .with("nodeName", operator)),
    }
}
