//! Common types compared with Spark's answers.

use crate::cast::testing::check;

#[test]
fn common_types_are_sparks() {
    check(include_str!("tests/common_types.jsonl"));
}
