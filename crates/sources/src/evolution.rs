//! Columns of files as tables have them, where their types are not quite the same: fields of structs are found
//! by name, at any depth, and those that a file lacks are null.

use crate::rebase::Rebase;
use arrow::array::types::TimestampMicrosecondType;
use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, FieldRef, Fields, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_plan::PhysicalExpr;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// True where a column has to be brought to a table's type by name, or to its calendar.
pub(crate) fn evolves(stored: &ArrowType, wanted: &ArrowType, rebase: Rebase) -> bool {
    if rebase.changes(stored) {
        return true;
    }
    let is_nested = |t: &ArrowType| matches!(t, ArrowType::Struct(_) | ArrowType::List(_) | ArrowType::Map(..));
    stored != wanted
        && ((is_nested(stored) && is_nested(wanted))
            || matches!((stored, wanted), (ArrowType::Int8 | ArrowType::Int16, ArrowType::Date32)))
}

/// A column of a file as its table has it.
#[derive(Debug, Clone, Eq)]
pub(crate) struct Evolved {
    column: Arc<dyn PhysicalExpr>,
    wanted: FieldRef,
    how: Evolution,
}

/// How columns of a file become those of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Evolution {
    pub(crate) case_sensitive: bool,
    pub(crate) rebase: Rebase,
}

impl Hash for Evolved {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.column.hash(state);
        self.wanted.hash(state);
        self.how.hash(state);
    }
}

impl PartialEq for Evolved {
    fn eq(&self, other: &Self) -> bool {
        self.column.eq(&other.column) && self.wanted == other.wanted && self.how == other.how
    }
}

impl Evolved {
    /// The column that an expression gives, as a field of a table.
    pub(crate) fn new(column: Arc<dyn PhysicalExpr>, wanted: FieldRef, how: Evolution) -> Self {
        Self { column, wanted, how }
    }
}

impl fmt::Display for Evolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as {}", self.column, self.wanted.data_type())
    }
}

impl PhysicalExpr for Evolved {
    fn data_type(&self, _input: &Schema) -> DfResult<ArrowType> {
        Ok(self.wanted.data_type().clone())
    }

    fn nullable(&self, _input: &Schema) -> DfResult<bool> {
        Ok(true)
    }

    fn evaluate(&self, batch: &RecordBatch) -> DfResult<ColumnarValue> {
        let array = self.column.evaluate(batch)?.into_array(batch.num_rows())?;
        evolved(&array, self.wanted.data_type(), self.how).map(ColumnarValue::Array)
    }

    fn return_field(&self, _input: &Schema) -> DfResult<FieldRef> {
        Ok(self.wanted.clone())
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.column]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> DfResult<Arc<dyn PhysicalExpr>> {
        let [column] = children.as_slice() else {
            return Err(DataFusionError::Internal("a column has one expression".into()));
        };
        Ok(Arc::new(Self { column: column.clone(), ..self.as_ref().clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Values of a file as values of a table's type.
pub(crate) fn evolved(array: &ArrayRef, wanted: &ArrowType, how: Evolution) -> DfResult<ArrayRef> {
    let rebased = how.rebase.apply(array);
    let array = rebased.as_ref().unwrap_or(array);
    let stored = array.data_type();
    if stored == wanted && !how.rebase.changes(stored) {
        return Ok(array.clone());
    }
    Ok(match (stored, wanted) {
        (ArrowType::Struct(_), ArrowType::Struct(fields)) => Arc::new(evolved_struct(array.as_struct(), fields, how)?),
        (ArrowType::List(_), ArrowType::List(field)) => {
            let list = array.as_list::<i32>();
            let values = evolved(list.values(), field.data_type(), how)?;
            Arc::new(ListArray::try_new(field.clone(), list.offsets().clone(), values, list.nulls().cloned())?)
        }
        (ArrowType::Map(..), ArrowType::Map(field, is_sorted)) => {
            let map = array.as_map();
            let ArrowType::Struct(fields) = field.data_type() else { return Ok(cast(array, wanted)?) };
            let [key, value] = &fields[..] else { return Ok(cast(array, wanted)?) };
            let columns =
                vec![evolved(map.keys(), key.data_type(), how)?, evolved(map.values(), value.data_type(), how)?];
            let entries = StructArray::try_new(fields.clone(), columns, None)?;
            let nulls = map.nulls().cloned();
            Arc::new(MapArray::try_new(field.clone(), map.offsets().clone(), entries, nulls, *is_sorted)?)
        }
        (ArrowType::Int8 | ArrowType::Int16, ArrowType::Date32) => cast(&cast(array, &ArrowType::Int32)?, wanted)?,
        // Moments of 96 bits have a zone of their own.
        (ArrowType::Timestamp(unit, Some(_)), ArrowType::Timestamp(wanted_unit, Some(zone))) if unit == wanted_unit => {
            match array.as_primitive_opt::<TimestampMicrosecondType>() {
                Some(moments) => Arc::new(moments.clone().with_timezone(zone.clone())),
                None => cast(array, wanted)?,
            }
        }
        _ => cast(array, wanted)?,
    })
}

fn evolved_struct(structs: &StructArray, wanted: &Fields, how: Evolution) -> DfResult<StructArray> {
    let nulls = structs.nulls().cloned();
    if wanted.is_empty() {
        return Ok(StructArray::new_empty_fields(structs.len(), nulls));
    }
    let columns = wanted
        .iter()
        .map(|field| {
            let stored = structs.fields();
            let found = stored.iter().position(|f| f.name() == field.name()).or_else(|| {
                let same = |f: &FieldRef| f.name().eq_ignore_ascii_case(field.name());
                if how.case_sensitive { None } else { stored.iter().position(same) }
            });
            match found {
                Some(at) => evolved(structs.column(at), field.data_type(), how),
                None => Ok(new_null_array(field.data_type(), structs.len())),
            }
        })
        .collect::<DfResult<Vec<ArrayRef>>>()?;
    Ok(StructArray::try_new(wanted.clone(), columns, nulls)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, Int64Array, StringArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::Field;

    #[test]
    fn fields_within_maps_are_found_by_name() {
        let field = |name: &str, data_type| Arc::new(Field::new(name, data_type, true));
        let entries = |value: ArrowType| {
            let key = Arc::new(Field::new("key", ArrowType::Utf8, false));
            Arc::new(Field::new("entries", ArrowType::Struct(vec![key, field("value", value)].into()), false))
        };
        let inner: Fields = vec![field("m", ArrowType::Int32), field("N", ArrowType::Int32)].into();
        let values = StructArray::new(
            inner.clone(),
            vec![Arc::new(Int32Array::from(vec![1])), Arc::new(Int32Array::from(vec![2]))],
            None,
        );
        let stored = entries(ArrowType::Struct(inner));
        let ArrowType::Struct(fields) = stored.data_type().clone() else { return };
        let pairs = StructArray::new(fields, vec![Arc::new(StringArray::from(vec!["k"])), Arc::new(values)], None);
        let map: ArrayRef = Arc::new(MapArray::new(stored, OffsetBuffer::from_lengths([1]), pairs, None, false));
        let inner: Fields = vec![field("n", ArrowType::Int64), field("o", ArrowType::Int32)].into();
        let wanted = ArrowType::Map(entries(ArrowType::Struct(inner)), false);
        let found = evolved(&map, &wanted, Evolution::default()).unwrap();
        assert_eq!(*found.data_type(), wanted);
        let values = found.as_map().values().as_struct().clone();
        assert_eq!(values.column(0).as_ref(), &Int64Array::from(vec![2]) as &dyn Array);
        assert_eq!(values.column(1).null_count(), 1);
    }
}
