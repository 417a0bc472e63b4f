//! Functions of structs.

pub mod get_struct_field;
pub mod named_struct;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[&get_struct_field::GET_STRUCT_FIELD, &named_struct::NAMED_STRUCT];
