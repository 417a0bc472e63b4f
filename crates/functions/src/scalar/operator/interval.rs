//! Arithmetic of intervals: sums, and products and quotients with numbers.

use super::Operation;
use super::evaluation::{self, Evaluation, Operand, divide_by_zero, finish, kernel, overflow, payload, rows};
use crate::cast::decimal::{power_of_ten, to_double};
use crate::{BuildContext, Function, KernelArgs, TypedExpr};
use arrow::array::{Array, ArrayRef, Decimal128Array, Float64Array, Int64Array, PrimitiveArray};
use arrow::datatypes::{
    DataType as ArrowType, DurationMicrosecondType, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalUnit, IntervalYearMonthType,
};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::DataType;
use firesteel_types::calendar::MICROS_PER_DAY;
use std::sync::Arc;

/// Two intervals of one type: their sum or difference, or by `div` their quotient.
pub(super) fn combine(
    operation: Operation,
    evaluation: Evaluation,
    left: &TypedExpr,
    right: &TypedExpr,
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let divides = operation == Operation::IntegralDivide;
    let data_type = if divides { DataType::Long } else { left.data_type.clone() };
    let nullable = left.nullable || right.nullable || divides || evaluation == Evaluation::Try;
    let function = if divides { &DIVIDE_INTERVALS } else { &ADD };
    let arguments = [left.clone(), right.clone()];
    let expr = evaluation::call(function, operation, evaluation, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

/// An interval times or by a number.
pub(super) fn scale(
    operation: Operation,
    evaluation: Evaluation,
    interval: &TypedExpr,
    number: &TypedExpr,
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let calendar = interval.data_type == DataType::CalendarInterval;
    let data_type = match &interval.data_type {
        DataType::YearMonthInterval(..) => DataType::YEAR_MONTH,
        DataType::DayTimeInterval(..) => DataType::DAY_TIME,
        other => other.clone(),
    };
    let nullable = interval.nullable || number.nullable || calendar || evaluation == Evaluation::Try;
    let arguments = [interval.clone(), number.clone()];
    let expr = evaluation::call(&SCALE, operation, evaluation, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

/// Intervals of one type, added or subtracted.
pub(super) static ADD: Function = kernel("interval_add", add);
/// An interval and a number, multiplied or divided.
pub(super) static SCALE: Function = kernel("interval_scale", run_scale);
/// The whole quotient of two intervals.
pub(super) static DIVIDE_INTERVALS: Function = kernel("interval_quotient", quotient);

fn typed<A: 'static>(operand: &Operand) -> Result<&A> {
    operand
        .array
        .as_any()
        .downcast_ref()
        .ok_or_else(|| SparkError::internal(format!("{} was not expected", operand.array.data_type())))
}

/// Runs over the rows; None from `one` is null.
fn each<T, N>(
    operands: [&Operand; 2],
    args: &KernelArgs<'_>,
    mut one: impl FnMut(usize, usize) -> Result<Option<N>>,
) -> Result<ColumnarValue>
where
    T: arrow::datatypes::ArrowPrimitiveType<Native = N>,
    N: arrow::datatypes::ArrowNativeType,
{
    let [left, right] = operands;
    let rows = rows(&operands, args);
    let mut out = PrimitiveArray::<T>::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
        } else {
            out.append_option(one(left.at(row), right.at(row))?);
        }
    }
    finish(Arc::new(out.finish()), &operands)
}

/// A failure that `try_…` functions answer with null.
fn tolerant<N>(evaluation: Evaluation, result: Result<N>) -> Result<Option<N>> {
    match result {
        Err(_) if evaluation == Evaluation::Try => Ok(None),
        result => result.map(Some),
    }
}

fn add(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (operation, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let subtract = operation == Operation::Subtract;
    let error = || {
        let function = if subtract { "`try_subtract`" } else { "`try_add`" };
        SparkError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION").with("functionName", function)
    };
    match left.array.data_type() {
        ArrowType::Duration(_) => {
            let (l, r) = (typed::<PrimitiveArray<DurationMicrosecondType>>(&left)?, typed(&right)?);
            let r: &PrimitiveArray<DurationMicrosecondType> = r;
            each::<DurationMicrosecondType, i64>([&left, &right], args, |i, j| {
                let (a, b) = (l.value(i), r.value(j));
                let sum = if subtract { a.checked_sub(b) } else { a.checked_add(b) };
                tolerant(evaluation, sum.ok_or_else(error))
            })
        }
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            let l = typed::<PrimitiveArray<IntervalYearMonthType>>(&left)?;
            let r = typed::<PrimitiveArray<IntervalYearMonthType>>(&right)?;
            each::<IntervalYearMonthType, i32>([&left, &right], args, |i, j| {
                let (a, b) = (l.value(i), r.value(j));
                let sum = if subtract { a.checked_sub(b) } else { a.checked_add(b) };
                tolerant(evaluation, sum.ok_or_else(error))
            })
        }
        _ => {
            let l = typed::<PrimitiveArray<IntervalMonthDayNanoType>>(&left)?;
            let r = typed::<PrimitiveArray<IntervalMonthDayNanoType>>(&right)?;
            each::<IntervalMonthDayNanoType, IntervalMonthDayNano>([&left, &right], args, |i, j| {
                let sum = add_calendar(l.value(i), r.value(j), subtract, evaluation == Evaluation::Legacy);
                tolerant(evaluation, sum.ok_or_else(|| overflow("overflow", None)))
            })
        }
    }
}

fn add_calendar(
    a: IntervalMonthDayNano,
    b: IntervalMonthDayNano,
    subtract: bool,
    wraps: bool,
) -> Option<IntervalMonthDayNano> {
    let small = |a: i32, b: i32| match (subtract, wraps) {
        (true, true) => Some(a.wrapping_sub(b)),
        (true, false) => a.checked_sub(b),
        (false, true) => Some(a.wrapping_add(b)),
        (false, false) => a.checked_add(b),
    };
    let large = |a: i64, b: i64| match (subtract, wraps) {
        (true, true) => Some(a.wrapping_sub(b)),
        (true, false) => a.checked_sub(b),
        (false, true) => Some(a.wrapping_add(b)),
        (false, false) => a.checked_add(b),
    };
    Some(IntervalMonthDayNano::new(
        small(a.months, b.months)?,
        small(a.days, b.days)?,
        large(a.nanoseconds, b.nanoseconds)?,
    ))
}

fn quotient(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (_, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let (l, r) = (longs(&left)?, longs(&right)?);
    each::<Int64Type, i64>([&left, &right], args, |i, j| {
        let (a, b) = (l.value(i), r.value(j));
        if b == 0 {
            return if evaluation == Evaluation::Ansi { Err(divide_by_zero()) } else { Ok(None) };
        }
        match a.checked_div(b) {
            Some(value) => Ok(Some(value)),
            None if evaluation == Evaluation::Legacy => Ok(Some(a)),
            None => tolerant(evaluation, Err(overflow("Overflow in integral divide", Some("try_divide")))),
        }
    })
}

fn longs(operand: &Operand) -> Result<Int64Array> {
    match operand.array.data_type() {
        ArrowType::Duration(_) => {
            Ok(typed::<PrimitiveArray<DurationMicrosecondType>>(operand)?.unary::<_, Int64Type>(|v| v))
        }
        _ => Ok(typed::<PrimitiveArray<IntervalYearMonthType>>(operand)?.unary::<_, Int64Type>(i64::from)),
    }
}

/// The numbers that intervals are multiplied with and divided by.
enum Numbers {
    Whole(Int64Array),
    Decimal(Decimal128Array, i8),
    Real(Float64Array),
}

impl Numbers {
    fn new(operand: &Operand) -> Result<Self> {
        let array = &operand.array;
        let to = |target: &ArrowType| -> Result<ArrayRef> {
            arrow::compute::cast(array, target).map_err(|e| SparkError::internal(e.to_string()))
        };
        let wrong = || SparkError::internal(format!("a number was expected, not {}", array.data_type()));
        match array.data_type() {
            ArrowType::Decimal128(_, scale) => Ok(Self::Decimal(typed::<Decimal128Array>(operand)?.clone(), *scale)),
            t if t.is_integer() => {
                let whole = to(&ArrowType::Int64)?;
                Ok(Self::Whole(whole.as_any().downcast_ref::<Int64Array>().ok_or_else(wrong)?.clone()))
            }
            _ => {
                let real = to(&ArrowType::Float64)?;
                Ok(Self::Real(real.as_any().downcast_ref::<Float64Array>().ok_or_else(wrong)?.clone()))
            }
        }
    }

    fn is_zero(&self, row: usize) -> bool {
        match self {
            Self::Whole(a) => a.value(row) == 0,
            Self::Decimal(a, _) => a.value(row) == 0,
            Self::Real(a) => a.value(row) == 0.0,
        }
    }

    #[allow(clippy::cast_precision_loss)]
    fn real(&self, row: usize) -> f64 {
        match self {
            Self::Whole(a) => a.value(row) as f64,
            Self::Decimal(a, scale) => to_double(a.value(row), *scale),
            Self::Real(a) => a.value(row),
        }
    }

    /// An amount times or by the number of a row, rounded half away from zero.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    fn apply(&self, amount: i64, row: usize, divide: bool) -> Option<i64> {
        let amount_wide = i128::from(amount);
        match self {
            Self::Whole(a) if !divide => amount.checked_mul(a.value(row)),
            Self::Whole(a) => i64::try_from(divided(amount_wide, i128::from(a.value(row)))).ok(),
            Self::Decimal(a, scale) => {
                let one = power_of_ten(u32::try_from(*scale).unwrap_or(0));
                let exact = if divide {
                    divided(amount_wide.checked_mul(one)?, a.value(row))
                } else {
                    divided(amount_wide.checked_mul(a.value(row))?, one)
                };
                i64::try_from(exact).ok()
            }
            Self::Real(a) => {
                let number = a.value(row);
                let result = if divide { amount as f64 / number } else { amount as f64 * number };
                let rounded = result.round();
                (rounded.is_finite() && rounded >= i64::MIN as f64 && rounded < i64::MAX as f64)
                    .then_some(rounded as i64)
            }
        }
    }
}

/// A quotient rounded half away from zero.
fn divided(a: i128, b: i128) -> i128 {
    let (quotient, rest) = (a / b, a % b);
    if rest.unsigned_abs() >= b.unsigned_abs() - rest.unsigned_abs() {
        quotient + if (a < 0) == (b < 0) { 1 } else { -1 }
    } else {
        quotient
    }
}

fn run_scale(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (operation, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let numbers = Numbers::new(&right)?;
    let divide = operation == Operation::Divide;
    let too_large = |kind: &str| match numbers {
        Numbers::Whole(_) if divide => {
            SparkError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION").with("functionName", "`try_divide`")
        }
        Numbers::Decimal(..) => SparkError::plain(ExceptionClass::Arithmetic, "Overflow"),
        _ => SparkError::plain(ExceptionClass::Arithmetic, format!("{kind} overflow")),
    };
    let zero = || SparkError::new("INTERVAL_DIVIDED_BY_ZERO");
    match left.array.data_type() {
        ArrowType::Duration(_) => {
            let values = typed::<PrimitiveArray<DurationMicrosecondType>>(&left)?;
            each::<DurationMicrosecondType, i64>([&left, &right], args, |i, j| {
                if divide && numbers.is_zero(j) {
                    return tolerant(evaluation, Err(zero()));
                }
                let result = numbers.apply(values.value(i), j, divide).ok_or_else(|| too_large("long"));
                tolerant(evaluation, result)
            })
        }
        ArrowType::Interval(IntervalUnit::YearMonth) => {
            let values = typed::<PrimitiveArray<IntervalYearMonthType>>(&left)?;
            each::<IntervalYearMonthType, i32>([&left, &right], args, |i, j| {
                if divide && numbers.is_zero(j) {
                    return tolerant(evaluation, Err(zero()));
                }
                let result = numbers
                    .apply(i64::from(values.value(i)), j, divide)
                    .and_then(|months| i32::try_from(months).ok())
                    .ok_or_else(|| too_large("integer"));
                tolerant(evaluation, result)
            })
        }
        _ => {
            let values = typed::<PrimitiveArray<IntervalMonthDayNanoType>>(&left)?;
            each::<IntervalMonthDayNanoType, IntervalMonthDayNano>([&left, &right], args, |i, j| {
                if divide && numbers.is_zero(j) {
                    return if evaluation == Evaluation::Ansi { Err(zero()) } else { Ok(None) };
                }
                match scale_calendar(values.value(i), numbers.real(j), divide) {
                    Some(value) => Ok(Some(value)),
                    None if evaluation == Evaluation::Ansi => Err(overflow("overflow", None)),
                    None => Ok(None),
                }
            })
        }
    }
}

/// Fractions of a month are dropped, fractions of a day become microseconds.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn scale_calendar(value: IntervalMonthDayNano, number: f64, divide: bool) -> Option<IntervalMonthDayNano> {
    let apply = |amount: f64| if divide { amount / number } else { amount * number };
    let whole = |amount: f64| (amount >= f64::from(i32::MIN) && amount <= f64::from(i32::MAX)).then_some(amount as i32);
    let months = whole(apply(f64::from(value.months)))?;
    let days_exact = apply(f64::from(value.days));
    let days = whole(days_exact)?;
    let micros = apply((value.nanoseconds / 1000) as f64) + (days_exact - f64::from(days)) * MICROS_PER_DAY as f64;
    let micros = micros.round();
    if !micros.is_finite() || micros.abs() > i64::MAX as f64 {
        return None;
    }
    Some(IntervalMonthDayNano::new(months, days, (micros as i64).checked_mul(1000)?))
}
