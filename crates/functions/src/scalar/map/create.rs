//! Maps made of keys and values, arrays, entries or other maps.

use super::entry::{MapPicker, Maps, check_key_type, entry_of, policy};
use crate::coercion::{self, mismatch};
use crate::kernel::kernel;
use crate::scalar::array::element::pair;
use crate::scalar::array::list::{Column, Lists, constant, element_of};
use crate::scalar::predicate::equality::canonical;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{downcast, finish, row_count};
use crate::{ArgType, Body, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{Array, StructArray};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;

function! {
    /// `map(key, value, …)`
    MAP = "map" in Map, Signature::variadic(&[], ArgType::Any) => Body::Build(map);
    usage "A map of the keys to the values.";
    since "2.0.0";
    example "SELECT map(1.0, '2', 3.0, '4')" => "{1.0:\"2\",3.0:\"4\"}";
}
function! {
    /// `map_from_arrays(keys, values)`
    MAP_FROM_ARRAYS = "map_from_arrays" in Map,
        Signature::of(&[param("keys", ArgType::Array), param("values", ArgType::Array)]) => Body::Build(from_arrays);
    usage "A map of an array of keys to an array of as many values.";
    since "2.4.0";
    example "SELECT map_from_arrays(array(1.0, 3.0), array('2', '4'))" => "{1.0:\"2\",3.0:\"4\"}";
}
function! {
    /// `map_from_entries(array of structs)`
    MAP_FROM_ENTRIES = "map_from_entries" in Map, Signature::of(&[param("entries", ArgType::Any)])
        => Body::Build(from_entries);
    usage "A map of an array of pairs.";
    since "2.4.0";
    example "SELECT map_from_entries(array(struct(1, 'a'), struct(2, 'b')))" => "{1:\"a\",2:\"b\"}";
}
function! {
    /// `map_concat(map, …)`
    MAP_CONCAT = "map_concat" in Map, Signature::variadic(&[], ArgType::Any) => Body::Build(concat);
    usage "All entries of the maps in one.";
    since "2.4.0";
    example "SELECT map_concat(map(1, 'a', 2, 'b'), map(3, 'c'))" => "{1:\"a\",2:\"b\",3:\"c\"}";
}

/// The kernels, by which calls that have travelled find them again.
pub static KERNELS: &[&Function] = &[
    &kernel("map", map_kernel),
    &kernel("map_from_arrays", arrays_kernel),
    &kernel("map_from_entries", entries_kernel),
    &kernel("map_concat", concat_kernel),
];

/// The map without entries, as a constant.
fn empty(data_type: DataType) -> Result<TypedExpr> {
    let mut out = MapPicker::new(&data_type, Vec::new(), Vec::new(), false)?;
    out.end()?;
    constant(&out.finish()?, data_type)
}

fn last_wins(args: &KernelArgs<'_>) -> bool {
    args.settings.payload.is_some()
}

fn made(
    function: &Function,
    kernel: crate::KernelFn,
    arguments: &[TypedExpr],
    data_type: DataType,
    nullable: bool,
    context: &BuildContext<'_>,
) -> Result<TypedExpr> {
    let expr =
        crate::kernel::call_with_payload(function, kernel, arguments, &data_type, nullable, context, policy(context))?;
    Ok(TypedExpr::new(expr, data_type, nullable, ""))
}

/// The error of a list of names and values that does not come in pairs.
pub fn not_in_pairs(function: &str, actual: usize) -> SparkError {
    SparkError::new("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
        .with("functionName", format!("`{function}`"))
        .with("expectedNum", "2n (n > 0)")
        .with("actualNum", actual.to_string())
        .with("docroot", "https://spark.apache.org/docs/latest")
}

fn map(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    if !arguments.len().is_multiple_of(2) {
        return Err(not_in_pairs("map", arguments.len()));
    }
    if arguments.is_empty() {
        return empty(DataType::map(DataType::Null, DataType::Null, false));
    }
    let call = MAP.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (i, argument) in arguments.into_iter().enumerate() {
        if i % 2 == 0 { keys.push(argument) } else { values.push(argument) }
    }
    let keys = one_type(keys, "DATATYPE_MISMATCH.CREATE_MAP_KEY_DIFF_TYPES", &call, context)?;
    let values = one_type(values, "DATATYPE_MISMATCH.CREATE_MAP_VALUE_DIFF_TYPES", &call, context)?;
    let type_of = |list: &[TypedExpr]| list.first().map_or(DataType::Null, |a| a.data_type.clone());
    let (key, value) = (type_of(&keys), type_of(&values));
    check_key_type(&key, &call)?;
    let is_number = matches!(key, DataType::Float | DataType::Double);
    let keys = keys.into_iter().map(|key| if is_number { canonical(key, context) } else { Ok(key) });
    let keys = keys.collect::<Result<Vec<_>>>()?;
    let data_type = DataType::map(key, value, values.iter().any(|v| v.nullable));
    let arguments: Vec<TypedExpr> = keys.into_iter().chain(values).collect();
    made(&MAP, map_kernel, &arguments, data_type, false, context)
}

fn one_type(
    list: Vec<TypedExpr>,
    condition: &'static str,
    call: &str,
    context: &mut BuildContext<'_>,
) -> Result<Vec<TypedExpr>> {
    if list.is_empty() {
        return Ok(list);
    }
    let types: Vec<DataType> = list.iter().map(|a| a.data_type.clone()).collect();
    let Some(common) = coercion::wider_common_type(&types, context.conf.ansi_enabled) else {
        let types: Vec<String> = types.iter().map(mismatch::quoted_type).collect();
        return Err(SparkError::new(condition)
            .with("sqlExpr", mismatch::quoted(call))
            .with("functionName", "`map`")
            .with("dataType", format!("[{}]", types.join(", "))));
    };
    list.into_iter().map(|a| coercion::implicitly(a, &common, context)).collect()
}

/// The first half of the arguments are keys, the second half their values.
fn map_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let columns = (0..args.values.len()).map(|i| Column::of(args, i)).collect::<Result<Vec<_>>>()?;
    let (keys, values) = columns.split_at(columns.len() / 2);
    let arrays = |columns: &[Column]| columns.iter().map(|c| c.array.clone()).collect::<Vec<_>>();
    let mut out = MapPicker::new(args.return_type, arrays(keys), arrays(values), last_wins(args))?;
    for row in 0..row_count(args) {
        for (source, (key, value)) in keys.iter().zip(values).enumerate() {
            out.push((source, key.at(row)), (source, value.at(row)))?;
        }
        out.end()?;
    }
    finish(args, out.finish()?)
}

fn from_arrays(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (keys, values) = pair(arguments)?;
    let call = MAP_FROM_ARRAYS.call_text(&[keys.name.clone(), values.name.clone()]);
    let (key, _) = element_of(&keys.data_type);
    let (value, value_contains_null) = element_of(&values.data_type);
    check_key_type(&key, &call)?;
    let nullable = keys.nullable || values.nullable;
    let data_type = DataType::map(key, value, value_contains_null);
    made(&MAP_FROM_ARRAYS, arrays_kernel, &[keys, values], data_type, nullable, context)
}

fn arrays_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let (keys, values) = (Lists::of(args, 0)?, Lists::of(args, 1)?);
    let mut out =
        MapPicker::new(args.return_type, vec![keys.values().clone()], vec![values.values().clone()], last_wins(args))?;
    for row in 0..row_count(args) {
        let (Some(k), Some(v)) = (keys.span(row), values.span(row)) else {
            out.end_null()?;
            continue;
        };
        if k.len() != v.len() {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_2128"));
        }
        for (key, value) in k.zip(v) {
            out.push((0, key), (0, value))?;
        }
        out.end()?;
    }
    finish(args, out.finish()?)
}

fn from_entries(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let [entries] = <[TypedExpr; 1]>::try_from(arguments).map_err(|_| SparkError::internal("one argument"))?;
    let call = MAP_FROM_ENTRIES.call_text(&[entries.name.clone()]);
    let (element, contains_null) = element_of(&entries.data_type);
    let schema = match &element {
        DataType::Struct(schema) if schema.fields.len() == 2 => schema,
        _ => {
            return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
                .with("sqlExpr", mismatch::quoted(&call))
                .with("paramIndex", mismatch::ordinal(0))
                .with("requiredType", "\"ARRAY\" of pair \"STRUCT\"")
                .with("inputSql", mismatch::quoted(&entries.name))
                .with("inputType", mismatch::quoted_type(&entries.data_type)));
        }
    };
    let (key, value) = (&schema.fields[0], &schema.fields[1]);
    check_key_type(&key.data_type, &call)?;
    let data_type = DataType::map(key.data_type.clone(), value.data_type.clone(), value.nullable);
    let nullable = entries.nullable || contains_null;
    made(&MAP_FROM_ENTRIES, entries_kernel, &[entries], data_type, nullable, context)
}

fn entries_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let lists = Lists::of(args, 0)?;
    let structs = downcast::<StructArray>(lists.values())?;
    let [keys, values] = structs.columns() else {
        return Err(SparkError::internal("entries are pairs"));
    };
    let mut out = MapPicker::new(args.return_type, vec![keys.clone()], vec![values.clone()], last_wins(args))?;
    for row in 0..row_count(args) {
        match lists.span(row) {
            Some(span) if !span.clone().any(|at| structs.is_null(at)) => {
                for at in span {
                    out.push((0, at), (0, at))?;
                }
                out.end()?;
            }
            _ => out.end_null()?,
        }
    }
    finish(args, out.finish()?)
}

fn concat(context: &mut BuildContext<'_>, arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    let call = MAP_CONCAT.call_text(&arguments.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    let types: Vec<DataType> = arguments.iter().map(|a| a.data_type.clone()).collect();
    let common = if !types.is_empty() && types.iter().all(|t| matches!(t, DataType::Map { .. })) {
        coercion::wider_common_type(&types, context.conf.ansi_enabled)
    } else {
        None
    };
    let common = match common {
        Some(common) => common,
        None if arguments.is_empty() => return empty(DataType::map(DataType::STRING, DataType::STRING, false)),
        None if types.iter().all(|t| matches!(t, DataType::Map { .. })) => {
            return Err(mismatch::different_types(&call, "map_concat", &types));
        }
        None => {
            let types: Vec<String> = types.iter().map(mismatch::quoted_type).collect();
            return Err(SparkError::new("DATATYPE_MISMATCH.MAP_CONCAT_DIFF_TYPES")
                .with("sqlExpr", mismatch::quoted(&call))
                .with("functionName", "`map_concat`")
                .with("dataType", format!("[{}]", types.join(", "))));
        }
    };
    check_key_type(&entry_of(&common).0, &call)?;
    let nullable = arguments.iter().any(|a| a.nullable);
    let arguments =
        arguments.into_iter().map(|a| coercion::implicitly(a, &common, context)).collect::<Result<Vec<_>>>()?;
    made(&MAP_CONCAT, concat_kernel, &arguments, common, nullable, context)
}

fn concat_kernel(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let maps = (0..args.values.len()).map(|i| Maps::of(args, i)).collect::<Result<Vec<_>>>()?;
    let keys = maps.iter().map(|m| m.keys().clone()).collect();
    let values = maps.iter().map(|m| m.values().clone()).collect();
    let mut out = MapPicker::new(args.return_type, keys, values, last_wins(args))?;
    'rows: for row in 0..row_count(args) {
        for (source, map) in maps.iter().enumerate() {
            let Some(span) = map.span(row) else {
                out.end_null()?;
                continue 'rows;
            };
            for at in span {
                out.push((source, at), (source, at))?;
            }
        }
        out.end()?;
    }
    finish(args, out.finish()?)
}
