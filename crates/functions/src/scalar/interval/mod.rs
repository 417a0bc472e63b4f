//! Functions of intervals.

pub mod make;
#[cfg(test)]
mod tests;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] =
    &[&make::MAKE_DT_INTERVAL, &make::MAKE_INTERVAL, &make::MAKE_YM_INTERVAL, &make::TRY_MAKE_INTERVAL];
