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
use higher_order::Evaluate;

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

/// What the functions do, by their names.
static EVALUATIONS: &[(&str, Evaluate)] = &[
    ("aggregate", aggregate::evaluate),
    ("array_sort", array_sort::sort),
    ("exists", transform::exists),
    ("filter", transform::filter),
    ("forall", transform::forall),
    ("map_filter", map::filter),
    ("map_zip_with", map::zip),
    ("reduce", aggregate::evaluate),
    ("transform", transform::transform),
    ("transform_keys", map::keys),
    ("transform_values", map::values),
    ("zip_with", zip_with::evaluate),
];

/// What the function of a name does, to rebuild a call from its plain data.
pub fn evaluation(name: &str) -> Option<(&'static str, Evaluate)> {
    EVALUATIONS.iter().find(|(own, _)| *own == name).copied()
}
