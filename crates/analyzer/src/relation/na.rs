//! Nulls and values replaced: `fillna`, `dropna`, `replace`.

use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use firesteel_error::{Result, SparkError};
use firesteel_plan::Relation;
use firesteel_types::Literal;

pub(crate) fn fill(a: &mut Analyzer<'_>, input: &Relation, columns: &[String], values: &[Literal]) -> Result<Resolved> {
    let _ = (a.relation(input)?, columns, values);
    Err(SparkError::unsupported("fillna"))
}

pub(crate) fn drop(a: &mut Analyzer<'_>, input: &Relation, columns: &[String], min_non_nulls: Option<i32>) -> Result<Resolved> {
    let _ = (a.relation(input)?, columns, min_non_nulls);
    Err(SparkError::unsupported("dropna"))
}

pub(crate) fn replace(a: &mut Analyzer<'_>, input: &Relation, columns: &[String], replacements: &[(Literal, Literal)]) -> Result<Resolved> {
    let _ = (a.relation(input)?, columns, replacements);
    Err(SparkError::unsupported("replace"))
}
