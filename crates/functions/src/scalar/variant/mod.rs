//! Functions of variants.

pub mod explode;
pub mod get;
pub mod object;
pub mod parse;
pub mod path;
pub mod schema;
#[cfg(test)]
mod tests;
pub mod validity;

use crate::Function;

/// Kernels whose calls cannot be rebuilt from the function's declaration.
pub const KERNELS: &[&Function] =
    &[&explode::EXPLODE_KERNEL, &explode::EXPLODE_OUTER_KERNEL, &get::GET_KERNEL, &get::TRY_GET_KERNEL];

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &explode::VARIANT_EXPLODE,
    &explode::VARIANT_EXPLODE_OUTER,
    &get::TRY_VARIANT_GET,
    &get::VARIANT_GET,
    &object::TO_VARIANT_OBJECT,
    &parse::PARSE_JSON,
    &parse::TRY_PARSE_JSON,
    &schema::SCHEMA_OF_VARIANT,
    &validity::IS_VALID_VARIANT,
    &validity::IS_VARIANT_NULL,
];
