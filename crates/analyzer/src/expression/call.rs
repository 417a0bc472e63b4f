//! Calls of functions.

use super::{expand, lambda, output_name};
use crate::analyzer::Analyzer;
use crate::attribute::{quote, quote_parts};
use crate::environment::UserFunction;
use crate::scope::Scope;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr as DfExpr, SortExpr};
use firesteel_error::{Result, SparkError};
use firesteel_functions::{AggregateCall, Body, Function, Group, TypedExpr, registry};
use firesteel_plan::{Expr, ExprKind, FunctionCall, Origin, PythonFunction, SortOrder, SubqueryKind};
use firesteel_types::{DataType, Literal};
use std::borrow::Cow;

/// Analyses a call by name.
pub(crate) fn function(a: &mut Analyzer<'_>, call: &FunctionCall, origin: &Origin, scope: &Scope) -> Result<TypedExpr> {
    call_by_name(a, call, origin, scope, false)
}

/// Analyses a call that stands before OVER: aggregates in its arguments are those of the query's groups.
pub(crate) fn windowed(a: &mut Analyzer<'_>, call: &FunctionCall, origin: &Origin, scope: &Scope) -> Result<TypedExpr> {
    call_by_name(a, call, origin, scope, true)
}

fn call_by_name(
    a: &mut Analyzer<'_>,
    call: &FunctionCall,
    origin: &Origin,
    scope: &Scope,
    is_windowed: bool,
) -> Result<TypedExpr> {
    let parsed = parsed_arguments(a, call)?;
    let call = parsed.as_ref().unwrap_or(call);
    let Some(name) = builtin_name(&call.name) else { return user_function(a, call, origin, scope) };
    let name = super::operator::function_of(name, &call.arguments);
    if let Some(special) = special(a, &name, call, origin, scope)? {
        return Ok(special);
    }
    let Some(function) = registry::lookup(&name) else { return user_function(a, call, origin, scope) };
    // What SQL does not know of is in nobody's way.
    if function.group == Group::Internal && !call.is_internal && a.env.user_function(&call.name)?.is_some() {
        return user_function(a, call, origin, scope);
    }
    let ordered = in_order(function, &name, call)?;
    let call = &*ordered;
    match &function.body {
        Body::Scalar { .. } | Body::Build(_) | Body::Named(_) => {
            refuse_aggregate_syntax(&name, call)?;
            super::operator::refuse_stars(call, origin)?;
            let arguments = arguments(a, &call.arguments, scope)?;
            let arguments = super::collation::common(function, &call.arguments, arguments)?;
            let collation = super::collation::of(&arguments);
            let text = super::operator::text(&call.name, &arguments);
            let arguments = super::char_padding::padded(a, function.name, arguments, scope)?;
            let mut context = a.build_context(origin);
            let built = function.build(&mut context, arguments)?;
            let built = super::collation::passed_on(function, collation.as_ref(), built);
            Ok(match text {
                Some(text) => built.named(text),
                None => built,
            })
        }
        Body::Aggregate(build) => {
            a.aggregates += 1;
            let built = aggregate(a, function, *build, call, (origin, is_windowed), scope);
            a.aggregates -= 1;
            built
        }
        Body::HigherOrder(higher_order) => {
            refuse_aggregate_syntax(&name, call)?;
            lambda::call(a, function, *higher_order, call, origin, scope)
        }
        Body::Window(_) => Err(SparkError::new("WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE")
            .with("funcName", format!("\"{}\"", function.call_text(&[])))),
        Body::Generator(_) if function.group == Group::TableValued => {
            Err(SparkError::new("NOT_A_SCALAR_FUNCTION").with("functionName", quote_parts(&call.name)))
        }
        Body::Generator(_) => {
            Err(SparkError::new("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS")
                .with("expression", format!("\"{name}\"")))
        }
    }
}

/// The call with pieces of SQL text among its arguments parsed: they may be stars or lambdas.
fn parsed_arguments(a: &Analyzer<'_>, call: &FunctionCall) -> Result<Option<FunctionCall>> {
    if !call.arguments.iter().any(|e| matches!(e.kind, ExprKind::SqlText(_))) {
        return Ok(None);
    }
    let options = crate::relation::parser_options(a);
    let arguments = call
        .arguments
        .iter()
        .map(|e| match &e.kind {
            ExprKind::SqlText(text) => {
                firesteel_sql::parse_expression(&crate::relation::substituted(a, text)?, &options)
            }
            _ => Ok(e.clone()),
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Some(FunctionCall { arguments, ..call.clone() }))
}

/// The lower-case name of a call that may be a built-in's: one part, or in `system.builtin`.
pub(crate) fn builtin_name(name: &[String]) -> Option<String> {
    match name {
        [one] => Some(one.to_lowercase()),
        [schema, one] if schema.eq_ignore_ascii_case("builtin") => Some(one.to_lowercase()),
        [catalog, schema, one] if catalog.eq_ignore_ascii_case("system") && schema.eq_ignore_ascii_case("builtin") => {
            Some(one.to_lowercase())
        }
        _ => None,
    }
}

/// The built-in generator that a call names.
pub(crate) fn generator(expr: &Expr) -> Option<(&'static Function, &FunctionCall)> {
    let ExprKind::Function(call) = &expr.kind else { return None };
    let function = registry::lookup(&builtin_name(&call.name)?)?;
    // Some generators are table functions only.
    (function.is_generator() && function.group != Group::TableValued).then_some((function, call))
}

/// Analyses arguments; stars become columns.
pub(crate) fn arguments(a: &mut Analyzer<'_>, arguments: &[Expr], scope: &Scope) -> Result<Vec<TypedExpr>> {
    let mut typed = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match expand(a, argument, scope)? {
            Some(columns) => typed.extend(columns.into_iter().map(|(_, t)| t)),
            None => {
                let value = super::nested(a, argument, scope)?;
                typed.push(value);
            }
        }
    }
    Ok(typed)
}

/// Calls whose meaning needs more than the arguments' values.
fn special(
    a: &mut Analyzer<'_>,
    name: &str,
    call: &FunctionCall,
    origin: &Origin,
    scope: &Scope,
) -> Result<Option<TypedExpr>> {
    match name {
        "struct" => struct_of(a, call, origin, scope).map(Some),
        "input_file_name" | "input_file_block_start" | "input_file_block_length" if call.arguments.is_empty() => {
            super::file::file_fact(a, name, origin, scope).map(Some)
        }
        "grouping" | "grouping_id" => grouping(a, name, call, scope).map(Some),
        // `NOT LIKE ALL`: like none of them; `NOT LIKE ANY`: not like all of them.
        "notlikeall" => negated(a, "likeany", call, origin, scope).map(Some),
        "notlikeany" => negated(a, "likeall", call, origin, scope).map(Some),
        "in" => match call.arguments.as_slice() {
            [value, Expr { kind: ExprKind::Subquery { kind: SubqueryKind::Scalar, query }, .. }] => {
                let kind = SubqueryKind::In(vec![value.clone()]);
                super::subquery::subquery(a, &kind, query, scope).map(Some)
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// A call that is true where another function's is false, under its own name.
fn negated(
    a: &mut Analyzer<'_>,
    function: &str,
    call: &FunctionCall,
    origin: &Origin,
    scope: &Scope,
) -> Result<TypedExpr> {
    let value = match call.arguments.first() {
        Some(value) => a.expression(value, scope)?.name,
        None => String::new(),
    };
    let text = format!("{}({value})", call.name.join("."));
    let inner = Expr::call(function, call.arguments.clone()).at(origin.clone());
    let typed = a.expression(&Expr::call("not", vec![inner]).at(origin.clone()), scope)?;
    Ok(typed.named(text))
}

/// `struct(a, b + 1 AS c)`: fields named after the arguments.
fn struct_of(a: &mut Analyzer<'_>, call: &FunctionCall, origin: &Origin, scope: &Scope) -> Result<TypedExpr> {
    let mut fields = Vec::new();
    let mut texts = Vec::new();
    for argument in &call.arguments {
        let expanded = match expand(a, argument, scope)? {
            Some(columns) => columns,
            None => {
                let position = fields.len() / 2 + 1;
                let typed = a.expression(argument, scope)?;
                let name = match &argument.kind {
                    ExprKind::Alias { names, .. } if names.len() == 1 => names[0].clone(),
                    ExprKind::NamedArgument { name, .. } => name.clone(),
                    ExprKind::Attribute { .. } | ExprKind::LambdaVariable(_) => output_name(argument, &typed),
                    ExprKind::ExtractValue { extraction, .. } => match &extraction.kind {
                        ExprKind::Literal(Literal::String(field)) => field.clone(),
                        _ => format!("col{position}"),
                    },
                    _ => format!("col{position}"),
                };
                texts.push(match &argument.kind {
                    ExprKind::Alias { .. } => format!("{} AS {}", alias_child_text(a, argument, scope, &typed)?, name),
                    _ => typed.name.clone(),
                });
                vec![(name, typed)]
            }
        };
        for (name, typed) in expanded {
            if texts.len() < fields.len() / 2 + 1 {
                texts.push(typed.name.clone());
            }
            fields.push(super::literal(&Literal::String(name))?);
            fields.push(typed);
        }
    }
    let text = format!("struct({})", texts.join(", "));
    let mut context = a.build_context(origin);
    Ok(context.call("named_struct", fields)?.named(text))
}

fn alias_child_text(a: &mut Analyzer<'_>, alias: &Expr, scope: &Scope, typed: &TypedExpr) -> Result<String> {
    match &alias.kind {
        ExprKind::Alias { child, .. } => Ok(a.expression(child, scope)?.name),
        _ => Ok(typed.name.clone()),
    }
}

/// `grouping(x)` and `grouping_id(…)` become columns that the aggregation fills in.
fn grouping(a: &mut Analyzer<'_>, name: &str, call: &FunctionCall, scope: &Scope) -> Result<TypedExpr> {
    let arguments = arguments(a, &call.arguments, scope)?;
    let texts: Vec<String> = arguments.iter().map(|t| t.name.clone()).collect();
    let text = format!("{name}({})", texts.join(", "));
    Ok(crate::relation::grouping_marker(name == "grouping", &arguments).named(text))
}

fn refuse_aggregate_syntax(name: &str, call: &FunctionCall) -> Result<()> {
    let refused = if call.is_distinct {
        "DISTINCT"
    } else if call.filter.is_some() {
        "FILTER CLAUSE"
    } else if !call.within_group.is_empty() {
        "WITHIN GROUP (ORDER BY ...)"
    } else if call.ignore_nulls == Some(true) {
        "IGNORE NULLS"
    } else {
        return Ok(());
    };
    Err(SparkError::new("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX")
        .with("prettyName", quote(name))
        .with("syntax", refused))
}

/// The text of the aggregate within an expression.
fn aggregate_within(a: &mut Analyzer<'_>, expr: &Expr, scope: &Scope) -> Option<String> {
    let ExprKind::Function(call) = &expr.kind else { return None };
    call.arguments.iter().find_map(|argument| aggregate_within(a, argument, scope)).or_else(|| {
        let is_aggregate = builtin_name(&call.name)
            .and_then(|name| registry::lookup(&name))
            .is_some_and(|function| matches!(function.body, Body::Aggregate(_)));
        if is_aggregate { a.expression(expr, scope).ok().map(|typed| typed.name) } else { None }
    })
}

fn aggregate(
    a: &mut Analyzer<'_>,
    function: &Function,
    build: fn(&mut firesteel_functions::BuildContext<'_>, AggregateCall) -> Result<TypedExpr>,
    call: &FunctionCall,
    (origin, is_windowed): (&Origin, bool),
    scope: &Scope,
) -> Result<TypedExpr> {
    let is_star = matches!(
        call.arguments.as_slice(),
        [Expr { kind: ExprKind::Star { target: None, except, .. }, .. }] if except.is_empty()
    ) && function.name == "count"
        && !call.is_distinct;
    if let [Expr { kind: ExprKind::Star { target: Some(target), .. }, .. }] = call.arguments.as_slice()
        && function.name == "count"
        && !call.is_distinct
        && !a.env.conf().count_of_table_star
        && !scope.star(target).is_empty()
    {
        return Err(SparkError::new("INVALID_USAGE_OF_STAR_WITH_TABLE_IDENTIFIER_IN_COUNT")
            .with("tableName", quote_parts(target))
            .without_context());
    }
    let used_before = a.outer.last().map_or(0, |o| o.used.len());
    let arguments = if is_star { Vec::new() } else { arguments(a, &call.arguments, scope)? };
    for (index, argument) in arguments.iter().enumerate() {
        if !is_windowed && contains_aggregate(&argument.expr) {
            let error = SparkError::new("NESTED_AGGREGATE_FUNCTION");
            return Err(match call.arguments.get(index) {
                Some(source) if call.arguments.len() == arguments.len() => crate::analyzer::at(error, &source.origin),
                _ => error,
            });
        }
        if !is_windowed && super::contains_window(&argument.expr) {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1031"));
        }
    }
    let is_volatile = arguments.iter().any(|argument| argument.expr.is_volatile());
    let texts: Vec<String> = arguments.iter().map(|t| t.name.clone()).collect();
    let text = function.call_text(&texts);
    let mut context = a.build_context(origin);
    let arguments =
        if is_star { arguments } else { function.signature.apply(function.name, &text, arguments, &mut context)? };
    let filter = match &call.filter {
        Some(filter) => {
            let typed = a.expression(filter, scope)?;
            if contains_aggregate(&typed.expr) {
                let within = aggregate_within(a, filter, scope).unwrap_or_else(|| typed.name.clone());
                return Err(SparkError::new("INVALID_AGGREGATE_FILTER.CONTAINS_AGGREGATE")
                    .with("filterExpr", format!("\"{}\"", typed.name))
                    .with("aggExpr", format!("\"{within}\"")));
            }
            if typed.data_type != DataType::Boolean {
                return Err(SparkError::new("INVALID_AGGREGATE_FILTER.NOT_BOOLEAN")
                    .with("filterExpr", format!("\"{}\"", typed.name)));
            }
            if super::contains_window(&typed.expr) {
                return Err(SparkError::new("INVALID_AGGREGATE_FILTER.CONTAINS_WINDOW_FUNCTION")
                    .with("filterExpr", format!("\"{}\"", typed.name))
                    .with("windowExpr", format!("\"{}\"", typed.name)));
            }
            Some(typed)
        }
        None => None,
    };
    let mut order_by = Vec::new();
    for key in &call.within_group {
        order_by.push(sort_key(a, key, scope)?);
    }
    let filter_text = filter.as_ref().map(|f| f.name.clone());
    let built = build(
        &mut context,
        AggregateCall {
            arguments,
            is_distinct: call.is_distinct,
            filter: filter.map(|f| f.expr),
            order_by,
            ignore_nulls: call.ignore_nulls,
            is_star,
        },
    )?;
    let built = match filter_text {
        Some(filter) => {
            let name = format!("{} FILTER (WHERE {filter})", built.name);
            built.named(name)
        }
        None => built,
    };
    if is_windowed {
        return Ok(built);
    }
    if is_volatile {
        return Err(SparkError::new("AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION")
            .with("sqlExpr", format!("\"{}\"", built.name)));
    }
    super::subquery::hoisted(a, built, used_before)
}

/// A sort key with its type.
pub(crate) fn sort_key(a: &mut Analyzer<'_>, key: &SortOrder, scope: &Scope) -> Result<(SortExpr, TypedExpr)> {
    let typed = a.expression(&key.child, scope)?;
    let sort = SortExpr::new(typed.expr.clone(), key.ascending, key.nulls_come_first());
    Ok((sort, typed))
}

/// True where an aggregate function is called within, subqueries and windows' own functions aside.
pub(crate) fn contains_aggregate(expr: &DfExpr) -> bool {
    expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false)
}

/// The condition of a parameter that is given twice.
pub(super) fn twice(position: usize, positional: usize) -> &'static str {
    if position < positional {
        "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.BOTH_POSITIONAL_AND_NAMED"
    } else {
        "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE"
    }
}

/// Built-in functions whose arguments may be given by name.
const NAMING: &[&str] = &[
    "count_min_sketch",
    "explode",
    "explode_outer",
    "inline",
    "inline_outer",
    "mask",
    "posexplode",
    "posexplode_outer",
    "tuple_sketch_agg_double",
    "tuple_sketch_agg_integer",
    "tuple_union_agg_double",
    "tuple_union_agg_integer",
    "tuple_union_double",
    "tuple_union_integer",
    "tuple_union_theta_double",
    "tuple_union_theta_integer",
    "variant_explode",
    "variant_explode_outer",
    "when",
];

/// Puts named arguments into their positions.
pub(crate) fn in_order<'c>(function: &Function, name: &str, call: &'c FunctionCall) -> Result<Cow<'c, FunctionCall>> {
    let is_named = |e: &Expr| matches!(e.kind, ExprKind::NamedArgument { .. });
    if !call.arguments.iter().any(is_named) {
        return Ok(Cow::Borrowed(call));
    }
    let is_naming = NAMING.iter().any(|known| known.eq_ignore_ascii_case(function.name));
    if !is_naming && !matches!(function.group, Group::Conversion | Group::Internal) {
        return Err(SparkError::new("NAMED_PARAMETERS_NOT_SUPPORTED").with("functionName", quote(name)));
    }
    let params = function.signature.params;
    let mut slots: Vec<Option<Expr>> = vec![None; params.len()];
    let mut has_named = false;
    let positional = call.arguments.iter().take_while(|e| !is_named(e)).count();
    for (i, argument) in call.arguments.iter().enumerate() {
        match &argument.kind {
            ExprKind::NamedArgument { name: parameter, value } => {
                has_named = true;
                let position = params.iter().position(|p| p.name.eq_ignore_ascii_case(parameter)).ok_or_else(|| {
                    let names: Vec<Vec<&str>> = params.iter().map(|p| vec![p.name]).collect();
                    let near = firesteel_error::suggest::nearest(&[parameter], &names, 5);
                    SparkError::new("UNRECOGNIZED_PARAMETER_NAME")
                        .with("routineName", quote(name))
                        .with("argumentName", quote(parameter))
                        .with("proposal", near.join(", "))
                })?;
                if slots[position].is_some() {
                    return Err(SparkError::new(twice(position, positional))
                        .with("routineName", quote(name))
                        .with("parameterName", quote(parameter)));
                }
                slots[position] = Some(value.as_ref().clone());
            }
            _ if has_named => {
                return Err(SparkError::new("UNEXPECTED_POSITIONAL_ARGUMENT")
                    .with("routineName", quote(name))
                    .with("parameterName", quote(params.get(i).map_or("", |p| p.name))));
            }
            _ => match slots.get_mut(i) {
                Some(slot) => *slot = Some(argument.clone()),
                None => slots.push(Some(argument.clone())),
            },
        }
    }
    while matches!(slots.last(), Some(None)) {
        slots.pop();
    }
    let mut arguments = Vec::new();
    for (i, slot) in slots.into_iter().enumerate() {
        match slot {
            Some(argument) => arguments.push(argument),
            None => {
                return Err(SparkError::new("REQUIRED_PARAMETER_NOT_FOUND")
                    .with("routineName", quote(name))
                    .with("parameterName", quote(params.get(i).map_or("", |p| p.name)))
                    .with("index", i.to_string()));
            }
        }
    }
    Ok(Cow::Owned(FunctionCall { arguments, ..call.clone() }))
}

fn user_function(a: &mut Analyzer<'_>, call: &FunctionCall, origin: &Origin, scope: &Scope) -> Result<TypedExpr> {
    match a.env.user_function(&call.name)? {
        Some(UserFunction::SqlScalar { name, parameters, returns, body, settings }) => {
            a.sql_functions.push(name.split('.').map(str::to_string).collect());
            let (mut body, texts) =
                super::sql_function::scalar(a, call, (&name, &parameters, &settings), &body, scope)?;
            if let Some(returns) = returns {
                body = super::implicit_cast(a, body, &returns)?;
            }
            // A call may give null whatever its body is.
            body.nullable = true;
            Ok(body.named(format!("{name}({})", texts.join(", "))))
        }
        Some(UserFunction::SqlTable { name, .. }) => {
            let parts: Vec<String> = name.split('.').map(str::to_string).collect();
            Err(SparkError::new("NOT_A_SCALAR_FUNCTION").with("functionName", quote_parts(&parts)))
        }
        Some(UserFunction::Python(function)) => {
            let function = PythonFunction { arguments: call.arguments.clone(), ..function };
            super::python::python(a, &function, scope).map_err(|e| crate::analyzer::at(e, origin))
        }
        None => Err(unresolved_routine(a, &call.name)),
    }
}

/// The error for a function that is not there.
pub(crate) fn unresolved_routine(a: &Analyzer<'_>, name: &[String]) -> SparkError {
    let facts = a.env.facts();
    let path = format!(
        "[`system`.`builtin`, `system`.`session`, {}.{}]",
        quote(&facts.current_catalog),
        quote(&facts.current_database)
    );
    SparkError::new("UNRESOLVED_ROUTINE").with("routineName", quote_parts(name)).with("searchPath", path)
}
