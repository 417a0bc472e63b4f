//! Functions of dates and times.

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[];
