//! The functions' values, types and names compared with Spark's answers.

use crate::cast::testing::check;

#[test]
fn values_of_variant_functions_are_sparks() {
    check(include_str!("tests/values.jsonl"));
}
