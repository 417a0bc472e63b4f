//! Functions of structs.

pub mod named_struct;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[&named_struct::NAMED_STRUCT];
