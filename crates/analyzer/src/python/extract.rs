//! Takes calls of Python functions out of expressions.
//!
//! As in Spark, the functions of one kind in one operator's expressions run in one
//! pass over its input, and a function of the result of another of the same kind in
//! the same call of the worker. What depends on a pass comes in the next one.

use super::operator::{PythonChain, PythonKind, PythonOperator, PythonWindow};
use super::{PythonCall, PythonUdaf, PythonUdf};
use crate::attribute::AttributeId;
use crate::resolved::built;
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{GroupingSet, WindowFunction};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, Expr, Filter, Join, JoinType, LogicalPlan, LogicalPlanBuilder, SortExpr, Window, WindowFrameBound,
    WindowFunctionDefinition, lit, when,
};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use std::sync::Arc;

/// The plan with operators in place of calls.
pub fn extract(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !has_python(&plan) {
        return Ok(plan);
    }
    rewrite(plan)
}

fn has_python(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let visited = plan.apply_with_subqueries(|node| {
        found = expressions_have_python(node);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || visited.is_err()
}

fn expressions_have_python(plan: &LogicalPlan) -> bool {
    plan.apply_expressions(|e| {
        Ok(if is_called(e) || is_aggregated(e) { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })
    .is_ok_and(|r| r == TreeNodeRecursion::Stop)
}

/// True where a scalar Python function is called within.
pub(crate) fn is_called(expr: &Expr) -> bool {
    expr.exists(|e| Ok(PythonUdf::of(e).is_some())).unwrap_or(false)
}

/// True where a Python aggregate is called within.
pub(crate) fn is_aggregated(expr: &Expr) -> bool {
    expr.exists(|e| {
        Ok(match e {
            Expr::AggregateFunction(f) => PythonUdaf::of(&f.func).is_some(),
            Expr::WindowFunction(f) => window_call(f).is_some(),
            _ => false,
        })
    })
    .unwrap_or(false)
}

fn window_call(function: &WindowFunction) -> Option<&Arc<PythonCall>> {
    match &function.fun {
        WindowFunctionDefinition::AggregateUDF(udaf) => PythonUdaf::of(udaf),
        WindowFunctionDefinition::WindowUDF(_) => None,
    }
}

fn fresh(name: &str) -> String {
    format!("{name}#{}", AttributeId::fresh().0)
}

fn column(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

fn rewrite(plan: LogicalPlan) -> Result<LogicalPlan> {
    stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, || {
        let mut failure = None;
        let mut step = |child: LogicalPlan| match rewrite(child) {
            Ok(child) => Ok(Transformed::yes(child)),
            Err(error) => {
                failure.get_or_insert(error);
                Ok(Transformed::no(LogicalPlan::default()))
            }
        };
        let plan = plan.map_subqueries(&mut step).and_then(|t| t.data.map_children(&mut step)).map(|t| t.data);
        if let Some(error) = failure {
            return Err(error);
        }
        let plan = built(plan)?;
        if !expressions_have_python(&plan) {
            return Ok(plan);
        }
        match plan {
            LogicalPlan::Join(join) => of_join(join),
            LogicalPlan::Filter(filter) => of_filter(filter),
            LogicalPlan::Aggregate(aggregate) => match with_columns(LogicalPlan::Aggregate(aggregate))? {
                LogicalPlan::Aggregate(aggregate) => of_aggregate(aggregate),
                plan => Ok(plan),
            },
            LogicalPlan::Window(window) => match with_columns(LogicalPlan::Window(window))? {
                LogicalPlan::Window(window) => of_window(window),
                plan => Ok(plan),
            },
            plan => {
                let names: Vec<String> = plan.schema().fields().iter().map(|f| f.name().clone()).collect();
                let is_projection = matches!(plan, LogicalPlan::Projection(_));
                let plan = with_columns(plan)?;
                if is_projection { Ok(plan) } else { only(plan, &names) }
            }
        }
    })
}

/// The plan's columns of these names.
fn only(plan: LogicalPlan, names: &[String]) -> Result<LogicalPlan> {
    let fields = plan.schema().fields();
    if fields.len() == names.len() && fields.iter().zip(names).all(|(f, n)| f.name() == n) {
        return Ok(plan);
    }
    let columns: Vec<Expr> = names.iter().map(|name| column(name)).collect();
    built(LogicalPlanBuilder::from(plan).project(columns).and_then(LogicalPlanBuilder::build))
}

/// An operator over one input, its scalar calls replaced by columns of that input.
fn with_columns(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut expressions = plan.expressions();
    if !expressions.iter().any(is_called) {
        return Ok(plan);
    }
    let inputs = plan.inputs();
    let [input] = inputs.as_slice() else {
        return Err(SparkError::unsupported(format!("Python functions in {}", plan.display())));
    };
    // A projection's columns keep their names.
    let names: Option<Vec<String>> = match &plan {
        LogicalPlan::Projection(_) => Some(plan.schema().fields().iter().map(|f| f.name().clone()).collect()),
        _ => None,
    };
    let input = computed((*input).clone(), &mut expressions)?;
    if let Some(names) = names {
        for (expr, name) in expressions.iter_mut().zip(names) {
            if expr.schema_name().to_string() != name {
                *expr = std::mem::take(expr).unalias().alias(name);
            }
        }
    }
    built(plan.with_new_exprs(expressions, vec![input]))
}

/// The input with a column for every call in the expressions, which then refer to these.
fn computed(mut input: LogicalPlan, expressions: &mut [Expr]) -> Result<LogicalPlan> {
    while expressions.iter().any(is_called) {
        let (chains, calls) = pass(expressions);
        if chains.is_empty() {
            return Err(SparkError::internal("a Python function that nothing can compute"));
        }
        for expr in expressions.iter_mut() {
            let replaced = std::mem::take(expr).transform_down(|e| {
                Ok(match calls.iter().position(|call| *call == e) {
                    Some(i) => Transformed::new(column(&chains[i].output), true, TreeNodeRecursion::Jump),
                    None => Transformed::no(e),
                })
            });
            *expr = built(replaced)?.data;
        }
        input = built(PythonOperator::new(PythonKind::Eval { chains }, input))?;
    }
    Ok(input)
}

/// Calls of one kind that the input alone decides, with what they are replaced for.
fn pass(expressions: &[Expr]) -> (Vec<PythonChain>, Vec<Expr>) {
    let (mut chains, mut calls): (Vec<PythonChain>, Vec<Expr>) = (Vec::new(), Vec::new());
    for expr in expressions {
        let _ = expr.apply(|e| {
            if PythonUdf::of(e).is_none() {
                return Ok(TreeNodeRecursion::Continue);
            }
            let Some(chain) = chain(e) else { return Ok(TreeNodeRecursion::Continue) };
            let kind = |chain: &PythonChain| chain.last().map(|call| call.eval_type);
            let fits = chains.first().is_none_or(|first| {
                kind(first) == kind(&chain) && !kind(first).is_some_and(firesteel_python::EvalType::is_alone)
            });
            if fits && !calls.contains(e) {
                calls.push(e.clone());
                chains.push(chain);
            }
            Ok(TreeNodeRecursion::Jump)
        });
    }
    (chains, calls)
}

/// The call as a chain, where its arguments need no other pass.
fn chain(expr: &Expr) -> Option<PythonChain> {
    let (call, arguments) = PythonUdf::of(expr)?;
    if let [argument] = arguments
        && let Some((inner, _)) = PythonUdf::of(argument)
    {
        let is_one = inner.eval_type == call.eval_type && call.eval_type.can_chain();
        let is_named = call.parameters.iter().any(|p| p.name.is_some());
        if is_one && !is_named && (call.deterministic && inner.deterministic) {
            let mut inner = chain(argument)?;
            inner.functions.push(call.clone());
            inner.output = fresh(&call.name);
            return Some(inner);
        }
    }
    if arguments.iter().any(is_called) {
        return None;
    }
    Some(PythonChain { functions: vec![call.clone()], arguments: arguments.to_vec(), output: fresh(&call.name) })
}

/// A filter: rows are sorted out by the conditions without Python first.
fn of_filter(filter: Filter) -> Result<LogicalPlan> {
    let names: Vec<String> = filter.input.schema().fields().iter().map(|f| f.name().clone()).collect();
    let (python, plain): (Vec<Expr>, Vec<Expr>) =
        split_conjunction_owned(filter.predicate).into_iter().partition(is_called);
    let is_volatile = plain.iter().chain(&python).any(Expr::is_volatile);
    let mut input = Arc::unwrap_or_clone(filter.input);
    let mut rest = python;
    match conjunction(plain.clone()) {
        Some(_) if is_volatile => rest.extend(plain),
        Some(condition) => {
            input = built(LogicalPlanBuilder::from(input).filter(condition).and_then(LogicalPlanBuilder::build))?;
        }
        None => {}
    }
    let input = computed(input, &mut rest)?;
    let Some(condition) = conjunction(rest) else { return Ok(input) };
    let plan = built(LogicalPlanBuilder::from(input).filter(condition).and_then(LogicalPlanBuilder::build))?;
    only(plan, &names)
}

fn join_name(join_type: JoinType) -> &'static str {
    match join_type {
        JoinType::Inner => "INNER",
        JoinType::Left => "LEFT OUTER",
        JoinType::Right => "RIGHT OUTER",
        JoinType::Full => "FULL OUTER",
        JoinType::LeftSemi | JoinType::RightSemi => "LEFT SEMI",
        JoinType::LeftAnti | JoinType::RightAnti => "LEFT ANTI",
        JoinType::LeftMark | JoinType::RightMark => "EXISTENCE",
    }
}

/// A join: calls over one side become that side's columns; an inner join's other calls are filters above it.
fn of_join(join: Join) -> Result<LogicalPlan> {
    let names: Vec<String> = join.schema.fields().iter().map(|f| f.name().clone()).collect();
    let mut conditions: Vec<Expr> = join.on.into_iter().map(|(l, r)| l.eq(r)).collect();
    conditions.extend(join.filter.into_iter().flat_map(split_conjunction_owned));
    let mut sides = [Arc::unwrap_or_clone(join.left), Arc::unwrap_or_clone(join.right)];
    for side in &mut sides {
        let is_of_side = |e: &Expr| e.column_refs().iter().all(|c| side.schema().maybe_index_of_column(c).is_some());
        let mut calls = Vec::new();
        for condition in &conditions {
            let _ = condition.apply(|e| {
                let is_call = PythonUdf::of(e).is_some() && is_of_side(e);
                if is_call && !calls.contains(e) {
                    calls.push(e.clone());
                }
                Ok(if is_call { TreeNodeRecursion::Jump } else { TreeNodeRecursion::Continue })
            });
        }
        let mut columns = calls.clone();
        *side = computed(side.clone(), &mut columns)?;
        for condition in &mut conditions {
            let replaced = std::mem::take(condition).transform_down(|e| {
                Ok(match calls.iter().position(|call| *call == e) {
                    Some(i) => Transformed::new(columns[i].clone(), true, TreeNodeRecursion::Jump),
                    None => Transformed::no(e),
                })
            });
            *condition = built(replaced)?.data;
        }
    }
    let (above, conditions): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(is_called);
    if !above.is_empty() && join.join_type != JoinType::Inner {
        return Err(
            SparkError::new("UNSUPPORTED_FEATURE.PYTHON_UDF_IN_ON_CLAUSE").with("joinType", join_name(join.join_type))
        );
    }
    let [left, right] = sides;
    let joined = LogicalPlanBuilder::from(left).join_on(right, join.join_type, conditions);
    let mut plan = built(joined.and_then(LogicalPlanBuilder::build))?;
    if let LogicalPlan::Join(pairs) = &mut plan {
        // It tells which joins may not be cartesian products.
        pairs.join_constraint = join.join_constraint;
    }
    if let Some(condition) = conjunction(above) {
        let mut conditions = vec![condition];
        plan = computed(plan, &mut conditions)?;
        let condition = conjunction(conditions).unwrap_or_default();
        plan = built(LogicalPlanBuilder::from(plan).filter(condition).and_then(LogicalPlanBuilder::build))?;
    }
    only(plan, &names)
}

/// An aggregation by Python functions.
fn of_aggregate(aggregate: Aggregate) -> Result<LogicalPlan> {
    if !aggregate.aggr_expr.iter().any(is_aggregated) {
        return Ok(LogicalPlan::Aggregate(aggregate));
    }
    let mut chains = Vec::new();
    let mut names = Vec::new();
    let mut has_others = false;
    for expr in &aggregate.aggr_expr {
        let output = expr.schema_name().to_string();
        let mut inner = expr;
        while let Expr::Alias(alias) = inner {
            inner = &alias.expr;
        }
        let Expr::AggregateFunction(function) = inner else {
            return Err(SparkError::internal("an aggregate that is none"));
        };
        match PythonUdaf::of(&function.func) {
            Some(call) => {
                if function.params.filter.is_some() {
                    return Err(SparkError::unsupported("FILTER for a Python aggregate function"));
                }
                names.push(format!("`{}`", call.name));
                chains.push(PythonChain {
                    functions: vec![call.clone()],
                    arguments: function.params.args.clone(),
                    output,
                });
            }
            None => has_others = true,
        }
    }
    let kinds: Vec<_> = chains.iter().filter_map(|c| c.last().map(|call| call.eval_type)).collect();
    let is_mixed = kinds.iter().any(|kind| Some(kind) != kinds.first())
        || (kinds.len() > 1 && kinds.iter().any(|kind| kind.is_alone()));
    if has_others || is_mixed {
        return Err(SparkError::new("INVALID_PANDAS_UDF_PLACEMENT").with("functionList", names.join(", ")));
    }
    let names: Vec<String> = aggregate.schema.fields().iter().map(|f| f.name().clone()).collect();
    let (input, keys) = match aggregate.group_expr.as_slice() {
        [Expr::GroupingSet(GroupingSet::GroupingSets(sets))] => expanded(&aggregate, sets)?,
        _ => (Arc::unwrap_or_clone(aggregate.input), aggregate.group_expr),
    };
    if keys.iter().any(|e| !matches!(e, Expr::Column(_))) {
        return Err(SparkError::internal("a group key that is no column"));
    }
    only(built(PythonOperator::new(PythonKind::Aggregate { keys, chains }, input))?, &names)
}

/// The rows of an aggregation once for each grouping set, null in the keys that are not of the set; and the keys
/// by which they are grouped then.
fn expanded(aggregate: &Aggregate, sets: &[Vec<Expr>]) -> Result<(LogicalPlan, Vec<Expr>)> {
    let mut keys: Vec<Expr> = Vec::new();
    for key in sets.iter().flatten() {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    let id_name = Aggregate::INTERNAL_GROUPING_ID;
    let id_type = built(aggregate.schema.field_with_unqualified_name(id_name))?.data_type().clone();
    let mut rows = Vec::with_capacity(sets.len());
    for (number, set) in (0i32..).zip(sets) {
        let bits = keys.iter().fold(0u64, |bits, key| bits << 1 | u64::from(!set.contains(key)));
        let id = built(ScalarValue::UInt64(Some(bits)).cast_to(&id_type))?;
        rows.push(vec![lit(number), Expr::Literal(id, None)]);
    }
    let number = fresh("set");
    let columns = vec![column("column1").alias(&number), column("column2").alias(id_name)];
    let numbers = LogicalPlanBuilder::values(rows).and_then(|values| values.project(columns));
    let input = Arc::unwrap_or_clone(aggregate.input.clone());
    let mut expressions = vec![column(&number), column(id_name)];
    for field in input.schema().fields() {
        let value = column(field.name());
        if !keys.contains(&value) {
            expressions.push(value);
            continue;
        }
        let of_key =
            (0i32..).zip(sets).filter(|(_, set)| set.contains(&value)).map(|(number, _)| lit(number)).collect();
        let shown = built(when(column(&number).in_list(of_key, false), value).end())?;
        expressions.push(shown.alias(field.name()));
    }
    let rows = numbers.and_then(|numbers| numbers.cross_join(input)).and_then(|rows| rows.project(expressions));
    // Two sets of the same keys are groups of their own.
    keys.extend([column(id_name), column(&number)]);
    Ok((built(rows.and_then(LogicalPlanBuilder::build))?, keys))
}

/// Windows of Python functions, over the others of the same operator.
fn of_window(window: Window) -> Result<LogicalPlan> {
    let names: Vec<String> = window.schema.fields().iter().map(|f| f.name().clone()).collect();
    let (python, others): (Vec<Expr>, Vec<Expr>) = window.window_expr.into_iter().partition(is_aggregated);
    let mut plan = Arc::unwrap_or_clone(window.input);
    if !others.is_empty() {
        plan = built(Window::try_new(others, Arc::new(plan)).map(LogicalPlan::Window))?;
    }
    let mut groups: Vec<(Vec<Expr>, Vec<SortExpr>, Vec<PythonWindow>)> = Vec::new();
    for expr in python {
        let output = expr.schema_name().to_string();
        let mut inner = &expr;
        while let Expr::Alias(alias) = inner {
            inner = &alias.expr;
        }
        let Expr::WindowFunction(function) = inner else {
            return Err(SparkError::internal("a window function that is none"));
        };
        let Some(call) = window_call(function) else {
            return Err(SparkError::internal("a window function that is none"));
        };
        let Some(eval_type) = call.eval_type.windowed() else {
            return Err(SparkError::unsupported("iterator functions over windows"));
        };
        let call = Arc::new(PythonCall { eval_type, ..call.as_ref().clone() });
        let params = &function.params;
        let chain = PythonChain { functions: vec![call], arguments: params.args.clone(), output };
        let python = PythonWindow { chain, frame: params.window_frame.clone() };
        let same_kind =
            |list: &[PythonWindow]| list.first().and_then(|w| w.chain.last()).is_some_and(|c| c.eval_type == eval_type);
        match groups.iter_mut().find(|(p, o, l)| *p == params.partition_by && *o == params.order_by && same_kind(l)) {
            Some((_, _, list)) => list.push(python),
            None => groups.push((params.partition_by.clone(), params.order_by.clone(), vec![python])),
        }
    }
    for (partition, order, windows) in groups {
        plan = built(PythonOperator::new(PythonKind::Window { partition, order, windows }, plan))?;
    }
    only(plan, &names)
}

/// True for a frame that is the whole partition.
pub fn is_whole(frame: &datafusion::logical_expr::WindowFrame) -> bool {
    let is_open = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(value) | WindowFrameBound::Following(value) => value.is_null(),
        WindowFrameBound::CurrentRow => false,
    };
    is_open(&frame.start_bound) && is_open(&frame.end_bound)
}
