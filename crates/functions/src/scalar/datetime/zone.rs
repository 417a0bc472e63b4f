//! Wall clocks of other time zones.

use super::moment::{Moments, argument, timestamps};
use crate::scalar::string::declare::{function, param, strict};
use crate::scalar::string::rows::{Rows, Texts};
use crate::{ArgType, Body, BuildContext, KernelArgs, Signature, TypedExpr};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, TimeZone};

const IN_ZONE: Signature = Signature::of(&[param("timestamp", ArgType::Timestamp), param("timezone", ArgType::String)]);

function! {
    /// `from_utc_timestamp(timestamp, zone)`
    FROM_UTC_TIMESTAMP = "from_utc_timestamp" in DateTime, IN_ZONE
        => strict(DataType::Timestamp, |args| shifted(args, Direction::FromUtc));
    usage "Reads a timestamp as one of UTC and shows it on the wall clock of a zone.";
    since "1.5.0";
    example "SELECT from_utc_timestamp('2016-08-31', 'Asia/Seoul')" => "2016-08-31 09:00:00";
}
function! {
    /// `to_utc_timestamp(timestamp, zone)`
    TO_UTC_TIMESTAMP = "to_utc_timestamp" in DateTime, IN_ZONE
        => strict(DataType::Timestamp, |args| shifted(args, Direction::ToUtc));
    usage "Reads a timestamp as one of a zone and shows it as one of UTC.";
    since "1.5.0";
    example "SELECT to_utc_timestamp('2016-08-31', 'Asia/Seoul')" => "2016-08-30 15:00:00";
}
function! {
    /// `convert_timezone([source zone,] target zone, timestamp)`
    CONVERT_TIMEZONE = "convert_timezone" in DateTime,
        Signature::with_optional(&[param("sourceTz", ArgType::Any), param("targetTz", ArgType::Any), param("sourceTs", ArgType::Any)], 1)
        => Body::Build(convert);
    text |a| if a.len() == 2 { format!("convert_timezone(current_timezone(), {}, {})", a[0], a[1]) }
        else { format!("convert_timezone({})", a.join(", ")) };
    usage "The wall clock's time of another zone.";
    since "3.4.0";
    example "SELECT convert_timezone('Europe/Brussels', 'America/Los_Angeles', timestamp_ntz'2021-12-06 00:00:00')" => "2021-12-05 15:00:00";
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    FromUtc,
    ToUtc,
}

/// The zone in each row; a constant is read once.
struct Zones {
    names: Texts,
    constant: Option<TimeZone>,
}

impl Zones {
    fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        let names: Texts = Rows::of(args, index)?;
        let constant = match names.constant() {
            Some(Some(name)) => Some(TimeZone::parse(name)?),
            _ => None,
        };
        Ok(Self { names, constant })
    }

    fn get(&self, row: usize) -> Result<Option<TimeZone>> {
        match self.constant {
            Some(zone) => Ok(Some(zone)),
            None => self.names.get(row).map(TimeZone::parse).transpose(),
        }
    }
}

fn overflow() -> SparkError {
    super::moment::long_overflow()
}

fn shifted(args: &KernelArgs<'_>, direction: Direction) -> Result<ColumnarValue> {
    let moments: Moments = Rows::of(args, 0)?;
    let zones = Zones::of(args, 1)?;
    timestamps(args, |row| {
        let (Some(moment), Some(zone)) = (moments.get(row), zones.get(row)?) else { return Ok(None) };
        match direction {
            Direction::FromUtc => Ok(Some(zone.to_local(moment))),
            Direction::ToUtc => zone.to_utc(moment).map(Some).ok_or_else(overflow),
        }
    })
}

fn convert(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = CONVERT_TIMEZONE.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    if arguments.len() == 2 {
        arguments.insert(0, context.call("current_timezone", Vec::new())?);
    }
    let wanted = [ArgType::String, ArgType::String, ArgType::TimestampNtz];
    let mut typed = Vec::with_capacity(3);
    for (index, wanted) in wanted.into_iter().enumerate() {
        let value = argument(&arguments, index)?;
        typed.push(crate::coercion::coerce_argument(value, wanted, index, &call, context)?);
    }
    let nullable = typed.iter().any(|t| t.nullable);
    let data_type = DataType::TimestampNtz;
    let expr = crate::kernel::call(&CONVERT_TIMEZONE, converted, &typed, &data_type, nullable, context)?;
    Ok(TypedExpr::new(expr, data_type, nullable, call))
}

fn converted(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (from, to) = (Zones::of(args, 0)?, Zones::of(args, 1)?);
    let moments: Moments = Rows::of(args, 2)?;
    timestamps(args, |row| {
        let (Some(from), Some(to), Some(local)) = (from.get(row)?, to.get(row)?, moments.get(row)) else {
            return Ok(None);
        };
        from.to_utc(local).map(|moment| Some(to.to_local(moment))).ok_or_else(overflow)
    })
}
