//! Columns to rows.

use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use firesteel_error::{Result, SparkError};
use firesteel_plan::Unpivot;

pub(crate) fn unpivot(a: &mut Analyzer<'_>, unpivot: &Unpivot) -> Result<Resolved> {
    let _ = a.relation(&unpivot.input)?;
    Err(SparkError::unsupported("unpivot"))
}
