//! Rows that statements give.

use arrow::record_batch::RecordBatch;
use firesteel_analyzer::LocalRows;
use firesteel_error::{Result, SparkError};
use firesteel_types::data_type::Metadata;
use firesteel_types::{DataType, Literal, StructField, StructType, arrow_mapping};
use std::sync::Arc;

/// A column of a statement's rows: name, type, whether it may be null.
pub(crate) type Column = (&'static str, DataType, bool);

/// A column of texts that are never null.
pub(crate) const fn text_column(name: &'static str) -> Column {
    (name, DataType::STRING, false)
}

/// A text.
pub(crate) fn text(value: impl Into<String>) -> Literal {
    Literal::String(value.into())
}

/// A text, or null.
pub(crate) fn optional(value: Option<impl Into<String>>) -> Literal {
    value.map_or(Literal::Null(DataType::STRING), text)
}

/// No rows, no columns.
pub(crate) fn nothing() -> LocalRows {
    let schema = StructType::default();
    let arrow_schema = Arc::new(arrow_mapping::to_arrow_schema(&schema));
    LocalRows { schema, arrow_schema, batches: Vec::new() }
}

/// Rows of columns.
pub(crate) fn rows(columns: &[Column], rows: Vec<Vec<Literal>>) -> Result<LocalRows> {
    let fields = columns.iter().map(|(name, t, nullable)| StructField::new(*name, t.clone(), *nullable)).collect();
    of_schema(StructType::new(fields), rows)
}

/// Rows of columns with comments.
pub(crate) fn commented_rows(columns: &[(Column, &'static str)], rows: Vec<Vec<Literal>>) -> Result<LocalRows> {
    let field = |((name, data_type, nullable), comment): &(Column, &'static str)| {
        let comment = ("comment".to_string(), serde_json::Value::String((*comment).to_string()));
        let metadata = Metadata::new(serde_json::Map::from_iter([comment]));
        StructField::new(*name, data_type.clone(), *nullable).with_metadata(metadata)
    };
    of_schema(StructType::new(columns.iter().map(field).collect()), rows)
}

fn of_schema(schema: StructType, rows: Vec<Vec<Literal>>) -> Result<LocalRows> {
    let arrow_schema = Arc::new(arrow_mapping::to_arrow_schema(&schema));
    if rows.is_empty() {
        return Ok(LocalRows { schema, arrow_schema, batches: Vec::new() });
    }
    let mut arrays = Vec::with_capacity(schema.fields.len());
    for (i, field) in schema.fields.iter().enumerate() {
        let mut values = Vec::with_capacity(rows.len());
        for row in &rows {
            let value = row.get(i);
            values.push(value.ok_or_else(|| SparkError::internal(format!("a row lacks the column {}", field.name)))?);
        }
        arrays.push(Literal::array_of(&values, &field.data_type)?);
    }
    let batch = RecordBatch::try_new(arrow_schema.clone(), arrays).map_err(|e| SparkError::internal(e.to_string()))?;
    Ok(LocalRows { schema, arrow_schema, batches: vec![batch] })
}

/// One row with one text.
pub(crate) fn one_text(column: &'static str, value: impl Into<String>) -> Result<LocalRows> {
    rows(&[text_column(column)], vec![vec![text(value)]])
}
