//! Which columns a format can hold.

use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, StructType};

/// The name of a format in messages.
pub fn display_name(format: &str) -> &'static str {
    match format {
        "parquet" => "Parquet",
        "csv" => "CSV",
        "json" => "JSON",
        "orc" => "ORC",
        "text" => "Text",
        _ => "File",
    }
}

/// Fails where a format cannot hold a column.
pub fn check_types(format: &str, schema: &StructType) -> Result<()> {
    for field in &schema.fields {
        if !holds(format, &field.data_type) {
            return Err(SparkError::new("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE")
                .with("format", display_name(format))
                .with("columnName", firesteel_types::text::quote_identifier(&field.name))
                .with("columnType", format!("\"{}\"", field.data_type.sql())));
        }
    }
    if format == "text" && schema.fields.len() != 1 {
        return Err(SparkError::plain(
            ExceptionClass::Analysis,
            format!("Text data source supports only a single column, and you have {} columns.", schema.fields.len()),
        ));
    }
    Ok(())
}

fn holds(format: &str, data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Udt { sql_type, .. } => holds(format, sql_type),
        T::String(_) | T::Char(_) | T::Varchar(_) => true,
        _ if format == "text" => false,
        T::Array { .. } | T::Map { .. } | T::Struct(_) | T::Null if format == "csv" => false,
        T::Array { element, .. } => holds(format, element),
        T::Map { key, value, .. } => holds(format, key) && holds(format, value),
        T::Struct(fields) => fields.fields.iter().all(|f| holds(format, &f.data_type)),
        T::CalendarInterval | T::Geometry(_) | T::Geography(_) | T::Unparsed(_) => false,
        T::Variant => format == "parquet",
        _ => true,
    }
}
