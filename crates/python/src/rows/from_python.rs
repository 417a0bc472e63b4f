//! Pickled values as columns.

use crate::pickle::{Id, Node, Pickle};
use crate::wire::{broken, internal};
use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, IntervalYearMonthArray, ListArray, MapArray,
    NullArray, StringBuilder, StructArray, Time64NanosecondArray, TimestampMicrosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, arrow_mapping, number_text};
use std::sync::Arc;

/// The values of a pickled list.
pub fn values(pickle: &Pickle<'_>) -> Result<Vec<Id>> {
    match pickle.node(pickle.root()) {
        Node::List(items) | Node::Tuple(items) => Ok(items.clone()),
        _ => Err(broken("a batch that is no list")),
    }
}

/// The columns of results: values of one function are bare, those of several are tuples.
pub fn columns(pickle: &Pickle<'_>, items: &[Id], types: &[DataType]) -> Result<Vec<ArrayRef>> {
    let reader = Reader { pickle };
    if let [one] = types {
        let ids: Vec<Option<Id>> = items.iter().map(|id| Some(*id)).collect();
        return Ok(vec![reader.column(&ids, one)?]);
    }
    types
        .iter()
        .enumerate()
        .map(|(i, data_type)| {
            let ids = items.iter().map(|id| match pickle.node(*id) {
                Node::Tuple(values) | Node::List(values) => values.get(i).copied(),
                _ => None,
            });
            reader.column(&ids.collect::<Vec<_>>(), data_type)
        })
        .collect()
}

/// The columns of rows that a table function made.
pub fn table_columns(pickle: &Pickle<'_>, rows: &[Id], types: &[DataType]) -> Result<Vec<ArrayRef>> {
    let reader = Reader { pickle };
    types
        .iter()
        .enumerate()
        .map(|(i, data_type)| {
            let ids = rows.iter().map(|id| match pickle.node(*id) {
                Node::Tuple(values) | Node::List(values) => values.get(i).copied(),
                _ => None,
            });
            reader.column(&ids.collect::<Vec<_>>(), data_type)
        })
        .collect()
}

struct Reader<'p, 'b> {
    pickle: &'p Pickle<'b>,
}

impl Reader<'_, '_> {
    fn node(&self, id: Option<Id>) -> Result<&Node> {
        let node = id.map_or(&Node::None, |id| self.pickle.node(id));
        match node {
            Node::Object { class, arguments } => self.check(*class, arguments).map(|()| node),
            _ => Ok(node),
        }
    }

    /// Objects that Spark has no constructor for are errors, not nulls.
    fn check(&self, class: Id, arguments: &[Id]) -> Result<()> {
        let Node::Class(name) = self.pickle.node(class) else { return Ok(()) };
        // Rows are tuples by then, unless they stand where no struct belongs.
        let is_row = name == "pyspark.sql.types._create_row";
        let is_known = ["decimal.", "datetime.", "builtins.", "pyspark."].iter().any(|module| name.starts_with(module));
        if (is_known && !is_row) || arguments.is_empty() {
            return Ok(());
        }
        Err(SparkError::plain(
            ExceptionClass::Spark,
            format!(
                "PickleException: A Python function returned an object of {name}, which has no place in a column: \
                 return plain Python values (for NumPy's, call .item())"
            ),
        ))
    }

    fn int(&self, id: Option<Id>) -> Result<Option<i64>> {
        Ok(match self.node(id)? {
            Node::Int(value) => Some(*value),
            _ => None,
        })
    }

    fn float(&self, id: Option<Id>) -> Result<Option<f64>> {
        Ok(match self.node(id)? {
            Node::Float(value) => Some(*value),
            _ => None,
        })
    }

    fn all<T, C: FromIterator<Option<T>>>(
        &self,
        ids: &[Option<Id>],
        get: impl Fn(&Self, Option<Id>) -> Result<Option<T>>,
    ) -> Result<C> {
        ids.iter().map(|id| get(self, *id)).collect()
    }

    fn column(&self, ids: &[Option<Id>], data_type: &DataType) -> Result<ArrayRef> {
        Ok(match data_type {
            DataType::Null => Arc::new(NullArray::new(ids.len())),
            DataType::Boolean => Arc::new(self.all::<_, BooleanArray>(ids, |r, id| {
                Ok(match r.node(id)? {
                    Node::Bool(value) => Some(*value),
                    _ => None,
                })
            })?),
            // As casts of Java do, high bits are cut off.
            DataType::Byte => Arc::new(self.all::<_, Int8Array>(ids, |r, id| Ok(r.int(id)?.map(|v| v as i8)))?),
            DataType::Short => Arc::new(self.all::<_, Int16Array>(ids, |r, id| Ok(r.int(id)?.map(|v| v as i16)))?),
            DataType::Integer => Arc::new(self.all::<_, Int32Array>(ids, |r, id| Ok(r.int(id)?.map(|v| v as i32)))?),
            DataType::Date => Arc::new(self.all::<_, Date32Array>(ids, |r, id| Ok(r.int(id)?.map(|v| v as i32)))?),
            DataType::YearMonthInterval(..) => {
                Arc::new(self.all::<_, IntervalYearMonthArray>(ids, |r, id| Ok(r.int(id)?.map(|v| v as i32)))?)
            }
            DataType::Long => Arc::new(self.all::<_, Int64Array>(ids, Self::int)?),
            DataType::Timestamp => Arc::new(
                self.all::<_, TimestampMicrosecondArray>(ids, Self::int)?
                    .with_timezone(arrow_mapping::ENGINE_TIME_ZONE),
            ),
            DataType::TimestampNtz => Arc::new(self.all::<_, TimestampMicrosecondArray>(ids, Self::int)?),
            DataType::Time(_) => Arc::new(self.all::<_, Time64NanosecondArray>(ids, Self::int)?),
            DataType::DayTimeInterval(..) => Arc::new(self.all::<_, DurationMicrosecondArray>(ids, Self::int)?),
            DataType::Float => Arc::new(self.all::<_, Float32Array>(ids, |r, id| Ok(r.float(id)?.map(|v| v as f32)))?),
            DataType::Double => Arc::new(self.all::<_, Float64Array>(ids, Self::float)?),
            DataType::Decimal(precision, scale) => {
                let numbers: Decimal128Array = self.all(ids, |r, id| r.decimal(id, *precision, *scale))?;
                Arc::new(numbers.with_precision_and_scale((*precision).max(1), *scale).map_err(internal)?)
            }
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => self.strings(ids)?,
            DataType::Binary => self.binaries(ids)?,
            DataType::Array { element, .. } => self.lists(ids, element, data_type)?,
            DataType::Map { key, value, .. } => self.maps(ids, (key, value), data_type)?,
            DataType::Struct(schema) => {
                let types: Vec<&DataType> = schema.fields.iter().map(|f| &f.data_type).collect();
                self.structs(ids, &types, data_type)?
            }
            DataType::Udt { sql_type, .. } => self.column(ids, sql_type)?,
            DataType::Variant => self.variants(ids, data_type)?,
            other => {
                return Err(SparkError::unsupported(format!("values of type {} from Python functions", other.sql())));
            }
        })
    }

    fn decimal(&self, id: Option<Id>, precision: u8, scale: i8) -> Result<Option<i128>> {
        let Node::Object { class, arguments } = self.node(id)? else { return Ok(None) };
        let Node::Class(name) = self.pickle.node(*class) else { return Ok(None) };
        let text = match arguments.first().map(|id| self.pickle.node(*id)) {
            Some(Node::Text(text)) if name == "decimal.Decimal" => self.pickle.text(text),
            _ => return Ok(None),
        };
        Ok(rescaled(&text, precision, scale))
    }

    fn strings(&self, ids: &[Option<Id>]) -> Result<ArrayRef> {
        let mut builder = StringBuilder::with_capacity(ids.len(), ids.len() * 8);
        for id in ids {
            match self.node(*id)? {
                Node::None => builder.append_null(),
                Node::Text(text) => builder.append_value(self.pickle.text(text)),
                _ => builder.append_value(self.shown(*id, 0)),
            }
        }
        Ok(Arc::new(builder.finish()))
    }

    /// The text of a value that is no text, as Java shows it.
    fn shown(&self, id: Option<Id>, depth: usize) -> String {
        let list = |items: &[Id]| {
            let items: Vec<String> = items.iter().map(|id| self.shown(Some(*id), depth + 1)).collect();
            format!("[{}]", items.join(", "))
        };
        if depth > 100 {
            return "...".to_string();
        }
        match id.map_or(&Node::None, |id| self.pickle.node(id)) {
            Node::None => "null".to_string(),
            Node::Bool(value) => value.to_string(),
            Node::Int(value) => value.to_string(),
            Node::Big(value) => value.to_string(),
            Node::Float(value) => {
                let mut text = String::new();
                number_text::write_double(&mut text, *value);
                text
            }
            Node::Text(text) => self.pickle.text(text).into_owned(),
            Node::Bytes(_) => "[B@0".to_string(),
            Node::List(items) | Node::Set(items) => list(items),
            Node::Tuple(_) => "[Ljava.lang.Object;@0".to_string(),
            Node::Dict(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(k, v)| format!("{}={}", self.shown(Some(*k), depth + 1), self.shown(Some(*v), depth + 1)))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Node::Class(name) => name.clone(),
            Node::Object { class, arguments } => match (self.pickle.node(*class), arguments.first()) {
                (Node::Class(name), Some(text)) if name == "decimal.Decimal" => self.shown(Some(*text), depth + 1),
                (Node::Class(name), _) => name.clone(),
                _ => String::new(),
            },
        }
    }

    fn binaries(&self, ids: &[Option<Id>]) -> Result<ArrayRef> {
        let mut builder = BinaryBuilder::new();
        for id in ids {
            match self.bytes(*id)? {
                Some(bytes) => builder.append_value(bytes),
                None => builder.append_null(),
            }
        }
        Ok(Arc::new(builder.finish()))
    }

    fn bytes(&self, id: Option<Id>) -> Result<Option<&[u8]>> {
        Ok(match self.node(id)? {
            Node::Text(range) | Node::Bytes(range) => Some(self.pickle.slice(range)),
            Node::Object { class, arguments } => match (self.pickle.node(*class), arguments.first()) {
                (Node::Class(name), Some(first)) if name == "builtins.bytearray" => match self.pickle.node(*first) {
                    Node::Bytes(range) => Some(self.pickle.slice(range)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        })
    }

    fn lists(&self, ids: &[Option<Id>], element: &DataType, data_type: &DataType) -> Result<ArrayRef> {
        let ArrowType::List(field) = arrow_mapping::to_arrow(data_type) else {
            return Err(SparkError::internal("an array is no list"));
        };
        if matches!(element, DataType::Byte | DataType::Short | DataType::Integer | DataType::Long)
            && let Some(lists) = self.lists_of_bytes(ids, element, &field)?
        {
            return Ok(lists);
        }
        let (mut items, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            match self.node(*id)? {
                Node::List(values) | Node::Tuple(values) => {
                    items.extend(values.iter().map(|id| Some(*id)));
                    lengths.push(values.len());
                    valid.push(true);
                }
                _ => {
                    lengths.push(0);
                    valid.push(false);
                }
            }
        }
        let values = self.column(&items, element)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        let list = ListArray::try_new(field, offsets, values, Some(NullBuffer::from(valid))).map_err(internal)?;
        Ok(Arc::new(list))
    }

    /// Bytes are an array of numbers too. None where no value is of bytes.
    fn lists_of_bytes(&self, ids: &[Option<Id>], element: &DataType, field: &FieldRef) -> Result<Option<ArrayRef>> {
        let is_bytes = |id: &Option<Id>| id.is_some_and(|id| matches!(self.pickle.node(id), Node::Bytes(_)));
        if !ids.iter().any(is_bytes) {
            return Ok(None);
        }
        let (mut numbers, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            let before = numbers.len();
            let is_valid = match self.node(*id)? {
                Node::Bytes(range) => {
                    numbers.extend(self.pickle.slice(range).iter().map(|b| Some(i64::from(*b as i8))));
                    true
                }
                Node::List(values) | Node::Tuple(values) => {
                    for value in values {
                        numbers.push(self.int(Some(*value))?);
                    }
                    true
                }
                _ => false,
            };
            lengths.push(numbers.len() - before);
            valid.push(is_valid);
        }
        let wide: ArrayRef = Arc::new(Int64Array::from(numbers));
        let values = arrow::compute::cast(&wide, &arrow_mapping::to_arrow(element)).map_err(internal)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        let nulls = Some(NullBuffer::from(valid));
        let list = ListArray::try_new(field.clone(), offsets, values, nulls).map_err(internal)?;
        Ok(Some(Arc::new(list)))
    }

    fn maps(&self, ids: &[Option<Id>], (key, value): (&DataType, &DataType), data_type: &DataType) -> Result<ArrayRef> {
        let ArrowType::Map(entries, _) = arrow_mapping::to_arrow(data_type) else {
            return Err(SparkError::internal("a map is no map"));
        };
        let ArrowType::Struct(fields) = entries.data_type() else {
            return Err(SparkError::internal("entries of a map are a struct"));
        };
        let (mut keys, mut values, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            let pairs: &[(Id, Id)] = match self.node(*id)? {
                Node::Dict(pairs) => {
                    valid.push(true);
                    pairs
                }
                _ => {
                    valid.push(false);
                    &[]
                }
            };
            lengths.push(pairs.len());
            keys.extend(pairs.iter().map(|(k, _)| Some(*k)));
            values.extend(pairs.iter().map(|(_, v)| Some(*v)));
        }
        let columns = vec![self.column(&keys, key)?, self.column(&values, value)?];
        if columns[0].null_count() > 0 {
            return Err(SparkError::new("NULL_MAP_KEY"));
        }
        let structs = StructArray::try_new(fields.clone(), columns, None).map_err(internal)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        let map = MapArray::try_new(entries.clone(), offsets, structs, Some(NullBuffer::from(valid)), false);
        Ok(Arc::new(map.map_err(internal)?))
    }

    fn structs(&self, ids: &[Option<Id>], types: &[&DataType], data_type: &DataType) -> Result<ArrayRef> {
        let ArrowType::Struct(fields) = arrow_mapping::to_arrow(data_type) else {
            return Err(SparkError::internal("a struct is no struct"));
        };
        let mut valid = Vec::with_capacity(ids.len());
        let mut columns: Vec<Vec<Option<Id>>> = vec![Vec::with_capacity(ids.len()); types.len()];
        for id in ids {
            match self.node(*id)? {
                Node::Tuple(values) => {
                    if values.len() != types.len() {
                        return Err(SparkError::new("STRUCT_ARRAY_LENGTH_MISMATCH")
                            .with("expected", types.len().to_string())
                            .with("actual", values.len().to_string()));
                    }
                    valid.push(true);
                    columns.iter_mut().zip(values).for_each(|(column, value)| column.push(Some(*value)));
                }
                _ => {
                    valid.push(false);
                    columns.iter_mut().for_each(|column| column.push(None));
                }
            }
        }
        let nulls = Some(NullBuffer::from(valid));
        if types.is_empty() {
            return Ok(Arc::new(StructArray::new_empty_fields(ids.len(), nulls)));
        }
        let arrays = columns.iter().zip(types).map(|(ids, t)| self.column(ids, t)).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(StructArray::try_new(fields, arrays, nulls).map_err(internal)?))
    }

    /// Variants come as dicts of their two parts.
    fn variants(&self, ids: &[Option<Id>], data_type: &DataType) -> Result<ArrayRef> {
        let ArrowType::Struct(fields) = arrow_mapping::to_arrow(data_type) else {
            return Err(SparkError::internal("a variant is no struct"));
        };
        let mut valid = Vec::with_capacity(ids.len());
        let mut parts = [BinaryBuilder::new(), BinaryBuilder::new()];
        for id in ids {
            let pairs: &[(Id, Id)] = match self.node(*id)? {
                Node::Dict(pairs) => pairs,
                _ => &[],
            };
            let part = |name: &str| {
                pairs.iter().find_map(|(k, v)| match (self.pickle.node(*k), self.pickle.node(*v)) {
                    (Node::Text(key), Node::Bytes(value)) if self.pickle.text(key) == name => {
                        Some(self.pickle.slice(value))
                    }
                    _ => None,
                })
            };
            let (value, metadata) = (part("value"), part("metadata"));
            valid.push(value.is_some() && metadata.is_some());
            parts[0].append_value(value.unwrap_or_default());
            parts[1].append_value(metadata.unwrap_or_default());
        }
        let arrays = parts.iter_mut().map(|p| Arc::new(p.finish()) as ArrayRef).collect();
        Ok(Arc::new(StructArray::try_new(fields, arrays, Some(NullBuffer::from(valid))).map_err(internal)?))
    }
}

/// The unscaled number of a decimal's text at a scale, half up; none where it does not fit.
fn rescaled(text: &str, precision: u8, scale: i8) -> Option<i128> {
    let (number, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (is_negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits: num_bigint::BigInt = format!("{whole}{fraction}").parse().ok()?;
    // The value is digits · 10^(exponent - |fraction|).
    let shift = exponent - i32::try_from(fraction.len()).ok()? + i32::from(scale);
    let ten = num_bigint::BigInt::from(10);
    let unscaled = if shift >= 0 {
        if shift > 80 {
            return None;
        }
        digits * ten.pow(shift.unsigned_abs())
    } else if shift < -400 {
        num_bigint::BigInt::from(0)
    } else {
        let divisor = ten.pow(shift.unsigned_abs());
        (digits * 2 + &divisor) / (divisor * 2)
    };
    let unscaled = i128::try_from(&unscaled).ok()?;
    if unscaled >= 10i128.checked_pow(u32::from(precision))? {
        return None;
    }
    Some(if is_negative { -unscaled } else { unscaled })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_rescaled_half_up() {
        assert_eq!(rescaled("1.005", 10, 2), Some(101));
        assert_eq!(rescaled("-1.005", 10, 2), Some(-101));
        assert_eq!(rescaled("1E+2", 10, 2), Some(10_000));
        assert_eq!(rescaled("1E-7", 10, 2), Some(0));
        assert_eq!(rescaled("123.4", 4, 2), None);
        assert_eq!(rescaled("NaN", 4, 2), None);
    }
}
