//! The greatest and the least of several values; nulls do not count.

use crate::coercion::{self, mismatch, wider_without_strings};
use crate::function::{Body, Documentation, Function, Group, Nullability, Returns};
use crate::scalar::predicate::equality::order;
use crate::{ArgType, BuildContext, KernelArgs, Param, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef};
use datafusion::logical_expr::{ColumnarValue, Expr};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::cmp::Ordering;
use std::sync::Arc;

const PARAMS: &[Param] =
    &[Param { name: "expr", arg_type: ArgType::Any }, Param { name: "expr", arg_type: ArgType::Any }];

const fn declare(
    name: &'static str,
    build: fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>,
    documentation: Documentation,
) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Math,
        signature: Signature::variadic(PARAMS, ArgType::Any),
        body: Body::Build(build),
        deterministic: true,
        text: None,
        documentation,
    }
}

pub(super) static GREATEST: Function = declare(
    "greatest",
    |context, arguments| build("greatest", context, arguments),
    Documentation {
        usage: "The greatest of the values that are not NULL; NaN is greater than any number.",
        examples: &[("SELECT greatest(10, 9, 2)", "10")],
        since: "1.5.0",
        ..Documentation::EMPTY
    },
);

pub(super) static LEAST: Function = declare(
    "least",
    |context, arguments| build("least", context, arguments),
    Documentation {
        usage: "The least of the values that are not NULL.",
        examples: &[("SELECT least(10, 9, 2)", "2")],
        since: "1.5.0",
        ..Documentation::EMPTY
    },
);

fn build(name: &str, context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let names: Vec<String> = arguments.iter().map(|a| a.name.clone()).collect();
    let call = format!("{name}({})", names.join(", "));
    let types: Vec<DataType> = arguments.iter().map(|a| a.data_type.clone()).collect();
    let Some(common) = wider_without_strings(&types, context.conf.ansi_enabled) else {
        return Err(mismatch::different_branches(&call, name, &types));
    };
    if !common.is_orderable() {
        return Err(mismatch::no_ordering(&call, name, &common));
    }
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(coercion::implicitly(argument, &common, context)?);
    }
    let nullable = values.iter().all(|v| v.nullable);
    if common.is_null() {
        return Ok(TypedExpr::new(Expr::Literal(ScalarValue::Null, None), common, true, call));
    }
    let expr =
        crate::kernel::call_with_payload(&KERNEL, run, &values, &common, nullable, context, Some(Arc::from(name)))?;
    Ok(TypedExpr::new(expr, common, nullable, call))
}

/// Any number of values of one type in; the payload is `greatest` or `least`.
pub(super) static KERNEL: Function = Function {
    name: "extreme_value",
    aliases: &[],
    group: Group::Math,
    signature: Signature::NONE,
    body: Body::Scalar { returns: Returns::SameAs(0), nullable: Nullability::Always, kernel: run },
    deterministic: true,
    text: None,
    documentation: Documentation::EMPTY,
};

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let wanted = match args.settings.payload.as_deref() {
        Some("least") => Ordering::Less,
        _ => Ordering::Greater,
    };
    let constant = args.values.iter().all(|v| matches!(v, ColumnarValue::Scalar(_)));
    let arrays = args.arrays()?;
    let rows = arrays.first().map_or(0, |a| a.len());
    let mut best: Vec<(usize, usize)> = (0..rows).map(|row| (0, row)).collect();
    for (index, array) in arrays.iter().enumerate().skip(1) {
        let orders = arrays[..index]
            .iter()
            .map(|earlier| order(array, earlier, args.return_type))
            .collect::<Result<Vec<_>>>()?;
        for (row, (at, _)) in best.iter_mut().enumerate() {
            if array.is_null(row) {
                continue;
            }
            if arrays[*at].is_null(row) || orders[*at](row, row) == wanted {
                *at = index;
            }
        }
    }
    let inputs: Vec<&dyn Array> = arrays.iter().map(|a: &ArrayRef| a.as_ref()).collect();
    let result = arrow::compute::interleave(&inputs, &best).map_err(|e| SparkError::internal(e.to_string()))?;
    if constant {
        let value = ScalarValue::try_from_array(&result, 0).map_err(|e| SparkError::internal(e.to_string()))?;
        return Ok(ColumnarValue::Scalar(value));
    }
    Ok(ColumnarValue::Array(result))
}
