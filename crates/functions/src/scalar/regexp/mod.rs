//! Functions of regular expressions.

pub mod extract;
pub mod java;
pub mod pattern;
pub mod replace;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &extract::REGEXP_COUNT,
    &extract::REGEXP_EXTRACT,
    &extract::REGEXP_EXTRACT_ALL,
    &extract::REGEXP_INSTR,
    &extract::REGEXP_SUBSTR,
    &replace::REGEXP_REPLACE,
    &replace::SPLIT,
];
