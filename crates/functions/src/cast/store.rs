//! Casts of values that are written to a table's columns.

use super::{Mode, can_cast, cast};
use crate::cast::legality::{can_ansi_store_assign, can_up_cast};
use crate::coercion::mismatch::quoted_type;
use crate::{BuildContext, TypedExpr};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

pub use firesteel_config::StoreAssignmentPolicy as StorePolicy;

/// Casts a value to a column's type by the store assignment policy; what the policy forbids is
/// `INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST`, with the names as messages show them.
pub fn store_assign(
    value: TypedExpr,
    to: &DataType,
    policy: StorePolicy,
    (table, column): (&str, &str),
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    let from = &value.data_type;
    let (legal, mode) = match policy {
        StorePolicy::Ansi => (can_ansi_store_assign(&from.as_nullable(), &to.as_nullable()), Mode::Ansi),
        StorePolicy::Legacy => (can_cast(from, to, Mode::Legacy), Mode::of_session(context.conf)),
        StorePolicy::Strict => (can_up_cast(from, to), Mode::Ansi),
    };
    if !legal {
        return Err(SparkError::new("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST")
            .with("tableName", table)
            .with("colName", column)
            .with("srcType", quoted_type(from))
            .with("targetType", quoted_type(to)));
    }
    let name = value.name.clone();
    let mode = if can_cast(from, to, mode) { mode } else { Mode::Legacy };
    Ok(cast(value, to, mode, context)?.named(name))
}
