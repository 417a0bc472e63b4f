//! The keys, values and entries of maps.

use super::entry::{self, Maps, OnMissing, entry_of, with_common_key};
use crate::coercion::mismatch;
use crate::scalar::array::element::pair;
use crate::scalar::array::list::conform;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{finish, internal, row_count};
use crate::{ArgType, Body, BuildContext, KernelArgs, KernelFn, Nullability, Returns, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, ListArray, StructArray, UInt64Array};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::ColumnarValue;
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::sync::Arc;

const ONE_MAP: Signature = Signature::of(&[param("map", ArgType::Map)]);

const fn part(returns: fn(&[TypedExpr], &SqlConf) -> Result<DataType>, kernel: KernelFn) -> Body {
    Body::Scalar { returns: Returns::Of(returns), nullable: Nullability::IfAnyArgument, kernel }
}

fn entry_of_first(args: &[TypedExpr]) -> (DataType, DataType, bool) {
    entry_of(args.first().map_or(&DataType::Null, |a| &a.data_type))
}

function! {
    /// `map_keys(map)`
    MAP_KEYS = "map_keys" in Map, ONE_MAP
        => part(|a, _| Ok(DataType::array(entry_of_first(a).0, true)), |args| parts(args, |m| Ok(m.keys().clone())));
    usage "An array of the map's keys.";
    since "2.0.0";
    example "SELECT map_keys(map(1, 'a', 2, 'b'))" => "[1,2]";
}
function! {
    /// `map_values(map)`
    MAP_VALUES = "map_values" in Map, ONE_MAP => part(
        |a, _| Ok(DataType::array(entry_of_first(a).1, true)),
        |args| parts(args, |m| Ok(m.values().clone())),
    );
    usage "An array of the map's values.";
    since "2.0.0";
    example "SELECT map_values(map(1, 'a', 2, 'b'))" => "[\"a\",\"b\"]";
}
function! {
    /// `map_entries(map)`
    MAP_ENTRIES = "map_entries" in Map, ONE_MAP => part(
        |a, _| {
            let (key, value, nulls) = entry_of_first(a);
            let fields = vec![StructField::new("key", key, false), StructField::new("value", value, nulls)];
            Ok(DataType::array(DataType::struct_of(fields), false))
        },
        |args| parts(args, entries),
    );
    usage "An array of the map's entries, as structs of a key and a value.";
    since "3.0.0";
    example "SELECT map_entries(map(1, 'a', 2, 'b'))" => "[{\"key\":1,\"value\":\"a\"},{\"key\":2,\"value\":\"b\"}]";
}
function! {
    /// `map_contains_key(map, key)`
    MAP_CONTAINS_KEY = "map_contains_key" in Map,
        Signature::of(&[param("map", ArgType::Any), param("key", ArgType::Any)]) => Body::Build(contains_key);
    usage "Whether a map has a key.";
    since "3.3.0";
    example "SELECT map_contains_key(map(1, 'a', 2, 'b'), 1)" => "true";
}

fn entries(maps: &Maps) -> Result<ArrayRef> {
    Ok(Arc::new(maps.map().entries().clone()))
}

fn parts(args: &KernelArgs<'_>, values: impl FnOnce(&Maps) -> Result<ArrayRef>) -> Result<ColumnarValue> {
    let maps = Maps::of(args, 0)?;
    let ArrowType::List(field) = arrow_mapping::to_arrow(args.return_type) else {
        return Err(SparkError::internal("parts of maps make arrays"));
    };
    let values = values(&maps)?;
    let values = match (field.data_type(), values.as_any().downcast_ref::<StructArray>()) {
        // The entries' fields differ in nullability only.
        (ArrowType::Struct(fields), Some(structs)) if structs.fields() != fields && structs.num_columns() == 2 => {
            let columns = structs
                .columns()
                .iter()
                .zip(fields)
                .map(|(column, field)| conform(column, field.data_type()))
                .collect::<Result<Vec<_>>>()?;
            let made = StructArray::try_new(fields.clone(), columns, structs.nulls().cloned());
            Arc::new(made.map_err(internal)?) as ArrayRef
        }
        (wanted, _) => conform(&values, wanted)?,
    };
    let map = maps.map();
    let list = ListArray::try_new(field, map.offsets().clone(), values, map.nulls().cloned()).map_err(internal)?;
    let rows = row_count(args);
    if list.len() == rows {
        return finish(args, Arc::new(list));
    }
    let spread = arrow::compute::take(&list, &UInt64Array::from(vec![0; rows]), None).map_err(internal)?;
    finish(args, spread)
}

fn contains_key(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (map, key) = pair(arguments)?;
    let call = MAP_CONTAINS_KEY.call_text(&[map.name.clone(), key.name.clone()]);
    if map.data_type.is_null() || key.data_type.is_null() {
        return Err(SparkError::new("DATATYPE_MISMATCH.NULL_TYPE")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("functionName", "`map_contains_key`"));
    }
    if !matches!(map.data_type, DataType::Map { .. }) {
        return Err(mismatch::unexpected_input(&call, 0, ArgType::Map, &map));
    }
    let (map, key) = with_common_key(map, key, "map_contains_key", &call, context)?;
    entry::lookup(&MAP_CONTAINS_KEY, map, key, OnMissing::Whether, context)
}
