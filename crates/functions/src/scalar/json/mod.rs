//! Functions of JSON and CSV text.

pub mod checks;
pub mod convert;
pub mod csv;
pub mod csv_line;
pub mod formats;
pub mod from_json;
pub mod options;
pub mod path;
pub mod reader;
pub mod schema_of_json;
pub mod to_json;
pub mod writer;

use crate::Function;

/// The functions of the family.
pub const FUNCTIONS: &[&Function] = &[
    &csv::FROM_CSV,
    &csv::SCHEMA_OF_CSV,
    &csv::TO_CSV,
    &from_json::FROM_JSON,
    &path::GET_JSON_OBJECT,
    &path::JSON_ARRAY_LENGTH,
    &path::JSON_OBJECT_KEYS,
    &path::JSON_TUPLE,
    &schema_of_json::SCHEMA_OF_JSON,
    &to_json::TO_JSON,
];
