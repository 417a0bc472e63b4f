//! Functions of arrays.
//!
//! [`list`] reads and makes arrays for the kernels, [`identity`] says which
//! elements are the same, [`typing`] which types go together.

pub mod combine;
pub mod create;
pub mod edit;
pub mod element;
pub mod identity;
pub mod list;
pub mod order;
pub mod search;
pub mod sequence;
pub mod set;
pub mod size;
#[cfg(test)]
mod tests;
pub mod typing;
pub mod vector;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &combine::ARRAYS_ZIP,
    &combine::ARRAY_JOIN,
    &combine::ARRAY_REPEAT,
    &combine::FLATTEN,
    &create::ARRAY,
    &edit::ARRAY_APPEND,
    &edit::ARRAY_COMPACT,
    &edit::ARRAY_INSERT,
    &edit::ARRAY_PREPEND,
    &edit::ARRAY_REMOVE,
    &element::ELEMENT_AT,
    &element::GET,
    &element::GET_ARRAY_ITEM,
    &element::GET_ARRAY_STRUCT_FIELDS,
    &element::TRY_ELEMENT_AT,
    &order::SHUFFLE,
    &order::SLICE,
    &order::SORT_ARRAY,
    &search::ARRAYS_OVERLAP,
    &search::ARRAY_CONTAINS,
    &search::ARRAY_MAX,
    &search::ARRAY_MIN,
    &search::ARRAY_POSITION,
    &sequence::SEQUENCE,
    &set::ARRAY_DISTINCT,
    &set::ARRAY_EXCEPT,
    &set::ARRAY_INTERSECT,
    &set::ARRAY_UNION,
    &size::ARRAY_SIZE,
    &size::CARDINALITY,
    &size::SIZE,
    &vector::VECTOR_COSINE_SIMILARITY,
    &vector::VECTOR_INNER_PRODUCT,
    &vector::VECTOR_L2_DISTANCE,
    &vector::VECTOR_NORM,
    &vector::VECTOR_NORMALIZE,
];
