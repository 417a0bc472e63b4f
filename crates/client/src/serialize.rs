//! Rust values as a batch, by serde.

mod tuples;

use crate::error::{Error, Result};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::json::ReaderBuilder;
use firesteel_types::StructType;
use firesteel_types::arrow_mapping::to_arrow_schema_exact;
use serde::ser::{self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct};
use std::fmt;
use std::sync::Arc;

/// The rows as a batch; of a schema, or of the one that the values tell.
pub(crate) fn batch_of<T: Serialize>(rows: &[T], schema: Option<&StructType>) -> Result<RecordBatch> {
    let traced = match schema {
        // Only whether rows are tuples is of interest.
        Some(_) => shape_of(rows.get(..1).unwrap_or_default())?,
        None => shape_of(rows)?,
    };
    let is_tuple = traced.is_tuple;
    let schema: SchemaRef = match schema {
        Some(schema) => Arc::new(to_arrow_schema_exact(schema)),
        None => Arc::new(traced.into_schema()?),
    };
    let mut decoder = ReaderBuilder::new(Arc::clone(&schema)).with_batch_size(rows.len().max(1)).build_decoder()?;
    if is_tuple {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let rows: Vec<_> = rows.iter().map(|row| tuples::Named { row, names: &names }).collect();
        decoder.serialize(&rows)?;
    } else {
        decoder.serialize(rows)?;
    }
    Ok(decoder.flush()?.unwrap_or_else(|| RecordBatch::new_empty(schema)))
}

/// What rows are like.
fn shape_of<T: Serialize>(rows: &[T]) -> Result<Shape> {
    let mut shape = Shape::default();
    for row in rows {
        row.serialize(Tracer { shape: &mut shape, is_row: true }).map_err(|error| Error::Convert(error.to_string()))?;
    }
    Ok(shape)
}

/// What is known about the values of a place.
#[derive(Debug, Default)]
struct Shape {
    kind: Kind,
    nullable: bool,
    /// A struct whose fields have no names of their own.
    is_tuple: bool,
}

impl Shape {
    fn into_schema(self) -> Result<Schema> {
        match self.kind {
            Kind::Struct(fields) => Ok(Schema::new(arrow_fields(fields))),
            Kind::Unknown => Err(Error::Convert("no row to take the schema from: give one".to_string())),
            _ => Err(Error::Convert("rows must be structs, tuples or maps".to_string())),
        }
    }
}

#[derive(Debug, Default)]
enum Kind {
    /// Only NULL so far.
    #[default]
    Unknown,
    Plain(DataType),
    List(Box<Shape>),
    Struct(Vec<(String, Shape)>),
    Map(Box<Shape>, Box<Shape>),
}

fn arrow_fields(fields: Vec<(String, Shape)>) -> Fields {
    fields.into_iter().map(|(name, shape)| arrow_field(&name, shape)).collect()
}

fn arrow_field(name: &str, shape: Shape) -> Field {
    let data_type = match shape.kind {
        Kind::Unknown => DataType::Null,
        Kind::Plain(of) => of,
        Kind::List(element) => DataType::List(Arc::new(arrow_field("element", *element))),
        Kind::Struct(fields) => DataType::Struct(arrow_fields(fields)),
        Kind::Map(key, value) => {
            let key = Field::new("key", arrow_field("key", *key).data_type().clone(), false);
            let entries = DataType::Struct(Fields::from(vec![key, arrow_field("value", *value)]));
            DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
        }
    };
    let nullable = shape.nullable || data_type == DataType::Null;
    Field::new(name, data_type, nullable)
}

/// Why a value has no schema.
#[derive(Debug)]
struct Misfit(String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misfit {}

impl ser::Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Misfit(message.to_string())
    }
}

/// Learns the shape of a place from a value.
struct Tracer<'a> {
    shape: &'a mut Shape,
    is_row: bool,
}

impl<'a> Tracer<'a> {
    /// For a place within a row.
    fn within(shape: &'a mut Shape) -> Self {
        Tracer { shape, is_row: false }
    }

    fn plain(self, of: DataType) -> std::result::Result<(), Misfit> {
        match &self.shape.kind {
            Kind::Unknown => self.shape.kind = Kind::Plain(of),
            Kind::Plain(known) if *known == of => {}
            known => return Err(Misfit(format!("values of {of} beside {known:?}"))),
        }
        Ok(())
    }

    fn list(self) -> std::result::Result<ListTracer<'a>, Misfit> {
        if matches!(self.shape.kind, Kind::Unknown) {
            self.shape.kind = Kind::List(Box::default());
        }
        match &mut self.shape.kind {
            Kind::List(element) => Ok(ListTracer(element)),
            known => Err(Misfit(format!("lists beside {known:?}"))),
        }
    }

    /// The values of a tuple: fields of a row, else elements of a list.
    fn tuple(self) -> std::result::Result<TupleTracer<'a>, Misfit> {
        if !self.is_row {
            return self.list().map(TupleTracer::List);
        }
        self.shape.is_tuple = true;
        self.fields().map(TupleTracer::Row)
    }

    /// The entries of a map: fields of a row, else of a map's type.
    fn entries(self) -> std::result::Result<MapTracer<'a>, Misfit> {
        if self.is_row {
            return self.fields().map(MapTracer::Row);
        }
        if matches!(self.shape.kind, Kind::Unknown) {
            self.shape.kind = Kind::Map(Box::default(), Box::default());
        }
        match &mut self.shape.kind {
            Kind::Map(key, value) => Ok(MapTracer::Map(key, value)),
            known => Err(Misfit(format!("maps beside {known:?}"))),
        }
    }

    fn fields(self) -> std::result::Result<FieldTracer<'a>, Misfit> {
        let first = matches!(self.shape.kind, Kind::Unknown);
        if first {
            self.shape.kind = Kind::Struct(Vec::new());
        }
        match &mut self.shape.kind {
            Kind::Struct(fields) => Ok(FieldTracer { fields, first, next: 0, key: None, seen: 0 }),
            known => Err(Misfit(format!("structs beside {known:?}"))),
        }
    }
}

struct ListTracer<'a>(&'a mut Shape);

enum TupleTracer<'a> {
    Row(FieldTracer<'a>),
    List(ListTracer<'a>),
}

enum MapTracer<'a> {
    Row(FieldTracer<'a>),
    Map(&'a mut Shape, &'a mut Shape),
}

struct FieldTracer<'a> {
    fields: &'a mut Vec<(String, Shape)>,
    /// The first value of its place: it tells which fields there are.
    first: bool,
    next: usize,
    key: Option<String>,
    seen: usize,
}

impl FieldTracer<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> std::result::Result<(), Misfit> {
        // Fields come in the same order for each struct; maps may have others.
        let at_next = self.fields.get(self.next).is_some_and(|(known, _)| known == name);
        let place = if at_next { Some(self.next) } else { self.fields.iter().position(|(known, _)| known == name) };
        let place = place.unwrap_or_else(|| {
            self.fields.push((name.to_string(), Shape { nullable: !self.first, ..Shape::default() }));
            self.fields.len() - 1
        });
        self.next = place + 1;
        self.seen += 1;
        value.serialize(Tracer::within(&mut self.fields[place].1))
    }

    fn done(self) -> std::result::Result<(), Misfit> {
        // A field that this value lacks may be NULL.
        if self.seen < self.fields.len() {
            self.fields.iter_mut().for_each(|(_, shape)| shape.nullable = true);
        }
        Ok(())
    }
}

macro_rules! plain {
    ($($method:ident($type:ty) $arrow:ident;)*) => {
        $(fn $method(self, _: $type) -> std::result::Result<(), Misfit> {
            self.plain(DataType::$arrow)
        })*
    };
}

impl<'a> ser::Serializer for Tracer<'a> {
    type Ok = ();
    type Error = Misfit;
    type SerializeSeq = ListTracer<'a>;
    type SerializeTuple = TupleTracer<'a>;
    type SerializeTupleStruct = TupleTracer<'a>;
    type SerializeTupleVariant = ser::Impossible<(), Misfit>;
    type SerializeMap = MapTracer<'a>;
    type SerializeStruct = FieldTracer<'a>;
    type SerializeStructVariant = ser::Impossible<(), Misfit>;

    plain! {
        serialize_bool(bool) Boolean;
        serialize_i8(i8) Int8;
        serialize_i16(i16) Int16;
        serialize_i32(i32) Int32;
        serialize_i64(i64) Int64;
        serialize_u8(u8) Int16;
        serialize_u16(u16) Int32;
        serialize_u32(u32) Int64;
        serialize_u64(u64) Int64;
        serialize_f32(f32) Float32;
        serialize_f64(f64) Float64;
        serialize_char(char) Utf8;
        serialize_str(&str) Utf8;
        serialize_bytes(&[u8]) Binary;
    }

    fn serialize_none(self) -> std::result::Result<(), Misfit> {
        self.shape.nullable = true;
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> std::result::Result<(), Misfit> {
        self.shape.nullable = true;
        value.serialize(self)
    }

    fn serialize_unit(self) -> std::result::Result<(), Misfit> {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _: &'static str) -> std::result::Result<(), Misfit> {
        self.serialize_none()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> std::result::Result<(), Misfit> {
        self.plain(DataType::Utf8)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> std::result::Result<(), Misfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> std::result::Result<(), Misfit> {
        Err(Misfit(format!("{name}: variants with values have no type in Spark")))
    }

    fn serialize_seq(self, _: Option<usize>) -> std::result::Result<ListTracer<'a>, Misfit> {
        self.list()
    }

    fn serialize_tuple(self, _: usize) -> std::result::Result<TupleTracer<'a>, Misfit> {
        self.tuple()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> std::result::Result<TupleTracer<'a>, Misfit> {
        self.tuple()
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> std::result::Result<Self::SerializeTupleVariant, Misfit> {
        Err(Misfit(format!("{name}: variants with values have no type in Spark")))
    }

    fn serialize_map(self, _: Option<usize>) -> std::result::Result<MapTracer<'a>, Misfit> {
        self.entries()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> std::result::Result<FieldTracer<'a>, Misfit> {
        self.fields()
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> std::result::Result<Self::SerializeStructVariant, Misfit> {
        Err(Misfit(format!("{name}: variants with values have no type in Spark")))
    }
}

impl SerializeSeq for ListTracer<'_> {
    type Ok = ();
    type Error = Misfit;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), Misfit> {
        value.serialize(Tracer::within(self.0))
    }

    fn end(self) -> std::result::Result<(), Misfit> {
        Ok(())
    }
}

macro_rules! tuples {
    ($($trait:ident $method:ident)*) => {
        $(impl $trait for TupleTracer<'_> {
            type Ok = ();
            type Error = Misfit;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), Misfit> {
                match self {
                    TupleTracer::Row(fields) => fields.field(&format!("_{}", fields.next + 1), value),
                    TupleTracer::List(list) => list.serialize_element(value),
                }
            }
            fn end(self) -> std::result::Result<(), Misfit> {
                match self {
                    TupleTracer::Row(fields) => fields.done(),
                    TupleTracer::List(_) => Ok(()),
                }
            }
        })*
    };
}

tuples! {
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
}

impl SerializeStruct for FieldTracer<'_> {
    type Ok = ();
    type Error = Misfit;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> std::result::Result<(), Misfit> {
        self.field(key, value)
    }

    fn end(self) -> std::result::Result<(), Misfit> {
        self.done()
    }
}

impl SerializeMap for MapTracer<'_> {
    type Ok = ();
    type Error = Misfit;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> std::result::Result<(), Misfit> {
        match self {
            MapTracer::Row(fields) => match serde_json::to_value(key) {
                Ok(serde_json::Value::String(name)) => fields.key = Some(name),
                _ => return Err(Misfit("names of columns must be texts".to_string())),
            },
            MapTracer::Map(shape, _) => {
                key.serialize(Tracer::within(shape))?;
                if !matches!(shape.kind, Kind::Plain(DataType::Utf8)) {
                    return Err(Misfit("keys of maps must be texts".to_string()));
                }
            }
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), Misfit> {
        match self {
            MapTracer::Row(fields) => {
                let key = fields.key.take().unwrap_or_default();
                fields.field(&key, value)
            }
            MapTracer::Map(_, shape) => value.serialize(Tracer::within(shape)),
        }
    }

    fn end(self) -> std::result::Result<(), Misfit> {
        match self {
            MapTracer::Row(fields) => fields.done(),
            MapTracer::Map(..) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[derive(Serialize)]
    struct Outer {
        id: i32,
        tags: Vec<&'static str>,
        inner: Option<Inner>,
        score: Option<f64>,
    }

    #[derive(Serialize)]
    struct Inner {
        x: i64,
    }

    #[test]
    fn structs_tell_their_schema() {
        let rows = [
            Outer { id: 1, tags: vec![], inner: None, score: None },
            Outer { id: 2, tags: vec!["a"], inner: Some(Inner { x: 7 }), score: Some(0.5) },
        ];
        let batch = batch_of(&rows, None).unwrap();
        let schema = firesteel_types::arrow_mapping::from_arrow_schema(batch.schema_ref()).unwrap();
        let types: Vec<String> = schema.fields.iter().map(|field| field.data_type.simple_string()).collect();
        assert_eq!(types, ["int", "array<string>", "struct<x:bigint>", "double"]);
        assert_eq!((schema.fields[0].nullable, schema.fields[2].nullable), (false, true));
        assert_eq!(batch.num_rows(), 2);
    }

    #[test]
    fn tuples_and_maps_tell_their_schema() {
        use std::collections::BTreeMap;
        let counts = BTreeMap::from([("x", 1), ("y", 2)]);
        let batch = batch_of(&[(1i64, "a", Some(&counts)), (2, "b", None)], None).unwrap();
        let schema = firesteel_types::arrow_mapping::from_arrow_schema(batch.schema_ref()).unwrap();
        let text = firesteel_types::DataType::Struct(schema.into()).simple_string();
        assert_eq!(text, "struct<_1:bigint,_2:string,_3:map<string,int>>");
        assert_eq!(batch.num_rows(), 2);
        // A map in the place of a row gives columns; a missing one is NULL.
        let rows = [BTreeMap::from([("a", 1)]), BTreeMap::from([("a", 2), ("b", 3)])];
        let batch = batch_of(&rows, None).unwrap();
        assert_eq!((batch.num_columns(), batch.column(1).null_count()), (2, 1));
        let schema =
            StructType::new(vec![firesteel_types::StructField::new("n", firesteel_types::DataType::Long, true)]);
        assert_eq!(batch_of(&[(1,), (2,)], Some(&schema)).unwrap().num_rows(), 2);
        assert!(batch_of(&[(1, 2)], Some(&schema)).is_err());
    }

    #[test]
    fn rows_that_are_no_structs_are_refused() {
        assert!(batch_of(&[1, 2], None).is_err());
        assert!(batch_of::<Outer>(&[], None).is_err());
    }
}
