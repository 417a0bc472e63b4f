//! Select lists: projection, aggregation, HAVING, windows, generators, ORDER BY.
//!
//! One path serves all of them. Every expression of a block (outputs, HAVING,
//! sort keys) is analysed over the block's input, where names of outputs stand
//! for their expressions; then aggregates are taken out, then windows, and
//! what is left is a projection.

use super::aggregate::{self, Groups};
use super::clause::{self, Clause, SelectList, SortAggregates};
use super::generate;
use super::grouping::{self, GroupedBlock, no_outer_columns, position};
use crate::analyzer::{AliasScope, Analyzer, at};
use crate::attribute::{Attribute, quote};
use crate::expression::{self, NamedExpr};
use crate::resolved::{Frame, Resolved, built, project};
use crate::scope::Scope;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, LogicalPlanBuilder, SortExpr, Window};
use firesteel_error::{Result, SparkError};
use firesteel_functions::{TypedExpr, cast};
use firesteel_plan::{
    Expr, ExprKind, Grouping, Origin, PipeClause, Relation, RelationKind, SortKeys, SortOrder, WindowSpecification,
};
use firesteel_types::{DataType, Literal};
use std::collections::HashMap;
use std::sync::Arc;

/// The parts of a select block.
#[derive(Clone)]
struct Block<'r> {
    /// The relation that the plan id of the select list belongs to.
    select: &'r Relation,
    input: &'r Relation,
    grouping: Option<&'r Grouping>,
    outputs: &'r [Expr],
    is_sql_aggregate: bool,
    having: Vec<&'r Expr>,
    qualify: Vec<&'r Expr>,
    windows: Vec<&'r [(String, WindowSpecification)]>,
}

/// A Project or Aggregate with what stands around it; None for other relations.
fn block_of(relation: &Relation) -> Option<Block<'_>> {
    match relation.kind() {
        RelationKind::Project { input, expressions } => Some(Block {
            select: relation,
            input,
            grouping: None,
            outputs: expressions,
            is_sql_aggregate: true,
            having: Vec::new(),
            qualify: Vec::new(),
            windows: Vec::new(),
        }),
        RelationKind::Aggregate(agg) => Some(Block {
            select: relation,
            input: &agg.input,
            grouping: Some(&agg.grouping),
            outputs: &agg.aggregates,
            is_sql_aggregate: agg.is_sql,
            having: Vec::new(),
            qualify: Vec::new(),
            windows: Vec::new(),
        }),
        RelationKind::Having { input, condition } => {
            let mut block = block_of(input)?;
            block.having.push(condition);
            Some(block)
        }
        RelationKind::Qualify { input, condition } => {
            let mut block = block_of(input)?;
            block.qualify.push(condition);
            Some(block)
        }
        RelationKind::WithWindows { input, windows } => {
            let mut block = block_of(input)?;
            block.windows.push(windows);
            Some(block)
        }
        _ => None,
    }
}

/// A select list, without ORDER BY.
pub(crate) fn block(a: &mut Analyzer<'_>, relation: &Relation) -> Result<Resolved> {
    match block_of(relation) {
        Some(block) => analyse(a, &block, None),
        None => match relation.kind() {
            // A WINDOW clause or HAVING around something else (a set operation).
            RelationKind::WithWindows { input, windows } => {
                a.windows.push(windows.iter().cloned().collect());
                let resolved = a.relation(input);
                a.windows.pop();
                resolved
            }
            RelationKind::Having { input, condition } => super::unary::filter(a, input, condition),
            RelationKind::Qualify { input, condition } => super::unary::qualify(a, input, condition),
            _ => Err(SparkError::internal("not a select block")),
        },
    }
}

/// ORDER BY, SORT BY.
pub(crate) fn sort(a: &mut Analyzer<'_>, input: &Relation, keys: &SortKeys, is_global: bool) -> Result<Resolved> {
    if let Some(block) = block_of(input) {
        return analyse(a, &block, Some((keys, is_global)));
    }
    let before = a.self_references;
    let resolved = a.relation(input)?;
    super::with::refuse_self_reference(a, before)?;
    sort_resolved(a, resolved, keys, is_global)
}

/// Sorts a relation by its own columns, or by columns below it.
pub(crate) fn sort_resolved(
    a: &mut Analyzer<'_>,
    resolved: Resolved,
    keys: &SortKeys,
    is_global: bool,
) -> Result<Resolved> {
    let orders = sort_orders(keys, resolved.output.len());
    let scope = Scope::with_below(&resolved, a.case_sensitive());
    a.below_used.clear();
    let mut sort = Vec::new();
    for order in orders.iter() {
        let typed = match ordinal(a, &order.child, resolved.output.len())? {
            Some(i) => resolved.output[i].typed(),
            None => {
                a.sql_functions.clear();
                let typed = a.expression(&order.child, &scope)?;
                expression::refuse_sql_functions(a, "Sort")?;
                clause::check_sort_key(&typed, SortAggregates::None)?;
                typed
            }
        };
        check_orderable(&typed)?;
        let key = expression::key(a, &typed)?;
        sort.extend(expression::sort_by(key, &typed.data_type, order.ascending, order.nulls_come_first()));
    }
    let below = std::mem::take(&mut a.below_used);
    let base = resolved.expose(&below).ok_or_else(|| match below.first() {
        Some(c) => scope.unresolved(std::slice::from_ref(&c.name)),
        None => SparkError::internal("a column below is lost"),
    })?;
    let plan = sort_plan(base, sort, is_global)?;
    let resolved = resolved.with_plan(plan);
    if below.is_empty() { Ok(resolved) } else { resolved.exact().map(|p| resolved.clone().with_plan(p)) }
}

fn sort_plan(plan: LogicalPlan, sort: Vec<SortExpr>, is_global: bool) -> Result<LogicalPlan> {
    if sort.is_empty() {
        return Ok(plan);
    }
    if !is_global {
        return Ok(crate::exchange::local_sort(plan, sort));
    }
    built(LogicalPlanBuilder::from(plan).sort(sort).and_then(LogicalPlanBuilder::build))
}

fn sort_orders(keys: &SortKeys, width: usize) -> Vec<SortOrder> {
    match keys {
        SortKeys::By(orders) => orders.clone(),
        SortKeys::All { ascending, nulls_first } => (1..=width)
            .map(|i| SortOrder {
                child: Expr::literal(Literal::Integer(i32::try_from(i).unwrap_or(i32::MAX))),
                ascending: *ascending,
                nulls_first: *nulls_first,
            })
            .collect(),
    }
}

fn check_orderable(typed: &TypedExpr) -> Result<()> {
    fn orderable(t: &DataType) -> bool {
        match t {
            DataType::Map { .. } | DataType::Variant | DataType::CalendarInterval => false,
            DataType::Array { element, .. } => orderable(element),
            DataType::Struct(s) => s.fields.iter().all(|f| orderable(&f.data_type)),
            _ => true,
        }
    }
    if orderable(&typed.data_type) {
        return Ok(());
    }
    Err(SparkError::new("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
        .with("functionName", "`sortorder`")
        .with("sqlExpr", format!("\"{} ASC NULLS FIRST\"", typed.name))
        .with("dataType", format!("\"{}\"", typed.data_type.sql())))
}

/// An integer literal in ORDER BY or GROUP BY is a position in the output.
fn ordinal(a: &Analyzer<'_>, expr: &Expr, width: usize) -> Result<Option<usize>> {
    if !a.env.conf().order_by_ordinal {
        return Ok(None);
    }
    position(expr, width, "ORDER_BY_POS_OUT_OF_RANGE").map_err(|error| at(error, &expr.origin))
}

fn analyse(a: &mut Analyzer<'_>, block: &Block<'_>, sort: Option<(&SortKeys, bool)>) -> Result<Resolved> {
    if let Some(Grouping::Pivot { grouping, column, values }) = block.grouping {
        super::pivot::refuse_stars(block.outputs)?;
        let resolved =
            super::pivot::pivot(a, block.input, grouping, std::slice::from_ref(column), values, block.outputs)?;
        let resolved = resolved.with_plan_id(block.select.plan_id());
        return match sort {
            Some((keys, is_global)) => sort_resolved(a, resolved, keys, is_global),
            None => Ok(resolved),
        };
    }
    if block.grouping.is_none() && !block.having.is_empty() && a.env.conf().having_as_where {
        return analyse_as_where(a, block, sort);
    }
    let pipe = a.pipe.take();
    let before = a.self_references;
    let spread = match block.grouping {
        Some(grouping) => super::time_window::spread(grouping, block.outputs, &block.having)?,
        None => None,
    };
    let (input, spread_block) = match &spread {
        None => (a.relation(block.input)?, None),
        Some(spread) => {
            let spread_block = Block {
                grouping: Some(&spread.grouping),
                outputs: &spread.outputs,
                having: spread.having.iter().collect(),
                ..block.clone()
            };
            (spread.input(a, block.input)?, Some(spread_block))
        }
    };
    let block = spread_block.as_ref().unwrap_or(block);
    if sort.is_some() || block.grouping.is_some() {
        super::with::refuse_self_reference(a, before)?;
    }
    let is_recursive = a.self_references > before;
    for windows in &block.windows {
        let named: HashMap<_, _> = windows.iter().cloned().collect();
        a.windows.push(named);
    }
    a.aliases.push(AliasScope::Lateral(Vec::new()));
    let result = analyse_over(a, block, input, sort, pipe).and_then(|(resolved, is_plain)| {
        if is_recursive && !is_plain {
            return Err(SparkError::new("INVALID_RECURSIVE_REFERENCE.PLACE"));
        }
        Ok(resolved)
    });
    a.aliases.pop();
    for _ in &block.windows {
        a.windows.pop();
    }
    result
}

/// By a legacy setting, HAVING without GROUP BY is WHERE.
fn analyse_as_where(a: &mut Analyzer<'_>, block: &Block<'_>, sort: Option<(&SortKeys, bool)>) -> Result<Resolved> {
    let filter = |input: Relation, condition: &&Expr| {
        Relation::new(RelationKind::Filter { input, condition: (*condition).clone() })
    };
    let input = block.having.iter().fold(block.input.clone(), filter);
    let block = Block {
        select: block.select,
        input: &input,
        grouping: None,
        outputs: block.outputs,
        is_sql_aggregate: block.is_sql_aggregate,
        having: Vec::new(),
        qualify: block.qualify.clone(),
        windows: block.windows.clone(),
    };
    analyse(a, &block, sort)
}

fn analyse_over(
    a: &mut Analyzer<'_>,
    block: &Block<'_>,
    input: Resolved,
    sort: Option<(&SortKeys, bool)>,
    pipe: Option<PipeClause>,
) -> Result<(Resolved, bool)> {
    let file = a.file_used.take();
    let (mut input, mut outputs) = analyse_outputs(a, input, block)?;
    if pipe == Some(PipeClause::Aggregate)
        && let Some(output) = outputs.iter().find(|o| !has_aggregate(&o.typed))
    {
        return Err(SparkError::new("PIPE_OPERATOR_AGGREGATE_EXPRESSION_CONTAINS_NO_AGGREGATE_FUNCTION")
            .with("expr", output.typed.name.clone()));
    }
    let scope = a.scope(&[&input]);
    let grouped = GroupedBlock {
        items: block.outputs,
        is_sql: block.is_sql_aggregate,
        by_input: pipe == Some(PipeClause::Aggregate),
    };
    let groups = match block.grouping {
        Some(grouping) => Some(grouping::analyse(a, grouping, &mut outputs, &grouped, &scope)?),
        None => None,
    };
    let having_groups = !block.having.is_empty();
    let mut list = SelectList {
        outputs: &outputs,
        groups: groups.as_ref(),
        is_aggregate: having_groups || groups.is_some() || outputs.iter().any(|o| has_aggregate(&o.typed)),
        is_projected: false,
    };
    // The parameters of a function stand for values, be they columns of the caller.
    let is_body = a.function.is_some();
    if list.is_aggregate && !is_body {
        outputs.iter().try_for_each(|o| no_outer_columns(&o.typed))?;
    }
    let mut having = Vec::new();
    let outside = (std::mem::take(&mut a.hoisted), std::mem::replace(&mut a.in_having, true));
    for condition in &block.having {
        let typed = clause::expression(a, condition, &scope, &list, Clause::Having)?;
        super::unary::no_windows(&typed, "HAVING")?;
        having.push(having_condition(a, typed)?);
    }
    let mut hoisted = std::mem::replace(&mut a.hoisted, outside.0);
    a.in_having = outside.1;
    let mut qualify = Vec::new();
    let in_list = outputs.iter().any(|o| has_window(&o.typed.expr));
    for condition in &block.qualify {
        let typed = clause::expression(a, condition, &scope, &list, Clause::Qualify)?;
        if !in_list && !has_window(&typed.expr) {
            return Err(SparkError::new("QUALIFY_REQUIRES_WINDOW_FUNCTION"));
        }
        qualify.push(super::unary::boolean(typed, "QUALIFY")?);
    }
    // HAVING with more than outputs, and windows, put a projection between the aggregation and ORDER BY.
    list.is_projected = list.is_aggregate
        && (!qualify.is_empty()
            || !hoisted.is_empty()
            || having.iter().any(|h| clause::needs_more(h, &list))
            || outputs.iter().any(|o| has_window(&o.typed.expr)));
    let mut keys: Vec<(TypedExpr, SortOrder)> = Vec::new();
    if let Some((sort_keys, _)) = sort {
        let own = outputs.iter().map(|o| o.attribute.clone()).collect();
        let scope = scope.with_select_list(block.select.plan_id(), own);
        let orders = block_orders(a, sort_keys, &outputs);
        let mut named = Vec::with_capacity(orders.len());
        for order in &orders {
            super::unary::refuse_star(&order.child, "Sort")?;
            named.push(match order.child.kind {
                ExprKind::Literal(Literal::Integer(_)) if a.env.conf().order_by_ordinal => None,
                _ => Some(
                    clause::expression(a, &order.child, &scope, &list, Clause::OrderBy)
                        .map_err(|error| super::unary::outside_select(error, "Sort"))?,
                ),
            });
        }
        // Columns that other keys need besides the outputs were once meant by positions too.
        let needed = match list.is_aggregate || a.env.conf().ordinals_first {
            true => Vec::new(),
            false => needed_columns(&named, &outputs, &scope),
        };
        for (order, typed) in orders.into_iter().zip(named) {
            let typed = match typed {
                Some(typed) => typed,
                None => match ordinal(a, &order.child, outputs.len() + needed.len())? {
                    Some(i) => match (outputs.get(i), i.checked_sub(outputs.len()).and_then(|i| needed.get(i))) {
                        (Some(output), _) => output.typed.clone(),
                        (None, Some(column)) => column.clone(),
                        (None, None) => return Err(SparkError::internal("a position without a column")),
                    },
                    None => return Err(SparkError::internal("a number that is no position")),
                },
            };
            check_orderable(&typed)?;
            keys.push((typed, order));
        }
    }
    let is_aggregate = list.is_aggregate || having.iter().chain(&qualify).any(has_aggregate);
    let has_windows = outputs.iter().any(|o| has_window(&o.typed.expr));
    if let (Some(clause), true) =
        (pipe.filter(|clause| !matches!(clause, PipeClause::Aggregate | PipeClause::Select)), is_aggregate)
    {
        let aggregate = outputs.iter().find(|o| has_aggregate(&o.typed)).map(|o| o.typed.name.clone());
        return Err(aggregate_in_pipe(&aggregate.unwrap_or_default(), clause));
    }
    if let Some(column) = std::mem::replace(&mut a.file_used, file) {
        let exposed = input.expose(&[column]).ok_or_else(|| SparkError::internal("a column of files is lost"))?;
        input = input.with_plan(exposed);
    }
    let mut plan = input.plan.clone();
    if is_aggregate {
        let groups = groups.unwrap_or(Groups { keys: Vec::new(), sets: None });
        let original: Vec<TypedExpr> = outputs.iter().map(|o| o.typed.clone()).collect();
        let key_copies: Vec<Option<usize>> =
            keys.iter().map(|(k, _)| original.iter().position(|o| o.expr == k.expr)).collect();
        let mut targets: Vec<&mut TypedExpr> = outputs.iter_mut().map(|o| &mut o.typed).collect();
        targets.extend(having.iter_mut());
        targets.extend(qualify.iter_mut());
        targets.extend(keys.iter_mut().map(|(t, _)| t));
        targets.extend(hoisted.iter_mut().map(|(_, t)| t));
        // A key that a set leaves out is null there, and with it what is computed of it.
        let of_keys: Vec<bool> = original.iter().map(|o| groups.sets.is_some() && uses_key(o, &groups)).collect();
        let by_all = matches!(block.grouping, Some(Grouping::All));
        plan = aggregate::plan(a, &input, &groups, &mut targets).map_err(|error| {
            // GROUP BY ALL groups by whole outputs: what else an aggregate's output uses is not among them.
            let is_missing = error.is("MISSING_GROUP_BY") || error.is("MISSING_AGGREGATION");
            if by_all && is_missing { SparkError::new("UNRESOLVED_ALL_IN_GROUP_BY") } else { error }
        })?;
        for output in outputs.iter_mut().zip(&of_keys).filter(|(_, of_keys)| **of_keys).map(|(output, _)| output) {
            output.typed.nullable = true;
            output.attribute.nullable = true;
        }
        if !hoisted.is_empty() {
            let mut columns: Vec<DfExpr> = plan.schema().columns().into_iter().map(DfExpr::Column).collect();
            columns.extend(hoisted.iter().map(|(attribute, t)| t.expr.clone().alias(attribute.column_name())));
            plan = project(plan, columns)?;
        }
        for (key, copy) in keys.iter_mut().zip(key_copies) {
            if let Some(i) = copy {
                key.0.expr = outputs[i].typed.expr.clone();
            }
        }
        for output in &mut outputs {
            // Under grouping sets the columns are others than the input's.
            output.attribute.nullable |= output.typed.nullable;
            if groups.sets.is_some() && input.output.iter().any(|c| c.id == output.attribute.id) {
                output.attribute = output.attribute.renewed();
            }
        }
    }
    for condition in having {
        plan = built(LogicalPlanBuilder::from(plan).filter(condition.expr).and_then(LogicalPlanBuilder::build))?;
    }
    {
        let mut targets: Vec<&mut DfExpr> = outputs.iter_mut().map(|o| &mut o.typed.expr).collect();
        targets.extend(keys.iter_mut().map(|(t, _)| &mut t.expr));
        targets.extend(qualify.iter_mut().map(|t| &mut t.expr));
        plan = extract_windows(plan, &mut targets)?;
    }
    for condition in qualify {
        plan = built(LogicalPlanBuilder::from(plan).filter(condition.expr).and_then(LogicalPlanBuilder::build))?;
    }
    let resolved = finish(a, block, &input, plan, outputs, (keys, sort.is_some_and(|s| s.1)), is_aggregate)?;
    Ok((resolved, !is_aggregate && !has_windows))
}

fn has_aggregate(typed: &TypedExpr) -> bool {
    typed.expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false)
}

/// The condition of HAVING: what is no boolean is cast to one.
fn having_condition(a: &Analyzer<'_>, typed: TypedExpr) -> Result<TypedExpr> {
    if matches!(typed.data_type, DataType::Boolean | DataType::Null) {
        return super::unary::boolean(typed, "HAVING");
    }
    let mode = if a.env.conf().ansi_enabled { cast::Mode::Ansi } else { cast::Mode::Legacy };
    cast::cast(typed, &DataType::Boolean, mode, &mut a.build_context(&Origin::Unknown))
}

/// The sort keys of a block: `ORDER BY ALL` is a column, where an output is called `all`.
/// Whether an output is computed of a group's key.
fn uses_key(output: &TypedExpr, groups: &Groups) -> bool {
    let mut uses = false;
    let visited = output.expr.apply(|e| {
        if matches!(e, DfExpr::AggregateFunction(_)) {
            return Ok(TreeNodeRecursion::Jump);
        }
        if groups.keys.iter().any(|key| aggregate::same_value(&key.expr, e)) {
            uses = true;
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    uses && visited.is_ok()
}

/// Columns of the input that sort keys use and no output is, in the order of their use.
fn needed_columns(keys: &[Option<TypedExpr>], outputs: &[NamedExpr], scope: &Scope) -> Vec<TypedExpr> {
    let mut needed: Vec<TypedExpr> = Vec::new();
    for key in keys.iter().flatten() {
        let visited = key.expr.apply(|e| {
            if outputs.iter().any(|output| output.typed.expr == *e) {
                return Ok(TreeNodeRecursion::Jump);
            }
            if let DfExpr::Column(column) = e
                && !needed.iter().any(|known| known.expr == *e)
                && let Some(attribute) = scope.attributes.iter().find(|c| c.column_name() == column.name)
            {
                needed.push(attribute.typed());
            }
            Ok(TreeNodeRecursion::Continue)
        });
        if visited.is_err() {
            return Vec::new();
        }
    }
    needed
}

fn block_orders(a: &Analyzer<'_>, keys: &SortKeys, outputs: &[NamedExpr]) -> Vec<SortOrder> {
    let all = match keys {
        SortKeys::All { ascending, nulls_first } => Some((*ascending, *nulls_first)),
        SortKeys::By(_) => None,
    };
    let scope = Scope::of(outputs.iter().map(|o| o.attribute.clone()).collect(), a.case_sensitive());
    match all {
        Some((ascending, nulls_first)) if matches!(scope.find(&["all".to_string()]), Ok(Some(_))) => {
            vec![SortOrder { child: Expr::column("all"), ascending, nulls_first }]
        }
        _ => sort_orders(keys, outputs.len()),
    }
}

/// The projection, with sort keys that are no outputs as extra columns.
fn finish(
    a: &Analyzer<'_>,
    block: &Block<'_>,
    input: &Resolved,
    plan: LogicalPlan,
    outputs: Vec<NamedExpr>,
    (keys, is_global): (Vec<(TypedExpr, SortOrder)>, bool),
    is_aggregate: bool,
) -> Result<Resolved> {
    let mut seen = std::collections::HashSet::new();
    let mut expressions: Vec<DfExpr> =
        outputs.iter().filter(|o| seen.insert(o.attribute.id)).map(NamedExpr::expr).collect();
    let mut sort = Vec::new();
    let mut has_extra = false;
    for (typed, order) in keys {
        let mut key = typed.clone();
        key.expr = match outputs.iter().find(|o| o.typed.expr == typed.expr) {
            Some(output) => output.attribute.expr(),
            None => {
                has_extra = true;
                let extra = NamedExpr::computed(typed, "sort");
                expressions.push(extra.expr());
                extra.attribute.expr()
            }
        };
        let by = expression::key(a, &key)?;
        sort.extend(expression::sort_by(by, &key.data_type, order.ascending, order.nulls_come_first()));
    }
    let output: Vec<Attribute> = outputs.into_iter().map(|o| o.attribute).collect();
    let projected = project(plan, expressions)?;
    let mut resolved = Resolved::over(projected, output.clone(), &[input]);
    if is_aggregate {
        resolved.below = None;
    }
    resolved.frame = Arc::new(Frame { plan_id: block.select.plan_id(), output, children: vec![input.frame.clone()] });
    if sort.is_empty() {
        return Ok(resolved);
    }
    let sorted = sort_plan(resolved.plan.clone(), sort, is_global)?;
    let resolved = resolved.with_plan(sorted);
    if has_extra {
        let exact = resolved.exact()?;
        return Ok(resolved.with_plan(exact));
    }
    Ok(resolved)
}

/// Analyses the select list; a generator in it changes the input.
fn analyse_outputs(a: &mut Analyzer<'_>, mut input: Resolved, block: &Block<'_>) -> Result<(Resolved, Vec<NamedExpr>)> {
    let mut scope = a.scope(&[&input]);
    let mut outputs: Vec<NamedExpr> = Vec::new();
    let mut has_generator = false;
    for expr in block.outputs {
        let parsed = parsed_text(a, expr)?;
        let expr = parsed.as_ref().unwrap_or(expr);
        if let Some(columns) = expression::expand(a, expr, &scope)? {
            for (name, typed) in columns {
                let item = Expr::column(name);
                outputs.push(expression::named(&item, typed, &scope.attributes).map(|n| rename_field(n, &item))?);
            }
            continue;
        }
        if let Some(call) = generate::generator_item(expr) {
            // Several generators follow one another: each row of one meets each of the next.
            has_generator = true;
            let (generated, attributes) = generate::generate(a, input, call, &scope)?;
            input = generated;
            scope = a.scope(&[&input]);
            outputs.extend(attributes.iter().map(NamedExpr::column));
            continue;
        }
        let typed = a.expression(expr, &scope)?;
        let visible: Vec<Attribute> = scope.attributes.iter().chain(&scope.hidden).cloned().collect();
        let named = expression::named(expr, typed, &visible)?;
        if matches!(expr.kind, ExprKind::Alias { .. })
            && let Some(AliasScope::Lateral(names)) = a.aliases.last_mut()
        {
            names.push((named.attribute.name.clone(), named.typed.clone()));
        }
        outputs.push(named);
    }
    if has_generator {
        // The generated columns are not part of what names below mean.
        input.output.retain(|c| scope.attributes.iter().any(|x| x.id == c.id));
    }
    Ok((input, outputs))
}

fn rename_field(mut named: NamedExpr, item: &Expr) -> NamedExpr {
    if let ExprKind::Attribute { name, .. } = &item.kind
        && !named.is_column()
        && let Some(name) = name.first()
    {
        named.attribute.name.clone_from(name);
    }
    named
}

/// The expression of a piece of SQL text.
pub(super) fn parsed_text(a: &Analyzer<'_>, expr: &Expr) -> Result<Option<Expr>> {
    match &expr.kind {
        ExprKind::SqlText(text) => {
            firesteel_sql::parse_expression(&super::substituted(a, text)?, &super::parser_options(a)).map(Some)
        }
        ExprKind::Alias { child, names, metadata } => Ok(parsed_text(a, child)?.map(|child| {
            Expr::new(ExprKind::Alias { child: Box::new(child), names: names.clone(), metadata: metadata.clone() })
        })),
        _ => Ok(None),
    }
}

/// Takes window functions out of expressions into Window operators.
pub(crate) fn extract_windows(mut plan: LogicalPlan, targets: &mut [&mut DfExpr]) -> Result<LogicalPlan> {
    loop {
        // Windows within windows' arguments are taken out first: the innermost ones.
        let mut groups: Vec<(Vec<DfExpr>, Vec<SortExpr>, Vec<DfExpr>)> = Vec::new();
        let mut known: HashMap<DfExpr, DfExpr> = HashMap::new();
        for target in targets.iter_mut() {
            let transformed = built((*target).clone().transform_down(|e| {
                let DfExpr::WindowFunction(f) = &e else { return Ok(Transformed::no(e)) };
                let nested = f.params.args.iter().chain(&f.params.partition_by).any(has_window)
                    || f.params.order_by.iter().any(|s| has_window(&s.expr));
                if nested {
                    return Ok(Transformed::no(e));
                }
                if let Some(column) = known.get(&e) {
                    return Ok(Transformed::new(column.clone(), true, TreeNodeRecursion::Jump));
                }
                let attribute = Attribute::new("window", DataType::Null, true);
                let aliased = e.clone().alias(attribute.column_name());
                let (partition, order) = (f.params.partition_by.clone(), f.params.order_by.clone());
                match groups.iter_mut().find(|(p, o, _)| *p == partition && *o == order) {
                    Some((_, _, list)) => list.push(aliased),
                    None => groups.push((partition, order, vec![aliased])),
                }
                known.insert(e, attribute.expr());
                Ok(Transformed::new(attribute.expr(), true, TreeNodeRecursion::Jump))
            }))?;
            **target = transformed.data;
        }
        if groups.is_empty() {
            return Ok(plan);
        }
        for (_, _, windows) in groups {
            plan = built(Window::try_new(windows, Arc::new(plan)).map(LogicalPlan::Window))?;
        }
    }
}

/// True where a window function is called within.
pub(super) fn has_window(expr: &DfExpr) -> bool {
    expr.exists(|e| Ok(matches!(e, DfExpr::WindowFunction(_)))).unwrap_or(false)
}

fn aggregate_in_pipe(expression: &str, clause: PipeClause) -> SparkError {
    SparkError::new("PIPE_OPERATOR_CONTAINS_AGGREGATE_FUNCTION")
        .with("expr", expression)
        .with("clause", clause.keyword())
}

/// `withColumn(s)`: columns of the same name are replaced, others added.
pub(crate) fn with_columns(a: &mut Analyzer<'_>, input: &Relation, aliases: &[Expr]) -> Result<Resolved> {
    let pipe = a.pipe.take();
    let input = a.relation(input)?;
    let file = a.file_used.take();
    a.aliases.push(AliasScope::Lateral(Vec::new()));
    let analysed = new_columns(a, &input, aliases, pipe);
    a.aliases.pop();
    let (mut generated_input, new) = analysed?;
    let scope = a.scope(&[&input]);
    if let Some(column) = std::mem::replace(&mut a.file_used, file)
        && let Some(exposed) = generated_input.expose(&[column])
    {
        generated_input = generated_input.with_plan(exposed);
    }
    let mut outputs: Vec<NamedExpr> = Vec::new();
    let mut used = vec![false; new.len()];
    for column in &input.output {
        match new.iter().position(|n| scope.same_name(&n.attribute.name, &column.name)) {
            Some(i) => {
                used[i] = true;
                outputs.push(new[i].clone());
            }
            None => outputs.push(NamedExpr::column(column)),
        }
    }
    outputs.extend(new.into_iter().zip(used).filter(|(_, used)| !used).map(|(n, _)| n));
    let mut plan = generated_input.plan.clone();
    let has_aggregate =
        |o: &NamedExpr| o.typed.expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false);
    if outputs.iter().any(has_aggregate) {
        // One group of all rows, which the other columns do not fit.
        let groups = Groups { keys: Vec::new(), sets: None };
        let mut targets: Vec<&mut TypedExpr> = outputs.iter_mut().map(|o| &mut o.typed).collect();
        plan = aggregate::plan(a, &generated_input, &groups, &mut targets)?;
    }
    {
        let mut targets: Vec<&mut DfExpr> = outputs.iter_mut().map(|o| &mut o.typed.expr).collect();
        plan = extract_windows(plan, &mut targets)?;
    }
    project_over(&input, plan, outputs)
}

/// The columns of `withColumns`, each of which sees those before it, and the input with what generators add.
fn new_columns(
    a: &mut Analyzer<'_>,
    input: &Resolved,
    aliases: &[Expr],
    pipe: Option<PipeClause>,
) -> Result<(Resolved, Vec<NamedExpr>)> {
    let scope = a.scope(&[input]);
    let mut generated_input = input.clone();
    let mut new: Vec<NamedExpr> = Vec::new();
    for alias in aliases {
        if let Some(call) = generate::generator_item(alias) {
            let (generated, attributes) = generate::generate(a, generated_input, call, &scope)?;
            generated_input = generated;
            new.extend(attributes.iter().map(NamedExpr::column));
            continue;
        }
        let typed = a.expression(alias, &scope)?;
        let has_aggregate = typed.expr.exists(|e| Ok(matches!(e, DfExpr::AggregateFunction(_)))).unwrap_or(false);
        if let (Some(clause), true) = (pipe, has_aggregate) {
            return Err(aggregate_in_pipe(&typed.name, clause));
        }
        let named = expression::named(alias, typed, &scope.attributes)?;
        if new.iter().any(|n| scope.same_name(&n.attribute.name, &named.attribute.name)) {
            return Err(SparkError::new("COLUMN_ALREADY_EXISTS").with("columnName", quote(&named.attribute.name)));
        }
        if let Some(AliasScope::Lateral(names)) = a.aliases.last_mut() {
            names.push((named.attribute.name.clone(), named.typed.clone()));
        }
        new.push(named);
    }
    Ok((generated_input, new))
}

/// A projection of `plan` that replaces `input`.
pub(crate) fn project_over(input: &Resolved, plan: LogicalPlan, outputs: Vec<NamedExpr>) -> Result<Resolved> {
    let mut seen = std::collections::HashSet::new();
    let expressions = outputs.iter().filter(|o| seen.insert(o.attribute.id)).map(NamedExpr::expr).collect();
    let projected = project(plan, expressions)?;
    Ok(Resolved::over(projected, outputs.into_iter().map(|o| o.attribute).collect(), &[input]))
}
