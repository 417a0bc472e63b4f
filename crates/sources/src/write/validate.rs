//! Which columns a format can hold.

use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
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
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1290").with("schemaSize", schema.fields.len().to_string()));
    }
    Ok(())
}

/// Fails for times, where the session does not have them.
pub fn check_times(schema: &StructType, conf: &SqlConf) -> Result<()> {
    let is_time = |data_type: &DataType| matches!(data_type, DataType::Time(_));
    if !conf.time_type_enabled && schema.fields.iter().any(|f| contains(&f.data_type, &is_time)) {
        return Err(SparkError::new("UNSUPPORTED_TIME_TYPE"));
    }
    Ok(())
}

/// True where a type, or one within it, is such a type.
fn contains(data_type: &DataType, is_such: &dyn Fn(&DataType) -> bool) -> bool {
    is_such(data_type)
        || match data_type {
            DataType::Array { element, .. } => contains(element, is_such),
            DataType::Map { key, value, .. } => contains(key, is_such) || contains(value, is_such),
            DataType::Struct(schema) => schema.fields.iter().any(|f| contains(&f.data_type, is_such)),
            DataType::Udt { sql_type, .. } => contains(sql_type, is_such),
            _ => false,
        }
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
        T::Variant => matches!(format, "parquet" | "json"),
        T::Null => !matches!(format, "orc" | "avro"),
        _ => true,
    }
}
