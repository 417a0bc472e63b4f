//! Conditional expressions. All of them evaluate only what they need.

mod branch;
mod choice;
mod extreme;
mod nulls;
#[cfg(test)]
mod tests;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &branch::IF,
    &branch::WHEN,
    &branch::CASE,
    &choice::COALESCE,
    &choice::NVL,
    &choice::IFNULL,
    &choice::NVL2,
    &choice::NANVL,
    &nulls::NULLIF,
    &nulls::NULLIFZERO,
    &nulls::ZEROIFNULL,
    &extreme::GREATEST,
    &extreme::LEAST,
];

/// The kernels that the functions call, by names that SQL does not know.
pub const KERNELS: &[&Function] = &[&extreme::KERNEL];
