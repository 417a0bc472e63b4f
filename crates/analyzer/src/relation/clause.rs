//! HAVING, QUALIFY and ORDER BY of a select list: what names mean there.
//!
//! A name means an output or a column of the input; which comes first depends
//! on the clause. Over an aggregation a column of the input stands only in a
//! group key or an aggregate function: where it is neither, the name can only
//! mean an output.

use super::aggregate::{Groups, same_value};
use crate::analyzer::{AliasScope, Analyzer, OutputScope};
use crate::expression::{self, NamedExpr};
use crate::resolved::built;
use crate::scope::Scope;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr as DfExpr;
use firesteel_error::{Result, SparkError};
use firesteel_functions::TypedExpr;
use firesteel_plan::Expr;

/// The select list that a clause stands on.
pub(super) struct SelectList<'b> {
    pub outputs: &'b [NamedExpr],
    pub groups: Option<&'b Groups>,
    /// Groups are there, or aggregates, or HAVING.
    pub is_aggregate: bool,
    /// The clause stands on a projection of the aggregation: of the input it sees no more than the group keys.
    pub is_projected: bool,
}

/// A clause's place in the lookup of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clause {
    Having,
    Qualify,
    OrderBy,
}

/// Analyses an expression of a clause over a select list.
pub(super) fn expression(
    a: &mut Analyzer<'_>,
    expr: &Expr,
    scope: &Scope,
    list: &SelectList<'_>,
    clause: Clause,
) -> Result<TypedExpr> {
    let mut outputs_only = Vec::new();
    loop {
        let names = OutputScope {
            scope: Scope::of(list.outputs.iter().map(|o| o.attribute.clone()).collect(), a.case_sensitive()),
            come_first: clause == Clause::OrderBy,
            within_aggregates: list.is_projected,
            outputs_only: outputs_only.clone(),
            taken: Vec::new(),
        };
        a.aliases.push(AliasScope::Outputs(names));
        a.sql_functions.clear();
        let analysed = a.expression(expr, scope);
        let taken = match a.aliases.pop() {
            Some(AliasScope::Outputs(names)) => names.taken,
            _ => Vec::new(),
        };
        let typed = analysed?;
        if list.is_aggregate && clause != Clause::Qualify {
            let uncovered = uncovered(&typed.expr, list);
            let next =
                taken.into_iter().find(|(name, column)| uncovered.contains(column) && !outputs_only.contains(name));
            if let Some((name, _)) = next {
                outputs_only.push(name);
                continue;
            }
        }
        if clause == Clause::OrderBy {
            expression::refuse_sql_functions(a, "Sort")?;
            let aggregates = match (list.is_aggregate, list.is_projected) {
                (false, _) => SortAggregates::None,
                (true, true) => SortAggregates::Grouping,
                (true, false) => SortAggregates::All,
            };
            check_sort_key(&typed, aggregates)?;
        }
        return with_outputs(typed, list.outputs);
    }
}

/// Names of plan columns that an aggregation's result does not have.
fn uncovered(expr: &DfExpr, list: &SelectList<'_>) -> Vec<String> {
    let mut columns = Vec::new();
    let keys = list.groups.map_or(&[][..], |g| &g.keys);
    let is_key = |e: &DfExpr| keys.iter().any(|k| same_value(&k.expr, e));
    let visited = expr.apply(|e| {
        Ok(match e {
            DfExpr::Column(column) => {
                if !is_key(e) {
                    columns.push(column.name.clone());
                }
                TreeNodeRecursion::Continue
            }
            _ if list.is_projected => TreeNodeRecursion::Continue,
            DfExpr::AggregateFunction(_) => TreeNodeRecursion::Jump,
            _ if is_key(e) => TreeNodeRecursion::Jump,
            _ => TreeNodeRecursion::Continue,
        })
    });
    if visited.is_err() {
        columns.clear();
    }
    columns
}

/// The aggregate functions that ORDER BY may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SortAggregates {
    None,
    /// `grouping(…)` and `grouping_id(…)`: they are columns of the aggregation.
    Grouping,
    All,
}

/// What ORDER BY may contain besides columns.
pub(super) fn check_sort_key(typed: &TypedExpr, aggregates: SortAggregates) -> Result<()> {
    let contains = |test: fn(&DfExpr) -> bool| typed.expr.exists(|e| Ok(test(e))).unwrap_or(false);
    if contains(|e| matches!(e, DfExpr::Exists(_) | DfExpr::InSubquery(_))) {
        return Err(SparkError::new("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_IN_EXISTS_SUBQUERY")
            .with("treeNode", format!("Sort [{}]", typed.name)));
    }
    let has_others = match aggregates {
        SortAggregates::None => contains(|e| matches!(e, DfExpr::AggregateFunction(_))),
        SortAggregates::Grouping => {
            contains(|e| matches!(e, DfExpr::AggregateFunction(f) if f.func.name() != "grouping"))
        }
        SortAggregates::All => false,
    };
    if has_others || contains(|e| matches!(e, DfExpr::WindowFunction(_))) {
        return Err(
            SparkError::new("UNSUPPORTED_EXPR_FOR_OPERATOR").with("invalidExprSqls", format!("\"{}\"", typed.name))
        );
    }
    Ok(())
}

/// The expression with outputs' expressions in place of their columns.
fn with_outputs(mut typed: TypedExpr, outputs: &[NamedExpr]) -> Result<TypedExpr> {
    let transformed = typed.expr.transform(|e| {
        Ok(match &e {
            DfExpr::Column(column) => {
                match outputs.iter().find(|o| !o.is_column() && o.attribute.column_name() == column.name) {
                    Some(output) => Transformed::new(output.typed.expr.clone(), true, TreeNodeRecursion::Jump),
                    None => Transformed::no(e),
                }
            }
            _ => Transformed::no(e),
        })
    });
    typed.expr = built(transformed)?.data;
    Ok(typed)
}

/// True where a condition needs a key or an aggregate that is no output.
pub(super) fn needs_more(condition: &TypedExpr, list: &SelectList<'_>) -> bool {
    let keys = list.groups.map_or(&[][..], |g| &g.keys);
    let mut more = false;
    let visited = condition.expr.apply(|e| {
        if list.outputs.iter().any(|o| same_value(&o.typed.expr, e)) {
            return Ok(TreeNodeRecursion::Jump);
        }
        if matches!(e, DfExpr::AggregateFunction(_)) || keys.iter().any(|k| same_value(&k.expr, e)) {
            more = true;
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    more && visited.is_ok()
}
