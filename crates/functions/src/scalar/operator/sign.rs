//! Signs before an operand.

use super::Operation;
use super::evaluation::{self, Evaluation, Operand, finish, kernel, overflow, payload};
use crate::coercion::{self, mismatch};
use crate::function::{Body, Documentation, Function, Group};
use crate::{ArgType, BuildContext, KernelArgs, Param, Signature, TypedExpr};
use arrow::array::{ArrayRef, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, DurationMicrosecondType, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType,
};
use datafusion::logical_expr::{ColumnarValue, Expr};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use num_traits::{CheckedNeg, WrappingSub, Zero};
use std::sync::Arc;

const PARAMS: &[Param] = &[Param { name: "expr", arg_type: ArgType::Any }];

const fn function(
    name: &'static str,
    text: Option<fn(&[String]) -> String>,
    build: fn(&mut BuildContext<'_>, Vec<TypedExpr>) -> Result<TypedExpr>,
    documentation: Documentation,
) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::Math,
        signature: Signature::of(PARAMS),
        body: Body::Build(build),
        deterministic: true,
        text,
        documentation,
    }
}

pub(super) static NEGATIVE: Function = function(
    "negative",
    None,
    |context, arguments| match <[TypedExpr; 1]>::try_from(arguments) {
        Ok([operand]) => negative(operand, context),
        Err(_) => Err(SparkError::internal("negative takes one operand")),
    },
    Documentation {
        usage: "Turns the sign of a number or an interval round.",
        examples: &[("SELECT negative(1)", "-1")],
        ..Documentation::EMPTY
    },
);

/// The sign before an operand, whose text is the sign.
pub(super) static UNARY_MINUS: Function = Function {
    name: "unary_minus",
    aliases: &[],
    group: Group::Internal,
    signature: Signature::of(PARAMS),
    body: Body::Build(|context, arguments| match <[TypedExpr; 1]>::try_from(arguments) {
        Ok([operand]) => negative(operand, context),
        Err(_) => Err(SparkError::internal("a sign takes one operand")),
    }),
    deterministic: true,
    text: Some(|arguments| format!("(- {})", arguments.join(", "))),
    documentation: Documentation::EMPTY,
};

pub(super) static POSITIVE: Function = function(
    "positive",
    Some(|arguments| format!("(+ {})", arguments.join(", "))),
    |context, arguments| match <[TypedExpr; 1]>::try_from(arguments) {
        Ok([operand]) => positive(operand, context),
        Err(_) => Err(SparkError::internal("positive takes one operand")),
    },
    Documentation {
        usage: "The number or interval itself.",
        examples: &[("SELECT positive(1)", "1")],
        since: "1.5.0",
        ..Documentation::EMPTY
    },
);

/// Casts strings to numbers, and refuses what has no sign.
fn operand(sign: &str, operand: TypedExpr, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    let operand = match &operand.data_type {
        t if t.is_string() || t.is_null() => coercion::implicitly(operand, &DataType::Double, context)?,
        _ => operand,
    };
    let t = &operand.data_type;
    if t.is_numeric() || t.is_ansi_interval() || *t == DataType::CalendarInterval {
        return Ok(operand);
    }
    Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .with("sqlExpr", mismatch::quoted(&format!("({sign} {})", operand.name)))
        .with("paramIndex", "first")
        .with("requiredType", r#"("NUMERIC" or "INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH" or "INTERVAL")"#)
        .with("inputSql", mismatch::quoted(&operand.name))
        .with("inputType", mismatch::quoted_type(t)))
}

pub(super) fn positive(value: TypedExpr, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    operand("+", value, context)
}

pub(super) fn negative(value: TypedExpr, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    let value = operand("-", value, context)?;
    let evaluation = Evaluation::of_session(context);
    let data_type = value.data_type.clone();
    let nullable = value.nullable;
    let name = format!("(- {})", value.name);
    let expr = match &data_type {
        DataType::Float | DataType::Double | DataType::Decimal(..) => Expr::Negative(Box::new(value.expr)),
        _ => evaluation::call(&KERNEL, Operation::Subtract, evaluation, &[value], &data_type, nullable, context)?,
    };
    Ok(TypedExpr::new(expr, data_type, nullable, name))
}

/// An integer or an interval in, its opposite out.
pub(super) static KERNEL: Function = kernel("negate", run);

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (_, evaluation) = payload(args)?;
    let value = Operand::new(args, 0)?;
    let wraps = evaluation == Evaluation::Legacy;
    let interval = || SparkError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION");
    let number = || overflow("overflow", None);
    let array = match value.array.data_type() {
        ArrowType::Int8 => negate::<Int8Type>(&value.array, wraps, number)?,
        ArrowType::Int16 => negate::<Int16Type>(&value.array, wraps, number)?,
        ArrowType::Int32 => negate::<Int32Type>(&value.array, wraps, number)?,
        ArrowType::Int64 => negate::<Int64Type>(&value.array, wraps, number)?,
        ArrowType::Duration(_) => negate::<DurationMicrosecondType>(&value.array, false, interval)?,
        ArrowType::Interval(IntervalUnit::YearMonth) => negate::<IntervalYearMonthType>(&value.array, false, interval)?,
        ArrowType::Interval(IntervalUnit::MonthDayNano) => {
            let values = typed::<IntervalMonthDayNanoType>(&value.array)?;
            Arc::new(values.unary::<_, IntervalMonthDayNanoType>(|v| {
                IntervalMonthDayNano::new(v.months.wrapping_neg(), v.days.wrapping_neg(), v.nanoseconds.wrapping_neg())
            }))
        }
        other => return Err(SparkError::internal(format!("{other} has no sign"))),
    };
    finish(array, &[&value])
}

fn typed<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<&PrimitiveArray<T>> {
    array.as_any().downcast_ref().ok_or_else(|| SparkError::internal(format!("{} was not expected", array.data_type())))
}

fn negate<T>(array: &ArrayRef, wraps: bool, error: impl Fn() -> SparkError) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: CheckedNeg + WrappingSub + Zero,
{
    let values = typed::<T>(array)?;
    if wraps {
        return Ok(Arc::new(values.unary::<_, T>(|v| T::Native::zero().wrapping_sub(&v))));
    }
    Ok(Arc::new(values.try_unary::<_, T, SparkError>(|v| v.checked_neg().ok_or_else(&error))?))
}
