//! Expressions: names, literals, calls, windows, subqueries.

mod call;
mod char_padding;
mod collation;
mod extract;
mod file;
mod frame;
mod lambda;
mod name;
mod operator;
mod output;
mod python;
mod sql_function;
mod star;
mod subquery;
mod window;

pub(crate) use call::{arguments, builtin_name, contains_aggregate, generator, in_order, sort_key, unresolved_routine};
pub(crate) use char_padding::read as read_padded;
pub(crate) use extract::{extract_field, get_field};
pub(crate) use output::{NamedExpr, named, output_name};
pub(crate) use python::call as python_call;
pub(crate) use sql_function::{bind, refuse_sql_functions, within};
pub(crate) use star::expand;
pub(crate) use subquery::correlated;
pub(crate) use window::{contains_window, not_in_operator};

use crate::analyzer::Analyzer;
use crate::attribute::{quote_parts, quoted_if_needed};
use crate::scope::Scope;
use arrow::array::ArrayRef;
use datafusion::logical_expr::{Expr as DfExpr, SortExpr};
use firesteel_error::{Result, SparkError};
use firesteel_functions::scalar::predicate::equality;
use firesteel_functions::{TypedExpr, cast};
use firesteel_plan::{CastMode, Expr, ExprKind, Parameter};
use firesteel_types::time_zone::TimeZone;
use firesteel_types::{Collation, DataType, Literal};

/// Analyses one expression.
pub(crate) fn analyse(a: &mut Analyzer<'_>, expr: &Expr, scope: &Scope) -> Result<TypedExpr> {
    match &expr.kind {
        ExprKind::Literal(value) => literal_in(value, a.zone()),
        ExprKind::Attribute { name, plan_id, .. } => name::attribute(a, name, *plan_id, scope),
        ExprKind::LambdaVariable(name) => name::attribute(a, name, None, scope),
        ExprKind::Function(call) => call::function(a, call, &expr.origin, scope),
        ExprKind::Cast { child, to, mode } => explicit_cast(a, child, to, *mode, expr, scope),
        ExprKind::Alias { child, names, .. } => {
            let typed = a.expression(child, scope)?;
            Ok(match names.as_slice() {
                [name] => typed.named(name),
                _ => typed,
            })
        }
        ExprKind::Window { function, window } => window::window(a, function, window, &expr.origin, scope),
        ExprKind::ExtractValue { child, extraction } => {
            let child = a.expression(child, scope)?;
            let extraction = a.expression(extraction, scope)?;
            extract::extract_value(a, child, extraction, &expr.origin).map_err(|error| {
                let is_of_fields = error.is("FIELD_NOT_FOUND")
                    || error.is("AMBIGUOUS_REFERENCE_TO_FIELDS")
                    || error.is("INVALID_EXTRACT_BASE_FIELD_TYPE");
                if is_of_fields { error.without_context() } else { error }
            })
        }
        ExprKind::UpdateField { child, field, value } => {
            let child = a.expression(child, scope)?;
            let value = value.as_ref().map(|v| a.expression(v, scope)).transpose()?;
            extract::update_field(a, child, field, value, &expr.origin)
        }
        ExprKind::Subquery { kind, query } => subquery::subquery(a, kind, query, scope),
        ExprKind::Outer(child) => name::outer(a, child, scope),
        ExprKind::Parameter(parameter) => Err(unbound(parameter, &expr.origin)),
        ExprKind::SqlText(text) => {
            let options = crate::relation::parser_options(a);
            let parsed = firesteel_sql::parse_expression(&crate::relation::substituted(a, text)?, &options)?;
            a.expression(&parsed, scope)
        }
        ExprKind::Sort(order) => a.expression(&order.child, scope),
        ExprKind::PartitionId(_) => Err(SparkError::unsupported("a partition id outside repartitionById")),
        ExprKind::Identifier { name, arguments } => {
            let parts = identifier(a, name)?;
            match arguments {
                Some(arguments) => {
                    let call = firesteel_plan::FunctionCall::new(parts, arguments.clone());
                    call::function(a, &call, &expr.origin, scope)
                }
                None => name::attribute(a, &parts, None, scope),
            }
        }
        ExprKind::Star { .. } | ExprKind::Regex { .. } => {
            Err(SparkError::new("INVALID_USAGE_OF_STAR_OR_REGEX").with("elem", "'*'").with("prettyName", "expression"))
        }
        ExprKind::NamedArgument { name, .. } => Err(SparkError::new("UNEXPECTED_POSITIONAL_ARGUMENT")
            .with("routineName", "`expression`")
            .with("parameterName", quote_parts(std::slice::from_ref(name)))),
        ExprKind::Lambda { .. } => {
            Err(SparkError::new("INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION").with("class", "expression"))
        }
        ExprKind::Default => Err(SparkError::new("DEFAULT_PLACEMENT_INVALID")),
        ExprKind::PythonFunction(function) => python::python(a, function, scope),
        ExprKind::Unsupported(what) => Err(SparkError::unsupported(what)),
    }
}

/// Analyses an expression within another: a name that it has there is shown, and means nothing.
pub(crate) fn nested(a: &mut Analyzer<'_>, expr: &Expr, scope: &Scope) -> Result<TypedExpr> {
    match &expr.kind {
        ExprKind::Alias { child, names, .. } if names.len() == 1 => {
            let typed = a.expression(child, scope)?;
            let text = format!("{} AS {}", typed.name, quoted_if_needed(&names[0]));
            Ok(typed.named(text))
        }
        _ => a.expression(expr, scope),
    }
}

/// The error of a parameter marker that nothing was bound to.
fn unbound(parameter: &Parameter, origin: &firesteel_plan::Origin) -> SparkError {
    let name = match (parameter, origin) {
        (Parameter::Named(name), _) => name.clone(),
        // A marker without a name is called after its place in the text.
        (Parameter::Position(_), firesteel_plan::Origin::Sql { start, .. }) => format!("_{start}"),
        (Parameter::Position(position), _) => format!("_{position}"),
    };
    SparkError::new("UNBOUND_SQL_PARAMETER").with("name", name)
}

/// The parts that `IDENTIFIER(expr)` names.
pub(crate) fn identifier(a: &mut Analyzer<'_>, name: &Expr) -> Result<Vec<String>> {
    let not_constant = |text: String| {
        let error = SparkError::new("NOT_A_CONSTANT_STRING.NOT_CONSTANT").with("name", "IDENTIFIER").with("expr", text);
        crate::analyzer::at(error, &name.origin)
    };
    let typed = a.constant(name).map_err(|error| {
        let text = || name.origin.context().map(|context| context.excerpt().fragment).unwrap_or_default();
        if error.is("UNRESOLVED_COLUMN") { not_constant(text()) } else { error }
    })?;
    if !typed.is_foldable() {
        return Err(not_constant(typed.name));
    }
    let value = fold(a, &typed)?;
    match value {
        Literal::String(text) => firesteel_sql::parse_identifier_parts(&text, &crate::relation::parser_options(a)),
        _ => Err(crate::analyzer::at(
            SparkError::new("NOT_A_CONSTANT_STRING.WRONG_TYPE")
                .with("name", "IDENTIFIER")
                .with("expr", typed.name.clone())
                .with("dataType", typed.data_type.simple_string()),
            &name.origin,
        )),
    }
}

/// The value of a constant expression.
pub(crate) fn fold(_: &Analyzer<'_>, typed: &TypedExpr) -> Result<Literal> {
    Literal::from_array(&folded(typed)?, 0, &typed.data_type)
}

/// The value of a constant expression as an array of one row.
pub(crate) fn folded(typed: &TypedExpr) -> Result<ArrayRef> {
    use arrow::array::{RecordBatch, RecordBatchOptions};
    use arrow::datatypes::Schema;
    use datafusion::common::ToDFSchema;
    use datafusion::logical_expr::execution_props::ExecutionProps;
    if let Some(value) = typed.literal() {
        return value.to_array().map_err(crate::resolved::engine_error);
    }
    if !typed.is_foldable() {
        return Err(SparkError::new("NON_FOLDABLE_ARGUMENT")
            .with("funcName", "expression")
            .with("paramName", typed.name.clone())
            .with("paramType", format!("\"{}\"", typed.data_type.sql())));
    }
    let schema = std::sync::Arc::new(Schema::empty());
    let df_schema = schema.clone().to_dfschema().map_err(crate::resolved::engine_error)?;
    let props = ExecutionProps::new();
    let physical =
        datafusion::physical_expr::create_physical_expr(&typed.expr, &df_schema, &props, &Default::default())
            .map_err(crate::resolved::engine_error)?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch =
        RecordBatch::try_new_with_options(schema, vec![], &options).map_err(|e| SparkError::internal(e.to_string()))?;
    physical.evaluate(&batch).and_then(|v| v.into_array(1)).map_err(crate::resolved::engine_error)
}

/// A literal as an expression.
pub(crate) fn literal(value: &Literal) -> Result<TypedExpr> {
    literal_in(value, TimeZone::UTC)
}

/// A literal whose text may be a time in a zone.
fn literal_in(value: &Literal, zone: TimeZone) -> Result<TypedExpr> {
    use datafusion::scalar::ScalarValue;
    let scalar = match value {
        Literal::Boolean(v) => ScalarValue::Boolean(Some(*v)),
        Literal::Integer(v) => ScalarValue::Int32(Some(*v)),
        Literal::Long(v) => ScalarValue::Int64(Some(*v)),
        Literal::Double(v) => ScalarValue::Float64(Some(*v)),
        Literal::String(v) => ScalarValue::Utf8(Some(v.clone())),
        Literal::Decimal(v, p, s) => ScalarValue::Decimal128(Some(*v), *p, *s),
        other => {
            let array = other.to_array(1)?;
            ScalarValue::try_from_array(&array, 0).map_err(crate::resolved::engine_error)?
        }
    };
    Ok(TypedExpr::new(DfExpr::Literal(scalar, None), value.data_type(), value.is_null(), value.display(zone)))
}

fn explicit_cast(
    a: &mut Analyzer<'_>,
    child: &Expr,
    to: &DataType,
    mode: CastMode,
    expr: &Expr,
    scope: &Scope,
) -> Result<TypedExpr> {
    let is_typed_literal = mode == CastMode::Ansi && matches!(child.kind, ExprKind::Literal(_));
    let child = nested(a, child, scope)?;
    let ansi = a.env.conf().ansi_enabled;
    let mode = match mode {
        CastMode::Session if ansi => cast::Mode::Ansi,
        CastMode::Session | CastMode::Legacy => cast::Mode::Legacy,
        CastMode::Ansi => cast::Mode::Ansi,
        CastMode::Try => cast::Mode::Try,
    };
    // Char and varchar are types of stored columns; expressions have strings.
    let to = match to {
        DataType::Char(_) | DataType::Varchar(_) => &DataType::STRING,
        other => other,
    };
    let name = cast::cast_text(&child.name, to, mode == cast::Mode::Try);
    let mut context = a.build_context(&expr.origin);
    let cast = cast::cast(child, to, mode, &mut context)?;
    if is_typed_literal {
        // `TIMESTAMP '…'`: read in the session's time zone.
        let value = fold(a, &cast)?;
        return literal_in(&value, a.zone());
    }
    Ok(cast.named(name))
}

/// The value by which rows are grouped, ordered or told apart: with one zero and one NaN.
pub(crate) fn key(a: &Analyzer<'_>, typed: &TypedExpr) -> Result<DfExpr> {
    equality::key(typed, &a.build_context(&firesteel_plan::Origin::Unknown))
}

/// The keys by which rows are sorted by a value. Nulls within nested values come before all
/// others, wherever the values that are null themselves stand: these get a key of their own
/// where they do not stand there as well.
pub(crate) fn sort_by(key: DfExpr, data_type: &DataType, ascending: bool, nulls_first: bool) -> Vec<SortExpr> {
    if !data_type.is_nested() || ascending == nulls_first {
        return vec![SortExpr::new(key, ascending, nulls_first)];
    }
    let is_null = SortExpr::new(key.clone().is_null(), ascending, nulls_first);
    vec![is_null, SortExpr::new(key, ascending, ascending)]
}

/// A value in the one form that equal values share, of its own type.
pub(crate) fn whole(a: &Analyzer<'_>, typed: &TypedExpr) -> Result<DfExpr> {
    equality::whole(typed, &a.build_context(&firesteel_plan::Origin::Unknown))
}

/// True for texts that are told apart by keys of another type.
pub(crate) fn is_collated(data_type: &DataType) -> bool {
    matches!(data_type, DataType::String(collation) if *collation != Collation::Utf8Binary)
}

/// An implicit cast: the name stays.
pub(crate) fn implicit_cast(a: &Analyzer<'_>, typed: TypedExpr, to: &DataType) -> Result<TypedExpr> {
    if typed.data_type == *to {
        return Ok(typed);
    }
    let mode = if a.env.conf().ansi_enabled { cast::Mode::Ansi } else { cast::Mode::Legacy };
    let name = typed.name.clone();
    let mut context = a.build_context(&firesteel_plan::Origin::Unknown);
    Ok(cast::cast(typed, to, mode, &mut context)?.named(name))
}
