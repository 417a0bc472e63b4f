//! Generators: rows per row.

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[];
