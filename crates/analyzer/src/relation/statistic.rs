//! Statistics of frames: describe, summary, crosstab and so on.

use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Relation, Statistic};

pub(crate) fn statistic(a: &mut Analyzer<'_>, input: &Relation, statistic: &Statistic) -> Result<Resolved> {
    let _ = (a.relation(input)?, statistic);
    Err(SparkError::unsupported("statistics of a frame"))
}
