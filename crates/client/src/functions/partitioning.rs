//! Transforms that partition tables, for [`WriterV2::partitioned_by`](crate::WriterV2::partitioned_by).

use super::{IntoColumn, IntoColumns, IntoValue};
use crate::Column;

functions! {
    /// By year.
    fn years = "years"(col: IntoColumn);
    /// By month.
    fn months = "months"(col: IntoColumn);
    /// By day.
    fn days = "days"(col: IntoColumn);
    /// By hour.
    fn hours = "hours"(col: IntoColumn);
    /// Into a number of buckets by hash.
    fn bucket = "bucket"(number: IntoValue, ..columns);
}
