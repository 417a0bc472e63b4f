//! `row_number`, `rank`, `dense_rank`, `percent_rank`, `cume_dist` and `ntile`.

use super::{check_syntax, declare, over_nothing};
use crate::aggregate::constant;
use crate::{ArgType, BuildContext, Function, Param, Signature, TypedExpr, WindowCall};
use arrow::datatypes::DataType as ArrowType;
use datafusion::functions_window::{
    cume_dist::cume_dist_udwf,
    ntile::ntile_udwf,
    rank::{dense_rank_udwf, percent_rank_udwf, rank_udwf},
    row_number::row_number_udwf,
};
use datafusion::logical_expr::{Expr, WindowUDF, cast, lit};
use datafusion::scalar::ScalarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

/// The arguments of rankings are what rows are ordered by already.
const ANY_NUMBER: Signature = Signature::variadic(&[], ArgType::Any);
const BUCKETS: Signature = Signature::with_optional(&[Param { name: "n", arg_type: ArgType::Any }], 1);

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "row_number",
        Signature::NONE,
        |_, call| int_ranking("row_number()", &call, row_number_udwf()),
        "row_number() - Numbers the rows of a partition from 1, in the window's order.",
    ),
    &declare(
        "rank",
        ANY_NUMBER,
        |_, call| int_ranking("RANK()", &call, rank_udwf()),
        "rank() - One plus the number of rows before the row's peers.",
    ),
    &declare(
        "dense_rank",
        ANY_NUMBER,
        |_, call| int_ranking("DENSE_RANK()", &call, dense_rank_udwf()),
        "dense_rank() - One plus the number of different values before the row's.",
    ),
    &declare(
        "percent_rank",
        ANY_NUMBER,
        |_, call| double_ranking("PERCENT_RANK()", &call, percent_rank_udwf()),
        "percent_rank() - The rank less one over the number of the partition's other rows.",
    ),
    &declare(
        "cume_dist",
        Signature::NONE,
        |_, call| double_ranking("cume_dist()", &call, cume_dist_udwf()),
        "cume_dist() - The share of the partition's rows up to the row's peers.",
    ),
    &declare(
        "ntile",
        BUCKETS,
        ntile,
        "ntile([n]) - The number of the row's bucket, of n that are as equal in size as can be.",
    ),
];

fn int_ranking(name: &str, call: &WindowCall, function: Arc<WindowUDF>) -> Result<TypedExpr> {
    check_syntax(&name.trim_end_matches("()").to_ascii_lowercase(), call)?;
    Ok(int(name, over_nothing(function, vec![], false)))
}

fn double_ranking(name: &str, call: &WindowCall, function: Arc<WindowUDF>) -> Result<TypedExpr> {
    check_syntax(&name.trim_end_matches("()").to_ascii_lowercase(), call)?;
    Ok(TypedExpr::new(over_nothing(function, vec![], false), DataType::Double, false, name))
}

fn int(name: impl Into<String>, expr: Expr) -> TypedExpr {
    TypedExpr::new(cast(expr, ArrowType::Int32), DataType::Integer, false, name)
}

fn ntile(_: &mut BuildContext<'_>, call: WindowCall) -> Result<TypedExpr> {
    check_syntax("ntile", &call)?;
    let Some(argument) = call.arguments.first() else {
        return Ok(int("ntile(1)", over_nothing(ntile_udwf(), vec![lit(1i64)], false)));
    };
    let text = format!("ntile({})", argument.name);
    let value = constant::required(&text, "buckets", "\"INT\"", argument)?;
    let buckets = match value {
        ScalarValue::Int32(Some(buckets)) => buckets,
        ScalarValue::Int32(None) | ScalarValue::Null => {
            return Err(constant::unexpected_null(&text, "buckets"));
        }
        _ => return Err(crate::coercion::mismatch::unexpected_input(&text, 0, ArgType::Integer, argument)),
    };
    if buckets < 1 {
        return Err(constant::out_of_range(&text, "buckets", "(0, 2147483647]", buckets.to_string()));
    }
    Ok(int(text, over_nothing(ntile_udwf(), vec![lit(i64::from(buckets))], false)))
}
