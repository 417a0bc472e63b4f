//! Predicates: comparisons, logic, pattern matching.

pub mod comparison;
pub mod equality;
pub(crate) mod lazy;
mod like;
mod logic;
mod membership;
mod null_test;
mod rlike;
#[cfg(test)]
mod tests;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &comparison::EQUAL,
    &comparison::EQUAL_EQUAL,
    &comparison::NOT_EQUAL,
    &comparison::NOT_EQUAL_SIGNS,
    &comparison::EQUAL_NULL_SAFE,
    &comparison::EQUAL_NULL,
    &comparison::LESS,
    &comparison::LESS_OR_EQUAL,
    &comparison::GREATER,
    &comparison::GREATER_OR_EQUAL,
    &logic::AND,
    &logic::OR,
    &logic::NOT,
    &membership::IN,
    &membership::BETWEEN,
    &null_test::IS_NULL,
    &null_test::IS_NOT_UNKNOWN,
    &null_test::IS_UNKNOWN,
    &null_test::IS_NOT_NULL,
    &null_test::IS_NAN,
    &like::LIKE,
    &like::ILIKE,
    &like::LIKE_ANY,
    &like::LIKE_ALL,
    &like::NOT_LIKE_ALL,
    &like::NOT_LIKE_ANY,
    &rlike::RLIKE,
    &rlike::REGEXP,
    &rlike::REGEXP_LIKE,
];

/// The kernels that the functions call, by names that SQL does not know.
pub const KERNELS: &[&Function] =
    &[&equality::COMPARE, &equality::NORMALIZE, &super::string::collation_key::KEY, &like::KERNEL, &rlike::KERNEL];
