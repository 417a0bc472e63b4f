//! Avro's bytes to values.

use super::schema::{Record, Schema, UnionKind};
use firesteel_types::{DataType, Literal, StructType};
use serde_json::Value as Json;

/// The rest of a value's bytes. Reading gives None where they are no value of the schema.
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn long(&mut self) -> Option<i64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        None
    }

    fn int(&mut self) -> Option<i32> {
        i32::try_from(self.long()?).ok()
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.long()?).ok()?;
        self.take(count)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.sized()?.to_vec()).ok()
    }

    /// Calls `item` for each item of the blocks of an array or a map.
    fn blocks(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        loop {
            let mut count = self.long()?;
            if count == 0 {
                return Some(());
            }
            if count < 0 {
                count = count.checked_neg()?;
                self.long()?;
            }
            for _ in 0..count {
                let before = self.bytes.len();
                item(self)?;
                // Items that take no bytes could go on forever.
                if self.bytes.len() == before && count > MOST_EMPTY_ITEMS {
                    return None;
                }
            }
        }
    }

    /// A value that was written by a schema, as the type of the schema that it is read by.
    pub fn value(&mut self, written: &Schema, wanted: &Schema, data_type: &DataType) -> Option<Literal> {
        if let Schema::Union(branches) = written {
            let index = usize::try_from(self.long()?).ok()?;
            return self.value(branches.get(index)?, wanted, data_type);
        }
        if let Schema::Union(branches) = wanted {
            return self.branch(written, branches, data_type);
        }
        Some(match (written, wanted, data_type) {
            (Schema::Null, _, _) => Literal::Null(data_type.clone()),
            (Schema::Boolean, Schema::Boolean, _) => match self.take(1)? {
                [0] => Literal::Boolean(false),
                [1] => Literal::Boolean(true),
                _ => return None,
            },
            (Schema::Int | Schema::Date, _, _) => whole(self.int()?.into(), wanted, data_type)?,
            (Schema::Long | Schema::Timestamp { .. }, _, _) => {
                whole(self.long()?, written_or(written, wanted), data_type)?
            }
            (Schema::Float, _, _) => {
                let value = f32::from_le_bytes(self.take(4)?.try_into().ok()?);
                match data_type {
                    DataType::Float => Literal::Float(value),
                    DataType::Double => Literal::Double(value.into()),
                    _ => return None,
                }
            }
            (Schema::Double, _, DataType::Double) => {
                Literal::Double(f64::from_le_bytes(self.take(8)?.try_into().ok()?))
            }
            (Schema::Bytes | Schema::String, Schema::Bytes | Schema::String, DataType::Binary) => {
                Literal::Binary(self.sized()?.to_vec())
            }
            (Schema::Bytes | Schema::String, Schema::Bytes | Schema::String, _) => Literal::String(self.text()?),
            (Schema::Fixed(size), Schema::Fixed(other), _) if size == other => {
                Literal::Binary(self.take(*size)?.to_vec())
            }
            (Schema::Decimal { scale, size, .. }, Schema::Decimal { .. }, DataType::Decimal(precision, _)) => {
                let bytes = match size {
                    Some(size) => self.take(*size)?,
                    None => self.sized()?,
                };
                Literal::Decimal(unscaled(bytes)?, *precision, *scale)
            }
            (Schema::Enum { symbols, .. }, Schema::Enum { symbols: known, default }, _) => {
                let symbol = symbols.get(usize::try_from(self.int()?).ok()?)?;
                let symbol = if known.contains(symbol) { Some(symbol) } else { default.as_ref() };
                Literal::String(symbol?.clone())
            }
            (Schema::Array(from), Schema::Array(to), DataType::Array { element, .. }) => {
                let mut elements = Vec::new();
                self.blocks(|reader| {
                    elements.push(reader.value(from, to, element)?);
                    Some(())
                })?;
                Literal::Array(elements, element.as_ref().clone())
            }
            (Schema::Map(from), Schema::Map(to), DataType::Map { key, value, .. }) => {
                let mut entries: Vec<(Literal, Literal)> = Vec::new();
                self.blocks(|reader| {
                    let name = Literal::String(reader.text()?);
                    entries.push((name, reader.value(from, to, value)?));
                    Some(())
                })?;
                Literal::Map(entries, key.as_ref().clone(), value.as_ref().clone())
            }
            (Schema::Record(from), Schema::Record(to), DataType::Struct(fields)) => {
                Literal::Struct(self.record(from, to, fields)?, fields.clone())
            }
            _ => return None,
        })
    }

    fn record(&mut self, from: &Record, to: &Record, types: &StructType) -> Option<Vec<Literal>> {
        let mut values: Vec<Option<Literal>> = vec![None; to.fields.len()];
        for field in &from.fields {
            match to.fields.iter().position(|wanted| wanted.name == field.name) {
                Some(at) => {
                    let data_type = &types.fields.get(at)?.data_type;
                    values[at] = Some(self.value(&field.schema, &to.fields[at].schema, data_type)?);
                }
                None => {
                    let (data_type, _) = field.schema.data_type().ok()?;
                    self.value(&field.schema, &field.schema, &data_type)?;
                }
            }
        }
        let missing = |(at, value): (usize, Option<Literal>)| match value {
            Some(value) => Some(value),
            None => {
                default_of(to.fields[at].default.as_ref()?, &to.fields[at].schema, &types.fields.get(at)?.data_type)
            }
        };
        values.into_iter().enumerate().map(missing).collect()
    }

    /// A value as the first branch of a union that it fits.
    fn branch(&mut self, written: &Schema, branches: &[Schema], data_type: &DataType) -> Option<Literal> {
        if *written == Schema::Null {
            return branches.contains(&Schema::Null).then(|| Literal::Null(data_type.clone()));
        }
        let index = branches
            .iter()
            .position(|branch| branch == written)
            .or_else(|| branches.iter().position(|branch| fits(written, branch)))?;
        match (Schema::union_kind(branches), data_type) {
            (UnionKind::Members(members), DataType::Struct(fields)) => {
                let at = members.iter().position(|member| *member == index)?;
                let mut values: Vec<Literal> =
                    fields.fields.iter().map(|field| Literal::Null(field.data_type.clone())).collect();
                values[at] = self.value(written, &branches[index], &fields.fields.get(at)?.data_type)?;
                Some(Literal::Struct(values, fields.clone()))
            }
            _ => self.value(written, &branches[index], data_type),
        }
    }
}

/// How many items of no bytes an array may have.
const MOST_EMPTY_ITEMS: i64 = 1 << 20;

/// The unit of moments is that of the schema by which they were written.
fn written_or<'s>(written: &'s Schema, wanted: &'s Schema) -> &'s Schema {
    if matches!(written, Schema::Timestamp { .. }) { written } else { wanted }
}

/// A whole number as the type that it is wanted as.
fn whole(value: i64, schema: &Schema, data_type: &DataType) -> Option<Literal> {
    let micros = |per_second: i64| value.checked_mul(1_000_000 / per_second);
    Some(match (data_type, schema) {
        (DataType::Integer, _) => Literal::Integer(i32::try_from(value).ok()?),
        (DataType::Date, _) => Literal::Date(i32::try_from(value).ok()?),
        (DataType::Long, _) => Literal::Long(value),
        (DataType::Float, _) => Literal::Float(value as f32),
        (DataType::Double, _) => Literal::Double(value as f64),
        (DataType::Timestamp, Schema::Timestamp { per_second, .. }) => Literal::Timestamp(micros(*per_second)?),
        (DataType::TimestampNtz, Schema::Timestamp { per_second, .. }) => Literal::TimestampNtz(micros(*per_second)?),
        _ => return None,
    })
}

/// Whether values of one schema can be read by another.
fn fits(written: &Schema, wanted: &Schema) -> bool {
    use Schema as S;
    match (written, wanted) {
        (S::Int, S::Long | S::Float | S::Double) | (S::Long, S::Float | S::Double) | (S::Float, S::Double) => true,
        (S::Bytes, S::String) | (S::String, S::Bytes) => true,
        (S::Long, S::Timestamp { .. }) | (S::Int, S::Date) => true,
        (S::Array(_), S::Array(_)) | (S::Map(_), S::Map(_)) | (S::Enum { .. }, S::Enum { .. }) => true,
        (S::Record(a), S::Record(b)) => {
            a.name == b.name || a.fields.iter().any(|f| b.fields.iter().any(|g| f.name == g.name))
        }
        (a, b) => a == b,
    }
}

/// A whole number of bytes, the highest first.
fn unscaled(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let filler = if negative { 0xff } else { 0 };
    let spare = bytes.len().saturating_sub(16);
    if bytes[..spare].iter().any(|byte| *byte != filler) {
        return None;
    }
    Some(bytes[spare..].iter().fold(if negative { -1 } else { 0 }, |value, byte| (value << 8) | i128::from(*byte)))
}

/// The value that a schema gives for a field that was not written.
fn default_of(json: &Json, schema: &Schema, data_type: &DataType) -> Option<Literal> {
    let schema = match schema {
        // The default of a union is of its first branch.
        Schema::Union(branches) => branches.first()?,
        other => other,
    };
    let bytes = |text: &str| text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<Vec<u8>>>();
    Some(match (json, schema, data_type) {
        (Json::Null, _, _) => Literal::Null(data_type.clone()),
        (Json::Bool(value), Schema::Boolean, _) => Literal::Boolean(*value),
        (Json::Number(number), _, DataType::Float) => Literal::Float(number.as_f64()? as f32),
        (Json::Number(number), _, DataType::Double) => Literal::Double(number.as_f64()?),
        (Json::Number(number), _, _) => whole(number.as_i64()?, schema, data_type)?,
        (Json::String(text), Schema::Bytes | Schema::Fixed(_), _) => Literal::Binary(bytes(text)?),
        (Json::String(text), Schema::Decimal { scale, .. }, DataType::Decimal(precision, _)) => {
            Literal::Decimal(unscaled(&bytes(text)?)?, *precision, *scale)
        }
        (Json::String(text), Schema::String | Schema::Enum { .. }, _) => Literal::String(text.clone()),
        (Json::Array(values), Schema::Array(items), DataType::Array { element, .. }) => {
            let values = values.iter().map(|v| default_of(v, items, element)).collect::<Option<_>>()?;
            Literal::Array(values, element.as_ref().clone())
        }
        (Json::Object(values), Schema::Map(of), DataType::Map { key, value, .. }) => {
            let entry = |(k, v): (&String, &Json)| Some((Literal::String(k.clone()), default_of(v, of, value)?));
            let entries = values.iter().map(entry).collect::<Option<_>>()?;
            Literal::Map(entries, key.as_ref().clone(), value.as_ref().clone())
        }
        (Json::Object(values), Schema::Record(record), DataType::Struct(types)) => {
            let field = |(at, field): (usize, &super::schema::Field)| {
                let json = values.get(&field.name).or(field.default.as_ref())?;
                default_of(json, &field.schema, &types.fields.get(at)?.data_type)
            };
            Literal::Struct(record.fields.iter().enumerate().map(field).collect::<Option<_>>()?, types.clone())
        }
        _ => return None,
    })
}
