//! Casts from and to booleans.

use super::array::{CastOptions, downcast, native, overflow, primitive};
use super::decimal::{out_of_range, power_of_ten, within};
use arrow::array::{Array, ArrayRef, BooleanArray, Decimal128Array, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::sync::Arc;

/// `true` is one: of a number, or of microseconds since the epoch.
pub(super) fn from_boolean(array: &ArrayRef, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    match to {
        DataType::Timestamp => {
            let values = downcast::<BooleanArray>(array)?;
            let moments: PrimitiveArray<TimestampMicrosecondType> = values.iter().map(|v| v.map(i64::from)).collect();
            Ok(Arc::new(moments.with_timezone(arrow_mapping::ENGINE_TIME_ZONE)))
        }
        DataType::Decimal(p, s) => {
            let values = downcast::<BooleanArray>(array)?;
            let one = within(power_of_ten(u32::try_from(*s).unwrap_or(0)), *p);
            if one.is_none() && options.fails() && values.true_count() > 0 {
                return Err(out_of_range("1", *p, *s));
            }
            let decimals: Decimal128Array =
                values.iter().map(|v| v.and_then(|v| if v { one } else { Some(0) })).collect();
            finish_decimal(decimals, *p, *s)
        }
        _ => native(array, &arrow_mapping::to_arrow(to)),
    }
}

/// A decimal array with its precision and scale.
pub(super) fn finish_decimal(array: Decimal128Array, precision: u8, scale: i8) -> Result<ArrayRef> {
    let array = array.with_precision_and_scale(precision, scale).map_err(|e| SparkError::internal(e.to_string()))?;
    Ok(Arc::new(array))
}

/// Zero is false, anything else true; dates have no truth.
pub(super) fn to_boolean(array: &ArrayRef, from: &DataType) -> Result<ArrayRef> {
    fn truth<T: ArrowPrimitiveType>(array: &ArrayRef, zero: T::Native) -> Result<ArrayRef> {
        let values = primitive::<T>(array)?;
        // NaN differs from zero, and so is true.
        let bits = arrow::buffer::BooleanBuffer::collect_bool(values.len(), |i| values.value(i) != zero);
        Ok(Arc::new(BooleanArray::new(bits, values.nulls().cloned())))
    }
    match from {
        DataType::Byte => truth::<Int8Type>(array, 0),
        DataType::Short => truth::<Int16Type>(array, 0),
        DataType::Integer => truth::<Int32Type>(array, 0),
        DataType::Long => truth::<Int64Type>(array, 0),
        DataType::Float => truth::<Float32Type>(array, 0.0),
        DataType::Double => truth::<Float64Type>(array, 0.0),
        DataType::Decimal(..) => truth::<Decimal128Type>(array, 0),
        DataType::Timestamp => truth::<TimestampMicrosecondType>(array, 0),
        DataType::Date => Ok(Arc::new(BooleanArray::new_null(array.len()))),
        other => Err(overflow("", other, &DataType::Boolean)),
    }
}
