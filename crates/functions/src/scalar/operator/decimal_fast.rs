//! Sums, differences and products of decimals whose digits fit 64 bits, as most do.

use super::Operation;
use super::decimal::values;
use super::evaluation::Operand;
use arrow::array::{Array, Decimal128Array};
use arrow::buffer::NullBuffer;

/// The exact result of an operation that needs no rounding and cannot leave its type. `None` where
/// some value has more digits, or the result's scale is not the exact one.
pub(super) fn run(
    operation: Operation,
    (left, s1): (&Operand, i32),
    (right, s2): (&Operand, i32),
    (precision, scale): (u8, i32),
) -> Option<Decimal128Array> {
    let exact_scale = match operation {
        Operation::Add | Operation::Subtract => s1.max(s2),
        Operation::Multiply => s1 + s2,
        _ => return None,
    };
    if scale != exact_scale {
        return None;
    }
    let (factor1, factor2) = match operation {
        Operation::Multiply => (1, 1),
        _ => (power(scale - s1)?, power(scale - s2)?),
    };
    // Products of 64 bits have less than 38 digits; a type of fewer digits was made to hold the result.
    let (mut wide, product) = (0, |a: i64, b: i64| i128::from(a) * i128::from(b));
    let out = match operation {
        Operation::Multiply => zip(left, right, &mut wide, product)?,
        Operation::Add => zip(left, right, &mut wide, |a, b| product(a, factor1) + product(b, factor2))?,
        _ => zip(left, right, &mut wide, |a, b| product(a, factor1) - product(b, factor2))?,
    };
    if wide != 0 {
        return None;
    }
    let nulls = NullBuffer::union(column_nulls(left), column_nulls(right));
    let array = Decimal128Array::new(out.into(), nulls);
    array.with_precision_and_scale(precision, i8::try_from(scale).ok()?).ok()
}

/// A power of ten that leaves sums of 64 bits far below 38 digits.
fn power(exponent: i32) -> Option<i64> {
    let exponent = u32::try_from(exponent).ok().filter(|exponent| *exponent <= 18)?;
    10i64.checked_pow(exponent)
}

fn column_nulls(operand: &Operand) -> Option<&NullBuffer> {
    if operand.is_scalar { None } else { operand.array.nulls() }
}

/// The results of all rows; `wide` is not zero if a value does not fit 64 bits. `None` for a null constant.
fn zip(left: &Operand, right: &Operand, wide: &mut i128, f: impl Fn(i64, i64) -> i128) -> Option<Vec<i128>> {
    let (l, _) = values(left).ok()?;
    let (r, _) = values(right).ok()?;
    let (constant1, constant2) = (constant(left, l)?, constant(right, r)?);
    let mut seen = 0;
    let mut narrow = |value: i128| {
        #[allow(clippy::cast_possible_truncation)]
        let low = value as i64;
        seen |= value ^ i128::from(low);
        low
    };
    let (l, r) = (l.values(), r.values());
    let out = match (constant1, constant2) {
        (None, None) => l.iter().zip(r).map(|(a, b)| f(narrow(*a), narrow(*b))).collect(),
        (Some(a), None) => {
            let a = narrow(a);
            r.iter().map(|b| f(a, narrow(*b))).collect()
        }
        (None, Some(b)) => {
            let b = narrow(b);
            l.iter().map(|a| f(narrow(*a), b)).collect()
        }
        (Some(a), Some(b)) => vec![f(narrow(a), narrow(b))],
    };
    *wide = seen;
    Some(out)
}

/// The value of an operand that is constant: `Some(None)` for a column, `None` for a null.
#[allow(clippy::option_option)]
fn constant(operand: &Operand, array: &Decimal128Array) -> Option<Option<i128>> {
    if !operand.is_scalar {
        return Some(None);
    }
    (array.len() == 1 && array.is_valid(0)).then(|| Some(array.value(0)))
}
