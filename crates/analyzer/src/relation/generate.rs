//! Generators: rows per row. Table functions, LATERAL VIEW, generators in select lists.

use super::{leaf, table};
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::environment::UserFunction;
use crate::expression;
use crate::resolved::{Resolved, built, project};
use crate::scope::Scope;
use datafusion::common::{NullHandling, UnnestOptions};
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlanBuilder};
use firesteel_error::{Result, SparkError};
use firesteel_functions::{Body, Function, TypedExpr, registry};
use firesteel_plan::{Expr, ExprKind, FunctionCall, LateralView, PythonFunction, TableFunctionCall};
use firesteel_types::{DataType, Literal, StructField, StructType};

/// A generator's call with the names that its columns get.
#[derive(Clone)]
pub(crate) struct GeneratorItem {
    function: &'static Function,
    call: FunctionCall,
    origin: firesteel_plan::Origin,
    names: Vec<String>,
    is_outer: bool,
    qualifier: Vec<String>,
}

impl GeneratorItem {
    /// A generator that is not written in the query.
    pub(super) fn new(
        function: &'static Function,
        call: FunctionCall,
        origin: firesteel_plan::Origin,
        names: Vec<String>,
    ) -> Self {
        Self { function, call, origin, names, is_outer: false, qualifier: Vec::new() }
    }
}

/// The generator that a select item is, if it is one.
pub(crate) fn generator_item(expr: &Expr) -> Option<GeneratorItem> {
    let (inner, names) = match &expr.kind {
        ExprKind::Alias { child, names, .. } => (child.as_ref(), names.clone()),
        _ => (expr, Vec::new()),
    };
    let (function, call) = crate::expression::generator(inner)?;
    Some(GeneratorItem {
        function,
        call: call.clone(),
        origin: inner.origin.clone(),
        names,
        is_outer: false,
        qualifier: Vec::new(),
    })
}

/// Puts a generator over a relation: its columns follow the input's.
pub(crate) fn generate(
    a: &mut Analyzer<'_>,
    input: Resolved,
    item: GeneratorItem,
    scope: &Scope,
) -> Result<(Resolved, Vec<Attribute>)> {
    let Body::Generator(build) = &item.function.body else {
        return Err(SparkError::internal("not a generator"));
    };
    let call = expression::in_order(item.function, item.function.name, &item.call)?;
    a.sql_functions.clear();
    let arguments = crate::expression::arguments(a, &call.arguments, scope)?;
    expression::refuse_sql_functions(a, "Generate")?;
    let texts: Vec<String> = arguments.iter().map(|t| t.name.clone()).collect();
    let text = item.function.call_text(&texts);
    let mut context = a.build_context(&item.origin);
    let arguments = item.function.signature.apply(item.function.name, &text, arguments, &mut context)?;
    let generator = build(&mut context, arguments)?;
    let is_outer = item.is_outer || generator.is_outer;
    let names = column_names(&generator.columns, &item.names)?;
    let rows = Attribute::new("generated", generator.rows.data_type.clone(), true);
    let mut expressions: Vec<DfExpr> = input.plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    expressions.push(generator.rows.expr.clone().alias(rows.column_name()));
    let with_rows = project(input.plan.clone(), expressions)?;
    let options = UnnestOptions {
        null_handling: if is_outer { NullHandling::PreserveAndExpandEmpty } else { NullHandling::Drop },
        recursions: Vec::new(),
    };
    let unnested = built(
        LogicalPlanBuilder::from(with_rows)
            .unnest_column_with_options(rows.column(), options)
            .and_then(LogicalPlanBuilder::build),
    )?;
    // The struct's fields become columns.
    let mut attributes = Vec::new();
    let mut expressions: Vec<DfExpr> = input.plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    let DataType::Array { element, .. } = &rows.data_type else {
        return Err(SparkError::internal("a generator makes an array of rows"));
    };
    let row = TypedExpr::new(rows.expr(), element.as_ref().clone(), true, "");
    for (index, (field, name)) in generator.columns.iter().zip(&names).enumerate() {
        let nullable = field.nullable || is_outer;
        let attribute = Attribute::new(name, field.data_type.clone(), nullable).with_qualifier(&item.qualifier);
        let value = expression::get_field(a, row.clone(), index)?;
        expressions.push(value.expr.alias(attribute.column_name()));
        attributes.push(attribute);
    }
    let plan = project(unnested, expressions)?;
    let mut output = input.output.clone();
    output.extend(attributes.iter().cloned());
    let mut resolved = Resolved::over(plan, output, &[&input]);
    resolved.hidden = input.hidden.clone();
    Ok((resolved, attributes))
}

fn column_names(columns: &[StructField], names: &[String]) -> Result<Vec<String>> {
    if names.is_empty() {
        return Ok(columns.iter().map(|c| c.name.clone()).collect());
    }
    if names.len() != columns.len() {
        return Err(SparkError::new("UDTF_ALIAS_NUMBER_MISMATCH")
            .with("aliasesSize", columns.len().to_string())
            .with("aliasesNames", names.join(",")));
    }
    Ok(names.to_vec())
}

/// `LATERAL VIEW [OUTER] generator table AS columns`.
pub(crate) fn lateral_view(a: &mut Analyzer<'_>, view: &LateralView) -> Result<Resolved> {
    let input = a.relation(&view.input)?;
    let scope = a.scope(&[&input]);
    if let ExprKind::Function(call) = &view.generator.kind
        && generator_item(&view.generator).is_none()
        && let Some(UserFunction::Python(function)) = a.env.user_function(&call.name)?
    {
        let function = PythonFunction { arguments: call.arguments.clone(), ..function };
        return super::python_table::over(a, input, &function, view);
    }
    let Some(mut item) = generator_item(&view.generator) else {
        return Err(not_a_generator(a, &view.generator));
    };
    item.names.clone_from(&view.column_aliases);
    item.is_outer = view.is_outer;
    item.qualifier = view.table_alias.iter().cloned().collect();
    Ok(generate(a, input, item, &scope)?.0)
}

/// A relation with its columns cast to declared types.
fn declared(a: &mut Analyzer<'_>, resolved: Resolved, columns: &[StructField]) -> Result<Resolved> {
    if resolved.output.len() != columns.len()
        || resolved.output.iter().zip(columns).all(|(c, f)| c.data_type == f.data_type)
    {
        return Ok(resolved);
    }
    let mut outputs = Vec::new();
    for (column, field) in resolved.output.iter().zip(columns) {
        let typed = expression::implicit_cast(a, column.typed(), &field.data_type)?;
        outputs.push(expression::NamedExpr::computed(typed, &field.name));
    }
    let plan = project(resolved.plan.clone(), outputs.iter().map(expression::NamedExpr::expr).collect())?;
    Ok(Resolved::leaf(plan, outputs.into_iter().map(|o| o.attribute).collect()))
}

fn not_a_generator(a: &Analyzer<'_>, expr: &Expr) -> SparkError {
    match &expr.kind {
        ExprKind::Function(call) => {
            let builtin = crate::expression::builtin_name(&call.name).filter(|name| registry::lookup(name).is_some());
            match (builtin, call.name.as_slice()) {
                (Some(name), _) => SparkError::new("UNSUPPORTED_GENERATOR.NOT_GENERATOR")
                    .with("functionName", crate::attribute::quote(&name))
                    .with("classCanonicalName", name),
                (None, [name]) => {
                    let full = [a.env.facts().current_database.clone(), name.clone()];
                    SparkError::new("ROUTINE_NOT_FOUND").with("routineName", crate::attribute::quote_parts(&full))
                }
                _ => crate::expression::unresolved_routine(a, &call.name),
            }
        }
        _ => SparkError::unsupported("an expression that is no generator in LATERAL VIEW"),
    }
}

/// A table function in FROM.
pub(crate) fn table_function(a: &mut Analyzer<'_>, call: &TableFunctionCall) -> Result<Resolved> {
    let name = crate::expression::builtin_name(&call.name).unwrap_or_default();
    if name == "range" {
        return range(a, &call.arguments);
    }
    if name == "sql_keywords" {
        return sql_keywords(a);
    }
    if let Some(function) = registry::lookup(&name)
        && function.is_generator()
    {
        let item = GeneratorItem {
            function,
            call: FunctionCall::new(vec![name], call.arguments.clone()),
            origin: firesteel_plan::Origin::Unknown,
            names: Vec::new(),
            is_outer: false,
            qualifier: Vec::new(),
        };
        let input = leaf::one_row()?;
        let (generated, attributes) = generate(a, input, item, &Scope::default())?;
        let plan = project(generated.plan.clone(), attributes.iter().map(Attribute::expr).collect())?;
        return Ok(Resolved::leaf(plan, attributes));
    }
    match a.env.user_function(&call.name)? {
        Some(UserFunction::SqlTable { name: full_name, parameters, columns, body, settings }) => {
            let full = full_name.split('.').map(str::to_string).collect();
            let as_call = FunctionCall::new(full, call.arguments.clone());
            let bound = expression::bind(a, &as_call, &parameters, &Scope::default())?;
            let name = call.name.last().cloned().unwrap_or_default();
            let resolved = expression::within(a, (&name, &full_name), bound, &settings, |a| a.relation(&body))?;
            let resolved = declared(a, resolved, &columns)?;
            let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
            let alias = call.name.last().cloned().unwrap_or_default();
            let resolved = super::unary::rename_columns(resolved, &names, &alias)?;
            Ok(table::qualified(resolved, &[alias]))
        }
        Some(UserFunction::Python(function)) => {
            let function = PythonFunction { arguments: call.arguments.clone(), ..function };
            super::python_table::table(a, &function, call.table_argument.as_ref())
        }
        Some(UserFunction::SqlScalar { name, .. }) => {
            let parts: Vec<String> = name.split('.').map(str::to_string).collect();
            Err(SparkError::new("NOT_A_TABLE_FUNCTION").with("functionName", crate::attribute::quote_parts(&parts)))
        }
        None if registry::lookup(&name).is_some() => {
            Err(SparkError::new("NOT_A_TABLE_FUNCTION").with("functionName", crate::attribute::quote_parts(&call.name)))
        }
        None => Err(SparkError::new("UNRESOLVABLE_TABLE_VALUED_FUNCTION")
            .with("name", crate::attribute::quote_parts(&call.name))),
    }
}

/// `sql_keywords()`: each keyword, and whether it is refused as a name now.
fn sql_keywords(a: &Analyzer<'_>) -> Result<Resolved> {
    let conf = a.env.conf();
    let is_enforced = conf.ansi_enabled && conf.enforce_reserved_keywords;
    let (keywords, reserved): (Vec<_>, Vec<_>) = firesteel_sql::keywords()
        .map(|(keyword, is_reserved)| {
            (Literal::String(keyword.to_string()), Literal::Boolean(is_reserved && is_enforced))
        })
        .unzip();
    let schema = StructType::new(vec![
        StructField::new("keyword", DataType::STRING, false),
        StructField::new("reserved", DataType::Boolean, false),
    ]);
    super::statistic::local(schema, vec![keywords, reserved])
}

/// `range(end)`, `range(start, end[, step[, partitions]])`.
fn range(a: &mut Analyzer<'_>, arguments: &[Expr]) -> Result<Resolved> {
    let mut values = Vec::new();
    for argument in arguments {
        let value = match &argument.kind {
            ExprKind::NamedArgument { value, .. } => value.as_ref(),
            _ => argument,
        };
        let typed = a.constant(value)?;
        let typed = expression::implicit_cast(a, typed, &DataType::Long)?;
        match expression::fold(a, &typed)? {
            Literal::Long(v) => values.push(v),
            _ => {
                return Err(SparkError::new("UNEXPECTED_INPUT_TYPE")
                    .with("functionName", "`range`")
                    .with("paramIndex", "first")
                    .with("requiredType", "\"BIGINT\"")
                    .with("inputSql", typed.name.clone())
                    .with("inputType", format!("\"{}\"", typed.data_type.sql())));
            }
        }
    }
    match values.as_slice() {
        [end] => leaf::range(0, *end, 1, None),
        [start, end] => leaf::range(*start, *end, 1, None),
        [start, end, step] => leaf::range(*start, *end, *step, None),
        [start, end, step, partitions] => leaf::range(*start, *end, *step, i32::try_from(*partitions).ok()),
        _ => Err(SparkError::new("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
            .with("functionName", "`range`")
            .with("expectedNum", "[1, 2, 3, 4]")
            .with("actualNum", arguments.len().to_string())
            .with("docroot", "https://spark.apache.org/docs/latest")),
    }
}
