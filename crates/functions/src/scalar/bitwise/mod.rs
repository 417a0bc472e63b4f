//! Bitwise functions.

pub mod bits;
pub mod logic;
pub mod shift;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &bits::BIT_COUNT,
    &bits::BIT_GET,
    &bits::GETBIT,
    &logic::AND,
    &logic::NOT,
    &logic::OR,
    &logic::XOR,
    &shift::LEFT_OPERATOR,
    &shift::RIGHT_OPERATOR,
    &shift::RIGHT_UNSIGNED_OPERATOR,
    &shift::SHIFT_LEFT,
    &shift::SHIFT_RIGHT,
    &shift::SHIFT_RIGHT_UNSIGNED,
];
