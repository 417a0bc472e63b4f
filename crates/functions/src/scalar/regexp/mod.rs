//! Functions of regular expressions.

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[];
