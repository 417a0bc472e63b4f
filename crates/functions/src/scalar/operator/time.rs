//! Arithmetic of times of day.

use super::Operation;
use super::evaluation::{Evaluation, Operand, finish, kernel, payload, rows};
use crate::{Function, KernelArgs};
use arrow::array::{Array, ArrayRef, PrimitiveArray};
use arrow::datatypes::{DurationMicrosecondType, Time64NanosecondType};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::MICROS_PER_DAY;
use firesteel_types::{DataType, interval_text, moment_text};
use std::sync::Arc;

/// A time of day and a day-time interval.
pub static TIME_ADD: Function = kernel("time_arithmetic", add);
/// Two times of day.
pub static TIME_DIFFERENCE: Function = kernel("time_difference", difference);

fn typed<A: 'static>(array: &ArrayRef) -> Result<&A> {
    array.as_any().downcast_ref().ok_or_else(|| SparkError::internal(format!("{} was not expected", array.data_type())))
}

fn overflow(args: &KernelArgs<'_>, time: i64, micros: i64) -> SparkError {
    let mut interval = String::new();
    if let Some(DataType::DayTimeInterval(start, end)) = args.types.get(1) {
        interval_text::write_day_time(&mut interval, micros, *start, *end);
    }
    let mut text = String::new();
    moment_text::write_time(&mut text, time);
    SparkError::new("DATETIME_OVERFLOW").with("operation", format!("add {interval} to the time value TIME '{text}'"))
}

fn add(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (operation, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let times = typed::<PrimitiveArray<Time64NanosecondType>>(&left.array)?;
    let intervals = typed::<PrimitiveArray<DurationMicrosecondType>>(&right.array)?;
    let rows = rows(&[&left, &right], args);
    let mut out = PrimitiveArray::<Time64NanosecondType>::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
            continue;
        }
        let time = times.value(left.at(row));
        let given = intervals.value(right.at(row));
        let micros = if operation == Operation::Subtract { given.checked_neg() } else { Some(given) };
        let moved = micros.and_then(|m| (time / 1000).checked_add(m)).filter(|m| (0..MICROS_PER_DAY).contains(m));
        match moved {
            Some(moved) => out.append_value(moved * 1000 + time % 1000),
            None if evaluation == Evaluation::Try => out.append_null(),
            None => return Err(overflow(args, time, micros.unwrap_or(given))),
        }
    }
    finish(Arc::new(out.finish()), &[&left, &right])
}

fn difference(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let starts = typed::<PrimitiveArray<Time64NanosecondType>>(&left.array)?;
    let ends = typed::<PrimitiveArray<Time64NanosecondType>>(&right.array)?;
    let rows = rows(&[&left, &right], args);
    let mut out = PrimitiveArray::<DurationMicrosecondType>::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
        } else {
            out.append_value(starts.value(left.at(row)) / 1000 - ends.value(right.at(row)) / 1000);
        }
    }
    finish(Arc::new(out.finish()), &[&left, &right])
}
