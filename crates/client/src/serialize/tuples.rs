//! Rows that are tuples, written with names for their values.

use serde::ser::{self, Impossible, Serialize, SerializeMap, SerializeTuple, SerializeTupleStruct, Serializer};

/// A row, which must be a tuple, as a map from the names of its columns.
pub(super) struct Named<'a, T> {
    pub(super) row: &'a T,
    pub(super) names: &'a [String],
}

impl<T: Serialize> Serialize for Named<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.row.serialize(TupleWriter { serializer, names: self.names })
    }
}

/// Takes tuples only.
struct TupleWriter<'a, S> {
    serializer: S,
    names: &'a [String],
}

/// The values of a tuple.
struct Values<'a, M> {
    map: M,
    names: std::slice::Iter<'a, String>,
}

fn refused<E: ser::Error>() -> E {
    E::custom("rows of different kinds: some are tuples, some are not")
}

impl<'a, S: Serializer> TupleWriter<'a, S> {
    fn values(self, length: usize) -> Result<Values<'a, S::SerializeMap>, S::Error> {
        if length != self.names.len() {
            return Err(ser::Error::custom(format!("a row of {length} values for {} columns", self.names.len())));
        }
        Ok(Values { map: self.serializer.serialize_map(Some(length))?, names: self.names.iter() })
    }
}

macro_rules! refuse {
    ($($method:ident($($type:ty),*);)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<S::Ok, S::Error> {
            Err(refused())
        })*
    };
}

macro_rules! refuse_generic {
    ($($method:ident($($type:ty),*);)*) => {
        $(fn $method<T: Serialize + ?Sized>(self, $(_: $type,)* _: &T) -> Result<S::Ok, S::Error> {
            Err(refused())
        })*
    };
}

macro_rules! refuse_compound {
    ($($method:ident($($type:ty),*) $kind:ident;)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<Self::$kind, S::Error> {
            Err(refused())
        })*
    };
}

impl<'a, S: Serializer> Serializer for TupleWriter<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Values<'a, S::SerializeMap>;
    type SerializeTupleStruct = Values<'a, S::SerializeMap>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStruct = Impossible<S::Ok, S::Error>;
    type SerializeStructVariant = Impossible<S::Ok, S::Error>;

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.values(length)
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.values(length)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        value.serialize(self)
    }

    refuse! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    refuse_generic! {
        serialize_some();
        serialize_newtype_variant(&'static str, u32, &'static str);
    }

    refuse_compound! {
        serialize_seq(Option<usize>) SerializeSeq;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) SerializeTupleVariant;
        serialize_map(Option<usize>) SerializeMap;
        serialize_struct(&'static str, usize) SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) SerializeStructVariant;
    }
}

impl<M: SerializeMap> Values<'_, M> {
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), M::Error> {
        let name = self.names.next().ok_or_else(refused::<M::Error>)?;
        self.map.serialize_entry(name, value)
    }
}

impl<M: SerializeMap> SerializeTuple for Values<'_, M> {
    type Ok = M::Ok;
    type Error = M::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), M::Error> {
        self.value(value)
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.map.end()
    }
}

impl<M: SerializeMap> SerializeTupleStruct for Values<'_, M> {
    type Ok = M::Ok;
    type Error = M::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), M::Error> {
        self.value(value)
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.map.end()
    }
}
