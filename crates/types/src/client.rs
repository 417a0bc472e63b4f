//! What clients receive: Spark's own Arrow schema, and batches put into it.

use crate::StructType;
use crate::arrow_mapping::{Layout, arrow_field};
use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, MapArray, NullArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType as ArrowType, DurationMicrosecondType, Field, FieldRef, Fields, IntervalDayTimeType, IntervalUnit, Schema,
    SchemaRef, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use firesteel_error::{Result, SparkError};
use std::sync::Arc;

const CAST: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow::util::display::FormatOptions::new() };

/// The Arrow schema that Spark sends for a schema.
///
/// Timestamps carry the session's time zone; `large_var_types` is
/// `spark.sql.execution.arrow.useLargeVarTypes`.
pub fn client_schema(schema: &StructType, session_time_zone: &str, large_var_types: bool) -> Schema {
    let layout = Layout { exact: true, tagged: false, time_zone: session_time_zone, large: large_var_types };
    let fields = schema.fields.iter().map(|field| {
        let field = arrow_field(field, &layout);
        match unique_type(field.data_type()) {
            Some(data_type) => field.with_data_type(data_type),
            None => field,
        }
    });
    Schema::new(fields.collect::<Fields>())
}

/// The type with the fields of every struct told apart, as Spark does: `x`, `x` become `x_0`, `x_1`. None where they
/// are.
fn unique_type(data_type: &ArrowType) -> Option<ArrowType> {
    let renamed =
        |field: &FieldRef| unique_type(field.data_type()).map(|t| Arc::new(field.as_ref().clone().with_data_type(t)));
    match data_type {
        ArrowType::List(element) => renamed(element).map(ArrowType::List),
        ArrowType::Map(entries, sorted) => renamed(entries).map(|entries| ArrowType::Map(entries, *sorted)),
        ArrowType::Struct(fields) => {
            let twice = |name: &str| fields.iter().filter(|f| f.name() == name).nth(1).is_some();
            let mut is_changed = false;
            let mut unique: Vec<FieldRef> = Vec::with_capacity(fields.len());
            for (i, field) in fields.iter().enumerate() {
                let mut field = field.clone();
                if let Some(changed) = renamed(&field) {
                    (field, is_changed) = (changed, true);
                }
                if twice(field.name()) {
                    let before = fields[..i].iter().filter(|f| f.name() == field.name()).count();
                    field = Arc::new(field.as_ref().clone().with_name(format!("{}_{before}", field.name())));
                    is_changed = true;
                }
                unique.push(field);
            }
            is_changed.then(|| ArrowType::Struct(unique.into()))
        }
        _ => None,
    }
}

/// Puts a batch of the engine into a schema made by [`client_schema`], column by column.
///
/// Columns that fit already are shared, not copied. Where the schema promises
/// no nulls and there are some, that field of the result is nullable.
pub fn client_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    conform_batch(batch, schema)
}

/// The batch in a schema of the same columns in the same order.
pub(crate) fn conform_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    if batch.num_columns() != schema.fields().len() {
        let message = format!("{} columns instead of {}", batch.num_columns(), schema.fields().len());
        return Err(SparkError::internal(message));
    }
    let mut columns = Vec::with_capacity(batch.num_columns());
    let mut fields = Vec::with_capacity(batch.num_columns());
    for (column, field) in batch.columns().iter().zip(schema.fields()) {
        let column = conform(column, field.data_type())?;
        fields.push(fit(field, &column, None));
        columns.push(column);
    }
    let unchanged = fields.iter().zip(schema.fields()).all(|(fitted, field)| Arc::ptr_eq(fitted, field));
    let schema =
        if unchanged { schema.clone() } else { Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())) };
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(internal)
}

fn internal(error: arrow::error::ArrowError) -> SparkError {
    SparkError::internal(error.to_string())
}

/// The field, with the column's own type and nullable if the column has nulls of its own.
fn fit(field: &FieldRef, column: &ArrayRef, parent: Option<&NullBuffer>) -> FieldRef {
    let promise_holds = field.is_nullable()
        || column.logical_nulls().is_none_or(|nulls| match parent {
            Some(parent) => parent.contains(&nulls),
            None => nulls.null_count() == 0,
        });
    if promise_holds && field.data_type() == column.data_type() {
        return field.clone();
    }
    let nullable = field.is_nullable() || !promise_holds;
    let fitted = Field::new(field.name(), column.data_type().clone(), nullable);
    Arc::new(fitted.with_metadata(field.metadata().clone()))
}

/// The array in a type that differs at most in encoding, zone, names, nullability and metadata.
pub(crate) fn conform(array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    if array.data_type() == target {
        return Ok(array.clone());
    }
    match (array.data_type(), target) {
        (ArrowType::Dictionary(_, values), _) => conform(&cast(array, values)?, target),
        (ArrowType::RunEndEncoded(_, values), _) => conform(&cast(array, values.data_type())?, target),
        (_, ArrowType::Null) => Ok(Arc::new(NullArray::new(array.len()))),
        (ArrowType::Timestamp(TimeUnit::Microsecond, _), ArrowType::Timestamp(TimeUnit::Microsecond, zone)) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().clone();
            Ok(Arc::new(micros.with_timezone_opt(zone.clone())))
        }
        // Rounds down, where Arrow's cast would round to zero.
        (ArrowType::Timestamp(TimeUnit::Nanosecond, _), ArrowType::Timestamp(TimeUnit::Microsecond, zone)) => {
            let micros: PrimitiveArray<TimestampMicrosecondType> =
                array.as_primitive::<TimestampNanosecondType>().unary(|nanos| nanos.div_euclid(1000));
            Ok(Arc::new(micros.with_timezone_opt(zone.clone())))
        }
        (ArrowType::Timestamp(..), ArrowType::Timestamp(TimeUnit::Microsecond, zone)) => {
            let micros = cast(array, &ArrowType::Timestamp(TimeUnit::Microsecond, None))?;
            Ok(Arc::new(micros.as_primitive::<TimestampMicrosecondType>().clone().with_timezone_opt(zone.clone())))
        }
        (ArrowType::List(_), ArrowType::List(element)) => conform_list(array.as_list(), element),
        (
            ArrowType::LargeList(own)
            | ArrowType::ListView(own)
            | ArrowType::LargeListView(own)
            | ArrowType::FixedSizeList(own, _),
            ArrowType::List(_),
        ) => conform(&cast(array, &ArrowType::List(own.clone()))?, target),
        (ArrowType::Map(..), ArrowType::Map(entries, _)) => conform_map(array.as_map(), entries),
        (ArrowType::Struct(_), ArrowType::Struct(fields)) => {
            let array = array.as_struct();
            Ok(Arc::new(conform_struct(array, fields)?))
        }
        (ArrowType::Interval(IntervalUnit::DayTime), ArrowType::Duration(TimeUnit::Microsecond)) => {
            let micros: PrimitiveArray<DurationMicrosecondType> = array
                .as_primitive::<IntervalDayTimeType>()
                .unary(|interval| (i64::from(interval.days) * 86_400_000 + i64::from(interval.milliseconds)) * 1000);
            Ok(Arc::new(micros))
        }
        _ => cast(array, target),
    }
}

fn cast(array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    cast_with_options(array, target, &CAST).map_err(internal)
}

fn conform_list(list: &ListArray, element: &FieldRef) -> Result<ArrayRef> {
    let (offsets, values) = window(list.offsets(), list.values());
    let values = conform(&values, element.data_type())?;
    let element = fit(element, &values, None);
    let list = ListArray::try_new(element, offsets, values, list.nulls().cloned()).map_err(internal)?;
    Ok(Arc::new(list))
}

fn conform_map(map: &MapArray, entries: &FieldRef) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(SparkError::internal("entries of a map are a struct"));
    };
    let own_entries: ArrayRef = Arc::new(map.entries().clone());
    let (offsets, own_entries) = window(map.offsets(), &own_entries);
    let conformed: ArrayRef = Arc::new(conform_struct(own_entries.as_struct(), fields)?);
    let entries = fit(entries, &conformed, None);
    let map = MapArray::try_new(entries, offsets, conformed.as_struct().clone(), map.nulls().cloned(), false);
    Ok(Arc::new(map.map_err(internal)?))
}

fn conform_struct(array: &StructArray, fields: &Fields) -> Result<StructArray> {
    if array.num_columns() != fields.len() {
        let message = format!("a struct of {} fields instead of {}", array.num_columns(), fields.len());
        return Err(SparkError::internal(message));
    }
    if fields.is_empty() {
        return Ok(StructArray::new_empty_fields(array.len(), array.nulls().cloned()));
    }
    let mut columns = Vec::with_capacity(fields.len());
    let mut fitted = Vec::with_capacity(fields.len());
    for (column, field) in array.columns().iter().zip(fields) {
        let column = conform(column, field.data_type())?;
        fitted.push(fit(field, &column, array.nulls()));
        columns.push(column);
    }
    StructArray::try_new(fitted.into(), columns, array.nulls().cloned()).map_err(internal)
}

/// The part of the values that the offsets use, so that slices stay cheap.
fn window(offsets: &OffsetBuffer<i32>, values: &ArrayRef) -> (OffsetBuffer<i32>, ArrayRef) {
    let first = offsets[0];
    let length = (offsets[offsets.len() - 1] - first) as usize;
    if length == values.len() {
        return (offsets.clone(), values.clone());
    }
    let rebased: ScalarBuffer<i32> = offsets.iter().map(|offset| offset - first).collect();
    (OffsetBuffer::new(rebased), values.slice(first as usize, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::parse_table_schema;
    use arrow::array::{
        DictionaryArray, Int32Array, Int64Array, StringArray, StringViewArray, TimestampMicrosecondArray,
    };
    use arrow::datatypes::{Int8Type, Int64Type};

    #[test]
    fn the_schema_is_what_spark_sends() {
        let mut schema = parse_table_schema(
            "a array<int>, m map<timestamp, struct<x: int>>, c char(3), s string collate unicode, y interval year, \
             d interval day, ci interval, t time(3), k int comment 'c', v variant, g geometry(any)",
        )
        .unwrap();
        schema.fields[0].data_type = crate::DataType::array(crate::DataType::Integer, false);
        let sent = client_schema(&schema, "America/Los_Angeles", false);
        let types: Vec<String> = sent.fields().iter().map(|f| f.data_type().to_string()).collect();
        assert_eq!(
            types,
            [
                "List(non-null Int32, field: 'element')",
                "Map(\"entries\": non-null Struct(\"key\": non-null Timestamp(µs, \"America/Los_Angeles\"), \"value\": Struct(\"x\": Int32)), unsorted)",
                "Utf8",
                "Utf8",
                "Interval(YearMonth)",
                "Duration(µs)",
                "Interval(MonthDayNano)",
                "Time64(ns)",
                "Int32",
                "Struct(\"value\": non-null Binary, \"metadata\": non-null Binary, metadata: {\"variant\": \"true\"})",
                "Struct(\"srid\": non-null Int32, \"wkb\": non-null Binary, metadata: {\"geometry\": \"true\", \"srid\": \"-1\"})",
            ]
        );
        assert_eq!(sent.field(8).metadata()["SPARK::metadata::json"], r#"{"comment":"c"}"#);
        assert!(sent.field(2).metadata().is_empty());
        assert_eq!(client_schema(&schema, "UTC", true).field(2).data_type(), &ArrowType::LargeUtf8);
    }

    fn convert(column: ArrayRef, ddl: &str) -> RecordBatch {
        let schema = Arc::new(client_schema(&parse_table_schema(ddl).unwrap(), "+05:00", false));
        let batch = RecordBatch::try_from_iter([("x#1", column)]).unwrap();
        client_batch(&batch, &schema).unwrap()
    }

    #[test]
    fn encodings_become_plain() {
        let views: ArrayRef = Arc::new(StringViewArray::from(vec![Some("a"), None]));
        let expected: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
        assert_eq!(convert(views, "x string").column(0), &expected);
        let dictionary: DictionaryArray<Int8Type> = vec![Some("a"), None].into_iter().collect();
        assert_eq!(convert(Arc::new(dictionary), "x string").column(0), &expected);
    }

    #[test]
    fn timestamps_change_their_zone_only() {
        let utc = TimestampMicrosecondArray::from(vec![1, 2]).with_timezone("UTC");
        let sent = convert(Arc::new(utc.clone()), "x timestamp");
        assert_eq!(sent.column(0).data_type().to_string(), "Timestamp(µs, \"+05:00\")");
        assert_eq!(sent.column(0).to_data().buffers()[0].as_ptr(), utc.to_data().buffers()[0].as_ptr());
    }

    #[test]
    fn lists_get_sparks_names() {
        let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1), None]), None]);
        let sliced: ArrayRef = Arc::new(list.slice(0, 1));
        let sent = convert(sliced, "x array<bigint>");
        assert_eq!(sent.column(0).data_type().to_string(), "List(Int64, field: 'element')");
        assert_eq!(sent.column(0).as_list::<i32>().value(0).as_ref(), &Int64Array::from(vec![Some(1), None]));
    }

    #[test]
    fn a_broken_promise_of_no_nulls_is_not_an_error() {
        let column: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
        let sent = convert(column, "x int not null");
        assert!(sent.schema().field(0).is_nullable());
    }

    #[test]
    fn no_columns_keep_their_rows() {
        let options = RecordBatchOptions::new().with_row_count(Some(3));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
        assert_eq!(client_batch(&batch, &Arc::new(Schema::empty())).unwrap().num_rows(), 3);
    }
}
