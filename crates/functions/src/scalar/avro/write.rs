//! Values to Avro's bytes.

use super::schema::{Field, Schema, UnionKind};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_types::{DataType, Literal, StructField};

/// Fails unless values of a type can be written by a schema.
pub fn check(data_type: &DataType, schema: &Schema, path: &str) -> Result<()> {
    use DataType as T;
    use Schema as S;
    let fits = match (data_type, schema) {
        (_, S::Union(branches)) => return check_union(data_type, branches, path),
        (T::Udt { sql_type, .. }, _) => return check(sql_type, schema, path),
        (T::Array { element, .. }, S::Array(items)) => return check(element, items, path),
        (T::Map { key, value, .. }, S::Map(of)) if key.is_string() => return check(value, of, path),
        (T::Struct(fields), S::Record(record)) => {
            for field in &record.fields {
                let (_, own) = field_of(&fields.fields, field).ok_or_else(|| misfit(path, data_type, schema))?;
                check(&own.data_type, &field.schema, &format!("{path}.{}", field.name))?;
            }
            fields.fields.len() == record.fields.len()
        }
        (T::Null, S::Null) | (T::Boolean, S::Boolean) | (T::Float, S::Float) | (T::Double, S::Double) => true,
        (T::Byte | T::Short | T::Integer | T::YearMonthInterval(..), S::Int) | (T::Date, S::Int | S::Date) => true,
        (T::Long | T::DayTimeInterval(..), S::Long) => true,
        (T::Timestamp, S::Long | S::Timestamp { local: false, .. }) => true,
        (T::TimestampNtz, S::Long | S::Timestamp { local: true, .. }) => true,
        (T::Decimal(_, own), S::Decimal { scale, .. }) => own == scale,
        (T::Binary, S::Bytes | S::Fixed(_)) => true,
        (t, S::String | S::Enum { .. }) => t.is_string(),
        _ => false,
    };
    if fits { Ok(()) } else { Err(misfit(path, data_type, schema)) }
}

fn check_union(data_type: &DataType, branches: &[Schema], path: &str) -> Result<()> {
    match (Schema::union_kind(branches), data_type) {
        (_, DataType::Null) if branches.contains(&Schema::Null) => Ok(()),
        (UnionKind::Single(index), _) => check(data_type, &branches[index], path),
        (UnionKind::Members(members), DataType::Struct(fields)) if members.len() == fields.fields.len() => {
            members.iter().zip(&fields.fields).try_for_each(|(i, f)| check(&f.data_type, &branches[*i], path))
        }
        _ => Err(misfit(path, data_type, &Schema::Union(branches.into()))),
    }
}

fn misfit(path: &str, data_type: &DataType, schema: &Schema) -> SparkError {
    let avro = match schema.data_type() {
        Ok((of, _)) => of.sql(),
        Err(_) => "another".to_string(),
    };
    let message = format!("Values of {} at {path} cannot be written as the Avro type of {avro}", data_type.sql());
    SparkError::plain(ExceptionClass::Analysis, message)
}

/// The column of a record's field, by its name.
fn field_of<'f>(fields: &'f [StructField], field: &Field) -> Option<(usize, &'f StructField)> {
    let named = |same: fn(&str, &str) -> bool| fields.iter().enumerate().find(move |(_, f)| same(&f.name, &field.name));
    named(|a, b| a == b).or_else(|| named(|a, b| a.eq_ignore_ascii_case(b)))
}

fn long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn sized(bytes: &[u8], out: &mut Vec<u8>) {
    long(bytes.len() as i64, out);
    out.extend_from_slice(bytes);
}

/// Adds a value, which the schema has been checked for.
pub fn write(value: &Literal, schema: &Schema, path: &str, out: &mut Vec<u8>) -> Result<()> {
    if let Schema::Union(branches) = schema {
        return write_union(value, branches, path, out);
    }
    match (value, schema) {
        (Literal::Null(_), Schema::Null) => {}
        (Literal::Null(data_type), _) => {
            return Err(SparkError::new("AVRO_CANNOT_WRITE_NULL_FIELD")
                .with("name", path)
                .with("dataType", format!("\"{}\"", data_type.sql())));
        }
        (Literal::Boolean(value), _) => out.push(u8::from(*value)),
        (Literal::Byte(value), _) => long((*value).into(), out),
        (Literal::Short(value), _) => long((*value).into(), out),
        (Literal::Integer(value) | Literal::Date(value) | Literal::YearMonthInterval(value, _), _) => {
            long((*value).into(), out);
        }
        (Literal::Long(value) | Literal::DayTimeInterval(value, _), _) => long(*value, out),
        (Literal::Timestamp(micros) | Literal::TimestampNtz(micros), Schema::Timestamp { per_second, .. }) => {
            long(micros.div_euclid(1_000_000 / per_second), out);
        }
        // Without a unit, moments count milliseconds.
        (Literal::Timestamp(micros) | Literal::TimestampNtz(micros), _) => long(micros.div_euclid(1000), out),
        (Literal::Float(value), _) => out.extend_from_slice(&value.to_le_bytes()),
        (Literal::Double(value), _) => out.extend_from_slice(&value.to_le_bytes()),
        (Literal::Binary(bytes), Schema::Fixed(size)) if bytes.len() == *size => out.extend_from_slice(bytes),
        (Literal::Binary(bytes), Schema::Fixed(size)) => {
            let message = format!("{path} has {} bytes, but the Avro type is of {size}", bytes.len());
            return Err(SparkError::plain(ExceptionClass::Analysis, message));
        }
        (Literal::Binary(bytes), _) => sized(bytes, out),
        (Literal::String(text), Schema::Enum { symbols, .. }) => match symbols.iter().position(|s| s == text) {
            Some(index) => long(index as i64, out),
            None => {
                let message = format!("{path}: the Avro type has no symbol \"{text}\"");
                return Err(SparkError::plain(ExceptionClass::Analysis, message));
            }
        },
        (Literal::String(text), _) => sized(text.as_bytes(), out),
        (Literal::Decimal(unscaled, ..), Schema::Decimal { size, .. }) => decimal(*unscaled, *size, path, out)?,
        (Literal::Array(values, _), Schema::Array(items)) => {
            if !values.is_empty() {
                long(values.len() as i64, out);
                values.iter().try_for_each(|value| write(value, items, path, out))?;
            }
            long(0, out);
        }
        (Literal::Map(entries, ..), Schema::Map(of)) => {
            if !entries.is_empty() {
                long(entries.len() as i64, out);
                for (key, value) in entries {
                    write(key, &Schema::String, path, out)?;
                    write(value, of, path, out)?;
                }
            }
            long(0, out);
        }
        (Literal::Struct(values, types), Schema::Record(record)) => {
            for field in &record.fields {
                let value = field_of(&types.fields, field).and_then(|(index, _)| values.get(index));
                let value = value.ok_or_else(|| SparkError::internal("a record without one of its fields"))?;
                write(value, &field.schema, &field.name, out)?;
            }
        }
        (value, schema) => return Err(misfit(path, &value.data_type(), schema)),
    }
    Ok(())
}

fn write_union(value: &Literal, branches: &[Schema], path: &str, out: &mut Vec<u8>) -> Result<()> {
    if value.is_null()
        && let Some(null) = branches.iter().position(|branch| *branch == Schema::Null)
    {
        long(null as i64, out);
        return Ok(());
    }
    match (Schema::union_kind(branches), value) {
        (UnionKind::Single(index), _) => {
            long(index as i64, out);
            write(value, &branches[index], path, out)
        }
        (UnionKind::Members(members), Literal::Struct(values, _)) => {
            let member = members.iter().zip(values).find(|(_, value)| !value.is_null());
            let Some((index, value)) = member else {
                return Err(SparkError::new("AVRO_CANNOT_WRITE_NULL_FIELD")
                    .with("name", path)
                    .with("dataType", format!("\"{}\"", value.data_type().sql())));
            };
            long(*index as i64, out);
            write(value, &branches[*index], path, out)
        }
        _ => Err(misfit(path, &value.data_type(), &Schema::Union(branches.into()))),
    }
}

/// An unscaled number, the highest byte first.
fn decimal(unscaled: i128, size: Option<usize>, path: &str, out: &mut Vec<u8>) -> Result<()> {
    let bytes = unscaled.to_be_bytes();
    let filler = if unscaled < 0 { 0xff } else { 0 };
    let spare = bytes.windows(2).take_while(|pair| pair[0] == filler && (pair[1] ^ filler) & 0x80 == 0).count();
    let shortest = &bytes[spare..];
    match size {
        None => sized(shortest, out),
        Some(size) if size >= shortest.len() => {
            out.extend(std::iter::repeat_n(filler, size - shortest.len()));
            out.extend_from_slice(shortest);
        }
        Some(size) => {
            let message = format!("A number of {path} does not fit the {size} bytes of its Avro type");
            return Err(SparkError::plain(ExceptionClass::Analysis, message));
        }
    }
    Ok(())
}
