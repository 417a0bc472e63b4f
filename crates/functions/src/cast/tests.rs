//! Casts compared with Spark's answers.

use super::testing::check;

#[test]
fn casts_are_sparks() {
    check(include_str!("tests/casts.jsonl"));
}

#[test]
fn legality_and_nullability_are_sparks() {
    check(include_str!("tests/pairs.jsonl"));
}
