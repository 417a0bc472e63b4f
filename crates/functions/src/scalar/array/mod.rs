//! Functions of arrays.

pub mod create;
pub mod element;
pub mod identity;
pub mod list;
pub mod size;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &create::ARRAY,
    &element::ELEMENT_AT,
    &element::GET,
    &element::GET_ARRAY_ITEM,
    &element::GET_ARRAY_STRUCT_FIELDS,
    &element::TRY_ELEMENT_AT,
    &size::ARRAY_SIZE,
    &size::CARDINALITY,
    &size::SIZE,
];
