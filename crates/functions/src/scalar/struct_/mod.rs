//! Functions of structs.

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[];
