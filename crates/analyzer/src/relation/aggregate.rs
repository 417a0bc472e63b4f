//! Aggregation: groups, grouping sets, and the outputs over them.

use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression::NamedExpr;
use crate::resolved::{Resolved, built, project};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, HashMap};
use datafusion::logical_expr::expr::{AggregateFunction, GroupingSet};
use datafusion::logical_expr::{
    Aggregate, Expr as DfExpr, LogicalPlan, LogicalPlanBuilder, Operator, ScalarUDF, binary_expr, lit,
};
use firesteel_error::{Result, SparkError};
use firesteel_functions::{SparkScalarUdf, TypedExpr};
use firesteel_plan::GroupingElement;
use firesteel_types::{DataType, Literal};
use std::sync::Arc;

/// Group keys as analysed, and the sets of them to group by (positions of keys).
pub(crate) struct Groups {
    pub keys: Vec<TypedExpr>,
    /// None: one set of all keys.
    pub sets: Option<Vec<Vec<usize>>>,
}

/// A stand-in for `grouping(x)` and `grouping_id(…)`, which [`plan`] replaces.
pub(crate) fn grouping_marker(is_grouping: bool, arguments: &[TypedExpr]) -> TypedExpr {
    let udaf = datafusion::functions_aggregate::grouping::grouping_udaf();
    let args = arguments.iter().map(|t| t.expr.clone()).collect();
    // DISTINCT marks grouping_id.
    let function = AggregateFunction::new_udf(udaf, args, !is_grouping, None, vec![], None);
    let data_type = if is_grouping { DataType::Byte } else { DataType::Long };
    TypedExpr::new(DfExpr::AggregateFunction(function), data_type, false, "")
}

/// Plans the aggregation of `input`, and rewrites `outputs` to its columns.
pub(crate) fn plan(
    a: &Analyzer<'_>,
    input: &Resolved,
    groups: &Groups,
    outputs: &mut [&mut TypedExpr],
) -> Result<LogicalPlan> {
    let keys = key_columns(a, input, groups)?;
    let mut base = input.plan.clone();
    if keys.iter().any(|k| !k.is_column()) {
        let mut expressions: Vec<DfExpr> = base.schema().columns().into_iter().map(DfExpr::Column).collect();
        expressions.extend(keys.iter().filter(|k| !k.is_column()).map(NamedExpr::expr));
        base = project(base, expressions)?;
    }
    let never_grouped = never_grouped(groups)?;
    let mut aggregates: Vec<DfExpr> = Vec::new();
    let firsts = first_texts(groups, &keys, &mut aggregates)?;
    let mut known: HashMap<DfExpr, Column> = HashMap::new();
    for output in outputs.iter_mut() {
        let mut failure = None;
        let transformed = built(output.expr.clone().transform_down(|e| {
            if let Some(position) = groups.keys.iter().position(|k| same_value(&k.expr, &e)) {
                let column = match (&never_grouped[position], &firsts[position]) {
                    (Some(null), _) => null.clone(),
                    (None, Some(first)) => first.clone(),
                    (None, None) => keys[position].attribute.expr(),
                };
                return Ok(Transformed::new(column, true, TreeNodeRecursion::Jump));
            }
            match &e {
                DfExpr::AggregateFunction(f) if f.func.name() == "grouping" => match grouping(f, groups) {
                    Ok(expr) => Ok(Transformed::new(expr, true, TreeNodeRecursion::Jump)),
                    Err(error) => {
                        failure.get_or_insert(error);
                        Ok(Transformed::new(e, false, TreeNodeRecursion::Stop))
                    }
                },
                DfExpr::AggregateFunction(_) if super::select::has_window(&e) => {
                    failure.get_or_insert_with(|| SparkError::new("_LEGACY_ERROR_TEMP_1031"));
                    Ok(Transformed::new(e, false, TreeNodeRecursion::Stop))
                }
                DfExpr::AggregateFunction(_) => {
                    let column = known.entry(e.clone()).or_insert_with(|| {
                        let attribute = Attribute::new("agg", DataType::Null, true);
                        aggregates.push(e.clone().alias(attribute.column_name()));
                        attribute.column()
                    });
                    Ok(Transformed::new(DfExpr::Column(column.clone()), true, TreeNodeRecursion::Jump))
                }
                DfExpr::Column(column) => {
                    let name = input
                        .output
                        .iter()
                        .chain(&input.hidden)
                        .find(|x| x.column_name() == column.name)
                        .map_or_else(|| column.name.clone(), |x| x.name.clone());
                    failure.get_or_insert_with(|| missing_aggregation(&name, groups));
                    Ok(Transformed::new(e, false, TreeNodeRecursion::Stop))
                }
                DfExpr::ScalarSubquery(_) | DfExpr::Exists(_) => {
                    Ok(Transformed::new(e, false, TreeNodeRecursion::Jump))
                }
                _ => Ok(Transformed::no(e)),
            }
        }))?;
        if let Some(error) = failure {
            return Err(error);
        }
        output.expr = transformed.data;
        if groups.sets.is_some() && transformed.transformed {
            output.nullable |= uses_a_key(&output.expr, &keys);
            output.expr = with_nulls(output.expr.clone(), &keys)?;
        }
    }
    let group_expr = match &groups.sets {
        None => keys.iter().map(|k| k.attribute.expr()).collect(),
        Some(sets) => {
            let sets = sets.iter().map(|set| set.iter().map(|i| keys[*i].attribute.expr()).collect()).collect();
            vec![DfExpr::GroupingSet(GroupingSet::GroupingSets(sets))]
        }
    };
    if group_expr.is_empty() && aggregates.is_empty() {
        // Nothing to compute: one row.
        aggregates.push(datafusion::functions_aggregate::count::count_udaf().call(vec![lit(1)]).alias("one#row"));
    }
    let has_total = groups.sets.as_ref().is_some_and(|sets| sets.iter().any(Vec::is_empty));
    // Aggregates in Python are given the rows of each set anyway.
    if !has_total || aggregates.iter().any(crate::python::is_aggregated) {
        return built(Aggregate::try_new(Arc::new(base), group_expr, aggregates).map(LogicalPlan::Aggregate));
    }
    // Spark repeats the input's rows for every set: without rows there is no total either.
    let rows = Attribute::new("rows", DataType::Long, false);
    aggregates.push(datafusion::functions_aggregate::count::count_udaf().call(vec![lit(1)]).alias(rows.column_name()));
    let plan = built(Aggregate::try_new(Arc::new(base), group_expr, aggregates).map(LogicalPlan::Aggregate))?;
    built(LogicalPlanBuilder::from(plan).filter(rows.expr().gt(lit(0i64))).and_then(LogicalPlanBuilder::build))
}

/// Groups of collated texts show the first of their texts, as their keys are no texts.
fn first_texts(groups: &Groups, keys: &[NamedExpr], aggregates: &mut Vec<DfExpr>) -> Result<Vec<Option<DfExpr>>> {
    let mut firsts = Vec::with_capacity(keys.len());
    for (key, column) in groups.keys.iter().zip(keys) {
        if !crate::expression::is_collated(&key.data_type) {
            firsts.push(None);
            continue;
        }
        let text = Attribute::new("text", key.data_type.clone(), true);
        aggregates.push(super::collated::first(key.expr.clone()).alias(text.column_name()));
        // Where the key is not of the row's grouping set, there is no text.
        let null = crate::expression::literal(&Literal::Null(key.data_type.clone()))?.expr;
        let shown = datafusion::logical_expr::when(column.attribute.expr().is_null(), null).otherwise(text.expr());
        firsts.push(Some(match groups.sets {
            Some(_) => built(shown)?,
            None => text.expr(),
        }));
    }
    Ok(firsts)
}

/// Nulls for the keys that are in none of the grouping sets.
fn never_grouped(groups: &Groups) -> Result<Vec<Option<DfExpr>>> {
    let Some(sets) = &groups.sets else { return Ok(vec![None; groups.keys.len()]) };
    let null = |i: usize| sets.iter().all(|set| !set.contains(&i));
    groups
        .keys
        .iter()
        .enumerate()
        .map(|(i, key)| match null(i) {
            true => crate::expression::literal(&Literal::Null(key.data_type.clone())).map(|t| Some(t.expr)),
            false => Ok(None),
        })
        .collect()
}

fn uses_a_key(expr: &DfExpr, keys: &[NamedExpr]) -> bool {
    let is_key = |e: &DfExpr| match e {
        DfExpr::Column(column) => keys.iter().any(|k| k.attribute.column() == *column),
        DfExpr::Literal(value, _) => value.is_null(),
        _ => false,
    };
    expr.exists(|e| Ok(is_key(e))).unwrap_or(false)
}

/// Calls over keys may be null under grouping sets, though the input's rows make none.
fn with_nulls(expr: DfExpr, keys: &[NamedExpr]) -> Result<DfExpr> {
    let transformed = expr.transform_up(|e| {
        let changed = match &e {
            DfExpr::ScalarFunction(call) => {
                let any: &dyn std::any::Any = call.func.inner().as_ref();
                let udf = any.downcast_ref::<SparkScalarUdf>().filter(|udf| !udf.is_nullable());
                udf.filter(|_| uses_a_key(&e, keys))
                    .map(|udf| ScalarUDF::new_from_impl(udf.with_nulls()).call(call.args.clone()))
            }
            _ => None,
        };
        Ok(match changed {
            Some(changed) => Transformed::yes(changed),
            None => Transformed::no(e),
        })
    });
    Ok(built(transformed)?.data)
}

/// True where two expressions have the same value, whatever the order of the operands of sums and the like.
pub(super) fn same_value(left: &DfExpr, right: &DfExpr) -> bool {
    if left == right {
        return true;
    }
    if std::mem::discriminant(left) != std::mem::discriminant(right) || !has_operands(left) {
        return false;
    }
    let (Some(left), Some(right)) = (in_order(left), in_order(right)) else { return false };
    left == right
}

fn has_operands(expr: &DfExpr) -> bool {
    expr.exists(|e| Ok(commutative(e).is_some())).unwrap_or(false)
}

/// The operands of a call whose operands may change places, with the call's name.
fn commutative(expr: &DfExpr) -> Option<(String, Vec<DfExpr>)> {
    match expr {
        DfExpr::BinaryExpr(binary)
            if matches!(
                binary.op,
                Operator::Plus
                    | Operator::Multiply
                    | Operator::And
                    | Operator::Or
                    | Operator::Eq
                    | Operator::BitwiseAnd
                    | Operator::BitwiseOr
                    | Operator::BitwiseXor
            ) =>
        {
            Some((binary.op.to_string(), vec![binary.left.as_ref().clone(), binary.right.as_ref().clone()]))
        }
        DfExpr::ScalarFunction(call)
            if matches!(call.name(), "+" | "*" | "=" | "<=>" | "&" | "|" | "^" | "and" | "or")
                && call.args.len() == 2 =>
        {
            Some((call.name().to_string(), call.args.clone()))
        }
        DfExpr::ScalarFunction(call) if call.args.len() == 2 => {
            let any: &dyn std::any::Any = call.func.inner().as_ref();
            let udf = any.downcast_ref::<SparkScalarUdf>()?;
            let is_arithmetic = matches!(call.name(), "integer_arithmetic" | "decimal_arithmetic");
            let sign = udf.settings().payload.as_deref()?.split_once(' ')?.0;
            (is_arithmetic && matches!(sign, "+" | "*")).then(|| (format!("{}{sign}", call.name()), call.args.clone()))
        }
        _ => None,
    }
}

/// The operands of a chain of calls of the same name.
fn flatten(name: &str, expr: DfExpr, into: &mut Vec<DfExpr>) {
    match commutative(&expr) {
        Some((inner, operands)) if inner == name && !matches!(name, "=" | "<=>") => {
            operands.into_iter().for_each(|operand| flatten(name, operand, into));
        }
        _ => into.push(expr),
    }
}

/// The expression with the operands of every sum, product and so on sorted by their texts.
fn in_order(expr: &DfExpr) -> Option<DfExpr> {
    let sorted = expr.clone().transform_up(|e| {
        let Some((name, operands)) = commutative(&e) else { return Ok(Transformed::no(e)) };
        let mut flat = Vec::new();
        for operand in operands {
            flatten(&name, operand, &mut flat);
        }
        flat.sort_by_cached_key(ToString::to_string);
        let mut flat = flat.into_iter();
        let Some(first) = flat.next() else { return Ok(Transformed::no(e)) };
        Ok(Transformed::yes(flat.fold(first, |left, right| match &e {
            DfExpr::BinaryExpr(binary) => binary_expr(left, binary.op, right),
            DfExpr::ScalarFunction(call) => call.func.call(vec![left, right]),
            _ => left,
        })))
    });
    sorted.ok().map(|t| t.data)
}

/// The keys as columns of the aggregation's input. Under grouping sets each is
/// a copy, as the aggregates still see the column itself.
fn key_columns(a: &Analyzer<'_>, input: &Resolved, groups: &Groups) -> Result<Vec<NamedExpr>> {
    groups
        .keys
        .iter()
        .map(|key| {
            let column = input.output.iter().chain(&input.hidden).find(|c| c.expr() == key.expr);
            let expr = crate::expression::key(a, key)?;
            let is_same = expr == key.expr;
            let value = TypedExpr { expr, ..key.clone() };
            Ok(match column {
                Some(column) if groups.sets.is_none() && is_same => NamedExpr::column(column),
                Some(column) => NamedExpr::computed(value, column.name.clone()),
                None => NamedExpr::computed(value, "group"),
            })
        })
        .collect()
}

fn missing_aggregation(name: &str, groups: &Groups) -> SparkError {
    if groups.keys.is_empty() {
        return SparkError::new("MISSING_GROUP_BY");
    }
    SparkError::new("MISSING_AGGREGATION")
        .with("expression", format!("\"{name}\""))
        .with("expressionAnyValue", format!("\"any_value({name})\""))
}

/// Order in which DataFusion numbers the keys of grouping sets: by first appearance.
fn set_order(sets: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    for key in sets.iter().flatten() {
        if !order.contains(key) {
            order.push(*key);
        }
    }
    order
}

/// `grouping(x)` is a bit of the grouping id, `grouping_id()` its bits in order of the arguments.
fn grouping(function: &AggregateFunction, groups: &Groups) -> Result<DfExpr> {
    let is_id = function.params.distinct;
    let Some(sets) = &groups.sets else {
        return Err(SparkError::new("UNSUPPORTED_GROUPING_EXPRESSION"));
    };
    let order = set_order(sets);
    let count = order.len();
    let mut positions = Vec::new();
    if is_id && function.params.args.is_empty() {
        positions.extend(0..groups.keys.len());
    }
    let arguments = &function.params.args;
    let texts = |list: &[&DfExpr]| list.iter().map(|e| e.to_string()).collect::<Vec<_>>().join(",");
    let keys = distinct_keys(groups);
    if is_id && !arguments.is_empty() {
        // Either no arguments or all keys in their order.
        let is_all = keys.len() == arguments.len() && keys.iter().zip(arguments).all(|(k, e)| same_value(k, e));
        if !is_all {
            return Err(SparkError::new("GROUPING_ID_COLUMN_MISMATCH")
                .with("groupingIdColumn", texts(&arguments.iter().collect::<Vec<_>>()))
                .with("groupByColumns", texts(&keys)));
        }
    }
    for argument in arguments {
        let position = groups.keys.iter().position(|k| same_value(&k.expr, argument));
        positions.push(position.ok_or_else(|| {
            SparkError::new("GROUPING_COLUMN_MISMATCH")
                .with("grouping", argument.to_string())
                .with("groupingColumns", texts(&keys))
        })?);
    }
    let id = DfExpr::Column(Column::from_name(Aggregate::INTERNAL_GROUPING_ID));
    let id = datafusion::logical_expr::cast(id, arrow::datatypes::DataType::Int64);
    let mut sum: Option<DfExpr> = None;
    let width = positions.len();
    for (i, key) in positions.into_iter().enumerate() {
        let bit = match order.iter().position(|k| *k == key) {
            // (id >> (count - 1 - p)) & 1, in arithmetic
            Some(p) => {
                let divisor = 1i64 << (count - 1 - p);
                (id.clone() / lit(divisor)) % lit(2i64)
            }
            // In no set: always grouped away.
            None => lit(1i64),
        };
        let weighted = bit * lit(1i64 << (width - 1 - i));
        sum = Some(match sum {
            Some(s) => s + weighted,
            None => weighted,
        });
    }
    let value = sum.unwrap_or_else(|| lit(0i64));
    Ok(if is_id { value } else { datafusion::logical_expr::cast(value, arrow::datatypes::DataType::Int8) })
}

/// The keys, each once.
fn distinct_keys(groups: &Groups) -> Vec<&DfExpr> {
    let mut keys: Vec<&DfExpr> = Vec::with_capacity(groups.keys.len());
    for key in &groups.keys {
        if !keys.iter().any(|known| same_value(known, &key.expr)) {
            keys.push(&key.expr);
        }
    }
    keys
}

/// Every prefix of the keys, longest first.
pub(crate) fn rollup(items: &[Vec<usize>]) -> Vec<Vec<usize>> {
    (0..=items.len()).rev().map(|n| items[..n].concat()).collect()
}

/// The most grouping sets of one GROUP BY: each makes a row of every row.
const MOST_SETS: usize = 1 << 16;

fn check_sets(count: usize) -> Result<()> {
    if count <= MOST_SETS {
        return Ok(());
    }
    Err(SparkError::unsupported(format!("more than {MOST_SETS} grouping sets")))
}

/// Every subset of the keys, in Spark's order.
pub(crate) fn cube(items: &[Vec<usize>]) -> Result<Vec<Vec<usize>>> {
    check_sets(u32::try_from(items.len()).ok().and_then(|n| 1_usize.checked_shl(n)).unwrap_or(usize::MAX))?;
    Ok(subsets(items))
}

fn subsets(items: &[Vec<usize>]) -> Vec<Vec<usize>> {
    match items.split_first() {
        None => vec![Vec::new()],
        Some((first, rest)) => {
            let tail = subsets(rest);
            let mut with: Vec<Vec<usize>> = tail.iter().map(|t| [first.clone(), t.clone()].concat()).collect();
            with.extend(tail);
            with
        }
    }
}

/// The grouping sets of a list of elements: their product.
pub(crate) fn sets_of(
    elements: &[GroupingElement],
    key: &mut dyn FnMut(&firesteel_plan::Expr) -> Result<usize>,
) -> Result<Vec<Vec<usize>>> {
    let mut product: Vec<Vec<usize>> = vec![Vec::new()];
    for element in elements {
        let sets = element_sets(element, key)?;
        check_sets(product.len().saturating_mul(sets.len()))?;
        product = product.iter().flat_map(|p| sets.iter().map(|s| union(p, s)).collect::<Vec<_>>()).collect();
    }
    Ok(product)
}

fn union(left: &[usize], right: &[usize]) -> Vec<usize> {
    let mut all = left.to_vec();
    all.extend(right.iter().filter(|r| !left.contains(r)));
    all
}

fn element_sets(
    element: &GroupingElement,
    key: &mut dyn FnMut(&firesteel_plan::Expr) -> Result<usize>,
) -> Result<Vec<Vec<usize>>> {
    let mut items = |lists: &[Vec<firesteel_plan::Expr>]| -> Result<Vec<Vec<usize>>> {
        lists.iter().map(|list| list.iter().map(&mut *key).collect()).collect()
    };
    Ok(match element {
        GroupingElement::Expr(e) => vec![vec![key(e)?]],
        GroupingElement::Set(list) => items(std::slice::from_ref(list))?,
        GroupingElement::Rollup(lists) => rollup(&items(lists)?),
        GroupingElement::Cube(lists) => cube(&items(lists)?)?,
        GroupingElement::Sets(elements) => {
            let mut all = Vec::new();
            for inner in elements {
                all.extend(element_sets(inner, key)?);
            }
            all
        }
    })
}
