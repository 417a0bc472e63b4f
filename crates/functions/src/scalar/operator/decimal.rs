//! Arithmetic of decimals: result types and the kernel.

use super::Operation;
use super::evaluation::{Evaluation, Operand, finish, kernel, payload, rows, zero_error};
use crate::cast::decimal::{out_of_range, within};
use crate::coercion::decimal::{adjusted, bounded};
use crate::{Function, KernelArgs};
use arrow::array::{Array, Decimal128Array};
use arrow::datatypes::{DataType as ArrowType, i256};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// Digits that Spark computes with before it rounds to the result's scale.
const WORKING_DIGITS: u32 = 39;

/// The decimal type of a result, by the operands' precisions and scales.
///
/// | operation   | precision                        | scale             |
/// |-------------|----------------------------------|-------------------|
/// | `+ -`       | max(p1-s1, p2-s2) + scale + 1    | max(s1, s2)       |
/// | `*`         | p1 + p2 + 1                      | s1 + s2           |
/// | `/`         | p1 - s1 + s2 + scale             | max(6, s1+p2+1)   |
/// | `% pmod`    | min(p1-s1, p2-s2) + scale        | max(s1, s2)       |
pub fn result_type(operation: Operation, left: (u8, i8), right: (u8, i8), allow_loss: bool) -> DataType {
    let (p1, s1) = (i32::from(left.0), i32::from(left.1));
    let (p2, s2) = (i32::from(right.0), i32::from(right.1));
    let scale = s1.max(s2);
    let fit = |precision, scale| if allow_loss { adjusted(precision, scale) } else { bounded(precision, scale) };
    match operation {
        Operation::Add | Operation::Subtract => fit((p1 - s1).max(p2 - s2) + scale + 1, scale),
        Operation::Multiply => fit(p1 + p2 + 1, s1 + s2),
        Operation::Remainder | Operation::Pmod => fit((p1 - s1).min(p2 - s2) + scale, scale),
        Operation::IntegralDivide => bounded((p1 - s1 + s2).max(1), 0),
        Operation::Divide if allow_loss => {
            let scale = 6.max(s1 + p2 + 1);
            adjusted(p1 - s1 + s2 + scale, scale)
        }
        Operation::Divide => {
            let mut integral = 38.min(p1 - s1 + s2);
            let mut fraction = 38.min(6.max(s1 + p2 + 1));
            let excess = integral + fraction - 38;
            if excess > 0 {
                fraction -= excess / 2 + 1;
                integral = 38 - fraction;
            }
            bounded(integral + fraction, fraction)
        }
    }
}

/// Two decimals in, a decimal (or for `div` a long) out.
pub(super) static KERNEL: Function = kernel("decimal_arithmetic", run);

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (operation, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let (l, s1) = values(&left)?;
    let (r, s2) = values(&right)?;
    let (precision, scale) = match args.return_type {
        DataType::Decimal(p, s) => (*p, i32::from(*s)),
        _ => (38, 0),
    };
    let rows = rows(&[&left, &right], args);
    if let Some(array) = super::decimal_fast::run(operation, (&left, s1), (&right, s2), (precision, scale)) {
        return finish(Arc::new(array), &[&left, &right]);
    }
    let mut out = Decimal128Array::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
            continue;
        }
        let (a, b) = (l.value(left.at(row)), r.value(right.at(row)));
        if b == 0 && operation.divides() {
            if evaluation == Evaluation::Ansi {
                return Err(zero_error(operation));
            }
            out.append_null();
            continue;
        }
        let exact = compute(operation, (a, s1), (b, s2), scale);
        match exact.at_scale(scale).and_then(|v| within(v, precision)) {
            Some(value) => out.append_value(value),
            None if evaluation == Evaluation::Ansi => {
                return Err(out_of_range(exact.text(), precision, i8::try_from(scale).unwrap_or(0)));
            }
            None => out.append_null(),
        }
    }
    let array = out.finish();
    if *args.return_type == DataType::Long {
        #[allow(clippy::cast_possible_truncation)]
        let longs = array.unary::<_, arrow::datatypes::Int64Type>(|v| v as i64);
        return finish(Arc::new(longs), &[&left, &right]);
    }
    let scale = i8::try_from(scale).unwrap_or(0);
    let array = array.with_precision_and_scale(precision, scale).map_err(|e| SparkError::internal(e.to_string()))?;
    finish(Arc::new(array), &[&left, &right])
}

pub(super) fn values(operand: &Operand) -> Result<(&Decimal128Array, i32)> {
    let array = operand.array.as_any().downcast_ref::<Decimal128Array>();
    match (array, operand.array.data_type()) {
        (Some(array), ArrowType::Decimal128(_, scale)) => Ok((array, i32::from(*scale))),
        (_, other) => Err(SparkError::internal(format!("a decimal was expected, not {other}"))),
    }
}

/// A result before it is brought to its type's scale.
struct Exact {
    value: BigOrSmall,
    scale: i32,
}

enum BigOrSmall {
    Small(i128),
    Wide(i256),
    Big(BigInt),
}

impl Exact {
    fn small(value: i128, scale: i32) -> Self {
        Self { value: BigOrSmall::Small(value), scale }
    }

    fn wide(value: i256, scale: i32) -> Self {
        match value.to_i128() {
            Some(small) => Self::small(small, scale),
            None => Self { value: BigOrSmall::Wide(value), scale },
        }
    }

    /// A product, rounded to as many digits as Spark multiplies with.
    fn product(value: i256, scale: i32) -> Self {
        if let Some(small) = value.to_i128() {
            return Self::small(small, scale);
        }
        let length = i32::try_from(value.wrapping_abs().to_string().len()).unwrap_or(0);
        let excess = length - i32::try_from(WORKING_DIGITS).unwrap_or(0);
        if excess <= 0 {
            return Self::wide(value, scale);
        }
        Self::wide(cut(value, excess), scale - excess)
    }

    /// The unscaled value at a scale, rounded half up.
    fn at_scale(&self, scale: i32) -> Option<i128> {
        match &self.value {
            BigOrSmall::Small(value) => {
                let (from, to) = (i8::try_from(self.scale).ok()?, i8::try_from(scale).ok()?);
                crate::cast::decimal::rescale(*value, from, to)
            }
            BigOrSmall::Wide(value) if scale <= self.scale => cut(*value, self.scale - scale).to_i128(),
            BigOrSmall::Wide(value) => value.checked_mul(power(scale - self.scale)?)?.to_i128(),
            // Made at the result's scale.
            BigOrSmall::Big(value) => value.to_i128(),
        }
    }

    fn text(&self) -> String {
        let digits = match &self.value {
            BigOrSmall::Small(value) => value.to_string(),
            BigOrSmall::Wide(value) => value.to_string(),
            BigOrSmall::Big(value) => value.to_string(),
        };
        let (sign, digits) = match digits.strip_prefix('-') {
            Some(rest) => ("-", rest.to_string()),
            None => ("", digits),
        };
        let Ok(scale) = usize::try_from(self.scale) else {
            return format!("{sign}{digits}{}", "0".repeat(self.scale.unsigned_abs() as usize));
        };
        if scale == 0 {
            return format!("{sign}{digits}");
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        format!("{sign}{whole}.{fraction}")
    }
}

fn power(exponent: i32) -> Option<i256> {
    i256::from_i128(10).checked_pow(u32::try_from(exponent).ok()?)
}

/// A value without its last digits, rounded half up.
fn cut(value: i256, digits: i32) -> i256 {
    let Some(divisor) = power(digits) else {
        return i256::ZERO;
    };
    divide_rounded(value, divisor)
}

fn divide_rounded(value: i256, divisor: i256) -> i256 {
    let quotient = value.wrapping_div(divisor);
    let rest = value.wrapping_rem(divisor).wrapping_abs();
    let size = divisor.wrapping_abs();
    // The rest is at least half, put so that nothing overflows.
    if rest >= size.wrapping_sub(rest) {
        let negative = (value < i256::ZERO) != (divisor < i256::ZERO);
        quotient.wrapping_add(if negative { i256::MINUS_ONE } else { i256::ONE })
    } else {
        quotient
    }
}

fn compute(operation: Operation, (a, s1): (i128, i32), (b, s2): (i128, i32), scale: i32) -> Exact {
    let common = s1.max(s2);
    let aligned = || {
        let align =
            |value: i128, from: i32| i256::from_i128(value).wrapping_mul(power(common - from).unwrap_or(i256::ONE));
        (align(a, s1), align(b, s2))
    };
    match operation {
        Operation::Add => {
            let (a, b) = aligned();
            Exact::wide(a.wrapping_add(b), common)
        }
        Operation::Subtract => {
            let (a, b) = aligned();
            Exact::wide(a.wrapping_sub(b), common)
        }
        Operation::Multiply => Exact::product(i256::from_i128(a).wrapping_mul(i256::from_i128(b)), s1 + s2),
        Operation::Remainder | Operation::Pmod => {
            let (a, b) = aligned();
            let rest = a.wrapping_rem(b);
            if operation == Operation::Pmod && rest < i256::ZERO {
                Exact::wide(rest.wrapping_add(b).wrapping_rem(b), common)
            } else {
                Exact::wide(rest, common)
            }
        }
        Operation::IntegralDivide => {
            let (a, b) = aligned();
            Exact::wide(a.wrapping_div(b), 0)
        }
        Operation::Divide => divide((a, s1), (b, s2), scale),
    }
}

/// A quotient at the result's scale.
fn divide((a, s1): (i128, i32), (b, s2): (i128, i32), scale: i32) -> Exact {
    let shift = scale + s2 - s1;
    // 38 digits and 38 zeros fit 256 bits.
    if (0..=38).contains(&shift)
        && let Some(factor) = power(shift)
    {
        let quotient = divide_rounded(i256::from_i128(a).wrapping_mul(factor), i256::from_i128(b));
        return match quotient.to_i128() {
            Some(small) => Exact::small(small, scale),
            None => Exact { value: BigOrSmall::Wide(quotient), scale },
        };
    }
    let ten = BigInt::from(10);
    let exponent = shift.unsigned_abs();
    let (numerator, denominator) = if shift >= 0 {
        (BigInt::from(a) * ten.pow(exponent), BigInt::from(b))
    } else {
        (BigInt::from(a), BigInt::from(b) * ten.pow(exponent))
    };
    let quotient = &numerator / &denominator;
    let rest = &numerator % &denominator;
    let round_up = BigInt::from(rest.magnitude().clone()) * 2 >= BigInt::from(denominator.magnitude().clone());
    let negative = (a < 0) != (b < 0);
    let step = if round_up { BigInt::from(if negative { -1 } else { 1 }) } else { BigInt::from(0) };
    Exact { value: BigOrSmall::Big(quotient + step), scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_types_follow_sparks_table() {
        for (operation, left, right, expected) in [
            (Operation::Add, (2, 1), (3, 2), (4, 2)),
            (Operation::Multiply, (2, 1), (3, 2), (6, 3)),
            (Operation::Divide, (2, 1), (3, 2), (9, 6)),
            (Operation::Divide, (5, 2), (10, 4), (20, 13)),
            (Operation::Remainder, (38, 18), (38, 0), (38, 18)),
            (Operation::Add, (38, 18), (38, 0), (38, 6)),
            (Operation::Divide, (38, 18), (38, 18), (38, 6)),
        ] {
            let (p, s) = expected;
            assert_eq!(result_type(operation, left, right, true), DataType::Decimal(p, s), "{operation:?}");
        }
    }
}
