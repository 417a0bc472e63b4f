//! Functions of the session and of no other family.

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[];
