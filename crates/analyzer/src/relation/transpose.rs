//! Rows to columns.

use super::leaf;
use super::unpivot::keeps_strings;
use crate::analyzer::Analyzer;
use crate::attribute::Attribute;
use crate::expression;
use crate::resolved::{Resolved, built};
use datafusion::logical_expr::LogicalPlanBuilder;
use firesteel_error::{Result, SparkError};
use firesteel_functions::coercion;
use firesteel_plan::{Expr, Relation};
use firesteel_types::{DataType, Literal, StructField, StructType};
use std::sync::Arc;

/// The type that all columns fit into, found from left to right.
fn common_type(types: &[DataType], ansi: bool) -> Result<DataType> {
    let mut common = DataType::Null;
    for next in types {
        let pair = [common.clone(), next.clone()];
        let wider = coercion::wider_common_type(&pair, ansi).filter(|_| keeps_strings(&pair));
        common = wider.ok_or_else(|| {
            SparkError::new("TRANSPOSE_NO_LEAST_COMMON_TYPE")
                .with("dt1", format!("\"{}\"", common.sql()))
                .with("dt2", format!("\"{}\"", next.sql()))
        })?;
    }
    Ok(common)
}

/// The index column's values become column names, sorted; the query runs now.
pub(crate) fn transpose(a: &mut Analyzer<'_>, input: &Relation, index_columns: &[Expr]) -> Result<Resolved> {
    let resolved = a.relation(input)?;
    let scope = a.scope(&[&resolved]);
    if index_columns.len() > 1 {
        return Err(SparkError::new("TRANSPOSE_INVALID_INDEX_COLUMN")
            .with("reason", "Multiple index columns are not supported."));
    }
    let index: Attribute = match index_columns.first() {
        Some(expr) => {
            let typed = a.expression(expr, &scope)?;
            let found = resolved.output.iter().find(|c| c.expr() == typed.expr).cloned();
            found.ok_or_else(|| {
                SparkError::new("TRANSPOSE_INVALID_INDEX_COLUMN")
                    .with("reason", "The index column is not a plain column.")
            })?
        }
        None => match resolved.output.first() {
            Some(first) => first.clone(),
            None => return Ok(resolved),
        },
    };
    if index.data_type.is_nested() {
        return Err(SparkError::new("TRANSPOSE_INVALID_INDEX_COLUMN").with(
            "reason",
            format!("Index column must be of atomic type, but found: {}", index.data_type.simple_string()),
        ));
    }
    let others: Vec<Attribute> = resolved.output.iter().filter(|c| c.id != index.id).cloned().collect();
    let types: Vec<DataType> = others.iter().map(|c| c.data_type.clone()).collect();
    let common = if types.is_empty() { DataType::STRING } else { common_type(&types, a.env.conf().ansi_enabled)? };
    let max = a.env.conf().transpose_max_values;
    let mut columns: Vec<(String, Vec<Literal>)> = Vec::new();
    let position = |id| resolved.output.iter().position(|c| c.id == id).unwrap_or(0);
    // One row more than may be tells that there are too many.
    let keyed = built(LogicalPlanBuilder::from(resolved.plan.clone()).filter(index.expr().is_not_null()))?;
    let rows = resolved.clone().with_plan(built(keyed.build())?).limited(max.saturating_add(1))?;
    for batch in a.env.run(&rows)? {
        for row in 0..batch.num_rows() {
            let key = Literal::from_array(batch.column(position(index.id)), row, &index.data_type)?;
            if key.is_null() {
                continue;
            }
            if columns.len() == max {
                return Err(SparkError::new("TRANSPOSE_EXCEED_ROW_LIMIT")
                    .with("maxValues", max.to_string())
                    .with("config", "spark.sql.transposeMaxValues"));
            }
            let text = expression::implicit_cast(a, expression::literal(&key)?, &DataType::STRING)?;
            let Literal::String(name) = expression::fold(a, &text)? else { continue };
            let mut values = Vec::new();
            for other in &others {
                let value = Literal::from_array(batch.column(position(other.id)), row, &other.data_type)?;
                let cast = expression::implicit_cast(a, expression::literal(&value)?, &common)?;
                values.push(expression::fold(a, &cast)?);
            }
            columns.push((name, values));
        }
    }
    columns.sort_by(|x, y| x.0.cmp(&y.0));
    let mut schema = vec![StructField::new("key", DataType::STRING, false)];
    let mut arrays: Vec<arrow::array::ArrayRef> =
        vec![Arc::new(arrow::array::StringArray::from(others.iter().map(|c| c.name.clone()).collect::<Vec<_>>()))];
    for (name, values) in columns {
        schema.push(StructField::new(name, common.clone(), true));
        let mut parts = Vec::new();
        for value in &values {
            let value = if value.is_null() { Literal::Null(common.clone()) } else { value.clone() };
            parts.push(value.to_array(1)?);
        }
        let references: Vec<&dyn arrow::array::Array> = parts.iter().map(AsRef::as_ref).collect();
        arrays.push(if references.is_empty() {
            arrow::array::new_empty_array(&firesteel_types::arrow_mapping::to_arrow(&common))
        } else {
            arrow::compute::concat(&references).map_err(|e| SparkError::internal(e.to_string()))?
        });
    }
    let schema = StructType::new(schema);
    let fields: Vec<_> = arrays
        .iter()
        .enumerate()
        .map(|(i, x)| arrow::datatypes::Field::new(i.to_string(), x.data_type().clone(), true))
        .collect();
    let arrow_schema = Arc::new(arrow::datatypes::Schema::new(fields));
    let batch = arrow::array::RecordBatch::try_new(arrow_schema.clone(), arrays)
        .map_err(|e| SparkError::internal(e.to_string()))?;
    leaf::scan(&leaf::memory_scan(&schema, arrow_schema, vec![batch])?, &[])
}
