//! Types and values of the wire as those of this crate, and back.

use crate::error::{Error, Result};
use firesteel_proto::connect as proto;
use firesteel_types::{
    Collation, DataType, DayTimeField, Literal, Metadata, StructField, StructType, YearMonthField, ddl,
};
use proto::data_type::{self as message, Kind};
use proto::expression::literal::{self as literals, LiteralType};
use std::sync::Arc;

const YEAR_MONTH: [YearMonthField; 2] = [YearMonthField::Year, YearMonthField::Month];
const DAY_TIME: [DayTimeField; 4] = [DayTimeField::Day, DayTimeField::Hour, DayTimeField::Minute, DayTimeField::Second];

/// The place of a field in a list, as the wire numbers them.
fn number<T: PartialEq>(fields: &[T], field: &T) -> Option<i32> {
    fields.iter().position(|of| of == field).and_then(|index| i32::try_from(index).ok())
}

fn field_at<T: Copy>(fields: &[T], number: i32) -> Result<T> {
    let field = usize::try_from(number).ok().and_then(|index| fields.get(index)).copied();
    field.ok_or_else(|| Error::protocol(format!("field {number} of an interval")))
}

fn boxed(of: &DataType) -> Option<Box<proto::DataType>> {
    Some(Box::new(to_proto(of)))
}

/// The message of a schema.
pub(crate) fn schema_to_proto(schema: &StructType) -> proto::DataType {
    let field = |field: &StructField| message::StructField {
        name: field.name.clone(),
        data_type: Some(to_proto(&field.data_type)),
        nullable: field.nullable,
        metadata: (!field.metadata.is_empty()).then(|| serde_json::Value::Object(field.metadata.to_map()).to_string()),
    };
    let fields = schema.fields.iter().map(field).collect();
    proto::DataType { kind: Some(Kind::Struct(message::Struct { fields, ..Default::default() })) }
}

/// The message of a type.
pub(crate) fn to_proto(of: &DataType) -> proto::DataType {
    let kind = match of {
        DataType::Null => Kind::Null(Default::default()),
        DataType::Boolean => Kind::Boolean(Default::default()),
        DataType::Byte => Kind::Byte(Default::default()),
        DataType::Short => Kind::Short(Default::default()),
        DataType::Integer => Kind::Integer(Default::default()),
        DataType::Long => Kind::Long(Default::default()),
        DataType::Float => Kind::Float(Default::default()),
        DataType::Double => Kind::Double(Default::default()),
        DataType::Decimal(precision, scale) => {
            let (precision, scale) = (Some(i32::from(*precision)), Some(i32::from(*scale)));
            Kind::Decimal(message::Decimal { precision, scale, ..Default::default() })
        }
        DataType::String(collation) => {
            let collation = match collation {
                Collation::Utf8Binary => String::new(),
                Collation::Named(name) => name.to_string(),
            };
            Kind::String(message::String { collation, ..Default::default() })
        }
        DataType::Char(length) => Kind::Char(message::Char { length: signed(*length), ..Default::default() }),
        DataType::Varchar(length) => Kind::VarChar(message::VarChar { length: signed(*length), ..Default::default() }),
        DataType::Binary => Kind::Binary(Default::default()),
        DataType::Date => Kind::Date(Default::default()),
        DataType::Timestamp => Kind::Timestamp(Default::default()),
        DataType::TimestampNtz => Kind::TimestampNtz(Default::default()),
        DataType::Time(precision) => {
            Kind::Time(message::Time { precision: Some(i32::from(*precision)), ..Default::default() })
        }
        DataType::CalendarInterval => Kind::CalendarInterval(Default::default()),
        DataType::YearMonthInterval(start, end) => {
            let (start_field, end_field) = (number(&YEAR_MONTH, start), number(&YEAR_MONTH, end));
            Kind::YearMonthInterval(message::YearMonthInterval { start_field, end_field, ..Default::default() })
        }
        DataType::DayTimeInterval(start, end) => {
            let (start_field, end_field) = (number(&DAY_TIME, start), number(&DAY_TIME, end));
            Kind::DayTimeInterval(message::DayTimeInterval { start_field, end_field, ..Default::default() })
        }
        DataType::Array { element, contains_null } => Kind::Array(Box::new(message::Array {
            element_type: boxed(element),
            contains_null: *contains_null,
            ..Default::default()
        })),
        DataType::Map { key, value, value_contains_null } => Kind::Map(Box::new(message::Map {
            key_type: boxed(key),
            value_type: boxed(value),
            value_contains_null: *value_contains_null,
            ..Default::default()
        })),
        DataType::Struct(fields) => return schema_to_proto(fields),
        DataType::Variant => Kind::Variant(Default::default()),
        DataType::Geometry(srid) => Kind::Geometry(message::Geometry { srid: *srid, ..Default::default() }),
        DataType::Geography(srid) => Kind::Geography(message::Geography { srid: *srid, ..Default::default() }),
        DataType::Udt { jvm_class, python_class, serialized_python_class, sql_type } => {
            Kind::Udt(Box::new(message::Udt {
                r#type: "udt".to_string(),
                jvm_class: jvm_class.as_deref().map(str::to_string),
                python_class: python_class.as_deref().map(str::to_string),
                serialized_python_class: serialized_python_class.as_deref().map(str::to_string),
                sql_type: boxed(sql_type),
            }))
        }
        DataType::Unparsed(text) => Kind::Unparsed(message::Unparsed { data_type_string: text.to_string() }),
    };
    proto::DataType { kind: Some(kind) }
}

fn signed(length: u32) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

fn unsigned(number: i32) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::protocol(format!("{number} is not a length")))
}

fn digits<T: TryFrom<i32>>(number: i32) -> Result<T> {
    T::try_from(number).map_err(|_| Error::protocol(format!("{number} is not a precision or scale")))
}

fn required(of: Option<&proto::DataType>) -> Result<DataType> {
    from_proto(of.ok_or_else(|| Error::protocol("a type without its inner type"))?)
}

/// The type of a message.
pub(crate) fn from_proto(of: &proto::DataType) -> Result<DataType> {
    let kind = of.kind.as_ref().ok_or_else(|| Error::protocol("a type without a kind"))?;
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
        Kind::Decimal(of) => DataType::Decimal(digits(of.precision.unwrap_or(10))?, digits(of.scale.unwrap_or(0))?),
        Kind::String(of) if of.collation.is_empty() => DataType::STRING,
        Kind::String(of) => DataType::String(Collation::parse(&of.collation)?),
        Kind::Char(of) => DataType::Char(unsigned(of.length)?),
        Kind::VarChar(of) => DataType::Varchar(unsigned(of.length)?),
        Kind::Date(_) => DataType::Date,
        Kind::Timestamp(_) => DataType::Timestamp,
        Kind::TimestampNtz(_) => DataType::TimestampNtz,
        Kind::CalendarInterval(_) => DataType::CalendarInterval,
        Kind::YearMonthInterval(of) => {
            let start = of.start_field.unwrap_or(0);
            let end = of.end_field.unwrap_or(if of.start_field.is_some() { start } else { 1 });
            DataType::YearMonthInterval(field_at(&YEAR_MONTH, start)?, field_at(&YEAR_MONTH, end)?)
        }
        Kind::DayTimeInterval(of) => {
            let start = of.start_field.unwrap_or(0);
            let end = of.end_field.unwrap_or(if of.start_field.is_some() { start } else { 3 });
            DataType::DayTimeInterval(field_at(&DAY_TIME, start)?, field_at(&DAY_TIME, end)?)
        }
        Kind::Array(of) => DataType::array(required(of.element_type.as_deref())?, of.contains_null),
        Kind::Map(of) => {
            let (key, value) = (required(of.key_type.as_deref())?, required(of.value_type.as_deref())?);
            DataType::map(key, value, of.value_contains_null)
        }
        Kind::Struct(of) => DataType::Struct(Arc::new(struct_type(of)?)),
        Kind::Variant(_) => DataType::Variant,
        Kind::Udt(of) => user_defined(of)?,
        Kind::Geometry(of) => DataType::Geometry(of.srid),
        Kind::Geography(of) => DataType::Geography(of.srid),
        Kind::Unparsed(of) => ddl::parse_schema(&of.data_type_string)?,
        Kind::Time(of) => DataType::Time(digits(of.precision.unwrap_or(6))?),
        Kind::TimestampNtzNanos(_) | Kind::TimestampLtzNanos(_) => {
            return Err(Error::protocol("timestamps of nanoseconds are not supported"));
        }
    })
}

fn user_defined(of: &message::Udt) -> Result<DataType> {
    let text = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(Arc::from);
    Ok(DataType::Udt {
        jvm_class: text(&of.jvm_class),
        python_class: text(&of.python_class),
        serialized_python_class: text(&of.serialized_python_class),
        sql_type: Arc::new(required(of.sql_type.as_deref())?),
    })
}

fn struct_type(of: &message::Struct) -> Result<StructType> {
    let field = |field: &message::StructField| {
        let result = StructField::new(&field.name, required(field.data_type.as_ref())?, field.nullable);
        let metadata = field.metadata.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Ok(metadata.map_or(result.clone(), |map| result.with_metadata(Metadata::new(map))))
    };
    Ok(StructType::new(of.fields.iter().map(field).collect::<Result<_>>()?))
}

/// The schema of a message.
pub(crate) fn schema_from_proto(of: &proto::DataType) -> Result<StructType> {
    match from_proto(of)? {
        DataType::Struct(fields) => Ok(Arc::unwrap_or_clone(fields)),
        other => Err(Error::protocol(format!("a schema that is no struct but {}", other.simple_string()))),
    }
}

/// The message of a value.
pub(crate) fn literal(value: &Literal) -> proto::expression::Literal {
    let list = |values: &[Literal]| values.iter().map(literal).collect();
    let mut data_type = None;
    let of = match value {
        Literal::Null(of) => LiteralType::Null(to_proto(of)),
        Literal::Boolean(value) => LiteralType::Boolean(*value),
        Literal::Byte(value) => LiteralType::Byte(i32::from(*value)),
        Literal::Short(value) => LiteralType::Short(i32::from(*value)),
        Literal::Integer(value) => LiteralType::Integer(*value),
        Literal::Long(value) => LiteralType::Long(*value),
        Literal::Float(value) => LiteralType::Float(*value),
        Literal::Double(value) => LiteralType::Double(*value),
        Literal::Decimal(unscaled, precision, scale) => {
            let mut value = String::new();
            firesteel_types::number_text::write_plain_decimal(&mut value, *unscaled, *scale);
            let (precision, scale) = (Some(i32::from(*precision)), Some(i32::from(*scale)));
            LiteralType::Decimal(literals::Decimal { value, precision, scale })
        }
        Literal::String(value) => LiteralType::String(value.clone()),
        Literal::Binary(value) => LiteralType::Binary(value.clone().into()),
        Literal::Date(days) => LiteralType::Date(*days),
        Literal::Timestamp(micros) => LiteralType::Timestamp(*micros),
        Literal::TimestampNtz(micros) => LiteralType::TimestampNtz(*micros),
        Literal::Time(nano, precision) => {
            LiteralType::Time(literals::Time { nano: *nano, precision: Some(i32::from(*precision)) })
        }
        Literal::CalendarInterval(months, days, microseconds) => {
            let (months, days, microseconds) = (*months, *days, *microseconds);
            LiteralType::CalendarInterval(literals::CalendarInterval { months, days, microseconds })
        }
        Literal::YearMonthInterval(months, of) => {
            data_type = Some(to_proto(of));
            LiteralType::YearMonthInterval(*months)
        }
        Literal::DayTimeInterval(micros, of) => {
            data_type = Some(to_proto(of));
            LiteralType::DayTimeInterval(*micros)
        }
        Literal::Array(values, of) => {
            LiteralType::Array(literals::Array { element_type: Some(to_proto(of)), elements: list(values) })
        }
        Literal::Map(entries, key, value) => LiteralType::Map(literals::Map {
            key_type: Some(to_proto(key)),
            value_type: Some(to_proto(value)),
            keys: entries.iter().map(|(key, _)| literal(key)).collect(),
            values: entries.iter().map(|(_, value)| literal(value)).collect(),
        }),
        Literal::Struct(values, of) => {
            LiteralType::Struct(literals::Struct { struct_type: Some(schema_to_proto(of)), elements: list(values) })
        }
    };
    proto::expression::Literal { literal_type: Some(of), data_type }
}

/// The value of a message.
pub(crate) fn value(of: &proto::expression::Literal) -> Result<Literal> {
    let kind = of.literal_type.as_ref().ok_or_else(|| Error::protocol("a value without a kind"))?;
    let declared = of.data_type.as_ref().map(from_proto).transpose()?;
    let list = |values: &[proto::expression::Literal]| values.iter().map(value).collect::<Result<Vec<_>>>();
    Ok(match kind {
        LiteralType::Null(of) => Literal::Null(from_proto(of).unwrap_or(DataType::Null)),
        LiteralType::Binary(bytes) => Literal::Binary(bytes.to_vec()),
        LiteralType::Boolean(value) => Literal::Boolean(*value),
        LiteralType::Byte(value) => Literal::Byte(digits_of(*value)?),
        LiteralType::Short(value) => Literal::Short(digits_of(*value)?),
        LiteralType::Integer(value) => Literal::Integer(*value),
        LiteralType::Long(value) => Literal::Long(*value),
        LiteralType::Float(value) => Literal::Float(*value),
        LiteralType::Double(value) => Literal::Double(*value),
        LiteralType::Decimal(of) => decimal(of)?,
        LiteralType::String(text) => Literal::String(text.clone()),
        LiteralType::Date(days) => Literal::Date(*days),
        LiteralType::Timestamp(micros) => Literal::Timestamp(*micros),
        LiteralType::TimestampNtz(micros) => Literal::TimestampNtz(*micros),
        LiteralType::CalendarInterval(of) => Literal::CalendarInterval(of.months, of.days, of.microseconds),
        LiteralType::YearMonthInterval(months) => {
            Literal::YearMonthInterval(*months, declared.unwrap_or(DataType::YEAR_MONTH))
        }
        LiteralType::DayTimeInterval(micros) => {
            Literal::DayTimeInterval(*micros, declared.unwrap_or(DataType::DAY_TIME))
        }
        LiteralType::Time(of) => Literal::Time(of.nano, digits(of.precision.unwrap_or(6))?),
        LiteralType::Array(of) => {
            let elements = list(&of.elements)?;
            let element = match (&of.element_type, declared) {
                (Some(of), _) => from_proto(of)?,
                (None, Some(DataType::Array { element, .. })) => element.as_ref().clone(),
                (None, _) => elements.first().map_or(DataType::Null, Literal::data_type),
            };
            Literal::Array(elements, element)
        }
        LiteralType::Map(of) => {
            let (keys, values) = (list(&of.keys)?, list(&of.values)?);
            let first = |list: &[Literal]| list.first().map_or(DataType::Null, Literal::data_type);
            let key = of.key_type.as_ref().map_or(Ok(first(&keys)), from_proto)?;
            let value = of.value_type.as_ref().map_or(Ok(first(&values)), from_proto)?;
            Literal::Map(keys.into_iter().zip(values).collect(), key, value)
        }
        LiteralType::Struct(of) => {
            let declared = match (&of.struct_type, declared) {
                (Some(of), _) => Arc::new(schema_from_proto(of)?),
                (None, Some(DataType::Struct(fields))) => fields,
                _ => return Err(Error::protocol("a struct without its type")),
            };
            Literal::Struct(list(&of.elements)?, declared)
        }
        LiteralType::SpecializedArray(of) => specialized(of)?,
        LiteralType::TimestampNtzNanos(_) | LiteralType::TimestampLtzNanos(_) => {
            return Err(Error::protocol("timestamps of nanoseconds are not supported"));
        }
    })
}

fn digits_of<T: TryFrom<i32>>(number: i32) -> Result<T> {
    T::try_from(number).map_err(|_| Error::protocol(format!("{number} is out of range")))
}

fn decimal(of: &literals::Decimal) -> Result<Literal> {
    let bad = || Error::protocol(format!("{} is not a decimal", of.value));
    let (whole, fraction) = of.value.split_once('.').unwrap_or((&of.value, ""));
    let unscaled = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
    let scale = i8::try_from(fraction.len()).map_err(|_| bad())?;
    let digits =
        u8::try_from((whole.trim_start_matches(['-', '0']).len() + fraction.len()).max(1)).map_err(|_| bad())?;
    let precision = of.precision.map_or(Ok(digits), self::digits)?;
    Ok(Literal::Decimal(unscaled, precision, scale))
}

fn specialized(of: &literals::SpecializedArray) -> Result<Literal> {
    use literals::specialized_array::ValueType;
    let values = of.value_type.as_ref().ok_or_else(|| Error::protocol("an array without values"))?;
    let (elements, of) = match values {
        ValueType::Bools(of) => (of.values.iter().map(|v| Literal::Boolean(*v)).collect(), DataType::Boolean),
        ValueType::Ints(of) => (of.values.iter().map(|v| Literal::Integer(*v)).collect(), DataType::Integer),
        ValueType::Longs(of) => (of.values.iter().map(|v| Literal::Long(*v)).collect(), DataType::Long),
        ValueType::Floats(of) => (of.values.iter().map(|v| Literal::Float(*v)).collect(), DataType::Float),
        ValueType::Doubles(of) => (of.values.iter().map(|v| Literal::Double(*v)).collect(), DataType::Double),
        ValueType::Strings(of) => (of.values.iter().cloned().map(Literal::String).collect(), DataType::STRING),
    };
    Ok(Literal::Array(elements, of))
}

/// A schema: DDL text, JSON text or a [`StructType`].
pub trait IntoSchema {
    #[doc(hidden)]
    fn into_schema_text(self) -> String;
    #[doc(hidden)]
    fn into_struct(self) -> Result<StructType>;
}

impl IntoSchema for &StructType {
    fn into_schema_text(self) -> String {
        self.json()
    }
    fn into_struct(self) -> Result<StructType> {
        Ok(self.clone())
    }
}

impl IntoSchema for StructType {
    fn into_schema_text(self) -> String {
        self.json()
    }
    fn into_struct(self) -> Result<StructType> {
        Ok(self)
    }
}

impl IntoSchema for &str {
    fn into_schema_text(self) -> String {
        self.to_string()
    }
    fn into_struct(self) -> Result<StructType> {
        match ddl::parse_schema(self)? {
            DataType::Struct(fields) => Ok(Arc::unwrap_or_clone(fields)),
            other => Ok(StructType::new(vec![StructField::new("value", other, true)])),
        }
    }
}

impl IntoSchema for String {
    fn into_schema_text(self) -> String {
        self
    }
    fn into_struct(self) -> Result<StructType> {
        self.as_str().into_struct()
    }
}
