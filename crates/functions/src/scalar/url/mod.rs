//! Functions of URLs.

pub mod coding;
pub mod parse_url;
pub mod uri;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &coding::TRY_URL_DECODE,
    &coding::URL_DECODE,
    &coding::URL_ENCODE,
    &parse_url::PARSE_URL,
    &parse_url::TRY_PARSE_URL,
];
