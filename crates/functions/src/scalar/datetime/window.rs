//! Windows of time: `window`, `window_time`, `session_window`.

use super::moment::{Moments, argument, labelled};
use crate::cast::parse_interval::parse_calendar_interval;
use crate::coercion::{coerce_argument, implicitly, mismatch};
use crate::function::Generator;
use crate::kernel::kernel;
use crate::scalar::array::element::column_of;
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, array_or_constant, downcast, finish, internal, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{ListArray, StructArray, TimestampMicrosecondArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::MICROS_PER_DAY;
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::sync::Arc;

function! {
    /// `window(time, duration[, slide[, start]])`
    WINDOW = "window" in DateTime,
        Signature::with_optional(&[
            param("time_column", ArgType::Any), param("window_duration", ArgType::Any), param("slide_duration", ArgType::Any),
            param("start_time", ArgType::Any),
        ], 2)
        => Body::Build(window);
    text |_| "window".to_string();
    usage "The window of time, of a fixed length, into which a timestamp falls.";
    since "2.0.0";
}
function! {
    /// `window_time(window)`
    WINDOW_TIME = "window_time" in DateTime, Signature::of(&[param("window_column", ArgType::Struct)])
        => Body::Build(window_time);
    usage "The last microsecond of a window.";
    since "3.4.0";
}
function! {
    /// `session_window(time, gap)`
    SESSION_WINDOW = "session_window" in DateTime,
        Signature::of(&[param("time_column", ArgType::Any), param("gap_duration", ArgType::Any)])
        => Body::Build(|_, _| Err(SparkError::unsupported("session_window")));
    usage "The window of time that ends after a gap without rows.";
    since "3.2.0";
}

function! {
    /// The windows of a row, for `window` among group keys.
    WINDOW_ROWS = "window_rows" in Internal,
        Signature::with_optional(&[
            param("time_column", ArgType::Any), param("window_duration", ArgType::Any), param("slide_duration", ArgType::Any),
            param("start_time", ArgType::Any),
        ], 2)
        => Body::Generator(window_rows);
    usage "";
    since "2.0.0";
}
function! {
    /// The time of a row, for `session_window` among group keys.
    SESSION_TIME = "session_time" in Internal, Signature::of(&[param("time_column", ArgType::Any)])
        => Body::Build(|context, arguments| time_of(&argument(&arguments, 0)?, "session_window", context));
    usage "";
    since "3.2.0";
}

/// The kernel, by which a call that has travelled finds it again.
pub static KERNELS: &[&Function] = &[&kernel("window", run)];

/// The time of a row: a timestamp of either kind.
fn time_of(time: &TypedExpr, call: &str, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    match time.data_type {
        DataType::Date => implicitly(time.clone(), &DataType::Timestamp, context),
        _ => coerce_argument(time.clone(), ArgType::AnyTimestamp, 0, call, context),
    }
}

/// Microseconds of a constant duration.
fn duration(value: &TypedExpr, name: &str) -> Result<i64> {
    let wrong = || {
        SparkError::new("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
            .with("sqlExpr", mismatch::quoted("window"))
            .with("inputName", format!("`{name}`"))
            .with("inputType", "\"STRING\"")
            .with("inputExpr", mismatch::quoted(&value.name))
    };
    let constant = constant::value_of(value)?.ok_or_else(wrong)?;
    if let ScalarValue::DurationMicrosecond(Some(micros)) = constant {
        return Ok(micros);
    }
    let (months, days, micros) = parse_calendar_interval(constant::text_of(&constant).ok_or_else(wrong)?)?;
    if months != 0 {
        return Err(SparkError::unsupported("windows of months"));
    }
    i64::from(days)
        .checked_mul(MICROS_PER_DAY)
        .and_then(|d| d.checked_add(micros))
        .ok_or_else(super::moment::long_overflow)
}

/// The length of windows, the distance of their starts, and where one starts.
fn durations(arguments: &[TypedExpr]) -> Result<(i64, i64, i64)> {
    let length = duration(&argument(arguments, 1)?, "window_duration")?;
    let slide = match argument(arguments, 2) {
        Ok(slide) => duration(&slide, "slide_duration")?,
        Err(_) => length,
    };
    let start = match argument(arguments, 3) {
        Ok(start) => duration(&start, "start_time")?,
        Err(_) => 0,
    };
    let time = argument(arguments, 0)?;
    let call = format!("window({}, {length}, {slide}, {start})", time.name);
    for (value, name) in [(length, "window_duration"), (slide, "slide_duration")] {
        if value <= 0 {
            return Err(SparkError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
                .with("sqlExpr", mismatch::quoted(&call))
                .with("exprName", format!("`{name}`"))
                .with("valueRange", "(0, 9223372036854775807]")
                .with("currentValue", format!("{value}L")));
        }
    }
    if slide > length {
        return Err(SparkError::new("DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("leftExprName", "`slide_duration`")
            .with("leftExprValue", format!("{slide}L"))
            .with("constraint", "<=")
            .with("rightExprName", "`window_duration`")
            .with("rightExprValue", format!("{length}L")));
    }
    Ok((length, slide, start))
}

fn window_rows(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<Generator> {
    let time = time_of(&argument(&arguments, 0)?, "window", context)?;
    let (length, slide, start) = durations(&arguments)?;
    let field = |name: &str| StructField::new(name, time.data_type.clone(), true);
    let window = DataType::struct_of(vec![field("start"), field("end")]);
    let columns = vec![StructField::new("window", window, slide != length)];
    let data_type = DataType::array(DataType::struct_of(columns.clone()), true);
    let payload = Some(Arc::from(format!("{length} {slide} {start}")));
    let arguments = [time];
    let expr =
        crate::kernel::call_with_payload(&WINDOW_ROWS, run_rows, &arguments, &data_type, true, context, payload)?;
    Ok(Generator { rows: TypedExpr::new(expr, data_type, true, ""), columns, is_outer: false })
}

/// The kernel of `window_rows`.
pub static WINDOW_ROWS_KERNEL: Function = kernel("window_rows", run_rows);

fn run_rows(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let payload = args.settings.payload.as_deref().unwrap_or_default();
    let numbers: Vec<i64> = payload.split(' ').filter_map(|n| n.parse().ok()).collect();
    let [length, slide, offset] = numbers.as_slice() else {
        return Err(SparkError::internal("windows without their length"));
    };
    let moments: Moments = Rows::of(args, 0)?;
    let (mut starts, mut ends, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..row_count(args) {
        let before = starts.len();
        if let Some(moment) = moments.get(row) {
            let mut start = moment - moment.wrapping_sub(*offset).rem_euclid(*slide);
            while let Some(end) = start.checked_add(*length).filter(|end| *end > moment) {
                starts.push(start);
                ends.push(end);
                match start.checked_sub(*slide) {
                    Some(next) => start = next,
                    None => break,
                }
            }
        }
        lengths.push(starts.len() - before);
    }
    let ArrowType::List(field) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("a generator makes arrays"));
    };
    let ArrowType::Struct(row) = field.data_type() else {
        return Err(SparkError::internal("a generator makes arrays of structs"));
    };
    let Some(ArrowType::Struct(window)) = row.first().map(|f| f.data_type()) else {
        return Err(SparkError::internal("a window is a struct"));
    };
    let moment_type = args.types.first().cloned().unwrap_or(DataType::Timestamp);
    let bounds = vec![
        labelled(TimestampMicrosecondArray::from(starts), &moment_type),
        labelled(TimestampMicrosecondArray::from(ends), &moment_type),
    ];
    let windows = StructArray::try_new(window.clone(), bounds, None).map_err(internal)?;
    let rows = StructArray::try_new(row.clone(), vec![Arc::new(windows)], None).map_err(internal)?;
    let nulls = NullBuffer::from_iter(lengths.iter().map(|l| *l > 0));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let list = ListArray::try_new(field, offsets, Arc::new(rows), Some(nulls)).map_err(internal)?;
    finish(args, Arc::new(list))
}

fn window(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let time = time_of(&argument(&arguments, 0)?, "window", context)?;
    let (length, slide, start) = durations(&arguments)?;
    if slide != length {
        return Err(SparkError::unsupported("window with a slide other than its length outside of GROUP BY"));
    }
    let field = |name: &str| StructField::new(name, time.data_type.clone(), time.nullable);
    let data_type = DataType::struct_of(vec![field("start"), field("end")]);
    let nullable = time.nullable;
    let payload = Some(Arc::from(format!("{length} {start}")));
    let arguments = [time];
    let expr = crate::kernel::call_with_payload(&WINDOW, run, &arguments, &data_type, nullable, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, nullable, "window"))
}

fn run(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let settings = args.settings.payload.as_deref().and_then(|p| p.split_once(' '));
    let (length, offset) = settings
        .and_then(|(length, start)| Some((length.parse::<i64>().ok()?, start.parse::<i64>().ok()?)))
        .ok_or_else(|| SparkError::internal("a window without its length"))?;
    let moments: Moments = Rows::of(args, 0)?;
    let rows = row_count(args);
    let starts: Vec<Option<i64>> =
        (0..rows).map(|row| moments.get(row).map(|m| m - m.wrapping_sub(offset).rem_euclid(length))).collect();
    let valid: Vec<bool> = starts.iter().map(Option::is_some).collect();
    let ends: TimestampMicrosecondArray = starts.iter().map(|s| s.and_then(|s| s.checked_add(length))).collect();
    let starts: TimestampMicrosecondArray = starts.into_iter().collect();
    let ArrowType::Struct(fields) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("a window is a struct"));
    };
    let moment_type = args.types.first().cloned().unwrap_or(DataType::Timestamp);
    let columns = vec![labelled(starts, &moment_type), labelled(ends, &moment_type)];
    let made = StructArray::try_new(fields, columns, Some(NullBuffer::from(valid))).map_err(internal)?;
    finish(args, Arc::new(made))
}

fn window_time(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let window = argument(&arguments, 0)?;
    let end = match &window.data_type {
        DataType::Struct(schema) => schema.fields.get(1).filter(|f| f.name == "end").map(|f| f.data_type.clone()),
        _ => None,
    };
    let Some(data_type) = end.filter(|t| matches!(t, DataType::Timestamp | DataType::TimestampNtz)) else {
        return Err(mismatch::unexpected_input("window_time(window)", 0, ArgType::Struct, &window));
    };
    let expr = crate::kernel::call(&WINDOW_TIME, last_moment, &[window], &data_type, true, context)?;
    Ok(TypedExpr::new(expr, data_type, true, ""))
}

fn last_moment(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (array, _) = array_or_constant(args, 0)?;
    let ends = column_of(downcast::<StructArray>(&array)?, 1)?;
    let ends = downcast::<TimestampMicrosecondArray>(&ends)?;
    let made: TimestampMicrosecondArray = ends.iter().map(|e| e.map(|e| e - 1)).collect();
    finish(args, labelled(made, args.return_type))
}
