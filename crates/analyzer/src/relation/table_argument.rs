//! Arguments of table functions in Python: values and tables, and what the function itself asks of them.

use super::parser_options;
use crate::analyzer::Analyzer;
use crate::attribute::{self, Attribute};
use crate::environment::{AnalyzeCall, AnalyzeValue};
use crate::exchange::{Scheme, exchange, local_sort};
use crate::expression;
use crate::python::PythonUdf;
use crate::resolved::{Resolved, built, project};
use crate::scope::Scope;
use bytes::Bytes;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, SortExpr};
use firesteel_config::keys;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::{Expr, ExprKind, PythonFunction, Relation, SortOrder, SubqueryKind, TableArgumentOptions};
use firesteel_python::planner::table_function::TableAnalysis;
use firesteel_types::{DataType, StructType};
use std::sync::Arc;

/// A call's arguments, analysed.
#[derive(Default)]
pub(super) struct Arguments {
    /// A table stands here by the type of its rows, until all tables are joined.
    pub values: Vec<TypedExpr>,
    pub names: Vec<Option<String>>,
    tables: Vec<TableArgument>,
}

/// A table as an argument.
struct TableArgument {
    /// Its place among the arguments.
    position: usize,
    input: Resolved,
    options: TableArgumentOptions,
    /// What the function wants in place of all columns.
    select: Vec<Selected>,
}

/// An expression that becomes a column of a table argument.
struct Selected {
    expression: Expr,
    name: Option<String>,
}

/// The rows that a function makes.
pub(super) struct Rows {
    pub schema: StructType,
    /// The pickled result of the function's `analyze`.
    pub analysis: Option<Bytes>,
}

impl Rows {
    /// Rows of the type that the function was made with.
    pub fn declared(declared: &DataType) -> Result<Self> {
        match declared {
            DataType::Struct(schema) => Ok(Self { schema: schema.as_ref().clone(), analysis: None }),
            other => Err(SparkError::unsupported(format!("rows of type {} from a Python function", other.sql()))),
        }
    }
}

/// Analyses the arguments of a call.
pub(super) fn arguments(
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
        check_name(&arguments.names, name.as_deref(), &function.name)?;
        let typed = match &value.kind {
            ExprKind::Subquery { kind: SubqueryKind::Table(own), query } => {
                let own = if *own == TableArgumentOptions::default() { options.unwrap_or(own) } else { own };
                arguments.add_table(a, query, own)?
            }
            _ => a.expression(value, scope)?,
        };
        if expression::contains_aggregate(&typed.expr) || expression::contains_window(&typed.expr) {
            return Err(
                SparkError::new("UNSUPPORTED_EXPR_FOR_OPERATOR").with("invalidExprSqls", format!("\"{}\"", typed.name))
            );
        }
        arguments.values.push(typed);
        arguments.names.push(name);
    }
    let allows_many = || a.env.setting(keys::MULTIPLE_TABLE_ARGUMENTS).is_some_and(|value| value == "true");
    if arguments.tables.len() > 1 && !allows_many() {
        return Err(SparkError::new("TABLE_VALUED_FUNCTION_TOO_MANY_TABLE_ARGUMENTS")
            .with("num", arguments.tables.len().to_string()));
    }
    Ok(arguments)
}

/// Each name is given once, and after the first no argument is without one.
fn check_name(known: &[Option<String>], name: Option<&str>, function: &str) -> Result<()> {
    let failure = match (name, known.iter().flatten().next_back()) {
        (Some(name), Some(_)) if known.iter().flatten().any(|other| other == name) => {
            SparkError::new("DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE")
                .with("parameterName", attribute::quote(name))
        }
        (None, Some(last)) => {
            SparkError::new("UNEXPECTED_POSITIONAL_ARGUMENT").with("parameterName", attribute::quote(last))
        }
        _ => return Ok(()),
    };
    Err(failure.with("routineName", attribute::quote(function)))
}

/// Asks the function for the rows that it makes of these arguments, and how it wants its tables.
pub(super) fn analysed(a: &Analyzer<'_>, function: &PythonFunction, arguments: &mut Arguments) -> Result<Rows> {
    let mut call = AnalyzeCall {
        name: function.name.clone(),
        handler: function.command.clone(),
        python_version: function.python_version.clone(),
        arguments: Vec::with_capacity(arguments.values.len()),
    };
    for (position, (typed, name)) in arguments.values.iter().zip(&arguments.names).enumerate() {
        let is_table = arguments.tables.iter().any(|table| table.position == position);
        let value = if !is_table && is_constant(typed) { Some(expression::folded(typed)?) } else { None };
        let (data_type, name) = (typed.data_type.clone(), name.clone());
        call.arguments.push(AnalyzeValue { data_type, value, is_table, name });
    }
    let analysis = a.env.analyze_table_function(call)?;
    if !arguments.tables.is_empty() {
        let wishes = Wishes::of(a, &analysis)?;
        for table in &mut arguments.tables {
            wishes.clone().apply(table, &function.name)?;
        }
    }
    Ok(Rows { schema: StructType::from_json(&analysis.schema)?, analysis: Some(analysis.result) })
}

/// A value that is the same for all rows. Python functions are not called to find out.
fn is_constant(typed: &TypedExpr) -> bool {
    typed.is_foldable() && !typed.expr.exists(|e| Ok(PythonUdf::of(e).is_some())).unwrap_or(true)
}

/// How a function wants its tables.
#[derive(Clone)]
struct Wishes {
    options: TableArgumentOptions,
    select: Vec<(Expr, String)>,
}

impl Wishes {
    fn of(a: &Analyzer<'_>, analysis: &TableAnalysis) -> Result<Self> {
        let parse = |text: &str| firesteel_sql::parse_expression(text, &parser_options(a));
        let partition_by =
            analysis.partition_by.iter().map(|text| parse(text).map(unnamed)).collect::<Result<Vec<_>>>()?;
        let mut order_by = Vec::with_capacity(analysis.order_by.len());
        for key in &analysis.order_by {
            let child = parse(&key.expression)?;
            if let ExprKind::Alias { names, .. } = &child.kind {
                return Err(SparkError::new("UDTF_INVALID_ALIAS_IN_REQUESTED_ORDERING_STRING_FROM_ANALYZE_METHOD")
                    .with("aliasName", names.first().cloned().unwrap_or_default()));
            }
            order_by.push(SortOrder { child, ascending: key.ascending, nulls_first: key.nulls_first });
        }
        let select =
            analysis.select.iter().map(|(text, name)| Ok((parse(text)?, name.clone()))).collect::<Result<Vec<_>>>()?;
        let with_single_partition = analysis.with_single_partition;
        Ok(Self { options: TableArgumentOptions { partition_by, order_by, with_single_partition }, select })
    }

    fn apply(self, table: &mut TableArgument, function: &str) -> Result<()> {
        let invalid = |reason: &str| {
            Err(SparkError::new("TABLE_VALUED_FUNCTION_REQUIRED_METADATA_INVALID")
                .with("functionName", function)
                .with("reason", reason))
        };
        let Self { options, select } = self;
        let (is_single, is_partitioned) = (options.with_single_partition, !options.partition_by.is_empty());
        if is_single && is_partitioned {
            return invalid(
                "the 'with_single_partition' field cannot be assigned to true if the 'partition_by' list is non-empty",
            );
        }
        if !options.order_by.is_empty() && !is_single && !is_partitioned {
            return invalid(
                "the 'order_by' field cannot be non-empty unless the 'with_single_partition' field is set to true \
                 or the 'partition_by' list is non-empty",
            );
        }
        if is_single || is_partitioned {
            if table.options.with_single_partition || !table.options.partition_by.is_empty() {
                return Err(SparkError::new("TABLE_VALUED_FUNCTION_REQUIRED_METADATA_INCOMPATIBLE_WITH_CALL")
                    .with("functionName", function)
                    .with("requestedMetadata", "specified its own required partitioning of the input table")
                    .with(
                        "invalidFunctionCallProperty",
                        "specified the WITH SINGLE PARTITION or PARTITION BY clause; please remove these clauses \
                         and retry the query again.",
                    ));
            }
            table.options = options;
        }
        table.select = select
            .into_iter()
            .map(|(expression, name)| Selected { expression, name: Some(name).filter(|name| !name.is_empty()) })
            .collect();
        Ok(())
    }
}

/// An expression without the name that it is given.
fn unnamed(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Alias { child, .. } => *child,
        kind => Expr::new(kind).at(expr.origin),
    }
}

impl Arguments {
    pub fn has_tables(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Notes a table; the value that stands for it has the type of its rows.
    fn add_table(
        &mut self,
        a: &mut Analyzer<'_>,
        query: &Relation,
        options: &TableArgumentOptions,
    ) -> Result<TypedExpr> {
        let input = a.relation(query)?;
        let rows = DataType::Struct(Arc::new(attribute::schema_of(&input.output)));
        let position = self.values.len();
        self.tables.push(TableArgument { position, input, options: options.clone(), select: Vec::new() });
        Ok(Attribute::new("table", rows, false).typed())
    }

    /// All pairs of the tables' rows, each row a struct to which the arguments refer now, and the fields of the
    /// first one by which its rows are partitioned. None without tables.
    pub fn joined(&mut self, a: &mut Analyzer<'_>) -> Result<Option<(LogicalPlan, Vec<i32>)>> {
        let mut joined: Option<(LogicalPlan, Vec<i32>)> = None;
        for table in std::mem::take(&mut self.tables) {
            let position = table.position;
            let (plan, row, partition) = table.rows(a)?;
            self.values[position] = row;
            joined = Some(match joined {
                None => (plan, partition),
                Some((left, partition)) => {
                    let pairs = LogicalPlanBuilder::from(left).cross_join(plan);
                    (built(pairs.and_then(LogicalPlanBuilder::build))?, partition)
                }
            });
        }
        Ok(joined)
    }
}

impl TableArgument {
    /// The table's rows as one struct column, in the partitions and order that are asked for.
    fn rows(self, a: &mut Analyzer<'_>) -> Result<(LogicalPlan, TypedExpr, Vec<i32>)> {
        let Self { input, options, select, .. } = self;
        let scope = a.scope(&[&input]);
        let mut plan = input.plan.clone();
        let mut fields: Vec<(String, TypedExpr)> = Vec::new();
        for selected in &select {
            fields.push(selected.field(a, &scope)?);
        }
        if select.is_empty() {
            fields.extend(input.output.iter().map(|column| (column.name.clone(), column.typed())));
        }
        let mut partition = Vec::new();
        let mut sort: Vec<SortExpr> = Vec::new();
        for expr in &options.partition_by {
            let typed = a.expression(expr, &scope)?;
            sort.push(SortExpr::new(expression::key(a, &typed)?, true, true));
            // The worker takes these fields away before user code sees the row.
            let at = i32::try_from(fields.len()).map_err(|_| SparkError::internal("too many columns"))?;
            fields.push((format!("partition_by_{}", partition.len()), typed));
            partition.push(at);
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
        let mut parts = Vec::with_capacity(fields.len() * 2);
        for (name, field) in fields {
            parts.push(expression::literal(&firesteel_types::Literal::String(name))?);
            parts.push(field);
        }
        let row = a.build_context(&firesteel_plan::Origin::Unknown).call("named_struct", parts)?;
        let attribute = Attribute::new("table", row.data_type.clone(), false);
        let plan = project(plan, vec![row.expr.clone().alias(attribute.column_name())])?;
        Ok((plan, attribute.typed(), partition))
    }
}

impl Selected {
    /// The field of a row that it makes. What is not a column's name needs a name.
    fn field(&self, a: &mut Analyzer<'_>, scope: &Scope) -> Result<(String, TypedExpr)> {
        let unnamed = |text: &str| {
            Err(SparkError::new("UDTF_INVALID_REQUESTED_SELECTED_EXPRESSION_FROM_ANALYZE_METHOD_REQUIRES_ALIAS")
                .with("expression", text))
        };
        if let ExprKind::Star { .. } = self.expression.kind {
            return unnamed("unresolvedstar()");
        }
        let (own, expr) = match &self.expression.kind {
            ExprKind::Alias { child, names, .. } => (names.first().cloned(), child.as_ref()),
            _ => (None, &self.expression),
        };
        let typed = a.expression(expr, scope)?;
        match (self.name.clone().or(own), &expr.kind) {
            (Some(name), _) => Ok((name, typed)),
            (None, ExprKind::Attribute { .. }) => Ok((expression::output_name(expr, &typed), typed)),
            (None, _) => unnamed(&typed.name),
        }
    }
}
