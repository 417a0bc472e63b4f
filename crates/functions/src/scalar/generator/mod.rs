//! Generators: rows per row.

pub mod explode;
pub mod keywords;
pub mod stack;
pub mod table;
#[cfg(test)]
mod tests;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &explode::EXPLODE,
    &explode::EXPLODE_OUTER,
    &explode::INLINE,
    &explode::INLINE_OUTER,
    &explode::POSEXPLODE,
    &explode::POSEXPLODE_OUTER,
    &keywords::SQL_KEYWORDS,
    &stack::STACK,
];
