//! Divisions of floating-point numbers.

use super::Operation;
use super::evaluation::{Evaluation, Operand, finish, kernel, payload, rows, zero_error};
use crate::{Function, KernelArgs};
use arrow::array::{Array, ArrayRef, PrimitiveArray};
use arrow::datatypes::{ArrowPrimitiveType, DataType as ArrowType, Float32Type, Float64Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use num_traits::Float;
use std::sync::Arc;

/// Two numbers of one floating-point type: `/ % pmod`, which have no result by zero.
pub(super) static KERNEL: Function = kernel("floating_division", run);

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (operation, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let array = match left.array.data_type() {
        ArrowType::Float32 => of_type::<Float32Type>(operation, evaluation, &left, &right, args)?,
        ArrowType::Float64 => of_type::<Float64Type>(operation, evaluation, &left, &right, args)?,
        other => return Err(SparkError::internal(format!("{other} was not expected"))),
    };
    finish(array, &[&left, &right])
}

fn of_type<T>(
    operation: Operation,
    evaluation: Evaluation,
    left: &Operand,
    right: &Operand,
    args: &KernelArgs<'_>,
) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: Float,
{
    let wrong = || SparkError::internal("floating-point numbers were expected");
    let l = left.array.as_any().downcast_ref::<PrimitiveArray<T>>().ok_or_else(wrong)?;
    let r = right.array.as_any().downcast_ref::<PrimitiveArray<T>>().ok_or_else(wrong)?;
    let zero = <T::Native as num_traits::Zero>::zero();
    let compute = |a: T::Native, b: T::Native| match operation {
        Operation::Remainder => a % b,
        Operation::Pmod => {
            let rest = a % b;
            if rest < zero { (rest + b) % b } else { rest }
        }
        _ => a / b,
    };
    if right.is_scalar && !left.is_scalar && !r.is_null(0) && r.value(0) != zero {
        let divisor = r.value(0);
        return Ok(Arc::new(l.unary::<_, T>(|a| compute(a, divisor))));
    }
    let mut out = PrimitiveArray::<T>::builder(rows(&[left, right], args));
    for row in 0..rows(&[left, right], args) {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
            continue;
        }
        let divisor = r.value(right.at(row));
        if divisor == zero {
            if evaluation == Evaluation::Ansi {
                return Err(zero_error(operation));
            }
            out.append_null();
        } else {
            out.append_value(compute(l.value(left.at(row)), divisor));
        }
    }
    Ok(Arc::new(out.finish()))
}
