//! Functions of maps.

pub mod create;
pub mod entry;
pub mod part;
#[cfg(test)]
mod tests;
pub mod text;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &create::MAP,
    &create::MAP_CONCAT,
    &create::MAP_FROM_ARRAYS,
    &create::MAP_FROM_ENTRIES,
    &entry::GET_MAP_VALUE,
    &part::MAP_CONTAINS_KEY,
    &part::MAP_ENTRIES,
    &part::MAP_KEYS,
    &part::MAP_VALUES,
    &text::STR_TO_MAP,
];
