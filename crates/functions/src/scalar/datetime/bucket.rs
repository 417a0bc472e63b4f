//! `time_bucket`: timestamps cut to multiples of an interval.

use super::moment::{Moments, argument, long_overflow, timestamps, zone_of};
use crate::cast::{Mode, cast};
use crate::coercion::{coerce_argument, mismatch};
use crate::kernel::kernel;
use crate::scalar::array::typing::unexpected;
use crate::scalar::string::constant;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::Rows;
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{DurationMicrosecondArray, IntervalYearMonthArray};
use datafusion::logical_expr::ColumnarValue;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::calendar::{MICROS_PER_DAY, add_months, civil_from_days};
use firesteel_types::{DataType, TimeZone};

const INTERVALS: &str = "(\"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\")";
const TIMESTAMPS: &str = "\"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)\"";

function! {
    /// `time_bucket(bucketSize, ts[, origin])`
    TIME_BUCKET = "time_bucket" in DateTime,
        Signature::with_optional(
            &[param("bucketSize", ArgType::Any), param("ts", ArgType::Any), param("origin", ArgType::Any)],
            1,
        )
        => Body::Named(build);
    usage "The start of the bucket that a timestamp falls into; buckets are an interval long and one of them starts at the origin.";
    since "4.2.0";
    example "SELECT time_bucket(INTERVAL '1' HOUR, TIMESTAMP '2024-01-01 11:27:00')" => "2024-01-01 11:00:00";
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (size, moment) = (argument(&arguments, 0)?, argument(&arguments, 1)?);
    let is_local = moment.data_type == DataType::TimestampNtz;
    let data_type = if is_local { DataType::TimestampNtz } else { DataType::Timestamp };
    let origin = match argument(&arguments, 2) {
        Ok(origin) => origin,
        Err(_) => {
            let kind = if is_local { "TIMESTAMP_NTZ" } else { "TIMESTAMP" };
            let text = TypedExpr::new(
                datafusion::logical_expr::lit("1970-01-01 00:00:00"),
                DataType::STRING,
                false,
                String::new(),
            );
            let made = cast(text, &data_type, Mode::Ansi, context)?;
            TypedExpr { nullable: false, ..made }.named(format!("{kind} '1970-01-01 00:00:00'"))
        }
    };
    let call = TIME_BUCKET.call_text(&[size.name.clone(), moment.name.clone(), origin.name.clone()]);
    if !size.data_type.is_ansi_interval() && !size.data_type.is_null() {
        return Err(unexpected(&call, 0, INTERVALS, &size));
    }
    if !matches!(moment.data_type, DataType::Timestamp | DataType::TimestampNtz | DataType::Null) {
        return Err(unexpected(&call, 1, TIMESTAMPS, &moment));
    }
    if origin.data_type != data_type && !origin.data_type.is_null() {
        return Err(unexpected(&call, 2, mismatch::quoted_type(&data_type), &origin));
    }
    for (value, name) in [(&size, "bucketSize"), (&origin, "origin")] {
        if !value.is_foldable() {
            return Err(constant::not_foldable(value, &call, name, &value.data_type.sql()));
        }
    }
    let is_positive = match constant::value_of(&size)? {
        Some(ScalarValue::DurationMicrosecond(Some(micros))) => micros > 0,
        Some(ScalarValue::IntervalYearMonth(Some(months))) => months > 0,
        _ => true,
    };
    if !is_positive {
        return Err(SparkError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("exprName", "`bucketSize`")
            .with("valueRange", "(0, inf)")
            .with("currentValue", size.name.clone()));
    }
    let wanted = if is_local { ArgType::TimestampNtz } else { ArgType::Timestamp };
    let size = if size.data_type.is_null() { cast(size, &DataType::DAY_TIME, Mode::Ansi, context)? } else { size };
    let moment = coerce_argument(moment, wanted, 1, &call, context)?;
    let origin = coerce_argument(origin, wanted, 2, &call, context)?;
    let nullable = size.nullable || moment.nullable || origin.nullable;
    let arguments = [size, moment, origin];
    let expr = crate::kernel::call(&TIME_BUCKET, bucket, &arguments, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, call))
}

/// The kernel of `time_bucket`.
pub static BUCKET_KERNEL: Function = kernel("time_bucket", bucket);

/// A bucket's length.
enum Size {
    Micros(Rows<DurationMicrosecondArray>),
    Months(Rows<IntervalYearMonthArray>),
}

fn bucket(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let size = match args.types.first() {
        Some(DataType::YearMonthInterval(..)) => Size::Months(Rows::of(args, 0)?),
        _ => Size::Micros(Rows::of(args, 0)?),
    };
    let (moments, origins): (Moments, Moments) = (Rows::of(args, 1)?, Rows::of(args, 2)?);
    let zone = zone_of(args, 1)?;
    timestamps(args, |row| {
        let (Some(moment), Some(origin)) = (moments.get(row), origins.get(row)) else { return Ok(None) };
        let start = match &size {
            Size::Micros(sizes) => match sizes.get(row) {
                Some(micros) => by_micros(moment, origin, micros, zone),
                None => return Ok(None),
            },
            Size::Months(sizes) => match sizes.get(row) {
                Some(months) => by_months(moment, origin, i64::from(months), zone),
                None => return Ok(None),
            },
        };
        start.map(Some).ok_or_else(long_overflow)
    })
}

/// Intervals of a day and more are counted on the clock of the zone; shorter ones are time that passes.
fn by_micros(moment: i64, origin: i64, size: i64, zone: TimeZone) -> Option<i64> {
    let cut = |moment: i64, origin: i64| {
        let distance = i128::from(moment) - i128::from(origin);
        let start = i128::from(origin) + distance.div_euclid(i128::from(size)) * i128::from(size);
        // The bucket's end must be a timestamp, too.
        i64::try_from(start + i128::from(size)).ok()?;
        i64::try_from(start).ok()
    };
    if size < MICROS_PER_DAY {
        return cut(moment, origin);
    }
    zone.to_utc(cut(zone.to_local(moment), zone.to_local(origin))?)
}

fn by_months(moment: i64, origin: i64, size: i64, zone: TimeZone) -> Option<i64> {
    let (local, origin) = (zone.to_local(moment), zone.to_local(origin));
    let month_of = |local: i64| {
        let (year, month, _) = civil_from_days(local.div_euclid(MICROS_PER_DAY));
        year * 12 + i64::from(month)
    };
    let after = |months: i64| {
        let day = add_months(origin.div_euclid(MICROS_PER_DAY), months);
        day.checked_mul(MICROS_PER_DAY)?.checked_add(origin.rem_euclid(MICROS_PER_DAY))
    };
    let count = (month_of(local) - month_of(origin)).div_euclid(size);
    let start = after(count * size)?;
    let start = if start > local { after((count - 1) * size)? } else { start };
    zone.to_utc(start)
}
