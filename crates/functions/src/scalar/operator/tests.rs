//! The functions' values, types and names compared with Spark's answers.

use crate::cast::testing::check;

#[test]
fn operator_values_are_sparks() {
    check(include_str!("tests/values.jsonl"));
}

#[test]
fn operator_types_are_sparks() {
    check(include_str!("tests/types.jsonl"));
}
