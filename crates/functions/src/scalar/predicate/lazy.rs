//! Keeping evaluation lazy where it can fail.
//!
//! In ANSI mode `b <> 0 AND a / b > 1` must not divide by zero. DataFusion may
//! evaluate both sides for all rows, and turns a `CASE` of booleans into `AND`
//! and `OR`. A `CASE` with an operand (`CASE true WHEN …`) it leaves alone.

use crate::SparkScalarUdf;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::utils::split_binary;
use datafusion::logical_expr::{Expr, Operator, lit};
use firesteel_types::DataType;

/// Kernels that fail on some values in ANSI mode, and that queries guard with conditions.
/// Overflows of sums and products are not among them: they are seldom guarded, and joins
/// need their comparisons as they are.
const GUARDED: [&str; 16] = [
    "assert_true",
    "cast",
    "conv",
    "decimal_arithmetic",
    "element_at",
    "elt",
    "floating_division",
    "get_array_item",
    "integer_arithmetic",
    "make_date",
    "make_timestamp",
    "raise_error",
    "to_date",
    "to_number",
    "to_timestamp",
    "url_decode",
];

fn kernel(expr: &Expr) -> Option<&SparkScalarUdf> {
    match expr {
        Expr::ScalarFunction(call) => call.func.inner().downcast_ref::<SparkScalarUdf>(),
        _ => None,
    }
}

fn exists(expr: &Expr, condition: impl Fn(&SparkScalarUdf, &Expr) -> bool) -> bool {
    expr.exists(|e| Ok(kernel(e).is_some_and(|udf| condition(udf, e)))).unwrap_or(true)
}

/// True where a kernel in the expression fails on some values that a query may have to avoid.
fn can_fail(expr: &Expr) -> bool {
    use datafusion::logical_expr::ScalarUDFImpl;
    exists(expr, |udf, call| {
        let settings = udf.settings();
        let name = udf.name();
        let sum = name.ends_with("_arithmetic")
            && settings.payload.as_deref().is_some_and(|p| p.starts_with(['+', '-', '*']));
        settings.ansi && !sum && GUARDED.contains(&name) && !call.column_refs().is_empty()
    })
}

/// The right side of an `AND` or `OR`, evaluated only for rows whose answer the left side leaves open.
///
/// Only parts of the left side that speak of no other columns guard, so that joins and scans
/// still get the parts of a condition that are theirs.
pub(super) fn guarded(left: &Expr, right: Expr, operator: Operator) -> Expr {
    if !can_fail(&right) {
        return right;
    }
    let columns = right.column_refs();
    let guard = split_binary(left, operator)
        .into_iter()
        .filter(|part| {
            let own = part.column_refs();
            !own.is_empty() && own.iter().all(|c| columns.contains(c)) && !can_fail(part) && !part.is_volatile()
        })
        .map(|part| match operator {
            Operator::Or => Expr::IsNotTrue(Box::new(part.clone())),
            _ => Expr::IsNotFalse(Box::new(part.clone())),
        })
        .reduce(Expr::and);
    match guard {
        Some(guard) => {
            let settled = lit(operator == Operator::Or);
            let branches = vec![(Box::new(guard), Box::new(right))];
            Expr::Case(Case::new(Some(Box::new(lit(true))), branches, Some(Box::new(settled))))
        }
        None => right,
    }
}

/// A `CASE` that evaluates a branch only for rows whose condition holds.
pub(crate) fn case(branches: Vec<(Box<Expr>, Box<Expr>)>, otherwise: Option<Box<Expr>>, data_type: &DataType) -> Expr {
    let ansi = |expr: &Expr| exists(expr, |udf, _| udf.settings().ansi);
    let rewritten = *data_type == DataType::Boolean
        && branches.iter().flat_map(|(condition, value)| [condition, value]).chain(&otherwise).any(|e| ansi(e));
    let operand = rewritten.then(|| Box::new(lit(true)));
    Expr::Case(Case::new(operand, branches, otherwise))
}
