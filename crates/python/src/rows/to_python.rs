//! Rows of Arrow as pickled lists.

use crate::pickle::PickleWriter;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalYearMonthType, Time64NanosecondType, TimestampMicrosecondType,
};
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, StructType, number_text};
use std::ops::Range;

/// Bytes of a batch that takes no more rows.
const BATCH_SIZE: usize = 1 << 14;

/// Pickles rows of one schema. Columns are in the layout that clients get.
pub struct RowPickler {
    schema: StructType,
    /// The rows go through a converter in Python.
    converts: bool,
    binary_as_bytes: bool,
}

/// One batch being written.
struct Batch<'a> {
    out: PickleWriter,
    binary_as_bytes: bool,
    /// Whether Python converts rows once it has them: then values are as Spark has them.
    converts: bool,
    /// Converters of struct types so far; where nothing converts, the names of their fields.
    structs: Vec<(&'a StructType, u32)>,
    /// Classes and functions so far.
    globals: Vec<(&'static str, u32)>,
}

/// The ordinal of 1970-01-01 in Python's calendar.
const EPOCH_ORDINAL: i64 = 719_163;

/// Values of these types are made by Python alone, which converts rows that have them: slowly.
fn needs_conversion(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp
        | DataType::TimestampNtz
        | DataType::Variant
        | DataType::Geometry(_)
        | DataType::Geography(_)
        | DataType::Udt { .. } => true,
        DataType::Array { element, .. } => needs_conversion(element),
        DataType::Map { key, value, .. } => needs_conversion(key) || needs_conversion(value),
        DataType::Struct(schema) => schema.fields.iter().any(|field| needs_conversion(&field.data_type)),
        _ => false,
    }
}

impl RowPickler {
    /// A pickler of rows with columns of these types, called `_0`, `_1` and so on.
    pub fn new(types: &[DataType], binary_as_bytes: bool) -> Self {
        let fields = types.iter().enumerate().map(|(i, t)| StructField::new(format!("_{i}"), t.clone(), true));
        Self::of_schema(StructType::new(fields.collect()), binary_as_bytes)
    }

    /// A pickler of rows of a schema.
    pub fn of_schema(schema: StructType, binary_as_bytes: bool) -> Self {
        let converts = schema.fields.iter().any(|field| needs_conversion(&field.data_type));
        Self { schema, converts, binary_as_bytes }
    }

    /// A pickler whose rows are `Row` objects, whatever they hold.
    #[must_use]
    pub fn with_names(mut self) -> Self {
        self.converts = true;
        self
    }

    /// Pickled lists of all rows in order, each of no more rows than are allowed.
    pub fn batches(&self, columns: &[ArrayRef], rows: usize, limit: usize) -> Result<Vec<Vec<u8>>> {
        let mut batches = Vec::with_capacity(rows / 1024 + 1);
        let mut from = 0;
        while from < rows {
            let to = from.saturating_add(limit.max(1)).min(rows);
            let (bytes, count) = self.batch(columns, from..to)?;
            from += count;
            batches.push(bytes);
        }
        Ok(batches)
    }

    /// One pickled list of the first rows, and their number: a list that has become large takes no more.
    fn batch(&self, columns: &[ArrayRef], rows: Range<usize>) -> Result<(Vec<u8>, usize)> {
        let mut batch = Batch::new(self.binary_as_bytes, self.converts);
        batch.out.list();
        batch.out.mark();
        let width = self.schema.fields.len();
        let mut count = 0;
        for row in rows {
            if batch.out.size() > BATCH_SIZE && count > 0 {
                break;
            }
            if self.converts {
                batch.converter(&self.schema);
            }
            batch.out.open_tuple(width);
            for (column, field) in columns.iter().zip(&self.schema.fields) {
                batch.value(column, row, &field.data_type)?;
            }
            batch.out.close_tuple(width);
            if self.converts {
                batch.out.reduce();
            }
            count += 1;
        }
        batch.out.appends();
        Ok((batch.out.finish(), count))
    }
}

/// The pickle of one value of a column, without the conversions that a row brings along.
pub fn pickle_value(column: &ArrayRef, row: usize, data_type: &DataType) -> Result<Vec<u8>> {
    let mut batch = Batch::new(false, true);
    batch.value(column, row, data_type)?;
    Ok(batch.out.finish())
}

impl<'a> Batch<'a> {
    fn new(binary_as_bytes: bool, converts: bool) -> Self {
        Self { out: PickleWriter::new(), binary_as_bytes, converts, structs: Vec::new(), globals: Vec::new() }
    }

    /// A class or function by name.
    fn global(&mut self, module: &'static str, name: &'static str) {
        if let Some((_, slot)) = self.globals.iter().find(|(known, _)| *known == name) {
            self.out.recall(*slot);
            return;
        }
        self.out.global(module, name);
        let slot = self.out.remember();
        self.globals.push((name, slot));
    }

    /// What values of a struct type need, which is made once a batch.
    fn of_struct(&mut self, schema: &'a StructType, make: impl FnOnce(&mut PickleWriter)) {
        if let Some((_, slot)) = self.structs.iter().find(|(known, _)| std::ptr::eq(*known, schema)) {
            self.out.recall(*slot);
            return;
        }
        make(&mut self.out);
        let slot = self.out.remember();
        self.structs.push((schema, slot));
    }

    /// The function that makes rows of a struct type.
    fn converter(&mut self, schema: &'a StructType) {
        self.of_struct(schema, |out| {
            out.global("pyspark.sql.types", "_create_row_inbound_converter");
            out.global("pyspark.sql.types", "_parse_datatype_json_string");
            out.text(&schema.json());
            out.tuple_of_one();
            out.reduce();
            out.tuple_of_one();
            out.reduce();
        });
    }

    /// A call of a class or function with numbers.
    fn call(&mut self, module: &'static str, name: &'static str, arguments: &[i64]) {
        self.global(module, name);
        self.out.open_tuple(arguments.len());
        arguments.iter().for_each(|argument| self.out.int(*argument));
        self.out.close_tuple(arguments.len());
        self.out.reduce();
    }

    /// A date, a time or an interval, given as a number.
    fn temporal(&mut self, data_type: &DataType, number: i64) {
        match data_type {
            _ if self.converts => self.out.int(number),
            DataType::Date => self.call("datetime", "date.fromordinal", &[number + EPOCH_ORDINAL]),
            DataType::Time(_) => {
                let micros = number / 1000;
                let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
                self.call("datetime", "time", &[seconds / 3600, seconds / 60 % 60, seconds % 60, micros]);
            }
            _ => self.call("datetime", "timedelta", &[0, 0, number]),
        }
    }

    /// A row of a struct type.
    fn row(&mut self, schema: &'a StructType, columns: &'a [ArrayRef], row: usize) -> Result<()> {
        if self.converts {
            self.converter(schema);
        } else {
            self.global("pyspark.sql.types", "_create_row");
            self.of_struct(schema, |out| {
                out.list();
                out.mark();
                schema.fields.iter().for_each(|field| out.text(&field.name));
                out.appends();
            });
        }
        self.out.open_tuple(schema.fields.len());
        for (column, field) in columns.iter().zip(&schema.fields) {
            self.value(column, row, &field.data_type)?;
        }
        self.out.close_tuple(schema.fields.len());
        if !self.converts {
            self.out.close_tuple(2);
        }
        self.out.reduce();
        Ok(())
    }

    fn value(&mut self, array: &'a ArrayRef, row: usize, data_type: &'a DataType) -> Result<()> {
        if matches!(data_type, DataType::Null) || array.is_null(row) {
            self.out.none();
            return Ok(());
        }
        match data_type {
            DataType::Boolean => self.out.bool(array.as_boolean().value(row)),
            DataType::Byte => self.out.int(i64::from(array.as_primitive::<Int8Type>().value(row))),
            DataType::Short => self.out.int(i64::from(array.as_primitive::<Int16Type>().value(row))),
            DataType::Integer => self.out.int(i64::from(array.as_primitive::<Int32Type>().value(row))),
            DataType::Long => self.out.int(array.as_primitive::<Int64Type>().value(row)),
            DataType::Float => self.out.float(f64::from(array.as_primitive::<Float32Type>().value(row))),
            DataType::Double => self.out.float(array.as_primitive::<Float64Type>().value(row)),
            DataType::Date => self.temporal(data_type, i64::from(array.as_primitive::<Date32Type>().value(row))),
            DataType::Timestamp | DataType::TimestampNtz => {
                self.out.int(array.as_primitive::<TimestampMicrosecondType>().value(row));
            }
            DataType::Time(_) => self.temporal(data_type, array.as_primitive::<Time64NanosecondType>().value(row)),
            DataType::DayTimeInterval(..) => {
                self.temporal(data_type, array.as_primitive::<DurationMicrosecondType>().value(row));
            }
            DataType::YearMonthInterval(..) => {
                self.out.int(i64::from(array.as_primitive::<IntervalYearMonthType>().value(row)));
            }
            DataType::Decimal(_, scale) => self.decimal(array.as_primitive::<Decimal128Type>().value(row), *scale),
            DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => match array.as_string_opt::<i32>() {
                Some(strings) => self.out.text(strings.value(row)),
                None => self.out.text(array.as_string::<i64>().value(row)),
            },
            DataType::Binary => match array.as_binary_opt::<i32>() {
                Some(values) => self.binary(values.value(row)),
                None => self.binary(array.as_binary::<i64>().value(row)),
            },
            DataType::Udt { sql_type, .. } => self.value(array, row, sql_type)?,
            _ => self.nested(array, row, data_type)?,
        }
        Ok(())
    }

    fn nested(&mut self, array: &'a ArrayRef, row: usize, data_type: &'a DataType) -> Result<()> {
        match data_type {
            DataType::Array { element, .. } => {
                let list = array.as_list::<i32>();
                let (from, to) = span(list.value_offsets(), row);
                self.out.list();
                self.out.mark();
                for i in from..to {
                    self.value(list.values(), i, element)?;
                }
                self.out.appends();
            }
            DataType::Map { key, value, .. } => {
                let map = array.as_map();
                let (from, to) = span(map.value_offsets(), row);
                self.out.dict();
                self.out.mark();
                for i in from..to {
                    self.value(map.keys(), i, key)?;
                    self.value(map.values(), i, value)?;
                }
                self.out.set_items();
            }
            DataType::Struct(schema) => self.row(schema, array.as_struct().columns(), row)?,
            DataType::Variant => {
                self.out.dict();
                self.out.mark();
                for (name, column) in ["value", "metadata"].iter().zip(array.as_struct().columns()) {
                    self.out.text(name);
                    let bytes = column.as_binary_opt::<i32>().map(|b| b.value(row));
                    self.byte_array(bytes.unwrap_or_default());
                }
                self.out.set_items();
            }
            other => {
                return Err(SparkError::unsupported(format!("values of type {} in Python functions", other.sql())));
            }
        }
        Ok(())
    }

    fn decimal(&mut self, unscaled: i128, scale: i8) {
        self.global("decimal", "Decimal");
        let mut text = String::new();
        number_text::write_plain_decimal(&mut text, unscaled, scale);
        self.out.text(&text);
        self.out.tuple_of_one();
        self.out.reduce();
    }

    fn binary(&mut self, value: &[u8]) {
        if self.binary_as_bytes {
            self.out.bytes(value);
        } else {
            self.byte_array(value);
        }
    }

    /// Bytes that can be changed.
    fn byte_array(&mut self, value: &[u8]) {
        self.global("builtins", "bytearray");
        self.out.bytes(value);
        self.out.tuple_of_one();
        self.out.reduce();
    }
}

fn span(offsets: &[i32], row: usize) -> (usize, usize) {
    let at = |i: usize| offsets.get(i).and_then(|o| usize::try_from(*o).ok()).unwrap_or_default();
    (at(row), at(row + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pickle::{Node, Pickle};
    use arrow::array::{Date32Array, Int64Array, StructArray};
    use arrow::datatypes::{DataType as ArrowType, Field};
    use std::sync::Arc;

    #[test]
    fn dates_and_structs_are_made_where_rows_are_read() {
        let dates: ArrayRef = Arc::new(Date32Array::from(vec![Some(0), None, Some(-1)]));
        let inner: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 9]));
        let field = Arc::new(Field::new("a", ArrowType::Int64, true));
        let structs: ArrayRef = Arc::new(StructArray::from(vec![(field, inner)]));
        let schema = StructType::new(vec![StructField::new("a", DataType::Long, true)]);
        let pickler = RowPickler::new(&[DataType::Date, DataType::Struct(Arc::new(schema))], true);
        let batches = pickler.batches(&[dates, structs], 3, 2).unwrap();
        assert_eq!(batches.len(), 2);
        let pickle = Pickle::read(&batches[0]).unwrap();
        let Node::List(rows) = pickle.node(pickle.root()) else { panic!("no list") };
        let Node::Tuple(values) = pickle.node(rows[0]) else { panic!("no tuple") };
        let Node::Object { class, arguments } = pickle.node(values[0]) else { panic!("no date") };
        assert_eq!(pickle.node(*class), &Node::Class("datetime.date.fromordinal".to_string()));
        assert_eq!(pickle.node(arguments[0]), &Node::Int(719_163));
        let Node::Object { class, arguments } = pickle.node(values[1]) else { panic!("no row") };
        assert_eq!(pickle.node(*class), &Node::Class("pyspark.sql.types._create_row".to_string()));
        assert!(matches!(pickle.node(arguments[0]), Node::List(names) if names.len() == 1));
        let Node::Tuple(values) = pickle.node(rows[1]) else { panic!("no tuple") };
        assert_eq!(pickle.node(values[0]), &Node::None);
    }
}
