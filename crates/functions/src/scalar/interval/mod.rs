//! Functions of intervals.

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[];
