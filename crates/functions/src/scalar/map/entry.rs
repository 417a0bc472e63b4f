//! Looking up keys, and making maps of entries.

use crate::cast::Mode;
use crate::cast::array::{CastOptions, cast_array};
use crate::coercion::{self, mismatch};
use crate::function::{Function, Group};
use crate::kernel::kernel;
use crate::scalar::array::identity::Identities;
use crate::scalar::array::list::{Column, conform, gather, pick_one, range};
use crate::scalar::predicate::equality::order;
use crate::scalar::string::rows::{array_or_constant, downcast, finish, internal, row_count};
use crate::{ArgType, BuildContext, KernelArgs, TypedExpr};
use arrow::array::{Array, ArrayRef, MapArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::logical_expr::ColumnarValue;
use firesteel_config::MapKeyDedupPolicy;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What a missing key gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnMissing {
    Null,
    /// The answer is whether the key is there.
    Whether,
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[&kernel("get_map_value", find), &kernel("map_contains_key", find)];

/// The types of a map's keys and values, and whether values can be null.
pub fn entry_of(data_type: &DataType) -> (DataType, DataType, bool) {
    match data_type {
        DataType::Map { key, value, value_contains_null } => {
            (key.as_ref().clone(), value.as_ref().clone(), *value_contains_null)
        }
        _ => (DataType::Null, DataType::Null, true),
    }
}

/// Brings a map's keys and a key to one type, or fails with `MAP_FUNCTION_DIFF_TYPES`.
pub fn with_common_key(
    map: TypedExpr,
    key: TypedExpr,
    function: &str,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<(TypedExpr, TypedExpr)> {
    let (key_type, value, value_contains_null) = entry_of(&map.data_type);
    if key.data_type.is_null() {
        return Err(SparkError::new("DATATYPE_MISMATCH.NULL_TYPE")
            .with("sqlExpr", mismatch::quoted(call))
            .with("functionName", format!("`{function}`")));
    }
    let Some(common) = coercion::tightest_common_type(&key_type, &key.data_type, context.conf.ansi_enabled) else {
        return Err(SparkError::new("DATATYPE_MISMATCH.MAP_FUNCTION_DIFF_TYPES")
            .with("sqlExpr", mismatch::quoted(call))
            .with("functionName", format!("`{function}`"))
            .with("dataType", "\"MAP\"")
            .with("leftType", mismatch::quoted_type(&map.data_type))
            .with("rightType", mismatch::quoted_type(&key.data_type)));
    };
    check_key_order(&common, function, call)?;
    let map_type = DataType::map(common.clone(), value, value_contains_null);
    Ok((coercion::implicitly(map, &map_type, context)?, coercion::implicitly(key, &common, context)?))
}

fn check_key_order(key: &DataType, function: &str, call: &str) -> Result<()> {
    if key.is_orderable() { Ok(()) } else { Err(mismatch::no_ordering(call, function, key)) }
}

/// The value of a key.
pub fn lookup(
    function: &Function,
    map: TypedExpr,
    key: TypedExpr,
    on_missing: OnMissing,
    context: &mut BuildContext<'_>,
) -> Result<TypedExpr> {
    let (_, value, _) = entry_of(&map.data_type);
    let data_type = if on_missing == OnMissing::Whether { DataType::Boolean } else { value };
    let arguments = [map, key];
    let payload = Some(Arc::from(if on_missing == OnMissing::Whether { "contains" } else { "value" }));
    let expr = crate::kernel::call_with_payload(function, find, &arguments, &data_type, true, context, payload)?;
    Ok(TypedExpr::new(expr, data_type, true, ""))
}

/// The kernel of [`lookup`].
pub fn find(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let whether = args.settings.payload.as_deref() == Some("contains");
    let maps = Maps::of(args, 0)?;
    let key = Column::of(args, 1)?;
    let key_type = args.types.first().map_or(DataType::Null, |t| entry_of(t).0);
    let rows = row_count(args);
    let mut picks = Vec::with_capacity(rows);
    let mut known = Vec::with_capacity(if whether { rows } else { 0 });
    let keys = crate::scalar::array::list::canonical(maps.keys(), &key_type)?;
    let wanted = crate::scalar::array::list::canonical(&key.array, &key_type)?;
    let mut visit = |found: Option<Option<usize>>| {
        if whether {
            known.push(found.map(|f| f.is_some()));
        } else {
            picks.push(found.flatten());
        }
    };
    match (keys.as_any().downcast_ref::<StringArray>(), wanted.as_any().downcast_ref::<StringArray>()) {
        (Some(keys), Some(wanted)) if key_type == DataType::STRING => {
            for row in 0..rows {
                visit(match maps.span(row) {
                    Some(mut span) if !key.is_null(row) => {
                        let wanted = wanted.value(key.at(row));
                        Some(span.find(|at| keys.value(*at) == wanted))
                    }
                    _ => None,
                });
            }
        }
        _ => {
            let order = order(&keys, &wanted, &key_type)?;
            for row in 0..rows {
                visit(match maps.span(row) {
                    Some(mut span) if !key.is_null(row) => {
                        Some(span.find(|at| order(*at, key.at(row)) == Ordering::Equal))
                    }
                    _ => None,
                });
            }
        }
    }
    if whether {
        return finish(args, Arc::new(arrow::array::BooleanArray::from(known)));
    }
    finish(args, pick_one(maps.values(), &picks, args.return_type)?)
}

/// An argument of maps, row by row.
pub struct Maps {
    map: MapArray,
    is_constant: bool,
}

impl Maps {
    /// The argument at `index`.
    pub fn of(args: &KernelArgs<'_>, index: usize) -> Result<Self> {
        let (array, is_constant) = array_or_constant(args, index)?;
        Ok(Self { map: downcast::<MapArray>(&array)?.clone(), is_constant })
    }

    /// Where the entries of a row's map are; None for null.
    #[inline]
    pub fn span(&self, row: usize) -> Option<Range<usize>> {
        let row = if self.is_constant { 0 } else { row };
        if self.map.is_null(row) { None } else { Some(range(self.map.value_offsets(), row)) }
    }

    /// The keys of all rows.
    pub fn keys(&self) -> &ArrayRef {
        self.map.keys()
    }

    /// The values of all rows.
    pub fn values(&self) -> &ArrayRef {
        self.map.values()
    }

    /// The column itself, one row if it is constant.
    pub fn map(&self) -> &MapArray {
        &self.map
    }
}

/// The setting for keys that come twice, as a kernel's payload.
pub fn policy(context: &BuildContext<'_>) -> Option<Arc<str>> {
    (context.conf.map_key_dedup_policy == MapKeyDedupPolicy::LastWin).then(|| Arc::from("LAST_WIN"))
}

/// Makes maps out of entries that are picked from sources.
pub struct MapPicker {
    keys: Vec<ArrayRef>,
    values: Vec<ArrayRef>,
    identities: Identities,
    key_type: DataType,
    picks: Vec<((u32, u32), (u32, u32))>,
    offsets: Vec<i32>,
    valid: Vec<bool>,
    last_wins: bool,
    entries: FieldRef,
    parts: (FieldRef, FieldRef),
}

impl MapPicker {
    /// For maps of a type; keys that come twice fail unless the last one wins.
    pub fn new(map_type: &DataType, keys: Vec<ArrayRef>, values: Vec<ArrayRef>, last_wins: bool) -> Result<Self> {
        let (key_type, _, _) = entry_of(map_type);
        let not_a_map = || SparkError::internal(format!("{map_type} is no type of maps"));
        let ArrowType::Map(entries, _) = arrow_mapping::to_arrow(map_type) else { return Err(not_a_map()) };
        let ArrowType::Struct(fields) = entries.data_type() else { return Err(not_a_map()) };
        let [key_field, value_field] = fields.as_ref() else { return Err(not_a_map()) };
        let parts = (Arc::clone(key_field), Arc::clone(value_field));
        let keys = keys.iter().map(|k| conform(k, parts.0.data_type())).collect::<Result<Vec<_>>>()?;
        let values = values.iter().map(|v| conform(v, parts.1.data_type())).collect::<Result<Vec<_>>>()?;
        let identities = Identities::new(&keys, &key_type)?;
        Ok(Self {
            keys,
            values,
            identities,
            key_type,
            picks: Vec::new(),
            offsets: vec![0],
            valid: Vec::new(),
            last_wins,
            entries,
            parts,
        })
    }

    /// Adds an entry: source and position of its key and of its value.
    pub fn push(&mut self, key: (usize, usize), value: (usize, usize)) -> Result<()> {
        let is_null = self.keys.get(key.0).is_none_or(|k| k.is_null(key.1) || *k.data_type() == ArrowType::Null);
        if is_null {
            return Err(SparkError::new("NULL_MAP_KEY"));
        }
        self.picks.push(((key.0 as u32, key.1 as u32), (value.0 as u32, value.1 as u32)));
        Ok(())
    }

    /// Adds an entry whose value is null.
    pub fn push_null(&mut self, key: (usize, usize)) -> Result<()> {
        self.push(key, (u32::MAX as usize, 0))
    }

    /// Ends the row.
    pub fn end(&mut self) -> Result<()> {
        let start = self.offsets.last().map_or(0, |o| *o as usize);
        let entries = self.picks.split_off(start);
        let mut places: HashMap<&[u8], usize> = HashMap::with_capacity(entries.len());
        let mut duplicate = None;
        for (key, value) in entries {
            let identity = self.identities.of(key.0 as usize, key.1 as usize);
            match places.get(identity) {
                None => {
                    places.insert(identity, self.picks.len());
                    self.picks.push((key, value));
                }
                Some(place) if self.last_wins => self.picks[*place] = (key, value),
                Some(_) => {
                    duplicate = Some(key);
                    break;
                }
            }
        }
        if let Some(key) = duplicate {
            return Err(self.duplicated(key));
        }
        self.valid.push(true);
        self.close()
    }

    fn duplicated(&self, key: (u32, u32)) -> SparkError {
        let text = || -> Result<String> {
            let one = self.keys.get(key.0 as usize).ok_or_else(|| SparkError::internal("no key"))?;
            let one = one.slice(key.1 as usize, 1);
            let options = CastOptions::new(Mode::Legacy, "UTC")?;
            let text = cast_array(&one, &self.key_type, &DataType::STRING, &options)?;
            Ok(downcast::<StringArray>(&text)?.value(0).to_string())
        };
        SparkError::new("DUPLICATED_MAP_KEY")
            .with("key", text().unwrap_or_default())
            .with("mapKeyDedupPolicy", "\"spark.sql.mapKeyDedupPolicy\"")
    }

    /// Ends the row as a null; what it had is dropped.
    pub fn end_null(&mut self) -> Result<()> {
        self.picks.truncate(self.offsets.last().map_or(0, |o| *o as usize));
        self.valid.push(false);
        self.close()
    }

    fn close(&mut self) -> Result<()> {
        self.offsets.push(i32::try_from(self.picks.len()).map_err(internal)?);
        Ok(())
    }

    /// The maps.
    pub fn finish(self) -> Result<ArrayRef> {
        let (key_field, value_field) = self.parts;
        let keys: Vec<(u32, u32)> = self.picks.iter().map(|(k, _)| *k).collect();
        let values: Vec<(u32, u32)> = self.picks.iter().map(|(_, v)| *v).collect();
        let keys = gather(&self.keys, &keys, key_field.data_type())?;
        let values = gather(&self.values, &values, value_field.data_type())?;
        let nulls = if self.valid.iter().all(|v| *v) { None } else { Some(NullBuffer::from(self.valid)) };
        map_of(self.entries, OffsetBuffer::new(self.offsets.into()), keys, values, nulls)
    }
}

/// A column of maps from its parts.
pub fn map_of(
    entries: FieldRef,
    offsets: OffsetBuffer<i32>,
    keys: ArrayRef,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(SparkError::internal("a map without entries"));
    };
    // Arrow has no column of nulls that is not nullable.
    let structs = if keys.is_empty() && *keys.data_type() == ArrowType::Null {
        StructArray::try_new_with_length(fields.clone(), vec![keys, values], None, 0).map_err(internal)?
    } else {
        StructArray::try_new(fields.clone(), vec![keys, values], None).map_err(internal)?
    };
    Ok(Arc::new(MapArray::try_new(entries, offsets, structs, nulls, false).map_err(internal)?))
}

/// Fails where a type can be no key of a map.
pub fn check_key_type(key: &DataType, call: &str) -> Result<()> {
    fn holds_map(data_type: &DataType) -> bool {
        match data_type {
            DataType::Map { .. } | DataType::Variant => true,
            DataType::Array { element, .. } => holds_map(element),
            DataType::Struct(schema) => schema.fields.iter().any(|f| holds_map(&f.data_type)),
            _ => false,
        }
    }
    if !holds_map(key) {
        return Ok(());
    }
    Err(SparkError::new("DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE")
        .with("sqlExpr", mismatch::quoted(call))
        .with("keyType", mismatch::quoted_type(key)))
}

/// `map[key]`.
pub static GET_MAP_VALUE: Function = Function {
    name: "get_map_value",
    aliases: &[],
    group: Group::Internal,
    signature: crate::Signature::of(&[
        crate::Param { name: "map", arg_type: ArgType::Map },
        crate::Param { name: "key", arg_type: ArgType::Any },
    ]),
    body: crate::Body::Build(get_map_value),
    deterministic: true,
    text: Some(|a| format!("{}[{}]", a[0], a[1])),
    documentation: crate::Documentation { usage: "The value of a key.", ..crate::Documentation::EMPTY },
};

fn get_map_value(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (map, key) = crate::scalar::array::element::pair(arguments)?;
    let (key_type, _, _) = entry_of(&map.data_type);
    let call = GET_MAP_VALUE.call_text(&[map.name.clone(), key.name.clone()]);
    check_key_order(&key_type, "get_map_value", &call)?;
    let key = to_key(key, &key_type, &call, context)?;
    lookup(&GET_MAP_VALUE, map, key, OnMissing::Null, context)
}

/// An argument as a map's key type, by the rules of implicit casts.
fn to_key(key: TypedExpr, key_type: &DataType, call: &str, context: &mut BuildContext<'_>) -> Result<TypedExpr> {
    let wanted = match key_type {
        DataType::Boolean => ArgType::Boolean,
        DataType::Integer => ArgType::Integer,
        DataType::Long => ArgType::Long,
        DataType::Float => ArgType::Float,
        DataType::Double => ArgType::Double,
        t if t.is_string() => ArgType::String,
        DataType::Binary => ArgType::Binary,
        DataType::Date => ArgType::Date,
        DataType::Timestamp => ArgType::Timestamp,
        DataType::TimestampNtz => ArgType::TimestampNtz,
        _ => ArgType::Any,
    };
    let ansi = context.conf.ansi_enabled;
    let common = coercion::wider_common_type(&[key.data_type.clone(), key_type.clone()], ansi);
    let fits = match wanted {
        ArgType::Any => common.is_some(),
        wanted => coercion::implicit_cast(&key.data_type, wanted, ansi).is_some(),
    };
    if !fits {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
            .with("sqlExpr", mismatch::quoted(call))
            .with("paramIndex", mismatch::ordinal(1))
            .with("requiredType", mismatch::quoted_type(key_type))
            .with("inputSql", mismatch::quoted(&key.name))
            .with("inputType", mismatch::quoted_type(&key.data_type)));
    }
    coercion::implicitly(key, key_type, context)
}
