//! Arithmetic of integers.

use super::Operation;
use super::evaluation::{self, Evaluation, Operand, finish, kernel, overflow, payload, rows, zero_error};
use crate::{Function, KernelArgs};
use arrow::array::{Array, ArrayRef, PrimitiveArray};
use arrow::compute::kernels::numeric;
use arrow::datatypes::{ArrowPrimitiveType, DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow::error::ArrowError;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use num_traits::{AsPrimitive, PrimInt, WrappingAdd, WrappingMul, WrappingSub};
use std::sync::Arc;

/// Two integers of one type in, one of that type out (`div`: a long of longs).
pub(super) static KERNEL: Function = kernel("integer_arithmetic", run);

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (operation, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let array = match left.array.data_type() {
        ArrowType::Int8 => of_type::<Int8Type>(operation, evaluation, &left, &right, args)?,
        ArrowType::Int16 => of_type::<Int16Type>(operation, evaluation, &left, &right, args)?,
        ArrowType::Int32 => of_type::<Int32Type>(operation, evaluation, &left, &right, args)?,
        ArrowType::Int64 => of_type::<Int64Type>(operation, evaluation, &left, &right, args)?,
        other => return Err(SparkError::internal(format!("integers were expected, not {other}"))),
    };
    finish(array, &[&left, &right])
}

trait Integer: PrimInt + WrappingAdd + WrappingSub + WrappingMul + AsPrimitive<i64> {}
impl<T: PrimInt + WrappingAdd + WrappingSub + WrappingMul + AsPrimitive<i64>> Integer for T {}

fn of_type<T>(
    operation: Operation,
    evaluation: Evaluation,
    left: &Operand,
    right: &Operand,
    args: &KernelArgs<'_>,
) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: Integer,
{
    if evaluation == Evaluation::Ansi
        && let Some(checked) = checked(operation)
    {
        let (l, r) = (left.datum(), right.datum());
        return match checked(l.as_ref(), r.as_ref()) {
            Ok(array) => Ok(array),
            Err(ArrowError::ArithmeticOverflow(_)) => Err(first_overflow::<T>(operation, left, right, args)?),
            Err(other) => Err(SparkError::internal(other.to_string())),
        };
    }
    let (l, r) = (values::<T>(left)?, values::<T>(right)?);
    let rows = rows(&[left, right], args);
    let mut out = PrimitiveArray::<T>::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
            continue;
        }
        let (a, b) = (l.value(left.at(row)), r.value(right.at(row)));
        match one(operation, evaluation, a, b) {
            Outcome::Value(value) => out.append_value(value),
            Outcome::Zero if evaluation == Evaluation::Ansi => return Err(zero_error(operation)),
            Outcome::Overflow if evaluation == Evaluation::Ansi => return Err(overflow_of::<T>(operation, a, b)),
            Outcome::Zero | Outcome::Overflow => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}

type Checked = fn(&dyn arrow::array::Datum, &dyn arrow::array::Datum) -> Result<ArrayRef, ArrowError>;

fn checked(operation: Operation) -> Option<Checked> {
    match operation {
        Operation::Add => Some(numeric::add),
        Operation::Subtract => Some(numeric::sub),
        Operation::Multiply => Some(numeric::mul),
        _ => None,
    }
}

fn values<T: ArrowPrimitiveType>(operand: &Operand) -> Result<&PrimitiveArray<T>> {
    operand
        .array
        .as_any()
        .downcast_ref()
        .ok_or_else(|| SparkError::internal(format!("{} was not expected", operand.array.data_type())))
}

enum Outcome<N> {
    Value(N),
    Zero,
    Overflow,
}

fn one<N: Integer>(operation: Operation, evaluation: Evaluation, a: N, b: N) -> Outcome<N> {
    let wraps = evaluation == Evaluation::Legacy;
    let of = |checked: Option<N>, wrapped: N| match checked {
        Some(value) => Outcome::Value(value),
        None if wraps => Outcome::Value(wrapped),
        None => Outcome::Overflow,
    };
    match operation {
        Operation::Add => of(a.checked_add(&b), a.wrapping_add(&b)),
        Operation::Subtract => of(a.checked_sub(&b), a.wrapping_sub(&b)),
        Operation::Multiply => of(a.checked_mul(&b), a.wrapping_mul(&b)),
        _ if b.is_zero() => Outcome::Zero,
        Operation::Divide | Operation::IntegralDivide => of(a.checked_div(&b), a),
        Operation::Remainder => Outcome::Value(remainder(a, b)),
        Operation::Pmod => {
            let rest = remainder(a, b);
            Outcome::Value(if rest < N::zero() { remainder(rest.wrapping_add(&b), b) } else { rest })
        }
    }
}

/// The rest of a division towards zero; the smallest number divided by -1 leaves none.
fn remainder<N: Integer>(a: N, b: N) -> N {
    if b.as_() == -1 { N::zero() } else { a % b }
}

fn overflow_of<T>(operation: Operation, a: T::Native, b: T::Native) -> SparkError
where
    T: ArrowPrimitiveType,
    T::Native: Integer,
{
    if operation == Operation::IntegralDivide {
        return overflow("Overflow in integral divide", Some("try_divide"));
    }
    let function = operation.try_function();
    if !matches!(T::DATA_TYPE, ArrowType::Int8 | ArrowType::Int16) {
        return overflow("overflow", function);
    }
    // Spark computes with the shorter types as SMALLINT and says so.
    let error = SparkError::new("BINARY_ARITHMETIC_OVERFLOW")
        .with("value1", format!("{}S", a.as_()))
        .with("symbol", operation.sign())
        .with("value2", format!("{}S", b.as_()));
    error.with("functionName", function.map(|f| format!("`{f}`")).unwrap_or_default())
}

/// The error of the first row that overflows.
fn first_overflow<T>(operation: Operation, left: &Operand, right: &Operand, args: &KernelArgs<'_>) -> Result<SparkError>
where
    T: ArrowPrimitiveType,
    T::Native: Integer,
{
    let (l, r) = (values::<T>(left)?, values::<T>(right)?);
    for row in 0..evaluation::rows(&[left, right], args) {
        if left.is_null(row) || right.is_null(row) {
            continue;
        }
        let (a, b) = (l.value(left.at(row)), r.value(right.at(row)));
        if let Outcome::Overflow = one(operation, Evaluation::Ansi, a, b) {
            return Ok(overflow_of::<T>(operation, a, b));
        }
    }
    Ok(overflow("overflow", operation.try_function()))
}
