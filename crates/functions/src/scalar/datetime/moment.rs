//! Moments as kernels read and make them.

use crate::scalar::string::rows::{Rows, array_or_constant, downcast, finish, internal, row_count};
use crate::{KernelArgs, TypedExpr};
use arrow::array::{Array, ArrayRef, Date32Array, PrimitiveArray, PrimitiveBuilder, TimestampMicrosecondArray};
use arrow::datatypes::{ArrowPrimitiveType, TimestampMicrosecondType};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, TimeZone, arrow_mapping};
use std::sync::Arc;

/// An argument of dates.
pub type Dates = Rows<Date32Array>;
/// An argument of timestamps of either kind.
pub type Moments = Rows<TimestampMicrosecondArray>;

/// The session's time zone.
pub fn session_zone(args: &KernelArgs<'_>) -> Result<TimeZone> {
    TimeZone::parse(&args.settings.time_zone)
}

/// The zone in which an argument's wall clock is read: the session's, or none for `TIMESTAMP_NTZ`.
pub fn zone_of(args: &KernelArgs<'_>, index: usize) -> Result<TimeZone> {
    if args.types.get(index) == Some(&DataType::TimestampNtz) { Ok(TimeZone::UTC) } else { session_zone(args) }
}

/// A number of each value of the first argument, which is primitive.
pub fn map_first<I: ArrowPrimitiveType, O: ArrowPrimitiveType>(
    args: &KernelArgs<'_>,
    f: impl Fn(I::Native) -> O::Native,
) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let values = downcast::<PrimitiveArray<I>>(&array)?;
    let made: PrimitiveArray<O> = arrow::compute::unary(values, f);
    if row_count(args) == 0 && args.number_rows == 0 && array.len() == 1 {
        return finish(args, Arc::new(made.slice(0, 0)));
    }
    finish(args, Arc::new(made))
}

/// Makes timestamps of the return type: `make` gives microseconds.
pub fn timestamps(args: &KernelArgs<'_>, mut make: impl FnMut(usize) -> Result<Option<i64>>) -> Result<ColumnarValue> {
    let count = row_count(args);
    let mut builder = PrimitiveBuilder::<TimestampMicrosecondType>::with_capacity(count);
    for row in 0..count {
        builder.append_option(make(row)?);
    }
    finish(args, labelled(builder.finish(), args.return_type))
}

/// Timestamps with the Arrow type of their Spark type.
pub fn labelled(array: TimestampMicrosecondArray, data_type: &DataType) -> ArrayRef {
    if *data_type == DataType::Timestamp {
        Arc::new(array.with_timezone(arrow_mapping::ENGINE_TIME_ZONE))
    } else {
        Arc::new(array)
    }
}

/// Java's error of a number beyond 64 bits.
pub fn long_overflow() -> SparkError {
    SparkError::plain(ExceptionClass::Arithmetic, "long overflow")
}

/// Java's error of a number beyond 32 bits.
pub fn integer_overflow() -> SparkError {
    SparkError::plain(ExceptionClass::Arithmetic, "integer overflow")
}

/// The error of a day beyond 32 bits.
pub fn day_overflow() -> SparkError {
    SparkError::new("ARITHMETIC_OVERFLOW")
        .with("message", "overflow")
        .with("alternative", "")
        .with("config", "\"spark.sql.ansi.enabled\"")
}

/// One argument of a call that was checked to have so many.
pub fn argument(arguments: &[TypedExpr], index: usize) -> Result<TypedExpr> {
    arguments.get(index).cloned().ok_or_else(|| internal(format!("argument {index} is missing")))
}
