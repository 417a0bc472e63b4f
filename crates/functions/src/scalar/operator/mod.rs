//! Arithmetic operators.
//!
//! The declarations are in [`arithmetic`] and [`sign`]; the kernels go by type.

mod arithmetic;
pub mod datetime;
pub mod decimal;
mod decimal_fast;
mod evaluation;
mod floating;
mod integer;
pub mod interval;
mod sign;
#[cfg(test)]
mod tests;
mod time;

use crate::Function;

pub(crate) use arithmetic::literal_beside_decimal;
pub use arithmetic::{Operation, arithmetic};
pub use evaluation::Evaluation;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &arithmetic::ADD,
    &arithmetic::SUBTRACT,
    &arithmetic::MULTIPLY,
    &arithmetic::DIVIDE,
    &arithmetic::REMAINDER,
    &arithmetic::INTEGRAL_DIVIDE,
    &arithmetic::MOD,
    &arithmetic::PMOD,
    &arithmetic::TRY_ADD,
    &arithmetic::TRY_SUBTRACT,
    &arithmetic::TRY_MULTIPLY,
    &arithmetic::TRY_DIVIDE,
    &arithmetic::TRY_MOD,
    &sign::NEGATIVE,
    &sign::UNARY_MINUS,
    &sign::POSITIVE,
];

/// The kernels that the functions call, by names that SQL does not know.
pub const KERNELS: &[&Function] = &[
    &integer::KERNEL,
    &floating::KERNEL,
    &decimal::KERNEL,
    &time::TIME_ADD,
    &time::TIME_DIFFERENCE,
    &datetime::DATE_ADD,
    &datetime::TIMESTAMP_ADD,
    &datetime::DATE_ADD_INTERVAL,
    &datetime::DATETIME_DIFFERENCE,
    &interval::ADD,
    &interval::SCALE,
    &interval::DIVIDE_INTERVALS,
    &sign::KERNEL,
];
