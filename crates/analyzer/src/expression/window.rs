//! Functions over windows.

use super::call::{self, builtin_name};
use crate::analyzer::Analyzer;
use crate::resolved::built;
use crate::scope::Scope;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr as DfExpr, SortExpr, WindowFrame as DfFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition,
};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_functions::{Body, TypedExpr, WindowCall, registry};
use firesteel_plan::{
    Expr, ExprKind, FrameBound, FrameUnit, Origin, WindowFrame, WindowReference, WindowSpecification,
};
use firesteel_types::{DataType, Literal};

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
    let frame = frame(a, &specification, &spec, fixed_frame)?;
    let text = window_text(&inner.name, &spec, &frame, offset.as_deref());
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

/// The error for a function that needs an order in its window.
fn not_ordered(function: &Expr, inner: &TypedExpr) -> SparkError {
    let name = match &function.kind {
        ExprKind::Function(call) => builtin_name(&call.name).unwrap_or_default(),
        _ => String::new(),
    };
    SparkError::new("WINDOW_FUNCTION_FRAME_NOT_ORDERED").with("wf_name", name).with("wf_expr", inner.name.clone())
}

/// Finds a window of the WINDOW clause.
fn named_window(a: &Analyzer<'_>, name: &str) -> Result<WindowSpecification> {
    a.windows
        .iter()
        .rev()
        .find_map(|w| w.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, s)| s.clone()))
        .ok_or_else(|| {
            SparkError::new("MISSING_WINDOW_SPECIFICATION")
                .with("windowName", name)
                .with("docroot", "https://spark.apache.org/docs/latest")
        })
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
enum FixedFrame {
    /// `lag`, `lead`: the offset decides.
    Offset,
    /// Rows up to the current one.
    Running,
    /// Values up to the current one.
    RunningRange,
}

struct Analysed {
    partition: Vec<TypedExpr>,
    order: Vec<(SortExpr, TypedExpr)>,
}

impl Analysed {
    fn partition_by(&self) -> Vec<DfExpr> {
        self.partition.iter().map(|p| p.expr.clone()).collect()
    }

    fn order_by(&self) -> Vec<SortExpr> {
        self.order.iter().map(|(s, _)| s.clone()).collect()
    }
}

fn analyse_specification(a: &mut Analyzer<'_>, spec: &WindowSpecification, scope: &Scope) -> Result<Analysed> {
    let mut partition = Vec::new();
    for expr in &spec.partition_by {
        let typed = a.expression(expr, scope)?;
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

fn frame(
    a: &mut Analyzer<'_>,
    spec: &WindowSpecification,
    analysed: &Analysed,
    fixed: Option<FixedFrame>,
) -> Result<DfFrame> {
    let null = || ScalarValue::UInt64(None);
    if let Some(fixed) = fixed {
        if let Some(frame) = &spec.frame {
            let is_running = frame.unit == FrameUnit::Rows
                && frame.lower == FrameBound::UnboundedPreceding
                && frame.upper == FrameBound::CurrentRow;
            if fixed != FixedFrame::Running || !is_running {
                return Err(SparkError::plain(
                    firesteel_error::ExceptionClass::Analysis,
                    "The window function has a frame of its own and takes no other",
                ));
            }
        }
        let units = if fixed == FixedFrame::RunningRange { WindowFrameUnits::Range } else { WindowFrameUnits::Rows };
        return Ok(DfFrame::new_bounds(units, WindowFrameBound::Preceding(null()), WindowFrameBound::CurrentRow));
    }
    let Some(frame) = &spec.frame else {
        let (units, upper) = if analysed.order.is_empty() {
            (WindowFrameUnits::Rows, WindowFrameBound::Following(null()))
        } else {
            (WindowFrameUnits::Range, WindowFrameBound::CurrentRow)
        };
        let lower =
            WindowFrameBound::Preceding(if units == WindowFrameUnits::Range { ScalarValue::Null } else { null() });
        return Ok(DfFrame::new_bounds(units, lower, upper));
    };
    if frame.unit == FrameUnit::Range && analysed.order.is_empty() && has_offset(frame) {
        return Err(
            SparkError::new("DATATYPE_MISMATCH.RANGE_FRAME_WITHOUT_ORDER").with("sqlExpr", "\"window specification\"")
        );
    }
    let lower = bound(a, frame, &frame.lower, analysed)?;
    let upper = bound(a, frame, &frame.upper, analysed)?;
    let units = match frame.unit {
        FrameUnit::Rows => WindowFrameUnits::Rows,
        FrameUnit::Range => WindowFrameUnits::Range,
    };
    check_bounds(frame, units, &lower, &upper)?;
    if units == WindowFrameUnits::Range && analysed.order.is_empty() {
        return Ok(DfFrame::new_bounds(
            WindowFrameUnits::Rows,
            WindowFrameBound::Preceding(null()),
            WindowFrameBound::Following(null()),
        ));
    }
    if units == WindowFrameUnits::Range && analysed.order.len() > 1 && has_offset(frame) {
        return Err(SparkError::new("DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER")
            .with("sqlExpr", "\"window specification\"")
            .with("orderSpec", "several"));
    }
    Ok(DfFrame::new_bounds(units, lower, upper))
}

/// The lower bound of a frame must not come after the upper one.
fn check_bounds(
    frame: &WindowFrame,
    units: WindowFrameUnits,
    lower: &WindowFrameBound,
    upper: &WindowFrameBound,
) -> Result<()> {
    let text = || format!("\"{}\"", frame_text(units, lower, upper));
    if frame.lower == FrameBound::UnboundedFollowing || frame.upper == FrameBound::UnboundedPreceding {
        return Err(SparkError::new("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_INVALID_BOUND")
            .with("sqlExpr", text())
            .with("upper", format!("\"{}\"", bound_text(upper)))
            .with("lower", format!("\"{}\"", bound_text(lower))));
    }
    let are_values = matches!((&frame.lower, &frame.upper), (FrameBound::Value(_), FrameBound::Value(_)));
    let is_reversed = match (lower, upper) {
        (WindowFrameBound::Following(_), WindowFrameBound::Preceding(_) | WindowFrameBound::CurrentRow)
        | (WindowFrameBound::CurrentRow, WindowFrameBound::Preceding(_)) => true,
        (WindowFrameBound::Preceding(x), WindowFrameBound::Preceding(y)) => x < y,
        (WindowFrameBound::Following(x), WindowFrameBound::Following(y)) => x > y,
        _ => false,
    };
    if are_values && is_reversed {
        return Err(SparkError::new("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON")
            .with("sqlExpr", text())
            .with("comparison", "less than or equal"));
    }
    Ok(())
}

fn has_offset(frame: &WindowFrame) -> bool {
    matches!(frame.lower, FrameBound::Value(_)) || matches!(frame.upper, FrameBound::Value(_))
}

fn bound(a: &mut Analyzer<'_>, frame: &WindowFrame, bound: &FrameBound, spec: &Analysed) -> Result<WindowFrameBound> {
    let is_rows = frame.unit == FrameUnit::Rows;
    let unbounded = || if is_rows { ScalarValue::UInt64(None) } else { ScalarValue::Null };
    match bound {
        FrameBound::UnboundedPreceding => Ok(WindowFrameBound::Preceding(unbounded())),
        FrameBound::UnboundedFollowing => Ok(WindowFrameBound::Following(unbounded())),
        FrameBound::CurrentRow => Ok(WindowFrameBound::CurrentRow),
        FrameBound::Value(expr) => {
            let typed = a.constant(expr)?;
            let value = super::fold(a, &typed)?;
            if is_rows {
                let n = match value {
                    Literal::Integer(v) => i64::from(v),
                    Literal::Long(v) => v,
                    Literal::Short(v) => i64::from(v),
                    Literal::Byte(v) => i64::from(v),
                    other => {
                        return Err(SparkError::new("DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE")
                            .with("sqlExpr", format!("\"{}\"", typed.name))
                            .with("location", "lower")
                            .with("exprType", format!("\"{}\"", other.data_type().sql()))
                            .with("expectedType", "\"INT\""));
                    }
                };
                return Ok(match n {
                    0 => WindowFrameBound::CurrentRow,
                    n if n < 0 => WindowFrameBound::Preceding(ScalarValue::UInt64(Some(n.unsigned_abs()))),
                    n => WindowFrameBound::Following(ScalarValue::UInt64(Some(n.unsigned_abs()))),
                });
            }
            range_bound(a, value, spec)
        }
    }
}

/// An offset in the order key's own type: negative precedes.
fn range_bound(a: &mut Analyzer<'_>, value: Literal, spec: &Analysed) -> Result<WindowFrameBound> {
    let key = spec.order.first().map(|(_, t)| t.data_type.clone()).unwrap_or(DataType::Null);
    let (negative, magnitude) = match value {
        Literal::Integer(v) => (v < 0, Literal::Long(i64::from(v).abs())),
        Literal::Long(v) => (v < 0, Literal::Long(v.saturating_abs())),
        Literal::Short(v) => (v < 0, Literal::Long(i64::from(v).abs())),
        Literal::Byte(v) => (v < 0, Literal::Long(i64::from(v).abs())),
        Literal::Double(v) => (v < 0.0, Literal::Double(v.abs())),
        Literal::Decimal(v, p, s) => (v < 0, Literal::Decimal(v.abs(), p, s)),
        Literal::DayTimeInterval(v, t) => (v < 0, Literal::DayTimeInterval(v.saturating_abs(), t)),
        Literal::YearMonthInterval(v, t) => (v < 0, Literal::YearMonthInterval(v.saturating_abs(), t)),
        Literal::CalendarInterval(m, d, us) => {
            let negative = m < 0 || d < 0 || us < 0;
            (negative, Literal::CalendarInterval(m.saturating_abs(), d.saturating_abs(), us.saturating_abs()))
        }
        other => {
            return Err(SparkError::new("DATATYPE_MISMATCH.RANGE_FRAME_INVALID_TYPE")
                .with("sqlExpr", "\"window frame\"")
                .with("orderSpecType", format!("\"{}\"", key.sql()))
                .with("valueBoundaryType", format!("\"{}\"", other.data_type().sql())));
        }
    };
    let scalar = match (&key, magnitude) {
        (DataType::Date | DataType::Timestamp | DataType::TimestampNtz, Literal::DayTimeInterval(us, _)) => {
            ScalarValue::IntervalMonthDayNano(Some(arrow::datatypes::IntervalMonthDayNano::new(
                0,
                0,
                us.saturating_mul(1000),
            )))
        }
        (DataType::Date | DataType::Timestamp | DataType::TimestampNtz, Literal::YearMonthInterval(m, _)) => {
            ScalarValue::IntervalMonthDayNano(Some(arrow::datatypes::IntervalMonthDayNano::new(m, 0, 0)))
        }
        (DataType::Date | DataType::Timestamp | DataType::TimestampNtz, Literal::CalendarInterval(m, d, us)) => {
            ScalarValue::IntervalMonthDayNano(Some(arrow::datatypes::IntervalMonthDayNano::new(
                m,
                d,
                us.saturating_mul(1000),
            )))
        }
        (DataType::Date, Literal::Long(days)) => ScalarValue::IntervalMonthDayNano(Some(
            arrow::datatypes::IntervalMonthDayNano::new(0, i32::try_from(days).unwrap_or(i32::MAX), 0),
        )),
        (key, magnitude) if key.is_numeric() => {
            let typed = super::literal(&magnitude)?;
            let cast = super::implicit_cast(a, typed, key)?;
            let folded = super::fold(a, &cast)?;
            match super::literal(&folded)?.literal() {
                Some(scalar) => scalar.clone(),
                None => return Err(SparkError::internal("a literal is not one")),
            }
        }
        (key, magnitude) => {
            return Err(SparkError::new("DATATYPE_MISMATCH.RANGE_FRAME_INVALID_TYPE")
                .with("sqlExpr", "\"window frame\"")
                .with("orderSpecType", format!("\"{}\"", key.sql()))
                .with("valueBoundaryType", format!("\"{}\"", magnitude.data_type().sql())));
        }
    };
    Ok(if negative { WindowFrameBound::Preceding(scalar) } else { WindowFrameBound::Following(scalar) })
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

fn window_text(function: &str, spec: &Analysed, frame: &DfFrame, offset: Option<&str>) -> String {
    let mut parts = Vec::new();
    if !spec.partition.is_empty() {
        let keys: Vec<String> = spec.partition.iter().map(|p| p.name.clone()).collect();
        parts.push(format!("PARTITION BY {}", keys.join(", ")));
    }
    if !spec.order.is_empty() {
        let keys: Vec<String> = spec.order.iter().map(|(s, t)| order_text(&t.name, s.asc, s.nulls_first)).collect();
        parts.push(format!("ORDER BY {}", keys.join(", ")));
    }
    parts.push(match offset {
        Some(offset) => format!("ROWS BETWEEN {offset} FOLLOWING AND {offset} FOLLOWING"),
        None => frame_text(frame.units, &frame.start_bound, &frame.end_bound),
    });
    format!("{function} OVER ({})", parts.join(" "))
}

fn frame_text(units: WindowFrameUnits, lower: &WindowFrameBound, upper: &WindowFrameBound) -> String {
    if units == WindowFrameUnits::Rows {
        return format!("ROWS BETWEEN {} AND {}", bound_text(lower), bound_text(upper));
    }
    format!("RANGE BETWEEN {} AND {}", range_bound_text(lower), range_bound_text(upper))
}

/// A number that precedes is shown as one that follows, its sign turned, where it is cast to the order key's type.
fn range_bound_text(bound: &WindowFrameBound) -> String {
    match bound {
        WindowFrameBound::Preceding(v)
            if !v.is_null() && v.data_type().is_numeric() && v.data_type() != arrow::datatypes::DataType::Int32 =>
        {
            format!("(- {v}) FOLLOWING")
        }
        other => bound_text(other),
    }
}

/// `a ASC NULLS FIRST`
pub(crate) fn order_text(name: &str, ascending: bool, nulls_first: bool) -> String {
    let direction = if ascending { "ASC" } else { "DESC" };
    let nulls = if nulls_first { "FIRST" } else { "LAST" };
    format!("{name} {direction} NULLS {nulls}")
}

fn bound_text(bound: &WindowFrameBound) -> String {
    match bound {
        WindowFrameBound::Preceding(v) if v.is_null() => "UNBOUNDED PRECEDING".into(),
        WindowFrameBound::Following(v) if v.is_null() => "UNBOUNDED FOLLOWING".into(),
        WindowFrameBound::CurrentRow => "CURRENT ROW".into(),
        WindowFrameBound::Preceding(v) => format!("{v} PRECEDING"),
        WindowFrameBound::Following(v) => format!("{v} FOLLOWING"),
    }
}
