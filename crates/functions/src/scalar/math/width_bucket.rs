//! `width_bucket`.

use crate::coercion::mismatch;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Longs, Rows, array_or_constant, downcast, internal, primitives};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, Float64Array, Int32Array, IntervalYearMonthArray};
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use firesteel_types::DataType;
use std::sync::Arc;

const POINT: ArgType = ArgType::OneOf(&[ArgType::Double, ArgType::AnyInterval]);

function! {
    /// `width_bucket(value, min_value, max_value, num_bucket)`
    WIDTH_BUCKET = "width_bucket" in Math, Signature::of(&[
            param("value", POINT),
            param("min_value", POINT),
            param("max_value", POINT),
            param("num_bucket", ArgType::Long),
        ])
        => Body::Build(build);
    usage "The bucket of `value` in a histogram of `num_bucket` buckets of the same width.";
    since "3.1.0";
    example "SELECT width_bucket(5.3, 0.2, 10.6, 5)" => "3";
    example "SELECT width_bucket(-2.1, 1.3, 3.4, 3)" => "0";
    example "SELECT width_bucket(8.1, 0.0, 5.7, 4)" => "5";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = WIDTH_BUCKET.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let points: Vec<DataType> = arguments.iter().take(3).map(|a| a.data_type.clone()).collect();
    let is_one_kind = points.iter().all(|t| *t == DataType::Double)
        || points.iter().all(|t| matches!(t, DataType::YearMonthInterval(..)))
        || points.iter().all(|t| matches!(t, DataType::DayTimeInterval(..)));
    if !is_one_kind {
        return Err(mismatch::different_types(&call, WIDTH_BUCKET.name, &points));
    }
    let expr = crate::kernel::call(&WIDTH_BUCKET, width_bucket, &arguments, &DataType::Long, true, context)?;
    Ok(TypedExpr::new(expr, DataType::Long, true, call))
}

/// A point as a double, whatever its type.
struct Points {
    values: Float64Array,
    is_constant: bool,
}

impl Points {
    fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        let (array, is_constant) = array_or_constant(args, index)?;
        let number: ArrayRef = match array.data_type() {
            ArrowType::Float64 => array,
            ArrowType::Interval(_) => {
                let months: Int32Array = downcast::<IntervalYearMonthArray>(&array)?.unary(|months| months);
                let months: ArrayRef = Arc::new(months);
                arrow::compute::cast(&months, &ArrowType::Float64).map_err(internal)?
            }
            _ => {
                let micros = arrow::compute::cast(&array, &ArrowType::Int64).map_err(internal)?;
                arrow::compute::cast(&micros, &ArrowType::Float64).map_err(internal)?
            }
        };
        Ok(Self { values: downcast::<Float64Array>(&number)?.clone(), is_constant })
    }

    fn get(&self, row: usize) -> Option<f64> {
        let row = if self.is_constant { 0 } else { row };
        if self.values.is_null(row) { None } else { Some(self.values.value(row)) }
    }
}

fn width_bucket(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (values, low, high) = (Points::of(args, 0)?, Points::of(args, 1)?, Points::of(args, 2)?);
    let counts: Longs = Rows::of(args, 3)?;
    primitives::<Int64Type>(args, |row| {
        let (Some(value), Some(low), Some(high), Some(count)) =
            (values.get(row), low.get(row), high.get(row), counts.get(row))
        else {
            return Ok(None);
        };
        Ok(bucket(value, low, high, count))
    })
}

fn bucket(value: f64, low: f64, high: f64, count: i64) -> Option<i64> {
    if count <= 0 || count == i64::MAX || value.is_nan() || low == high || !low.is_finite() || !high.is_finite() {
        return None;
    }
    let (from, to) = (low.min(high), low.max(high));
    let n = count as f64;
    Some(if low < high {
        if value < from {
            0
        } else if value >= to {
            count + 1
        } else {
            (n * (value - from) / (to - from)) as i64 + 1
        }
    } else if value > to {
        0
    } else if value <= from {
        count + 1
    } else {
        (n * (to - value) / (to - from)) as i64 + 1
    })
}
