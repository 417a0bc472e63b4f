//! Functions of strings.

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[];
