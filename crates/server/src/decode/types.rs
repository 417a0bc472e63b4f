//! Data types.

use super::{not_set, with_stack};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_proto::connect as proto;
use firesteel_types::{Collation, DataType, DayTimeField, Metadata, StructField, StructType, YearMonthField, ddl};
use proto::data_type::Kind;
use std::sync::Arc;

const MAX_PRECISION: i32 = 38;

/// The type of a message; text is parsed as JSON or DDL.
pub(super) fn data_type(message: &proto::DataType) -> Result<DataType> {
    with_stack(|| decode(message))
}

/// The type of a field that may be absent.
pub(super) fn optional_type(message: Option<&proto::DataType>) -> Result<Option<DataType>> {
    message.map(data_type).transpose()
}

fn required(message: Option<&proto::DataType>) -> Result<DataType> {
    data_type(message.ok_or_else(|| not_set("DataType", "kind"))?)
}

fn decode(message: &proto::DataType) -> Result<DataType> {
    let kind = message.kind.as_ref().ok_or_else(|| {
        SparkError::new("CONNECT_INVALID_PLAN.DATA_TYPE_UNSUPPORTED_PROTO_TO_CATALYST")
            .with_class(ExceptionClass::InvalidPlanInput)
            .with("kindCase", "KIND_NOT_SET")
    })?;
    Ok(match kind {
        Kind::Null(_) => DataType::Null,
        Kind::Binary(_) => DataType::Binary,
        Kind::Boolean(_) => DataType::Boolean,
        Kind::Byte(_) => DataType::Byte,
        Kind::Short(_) => DataType::Short,
        Kind::Integer(_) => DataType::Integer,
        Kind::Long(_) => DataType::Long,
        Kind::Float(_) => DataType::Float,
        Kind::Double(_) => DataType::Double,
        Kind::Decimal(decimal) => decimal_type(decimal.precision, decimal.scale)?,
        Kind::String(string) if string.collation.is_empty() => DataType::STRING,
        Kind::String(string) => DataType::String(Collation::parse(&string.collation)?),
        Kind::Char(char) => DataType::Char(length(char.length)?),
        Kind::VarChar(varchar) => DataType::Varchar(length(varchar.length)?),
        Kind::Date(_) => DataType::Date,
        Kind::Timestamp(_) => DataType::Timestamp,
        Kind::TimestampNtz(_) => DataType::TimestampNtz,
        Kind::CalendarInterval(_) => DataType::CalendarInterval,
        Kind::YearMonthInterval(interval) => {
            let field = |number| year_month_field(number);
            let start = interval.start_field.map(field).transpose()?;
            let end = interval.end_field.map(field).transpose()?;
            let first = start.unwrap_or(YearMonthField::Year);
            let last = end.or(start).unwrap_or(YearMonthField::Month);
            DataType::YearMonthInterval(first, last)
        }
        Kind::DayTimeInterval(interval) => {
            let field = |number| day_time_field(number);
            let start = interval.start_field.map(field).transpose()?;
            let end = interval.end_field.map(field).transpose()?;
            let first = start.unwrap_or(DayTimeField::Day);
            let last = end.or(start).unwrap_or(DayTimeField::Second);
            DataType::DayTimeInterval(first, last)
        }
        Kind::Array(array) => DataType::array(required(array.element_type.as_deref())?, array.contains_null),
        Kind::Map(map) => DataType::map(
            required(map.key_type.as_deref())?,
            required(map.value_type.as_deref())?,
            map.value_contains_null,
        ),
        Kind::Struct(fields) => DataType::Struct(Arc::new(struct_type(fields)?)),
        Kind::Variant(_) => DataType::Variant,
        Kind::Udt(udt) => user_defined(udt)?,
        Kind::Geometry(geometry) => DataType::Geometry(geometry.srid),
        Kind::Geography(geography) => DataType::Geography(geography.srid),
        Kind::Unparsed(text) => ddl::parse_schema(&text.data_type_string)?,
        Kind::Time(time) => time_type(time.precision)?,
        Kind::TimestampNtzNanos(nanos) => return Err(nanos_type("TIMESTAMP_NTZ", nanos.precision)),
        Kind::TimestampLtzNanos(nanos) => return Err(nanos_type("TIMESTAMP_LTZ", nanos.precision)),
    })
}

fn nanos_type(name: &str, precision: Option<i32>) -> SparkError {
    SparkError::unsupported(format!("the data type {name}({})", precision.unwrap_or(9)))
}

/// A decimal type; what is not said has the defaults 10 and 0.
pub(super) fn decimal_type(precision: Option<i32>, scale: Option<i32>) -> Result<DataType> {
    let (precision, scale) = (precision.unwrap_or(10), scale.unwrap_or(0));
    if precision > MAX_PRECISION {
        return Err(SparkError::new("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
            .with("precision", precision.to_string())
            .with("maxPrecision", MAX_PRECISION.to_string()));
    }
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(digits), Ok(places)) if scale <= precision => Ok(DataType::Decimal(digits, places)),
        _ => Err(SparkError::new("_LEGACY_ERROR_TEMP_1228")
            .with("decimalScale", scale.to_string())
            .with("decimalPrecision", precision.to_string())),
    }
}

/// A time type of a precision, 6 where it is not said.
pub(super) fn time_type(precision: Option<i32>) -> Result<DataType> {
    let precision = precision.unwrap_or(6);
    match u8::try_from(precision) {
        Ok(digits @ 0..=6) => Ok(DataType::Time(digits)),
        _ => Err(SparkError::new("UNSUPPORTED_TIME_PRECISION").with("precision", precision.to_string())),
    }
}

fn length(length: i32) -> Result<u32> {
    match u32::try_from(length) {
        Ok(length) if length > 0 => Ok(length),
        _ => Err(super::assertion(format!("length of a character type must be positive, but is {length}"))),
    }
}

fn year_month_field(number: i32) -> Result<YearMonthField> {
    match number {
        0 => Ok(YearMonthField::Year),
        1 => Ok(YearMonthField::Month),
        _ => Err(super::assertion(format!("{number} is not a field of a year-month interval"))),
    }
}

fn day_time_field(number: i32) -> Result<DayTimeField> {
    match number {
        0 => Ok(DayTimeField::Day),
        1 => Ok(DayTimeField::Hour),
        2 => Ok(DayTimeField::Minute),
        3 => Ok(DayTimeField::Second),
        _ => Err(super::assertion(format!("{number} is not a field of a day-time interval"))),
    }
}

fn struct_type(message: &proto::data_type::Struct) -> Result<StructType> {
    let fields = message.fields.iter().map(struct_field).collect::<Result<_>>()?;
    Ok(StructType::new(fields))
}

fn struct_field(message: &proto::data_type::StructField) -> Result<StructField> {
    let field = StructField::new(&message.name, required(message.data_type.as_ref())?, message.nullable);
    match message.metadata.as_deref() {
        None | Some("") => Ok(field),
        Some(text) => match serde_json::from_str(text) {
            Ok(map) => Ok(field.with_metadata(Metadata::new(map))),
            Err(error) => {
                Err(super::assertion(format!("metadata of field {} is not a JSON object: {error}", message.name)))
            }
        },
    }
}

fn user_defined(message: &proto::data_type::Udt) -> Result<DataType> {
    if message.r#type != "udt" {
        return Err(SparkError::new("CONNECT_INVALID_PLAN.UDT_TYPE_FIELD_INVALID").with("udtType", &message.r#type));
    }
    let text = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(Arc::from);
    let jvm_class = text(&message.jvm_class);
    if jvm_class.is_none() && (message.python_class.is_none() || message.serialized_python_class.is_none()) {
        return Err(SparkError::new("CONNECT_INVALID_PLAN.PYTHON_UDT_MISSING_FIELDS"));
    }
    let sql_type =
        message.sql_type.as_deref().ok_or_else(|| SparkError::new("CONNECT_INVALID_PLAN.PYTHON_UDT_MISSING_FIELDS"))?;
    let (python_class, serialized) = (text(&message.python_class), text(&message.serialized_python_class));
    Ok(DataType::user_defined(jvm_class, python_class, serialized, data_type(sql_type)?))
}
