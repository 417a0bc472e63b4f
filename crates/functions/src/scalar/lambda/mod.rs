//! Functions that take lambdas.
//!
//! [`higher_order`] is the DataFusion function behind all of them; [`flat`] lays
//! collections out so that a lambda is evaluated once for all elements of a batch.

pub mod aggregate;
pub mod array_sort;
pub mod flat;
pub mod higher_order;
pub mod map;
#[cfg(test)]
mod tests;
pub mod transform;
pub mod zip_with;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &aggregate::AGGREGATE,
    &aggregate::REDUCE,
    &array_sort::ARRAY_SORT,
    &map::MAP_FILTER,
    &map::MAP_ZIP_WITH,
    &map::TRANSFORM_KEYS,
    &map::TRANSFORM_VALUES,
    &transform::EXISTS,
    &transform::FILTER,
    &transform::FORALL,
    &transform::TRANSFORM,
    &zip_with::ZIP_WITH,
];
