//! Spark's partitions of rows at hand and of ranges, for plans that show them.
//!
//! Spark spreads such rows over as many partitions as it has cores. What projections, filters
//! and limits make of rows at hand it works out beforehand, as one partition. Few queries
//! show any of this; those that do not run in one partition.

use crate::execution;
use arrow::array::RecordBatchOptions;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::datasource::{MemTable, provider_as_source, source_as_provider};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    Aggregate, Expr, ExprSchemable, FetchType, Limit, LogicalPlan, LogicalPlanBuilder, SkipType, TableScan,
};
use firesteel_analyzer::exchange::{Exchange, LocalSort, Scheme};
use firesteel_analyzer::python::{PythonKind, PythonOperator};
use firesteel_analyzer::range::RangeTable;
use firesteel_analyzer::resolved::{built, engine_error, project};
use firesteel_error::Result;
use firesteel_functions::SparkScalarUdf;
use firesteel_python::EvalType;
use futures::TryStreamExt;
use std::any::Any;
use std::sync::Arc;

/// Aggregates whose result does not depend on the order in which floating point numbers are added.
const EXACT: [&str; 12] = [
    "count",
    "min",
    "max",
    "first",
    "first_value",
    "last",
    "last_value",
    "any_value",
    "mode",
    "collect_list",
    "collect_set",
    "array_agg",
];

/// Aggregates whose result depends on the order of any values.
const APPROXIMATE: [&str; 3] = ["percentile_approx", "approx_percentile", "histogram_numeric"];

/// Which plans have Spark's partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slicing {
    /// Those with an operator that shows them.
    Seen,
    /// All: the partitions themselves are kept or written.
    Always,
}

/// The plan with rows at hand and ranges in Spark's partitions, where these can be seen.
pub(crate) async fn placed(state: &SessionState, plan: LogicalPlan, slicing: Slicing) -> Result<LogicalPlan> {
    let cores = state.config().target_partitions();
    if cores <= 1 || !are_seen(&plan, slicing) {
        return Ok(plan);
    }
    let mut tops = Vec::new();
    built(with_tops(plan.clone(), &mut |top: &LogicalPlan| {
        tops.push(top.clone());
        Ok(None)
    }))?;
    let mut spread = Vec::with_capacity(tops.len());
    for top in tops {
        spread.push(sliced(state, top, cores).await?);
    }
    let mut spread = spread.into_iter();
    let plan = built(with_tops(plan, &mut |_: &LogicalPlan| Ok(spread.next())))?;
    built(plan.transform_up_with_subqueries(|node| ranged(node, cores)).map(|t| t.data))
}

/// True where the partitions of rows at hand or of ranges can be seen in what the plan gives.
fn are_seen(plan: &LogicalPlan, slicing: Slicing) -> bool {
    let mut seen = slicing == Slicing::Always;
    let mut is_recursive = false;
    let visited = plan.apply_with_subqueries(|node| {
        if matches!(node, LogicalPlan::RecursiveQuery(_)) {
            is_recursive = true;
            return Ok(TreeNodeRecursion::Stop);
        }
        seen = seen || shows_partitions(node)?;
        Ok(TreeNodeRecursion::Continue)
    });
    visited.is_ok() && seen && !is_recursive
}

/// True for an operator whose rows depend on the partitions of its input.
fn shows_partitions(node: &LogicalPlan) -> DfResult<bool> {
    match node {
        LogicalPlan::Aggregate(aggregate) if adds_floats(aggregate)? => return Ok(true),
        LogicalPlan::Extension(extension) => {
            let any: &dyn Any = extension.node.as_any();
            let moves = |e: &Exchange| !matches!(e.scheme, Scheme::Stay | Scheme::Sorted(_) | Scheme::First);
            if any.is::<LocalSort>()
                || any.downcast_ref::<Exchange>().is_some_and(moves)
                || any.downcast_ref::<PythonOperator>().is_some_and(|python| takes_many(&python.kind))
            {
                return Ok(true);
            }
        }
        _ => {}
    }
    let mut depends = false;
    node.apply_expressions(|expr| {
        depends = depends || depends_on_partition(expr)?;
        Ok(if depends { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(depends && !is_local(node))
}

/// True where a Python function is given more than a row of a partition at once.
fn takes_many(kind: &PythonKind) -> bool {
    match kind {
        PythonKind::Map { .. } | PythonKind::Table(_) => true,
        PythonKind::Eval { chains } => chains
            .iter()
            .flat_map(|chain| &chain.functions)
            .any(|call| !matches!(call.eval_type, EvalType::BATCHED | EvalType::ARROW_BATCHED)),
        _ => false,
    }
}

/// True for aggregates whose result depends on which rows come together first.
fn adds_floats(aggregate: &Aggregate) -> DfResult<bool> {
    let schema = aggregate.input.schema();
    for expr in &aggregate.aggr_expr {
        let adds = expr.exists(|e| {
            let Expr::AggregateFunction(call) = e else { return Ok(false) };
            if EXACT.contains(&call.func.name()) {
                return Ok(false);
            }
            if APPROXIMATE.contains(&call.func.name()) {
                return Ok(true);
            }
            for argument in &call.params.args {
                if matches!(argument.get_type(schema)?, DataType::Float32 | DataType::Float64) {
                    return Ok(true);
                }
            }
            Ok(false)
        })?;
        if adds {
            return Ok(true);
        }
    }
    Ok(false)
}

fn depends_on_partition(expr: &Expr) -> DfResult<bool> {
    expr.exists(|e| {
        let Expr::ScalarFunction(call) = e else { return Ok(false) };
        let inner: &dyn Any = call.func.inner().as_ref();
        Ok(inner.downcast_ref::<SparkScalarUdf>().is_some_and(SparkScalarUdf::depends_on_partition))
    })
}

/// The input of an operator that Spark works out beforehand over rows at hand.
fn input_of(node: &LogicalPlan) -> Option<&LogicalPlan> {
    match node {
        LogicalPlan::Projection(projection) if projection.expr.iter().all(is_evaluable) => Some(&projection.input),
        LogicalPlan::Filter(filter) if is_evaluable(&filter.predicate) => Some(&filter.input),
        LogicalPlan::SubqueryAlias(alias) => Some(&alias.input),
        LogicalPlan::Limit(limit) if is_plain(limit) => Some(&limit.input),
        LogicalPlan::Extension(extension) => {
            let exchange = extension.node.as_any().downcast_ref::<Exchange>()?;
            matches!(exchange.scheme, Scheme::Stay | Scheme::First).then_some(&exchange.input)
        }
        _ => None,
    }
}

fn is_plain(limit: &Limit) -> bool {
    matches!(limit.get_skip_type(), Ok(SkipType::Literal(0)))
        && matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(_))))
}

fn is_evaluable(expr: &Expr) -> bool {
    let is_foreign = |e: &Expr| {
        matches!(
            e,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
        )
    };
    !expr.exists(|e| Ok(is_foreign(e))).unwrap_or(true)
}

/// The rows of a scan, where they are at hand as one partition.
fn rows_of(scan: &TableScan) -> Option<Vec<RecordBatch>> {
    let provider = source_as_provider(&scan.source).ok()?;
    let any: &dyn Any = provider.as_ref();
    match any.downcast_ref::<MemTable>()?.batches.as_slice() {
        [one] => one.try_read().ok().map(|batches| batches.clone()),
        _ => None,
    }
}

fn is_local(plan: &LogicalPlan) -> bool {
    let mut node = plan;
    loop {
        match (input_of(node), node) {
            (Some(input), _) => node = input,
            (None, LogicalPlan::TableScan(scan)) => return rows_of(scan).is_some(),
            _ => return false,
        }
    }
}

/// The plan with what `replaced` makes of the topmost operators that Spark works out over rows at hand.
fn with_tops(
    plan: LogicalPlan,
    replaced: &mut dyn FnMut(&LogicalPlan) -> DfResult<Option<LogicalPlan>>,
) -> DfResult<LogicalPlan> {
    let mut change = |node: LogicalPlan| -> DfResult<Transformed<LogicalPlan>> {
        if !is_local(&node) {
            return Ok(Transformed::no(node));
        }
        Ok(match replaced(&node)? {
            Some(other) => Transformed::yes(other),
            None => Transformed::no(node),
        })
    };
    let plan = plan.transform_up_with_subqueries(|node| {
        // The operator above decides for these.
        if input_of(&node).is_some() { Ok(Transformed::no(node)) } else { node.map_children(&mut change) }
    })?;
    change(plan.data).map(|t| t.data)
}

/// Rows at hand in Spark's partitions: what operators make of them, where these choose among rows.
async fn sliced(state: &SessionState, top: LogicalPlan, cores: usize) -> Result<LogicalPlan> {
    let mut chooses = false;
    built(top.apply(|node| {
        chooses = chooses || matches!(node, LogicalPlan::Filter(_) | LogicalPlan::Limit(_));
        node.apply_expressions(|expr| {
            chooses = chooses || depends_on_partition(expr)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(TreeNodeRecursion::Continue)
    }))?;
    if chooses {
        return evaluated(state, top, cores).await;
    }
    let spread = top.transform_up(|node| {
        let rows = match &node {
            LogicalPlan::TableScan(scan) => rows_of(scan),
            _ => None,
        };
        Ok(match (rows, node) {
            (Some(rows), LogicalPlan::TableScan(scan)) => {
                let table = MemTable::try_new(scan.source.schema(), slices(&rows, cores))?;
                let source = provider_as_source(Arc::new(table));
                Transformed::yes(LogicalPlan::TableScan(TableScan { source, ..scan }))
            }
            (_, node) => Transformed::no(node),
        })
    });
    built(spread.map(|t| t.data))
}

/// What operators make of rows at hand, in Spark's partitions.
async fn evaluated(state: &SessionState, top: LogicalPlan, cores: usize) -> Result<LogicalPlan> {
    let physical = crate::scale::plan_small(state, &top).await.map_err(engine_error)?;
    let stream = execution::start(state, execution::finished(physical)?)?;
    let batches: Vec<RecordBatch> = stream.try_collect().await.map_err(engine_error)?;
    let schema = Arc::new(top.schema().as_arrow().clone());
    let rows = batches.into_iter().map(|batch| {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)
            .map_err(DataFusionError::from)
    });
    let rows = built(rows.collect::<DfResult<Vec<_>>>())?;
    let table = built(MemTable::try_new(schema.clone(), slices(&rows, cores)))?;
    let scan = built(
        LogicalPlanBuilder::scan("local#scan", provider_as_source(Arc::new(table)), None)
            .and_then(LogicalPlanBuilder::build),
    )?;
    let columns = scan.schema().columns().into_iter().map(Expr::Column);
    let renamed: Vec<Expr> = columns
        .zip(top.schema().iter())
        .map(|(column, (qualifier, field))| column.alias_qualified(qualifier.cloned(), field.name()))
        .collect();
    project(scan, renamed)
}

/// Rows in near equal parts, one for each core, or one for each row where these are fewer.
fn slices(rows: &[RecordBatch], cores: usize) -> Vec<Vec<RecordBatch>> {
    let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
    let parts = count.clamp(1, cores.max(1));
    (0..parts).map(|part| between(rows, count * part / parts, count * (part + 1) / parts)).collect()
}

/// The rows from one position to before another.
fn between(rows: &[RecordBatch], from: usize, to: usize) -> Vec<RecordBatch> {
    let mut start = 0;
    let mut found = Vec::new();
    for batch in rows {
        let end = start + batch.num_rows();
        let (first, last) = (from.max(start), to.min(end));
        if first < last {
            found.push(batch.slice(first - start, last - first));
        }
        start = end;
    }
    found
}

/// A range in Spark's number of partitions.
fn ranged(node: LogicalPlan, cores: usize) -> DfResult<Transformed<LogicalPlan>> {
    let spread = match &node {
        LogicalPlan::TableScan(scan) => spread_range(scan, cores),
        _ => None,
    };
    Ok(match (spread, node) {
        (Some(table), LogicalPlan::TableScan(scan)) => {
            Transformed::yes(LogicalPlan::TableScan(TableScan { source: provider_as_source(Arc::new(table)), ..scan }))
        }
        (_, node) => Transformed::no(node),
    })
}

fn spread_range(scan: &TableScan, cores: usize) -> Option<RangeTable> {
    let provider = source_as_provider(&scan.source).ok()?;
    let any: &dyn Any = provider.as_ref();
    let range = any.downcast_ref::<RangeTable>()?;
    range.partitions.is_none().then(|| RangeTable::of_count(range.start, range.step, range.count, Some(cores)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, Int32Array};
    use arrow::datatypes::{Field, Int32Type, Schema};

    fn rows(values: &[&[i32]]) -> Vec<RecordBatch> {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, false)]));
        let batch = |v: &&[i32]| RecordBatch::try_new(schema.clone(), vec![Arc::new(Int32Array::from(v.to_vec()))]);
        values.iter().map(|v| batch(v).unwrap()).collect()
    }

    fn values(part: &[RecordBatch]) -> Vec<i32> {
        part.iter().flat_map(|b| b.column(0).as_primitive::<Int32Type>().values().to_vec()).collect()
    }

    fn spread(values_of: &[&[i32]], cores: usize) -> Vec<Vec<i32>> {
        slices(&rows(values_of), cores).iter().map(|part| values(part)).collect()
    }

    #[test]
    fn rows_are_spread_in_near_equal_parts() {
        assert_eq!(spread(&[&[0, 1, 2], &[3, 4, 5, 6]], 2), [vec![0, 1, 2], vec![3, 4, 5, 6]]);
        assert_eq!(spread(&[&[0, 1, 2, 3, 4, 5, 6]], 4), [vec![0], vec![1, 2], vec![3, 4], vec![5, 6]]);
    }

    #[test]
    fn fewer_rows_than_cores_have_a_partition_each() {
        assert_eq!(spread(&[&[7, 8]], 4), [vec![7], vec![8]]);
        assert_eq!(spread(&[], 4), [Vec::<i32>::new()]);
    }
}
