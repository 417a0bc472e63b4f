//! Which values are the same value: in sets, among keys of maps.

use super::list::canonical;
use crate::scalar::string::rows::{downcast, internal};
use arrow::array::{Array, ArrayRef, Float32Array, Float64Array, ListArray, StructArray};
use arrow::row::{RowConverter, Rows, SortField};
use firesteel_error::{Result, SparkError};
use firesteel_types::{Collation, DataType};
use std::sync::Arc;

/// Bytes per value that are equal exactly where values are the same: NaN is NaN, -0.0 is 0.0, NULL is NULL.
pub struct Identities {
    sources: Vec<Rows>,
}

impl Identities {
    /// Of arrays of one type.
    pub fn new(sources: &[ArrayRef], data_type: &DataType) -> Result<Self> {
        let mut converted = Vec::with_capacity(sources.len());
        let mut converter: Option<RowConverter> = None;
        for source in sources {
            let array = normalised(&canonical(source, data_type)?, data_type)?;
            if converter.is_none() {
                let field = SortField::new(array.data_type().clone());
                converter = Some(RowConverter::new(vec![field]).map_err(internal)?);
            }
            if let Some(converter) = &mut converter {
                converted.push(converter.convert_columns(&[array]).map_err(internal)?);
            }
        }
        Ok(Self { sources: converted })
    }

    /// The bytes of a value.
    #[inline]
    pub fn of(&self, source: usize, at: usize) -> &[u8] {
        match self.sources.get(source) {
            Some(rows) if at < rows.num_rows() => rows.row(at).data(),
            _ => &[],
        }
    }
}

fn has_variants(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float | DataType::Double => true,
        DataType::String(collation) => *collation != Collation::Utf8Binary,
        DataType::Array { element, .. } => has_variants(element),
        DataType::Struct(schema) => schema.fields.iter().any(|f| has_variants(&f.data_type)),
        DataType::Udt { sql_type, .. } => has_variants(sql_type),
        _ => false,
    }
}

/// The values with one representative for those that are the same.
pub fn normalised(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if !has_variants(data_type) {
        return Ok(Arc::clone(array));
    }
    Ok(match data_type {
        DataType::Float => {
            let values = downcast::<Float32Array>(array)?;
            let same = |v: f32| if v.is_nan() { f32::NAN } else { v + 0.0 };
            Arc::new(arrow::compute::unary::<_, _, arrow::datatypes::Float32Type>(values, same))
        }
        DataType::Double => {
            let values = downcast::<Float64Array>(array)?;
            let same = |v: f64| if v.is_nan() { f64::NAN } else { v + 0.0 };
            Arc::new(arrow::compute::unary::<_, _, arrow::datatypes::Float64Type>(values, same))
        }
        DataType::String(Collation::Named(name)) if name.as_ref() == "UTF8_LCASE" => {
            let values = downcast::<arrow::array::StringArray>(array)?;
            let lower: arrow::array::StringArray = values.iter().map(|v| v.map(str::to_lowercase)).collect();
            Arc::new(lower)
        }
        DataType::String(Collation::Named(name)) => {
            return Err(SparkError::unsupported(format!("collections of strings with collation {name}")));
        }
        DataType::Array { element, .. } => {
            let list = downcast::<ListArray>(array)?;
            let values = normalised(list.values(), element)?;
            let arrow::datatypes::DataType::List(field) = list.data_type() else { return Ok(Arc::clone(array)) };
            let made = ListArray::try_new(Arc::clone(field), list.offsets().clone(), values, list.nulls().cloned());
            Arc::new(made.map_err(internal)?)
        }
        DataType::Struct(schema) => {
            let structs = downcast::<StructArray>(array)?;
            let columns = structs
                .columns()
                .iter()
                .zip(&schema.fields)
                .map(|(column, field)| normalised(column, &field.data_type))
                .collect::<Result<Vec<_>>>()?;
            let made = StructArray::try_new(structs.fields().clone(), columns, structs.nulls().cloned());
            Arc::new(made.map_err(internal)?)
        }
        DataType::Udt { sql_type, .. } => return normalised(array, sql_type),
        _ => Arc::clone(array),
    })
}

/// Finds repeated values among the few of one row or the many.
#[derive(Default)]
pub struct Seen<'a> {
    few: Vec<&'a [u8]>,
    many: std::collections::HashSet<&'a [u8]>,
}

/// Up to so many values are compared one by one.
const FEW: usize = 8;

impl<'a> Seen<'a> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }

    /// Adds a value; false where it was there.
    pub fn insert(&mut self, value: &'a [u8]) -> bool {
        if self.contains(value) {
            return false;
        }
        if self.few.len() < FEW && self.many.is_empty() {
            self.few.push(value);
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(value);
        }
        true
    }

    /// True where the value was added.
    pub fn contains(&self, value: &[u8]) -> bool {
        if self.many.is_empty() { self.few.contains(&value) } else { self.many.contains(value) }
    }
}
