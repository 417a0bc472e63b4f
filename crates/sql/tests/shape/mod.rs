//! Plans as short texts, for tests to compare.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use firesteel_plan::{
    Expr, ExprKind, FrameBound, Grouping, GroupingElement, JoinCondition, Parameter, Relation, RelationKind, SortKeys,
    SortOrder, SubqueryKind, TableName, WindowReference,
};
use firesteel_sql::{ParserOptions, parse_expression, parse_query};
use firesteel_types::Literal;

/// The shape of an expression's text, such as `(+ a 1)`; an error is its condition.
pub fn expression(text: &str) -> String {
    expression_with(text, &ParserOptions::default())
}

pub fn expression_with(text: &str, options: &ParserOptions) -> String {
    match parse_expression(text, options) {
        Ok(expression) => expr(&expression),
        Err(error) => error.condition().unwrap_or("no condition").to_string(),
    }
}

/// The shape of a query's text, such as `Project(Table(t))[a]`; an error is its condition.
pub fn query(text: &str) -> String {
    query_with(text, &ParserOptions::default())
}

pub fn query_with(text: &str, options: &ParserOptions) -> String {
    match parse_query(text, options) {
        Ok(query) => relation(&query),
        Err(error) => error.condition().unwrap_or("no condition").to_string(),
    }
}

fn list(expressions: &[Expr]) -> String {
    expressions.iter().map(expr).collect::<Vec<_>>().join(", ")
}

pub fn expr(expression: &Expr) -> String {
    match &expression.kind {
        ExprKind::Literal(value) => literal(value),
        ExprKind::Attribute { name, .. } => name.join("."),
        ExprKind::Star { target, except, .. } => {
            let mut text = target.as_ref().map_or("*".to_string(), |name| format!("{}.*", name.join(".")));
            if !except.is_empty() {
                text += &format!(" except {}", except.iter().map(|name| name.join(".")).collect::<Vec<_>>().join(" "));
            }
            text
        }
        ExprKind::Regex { pattern, .. } => format!("regex {pattern}"),
        ExprKind::Function(call) => {
            let mut text = format!("({}", call.name.join("."));
            if call.is_distinct {
                text += " distinct";
            }
            for argument in &call.arguments {
                text += &format!(" {}", expr(argument));
            }
            if let Some(filter) = &call.filter {
                text += &format!(" filter {}", expr(filter));
            }
            if let Some(ignore) = call.ignore_nulls {
                text += if ignore { " ignore nulls" } else { " respect nulls" };
            }
            if !call.within_group.is_empty() {
                text += &format!(" within {}", orders(&call.within_group));
            }
            text + ")"
        }
        ExprKind::NamedArgument { name, value } => format!("{name} => {}", expr(value)),
        ExprKind::Cast { child, to, mode } => format!("(cast {mode:?} {} {to:?})", expr(child)),
        ExprKind::Alias { child, names, .. } => format!("{} as {}", expr(child), names.join(" ")),
        ExprKind::Window { function, window } => format!("(over {} {})", expr(function), window_reference(window)),
        ExprKind::Lambda { parameters, body } => format!("({} -> {})", parameters.join(" "), expr(body)),
        ExprKind::ExtractValue { child, extraction } => format!("{}[{}]", expr(child), expr(extraction)),
        ExprKind::Subquery { kind, query } => {
            let kind = match kind {
                SubqueryKind::Scalar => "scalar".to_string(),
                SubqueryKind::Exists => "exists".to_string(),
                SubqueryKind::In(values) => format!("in {}", list(values)),
                SubqueryKind::Table(options) => {
                    format!("table by {} {}", list(&options.partition_by), orders(&options.order_by))
                }
            };
            format!("({kind}: {})", relation(query))
        }
        ExprKind::Parameter(Parameter::Named(name)) => format!(":{name}"),
        ExprKind::Parameter(Parameter::Position(position)) => format!("?{position}"),
        ExprKind::Default => "DEFAULT".to_string(),
        ExprKind::Identifier { name, arguments } => {
            format!(
                "identifier({}){}",
                expr(name),
                arguments.as_ref().map_or(String::new(), |a| format!("({})", list(a)))
            )
        }
        other => format!("{other:?}"),
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Null(_) => "null".to_string(),
        Literal::Boolean(value) => value.to_string(),
        Literal::Integer(value) => value.to_string(),
        Literal::String(value) => format!("'{value}'"),
        other => format!("{other:?}"),
    }
}

fn orders(orders: &[SortOrder]) -> String {
    let one = |order: &SortOrder| {
        let direction = if order.ascending { "asc" } else { "desc" };
        let nulls = order.nulls_first.map_or("", |first| if first { " first" } else { " last" });
        format!("{} {direction}{nulls}", expr(&order.child))
    };
    orders.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn window_reference(window: &WindowReference) -> String {
    match window {
        WindowReference::Named(name) => name.clone(),
        WindowReference::Specification(window) => {
            let bound = |bound: &FrameBound| match bound {
                FrameBound::Value(value) => expr(value),
                FrameBound::Preceding(value) => format!("{} back", expr(value)),
                other => format!("{other:?}"),
            };
            let frame = window.frame.as_ref().map_or(String::new(), |frame| {
                format!(" {:?} {} to {}", frame.unit, bound(&frame.lower), bound(&frame.upper))
            });
            format!("by [{}] order [{}]{frame}", list(&window.partition_by), orders(&window.order_by))
        }
    }
}

fn element(element: &GroupingElement) -> String {
    let sets = |sets: &[Vec<Expr>]| sets.iter().map(|set| format!("({})", list(set))).collect::<Vec<_>>().join(" ");
    match element {
        GroupingElement::Expr(expression) => expr(expression),
        GroupingElement::Rollup(items) => format!("rollup {}", sets(items)),
        GroupingElement::Cube(items) => format!("cube {}", sets(items)),
        GroupingElement::Sets(items) => {
            format!("sets {}", items.iter().map(self::element).collect::<Vec<_>>().join(" "))
        }
        GroupingElement::Set(items) => format!("({})", list(items)),
    }
}

pub fn relation(relation_: &Relation) -> String {
    let r = relation;
    match relation_.kind() {
        RelationKind::OneRow => "One".to_string(),
        RelationKind::Values { rows } => {
            format!("Values({})", rows.iter().map(|row| format!("[{}]", list(row))).collect::<Vec<_>>().join(" "))
        }
        RelationKind::Table(table) => {
            let name = match &table.name {
                TableName::Parts(parts, _) => parts.join("."),
                TableName::Identifier(name) => format!("identifier {}", expr(name)),
            };
            let stream = if table.is_streaming { "stream " } else { "" };
            let travel = table.time_travel.as_ref().map_or(String::new(), |travel| format!(" {travel:?}"));
            format!("{stream}{name}{travel}")
        }
        RelationKind::TableFunction(call) => format!("{}({})", call.name.join("."), list(&call.arguments)),
        RelationKind::Pipe { input, .. } => r(input),
        RelationKind::Project { input, expressions } => format!("Project({})[{}]", r(input), list(expressions)),
        RelationKind::Filter { input, condition } => format!("Filter({})[{}]", r(input), expr(condition)),
        RelationKind::Having { input, condition } => format!("Having({})[{}]", r(input), expr(condition)),
        RelationKind::Qualify { input, condition } => format!("Qualify({})[{}]", r(input), expr(condition)),
        RelationKind::Sort { input, order, is_global } => {
            let order = match order {
                SortKeys::By(by) => orders(by),
                SortKeys::All { ascending, nulls_first } => format!("all {ascending} {nulls_first:?}"),
            };
            format!("{}({})[{order}]", if *is_global { "Sort" } else { "LocalSort" }, r(input))
        }
        RelationKind::Limit { input, limit } => format!("Limit({})[{}]", r(input), expr(limit)),
        RelationKind::LimitAll { input } => format!("LimitAll({})", r(input)),
        RelationKind::Offset { input, offset } => format!("Offset({})[{}]", r(input), expr(offset)),
        RelationKind::Aggregate(aggregate) => {
            let grouping = match &aggregate.grouping {
                Grouping::By(by) => list(by),
                Grouping::Elements(elements) => elements.iter().map(element).collect::<Vec<_>>().join(", "),
                Grouping::Sets { sets, columns } => format!("{sets:?} {}", list(columns)),
                other => format!("{other:?}"),
            };
            format!("Aggregate({})[{grouping}][{}]", r(&aggregate.input), list(&aggregate.aggregates))
        }
        RelationKind::Deduplicate { input, .. } => format!("Distinct({})", r(input)),
        RelationKind::SubqueryAlias { input, alias, columns, .. } => {
            let columns = if columns.is_empty() { String::new() } else { format!("({})", columns.join(" ")) };
            format!("{} as {alias}{columns}", r(input))
        }
        RelationKind::RepartitionByExpression { input, expressions, .. } => {
            format!("Spread({})[{}]", r(input), list(expressions))
        }
        RelationKind::WithColumns { input, aliases } => format!("WithColumns({})[{}]", r(input), list(aliases)),
        RelationKind::Sample { input, upper, seed, .. } => format!("Sample({})[{} {seed:?}]", r(input), upper.get()),
        RelationKind::Hint { input, name, parameters } => format!("Hint({})[{name} {}]", r(input), list(parameters)),
        RelationKind::WithWindows { input, windows } => {
            let names: Vec<&str> = windows.iter().map(|(name, _)| name.as_str()).collect();
            format!("Windows({})[{}]", r(input), names.join(" "))
        }
        RelationKind::LateralView(view) => format!(
            "View({})[{} {} {:?} {}]",
            r(&view.input),
            if view.is_outer { "outer" } else { "inner" },
            expr(&view.generator),
            view.table_alias,
            view.column_aliases.join(" ")
        ),
        RelationKind::Pivot(pivot) => format!(
            "Pivot({})[{} for {} in {}]",
            r(&pivot.input),
            list(&pivot.aggregates),
            list(&pivot.columns),
            list(&pivot.values)
        ),
        RelationKind::Join(join) => {
            let condition = match &join.condition {
                JoinCondition::None => String::new(),
                JoinCondition::On(condition) => format!(" on {}", expr(condition)),
                JoinCondition::Using(columns) => format!(" using {}", columns.join(" ")),
                JoinCondition::Natural => " natural".to_string(),
            };
            let lateral = if join.is_lateral { " lateral" } else { "" };
            format!("{:?}({}, {}{condition}{lateral})", join.join_type, r(&join.left), r(&join.right))
        }
        RelationKind::SetOperation(set) => {
            let all = if set.is_all { " all" } else { "" };
            format!("{:?}{all}({}, {})", set.operator, r(&set.left), r(&set.right))
        }
        RelationKind::With { input, ctes, is_recursive } => {
            let recursive = if *is_recursive { "recursive " } else { "" };
            let ctes: Vec<String> =
                ctes.iter().map(|cte| format!("{}({}) = {}", cte.name, cte.columns.join(" "), r(&cte.query))).collect();
            format!("With {recursive}{}: {}", ctes.join("; "), r(input))
        }
        other => format!("{other:?}"),
    }
}
