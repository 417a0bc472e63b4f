//! Casts of variants, and to variants.

use super::array::{CastOptions, cast_array, downcast};
use super::{Mode, legality};
use arrow::array::builder::BinaryBuilder;
use arrow::array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int64Array, ListArray, MapArray, StringArray, StructArray, TimestampMicrosecondArray, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::interleave;
use arrow::datatypes::DataType as ArrowType;
use firesteel_error::{Result, SparkError};
use firesteel_types::variant::{EMPTY_METADATA, Node, Scalar, Variant, VariantBuilder, malformed};
use firesteel_types::{DataType, StructType, arrow_mapping, variant_text};
use std::sync::Arc;

/// An array of variants.
pub struct Variants {
    value: BinaryArray,
    metadata: BinaryArray,
    nulls: Option<NullBuffer>,
}

impl Variants {
    /// The two columns of an array of variants.
    pub fn of(array: &ArrayRef) -> Result<Self> {
        let rows = downcast::<StructArray>(array)?;
        let part = |name| {
            let column = rows.column_by_name(name).ok_or_else(malformed)?;
            let plain = super::array::native(column, &ArrowType::Binary)?;
            Ok::<_, SparkError>(downcast::<BinaryArray>(&plain)?.clone())
        };
        Ok(Self { value: part("value")?, metadata: part("metadata")?, nulls: rows.nulls().cloned() })
    }

    pub fn len(&self) -> usize {
        self.value.len()
    }

    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// The variant in a row; None for null.
    pub fn get(&self, row: usize) -> Option<Variant<'_>> {
        let is_valid = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        is_valid.then(|| Variant::new(self.value.value(row), self.metadata.value(row)))
    }

    /// All variants.
    pub fn rows(&self) -> Vec<Option<Variant<'_>>> {
        (0..self.len()).map(|row| self.get(row)).collect()
    }
}

/// Builds an array of variants.
#[derive(Default)]
pub struct VariantsBuilder {
    value: BinaryBuilder,
    metadata: BinaryBuilder,
    valid: Vec<bool>,
}

impl VariantsBuilder {
    pub fn append_null(&mut self) {
        self.append_parts(&[], &EMPTY_METADATA);
        if let Some(last) = self.valid.last_mut() {
            *last = false;
        }
    }

    /// Appends what a builder holds.
    pub fn append(&mut self, builder: &mut VariantBuilder) -> Result<()> {
        let (value, metadata) = builder.take()?;
        self.append_parts(&value, &metadata);
        Ok(())
    }

    /// Appends the bytes of a variant.
    pub fn append_parts(&mut self, value: &[u8], metadata: &[u8]) {
        self.value.append_value(value);
        self.metadata.append_value(metadata);
        self.valid.push(true);
    }

    pub fn finish(mut self) -> Result<ArrayRef> {
        let ArrowType::Struct(fields) = arrow_mapping::to_arrow(&DataType::Variant) else {
            return Err(SparkError::internal("a variant is a struct"));
        };
        let columns: Vec<ArrayRef> = vec![Arc::new(self.value.finish()), Arc::new(self.metadata.finish())];
        let nulls = NullBuffer::from(self.valid);
        Ok(Arc::new(StructArray::try_new(fields, columns, Some(nulls)).map_err(internal)?))
    }
}

fn internal(error: arrow::error::ArrowError) -> SparkError {
    SparkError::internal(error.to_string())
}

/// Casts an array of variants.
pub(super) fn from_variants(array: &ArrayRef, to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    let variants = Variants::of(array)?;
    extract(&variants.rows(), to, options)
}

/// Casts variants; a value that is not of the type is null where the mode is
/// [`Mode::Try`], and an error otherwise.
pub fn extract(values: &[Option<Variant<'_>>], to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    match to {
        DataType::Variant => {
            let mut out = VariantsBuilder::default();
            let mut builder = VariantBuilder::new(false);
            for value in values {
                match value {
                    None => out.append_null(),
                    Some(variant) => {
                        builder.append(variant)?;
                        out.append(&mut builder)?;
                    }
                }
            }
            out.finish()
        }
        DataType::Array { element, .. } => arrays(values, to, element, options),
        DataType::Map { value, .. } => maps(values, to, value, options),
        DataType::Struct(fields) => structs(values, to, fields, options),
        DataType::String(_) | DataType::Char(_) | DataType::Varchar(_) => {
            let mut out = arrow::array::StringBuilder::new();
            let mut text = String::new();
            for value in values {
                text.clear();
                match value {
                    Some(variant) if variant_text::write_part_cast(&mut text, variant, options.zone)? => {
                        out.append_value(&text);
                    }
                    _ => out.append_null(),
                }
            }
            Ok(Arc::new(out.finish()))
        }
        _ => scalars(values, to, options),
    }
}

fn invalid(variant: &Variant<'_>, to: &DataType, options: &CastOptions) -> Result<()> {
    if options.mode == Mode::Try {
        return Ok(());
    }
    let mut text = String::new();
    variant_text::write_part(&mut text, variant, options.zone)?;
    Err(SparkError::new("INVALID_VARIANT_CAST").with("value", text).with("dataType", format!("\"{}\"", to.sql())))
}

fn is_null(node: &Node<'_>) -> bool {
    matches!(node, Node::Scalar(Scalar::Null))
}

/// The parts that nested values consist of: how many each value has, and which values are null.
struct Spread {
    lengths: Vec<usize>,
    valid: Vec<bool>,
}

impl Spread {
    /// Hands the nodes of values to `take`, which says how many parts it took; None where the node is not of the
    /// type.
    fn over<'a>(
        values: &[Option<Variant<'a>>],
        to: &DataType,
        options: &CastOptions,
        mut take: impl FnMut(&Node<'a>) -> Result<Option<usize>>,
    ) -> Result<Self> {
        let mut spread = Self { lengths: Vec::with_capacity(values.len()), valid: Vec::with_capacity(values.len()) };
        for value in values {
            let mut taken = None;
            if let Some(variant) = value {
                let node = variant.node().ok_or_else(malformed)?;
                taken = take(&node)?;
                if taken.is_none() && !is_null(&node) {
                    invalid(variant, to, options)?;
                }
            }
            spread.lengths.push(taken.unwrap_or(0));
            spread.valid.push(taken.is_some());
        }
        Ok(spread)
    }
}

fn arrays(
    values: &[Option<Variant<'_>>],
    to: &DataType,
    element: &DataType,
    options: &CastOptions,
) -> Result<ArrayRef> {
    let ArrowType::List(field) = arrow_mapping::to_arrow(to) else {
        return Err(SparkError::internal("an array is a list"));
    };
    let mut parts = Vec::new();
    let Spread { lengths, valid } = Spread::over(values, to, options, |node| {
        let Node::Array(elements) = node else { return Ok(None) };
        for index in 0..elements.count() {
            parts.push(Some(elements.value(index).ok_or_else(malformed)?));
        }
        Ok(Some(elements.count()))
    })?;
    let parts = extract(&parts, element, options)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(field, offsets, parts, Some(NullBuffer::from(valid))).map_err(internal)?))
}

fn maps(
    values: &[Option<Variant<'_>>],
    to: &DataType,
    value_type: &DataType,
    options: &CastOptions,
) -> Result<ArrayRef> {
    let ArrowType::Map(field, sorted) = arrow_mapping::to_arrow(to) else {
        return Err(SparkError::internal("a map is a map"));
    };
    let ArrowType::Struct(fields) = field.data_type().clone() else {
        return Err(SparkError::internal("a map has entries"));
    };
    let (mut keys, mut parts) = (Vec::new(), Vec::new());
    let Spread { lengths, valid } = Spread::over(values, to, options, |node| {
        let Node::Object(object) = node else { return Ok(None) };
        for index in 0..object.count() {
            keys.push(object.name(index).ok_or_else(malformed)?);
            parts.push(Some(object.value(index).ok_or_else(malformed)?));
        }
        Ok(Some(object.count()))
    })?;
    let columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(keys)), extract(&parts, value_type, options)?];
    let entries = StructArray::try_new(fields, columns, None).map_err(internal)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    let made = MapArray::try_new(field, offsets, entries, Some(NullBuffer::from(valid)), sorted);
    Ok(Arc::new(made.map_err(internal)?))
}

fn structs(
    values: &[Option<Variant<'_>>],
    to: &DataType,
    wanted: &StructType,
    options: &CastOptions,
) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = arrow_mapping::to_arrow(to) else {
        return Err(SparkError::internal("a struct is a struct"));
    };
    let Spread { valid, .. } =
        Spread::over(values, to, options, |node| Ok(matches!(node, Node::Object(_)).then_some(0)))?;
    let mut columns = Vec::with_capacity(wanted.fields.len());
    for field in &wanted.fields {
        let parts = values
            .iter()
            .zip(&valid)
            .map(|(value, valid)| match value.filter(|_| *valid) {
                Some(variant) => variant.field(&field.name).ok_or_else(malformed),
                None => Ok(None),
            })
            .collect::<Result<Vec<_>>>()?;
        columns.push(extract(&parts, &field.data_type, options)?);
    }
    let nulls = Some(NullBuffer::from(valid));
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(values.len(), nulls)));
    }
    Ok(Arc::new(StructArray::try_new(fields, columns, nulls).map_err(internal)?))
}

/// The type of a scalar's column.
fn type_of(scalar: &Scalar<'_>) -> DataType {
    match scalar {
        Scalar::Null => DataType::Null,
        Scalar::Boolean(_) => DataType::Boolean,
        Scalar::Integer(_) => DataType::Long,
        Scalar::Float(_) => DataType::Float,
        Scalar::Double(_) => DataType::Double,
        Scalar::Decimal(_, scale) => DataType::Decimal(38, *scale),
        Scalar::Date(_) => DataType::Date,
        Scalar::Timestamp(_) => DataType::Timestamp,
        Scalar::TimestampNtz(_) => DataType::TimestampNtz,
        Scalar::Binary(_) => DataType::Binary,
        Scalar::Text(_) | Scalar::Uuid(_) => DataType::STRING,
    }
}

/// Values of one type with the rows that they are of.
struct Bucket<'a> {
    data_type: DataType,
    values: Vec<Scalar<'a>>,
    rows: Vec<usize>,
}

/// Casts values that have no parts: all of one type together.
fn scalars(values: &[Option<Variant<'_>>], to: &DataType, options: &CastOptions) -> Result<ArrayRef> {
    let mut buckets: Vec<Bucket<'_>> = Vec::new();
    for (row, value) in values.iter().enumerate() {
        let Some(variant) = value else { continue };
        match variant.node().ok_or_else(malformed)? {
            Node::Scalar(Scalar::Null) => {}
            Node::Scalar(scalar) => {
                let data_type = type_of(&scalar);
                if !legality::can_cast(&data_type, to, Mode::Ansi) {
                    invalid(variant, to, options)?;
                    continue;
                }
                let place = match buckets.iter().position(|b| b.data_type == data_type) {
                    Some(place) => place,
                    None => {
                        buckets.push(Bucket { data_type, values: Vec::new(), rows: Vec::new() });
                        buckets.len() - 1
                    }
                };
                buckets[place].values.push(scalar);
                buckets[place].rows.push(row);
            }
            _ => invalid(variant, to, options)?,
        }
    }
    let target = arrow_mapping::to_arrow(to);
    let attempt = CastOptions { mode: Mode::Try, zone: options.zone };
    let mut sources: Vec<ArrayRef> = vec![new_null_array(&target, 1)];
    let mut places: Vec<(usize, usize)> = vec![(0, 0); values.len()];
    for bucket in &buckets {
        let column = cast_array(&column_of(bucket)?, &bucket.data_type, to, &attempt)?;
        for (index, row) in bucket.rows.iter().enumerate() {
            if column.is_null(index)
                && let Some(variant) = &values[*row]
            {
                invalid(variant, to, options)?;
            }
            places[*row] = (sources.len(), index);
        }
        sources.push(column);
    }
    if let ([_, only], true) = (sources.as_slice(), buckets.first().is_some_and(|b| b.rows.len() == values.len())) {
        return Ok(Arc::clone(only));
    }
    let sources: Vec<&dyn Array> = sources.iter().map(AsRef::as_ref).collect();
    interleave(&sources, &places).map_err(internal)
}

fn column_of(bucket: &Bucket<'_>) -> Result<ArrayRef> {
    let values = bucket.values.iter();
    Ok(match &bucket.data_type {
        DataType::Boolean => {
            Arc::new(values.map(|s| if let Scalar::Boolean(v) = s { Some(*v) } else { None }).collect::<BooleanArray>())
        }
        DataType::Long => {
            Arc::new(values.map(|s| if let Scalar::Integer(v) = s { Some(*v) } else { None }).collect::<Int64Array>())
        }
        DataType::Float => {
            Arc::new(values.map(|s| if let Scalar::Float(v) = s { Some(*v) } else { None }).collect::<Float32Array>())
        }
        DataType::Double => {
            Arc::new(values.map(|s| if let Scalar::Double(v) = s { Some(*v) } else { None }).collect::<Float64Array>())
        }
        DataType::Decimal(precision, scale) => {
            let array: Decimal128Array =
                values.map(|s| if let Scalar::Decimal(v, _) = s { Some(*v) } else { None }).collect();
            Arc::new(array.with_precision_and_scale(*precision, *scale).map_err(internal)?)
        }
        DataType::Date => {
            Arc::new(values.map(|s| if let Scalar::Date(v) = s { Some(*v) } else { None }).collect::<Date32Array>())
        }
        DataType::Timestamp => {
            let array: TimestampMicrosecondArray =
                values.map(|s| if let Scalar::Timestamp(v) = s { Some(*v) } else { None }).collect();
            Arc::new(array.with_timezone(arrow_mapping::ENGINE_TIME_ZONE))
        }
        DataType::TimestampNtz => Arc::new(
            values
                .map(|s| if let Scalar::TimestampNtz(v) = s { Some(*v) } else { None })
                .collect::<TimestampMicrosecondArray>(),
        ),
        DataType::Binary => {
            Arc::new(values.map(|s| if let Scalar::Binary(v) = s { Some(*v) } else { None }).collect::<BinaryArray>())
        }
        _ => Arc::new(values.map(text_of).collect::<StringArray>()),
    })
}

fn text_of(scalar: &Scalar<'_>) -> Option<String> {
    match scalar {
        Scalar::Text(text) => Some((*text).to_string()),
        Scalar::Uuid(_) => {
            let mut text = String::new();
            scalar.write(&mut text, firesteel_types::TimeZone::UTC);
            Some(text.trim_matches('"').to_string())
        }
        _ => None,
    }
}

/// Casts an array to variants.
pub fn to_variants(array: &ArrayRef, from: &DataType) -> Result<ArrayRef> {
    let source = Source::of(array, from)?;
    let mut out = VariantsBuilder::default();
    let mut builder = VariantBuilder::new(false);
    for row in 0..array.len() {
        if array.is_null(row) {
            out.append_null();
        } else {
            source.append(&mut builder, row)?;
            out.append(&mut builder)?;
        }
    }
    out.finish()
}

/// A column whose values become variants.
struct Source {
    array: ArrayRef,
    kind: Kind,
}

enum Kind {
    Null,
    Boolean,
    Byte,
    Short,
    Integer,
    Long,
    Float,
    Double,
    Decimal(i8),
    Text,
    Binary,
    Date,
    Timestamp,
    TimestampNtz,
    Variant(Variants),
    Array(Box<Source>),
    Map(StringArray, Box<Source>),
    Struct(Vec<(String, Source)>),
}

impl Source {
    fn of(array: &ArrayRef, from: &DataType) -> Result<Self> {
        let plain = |target| super::array::native(array, &target);
        let kind = match from {
            DataType::Null => Kind::Null,
            DataType::Boolean => Kind::Boolean,
            DataType::Byte => Kind::Byte,
            DataType::Short => Kind::Short,
            DataType::Integer => Kind::Integer,
            DataType::Long => Kind::Long,
            DataType::Float => Kind::Float,
            DataType::Double => Kind::Double,
            DataType::Decimal(_, scale) => Kind::Decimal(*scale),
            DataType::Date => Kind::Date,
            DataType::Timestamp => Kind::Timestamp,
            DataType::TimestampNtz => Kind::TimestampNtz,
            t if t.is_string() => return Ok(Self { array: plain(ArrowType::Utf8)?, kind: Kind::Text }),
            DataType::Binary => return Ok(Self { array: plain(ArrowType::Binary)?, kind: Kind::Binary }),
            DataType::Variant => Kind::Variant(Variants::of(array)?),
            DataType::Array { element, .. } => {
                Kind::Array(Box::new(Self::of(downcast::<ListArray>(array)?.values(), element)?))
            }
            DataType::Map { key, value, .. } if key.is_string() => {
                let map = downcast::<MapArray>(array)?;
                let keys = super::array::native(map.keys(), &ArrowType::Utf8)?;
                let keys = downcast::<StringArray>(&keys)?.clone();
                Kind::Map(keys, Box::new(Self::of(map.values(), value)?))
            }
            DataType::Struct(fields) => {
                let rows = downcast::<StructArray>(array)?;
                let parts = rows.columns().iter().zip(&fields.fields);
                Kind::Struct(
                    parts.map(|(c, f)| Ok((f.name.clone(), Self::of(c, &f.data_type)?))).collect::<Result<Vec<_>>>()?,
                )
            }
            other => return Err(SparkError::unsupported(format!("variants of {other}"))),
        };
        Ok(Self { array: Arc::clone(array), kind })
    }

    fn append(&self, out: &mut VariantBuilder, row: usize) -> Result<()> {
        let array = &self.array;
        if array.is_null(row) {
            out.append_null();
            return Ok(());
        }
        match &self.kind {
            Kind::Null => out.append_null(),
            Kind::Boolean => out.append_boolean(array.as_boolean().value(row)),
            Kind::Byte => out.append_integer(array.as_primitive::<Int8Type>().value(row).into()),
            Kind::Short => out.append_integer(array.as_primitive::<Int16Type>().value(row).into()),
            Kind::Integer => out.append_integer(array.as_primitive::<Int32Type>().value(row).into()),
            Kind::Long => out.append_integer(array.as_primitive::<Int64Type>().value(row)),
            Kind::Float => out.append_float(array.as_primitive::<Float32Type>().value(row)),
            Kind::Double => out.append_double(array.as_primitive::<Float64Type>().value(row)),
            Kind::Decimal(scale) => out.append_decimal(array.as_primitive::<Decimal128Type>().value(row), *scale),
            Kind::Text => out.append_text(array.as_string::<i32>().value(row)),
            Kind::Binary => out.append_binary(array.as_binary::<i32>().value(row)),
            Kind::Date => out.append_date(array.as_primitive::<Date32Type>().value(row)),
            Kind::Timestamp => out.append_timestamp(array.as_primitive::<TimestampMicrosecondType>().value(row)),
            Kind::TimestampNtz => out.append_timestamp_ntz(array.as_primitive::<TimestampMicrosecondType>().value(row)),
            Kind::Variant(variants) => match variants.get(row) {
                Some(variant) => out.append(&variant)?,
                None => out.append_null(),
            },
            Kind::Array(element) => {
                let offsets = array.as_list::<i32>().value_offsets();
                let start = out.position();
                let mut starts = Vec::new();
                for index in range(offsets, row) {
                    starts.push(out.position() - start);
                    element.append(out, index)?;
                }
                out.finish_array(start, &starts);
            }
            Kind::Map(keys, values) => {
                let start = out.position();
                let mut fields = Vec::new();
                for index in range(array.as_map().value_offsets(), row) {
                    fields.push(out.field(start, keys.value(index)));
                    values.append(out, index)?;
                }
                out.finish_object(start, &mut fields)?;
            }
            Kind::Struct(parts) => {
                let start = out.position();
                let mut fields = Vec::with_capacity(parts.len());
                for (name, part) in parts {
                    fields.push(out.field(start, name));
                    part.append(out, row)?;
                }
                out.finish_object(start, &mut fields)?;
            }
        }
        Ok(())
    }
}

fn range(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    let at = |i: usize| offsets.get(i).and_then(|o| usize::try_from(*o).ok()).unwrap_or(0);
    at(row)..at(row + 1)
}
