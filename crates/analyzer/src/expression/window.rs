//! Functions over windows.

use super::call::{self, builtin_name};
use super::frame::Fixed;
use crate::analyzer::Analyzer;
use crate::resolved::built;
use crate::scope::Scope;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{Expr as DfExpr, SortExpr, WindowFunctionDefinition};
use firesteel_error::{Result, SparkError};
use firesteel_functions::{Body, TypedExpr, WindowCall, registry};
use firesteel_plan::{Expr, ExprKind, Origin, WindowReference, WindowSpecification};
use firesteel_types::Literal;

/// Analyses `function OVER window`.
pub(crate) fn window(
    a: &mut Analyzer<'_>,
    function: &Expr,
    window: &WindowReference,
    origin: &Origin,
    scope: &Scope,
) -> Result<TypedExpr> {
    let specification = match window {
        WindowReference::Specification(s) => s.clone(),
        WindowReference::Named(name) => named_window(a, name)?,
    };
    let function = match &function.kind {
        ExprKind::Alias { child, .. } => child.as_ref(),
        _ => function,
    };
    let (inner, fixed_frame) = inner_function(a, function, scope)?;
    let offset = if fixed_frame == Some(FixedFrame::Offset) { offset_text(a, function, scope)? } else { None };
    let spec = analyse_specification(a, &specification, scope)?;
    if fixed_frame.is_some() && spec.order.is_empty() {
        return Err(not_ordered(function, &inner));
    }
    let name = function_name(function);
    let fixed = fixed_frame.map(|kind| Fixed { kind, function: &name, offset: offset.as_deref() });
    let framed = super::frame::frame(a, specification.frame.as_ref(), &spec, fixed)?;
    check_order_within(function, &spec, &framed, &inner)?;
    let text = match &offset {
        Some(offset) => spec.text(&format!("ROWS BETWEEN {offset} FOLLOWING AND {offset} FOLLOWING")),
        None => spec.text(&framed.text),
    };
    let text = format!("{} OVER ({text})", inner.name);
    if let Some((_, rest)) = text.split_once("lateralAliasReference(") {
        let alias = rest.split_once(')').map_or(rest, |(alias, _)| alias);
        return Err(SparkError::new("UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_WINDOW")
            .with("lca", crate::attribute::quote(alias))
            .with("windowExpr", format!("\"{text}\""))
            .without_context());
    }
    let frame = framed.frame;
    if matches!(&function.kind, ExprKind::Function(call) if call.is_distinct) {
        return Err(SparkError::new("DISTINCT_WINDOW_FUNCTION_UNSUPPORTED").with("windowExpr", format!("\"{text}\"")));
    }
    let transformed = built(inner.expr.clone().transform_down(|e| {
        let filled = match e {
            DfExpr::AggregateFunction(f) => WindowFunction {
                fun: WindowFunctionDefinition::AggregateUDF(f.func),
                params: WindowFunctionParams {
                    args: f.params.args,
                    partition_by: spec.partition_by(),
                    order_by: spec.order_by(),
                    window_frame: frame.clone(),
                    filter: f.params.filter,
                    null_treatment: f.params.null_treatment,
                    distinct: f.params.distinct,
                },
            },
            DfExpr::WindowFunction(mut f) => {
                f.params.partition_by = spec.partition_by();
                f.params.order_by = spec.order_by();
                f.params.window_frame = frame.clone();
                *f
            }
            other => return Ok(Transformed::no(other)),
        };
        Ok(Transformed::new(
            DfExpr::WindowFunction(Box::new(filled)),
            true,
            datafusion::common::tree_node::TreeNodeRecursion::Jump,
        ))
    }))?;
    let _ = origin;
    Ok(TypedExpr::new(transformed.data, inner.data_type, inner.nullable, text))
}

/// Aggregates with an order of their own take windows neither with an order nor with a frame.
fn check_order_within(function: &Expr, spec: &Analysed, framed: &super::frame::Frame, inner: &TypedExpr) -> Result<()> {
    let ExprKind::Function(call) = &function.kind else { return Ok(()) };
    let has_order = match function_name(function).as_str() {
        "median" | "percentile_cont" | "percentile_disc" => true,
        "listagg" | "string_agg" => !call.within_group.is_empty(),
        _ => false,
    };
    if !has_order || (spec.order.is_empty() && framed.text == super::frame::WHOLE) {
        return Ok(());
    }
    Err(SparkError::new("INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC").with("aggFunc", format!("\"{}\"", inner.name)))
}

/// The error for a function that needs an order in its window.
fn not_ordered(function: &Expr, inner: &TypedExpr) -> SparkError {
    SparkError::new("WINDOW_FUNCTION_FRAME_NOT_ORDERED")
        .with("wf_name", function_name(function))
        .with("wf_expr", inner.name.clone())
}

fn function_name(function: &Expr) -> String {
    match &function.kind {
        ExprKind::Function(call) => builtin_name(&call.name).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Finds a window of the WINDOW clause; its name counts as it is written.
fn named_window(a: &Analyzer<'_>, name: &str) -> Result<WindowSpecification> {
    a.windows.iter().rev().find_map(|w| w.iter().find(|(n, _)| n.as_str() == name).map(|(_, s)| s.clone())).ok_or_else(
        || {
            SparkError::new("MISSING_WINDOW_SPECIFICATION")
                .with("windowName", name)
                .with("docroot", "https://spark.apache.org/docs/latest")
        },
    )
}

/// True where a window function is called within.
pub(crate) fn contains_window(expr: &DfExpr) -> bool {
    expr.exists(|e| Ok(matches!(e, DfExpr::WindowFunction(_)))).unwrap_or(false)
}

/// The error for window functions in an operator that has no place for them.
pub(crate) fn not_in_operator(typed: &TypedExpr) -> SparkError {
    SparkError::new("UNSUPPORTED_EXPR_FOR_OPERATOR").with("invalidExprSqls", format!("[\"{}\"]", typed.name))
}

/// The function without its window, and whether it needs a fixed frame (ranks, lag and lead).
fn inner_function(a: &mut Analyzer<'_>, function: &Expr, scope: &Scope) -> Result<(TypedExpr, Option<FixedFrame>)> {
    if let ExprKind::Function(call) = &function.kind
        && let Some(name) = builtin_name(&call.name)
        && let Some(declared) = registry::lookup(&name)
        && let Body::Window(build) = &declared.body
    {
        let arguments = call::arguments(a, &call.arguments, scope)?;
        let texts: Vec<String> = arguments.iter().map(|t| t.name.clone()).collect();
        let text = declared.call_text(&texts);
        let mut context = a.build_context(&function.origin);
        let arguments = declared.signature.apply(declared.name, &text, arguments, &mut context)?;
        let typed = build(&mut context, WindowCall { arguments, ignore_nulls: call.ignore_nulls })?;
        let fixed = match declared.name {
            "lag" | "lead" => Some(FixedFrame::Offset),
            "row_number" | "rank" | "dense_rank" | "ntile" => Some(FixedFrame::Running),
            "percent_rank" => Some(FixedFrame::Running),
            "cume_dist" => Some(FixedFrame::RunningRange),
            _ => None,
        };
        return Ok((typed, fixed));
    }
    let typed = match &function.kind {
        ExprKind::Function(call) => {
            call::windowed(a, call, &function.origin, scope).map_err(|e| crate::analyzer::at(e, &function.origin))?
        }
        _ => a.expression(function, scope)?,
    };
    let is_aggregate = typed.expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false);
    if !is_aggregate {
        return Err(SparkError::new("UNSUPPORTED_EXPR_FOR_WINDOW").with("sqlExpr", format!("\"{}\"", typed.name)));
    }
    Ok((typed, None))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FixedFrame {
    /// `lag`, `lead`: the offset decides.
    Offset,
    /// Rows up to the current one.
    Running,
    /// Values up to the current one.
    RunningRange,
}

/// The keys of a window.
pub(super) struct Analysed {
    partition: Vec<TypedExpr>,
    pub(super) order: Vec<(SortExpr, TypedExpr)>,
}

impl Analysed {
    /// The specification with a frame, as Spark writes it.
    pub(super) fn text(&self, frame: &str) -> String {
        let mut parts = Vec::new();
        if !self.partition.is_empty() {
            let keys: Vec<String> = self.partition.iter().map(|p| p.name.clone()).collect();
            parts.push(format!("PARTITION BY {}", keys.join(", ")));
        }
        if !self.order.is_empty() {
            let keys: Vec<String> = self.order.iter().map(|(s, t)| order_text(&t.name, s.asc, s.nulls_first)).collect();
            parts.push(format!("ORDER BY {}", keys.join(", ")));
        }
        parts.push(frame.to_string());
        parts.join(" ")
    }

    fn partition_by(&self) -> Vec<DfExpr> {
        self.partition.iter().map(|p| p.expr.clone()).collect()
    }

    fn order_by(&self) -> Vec<SortExpr> {
        let keys =
            |(s, typed): &(SortExpr, TypedExpr)| super::sort_by(s.expr.clone(), &typed.data_type, s.asc, s.nulls_first);
        self.order.iter().flat_map(keys).collect()
    }
}

fn analyse_specification(a: &mut Analyzer<'_>, spec: &WindowSpecification, scope: &Scope) -> Result<Analysed> {
    let mut partition = Vec::new();
    for expr in &spec.partition_by {
        let typed = super::nested(a, expr, scope)?;
        let key = super::key(a, &typed)?;
        partition.push(TypedExpr { expr: key, ..typed });
    }
    let mut order = Vec::new();
    for key in &spec.order_by {
        let (mut sort, typed) = call::sort_key(a, key, scope)?;
        sort.expr = super::key(a, &typed)?;
        order.push((sort, typed));
    }
    Ok(Analysed { partition, order })
}

/// The distance of `lag` and `lead` as rows that follow.
fn offset_text(a: &mut Analyzer<'_>, function: &Expr, scope: &Scope) -> Result<Option<String>> {
    let ExprKind::Function(call) = &function.kind else { return Ok(None) };
    let is_lag = builtin_name(&call.name).is_some_and(|name| name == "lag");
    let (text, value) = match call.arguments.get(1) {
        None => ("1".to_string(), Literal::Integer(1)),
        Some(offset) => {
            let typed = a.expression(offset, scope)?;
            let value = super::fold(a, &typed)?;
            (typed.name, value)
        }
    };
    let rows = match value {
        Literal::Integer(rows) => i64::from(rows),
        Literal::Short(rows) => i64::from(rows),
        Literal::Byte(rows) => i64::from(rows),
        Literal::Long(rows) => rows,
        _ => return Ok(None),
    };
    Ok(Some(if is_lag { rows.wrapping_neg().to_string() } else { text }))
}

/// `a ASC NULLS FIRST`
pub(crate) fn order_text(name: &str, ascending: bool, nulls_first: bool) -> String {
    let direction = if ascending { "ASC" } else { "DESC" };
    let nulls = if nulls_first { "FIRST" } else { "LAST" };
    format!("{name} {direction} NULLS {nulls}")
}
