//! Spark types to Arrow types and back.
//!
//! Two layouts of the same types exist. The *engine* layout ([`to_arrow`]) is
//! what plans and kernels work on: everything below the top level is nullable
//! and carries no comments, so that types which Spark takes for the same are
//! equal in Arrow too. The *exact* layout ([`to_arrow_schema_exact`], and
//! [`client_schema`](crate::client::client_schema)) tells Spark's nullability
//! and metadata at every level.
//!
//! What Arrow lacks stands in the metadata of fields: [`TYPE_KEY`] holds the
//! Spark type as JSON where the Arrow type alone would be read as another one,
//! [`METADATA_KEY`] the user's metadata.

use crate::client::conform_batch;
use crate::{Collation, DataType, Metadata, StructField, StructType, srid};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};
use firesteel_error::{Result, SparkError};
use std::collections::HashMap;
use std::sync::Arc;

pub use crate::client::{client_batch, client_schema};

/// Metadata of an Arrow field that holds a column's user metadata as JSON, shared with Spark's clients.
pub const METADATA_KEY: &str = "SPARK::metadata::json";
/// Metadata of an Arrow field that holds its Spark type as JSON.
pub const TYPE_KEY: &str = "firesteel:type";

/// The zone of every timestamp inside the engine.
pub const ENGINE_TIME_ZONE: &str = "UTC";

/// How much of a Spark type an Arrow type shows.
pub(crate) struct Layout<'a> {
    /// Nullability and metadata below the top level are Spark's.
    pub(crate) exact: bool,
    /// [`TYPE_KEY`] is written where needed.
    pub(crate) tagged: bool,
    pub(crate) time_zone: &'a str,
    /// Strings and binaries have 64-bit offsets.
    pub(crate) large: bool,
}

const ENGINE: Layout<'static> = Layout { exact: false, tagged: true, time_zone: ENGINE_TIME_ZONE, large: false };
const EXACT: Layout<'static> = Layout { exact: true, tagged: true, time_zone: ENGINE_TIME_ZONE, large: false };

/// The engine's Arrow type of a Spark type.
///
/// ```
/// use arrow::datatypes::DataType as ArrowType;
/// use firesteel_types::{DataType, arrow_mapping::to_arrow};
/// assert_eq!(to_arrow(&DataType::Long), ArrowType::Int64);
/// // Nullability is not part of the engine's types.
/// let (some, none) = (DataType::array(DataType::Long, true), DataType::array(DataType::Long, false));
/// assert_eq!(to_arrow(&some), to_arrow(&none));
/// ```
pub fn to_arrow(data_type: &DataType) -> ArrowType {
    arrow_type(data_type, &ENGINE)
}

/// The engine's Arrow field of a column, with its type and metadata kept in the field's metadata.
pub fn to_arrow_field(field: &StructField) -> Field {
    arrow_field(field, &ENGINE)
}

/// The engine's Arrow schema.
pub fn to_arrow_schema(schema: &StructType) -> Schema {
    Schema::new(schema.fields.iter().map(to_arrow_field).collect::<Fields>())
}

/// The Arrow schema with Spark's nullability and metadata at every level, from which
/// [`from_arrow_schema`] gives back the same Spark schema.
pub fn to_arrow_schema_exact(schema: &StructType) -> Schema {
    Schema::new(schema.fields.iter().map(|field| arrow_field(field, &EXACT)).collect::<Fields>())
}

pub(crate) fn arrow_field(field: &StructField, layout: &Layout<'_>) -> Field {
    let mut metadata = type_metadata(&field.data_type, layout);
    if !field.metadata.is_empty() {
        metadata.insert(METADATA_KEY.to_string(), serde_json::Value::Object(field.metadata.to_map()).to_string());
    }
    Field::new(&field.name, arrow_type(&field.data_type, layout), field.nullable).with_metadata(metadata)
}

fn type_metadata(data_type: &DataType, layout: &Layout<'_>) -> HashMap<String, String> {
    let mut metadata = HashMap::new();
    if layout.tagged && needs_tag(data_type) {
        metadata.insert(TYPE_KEY.to_string(), data_type.json());
    }
    metadata
}

/// True where the Arrow type alone reads as another Spark type.
fn needs_tag(data_type: &DataType) -> bool {
    match data_type {
        DataType::Char(_) | DataType::Varchar(_) | DataType::Udt { .. } => true,
        DataType::String(collation) => *collation != Collation::Utf8Binary,
        DataType::Time(precision) => *precision != 6,
        DataType::YearMonthInterval(..) => *data_type != DataType::YEAR_MONTH,
        DataType::DayTimeInterval(..) => *data_type != DataType::DAY_TIME,
        _ => false,
    }
}

fn nested_field(name: &str, data_type: &DataType, nullable: bool, layout: &Layout<'_>) -> FieldRef {
    let nullable = nullable || !layout.exact;
    let field = Field::new(name, arrow_type(data_type, layout), nullable);
    Arc::new(field.with_metadata(type_metadata(data_type, layout)))
}

fn arrow_type(data_type: &DataType, layout: &Layout<'_>) -> ArrowType {
    match data_type {
        DataType::Null => ArrowType::Null,
        DataType::Boolean => ArrowType::Boolean,
        DataType::Byte => ArrowType::Int8,
        DataType::Short => ArrowType::Int16,
        DataType::Integer => ArrowType::Int32,
        DataType::Long => ArrowType::Int64,
        DataType::Float => ArrowType::Float32,
        DataType::Double => ArrowType::Float64,
        // Arrow has no decimals of precision 0.
        DataType::Decimal(precision, scale) => ArrowType::Decimal128((*precision).max(1), *scale),
        DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) | DataType::Unparsed(_) => {
            if layout.large {
                ArrowType::LargeUtf8
            } else {
                ArrowType::Utf8
            }
        }
        DataType::Binary => binary(layout),
        DataType::Date => ArrowType::Date32,
        DataType::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, Some(layout.time_zone.into())),
        DataType::TimestampNtz => ArrowType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Time(_) => ArrowType::Time64(TimeUnit::Nanosecond),
        DataType::CalendarInterval => ArrowType::Interval(IntervalUnit::MonthDayNano),
        DataType::YearMonthInterval(..) => ArrowType::Interval(IntervalUnit::YearMonth),
        DataType::DayTimeInterval(..) => ArrowType::Duration(TimeUnit::Microsecond),
        DataType::Array { element, contains_null } => {
            ArrowType::List(nested_field("element", element, *contains_null, layout))
        }
        DataType::Map { key, value, value_contains_null } => {
            let key = Field::new("key", arrow_type(key, layout), false).with_metadata(type_metadata(key, layout));
            let value = nested_field("value", value, *value_contains_null, layout);
            let entries = ArrowType::Struct(Fields::from(vec![Arc::new(key), value]));
            ArrowType::Map(Arc::new(Field::new("entries", entries, false)), false)
        }
        DataType::Struct(fields) if layout.exact => {
            ArrowType::Struct(fields.fields.iter().map(|field| arrow_field(field, layout)).collect())
        }
        DataType::Struct(fields) => ArrowType::Struct(
            fields.fields.iter().map(|field| nested_field(&field.name, &field.data_type, true, layout)).collect(),
        ),
        DataType::Variant => variant(layout),
        DataType::Geometry(number) => spatial("geometry", *number, layout),
        DataType::Geography(number) => spatial("geography", *number, layout),
        DataType::Udt { sql_type, .. } => arrow_type(sql_type, layout),
    }
}

fn binary(layout: &Layout<'_>) -> ArrowType {
    if layout.large { ArrowType::LargeBinary } else { ArrowType::Binary }
}

/// A variant is a struct whose `metadata` field says so, as Spark's clients expect.
fn variant(layout: &Layout<'_>) -> ArrowType {
    let mark = HashMap::from([("variant".to_string(), "true".to_string())]);
    ArrowType::Struct(Fields::from(vec![
        Field::new("value", binary(layout), false),
        Field::new("metadata", binary(layout), false).with_metadata(mark),
    ]))
}

fn spatial(family: &str, number: i32, layout: &Layout<'_>) -> ArrowType {
    let mark = HashMap::from([(family.to_string(), "true".to_string()), ("srid".to_string(), number.to_string())]);
    ArrowType::Struct(Fields::from(vec![
        Field::new("srid", ArrowType::Int32, false),
        Field::new("wkb", binary(layout), false).with_metadata(mark),
    ]))
}

/// The Spark type of an Arrow type and its field's metadata; a type that Spark cannot
/// read is `UNSUPPORTED_ARROWTYPE`.
pub fn from_arrow(data_type: &ArrowType, metadata: &HashMap<String, String>) -> Result<DataType> {
    let untagged = match metadata.get("ARROW:extension:name").map(String::as_str) {
        Some("arrow.parquet.variant") if matches!(data_type, ArrowType::Struct(_)) => DataType::Variant,
        _ => spark_type(data_type)?,
    };
    let Some(tag) = metadata.get(TYPE_KEY) else {
        return Ok(untagged);
    };
    // Metadata may outlive a change of the physical type, for example a cast.
    match DataType::from_json(tag) {
        Ok(tagged) if physical(&tagged).same_type(&physical(&untagged)) => Ok(tagged),
        _ => Ok(untagged),
    }
}

/// The Spark column of an Arrow field.
pub fn from_arrow_field(field: &Field) -> Result<StructField> {
    let data_type = from_arrow(field.data_type(), field.metadata())?;
    let metadata = match field.metadata().get(METADATA_KEY).map(|text| serde_json::from_str(text)) {
        Some(Ok(serde_json::Value::Object(map))) => Metadata::new(map),
        _ => Metadata::default(),
    };
    Ok(StructField::new(field.name(), data_type, field.is_nullable()).with_metadata(metadata))
}

/// The Spark schema of an Arrow schema.
pub fn from_arrow_schema(schema: &Schema) -> Result<StructType> {
    let fields = schema.fields().iter().map(|field| from_arrow_field(field)).collect::<Result<_>>()?;
    Ok(StructType::new(fields))
}

/// The batch in the engine's types: `schema` is [`to_arrow_schema`] of what [`from_arrow_schema`] read in
/// the batch's own, under any names.
///
/// Values that the engine's type cannot hold are an error; columns that fit already are shared.
pub fn to_canonical_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    conform_batch(batch, schema)
}

/// The type that Arrow can tell from others.
fn physical(data_type: &DataType) -> DataType {
    match data_type {
        DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => DataType::STRING,
        DataType::Time(_) => DataType::Time(6),
        DataType::YearMonthInterval(..) => DataType::YEAR_MONTH,
        DataType::DayTimeInterval(..) => DataType::DAY_TIME,
        DataType::Udt { sql_type, .. } => physical(sql_type),
        DataType::Array { element, .. } => DataType::array(physical(element), true),
        DataType::Map { key, value, .. } => DataType::map(physical(key), physical(value), true),
        DataType::Struct(fields) => {
            let field = |f: &StructField| StructField::new(&f.name, physical(&f.data_type), true);
            DataType::struct_of(fields.fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

fn spark_type(data_type: &ArrowType) -> Result<DataType> {
    let unsupported = || SparkError::new("UNSUPPORTED_ARROWTYPE").with("typeName", data_type.to_string());
    Ok(match data_type {
        ArrowType::Null => DataType::Null,
        ArrowType::Boolean => DataType::Boolean,
        ArrowType::Int8 => DataType::Byte,
        ArrowType::Int16 | ArrowType::UInt8 => DataType::Short,
        ArrowType::Int32 | ArrowType::UInt16 => DataType::Integer,
        ArrowType::Int64 | ArrowType::UInt32 => DataType::Long,
        ArrowType::UInt64 => DataType::Decimal(20, 0),
        ArrowType::Float16 | ArrowType::Float32 => DataType::Float,
        ArrowType::Float64 => DataType::Double,
        ArrowType::Decimal32(precision, scale)
        | ArrowType::Decimal64(precision, scale)
        | ArrowType::Decimal128(precision, scale)
        | ArrowType::Decimal256(precision, scale) => decimal(*precision, *scale).ok_or_else(unsupported)?,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => DataType::STRING,
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView | ArrowType::FixedSizeBinary(_) => {
            DataType::Binary
        }
        ArrowType::Date32 | ArrowType::Date64 => DataType::Date,
        ArrowType::Timestamp(_, Some(_)) => DataType::Timestamp,
        ArrowType::Timestamp(_, None) => DataType::TimestampNtz,
        ArrowType::Time32(_) | ArrowType::Time64(_) => DataType::Time(6),
        ArrowType::Interval(IntervalUnit::YearMonth) => DataType::YEAR_MONTH,
        ArrowType::Interval(IntervalUnit::DayTime) | ArrowType::Duration(_) => DataType::DAY_TIME,
        ArrowType::Interval(IntervalUnit::MonthDayNano) => DataType::CalendarInterval,
        ArrowType::List(element)
        | ArrowType::LargeList(element)
        | ArrowType::ListView(element)
        | ArrowType::LargeListView(element)
        | ArrowType::FixedSizeList(element, _) => {
            DataType::array(from_arrow(element.data_type(), element.metadata())?, element.is_nullable())
        }
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(fields) if fields.len() == 2 => DataType::map(
                from_arrow(fields[0].data_type(), fields[0].metadata())?,
                from_arrow(fields[1].data_type(), fields[1].metadata())?,
                fields[1].is_nullable(),
            ),
            _ => return Err(unsupported()),
        },
        ArrowType::Struct(fields) => match marked_struct(fields) {
            Some(marked) => marked,
            None => DataType::struct_of(fields.iter().map(|f| from_arrow_field(f)).collect::<Result<_>>()?),
        },
        ArrowType::Dictionary(_, value) => spark_type(value)?,
        ArrowType::RunEndEncoded(_, values) => from_arrow(values.data_type(), values.metadata())?,
        _ => return Err(unsupported()),
    })
}

/// Types that are structs in Arrow and say so in the metadata of a field.
fn marked_struct(fields: &Fields) -> Option<DataType> {
    let field = |name: &str| fields.iter().find(|f| f.name() == name);
    let marked = |field: &Field, mark: &str| field.metadata().get(mark).is_some_and(|value| value == "true");
    if field("metadata").is_some_and(|f| marked(f, "variant")) && field("value").is_some() {
        return Some(DataType::Variant);
    }
    let wkb = field("wkb")?;
    field("srid")?;
    let number = wkb.metadata().get("srid").and_then(|text| text.parse().ok()).unwrap_or(srid::ANY);
    if marked(wkb, "geometry") {
        return Some(DataType::Geometry(number));
    }
    marked(wkb, "geography").then_some(DataType::Geography(number))
}

/// Spark has no negative scales and no more than 38 digits.
fn decimal(precision: u8, scale: i8) -> Option<DataType> {
    let (precision, scale) = (i16::from(precision), i16::from(scale));
    let (precision, scale) = if scale < 0 { (precision - scale, 0) } else { (precision.max(scale), scale) };
    if precision > 38 {
        return None;
    }
    Some(DataType::Decimal(u8::try_from(precision).ok()?, i8::try_from(scale).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::{parse_data_type, parse_table_schema};

    const EVERYTHING: &str = "a int not null, ym interval year to month, y interval year, d interval day to second, \
        d1 interval day, ci interval, t time(3), t6 time, ts timestamp, tn timestamp_ntz, c char(3), v varchar(3), \
        cs string collate unicode, g geometry(any), gs array<geography(4326)>, n void, cm int comment 'x', \
        s struct<x: int not null comment 'y', z: array<char(2)>>, va variant, m map<varchar(2), interval month>, \
        b binary, dt date, de decimal(38,18), f float, do double, bo boolean, by tinyint, sh smallint, l bigint";

    #[test]
    fn the_exact_schema_gives_everything_back() {
        let mut schema = parse_table_schema(EVERYTHING).unwrap();
        schema.fields.push(StructField::new(
            "m2",
            DataType::map(DataType::Long, DataType::array(DataType::Long, false), false),
            true,
        ));
        let udt = r#"{"type":"udt","pyClass":"a.B","serializedClass":"xx","sqlType":{"type":"array","elementType":"double","containsNull":false}}"#;
        schema.fields.push(StructField::new("u", DataType::from_json(udt).unwrap(), true));
        assert_eq!(from_arrow_schema(&to_arrow_schema_exact(&schema)).unwrap(), schema);
    }

    #[test]
    fn the_engine_schema_gives_types_back() {
        let schema = parse_table_schema(EVERYTHING).unwrap();
        let back = from_arrow_schema(&to_arrow_schema(&schema)).unwrap();
        for (before, after) in schema.fields.iter().zip(&back.fields) {
            assert!(before.data_type.same_type(&after.data_type), "{}", before.name);
            assert_eq!((before.nullable, &before.metadata), (after.nullable, &after.metadata));
        }
    }

    #[test]
    fn what_is_the_same_to_spark_is_the_same_to_arrow() {
        let struct_of = |text: &str| to_arrow(&parse_data_type(text).unwrap());
        assert_eq!(struct_of("struct<a: int not null comment 'x'>"), struct_of("struct<a: int>"));
    }

    #[test]
    fn arrow_types_of_others_are_read() {
        let none = HashMap::new();
        let list = |f: fn(FieldRef) -> ArrowType| f(Arc::new(Field::new("item", ArrowType::UInt8, true)));
        for (arrow, spark) in [
            (ArrowType::UInt8, "smallint"),
            (ArrowType::UInt16, "int"),
            (ArrowType::UInt32, "bigint"),
            (ArrowType::UInt64, "decimal(20,0)"),
            (ArrowType::Float16, "float"),
            (ArrowType::Utf8View, "string"),
            (ArrowType::FixedSizeBinary(4), "binary"),
            (ArrowType::Date64, "date"),
            (ArrowType::Timestamp(TimeUnit::Nanosecond, Some("+01:00".into())), "timestamp"),
            (ArrowType::Timestamp(TimeUnit::Second, None), "timestamp_ntz"),
            (ArrowType::Time32(TimeUnit::Second), "time(6)"),
            (ArrowType::Interval(IntervalUnit::DayTime), "interval day to second"),
            (ArrowType::Decimal256(38, 2), "decimal(38,2)"),
            (ArrowType::Decimal128(3, -2), "decimal(5,0)"),
            (ArrowType::Dictionary(Box::new(ArrowType::Int8), Box::new(ArrowType::Utf8)), "string"),
            (list(ArrowType::LargeList), "array<smallint>"),
            (list(ArrowType::ListView), "array<smallint>"),
            (list(|f| ArrowType::FixedSizeList(f, 3)), "array<smallint>"),
        ] {
            assert_eq!(from_arrow(&arrow, &none).unwrap().simple_string(), spark);
        }
        let wide = from_arrow(&ArrowType::Decimal256(60, 2), &none).unwrap_err();
        assert!(wide.is("UNSUPPORTED_ARROWTYPE"));
    }

    #[test]
    fn arrays_of_others_become_the_engines() {
        use arrow::array::{ArrayRef, AsArray, IntervalDayTimeArray, TimestampNanosecondArray, UInt64Array};
        use arrow::datatypes::{Decimal128Type, DurationMicrosecondType, IntervalDayTime, TimestampMicrosecondType};
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("u", Arc::new(UInt64Array::from(vec![u64::MAX]))),
            ("n", Arc::new(TimestampNanosecondArray::from(vec![-1]).with_timezone("+01:00"))),
            ("i", Arc::new(IntervalDayTimeArray::from(vec![IntervalDayTime::new(1, 1)]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let schema = Arc::new(to_arrow_schema(&from_arrow_schema(&batch.schema()).unwrap()));
        let batch = to_canonical_batch(&batch, &schema).unwrap();
        assert_eq!(batch.schema(), schema);
        assert_eq!(batch.column(0).as_primitive::<Decimal128Type>().value(0), u64::MAX.into());
        assert_eq!(batch.column(1).as_primitive::<TimestampMicrosecondType>().value(0), -1);
        assert_eq!(batch.column(2).as_primitive::<DurationMicrosecondType>().value(0), 86_400_001_000);
    }

    #[test]
    fn a_tag_that_no_longer_fits_is_ignored() {
        let field = to_arrow_field(&StructField::new("c", DataType::Char(3), true));
        assert_eq!(from_arrow(field.data_type(), field.metadata()).unwrap(), DataType::Char(3));
        assert_eq!(from_arrow(&ArrowType::Int32, field.metadata()).unwrap(), DataType::Integer);
        assert_eq!(from_arrow(&ArrowType::Utf8View, field.metadata()).unwrap(), DataType::Char(3));
    }
}
