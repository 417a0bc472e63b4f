//! Arithmetic of dates and timestamps.

use super::Operation;
use super::evaluation::{self, Evaluation, Operand, finish, kernel, payload, rows};
use super::{arithmetic::implicitly, interval, sign, time};
use crate::coercion::mismatch;
use crate::scalar::datetime::time::check_enabled;
use crate::{BuildContext, Function, KernelArgs, TypedExpr};
use arrow::array::{Array, ArrayRef, PrimitiveArray};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, DurationMicrosecondType, Int8Type, Int16Type, Int32Type, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType, TimestampMicrosecondType,
};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::calendar::{MICROS_PER_DAY, MICROS_PER_SECOND, add_months};
use firesteel_types::{DataType, DayTimeField, TimeZone, arrow_mapping};
use std::sync::Arc;

/// A date and a number of days.
pub static DATE_ADD: Function = kernel("date_arithmetic", date_add);
/// A timestamp and an interval of any kind.
pub static TIMESTAMP_ADD: Function = kernel("timestamp_arithmetic", timestamp_add);
/// A date and an interval of months, or of months and days.
pub static DATE_ADD_INTERVAL: Function = kernel("date_interval_arithmetic", date_add_interval);
/// Two dates, or two timestamps of one type.
pub static DATETIME_DIFFERENCE: Function = kernel("datetime_difference", difference);

const TIMESTAMPS: &str = "\"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)\"";
const DAYS: &str = "(\"INT\" or \"SMALLINT\" or \"TINYINT\")";

fn unexpected(call: &str, position: &str, wanted: &str, input: &TypedExpr) -> SparkError {
    SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .with("sqlExpr", mismatch::quoted(call))
        .with("paramIndex", position)
        .with("requiredType", wanted)
        .with("inputSql", mismatch::quoted(&input.name))
        .with("inputType", mismatch::quoted_type(&input.data_type))
}

/// What one operation is built with.
struct Builder<'a, 'b> {
    operation: Operation,
    evaluation: Evaluation,
    call: &'a str,
    context: &'a mut BuildContext<'b>,
}

/// The operation, where a date, a timestamp or an interval beside a number takes part in it.
pub(super) fn resolve(
    operation: Operation,
    evaluation: Evaluation,
    left: &TypedExpr,
    right: &TypedExpr,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<Option<TypedExpr>> {
    let mut builder = Builder { operation, evaluation, call, context };
    match operation {
        Operation::Add => builder.add(left, right),
        Operation::Subtract => builder.subtract(left, right),
        Operation::Multiply if is_interval(&left.data_type) => builder.scale(left, right).map(Some),
        Operation::Multiply if is_interval(&right.data_type) => builder.scale(right, left).map(Some),
        Operation::Divide if is_interval(&left.data_type) => builder.scale(left, right).map(Some),
        _ => Ok(None),
    }
}

fn is_interval(data_type: &DataType) -> bool {
    data_type.is_ansi_interval() || *data_type == DataType::CalendarInterval
}

/// An interval of whole days only.
const DAY: DataType = DataType::DayTimeInterval(DayTimeField::Day, DayTimeField::Day);

impl Builder<'_, '_> {
    /// What `+` means:
    ///
    /// | left                   | right                  | result                        |
    /// |------------------------|------------------------|-------------------------------|
    /// | date                   | interval day           | date                          |
    /// | date                   | other day-time interval| timestamp                     |
    /// | date                   | year-month, interval   | date                          |
    /// | timestamp              | any interval           | timestamp                     |
    /// | date                   | int                    | date                          |
    /// | anything               | day-time, interval     | as a timestamp, cast back     |
    fn add(&mut self, left: &TypedExpr, right: &TypedExpr) -> Result<Option<TypedExpr>> {
        use DataType as T;
        let (l, r) = (&left.data_type, &right.data_type);
        match (l, r) {
            (T::CalendarInterval, T::CalendarInterval) | (T::DayTimeInterval(..), T::DayTimeInterval(..)) => Ok(None),
            (T::Null, t) if t.is_ansi_interval() => Ok(None),
            (t, T::Null) if t.is_ansi_interval() => Ok(None),
            _ => match self.moved(left, right)? {
                Some(moved) => Ok(Some(moved)),
                None => self.moved(right, left),
            },
        }
    }

    fn moved(&mut self, start: &TypedExpr, by: &TypedExpr) -> Result<Option<TypedExpr>> {
        use DataType as T;
        let made = match (&start.data_type, &by.data_type) {
            (T::Date, t) if *t == DAY => self.date_by_days(start, by, false)?,
            (T::Date, T::DayTimeInterval(..)) => {
                let start = implicitly(self.evaluation, start.clone(), &T::Timestamp, self.context)?;
                self.timestamp_by(&start, by)?
            }
            (T::Date, T::YearMonthInterval(..) | T::CalendarInterval) => self.date_by_interval(start, by)?,
            (T::Timestamp | T::TimestampNtz, T::YearMonthInterval(..)) => self.timestamp_by(start, by)?,
            (T::Time(_), T::DayTimeInterval(..)) => self.time_by(start, by)?,
            (_, T::CalendarInterval | T::DayTimeInterval(..)) => self.anything_by(start, by)?,
            (T::Date, T::Null) => self.null_of(&T::Timestamp)?,
            (T::Timestamp | T::TimestampNtz, T::Null) => self.null_of(&start.data_type)?,
            (T::Date, t) if self.operation == Operation::Add && !t.is_ansi_interval() => {
                if t.is_string() {
                    return self.date_by_string(start, by).map(Some);
                }
                self.date_by_number(start, by, "date_add")?
            }
            _ => return Ok(None),
        };
        Ok(Some(made))
    }

    /// What `-` means, besides what `+` does with the interval turned round: differences
    /// of dates are `interval day`, of timestamps `interval day to second`.
    fn subtract(&mut self, left: &TypedExpr, right: &TypedExpr) -> Result<Option<TypedExpr>> {
        use DataType as T;
        let (l, r) = (&left.data_type, &right.data_type);
        let made = match (l, r) {
            (T::CalendarInterval, T::CalendarInterval) | (T::DayTimeInterval(..), T::DayTimeInterval(..)) => {
                return Ok(None);
            }
            (T::Null, t) if t.is_ansi_interval() => return Ok(None),
            (T::Date, t) if *t == DAY => self.date_by_days(left, right, true)?,
            (T::Time(_), T::DayTimeInterval(..)) => self.time_by(left, right)?,
            (T::Time(_), T::Time(_)) => {
                check_enabled(self.context)?;
                let hours = T::DayTimeInterval(DayTimeField::Hour, DayTimeField::Second);
                self.make(&time::TIME_DIFFERENCE, Operation::Subtract, &[left.clone(), right.clone()], hours, true)?
            }
            (T::Date, T::DayTimeInterval(..) | T::YearMonthInterval(..) | T::CalendarInterval)
            | (T::Timestamp | T::TimestampNtz, T::YearMonthInterval(..))
            | (_, T::CalendarInterval | T::DayTimeInterval(..)) => {
                let turned = sign::negative(right.clone(), self.context)?.named(&right.name);
                return self.moved(left, &turned);
            }
            (T::Timestamp | T::TimestampNtz, _) | (_, T::Timestamp | T::TimestampNtz) => {
                self.timestamps_apart(left, right)?
            }
            (_, T::Date) => self.dates_apart(left, right)?,
            (T::Date, T::Null) => self.null_of(&DAY)?,
            (T::Date, t) if t.is_string() => {
                if self.context.conf.ansi_enabled {
                    self.dates_apart(left, right)?
                } else {
                    let number = implicitly(self.evaluation, right.clone(), &T::Double, self.context)?;
                    return Err(self.wrong_days("date_sub", left, &number));
                }
            }
            (T::Date, _) => self.date_by_number(left, right, "date_sub")?,
            _ => return Ok(None),
        };
        Ok(Some(made))
    }

    fn make(
        &mut self,
        function: &Function,
        operation: Operation,
        arguments: &[TypedExpr],
        data_type: DataType,
        nullable: bool,
    ) -> Result<TypedExpr> {
        let nullable = nullable || arguments.iter().any(|a| a.nullable) || self.evaluation == Evaluation::Try;
        let expr =
            evaluation::call(function, operation, self.evaluation, arguments, &data_type, nullable, self.context)?;
        Ok(TypedExpr::new(expr, data_type, nullable, self.call))
    }

    fn null_of(&mut self, data_type: &DataType) -> Result<TypedExpr> {
        let value = datafusion::scalar::ScalarValue::try_from(&arrow_mapping::to_arrow(data_type))
            .map_err(|e| SparkError::internal(e.to_string()))?;
        Ok(TypedExpr::new(datafusion::logical_expr::Expr::Literal(value, None), data_type.clone(), true, self.call))
    }

    fn date_by_days(&mut self, date: &TypedExpr, days: &TypedExpr, back: bool) -> Result<TypedExpr> {
        let operation = if back { Operation::Subtract } else { Operation::Add };
        self.make(&DATE_ADD, operation, &[date.clone(), days.clone()], DataType::Date, false)
    }

    fn wrong_days(&self, function: &str, date: &TypedExpr, days: &TypedExpr) -> SparkError {
        let call = format!("{function}({}, {})", date.name, days.name);
        unexpected(&call, "second", DAYS, days)
    }

    fn date_by_number(&mut self, date: &TypedExpr, days: &TypedExpr, function: &str) -> Result<TypedExpr> {
        if !matches!(days.data_type, DataType::Integer | DataType::Short | DataType::Byte) {
            return Err(self.wrong_days(function, date, days));
        }
        let operation = if function == "date_sub" { Operation::Subtract } else { Operation::Add };
        self.make(&DATE_ADD, operation, &[date.clone(), days.clone()], DataType::Date, false)
    }

    /// A string beside a date was cast before it was found to be wrong.
    fn date_by_string(&mut self, date: &TypedExpr, text: &TypedExpr) -> Result<TypedExpr> {
        let to = if self.context.conf.ansi_enabled { DataType::Date } else { DataType::Double };
        let text = TypedExpr { data_type: to, ..text.clone() };
        Err(self.wrong_days("date_add", date, &text))
    }

    fn date_by_interval(&mut self, date: &TypedExpr, interval: &TypedExpr) -> Result<TypedExpr> {
        let arguments = [date.clone(), interval.clone()];
        self.make(&DATE_ADD_INTERVAL, Operation::Add, &arguments, DataType::Date, false)
    }

    fn timestamp_by(&mut self, start: &TypedExpr, interval: &TypedExpr) -> Result<TypedExpr> {
        let data_type = start.data_type.clone();
        self.make(&TIMESTAMP_ADD, Operation::Add, &[start.clone(), interval.clone()], data_type, false)
    }

    /// A time of day moved within its day; the time comes first in the text.
    fn time_by(&mut self, start: &TypedExpr, interval: &TypedExpr) -> Result<TypedExpr> {
        check_enabled(self.context)?;
        let operation = self.operation;
        let made =
            self.make(&time::TIME_ADD, operation, &[start.clone(), interval.clone()], DataType::Time(6), true)?;
        Ok(made.named(format!("{} {} {}", start.name, operation.sign(), interval.name)))
    }

    /// Strings are cast to timestamps and the result back to a string; other types are refused.
    fn anything_by(&mut self, start: &TypedExpr, interval: &TypedExpr) -> Result<TypedExpr> {
        use DataType as T;
        match &start.data_type {
            T::Timestamp | T::TimestampNtz => self.timestamp_by(start, interval),
            T::Null => self.null_of(&interval.data_type),
            t if t.is_string() => {
                let moment = implicitly(self.evaluation, start.clone(), &T::Timestamp, self.context)?;
                let moved = self.timestamp_by(&moment, interval)?;
                implicitly(self.evaluation, moved, t, self.context)
            }
            _ => {
                let call = match self.operation {
                    Operation::Subtract => format!("{} + (- {})", start.name, interval.name),
                    _ => format!("{} + {}", start.name, interval.name),
                };
                Err(unexpected(&call, "first", TIMESTAMPS, start))
            }
        }
    }

    fn timestamps_apart(&mut self, left: &TypedExpr, right: &TypedExpr) -> Result<TypedExpr> {
        use DataType as T;
        let ansi = self.context.conf.ansi_enabled;
        let (l, r) = (&left.data_type, &right.data_type);
        let usable = |t: &T| t.is_datetime() || t.is_null() || (ansi && t.is_string());
        if !usable(l) {
            return Err(unexpected(self.call, "first", TIMESTAMPS, left));
        }
        if !usable(r) {
            return Err(unexpected(self.call, "second", TIMESTAMPS, right));
        }
        let common = match (l, r) {
            (T::TimestampNtz, T::TimestampNtz | T::Date | T::Null) | (T::Date | T::Null, T::TimestampNtz) => {
                T::TimestampNtz
            }
            (T::TimestampNtz, t) | (t, T::TimestampNtz) if t.is_string() => T::TimestampNtz,
            _ => T::Timestamp,
        };
        let left = implicitly(self.evaluation, left.clone(), &common, self.context)?;
        let right = implicitly(self.evaluation, right.clone(), &common, self.context)?;
        self.make(&DATETIME_DIFFERENCE, Operation::Subtract, &[left, right], T::DAY_TIME, false)
    }

    fn dates_apart(&mut self, left: &TypedExpr, right: &TypedExpr) -> Result<TypedExpr> {
        let as_date = |value: &TypedExpr, position: &str, builder: &mut Self| match &value.data_type {
            t if t.is_string() || t.is_null() || *t == DataType::Date => {
                implicitly(builder.evaluation, value.clone(), &DataType::Date, builder.context)
            }
            _ => Err(unexpected(builder.call, position, "\"DATE\"", value)),
        };
        let left = as_date(left, "first", self)?;
        let right = as_date(right, "second", self)?;
        self.make(&DATETIME_DIFFERENCE, Operation::Subtract, &[left, right], DAY, false)
    }

    fn scale(&mut self, interval: &TypedExpr, number: &TypedExpr) -> Result<TypedExpr> {
        let calendar = interval.data_type == DataType::CalendarInterval;
        let t = &number.data_type;
        if !(t.is_numeric() || t.is_string() || t.is_null()) {
            let sign = self.operation.sign();
            let (call, wanted) = match (calendar, self.operation) {
                (true, Operation::Divide) => {
                    (format!("divide_interval({}, {})", interval.name, number.name), "\"DOUBLE\"")
                }
                (true, _) => (format!("multiply_interval({}, {})", interval.name, number.name), "\"DOUBLE\""),
                _ => (format!("({} {sign} {})", interval.name, number.name), "\"NUMERIC\""),
            };
            return Err(unexpected(&call, "second", wanted, number));
        }
        let number = if calendar || t.is_string() || t.is_null() {
            implicitly(self.evaluation, number.clone(), &DataType::Double, self.context)?
        } else {
            number.clone()
        };
        let made = interval::scale(self.operation, self.evaluation, interval, &number, self.context)?;
        Ok(made.named(self.call))
    }
}

fn typed<A: 'static>(array: &ArrayRef) -> Result<&A> {
    array.as_any().downcast_ref().ok_or_else(|| SparkError::internal(format!("{} was not expected", array.data_type())))
}

/// What an operand's interval adds to a time.
enum Step<'a> {
    Bytes(&'a PrimitiveArray<Int8Type>),
    Shorts(&'a PrimitiveArray<Int16Type>),
    Integers(&'a PrimitiveArray<Int32Type>),
    DayTime(&'a PrimitiveArray<DurationMicrosecondType>),
    YearMonth(&'a PrimitiveArray<IntervalYearMonthType>),
    Calendar(&'a PrimitiveArray<IntervalMonthDayNanoType>),
}

impl<'a> Step<'a> {
    fn new(operand: &'a Operand) -> Result<Self> {
        let array = &operand.array;
        Ok(match array.data_type() {
            ArrowType::Int8 => Self::Bytes(typed(array)?),
            ArrowType::Int16 => Self::Shorts(typed(array)?),
            ArrowType::Int32 => Self::Integers(typed(array)?),
            ArrowType::Duration(_) => Self::DayTime(typed(array)?),
            ArrowType::Interval(IntervalUnit::YearMonth) => Self::YearMonth(typed(array)?),
            _ => Self::Calendar(typed(array)?),
        })
    }

    /// Months, days and microseconds of a row.
    fn value(&self, row: usize) -> (i64, i64, i64) {
        match self {
            Self::Bytes(a) => (0, i64::from(a.value(row)), 0),
            Self::Shorts(a) => (0, i64::from(a.value(row)), 0),
            Self::Integers(a) => (0, i64::from(a.value(row)), 0),
            Self::DayTime(a) => {
                let micros = a.value(row);
                (0, micros / MICROS_PER_DAY, micros % MICROS_PER_DAY)
            }
            Self::YearMonth(a) => (i64::from(a.value(row)), 0, 0),
            Self::Calendar(a) => {
                let IntervalMonthDayNano { months, days, nanoseconds } = a.value(row);
                (i64::from(months), i64::from(days), nanoseconds / 1000)
            }
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
fn date_add(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (operation, _) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let dates = typed::<PrimitiveArray<Date32Type>>(&left.array)?;
    let steps = Step::new(&right)?;
    let rows = rows(&[&left, &right], args);
    let mut out = PrimitiveArray::<Date32Type>::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
            continue;
        }
        let days = steps.value(right.at(row)).1 as i32;
        let date = dates.value(left.at(row));
        out.append_value(if operation == Operation::Subtract {
            date.wrapping_sub(days)
        } else {
            date.wrapping_add(days)
        });
    }
    finish(Arc::new(out.finish()), &[&left, &right])
}

/// The moment of a wall-clock time; of two it is the one at the given offset, if either is.
fn near(zone: TimeZone, local: i64, offset: i32) -> Option<i64> {
    let moment = local.checked_sub(i64::from(offset) * MICROS_PER_SECOND)?;
    if zone.offset_at(moment.div_euclid(MICROS_PER_SECOND)) == offset { Some(moment) } else { zone.to_utc(local) }
}

/// A moment moved on the wall clock by months and days, then by microseconds.
pub fn move_timestamp(start: i64, (months, days, micros): (i64, i64, i64), zone: TimeZone) -> Option<i64> {
    if months == 0 && days == 0 {
        return start.checked_add(micros);
    }
    let offset = zone.offset_at(start.div_euclid(MICROS_PER_SECOND));
    let local = zone.to_local(start);
    let mut day = local.div_euclid(MICROS_PER_DAY);
    if months != 0 {
        day = add_months(day, months);
    }
    let local = day.checked_add(days)?.checked_mul(MICROS_PER_DAY)?.checked_add(local.rem_euclid(MICROS_PER_DAY))?;
    near(zone, local, offset)?.checked_add(micros)
}

fn timestamp_add(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (_, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let starts = typed::<PrimitiveArray<TimestampMicrosecondType>>(&left.array)?;
    let with_zone = *args.return_type == DataType::Timestamp;
    let zone = if with_zone { TimeZone::parse(&args.settings.time_zone)? } else { TimeZone::UTC };
    let steps = Step::new(&right)?;
    let rows = rows(&[&left, &right], args);
    let mut out = PrimitiveArray::<TimestampMicrosecondType>::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
            continue;
        }
        match move_timestamp(starts.value(left.at(row)), steps.value(right.at(row)), zone) {
            Some(moved) => out.append_value(moved),
            None if evaluation == Evaluation::Try => out.append_null(),
            None => return Err(long_overflow()),
        }
    }
    let out = out.finish();
    let out = if with_zone { out.with_timezone(arrow_mapping::ENGINE_TIME_ZONE) } else { out };
    finish(Arc::new(out), &[&left, &right])
}

fn long_overflow() -> SparkError {
    SparkError::plain(ExceptionClass::Arithmetic, "long overflow")
}

fn date_add_interval(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (_, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let dates = typed::<PrimitiveArray<Date32Type>>(&left.array)?;
    let zone = TimeZone::parse(&args.settings.time_zone)?;
    let steps = Step::new(&right)?;
    let rows = rows(&[&left, &right], args);
    let mut out = PrimitiveArray::<Date32Type>::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
            continue;
        }
        let date = i64::from(dates.value(left.at(row)));
        let (months, days, micros) = steps.value(right.at(row));
        let moved = if micros == 0 {
            add_months(date, months).checked_add(days)
        } else if evaluation == Evaluation::Ansi {
            return Err(SparkError::new("INVALID_INTERVAL_WITH_MICROSECONDS_ADDITION"));
        } else {
            zone.to_utc(date * MICROS_PER_DAY)
                .and_then(|start| move_timestamp(start, (months, days, micros), zone))
                .map(|moment| zone.to_local(moment).div_euclid(MICROS_PER_DAY))
        };
        match moved.and_then(|d| i32::try_from(d).ok()) {
            Some(date) => out.append_value(date),
            None if evaluation == Evaluation::Try => out.append_null(),
            None => return Err(crate::scalar::datetime::moment::day_overflow()),
        }
    }
    finish(Arc::new(out.finish()), &[&left, &right])
}

fn difference(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (_, evaluation) = payload(args)?;
    let (left, right) = (Operand::new(args, 0)?, Operand::new(args, 1)?);
    let zone = match args.types.first() {
        Some(DataType::Timestamp) => TimeZone::parse(&args.settings.time_zone)?,
        _ => TimeZone::UTC,
    };
    let local = |operand: &Operand, row: usize| -> Result<i64> {
        let at = operand.at(row);
        Ok(match operand.array.data_type() {
            ArrowType::Date32 => {
                i64::from(typed::<PrimitiveArray<Date32Type>>(&operand.array)?.value(at)).wrapping_mul(MICROS_PER_DAY)
            }
            _ => zone.to_local(typed::<PrimitiveArray<TimestampMicrosecondType>>(&operand.array)?.value(at)),
        })
    };
    let rows = rows(&[&left, &right], args);
    let mut out = PrimitiveArray::<DurationMicrosecondType>::builder(rows);
    for row in 0..rows {
        if left.is_null(row) || right.is_null(row) {
            out.append_null();
            continue;
        }
        match local(&left, row)?.checked_sub(local(&right, row)?) {
            Some(micros) => out.append_value(micros),
            None if evaluation == Evaluation::Try => out.append_null(),
            None => return Err(long_overflow()),
        }
    }
    finish(Arc::new(out.finish()), &[&left, &right])
}
