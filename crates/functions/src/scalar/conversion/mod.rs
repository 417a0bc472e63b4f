//! Conversions between types.

pub mod casts;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = casts::CASTS;
