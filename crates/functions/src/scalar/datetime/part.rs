//! `date_part`, `datepart` and `extract`: a field by its name.

use super::field::{DAY, DAYOFWEEK, DAYOFYEAR, HOUR, MINUTE, MONTH, QUARTER, WEEKDAY, WEEKOFYEAR, YEAR, YEAR_OF_WEEK};
use super::moment::{Moments, argument, zone_of};
use crate::coercion::{coerce_argument, implicitly, mismatch};
use crate::function::Group;
use crate::kernel::kernel;
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{Rows, finish, internal, primitives, row_count};
use crate::{ArgType, Body, BuildContext, Documentation, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{
    Decimal128Array, DurationMicrosecondArray, IntervalMonthDayNanoArray, IntervalYearMonthArray, Time64NanosecondArray,
};
use arrow::datatypes::{Int8Type, Int32Type};
use datafusion::logical_expr::{ColumnarValue, Expr};
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE};
use std::sync::Arc;

const FIELD_OF: Signature = Signature::of(&[param("field", ArgType::Any), param("source", ArgType::Any)]);

function! {
    /// `date_part(field, source)`
    DATE_PART = "date_part" in DateTime, FIELD_OF => Body::Build(build);
    usage "A field of a date, a timestamp, a time or an interval, by its name.";
    since "3.0.0";
    example "SELECT date_part('YEAR', TIMESTAMP '2019-08-12 01:00:00.123456')" => "2019";
    example "SELECT date_part('seconds', timestamp'2019-10-01 00:00:01.000001')" => "1.000001";
}
function! {
    /// `datepart(field, source)`
    DATEPART = "datepart" in DateTime, FIELD_OF => Body::Build(build);
    text |a| format!("datepart({} FROM {})", a[0], a[1]);
    usage "A field of a date, a timestamp, a time or an interval, by its name.";
    since "3.4.0";
    example "SELECT datepart('YEAR', TIMESTAMP '2019-08-12 01:00:00.123456')" => "2019";
}
function! {
    /// `EXTRACT(field FROM source)`
    EXTRACT = "extract" in DateTime, FIELD_OF => Body::Build(build);
    text |a| format!("extract({} FROM {})", a[0], a[1]);
    usage "A field of a date, a timestamp, a time or an interval.";
    since "3.0.0";
    example "SELECT extract(YEAR FROM TIMESTAMP '2019-08-12 01:00:00.123456')" => "2019";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] =
    &[&kernel("second_with_fraction", seconds_kernel), &kernel("interval_field", interval_kernel)];

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (field, source) = (argument(&arguments, 0)?, argument(&arguments, 1)?);
    let value = constant::value_of(&field)?.ok_or_else(|| {
        mismatch::not_foldable(
            &DATE_PART.call_text(&[field.name.clone(), source.name.clone()]),
            "field",
            ArgType::String,
            &field,
        )
    })?;
    if value.is_null() {
        return Ok(TypedExpr::new(Expr::Literal(ScalarValue::Float64(None), None), DataType::Double, true, ""));
    }
    let name = constant::text_of(&value).unwrap_or_default().to_string();
    let upper = name.to_uppercase();
    if source.data_type.is_ansi_interval() || source.data_type == DataType::CalendarInterval {
        return interval_field(context, &name, &upper, source);
    }
    let is_time = matches!(source.data_type, DataType::Time(_));
    let function: &'static Function = match upper.as_str() {
        _ if is_time => match upper.as_str() {
            "HOUR" | "H" | "HOURS" | "HR" | "HRS" => &HOUR,
            "MINUTE" | "M" | "MIN" | "MINS" | "MINUTES" => &MINUTE,
            "SECOND" | "S" | "SEC" | "SECONDS" | "SECS" => return seconds(context, source),
            _ => return Err(unknown(&name, &source)),
        },
        "YEAR" | "Y" | "YEARS" | "YR" | "YRS" => &YEAR,
        "YEAROFWEEK" => &YEAR_OF_WEEK,
        "QUARTER" | "QTR" => &QUARTER,
        "MONTH" | "MON" | "MONS" | "MONTHS" => &MONTH,
        "WEEK" | "W" | "WEEKS" => &WEEKOFYEAR,
        "DAY" | "D" | "DAYS" => &DAY,
        "DAYOFWEEK" | "DOW" => &DAYOFWEEK,
        "DAYOFWEEK_ISO" | "DOW_ISO" => {
            let day = WEEKDAY.build(context, vec![source])?;
            let one = TypedExpr::new(datafusion::logical_expr::lit(1_i32), DataType::Integer, false, "1");
            return context.call("+", vec![day, one]);
        }
        "DOY" => &DAYOFYEAR,
        "HOUR" | "H" | "HOURS" | "HR" | "HRS" => &HOUR,
        "MINUTE" | "M" | "MIN" | "MINS" | "MINUTES" => &MINUTE,
        "SECOND" | "S" | "SEC" | "SECONDS" | "SECS" => return seconds(context, source),
        _ => return Err(unknown(&name, &source)),
    };
    function.build(context, vec![source])
}

fn unknown(name: &str, source: &TypedExpr) -> SparkError {
    SparkError::new("INVALID_EXTRACT_FIELD")
        .with("field", format!("`{name}`"))
        .with("expr", mismatch::quoted(&source.name))
}

/// Seconds with their fraction.
const SECONDS: DataType = DataType::Decimal(8, 6);

const fn hidden(name: &'static str) -> Function {
    Function {
        name,
        aliases: &[],
        group: Group::DateTime,
        signature: Signature::NONE,
        body: Body::Build(|_, _| Err(SparkError::internal("a kernel is no function"))),
        deterministic: true,
        text: None,
        documentation: Documentation::EMPTY,
    }
}

static SECOND_WITH_FRACTION: Function = hidden("second_with_fraction");
static INTERVAL_FIELD: Function = hidden("interval_field");

fn seconds(context: &mut BuildContext<'_>, source: TypedExpr) -> Result<TypedExpr> {
    let source = match source.data_type {
        DataType::Time(_) => {
            super::time::check_enabled(context)?;
            source
        }
        DataType::Date => implicitly(source, &DataType::Timestamp, context)?,
        _ => {
            let call = format!("secondwithfraction({})", source.name);
            coerce_argument(source, ArgType::AnyTimestamp, 0, &call, context)?
        }
    };
    let nullable = source.nullable;
    let expr = crate::kernel::call(&SECOND_WITH_FRACTION, seconds_kernel, &[source], &SECONDS, nullable, context)?;
    Ok(TypedExpr::new(expr, SECONDS, nullable, ""))
}

fn seconds_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let decimals = |array: Decimal128Array| -> Result<ColumnarValue> {
        finish(args, Arc::new(array.with_precision_and_scale(8, 6).map_err(internal)?))
    };
    let count = row_count(args);
    if matches!(args.types.first(), Some(DataType::Time(_))) {
        let times: Rows<Time64NanosecondArray> = Rows::of(args, 0)?;
        return decimals((0..count).map(|r| times.get(r).map(|t| i128::from(t / 1000 % MICROS_PER_MINUTE))).collect());
    }
    let moments: Moments = Rows::of(args, 0)?;
    let mut zone = zone_of(args, 0)?.cursor();
    decimals(
        (0..count)
            .map(|r| moments.get(r).map(|m| i128::from(zone.to_local(m).rem_euclid(MICROS_PER_MINUTE))))
            .collect(),
    )
}

/// Fields of intervals with the types of their values.
fn interval_field(context: &mut BuildContext<'_>, name: &str, upper: &str, source: TypedExpr) -> Result<TypedExpr> {
    let (months, days) = (
        matches!(source.data_type, DataType::YearMonthInterval(..) | DataType::CalendarInterval),
        matches!(source.data_type, DataType::DayTimeInterval(..) | DataType::CalendarInterval),
    );
    let (field, data_type) = match upper {
        "YEAR" | "Y" | "YEARS" | "YR" | "YRS" if months => ("year", DataType::Integer),
        "QUARTER" | "QTR" if source.data_type == DataType::CalendarInterval => ("quarter", DataType::Byte),
        "MONTH" | "MON" | "MONS" | "MONTHS" if months => ("month", DataType::Byte),
        "WEEK" | "W" | "WEEKS" if source.data_type == DataType::CalendarInterval => ("week", DataType::Integer),
        "DAY" | "D" | "DAYS" if days => ("day", DataType::Integer),
        "HOUR" | "H" | "HOURS" | "HR" | "HRS" if days => ("hour", DataType::Byte),
        "MINUTE" | "M" | "MIN" | "MINS" | "MINUTES" if days => ("minute", DataType::Byte),
        "SECOND" | "S" | "SEC" | "SECONDS" | "SECS" if days => ("second", SECONDS),
        _ => return Err(unknown(name, &source)),
    };
    let nullable = source.nullable;
    let payload = Some(Arc::from(field));
    let expr = crate::kernel::call_with_payload(
        &INTERVAL_FIELD,
        interval_kernel,
        &[source],
        &data_type,
        nullable,
        context,
        payload,
    )?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

fn interval_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let field = args.settings.payload.clone().unwrap_or_else(|| Arc::from(""));
    type Parts = Box<dyn Fn(usize) -> Option<(i64, i64, i64)>>;
    let parts: Parts = match args.types.first() {
        Some(DataType::YearMonthInterval(..)) => {
            let rows: Rows<IntervalYearMonthArray> = Rows::of(args, 0)?;
            Box::new(move |row| rows.get(row).map(|months| (i64::from(months), 0, 0)))
        }
        Some(DataType::DayTimeInterval(..)) => {
            let rows: Rows<DurationMicrosecondArray> = Rows::of(args, 0)?;
            Box::new(move |row| rows.get(row).map(|m| (0, m / MICROS_PER_DAY, m % MICROS_PER_DAY)))
        }
        _ => {
            let rows: Rows<IntervalMonthDayNanoArray> = Rows::of(args, 0)?;
            Box::new(move |row| rows.get(row).map(|i| (i64::from(i.months), i64::from(i.days), i.nanoseconds / 1000)))
        }
    };
    let value = |row: usize| {
        parts(row).map(|(months, days, micros)| match field.as_ref() {
            "year" => months / 12,
            "quarter" => months % 12 / 3 + 1,
            "month" => months % 12,
            "week" => days / 7,
            "day" => days,
            "hour" => micros / MICROS_PER_HOUR,
            "minute" => micros / MICROS_PER_MINUTE % 60,
            _ => micros % MICROS_PER_MINUTE,
        })
    };
    match args.return_type {
        DataType::Integer => primitives::<Int32Type>(args, |row| Ok(value(row).map(|v| v as i32))),
        DataType::Byte => primitives::<Int8Type>(args, |row| Ok(value(row).map(|v| v as i8))),
        _ => {
            let array: Decimal128Array = (0..row_count(args)).map(|row| value(row).map(i128::from)).collect();
            finish(args, Arc::new(array.with_precision_and_scale(8, 6).map_err(internal)?))
        }
    }
}
