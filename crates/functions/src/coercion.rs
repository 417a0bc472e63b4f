//! Type coercion: Spark's tables, ANSI and not, and the engine that applies them.
//!
//! * [`tightest_common_type`]: widening without loss;
//! * [`wider_common_type`]: what branches, parts of collections and columns of
//!   set operations become;
//! * [`common_type_for_comparison`]: what the sides of a comparison become;
//! * [`implicit_cast`]: what an argument becomes for a parameter.

mod comparison;
pub mod decimal;
mod implicit;
pub mod mismatch;
#[cfg(test)]
mod tests;
mod widen;

pub use comparison::common_type_for_comparison;
pub use implicit::{accepts, implicit_cast};
pub use widen::{
    is_atomic, promote_string_ansi, tightest_common_type, wider_common_type, wider_type, wider_without_strings,
};

use crate::cast::{self, Mode};
use crate::{ArgType, BuildContext, TypedExpr};
use firesteel_error::Result;
use firesteel_types::DataType;

/// The type of a column of a set operation, from its types on both sides.
pub fn set_operation_type(left: &DataType, right: &DataType, ansi: bool) -> Option<DataType> {
    wider_common_type(&[left.clone(), right.clone()], ansi)
}

/// Casts an argument to what the parameter at `index` wants, or fails with
/// `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE`.
pub fn coerce_argument(
    argument: TypedExpr,
    wanted: ArgType,
    index: usize,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    match implicit_cast(&argument.data_type, wanted, context.conf.ansi_enabled) {
        Some(target) => implicitly(argument, &target, context),
        None => Err(mismatch::unexpected_input(call, index, wanted, &argument)),
    }
}

/// Casts all arguments to their least common type, or fails with `DATATYPE_MISMATCH.DATA_DIFF_TYPES`.
pub fn to_common_type(
    arguments: Vec<TypedExpr>,
    function: &str,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<Vec<TypedExpr>> {
    let types: Vec<DataType> = arguments.iter().map(|a| a.data_type.clone()).collect();
    let Some(common) = wider_common_type(&types, context.conf.ansi_enabled) else {
        return Err(mismatch::different_types(call, function, &types));
    };
    arguments.into_iter().map(|a| implicitly(a, &common, context)).collect()
}

/// Casts both sides of a comparison to the type in which they are compared; None where there is none.
pub fn to_comparable(
    left: TypedExpr,
    right: TypedExpr,
    context: &mut BuildContext<'_>,
) -> Result<Option<(TypedExpr, TypedExpr)>> {
    match common_type_for_comparison(&left.data_type, &right.data_type, context.conf.ansi_enabled) {
        Some(common) => Ok(Some((implicitly(left, &common, context)?, implicitly(right, &common, context)?))),
        None => Ok(None),
    }
}

/// A cast that Spark inserts by itself: in the session's mode, without a trace in the name.
pub fn implicitly(argument: TypedExpr, to: &DataType, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    if argument.data_type.same_type(to) {
        // Only nullability inside differs, which the engine's Arrow types do not show.
        return Ok(TypedExpr { data_type: to.clone(), ..argument });
    }
    let name = argument.name.clone();
    let mode = if context.conf.ansi_enabled { Mode::Ansi } else { Mode::Legacy };
    Ok(cast::cast(argument, to, mode, context)?.named(name))
}
