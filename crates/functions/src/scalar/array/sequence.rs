//! `sequence(start, stop[, step])`.

use super::list::{Column, MOST_ELEMENTS, list_of};
use super::typing::call_text;
use crate::coercion::{self, mismatch};
use crate::scalar::datetime::moment::{labelled, long_overflow};
use crate::scalar::operator::datetime::move_timestamp;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{downcast, finish, internal, row_count};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use arrow::array::{
    ArrayRef, Date32Array, DurationMicrosecondArray, Int64Array, IntervalMonthDayNanoArray, IntervalYearMonthArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::calendar::MICROS_PER_DAY;
use firesteel_types::{DataType, TimeZone, arrow_mapping};
use std::sync::Arc;

function! {
    /// `sequence(start, stop[, step])`
    SEQUENCE = "sequence" in Array,
        Signature::with_optional(&[param("start", ArgType::Any), param("stop", ArgType::Any), param("step", ArgType::Any)], 1)
        => Body::Build(build);
    usage "The values from start to stop, both included, a step apart: by default 1 or -1, or a day.";
    since "2.4.0";
    example "SELECT sequence(1, 5)" => "[1,2,3,4,5]";
    example "SELECT sequence(5, 1)" => "[5,4,3,2,1]";
    example "SELECT sequence(to_date('2018-01-01'), to_date('2018-03-01'), interval 1 month)" => "[2018-01-01,2018-02-01,2018-03-01]";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = call_text("sequence", &arguments);
    let wrong = || {
        SparkError::new("DATATYPE_MISMATCH.SEQUENCE_WRONG_INPUT_TYPES")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("functionName", "`sequence`")
            .with("startType", "(\"TIMESTAMP\" or \"TIMESTAMP_NTZ\" or \"DATE\")")
            .with("stepType", "(\"INTERVAL\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL DAY TO SECOND\")")
            .with("otherStartType", "\"INTEGRAL\"")
    };
    let types: Vec<DataType> = arguments.iter().map(|a| a.data_type.clone()).collect();
    let is_interval = |t: &DataType| t.is_ansi_interval() || *t == DataType::CalendarInterval;
    let step_is_interval = types.get(2).is_some_and(is_interval);
    let sides = if types.len() > 2 && !step_is_interval { &types[..] } else { &types[..2] };
    let common = coercion::wider_common_type(sides, context.conf.ansi_enabled).ok_or_else(wrong)?;
    let common = if common.is_null() { DataType::Integer } else { common };
    let fits = match &common {
        t if t.is_integral() => !step_is_interval,
        t if t.is_datetime() => types.len() < 3 || step_is_interval,
        _ => false,
    };
    if !fits {
        return Err(wrong());
    }
    let mut typed = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.into_iter().enumerate() {
        let wanted = if index == 2 && step_is_interval { argument.data_type.clone() } else { common.clone() };
        typed.push(coercion::implicitly(argument, &wanted, context)?);
    }
    let nullable = typed.iter().any(|t| t.nullable);
    let data_type = DataType::array(common.clone(), false);
    let kernel: crate::KernelFn = if common.is_integral() { numbers } else { moments };
    let expr = crate::kernel::call(&SEQUENCE, kernel, &typed, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, call))
}

/// How many values there are, or Spark's error.
fn length(start: i128, stop: i128, step: i128, shown: (i64, i64, String)) -> Result<usize> {
    let is_legal = (step > 0 && start <= stop) || (step < 0 && start >= stop) || (step == 0 && start == stop);
    if !is_legal {
        let (start, stop, step) = shown;
        let message = format!("requirement failed: Illegal sequence boundaries: {start} to {stop} by {step}");
        return Err(SparkError::plain(ExceptionClass::IllegalArgument, message));
    }
    let count = if step == 0 { 1 } else { (stop - start) / step + 1 };
    if count > i128::from(MOST_ELEMENTS) {
        return Err(SparkError::new("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER")
            .with("numberOfElements", count.to_string())
            .with("functionName", "`sequence`")
            .with("maxRoundedArrayLength", MOST_ELEMENTS.to_string())
            .with("parameter", "`count`"));
    }
    usize::try_from(count).map_err(internal)
}

/// Arrays of numbers as they grow.
struct Numbers {
    values: Vec<i64>,
    offsets: Vec<i32>,
    valid: Vec<bool>,
}

impl Numbers {
    fn new() -> Self {
        Self { values: Vec::new(), offsets: vec![0], valid: Vec::new() }
    }

    fn end(&mut self, is_valid: bool) -> Result<()> {
        self.valid.push(is_valid);
        self.offsets.push(i32::try_from(self.values.len()).map_err(internal)?);
        Ok(())
    }

    fn extend(&mut self, start: i64, step: i64, count: usize) -> Result<()> {
        self.reserve(count)?;
        self.values.extend((0..count as i64).map(|i| start.wrapping_add(i.wrapping_mul(step))));
        Ok(())
    }

    /// Fails where there is no room for so many more: they are made as long numbers, then as what is asked for.
    fn reserve(&self, count: usize) -> Result<()> {
        crate::room::check_many(self.values.len().saturating_add(count), 16)
    }

    fn finish(self, args: &KernelArgs<'_>, values: impl FnOnce(Vec<i64>) -> Result<ArrayRef>) -> Result<ColumnarValue> {
        let ArrowType::List(field) = arrow_mapping::to_arrow(args.return_type) else {
            return Err(SparkError::internal("sequence makes an array"));
        };
        let values = values(self.values)?;
        finish(args, list_of(field, self.offsets, values, &self.valid)?)
    }
}

fn longs(args: &KernelArgs<'_>, index: usize) -> Result<(Column, Int64Array)> {
    let column = Column::of(args, index)?;
    let values = arrow::compute::cast(&column.array, &ArrowType::Int64).map_err(internal)?;
    let values = downcast::<Int64Array>(&values)?.clone();
    Ok((column, values))
}

fn numbers(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let columns = (0..args.values.len()).map(|i| longs(args, i)).collect::<Result<Vec<_>>>()?;
    let mut out = Numbers::new();
    for row in 0..row_count(args) {
        if columns.iter().any(|(c, _)| c.is_null(row)) {
            out.end(false)?;
            continue;
        }
        let value = |index: usize| columns.get(index).map(|(c, v)| v.value(c.at(row)));
        let (start, stop) = (value(0).unwrap_or(0), value(1).unwrap_or(0));
        let step = value(2).unwrap_or(if start <= stop { 1 } else { -1 });
        let shown = (start, stop, step.to_string());
        let count = length(i128::from(start), i128::from(stop), i128::from(step), shown)?;
        out.extend(start, step, count)?;
        out.end(true)?;
    }
    let element = super::list::element_of(args.return_type).0;
    out.finish(args, |values| {
        let values: ArrayRef = Arc::new(Int64Array::from(values));
        arrow::compute::cast(&values, &arrow_mapping::to_arrow(&element)).map_err(internal)
    })
}

/// Months, days and microseconds of a step.
fn steps(args: &KernelArgs<'_>) -> Result<Option<(Column, Vec<(i64, i64, i64)>)>> {
    if args.values.len() < 3 {
        return Ok(None);
    }
    let column = Column::of(args, 2)?;
    let array = &column.array;
    let made = match args.types.get(2) {
        Some(DataType::YearMonthInterval(..)) => {
            downcast::<IntervalYearMonthArray>(array)?.values().iter().map(|m| (i64::from(*m), 0, 0)).collect()
        }
        Some(DataType::DayTimeInterval(..)) => downcast::<DurationMicrosecondArray>(array)?
            .values()
            .iter()
            .map(|m| (0, m / MICROS_PER_DAY, m % MICROS_PER_DAY))
            .collect(),
        _ => downcast::<IntervalMonthDayNanoArray>(array)?
            .values()
            .iter()
            .map(|i| (i64::from(i.months), i64::from(i.days), i.nanoseconds / 1000))
            .collect(),
    };
    Ok(Some((column, made)))
}

fn moments(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    const MICROS_PER_MONTH: i128 = 28 * MICROS_PER_DAY as i128;
    let element = super::list::element_of(args.return_type).0;
    let is_date = element == DataType::Date;
    let zone =
        if element == DataType::TimestampNtz { TimeZone::UTC } else { TimeZone::parse(&args.settings.time_zone)? };
    let (starts, stops) = (Column::of(args, 0)?, Column::of(args, 1)?);
    let raw = |column: &Column, row: usize| -> Result<i64> {
        let at = column.at(row);
        Ok(if is_date {
            i64::from(downcast::<Date32Array>(&column.array)?.value(at))
        } else {
            downcast::<TimestampMicrosecondArray>(&column.array)?.value(at)
        })
    };
    let steps = steps(args)?;
    let mut out = Numbers::new();
    for row in 0..row_count(args) {
        let no_step = steps.as_ref().is_some_and(|(c, _)| c.is_null(row));
        if starts.is_null(row) || stops.is_null(row) || no_step {
            out.end(false)?;
            continue;
        }
        let (start, stop) = (raw(&starts, row)?, raw(&stops, row)?);
        let (months, days, micros) = match &steps {
            Some((column, values)) => values.get(column.at(row)).copied().unwrap_or((0, 0, 0)),
            None => (0, if start <= stop { 1 } else { -1 }, 0),
        };
        if is_date && months == 0 && days == 0 && micros != 0 {
            let kind = match args.types.get(2) {
                Some(DataType::DayTimeInterval(..)) => "interval day to second",
                _ => "interval",
            };
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_3242").with("intervalType", kind));
        }
        if is_date && months == 0 && micros == 0 {
            let shown = (start, stop, days.to_string());
            let count = length(i128::from(start), i128::from(stop), i128::from(days), shown)?;
            out.extend(start, days, count)?;
            out.end(true)?;
            continue;
        }
        if !is_date && months == 0 && days == 0 {
            let shown = (start, stop, micros.to_string());
            let count = length(i128::from(start), i128::from(stop), i128::from(micros), shown)?;
            out.extend(start, micros, count)?;
            out.end(true)?;
            continue;
        }
        let instant = |value: i64| if is_date { zone.start_of_day(value) } else { Some(value) };
        let (Some(first), Some(last)) = (instant(start), instant(stop)) else { return Err(long_overflow()) };
        let step =
            i128::from(months) * MICROS_PER_MONTH + i128::from(days) * i128::from(MICROS_PER_DAY) + i128::from(micros);
        out.reserve(length(i128::from(first), i128::from(last), step, (first, last, step.to_string()))?)?;
        let mut index = 0_i64;
        loop {
            let moved = move_timestamp(first, (months * index, days * index, micros * index), zone)
                .ok_or_else(long_overflow)?;
            if (step >= 0 && moved > last) || (step < 0 && moved < last) {
                break;
            }
            out.values.push(if is_date { zone.day_of(moved) } else { moved });
            index += 1;
            if step == 0 {
                break;
            }
        }
        out.end(true)?;
    }
    out.finish(args, |values| {
        Ok(if is_date {
            Arc::new(values.into_iter().map(|d| Some(d as i32)).collect::<Date32Array>()) as ArrayRef
        } else {
            labelled(TimestampMicrosecondArray::from(values), &element)
        })
    })
}
