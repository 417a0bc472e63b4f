//! Casts of arrays: which routine does which pair of types.

use super::{Mode, boolean, datetime, decimal, interval, nested, number, text, variant};
use arrow::array::{Array, ArrayRef, AsArray, StructArray, new_null_array};
use arrow::datatypes::{ArrowPrimitiveType, DataType as ArrowType};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, TimeZone, arrow_mapping};
use std::sync::Arc;

/// What a cast needs to know besides the types.
#[derive(Debug, Clone)]
pub struct CastOptions {
    pub mode: Mode,
    pub zone: TimeZone,
}

impl CastOptions {
    /// Options with the session's time zone by name.
    pub fn new(mode: Mode, time_zone: &str) -> Result<Self> {
        Ok(Self { mode, zone: TimeZone::parse(time_zone)? })
    }

    /// True where a value that cannot be cast fails the query.
    pub fn fails(&self) -> bool {
        self.mode == Mode::Ansi
    }
}

/// Shapes as another type of shapes: only the type's marks differ.
fn shape(array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    let internal = |text: String| SparkError::internal(text);
    let (Some(shapes), ArrowType::Struct(fields)) = (array.as_struct_opt(), target) else {
        return Err(internal(format!("shapes are structs, not {}", array.data_type())));
    };
    let columns = shapes.columns().to_vec();
    let shapes = StructArray::try_new(fields.clone(), columns, shapes.nulls().cloned());
    Ok(Arc::new(shapes.map_err(|error| internal(error.to_string()))?))
}

/// Casts the values of an array of the canonical Arrow type of `from` to `to`.
pub fn cast_array(array: &ArrayRef, from: &DataType, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    use DataType as T;
    let target = arrow_mapping::to_arrow(to);
    if from == to {
        return Ok(array.clone());
    }
    if array.null_count() == array.len() && !from.is_nested() {
        return Ok(new_null_array(&target, array.len()));
    }
    match (from, to) {
        (T::Null, _) => Ok(new_null_array(&target, array.len())),
        (T::Udt { sql_type, .. }, _) => cast_array(array, sql_type, to, options),
        (f, t) if f.is_string() && t.is_string() => Ok(array.clone()),
        (T::Geometry(_) | T::Geography(_), T::Geometry(_) | T::Geography(_)) => shape(array, &target),
        (f, t) if t.is_string() => text::to_string(array, f, options),
        (T::Variant, _) => variant::from_variants(array, to, options),
        (_, T::Variant) => variant::to_variants(array, from),
        (f, T::Binary) if f.is_string() => native(array, &target),
        (f, T::Binary) if f.is_integral() => number::to_binary(array),
        (f, t) if f.is_string() => text::from_string(array, t, options),
        (T::Boolean, t) if t.is_numeric() || *t == T::Timestamp => boolean::from_boolean(array, t, options),
        (f, T::Boolean) => boolean::to_boolean(array, f),
        (T::Time(_), t) if t.is_numeric() => datetime::time_to_number(array, t, options),
        (f, t) if matches!(f, T::Decimal(..)) || matches!(t, T::Decimal(..)) => decimal::cast(array, f, t, options),
        (f, t) if f.is_numeric() && t.is_numeric() => number::cast(array, f, t, options),
        (f, t) if f.is_ansi_interval() || t.is_ansi_interval() => interval::cast(array, f, t, options),
        (f, t) if f.is_datetime() || t.is_datetime() => datetime::cast(array, f, t, options),
        (T::Time(_), T::Time(precision)) => datetime::cut_time(array, *precision),
        (f, t) if f.is_nested() && t.is_nested() => nested::cast(array, f, t, options),
        _ => Err(SparkError::internal(format!("no cast from {from} to {to}"))),
    }
}

/// DataFusion's own cast.
pub(super) fn native(array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    arrow::compute::cast(array, target).map_err(|e| SparkError::internal(e.to_string()))
}

/// An array as one of its Rust types.
pub(super) fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<&arrow::array::PrimitiveArray<T>> {
    downcast(array)
}

/// An array as its Rust type.
pub(super) fn downcast<A: 'static>(array: &ArrayRef) -> Result<&A> {
    array
        .as_any()
        .downcast_ref::<A>()
        .ok_or_else(|| SparkError::internal(format!("an array of type {} was not expected", array.data_type())))
}

/// A value that cannot be parsed.
pub(super) fn invalid_input(value: &str, from: &str, to: &DataType) -> SparkError {
    SparkError::new("CAST_INVALID_INPUT")
        .with_class(firesteel_error::ExceptionClass::of_cast(&to.sql()))
        .with("expression", value)
        .with("sourceType", format!("\"{from}\""))
        .with("targetType", format!("\"{}\"", to.sql()))
        .with("ansiConfig", "\"spark.sql.ansi.enabled\"")
}

/// A value too large for the target.
pub(super) fn overflow(value: impl Into<String>, from: &DataType, to: &DataType) -> SparkError {
    SparkError::new("CAST_OVERFLOW")
        .with("value", value)
        .with("sourceType", format!("\"{}\"", from.sql()))
        .with("targetType", format!("\"{}\"", to.sql()))
        .with("ansiConfig", "\"spark.sql.ansi.enabled\"")
}
